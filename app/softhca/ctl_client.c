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

int
app_ctl_client_ask(int fd, const char *line, char **text)
{
	size_t length;
	bool is_ok;
	char *body;
	int ret = shca_ctl_socket_ask(fd, line, &is_ok, &length);

	if (ret == -EPROTO || (ret == 0 && length > ANSWER_MAX))
		return fail(-EPROTO, text, "not a device's answer");
	if (ret != 0)
		return fail(ret, text, "no answer: %s",
			ret == -EAGAIN ? "the program stands still" : strerror(-ret));
	body = malloc(length + 1);
	if (body == NULL)
		return fail(-ENOMEM, text, "out of memory");
	if (shca_ctl_socket_receive(fd, body, length) != 0) {
		free(body);
		return fail(-EPIPE, text, "the answer broke off");
	}
	body[length] = '\0';
	*text = body;
	return is_ok ? 0 : -EREMOTEIO;
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
