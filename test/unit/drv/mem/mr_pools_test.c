/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory regions of pools that other threads and processes make and destroy meanwhile. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "mem/mr_span.h"
#include "mr_rig.h"

/* In place of the EAL's, by the linker's --wrap. */
int __real_rte_mempool_event_callback_register(rte_mempool_event_callback *callback, void *arg);
int __wrap_rte_mempool_event_callback_register(rte_mempool_event_callback *callback, void *arg);

static struct {
	rte_mempool_event_callback *callback;
	void *arg;
} registered; /* last */

int
__wrap_rte_mempool_event_callback_register(rte_mempool_event_callback *callback, void *arg)
{
	registered.callback = callback;
	registered.arg = arg;
	return __real_rte_mempool_event_callback_register(callback, arg);
}

/** As a process does that has not attached the port: nobody tells the table. */
static void
destroy_untold(struct rte_mempool *pool)
{
	assert_int_equal(
		rte_mempool_event_callback_unregister(registered.callback, registered.arg), 0);
	rte_mempool_free(pool);
	assert_int_equal(
		__real_rte_mempool_event_callback_register(registered.callback, registered.arg), 0);
}

static void
name_is(__attribute__((unused)) const struct mdv_mr_range *range, const char *pool, void *arg)
{
	assert_string_equal(pool, arg);
}

/** Telemetry lists regions at any time. */
static void
a_pool_that_went_untold_still_has_its_name(void **state)
{
	struct rte_mempool *pool = rig_pool("pools_named", NB_MBUFS, ROOM);
	struct mdv_mr_table *table = table_new();
	char name[] = "pools_named";

	(void)state;
	assert_int_equal(mdv_mr_pool_get(table, pool), 0);
	destroy_untold(pool);
	assert_int_equal(rig_verbs.nb_mrs, 1);
	mdv_mr_each(table, name_is, name);
	table_delete(table);
}

static void
a_pool_in_the_place_of_another_is_registered(void **state)
{
	struct rte_mempool *pool = rig_pool("pools_untold", NB_MBUFS, ROOM), *next;
	struct mdv_mr_table *table = table_new();

	(void)state;
	assert_int_equal(mdv_mr_pool_get(table, pool), 0);
	mdv_mr_pools_register(table);
	destroy_untold(pool);
	next = rig_pool("pools_next", 4 * NB_MBUFS, ROOM);
	assert_ptr_equal(next, pool);
	/* Packets in the memory of the old one may be in flight. */
	assert_int_equal(rig_verbs.nb_mrs, 2);
	assert_int_equal(mdv_mr_pool_lkey(table, next), rte_cpu_to_be_32(0x101));
	mdv_mr_caches_gone(table);
	assert_int_equal(rig_verbs.nb_mrs, 1);
	/* The references are those of the old one. */
	mdv_mr_pool_put(table, next);
	assert_int_equal(rig_verbs.nb_mrs, 0);
	table_delete(table);
	rte_mempool_free(next);
}

static struct mdv_mr_table *starting; /* of a port */

/** The port starts when the pool has all mbufs, and has not yet listed the last chunk. */
static int
populate_while_a_port_starts(struct rte_mempool *pool, unsigned int max_objs, void *addr,
	rte_iova_t iova, size_t len, rte_mempool_populate_obj_cb_t *obj_cb, void *arg)
{
	int nb = rte_mempool_op_populate_default(pool, max_objs, addr, iova, len, obj_cb, arg);

	mdv_mr_pools_register(starting);
	return nb;
}

/** @return a pool in two chunks */
static struct rte_mempool *
pool_while_a_port_starts(uint8_t *memory, size_t chunk)
{
	struct rte_mempool *pool =
		rte_mempool_create_empty("pools_seen", NB_MBUFS, sizeof(struct rte_mbuf) + ROOM, 0,
			sizeof(struct rte_pktmbuf_pool_private), SOCKET_ID_ANY, 0);
	struct rte_mempool_ops ops;

	assert_non_null(pool);
	ops = *rte_mempool_get_ops(pool->ops_index);
	snprintf(ops.name, sizeof(ops.name), "seen");
	ops.populate = populate_while_a_port_starts;
	assert_true(rte_mempool_register_ops(&ops) > 0);
	assert_int_equal(rte_mempool_set_ops_byname(pool, ops.name, NULL), 0);
	rte_pktmbuf_pool_init(pool, NULL);
	for (unsigned int i = 0; i < 2; i++)
		assert_true(rte_mempool_populate_iova(pool, (char *)memory + i * 2 * chunk,
				    (uintptr_t)memory + i * 2 * chunk, chunk, NULL, NULL) > 0);
	rte_mempool_obj_iter(pool, rte_pktmbuf_init, NULL);
	return pool;
}

