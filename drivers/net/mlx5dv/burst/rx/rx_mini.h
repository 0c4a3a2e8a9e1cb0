/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Blocks of compressed CQEs (cq.h shows them in the ring).
 *
 * A block is expanded as a whole: the fields that its packets share are computed once, from the
 * title, and go into the mbufs together with each mini CQE's length and hash. Then the CQ is free
 * of the block, and bursts take the packets as pointers, as many as they ask for. So a burst of one
 * packet does not read the title again, and the ring does not wait for an application in the middle
 * of a block.
 *
 * A block and its packets' WQEs may wrap around their rings.
 */
#ifndef MDV_RX_MINI_H
#define MDV_RX_MINI_H

#include "rx_vec.h"

/** Write @p mbuf like @p like, with the length and hash of @p mini. @return its length */
static __rte_always_inline uint32_t
mdv_rx_mini_one(struct rte_mbuf *mbuf, const struct mdv_hw_mini_cqe *mini,
	const struct mdv_rx_mini_like *like)
{
	const uint32_t len = rte_be_to_cpu_32(mini->byte_cnt);

	mdv_rx_rearm(mbuf, like->rearm);
	mbuf->ol_flags = like->flags;
	mbuf->packet_type = like->ptype;
	mbuf->pkt_len = len;
	mbuf->data_len = len;
	mbuf->vlan_tci = like->tci >> 16;
	mbuf->hash.rss = rte_be_to_cpu_32(mini->rss_hash);
	return len;
}

/**
 * The same for four, of slots of @p log2_segs. @return their lengths in the lanes' lower 32 bits
 */
static __rte_always_inline mdv_vec
mdv_rx_mini_four(struct rte_mbuf *const *mbufs, unsigned int log2_segs,
	const struct mdv_hw_mini_cqe *mini_cqes, const struct mdv_rx_mini_like *like)
{
	/* Hash above length in each lane, in CPU order. */
	const mdv_vec words = mdv_vec_swap(mdv_vec_load(mini_cqes));
	const mdv_vec last = words & ((uint64_t)UINT32_MAX << 32 | UINT16_MAX);
	mdv_vec rows[MDV_VEC_LANES];

	mdv_vec_transpose(mdv_vec_all(like->rearm), mdv_vec_all(like->flags),
		words << 32 | like->ptype, last | like->tci, rows);
	MDV_VEC_EACH(i)
	mdv_vec_store(
		RTE_PTR_ADD(mbufs[i << log2_segs], offsetof(struct rte_mbuf, rearm_data)), rows[i]);
	return words;
}

/** The rings at a block, in registers: otherwise each store to an mbuf makes the compiler read the
 * queue again. */
struct mdv_rx_mini_at {
	struct mdv_hw_cqe *cqes;
	struct rte_mbuf *const *mbufs;
	uint32_t mask, cq_ci, wqe_ci;
	uint32_t room; /**< of a packet's first mbuf */
	uint8_t log2_segs;
};

/** Lengths of a block's packets. */
struct mdv_rx_mini_lens {
	mdv_vec four; /**< their sum, in the lanes' lower 32 bits */
	uint64_t one; /**< of those that were not taken by fours */
	/** With MDV_RX_SCATTER: bit 31 of a lane, or of the number, is set if a packet does not fit
	 * in one mbuf. */
	mdv_vec_words four_over;
	uint32_t one_over;
};

/** Add the lengths in the lower halves of @p words. @param room of a packet's first mbuf */
static __rte_always_inline void
mdv_rx_mini_add(
	struct mdv_rx_mini_lens *lens, mdv_vec words, uint32_t room, const unsigned int opts)
{
	lens->four += words;
	if (opts & MDV_RX_SCATTER)
		lens->four_over |= (mdv_vec_words)words | (room - (mdv_vec_words)words);
}

/**
 * Write the mbufs of all whole arrays of the block of @p nb packets, unless it goes around a ring's
 * end. @return the number of packets
 */
