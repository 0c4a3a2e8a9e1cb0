/* SPDX-License-Identifier: BSD-3-Clause */
/* The asking side of a control socket, inside the preloaded library. */
#include "ctl/remote.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "ctl/ctl_socket.h"

/** A device may take so long to answer: a debugger may have stopped it. */
#define PATIENCE_S 60

int
shca_remote_ask(const char *dir, const char *line, char *answer, size_t size)
{
	const struct timeval patience = { .tv_sec = PATIENCE_S };
	char path[PATH_MAX];
	bool is_ok = false;
	size_t length;
	int fd, ret = -ENODEV;

	if (snprintf(path, sizeof(path), "%s/" SHCA_CTL_SOCKET_FIRST, dir) >= (int)sizeof(path))
		return -ENODEV;
	fd = shca_ctl_socket_connect(path);
	if (fd < 0)
		return -ENODEV;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (shca_ctl_socket_ask(fd, line, &is_ok, &length) == 0 && length < size &&
		shca_ctl_socket_receive(fd, answer, length) == 0) {
		answer[length] = '\0';
		ret = is_ok ? 0 : -EREMOTEIO;
	}
	close(fd);
	return ret;
}
