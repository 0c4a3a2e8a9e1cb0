/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The send burst: one template, from which tx_select.c and tx_vec*.c make instances.
 *
 * A packet costs the mbuf's first line (read), its data segment or WQEBB (written) and a share of
 * the mbufs[] lines; without fast free, the release reads the mbuf's line once more. A burst reads
 * line 0 of the queue and writes line 1 once.
 */
#ifndef MDV_TX_BURST_H
#define MDV_TX_BURST_H

#include "tx_mseg.h"
#include "tx_copy.h"
#include "tx_each.h"
#include "tx_one.h"
#include "tx_swp.h"
#include "tx_tso.h"
#include "tx_vec.h"

/** @return whether four mbufs can go back into @p pool unchanged. One word for each, or-ed: the
 * result has counts of 1 only if all counts are 1, as no count is 0. */
static __rte_always_inline bool
mdv_tx_burst_plain(struct rte_mbuf *const *mbufs, const struct rte_mempool *pool)
{
	/* refcnt is in bits 31:16, nb_segs in bits 47:32; a chain of one has no next. */
	const uint64_t mask = UINT64_C(0xffffffff0000);
	const struct rte_mbuf ready = { .refcnt = 1, .nb_segs = 1 };
	uint64_t want, counts = 0, flags = 0;

	memcpy(&want, &ready.rearm_data, sizeof(want));
	MDV_VEC_EACH(i)
	{
		uint64_t word;

		if (unlikely(mbufs[i]->pool != pool))
			return false;
		memcpy(&word, &mbufs[i]->rearm_data, sizeof(word));
		counts |= word;
		flags |= mbufs[i]->ol_flags;
	}
	return (((counts ^ want) & mask) | (flags & (RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL))) ==
		0;
}

/** Free the mbufs in [tail, to), which are of one pool and nobody else's, none of them in a chain.
 */
static __rte_noinline __rte_unused void
mdv_tx_burst_release_plain(struct mdv_txq *txq, uint16_t to)
{
	uint16_t tail = txq->pos.tail;

	while (tail != to) {
		const uint32_t idx = tail & txq->ring.mask;
		const uint32_t n =
			RTE_MIN((uint32_t)(uint16_t)(to - tail), txq->ring.mask + 1u - idx);
		struct rte_mbuf **mbufs = &txq->ring.mbufs[idx];

		tail += n;
		/* Advance tail first, as in mdv_txq_ring_release(). */
		txq->pos.tail = tail;
		rte_compiler_barrier();
		rte_mempool_put_bulk(mbufs[0]->pool, (void **)mbufs, n);
	}
}

/**
 * Free the mbufs that a completion has released: [tail, to). Called at most once a burst, so one
 * function serves all instances of a file.
 * @param look shared mbufs or several pools are possible
 */
static __rte_noinline __rte_unused void
mdv_tx_burst_release(struct mdv_txq *txq, uint16_t to, bool look, const bool vec)
{
	const bool chains = txq->ring.chains;

	while (txq->pos.tail != to) {
		const uint32_t idx = txq->pos.tail & txq->ring.mask;
		struct rte_mbuf **mbufs = &txq->ring.mbufs[idx];
		struct rte_mempool *pool = mbufs[0]->pool;
		uint32_t nb = RTE_MIN(
			(uint32_t)(uint16_t)(to - txq->pos.tail), txq->ring.mask + 1u - idx);
		uint32_t n = look || chains ? 0 : nb;

		if (chains)
			n = mdv_tx_mseg_undo(mbufs, nb, pool);
		else
			while (vec && n + MDV_VEC_LANES <= nb &&
				mdv_tx_burst_plain(mbufs + n, pool))
				n += MDV_VEC_LANES;
		if (n != 0) {
			/* Advance tail first, as in mdv_txq_ring_release(). */
			txq->pos.tail += n;
			rte_compiler_barrier();
			rte_mempool_put_bulk(pool, (void **)mbufs, n);
		} else {
			/* Mbufs that go to the pool at once come in runs, so they go there
			 * together. */
			mdv_txq_ring_release(
				txq, txq->pos.tail + (vec ? RTE_MIN(nb, 4u * MDV_VEC_LANES) : nb));
		}
	}
}

