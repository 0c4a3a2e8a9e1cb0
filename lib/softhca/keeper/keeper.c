/* SPDX-License-Identifier: BSD-3-Clause */
#include "keeper/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"
#include "base/unix_address.h"
#include "hw/device/device.h"
#include "keeper/cuts.h"
#include "keeper/memory.h"
#include "keeper/message.h"
#include "keeper/nodes.h"
#include "keeper/session.h"
#include "softhca.h"

#define BACKLOG 64

/** Whether this process may do at all what it must: a filter of system calls (seccomp) is its own,
 * too. @return 0 or a negative errno after a message. */
static int
check_calls(void)
{
	char byte = 0, copy;
	const struct iovec from = { .iov_base = &byte, .iov_len = 1 };
	const struct iovec to = { .iov_base = &copy, .iov_len = 1 };
	const char *call = NULL;
	int error = 0;

	if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != 1)
		call = "process_vm_readv";
	else if (ptrace(PTRACE_SEIZE, 0, NULL, NULL) != 0 && errno != ESRCH)
		call = "ptrace";
	if (call != NULL)
		error = errno;
	if (error != 0)
		SHCA_ERR(
			"a keeper needs %s(), which is forbidden here: %s (seccomp?); with SOFTHCA_KEEPER=0 softhca run needs no keeper",
			call, strerror(error));
	return -error;
}

/** Listen there; programs that connect tell with each message who sends it. */
static int
bind_at(int fd, const char *path, mode_t mode)
{
	const int on = 1;
	struct sockaddr_un where;
	int dir_fd;
	int ret = shca_unix_address(path, &where, &dir_fd);

	if (ret != 0)
		return ret;
	if (bind(fd, (struct sockaddr *)&where, sizeof(where)) != 0 || chmod(path, mode) != 0 ||
		setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) != 0 ||
		listen(fd, BACKLOG) != 0)
		ret = -errno;
	close(dir_fd);
	return ret;
}

int
shca_keeper_listen(const struct shca_keeper_conf *conf)
{
	char path[PATH_MAX];
	int ret = check_calls(), fd;

	if (ret != 0)
		return ret;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	ret = fd >= 0 ? 0 : -errno;
	snprintf(path, sizeof(path), "%s/" SHCA_MESSAGE_SOCKET, conf->dir);
	if (ret == 0)
		ret = bind_at(fd, path, conf->mode);
	if (ret == 0)
		return fd;
	SHCA_ERR("cannot listen at %s: %s", path, strerror(-ret));
	if (fd >= 0)
		close(fd);
	return ret;
}

/** A descriptor for the moment in which there is none left. */
static int spare_fd = -1;

/** Turn a program away that would else wait for ever: there is no descriptor to accept it by. */
static bool
turn_away(int listen_fd)
{
	int fd;

	if ((errno != EMFILE && errno != ENFILE) || spare_fd < 0)
		return false;
	SHCA_WARN("a program is turned away: %s", strerror(errno));
	close(spare_fd);
	fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);
	if (fd >= 0)
		close(fd);
	spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return fd >= 0;
}

static void
accept_all(struct shca_session_shared *shared, int listen_fd)
{
	int fd;

	do
		while ((fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC)) >= 0)
			shca_session_start(shared, fd);
	while (turn_away(listen_fd));
}

/** Take what the system allows: programs' connections and memory are descriptors here. Files that
 * may not grow (a capture, the log) are errors. */
static void
take_limits(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
	signal(SIGXFSZ, SIG_IGN);
	spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void
serve(struct shca_session_shared *shared, int listen_fd, int stop_fd)
{
	struct pollfd fds[] = {
		{ .fd = stop_fd, .events = POLLIN },
		{ .fd = listen_fd, .events = POLLIN },
		{ .fd = shca_nodes_fd(shared->nodes), .events = POLLIN },
	};

	while (fds[0].revents == 0) {
		if (poll(fds, sizeof(fds) / sizeof(fds[0]), -1) < 0)
			continue;
		if (fds[1].revents != 0)
			accept_all(shared, listen_fd);
		if (fds[2].revents != 0) {
			pthread_rwlock_rdlock(&shared->running);
			shca_nodes_reap(shared->nodes);
			pthread_rwlock_unlock(&shared->running);
		}
	}
}

/** Tell programs that their devices go. */
static void
remove_devices(struct shca_set *set)
{
	struct shca_device *dev;

	for (unsigned int i = 0; (dev = shca_set_device(set, i)) != NULL; i++) {
		shca_device_lock(dev);
		shca_device_die(dev);
		shca_device_unlock(dev);
	}
}

int
shca_keeper_run(const struct shca_keeper_conf *conf, int listen_fd, int stop_fd)
{
	static struct shca_session_shared shared; /* sessions have it until the process ends */
	int ret;

	shared.conf = conf;
	pthread_rwlock_init(&shared.running, NULL);
	shared.nodes = shca_nodes_create();
	if (shared.nodes == NULL) {
		ret = -errno;
		SHCA_ERR("cannot watch programs' nodes: %s", strerror(-ret));
		close(listen_fd);
		return ret;
	}
	shca_cuts_survive();
	take_limits();
	serve(&shared, listen_fd, stop_fd);
	close(listen_fd);
	pthread_rwlock_wrlock(&shared.running);
	remove_devices(conf->set);
	shca_nodes_destroy(shared.nodes);
	return 0;
}
