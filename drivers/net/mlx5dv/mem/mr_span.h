/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Runs of addresses with the packet data of a mempool: sorted, joined where they touch. */
#ifndef MDV_MR_SPAN_H
#define MDV_MR_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_mempool.h>

struct mdv_mr_span {
	uintptr_t start;
	uintptr_t size;
};

/** @return whether the pool's mbufs permanently have buffers in external memory. */
bool mdv_mr_span_is_pinned(struct rte_mempool *pool);
/** @return whether packets are in the pool's own memory, all of which is there for devices: a pool
 * of mbufs with data rooms. */
bool mdv_mr_span_has_packets(struct rte_mempool *pool);
/** @return whether all of the pool's memory is the EAL's own, and so the same in each process of
 * the application. */
bool mdv_mr_span_is_shared(struct rte_mempool *pool);
/** @return whether @p addr is in external memory that another process has registered with the EAL,
 * and this one has not attached: nothing of it can be read here, or given to the device. */
bool mdv_mr_span_is_elsewhere(const void *addr);
/** @return a number that is another one if the pool gets more chunks, or another pool takes its
 * place. */
uint64_t mdv_mr_span_hash(struct rte_mempool *pool);
/** @return 0 and @p nb of @p spans, which the caller frees; -ENOMEM, -EINVAL: the pool has no
 * memory. */
int mdv_mr_span_of_pool(struct rte_mempool *pool, struct mdv_mr_span **spans, size_t *nb);

#endif /* MDV_MR_SPAN_H */