/** Take completions, at most @p max. */
static __rte_always_inline void
mdv_tx_burst_reap(struct mdv_txq *txq, const unsigned int opts, const bool vec, const uint32_t max)
{
	const uint8_t log2_cqes = txq->ring.log2_cqes;
	const uint32_t start = txq->pos.cq_ci;
	uint32_t cq_ci = start;
	struct mdv_tx_done done;

	while (cq_ci - start < max) {
		const uint8_t op_own =
			mdv_cq_op_own(&txq->ring.cqes[mdv_cq_slot(cq_ci, log2_cqes)]);

		if (likely(mdv_cq_is_sent(op_own, cq_ci, log2_cqes))) {
			cq_ci++;
			continue;
		}
		if (likely(!mdv_cq_is_valid(op_own, cq_ci, log2_cqes)))
			break;
		txq->pos.cq_ci = cq_ci;
		mdv_tx_error(txq);
		return;
	}
	if (cq_ci == start) {
		if (unlikely(txq->ring.broken))
			mdv_recover_ops.tx(txq);
		return;
	}
	txq->pos.cq_ci = cq_ci;
	mdv_cq_update_ci(txq->ring.cq_dbrec, cq_ci);
	done = txq->ring.dones[mdv_cq_slot(cq_ci - 1, log2_cqes)];
	txq->pos.ci = done.pc;
	if ((opts & MDV_TX_FAST_FREE) && likely(!txq->ring.chains))
		mdv_tx_burst_release_plain(txq, done.head);
	else
		mdv_tx_burst_release(txq, done.head, !(opts & MDV_TX_FAST_FREE), vec);
}

/** Start a burst: take completions. @return the queue's position */
static __rte_always_inline struct mdv_tx_pos
mdv_tx_burst_start(struct mdv_txq *txq, const unsigned int opts, const bool vec)
{
	mdv_tx_burst_reap(txq, opts, vec, MDV_TX_REAP_MAX);
	mdv_mr_cache_check(&txq->mr);
	return (struct mdv_tx_pos){ .pc = txq->pos.pc, .head = txq->pos.head };
}

/** Hand over the WQEs up to @p pos, @p packets frames, with a completion request if one is due.
 * Only with @p opts that write long WQEs can there be more WQEBBs than mbufs. */
static __rte_always_inline void
mdv_tx_burst_commit(struct mdv_txq *txq, const struct mdv_tx_pos *pos, uint64_t packets,
	const unsigned int opts)
{
	const unsigned int longs =
		MDV_TX_MULTI | MDV_TX_TSO | MDV_TX_INLINE | MDV_TX_INLINE_L2 | MDV_TX_SWP;
	const uint8_t log2_cqes = txq->ring.log2_cqes;
	const struct mdv_tx_done *done =
		&txq->ring.dones[mdv_cq_slot(txq->pos.cq_pi - 1, log2_cqes)];
	struct mlx5_wqe_ctrl_seg *last = (void *)pos->last;

	if ((int16_t)(pos->head - txq->pos.due) >= 0 ||
		((opts & longs) && (uint16_t)(pos->pc - done->pc) >= txq->ring.request_min)) {
		last->fm_ce_se = MDV_HW_CTRL_CQE_ALWAYS;
		txq->pos.due = pos->head + txq->ring.request_min;
		txq->ring.dones[mdv_cq_slot(txq->pos.cq_pi++, log2_cqes)] =
			(struct mdv_tx_done){ .pc = pos->pc, .head = pos->head };
	}
	txq->count.packets += packets;
	txq->count.bytes += pos->bytes;
	txq->pos.pc = pos->pc;
	txq->pos.head = pos->head;
	mdv_tx_doorbell(txq, last, pos->pc);
}

