/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The client's side of a control socket: a line out, a counted answer in. */
#include "ctl_client.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include "base/clock.h"
#include "ctl/ctl_socket.h"
#include "keeper/stop.h"

/** A device may take so long to answer: a debugger may have stopped it. */
#define PATIENCE_S 60
/** Of several who is stopped after so long will not answer. */
#define MOMENT_MS 500
/** Between looks at those. */
#define STEP_MS 50
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

static void
set_patience(int fd, int64_t ms)
{
	const struct timeval patience = { .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };

	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
}

static int
fail_to_connect(int error, const char *path, char **text)
{
	return fail(error, text, "%s: %s", path,
		error == -ENOENT || error == -ECONNREFUSED ? "no program has the device open"
							   : strerror(-error));
}

int
app_ctl_client_open(const char *path, char **text)
{
	int fd = shca_ctl_socket_connect(path);

	if (fd < 0)
		return fail_to_connect(fd, path, text);
	set_patience(fd, PATIENCE_S * 1000);
	return fd;
}

/** @return the process at the other end, or 0: it is in another namespace of processes. */
static pid_t
peer_of(int fd)
{
	struct ucred peer = { .pid = 0 };
	socklen_t length = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 ? peer.pid : 0;
}

/** @return whether somebody has stopped the process: job control, or a debugger. */
static bool
stands_still(pid_t pid)
{
	const char state = pid != 0 ? shca_stop_state(pid) : '\0';

	return state == 'T' || state == 't';
}

/** @return @p error of sending or receiving, with a text. */
static int
fail_to_ask(int fd, int error, char **text)
{
	if (error == -EPROTO)
		return fail(error, text, "not a device's answer");
	if (error == -EAGAIN)
		return stands_still(peer_of(fd))
			? fail(error, text, "no answer: the program stands still")
			: fail(error, text, "no answer in %d seconds", PATIENCE_S);
	return fail(error, text, "no answer: %s", strerror(-error));
}

/** Receive exactly @p length bytes, until @p end_ms. @return 0 or a negative errno: -EAGAIN: the
 * other side stands still, or it is too late. */
static int
receive_bytes(int fd, char *bytes, size_t length, int64_t end_ms)
{
	while (length != 0) {
		const ssize_t got = recv(fd, bytes, length, 0);
		const int error = got < 0 ? errno : ECONNRESET;

		if (got < 0 && error == EINTR)
			continue;
		if (got < 0 && error == EAGAIN && shca_clock_ms() < end_ms &&
			!stands_still(peer_of(fd)))
			continue;
		if (got <= 0)
			return -error;
		bytes += got;
		length -= (size_t)got;
	}
	return 0;
}

/** Take the answer to a request that was sent. @param end_ms until when more of one that has begun
 * is waited for, while its program runs @return 0 or a negative errno, with a text */
static int
receive(int fd, int64_t end_ms, char **text)
{
	size_t length = 0;
	bool is_ok = false;
	char *body;
	int ret = shca_ctl_socket_receive_head(fd, &is_ok, &length);

	if (ret == 0 && length > ANSWER_MAX)
		ret = -EPROTO;
	if (ret != 0)
		return fail_to_ask(fd, ret, text);
	body = malloc(length + 1);
	if (body == NULL)
		return fail(-ENOMEM, text, "out of memory");
	ret = receive_bytes(fd, body, length, end_ms);
	if (ret != 0) {
		free(body);
		return ret == -EAGAIN ? fail_to_ask(fd, ret, text)
				      : fail(-EPIPE, text, "the answer broke off");
	}
	body[length] = '\0';
	*text = body;
	return is_ok ? 0 : -EREMOTEIO;
}

