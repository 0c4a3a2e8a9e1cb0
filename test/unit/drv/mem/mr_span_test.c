/* SPDX-License-Identifier: BSD-3-Clause */
/* The places of mempools' memory, in pieces of every order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mem/mr_span.h"
#include "rig.h"

#define NB    40
#define ROOM  256
#define PIECE 4096

/** Memory that is given to pools in pieces. */
static uint8_t *memory;

void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);

static bool no_memory;

void *
__wrap_realloc(void *old, size_t size)
{
	return no_memory ? NULL : __real_realloc(old, size);
}

static int
group_make(void **state)
{
	memory = aligned_alloc(PIECE, 1024 * PIECE);
	assert_non_null(memory);
	return rig_eal_init(state);
}

static int
group_free(void **state)
{
	(void)state;
	free(memory);
	return 0;
}

/** A pool that is given these pieces of memory, by number, in this order. */
static struct rte_mempool *
pool_of(const unsigned int *pieces, unsigned int nb)
{
	struct rte_mempool *pool =
		rte_mempool_create_empty("span", 4096, 64, 0, 0, SOCKET_ID_ANY, 0);
	unsigned int i;

	assert_non_null(pool);
	for (i = 0; i < nb; i++)
		assert_true(rte_mempool_populate_iova(pool, (char *)memory + pieces[i] * PIECE,
				    RTE_BAD_IOVA, PIECE, NULL, NULL) > 0);
	return pool;
}

static void
pieces_are_sorted_and_joined(void **state)
{
	/* clang-format off */
	static const struct {
		unsigned int pieces[6], nb;
		unsigned int spans[6][2], nb_spans; /* first piece and number */
	} cases[] = {
		{ { 5 }, 1, { { 5, 1 } }, 1 },
		{ { 1, 2, 3 }, 3, { { 1, 3 } }, 1 },
		{ { 3, 2, 1 }, 3, { { 1, 3 } }, 1 },
		{ { 1, 3, 2 }, 3, { { 1, 3 } }, 1 },
		{ { 1, 3 }, 2, { { 1, 1 }, { 3, 1 } }, 2 },
		{ { 9, 1, 8, 2, 5 }, 5, { { 1, 2 }, { 5, 1 }, { 8, 2 } }, 3 },
	};
	/* clang-format on */
	struct rte_mempool *pool;
	struct mdv_mr_span *spans;
	unsigned int i, k;
	size_t nb;

	(void)state;
	for (i = 0; i < RTE_DIM(cases); i++) {
		pool = pool_of(cases[i].pieces, cases[i].nb);
		assert_false(mdv_mr_span_is_pinned(pool));
		assert_int_equal(mdv_mr_span_of_pool(pool, &spans, &nb), 0);
		assert_int_equal(nb, cases[i].nb_spans);
		for (k = 0; k < nb; k++) {
			assert_ptr_equal(spans[k].start, memory + cases[i].spans[k][0] * PIECE);
			assert_int_equal(spans[k].size, cases[i].spans[k][1] * PIECE);
		}
		free(spans);
		rte_mempool_free(pool);
	}
}

/** So many pieces, none of which touch, that the list grows several times. */
static void
many_pieces_are_all_there(void **state)
{
	unsigned int pieces[NB], i;
	struct mdv_mr_span *spans;
	struct rte_mempool *pool;
	size_t nb;

	(void)state;
	for (i = 0; i < NB; i++)
		pieces[i] = 2 * (i * 7 % NB);
	pool = pool_of(pieces, NB);
	assert_int_equal(mdv_mr_span_of_pool(pool, &spans, &nb), 0);
	assert_int_equal(nb, NB);
	for (i = 0; i < NB; i++) {
		assert_ptr_equal(spans[i].start, memory + 2 * i * PIECE);
		assert_int_equal(spans[i].size, PIECE);
	}
	free(spans);
	no_memory = true;
	assert_int_equal(mdv_mr_span_of_pool(pool, &spans, &nb), -ENOMEM);
	no_memory = false;
	rte_mempool_free(pool);
}

static void
pinned_buffers_are_what_counts(void **state)
{
	struct rte_pktmbuf_extmem external = { memory, RTE_BAD_IOVA, 64 * ROOM, ROOM };
	struct mdv_mr_span *spans;
	struct rte_mempool *pool;
	size_t nb;

	(void)state;
	pool = rte_pktmbuf_pool_create_extbuf(
		"pinned", 32, 0, 0, ROOM, SOCKET_ID_ANY, &external, 1);
	assert_non_null(pool);
	assert_true(mdv_mr_span_is_pinned(pool));
	assert_false(mdv_mr_span_has_packets(pool));
	assert_int_equal(mdv_mr_span_of_pool(pool, &spans, &nb), 0);
	assert_int_equal(nb, 1);
	assert_ptr_equal(spans[0].start, memory);
	assert_int_equal(spans[0].size, 32 * ROOM);
	free(spans);
	rte_mempool_free(pool);
	/* Private data that is large enough for a pool of mbufs, and one that has the flag not. */
	pool = rig_pool("plain", 32, ROOM);
	assert_false(mdv_mr_span_is_pinned(pool));
	rte_mempool_free(pool);
}