/** Packets of a WQE of a burst that needs several: all fours. */
#define MDV_TX_BURST_PART 32u

/** Send in one WQE as many packets as can share it. @return 0 when the next needs one of its own */
static __rte_always_inline uint32_t
mdv_tx_burst_many(struct mdv_txq *txq, struct rte_mbuf **pkts, uint32_t nb, uint32_t bbs,
	struct mdv_tx_pos *pos, const unsigned int opts)
{
	const uint32_t to_end = txq->ring.mask + 1u - (pos->pc & txq->ring.mask);
	const uint32_t slots = txq->ring.mask + 1u - (pos->head & txq->ring.mask);

	bbs = RTE_MIN(bbs, to_end);
	nb = RTE_MIN(nb, slots);
	if (nb > MDV_TX_DS_MAX - MDV_TX_WQE_DS_HEAD)
		nb = MDV_TX_BURST_PART;
	return mdv_tx_vec_wqe(txq, pkts, RTE_MIN(nb, mdv_tx_vec_room(bbs)), pos, opts);
}

/** @return whether there is room for one WQE of all @p nb packets, before either ring ends. */
static __rte_always_inline bool
mdv_tx_burst_fits(const struct mdv_txq *txq, const struct mdv_tx_pos *pos, uint32_t nb)
{
	const uint16_t mask = txq->ring.mask, size = mask + 1;
	/* In 16 bits as the positions, which the compiler would have to widen. */
	const uint16_t bbs = size - mdv_tx_wqe_bbs(MDV_TX_WQE_DS_HEAD + nb), slots = size - nb;

	return likely((uint16_t)(pos->head & mask) <= slots) &&
		likely((uint16_t)(pos->head - txq->pos.tail) <= slots) &&
		likely((uint16_t)(pos->pc & mask) <= bbs) &&
		likely((uint16_t)(pos->pc - txq->pos.ci) <= bbs);
}

/**
 * Send the packets at the front that take long WQEs: chains, TSO packets, and all with more than L2
 * headers inlined.
 * @return MDV_TX_SENT: at least the first, and @p pos has moved; MDV_TX_WHOLE if the first takes a
 * short one
 */
static __rte_always_inline enum mdv_tx_status
mdv_tx_burst_long(struct mdv_txq *txq, struct rte_mbuf **pkts, uint32_t nb, uint32_t bbs,
	struct mdv_tx_pos *pos, const unsigned int opts)
{
	/* A copy, so that the compiler can keep *pos in registers. */
	struct mdv_tx_pos so_far;
	enum mdv_tx_status status = MDV_TX_WHOLE;

	mdv_tx_pos_copy(&so_far, pos);
	if ((opts & MDV_TX_TSO) && (pkts[0]->ol_flags & RTE_MBUF_F_TX_TCP_SEG))
		status = mdv_tx_tso(txq, pkts, nb, bbs, (opts & MDV_TX_VLAN) != 0, &so_far);
	if ((opts & MDV_TX_MULTI) && status == MDV_TX_WHOLE && pkts[0]->nb_segs > 1)
		status = mdv_tx_mseg_send(txq, pkts, nb, bbs, opts, &so_far);
	if ((opts & MDV_TX_INLINE_L2) && status == MDV_TX_WHOLE &&
		unlikely(txq->ring.min_inline != 0))
		status = mdv_tx_mseg_send(txq, pkts, nb, bbs, opts, &so_far);
	if (status == MDV_TX_SENT)
		mdv_tx_pos_copy(pos, &so_far);
	return status;
}

/** Send a packet of one segment. @return MDV_TX_SENT or MDV_TX_BAD */
static __rte_always_inline enum mdv_tx_status
mdv_tx_burst_one(
	struct mdv_txq *txq, struct rte_mbuf *mbuf, struct mdv_tx_pos *pos, const unsigned int opts)
{
	if (unlikely(mdv_tx_one(txq, mbuf, pos->pc, pos->head, opts) < 0))
		return MDV_TX_BAD;
	pos->last = txq->ring.wqes + (pos->pc & txq->ring.mask) * MLX5_SEND_WQE_BB;
	pos->pc++;
	pos->head++;
	pos->bytes += mbuf->data_len;
	pos->nb++;
	return MDV_TX_SENT;
}

