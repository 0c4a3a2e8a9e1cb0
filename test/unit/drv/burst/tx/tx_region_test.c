/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets at the bounds of the region that was hit last and of the lengths of frames, among others
 * that are in both. */
#include "burst/tx/tx_copy.h"
#include "tx_rig.h"

#define NB 8u

static const unsigned int widths[] = { 0, 128, 256 };

/** Instances that look at regions in different ways: MDV_TX_VLAN has a WQE for each packet. */
static const struct {
	unsigned int opts;
	uint16_t inline_max;
	bool tagged;
} ways[] = {
	{ MDV_TX_FAST_FREE, 0, false },
	{ MDV_TX_CSUM | MDV_TX_MULTI, 0, false },
	{ MDV_TX_VLAN, 0, true },
	{ MDV_TX_INLINE_OPTS, 64, false },
	{ MDV_TX_INLINE_OPTS, 64, true },
};

static uintptr_t
start_of(const struct rte_mbuf *pkt)
{
	return rte_pktmbuf_mtod(pkt, uintptr_t);
}

/** Put the packet with the lowest or highest address at place @p at. */
static void
place(struct rte_mbuf **pkts, unsigned int at, bool highest)
{
	struct rte_mbuf *other = pkts[at];
	unsigned int found = 0;

	for (unsigned int i = 1; i < NB; i++)
		if (highest == (start_of(pkts[i]) > start_of(pkts[found])))
			found = i;
	pkts[at] = pkts[found];
	pkts[found] = other;
}

/** The packet at @p at is the first behind the region, or begins a byte before it. */
static void
send_beside(eth_tx_burst_t burst, bool tagged, unsigned int at, bool is_behind)
{
	static uint8_t want[NB][TX_RIG_FRAME_MAX];
	static struct tx_sent sent;
	struct rte_mbuf *pkts[NB];
	uint32_t lens[NB];

	for (unsigned int i = 0; i < NB; i++) {
		pkts[i] = tx_rig_packet(1, 200);
		if (tagged)
			pkts[i]->ol_flags |= RTE_MBUF_F_TX_VLAN;
	}
	place(pkts, at, is_behind);
	if (is_behind)
		tx_rig_region(4096, start_of(pkts[at]) - 4096);
	else
		tx_rig_region(start_of(pkts[at]) + 1, UINT32_MAX);
	for (unsigned int i = 0; i < NB; i++)
		lens[i] = tx_rig_expected(pkts[i], tagged, want[i]);
	assert_int_equal(burst(&tx_rig.txq, pkts, NB), NB);
	for (unsigned int i = 0; i < NB; i++) {
		assert_true(tx_rig_send(&sent));
		tx_rig_check(&sent, want[i], lens[i]);
	}
	assert_false(tx_rig_send(&sent));
	tx_rig_complete();
}

static void
a_packet_beside_the_region(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(widths) * RTE_DIM(ways); i++) {
		const unsigned int way = i % RTE_DIM(ways);
		const eth_tx_burst_t burst =
			mdv_tx_select(ways[way].opts, widths[i / RTE_DIM(ways)]);

		assert_non_null(burst);
		tx_rig_start();
		tx_rig.txq.ring.inline_max = ways[way].inline_max;
		tx_rig.txq.ring.inline_log2_bbs = mdv_tx_inline_log2_bbs(ways[way].inline_max);
		for (unsigned int at = 0; at < NB; at++) {
			send_beside(burst, ways[way].tagged, at, true);
			send_beside(burst, ways[way].tagged, at, false);
		}
		assert_int_equal(tx_rig.txq.errors, 0);
		tx_rig_stop();
	}
}

/** The queue's first burst, or the first one after regions have gone. */
static void
nothing_was_hit_yet(void **state)
{
	static uint8_t want[NB][TX_RIG_FRAME_MAX];
	static struct tx_sent sent;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(widths) * RTE_DIM(ways); i++) {
		const unsigned int way = i % RTE_DIM(ways);
		struct rte_mbuf *pkts[NB];
		uint32_t lens[NB];

		tx_rig_start();
		tx_rig.txq.ring.inline_max = ways[way].inline_max;
		tx_rig.txq.ring.inline_log2_bbs = mdv_tx_inline_log2_bbs(ways[way].inline_max);
		tx_rig_region(0, 0);
		for (unsigned int k = 0; k < NB; k++) {
			pkts[k] = tx_rig_packet(1, 200);
			if (ways[way].tagged)
				pkts[k]->ol_flags |= RTE_MBUF_F_TX_VLAN;
			lens[k] = tx_rig_expected(pkts[k], ways[way].tagged, want[k]);
		}
		assert_int_equal(mdv_tx_select(ways[way].opts, widths[i / RTE_DIM(ways)])(
					 &tx_rig.txq, pkts, NB),
			NB);
		for (unsigned int k = 0; k < NB; k++) {
			assert_true(tx_rig_send(&sent));
			tx_rig_check(&sent, want[k], lens[k]);
		}
		assert_int_equal(tx_rig.txq.errors, 0);
		tx_rig_complete();
		tx_rig_stop();
	}
}

/** In each place of four, as many bursts as the ring has room for. */
static void
send_of_length(eth_tx_burst_t burst, bool tagged, uint16_t len, bool is_good)
{
	struct rte_mbuf *pkts[NB];

	for (unsigned int at = 2; at < 2 + MDV_VEC_LANES; at++) {
		const struct mdv_tx_counters before = tx_rig.txq.count;
		const uint64_t errors = tx_rig.txq.errors;

		for (unsigned int i = 0; i < NB; i++) {
			pkts[i] = tx_rig_packet(1, 200);
			if (tagged)
				pkts[i]->ol_flags |= RTE_MBUF_F_TX_VLAN;
		}
		pkts[at]->data_len = pkts[at]->pkt_len = len;
		assert_int_equal(burst(&tx_rig.txq, pkts, NB), NB);
		assert_int_equal(tx_rig.txq.count.packets - before.packets, NB - !is_good);
		assert_int_equal(tx_rig.txq.errors - errors, !is_good);
		assert_int_equal(tx_rig.txq.count.bytes - before.bytes,
			(NB - 1) * 200 + (is_good ? len : 0));
	}
}

static void
lengths_at_the_bounds(void **state)
{
	static const struct {
		uint16_t len;
		bool is_good;
	} cases[] = {
		{ 0, false },
		{ MDV_TX_FRAME_MIN - 1, false },
		{ MDV_TX_FRAME_MIN, true },
		{ MDV_TX_FRAME_MAX, true },
		{ MDV_TX_FRAME_MAX + 1, false },
		{ UINT16_MAX, false },
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(widths) * RTE_DIM(ways) * RTE_DIM(cases); i++) {
		const unsigned int way = i / RTE_DIM(cases) % RTE_DIM(ways);
		const unsigned int width = widths[i / RTE_DIM(cases) / RTE_DIM(ways)];

		tx_rig_start();
		tx_rig.txq.ring.inline_max = ways[way].inline_max;
		tx_rig.txq.ring.inline_log2_bbs = mdv_tx_inline_log2_bbs(ways[way].inline_max);
		send_of_length(mdv_tx_select(ways[way].opts, width), ways[way].tagged,
			cases[i % RTE_DIM(cases)].len, cases[i % RTE_DIM(cases)].is_good);
		tx_rig_stop();
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lengths_at_the_bounds),
		cmocka_unit_test(nothing_was_hit_yet),
		cmocka_unit_test(a_packet_beside_the_region),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
