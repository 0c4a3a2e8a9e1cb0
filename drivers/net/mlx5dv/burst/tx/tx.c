/* SPDX-License-Identifier: BSD-3-Clause */
/* The checksum table of the send burst and the parts of it that are rarely run. */
#include "queue/cq_ibv.h"
#include "queue/txq.h"
#include "tx.h"
#include "tx_tso.h"

/* Index: bits 1:0 L4 type of RTE_MBUF_F_TX_L4_MASK, 2 IP, 3 outer IP, 4 tunnel. SCTP (2) is not
 * offered. */
#define CSUM_L4(i) (((i)&3) == 1 || ((i)&3) == 3)
#define CSUM_PLAIN(i)                                                                              \
	((((i)&4) ? MLX5_ETH_WQE_L3_CSUM : 0) | (CSUM_L4(i) ? MLX5_ETH_WQE_L4_CSUM : 0))
#define CSUM_TUNNEL(i)                                                                             \
	((((i)&8) ? MLX5_ETH_WQE_L3_CSUM : 0) | (((i)&4) ? MDV_HW_ETH_L3_INNER_CSUM : 0) |         \
		(CSUM_L4(i) ? MDV_HW_ETH_L4_INNER_CSUM : 0))
#define CSUM(i)   (((i)&16) ? CSUM_TUNNEL(i) : CSUM_PLAIN(i))
#define CSUM_4(i) CSUM(i), CSUM((i) + 1), CSUM((i) + 2), CSUM((i) + 3)

const uint8_t mdv_tx_csums[32] = {
	CSUM_4(0),
	CSUM_4(4),
	CSUM_4(8),
	CSUM_4(12),
	CSUM_4(16),
	CSUM_4(20),
	CSUM_4(24),
	CSUM_4(28),
};

__rte_noinline void
mdv_tx_drop(struct mdv_txq *txq, struct rte_mbuf *mbuf)
{
	txq->count.errors++;
	rte_pktmbuf_free(mbuf);
}

__rte_noinline bool
mdv_tx_put_far(struct mdv_txq *txq, const struct rte_mbuf *mbuf, uint32_t skip,
	struct mlx5_wqe_data_seg *seg)
{
	const struct mdv_mr_place place =
		mdv_mr_cache_miss(&txq->mr, rte_pktmbuf_mtod_offset(mbuf, uintptr_t, skip), mbuf);

	mdv_tx_wqe_data(seg, place.addr, mbuf->data_len - skip, place.lkey_be);
	return place.lkey_be != MDV_MR_LKEY_NONE;
}

void
mdv_tx_release(struct mdv_txq *txq, uint16_t to)
{
	while (txq->chains && txq->tail != to)
		rte_pktmbuf_free_seg(txq->mbufs[txq->tail++ & txq->mask]);
	while (txq->tail != to) {
		uint32_t idx = txq->tail & txq->mask;
		uint32_t nb = RTE_MIN((uint32_t)(uint16_t)(to - txq->tail), txq->mask + 1u - idx);

		/* First: a process that ends in between must not leave them to be freed again. */
		txq->tail += nb;
		rte_compiler_barrier();
		rte_pktmbuf_free_bulk(&txq->mbufs[idx], nb);
	}
}

/** Mbufs of the packet whose first one is at @p tail. */
static uint16_t
packet_mbufs(const struct mdv_txq *txq, uint16_t tail)
{
	return txq->chains ? txq->mbufs[tail & txq->mask]->nb_segs : 1;
}

void
mdv_tx_reset(struct mdv_txq *txq)
{
	const uint32_t cq_mask = (1u << txq->log2_cqes) - 1;

	txq->pc = 0;
	txq->ci = 0;
	txq->ibv.posted = 0;
	txq->tail = txq->head;
	txq->chains = false;
	txq->lost = false;
	/* The next burst function may not be the one that wrote it. */
	txq->shape.ol_flags = 0;
	txq->cq_pi = txq->cq_ci;
	txq->dones[(txq->cq_pi - 1) & cq_mask] = (struct mdv_tx_done){ .head = txq->head };
}

void
mdv_tx_look_full(struct mdv_txq *txq)
{
	txq->ci = txq->pc - (txq->mask + 1u);
}

/** Mbufs, from @p tail on, of the WQE at ci; 0 when what is there makes no sense. @param nb_bbs its
 * WQEBBs */
