/* SPDX-License-Identifier: BSD-3-Clause */
/* Walks over a mempool's memory. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <rte_common.h>
#include <rte_mbuf.h>
#include <rte_memory.h>

#include "mr_span.h"

/** The result of a walk over a mempool. */
struct span_list {
	struct mdv_mr_span *spans;
	size_t nb, room;
	int error;
};

static void
span_add(struct span_list *list, const void *addr, size_t size)
{
	struct mdv_mr_span *last = list->nb == 0 ? NULL : &list->spans[list->nb - 1];

	if (list->error != 0 || size == 0)
		return;
	if (last != NULL && last->start + last->size == (uintptr_t)addr) {
		last->size += size;
		return;
	}
	if (list->nb == list->room) {
		size_t room = list->room == 0 ? 16 : list->room * 2;
		struct mdv_mr_span *spans = realloc(list->spans, room * sizeof(*spans));

		if (spans == NULL) {
			list->error = -ENOMEM;
			return;
		}
		list->spans = spans;
		list->room = room;
	}
	list->spans[list->nb++] = (struct mdv_mr_span){ .start = (uintptr_t)addr, .size = size };
}

static void
span_add_chunk(__rte_unused struct rte_mempool *pool, void *arg, struct rte_mempool_memhdr *chunk,
	__rte_unused unsigned int idx)
{
	span_add(arg, chunk->addr, chunk->len);
}

static void
span_add_buffer(__rte_unused struct rte_mempool *pool, void *arg, void *object,
	__rte_unused unsigned int idx)
{
	const struct rte_mbuf *mbuf = object;

	span_add(arg, mbuf->buf_addr, mbuf->buf_len);
}

static int
span_compare(const void *a, const void *b)
{
	const struct mdv_mr_span *left = a, *right = b;

	return (left->start > right->start) - (left->start < right->start);
}

/** Sort, and join ranges that touch or overlap; there is at least one. */
static void
span_merge(struct span_list *list)
{
	size_t from, to = 0;

	qsort(list->spans, list->nb, sizeof(list->spans[0]), span_compare);
	for (from = 1; from < list->nb; from++) {
		const struct mdv_mr_span *span = &list->spans[from];
		struct mdv_mr_span *last = &list->spans[to];

		if (span->start <= last->start + last->size)
			last->size = RTE_MAX(last->size, span->start + span->size - last->start);
		else
			list->spans[++to] = *span;
	}
	list->nb = to + 1;
}

bool
mdv_mr_span_is_pinned(struct rte_mempool *pool)
{
	return pool->private_data_size >= sizeof(struct rte_pktmbuf_pool_private) &&
		(rte_pktmbuf_priv_flags(pool) & RTE_PKTMBUF_POOL_F_PINNED_EXT_BUF) != 0;
}

bool
mdv_mr_span_has_packets(struct rte_mempool *pool)
{
	const struct rte_pktmbuf_pool_private *priv = rte_mempool_get_priv(pool);

	/* Nothing marks a pool of mbufs, but rte_pktmbuf_pool_init() wants all of this of one. */
	return pool->private_data_size >= sizeof(*priv) && !mdv_mr_span_is_pinned(pool) &&
		priv->mbuf_data_room_size != 0 &&
		pool->elt_size >=
		sizeof(struct rte_mbuf) + priv->mbuf_priv_size + priv->mbuf_data_room_size &&
		pool->populated_size == pool->size && (pool->flags & RTE_MEMPOOL_F_NON_IO) == 0;
}

/** External memory is in the list of each process, and mapped by those that have attached it. */
static void
chunk_is_shared(__rte_unused struct rte_mempool *pool, void *arg, struct rte_mempool_memhdr *chunk,
	__rte_unused unsigned int idx)
{
	const struct rte_memseg_list *list = rte_mem_virt2memseg_list(chunk->addr);
	bool *all = arg;

	*all &= list != NULL && !list->external;
}

bool
mdv_mr_span_is_shared(struct rte_mempool *pool)
{
	bool all = true;

	rte_mempool_mem_iter(pool, chunk_is_shared, &all);
	return all;
}

bool
mdv_mr_span_is_elsewhere(const void *addr)
{
	const struct rte_memseg_list *list = rte_mem_virt2memseg_list(addr);
	const struct rte_memseg *first;
	unsigned char in_core;

	if (list == NULL || !list->external)
		return false;
	/* The EAL does not tell who has attached it; but rte_extmem_attach() maps the array of its
	 * pages, at one address in all processes (eal_common_fbarray.c rte_fbarray_attach()). */
	first = list->memseg_arr.data;
	return mincore(list->memseg_arr.data, 1, &in_core) != 0 || first->addr != list->base_va;
}

/** Both steps are one to one. */
static void
chunk_hash(__rte_unused struct rte_mempool *pool, void *arg, struct rte_mempool_memhdr *chunk,
	__rte_unused unsigned int idx)
{
	uint64_t *hash = arg;

	*hash = (*hash ^ (uintptr_t)chunk->addr) * UINT64_C(0x9e3779b97f4a7c15);
	*hash = (*hash ^ chunk->len) * UINT64_C(0xff51afd7ed558ccd);
}

uint64_t
mdv_mr_span_hash(struct rte_mempool *pool)
{
	uint64_t hash = 0;

	rte_mempool_mem_iter(pool, chunk_hash, &hash);
	return hash;
}

int
mdv_mr_span_of_pool(struct rte_mempool *pool, struct mdv_mr_span **spans, size_t *nb)
{
	struct span_list list = { 0 };

	/* Data is beside the mbufs, or in pinned external memory. */
	if (mdv_mr_span_is_pinned(pool))
		rte_mempool_obj_iter(pool, span_add_buffer, &list);
	else
		rte_mempool_mem_iter(pool, span_add_chunk, &list);
	if (list.error == 0 && list.nb == 0)
		list.error = -EINVAL;
	if (list.error != 0) {
		free(list.spans);
		return list.error;
	}
	span_merge(&list);
	*spans = list.spans;
	*nb = list.nb;
	return 0;
}
