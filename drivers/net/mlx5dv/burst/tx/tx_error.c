/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles an error CQE: counts the packets that are lost, and restarts the queue. */
#include "tx.h"
#include "tx_tso.h"

/** @return the segments of a WQE of many packets of @p nb_ds units at ci. */
static uint32_t
wqe_segs(const struct mdv_txq *txq, uint32_t nb_ds)
{
	const uint32_t mask = (txq->ring.mask + 1u) * MDV_TX_WQE_DS_PER_BB - 1;
	const uint32_t start = (txq->pos.ci & txq->ring.mask) * MDV_TX_WQE_DS_PER_BB;
	uint32_t ds = MDV_TX_WQE_DS_HEAD, n;

	for (n = 0; ds < nb_ds; n++)
		ds += mdv_tx_wqe_ds_of((const void *)(txq->ring.wqes + ((start + ds) & mask) * 16));
	return n;
}

/** @return the mbufs, from @p tail on, of the WQE at ci; 0 if the WQE is malformed. @param nb_bbs
 * its WQEBBs */
static uint32_t
wqe_mbufs(const struct mdv_txq *txq, uint16_t tail, uint32_t *nb_bbs)
{
	const struct mlx5_wqe_ctrl_seg *ctrl =
		(const void *)(txq->ring.wqes + (txq->pos.ci & txq->ring.mask) * MLX5_SEND_WQE_BB);
	uint32_t ds = rte_be_to_cpu_32(ctrl->qpn_ds) & MDV_HW_WQE_DS_MAX;
	uint32_t opcode = rte_be_to_cpu_32(ctrl->opmod_idx_opcode) & UINT8_MAX;

	*nb_bbs = mdv_tx_wqe_bbs(ds);
	if (ds <= MDV_TX_WQE_DS_HEAD)
		return 0;
	return opcode == MDV_HW_OPCODE_ENHANCED_MPSW ? wqe_segs(txq, ds)
						     : mdv_tx_packet_mbufs(txq, tail);
}

/** Free the packets of the WQEs before the one at @p failed, which are done. */
static void
flight_complete(struct mdv_txq *txq, uint16_t failed)
{
	const uint32_t cq_mask = (1u << txq->ring.log2_cqes) - 1;
	const struct mdv_tx_done *done = &txq->ring.dones[(txq->pos.cq_ci - 1) & cq_mask];
	/* Count from done->head and not from tail: mdv_tx_done_cleanup() may have freed packets
	 * whose CQE is still there. */
	uint16_t tail = done->head;

	txq->pos.ci = done->pc;
	if ((uint16_t)(failed - txq->pos.ci) >= (uint16_t)(txq->pos.pc - txq->pos.ci))
		failed = txq->pos.ci;
	while ((uint16_t)(txq->pos.pc - failed) < (uint16_t)(txq->pos.pc - txq->pos.ci)) {
		uint32_t nb_bbs, nb_mbufs = wqe_mbufs(txq, tail, &nb_bbs);

		if (nb_mbufs == 0)
			break;
		txq->pos.ci += nb_bbs;
		tail += nb_mbufs;
	}
	mdv_txq_ring_release(txq, tail);
}

/** Count packets in flight as lost: they were counted as sent. */
static void
flight_drop(struct mdv_txq *txq)
{
	uint16_t at = txq->pos.tail;

	while (at != txq->pos.head) {
		const struct rte_mbuf *mbuf = txq->ring.mbufs[at & txq->ring.mask];

		at += mdv_tx_packet_mbufs(txq, at);
		txq->errors++;
		txq->count.packets--;
		txq->count.bytes -= mbuf->pkt_len;
		if (txq->limits.tso_max != 0 && mbuf->ol_flags & RTE_MBUF_F_TX_TCP_SEG) {
			uint64_t frames = 0;

			txq->count.bytes -= mdv_tx_tso_more(mbuf, &frames);
			txq->count.packets -= frames;
		}
	}
	txq->lost = true;
}

__rte_noinline void
mdv_tx_error(struct mdv_txq *txq)
{
	const uint32_t cq_mask = (1u << txq->ring.log2_cqes) - 1;
	const struct mlx5_err_cqe *err = (const void *)&txq->ring.cqes[txq->pos.cq_ci & cq_mask];

	txq->nb_stops++;
	txq->stop_wqe = rte_be_to_cpu_16(err->wqe_counter);
	txq->stop_syndrome = err->syndrome;
	/* CQEs of WQEs flushed behind the failed one are not completions that a burst requested. */
	if (!txq->lost) {
		flight_complete(txq, txq->stop_wqe);
		flight_drop(txq);
	}
	txq->pos.cq_ci++;
	if (txq->ring.broken || mdv_txq_ring_recover(txq, txq->stop_syndrome) != 0) {
		/* The device may still read the packets: they are freed when the queue is
		 * recreated or stopped. */
		mdv_txq_ring_look_full(txq);
		txq->ring.broken = true;
		return;
	}
	mdv_txq_ring_release(txq, txq->pos.head);
	mdv_txq_ring_clear(txq);
}
