/* SPDX-License-Identifier: BSD-3-Clause */
/* How mbufs of sent packets go back to their pool: which of them together, which by themselves. Any
 * way frees them; how many calls it takes is what the ways differ in. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tx_rig.h"

#define NB 35

static struct rte_mempool *pool, *other_pool;
/** Objects of each pool, and what was put into any: "32 3". */
static void *objects[2][64];
static unsigned int nb_objects[2];
static char puts_seen[128];

static unsigned int
number_of(const struct rte_mempool *mempool)
{
	return strcmp(mempool->name, "counted") == 0 ? 0 : 1;
}

static int
put(struct rte_mempool *mempool, void *const *table, unsigned int nb)
{
	const unsigned int which = number_of(mempool);
	char number[16];

	assert_true(nb_objects[which] + nb <= RTE_DIM(objects[which]));
	memcpy(&objects[which][nb_objects[which]], table, nb * sizeof(table[0]));
	nb_objects[which] += nb;
	snprintf(number, sizeof(number), "%s%u", puts_seen[0] == '\0' ? "" : " ", nb);
	if (strlen(puts_seen) + strlen(number) < sizeof(puts_seen))
		strcat(puts_seen, number);
	return 0;
}

static int
get(struct rte_mempool *mempool, void **table, unsigned int nb)
{
	const unsigned int which = number_of(mempool);

	if (nb > nb_objects[which])
		return -1;
	nb_objects[which] -= nb;
	memcpy(table, &objects[which][nb_objects[which]], nb * sizeof(table[0]));
	return 0;
}

static unsigned int
count(const struct rte_mempool *mempool)
{
	return nb_objects[number_of(mempool)];
}

static int
alloc(struct rte_mempool *mempool)
{
	(void)mempool;
	return 0;
}

static const struct rte_mempool_ops counting_ops = {
	.name = "counting",
	.alloc = alloc,
	.enqueue = put,
	.dequeue = get,
	.get_count = count,
};
RTE_MEMPOOL_REGISTER_OPS(counting_ops);

static int
group_make(void **state)
{
	const uint16_t room = RTE_PKTMBUF_HEADROOM + 128;
	int ret = rig_eal_init(state);

	if (ret != 0)
		return ret;
	pool = rte_pktmbuf_pool_create_by_ops("counted", 60, 0, 0, room, SOCKET_ID_ANY, "counting");
	other_pool =
		rte_pktmbuf_pool_create_by_ops("other", 20, 0, 0, room, SOCKET_ID_ANY, "counting");
	return pool != NULL && other_pool != NULL ? 0 : -1;
}

enum oddity {
	NONE,
	SHARED, /* somebody else has it, too */
	OTHER_POOL,
	ATTACHED, /* its data are another mbuf's */
	EXTERNAL, /* its data are nobody's mbuf */
	CHAIN,    /* two mbufs */
};

static void
free_nothing(void *addr, void *opaque)
{
	(void)addr, (void)opaque;
}

static uint8_t external[256];
static struct rte_mbuf_ext_shared_info shared_info = { .free_cb = free_nothing };
static struct rte_mbuf *kept; /* of an oddity, freed in the end */

static struct rte_mbuf *
packet(enum oddity oddity)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(oddity == OTHER_POOL ? other_pool : pool);

	assert_non_null(mbuf);
	assert_non_null(rte_pktmbuf_append(mbuf, 60));
	if (oddity == SHARED) {
		kept = mbuf;
		rte_mbuf_refcnt_update(mbuf, 1);
	} else if (oddity == ATTACHED) {
		kept = mbuf;
		mbuf = rte_pktmbuf_clone(mbuf, pool);
		assert_non_null(mbuf);
	} else if (oddity == EXTERNAL) {
		rte_mbuf_ext_refcnt_set(&shared_info, 1);
		rte_pktmbuf_attach_extbuf(
			mbuf, external, (uintptr_t)external, sizeof(external), &shared_info);
		assert_non_null(rte_pktmbuf_append(mbuf, 60));
	} else if (oddity == CHAIN) {
		assert_int_equal(rte_pktmbuf_chain(mbuf, packet(NONE)), 0);
	}
	return mbuf;
}