/** Send in one WQE packets of which some are inlined. @return as mdv_tx_copy_many() */
static __rte_always_inline enum mdv_tx_status
mdv_tx_burst_copy(struct mdv_txq *txq, struct rte_mbuf **pkts, uint32_t nb, uint32_t bbs,
	struct mdv_tx_pos *pos, const unsigned int opts, const bool vec)
{
	const uint32_t slots = txq->ring.mask + 1u - (pos->head & txq->ring.mask);

	if (!vec)
		return mdv_tx_copy_one(txq, pkts[0], bbs, pos, opts);
	return mdv_tx_copy_many(txq, pkts, RTE_MIN(nb, slots), bbs, pos);
}

/** Send packets with tags that follow others. @return their number */
static __rte_always_inline uint32_t
mdv_tx_burst_tagged(struct mdv_txq *txq, struct rte_mbuf **pkts, uint32_t nb, uint32_t bbs,
	struct mdv_tx_pos *pos, const unsigned int opts)
{
	struct mdv_tx_pos so_far;
	uint32_t n;

	mdv_tx_pos_copy(&so_far, pos);
	n = mdv_tx_each_more(txq, pkts, nb, bbs, &so_far, opts);
	mdv_tx_pos_copy(pos, &so_far);
	return n;
}

/** Send the next packets that are of one kind. @return as mdv_tx_burst_long(), but never
 * MDV_TX_WHOLE */
static __rte_always_inline enum mdv_tx_status
mdv_tx_burst_next(struct mdv_txq *txq, struct rte_mbuf **pkts, uint32_t nb, uint32_t bbs,
	struct mdv_tx_pos *pos, const unsigned int opts, const bool vec)
{
	const uint32_t slots = opts & MDV_TX_INLINE
		? mdv_tx_copy_slots(txq, pos->head)
		: txq->ring.mask + 1u - (uint16_t)(pos->head - txq->pos.tail);
	enum mdv_tx_status status;
	uint32_t n = 0;
	bool alone;

	if (slots == 0)
		return MDV_TX_NO_ROOM;
	if (opts & MDV_TX_INLINE) {
		status = mdv_tx_burst_copy(txq, pkts, RTE_MIN(nb, slots), bbs, pos, opts, vec);
		if (status != MDV_TX_WHOLE)
			return status;
	}
	if (vec && !(opts & MDV_TX_INLINE) && mdv_tx_vec_takes(pkts[0], opts))
		n = mdv_tx_burst_many(txq, pkts, RTE_MIN(nb, slots), bbs, pos, opts);
	else if (vec && mdv_tx_each_takes(pkts[0], opts))
		n = mdv_tx_burst_tagged(txq, pkts, RTE_MIN(nb, slots), bbs, pos, opts);
	if (n != 0)
		return MDV_TX_SENT;
	/* With SWP one packet at a time, as each WQE is completed afterwards; the packet behind one
	 * with long headers inlined may be inlined whole. */
	alone = (opts & MDV_TX_SWP) || ((opts & MDV_TX_INLINE) && (opts & MDV_TX_INLINE_L2));
	status = mdv_tx_burst_long(txq, pkts, alone ? 1 : nb, bbs, pos, opts);
	if (status == MDV_TX_WHOLE)
		status = mdv_tx_burst_one(txq, pkts[0], pos, opts);
	if ((opts & MDV_TX_SWP) && status == MDV_TX_SENT && mdv_tx_swp_wanted(pkts[0]->ol_flags))
		mdv_tx_swp_put(pos->last, pkts[0]);
	return status;
}

/** Send as many packets as there is room for, from @p start on, and ring the doorbell. @return the
 * number of packets taken */
