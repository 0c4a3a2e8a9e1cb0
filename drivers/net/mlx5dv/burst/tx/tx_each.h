/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Four packets at once that need a WQE each, because the device inserts a tag.
 *
 *     0      16            32
 *     ctrl   eth with tag  data     one WQEBB a packet
 *
 * They must request the same checksums, have one mbuf each, and need no segmentation; tags may
 * differ. In 64-bit lanes, ctrl and eth are the four columns below, so one store of 32 bytes and
 * one of 16 write a WQE.
 */
#ifndef MDV_TX_EACH_H
#define MDV_TX_EACH_H

#include "tx_copy.h"
#include "tx_vec.h"

/** Fields that four WQEs share. */
struct mdv_tx_each_common {
	struct mdv_tx_vec_common vec;
	/** ctrl 63:0 of the first four WQEs, in CPU order; lanes in crossed order */
	mdv_vec order;
	mdv_vec event; /**< ctrl 127:64 */
	mdv_vec csum;  /**< eth 63:0 */
};

/** Compute the shared fields: @p mbuf is the first packet, @p pc its WQE. */
static __rte_always_inline struct mdv_tx_each_common
mdv_tx_each_common(const struct mdv_txq *txq, const struct rte_mbuf *mbuf, uint16_t pc,
	const unsigned int opts)
{
	const uint64_t first = (uint64_t)pc << 40 | (uint64_t)MLX5_OPCODE_SEND << 32 |
		txq->ring.qpn_ds | (MDV_TX_WQE_DS_HEAD + 1);
	const uint64_t numbers[] = { 0, 1ULL << 40, 2ULL << 40, 3ULL << 40 };
	const uint32_t len_min =
		opts & MDV_TX_INLINE ? mdv_tx_copy_beyond(txq, RTE_VLAN_HLEN) : MDV_TX_FRAME_MIN;
	const struct mdv_tx_vec_common vec = mdv_tx_vec_common(txq, mbuf, len_min, opts);
	const uint64_t cs_flags =
		opts & MDV_TX_CSUM ? mdv_tx_csums[mdv_tx_csum_index(vec.flags)] : 0;

	return (struct mdv_tx_each_common){
		.vec = vec,
		.order = mdv_vec_all(first) + (mdv_vec)MDV_VEC_CROSSED(numbers),
		.event = mdv_vec_all(rte_cpu_to_be_32(MDV_HW_CTRL_CQE_ON_FIRST_ERROR)),
		.csum = mdv_vec_all(cs_flags << 32),
	};
}

/** Write four WQEs. @return false if one of the packets must be sent by itself */
static __rte_always_inline bool
mdv_tx_each_four(const struct mdv_tx_each_common *common, struct rte_mbuf **pkts, uint8_t *wqes,
	mdv_vec *bytes, const unsigned int opts)
{
	struct mdv_tx_vec_data data;
	mdv_vec tags, crossed[MDV_VEC_LANES];

	if (unlikely(!mdv_tx_vec_read(&common->vec, pkts, &data, opts)))
		return false;
	/* The tags are in bits 63:32, as mdv_tx_wqe_insert() has them. */
	tags = mdv_vec_swap((data.tails >> 16 & UINT16_MAX) | MDV_HW_ETH_INSERT_CVLAN);
	mdv_vec_transpose(mdv_vec_swap(common->order), common->event, common->csum, tags, crossed);
	const mdv_vec rows[] = MDV_VEC_CROSSED(crossed);
	MDV_VEC_EACH(i)
	{
		mdv_tx_wqe_prefetch(wqes + i * MLX5_SEND_WQE_BB);
		mdv_vec_store(wqes + i * MLX5_SEND_WQE_BB, rows[i]);
	}
	mdv_vec_store_pairs(wqes + sizeof(rows[0]), MLX5_SEND_WQE_BB, data.low, data.high);
	*bytes += data.lens;
	return true;
}

/** @return whether the packet alone qualifies, without a comparison with the others. */
static __rte_always_inline bool
mdv_tx_each_takes(const struct rte_mbuf *mbuf, const unsigned int opts)
{
	return (opts & MDV_TX_VLAN) &&
		(mbuf->ol_flags & mdv_tx_vec_alone(opts)) == RTE_MBUF_F_TX_VLAN;
}

/**
 * Build the WQEs of the packets that are like the first, by fours; the first is
 * mdv_tx_each_takes().
 * @param nb number of free mbuf places
 * @param bbs number of free WQEBBs
 * @return the number of packets
 */
static __rte_always_inline uint32_t
mdv_tx_each(struct mdv_txq *txq, struct rte_mbuf **pkts, uint32_t nb, uint32_t bbs,
	struct mdv_tx_pos *pos, const unsigned int opts)
{
	const uint32_t slot = pos->pc & txq->ring.mask, idx = pos->head & txq->ring.mask;
	uint8_t *wqes = txq->ring.wqes + slot * MLX5_SEND_WQE_BB;
	struct mdv_tx_each_common common = mdv_tx_each_common(txq, pkts[0], pos->pc, opts);
	mdv_vec sum = mdv_vec_all(0);
	const uint32_t to_end = txq->ring.mask + 1u - RTE_MAX(slot, idx);
	uint32_t n;

	nb = RTE_MIN(nb, bbs);
	nb = RTE_MIN(nb, to_end);
	for (n = 0; n + MDV_VEC_LANES <= nb; n += MDV_VEC_LANES) {
		if (!mdv_tx_each_four(&common, pkts + n, wqes + n * MLX5_SEND_WQE_BB, &sum, opts))
			break;
		mdv_vec_store(&txq->ring.mbufs[idx + n], mdv_vec_load(pkts + n));
		/* No ring ends within these WQEs, so the 16-bit counter does not wrap either. */
		common.order += (uint64_t)MDV_VEC_LANES << 40;
	}
	if (n == 0)
		return 0;
	pos->bytes += (uint32_t)mdv_vec_sum(sum);
	pos->last = wqes + (n - 1) * MLX5_SEND_WQE_BB;
	pos->pc += n;
	pos->head += n;
	pos->nb += n;
	return n;
}

/** The same for packets that follow others. The instances of a file share it, so it asks for its
 * options. */
static __rte_noinline __rte_unused uint32_t
mdv_tx_each_more(struct mdv_txq *txq, struct rte_mbuf **pkts, uint32_t nb, uint32_t bbs,
	struct mdv_tx_pos *pos, const unsigned int opts)
{
	return mdv_tx_each(txq, pkts, nb, bbs, pos, opts);
}

#endif /* MDV_TX_EACH_H */
