/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets at the bounds of the region that was hit last, among others that are in it. */
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
		assert_int_equal(tx_rig.txq.count.errors, 0);
		tx_rig_stop();
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_packet_beside_the_region),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
