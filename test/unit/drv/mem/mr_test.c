/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory regions: pools of every kind, attached buffers, removals, refusals. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <rte_errno.h>
#include <rte_log.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_memory.h>

#include "base/log.h"
#include "mr_rig.h"

static void
packets_may_pass_each_other_if_the_port_says_so(void **state)
{
	struct rte_mempool *pool = rig_pool("mr_relaxed", NB_MBUFS, ROOM);
	struct mdv_mr_table *table = table_new();

	(void)state;
	rig.port.device.relaxed = true;
	rig_verbs.optional_access = IBV_ACCESS_RELAXED_ORDERING;
	assert_int_equal(mdv_mr_pool_get(table, pool), 0);
	assert_int_equal(rig_verbs.nb_mrs, 1);
	rig_verbs.optional_access = 0;
	table_delete(table);
	rte_mempool_free(pool);
}

static void
a_pool_is_one_range_and_refcounted(void **state)
{
	struct rte_mempool *pool = rig_pool("mr_one", NB_MBUFS, ROOM);
	struct mdv_mr_table *table = table_new();

	(void)state;
	assert_int_equal(mdv_mr_pool_lkey(table, pool), MDV_MR_LKEY_NONE);
	assert_int_equal(mdv_mr_pool_get(table, pool), 0);
	assert_int_equal(mdv_mr_pool_get(table, pool), 0);
	assert_int_equal(rig_verbs.nb_mrs, 1);
	assert_int_equal(mdv_mr_pool_lkey(table, pool), rte_cpu_to_be_32(0x100));
	mdv_mr_pool_put(table, pool);
	assert_int_equal(rig_verbs.nb_mrs, 1);
	mdv_mr_pool_put(table, pool);
	assert_int_equal(rig_verbs.nb_mrs, 0);
	table_delete(table);
	rte_mempool_free(pool);
}

/** Packets wait to be sent when the Rx queue that registered their pool stops. */
static void
a_pool_that_a_queue_has_met_stays_until_it_is_destroyed(void **state)
{
	struct rte_mempool *pool = rig_pool("mr_met", NB_MBUFS, ROOM);
	struct mdv_mr_table *table = table_new();
	struct mdv_mr_cache rx = { 0 }, tx = { 0 };
	struct rte_mbuf *mbuf;

	(void)state;
	assert_int_equal(mdv_mr_pool_get(table, pool), 0);
	mdv_mr_cache_init(&tx, table);
	mbuf = rte_pktmbuf_alloc(pool);
	assert_int_equal(lkey_of(&tx, mbuf), rte_cpu_to_be_32(0x100));
	mdv_mr_pool_put(table, pool);
	assert_int_equal(rig_verbs.nb_mrs, 1);
	/* Another queue finds the pool, and takes no second reference. */
	mdv_mr_cache_init(&rx, table);
	assert_int_equal(lkey_of(&rx, mbuf), rte_cpu_to_be_32(0x100));
	mdv_mr_cache_check(&tx);
	assert_int_equal(lkey_of(&tx, mbuf), rte_cpu_to_be_32(0x100));
	assert_int_equal(rig_verbs.nb_mrs, 1);
	/* All queues are gone. */
	assert_int_equal(mdv_mr_pool_get(table, pool), 0);
	mdv_mr_caches_gone(table);
	assert_int_equal(rig_verbs.nb_mrs, 1);
	mdv_mr_pool_put(table, pool);
	assert_int_equal(rig_verbs.nb_mrs, 0);
	/* A pool that goes first takes its reference with it. */
	mdv_mr_cache_check(&tx);
	assert_int_equal(lkey_of(&tx, mbuf), rte_cpu_to_be_32(0x100));
	rte_pktmbuf_free(mbuf);
	rte_mempool_free(pool);
	assert_int_equal(rig_verbs.nb_mrs, 0);
	table_delete(table);
}

/** A pool in chunks that do not touch, as a fragmented heap gives. */
static struct rte_mempool *
chunked_pool(uint8_t *memory, size_t chunk, unsigned int nb_chunks)
{
	struct rte_mempool *pool;
	unsigned int i;

	pool = rte_mempool_create_empty("mr_chunks", NB_MBUFS, sizeof(struct rte_mbuf) + ROOM, 0,
		sizeof(struct rte_pktmbuf_pool_private), SOCKET_ID_ANY, 0);
	assert_non_null(pool);
	rte_pktmbuf_pool_init(pool, NULL);
	/* Downwards: the table has to sort them. */
	for (i = nb_chunks; i-- != 0;)
		assert_true(rte_mempool_populate_iova(pool, (char *)memory + i * 2 * chunk,
				    (uintptr_t)memory + i * 2 * chunk, chunk, NULL, NULL) > 0);
	rte_mempool_obj_iter(pool, rte_pktmbuf_init, NULL);
	return pool;
}

