/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of the queues, as a list. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hw/device/device.h"
#include "hw/state/cq.h"
#include "hw/state/device.h"
#include "hw/state/rq.h"
#include "hw/state/sq.h"

static const char *
state_name(enum shca_queue_state state, bool dead)
{
	static const char *const names[] = {
		[SHCA_QUEUE_RESET] = "reset",
		[SHCA_QUEUE_READY] = "ready",
		[SHCA_QUEUE_ERROR] = "error",
	};

	return dead ? "dead" : names[state];
}

static int
compare(const void *left, const void *right)
{
	const struct shca_queue_info *a = left, *b = right;
	int kinds = strcmp(b->kind, a->kind); /* SQ, RQ, CQ */

	if (kinds != 0)
		return kinds;
	return (a->number > b->number) - (a->number < b->number);
}

int
shca_device_list_queues(
	const struct shca_device *dev, struct shca_queue_info **list, size_t *nb_queues)
{
	struct shca_queue_info *info;
	const struct shca_cq *cq;
	const struct shca_rq *rq;
	const struct shca_sq *sq;
	size_t nb = 0;

	LIST_FOREACH (sq, &dev->sqs, link)
		nb++;
	LIST_FOREACH (rq, &dev->rqs, link)
		nb++;
	LIST_FOREACH (cq, &dev->cqs, link)
		nb++;
	info = calloc(nb + 1, sizeof(*info)); /* calloc() of 0 bytes may return NULL */
	if (info == NULL)
		return -ENOMEM;
	*list = info;
	*nb_queues = nb;
	LIST_FOREACH (sq, &dev->sqs, link)
		*info++ = (struct shca_queue_info){ "SQ", sq->number, sq->attr.cq->number,
			state_name(sq->state, sq->dead), sq->count };
	LIST_FOREACH (rq, &dev->rqs, link)
		*info++ = (struct shca_queue_info){ "RQ", rq->number, rq->attr.cq->number,
			state_name(rq->state, rq->dead), rq->count };
	LIST_FOREACH (cq, &dev->cqs, link)
		*info++ = (struct shca_queue_info){ "CQ", cq->number, cq->number,
			cq->failed ? "error" : "ready", cq->count };
	qsort(*list, nb, sizeof(**list), compare);
	return 0;
}
