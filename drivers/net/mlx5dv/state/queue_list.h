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

struct mdv_port;
struct mdv_rxq;
struct mdv_txq;

LIST_HEAD(mdv_rxq_head, mdv_rxq);
LIST_HEAD(mdv_txq_head, mdv_txq);

struct mdv_queue_list {
	pthread_mutex_t lock; /**< nobody who holds it waits for anything */
	/**
	 * Verbs objects of the queues of a running port are not replaced meanwhile:
	 * mdv_revive_lock(). Of all processes, each of which may end with it.
	 */
	pthread_mutex_t objects_lock;
	struct mdv_rxq_head rx;
	struct mdv_txq_head tx;
};

void mdv_queue_list_init(struct mdv_queue_list *list);
/** The queue is set up. */
void mdv_queue_list_add_rx(struct mdv_queue_list *list, struct mdv_rxq *rxq);
void mdv_queue_list_add_tx(struct mdv_queue_list *list, struct mdv_txq *txq);
/** It is about to be freed; NULL is taken. */
void mdv_queue_list_remove_rx(struct mdv_queue_list *list, struct mdv_rxq *rxq);
void mdv_queue_list_remove_tx(struct mdv_queue_list *list, struct mdv_txq *txq);

#endif /* MDV_QUEUE_LIST_H */