struct shown {
	const uint8_t *memory;
	size_t chunk;
	unsigned int nb;
};

static void
show(const struct mdv_mr_range *range, const char *pool, void *arg)
{
	struct shown *shown = arg;

	assert_string_equal(pool, "mr_chunks");
	assert_int_equal(range->start, (uintptr_t)shown->memory + shown->nb * 2 * shown->chunk);
	assert_true(range->size <= shown->chunk && range->size > shown->chunk - ROOM * 2);
	assert_int_equal(range->lkey_be, rte_cpu_to_be_32(0x100 + shown->nb));
	shown->nb++;
}

/** The first and the last byte of each region, and those beside them, which are in none. */
static void
check_borders(struct mdv_mr_table *table, const struct rte_mbuf *mbuf, const struct shown *shown)
{
	for (unsigned int i = 0; i < shown->nb; i++) {
		const uintptr_t start = (uintptr_t)shown->memory + i * 2 * shown->chunk;
		struct mdv_mr_range range = { 0 }, other;

		assert_true(mdv_mr_find(table, start, mbuf, &range));
		assert_int_equal(range.start, start);
		assert_int_equal(range.lkey_be, rte_cpu_to_be_32(0x100 + i));
		assert_true(mdv_mr_find(table, start + range.size - 1, mbuf, &other));
		assert_int_equal(other.start, start);
		assert_false(mdv_mr_find(table, start - 1, mbuf, &other));
		assert_false(mdv_mr_find(table, start + range.size, mbuf, &other));
	}
	assert_int_equal(rig_verbs.nb_mrs, shown->nb);
}

static void
chunks_have_a_key_each(void **state)
{
	const size_t chunk = 80 * 1024;
	uint8_t *memory = rig_alloc(8 * chunk);
	struct rte_mempool *pool = chunked_pool(memory, chunk, 4);
	struct mdv_mr_table *table = table_new();
	struct shown shown = { .memory = memory, .chunk = chunk };
	struct rte_mbuf *mbufs[NB_MBUFS];
	struct mdv_mr_cache cache;
	unsigned int i, nb;

	(void)state;
	assert_int_equal(mdv_mr_pool_get(table, pool), 0);
	assert_int_equal(rig_verbs.nb_mrs, 4);
	assert_int_equal(mdv_mr_pool_lkey(table, pool), MDV_MR_LKEY_NONE);
	mdv_mr_cache_init(&cache, table);
	nb = rte_mempool_avail_count(pool);
	assert_int_equal(rte_mempool_get_bulk(pool, (void **)mbufs, nb), 0);
	for (i = 0; i < nb; i++) {
		unsigned int chunk_idx = ((uint8_t *)mbufs[i]->buf_addr - memory) / (2 * chunk);

		assert_int_equal(lkey_of(&cache, mbufs[i]), rte_cpu_to_be_32(0x100 + chunk_idx));
	}
	assert_int_equal(rig_verbs.nb_mrs, 4);
	mdv_mr_each(table, show, &shown);
	assert_int_equal(shown.nb, 4);
	check_borders(table, mbufs[0], &shown);
	rte_mempool_put_bulk(pool, (void **)mbufs, nb);
	mdv_mr_pool_put(table, pool);
	/* Still held for the cache. */
	assert_int_equal(rig_verbs.nb_mrs, 4);
	mdv_mr_caches_gone(table);
	mdv_mr_each(table, show, &shown);
	assert_int_equal(shown.nb, 4);
	table_delete(table);
	rte_mempool_free(pool);
	free(memory);
}

