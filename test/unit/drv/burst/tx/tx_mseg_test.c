/* SPDX-License-Identifier: BSD-3-Clause */
/* Mbufs of chains: freed one by one, counted as packets. */
#include "tx_rig.h"

/** Segments of a packet here; its WQE has 5 units, 2 WQEBBs. */
#define NB_SEGS 3

static const unsigned int widths[] = { 0, 128, 256 };
static const unsigned int sets[] = { MDV_TX_MULTI, MDV_TX_MULTI | MDV_TX_FAST_FREE };

static struct rte_mbuf *
chain(void)
{
	struct rte_mbuf *mbuf = tx_rig_packet(1, 40);
	unsigned int i;

	for (i = 1; i < NB_SEGS; i++)
		assert_int_equal(rte_pktmbuf_chain(mbuf, tx_rig_packet(1, 10)), 0);
	return mbuf;
}

static void
device_goes(void)
{
	static struct tx_sent sent;

	while (tx_rig_send(&sent))
		assert_true(sent.len == 60 || sent.len == 50);
	tx_rig_complete();
}

static void
assert_pool_is_clean(void)
{
	struct rte_mbuf *mbufs[TX_RIG_MBUFS];
	unsigned int i;

	assert_int_equal(rte_pktmbuf_alloc_bulk(tx_rig.pool, mbufs, TX_RIG_MBUFS), 0);
	for (i = 0; i < TX_RIG_MBUFS; i++) {
		assert_null(mbufs[i]->next);
		assert_int_equal(mbufs[i]->nb_segs, 1);
	}
	rte_pktmbuf_free_bulk(mbufs, TX_RIG_MBUFS);
}

/** Each way of freeing leaves mbufs as those of a pool are: no next, one segment. */
static void
segments_go_back_by_themselves(void **state)
{
	struct rte_mbuf *pkts[8];
	unsigned int k, i, round;

	(void)state;
	for (k = 0; k < RTE_DIM(widths) * RTE_DIM(sets); k++) {
		eth_tx_burst_t burst = mdv_tx_select(sets[k % 2], widths[k / 2]);

		tx_rig_start();
		for (round = 0; round < 40; round++) {
			/* Chains, and single ones among them. */
			for (i = 0; i < RTE_DIM(pkts); i++)
				pkts[i] = (round + i) % 5 == 0 ? tx_rig_packet(1, 50) : chain();
			assert_int_equal(burst(&tx_rig.txq, pkts, RTE_DIM(pkts)), RTE_DIM(pkts));
			device_goes();
		}
		assert_int_equal(tx_rig.txq.count.packets, round * RTE_DIM(pkts));
		mdv_tx_done_cleanup(&tx_rig.txq, 0);
		mdv_txq_ring_release(&tx_rig.txq, tx_rig.txq.pos.head);
		assert_pool_is_clean();
		tx_rig_stop();
	}
}

/** A segment with another reference stays with its holder, and in its chain. */
static void
shared_segments_stay(void **state)
{
	struct rte_mbuf *pkts[8], *shared;
	unsigned int k, i;

	(void)state;
	for (k = 0; k < RTE_DIM(widths); k++) {
		tx_rig_start();
		for (i = 0; i < RTE_DIM(pkts); i++)
			pkts[i] = chain();
		shared = pkts[3]->next;
		rte_mbuf_refcnt_update(shared, 1);
		assert_int_equal(mdv_tx_select(MDV_TX_MULTI, widths[k])(&tx_rig.txq, pkts, 8), 8);
		device_goes();
		assert_int_equal(mdv_tx_select(MDV_TX_MULTI, widths[k])(&tx_rig.txq, pkts, 0), 0);
		assert_int_equal(rte_mempool_in_use_count(tx_rig.pool), 1);
		assert_int_equal(rte_mbuf_refcnt_read(shared), 1);
		rte_pktmbuf_free_seg(shared);
		tx_rig_stop();
	}
}

/** The caller asks for packets, and the queue frees mbufs. */
static void
chains_are_freed_on_request(void **state)
{
	static const struct {
		uint32_t ask;
		int freed;
	} steps[] = { { 1, 1 }, { 5, 5 }, { 0, 2 }, { 0, 0 } };
	struct rte_mbuf *pkts[8];
	unsigned int i, left = RTE_DIM(pkts);

	(void)state;
	tx_rig_start();
	for (i = 0; i < RTE_DIM(pkts); i++)
		pkts[i] = chain();
	assert_int_equal(mdv_tx_select(MDV_TX_MULTI, 256)(&tx_rig.txq, pkts, 8), 8);
	device_goes();
	for (i = 0; i < RTE_DIM(steps); i++) {
		assert_int_equal(mdv_tx_done_cleanup(&tx_rig.txq, steps[i].ask), steps[i].freed);
		left -= steps[i].freed;
		assert_int_equal(rte_mempool_in_use_count(tx_rig.pool), left * NB_SEGS);
	}
	assert_int_equal(left, 0);
	tx_rig_stop();
}

