/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The lkey of an address, as a queue remembers it.
 *
 *     burst ── last hit ── direct-mapped cache of the queue ── table of the port (mr.h)
 *
 * Device memory (dm.h) is in the table too. The program sees it at addresses of the mapping, but
 * the device counts from the memory's start, so its segments need an offset in place of an address.
 * Only the miss path computes the offset, so device memory is never the cache's last hit, and
 * bursts use addresses of the last hit unchanged.
 *
 * Threads: all functions are for the queue's own thread. Caches are shared with secondary
 * processes; that of a queue that a secondary process polls asks the primary (mp.h).
 */
#ifndef MDV_MR_CACHE_H
#define MDV_MR_CACHE_H

#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_mbuf.h>

#include "base/mr_range.h"
#include "mr.h"

/** Slots of a queue's cache; an address picks its slot by its 2-MB page. */
#define MDV_MR_CACHE_SLOTS 16
#define MDV_MR_CACHE_SHIFT 21

/** An address in the form of a data segment. */
struct mdv_mr_place {
	uint64_t addr;
	uint32_t lkey_be; /**< MDV_MR_LKEY_NONE: the device cannot access it */
};

/** The region that an address was last found in. */
struct mdv_mr_hit {
	uintptr_t start;
	uintptr_t size; /**< bytes; 0: none */
	uint32_t lkey_be;
	uint32_t
		generation; /**< of the table when the cache was last emptied: a burst reads both */
};

/** A queue's own cache; zeroed by mdv_mr_cache_init(). */
struct mdv_mr_cache {
	struct mdv_mr_hit last;
	const uint32_t *table_generation; /**< incremented when a region leaves the table */
	struct mdv_mr_table *table;
	struct mdv_mr_range slots[MDV_MR_CACHE_SLOTS];
};

void mdv_mr_cache_init(struct mdv_mr_cache *cache, struct mdv_mr_table *table);
/** Forget regions that have left the table; called once a burst. */
void mdv_mr_cache_flush(struct mdv_mr_cache *cache);
/** Find the device's place of @p addr, which is in @p mbuf's buffer and outside of the last hit. */
struct mdv_mr_place mdv_mr_cache_miss(
	struct mdv_mr_cache *cache, uintptr_t addr, const struct rte_mbuf *mbuf);

static __rte_always_inline void
mdv_mr_cache_check(struct mdv_mr_cache *cache)
{
	if (unlikely(cache->last.generation !=
		    __atomic_load_n(cache->table_generation, __ATOMIC_RELAXED)))
		mdv_mr_cache_flush(cache);
}

/**
 * @return the lkey (big-endian) of @p addr, which is in @p mbuf's buffer, or MDV_MR_LKEY_NONE. The
 * buffer belongs to a pool, so it is not device memory: no pool can be registered there.
 */
static __rte_always_inline uint32_t
mdv_mr_lkey(struct mdv_mr_cache *cache, uintptr_t addr, const struct rte_mbuf *mbuf)
{
	if (likely(addr - cache->last.start < cache->last.size))
		return cache->last.lkey_be;
	return mdv_mr_cache_miss(cache, addr, mbuf).lkey_be;
}

#endif /* MDV_MR_CACHE_H */