/* clang-format off */
/** Fours, and the others one by one. */
#define CHAINS "28 1 4 1 1 1"

static const struct {
	const char *what;
	unsigned int opts;
	enum oddity oddity; /* of packet number at */
	unsigned int at;
	const char *scalar, *vector; /* puts, and after the ring's end, where those packets begin */
	const char *scalar_wrapped, *vector_wrapped;
} cases[] = {
	{ "alike", 0, NONE, 0, "35", "32 3", "29 6", "28 1 4 2" },
	{ "fast", MDV_TX_FAST_FREE, NONE, 0, "35", "35", "29 6", "29 6" },
	{ "shared", 0, SHARED, 10, "34", "8 15 8 3", "28 6", "8 15 4 1 4 2" },
	{ "the first is shared", 0, SHARED, 0, "34", "15 16 3", "28 6", "15 12 1 4 2" },
	{ "the last of four is shared", 0, SHARED, 3, "34", "15 16 3", "28 6", "15 12 1 4 2" },
	{ "another pool", 0, OTHER_POOL, 10, "10 1 24", "8 2 1 13 8 3", "10 1 18 6",
		"8 2 1 13 4 1 4 2" },
	{ "attached", 0, ATTACHED, 10, "35", "8 16 8 3", "29 6", "8 16 4 1 4 2" },
	{ "external", 0, EXTERNAL, 10, "35", "8 16 8 3", "29 6", "8 16 4 1 4 2" },
	{ "a chain", MDV_TX_MULTI, CHAIN, 10, "36", "36", CHAINS, CHAINS },
	{ "a shared one beside a chain", MDV_TX_MULTI, CHAIN, 34, "36", "36", CHAINS, CHAINS },
};
/* clang-format on */

static void
send_and_complete(eth_tx_burst_t burst, unsigned int i, const char *wanted)
{
	static struct tx_sent sent;
	struct rte_mbuf *pkts[NB];
	uint16_t nb = 0;

	kept = NULL;
	for (unsigned int k = 0; k < NB; k++)
		pkts[k] = packet(k == cases[i].at ? cases[i].oddity : NONE);
	nb = burst(&tx_rig.txq, pkts, NB);
	assert_int_equal(nb, NB);
	while (tx_rig_send(&sent))
		;
	tx_rig_complete();
	puts_seen[0] = '\0';
	assert_int_equal(burst(&tx_rig.txq, pkts, 0), 0);
	if (strcmp(puts_seen, wanted) != 0)
		fail_msg("%s: %s instead of %s", cases[i].what, puts_seen, wanted);
	rte_pktmbuf_free(kept);
	assert_int_equal(nb_objects[0], 60);
	assert_int_equal(nb_objects[1], 20);
	for (unsigned int k = 0; k < nb_objects[0]; k++) {
		const struct rte_mbuf *mbuf = objects[0][k];

		assert_int_equal(rte_mbuf_refcnt_read(mbuf), 1);
		assert_int_equal(mbuf->nb_segs, 1);
		assert_null(mbuf->next);
		assert_false(mbuf->ol_flags & (RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL));
	}
}

static void
mbufs_go_back_together(void **state)
{
	static const unsigned int widths[] = { 0, 128, 256 };

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		for (unsigned int w = 0; w < RTE_DIM(widths); w++) {
			const eth_tx_burst_t burst = mdv_tx_select(cases[i].opts, widths[w]);
			const bool vec = burst != mdv_tx_select(cases[i].opts, 0);

			tx_rig_start();
			send_and_complete(burst, i, vec ? cases[i].vector : cases[i].scalar);
			/* Now the ring ends in between. */
			tx_rig.txq.pos.head = tx_rig.txq.pos.tail = NB;
			mdv_txq_ring_clear(&tx_rig.txq);
			tx_rig.pc = 0;
			send_and_complete(
				burst, i, vec ? cases[i].vector_wrapped : cases[i].scalar_wrapped);
			tx_rig_stop();
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mbufs_go_back_together),
	};

	return cmocka_run_group_tests(tests, group_make, NULL);
}