static __rte_always_inline uint16_t
mdv_tx_burst_rest(struct mdv_txq *txq, struct rte_mbuf **pkts, uint16_t nb_pkts,
	const struct mdv_tx_pos *start, const unsigned int opts, const bool vec)
{
	struct mdv_tx_pos pos;

	mdv_tx_pos_copy(&pos, start);
	while (pos.nb < nb_pkts) {
		const uint32_t bbs = txq->ring.mask + 1u - (uint16_t)(pos.pc - txq->pos.ci);
		enum mdv_tx_status status;

		if (bbs == 0)
			break;
		status = mdv_tx_burst_next(
			txq, &pkts[pos.nb], nb_pkts - pos.nb, bbs, &pos, opts, vec);
		if (likely(status == MDV_TX_SENT))
			continue;
		if (status == MDV_TX_NO_ROOM)
			break;
		mdv_tx_drop(txq, pkts[pos.nb++]);
	}
	if (pos.last != NULL)
		mdv_tx_burst_commit(
			txq, &pos, (uint16_t)(pos.head - txq->pos.head) + pos.more, opts);
	return pos.nb;
}

/**
 * Send the whole burst as one WQE, the usual case, or as one for each packet with a tag.
 * @param pos the queue's position; afterwards the end of what was sent
 * @return whether all packets are sent
 */
static __rte_always_inline bool
mdv_tx_burst_at_once(struct mdv_txq *txq, struct rte_mbuf **pkts, uint16_t nb_pkts,
	struct mdv_tx_pos *pos, const unsigned int opts)
{
	/* A burst of no packets has no first packet to look at. */
	if ((opts & MDV_TX_INLINE) || unlikely(nb_pkts == 0))
		return false;
	if (mdv_tx_each_takes(pkts[0], opts)) {
		const uint32_t size = txq->ring.mask + 1u;
		const uint32_t slots = size - (uint16_t)(pos->head - txq->pos.tail);
		const uint32_t bbs = size - (uint16_t)(pos->pc - txq->pos.ci);

		if (mdv_tx_each(txq, pkts, RTE_MIN(nb_pkts, slots), bbs, pos, opts) != nb_pkts)
			return false;
	} else if (unlikely(nb_pkts > MDV_TX_DS_MAX - MDV_TX_WQE_DS_HEAD) ||
		!mdv_tx_vec_takes(pkts[0], opts) ||
		unlikely(!mdv_tx_burst_fits(txq, pos, nb_pkts)) ||
		unlikely(mdv_tx_vec_wqe(txq, pkts, nb_pkts, pos, opts) != nb_pkts)) {
		return false;
	}
	mdv_tx_burst_commit(txq, pos, nb_pkts, opts);
	return true;
}

/* clang-format off */
/** X(name, opts) without and with one more option, and all before it; name says which, for perf
 * and gdb. */
