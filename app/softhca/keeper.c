/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The process that keeps a card: of softhca up, which it outlives, or of one softhca run. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "app.h"
#include "base/log.h"
#include "config/options.h"
#include "keeper/keeper.h"
#include "softhca.h"

/** Of a card that is up, whose keeper has nothing to say to a terminal. */
#define LOG_FILE  "log"
#define LOG_BYTES (1u << 20) /* and as many of the time before */

/** What was open before: somebody may wait for its end, or for the lock that it has. */
static struct {
	int *fd;
	size_t nb;
} inherited;

void
app_keeper_note_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;
	int fd, *more;

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		fd = isdigit((unsigned char)entry->d_name[0]) ? atoi(entry->d_name) : 0;
		if (fd <= STDERR_FILENO || fd == dirfd(dir))
			continue;
		more = reallocarray(inherited.fd, inherited.nb + 1, sizeof(*more));
		if (more == NULL)
			break;
		inherited.fd = more;
		inherited.fd[inherited.nb++] = fd;
	}
	if (dir != NULL)
		closedir(dir);
}

/** Give up the terminal: from now on all goes to the log. The devices have opened what options name
 * by a descriptor (/dev/fd). */
static int
detach(const char *dir)
{
	char path[PATH_MAX];

	while (inherited.nb != 0)
		close(inherited.fd[--inherited.nb]);
	free(inherited.fd);
	inherited.fd = NULL;
	snprintf(path, sizeof(path), "%s/" LOG_FILE, dir);
	return chdir("/") == 0 ? shca_log_keep(path, LOG_BYTES) : -errno;
}

/** @return a descriptor that is readable when the keeper is to end, or a negative errno. */
static int
take_signals(void)
{
	static const int ends[] = { SIGTERM, SIGINT, SIGHUP };
	sigset_t set;
	int fd;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	for (unsigned int i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		sigaddset(&set, ends[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC);
	return fd >= 0 ? fd : -errno;
}

/** What a program's pipe is waiting for is not this process. */
static int
leave_streams(void)
{
	const int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	dup2(fd, 0);
	dup2(fd, 1);
	close(fd);
	return 0;
}

/** The keeper: open the devices, tell the parent by @p ready_fd, serve until a signal. */
static int
keep(const struct app_keeping *keeping, int ready_fd)
{
	struct shca_keeper_conf conf = {
		.dir = keeping->dir,
		.options = keeping->options,
		.mode = keeping->mode,
	};
	int stop_fd = take_signals(), listen_fd = -1;
	int ret = stop_fd >= 0 ? leave_streams() : stop_fd;

	prctl(PR_SET_NAME, "softhca-keeper");
	if (keeping->stays)
		umask(022);
	setsid(); /* the keys of a terminal are for programs, and the devices go on */
	if (ret == 0)
		ret = shca_set_open(keeping->options, &conf.set);
	if (ret == 0)
		ret = shca_set_start(conf.set);
	if (ret == 0) {
		listen_fd = shca_keeper_listen(&conf);
		ret = listen_fd < 0 ? listen_fd : 0;
	}
	if (ret == 0 && keeping->stays)
		ret = detach(keeping->dir);
	if (ret == 0 && write(ready_fd, "", 1) == 1) {
		close(ready_fd);
		ret = shca_keeper_run(&conf, listen_fd, stop_fd);
		shca_set_close(conf.set);
	}
	return ret == 0 ? 0 : APP_FAILED;
}

static _Noreturn void
run_keeper(const struct app_keeping *keeping, int ready_fd, pid_t parent)
{
	int status;

	if (!keeping->stays) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != parent)
			_exit(APP_FAILED);
	}
	status = keep(keeping, ready_fd);
	if (keeping->remove != NULL)
		keeping->remove(keeping->dir);
	exit(status); /* with what sanitizers and gcov have to tell */
}

pid_t
app_keeper_start(const struct app_keeping *keeping)
{
	pid_t pid, parent = getpid();
	int ends[2] = { -1, -1 }, status = 0, ret;
	char byte;

	if (pipe2(ends, O_CLOEXEC) != 0 || (pid = fork()) < 0) {
		ret = -errno;
		fprintf(stderr, "softhca: cannot start the keeper: %s\n", strerror(-ret));
		if (ends[0] >= 0) {
			close(ends[0]);
			close(ends[1]);
		}
		if (keeping->remove != NULL)
			keeping->remove(keeping->dir);
		return ret;
	}
	if (pid == 0) {
		close(ends[0]);
		run_keeper(keeping, ends[1], parent);
	}
	close(ends[1]);
	if (read(ends[0], &byte, 1) != 1)
		pid = waitpid(pid, &status, 0) > 0 ? -EIO : -errno;
	if (WIFSIGNALED(status))
		fprintf(stderr, "softhca: the keeper was ended by signal %d\n", WTERMSIG(status));
	close(ends[0]);
	return pid;
}

bool
app_keeper_end(pid_t keeper)
{
	int status;

	kill(keeper, SIGTERM);
	while (waitpid(keeper, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	if (WIFSIGNALED(status))
		fprintf(stderr, "softhca: the keeper was ended by signal %d\n", WTERMSIG(status));
	return status == 0;
}
