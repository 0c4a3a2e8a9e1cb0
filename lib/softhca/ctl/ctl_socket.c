/* SPDX-License-Identifier: BSD-3-Clause */
/* Control sockets in the file system: created, found, removed. */
#include "ctl/ctl_socket.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/unix_address.h"

#define NAMES_MAX 1000
#define BACKLOG   16

/** @param type SOCK_NONBLOCK: not to wait while the backlog is full, or 0 */
static int
connect_to(const char *path, int type)
{
	/* connect() waits so long while the backlog is full. */
	const struct timeval patience = { .tv_sec = 20 };
	struct sockaddr_un where;
	int dir_fd, fd, ret;

	ret = shca_unix_address(path, &where, &dir_fd);
	if (ret != 0)
		return ret;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | type, 0);
	if (fd >= 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	ret = fd < 0 || connect(fd, (struct sockaddr *)&where, sizeof(where)) != 0 ? -errno : fd;
	close(dir_fd);
	if (ret < 0 && fd >= 0)
		close(fd);
	return ret;
}

int
shca_ctl_socket_connect(const char *path)
{
	return connect_to(path, 0);
}

int
shca_ctl_socket_try(const char *path)
{
	const int fd = connect_to(path, SOCK_NONBLOCK);

	if (fd >= 0)
		(void)fcntl(fd, F_SETFL, 0);
	return fd;
}

/** @return whether the process behind @p path is gone. */
static bool
is_stale(const char *path)
{
	int fd = shca_ctl_socket_try(path);

	if (fd >= 0)
		close(fd);
	return fd == -ECONNREFUSED;
}

static int
bind_at(int fd, const char *path)
{
	struct sockaddr_un where;
	int dir_fd;
	int ret = shca_unix_address(path, &where, &dir_fd);

	if (ret != 0)
		return ret;
	/* bind() gives the name the socket's mode less the umask. */
	if (fchmod(fd, 0600) != 0 || bind(fd, (struct sockaddr *)&where, sizeof(where)) != 0 ||
		listen(fd, BACKLOG) != 0)
		ret = -errno;
	close(dir_fd);
	return ret;
}

/** Make @p path the first process's socket if there is none; the lock on the directory serialises
 * processes that start together. */
static void
become_first(const char *dir, const char *path)
{
	char first[PATH_MAX];
	int dir_fd;

	if (snprintf(first, sizeof(first), "%s/" SHCA_CTL_SOCKET_FIRST, dir) >= (int)sizeof(first))
		return;
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd < 0)
		return;
	if (flock(dir_fd, LOCK_EX) == 0) {
		if (is_stale(first))
			unlink(first);
		(void)!link(path, first); /* EEXIST: a first process lives */
	}
	close(dir_fd);
}

int
shca_ctl_socket_listen(const char *dir, char *path, size_t path_size)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	char unready[PATH_MAX];
	uint64_t name;
	int ret;

	if (fd < 0)
		return -errno;
	ret = -ENAMETOOLONG;
	if (getrandom(&name, sizeof(name), GRND_NONBLOCK) != sizeof(name) ||
		snprintf(unready, sizeof(unready), "%s/new.%016" PRIx64, dir, name) >=
			(int)sizeof(unready))
		goto close_fd;
	ret = bind_at(fd, unready);
	if (ret != 0)
		goto close_fd;
	ret = -EEXIST;
	for (unsigned int n = 0; n < NAMES_MAX && ret == -EEXIST; n++) {
		if (snprintf(path, path_size, "%s/" SHCA_CTL_SOCKET_FIRST ".%d.%u", dir,
			    (int)getpid(), n) >= (int)path_size)
			ret = -ENAMETOOLONG;
		else
			ret = link(unready, path) == 0 ? 0 : -errno;
	}
	unlink(unready);
	if (ret != 0)
		goto close_fd;
	become_first(dir, path);
	return fd;

close_fd:
	close(fd);
	return ret;
}

void
shca_ctl_socket_remove(const char *path)
{
	struct stat own, other;
	char first[PATH_MAX];
	char *slash;

	strncpy(first, path, sizeof(first) - 1);
	first[sizeof(first) - 1] = '\0';
	slash = strrchr(first, '/');
	if (slash == NULL || slash + sizeof("/" SHCA_CTL_SOCKET_FIRST) > first + sizeof(first))
		return; /* not a path from shca_ctl_socket_listen() */
	strcpy(slash, "/" SHCA_CTL_SOCKET_FIRST);
	if (fstatat(AT_FDCWD, path, &own, AT_SYMLINK_NOFOLLOW) == 0 &&
		fstatat(AT_FDCWD, first, &other, AT_SYMLINK_NOFOLLOW) == 0 &&
		own.st_ino == other.st_ino)
		unlink(first);
	unlink(path);
}

