/* SPDX-License-Identifier: BSD-3-Clause */
/* Events that wait. The application's end has one record in it exactly while there are any. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "abi/core/user.h"
#include "base/log.h"
#include "ucma/id.h"

static void
show(struct shca_ucma_file *file)
{
	const bool wanted = !TAILQ_EMPTY(&file->events);
	char record = 0;
	int fd;

	if (wanted == file->is_readable)
		return;
	file->is_readable = wanted;
	if (wanted) {
		if (send(file->our_fd, &record, sizeof(record), MSG_DONTWAIT | MSG_NOSIGNAL) < 0 &&
			errno != EPIPE)
			SHCA_WARN("rdma_cm: an event cannot be shown: %s", strerror(errno));
		return;
	}
	fd = shca_user_borrow_socket(file->inode, file->user_fd);
	if (fd < 0)
		return;
	(void)recv(fd, &record, sizeof(record), MSG_DONTWAIT);
	close(fd);
}

struct shca_ucma_event *
shca_ucm_event_make(struct shca_id *id, uint32_t what, int status)
{
	struct shca_ucma_event *event = calloc(1, sizeof(*event));

	if (event == NULL) {
		SHCA_WARN("rdma_cm: event lost: no memory");
		return NULL;
	}
	event->id = id;
	event->answer.uid = id->uid;
	event->answer.id = id->number;
	event->answer.event = what;
	event->answer.status = (uint32_t)status;
	return event;
}

void
shca_ucm_event_queue(struct shca_ucma_event *event)
{
	struct shca_ucma_file *file = event->id->file;

	TAILQ_INSERT_TAIL(&file->events, event, link);
	show(file);
}

int
shca_ucm_event_tell(struct shca_id *id, uint32_t what, int status)
{
	struct shca_ucma_event *event = shca_ucm_event_make(id, what, status);

	if (event == NULL)
		return -ENOMEM;
	shca_ucm_event_queue(event);
	return 0;
}

void
shca_ucm_event_take(struct shca_ucma_event *event)
{
	struct shca_ucma_file *file = event->id->file;

	TAILQ_REMOVE(&file->events, event, link);
	event->id->nb_reported++;
	if (event->group != NULL)
		event->group->nb_reported++;
	free(event);
	show(file);
}

struct shca_id *
shca_ucm_event_drop(struct shca_id *id, const struct shca_ucma_group *group)
{
	struct shca_ucma_file *file = id->file;
	struct shca_ucma_event *event = TAILQ_FIRST(&file->events);
	struct shca_id *request = NULL;

	while (event != NULL && request == NULL) {
		struct shca_ucma_event *next = TAILQ_NEXT(event, link);

		if (event->id == id && (group == NULL || event->group == group)) {
			request = event->request;
			TAILQ_REMOVE(&file->events, event, link);
			free(event);
		}
		event = next;
	}
	show(file);
	return request;
}

void
shca_ucm_event_forget(const struct shca_id *request)
{
	struct shca_ucma_event *event;
	struct shca_ucma_file *file;

	/* Either may have been moved to another file. */
	LIST_FOREACH (file, &request->file->ucma->files, link)
		TAILQ_FOREACH (event, &file->events, link)
			if (event->request == request)
				event->request = NULL;
}

static void
move(struct shca_id *id, struct shca_ucma_file *to)
{
	LIST_REMOVE(id, link);
	LIST_INSERT_HEAD(&to->ids, id, link);
	id->file = to;
}

void
shca_ucm_event_move(struct shca_id *id, struct shca_ucma_file *to)
{
	struct shca_ucma_file *from = id->file;
	struct shca_ucma_event *event = TAILQ_FIRST(&from->events);

	/* Its events would come again behind themselves, for ever. */
	if (from == to)
		return;
	while (event != NULL) {
		struct shca_ucma_event *next = TAILQ_NEXT(event, link);

		if (event->id == id) {
			TAILQ_REMOVE(&from->events, event, link);
			TAILQ_INSERT_TAIL(&to->events, event, link);
			if (event->request != NULL)
				move(event->request, to);
		}
		event = next;
	}
	move(id, to);
	show(from);
	show(to);
}
