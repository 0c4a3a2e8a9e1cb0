/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Puts mbufs into the WQEs of a receive queue, and takes them out. For the polling thread, or while
 * no thread polls the queue.
 */
#ifndef MDV_RX_REFILL_H
#define MDV_RX_REFILL_H

#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_byteorder.h>
#include <rte_mbuf.h>

#include "base/pool.h"
#include "rx_strides.h"
#include "rxq.h"

/** The refill for WQEs of several segments: replaces the mbufs missing in each. */
void mdv_rx_refill_scattered(struct mdv_rxq *rxq);
/** Count that the pool cannot give @p nb mbufs, and take fewer. @return the number of @p mbufs
 * filled. */
uint32_t mdv_rx_refill_short(struct mdv_rxq *rxq, struct rte_mbuf **mbufs, uint32_t nb);
/** The same for another pool than the queue's. */
uint32_t mdv_rx_refill_short_of(
	struct mdv_rxq *rxq, struct rte_mempool *pool, struct rte_mbuf **mbufs, uint32_t nb);
/** @return bytes from any mbuf of @p pool to the data at @p data_off in its buffer; 0: they differ,
 * and buf_addr is to be read. */
uint32_t mdv_rx_refill_offset(struct rte_mempool *pool, uint16_t data_off);
/**
 * Write all WQEs of an empty ring (no mbufs) and fill it, unless the queue splits packets
 * (mdv_rx_split_fill()). Counters restart at 0.
 * @return 0, or -ENOMEM if the pool ran out: the ring keeps the mbufs so far.
 */
int mdv_rx_fill(struct mdv_rxq *rxq);
/** Free every mbuf of the ring, which the device no longer has. */
void mdv_rx_drain(struct mdv_rxq *rxq);

/** @return the device's address of the first segment's data. */
static __rte_always_inline uintptr_t
mdv_rx_mbuf_addr(const struct mdv_rxq *rxq, const struct rte_mbuf *mbuf)
{
	/* A known offset saves a cold line of the mbuf; without one the buffer may be anywhere. */
	if (likely(rxq->buf_offset != 0))
		return (uintptr_t)mbuf + rxq->buf_offset;
	return (uintptr_t)mbuf->buf_addr + rxq->headroom;
}

/**
 * Tell the device how far CQEs are read and WQEs are posted. The CQ has a slot for each WQE, so its
 * slots are not missed before there are new WQEs: one doorbell record written less by most bursts.
 */
static __rte_always_inline void
mdv_rx_doorbell(struct mdv_rxq *rxq)
{
	/* Orders the stores to slots and WQEs before those of the counters that hand them over,
	 * and the room in the CQ before the WQEs whose completions may fill it. */
	rte_io_wmb();
	mdv_cq_update_ci(rxq->ring.cq_dbrec, rxq->pos.cq_ci);
	rte_io_wmb();
	*rxq->ring.wq_dbrec = rte_cpu_to_be_32(rxq->pos.wqe_pi & UINT16_MAX);
}

/** Put @p nb mbufs, which may be there already, into consecutive slots from @p idx on. */
static __rte_always_inline void
mdv_rx_put(struct mdv_rxq *rxq, uint32_t idx, struct rte_mbuf *const *from, uint32_t nb)
{
	if (from != &rxq->ring.mbufs[idx])
		rte_memcpy(&rxq->ring.mbufs[idx], from, nb * sizeof(from[0]));
}

/** Put @p nb mbufs, which may be there already, into consecutive slots, and point their WQEs at
 * them. */
static inline void
mdv_rx_post(struct mdv_rxq *rxq, uint32_t idx, struct rte_mbuf *const *from, uint32_t nb)
{
	uint32_t i;

	mdv_rx_put(rxq, idx, from, nb);
	if (likely(rxq->lkey_be != MDV_MR_LKEY_NONE)) {
		for (i = idx; i < idx + nb; i++)
			rxq->ring.wqes[i].addr =
				rte_cpu_to_be_64(mdv_rx_mbuf_addr(rxq, rxq->ring.mbufs[i]));
		return;
	}
	for (i = idx; i < idx + nb; i++) {
		uintptr_t addr = mdv_rx_mbuf_addr(rxq, rxq->ring.mbufs[i]);

		rxq->ring.wqes[i].lkey = mdv_mr_lkey(&rxq->mr, addr, rxq->ring.mbufs[i]);
		rxq->ring.wqes[i].addr = rte_cpu_to_be_64(addr);
	}
}

/** mdv_rx_post() or a faster function. Inline, not always inline: without optimization GCC does not
 * know the callee of a pointer, and refuses. */
typedef void (*mdv_rx_post_t)(
	struct mdv_rxq *rxq, uint32_t idx, struct rte_mbuf *const *from, uint32_t nb);

/** Put mbufs into the holes that received packets left, and @p post, a constant, them. */
static __rte_always_inline void
mdv_rx_refill_holes(struct mdv_rxq *rxq, const mdv_rx_post_t post)
{
	const uint32_t nb_wqes = rxq->ring.mask + 1;
	uint32_t missing = nb_wqes - (rxq->pos.wqe_pi - rxq->pos.wqe_ci);

	while (missing != 0) {
		uint32_t idx = rxq->pos.wqe_pi & rxq->ring.mask;
		uint32_t nb = RTE_MIN(missing, nb_wqes - idx);
		struct rte_mbuf **mbufs = &rxq->ring.mbufs[idx];
		struct rte_mbuf *const *from = mdv_pool_take(rxq->pool, mbufs, nb);
		uint32_t got = nb;

		if (unlikely(from == NULL)) {
			got = mdv_rx_refill_short(rxq, mbufs, nb);
			from = mbufs;
		}
		post(rxq, idx, from, got);
		rxq->pos.wqe_pi += got;
		missing -= got;
		if (unlikely(got < nb))
			break;
	}
}

/** Refill WQEs of one segment. @param post a constant */
static __rte_always_inline void
mdv_rx_refill(struct mdv_rxq *rxq, const mdv_rx_post_t post)
{
	mdv_rx_refill_holes(rxq, post);
	mdv_rx_doorbell(rxq);
}

/** The strides of a WQE are where its buffer is. */
static inline void
mdv_rx_post_strides(struct mdv_rxq *rxq, uint32_t idx, struct rte_mbuf *const *from, uint32_t nb)
{
	mdv_rx_put(rxq, idx, from, nb);
}

/** Refill the slots of strides: WQEs are posted whose strides all have an mbuf. */
static __rte_always_inline void
mdv_rx_refill_strides(struct mdv_rxq *rxq)
{
	mdv_rx_refill_holes(rxq, mdv_rx_post_strides);
	mdv_rx_strides_doorbell(rxq);
}

#endif /* MDV_RX_REFILL_H */