static __rte_always_inline uint32_t
mdv_rx_mini_arrays(const struct mdv_rx_mini_at *at, uint32_t nb,
	const struct mdv_rx_mini_like *like, struct mdv_rx_mini_lens *lens, const unsigned int opts)
{
	const uint32_t cq_idx = at->cq_ci & at->mask, wqe_idx = at->wqe_ci & at->mask;
	const unsigned int log2_segs = opts & MDV_RX_SCATTER ? at->log2_segs : 0;
	const uint32_t whole = nb & ~(MDV_HW_MINIS_PER_CQE - 1);
	struct rte_mbuf *const *mbufs = at->mbufs + ((size_t)wqe_idx << log2_segs);
	struct rte_mbuf *const *end = mbufs + ((size_t)whole << log2_segs);
	struct mdv_hw_cqe *title = &at->cqes[cq_idx], *array, *next;

	if (unlikely(RTE_MAX(cq_idx, wqe_idx) + nb > at->mask + 1))
		return 0;
	/* The burst before has prefetched the first minis. */
	for (next = title + MDV_HW_MINIS_PER_CQE; next < title + nb; next += MDV_HW_MINIS_PER_CQE)
		rte_prefetch0_write(next);
	/* As mdv_cq_minis() has it: behind the title, then where the packets' own CQEs would be. */
	for (array = title + 1, next = title; mbufs != end;
		mbufs += MDV_HW_MINIS_PER_CQE << log2_segs) {
		const struct mdv_hw_mini_cqe *mini_cqes = (const void *)array;

#ifdef MDV_RX_EIGHT
		if (!(opts & MDV_RX_SCATTER)) {
			mdv_rx_mini_eight(mbufs, mini_cqes, like, &lens->four);
		} else
#endif
		{
			mdv_rx_mini_add(lens, mdv_rx_mini_four(mbufs, log2_segs, mini_cqes, like),
				at->room, opts);
			mdv_rx_mini_add(lens,
				mdv_rx_mini_four(mbufs + (MDV_VEC_LANES << log2_segs), log2_segs,
					mini_cqes + MDV_VEC_LANES, like),
				at->room, opts);
		}
		mdv_cq_invalidate(array);
		next += MDV_HW_MINIS_PER_CQE;
		array = next;
	}
	return whole;
}

/** Write the mbufs of packets @p nth to @p nth + @p nb, whose minis are in one slot. */
static __rte_always_inline void
mdv_rx_mini_array(const struct mdv_rx_mini_at *at, uint32_t nth, uint32_t nb,
	const struct mdv_rx_mini_like *like, struct mdv_rx_mini_lens *lens, const unsigned int opts,
	const bool vec)
{
	struct mdv_hw_cqe *array = mdv_cq_minis(at->cqes, at->mask, at->cq_ci, nth);
	const struct mdv_hw_mini_cqe *mini_cqes = (const void *)array;
	const uint32_t slot = (at->wqe_ci + nth) & at->mask;
	const unsigned int log2_segs = opts & MDV_RX_SCATTER ? at->log2_segs : 0;
	uint32_t i = 0;

	if (vec && likely(slot + nb <= at->mask + 1)) {
		for (; i + MDV_VEC_LANES <= nb; i += MDV_VEC_LANES)
			mdv_rx_mini_add(lens,
				mdv_rx_mini_four(at->mbufs + ((slot + i) << log2_segs), log2_segs,
					mini_cqes + i, like),
				at->room, opts);
	}
	for (; i < nb; i++) {
		const uint32_t len = mdv_rx_mini_one(
			at->mbufs[((slot + i) & at->mask) << log2_segs], mini_cqes + i, like);

		lens->one += len;
		lens->one_over |= len | (at->room - len);
	}
	mdv_cq_invalidate(array);
}

/** Write the mbufs of the @p nb packets of the block at cq_ci and wqe_ci, and note their lengths.
 */
static __rte_always_inline void
mdv_rx_mini_expand(struct mdv_rxq *rxq, uint32_t nb, const struct mdv_rx_mini_like *like,
	const unsigned int opts, const bool vec)
{
	const struct mdv_rx_mini_at at = {
		.cqes = rxq->ring.cqes,
		.mbufs = rxq->ring.mbufs,
		.mask = rxq->ring.mask,
		.cq_ci = rxq->pos.cq_ci,
		.wqe_ci = rxq->pos.wqe_ci,
		.room = rxq->room - rxq->headroom,
		.log2_segs = rxq->ring.log2_segs,
	};
	struct mdv_rx_mini_lens lens = { .one = 0 };
	uint32_t nth = vec ? mdv_rx_mini_arrays(&at, nb, like, &lens, opts) : 0;

	for (; nth < nb; nth += MDV_HW_MINIS_PER_CQE) {
		if (nth + MDV_HW_MINIS_PER_CQE < nb)
			rte_prefetch0_write(mdv_cq_minis(
				at.cqes, at.mask, at.cq_ci, nth + MDV_HW_MINIS_PER_CQE));
		mdv_rx_mini_array(
			&at, nth, RTE_MIN(nb - nth, MDV_HW_MINIS_PER_CQE), like, &lens, opts, vec);
	}
	rxq->ready_bytes = lens.one + mdv_vec_sum(lens.four & UINT32_MAX);
	if (opts & MDV_RX_SCATTER)
		rxq->ready_alone = (lens.one_over >> 31) == 0 &&
			mdv_vec_is_zero((mdv_vec)lens.four_over & UINT64_C(0x80000000));
}

