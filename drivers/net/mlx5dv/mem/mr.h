/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Memory regions: the table of a port.
 *
 *     cache of a queue (mr_cache.h) ── table of the port (locked)
 *                                        │ unknown: register
 *                                        v
 *          the mbuf's mempool, or the run of EAL memory at the address
 *
 * A mempool is registered with all its chunks, contiguous ones as one range; a started Rx queue
 * holds a reference to the pool. Queues' caches that have looked up the pool hold one reference
 * until the pool or all queues are destroyed. EAL memory that is freed leaves the table, and the
 * generation makes the caches forget it.
 *
 * The generation is shared with secondary processes; the rest belongs to the primary process.
 *
 * Threads: all functions take the table's lock.
 */
#ifndef MDV_MR_H
#define MDV_MR_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>
#include <rte_memory.h>

#include "base/mr_range.h"

struct ibv_dm;
struct mdv_device;
struct mdv_mr_table;

/** No lkey (big-endian or not): the memory is unknown. The device's keys are 24 bits and a variant
 * byte. */
#define MDV_MR_LKEY_NONE UINT32_MAX

/** @return the table or NULL, logged. */
struct mdv_mr_table *mdv_mr_create(const struct mdv_device *device, uint16_t port_id);
/** Deregister everything; @p table may be NULL. No queue may use it any more. */
void mdv_mr_destroy(struct mdv_mr_table *table);

/** Register all memory of @p pool, or take one more reference to it. @return 0 or a negative errno,
 * logged. */
int mdv_mr_pool_get(struct mdv_mr_table *table, struct rte_mempool *pool);
void mdv_mr_pool_put(struct mdv_mr_table *table, struct rte_mempool *pool);
/** Register all pools of packets, and until mdv_mr_caches_gone() those that are made, in other
 * processes by mdv_mr_watch_made_elsewhere(), so that no burst has to. What cannot be registered is
 * logged, and tried again when a queue meets the pool. */
void mdv_mr_pools_register(struct mdv_mr_table *table);
/** @return the only lkey (big-endian) of a registered pool, MDV_MR_LKEY_NONE when it has several
 * ranges. */
uint32_t mdv_mr_pool_lkey(struct mdv_mr_table *table, const struct rte_mempool *pool);

/** Register device memory that the program has mapped at @p start. @return 0 or a negative errno,
 * logged. */
int mdv_mr_dm_add(struct mdv_mr_table *table, struct ibv_dm *dm, const void *start, size_t size);
/** The caller guarantees that the device has finished all packets in this memory. */
void mdv_mr_dm_del(struct mdv_mr_table *table, const void *start);

/** @return the table's generation, which grows when a region leaves the table. */
const uint32_t *mdv_mr_generation(const struct mdv_mr_table *table);
/**
 * Find the region of @p addr, which is in @p mbuf's buffer; register it if it is unknown. A
 * secondary process asks the primary.
 * @return whether there is one
 */
bool mdv_mr_find(struct mdv_mr_table *table, uintptr_t addr, const struct rte_mbuf *mbuf,
	struct mdv_mr_range *range);
/** Remove a pool that this or another process destroys. */
void mdv_mr_pool_gone(struct mdv_mr_table *table, const struct rte_mempool *pool);
/** An rte_mem_event_callback_t, of the table @p arg: look no more into memory that is freed, or
 * that the application takes back. */
void mdv_mr_memory_event(enum rte_mem_event event, const void *addr, size_t len, void *arg);
/** Called for one region; @p pool is the name of its mempool, NULL: EAL memory. */
typedef void (*mdv_mr_each_t)(const struct mdv_mr_range *range, const char *pool, void *arg);
/** Call @p each for every region, those of a pool by address; under the table's lock. */
void mdv_mr_each(struct mdv_mr_table *table, mdv_mr_each_t each, void *arg);
/** All caches are gone, and no packet is in flight: release the pools that were held for caches,
 * and the memory that packets may have been of. */
void mdv_mr_caches_gone(struct mdv_mr_table *table);

#endif /* MDV_MR_H */
