/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The queues that a port has, for threads that look on: events and telemetry. The arrays of ethdev
 * are the application's and may go while it is at them; a queue in here stays while the lock is
 * held.
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
	pthread_mutex_t lock; /**< nobody who holds it waits for anything */
	/** Robust and shared by all processes: mdv_queue_list_lock_objects(). */
	pthread_mutex_t objects_lock;
	struct mdv_rxq_head rx;
	struct mdv_txq_head tx;
};

void mdv_queue_list_init(struct mdv_queue_list *list);
/** Whoever replaces the verbs objects of a running port's queue, or needs them to stay, holds this.
 */
void mdv_queue_list_lock_objects(struct mdv_queue_list *list);
void mdv_queue_list_unlock_objects(struct mdv_queue_list *list);

#endif /* MDV_QUEUE_LIST_H */