static void
a_pool_that_was_seen_too_early_is_registered_whole(void **state)
{
	const size_t chunk = 70 * 4096; /* an mbuf a page, as none may cross two */
	uint8_t *memory = rig_alloc(4 * chunk);
	struct rte_mbuf *mbufs[NB_MBUFS];
	struct mdv_mr_range range;
	struct rte_mempool *pool;

	(void)state;
	starting = table_new();
	pool = pool_while_a_port_starts(memory, chunk);
	assert_int_equal(rte_mempool_get_bulk(pool, (void **)mbufs, NB_MBUFS), 0);
	for (unsigned int i = 0; i < NB_MBUFS; i++)
		assert_true(mdv_mr_find(
			starting, rte_pktmbuf_mtod(mbufs[i], uintptr_t), mbufs[i], &range));
	mdv_mr_caches_gone(starting);
	assert_int_equal(rig_verbs.nb_mrs, 0);
	table_delete(starting);
	rte_mempool_put_bulk(pool, (void **)mbufs, NB_MBUFS);
	rte_mempool_free(pool);
	free(memory);
}

int __real_mdv_mr_span_of_pool(struct rte_mempool *pool, struct mdv_mr_span **spans, size_t *nb);
int __wrap_mdv_mr_span_of_pool(struct rte_mempool *pool, struct mdv_mr_span **spans, size_t *nb);

/** Destroyed by another thread as soon as a pool is being registered. */
static struct {
	struct rte_mempool *pool;
	pthread_t thread;
} doomed;

static void *
destroy_doomed(void *pool)
{
	rte_mempool_free(pool);
	return NULL;
}

int
__wrap_mdv_mr_span_of_pool(struct rte_mempool *pool, struct mdv_mr_span **spans, size_t *nb)
{
	struct rte_mempool *other = doomed.pool;

	if (other != NULL) {
		doomed.pool = NULL;
		assert_int_equal(pthread_create(&doomed.thread, NULL, destroy_doomed, other), 0);
		/* It mostly comes as far as it does within this time. */
		rte_delay_us_sleep(20000);
	}
	return __real_mdv_mr_span_of_pool(pool, spans, nb);
}

/** The next one in the list, of which a walk might hold no more than a freed entry. */
static void
a_pool_is_destroyed_while_a_port_starts(void **state)
{
	struct rte_mempool *pool = rig_pool("pools_stays", NB_MBUFS, ROOM);
	struct mdv_mr_table *table = table_new();

	(void)state;
	doomed.pool = rig_pool("pools_goes", NB_MBUFS, ROOM);
	mdv_mr_pools_register(table);
	assert_int_equal(pthread_join(doomed.thread, NULL), 0);
	assert_int_equal(rig_verbs.nb_mrs, 1);
	assert_int_not_equal(mdv_mr_pool_lkey(table, pool), MDV_MR_LKEY_NONE);
	mdv_mr_caches_gone(table);
	table_delete(table);
	rte_mempool_free(pool);
}

/** The EAL calls back without a lock: a thread that makes or destroys a pool may come here after
 * another has closed the port, and the memory has another use. */
static void
an_event_may_come_after_its_table_has_gone(void **state)
{
	struct rte_mempool *pool = rig_pool("pools_late", NB_MBUFS, ROOM);
	struct mdv_mr_table *table = table_new();
	void *others[64];

	(void)state;
	mdv_mr_pools_register(table);
	table_delete(table);
	for (unsigned int i = 0; i < RTE_DIM(others); i++) {
		others[i] = rte_malloc(NULL, 64, 0);
		assert_non_null(others[i]);
		memset(others[i], 0xff, 64);
	}
	registered.callback(RTE_MEMPOOL_EVENT_READY, pool, registered.arg);
	registered.callback(RTE_MEMPOOL_EVENT_DESTROY, pool, registered.arg);
	assert_int_equal(rig_verbs.nb_mrs, 0);
	for (unsigned int i = 0; i < RTE_DIM(others); i++)
		rte_free(others[i]);
	rte_mempool_free(pool);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pool_that_went_untold_still_has_its_name),
		cmocka_unit_test(a_pool_in_the_place_of_another_is_registered),
		cmocka_unit_test(a_pool_that_was_seen_too_early_is_registered_whole),
		cmocka_unit_test(a_pool_is_destroyed_while_a_port_starts),
		cmocka_unit_test(an_event_may_come_after_its_table_has_gone),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