int
app_ctl_client_ask(int fd, const char *line, char **text)
{
	const int ret = shca_ctl_socket_send(fd, line);

	return ret == 0 ? receive(fd, 0, text) : fail_to_ask(fd, ret, text);
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

/** @return the process that a socket's name has, as it knows itself, or 0. */
static pid_t
pid_in_name(const char *path)
{
	const char *name = strrchr(path, '/');
	int pid;

	return name != NULL && sscanf(name, "/" SHCA_CTL_SOCKET_FIRST ".%d.", &pid) == 1 ? pid : 0;
}

/** Connect, if there is room, and send the request. */
static void
send_to(struct app_ctl_asked *asked, const char *line)
{
	pid_t peer;

	asked->fd = shca_ctl_socket_try(asked->path);
	if (asked->fd < 0) {
		if (asked->fd != -EAGAIN)
			asked->ret = fail_to_connect(asked->fd, asked->path, &asked->text);
		return;
	}
	set_patience(asked->fd, MOMENT_MS);
	peer = peer_of(asked->fd);
	if (peer != 0)
		asked->pid = peer;
	asked->ret = shca_ctl_socket_send(asked->fd, line);
	if (asked->ret == 0)
		asked->ret = -EAGAIN;
	else
		asked->ret = fail_to_ask(asked->fd, asked->ret, &asked->text);
}

/** @return whether it will not answer: it stands still, or it is not known who has no room for one
 * more that asks. */
static bool
is_silent(const struct app_ctl_asked *asked)
{
	return stands_still(asked->pid) || (asked->fd < 0 && asked->pid == 0);
}

/** @return how many may still answer; their descriptors are in @p fds. */
static unsigned int
look(struct app_ctl_asked *asked, unsigned int nb, const char *line, int64_t waited_ms,
	struct pollfd *fds)
{
	unsigned int nb_left = 0;

	for (unsigned int i = 0; i < nb; i++) {
		if (asked[i].fd < 0 && asked[i].ret == -EAGAIN)
			send_to(&asked[i], line);
		fds[i] = (struct pollfd){ .fd = -1, .events = POLLIN };
		if (asked[i].ret != -EAGAIN || asked[i].text != NULL || asked[i].broke_off ||
			(waited_ms >= MOMENT_MS && is_silent(&asked[i])))
			continue;
		fds[i].fd = asked[i].fd;
		nb_left++;
	}
	return nb_left;
}

/** Take an answer; whose does not come to its end is one that does not answer. */
static void
take(struct app_ctl_asked *asked, int64_t end_ms)
{
	asked->ret = receive(asked->fd, end_ms, &asked->text);
	asked->broke_off = asked->ret == -EAGAIN;
	if (asked->broke_off) {
		free(asked->text);
		asked->text = NULL;
	}
}

/** Say who does not answer. */
static void
name_silent(struct app_ctl_asked *asked)
{
	if (asked->pid == 0)
		(void)fail(-EAGAIN, &asked->text, "%s: its process does not answer", asked->path);
	else
		(void)fail(-EAGAIN, &asked->text, "process %d does not answer%s", (int)asked->pid,
			stands_still(asked->pid) ? ": it stands still" : "");
}

void
app_ctl_client_all(struct app_ctl_asked *asked, unsigned int nb, const char *line,
	bool (*is_enough)(const struct app_ctl_asked *answered, void *arg), void *arg)
{
	struct pollfd *fds = calloc(nb + 1, sizeof(*fds));
	const int64_t start = shca_clock_ms(), end = start + PATIENCE_S * 1000;
	bool goes_on = fds != NULL;

	for (unsigned int i = 0; i < nb; i++)
		asked[i] = (struct app_ctl_asked){
			.path = asked[i].path,
			.ret = fds != NULL ? -EAGAIN : -ENOMEM,
			.pid = pid_in_name(asked[i].path),
			.fd = -1,
		};
	while (goes_on && shca_clock_ms() < end &&
		look(asked, nb, line, shca_clock_ms() - start, fds) != 0) {
		if (poll(fds, nb, STEP_MS) <= 0)
			continue;
		for (unsigned int i = 0; i < nb && goes_on; i++) {
			if (fds[i].fd < 0 || fds[i].revents == 0)
				continue;
			take(&asked[i], end);
			goes_on = is_enough == NULL || !is_enough(&asked[i], arg);
		}
	}
	for (unsigned int i = 0; i < nb; i++) {
		if (goes_on && asked[i].ret == -EAGAIN && asked[i].text == NULL)
			name_silent(&asked[i]);
		if (asked[i].fd >= 0)
			close(asked[i].fd);
	}
	free(fds);
}
