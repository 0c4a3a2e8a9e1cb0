/* SPDX-License-Identifier: BSD-3-Clause */
/* Header offsets that the device gets for packets in tunnels that it does not know, on hand-made
 * rings. */
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>

#include "burst/tx/tx_swp.h"
#include "tx_rig.h"

#define SEED    20261121
#define F(name) RTE_MBUF_F_TX_##name
#define LENGTH  400
#define MSS     50

static const struct mdv_caps caps = {
	.max_tso_bytes = 4000,
	.tx_checksum = true,
	.sw_parsing = true,
	.tunnel_offloads = MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_VXLAN,
};

/* clang-format off */
static const struct {
	uint64_t ol_flags;
	uint8_t outer_l3_len, l2_len, l3_len, l4_len;
	uint8_t swp[4]; /**< outer L4, outer L3, inner L4, inner L3 */
	uint8_t types, cs_flags;
} rows[] = {
	{ 0, 20, 30, 20, 20, { 0 }, 0, 0 },
	{ F(IPV4) | F(IP_CKSUM) | F(TCP_CKSUM), 20, 14, 20, 20, { 0 }, 0, 0xc0 },
	{ F(TUNNEL_VXLAN) | F(OUTER_IPV4) | F(IPV4) | F(IP_CKSUM) | F(TCP_CKSUM), 20, 30, 20, 20,
		{ 0 }, 0, 0x30 },
	{ F(TUNNEL_UDP) | F(OUTER_IPV4) | F(IPV4) | F(IP_CKSUM) | F(TCP_CKSUM), 20, 30, 20, 20,
		{ 17, 7, 42, 32 }, 0x20, 0x30 },
	{ F(TUNNEL_UDP) | F(OUTER_IPV6) | F(IPV6) | F(UDP_CKSUM), 40, 30, 40, 8,
		{ 27, 7, 62, 42 }, 0x33, 0x20 },
	{ F(TUNNEL_IP) | F(OUTER_IPV4) | F(OUTER_IP_CKSUM) | F(IPV4) | F(IP_CKSUM), 20, 4, 20, 20,
		{ 0, 7, 0, 19 }, 0, 0x50 },
	{ F(TUNNEL_IP) | F(OUTER_IPV6) | F(IPV4) | F(IP_CKSUM) | F(TCP_CKSUM), 40, 0, 20, 20,
		{ 0, 7, 37, 27 }, 0x10, 0x30 },
	/* No inner offload is requested. */
	{ F(TUNNEL_UDP) | F(OUTER_IPV4) | F(OUTER_IP_CKSUM), 20, 30, 0, 0, { 17, 7, 0, 0 }, 0x20,
		0x40 },
};
/* clang-format on */

static void
start(void)
{
	tx_rig_start();
	tx_rig.txq.limits = mdv_tx_limits_of(&caps,
		mdv_tx_limits_tso_offloads(&caps) | RTE_ETH_TX_OFFLOAD_MULTI_SEGS |
			RTE_ETH_TX_OFFLOAD_VLAN_INSERT | RTE_ETH_TX_OFFLOAD_UDP_CKSUM);
}

static struct rte_mbuf *
packet(unsigned int i, bool tagged, unsigned int nb_segs)
{
	struct rte_mbuf *mbuf = tx_rig_packet(1, LENGTH);

	while (mbuf->nb_segs < nb_segs)
		assert_int_equal(rte_pktmbuf_chain(mbuf, tx_rig_packet(1, 60)), 0);
	mbuf->ol_flags |= rows[i].ol_flags | (tagged ? F(VLAN) : 0);
	mbuf->vlan_tci = 77;
	mbuf->outer_l2_len = 14;
	mbuf->outer_l3_len = rows[i].outer_l3_len;
	mbuf->l2_len = rows[i].l2_len;
	mbuf->l3_len = rows[i].l3_len;
	mbuf->l4_len = rows[i].l4_len;
	return mbuf;
}

