/* SPDX-License-Identifier: BSD-3-Clause */
/* The locks of a port's queues. */
#include <errno.h>

#include "queue_list.h"

void
mdv_queue_list_init(struct mdv_queue_list *list)
{
	pthread_mutexattr_t attr;

	pthread_mutex_init(&list->lock, NULL);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&list->objects_lock, &attr);
	pthread_mutexattr_destroy(&attr);
	LIST_INIT(&list->rx);
	LIST_INIT(&list->tx);
}

void
mdv_queue_list_lock_objects(struct mdv_queue_list *list)
{
	/* The previous owner died holding the robust mutex; it only read, so the state is
	 * consistent. */
	if (pthread_mutex_lock(&list->objects_lock) == EOWNERDEAD)
		pthread_mutex_consistent(&list->objects_lock);
}

void
mdv_queue_list_unlock_objects(struct mdv_queue_list *list)
{
	pthread_mutex_unlock(&list->objects_lock);
}
