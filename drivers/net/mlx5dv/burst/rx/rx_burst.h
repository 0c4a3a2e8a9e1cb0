/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The receive burst: one template, from which rx_select.c and rx_vec*.c make instances.
 *
 * A packet costs its CQE line, the mbuf's first line (written) and a share of the mbufs[] and WQE
 * lines; a burst reads line 0 of the queue and writes line 1 once. Vectors take packets by fours
 * (or first by eights, rx_eight.h) as far as they are contiguous in the rings. The burst takes the
 * rest one by one, and blocks of compressed CQEs by rx_mini.h.
 */
#ifndef MDV_RX_BURST_H
#define MDV_RX_BURST_H

#include "rx_mini.h"

/** The progress of a burst. */
struct mdv_rx_pos {
	uint32_t cq_ci, wqe_ci;
	uint16_t nb;       /**< packets so far */
	uint32_t nb_empty; /**< mbufs that they have taken, with MDV_RX_SCATTER */
	uint64_t bytes;
	bool fours; /**< the next four may be alike */
};

/** The same as mdv_rx_post(), for one lkey. */
static inline void
mdv_rx_burst_post(struct mdv_rxq *rxq, uint32_t idx, struct rte_mbuf *const *from, uint32_t nb)
{
#ifdef MDV_RX_EIGHT
	const uint32_t done = mdv_rx_post_eights(rxq, idx, from, nb);

	idx += done;
	from += done;
	nb -= done;
#endif
	mdv_rx_vec_post(rxq, idx, from, nb);
}

/** Called at most once a burst, so one function serves all instances of a file. */
static __rte_noinline __rte_unused void
mdv_rx_burst_refill(struct mdv_rxq *rxq, const bool vec)
{
	if (vec && rxq->buf_offset != 0 && rxq->lkey_be != MDV_MR_LKEY_NONE)
		mdv_rx_refill(rxq, mdv_rx_burst_post);
	else
		mdv_rx_refill(rxq, mdv_rx_post);
}

static __rte_noinline __rte_unused void
mdv_rx_burst_refill_strides(struct mdv_rxq *rxq)
{
	mdv_rx_refill_strides(rxq);
}

/** A block is expanded as a whole, so mbufs are prefetched as many packets ahead as a block may
 * have. */
#define MDV_RX_AHEAD_MINI 64

/** Prefetch line 0 of each of @p nb mbufs. @p nb is a constant. */
static __rte_always_inline void
mdv_rx_prefetch_each(struct rte_mbuf *const *mbufs, const unsigned int nb)
{
#pragma GCC unroll 8
	for (unsigned int i = 0; i < nb; i++)
		rte_prefetch0_write(mbufs[i]);
}

/** Prefetch line 0 of @p nb mbufs, by fours, from that of the packet @p ahead on. */
static __rte_always_inline void
mdv_rx_prefetch(const struct mdv_rxq *rxq, uint32_t ahead, uint32_t nb)
{
	const uint32_t idx = (rxq->pos.wqe_ci + ahead) & rxq->ring.mask;
	const uint32_t most = RTE_MIN(nb, rxq->ring.mask + 1 - idx);
	struct rte_mbuf *const *mbufs = &rxq->ring.mbufs[idx];
	struct rte_mbuf *const *end = mbufs + (most & ~(2 * MDV_VEC_LANES - 1));

	for (; mbufs != end; mbufs += 2 * MDV_VEC_LANES)
		mdv_rx_prefetch_each(mbufs, 2 * MDV_VEC_LANES);
	if (most & MDV_VEC_LANES)
		mdv_rx_prefetch_each(mbufs, MDV_VEC_LANES);
}

/** The same for line 0 of the first mbuf of slots with several. */
static __rte_always_inline void
mdv_rx_prefetch_scattered(const struct mdv_rxq *rxq, uint32_t ahead, uint32_t nb)
{
	const uint32_t idx = (rxq->pos.wqe_ci + ahead) & rxq->ring.mask;
	const uint32_t nb_segs = 1u << rxq->ring.log2_segs;
	struct rte_mbuf *const *mbuf = &rxq->ring.mbufs[idx * nb_segs];
	struct rte_mbuf *const *end = mbuf + RTE_MIN(nb, rxq->ring.mask + 1 - idx) * nb_segs;

	for (; mbuf != end; mbuf += nb_segs)
		rte_prefetch0_write(*mbuf);
}

