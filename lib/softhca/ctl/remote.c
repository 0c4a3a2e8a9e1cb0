/* SPDX-License-Identifier: BSD-3-Clause */
/* The asking side of a control socket, inside the preloaded library. */
#include "ctl/remote.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "ctl/ctl_socket.h"

/** A device may take so long to answer: a debugger may have stopped it. */
#define PATIENCE_S 60

static bool
send_all(int fd, const char *bytes, size_t length)
{
	while (length != 0) {
		const ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return false;
		bytes += sent;
		length -= (size_t)sent;
	}
	return true;
}

static bool
receive_all(int fd, char *bytes, size_t length)
{
	while (length != 0) {
		const ssize_t got = recv(fd, bytes, length, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		bytes += got;
		length -= (size_t)got;
	}
	return true;
}

/** Receive "ok 123\n" or "error 123\n". */
static bool
receive_head(int fd, bool *is_ok, size_t *length)
{
	char head[32] = "", verdict[8];

	for (size_t i = 0; i + 1 < sizeof(head); i++) {
		if (!receive_all(fd, &head[i], 1))
			return false;
		if (head[i] != '\n')
			continue;
		if (sscanf(head, "%7s %zu", verdict, length) != 2)
			return false;
		*is_ok = strcmp(verdict, "ok") == 0;
		return true;
	}
	return false;
}

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
	if (send_all(fd, line, strlen(line)) && receive_head(fd, &is_ok, &length) &&
		length < size && receive_all(fd, answer, length)) {
		answer[length] = '\0';
		ret = is_ok ? 0 : -EREMOTEIO;
	}
	close(fd);
	return ret;
}
