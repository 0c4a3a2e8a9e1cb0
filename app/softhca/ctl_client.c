/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The client's side of a control socket: a line out, a counted answer in. */
#include "ctl_client.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include "ctl/ctl_socket.h"

/** A device may take so long to answer: a debugger may have stopped it. */
#define PATIENCE_S 60
/** A million rules are 200 MB. */
#define ANSWER_MAX ((size_t)1 << 31)

static int __attribute__((format(printf, 3, 4)))
fail(int error, char **text, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (vasprintf(text, format, args) < 0)
		*text = NULL;
	va_end(args);
	return error;
}

int
app_ctl_client_open(const char *path, char **text)
{
	const struct timeval patience = { .tv_sec = PATIENCE_S };
	int fd = shca_ctl_socket_connect(path);

	if (fd == -ENOENT || fd == -ECONNREFUSED)
		return fail(fd, text, "%s: no program has the device open", path);
	if (fd < 0)
		return fail(fd, text, "%s: %s", path, strerror(-fd));
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	return fd;
}

static bool
send_all(int fd, const char *bytes, size_t length)
{
	while (length != 0) {
		ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL);

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
		ssize_t got = recv(fd, bytes, length, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got == 0)
			errno = ECONNRESET;
		if (got <= 0)
			return false;
		bytes += got;
		length -= (size_t)got;
	}
	return true;
}

/** Receive the first line of an answer, "ok 123\n", without the newline. */
static bool
receive_head(int fd, char *head, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (!receive_all(fd, &head[i], 1))
			return false;
		if (head[i] == '\n') {
			head[i] = '\0';
			return true;
		}
	}
	errno = EPROTO;
	return false;
}

int
app_ctl_client_ask(int fd, const char *line, char **text)
{
	char head[64], verdict[8];
	size_t length;
	char *body;

	if (!send_all(fd, line, strlen(line)) || !send_all(fd, "\n", 1) ||
		!receive_head(fd, head, sizeof(head))) {
		int error = errno;

		return fail(-error, text, "no answer: %s",
			error == EAGAIN ? "the program stands still" : strerror(error));
	}
	if (sscanf(head, "%7s %zu", verdict, &length) != 2 || length > ANSWER_MAX)
		return fail(-EPROTO, text, "not a device's answer: %s", head);
	body = malloc(length + 1);
	if (body == NULL)
		return fail(-ENOMEM, text, "out of memory");
	if (!receive_all(fd, body, length)) {
		free(body);
		return fail(-EPIPE, text, "the answer broke off");
	}
	body[length] = '\0';
	*text = body;
	return strcmp(verdict, "ok") == 0 ? 0 : -EREMOTEIO;
}

int
app_ctl_client_once(const char *path, const char *line, char **text)
{
	int fd = app_ctl_client_open(path, text);
	int ret;

	if (fd < 0)
		return fd;
	ret = app_ctl_client_ask(fd, line, text);
	close(fd);
	return ret;
}
