/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Many packets, one WQE (enhanced multi-packet send), four of them at once.
 *
 *     0      16     32      48
 *     ctrl   eth    data 0  data 1 ...     one data segment a packet, up to MDV_TX_DS_MAX units
 *
 * The Ethernet segment speaks for all packets, so they must ask for the same checksums, and for no
 * tag and no segmentation; each lies in one mbuf. A WQE ends where the ring ends, so that nothing
 * here wraps.
 */
#ifndef MDV_TX_VEC_H
#define MDV_TX_VEC_H

#include "tx.h"
#include "tx_wqe.h"
#include "vec.h"

/** ol_flags that decide about the Ethernet segment. */
#define MDV_TX_VEC_CSUM_FLAGS                                                                      \
	(RTE_MBUF_F_TX_L4_MASK | RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_OUTER_IP_CKSUM |           \
		RTE_MBUF_F_TX_TUNNEL_MASK)

static_assert(offsetof(struct rte_mbuf, rearm_data) + 4 == offsetof(struct rte_mbuf, nb_segs),
	"bits 47:32 of the rearm word");

/** ol_flags of packets that need a WQE of their own. */
static __rte_always_inline uint64_t
mdv_tx_vec_alone(const unsigned int opts)
{
	return (opts & MDV_TX_VLAN ? RTE_MBUF_F_TX_VLAN : 0) |
		(opts & MDV_TX_TSO ? RTE_MBUF_F_TX_TCP_SEG : 0);
}

/** What an instance has to look at in ol_flags. */
static __rte_always_inline uint64_t
mdv_tx_vec_flags(const unsigned int opts)
{
	return (opts & MDV_TX_CSUM ? MDV_TX_VEC_CSUM_FLAGS : 0) | mdv_tx_vec_alone(opts);
}

/** What is the same for all packets of a WQE. */
struct mdv_tx_vec_common {
	mdv_vec start, last; /**< addresses of the region of the last hit */
	mdv_vec key;         /**< its lkey, where a data segment has it */
	uint64_t flags;      /**< of ol_flags, as far as mdv_tx_vec_flags() */
};

/**
 * Data segments of four packets.
 * @return false when one of them must be looked at by itself: nothing was written then
 */
static __rte_always_inline bool
mdv_tx_vec_four(const struct mdv_tx_vec_common *common, struct rte_mbuf **pkts, void *segs,
	mdv_vec *bytes, const unsigned int opts)
{
	void *const *mbufs = (void **)pkts;
	const mdv_vec rearms = mdv_vec_load_each(mbufs, offsetof(struct rte_mbuf, rearm_data));
	const mdv_vec addrs = mdv_vec_load_each(mbufs, offsetof(struct rte_mbuf, buf_addr)) +
		(rearms & UINT16_MAX);
	const mdv_vec lens =
		mdv_vec_load_each(mbufs, offsetof(struct rte_mbuf, data_len)) & UINT16_MAX;
	/* Differences below zero: too short, too long, outside the region. */
	mdv_vec bad = (lens - MDV_TX_FRAME_MIN) | (MDV_TX_FRAME_MAX - lens) |
		(addrs - common->start) | (common->last - addrs);

	if (opts & MDV_TX_MULTI)
		bad |= 1 - (rearms >> 32 & UINT16_MAX);
	if (mdv_tx_vec_flags(opts) != 0)
		bad |= 0 -
			((mdv_vec_load_each(mbufs, offsetof(struct rte_mbuf, ol_flags)) ^
				 common->flags) &
				mdv_tx_vec_flags(opts));
	if (mdv_vec_any_negative(bad))
		return false;
	mdv_vec_store_pairs(segs, mdv_vec_swap(lens) >> 32 | common->key, mdv_vec_swap(addrs));
	*bytes += lens;
	return true;
}

