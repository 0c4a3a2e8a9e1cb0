/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/unix_address.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int
shca_unix_address(const char *path, struct sockaddr_un *where, int *dir_fd)
{
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX] = ".";
	size_t length = slash == NULL ? 0 : (size_t)(slash - path);

	if (length >= sizeof(dir))
		return -ENAMETOOLONG;
	if (slash != NULL)
		memcpy(dir, length == 0 ? "/" : path, length == 0 ? 2 : length);
	if (length != 0)
		dir[length] = '\0';
	*dir_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (*dir_fd < 0)
		return -errno;
	*where = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (snprintf(where->sun_path, sizeof(where->sun_path), "/proc/self/fd/%d/%s", *dir_fd,
		    slash == NULL ? path : slash + 1) >= (int)sizeof(where->sun_path)) {
		close(*dir_fd);
		return -ENAMETOOLONG;
	}
	return 0;
}