static void
a_pinned_pool_is_registered_by_its_buffers(void **state)
{
	struct rte_pktmbuf_extmem ext = { .buf_len = 64 * 4096, .elt_size = 4096 };
	struct mdv_mr_table *table = table_new();
	struct rte_mempool *pool;
	struct mdv_mr_cache cache;
	struct rte_mbuf *mbuf;

	(void)state;
	ext.buf_ptr = aligned_alloc(4096, ext.buf_len);
	ext.buf_iova = (uintptr_t)ext.buf_ptr;
	pool = rte_pktmbuf_pool_create_extbuf("mr_pinned", 64, 0, 0, 4096, SOCKET_ID_ANY, &ext, 1);
	assert_non_null(pool);
	/* A send queue uses the pool first, and registers it by itself. */
	mdv_mr_cache_init(&cache, table);
	mbuf = rte_pktmbuf_alloc(pool);
	assert_non_null(mbuf);
	assert_int_equal(lkey_of(&cache, mbuf), rte_cpu_to_be_32(0x100));
	assert_int_equal(lkey_of(&cache, mbuf), rte_cpu_to_be_32(0x100));
	assert_int_equal(rig_verbs.nb_mrs, 1);
	assert_true(cache.last.start <= (uintptr_t)ext.buf_ptr);
	assert_true(cache.last.start + cache.last.size >= (uintptr_t)mbuf->buf_addr + 4096);
	rte_pktmbuf_free(mbuf);
	rte_mempool_free(pool);
	assert_int_equal(rig_verbs.nb_mrs, 0);
	table_delete(table);
	free(ext.buf_ptr);
}

static void
a_destroyed_pool_is_forgotten(void **state)
{
	struct rte_mempool *pool = rig_pool("mr_gone", NB_MBUFS, ROOM);
	struct mdv_mr_table *table = table_new();
	struct mdv_mr_cache cache;
	struct rte_mbuf *mbuf;

	(void)state;
	mdv_mr_cache_init(&cache, table);
	mbuf = rte_pktmbuf_alloc(pool);
	assert_int_not_equal(lkey_of(&cache, mbuf), MDV_MR_LKEY_NONE);
	rte_pktmbuf_free(mbuf);
	rte_mempool_free(pool);
	assert_int_equal(rig_verbs.nb_mrs, 0);
	assert_int_not_equal(cache.last.size, 0);
	mdv_mr_cache_check(&cache);
	assert_int_equal(cache.last.size, 0);
	table_delete(table);
}

static void
no_free(void *addr, void *opaque)
{
	(void)addr;
	(void)opaque;
}

static void
attached_buffers_are_looked_up_or_refused(void **state)
{
	struct rte_mempool *pool = rig_pool("mr_attach", NB_MBUFS, ROOM);
	struct mdv_mr_table *table = table_new();
	struct rte_mbuf_ext_shared_info shinfo = { .free_cb = no_free };
	void *known = rte_malloc(NULL, 8192, 64), *unknown = rig_alloc(8192);
	struct mdv_mr_cache cache;
	struct rte_mbuf *mbuf, *clone;

	(void)state;
	mdv_mr_cache_init(&cache, table);
	rte_mbuf_ext_refcnt_set(&shinfo, 4);
	mbuf = rte_pktmbuf_alloc(pool);
	rte_pktmbuf_attach_extbuf(mbuf, known, (uintptr_t)known, 8192, &shinfo);
	assert_int_not_equal(lkey_of(&cache, mbuf), MDV_MR_LKEY_NONE);
	assert_int_equal(rig_verbs.nb_mrs, 1);
	rte_pktmbuf_detach_extbuf(mbuf);
	rte_pktmbuf_attach_extbuf(mbuf, unknown, (uintptr_t)unknown, 8192, &shinfo);
	assert_int_equal(lkey_of(&cache, mbuf), MDV_MR_LKEY_NONE);
	rte_pktmbuf_detach_extbuf(mbuf);
	/* A clone's data is in the other mbuf's pool. */
	clone = rte_pktmbuf_clone(mbuf, pool);
	assert_non_null(clone);
	assert_int_not_equal(lkey_of(&cache, clone), MDV_MR_LKEY_NONE);
	rte_pktmbuf_free(clone);
	rte_pktmbuf_free(mbuf);
	table_delete(table);
	rte_mempool_free(pool);
	rte_free(known);
	free(unknown);
}