/** The same for slots with several mbufs, of which packets take @p nb_segs; also the second line,
 * with next, of mbufs that are chained. */
static __rte_always_inline void
mdv_rx_prefetch_segments(const struct mdv_rxq *rxq, uint32_t nb, uint32_t nb_segs)
{
	uint32_t i, k;

	for (i = 0; i < nb; i++) {
		const uint32_t slot = (rxq->pos.wqe_ci + i) & rxq->ring.mask;
		struct rte_mbuf *const *mbufs = &rxq->ring.mbufs[slot << rxq->ring.log2_segs];

		rte_prefetch0_write(mbufs[0]);
		for (k = 1; k < nb_segs; k++) {
			rte_prefetch0_write(RTE_PTR_ADD(mbufs[k - 1], RTE_CACHE_LINE_MIN_SIZE));
			rte_prefetch0_write(mbufs[k]);
		}
	}
}

/** Finish a burst of @p nb packets. */
static __rte_always_inline void
mdv_rx_burst_end(struct mdv_rxq *rxq, struct rte_mbuf *const *pkts, uint16_t nb,
	const unsigned int opts, const bool vec)
{
	uint32_t ahead = 0;

	/* Only buffers that are not beside their mbufs can be pinned. */
	if (unlikely(rxq->buf_offset == 0))
		mdv_rx_tell_pinned(rxq, pkts, nb);
	if (opts & MDV_RX_SCATTER) {
		if ((opts & MDV_RX_SPLIT) && rxq->split != NULL)
			mdv_rx_split_refill(rxq);
		else
			mdv_rx_refill_scattered(rxq);
	} else if (rxq->ring.mask + 1 - (rxq->pos.wqe_pi - rxq->pos.wqe_ci) >=
		rxq->ring.refill_min) {
		if (opts & MDV_RX_STRIDE)
			mdv_rx_burst_refill_strides(rxq);
		else
			mdv_rx_burst_refill(rxq, vec);
	}
	/* Prefetch the title of the next block, which the next burst needs first, and its first
	 * minis. That burst writes both lines, to make them INVALID. The CPU itself prefetches
	 * CQEs that follow each other. */
	if (rxq->ring.runtime_opts & MDV_RX_RUNTIME_MINI) {
		rte_prefetch0_write(&rxq->ring.cqes[rxq->pos.cq_ci & rxq->ring.mask]);
		rte_prefetch0_write(&rxq->ring.cqes[(rxq->pos.cq_ci + 1) & rxq->ring.mask]);
		ahead = MDV_RX_AHEAD_MINI - nb;
	}
	if (opts & MDV_RX_SCATTER) {
		if (nb != 0 && pkts[nb - 1]->nb_segs > 1)
			mdv_rx_prefetch_segments(rxq, nb, pkts[nb - 1]->nb_segs);
		else
			mdv_rx_prefetch_scattered(rxq, ahead, nb);
		return;
	}
	/* Prefetch the mbufs that later bursts will write: they went through the pool and the ring
	 * since they were last touched. The application's work on these packets hides the misses.
	 */
	mdv_rx_prefetch(rxq, ahead, nb);
}

/** Hand out a block that has all packets that the burst wants. */
static __rte_always_inline uint16_t
mdv_rx_burst_ready(struct mdv_rxq *rxq, struct rte_mbuf **pkts, uint16_t nb_pkts,
	const unsigned int opts, const bool vec)
{
	const uint32_t ci = rxq->pos.wqe_ci;

	mdv_rx_mini_hand_out(rxq, pkts, nb_pkts, opts);
	if (opts & MDV_RX_STRIDE)
		mdv_rx_stride_place(rxq, pkts, ci, nb_pkts);
	rxq->count.packets += nb_pkts;
	mdv_rx_burst_end(rxq, pkts, nb_pkts, opts, vec);
	return nb_pkts;
}

