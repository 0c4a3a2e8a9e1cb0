/* SPDX-License-Identifier: BSD-3-Clause */
/* A queue's cache of memory regions. */
#include <stdlib.h>

#include <rte_byteorder.h>
#include <rte_mbuf.h>

#include "mr_rig.h"

#define PAGE      (UINT32_C(1) << MDV_MR_CACHE_SHIFT)
#define MBUFS_MAX 256

/** A cache that has the range asks nobody. */
static void
a_range_in_the_cache_is_not_looked_up(void **state)
{
	struct mdv_mr_table *table = table_new();
	struct rte_mempool *pool = rig_pool("mr_cached", NB_MBUFS, ROOM);
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
	struct mdv_mr_cache cache = { 0 };
	struct mdv_mr_place place;

	(void)state;
	mdv_mr_cache_init(&cache, table);
	assert_int_equal(lkey_of(&cache, mbuf), rte_cpu_to_be_32(0x100));
	cache.table = NULL;
	assert_int_equal(lkey_of(&cache, mbuf), rte_cpu_to_be_32(0x100));
	place = mdv_mr_cache_miss(&cache, rte_pktmbuf_mtod(mbuf, uintptr_t), mbuf);
	assert_int_equal(place.lkey_be, rte_cpu_to_be_32(0x100));
	assert_int_equal(place.addr, rte_pktmbuf_mtod(mbuf, uintptr_t));
	rte_pktmbuf_free(mbuf);
	rte_mempool_free(pool);
	mdv_mr_destroy(table);
}

/** A burst that finds the generation changed forgets all. */
static void
a_region_that_has_left_the_table_is_forgotten(void **state)
{
	struct mdv_mr_table *table = table_new();
	struct rte_mempool *pool = rig_pool("mr_left", NB_MBUFS, ROOM);
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
	const uintptr_t addr = rte_pktmbuf_mtod(mbuf, uintptr_t);
	struct mdv_mr_cache cache = { 0 };

	(void)state;
	mdv_mr_cache_init(&cache, table);
	assert_int_equal(lkey_of(&cache, mbuf), rte_cpu_to_be_32(0x100));
	mdv_mr_cache_check(&cache);
	assert_true(addr - cache.last.start < cache.last.size);
	mdv_mr_pool_gone(table, pool);
	mdv_mr_cache_check(&cache);
	assert_int_equal(cache.last.size, 0);
	for (unsigned int i = 0; i < MDV_MR_CACHE_SLOTS; i++)
		assert_int_equal(cache.slots[i].size, 0);
	assert_int_equal(cache.last.generation, *mdv_mr_generation(table));
	rte_pktmbuf_free(mbuf);
	rte_mempool_free(pool);
	mdv_mr_destroy(table);
}

/** A pool with a piece of memory in each of @p nb pages, so with as many regions. */
static struct rte_mempool *
pool_of_pages(char *pages, unsigned int nb)
{
	const unsigned int elt = sizeof(struct rte_mbuf) + ROOM;
	struct rte_mempool *pool = rte_mempool_create_empty("mr_pages", MBUFS_MAX, elt, 0,
		sizeof(struct rte_pktmbuf_pool_private), SOCKET_ID_ANY, 0);

	assert_non_null(pool);
	rte_pktmbuf_pool_init(pool, NULL);
	for (unsigned int i = 0; i < nb; i++)
		assert_true(rte_mempool_populate_iova(pool, pages + i * PAGE,
				    (uintptr_t)pages + i * PAGE, 4 * elt, NULL, NULL) > 0);
	rte_mempool_obj_iter(pool, rte_pktmbuf_init, NULL);
	return pool;
}

/** Regions of neighbouring pages do not push each other out. */
static void
each_of_neighbouring_pages_has_a_slot(void **state)
{
	char *pages = aligned_alloc(PAGE, MDV_MR_CACHE_SLOTS * (size_t)PAGE);
	struct mdv_mr_table *table = table_new();
	struct rte_mempool *pool = pool_of_pages(pages, MDV_MR_CACHE_SLOTS);
	const unsigned int nb = rte_mempool_avail_count(pool);
	struct mdv_mr_cache cache = { 0 };
	struct rte_mbuf *mbufs[MBUFS_MAX];
	uint32_t lkeys[MBUFS_MAX];

	(void)state;
	mdv_mr_cache_init(&cache, table);
	assert_int_equal(rte_pktmbuf_alloc_bulk(pool, mbufs, nb), 0);
	for (unsigned int i = 0; i < nb; i++)
		lkeys[i] = lkey_of(&cache, mbufs[i]);
	assert_int_equal(rig_verbs.nb_mrs, MDV_MR_CACHE_SLOTS);
	cache.table = NULL;
	for (unsigned int i = 0; i < nb; i++)
		assert_int_equal(lkey_of(&cache, mbufs[i]), lkeys[i]);
	rte_pktmbuf_free_bulk(mbufs, nb);
	rte_mempool_free(pool);
	mdv_mr_destroy(table);
	free(pages);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_range_in_the_cache_is_not_looked_up),
		cmocka_unit_test(a_region_that_has_left_the_table_is_forgotten),
		cmocka_unit_test(each_of_neighbouring_pages_has_a_slot),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
