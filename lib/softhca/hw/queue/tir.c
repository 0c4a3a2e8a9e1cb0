/* SPDX-License-Identifier: BSD-3-Clause */
/* TIR: the destination of a steering rule, and the choice among its queues. */
#include "hw/queue/tir.h"

#include <errno.h>
#include <stdlib.h>

#include "hw/queue/loopback.h"
#include "hw/state/device.h"
#include "hw/state/rq.h"
#include "hw/state/tir.h"
#include "steering/dump.h"

int
shca_tir_create(struct shca_device *dev, const struct shca_tir_attr *attr, struct shca_tir **out)
{
	struct shca_tir *tir;
	int ret;

	if ((attr->rq == NULL) == (attr->rqt == NULL))
		return -EINVAL;
	tir = calloc(1, sizeof(*tir));
	if (tir == NULL)
		return -ENOMEM;
	ret = shca_idtable_add(&dev->tir_numbers, tir, &tir->number);
	if (ret != 0) {
		free(tir);
		return ret;
	}
	tir->dev = dev;
	tir->attr = *attr;
	shca_rss_init(&tir->rss, attr->key);
	dev->stats.tirs++;
	if (attr->takes_own_unicast || attr->takes_own_multicast)
		shca_loopback_count_tir(dev, 1);
	*out = tir;
	return 0;
}

void
shca_tir_destroy(struct shca_tir *tir)
{
	if (tir == NULL)
		return;
	shca_idtable_del(&tir->dev->tir_numbers, tir->number);
	tir->dev->stats.tirs--;
	if (tir->attr.takes_own_unicast || tir->attr.takes_own_multicast)
		shca_loopback_count_tir(tir->dev, -1);
	free(tir);
}

struct shca_rq *
shca_tir_choose(
	const struct shca_tir *tir, const struct shca_packet *packet, uint32_t *hash, uint8_t *type)
{
	const struct shca_rqt *rqt = tir->attr.rqt;

	*hash = 0;
	*type = 0;
	if (tir->attr.hash_fields != 0)
		*hash = shca_rss_packet(&tir->rss, tir->attr.hash_fields, packet, type);
	return rqt == NULL ? tir->attr.rq : rqt->rq[*hash & (rqt->nb_rqs - 1)];
}

void
shca_tir_describe(
	const void *tir_object, const struct shca_packet *packet, struct shca_dump_tir *description)
{
	static const char *const states[] = {
		[SHCA_QUEUE_RESET] = "reset",
		[SHCA_QUEUE_READY] = "ready",
		[SHCA_QUEUE_ERROR] = "error",
	};
	const struct shca_tir *tir = tir_object;
	const struct shca_rq *rq;

	*description =
		(struct shca_dump_tir){ .number = tir->number, .context = tir->attr.context };
	if (packet == NULL)
		return;
	rq = shca_tir_choose(tir, packet, &description->rss_hash, &description->rss_hash_type);
	description->rq_number = rq->number;
	description->rq_state = states[rq->state];
}