/** The same function for all instances of a file without MDV_RX_SCATTER. */
static __rte_noinline __rte_unused uint16_t
mdv_rx_burst_ready_plain(
	struct mdv_rxq *rxq, struct rte_mbuf **pkts, uint16_t nb_pkts, const bool vec)
{
	return mdv_rx_burst_ready(rxq, pkts, nb_pkts, 0, vec);
}

/** The same function for all instances of a file with MDV_RX_SCATTER. */
static __rte_noinline __rte_unused uint16_t
mdv_rx_burst_ready_scattered(
	struct mdv_rxq *rxq, struct rte_mbuf **pkts, uint16_t nb_pkts, const bool vec)
{
	return mdv_rx_burst_ready(rxq, pkts, nb_pkts, MDV_RX_SCATTER, vec);
}

/** The same function for all instances of a file with MDV_RX_SPLIT. */
static __rte_noinline __rte_unused uint16_t
mdv_rx_burst_ready_split(
	struct mdv_rxq *rxq, struct rte_mbuf **pkts, uint16_t nb_pkts, const bool vec)
{
	return mdv_rx_burst_ready(rxq, pkts, nb_pkts, MDV_RX_SCATTER | MDV_RX_SPLIT, vec);
}

/** The same function for all instances of a file with MDV_RX_STRIDE. */
static __rte_noinline __rte_unused uint16_t
mdv_rx_burst_ready_strides(
	struct mdv_rxq *rxq, struct rte_mbuf **pkts, uint16_t nb_pkts, const bool vec)
{
	return mdv_rx_burst_ready(rxq, pkts, nb_pkts, MDV_RX_STRIDE, vec);
}

/** @return op_own, without the solicited bit, of a packet's CQE at @p ci. */
static __rte_always_inline uint8_t
mdv_rx_op_own(const struct mdv_rxq *rxq, uint32_t ci)
{
	return MLX5_CQE_RESP_SEND << MDV_HW_CQE_OPCODE_SHIFT |
		(ci >> rxq->ring.log2_wqes & MDV_HW_CQE_OWNER);
}

/** @return whether the next CQE is that of one packet. With compression the lines behind it are
 * stale, and slow to read. */
static __rte_always_inline bool
mdv_rx_is_one(const struct mdv_rxq *rxq, uint32_t ci)
{
	const uint8_t op_own = mdv_cq_op_own(&rxq->ring.cqes[ci & rxq->ring.mask]);

	return (op_own & ~MDV_HW_CQE_SOLICITED) == mdv_rx_op_own(rxq, ci);
}

/** Take at most @p nb packets by fours; CQEs and mbufs are contiguous. @return the number of
 * packets */
static __rte_always_inline uint32_t
mdv_rx_fours(struct mdv_rxq *rxq, struct rte_mbuf **pkts, uint32_t nb, struct mdv_rx_pos *pos,
	mdv_vec *bytes, const unsigned int opts)
{
	const bool invalidate = (rxq->ring.runtime_opts & MDV_RX_RUNTIME_MINI) != 0;
	const unsigned int log2_segs = opts & MDV_RX_SCATTER ? rxq->ring.log2_segs : 0;
	const uint8_t op_own = mdv_rx_op_own(rxq, pos->cq_ci);
	struct mdv_hw_cqe *cqe = &rxq->ring.cqes[pos->cq_ci & rxq->ring.mask];
	struct rte_mbuf **mbuf = &rxq->ring.mbufs[(pos->wqe_ci & rxq->ring.mask) << log2_segs];
	const mdv_vec rearm = mdv_vec_all(rxq->rearm);
	struct rte_mbuf **pkt = pkts;
	const struct mdv_hw_cqe *end;

#ifdef MDV_RX_EIGHT
	pkt += mdv_rx_eights(rxq, cqe, mbuf, pkt, nb, op_own, bytes, opts);
	cqe += pkt - pkts;
	mbuf += pkt - pkts;
#endif
	for (end = cqe + nb - (pkt - pkts); cqe != end; cqe += MDV_VEC_LANES) {
		mdv_vec_store(pkt,
			opts & MDV_RX_SCATTER
				? mdv_vec_load_column(mbuf, sizeof(mbuf[0]) << log2_segs)
				: mdv_vec_load(mbuf));
		if (!mdv_rx_vec_four(
			    rxq, cqe, pos->wqe_ci + (pkt - pkts), pkt, op_own, rearm, bytes, opts))
			break;
		if (opts & MDV_RX_SCATTER) {
			MDV_VEC_EACH(k)
			pos->nb_empty += mdv_rx_take_segments(
				rxq, &mbuf[k << log2_segs], pkt[k]->pkt_len, opts);
		}
		if (invalidate) {
			MDV_VEC_EACH(k)
			mdv_cq_invalidate(&cqe[k]);
		}
		mbuf += MDV_VEC_LANES << log2_segs;
		pkt += MDV_VEC_LANES;
	}
	return pkt - pkts;
}

