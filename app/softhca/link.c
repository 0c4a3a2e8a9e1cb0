/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The user's own name of the control socket: a link into the private directory. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "app.h"
#include "ctl/ctl_socket.h"

static void
name_target(const char *dir, char *target, size_t size)
{
	snprintf(target, size, "%s/" SHCA_CTL_SOCKET_FIRST, dir);
}

/** @return whether @p path is a link such as a runner makes (app_cleanup_start()): connect() says
 * of one to any other file what it says of one whose runner is gone. */
static bool
is_of_runner(const char *path)
{
	char target[PATH_MAX], *name, *dir;
	const ssize_t length = readlink(path, target, sizeof(target) - 1);

	if (length < 0)
		return false;
	target[length] = '\0';
	name = strrchr(target, '/');
	if (name == NULL || strcmp(name, "/" SHCA_CTL_SOCKET_FIRST) != 0)
		return false;
	*name = '\0';
	dir = strrchr(target, '/');
	return dir != NULL &&
		strncmp(dir + 1, SHCA_CTL_RUNNER_PREFIX, strlen(SHCA_CTL_RUNNER_PREFIX)) == 0;
}

/** @return whether @p path is the link of an earlier runner, which was killed. */
static bool
is_left_over(const char *path)
{
	int fd;

	if (!is_of_runner(path))
		return false;
	fd = shca_ctl_socket_try(path);
	if (fd >= 0)
		close(fd);
	return fd == -ENOENT || fd == -ECONNREFUSED;
}

int
app_link_make(const char *path, const char *dir)
{
	char target[PATH_MAX];
	int ret;

	name_target(dir, target, sizeof(target));
	if (is_left_over(path))
		unlink(path);
	if (symlink(target, path) == 0)
		return 0;
	ret = -errno;
	fprintf(stderr, "softhca: --ctl %s: %s\n", path, strerror(-ret));
	return ret;
}

void
app_link_remove(const char *path, const char *dir)
{
	char target[PATH_MAX], found[PATH_MAX];
	ssize_t length = readlink(path, found, sizeof(found) - 1);

	name_target(dir, target, sizeof(target));
	if (length < 0)
		return;
	found[length] = '\0';
	if (strcmp(found, target) == 0)
		unlink(path);
}
