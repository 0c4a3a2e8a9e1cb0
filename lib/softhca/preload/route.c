/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths of the nodes; the process's devices, lazily. */
#include "preload/route.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <net/if.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "abi/entry/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/node.h"
#include "client/cancel.h"
#include "client/connection.h"
#include "client/link.h"
#include "client/share.h"
#include "config/options.h"
#include "nldev/drvinfo.h"
#include "nldev/ethtool.h"
#include "nldev/nldev.h"
#include "preload/fds.h"
#include "softhca.h"
#include "ucma/ucma.h"

#define UVERBS_PREFIX "/dev/infiniband/uverbs"
#define CHAR_PREFIX   "/dev/char/231:"
#define RDMA_CM       "/dev/infiniband/rdma_cm"

/** The root of all state, global because a preloaded library has no caller to keep it. */
static struct {
	pthread_mutex_t lock;
	int cancelling; /* what the thread that has the lock is to go back to */
	pid_t owner;    /* of the set; a child starts its own */
	bool has_options;
	struct shca_options options;
	struct shca_set *set;
} root = { .lock = PTHREAD_MUTEX_INITIALIZER };

/** Files are read, nodes opened and threads joined meanwhile. */
static void
lock(void)
{
	const int cancelling = shca_cancel_disable();

	pthread_mutex_lock(&root.lock);
	root.cancelling = cancelling;
}

static void
unlock(void)
{
	const int cancelling = root.cancelling;

	pthread_mutex_unlock(&root.lock);
	shca_cancel_restore(cancelling);
}

bool
shca_route_is_active(void)
{
	const char *dir = getenv(SHCA_ENV_DIR);

	return dir != NULL && dir[0] != '\0';
}

const char *
shca_route_keeper(void)
{
	const char *dir = getenv(SHCA_ENV_DIR);

	return dir != NULL && dir[0] != '\0' && shca_link_is_kept(dir) ? dir : NULL;
}

/** root.lock is held. Says once why it fails: a program that has gone into a root directory of its
 * own asks for each of its netdevs again and again (lldpd). */
static int
load_options(void)
{
	static bool has_complained;
	char path[PATH_MAX];
	int ret;

	if (root.has_options)
		return 0;
	if ((size_t)snprintf(path, sizeof(path), "%s/" SHCA_OPTIONS_FILE, getenv(SHCA_ENV_DIR)) >=
		sizeof(path))
		return -ENAMETOOLONG;
	ret = shca_options_load(&root.options, path);
	if (ret != 0) {
		if (!has_complained)
			SHCA_ERR("cannot read %s: %s", path, strerror(-ret));
		has_complained = true;
		return ret;
	}
	root.has_options = true;
	return 0;
}

/** Read the number after the prefix: digits only. */
static bool
parse_number(const char *text, unsigned int *number)
{
	char *end;
	unsigned long value;

	if (!isdigit((unsigned char)text[0]) || strlen(text) > 6)
		return false;
	value = strtoul(text, &end, 10);
	*number = (unsigned int)value;
	return *end == '\0';
}

static bool
parse_path(const char *path, unsigned int *port)
{
	unsigned int minor;

	if (strcmp(path, RDMA_CM) == 0) {
		*port = SHCA_NODE_RDMA_CM;
		return true;
	}
	if (strncmp(path, UVERBS_PREFIX, sizeof(UVERBS_PREFIX) - 1) == 0)
		return parse_number(path + sizeof(UVERBS_PREFIX) - 1, port);
	if (strncmp(path, CHAR_PREFIX, sizeof(CHAR_PREFIX) - 1) != 0 ||
		!parse_number(path + sizeof(CHAR_PREFIX) - 1, &minor) || minor < SHCA_NODE_MINOR)
		return false;
	*port = minor - SHCA_NODE_MINOR;
	return true;
}

enum shca_route
shca_route_find(const char *path, unsigned int *port)
{
	int saved_errno = errno;
	bool exists;

	if (path == NULL || !parse_path(path, port) || !shca_route_is_active())
		return SHCA_ROUTE_ELSEWHERE;
	lock();
	exists = load_options() == 0 &&
		(*port < root.options.nb_ports || *port == SHCA_NODE_RDMA_CM);
	unlock();
	errno = saved_errno;
	return exists ? SHCA_ROUTE_PORT : SHCA_ROUTE_ABSENT;
}

