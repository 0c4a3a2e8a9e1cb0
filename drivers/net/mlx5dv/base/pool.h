/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Mbufs between a queue's ring and the lcore's cache of a mempool, many at once.
 *
 * rte_mempool_generic_get() moves objects one by one, last one first. A ring needs no order, so the
 * cache's objects are copied as they lie; the mempool library does the rest. The cache is a public
 * structure (rte_mempool.h), and DPDK's own vector drivers use it in this way.
 */
#ifndef MDV_POOL_H
#define MDV_POOL_H

#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_memcpy.h>
#include <rte_mempool.h>

/** @return 0, or negative when the pool has fewer: none is taken then. */
static __rte_always_inline int
mdv_pool_get(struct rte_mempool *pool, struct rte_mbuf **mbufs, uint32_t nb)
{
	struct rte_mempool_cache *cache = rte_mempool_default_cache(pool, rte_lcore_id());

#ifndef RTE_LIBRTE_MEMPOOL_DEBUG
	if (likely(cache != NULL && cache->len >= nb)) {
		cache->len -= nb;
		rte_memcpy(mbufs, &cache->objs[cache->len], nb * sizeof(mbufs[0]));
		return 0;
	}
#endif
	return rte_mempool_generic_get(pool, (void **)mbufs, nb, cache);
}

#endif /* MDV_POOL_H */
