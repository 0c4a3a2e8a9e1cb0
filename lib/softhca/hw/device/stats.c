/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of the queues, and whose they are, as lists. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "hw/device/device.h"
#include "hw/state/cq.h"
#include "hw/state/device.h"
#include "hw/state/rq.h"
#include "hw/state/sq.h"

const char *
shca_device_netdev(const struct shca_device *dev)
{
	return dev->conf.kernel != NULL ? dev->port[shca_conf_nb_ports(&dev->conf) - 1].netdev.name
					: "";
}

unsigned int
shca_device_ifindex(const struct shca_device *dev)
{
	return dev->conf.kernel != NULL
		? dev->port[shca_conf_nb_ports(&dev->conf) - 1].netdev.ifindex
		: 0;
}

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

struct record {
	const __be32 *word;
	uint32_t value;
};

static void
load(void *arg)
{
	struct record *record = arg;

	record->value = be32toh(__atomic_load_n(record->word, __ATOMIC_ACQUIRE));
}

/** @return the word of a doorbell record, or @p instead if the program has unmapped it. */
static uint32_t
read_record(const __be32 *word, uint32_t instead)
{
	struct record record = { .word = word };

	return shca_mem_guard_run(load, &record) ? record.value : instead;
}

static uint32_t
fill_of_sq(const struct shca_sq *sq)
{
	if (sq->dead)
		return 0;
	return (uint16_t)(read_record(&sq->attr.dbrec[MLX5_SND_DBR], sq->ci) - sq->ci);
}

static uint32_t
fill_of_rq(const struct shca_rq *rq)
{
	if (rq->dead)
		return 0;
	return (uint16_t)(read_record(&rq->attr.dbrec[MLX5_RCV_DBR], rq->ci) - rq->ci);
}

/** As shca_cq_nb_unread(), with the present consumer index. */
static uint32_t
fill_of_cq(const struct shca_cq *cq)
{
	struct shca_cq now = *cq;

	if (!cq->failed)
		now.ci_seen = read_record(&cq->attr.dbrec[SHCA_CQ_DBR_CI], cq->ci_seen);
	return shca_cq_nb_unread(&now);
}

static struct shca_context
copy_of(const struct shca_context *context)
{
	return context != NULL ? *context : (struct shca_context){ .pid = 0 };
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
			state_name(sq->state, sq->dead), fill_of_sq(sq), sq->attr.nb_wqebbs,
			(uintptr_t)sq->attr.ring, (uintptr_t)&sq->attr.dbrec[MLX5_SND_DBR],
			(uint64_t)sq->attr.nb_wqebbs * SHCA_WQEBB_BYTES, copy_of(sq->attr.context),
			sq->count };
	LIST_FOREACH (rq, &dev->rqs, link)
		*info++ = (struct shca_queue_info){ "RQ", rq->number, rq->attr.cq->number,
			state_name(rq->state, rq->dead), fill_of_rq(rq), rq->attr.nb_wqes,
			(uintptr_t)rq->attr.ring, (uintptr_t)&rq->attr.dbrec[MLX5_RCV_DBR],
			(uint64_t)rq->attr.nb_wqes * rq->attr.stride_bytes,
			copy_of(rq->attr.context), rq->count };
	LIST_FOREACH (cq, &dev->cqs, link)
		*info++ = (struct shca_queue_info){ "CQ", cq->number, cq->number,
			cq->failed ? "error" : "ready", fill_of_cq(cq), cq->attr.nb_cqes,
			(uintptr_t)cq->attr.ring, (uintptr_t)&cq->attr.dbrec[SHCA_CQ_DBR_CI],
			(uint64_t)cq->attr.nb_cqes * cq->attr.cqe_bytes, copy_of(cq->attr.context),
			cq->count };
	qsort(*list, nb, sizeof(**list), compare);
	return 0;
}

int
shca_device_list_contexts(
	const struct shca_device *dev, struct shca_context **list, size_t *nb_contexts)
{
	const struct shca_listener *listener;
	struct shca_context *context;
	size_t nb = 0;

	LIST_FOREACH (listener, &dev->listeners, link)
		nb += listener->context != NULL;
	context = calloc(nb + 1, sizeof(*context));
	if (context == NULL)
		return -ENOMEM;
	*list = context;
	*nb_contexts = nb;
	LIST_FOREACH (listener, &dev->listeners, link)
		if (listener->context != NULL)
			context[--nb] = *listener->context; /* the list has new ones first */
	return 0;
}
