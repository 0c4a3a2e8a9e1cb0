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

#include "base/clock.h"
#include "base/log.h"
#include "ctl/commands.h"
#include "ctl/ctl_socket.h"
#include "ctl/request.h"

/** A client that says and reads nothing for longer is disconnected. */
#define PATIENCE_MS 10000
/** Descriptors get high numbers: some programs close low ones, or expect them. */
#define FD_FIRST 100
/** More wait until one has gone. */
#define CLIENTS_MAX 16

struct client {
	int fd; /* -1: none */
	char line[SHCA_REQUEST_MAX];
	size_t length; /* bytes in line */
	char *answer;  /* what is on its way; NULL: a request is */
	size_t answer_length, sent;
	int64_t until_ms; /* the end of our patience */
};

struct shca_server {
	struct shca_target target;
	pthread_t thread;
	char path[PATH_MAX];
	int listen_fd, stop_fd;
	ino_t listen_ino; /* detects that the program closed listen_fd and reused the number */
	struct client client[CLIENTS_MAX];
};

/** Make the answer to the request @p line. @return false without memory for one. */
static bool
answer(struct shca_server *server, struct client *client, char *line)
{
	struct shca_request request;
	char error[512] = "out of memory";
	char head[32];
	char *text = NULL;
	size_t length = 0, head_length;
	FILE *out = open_memstream(&text, &length);
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
	head_length =
		(size_t)snprintf(head, sizeof(head), "%s %zu\n", ret == 0 ? "ok" : "error", length);
	client->answer = malloc(head_length + length);
	client->answer_length = head_length + length;
	client->sent = 0;
	if (client->answer != NULL) {
		memcpy(client->answer, head, head_length);
		if (length != 0)
			memcpy(client->answer + head_length, text, length);
	}
	free(text);
	return client->answer != NULL;
}

/** Answer the first whole line received, if there is one, and move the rest to the front. */
static bool
answer_line(struct shca_server *server, struct client *client)
{
	char *newline = memchr(client->line, '\n', client->length);
	size_t used;

	/* A request is shorter than the buffer. */
	if (newline == NULL)
		return client->length < sizeof(client->line);
	used = (size_t)(newline + 1 - client->line);
	*newline = '\0';
	if (!answer(server, client, client->line))
		return false;
	client->length -= used;
	memmove(client->line, newline + 1, client->length);
	return true;
}

/** Send what the client takes now of its answer. @return false: it has gone. */
static bool
send_more(struct shca_server *server, struct client *client)
{
	const ssize_t sent = send(client->fd, client->answer + client->sent,
		client->answer_length - client->sent, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (sent < 0)
		return errno == EAGAIN || errno == EINTR;
	client->sent += (size_t)sent;
	if (client->sent != client->answer_length)
		return true;
	free(client->answer);
	client->answer = NULL;
	return answer_line(server, client);
}

/** Receive what the client says now. @return false: it has gone. */
static bool
receive_more(struct shca_server *server, struct client *client)
{
	const ssize_t got = recv(client->fd, client->line + client->length,
		sizeof(client->line) - client->length, MSG_DONTWAIT);

	if (got < 0)
		return errno == EAGAIN || errno == EINTR;
	client->length += (size_t)got;
	return got != 0 && answer_line(server, client);
}

static void
drop(struct client *client)
{
	free(client->answer);
	client->answer = NULL;
	close(client->fd);
	client->fd = -1;
}

/** Do what a client is ready for: none waits for another one. */
static void
serve(struct shca_server *server, struct client *client, short revents)
{
	const int64_t now_ms = shca_clock_ms();
	bool is_there = now_ms < client->until_ms;

	if (revents != 0) {
		client->until_ms = now_ms + PATIENCE_MS;
		is_there = client->answer != NULL ? send_more(server, client)
						  : receive_more(server, client);
	}
	if (!is_there)
		drop(client);
}

static bool
is_own(const struct shca_server *server)
{
	struct stat status;

	return fstat(server->listen_fd, &status) == 0 && status.st_ino == server->listen_ino;
}

static struct client *
find_room(struct shca_server *server)
{
	for (unsigned int i = 0; i < CLIENTS_MAX; i++)
		if (server->client[i].fd < 0)
			return &server->client[i];
	return NULL;
}

static void
accept_client(struct shca_server *server)
{
	struct pollfd stop = { .fd = server->stop_fd, .events = POLLIN };
	struct client *client = find_room(server);

	client->fd = accept4(server->listen_fd, NULL, NULL, SOCK_CLOEXEC);
	client->length = 0;
	client->until_ms = shca_clock_ms() + PATIENCE_MS;
	/* The client stays in the backlog: do not accept it again at once. */
	if (client->fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
		(void)poll(&stop, 1, 100);
}

/** @return milliseconds until our patience with a client ends, or -1. */
static int
patience(const struct shca_server *server)
{
	const int64_t now_ms = shca_clock_ms();
	int least = -1;

	for (unsigned int i = 0; i < CLIENTS_MAX; i++) {
		const struct client *client = &server->client[i];
		const int left = client->until_ms > now_ms ? (int)(client->until_ms - now_ms) : 0;

		if (client->fd >= 0 && (least < 0 || left < least))
			least = left;
	}
	return least;
}

/** What to wait for. poll() takes no more descriptors than the program may open: no unused ones. */
static nfds_t
watch(struct shca_server *server, struct pollfd fds[static CLIENTS_MAX + 2])
{
	nfds_t nb = 0;

	fds[nb++] = (struct pollfd){ .fd = server->stop_fd, .events = POLLIN };
	fds[nb++] = (struct pollfd){ .fd = find_room(server) != NULL ? server->listen_fd : -1,
		.events = POLLIN };
	for (unsigned int i = 0; i < CLIENTS_MAX; i++)
		if (server->client[i].fd >= 0)
			fds[nb++] = (struct pollfd){ .fd = server->client[i].fd,
				.events = server->client[i].answer != NULL ? POLLOUT : POLLIN };
	return nb;
}

/** Serve until the server must end. */
static void *
run(void *arg)
{
	struct shca_server *server = arg;
	struct pollfd fds[CLIENTS_MAX + 2];

	do {
		const nfds_t nb = watch(server, fds);
		const struct pollfd *next = fds + 2;

		if (poll(fds, nb, patience(server)) < 0) {
			if (errno == EINTR)
				continue;
			break;
		}
		if (fds[0].revents != 0)
			break;
		for (unsigned int i = 0; i < CLIENTS_MAX; i++)
			if (server->client[i].fd >= 0)
				serve(server, &server->client[i], next++->revents);
		if (fds[1].revents != 0 && is_own(server))
			accept_client(server);
	} while (is_own(server));
	for (unsigned int i = 0; i < CLIENTS_MAX; i++)
		if (server->client[i].fd >= 0)
			drop(&server->client[i]);
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
	for (unsigned int i = 0; i < CLIENTS_MAX; i++)
		server->client[i].fd = -1;
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
	for (unsigned int i = 0; i < CLIENTS_MAX; i++)
		if (server->client[i].fd >= 0)
			close(server->client[i].fd);
}
