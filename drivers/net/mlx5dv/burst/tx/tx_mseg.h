/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Packets of several segments, one WQE each.
 *
 * The queue stores each mbuf of a packet, so freeing them does not read mbuf->next, which is in
 * another cache line.
 */
#ifndef MDV_TX_MSEG_H
#define MDV_TX_MSEG_H

#include "queue/tx/tx_wqe.h"
#include "tx.h"

/**
 * Write the data segments of the chain without its first @p skip bytes, into the WQE at @p pc, in
 * at most @p room WQEBBs; store its mbufs from @p head on.
 * @param ds units of the WQE before the data segments; on MDV_TX_SENT all of its units
 * @return MDV_TX_SENT, MDV_TX_NO_ROOM or MDV_TX_BAD
 */
enum mdv_tx_status mdv_tx_mseg_write(struct mdv_txq *txq, struct rte_mbuf *mbuf, uint32_t skip,
	uint16_t pc, uint16_t head, uint32_t *ds, uint32_t room);

/** Distance of the prefetch, in packets. */
#define MDV_TX_MSEG_AHEAD 4

/**
 * Prefetch for the packets behind number @p n of @p nb: both lines of the mbuf, as next and the
 * offload fields are in the second; and for packets whose lines have arrived, the next segment's
 * mbuf or the headers.
 */
static __rte_always_inline void
mdv_tx_mseg_prefetch(struct rte_mbuf *const *pkts, uint32_t n, uint32_t nb, const bool next)
{
	const struct rte_mbuf *soon, *later;

	if ((int32_t)n >= (int32_t)(nb - MDV_TX_MSEG_AHEAD))
		return;
	soon = pkts[n + MDV_TX_MSEG_AHEAD / 2];
	later = pkts[n + MDV_TX_MSEG_AHEAD];
	rte_prefetch0(later);
	rte_prefetch0(RTE_PTR_ADD(later, RTE_CACHE_LINE_MIN_SIZE));
	if (!next) {
		rte_prefetch0(rte_pktmbuf_mtod(soon, const void *));
		return;
	}
	rte_prefetch0(soon->next);
	rte_prefetch0(RTE_PTR_ADD(soon->next, RTE_CACHE_LINE_MIN_SIZE));
}

/** The same for the first packets of @p nb, all at once; for a caller that has read only one of
 * them. */
static __rte_always_inline void
mdv_tx_mseg_prefetch_first(struct rte_mbuf *const *pkts, uint32_t nb)
{
	uint32_t i;

	for (i = 1; i < RTE_MIN(nb, (uint32_t)MDV_TX_MSEG_AHEAD); i++) {
		rte_prefetch0(pkts[i]);
		rte_prefetch0(RTE_PTR_ADD(pkts[i], RTE_CACHE_LINE_MIN_SIZE));
	}
}

/** Contiguous free room, before either ring ends. */
struct mdv_tx_mseg_room {
	uint32_t bbs;
	uint32_t slots; /**< of mbufs */
};

/** @param room number of free WQEBBs */
static __rte_always_inline struct mdv_tx_mseg_room
mdv_tx_mseg_room(const struct mdv_txq *txq, uint16_t pc, uint16_t head, uint32_t room)
{
	const uint32_t nb = txq->ring.mask + 1u, nb_free = nb - (uint16_t)(head - txq->pos.tail);

	return (struct mdv_tx_mseg_room){
		.bbs = RTE_MIN(room, nb - (pc & txq->ring.mask)),
		.slots = RTE_MIN(nb_free, nb - (head & txq->ring.mask)),
	};
}

/**
 * The same as mdv_tx_mseg_write(), within mdv_tx_mseg_room(): data segments from @p data on, mbufs
 * from @p slot on.
 * @return the place behind the last data segment, or @p data if the packet cannot be sent
 */
static __rte_always_inline struct mlx5_wqe_data_seg *
mdv_tx_mseg_write_flat(struct mdv_txq *txq, struct rte_mbuf *mbuf, uint32_t skip,
	struct mlx5_wqe_data_seg *data, struct rte_mbuf **slot)
{
	struct mlx5_wqe_data_seg *const start = data;
	uint64_t key = (uint64_t)txq->mr.last.lkey_be << 32;
	uint32_t left = mbuf->nb_segs;

	for (;;) {
		const uint32_t len = mbuf->data_len;
		const uintptr_t addr = rte_pktmbuf_mtod_offset(mbuf, uintptr_t, skip);

		*slot++ = mbuf;
		if (likely(len > skip)) {
			if (likely(addr - txq->mr.last.start < txq->mr.last.size))
				mdv_tx_wqe_data_keyed(data, addr, len - skip, key);
			else if (mdv_tx_put_far(txq, mbuf, skip, data))
				key = (uint64_t)txq->mr.last.lkey_be << 32;
			else
				return start;
			data++;
			skip = 0;
		} else {
			skip -= len;
		}
		if (--left == 0)
			return data;
		mbuf = mbuf->next;
		/* The packet is freed by nb_segs, so the chain must have as many mbufs. */
		if (unlikely(mbuf == NULL))
			return start;
	}
}

/**
 * Restore segments to single mbufs, as in a pool, by fours.
 * @param mbufs   followed by MDV_TX_RELEASE_AHEAD more mbufs or NULLs
 * @return how many of @p nb can go back into @p pool; the caller frees the rest, whose next may be
 * NULL already
 */
uint32_t mdv_tx_mseg_undo(
	struct rte_mbuf *const *mbufs, uint32_t nb, const struct rte_mempool *pool);

/**
 * Build the WQEs of the chains without TSO at the front of @p nb packets, in at most @p room
 * WQEBBs; the first packet is one.
 * @param opts enum mdv_tx_opt
 * @return MDV_TX_SENT: at least one packet, and @p pos has moved past all that were sent; otherwise
 * MDV_TX_NO_ROOM or MDV_TX_BAD, and nothing was touched
 */
enum mdv_tx_status mdv_tx_mseg_send(struct mdv_txq *txq, struct rte_mbuf **pkts, uint32_t nb,
	uint32_t room, unsigned int opts, struct mdv_tx_pos *pos);

#endif /* MDV_TX_MSEG_H */
