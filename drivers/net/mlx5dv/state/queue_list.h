/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A port's queues for observing threads: events and telemetry. The application may have ethdev free
 * its arrays of queues at any time; a queue in this list stays until the lock is released.
 */
#ifndef MDV_QUEUE_LIST_H
#define MDV_QUEUE_LIST_H

#include <pthread.h>
#include <sys/queue.h>

struct mdv_rxq;
struct mdv_txq;

LIST_HEAD(mdv_rxq_head, mdv_rxq);
LIST_HEAD(mdv_txq_head, mdv_txq);

struct mdv_queue_list {
	pthread_mutex_t lock; /**< no blocking calls while it is held */
	/** Robust and shared by all processes: mdv_queue_list_lock_objects(). */
	pthread_mutex_t objects_lock;
	struct mdv_rxq_head rx;
	struct mdv_txq_head tx;
};

void mdv_queue_list_init(struct mdv_queue_list *list);
/** Hold it to replace the verbs objects of a running port's queue, or to keep them from being
 * replaced. */
void mdv_queue_list_lock_objects(struct mdv_queue_list *list);
void mdv_queue_list_unlock_objects(struct mdv_queue_list *list);

#endif /* MDV_QUEUE_LIST_H */
