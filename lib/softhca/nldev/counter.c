/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of queue pairs' own: a row a queue pair that is bound. */
#include "nldev/counter.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "abi/entry/restrack.h"

struct binding {
	const struct shca_device *dev; /**< NULL: the row is free */
	uint32_t id, qpn;
	uint64_t before; /**< of the queue pair when it was bound */
};

static struct {
	pthread_mutex_t lock;
	uint32_t last; /**< number of a counter */
	struct binding row[SHCA_COUNTER_QPS_MAX];
} counters = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool
find_qp(struct shca_device *dev, uint32_t qpn, struct shca_restrack *qp)
{
	for (unsigned int i = 0; i < shca_restrack_get(dev, SHCA_RESTRACK_QP, i, qp); i++)
		if (qp->id == qpn)
			return true;
	return false;
}

/** What is bound goes with its queue pair. */
static void
forget_destroyed(struct shca_device *dev)
{
	struct shca_restrack qp;

	for (unsigned int i = 0; i < SHCA_COUNTER_QPS_MAX; i++) {
		struct binding *row = &counters.row[i];

		if (row->dev == dev &&
			(!find_qp(dev, row->qpn, &qp) || qp.out_of_buffer < row->before))
			row->dev = NULL;
	}
}

static struct binding *
find_row(const struct shca_device *dev, uint32_t qpn)
{
	for (unsigned int i = 0; i < SHCA_COUNTER_QPS_MAX; i++)
		if (counters.row[i].dev == dev && (dev == NULL || counters.row[i].qpn == qpn))
			return &counters.row[i];
	return NULL;
}

static bool
has_counter(const struct shca_device *dev, uint32_t id)
{
	for (unsigned int i = 0; i < SHCA_COUNTER_QPS_MAX; i++)
		if (counters.row[i].dev == dev && counters.row[i].id == id)
			return true;
	return false;
}

static int
bind_qp(struct shca_device *dev, uint32_t port, uint32_t qpn, uint32_t *id)
{
	struct binding *row = find_row(NULL, 0);
	struct shca_restrack qp;

	if (!find_qp(dev, qpn, &qp) || (*id != 0 && !has_counter(dev, *id)))
		return -ENOENT;
	/* A queue pair has a port from INIT on. */
	if ((qp.port != 0 && qp.port != port) || find_row(dev, qpn) != NULL)
		return -EINVAL;
	if (row == NULL)
		return -ENOMEM;
	if (*id == 0)
		*id = ++counters.last;
	*row = (struct binding){ dev, *id, qpn, qp.out_of_buffer };
	return 0;
}

int
shca_counter_bind(struct shca_device *dev, uint32_t port, uint32_t qpn, uint32_t *id)
{
	int ret;

	pthread_mutex_lock(&counters.lock);
	forget_destroyed(dev);
	ret = bind_qp(dev, port, qpn, id);
	pthread_mutex_unlock(&counters.lock);
	return ret;
}

int
shca_counter_unbind(struct shca_device *dev, uint32_t id, uint32_t qpn)
{
	struct shca_restrack qp;
	struct binding *row;
	int ret = 0;

	pthread_mutex_lock(&counters.lock);
	forget_destroyed(dev);
	row = find_row(dev, qpn);
	if (!find_qp(dev, qpn, &qp))
		ret = -ENOENT;
	else if (row == NULL || row->id != id)
		ret = -EINVAL;
	else
		row->dev = NULL;
	pthread_mutex_unlock(&counters.lock);
	return ret;
}

bool
shca_counter_find(struct shca_device *dev, uint32_t id, struct shca_counter *counter)
{
	struct shca_restrack qp;

	*counter = (struct shca_counter){ .id = id };
	pthread_mutex_lock(&counters.lock);
	forget_destroyed(dev);
	for (unsigned int i = 0; i < SHCA_COUNTER_QPS_MAX; i++) {
		const struct binding *row = &counters.row[i];

		if (row->dev != dev || row->id != id || !find_qp(dev, row->qpn, &qp))
			continue;
		counter->qpn[counter->nb_qps++] = row->qpn;
		counter->out_of_buffer += qp.out_of_buffer - row->before;
	}
	pthread_mutex_unlock(&counters.lock);
	return counter->nb_qps != 0;
}

uint32_t
shca_counter_next(struct shca_device *dev, uint32_t id)
{
	uint32_t next = 0;

	pthread_mutex_lock(&counters.lock);
	forget_destroyed(dev);
	for (unsigned int i = 0; i < SHCA_COUNTER_QPS_MAX; i++) {
		const struct binding *row = &counters.row[i];

		if (row->dev == dev && row->id > id && (next == 0 || row->id < next))
			next = row->id;
	}
	pthread_mutex_unlock(&counters.lock);
	return next;
}