/** Take packets by fours. If the end of a ring stopped the vectors, continue after it. */
static __rte_always_inline void
mdv_rx_burst_fours(struct mdv_rxq *rxq, struct rte_mbuf **pkts, uint16_t nb_pkts,
	struct mdv_rx_pos *pos, const unsigned int opts)
{
	const uint32_t cq_idx = pos->cq_ci & rxq->ring.mask, wqe_idx = pos->wqe_ci & rxq->ring.mask;
	const uint32_t want = nb_pkts - pos->nb;
	const uint32_t span = rxq->ring.mask + 1 - RTE_MAX(cq_idx, wqe_idx);
	const uint32_t end = RTE_MIN(want, span) & ~(MDV_VEC_LANES - 1);
	mdv_vec bytes = mdv_vec_all(0);
	uint32_t nb;

	pkts += pos->nb;
	nb = mdv_rx_fours(rxq, pkts, end, pos, &bytes, opts);
	if (nb != 0) {
		if (opts & MDV_RX_STRIDE)
			mdv_rx_stride_place(rxq, pkts, pos->wqe_ci, nb);
		pos->nb += nb;
		pos->cq_ci += nb;
		pos->wqe_ci += nb;
		pos->bytes += mdv_vec_sum(bytes);
	}
	pos->fours = nb == end && want - end >= MDV_VEC_LANES;
}

/** Handle the valid CQE at @p pos that is not one packet's: a block or an error. */
static __rte_always_inline void
mdv_rx_burst_slow_path(struct mdv_rxq *rxq, struct rte_mbuf **pkts, uint16_t nb_pkts,
	struct mdv_rx_pos *pos, uint8_t op_own, const unsigned int opts, const bool vec)
{
	rxq->pos.cq_ci = pos->cq_ci;
	rxq->pos.wqe_ci = pos->wqe_ci;
	/* A recovery fills the ring, and counts anew. */
	if (opts & MDV_RX_SCATTER) {
		rxq->nb_empty += pos->nb_empty;
		pos->nb_empty = 0;
	}
	if (mdv_cq_is_block(op_own) && (opts & MDV_RX_STRIDE)) {
		const uint16_t nb = mdv_rx_mini_blocks_strides(
			rxq, pkts + pos->nb, nb_pkts - pos->nb, opts, vec);

		mdv_rx_stride_place(rxq, pkts + pos->nb, pos->wqe_ci, nb);
		pos->nb += nb;
		pos->fours = vec && mdv_rx_is_one(rxq, rxq->pos.cq_ci);
	} else if (mdv_cq_is_block(op_own)) {
		pos->nb += opts & MDV_RX_SCATTER
			? mdv_rx_mini_blocks_scattered(
				  rxq, pkts + pos->nb, nb_pkts - pos->nb, opts, vec)
			: mdv_rx_mini_blocks(rxq, pkts + pos->nb, nb_pkts - pos->nb, opts, vec);
		pos->fours = vec && mdv_rx_is_one(rxq, rxq->pos.cq_ci);
	} else {
		mdv_rx_error(rxq);
	}
	pos->cq_ci = rxq->pos.cq_ci;
	pos->wqe_ci = rxq->pos.wqe_ci;
}

/** With MDV_RX_STRIDE: handle a CQE that is not one packet's in the next stride. */
static __rte_always_inline void
mdv_rx_burst_odd(struct mdv_rxq *rxq, struct mdv_rx_pos *pos)
{
	rxq->pos.cq_ci = pos->cq_ci;
	rxq->pos.wqe_ci = pos->wqe_ci;
	mdv_rx_stride_odd(rxq);
	pos->cq_ci = rxq->pos.cq_ci;
	pos->wqe_ci = rxq->pos.wqe_ci;
}

