/* SPDX-License-Identifier: BSD-3-Clause */
/* What a queue does when the last region does not hold an address. */
#include <string.h>

#include "base/dm_mbuf.h"
#include "mr_cache.h"

struct mdv_mr_place
mdv_mr_cache_miss(struct mdv_mr_cache *cache, uintptr_t addr, const struct rte_mbuf *mbuf)
{
	struct mdv_mr_range *slot =
		&cache->slots[(addr >> MDV_MR_CACHE_SHIFT) % MDV_MR_CACHE_SLOTS];
	struct mdv_mr_range range;

	if (addr - slot->start >= slot->size) {
		if (!mdv_mr_find(cache->table, addr, mbuf, &range))
			return (struct mdv_mr_place){ .lkey_be = MDV_MR_LKEY_NONE };
		*slot = range;
	}
	/* Another process may have other memory at the address of the device memory's mapping. */
	if (slot->zero_based && !mdv_dm_mbuf_is(mbuf))
		return (struct mdv_mr_place){ .lkey_be = MDV_MR_LKEY_NONE };
	if (slot->zero_based)
		return (struct mdv_mr_place){ addr - slot->start, slot->lkey_be };
	cache->last.start = slot->start;
	cache->last.size = slot->size;
	cache->last.lkey_be = slot->lkey_be;
	return (struct mdv_mr_place){ addr, slot->lkey_be };
}

void
mdv_mr_cache_flush(struct mdv_mr_cache *cache)
{
	cache->last = (struct mdv_mr_hit){
		.generation = __atomic_load_n(cache->table_generation, __ATOMIC_ACQUIRE),
	};
	memset(cache->slots, 0, sizeof(cache->slots));
}

void
mdv_mr_cache_init(struct mdv_mr_cache *cache, struct mdv_mr_table *table)
{
	cache->table = table;
	cache->table_generation = mdv_mr_generation(table);
	mdv_mr_cache_flush(cache);
}
