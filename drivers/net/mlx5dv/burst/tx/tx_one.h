/* SPDX-License-Identifier: BSD-3-Clause */
/** @file One packet of one segment, one frame, one WQE. */
#ifndef MDV_TX_ONE_H
#define MDV_TX_ONE_H

#include "base/dm_mbuf.h"
#include "queue/tx/tx_wqe.h"
#include "tx.h"
#include "tx_tso.h"

/**
 * Write the L2 header into the WQE, with its VLAN tag if one is to be inserted.
 * @return the bytes taken from the packet, or 0 if it has too few
 */
static __rte_always_inline uint32_t
mdv_tx_inline_l2(struct mlx5_wqe_eth_seg *eth, const struct rte_mbuf *mbuf, uint8_t cs_flags,
	const unsigned int opts)
{
	uint8_t copy[MDV_HW_ETH_INLINE_L2], header[MDV_HW_ETH_INLINE_L2];
	const bool tagged = (opts & MDV_TX_VLAN) && (mbuf->ol_flags & RTE_MBUF_F_TX_VLAN);
	uint32_t len = tagged ? RTE_ETHER_HDR_LEN : RTE_MIN(mbuf->pkt_len, MDV_HW_ETH_INLINE_L2);
	const uint8_t *from;

	/* Only the primary process has device memory mapped, whichever port it belongs to. */
	if (unlikely(mdv_dm_mbuf_is_partly(mbuf, len)) &&
		rte_eal_process_type() != RTE_PROC_PRIMARY)
		return 0;
	from = rte_pktmbuf_read(mbuf, 0, len, copy);
	if (unlikely(from == NULL))
		return 0;
	if (!tagged) {
		mdv_tx_wqe_eth_inline(eth, cs_flags, from, len);
		return len;
	}
	mdv_tx_wqe_copy_tagged(header, from, RTE_ETHER_HDR_LEN, mbuf->vlan_tci);
	mdv_tx_wqe_eth_inline(eth, cs_flags, header, sizeof(header));
	return len;
}

/** Write the Ethernet segment. @return the units of the WQE so far; @p taken bytes of the packet
 * are in it. */
static __rte_always_inline uint32_t
mdv_tx_head(void *wqe, const struct rte_mbuf *mbuf, uint32_t *taken, const unsigned int opts)
{
	struct mlx5_wqe_eth_seg *eth = (void *)((struct mlx5_wqe_ctrl_seg *)wqe + 1);
	uint8_t cs_flags = 0;
	__be32 tail_be = 0;

	if (opts & MDV_TX_CSUM)
		cs_flags = mdv_tx_csums[mdv_tx_csum_index(mbuf->ol_flags) |
			(opts & MDV_TX_TSO ? mdv_tx_tso_csum(mbuf->ol_flags) : 0)];
	if (opts & MDV_TX_INLINE_L2) {
		*taken = mdv_tx_inline_l2(eth, mbuf, cs_flags, opts);
		return MDV_TX_WQE_DS_HEAD_INLINE;
	}
	if ((opts & MDV_TX_VLAN) && (mbuf->ol_flags & RTE_MBUF_F_TX_VLAN))
		tail_be = mdv_tx_wqe_insert(mbuf->vlan_tci);
	mdv_tx_wqe_eth(eth, cs_flags, tail_be);
	*taken = 0;
	return MDV_TX_WQE_DS_HEAD;
}

/** Build the WQE of a packet of one segment, in one WQEBB. @return 0, or -1 if it cannot be sent */
static __rte_always_inline int
mdv_tx_single(struct mdv_txq *txq, struct rte_mbuf *mbuf, uint16_t pc, const unsigned int opts)
{
	uint32_t slot = pc & txq->ring.mask;
	uint8_t *wqe = txq->ring.wqes + slot * MLX5_SEND_WQE_BB;
	uint32_t taken, ds = mdv_tx_head(wqe, mbuf, &taken, opts);

	mdv_tx_wqe_prefetch(wqe);
	if ((opts & MDV_TX_INLINE_L2) && unlikely(taken == 0))
		return -1;
	if (!(opts & MDV_TX_INLINE_L2) || likely(mbuf->data_len != taken)) {
		if (!mdv_tx_put(txq, mbuf, taken, (struct mlx5_wqe_data_seg *)wqe + ds))
			return -1;
		ds++;
	}
	mdv_tx_wqe_ctrl((void *)wqe, MLX5_OPCODE_SEND, pc, txq->ring.qpn_ds, ds,
		MDV_HW_CTRL_CQE_ON_FIRST_ERROR);
	return 0;
}

/**
 * Build the WQE of a packet of one segment at @p pc, in one WQEBB; the queue has its mbuf at @p
 * head.
 * @return 0, or -1 if it cannot be sent
 */
static __rte_always_inline int
mdv_tx_one(struct mdv_txq *txq, struct rte_mbuf *mbuf, uint16_t pc, uint16_t head,
	const unsigned int opts)
{
	if (unlikely(mbuf->data_len - MDV_TX_FRAME_MIN > MDV_TX_FRAME_MAX - MDV_TX_FRAME_MIN))
		return -1;
	txq->ring.mbufs[head & txq->ring.mask] = mbuf;
	return mdv_tx_single(txq, mbuf, pc, opts);
}

#endif /* MDV_TX_ONE_H */