/** No event of the EAL's tells of it: the application does (rte_dev_dma_unmap()). */
static void
external_memory_that_is_mapped_anew_is_registered_anew(void **state)
{
	const size_t size = 16 * 4096;
	struct rte_mempool *pool = rig_pool("mr_anew", NB_MBUFS, ROOM);
	struct mdv_mr_table *table = table_new();
	struct rte_mbuf_ext_shared_info shinfo = { .free_cb = no_free };
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
	struct mdv_mr_cache cache;
	void *memory = NULL;

	(void)state;
	mdv_mr_cache_init(&cache, table);
	rte_mbuf_ext_refcnt_set(&shinfo, 4);
	for (unsigned int i = 0; i < 2; i++) {
		memory = mmap(memory, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | (i == 0 ? 0 : MAP_FIXED), -1, 0);
		assert_ptr_not_equal(memory, MAP_FAILED);
		assert_int_equal(rte_extmem_register(memory, size, NULL, 0, 4096), 0);
		rte_pktmbuf_attach_extbuf(mbuf, memory, (uintptr_t)memory, 8192, &shinfo);
		mdv_mr_cache_check(&cache);
		assert_int_equal(cache.last.size, 0);
		assert_int_not_equal(lkey_of(&cache, mbuf), MDV_MR_LKEY_NONE);
		assert_int_equal(rig_verbs.nb_mrs, 1);
		rte_pktmbuf_detach_extbuf(mbuf);
		mdv_mr_memory_event(RTE_MEM_EVENT_FREE, memory, size, table);
		assert_int_equal(rig_verbs.nb_mrs, 0);
		assert_int_equal(rte_extmem_unregister(memory, size), 0);
	}
	munmap(memory, size);
	rte_pktmbuf_free(mbuf);
	table_delete(table);
	rte_mempool_free(pool);
}

static void
a_refused_registration_leaves_nothing(void **state)
{
	const size_t chunk = 80 * 1024;
	uint8_t *memory = rig_alloc(8 * chunk);
	struct rte_mempool *pool = chunked_pool(memory, chunk, 4);
	struct mdv_mr_table *table = table_new();

	(void)state;
	rig_verbs.reg_result = ENOMEM;
	assert_int_equal(mdv_mr_pool_get(table, pool), -ENOMEM);
	assert_int_equal(rig_verbs.nb_mrs, 0);
	rig_verbs.reg_result = 0;
	assert_int_equal(mdv_mr_pool_get(table, pool), 0);
	table_delete(table);
	rte_mempool_free(pool);
	free(memory);
}

/**
 * The process that destroys the pool reports it, or could not; then the freed memory is the sign.
 */
static void
a_pool_that_another_process_destroyed(void **state)
{
	struct mdv_mr_table *table = table_new();
	struct rte_mempool *pool = rig_pool("mr_elsewhere", NB_MBUFS, ROOM);
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
	const uintptr_t addr = rte_pktmbuf_mtod(mbuf, uintptr_t);
	struct mdv_mr_cache cache = { 0 };
	struct mdv_mr_range range;

	(void)state;
	mdv_mr_cache_init(&cache, table);
	assert_true(mdv_mr_find(table, addr, mbuf, &range));
	assert_true(addr - range.start < range.size);
	assert_int_equal(lkey_of(&cache, mbuf), range.lkey_be);
	mdv_mr_pool_gone(table, pool);
	assert_int_equal(rig_verbs.nb_mrs, 0);
	assert_int_equal(mdv_mr_pool_lkey(table, pool), MDV_MR_LKEY_NONE);
	/* The cache has forgotten it. */
	mdv_mr_cache_check(&cache);
	assert_int_equal(cache.last.size, 0);
	mdv_mr_pool_gone(table, pool);
	rte_pktmbuf_free(mbuf);
	rte_mempool_free(pool);
	table_delete(table);
}

/* In place of the EAL's, by the linker's --wrap. */
int __real_rte_mem_event_callback_register(
	const char *name, rte_mem_event_callback_t callback, void *arg);
int __wrap_rte_mem_event_callback_register(
	const char *name, rte_mem_event_callback_t callback, void *arg);
int __real_rte_mem_event_callback_unregister(const char *name, void *arg);
int __wrap_rte_mem_event_callback_unregister(const char *name, void *arg);
int __real_rte_mempool_event_callback_register(rte_mempool_event_callback *callback, void *arg);
int __wrap_rte_mempool_event_callback_register(rte_mempool_event_callback *callback, void *arg);

static int memory_errno, pool_errno; /* of the next registrations; 0: as they are */
static unsigned int nb_unregistered;

static struct {
	rte_mem_event_callback_t callback;
	void *arg;
} of_memory; /* the last registration */

int
__wrap_rte_mem_event_callback_register(
	const char *name, rte_mem_event_callback_t callback, void *arg)
{
	of_memory.callback = callback;
	of_memory.arg = arg;
	if (memory_errno == 0)
		return __real_rte_mem_event_callback_register(name, callback, arg);
	rte_errno = memory_errno;
	return -1;
}

int
__wrap_rte_mem_event_callback_unregister(const char *name, void *arg)
{
	nb_unregistered++;
	return __real_rte_mem_event_callback_unregister(name, arg);
}