/** Whose directory "softhca-notes" of /tmp may be has files of his own there: connect() says of one
 * what it says of a socket whose process is gone. */
static bool
is_socket(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0 && S_ISSOCK(status.st_mode);
}

static void
find_in(const char *dir, void (*visit)(const char *path, void *arg), void *arg)
{
	static const char prefix[] = SHCA_CTL_SOCKET_FIRST ".";
	const struct dirent *entry;
	char path[PATH_MAX];
	DIR *entries = opendir(dir);

	while (entries != NULL && (entry = readdir(entries)) != NULL) {
		if (strncmp(entry->d_name, prefix, sizeof(prefix) - 1) != 0 ||
			snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name) >=
				(int)sizeof(path) ||
			!is_socket(path))
			continue;
		if (is_stale(path))
			unlink(path);
		else
			visit(path, arg);
	}
	if (entries != NULL)
		closedir(entries);
}

/** @return whether @p dir is our own: in /tmp anybody may create a directory of that name. */
static bool
is_private(const char *dir)
{
	struct stat status;

	return lstat(dir, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
		(status.st_mode & 077) == 0;
}

static void
find_below(const char *base, void (*visit)(const char *path, void *arg), void *arg)
{
	const struct dirent *entry;
	char dir[PATH_MAX];
	DIR *entries = opendir(base);

	while (entries != NULL && (entry = readdir(entries)) != NULL)
		if (strncmp(entry->d_name, SHCA_CTL_RUNNER_PREFIX,
			    sizeof(SHCA_CTL_RUNNER_PREFIX) - 1) == 0 &&
			snprintf(dir, sizeof(dir), "%s/%s", base, entry->d_name) <
				(int)sizeof(dir) &&
			is_private(dir))
			find_in(dir, visit, arg);
	if (entries != NULL)
		closedir(entries);
}

void
shca_ctl_socket_find(const char *dir, void (*visit)(const char *path, void *arg), void *arg)
{
	char run[32];
	const char *bases[] = { getenv("XDG_RUNTIME_DIR"), run, "/dev/shm", "/tmp" };

	if (dir != NULL) {
		find_in(dir, visit, arg);
		return;
	}
	snprintf(run, sizeof(run), "/run/user/%u", (unsigned int)geteuid());
	for (unsigned int i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
		bool is_repeated = bases[i] == NULL || bases[i][0] != '/';

		for (unsigned int j = 0; j < i && !is_repeated; j++)
			is_repeated = bases[j] != NULL && strcmp(bases[i], bases[j]) == 0;
		if (!is_repeated)
			find_below(bases[i], visit, arg);
	}
}

static int
send_all(int fd, const char *bytes, size_t length)
{
	while (length != 0) {
		const ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return sent < 0 ? -errno : -EPIPE;
		bytes += sent;
		length -= (size_t)sent;
	}
	return 0;
}

int
shca_ctl_socket_receive(int fd, char *bytes, size_t length)
{
	while (length != 0) {
		const ssize_t got = recv(fd, bytes, length, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : -ECONNRESET;
		bytes += got;
		length -= (size_t)got;
	}
	return 0;
}

int
shca_ctl_socket_receive_head(int fd, bool *is_ok, size_t *length)
{
	char head[64] = "", verdict[8];

	for (size_t i = 0; i + 1 < sizeof(head); i++) {
		const int ret = shca_ctl_socket_receive(fd, &head[i], 1);

		if (ret != 0)
			return ret;
		if (head[i] != '\n')
			continue;
		if (sscanf(head, "%7s %zu", verdict, length) != 2)
			return -EPROTO;
		*is_ok = strcmp(verdict, "ok") == 0;
		return 0;
	}
	return -EPROTO;
}

int
shca_ctl_socket_send(int fd, const char *line)
{
	const int ret = send_all(fd, line, strlen(line));

	return ret == 0 ? send_all(fd, "\n", 1) : ret;
}

int
shca_ctl_socket_ask(int fd, const char *line, bool *is_ok, size_t *length)
{
	const int ret = shca_ctl_socket_send(fd, line);

	return ret == 0 ? shca_ctl_socket_receive_head(fd, is_ok, length) : ret;
}
