/* SPDX-License-Identifier: BSD-3-Clause */
#include "card.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
#include "base/unix_address.h"
#include "keeper/message.h"
#include "sysfs/tree.h"

#define NAME_MAX_BYTES 32
#define RUN            "/run"
#define ROOT_BASE      RUN "/softhca"
#define LOCK_FILE      "lock"

int
app_card_check_name(const char *name)
{
	const size_t length = strlen(name);

	if (length != 0 && length <= NAME_MAX_BYTES && name[0] != '.' && name[0] != '-' &&
		strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") ==
			length)
		return 0;
	fprintf(stderr,
		"softhca: '%s' is no name of a card: up to %d letters, digits, '-', '_', '.', and neither '.' nor '-' first\n",
		name, NAME_MAX_BYTES);
	return -EINVAL;
}

/** The directory of this user's cards. */
static void
own_base(char *base, size_t size)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	/* Who is root in a user namespace alone may not write there. */
	if (geteuid() == 0 && access(RUN, W_OK) == 0)
		snprintf(base, size, ROOT_BASE);
	else if (runtime != NULL && runtime[0] == '/' && access(runtime, W_OK) == 0)
		snprintf(base, size, "%s/softhca", runtime);
	else
		snprintf(base, size, "/tmp/softhca-%u", (unsigned int)geteuid());
}

/** @return whether root's directory is of the user whose /run is, where no other can make one:
 * below a user namespace root has another number. */
static bool
is_of_run(const char *dir, const struct stat *status)
{
	struct stat run;

	return strcmp(dir, ROOT_BASE) == 0 && lstat(RUN, &run) == 0 && S_ISDIR(run.st_mode) &&
		run.st_uid == status->st_uid && (run.st_mode & 022) == 0;
}

/** @return whether @p dir is a directory of this user's or root's: in /tmp anybody may make one. */
static bool
is_trusted(const char *dir)
{
	struct stat status;

	return lstat(dir, &status) == 0 && S_ISDIR(status.st_mode) && (status.st_mode & 022) == 0 &&
		(status.st_uid == geteuid() || status.st_uid == 0 || is_of_run(dir, &status));
}

static int
fail(const char *dir, int error)
{
	fprintf(stderr, "softhca: %s: %s\n", dir, strerror(error));
	return -error;
}

/** @return whether @p path is still the file that @p fd is. */
static bool
is_same(const char *path, int fd)
{
	struct stat ours, now;

	return fstat(fd, &ours) == 0 && lstat(path, &now) == 0 && ours.st_ino == now.st_ino &&
		ours.st_dev == now.st_dev;
}

int
app_card_lock(const char *name, const char *dir)
{
	char path[SHCA_TREE_DIR_MAX + sizeof("/" LOCK_FILE)];
	pid_t keeper;
	int fd;

	snprintf(path, sizeof(path), "%s/" LOCK_FILE, dir);
	fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno == ENOENT ? -ESTALE : fail(dir, errno);
	if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
		if (is_same(path, fd))
			return fd;
		close(fd);
		return -ESTALE;
	}
	close(fd);
	keeper = app_card_keeper(dir);
	if (keeper >= 0)
		fprintf(stderr, "softhca: %s is up already: process %d keeps it\n", name,
			(int)keeper);
	else if (keeper == -EAGAIN)
		fprintf(stderr, "softhca: %s: %s\n", name, app_card_why(keeper));
	else
		fprintf(stderr, "softhca: %s is on its way up or down: another softhca has it\n",
			name);
	return -EEXIST;
}

/** Make the directory of a card, locked, in place of what a killed keeper may have left. */
static int
make_directory(const char *name, const char *dir)
{
	int fd, ret = -ESTALE;

	while (ret == -ESTALE) {
		const bool is_new = mkdir(dir, 0700) == 0;

		if (!is_new && errno != EEXIST)
			return fail(dir, errno);
		fd = app_card_lock(name, dir);
		ret = fd >= 0 ? 0 : fd;
		if (fd < 0 || is_new)
			continue;
		ret = shca_tree_remove(dir);
		ret = ret == 0 ? -ESTALE : fail(dir, -ret);
		close(fd);
	}
	return ret;
}

int
app_card_make(const char *name, mode_t mode, char *dir, size_t size)
{
	char base[SHCA_TREE_DIR_MAX];
	int ret;

	own_base(base, sizeof(base));
	if (snprintf(dir, size, "%s/%s", base, name) >= (int)size)
		return fail(base, ENAMETOOLONG);
	if (mkdir(base, 0755) != 0 && errno != EEXIST)
		return fail(base, errno);
	if (!is_trusted(base))
		return fail(base, EPERM);
	ret = make_directory(name, dir);
	/* Others look devices up in its files. */
	if (ret == 0 && (mode & 066) != 0 && chmod(dir, 0755) != 0)
		ret = fail(dir, errno);
	return ret;
}

int
app_card_find(const char *name, char *dir, size_t size)
{
	char base[SHCA_TREE_DIR_MAX];
	const char *const bases[] = { base, ROOT_BASE };

	own_base(base, sizeof(base));
	for (unsigned int i = 0; i < sizeof(bases) / sizeof(bases[0]); i++)
		if (snprintf(dir, size, "%s/%s", bases[i], name) < (int)size &&
			is_trusted(bases[i]) && access(dir, F_OK) == 0)
			return 0;
	fprintf(stderr, "softhca: no card %s is up; softhca list tells which are\n", name);
	return -ENOENT;
}

pid_t
app_card_keeper(const char *dir)
{
	/* connect() waits so long for a keeper that stands still, when many have before. */
	const struct timeval patience = { .tv_sec = 2 };
	struct sockaddr_un where;
	char path[PATH_MAX];
	struct ucred peer;
	socklen_t length = sizeof(peer);
	int dir_fd, fd, ret;

	snprintf(path, sizeof(path), "%s/" SHCA_MESSAGE_SOCKET, dir);
	ret = shca_unix_address(path, &where, &dir_fd);
	if (ret != 0)
		return ret;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) != 0 ||
		connect(fd, (struct sockaddr *)&where, sizeof(where)) != 0 ||
		getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0)
		ret = -errno;
	else
		ret = peer.pid;
	close(dir_fd);
	if (fd >= 0)
		close(fd);
	return ret;
}

const char *
app_card_why(int error)
{
	/* So connect() ends that has waited for a keeper that stands still. */
	return error == -EAGAIN ? "its keeper does not answer" : strerror(-error);
}

void
app_card_each(void (*visit)(const char *name, const char *dir))
{
	char base[SHCA_TREE_DIR_MAX], dir[PATH_MAX];
	const char *const bases[] = { base, ROOT_BASE };
	const struct dirent *entry;
	DIR *entries;

	own_base(base, sizeof(base));
	for (unsigned int i = strcmp(base, ROOT_BASE) == 0; i < 2; i++) {
		entries = is_trusted(bases[i]) ? opendir(bases[i]) : NULL;
		while (entries != NULL && (entry = readdir(entries)) != NULL) {
			if (entry->d_name[0] == '.')
				continue;
			snprintf(dir, sizeof(dir), "%s/%s", bases[i], entry->d_name);
			visit(entry->d_name, dir);
		}
		if (entries != NULL)
			closedir(entries);
	}
}