/** The same of one packet. */
static __rte_always_inline bool
mdv_tx_vec_one(struct mdv_txq *txq, struct rte_mbuf *mbuf, struct mlx5_wqe_data_seg *seg,
	uint64_t flags, const unsigned int opts)
{
	const uint32_t over = mbuf->data_len - MDV_TX_FRAME_MIN;
	const uintptr_t addr = rte_pktmbuf_mtod(mbuf, uintptr_t);

	if (over > MDV_TX_FRAME_MAX - MDV_TX_FRAME_MIN ||
		addr - txq->mr.last.start >= txq->mr.last.size ||
		((opts & MDV_TX_MULTI) && mbuf->nb_segs != 1) ||
		((mbuf->ol_flags ^ flags) & mdv_tx_vec_flags(opts)) != 0)
		return false;
	mdv_tx_wqe_data(seg, addr, mbuf->data_len, txq->mr.last.lkey_be);
	return true;
}

/** Can the packet be in a WQE with others, as far as a look at it alone tells? */
static __rte_always_inline bool
mdv_tx_vec_takes(const struct rte_mbuf *mbuf, const unsigned int opts)
{
	if ((opts & MDV_TX_MULTI) && mbuf->nb_segs != 1)
		return false;
	return mdv_tx_vec_alone(opts) == 0 ||
		likely((mbuf->ol_flags & mdv_tx_vec_alone(opts)) == 0);
}

/**
 * Build one WQE of as many of the packets as can be in it; the first is mdv_tx_vec_takes().
 * @param mbufs where the queue keeps them, with room for @p nb
 * @param room WQEBBs that are free
 * @param bytes their lengths are added to it
 * @return packets, 0 when the first of them needs a WQE of its own
 */
static __rte_always_inline uint32_t
mdv_tx_vec_wqe(struct mdv_txq *txq, struct rte_mbuf **pkts, struct rte_mbuf **mbufs, uint32_t nb,
	uint16_t pc, uint32_t room, uint64_t *bytes, const unsigned int opts)
{
	const uint32_t slot = pc & txq->mask;
	const uint32_t bbs = RTE_MIN(room, txq->mask + 1u - slot);
	const uint32_t max_ds = RTE_MIN(bbs * MDV_TX_WQE_DS_PER_BB, MDV_TX_DS_MAX);
	const struct mdv_tx_vec_common common = {
		.start = mdv_vec_all(txq->mr.last.start),
		.last = mdv_vec_all(txq->mr.last.start + txq->mr.last.size - 1),
		.key = mdv_vec_all((uint64_t)txq->mr.last.lkey_be << 32),
		.flags = mdv_tx_vec_flags(opts) & pkts[0]->ol_flags,
	};
	struct mlx5_wqe_ctrl_seg *ctrl = (void *)(txq->wqes + slot * MLX5_SEND_WQE_BB);
	struct mlx5_wqe_data_seg *segs = (struct mlx5_wqe_data_seg *)ctrl + MDV_TX_WQE_DS_HEAD;
	mdv_vec sum = mdv_vec_all(0);
	uint64_t rest = 0;
	uint32_t n;

	nb = RTE_MIN(nb, max_ds - MDV_TX_WQE_DS_HEAD);
	for (n = 0; n + MDV_VEC_LANES <= nb; n += MDV_VEC_LANES) {
		if (!mdv_tx_vec_four(&common, pkts + n, segs + n, &sum, opts))
			break;
		mdv_vec_store(mbufs + n, mdv_vec_load(pkts + n));
	}
	for (; n < nb && mdv_tx_vec_one(txq, pkts[n], segs + n, common.flags, opts); n++) {
		mbufs[n] = pkts[n];
		rest += pkts[n]->data_len;
	}
	if (n == 0)
		return 0;
	*bytes += mdv_vec_sum(sum) + rest;
	mdv_tx_wqe_ctrl(ctrl, n == 1 ? MLX5_OPCODE_SEND : MDV_HW_OPCODE_ENHANCED_MPSW, pc, txq->sqn,
		MDV_TX_WQE_DS_HEAD + n, MDV_HW_CTRL_CQE_ON_FIRST_ERROR);
	mdv_tx_wqe_eth((void *)(ctrl + 1),
		opts & MDV_TX_CSUM ? mdv_tx_csums[mdv_tx_csum_index(common.flags)] : 0, 0);
	return n;
}

#endif /* MDV_TX_VEC_H */