enum shca_route
shca_route_find_open(const char *path, unsigned int *port)
{
	static const char *const links[] = { "/proc/self/fd/", "/dev/fd/" };
	unsigned int fd;
	int known;

	for (unsigned int i = 0; path != NULL && i < sizeof(links) / sizeof(links[0]); i++) {
		const size_t length = strlen(links[i]);

		if (strncmp(path, links[i], length) != 0 || !parse_number(path + length, &fd) ||
			!shca_fds_has((int)fd))
			continue;
		known = shca_fds_port((int)fd);
		if (known < 0)
			break;
		*port = (unsigned int)known;
		return SHCA_ROUTE_PORT;
	}
	return shca_route_find(path, port);
}

unsigned long
shca_route_rdev(unsigned int port)
{
	if (port == SHCA_NODE_RDMA_CM)
		return makedev(SHCA_NODE_RDMA_CM_MAJOR, SHCA_NODE_RDMA_CM_MINOR);
	return makedev(SHCA_NODE_MAJOR, SHCA_NODE_MINOR + port);
}

static void
before_fork(void)
{
	pthread_mutex_lock(&root.lock);
	shca_fds_lock();
	shca_connection_lock();
}

static void
after_fork(void)
{
	shca_connection_unlock();
	shca_fds_unlock();
	pthread_mutex_unlock(&root.lock);
}