#define MDV_TX_AND_MULTI(X, name, opts) \
	X(name, opts) \
	X(name##_multi, (opts) | MDV_TX_MULTI)
#define MDV_TX_AND_VLAN(X, name, opts) \
	MDV_TX_AND_MULTI(X, name, opts) \
	MDV_TX_AND_MULTI(X, name##_vlan, (opts) | MDV_TX_VLAN)
#define MDV_TX_AND_FAST_FREE(X, name, opts) \
	MDV_TX_AND_VLAN(X, name, opts) \
	MDV_TX_AND_VLAN(X, name##_fast_free, (opts) | MDV_TX_FAST_FREE)
/** TSO exists only with CSUM, so _tso means both. */
#define MDV_TX_AND_CSUM_TSO(X, name, opts) \
	MDV_TX_AND_FAST_FREE(X, name, opts) \
	MDV_TX_AND_FAST_FREE(X, name##_csum, (opts) | MDV_TX_CSUM) \
	MDV_TX_AND_FAST_FREE(X, name##_tso, (opts) | MDV_TX_CSUM | MDV_TX_TSO)
/** X(name, opts) for each set of options without MDV_TX_INLINE_L2, MDV_TX_SWP and MDV_TX_INLINE; @p
 * prefix is the name of the empty set. */
#define MDV_TX_OPTS_PLAIN(X, prefix) MDV_TX_AND_CSUM_TSO(X, prefix, 0)
/** The same with MDV_TX_INLINE_L2. */
#define MDV_TX_OPTS_INLINE(X, prefix) \
	MDV_TX_AND_CSUM_TSO(X, prefix##_inline_l2, MDV_TX_INLINE_L2)
/** The sets with MDV_TX_SWP: MDV_TX_SWP_OPTS, with and without MDV_TX_FAST_FREE. */
#define MDV_TX_OPTS_SWP(X, prefix) \
	X(prefix##_swp, MDV_TX_SWP_OPTS) \
	X(prefix##_swp_fast_free, MDV_TX_SWP_OPTS | MDV_TX_FAST_FREE)

/** The sets with MDV_TX_INLINE: MDV_TX_INLINE_OPTS, with and without MDV_TX_SWP and
 * MDV_TX_FAST_FREE. */
#define MDV_TX_OPTS_COPY(X, prefix) \
	X(prefix##_inline, MDV_TX_INLINE_OPTS) \
	X(prefix##_inline_fast_free, MDV_TX_INLINE_OPTS | MDV_TX_FAST_FREE) \
	X(prefix##_inline_swp, MDV_TX_INLINE_OPTS | MDV_TX_SWP) \
	X(prefix##_inline_swp_fast_free, MDV_TX_INLINE_OPTS | MDV_TX_SWP | MDV_TX_FAST_FREE)
/** The same with MDV_TX_INLINE_L2, without MDV_TX_SWP. */
#define MDV_TX_OPTS_COPY_L2(X, prefix) \
	X(prefix##_inline_all_l2, MDV_TX_INLINE_OPTS | MDV_TX_INLINE_L2) \
	X(prefix##_inline_all_l2_fast_free, \
		MDV_TX_INLINE_OPTS | MDV_TX_INLINE_L2 | MDV_TX_FAST_FREE)

/** An instance: sends up to nb_pkts packets, and fewer if the ring is full. It frees and counts
 * packets that cannot be sent. */
#define MDV_TX_INSTANCE(name, opts) \
	static uint16_t \
	name(void *txq, struct rte_mbuf **pkts, uint16_t nb_pkts) \
	{ \
		const struct mdv_tx_pos pos = mdv_tx_burst_start(txq, opts, false); \
		return mdv_tx_burst_rest(txq, pkts, nb_pkts, &pos, opts, false); \
	}
/** The same with vectors. A separate function sends unusual packets, so that these cost the usual
 * path no registers. */
#define MDV_TX_INSTANCE_VEC(name, opts) \
	static __rte_noinline uint16_t \
	name##_rest(struct mdv_txq *txq, struct rte_mbuf **pkts, uint16_t nb_pkts, \
		const struct mdv_tx_pos *pos) \
	{ \
		return mdv_tx_burst_rest(txq, pkts, nb_pkts, pos, opts, true); \
	} \
	static uint16_t \
	name(void *txq, struct rte_mbuf **pkts, uint16_t nb_pkts) \
	{ \
		struct mdv_tx_pos pos = mdv_tx_burst_start(txq, opts, true), so_far; \
		if (mdv_tx_burst_at_once(txq, pkts, nb_pkts, &pos, opts)) \
			return nb_pkts; \
		if ((opts) & MDV_TX_TSO) \
			return mdv_tx_burst_rest(txq, pkts, nb_pkts, &pos, opts, true); \
		mdv_tx_pos_copy(&so_far, &pos); \
		return name##_rest(txq, pkts, nb_pkts, &so_far); \
	}
#define MDV_TX_ROW(name, opts) [opts] = name,
/* clang-format on */

#endif /* MDV_TX_BURST_H */
