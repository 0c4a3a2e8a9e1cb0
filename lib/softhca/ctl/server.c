/* SPDX-License-Identifier: BSD-3-Clause */
/* The control socket: lines in, answers out. */
#include "ctl/server.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "ctl/commands.h"
#include "ctl/ctl_socket.h"
#include "ctl/request.h"

/** A client that is silent longer is disconnected. */
#define PATIENCE_MS 10000
/** Descriptors get high numbers: some programs close low ones, or expect them. */
#define FD_FIRST 100

struct shca_server {
	struct shca_target target;
	pthread_t thread;
	char path[PATH_MAX];
	int listen_fd, stop_fd;
	int client_fd;    /* -1: none */
	ino_t listen_ino; /* detects that the program closed listen_fd and reused the number */
	char line[SHCA_REQUEST_MAX];
	size_t length; /* bytes in line */
};

/** @return whether @p fd got ready; false also when the server must end. */
static bool
wait_for(const struct shca_server *server, int fd, short events, int timeout_ms)
{
	struct pollfd pollfd[] = {
		{ .fd = fd, .events = events },
		{ .fd = server->stop_fd, .events = POLLIN },
	};
	int ret;

	do
		ret = poll(pollfd, 2, timeout_ms);
	while (ret < 0 && errno == EINTR);
	return ret > 0 && pollfd[1].revents == 0;
}

static bool
send_all(const struct shca_server *server, const char *bytes, size_t length)
{
	while (length != 0) {
		ssize_t sent;

		if (!wait_for(server, server->client_fd, POLLOUT, PATIENCE_MS))
			return false;
		sent = send(server->client_fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (sent < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		if (sent > 0) {
			bytes += sent;
			length -= (size_t)sent;
		}
	}
	return true;
}

/** Answer the request @p line. @return false when the client is gone. */
static bool
answer(struct shca_server *server, char *line)
{
	struct shca_request request;
	char error[512] = "out of memory";
	char head[32];
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	bool is_sent;
	int ret = -ENOMEM;

	if (out != NULL) {
		ret = shca_request_parse_line(line, &request, error, sizeof(error));
		if (ret == 0)
			ret = shca_commands_run(&server->target, &request, out);
		if (fclose(out) != 0)
			ret = -ENOMEM;
	}
	if (ret != 0 && length == 0) { /* the parser's message, or none */
		free(text);
		text = strdup(error);
		length = text == NULL ? 0 : strlen(text);
	}
	snprintf(head, sizeof(head), "%s %zu\n", ret == 0 ? "ok" : "error", length);
	is_sent = send_all(server, head, strlen(head)) && send_all(server, text, length);
	free(text);
	return is_sent;
}

/** Answer the whole lines received so far, and move the rest to the front. */
static bool
answer_lines(struct shca_server *server)
{
	char *newline;

	while ((newline = memchr(server->line, '\n', server->length)) != NULL) {
		size_t used = (size_t)(newline + 1 - server->line);

		*newline = '\0';
		if (!answer(server, server->line))
			return false;
		memmove(server->line, newline + 1, server->length - used);
		server->length -= used;
	}
	/* A request is shorter than the buffer. */
	return server->length < sizeof(server->line);
}

static void
serve_client(struct shca_server *server)
{
	server->length = 0;
	while (wait_for(server, server->client_fd, POLLIN, PATIENCE_MS)) {
		ssize_t got = recv(server->client_fd, server->line + server->length,
			sizeof(server->line) - server->length, MSG_DONTWAIT);

		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (got <= 0)
			break;
		server->length += (size_t)got;
		if (!answer_lines(server))
			break;
	}
	close(server->client_fd);
	server->client_fd = -1;
}

static bool
is_own(const struct shca_server *server)
{
	struct stat status;

	return fstat(server->listen_fd, &status) == 0 && status.st_ino == server->listen_ino;
}

static void *
run(void *arg)
{
	struct shca_server *server = arg;

	while (wait_for(server, server->listen_fd, POLLIN, -1) && is_own(server)) {
		server->client_fd = accept4(server->listen_fd, NULL, NULL, SOCK_CLOEXEC);
		if (server->client_fd >= 0)
			serve_client(server);
		else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
			/* The client stays in the backlog: do not accept it again at once. */
			(void)wait_for(server, -1, 0, 100);
	}
	return NULL;
}

static int
create_thread(struct shca_server *server, const cpu_set_t *cpus)
{
	sigset_t all, before;
	pthread_attr_t attr;
	int ret = pthread_attr_init(&attr);

	if (ret != 0)
		return -ret;
	ret = pthread_attr_setaffinity_np(&attr, sizeof(*cpus), cpus);
	if (ret == 0) {
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &before);
		ret = pthread_create(&server->thread, &attr, run, server);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	pthread_attr_destroy(&attr);
	if (ret == 0)
		pthread_setname_np(server->thread, "softhca-ctl");
	return -ret;
}

static int
move_up(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, FD_FIRST);

	if (high < 0)
		return fd; /* the limit of open files is low */
	close(fd);
	return high;
}

int
shca_server_start(const char *dir, const struct shca_target *target, const cpu_set_t *cpus,
	struct shca_server **out)
{
	struct shca_server *server = calloc(1, sizeof(*server));
	struct stat status;
	int ret;

	if (server == NULL)
		return -ENOMEM;
	server->target = *target;
	server->client_fd = -1;
	server->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (server->stop_fd < 0) {
		ret = -errno;
		goto free_server;
	}
	server->stop_fd = move_up(server->stop_fd);
	ret = shca_ctl_socket_listen(dir, server->path, sizeof(server->path));
	if (ret < 0)
		goto close_stop;
	server->listen_fd = move_up(ret);
	server->listen_ino = fstat(server->listen_fd, &status) == 0 ? status.st_ino : 0;
	ret = create_thread(server, cpus);
	if (ret != 0)
		goto remove_socket;
	*out = server;
	return 0;

remove_socket:
	shca_ctl_socket_remove(server->path);
	close(server->listen_fd);
close_stop:
	close(server->stop_fd);
free_server:
	free(server);
	return ret;
}

void
shca_server_stop(struct shca_server *server)
{
	const uint64_t one = 1;

	if (server == NULL)
		return;
	while (write(server->stop_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	pthread_join(server->thread, NULL);
	shca_ctl_socket_remove(server->path);
	if (is_own(server))
		close(server->listen_fd);
	close(server->stop_fd);
	free(server);
}

void
shca_server_forked(struct shca_server *server)
{
	if (server == NULL)
		return;
	close(server->listen_fd);
	close(server->stop_fd);
	if (server->client_fd >= 0)
		close(server->client_fd);
}
