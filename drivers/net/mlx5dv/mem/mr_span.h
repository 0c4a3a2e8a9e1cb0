/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Where the packet data of a mempool lies: runs of addresses, sorted, joined where they
 * touch. */
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

/** @return whether the buffers of the pool's mbufs are external memory that stays theirs. */
bool mdv_mr_span_is_pinned(struct rte_mempool *pool);
/** @return 0 and @p nb of @p spans, which the caller frees; -ENOMEM, -EINVAL: the pool has no
 * memory. */
int mdv_mr_span_of_pool(struct rte_mempool *pool, struct mdv_mr_span **spans, size_t *nb);

#endif /* MDV_MR_SPAN_H */
