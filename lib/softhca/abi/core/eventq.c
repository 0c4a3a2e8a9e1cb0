/* SPDX-License-Identifier: BSD-3-Clause */
/* Event descriptors: a socket pair each, records counted when read. */
#include "abi/core/eventq.h"

#include <assert.h>
#include <errno.h>
#include <linux/sockios.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/core/object.h"
#include "abi/core/user.h"
#include "base/log.h"

static_assert(sizeof(struct ib_uverbs_comp_event_desc) == 8, "record of a completion channel");
static_assert(sizeof(struct ib_uverbs_async_event_desc) == 16, "record of an async descriptor");

/** Room for some thousand unread records. The kernel has no limit; a socket buffer needs one. */
#define SEND_BUFFER_BYTES (4 << 20)

union record {
	struct ib_uverbs_comp_event_desc completion;
	struct ib_uverbs_async_event_desc async;
};

static size_t
record_bytes(const struct shca_eventq *queue)
{
	return queue->kind == SHCA_EVENTQ_COMPLETION ? sizeof(struct ib_uverbs_comp_event_desc)
						     : sizeof(struct ib_uverbs_async_event_desc);
}

static uint64_t
record_element(const struct shca_eventq *queue, const union record *record)
{
	return queue->kind == SHCA_EVENTQ_COMPLETION ? record->completion.cq_handle
						     : record->async.element;
}

/** Forget a queue: our end stays open. */
static void
leave(struct shca_file *file, struct shca_eventq *queue)
{
	if (file->async == queue)
		file->async = NULL;
	LIST_REMOVE(queue, link);
	free(queue);
}

static void
destroy(struct shca_file *file, struct shca_eventq *queue)
{
	close(queue->our_fd);
	leave(file, queue);
}

/** Destroy the channels that the application has closed: close() of its end does not tell us. */
static void
sweep(struct shca_file *file)
{
	struct shca_eventq *queue = LIST_FIRST(&file->eventqs);

	while (queue != NULL) {
		struct shca_eventq *next = LIST_NEXT(queue, link);
		struct pollfd pollfd = { .fd = queue->our_fd };

		if (queue->nb_users == 0 && poll(&pollfd, 1, 0) == 1 && (pollfd.revents & POLLHUP))
			destroy(file, queue);
		queue = next;
	}
}

int
shca_eventq_create(struct shca_file *file, enum shca_eventq_kind kind, struct shca_eventq **out)
{
	const int buffer_bytes = SEND_BUFFER_BYTES;
	struct shca_eventq *queue;
	struct stat status;
	int fds[2];
	int ret;

	sweep(file);
	queue = calloc(1, sizeof(*queue));
	if (queue == NULL)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0) {
		ret = -errno;
		goto free_queue;
	}
	if (fstat(fds[1], &status) != 0) {
		ret = -errno;
		goto close_fds;
	}
	/* Without CAP_NET_ADMIN the system's default applies: some hundred records. */
	if (setsockopt(fds[0], SOL_SOCKET, SO_SNDBUFFORCE, &buffer_bytes, sizeof(buffer_bytes)) !=
		0)
		setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &buffer_bytes, sizeof(buffer_bytes));
	queue->kind = kind;
	queue->our_fd = fds[0];
	queue->user_fd = fds[1];
	queue->inode = status.st_ino;
	LIST_INSERT_HEAD(&file->eventqs, queue, link);
	*out = queue;
	return 0;

close_fds:
	close(fds[0]);
	close(fds[1]);
free_queue:
	free(queue);
	return ret;
}

struct shca_eventq *
shca_eventq_get(struct shca_eventq *queue)
{
	if (queue != NULL)
		queue->nb_users++;
	return queue;
}

void
shca_eventq_put(struct shca_eventq *queue)
{
	if (queue != NULL)
		queue->nb_users--;
}

struct shca_eventq *
shca_eventq_get_async(struct shca_file *file, struct shca_eventq *queue)
{
	return shca_eventq_get(queue != NULL ? queue : file->async);
}

void
shca_eventq_destroy_all(struct shca_file *file)
{
	while (!LIST_EMPTY(&file->eventqs))
		destroy(file, LIST_FIRST(&file->eventqs));
}

void
shca_eventq_leave_all(struct shca_file *file)
{
	while (!LIST_EMPTY(&file->eventqs))
		leave(file, LIST_FIRST(&file->eventqs));
}

struct shca_eventq *
shca_eventq_find(struct shca_file *file, enum shca_eventq_kind kind, int64_t fd)
{
	const ino_t inode = shca_user_socket(fd);
	struct shca_eventq *queue;

	LIST_FOREACH (queue, &file->eventqs, link)
		if (inode != 0 && queue->inode == inode && queue->kind == kind)
			return queue;
	return NULL;
}

static bool
send_record(struct shca_eventq *queue, const union record *record)
{
	int saved_errno = errno;
	ssize_t ret = send(queue->our_fd, record, record_bytes(queue), MSG_DONTWAIT | MSG_NOSIGNAL);

	if (ret < 0 && errno != EPIPE)
		SHCA_WARN("event lost: %s", strerror(errno));
	errno = saved_errno;
	return ret > 0;
}

bool
shca_eventq_send_completion(struct shca_eventq *queue, uint64_t cq_handle)
{
	const union record record = { .completion = { .cq_handle = cq_handle } };

	return queue != NULL && send_record(queue, &record);
}

bool
shca_eventq_send_async(struct shca_eventq *queue, uint64_t element, uint32_t event_type)
{
	const union record record = { .async = { .element = element, .event_type = event_type } };

	return queue != NULL && send_record(queue, &record);
}

static bool
has_unread(const struct shca_eventq *queue)
{
	int bytes;

	return ioctl(queue->our_fd, SIOCOUTQ, &bytes) == 0 && bytes != 0;
}

/**
 * Read all records, and send those of other objects again, after any that arrived meanwhile. A
 * concurrent poll finds no record for a moment, as if it had come earlier.
 */
uint32_t
shca_eventq_drop(struct shca_eventq *queue, uint64_t element, uint32_t most)
{
	uint32_t nb_dropped = 0;
	uint32_t nb_kept = 0;
	uint32_t nb_slots = 0;
	union record *kept = NULL;
	union record record;
	int fd = -1;

	if (queue != NULL && most != 0 && has_unread(queue))
		fd = shca_user_borrow_socket(queue->inode, queue->user_fd);
	if (fd < 0)
		return 0;
	while (recv(fd, &record, sizeof(record), MSG_DONTWAIT) == (ssize_t)record_bytes(queue)) {
		if (nb_dropped < most && record_element(queue, &record) == element) {
			nb_dropped++;
			continue;
		}
		if (nb_kept == nb_slots) {
			union record *more;

			nb_slots = nb_slots == 0 ? 64 : nb_slots * 2;
			more = realloc(kept, nb_slots * sizeof(*kept));
			if (more == NULL) {
				SHCA_WARN("event lost: no memory");
				break;
			}
			kept = more;
		}
		kept[nb_kept++] = record;
	}
	close(fd);
	for (uint32_t i = 0; i < nb_kept; i++)
		send_record(queue, &kept[i]);
	free(kept);
	return nb_dropped;
}