static __rte_always_inline void
mdv_rx_mini_mark(const struct mdv_rxq *rxq, uint32_t nb, uint32_t mark)
{
	uint32_t i;

	for (i = 0; i < nb; i++) {
		const uint32_t slot = (rxq->pos.wqe_ci + i) & rxq->ring.mask;

		rxq->ring.mbufs[slot << rxq->ring.log2_segs]->hash.fdir.hi = mark;
	}
}

/** Copy @p nb mbufs' addresses. @return the number of copied ones, a multiple of four */
static __rte_always_inline uint32_t
mdv_rx_mini_copy(struct rte_mbuf **pkts, struct rte_mbuf *const *mbufs, uint32_t nb)
{
	uint32_t i;

	for (i = 0; i + 2 * MDV_VEC_LANES <= nb; i += 2 * MDV_VEC_LANES) {
		mdv_vec_store(pkts + i, mdv_vec_load(mbufs + i));
		mdv_vec_store(pkts + i + MDV_VEC_LANES, mdv_vec_load(mbufs + i + MDV_VEC_LANES));
	}
	if (i + MDV_VEC_LANES <= nb) {
		mdv_vec_store(pkts + i, mdv_vec_load(mbufs + i));
		i += MDV_VEC_LANES;
	}
	return i;
}

/** Take the first mbufs of @p nb slots from @p idx on, before the ring ends: mdv_rx_take_segments()
 * of packets that have no more. */
static __rte_always_inline void
mdv_rx_mini_take_firsts(
	const struct mdv_rxq *rxq, struct rte_mbuf **pkts, uint32_t idx, uint32_t nb)
{
	const size_t nb_segs = (size_t)1 << rxq->ring.log2_segs;
	struct rte_mbuf **slot = &rxq->ring.mbufs[idx * nb_segs], **const end = pkts + nb;

	for (; pkts != end; slot += nb_segs) {
		*pkts++ = slot[0];
		slot[0] = NULL;
	}
}

/** Hand out packets that are ready, at most @p nb_pkts. @return their number */
static __rte_always_inline uint16_t
mdv_rx_mini_hand_out(
	struct mdv_rxq *rxq, struct rte_mbuf **pkts, uint16_t nb_pkts, const unsigned int opts)
{
	const uint32_t nb_ready = rxq->nb_ready, nb = RTE_MIN(nb_ready, nb_pkts);
	const uint32_t mask = rxq->ring.mask, wqe_ci = rxq->pos.wqe_ci, idx = wqe_ci & mask;
	const uint32_t first = RTE_MIN(nb, mask + 1 - idx);
	const uint32_t ready_bytes = rxq->ready_bytes;
	struct rte_mbuf **const mbufs = rxq->ring.mbufs;
	uint32_t bytes = ready_bytes, nb_empty = 0, i;

	if ((opts & MDV_RX_SCATTER) && likely(rxq->ready_alone)) {
		mdv_rx_mini_take_firsts(rxq, pkts, idx, first);
		mdv_rx_mini_take_firsts(rxq, pkts + first, 0, nb - first);
		rxq->nb_empty += nb;
	} else if (opts & MDV_RX_SCATTER) {
		for (i = 0; i < nb; i++) {
			struct rte_mbuf **slot = &mbufs[((idx + i) & mask) << rxq->ring.log2_segs];

			pkts[i] = slot[0];
			nb_empty += mdv_rx_take_segments(rxq, slot, slot[0]->pkt_len, opts);
		}
		rxq->nb_empty += nb_empty;
	} else {
		for (i = mdv_rx_mini_copy(pkts, mbufs + idx, first); i < nb; i++)
			pkts[i] = mbufs[(idx + i) & mask];
	}
	if (unlikely(nb != nb_ready)) {
#pragma GCC unroll 8
		for (i = 0, bytes = 0; i < nb; i++)
			bytes += pkts[i]->pkt_len;
	}
	rxq->count.bytes += bytes;
	rxq->ready_bytes = ready_bytes - bytes;
	rxq->pos.wqe_ci = wqe_ci + nb;
	rxq->nb_ready = nb_ready - nb;
	return nb;
}

/** Take packets of a block that earlier bursts had no room for. @return the number of packets */
static __rte_noinline __rte_unused uint16_t
mdv_rx_mini_take(
	struct mdv_rxq *rxq, struct rte_mbuf **pkts, uint16_t nb_pkts, const unsigned int opts)
{
	return mdv_rx_mini_hand_out(rxq, pkts, nb_pkts, opts);
}

