/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Many packets in one WQE (enhanced multi-packet send), four of them at once.
 *
 *     0      16     32      48
 *     ctrl   eth    data 0  data 1 ...     one data segment a packet, up to MDV_TX_DS_MAX units
 *
 * The Ethernet segment applies to all packets, so they must request the same checksums, and neither
 * a tag nor segmentation; each has one mbuf. A WQE ends at the end of the ring at the latest, so it
 * never wraps.
 */
#ifndef MDV_TX_VEC_H
#define MDV_TX_VEC_H

#include "base/vec.h"
#include "queue/tx/tx_wqe.h"
#include "tx.h"

/** ol_flags that decide about the Ethernet segment. */
#define MDV_TX_VEC_CSUM_FLAGS                                                                      \
	(RTE_MBUF_F_TX_L4_MASK | RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_OUTER_IP_CKSUM |           \
		RTE_MBUF_F_TX_TUNNEL_MASK)

static_assert(offsetof(struct rte_mbuf, rearm_data) + 4 == offsetof(struct rte_mbuf, nb_segs),
	"bits 47:32 of the rearm word");

/** @return the ol_flags of packets that need a WQE of their own. */
static __rte_always_inline uint64_t
mdv_tx_vec_alone(const unsigned int opts)
{
	/* The tunnel type ESP, which is not offered, has the bit that the types of
	 * mdv_tx_swp_wanted() share. */
	static_assert((RTE_MBUF_F_TX_TUNNEL_UDP & RTE_MBUF_F_TX_TUNNEL_IP &
			      RTE_MBUF_F_TX_TUNNEL_ESP) == 8ULL << 45,
		"bit 3 of the type");

	return (opts & MDV_TX_VLAN ? RTE_MBUF_F_TX_VLAN : 0) |
		(opts & MDV_TX_TSO ? RTE_MBUF_F_TX_TCP_SEG : 0) |
		(opts & MDV_TX_SWP ? RTE_MBUF_F_TX_TUNNEL_ESP : 0);
}

/** @return the bits of ol_flags that an instance must look at. */
static __rte_always_inline uint64_t
mdv_tx_vec_flags(const unsigned int opts)
{
	return (opts & MDV_TX_CSUM ? MDV_TX_VEC_CSUM_FLAGS : 0) | mdv_tx_vec_alone(opts);
}

/** The values that four packets are compared with. */
struct mdv_tx_vec_common {
	/** The region of the last hit; signed numbers that compare as address and size do unsigned.
	 */
	mdv_vec start, size;
	mdv_vec key;    /**< its lkey, in both halves */
	mdv_vec lens;   /**< with a length added to both halves, one is negative if it is bad */
	uint64_t flags; /**< of ol_flags, under mdv_tx_vec_flags() */
};

/** Values of four packets, lanes in crossed order. */
struct mdv_tx_vec_data {
	mdv_vec low, high; /**< the two 64-bit words of their data segments */
	mdv_vec lens;      /**< data_len, in both halves */
	mdv_vec tails; /**< data_len 15:0, vlan_tci 31:16, both in CPU order; other fields above */
};

/** Compute the values, of packets of @p len_min bytes and more. */
static __rte_always_inline struct mdv_tx_vec_common
mdv_tx_vec_common_of(const struct mdv_txq *txq, uint64_t flags, uint32_t len_min)
{
	const mdv_vec sign = mdv_vec_all(UINT64_C(1) << 63);
	const uint32_t key = txq->mr.last.lkey_be;

	return (struct mdv_tx_vec_common){
		.start = mdv_vec_all(txq->mr.last.start) + sign,
		.size = mdv_vec_all(txq->mr.last.size) + sign,
		.key = (mdv_vec)(mdv_vec_words){ key, key, key, key, key, key, key, key },
		.lens = mdv_vec_all(
			(uint64_t)(INT32_MAX - MDV_TX_FRAME_MAX) << 32 | (uint32_t)(0 - len_min)),
		.flags = flags,
	};
}

/** The same for @p mbuf as the first of the packets. */
static __rte_always_inline struct mdv_tx_vec_common
mdv_tx_vec_common(const struct mdv_txq *txq, const struct rte_mbuf *mbuf, uint32_t len_min,
	const unsigned int opts)
{
	return mdv_tx_vec_common_of(txq, mdv_tx_vec_flags(opts) & mbuf->ol_flags, len_min);
}

/** @return false if one of four packets must be handled by itself */
static __rte_always_inline bool
mdv_tx_vec_read(const struct mdv_tx_vec_common *common, struct rte_mbuf **pkts,
	struct mdv_tx_vec_data *data, const unsigned int opts)
{
	static_assert(offsetof(struct rte_mbuf, buf_addr) == 0, "word 0");
	static_assert(offsetof(struct rte_mbuf, rearm_data) == 16, "word 2");
	void *const mbufs[] = MDV_VEC_CROSSED(pkts);
	const mdv_vec tails = mdv_vec_load_each(mbufs, offsetof(struct rte_mbuf, data_len));
	const mdv_vec lens = mdv_vec_twice(tails);
	mdv_vec addrs, rearms, good, bad;

