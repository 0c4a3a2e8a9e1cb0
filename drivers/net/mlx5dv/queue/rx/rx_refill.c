/* SPDX-License-Identifier: BSD-3-Clause */
/* Refills off the fast path: the first fill, WQEs of several segments, too few mbufs. */
#include <errno.h>
#include <string.h>

#include <rte_mempool.h>

#include "rx_refill.h"
#include "rxq_ring.h"

uint32_t
mdv_rx_refill_short_of(
	struct mdv_rxq *rxq, struct rte_mempool *pool, struct rte_mbuf **mbufs, uint32_t nb)
{
	uint32_t fewer;

	for (fewer = nb / 2; fewer != 0; fewer /= 2) {
		if (rte_mempool_get_bulk(pool, (void **)mbufs, fewer) == 0)
			break;
	}
	rxq->count.nombuf += nb - fewer;
	return fewer;
}

__rte_noinline uint32_t
mdv_rx_refill_short(struct mdv_rxq *rxq, struct rte_mbuf **mbufs, uint32_t nb)
{
	return mdv_rx_refill_short_of(rxq, rxq->pool, mbufs, nb);
}

/** The fast path assumes one layout for all mbufs of the pool, after this check of each mbuf. */
struct layout_check {
	uint32_t buf_offset;
	bool differs;
};

static void
check_layout(__rte_unused struct rte_mempool *pool, void *arg, void *object,
	__rte_unused unsigned int idx)
{
	const struct rte_mbuf *mbuf = object;
	struct layout_check *check = arg;

	if ((uintptr_t)mbuf->buf_addr != (uintptr_t)mbuf + check->buf_offset)
		check->differs = true;
}

uint32_t
mdv_rx_refill_offset(struct rte_mempool *pool, uint16_t data_off)
{
	struct layout_check check = {
		.buf_offset = sizeof(struct rte_mbuf) + rte_pktmbuf_priv_size(pool),
	};

	rte_mempool_obj_iter(pool, check_layout, &check);
	return check.differs ? 0 : check.buf_offset + data_off;
}

/**
 * Give segment @p seg of the WQE whose segments start at @p at a buffer.
 * @param known lkey and the buffer's place in the mbuf
 */
static __rte_always_inline void
segment_fill(
	struct mdv_rxq *rxq, uint32_t at, uint32_t seg, struct rte_mbuf *mbuf, const bool known)
{
	struct mlx5_wqe_data_seg *dseg = &rxq->ring.wqes[at + seg];
	uintptr_t addr = known ? (uintptr_t)mbuf + rxq->buf_offset : mdv_rx_mbuf_addr(rxq, mbuf);

	rxq->ring.mbufs[at + seg] = mbuf;
	if (seg != 0)
		addr -= rxq->headroom;
	if (!known && rxq->lkey_be == MDV_MR_LKEY_NONE)
		dseg->lkey = mdv_mr_lkey(&rxq->mr, addr, mbuf);
	dseg->addr = rte_cpu_to_be_64(addr);
}

/**
 * Put @p nb mbufs where they are missing, in at most @p nb_wqes WQEs from wqe_pi on, and post the
 * WQEs that are complete.
 * @return the number of mbufs left
 */
static __rte_always_inline uint32_t
slots_fill(struct mdv_rxq *rxq, uint32_t nb_wqes, struct rte_mbuf *const *fresh, uint32_t nb,
	const bool known)
{
	const uint32_t nb_segs = 1u << rxq->ring.log2_segs, mask = rxq->ring.mask;
	const uint32_t end = rxq->pos.wqe_pi + nb_wqes;
	uint32_t pi, seg;

	for (pi = rxq->pos.wqe_pi; pi != end; pi++) {
		const uint32_t at = (pi & mask) << rxq->ring.log2_segs;
		struct rte_mbuf *const *mbufs = &rxq->ring.mbufs[at];

		for (seg = 0; seg < nb_segs && mbufs[seg] == NULL; seg++)
			;
		/* Fill the last hole first: if the mbufs run out, the first segments are the
		 * missing ones. */
		for (; seg != 0 && nb != 0; nb--)
			segment_fill(rxq, at, --seg, fresh[nb - 1], known);
		if (unlikely(seg != 0))
			break;
	}
	rxq->pos.wqe_pi = pi;
	return nb;
}

