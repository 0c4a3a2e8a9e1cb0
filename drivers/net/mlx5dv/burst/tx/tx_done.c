/* SPDX-License-Identifier: BSD-3-Clause */
/* ethdev tx_done_cleanup and tx_descriptor_status, which take completions outside of a burst. */
#include <errno.h>

#include "queue/cq_ibv.h"
#include "tx_burst.h"

/** @return packets in the mbufs [tail, to), at most @p max; @p end is behind the last of them */
static uint32_t
packets_count(const struct mdv_txq *txq, uint16_t to, uint32_t max, uint16_t *end)
{
	uint32_t nb;

	*end = txq->pos.tail;
	for (nb = 0; nb < max && *end != to; nb++)
		*end += mdv_tx_packet_mbufs(txq, *end);
	return nb;
}

int
mdv_tx_done_cleanup(void *queue, uint32_t free_cnt)
{
	const uint32_t max = free_cnt - 1 < UINT16_MAX ? free_cnt : UINT16_MAX;
	struct mdv_txq *txq = queue;
	uint32_t nb = 0, cq_mask;
	uint16_t end;

	/* Not set up. */
	if (txq == NULL)
		return -EINVAL;
	cq_mask = (1u << txq->ring.log2_cqes) - 1;
	mdv_cq_look(&txq->objs.cq, txq->pos.cq_ci, UINT32_MAX);
	while (txq->objs.qp != NULL && nb < max) {
		const uint8_t op_own = mdv_cq_op_own(&txq->ring.cqes[txq->pos.cq_ci & cq_mask]);
		const struct mdv_tx_done *done = &txq->ring.dones[txq->pos.cq_ci & cq_mask];

		if (!mdv_cq_is_valid(op_own, txq->pos.cq_ci, txq->ring.log2_cqes))
			break;
		if (op_own >> MDV_HW_CQE_OPCODE_SHIFT != MLX5_CQE_REQ) {
			nb += packets_count(txq, txq->pos.head, UINT16_MAX, &end);
			mdv_tx_error(txq);
			nb -= packets_count(txq, txq->pos.head, UINT16_MAX, &end);
			break;
		}
		nb += packets_count(txq, done->head, max - nb, &end);
		mdv_txq_ring_release(txq, end);
		/* Otherwise the CQE stays: bursts free a CQE's packets only when they take it. */
		if (end != done->head)
			break;
		txq->pos.ci = done->pc;
		mdv_cq_update_ci(txq->ring.cq_dbrec, ++txq->pos.cq_ci);
	}
	return nb;
}

int
mdv_tx_done_status(void *queue, uint16_t offset)
{
	struct mdv_txq *txq = queue;
	uint32_t nb_busy, nb_desc;

	/* Not set up. */
	if (txq == NULL)
		return -ENODEV;
	/* A stopped queue only looks full, so that bursts put nothing there; before its first start
	 * it has no ring. */
	if (!txq->ready)
		return offset < txq->nb_desc ? RTE_ETH_TX_DESC_DONE : -EINVAL;
	/* A descriptor is as many WQEBBs as an inlined packet may need. */
	nb_desc = (txq->ring.mask + 1u) >> txq->ring.inline_log2_bbs;
	if (offset >= nb_desc)
		return -EINVAL;
	mdv_cq_look(&txq->objs.cq, txq->pos.cq_ci, UINT32_MAX);
	mdv_tx_burst_reap(txq, MDV_TX_MULTI, false, UINT32_MAX);
	nb_busy = RTE_MAX((uint16_t)(txq->pos.pc - txq->pos.ci) >> txq->ring.inline_log2_bbs,
		(uint16_t)(txq->pos.head - txq->pos.tail));
	/* Offset 0 is where the next packet goes (rte_ethdev.h): behind the free ones are the busy
	 * ones, the oldest first. DPDK's own driver counts from that one. */
	return offset + nb_busy >= nb_desc ? RTE_ETH_TX_DESC_FULL : RTE_ETH_TX_DESC_DONE;
}