int
__wrap_rte_mempool_event_callback_register(rte_mempool_event_callback *callback, void *arg)
{
	if (pool_errno == 0)
		return __real_rte_mempool_event_callback_register(callback, arg);
	rte_errno = pool_errno;
	return -1;
}

/** The process that destroyed the pool ended before it could report that. */
static void
freed_memory_is_registered_no_longer(void **state)
{
	struct mdv_mr_table *table = table_new();
	struct rte_mempool *pool = rig_pool("mr_freed", NB_MBUFS, ROOM);
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
	struct mdv_mr_range range;

	(void)state;
	assert_true(mdv_mr_find(table, rte_pktmbuf_mtod(mbuf, uintptr_t), mbuf, &range));
	of_memory.callback(RTE_MEM_EVENT_FREE, (void *)(range.start - 4096), 4096, of_memory.arg);
	of_memory.callback(
		RTE_MEM_EVENT_FREE, (void *)(range.start + range.size), 4096, of_memory.arg);
	of_memory.callback(RTE_MEM_EVENT_ALLOC, (void *)range.start, range.size, of_memory.arg);
	assert_int_equal(rig_verbs.nb_mrs, 1);
	of_memory.callback(
		RTE_MEM_EVENT_FREE, (void *)(range.start + range.size - 1), 1, of_memory.arg);
	assert_int_equal(rig_verbs.nb_mrs, 0);
	rte_pktmbuf_free(mbuf);
	rte_mempool_free(pool);
	table_delete(table);
}

/** While queues run, no burst has to register a pool. */
static void
pools_are_registered_before_they_are_met(void **state)
{
	struct rte_mempool *before = rig_pool("mr_before", NB_MBUFS, ROOM), *later, *stopped;
	struct rte_mempool *attached = rig_pool("mr_attached", NB_MBUFS, 0);
	struct mdv_mr_table *table = table_new();
	struct mdv_mr_cache cache = { 0 };
	struct rte_mbuf *mbuf;

	(void)state;
	mdv_mr_pools_register(table);
	assert_int_equal(rig_verbs.nb_mrs, 1);
	later = rig_pool("mr_later", NB_MBUFS, ROOM);
	assert_int_equal(rig_verbs.nb_mrs, 2);
	mdv_mr_cache_init(&cache, table);
	mbuf = rte_pktmbuf_alloc(later);
	assert_int_equal(lkey_of(&cache, mbuf), rte_cpu_to_be_32(0x101));
	rte_pktmbuf_free(mbuf);
	/* Once more, as the port starts after a queue has. */
	assert_int_equal(mdv_mr_pool_get(table, before), 0);
	mdv_mr_pools_register(table);
	assert_int_equal(rig_verbs.nb_mrs, 2);
	rte_mempool_free(later);
	assert_int_equal(rig_verbs.nb_mrs, 1);
	mdv_mr_pool_put(table, before);
	assert_int_equal(rig_verbs.nb_mrs, 1);
	mdv_mr_caches_gone(table);
	assert_int_equal(rig_verbs.nb_mrs, 0);
	stopped = rig_pool("mr_stopped", NB_MBUFS, ROOM);
	assert_int_equal(rig_verbs.nb_mrs, 0);
	/* What is refused is tried again when it is met. */
	rig_verbs.reg_result = ENOMEM;
	mdv_mr_pools_register(table);
	rig_verbs.reg_result = 0;
	assert_int_equal(rig_verbs.nb_mrs, 0);
	mdv_mr_cache_init(&cache, table);
	mbuf = rte_pktmbuf_alloc(stopped);
	assert_true(lkey_of(&cache, mbuf) != MDV_MR_LKEY_NONE);
	rte_pktmbuf_free(mbuf);
	table_delete(table);
	rte_mempool_free(before);
	rte_mempool_free(attached);
	rte_mempool_free(stopped);
}

/** Make a table. @param[out] logged what the driver logs meanwhile; to be freed */
static struct mdv_mr_table *
make_logged(char **logged)
{
	size_t size;
	FILE *stream = open_memstream(logged, &size);
	struct mdv_mr_table *table;

	assert_non_null(stream);
	rte_openlog_stream(stream);
	rte_log_set_level(mdv_log_type, RTE_LOG_ERR);
	table = mdv_mr_create(&rig.port.device, 3);
	rte_log_set_level(mdv_log_type, RTE_LOG_EMERG);
	rte_openlog_stream(NULL);
	fclose(stream);
	return table;
}

