/* SPDX-License-Identifier: BSD-3-Clause */
/* A list of unused objects a size, cut from chunks that are never given back. */

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_prefetch.h>

#include "slab.h"

/** Chunks of a slab with few objects, and of one that has SLAB_HUGE_BYTES of them. */
#define SLAB_CHUNK_BYTES (64u * 1024)
#define SLAB_HUGE_BYTES  (2048u * 1024)

struct mdv_slab_object {
	struct mdv_slab_object *next;
};

/** Objects begin a line after it. */
struct mdv_slab_chunk {
	struct mdv_slab_chunk *next;
};

static size_t
slab_size(size_t bytes)
{
	return RTE_ALIGN_CEIL(RTE_MAX(bytes, (size_t)1), MDV_SLAB_LINE);
}

/** AddressSanitizer sees the end of an object only if malloc() knows of it. */
static bool
slab_keeps(size_t size)
{
#ifdef __SANITIZE_ADDRESS__
	(void)size;
	return false;
#else
	return size <= MDV_SLAB_OBJECT_MAX;
#endif
}

void
mdv_slab_init(struct mdv_slab *slab)
{
	memset(slab, 0, sizeof(*slab));
	rte_spinlock_init(&slab->lock);
}

void
mdv_slab_fini(struct mdv_slab *slab)
{
	struct mdv_slab_chunk *chunk;

	while ((chunk = slab->chunks) != NULL) {
		slab->chunks = chunk->next;
		free(chunk);
	}
	memset(slab->unused, 0, sizeof(slab->unused));
}

/**
 * Have the kernel map the pages inside a chunk with one call: faulted in one after the other they
 * were two of five page faults that rules take. Linux before 5.14 refuses, and they are faulted in.
 * A large chunk may be one page; a kernel without such pages refuses the first call.
 */
static void
slab_populate(struct mdv_slab_chunk *chunk, size_t bytes)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	void *start = RTE_PTR_ALIGN_CEIL((void *)chunk, page);
	void *end = RTE_PTR_ALIGN_FLOOR(RTE_PTR_ADD(chunk, bytes), page);

	if (bytes == SLAB_HUGE_BYTES)
		(void)madvise(start, bytes, MADV_HUGEPAGE);
	if (start < end)
		(void)madvise(start, RTE_PTR_DIFF(end, start), MADV_POPULATE_WRITE);
}

/** The objects of a new chunk, in ascending order. @return the first; NULL: no memory */
static struct mdv_slab_object *
slab_cut(struct mdv_slab *slab, size_t size)
{
	const bool many = slab->bytes >= SLAB_HUGE_BYTES;
	size_t nb, bytes = many ? SLAB_HUGE_BYTES : SLAB_CHUNK_BYTES;
	struct mdv_slab_chunk *chunk = aligned_alloc(many ? bytes : MDV_SLAB_LINE, bytes);
	struct mdv_slab_object *first = NULL;

	/* A rule fits where 2 MiB in a row do not. */
	if (chunk == NULL && many) {
		bytes = SLAB_CHUNK_BYTES;
		chunk = aligned_alloc(MDV_SLAB_LINE, bytes);
	}
	if (chunk == NULL)
		return NULL;
	nb = (bytes - MDV_SLAB_LINE) / size;
	slab_populate(chunk, bytes);
	slab->bytes += bytes;
	chunk->next = slab->chunks;
	slab->chunks = chunk;
	while (nb-- != 0) {
		struct mdv_slab_object *object = RTE_PTR_ADD(chunk, MDV_SLAB_LINE + nb * size);

		object->next = first;
		first = object;
	}
	return first;
}

/** With many objects none is in the cache: prefetch the next one's lines, which the CPU cannot
 * predict. */
static void
slab_prefetch(const struct mdv_slab_object *object, size_t size)
{
	for (size_t line = 0; object != NULL && line < size; line += MDV_SLAB_LINE)
		rte_prefetch0_write(RTE_PTR_ADD(object, line));
}

void *
mdv_slab_get(struct mdv_slab *slab, size_t bytes)
{
	const size_t size = slab_size(bytes);
	struct mdv_slab_object **unused, *object;

	if (!slab_keeps(size))
		return aligned_alloc(MDV_SLAB_LINE, size);
	unused = &slab->unused[size / MDV_SLAB_LINE];
	rte_spinlock_lock(&slab->lock);
	object = *unused != NULL ? *unused : slab_cut(slab, size);
	if (object != NULL) {
		*unused = object->next;
		slab_prefetch(object->next, size);
	}
	rte_spinlock_unlock(&slab->lock);
	return object;
}

void
mdv_slab_put(struct mdv_slab *slab, void *object, size_t bytes)
{
	const size_t size = slab_size(bytes);
	struct mdv_slab_object *unused = object;

	if (!slab_keeps(size)) {
		free(object);
		return;
	}
	rte_spinlock_lock(&slab->lock);
	unused->next = slab->unused[size / MDV_SLAB_LINE];
	slab->unused[size / MDV_SLAB_LINE] = unused;
	rte_spinlock_unlock(&slab->lock);
}