/** Take one packet, error or block. @return whether there was one. */
static __rte_always_inline bool
mdv_rx_burst_one(struct mdv_rxq *rxq, struct rte_mbuf **pkts, uint16_t nb_pkts,
	struct mdv_rx_pos *pos, const unsigned int opts, const bool vec)
{
	struct mdv_hw_cqe *cqe = &rxq->ring.cqes[pos->cq_ci & rxq->ring.mask];
	const uint8_t op_own = mdv_cq_op_own(cqe);
	const unsigned int log2_segs = opts & MDV_RX_SCATTER ? rxq->ring.log2_segs : 0;
	struct rte_mbuf *mbuf, **mbufs;
	uint32_t len;

	if (unlikely((op_own & ~MDV_HW_CQE_SOLICITED) != mdv_rx_op_own(rxq, pos->cq_ci))) {
		if (!mdv_cq_is_valid(op_own, pos->cq_ci, rxq->ring.log2_wqes))
			return false;
		mdv_rx_burst_slow_path(rxq, pkts, nb_pkts, pos, op_own, opts, vec);
		return true;
	}
	len = rte_be_to_cpu_32(cqe->byte_cnt);
	if (opts & MDV_RX_STRIDE) {
		if (unlikely(!mdv_rx_stride_is_next(
			    rxq, pos->wqe_ci, len, rte_be_to_cpu_16(cqe->wqe_counter)))) {
			mdv_rx_burst_odd(rxq, pos);
			return true;
		}
		len &= UINT16_MAX;
	}
	mbufs = &rxq->ring.mbufs[(pos->wqe_ci & rxq->ring.mask) << log2_segs];
	mbuf = mbufs[0];
	mdv_rx_rearm(mbuf, rxq->rearm);
	mbuf->data_len = len;
	mbuf->pkt_len = len;
	if (opts & MDV_RX_SCATTER)
		pos->nb_empty += mdv_rx_take_segments(rxq, mbufs, len, opts);
	mdv_rx_offloads(rxq, mbuf, cqe, opts);
	if (rxq->ring.runtime_opts & MDV_RX_RUNTIME_MINI)
		mdv_cq_invalidate(cqe);
	if (opts & MDV_RX_STRIDE)
		mdv_rx_stride_place(rxq, &mbuf, pos->wqe_ci, 1);
	pos->bytes += len;
	pkts[pos->nb++] = mbuf;
	pos->cq_ci++;
	pos->wqe_ci++;
	return true;
}

/** Tell the control path whether CQEs are being read: see mdv_rxq_ring_reset(). A killed process
 * has done all stores before the instruction that it was at, so their order in the program is
 * enough. */
static __rte_always_inline void
mdv_rx_burst_mark(struct mdv_rxq *rxq, bool in_burst)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&rxq->in_burst, in_burst, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/** Receive up to @p nb_pkts packets. */
static __rte_always_inline uint16_t
mdv_rx_burst(struct mdv_rxq *rxq, struct rte_mbuf **pkts, uint16_t nb_pkts, const unsigned int opts,
	const bool vec)
{
	const uint32_t start = rxq->pos.cq_ci;
	struct mdv_rx_pos pos = { .cq_ci = start, .wqe_ci = rxq->pos.wqe_ci };

	mdv_rx_burst_mark(rxq, true);
	if (rxq->nb_ready != 0) {
		pos.nb = mdv_rx_mini_take(rxq, pkts, nb_pkts, opts);
		if (opts & MDV_RX_STRIDE)
			mdv_rx_stride_place(rxq, pkts, pos.wqe_ci, pos.nb);
		pos.wqe_ci = rxq->pos.wqe_ci;
	}
	pos.fours = vec &&
		(!(rxq->ring.runtime_opts & MDV_RX_RUNTIME_MINI) || mdv_rx_is_one(rxq, start));
	while (pos.nb < nb_pkts) {
		if (vec && pos.fours) {
			mdv_rx_burst_fours(rxq, pkts, nb_pkts, &pos, opts);
			if (pos.nb == nb_pkts)
				break;
		}
		if (!mdv_rx_burst_one(rxq, pkts, nb_pkts, &pos, opts, vec))
			break;
	}
	if (((pos.cq_ci ^ start) | pos.nb) != 0) {
		rxq->pos.cq_ci = pos.cq_ci;
		rxq->pos.wqe_ci = pos.wqe_ci;
		rxq->count.packets += pos.nb;
		rxq->count.bytes += pos.bytes;
	} else if (unlikely((rxq->ring.runtime_opts & MDV_RX_RUNTIME_BROKEN) != 0)) {
		mdv_recover_ops.rx(rxq);
	}
	if (opts & MDV_RX_SCATTER)
		rxq->nb_empty += pos.nb_empty;
	mdv_rx_burst_mark(rxq, false);
	mdv_rx_burst_end(rxq, pkts, pos.nb, opts, vec);
	return pos.nb;
}

