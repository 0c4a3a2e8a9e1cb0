/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Memory regions: which lkey the device wants for an address.
 *
 *     burst ── last hit ── direct-mapped cache of the queue ── table of the port (locked)
 *                                                                │ unknown: register
 *                                                                v
 *                                  the mbuf's mempool, or the run of EAL memory at the address
 *
 * The table belongs to the port, a cache to one queue and thus to one thread. A mempool is
 * registered by all its chunks, contiguous ones as one range; a started Rx queue holds a reference
 * to the pool. A queue's cache that has looked up the pool holds one until the pool or all queues
 * are destroyed. EAL memory that is freed is taken out; the generation then tells the caches to
 * forget.
 *
 * Device memory (dm.h) is there too. It has addresses of the program's, but the device counts from
 * its start: a segment then needs an offset instead of an address, and only the miss path computes
 * it. So device memory never becomes the cache's last hit, and bursts use addresses of the last hit
 * unchanged.
 *
 * Caches and generation are shared with secondary processes, the rest is the primary's: a cache of
 * a queue that a secondary polls asks there (mp.h).
 *
 * Threads: everything but mdv_mr_lkey() takes the table's lock; mdv_mr_lkey() is the queue's own.
 */
#ifndef MDV_MR_H
#define MDV_MR_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_mbuf.h>

#include "base/mr_range.h"

struct ibv_dm;
struct mdv_device;
struct mdv_mr_table;

/** No lkey (big-endian or not): the memory is unknown. The device's keys are 24 bits and a variant
 * byte. */
#define MDV_MR_LKEY_NONE UINT32_MAX

/** Slots of a queue's cache; an address picks its slot by its 2-MB page. */
#define MDV_MR_CACHE_SLOTS 16
#define MDV_MR_CACHE_SHIFT 21

/** An address as a data segment takes it. */
struct mdv_mr_place {
	uint64_t addr;
	uint32_t lkey_be; /**< MDV_MR_LKEY_NONE: the device cannot get there */
};

/** A queue's own view; zeroed by mdv_mr_cache_init(). */
struct mdv_mr_cache {
	struct mdv_mr_range last;
	uint32_t generation;              /**< of the table when this cache was last emptied */
	const uint32_t *table_generation; /**< goes up when something leaves the table */
	struct mdv_mr_table *table;
	struct mdv_mr_range slots[MDV_MR_CACHE_SLOTS];
};

/** @return the table or NULL, logged. */
struct mdv_mr_table *mdv_mr_create(const struct mdv_device *device, uint16_t port_id);
/** Deregisters everything; NULL is taken. No queue may use it any more. */
void mdv_mr_destroy(struct mdv_mr_table *table);

/** Register all memory of @p pool, or take one more reference to it. @return 0 or a negative errno,
 * logged. */
int mdv_mr_pool_get(struct mdv_mr_table *table, struct rte_mempool *pool);
void mdv_mr_pool_put(struct mdv_mr_table *table, struct rte_mempool *pool);
/** @return the only lkey (big-endian) of a registered pool, MDV_MR_LKEY_NONE when it has several
 * ranges. */
uint32_t mdv_mr_pool_lkey(struct mdv_mr_table *table, const struct rte_mempool *pool);

/** Make device memory known that the program has at @p start. @return 0 or a negative errno,
 * logged. */
int mdv_mr_dm_add(struct mdv_mr_table *table, struct ibv_dm *dm, const void *start, size_t size);
/** The caller guarantees that the device has finished all packets in this memory. */
void mdv_mr_dm_del(struct mdv_mr_table *table, const void *start);

/**
 * The region of @p addr, which is in @p mbuf's buffer; registered if it is not known yet.
 * @return whether there is one
 */
bool mdv_mr_find(struct mdv_mr_table *table, uintptr_t addr, const struct rte_mbuf *mbuf,
	struct mdv_mr_range *range);
/** Another process has destroyed the pool. */
void mdv_mr_pool_gone(struct mdv_mr_table *table, const struct rte_mempool *pool);
/** Of a region; @p pool is the name of its mempool, NULL: EAL memory. */
typedef void (*mdv_mr_each_t)(const struct mdv_mr_range *range, const char *pool, void *arg);
/** Show every region, those of a pool by address; under the table's lock. */
void mdv_mr_each(struct mdv_mr_table *table, mdv_mr_each_t each, void *arg);
/** No cache has anything any more: pools that were held for caches are let go. */
void mdv_mr_caches_gone(struct mdv_mr_table *table);

void mdv_mr_cache_init(struct mdv_mr_cache *cache, struct mdv_mr_table *table);
/** Forget what was taken out of the table; once a burst. */
void mdv_mr_cache_flush(struct mdv_mr_cache *cache);
/** Where @p addr is for the device, which is in @p mbuf's buffer, when the last hit is not one. */
struct mdv_mr_place mdv_mr_cache_miss(
	struct mdv_mr_cache *cache, uintptr_t addr, const struct rte_mbuf *mbuf);

static __rte_always_inline void
mdv_mr_cache_check(struct mdv_mr_cache *cache)
{
	if (unlikely(cache->generation !=
		    __atomic_load_n(cache->table_generation, __ATOMIC_RELAXED)))
		mdv_mr_cache_flush(cache);
}

/**
 * @return the lkey (big-endian) of @p addr, which is in @p mbuf's buffer, or MDV_MR_LKEY_NONE. The
 * buffer is a pool's, so no device memory, which no pool can be registered in.
 */
static __rte_always_inline uint32_t
mdv_mr_lkey(struct mdv_mr_cache *cache, uintptr_t addr, const struct rte_mbuf *mbuf)
{
	if (likely(addr - cache->last.start < cache->last.size))
		return cache->last.lkey_be;
	return mdv_mr_cache_miss(cache, addr, mbuf).lkey_be;
}

#endif /* MDV_MR_H */