/** Memory that nobody tells of when it goes is not registered; ENOTSUP: it never goes. The reason
 * is told, also where undoing the first registration has another one. */
static void
memory_is_watched_or_never_goes(void **state)
{
	static const struct {
		int memory, pool;
		bool made;
		unsigned int nb_unregistered;
	} cases[] = {
		{ ENOTSUP, 0, true, 1 },
		{ ENOMEM, 0, false, 0 },
		{ ENOTSUP, ENOMEM, false, 1 },
	};

	(void)state;
	rig_port_init(&rig);
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		struct mdv_mr_table *table;
		char *logged;

		nb_unregistered = 0;
		memory_errno = cases[i].memory;
		pool_errno = cases[i].pool;
		table = make_logged(&logged);
		assert_int_equal(table != NULL, cases[i].made);
		assert_true(cases[i].made ||
			strstr(logged, "cannot watch memory: Cannot allocate memory") != NULL);
		free(logged);
		mdv_mr_destroy(table);
		assert_int_equal(nb_unregistered, cases[i].nb_unregistered);
	}
	memory_errno = pool_errno = 0;
	mdv_mr_destroy(NULL);
}

/** A run of EAL memory has pools in it. When a page of it goes, packets of the others may be in
 * flight. */
static void
a_run_stays_registered_when_a_page_of_it_goes(void **state)
{
	struct mdv_mr_table *table = table_new();
	struct rte_mempool *pool = rig_pool("mr_run", NB_MBUFS, ROOM);
	struct rte_mbuf_ext_shared_info shinfo = { 0 };
	char *ext = rte_malloc(NULL, 8192, 4096), *other = rte_malloc(NULL, 8192, 4096);
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool), *plain = rte_pktmbuf_alloc(pool);
	struct mdv_mr_cache cache = { 0 };

	(void)state;
	assert_int_equal(mdv_mr_pool_get(table, pool), 0);
	rte_mbuf_ext_refcnt_set(&shinfo, 2);
	rte_pktmbuf_attach_extbuf(mbuf, ext, (uintptr_t)ext, 8192, &shinfo);
	mdv_mr_cache_init(&cache, table);
	assert_int_equal(lkey_of(&cache, mbuf), rte_cpu_to_be_32(0x101));
	mdv_mr_cache_init(&cache, table);
	/* The pool's own region is found first. */
	assert_int_equal(lkey_of(&cache, plain), rte_cpu_to_be_32(0x100));
	of_memory.callback(RTE_MEM_EVENT_FREE, other, 4096, of_memory.arg);
	assert_true(cache.last.generation != *cache.table_generation);
	assert_int_equal(rig_verbs.nb_mrs, 2);
	/* Nobody finds it any more: what is left of the run is another one. */
	mdv_mr_cache_flush(&cache);
	assert_int_equal(lkey_of(&cache, plain), rte_cpu_to_be_32(0x100));
	assert_int_equal(lkey_of(&cache, mbuf), rte_cpu_to_be_32(0x102));
	mdv_mr_caches_gone(table);
	assert_int_equal(rig_verbs.nb_mrs, 2);
	/* All of it has gone: who sends it now has an error. */
	of_memory.callback(RTE_MEM_EVENT_FREE, NULL, SIZE_MAX, of_memory.arg);
	assert_int_equal(rig_verbs.nb_mrs, 0);
	table_delete(table);
	rte_pktmbuf_free(mbuf);
	rte_pktmbuf_free(plain);
	rte_free(ext);
	rte_free(other);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_may_pass_each_other_if_the_port_says_so),
		cmocka_unit_test(a_pool_is_one_range_and_refcounted),
		cmocka_unit_test(a_pool_that_a_queue_has_met_stays_until_it_is_destroyed),
		cmocka_unit_test(chunks_have_a_key_each),
		cmocka_unit_test(a_pinned_pool_is_registered_by_its_buffers),
		cmocka_unit_test(a_destroyed_pool_is_forgotten),
		cmocka_unit_test(attached_buffers_are_looked_up_or_refused),
		cmocka_unit_test(external_memory_that_is_mapped_anew_is_registered_anew),
		cmocka_unit_test(a_refused_registration_leaves_nothing),
		cmocka_unit_test(a_pool_that_another_process_destroyed),
		cmocka_unit_test(freed_memory_is_registered_no_longer),
		cmocka_unit_test(pools_are_registered_before_they_are_met),
		cmocka_unit_test(memory_is_watched_or_never_goes),
		cmocka_unit_test(a_run_stays_registered_when_a_page_of_it_goes),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