/* clang-format off */
/** X(name, opts) without and with one more option, and all before it; name says which, for perf
 * and gdb. */
#define MDV_RX_AND_CSUM(X, name, opts) \
	X(name, opts) \
	X(name##_csum, (opts) | MDV_RX_CSUM)
#define MDV_RX_AND_HASH(X, name, opts) \
	MDV_RX_AND_CSUM(X, name, opts) \
	MDV_RX_AND_CSUM(X, name##_hash, (opts) | MDV_RX_HASH)
#define MDV_RX_AND_MARK(X, name, opts) \
	MDV_RX_AND_HASH(X, name, opts) \
	MDV_RX_AND_HASH(X, name##_mark, (opts) | MDV_RX_MARK)
#define MDV_RX_AND_TIMESTAMP(X, name, opts) \
	MDV_RX_AND_MARK(X, name, opts) \
	MDV_RX_AND_MARK(X, name##_timestamp, (opts) | MDV_RX_TIMESTAMP)
/** X(name, opts) for each set of options without MDV_RX_SCATTER; @p prefix is the name of the
 * empty set. */
#define MDV_RX_OPTS_PLAIN(X, prefix) MDV_RX_AND_TIMESTAMP(X, prefix, 0)
/** The same with MDV_RX_SCATTER. */
#define MDV_RX_OPTS_SCATTER(X, prefix) \
	MDV_RX_AND_TIMESTAMP(X, prefix##_scatter, MDV_RX_SCATTER)
/** The same with MDV_RX_STRIDE. */
#define MDV_RX_OPTS_STRIDE(X, prefix) \
	MDV_RX_AND_TIMESTAMP(X, prefix##_stride, MDV_RX_STRIDE)
/** The same with MDV_RX_SPLIT. */
#define MDV_RX_OPTS_SPLIT(X, prefix) \
	MDV_RX_AND_TIMESTAMP(X, prefix##_split, MDV_RX_SCATTER | MDV_RX_SPLIT)

#define MDV_RX_INSTANCE(name, opts, vec) \
	static __rte_noinline uint16_t \
	name##_rings(struct mdv_rxq *rxq, struct rte_mbuf **pkts, uint16_t nb_pkts) \
	{ \
		return mdv_rx_burst(rxq, pkts, nb_pkts, opts, vec); \
	} \
	static uint16_t \
	name(void *queue, struct rte_mbuf **pkts, uint16_t nb_pkts) \
	{ \
		struct mdv_rxq *rxq = queue; \
		if (rxq->nb_ready >= nb_pkts) \
			return (opts) & MDV_RX_SPLIT \
				? mdv_rx_burst_ready_split(rxq, pkts, nb_pkts, vec) \
				: (opts) & MDV_RX_SCATTER \
				? mdv_rx_burst_ready_scattered(rxq, pkts, nb_pkts, vec) \
				: (opts) & MDV_RX_STRIDE \
				? mdv_rx_burst_ready_strides(rxq, pkts, nb_pkts, vec) \
				: mdv_rx_burst_ready_plain(rxq, pkts, nb_pkts, vec); \
		return name##_rings(rxq, pkts, nb_pkts); \
	}
#define MDV_RX_ROW(name, opts) [opts] = name,
/* clang-format on */

#endif /* MDV_RX_BURST_H */
