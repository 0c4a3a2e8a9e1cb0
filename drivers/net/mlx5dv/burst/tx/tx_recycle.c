/* SPDX-License-Identifier: BSD-3-Clause */
/* ethdev rte_eth_recycle_mbufs(), sending half: sent mbufs go to a receive queue past the pool. */
#include "base/compat.h"

#ifdef MDV_COMPAT_RECYCLE
#include "queue/cq.h"
#include "tx.h"

/** The room in the receive queue's ring, and what has been put there. */
struct recycle {
	struct rte_mbuf **mbufs;
	const struct rte_mempool *pool;
	uint32_t room;
	uint32_t nb;
};

/** Recycle an mbuf; one that is shared or of another pool, or has no room, is freed as usual. */
static void
recycle_mbuf(struct rte_mbuf *mbuf, struct recycle *ring)
{
	mbuf = rte_pktmbuf_prefree_seg(mbuf);
	if (unlikely(mbuf == NULL))
		return;
	if (likely(mbuf->pool == ring->pool && ring->nb < ring->room))
		ring->mbufs[ring->nb++] = mbuf;
	else
		rte_mbuf_raw_free(mbuf);
}

/**
 * Recycle the packets [tail, to) while there is room. The last one goes as a whole even if there
 * is room for a part of it: a later reader counts packets from tail, by their first mbufs.
 */
static void
recycle_packets(struct mdv_txq *txq, uint16_t to, struct recycle *ring)
{
	while (txq->pos.tail != to && ring->nb < ring->room) {
		uint32_t nb_mbufs = mdv_tx_packet_mbufs(txq, txq->pos.tail);

		while (nb_mbufs-- != 0) {
			/* Advance tail first, as in mdv_txq_ring_release(). */
			struct rte_mbuf *mbuf = txq->ring.mbufs[txq->pos.tail++ & txq->ring.mask];

			rte_compiler_barrier();
			recycle_mbuf(mbuf, ring);
		}
	}
}

/** Recycle the mbufs of completed WQEs. */
static void
recycle_completions(struct mdv_txq *txq, struct recycle *ring)
{
	const uint32_t cq_mask = (1u << txq->ring.log2_cqes) - 1;

	while (ring->nb < ring->room) {
		const uint8_t op_own = mdv_cq_op_own(&txq->ring.cqes[txq->pos.cq_ci & cq_mask]);
		const struct mdv_tx_done *done = &txq->ring.dones[txq->pos.cq_ci & cq_mask];

		/* An error is the burst's: it takes the CQE. */
		if (!mdv_cq_is_valid(op_own, txq->pos.cq_ci, txq->ring.log2_cqes) ||
			unlikely(op_own >> MDV_HW_CQE_OPCODE_SHIFT != MLX5_CQE_REQ))
			return;
		recycle_packets(txq, done->head, ring);
		/* Otherwise the CQE stays for the mbufs that are left. */
		if (txq->pos.tail != done->head)
			return;
		txq->pos.ci = done->pc;
		mdv_cq_update_ci(txq->ring.cq_dbrec, ++txq->pos.cq_ci);
	}
}

uint16_t
mdv_tx_recycle_reuse(void *queue, struct rte_eth_recycle_rxq_info *info)
{
	const uint16_t size = info->mbuf_ring_size;
	struct recycle ring = { .pool = info->mp };
	struct mdv_txq *txq = queue;
	uint16_t head, missing;

	if (unlikely(!rte_is_power_of_2(size) || txq->objs.qp == NULL))
		return 0;
	/* Positions of this driver's queues are not reduced to the ring's size; others' are. */
	head = *info->refill_head & (size - 1);
	missing = (size - (*info->refill_head - *info->receive_tail)) & (size - 1);
	ring.mbufs = info->mbuf_ring + head;
	ring.room = RTE_MIN(missing, size - head);
	if (info->refill_requirement != 0) {
		if (ring.room < info->refill_requirement)
			return 0;
		ring.room = info->refill_requirement;
	}
	recycle_completions(txq, &ring);
	/* A driver that needs a certain number cannot take fewer. */
	if (unlikely(ring.nb < info->refill_requirement)) {
		rte_mempool_put_bulk(info->mp, (void **)ring.mbufs, ring.nb);
		return 0;
	}
	return ring.nb;
}
#endif