/** Expand the block of @p nb packets at cq_ci: they are ready. */
static __rte_always_inline void
mdv_rx_mini_ready(struct mdv_rxq *rxq, struct mdv_hw_cqe *title, uint32_t nb,
	const unsigned int opts, const bool vec)
{
	struct mdv_rx_mini_like like;
	struct rte_mbuf common;

	common.vlan_tci = 0;
	common.hash.fdir.hi = 0;
	/* A block has the timestamp of its first packet only, so all packets go without. */
	mdv_rx_offloads(rxq, &common, title, opts & ~MDV_RX_TIMESTAMP);
	like = (struct mdv_rx_mini_like){
		.rearm = rxq->rearm,
		.flags = common.ol_flags,
		.ptype = common.packet_type,
		.tci = (uint32_t)common.vlan_tci << 16,
	};
	mdv_cq_invalidate(title);
	mdv_rx_mini_expand(rxq, nb, &like, opts, vec);
	if (unlikely((common.ol_flags & RTE_MBUF_F_RX_FDIR_ID) != 0))
		mdv_rx_mini_mark(rxq, nb, common.hash.fdir.hi);
	rxq->pos.cq_ci += nb;
	rxq->nb_ready = nb;
}

/** The same as mdv_rx_mini_blocks(). @param strides of a striding queue */
static __rte_always_inline uint16_t
mdv_rx_mini_blocks_of(struct mdv_rxq *rxq, struct rte_mbuf **pkts, uint16_t nb_pkts,
	const unsigned int opts, const bool vec, const bool strides)
{
	uint16_t nb_taken = 0;
	uint8_t op_own;

	do {
		struct mdv_hw_cqe *cqe = &rxq->ring.cqes[rxq->pos.cq_ci & rxq->ring.mask];
		const uint32_t nb = rte_be_to_cpu_32(cqe->byte_cnt);

		/* A block of one has no slot for its mini, and there cannot be more packets than
		 * posted buffers. */
		if (unlikely(nb < 2 || nb > rxq->pos.wqe_pi - rxq->pos.wqe_ci)) {
			/* Of strides those of packets taken must not be left yet. */
			if (!strides || nb_taken == 0)
				mdv_rx_error(rxq);
			break;
		}
		if (strides && unlikely(!mdv_rx_stride_block(rxq, nb, vec)))
			break;
		mdv_rx_mini_ready(rxq, cqe, nb, opts, vec);
		nb_taken += mdv_rx_mini_hand_out(rxq, pkts + nb_taken, nb_pkts - nb_taken, opts);
		if (nb_taken == nb_pkts)
			break;
		op_own = mdv_cq_op_own(&rxq->ring.cqes[rxq->pos.cq_ci & rxq->ring.mask]);
	} while (mdv_cq_is_block(op_own) &&
		mdv_cq_is_valid(op_own, rxq->pos.cq_ci, rxq->ring.log2_wqes));
	return nb_taken;
}

/**
 * Expand blocks from the CQE at cq_ci on, which is the title of one, and hand out at most @p
 * nb_pkts packets.
 * @return the number of packets; cq_ci and wqe_ci have moved
 */
static __rte_noinline __rte_unused uint16_t
mdv_rx_mini_blocks(struct mdv_rxq *rxq, struct rte_mbuf **pkts, uint16_t nb_pkts,
	const unsigned int opts, const bool vec)
{
	const unsigned int plain = opts & ~(MDV_RX_SCATTER | MDV_RX_SPLIT);

	return mdv_rx_mini_blocks_of(rxq, pkts, nb_pkts, plain, vec, false);
}

/** The same for slots of several segments. */
static __rte_noinline __rte_unused uint16_t
mdv_rx_mini_blocks_scattered(struct mdv_rxq *rxq, struct rte_mbuf **pkts, uint16_t nb_pkts,
	const unsigned int opts, const bool vec)
{
	return mdv_rx_mini_blocks_of(rxq, pkts, nb_pkts, opts | MDV_RX_SCATTER, vec, false);
}

/** The same for a striding queue. The packets still lack their bytes. */
static __rte_noinline __rte_unused uint16_t
mdv_rx_mini_blocks_strides(struct mdv_rxq *rxq, struct rte_mbuf **pkts, uint16_t nb_pkts,
	const unsigned int opts, const bool vec)
{
	return mdv_rx_mini_blocks_of(rxq, pkts, nb_pkts, opts, vec, true);
}

#endif /* MDV_RX_MINI_H */
