/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Memory for very many objects of few sizes: the rules of a port.
 *
 * malloc() joins what is freed in a row, gives it back to the kernel and faults it in again, which
 * costs more than the rest of a rule's translation. Here memory stays with the port until it is
 * closed, as in a mempool, and is reused for objects of the same size only. Thread-safe.
 */
#ifndef MDV_SLAB_H
#define MDV_SLAB_H

#include <stddef.h>

#include <rte_spinlock.h>

/** Bytes of the largest objects that are kept; larger ones come and go by malloc(). */
#define MDV_SLAB_OBJECT_MAX 2048u
/** Objects begin at cache lines and sizes are counted in them. */
#define MDV_SLAB_LINE 64u

struct mdv_slab_object;
struct mdv_slab_chunk;

struct mdv_slab {
	rte_spinlock_t lock;
	struct mdv_slab_object *unused[MDV_SLAB_OBJECT_MAX / MDV_SLAB_LINE + 1]; /**< by size */
	struct mdv_slab_chunk *chunks;
	size_t bytes; /**< of all chunks */
};

void mdv_slab_init(struct mdv_slab *slab);
/** All objects have been put back. */
void mdv_slab_fini(struct mdv_slab *slab);
/** @return @p bytes bytes at a cache line, of any content; NULL: no memory */
void *mdv_slab_get(struct mdv_slab *slab, size_t bytes);
/** @param bytes as given to mdv_slab_get() */
void mdv_slab_put(struct mdv_slab *slab, void *object, size_t bytes);

#endif /* MDV_SLAB_H */