void
shca_route_forked(void)
{
	shca_share_forked();
	if (root.owner != getpid())
		shca_set_forked(root.set);
	/* The set is the parent's, and has no device thread here. */
	root.set = NULL;
	shca_connection_forked();
	shca_fds_forked();
	root.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

/** root.lock is held. */
static void
watch_forks(void)
{
	static bool is_registered;

	if (!is_registered)
		pthread_atfork(before_fork, after_fork, shca_route_forked);
	is_registered = true;
}

void
shca_route_watch_forks(void)
{
	lock();
	watch_forks();
	unlock();
}

/**
 * Close the set at exit, which flushes the wires' files. A destructor runs after the application's
 * own atexit functions, which may still use the device.
 */
static __attribute__((destructor)) void
at_exit(void)
{
	if (pthread_mutex_trylock(&root.lock) != 0)
		return;
	if (root.set != NULL && root.owner == getpid()) {
		shca_set_stop(root.set);
		if (shca_fds_close_all())
			shca_set_close(root.set);
		root.set = NULL;
	}
	pthread_mutex_unlock(&root.lock);
}

/** root.lock is held. */
static int
open_set(void)
{
	struct shca_set *set;
	int ret;

	if (root.set != NULL && root.owner == getpid())
		return 0;
	/* A set from before fork() is the parent's, and has no device thread here. */
	root.set = NULL;
	ret = load_options();
	if (ret == 0)
		ret = shca_set_open(&root.options, &set);
	if (ret != 0)
		return ret;
	ret = shca_set_start(set);
	if (ret != 0) {
		SHCA_ERR("cannot start the device thread: %s", strerror(-ret));
		shca_set_close(set);
		return ret;
	}
	watch_forks();
	root.set = set;
	root.owner = getpid();
	return 0;
}

/** root.lock is held. */
static int
open_rdma_cm(bool cloexec)
{
	struct shca_ucma *ucma;
	int fd, ret;

	ret = open_set();
	if (ret != 0)
		return ret;
	ucma = shca_set_ucma(root.set);
	fd = ucma != NULL ? shca_ucma_open(ucma, cloexec) : -ENODEV;
	if (fd < 0)
		return fd;
	ret = shca_fds_add(fd, NULL, SHCA_NODE_RDMA_CM);
	if (ret == 0)
		return fd;
	close(fd);
	return ret;
}

struct shca_ucma *
shca_route_ucma(void)
{
	struct shca_ucma *ucma = NULL;

	lock();
	if (root.set != NULL && root.owner == getpid())
		ucma = shca_set_has_ucma(root.set);
	unlock();
	return ucma;
}

/** root.lock is held. */
static int
open_node(unsigned int port, bool cloexec)
{
	struct shca_file *file;
	int fd, ret;

	ret = open_set();
	if (ret != 0)
		return ret;
	ret = shca_file_open(shca_set_device(root.set, port), cloexec, &file, &fd);
	if (ret != 0)
		return ret;
	ret = shca_fds_add(fd, file, port);
	if (ret != 0) {
		shca_file_close(file);
		close(fd);
		return ret;
	}
	return fd;
}

/** root.lock is held. */
static int
open_kept(const char *dir, unsigned int port, bool cloexec)
{
	int fd, ret;

	watch_forks();
	fd = shca_link_open(dir, port, cloexec);
	if (fd < 0)
		return fd;
	ret = shca_fds_add_kept(fd, port);
	if (ret == 0)
		return fd;
	close(fd);
	shca_link_closed();
	return ret;
}

int
shca_route_open(unsigned int port, bool cloexec)
{
	const char *keeper = shca_route_keeper();
	int ret;

	lock();
	if (keeper != NULL)
		ret = open_kept(keeper, port, cloexec);
	else if (port == SHCA_NODE_RDMA_CM)
		ret = open_rdma_cm(cloexec);
	else
		ret = open_node(port, cloexec);
	unlock();
	return ret;
}

/** @return whether the descriptor is of a node's file, whose name has the port. */
static bool
is_node(int fd, unsigned int *port)
{
	static const char begin[] = "/memfd:" SHCA_MEM_DEVICE_FILE;
	char path[32], name[64];
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	length = readlink(path, name, sizeof(name) - 1);
	name[length > 0 ? length : 0] = '\0';
	name[strcspn(name, " ")] = '\0'; /* " (deleted)" */
	return strncmp(name, begin, sizeof(begin) - 1) == 0 &&
		parse_number(name + sizeof(begin) - 1, port);
}

bool
shca_route_is_passed(int fd)
{
	const int saved_errno = errno;
	unsigned int port;
	const bool is_passed = !shca_fds_has(fd) && is_node(fd, &port);

	errno = saved_errno;
	return is_passed;
}

bool
shca_route_adopt(int fd)
{
	const int saved_errno = errno;
	const char *keeper = shca_route_keeper();
	bool is_ours = false;
	unsigned int port;

	if (keeper != NULL && is_node(fd, &port)) {
		lock();
		watch_forks();
		shca_connection_use(keeper);
		is_ours = load_options() == 0 && port < root.options.nb_ports &&
			shca_fds_add_kept(fd, port) == 0;
		unlock();
	}
	errno = saved_errno;
	return is_ours;
}

/** Devices live as long as the process. */
static struct shca_device *
find_device(void *arg, unsigned int index)
{
	struct shca_device *dev = NULL;

	(void)arg;
	lock();
	if (root.set != NULL && root.owner == getpid())
		dev = shca_set_device(root.set, index);
	unlock();
	return dev;
}

int
shca_route_nldev(struct shca_nldev *nldev)
{
	int ret;

	lock();
	ret = load_options();
	unlock();
	/* Once read the options do not change. */
	nldev->options = &root.options;
	nldev->dir = getenv(SHCA_ENV_DIR);
	nldev->device = find_device;
	nldev->ucma = shca_route_ucma();
	return ret;
}

int
shca_route_ethtool(const void *request)
{
	struct shca_nldev nldev = { 0 };

	if (shca_route_nldev(&nldev) != 0)
		return SHCA_NLDEV_KERNEL;
	return shca_nldev_ethtool(&nldev, request);
}

int
shca_route_ask(const struct shca_nldev *nldev, const char *netdev, void *command)
{
	struct ifreq ifreq = { .ifr_data = command };

	memcpy(ifreq.ifr_name, netdev, strnlen(netdev, sizeof(ifreq.ifr_name) - 1));
	return shca_nldev_ethtool(nldev, &ifreq);
}

void
shca_route_drvinfo(const void *request)
{
	struct shca_nldev nldev = { 0 };

	if (shca_route_nldev(&nldev) != 0)
		return;
	shca_drvinfo_answer(&nldev, request);
}

bool
shca_route_pause(void)
{
	if (!shca_route_is_active())
		return false;
	lock();
	if (root.set != NULL && root.owner == getpid() && shca_set_pause(root.set))
		return true;
	unlock();
	return false;
}

void
shca_route_resume(void)
{
	const int ret = shca_set_resume(root.set);

	if (ret != 0)
		SHCA_ERR("cannot start the device thread again: %s", strerror(-ret));
	unlock();
}