static uint32_t
wqe_mbufs(const struct mdv_txq *txq, uint16_t tail, uint32_t *nb_bbs)
{
	const struct mlx5_wqe_ctrl_seg *ctrl =
		(const void *)(txq->wqes + (txq->ci & txq->mask) * MLX5_SEND_WQE_BB);
	uint32_t ds = rte_be_to_cpu_32(ctrl->qpn_ds) & MDV_HW_WQE_DS_MAX;
	uint32_t opcode = rte_be_to_cpu_32(ctrl->opmod_idx_opcode) & UINT8_MAX;

	*nb_bbs = mdv_tx_wqe_bbs(ds);
	if (ds <= MDV_TX_WQE_DS_HEAD)
		return 0;
	return opcode == MDV_HW_OPCODE_ENHANCED_MPSW ? ds - MDV_TX_WQE_DS_HEAD
						     : packet_mbufs(txq, tail);
}

/** The WQEs before the one at @p failed are done. */
static void
flight_settle(struct mdv_txq *txq, uint16_t failed)
{
	const uint32_t cq_mask = (1u << txq->log2_cqes) - 1;
	const struct mdv_tx_done *done = &txq->dones[(txq->cq_ci - 1) & cq_mask];
	/* Not from tail on: mdv_tx_done_cleanup() may have freed packets of a CQE still there. */
	uint16_t tail = done->head;

	txq->ci = done->pc;
	if ((uint16_t)(failed - txq->ci) >= (uint16_t)(txq->pc - txq->ci))
		failed = txq->ci;
	while ((uint16_t)(txq->pc - failed) < (uint16_t)(txq->pc - txq->ci)) {
		uint32_t nb_bbs, nb_mbufs = wqe_mbufs(txq, tail, &nb_bbs);

		if (nb_mbufs == 0)
			break;
		txq->ci += nb_bbs;
		tail += nb_mbufs;
	}
	mdv_tx_release(txq, tail);
}

/** Packets in flight will not be sent: they were counted as if they had been. */
static void
flight_lose(struct mdv_txq *txq)
{
	uint16_t at = txq->tail;

	while (at != txq->head) {
		const struct rte_mbuf *mbuf = txq->mbufs[at & txq->mask];

		at += packet_mbufs(txq, at);
		txq->count.errors++;
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

/** @return packets in the mbufs [tail, to), at most @p max; @p end is behind the last of them */
static uint32_t
packets_count(const struct mdv_txq *txq, uint16_t to, uint32_t max, uint16_t *end)
{
	uint32_t nb;

	*end = txq->tail;
	for (nb = 0; nb < max && *end != to; nb++)
		*end += packet_mbufs(txq, *end);
	return nb;
}

int
mdv_tx_done_cleanup(void *queue, uint32_t free_cnt)
{
	struct mdv_txq *txq = queue;
	const uint32_t cq_mask = (1u << txq->log2_cqes) - 1;
	const uint32_t max = free_cnt - 1 < UINT16_MAX ? free_cnt : UINT16_MAX;
	uint32_t nb = 0;
	uint16_t end;

	mdv_cq_look(&txq->cq, txq->cq_ci, UINT32_MAX);
	while (txq->qp != NULL && nb < max) {
		const uint8_t op_own = mdv_cq_op_own(&txq->cqes[txq->cq_ci & cq_mask]);
		const struct mdv_tx_done *done = &txq->dones[txq->cq_ci & cq_mask];

		if (!mdv_cq_is_valid(op_own, txq->cq_ci, txq->log2_cqes))
			break;
		if (op_own >> MDV_HW_CQE_OPCODE_SHIFT != MLX5_CQE_REQ) {
			nb += packets_count(txq, txq->head, UINT16_MAX, &end);
			mdv_tx_error(txq);
			nb -= packets_count(txq, txq->head, UINT16_MAX, &end);
			break;
		}
		nb += packets_count(txq, done->head, max - nb, &end);
		mdv_tx_release(txq, end);
		/* Otherwise the CQE stays: bursts free a CQE's packets only when they take it. */
		if (end != done->head)
			break;
		txq->ci = done->pc;
		mdv_cq_update_ci(txq->cq_dbrec, ++txq->cq_ci);
	}
	return nb;
}

__rte_noinline void
mdv_tx_error(struct mdv_txq *txq)
{
	const uint32_t cq_mask = (1u << txq->log2_cqes) - 1;
	const struct mlx5_err_cqe *err = (const void *)&txq->cqes[txq->cq_ci & cq_mask];

	txq->nb_stops++;
	txq->stop_wqe = rte_be_to_cpu_16(err->wqe_counter);
	txq->stop_syndrome = err->syndrome;
	/* Completions of what was flushed behind it are none of those that were asked for. */
	if (!txq->lost) {
		flight_settle(txq, txq->stop_wqe);
		flight_lose(txq);
	}
	txq->cq_ci++;
	if (txq->broken || mdv_txq_recover(txq, txq->stop_syndrome) != 0) {
		/* The device may still read the packets: they are freed when the queue is made
		 * anew, or stopped. */
		mdv_tx_look_full(txq);
		txq->broken = true;
		return;
	}
	mdv_tx_release(txq, txq->head);
	mdv_tx_reset(txq);
}
