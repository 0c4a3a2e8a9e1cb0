/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues come and go under a lock. */
#include <stddef.h>

#include "burst/rx/rx.h"
#include "burst/tx/tx.h"
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
mdv_queue_list_add_rx(struct mdv_queue_list *list, struct mdv_rxq *rxq)
{
	pthread_mutex_lock(&list->lock);
	LIST_INSERT_HEAD(&list->rx, rxq, next);
	pthread_mutex_unlock(&list->lock);
}

void
mdv_queue_list_add_tx(struct mdv_queue_list *list, struct mdv_txq *txq)
{
	pthread_mutex_lock(&list->lock);
	LIST_INSERT_HEAD(&list->tx, txq, next);
	pthread_mutex_unlock(&list->lock);
}

void
mdv_queue_list_remove_rx(struct mdv_queue_list *list, struct mdv_rxq *rxq)
{
	if (rxq == NULL)
		return;
	pthread_mutex_lock(&list->lock);
	LIST_REMOVE(rxq, next);
	pthread_mutex_unlock(&list->lock);
}

void
mdv_queue_list_remove_tx(struct mdv_queue_list *list, struct mdv_txq *txq)
{
	if (txq == NULL)
		return;
	pthread_mutex_lock(&list->lock);
	LIST_REMOVE(txq, next);
	pthread_mutex_unlock(&list->lock);
}