/**
 * The same for WQEs that lack their first mbuf and no other, as packets of one mbuf leave them, up
 * to the ring's end; of a pool whose buffers are known.
 */
static __rte_always_inline uint32_t
slots_fill_firsts(struct mdv_rxq *rxq, uint32_t nb_wqes, struct rte_mbuf *const *fresh, uint32_t nb)
{
	const uint32_t idx = rxq->pos.wqe_pi & rxq->ring.mask;
	const uint32_t to_end = RTE_MIN(nb_wqes, rxq->ring.mask + 1 - idx);
	const uint32_t most = RTE_MIN(to_end, nb);
	const size_t nb_segs = (size_t)1 << rxq->ring.log2_segs, offset = rxq->buf_offset;
	struct rte_mbuf **slot = &rxq->ring.mbufs[idx * nb_segs];
	struct mlx5_wqe_data_seg *wqe = &rxq->ring.wqes[idx * nb_segs];
	struct rte_mbuf *const *from = fresh + nb, *const *const end = from - most;

	if (nb_segs == 1)
		return nb;
	for (; from != end && slot[0] == NULL && slot[1] != NULL; slot += nb_segs, wqe += nb_segs) {
		struct rte_mbuf *mbuf = *--from;

		slot[0] = mbuf;
		wqe->addr = rte_cpu_to_be_64((uintptr_t)mbuf + offset);
	}
	rxq->pos.wqe_pi += fresh + nb - from;
	return from - fresh;
}

void
mdv_rx_refill_scattered(struct mdv_rxq *rxq)
{
	const bool known = rxq->buf_offset != 0 && rxq->lkey_be != MDV_MR_LKEY_NONE;
	const uint32_t end = rxq->pos.wqe_ci + rxq->ring.mask + 1;
	struct rte_mbuf *fresh[MDV_RX_REFILL_MIN];
	uint32_t left;

	if (end - rxq->pos.wqe_pi < rxq->ring.refill_min)
		return;
	do {
		const uint32_t want = RTE_MIN(rxq->nb_empty, RTE_DIM(fresh));
		uint32_t nb = want, rest;

		if (unlikely(mdv_pool_get(rxq->pool, fresh, nb) != 0))
			nb = mdv_rx_refill_short(rxq, fresh, nb);
		rest = known ? slots_fill_firsts(rxq, end - rxq->pos.wqe_pi, fresh, nb) : nb;
		if (likely(known))
			left = slots_fill(rxq, end - rxq->pos.wqe_pi, fresh, rest, true);
		else
			left = slots_fill(rxq, end - rxq->pos.wqe_pi, fresh, rest, false);
		rxq->nb_empty -= nb - left;
		if (unlikely(nb != want))
			break;
	} while (rxq->nb_empty != 0 && left == 0);
	if (unlikely(left != 0))
		rte_mempool_put_bulk(rxq->pool, (void **)fresh, left);
	mdv_rx_doorbell(rxq);
}

/** Of a striding queue. */
static int
strides_fill(struct mdv_rxq *rxq)
{
	const uint32_t nb_mbufs = rxq->ring.mask + 1;
	int ret = mdv_rx_strides_fill(rxq);

	memset(rxq->ring.mbufs, 0, nb_mbufs * sizeof(rxq->ring.mbufs[0]));
	rxq->pos.wqe_ci = 0;
	rxq->pos.wqe_pi = 0;
	if (ret != 0) {
		/* The ring looks full, and has no mbufs. A new one has new buffers. */
		rxq->pos.wqe_pi = nb_mbufs;
		mdv_rxq_ring_break(rxq);
		return ret;
	}
	mdv_rx_refill_strides(rxq);
	/* As below. */
	for (uint32_t i = rxq->pos.wqe_pi; i < nb_mbufs; i++)
		rxq->ring.mbufs[i] = NULL;
	return rxq->pos.wqe_pi == nb_mbufs ? 0 : -ENOMEM;
}

