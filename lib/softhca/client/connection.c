/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/unix_address.h"
#include "keeper/message.h"

/** Connections that wait for their next call; further ones are closed. One: a program that counts
 * its descriptors has as many after any number of calls. */
#define IDLE_MAX 1
/** They get high numbers, out of the way of programs that choose their own. */
#define FD_FIRST 200

/** A thread that can make no connection has so long to get one that others use. */
#define PATIENCE_S 10

static struct {
	pthread_mutex_t lock;
	pthread_cond_t returned; /* a connection that was in use */
	char dir[PATH_MAX];
	struct shca_connection idle[IDLE_MAX];
	unsigned int nb_idle, nb_used;
} root = { .lock = PTHREAD_MUTEX_INITIALIZER, .returned = PTHREAD_COND_INITIALIZER };

/** Connections that this thread uses: it does not wait for its own. */
static __thread unsigned int nb_own;

int
shca_connection_path(char *path, size_t size, const char *dir)
{
	return snprintf(path, size, "%s/" SHCA_MESSAGE_SOCKET, dir) < (int)size ? 0 : -ENAMETOOLONG;
}

/** Let the keeper look into this process as a debugger does: under Yama it has to be told so.
 * Without Yama this fails with EINVAL. */
static void
let_look(int fd)
{
	struct ucred peer = { .pid = 0 };
	socklen_t length = sizeof(peer);
	unsigned long keeper = PR_SET_PTRACER_ANY; /* in a namespace that does not see it */

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.pid != 0)
		keeper = (unsigned long)peer.pid;
	(void)prctl(PR_SET_PTRACER, keeper, 0, 0, 0);
}

/** Not by our own close(), which may ask the keeper. */
static void
close_fd(int fd)
{
	syscall(SYS_close, fd);
}

/** Not by our own fstat(), which takes locks. Where a sandbox forbids it all are alike. */
static void
identify(struct shca_connection *connection)
{
	struct stat status = { .st_ino = 0 };

	(void)syscall(SYS_fstat, connection->fd, &status);
	connection->device = status.st_dev;
	connection->inode = status.st_ino;
}

static bool
is_same(const struct shca_connection *connection)
{
	struct shca_connection now = { .fd = connection->fd };

	identify(&now);
	return now.device == connection->device && now.inode == connection->inode;
}

void
shca_connection_drop(const struct shca_connection *connection)
{
	if (is_same(connection))
		close_fd(connection->fd);
}

/** @return 0 or a negative errno */
static int
make_connection(const char *dir, struct shca_connection *connection)
{
	struct sockaddr_un where;
	char path[PATH_MAX];
	int dir_fd, fd, high;
	int ret = shca_connection_path(path, sizeof(path), dir);

	if (ret == 0)
		ret = shca_unix_address(path, &where, &dir_fd);
	if (ret != 0)
		return ret;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&where, sizeof(where)) != 0)
		ret = -errno;
	close_fd(dir_fd);
	if (ret != 0) {
		if (fd >= 0)
			close_fd(fd);
		/* Who may not talk to the keeper may not open the node. */
		return ret == -EACCES || ret == -EMFILE || ret == -ENFILE ? ret : -EIO;
	}
	high = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, FD_FIRST);
	if (high >= 0) {
		close_fd(fd);
		fd = high;
	}
	let_look(fd);
	connection->fd = fd;
	identify(connection);
	return 0;
}

/** The lock is held. */
static void
use(const char *dir)
{
	if (strlen(dir) >= sizeof(root.dir) || strcmp(dir, root.dir) == 0)
		return;
	while (root.nb_idle != 0)
		shca_connection_drop(&root.idle[--root.nb_idle]);
	strcpy(root.dir, dir);
}

void
shca_connection_use(const char *dir)
{
	pthread_mutex_lock(&root.lock);
	use(dir);
	pthread_mutex_unlock(&root.lock);
}

/** The lock is held. @return whether there is one. */
static bool
take_idle(struct shca_connection *connection)
{
	while (root.nb_idle != 0) {
		*connection = root.idle[--root.nb_idle];
		if (is_same(connection))
			return true;
	}
	return false;
}

/**
 * The lock is held. A program may have left behind what new connections take: the way to the socket
 * (chroot), the right to it (setuid), descriptors. A node that is open needs none of them, so a
 * thread waits for a connection of those that were made before. @return whether one came back
 */
static bool
await_returned(struct timespec *until)
{
	if (nb_own != 0 || root.nb_used == 0)
		return false;
	if (until->tv_sec == 0) {
		clock_gettime(CLOCK_MONOTONIC, until);
		until->tv_sec += PATIENCE_S;
	}
	return pthread_cond_clockwait(&root.returned, &root.lock, CLOCK_MONOTONIC, until) == 0;
}

int
shca_connection_take(const char *dir, struct shca_connection *connection)
{
	struct timespec until = { 0 };
	int ret = 0;

	pthread_mutex_lock(&root.lock);
	if (dir != NULL)
		use(dir);
	while (!take_idle(connection)) {
		pthread_mutex_unlock(&root.lock);
		ret = make_connection(root.dir, connection);
		pthread_mutex_lock(&root.lock);
		if (ret == 0 || (root.nb_idle == 0 && !await_returned(&until)))
			break;
		ret = 0;
	}
	if (ret == 0) {
		root.nb_used++;
		nb_own++;
	}
	pthread_mutex_unlock(&root.lock);
	return ret;
}

/** In a child of _Fork() none is in use, whatever the handler of a signal has interrupted. */
void
shca_connection_put(const struct shca_connection *connection, bool works)
{
	pthread_mutex_lock(&root.lock);
	works = works && root.nb_idle < IDLE_MAX;
	if (works)
		root.idle[root.nb_idle++] = *connection;
	if (nb_own != 0) {
		root.nb_used--;
		nb_own--;
	}
	pthread_cond_broadcast(&root.returned);
	pthread_mutex_unlock(&root.lock);
	if (!works)
		shca_connection_drop(connection);
}

void
shca_connection_lock(void)
{
	pthread_mutex_lock(&root.lock);
}

void
shca_connection_unlock(void)
{
	pthread_mutex_unlock(&root.lock);
}

void
shca_connection_forked(void)
{
	const int saved_errno = errno;

	while (root.nb_idle != 0)
		shca_connection_drop(&root.idle[--root.nb_idle]);
	root.nb_used = nb_own = 0;
	root.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	root.returned = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
	errno = saved_errno;
}

const char *
shca_connection_dir(void)
{
	return root.dir;
}
