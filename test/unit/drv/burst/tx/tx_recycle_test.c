/* SPDX-License-Identifier: BSD-3-Clause */
/* rte_eth_recycle_mbufs(): sent mbufs in the ring of a receive queue. */
#include <string.h>

#include "burst/tx/tx.h"
#include "tx_rig.h"

#define RING 64

/** A receive queue of whichever driver. */
static struct {
	struct rte_mbuf *mbufs[RING];
	uint16_t head, tail;
	struct rte_eth_recycle_rxq_info info;
} rx;
static struct rte_mbuf *pkts[48];

/** Send @p nb packets of @p nb_segs segments, and complete them. */
static void
start(unsigned int nb, unsigned int nb_segs, uint16_t head, uint16_t tail, uint16_t requirement)
{
	static struct tx_sent sent;

	tx_rig_start();
	memset(&rx, 0, sizeof(rx));
	rx.head = head;
	rx.tail = tail;
	rx.info = (struct rte_eth_recycle_rxq_info){ .mbuf_ring = rx.mbufs,
		.mp = tx_rig.pool,
		.refill_head = &rx.head,
		.receive_tail = &rx.tail,
		.mbuf_ring_size = RING,
		.refill_requirement = requirement };
	for (unsigned int i = 0; i < nb; i++)
		pkts[i] = tx_rig_packet(nb_segs, 60);
	assert_int_equal(
		mdv_tx_select(nb_segs > 1 ? MDV_TX_MULTI : 0, 0)(&tx_rig.txq, pkts, nb), nb);
	while (tx_rig_send(&sent))
		;
}

/** Whether the ring has @p want at @p at, ready for another life; give it back. */
static void
take(unsigned int at, struct rte_mbuf *want)
{
	struct rte_mbuf *got = rx.mbufs[at];

	assert_non_null(got);
	if (want != NULL)
		assert_ptr_equal(got, want);
	assert_int_equal(rte_mbuf_refcnt_read(got), 1);
	assert_int_equal(got->nb_segs, 1);
	assert_null(got->next);
	rte_mbuf_raw_free(got);
	rx.mbufs[at] = NULL;
}

static void
test_as_many_as_there_is_room_for(void **state)
{
	(void)state;
	/* By positions that run freely, and by some within the ring. */
	for (uint16_t base = 0; base < 4 * RING; base += 3 * RING) {
		start(40, 1, base + 40, base + 20, 0);
		assert_int_equal(mdv_tx_recycle_reuse(&tx_rig.txq, &rx.info), 0);
		tx_rig_complete();
		/* Up to the ring's end, and then from its beginning. */
		assert_int_equal(mdv_tx_recycle_reuse(&tx_rig.txq, &rx.info), 24);
		for (unsigned int i = 0; i < 24; i++)
			take(40 + i, pkts[i]);
		rx.head += 24;
		rx.head -= base == 0 ? RING : 0;
		assert_int_equal(mdv_tx_recycle_reuse(&tx_rig.txq, &rx.info), 16);
		for (unsigned int i = 0; i < 16; i++)
			take(i, pkts[24 + i]);
		rx.head += 16;
		assert_int_equal(mdv_tx_recycle_reuse(&tx_rig.txq, &rx.info), 0);
		assert_int_equal(tx_rig.txq.pos.tail, tx_rig.txq.pos.head);
		assert_int_equal(rte_mempool_in_use_count(tx_rig.pool), 0);
		tx_rig_stop();
	}
}

/** A full ring takes nothing, and the burst frees as it does without. */
static void
test_no_room(void **state)
{
	static const uint16_t sizes[] = { RING, 0, 48 };

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(sizes); i++) {
		start(32, 1, RING, 0, 0);
		tx_rig_complete();
		rx.info.mbuf_ring_size = sizes[i];
		rx.tail = sizes[i] == RING ? 0 : 10;
		assert_int_equal(mdv_tx_recycle_reuse(&tx_rig.txq, &rx.info), 0);
		assert_null(rx.mbufs[0]);
		assert_int_equal(rte_mempool_in_use_count(tx_rig.pool), 32);
		assert_int_equal(mdv_tx_done_cleanup(&tx_rig.txq, 0), 32);
		tx_rig_stop();
	}
}