int
mdv_rx_fill(struct mdv_rxq *rxq)
{
	const uint32_t nb_segs = 1u << rxq->ring.log2_segs;
	const uint32_t nb_mbufs = (rxq->ring.mask + 1) << rxq->ring.log2_segs;
	uint32_t i;

	if (rxq->strides.log2_strides != 0)
		return strides_fill(rxq);
	for (i = 0; i < nb_mbufs; i++) {
		uint32_t room = rxq->room - (i % nb_segs == 0 ? rxq->headroom : 0);

		rxq->ring.mbufs[i] = NULL;
		rxq->ring.wqes[i] = (struct mlx5_wqe_data_seg){
			.byte_count = rte_cpu_to_be_32(room),
			.lkey = rxq->lkey_be,
		};
	}
	rxq->pos.wqe_ci = 0;
	rxq->pos.wqe_pi = 0;
	rxq->nb_empty = nb_mbufs;
	rxq->objs.ibv.posted = 0;
	if (rxq->ring.log2_segs != 0)
		mdv_rx_refill_scattered(rxq);
	else
		mdv_rx_refill(rxq, mdv_rx_post);
	/* A pool that fails may have written pointers there to mbufs that it keeps. */
	for (i = rxq->ring.log2_segs == 0 ? rxq->pos.wqe_pi : nb_mbufs; i < nb_mbufs; i++)
		rxq->ring.mbufs[i] = NULL;
	/* Only a refill of several segments a WQE keeps this count, but the port's burst may use
	 * it with one segment as well. */
	if (rxq->ring.log2_segs == 0)
		rxq->nb_empty = nb_mbufs - rxq->pos.wqe_pi;
	return rxq->pos.wqe_pi == rxq->ring.mask + 1 ? 0 : -ENOMEM;
}

/** Give back what has not been received. An expanded block has overwritten the flags of its mbufs,
 * of which those of pinned buffers never lose theirs: mdv_rx_tell_pinned(). */
static void
give_back(struct rte_mbuf *mbuf)
{
	if ((rte_pktmbuf_priv_flags(mbuf->pool) & RTE_PKTMBUF_POOL_F_PINNED_EXT_BUF) != 0)
		mbuf->ol_flags |= RTE_MBUF_F_EXTERNAL;
	rte_mbuf_raw_free(mbuf);
}

void
mdv_rx_drain(struct mdv_rxq *rxq)
{
	uint32_t i;

	rxq->nb_ready = 0;
	rxq->ready_bytes = 0;
	if (rxq->strides.pool != NULL)
		mdv_rx_strides_return(rxq);
	if (rxq->ring.log2_segs == 0 && rxq->split == NULL) {
		for (; rxq->pos.wqe_ci != rxq->pos.wqe_pi; rxq->pos.wqe_ci++) {
			struct rte_mbuf *mbuf = rxq->ring.mbufs[rxq->pos.wqe_ci & rxq->ring.mask];

			/* None: see strides_fill(). */
			if (mbuf != NULL)
				give_back(mbuf);
		}
		return;
	}
	for (i = 0; i < (rxq->ring.mask + 1) << rxq->ring.log2_segs; i++) {
		if (rxq->ring.mbufs[i] != NULL)
			give_back(rxq->ring.mbufs[i]);
		rxq->ring.mbufs[i] = NULL;
	}
	rxq->pos.wqe_ci = rxq->pos.wqe_pi;
}