/** WQEs before the failed one are sent: of chains, of one segment, of many packets. */
static void
a_chain_fails(void **state)
{
	struct rte_mbuf *pkts[12];
	unsigned int k, i;

	(void)state;
	for (k = 0; k < RTE_DIM(widths); k++) {
		eth_tx_burst_t burst = mdv_tx_select(MDV_TX_MULTI, widths[k]);

		tx_rig_start();
		for (i = 0; i < 7; i++)
			pkts[i] = i == 3 ? tx_rig_packet(1, 50) : chain();
		assert_int_equal(burst(&tx_rig.txq, pkts, 7), 7);
		/* Chains at 0, 2, 4, the single one at 6, chains from 7 on. */
		((struct mlx5_err_cqe *)tx_rig_cqe(MLX5_CQE_REQ_ERR, 9))->syndrome =
			MLX5_CQE_SYNDROME_LOCAL_PROT_ERR;
		pkts[0] = tx_rig_packet(1, 51);
		assert_int_equal(burst(&tx_rig.txq, pkts, 1), 1);
		assert_int_equal(tx_rig.txq.errors, 2);
		assert_int_equal(tx_rig.txq.count.packets, 6);
		assert_int_equal(tx_rig.txq.count.bytes, 4 * 60 + 50 + 51);
		assert_int_equal(rte_mempool_in_use_count(tx_rig.pool), 1);
		tx_rig_stop();
	}
}

/** Room for mbufs ends before room for WQEBBs, and a chain goes out whole or waits. */
static void
a_chain_waits_for_room(void **state)
{
	struct rte_mbuf *pkts[TX_RIG_BBS];
	const unsigned int fit = TX_RIG_BBS / NB_SEGS;
	unsigned int k, i;

	(void)state;
	for (k = 0; k < RTE_DIM(widths); k++) {
		eth_tx_burst_t burst = mdv_tx_select(MDV_TX_MULTI, widths[k]);

		tx_rig_start();
		for (i = 0; i < fit + 4; i++)
			pkts[i] = chain();
		assert_int_equal(burst(&tx_rig.txq, pkts, fit + 4), fit);
		assert_int_equal(burst(&tx_rig.txq, pkts + fit, 4), 0);
		device_goes();
		assert_int_equal(burst(&tx_rig.txq, pkts + fit, 4), 4);
		device_goes();
		tx_rig_stop();
	}
}

/** The longest chain is sent from the smallest ring, however many packets wait for a completion to
 * be requested. */
static void
the_longest_chain_waits_for_no_completion_that_nobody_requests(void **state)
{
	struct rte_mbuf *pkts[TX_RIG_BBS], *longest;
	const unsigned int before = mdv_txq_request_min(TX_RIG_BBS) - 1;
	struct tx_sent sent;
	unsigned int i;

	(void)state;
	tx_rig_start();
	tx_rig_request_min(mdv_txq_request_min(TX_RIG_BBS));
	for (i = 0; i < before; i++)
		pkts[i] = tx_rig_packet(1, 50);
	longest = tx_rig_packet(1, 40);
	for (i = 1; i < MDV_TX_SEGS_MAX; i++)
		assert_int_equal(rte_pktmbuf_chain(longest, tx_rig_packet(1, 10)), 0);
	assert_int_equal(mdv_tx_select(MDV_TX_MULTI, 256)(&tx_rig.txq, pkts, before), before);
	while (tx_rig_send(&sent))
		;
	tx_rig_complete();
	assert_int_equal(mdv_tx_select(MDV_TX_MULTI, 256)(&tx_rig.txq, &longest, 1), 1);
	tx_rig_stop();
}

/** A chain that would fit into an empty ring alone, which this one never is again: mbufs wait for a
 * completion that nobody requests. It goes, and what comes behind it is sent. */
static void
a_chain_that_never_fits_is_dropped(void **state)
{
	struct rte_mbuf *one, *longest;
	struct tx_sent sent;
	unsigned int k, i;

	(void)state;
	for (k = 0; k < RTE_DIM(widths); k++) {
		eth_tx_burst_t burst = mdv_tx_select(MDV_TX_MULTI, widths[k]);

		tx_rig_start();
		tx_rig_request_min(mdv_txq_request_min(TX_RIG_BBS));
		one = tx_rig_packet(1, 50);
		assert_int_equal(burst(&tx_rig.txq, &one, 1), 1);
		while (tx_rig_send(&sent))
			;
		tx_rig_complete();
		longest = tx_rig_packet(1, 40);
		for (i = 1; i < TX_RIG_BBS; i++)
			assert_int_equal(rte_pktmbuf_chain(longest, tx_rig_packet(1, 10)), 0);
		assert_int_equal(burst(&tx_rig.txq, &longest, 1), 1);
		assert_int_equal(tx_rig.txq.errors, 1);
		one = tx_rig_packet(1, 50);
		assert_int_equal(burst(&tx_rig.txq, &one, 1), 1);
		assert_int_equal(tx_rig.txq.count.packets, 2);
		tx_rig_stop();
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(segments_go_back_by_themselves),
		cmocka_unit_test(shared_segments_stay),
		cmocka_unit_test(chains_are_freed_on_request),
		cmocka_unit_test(a_chain_fails),
		cmocka_unit_test(a_chain_waits_for_room),
		cmocka_unit_test(the_longest_chain_waits_for_no_completion_that_nobody_requests),
		cmocka_unit_test(a_chain_that_never_fits_is_dropped),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