static void
check(unsigned int i, bool tagged, bool cut)
{
	static struct tx_sent sent;
	unsigned int k;

	assert_true(tx_rig_send(&sent));
	assert_int_equal(sent.cs_flags, rows[i].cs_flags);
	assert_int_equal(sent.mss, cut ? MSS : 0);
	for (k = 0; k < RTE_DIM(rows[i].swp); k++)
		assert_int_equal(
			sent.swp[k], rows[i].swp[k] + (tagged && rows[i].swp[k] != 0 ? 2 : 0));
	assert_int_equal(sent.swp_types, rows[i].types);
	assert_int_equal(sent.inserted, tagged && !cut);
}

/** A packet of one mbuf or several, in any order. */
static void
send_mixed(eth_tx_burst_t burst)
{
	unsigned int round, i[2 * RTE_DIM(rows)], k;

	srandom(SEED);
	start();
	for (round = 0; round < 50; round++) {
		struct rte_mbuf *pkts[RTE_DIM(i)];
		bool tagged[RTE_DIM(i)];

		for (k = 0; k < RTE_DIM(i); k++) {
			i[k] = random() % RTE_DIM(rows);
			tagged[k] = random() % 2;
			pkts[k] = packet(i[k], tagged[k], 1 + random() % 3);
		}
		assert_int_equal(burst(&tx_rig.txq, pkts, RTE_DIM(i)), RTE_DIM(i));
		for (k = 0; k < RTE_DIM(i); k++)
			check(i[k], tagged[k], false);
		tx_rig_complete();
	}
	assert_int_equal(tx_rig.txq.errors, 0);
	tx_rig_stop();
}

static void
each_packet_has_its_own_offsets(void **state)
{
	(void)state;
	for (unsigned int bits = 0; bits <= 256; bits += 128)
		send_mixed(mdv_tx_select(MDV_TX_SWP, bits));
}

static void
segments_have_them_too(void **state)
{
	const eth_tx_burst_t burst = mdv_tx_select(MDV_TX_SWP, 0);
	struct rte_mbuf *mbuf;
	unsigned int i, tagged;

	(void)state;
	start();
	for (i = 0; i < RTE_DIM(rows); i++) {
		if ((rows[i].ol_flags & F(L4_MASK)) != F(TCP_CKSUM))
			continue;
		for (tagged = 0; tagged < 2; tagged++) {
			mbuf = packet(i, tagged != 0, 1);
			mbuf->ol_flags |= F(TCP_SEG);
			mbuf->tso_segsz = MSS;
			assert_int_equal(burst(&tx_rig.txq, &mbuf, 1), 1);
			check(i, tagged != 0, true);
			tx_rig_complete();
		}
	}
	tx_rig_stop();
}

static void
offsets_are_even_and_within_reach(void **state)
{
	static const struct {
		uint8_t l2_len;
		uint16_t outer_l3_len;
		int result;
	} lengths[] = {
		{ 30, 20, 0 },
		{ 31, 20, EINVAL },
		{ 30, 60, 0 },
		{ 30, 446, 0 },
		/* 14 + 448 + 30 + 20 = 512 */
		{ 30, 448, EINVAL },
	};
	struct rte_mbuf *mbuf;
	unsigned int i;

	(void)state;
	start();
	for (i = 0; i < RTE_DIM(lengths); i++) {
		mbuf = packet(3, false, 4);
		mbuf->l2_len = lengths[i].l2_len;
		mbuf->outer_l3_len = lengths[i].outer_l3_len;
		rte_errno = 0;
		assert_int_equal(mdv_tx_prepare(&tx_rig.txq, &mbuf, 1), lengths[i].result == 0);
		assert_int_equal(rte_errno, lengths[i].result);
		rte_pktmbuf_free(mbuf);
	}
	tx_rig_stop();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_packet_has_its_own_offsets),
		cmocka_unit_test(segments_have_them_too),
		cmocka_unit_test(offsets_are_even_and_within_reach),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