static void
test_shared_mbufs_and_other_pools(void **state)
{
	struct rte_mempool *other = rig_pool("other", 15, 512);
	static struct tx_sent sent;

	(void)state;
	start(0, 1, 0, 32, 0);
	for (unsigned int i = 0; i < 32; i++)
		pkts[i] = tx_rig_packet(1, 60);
	rte_pktmbuf_free(pkts[3]);
	pkts[3] = rte_pktmbuf_alloc(other);
	memset(rte_pktmbuf_append(pkts[3], 60), 0, 60);
	rte_mbuf_refcnt_update(pkts[5], 1);
	assert_int_equal(mdv_tx_select(0, 0)(&tx_rig.txq, pkts, 32), 32);
	while (tx_rig_send(&sent))
		;
	tx_rig_complete();
	assert_int_equal(mdv_tx_recycle_reuse(&tx_rig.txq, &rx.info), 30);
	for (unsigned int i = 0, at = 0; i < 32; i++)
		if (i != 3 && i != 5)
			take(at++, pkts[i]);
	assert_int_equal(rte_mempool_in_use_count(other), 0);
	assert_int_equal(rte_mbuf_refcnt_read(pkts[5]), 1);
	rte_pktmbuf_free(pkts[5]);
	rte_mempool_free(other);
	tx_rig_stop();
}

static void
test_segments(void **state)
{
	(void)state;
	start(12, 3, 0, 40, 0);
	tx_rig_complete();
	assert_int_equal(mdv_tx_recycle_reuse(&tx_rig.txq, &rx.info), 36);
	for (unsigned int i = 0; i < 36; i++)
		take(i, i % 3 == 0 ? pkts[i / 3] : NULL);
	tx_rig_stop();
}

/** Room that ends within a packet: its other segments go to the pool, so that packets stay whole.
 */
static void
test_room_for_a_part_of_a_packet(void **state)
{
	(void)state;
	for (unsigned int required = 0; required <= 16; required += 16) {
		start(12, 3, 0, required == 0 ? 16 : RING - 1, required);
		tx_rig_complete();
		/* As rte_pktmbuf_chain() leaves it where a chain is appended. */
		pkts[5]->next->next->nb_segs = 7;
		assert_int_equal(mdv_tx_recycle_reuse(&tx_rig.txq, &rx.info), 16);
		assert_int_equal(rte_mempool_in_use_count(tx_rig.pool), 36 - 2);
		for (unsigned int i = 0; i < 16; i++)
			take(i, i % 3 == 0 ? pkts[i / 3] : NULL);
		assert_int_equal(tx_rig.txq.pos.tail, 18);
		assert_int_equal(mdv_tx_done_cleanup(&tx_rig.txq, 0), 6);
		assert_int_equal(rte_mempool_in_use_count(tx_rig.pool), 0);
		tx_rig_stop();
	}
}

/** A driver that needs a number gets that number or nothing. */
static void
test_a_required_number(void **state)
{
	(void)state;
	start(40, 1, 0, 0, 16);
	tx_rig_complete();
	rx.tail = 15;
	assert_int_equal(mdv_tx_recycle_reuse(&tx_rig.txq, &rx.info), 0);
	assert_int_equal(rte_mempool_in_use_count(tx_rig.pool), 40);
	rx.tail = 40;
	for (unsigned int round = 0; round < 2; round++) {
		assert_int_equal(mdv_tx_recycle_reuse(&tx_rig.txq, &rx.info), 16);
		for (unsigned int i = 0; i < 16; i++)
			take(i, pkts[16 * round + i]);
	}
	/* Eight are left: they go to the pool. */
	assert_int_equal(mdv_tx_recycle_reuse(&tx_rig.txq, &rx.info), 0);
	assert_int_equal(rte_mempool_in_use_count(tx_rig.pool), 0);
	tx_rig_stop();
}

/** The burst, not this, handles a CQE with an error. */
static void
test_an_error_stays(void **state)
{
	(void)state;
	start(32, 1, 0, 40, 0);
	tx_rig.nb_pending = 0;
	tx_rig_cqe(MLX5_CQE_REQ_ERR, 0);
	assert_int_equal(mdv_tx_recycle_reuse(&tx_rig.txq, &rx.info), 0);
	assert_int_equal(tx_rig.txq.pos.cq_ci, 0);
	assert_int_equal(rte_mempool_in_use_count(tx_rig.pool), 32);
	tx_rig_stop();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_many_as_there_is_room_for),
		cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_shared_mbufs_and_other_pools),
		cmocka_unit_test(test_segments),
		cmocka_unit_test(test_room_for_a_part_of_a_packet),
		cmocka_unit_test(test_a_required_number),
		cmocka_unit_test(test_an_error_stays),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
