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

#include <errno.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_memcpy.h>
#include <rte_mempool.h>

/**
 * Take mbufs where they lie, so that who uses them need not copy them first.
 *
 * @param mbufs room for as many, which is written where the cache has too few
 * @return the mbufs: @p mbufs, or in the cache until anything else uses the pool; NULL when the
 * pool has fewer: none is taken then.
 */
static __rte_always_inline struct rte_mbuf *const *
mdv_pool_take(struct rte_mempool *pool, struct rte_mbuf **mbufs, uint32_t nb)
{
	struct rte_mempool_cache *cache = rte_mempool_default_cache(pool, rte_lcore_id());

#ifndef RTE_LIBRTE_MEMPOOL_DEBUG
	if (likely(cache != NULL && cache->len >= nb)) {
		cache->len -= nb;
		return (struct rte_mbuf *const *)&cache->objs[cache->len];
	}
#endif
	return rte_mempool_generic_get(pool, (void **)mbufs, nb, cache) == 0 ? mbufs : NULL;
}

/** @return 0, or negative when the pool has fewer: none is taken then. */
static __rte_always_inline int
mdv_pool_get(struct rte_mempool *pool, struct rte_mbuf **mbufs, uint32_t nb)
{
	struct rte_mbuf *const *from = mdv_pool_take(pool, mbufs, nb);

	if (unlikely(from == NULL))
		return -ENOBUFS;
	if (likely(from != mbufs))
		rte_memcpy(mbufs, from, nb * sizeof(mbufs[0]));
	return 0;
}

#endif /* MDV_POOL_H */
