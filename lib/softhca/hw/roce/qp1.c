/* SPDX-License-Identifier: BSD-3-Clause */
#include "hw/roce/qp1.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "hw/queue/out.h"
#include "hw/roce/gid.h"
#include "hw/roce/state.h"

/** Datagrams that wait, at most. */
#define QUEUED_MAX 4096
/** Q_Key of queue pair 1 (IBTA 10.2.5). */
#define QKEY 0x80010000u
/** The first source port that RoCE v2 has (Linux mlx5_get_roce_udp_sport_min()). */
#define UDP_SOURCE 0xc000
#define HOPS       64
/** The time that a MAC may take to be found, and between looks. */
#define RESOLVE_TICKS ((uint64_t)SHCA_CLOCK_KHZ * 1000)
#define ASK_TICKS     ((uint64_t)SHCA_CLOCK_KHZ)

void
shca_qp1_init(struct shca_qp1 *qp1)
{
	TAILQ_INIT(&qp1->queue);
}

static void
forget(struct shca_qp1 *qp1, struct shca_qp1_datagram *datagram)
{
	TAILQ_REMOVE(&qp1->queue, datagram, link);
	qp1->nb_queued--;
	free(datagram);
}

void
shca_qp1_fini(struct shca_qp1 *qp1)
{
	while (!TAILQ_EMPTY(&qp1->queue))
		forget(qp1, TAILQ_FIRST(&qp1->queue));
}

void
shca_qp1_listen(struct shca_device *dev, shca_qp1_fn receive, void *arg)
{
	dev->qp1.receive = receive;
	dev->qp1.arg = arg;
}

int
shca_qp1_send(struct shca_device *dev, const struct shca_qp1_datagram *datagram)
{
	struct shca_qp1_datagram *copy;

	if (!shca_gid_is_own(dev, datagram->local))
		return -EADDRNOTAVAIL;
	if (dev->qp1.nb_queued == QUEUED_MAX)
		return -ENOBUFS;
	copy = malloc(sizeof(*copy));
	if (copy == NULL)
		return -ENOMEM;
	*copy = *datagram;
	copy->queued_ticks = 0;
	TAILQ_INSERT_TAIL(&dev->qp1.queue, copy, link);
	dev->qp1.nb_queued++;
	return 0;
}

static void
send(struct shca_device *dev, const struct shca_qp1_datagram *datagram, const uint8_t dmac[6],
	uint8_t *room)
{
	struct shca_roce_path path = {
		.is_v2 = datagram->is_v2,
		.hop_limit = HOPS,
		.udp_source = UDP_SOURCE,
	};
	const struct shca_bth bth = {
		.opcode = SHCA_BTH_UD | SHCA_BTH_SEND_ONLY,
		.pkey = SHCA_ROCE_PKEY,
		.qpn = 1,
		.psn = dev->qp1.psn++ & SHCA_PSN_MASK,
		.qkey = QKEY,
		.src_qpn = 1,
		.payload = room,
		.payload_bytes = SHCA_QP1_BYTES,
	};

	memcpy(path.dmac, dmac, sizeof(path.dmac));
	memcpy(path.smac, shca_own_mac(dev), sizeof(path.smac));
	memcpy(path.sgid, datagram->local, sizeof(path.sgid));
	memcpy(path.dgid, datagram->remote, sizeof(path.dgid));
	memcpy(room, datagram->bytes, SHCA_QP1_BYTES);
	shca_roce_send(dev, &path, &bth);
}

/** @return whether it is done with, sent or not. */
static bool
try_to_send(struct shca_device *dev, const struct shca_qp1_datagram *datagram, uint8_t *room)
{
	uint8_t dmac[6];
	const int ret = shca_gid_resolve(dev, datagram->remote, dmac);

	if (ret == 0)
		send(dev, datagram, dmac, room);
	else if (ret == -EINPROGRESS && dev->ticks - datagram->queued_ticks < RESOLVE_TICKS)
		return false;
	else
		SHCA_DEBUG("mlx5_%u: no way to the GID of a datagram on QP1: %s", dev->conf.index,
			strerror(-ret));
	return true;
}

void
shca_qp1_run(struct shca_device *dev)
{
	const bool asks = dev->ticks - dev->qp1.asked_ticks >= ASK_TICKS;
	struct shca_qp1_datagram *datagram, *next;

	/* Others may wait behind one whose MAC Linux asks for. */
	for (datagram = TAILQ_FIRST(&dev->qp1.queue); datagram != NULL; datagram = next) {
		uint8_t *room = shca_roce_room(dev);

		if (room == NULL)
			break;
		next = TAILQ_NEXT(datagram, link);
		if (datagram->queued_ticks == 0)
			datagram->queued_ticks = dev->ticks;
		else if (!asks)
			continue;
		if (try_to_send(dev, datagram, room))
			forget(&dev->qp1, datagram);
		dev->qp1.nb_turns = 0;
		dev->qp1.is_due = false;
	}
	if (asks)
		dev->qp1.asked_ticks = dev->ticks;
	shca_out_flush(dev);
}

/** A program may ask to disconnect once it has a message, and its acknowledgement leaves first: it
 * does if its queue pair has had a turn since, the second time at the latest. */
void
shca_qp1_count_turns(struct shca_qp1 *qp1, uint32_t nb, uint32_t nb_pairs)
{
	if (TAILQ_EMPTY(&qp1->queue))
		return;
	qp1->nb_turns += nb;
	qp1->is_due = qp1->nb_turns >= 2 * nb_pairs;
}

void
shca_qp1_receive(
	struct shca_device *dev, const struct shca_roce_path *path, const struct shca_bth *bth)
{
	struct shca_qp1_datagram datagram = { .is_v2 = path->is_v2 };

	/* Dropped, and nobody told (IBTA 9.8.3.2, 10.2.5). */
	if (bth->opcode != (SHCA_BTH_UD | SHCA_BTH_SEND_ONLY) || bth->qkey != QKEY ||
		bth->pkey != SHCA_ROCE_PKEY || bth->payload_bytes != SHCA_QP1_BYTES)
		return;
	dev->nb_done++;
	if (dev->qp1.receive == NULL)
		return;
	memcpy(datagram.local, path->dgid, sizeof(datagram.local));
	memcpy(datagram.remote, path->sgid, sizeof(datagram.remote));
	memcpy(datagram.bytes, bth->payload, SHCA_QP1_BYTES);
	dev->qp1.receive(dev->qp1.arg, dev->conf.index, &datagram);
}