	mdv_vec_load_words(mbufs, &addrs, &rearms);
	addrs += rearms & UINT16_MAX;
	good = mdv_vec_greater(common->size, addrs - common->start);
	/* A half below zero shows a packet that is too short or too long. */
	bad = (mdv_vec)((mdv_vec_words)lens + (mdv_vec_words)common->lens);
	if (opts & MDV_TX_MULTI)
		bad |= 1 - (rearms >> 32 & UINT16_MAX);
	if (mdv_tx_vec_flags(opts) != 0)
		bad |= 0 -
			((mdv_vec_load_each(mbufs, offsetof(struct rte_mbuf, ol_flags)) ^
				 common->flags) &
				mdv_tx_vec_flags(opts));
	data->low = mdv_vec_halves(mdv_vec_swap_halves(lens), common->key);
	data->high = mdv_vec_swap(addrs);
	data->lens = lens;
	data->tails = tails;
	return mdv_vec_all_negative(good & ~bad);
}

/** The same for one packet. */
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

/** @return whether the packet can share a WQE, without a comparison with the others. */
static __rte_always_inline bool
mdv_tx_vec_takes(const struct rte_mbuf *mbuf, const unsigned int opts)
{
	if ((opts & MDV_TX_MULTI) && mbuf->nb_segs != 1)
		return false;
	return mdv_tx_vec_alone(opts) == 0 ||
		likely((mbuf->ol_flags & mdv_tx_vec_alone(opts)) == 0);
}

/** @return how many packets fit in a WQE of @p bbs WQEBBs, or of the longest if that is shorter. */
static __rte_always_inline uint32_t
mdv_tx_vec_room(uint32_t bbs)
{
	return RTE_MIN(bbs * MDV_TX_WQE_DS_PER_BB, MDV_TX_DS_MAX) - MDV_TX_WQE_DS_HEAD;
}

/**
 * Build one WQE of the packets at the front that can share it; the first is mdv_tx_vec_takes().
 * @param nb number of packets that there is room for, before either ring ends
 * @return the number of packets, 0 if the first needs a WQE of its own
 */
static __rte_always_inline uint32_t
mdv_tx_vec_wqe(struct mdv_txq *txq, struct rte_mbuf **pkts, uint32_t nb, struct mdv_tx_pos *pos,
	const unsigned int opts)
{
	const struct mdv_tx_vec_common common =
		mdv_tx_vec_common(txq, pkts[0], MDV_TX_FRAME_MIN, opts);
	struct mlx5_wqe_ctrl_seg *ctrl =
		(void *)(txq->ring.wqes + (pos->pc & txq->ring.mask) * MLX5_SEND_WQE_BB);
	struct mlx5_wqe_data_seg *segs = (struct mlx5_wqe_data_seg *)ctrl + MDV_TX_WQE_DS_HEAD;
	struct rte_mbuf **mbufs = &txq->ring.mbufs[pos->head & txq->ring.mask];
	/* In bytes of mbufs[], half as many as those of segs[]: one counter for all three. */
	const size_t end = RTE_ALIGN_FLOOR(nb, MDV_VEC_LANES) * sizeof(pkts[0]);
	mdv_vec sum = mdv_vec_all(0);
	uint32_t rest = 0, n;
	size_t at;

	for (at = 0; at != end; at += MDV_VEC_LANES * sizeof(pkts[0])) {
		struct mdv_tx_vec_data data;

		if (unlikely(!mdv_tx_vec_read(&common, RTE_PTR_ADD(pkts, at), &data, opts)))
			break;
		mdv_tx_wqe_prefetch(RTE_PTR_ADD(segs, 2 * at));
		mdv_vec_store_pairs(
			RTE_PTR_ADD(segs, 2 * at), sizeof(segs[0]), data.low, data.high);
		mdv_vec_store(RTE_PTR_ADD(mbufs, at), mdv_vec_load(RTE_PTR_ADD(pkts, at)));
		sum += data.lens;
	}
	n = at / sizeof(pkts[0]);
	mdv_tx_wqe_prefetch(segs + n);
	for (; n < nb && mdv_tx_vec_one(txq, pkts[n], segs + n, common.flags, opts); n++) {
		mbufs[n] = pkts[n];
		rest += pkts[n]->data_len;
	}
	if (unlikely(n == 0))
		return 0;
	mdv_tx_wqe_ctrl(ctrl, n == 1 ? MLX5_OPCODE_SEND : MDV_HW_OPCODE_ENHANCED_MPSW, pos->pc,
		txq->ring.qpn_ds, MDV_TX_WQE_DS_HEAD + n, MDV_HW_CTRL_CQE_ON_FIRST_ERROR);
	mdv_tx_wqe_eth((void *)(ctrl + 1),
		opts & MDV_TX_CSUM ? mdv_tx_csums[mdv_tx_csum_index(common.flags)] : 0, 0);
	pos->bytes += (uint32_t)mdv_vec_sum(sum) + rest;
	pos->last = (uint8_t *)ctrl;
	pos->pc += mdv_tx_wqe_bbs(MDV_TX_WQE_DS_HEAD + n);
	pos->head += n;
	pos->nb += n;
	return n;
}

#endif /* MDV_TX_VEC_H */