/** Pools of packets are told from others, and from those whose memory is not all there. */
static void
packets_are_in_pools_of_mbufs_with_room(void **state)
{
	const unsigned int with_room = sizeof(struct rte_mbuf) + 16 + ROOM;
	const struct {
		uint16_t room, priv;
		unsigned int elt, private_data;
		bool partly, has_packets;
	} cases[] = {
		{ ROOM, 16, with_room, sizeof(struct rte_pktmbuf_pool_private), false, true },
		{ ROOM, 16, with_room, sizeof(struct rte_pktmbuf_pool_private), true, false },
		{ ROOM, 16, with_room - 8, sizeof(struct rte_pktmbuf_pool_private), false, false },
		/* of mbufs that are attached */
		{ 0, 16, with_room, sizeof(struct rte_pktmbuf_pool_private), false, false },
		/* of other objects */
		{ ROOM, 16, with_room, 0, false, false },
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		struct rte_pktmbuf_pool_private priv = { cases[i].room, cases[i].priv, 0 };
		const unsigned int nb = cases[i].partly ? 4096 : 8;
		struct rte_mempool *pool = rte_mempool_create_empty(
			"packets", nb, cases[i].elt, 0, cases[i].private_data, SOCKET_ID_ANY, 0);

		assert_non_null(pool);
		if (cases[i].private_data != 0)
			memcpy(rte_mempool_get_priv(pool), &priv, sizeof(priv));
		assert_true(rte_mempool_populate_iova(pool, (char *)memory, (uintptr_t)memory,
				    8 * PIECE, NULL, NULL) > 0);
		assert_int_equal(mdv_mr_span_has_packets(pool), cases[i].has_packets);
		pool->flags |= RTE_MEMPOOL_F_NON_IO;
		assert_false(mdv_mr_span_has_packets(pool));
		rte_mempool_free(pool);
	}
}

/** By chunks and their order, wherever the pool is. */
static void
pools_of_other_pieces_have_another_hash(void **state)
{
	static const unsigned int cases[][3] = { { 1, 2, 3 }, { 1, 2, 4 }, { 2, 1, 3 } };
	uint64_t hashes[2 * RTE_DIM(cases)];
	unsigned int nb = 0;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++)
		for (unsigned int pieces = 2; pieces <= 3; pieces++) {
			struct rte_mempool *pool = pool_of(cases[i], pieces);

			hashes[nb] = mdv_mr_span_hash(pool);
			assert_int_equal(hashes[nb], mdv_mr_span_hash(pool));
			/* The first two begin alike. */
			for (unsigned int k = 0; k < nb; k++)
				assert_true((hashes[k] == hashes[nb]) == (k == 0 && nb == 2));
			nb++;
			rte_mempool_free(pool);
		}
}

/** Pieces of the EAL's memory are those of all processes; others, the EAL's external ones included,
 * need not be. */
static void
memory_of_the_eal_is_shared(void **state)
{
	const unsigned int first = 0, whole = 512;
	void *external = memory + whole * PIECE;
	struct rte_mempool *pool;

	(void)state;
	pool = rig_pool("shared", NB, ROOM);
	assert_true(mdv_mr_span_is_shared(pool));
	rte_mempool_free(pool);
	pool = pool_of(&first, 1);
	assert_false(mdv_mr_span_is_shared(pool));
	rte_mempool_free(pool);
	assert_int_equal(rte_extmem_register(external, PIECE, NULL, 0, PIECE), 0);
	pool = pool_of(&whole, 1);
	assert_false(mdv_mr_span_is_shared(pool));
	rte_mempool_free(pool);
	assert_int_equal(rte_extmem_unregister(external, PIECE), 0);
}

static void
a_pool_without_memory_is_refused(void **state)
{
	struct mdv_mr_span *spans;
	struct rte_mempool *pool;
	size_t nb;

	(void)state;
	pool = pool_of(NULL, 0);
	assert_int_equal(mdv_mr_span_of_pool(pool, &spans, &nb), -EINVAL);
	rte_mempool_free(pool);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_are_sorted_and_joined),
		cmocka_unit_test(many_pieces_are_all_there),
		cmocka_unit_test(pinned_buffers_are_what_counts),
		cmocka_unit_test(packets_are_in_pools_of_mbufs_with_room),
		cmocka_unit_test(pools_of_other_pieces_have_another_hash),
		cmocka_unit_test(memory_of_the_eal_is_shared),
		cmocka_unit_test(a_pool_without_memory_is_refused),
	};

	return cmocka_run_group_tests(tests, group_make, group_free);
}
