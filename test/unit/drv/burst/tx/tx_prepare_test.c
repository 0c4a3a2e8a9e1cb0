/* SPDX-License-Identifier: BSD-3-Clause */
/* tx_prepare: the flags that a queue takes, and the checksum fields that it writes. */
#include <string.h>

#include <rte_errno.h>

#include "tx_rig.h"

#define VXLAN     MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_VXLAN
#define GRE       MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GRE
#define GENEVE    MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GENEVE
#define F(name)   RTE_MBUF_F_TX_##name
#define OFF(name) RTE_ETH_TX_OFFLOAD_##name

/* clang-format off */
static const struct {
	uint32_t max_tso;
	bool csum;
	uint32_t tunnels;
	uint64_t offloads;
	bool sw_parsing;
} tso[] = {
	{ 0, true, VXLAN | GRE, 0 },
	{ 1 << 18, false, VXLAN | GRE, 0 },
	{ 1 << 18, true, 0, OFF(TCP_TSO) },
	{ 1 << 18, true, VXLAN, OFF(TCP_TSO) | OFF(VXLAN_TNL_TSO) },
	{ 1 << 18, true, VXLAN | GRE | GENEVE,
		OFF(TCP_TSO) | OFF(VXLAN_TNL_TSO) | OFF(GRE_TNL_TSO) | OFF(GENEVE_TNL_TSO) },
	{ 1 << 18, true, 0, OFF(TCP_TSO) | OFF(UDP_TNL_TSO) | OFF(IP_TNL_TSO), true },
	{ 0, true, 0, 0, true },
};

/**
 * Flags of packets for a queue with these offloads, on a device with VXLAN and a software parser.
 */
static const struct {
	uint64_t offloads, ol_flags;
	int result;
} asked[] = {
	{ 0, 0, 0 },
	{ 0, F(IPV4) | F(OUTER_IPV6) | F(TUNNEL_GRE), 0 },
	{ 0, F(IPV4) | F(IP_CKSUM), ENOTSUP },
	{ 0, F(IPV4) | F(TCP_CKSUM), ENOTSUP },
	{ 0, F(VLAN), ENOTSUP },
	{ 0, F(IPV4) | F(IP_CKSUM) | F(TCP_SEG), ENOTSUP },
	{ 0, F(QINQ), ENOTSUP },
	{ 0, F(UDP_SEG), ENOTSUP },
	{ OFF(VLAN_INSERT), F(VLAN), 0 },
	{ OFF(IPV4_CKSUM), F(IPV4) | F(IP_CKSUM), 0 },
	{ OFF(IPV4_CKSUM), F(IPV6) | F(IP_CKSUM), EINVAL },
	{ OFF(TCP_CKSUM), F(IPV6) | F(TCP_CKSUM), 0 },
	{ OFF(TCP_CKSUM), F(TCP_CKSUM), EINVAL },
	{ OFF(TCP_CKSUM), F(IPV4) | F(UDP_CKSUM), ENOTSUP },
	{ OFF(UDP_CKSUM), F(IPV4) | F(UDP_CKSUM), 0 },
	{ OFF(UDP_CKSUM), F(IPV4) | F(SCTP_CKSUM), ENOTSUP },
	{ OFF(UDP_CKSUM), F(IPV4) | F(TCP_CKSUM), ENOTSUP },
	{ OFF(UDP_CKSUM) | OFF(TCP_CKSUM), F(IPV4) | F(SCTP_CKSUM), ENOTSUP },
	{ OFF(UDP_CKSUM) | OFF(TCP_CKSUM), F(IPV4) | F(TCP_CKSUM), 0 },
	{ OFF(UDP_CKSUM), F(IPV4) | F(UDP_CKSUM) | F(OUTER_UDP_CKSUM), ENOTSUP },
	{ OFF(OUTER_IPV4_CKSUM), F(OUTER_IPV4) | F(OUTER_IP_CKSUM) | F(TUNNEL_VXLAN), 0 },
	{ OFF(OUTER_IPV4_CKSUM), F(OUTER_IP_CKSUM) | F(TUNNEL_VXLAN), EINVAL },
	{ OFF(UDP_CKSUM), F(IPV4) | F(UDP_CKSUM) | F(TUNNEL_VXLAN), 0 },
	{ OFF(UDP_CKSUM), F(IPV4) | F(UDP_CKSUM) | F(TUNNEL_GENEVE), ENOTSUP },
	{ OFF(UDP_CKSUM), F(IPV4) | F(UDP_CKSUM) | F(TUNNEL_IPIP), ENOTSUP },
	{ OFF(TCP_TSO), F(IPV4) | F(IP_CKSUM) | F(TCP_SEG), 0 },
	{ OFF(TCP_TSO), F(IPV6) | F(TCP_SEG), 0 },
	{ OFF(TCP_TSO), F(IPV6) | F(TCP_SEG) | F(TCP_CKSUM), 0 },
	{ OFF(TCP_TSO), F(IPV6) | F(UDP_CKSUM), ENOTSUP },
	{ OFF(TCP_TSO), F(IPV4) | F(TCP_SEG), EINVAL },
	{ OFF(TCP_TSO), F(TCP_SEG), EINVAL },
	{ OFF(TCP_TSO), F(IPV6) | F(TCP_SEG) | F(TUNNEL_VXLAN), ENOTSUP },
	{ OFF(VXLAN_TNL_TSO), F(IPV6) | F(TCP_SEG) | F(TUNNEL_VXLAN), 0 },
	{ OFF(VXLAN_TNL_TSO), F(IPV6) | F(TCP_SEG), ENOTSUP },
	{ OFF(VXLAN_TNL_TSO) | OFF(GRE_TNL_TSO), F(IPV6) | F(TCP_SEG) | F(TUNNEL_GRE), ENOTSUP },
	{ OFF(UDP_CKSUM), F(IPV4) | F(UDP_CKSUM) | F(TUNNEL_UDP), ENOTSUP },
	{ OFF(UDP_CKSUM) | OFF(UDP_TNL_TSO), F(IPV4) | F(UDP_CKSUM) | F(TUNNEL_UDP), 0 },
	{ OFF(UDP_CKSUM) | OFF(UDP_TNL_TSO), F(IPV4) | F(UDP_CKSUM) | F(TUNNEL_IP), ENOTSUP },
	{ OFF(IP_TNL_TSO), F(IPV6) | F(TCP_SEG) | F(TUNNEL_IP), 0 },
	{ OFF(IP_TNL_TSO), F(IPV6) | F(TCP_SEG) | F(TUNNEL_UDP), ENOTSUP },
};
/* clang-format on */

static void
tso_is_offered_where_the_device_has_it(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < RTE_DIM(tso); i++) {
		const struct mdv_caps caps = {
			.max_tso_bytes = tso[i].max_tso,
			.tx_checksum = tso[i].csum,
			.tunnel_offloads = tso[i].tunnels,
			.sw_parsing = tso[i].sw_parsing,
		};

		assert_int_equal(mdv_tx_limits_tso_offloads(&caps), tso[i].offloads);
	}
}

/** Headers of @p l3 bytes of IP, in a tunnel or not, and 500 bytes behind. */
static struct rte_mbuf *
packet(uint64_t ol_flags)
{
	struct rte_mbuf *mbuf = tx_rig_packet(1, 500);

	/* Next headers that are not shifted into the sign bit (rte_ipv6_phdr_cksum()). */
	rte_pktmbuf_mtod(mbuf, uint8_t *)[14 + 6] = IPPROTO_UDP;
	rte_pktmbuf_mtod(mbuf, uint8_t *)[48 + 6] = IPPROTO_UDP;
	mbuf->ol_flags = ol_flags;
	mbuf->l2_len = 14;
	mbuf->l3_len = ol_flags & F(IPV6) ? 40 : 20;
	mbuf->l4_len = 20;
	mbuf->tso_segsz = 100;
	mbuf->outer_l2_len = 14;
	mbuf->outer_l3_len = 20;
	return mbuf;
}

static void
flags_are_what_the_queue_was_set_up_for(void **state)
{
	const struct mdv_caps caps = {
		.max_tso_bytes = 4000,
		.tx_checksum = true,
		.sw_parsing = true,
		.tunnel_offloads = VXLAN,
	};
	unsigned int i;

	(void)state;
	tx_rig_start();
	for (i = 0; i < RTE_DIM(asked); i++) {
		struct rte_mbuf *mbuf = packet(asked[i].ol_flags);
		uint16_t nb;

		tx_rig.txq.limits = mdv_tx_limits_of(&caps, asked[i].offloads);
		rte_errno = 0;
		nb = mdv_tx_prepare(&tx_rig.txq, &mbuf, 1);
		if (nb != (asked[i].result == 0) || rte_errno != asked[i].result)
			fail_msg("row %u: %u packets, errno %d", i, nb, rte_errno);
		rte_pktmbuf_free(mbuf);
	}
	tx_rig_stop();
}

static void
lengths_are_what_the_burst_takes(void **state)
{
	const struct mdv_caps caps = { .tx_checksum = true };
	struct rte_mbuf *mbuf;
	unsigned int i;

	(void)state;
	tx_rig_start();
	for (i = 0; i < 2; i++) {
		tx_rig.txq.limits =
			mdv_tx_limits_of(&caps, i == 0 ? 0 : OFF(MULTI_SEGS) | OFF(UDP_CKSUM));
		mbuf = tx_rig_packet(1, 18);
		assert_int_equal(mdv_tx_prepare(&tx_rig.txq, &mbuf, 1), 0);
		assert_int_equal(rte_errno, EINVAL);
		assert_int_equal(rte_pktmbuf_chain(mbuf, tx_rig_packet(1, 1)), 0);
		/* The queue takes a chain only with the offload. */
		assert_int_equal(mdv_tx_prepare(&tx_rig.txq, &mbuf, 1), i);
		mbuf->pkt_len = TX_RIG_FRAME_MAX + 1;
		assert_int_equal(mdv_tx_prepare(&tx_rig.txq, &mbuf, 1), 0);
		rte_pktmbuf_free(mbuf);
	}
	/* The lengths put the headers behind the packet's end. */
	mbuf = packet(F(IPV4) | F(UDP_CKSUM));
	rte_pktmbuf_trim(mbuf, 500 - 40);
	assert_int_equal(mdv_tx_prepare(&tx_rig.txq, &mbuf, 1), 0);
	assert_int_equal(rte_errno, EINVAL);
	rte_pktmbuf_free(mbuf);
	tx_rig_stop();
}

/** RFC 793 and RFC 8200, 8.1: the sum of the pseudo header, not complemented. */
static uint16_t
pseudo(const uint8_t *ip, bool ipv6, uint32_t length)
{
	const unsigned int first = ipv6 ? 8 : 12, nb = ipv6 ? 32 : 8;
	uint32_t sum = length + ip[ipv6 ? 6 : 9];
	unsigned int i;

	for (i = first; i < first + nb; i += 2)
		sum += ip[i] << 8 | ip[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/* clang-format off */
static const struct {
	uint64_t ol_flags;
	unsigned int ip;      /**< offset of the IP header the checksum belongs to */
	unsigned int field;   /**< of the L4 checksum in the L4 header */
	bool without_length;
} sums[] = {
	{ F(IPV4) | F(IP_CKSUM) | F(UDP_CKSUM), 14, 6, false },
	{ F(IPV4) | F(IP_CKSUM) | F(TCP_CKSUM), 14, 16, false },
	{ F(IPV6) | F(UDP_CKSUM), 14, 6, false },
	{ F(IPV4) | F(IP_CKSUM) | F(TCP_SEG), 14, 16, true },
	{ F(IPV6) | F(TCP_SEG), 14, 16, true },
	{ F(IPV4) | F(IP_CKSUM) | F(TCP_SEG) | F(TUNNEL_VXLAN) | F(OUTER_IPV4) | F(OUTER_IP_CKSUM),
		48, 16, true },
	{ F(IPV6) | F(UDP_CKSUM) | F(TUNNEL_VXLAN) | F(OUTER_IPV4) | F(OUTER_IP_CKSUM), 48, 6, false },
};
/* clang-format on */

/** Prepare a packet of which the first @p first bytes are in one mbuf, the rest in another. */
static void
check_sums(unsigned int k, uint32_t first)
{
	const uint64_t flags = sums[k].ol_flags;
	const bool ipv6 = (flags & F(IPV6)) != 0;
	const unsigned int ip = sums[k].ip, l4 = ip + (ipv6 ? 40 : 20);
	struct rte_mbuf *mbuf = packet(flags), *tail;
	uint8_t want[500], got[500], *bytes = rte_pktmbuf_mtod(mbuf, uint8_t *);
	uint16_t sum;

	/* Lengths that fit: 300 bytes behind the IP header. */
	bytes[ip] = ipv6 ? 0x60 : 0x45;
	bytes[ip + (ipv6 ? 4 : 2)] = (ipv6 ? 300 : 320) >> 8;
	bytes[ip + (ipv6 ? 5 : 3)] = (ipv6 ? 300 : 320) & 0xff;
	memcpy(want, bytes, sizeof(want));
	if (flags & F(IP_CKSUM))
		memset(want + ip + 10, 0, 2);
	if (flags & F(OUTER_IP_CKSUM))
		memset(want + 14 + 10, 0, 2);
	sum = pseudo(want + ip, ipv6, sums[k].without_length ? 0 : 300);
	want[l4 + sums[k].field] = sum >> 8;
	want[l4 + sums[k].field + 1] = sum & 0xff;
	tail = tx_rig_packet(1, 500 - first);
	memcpy(rte_pktmbuf_mtod(tail, void *), bytes + first, 500 - first);
	rte_pktmbuf_trim(mbuf, 500 - first);
	assert_int_equal(rte_pktmbuf_chain(mbuf, tail), 0);
	assert_int_equal(mdv_tx_prepare(&tx_rig.txq, &mbuf, 1), 1);
	assert_memory_equal(rte_pktmbuf_read(mbuf, 0, 500, got), want, 500);
	rte_pktmbuf_free(mbuf);
}

/** The headers are cut at every place. */
static void
fields_have_the_pseudo_headers_sum(void **state)
{
	const struct mdv_caps caps = {
		.max_tso_bytes = 4000,
		.tx_checksum = true,
		.tunnel_offloads = VXLAN,
	};
	uint32_t first;
	unsigned int k;

	(void)state;
	tx_rig_start();
	tx_rig.txq.limits = mdv_tx_limits_of(
		&caps, mdv_tx_limits_tso_offloads(&caps) | OFF(UDP_CKSUM) | OFF(MULTI_SEGS));
	for (k = 0; k < RTE_DIM(sums); k++) {
		for (first = 1; first < 130; first++)
			check_sums(k, first);
	}
	tx_rig_stop();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tso_is_offered_where_the_device_has_it),
		cmocka_unit_test(flags_are_what_the_queue_was_set_up_for),
		cmocka_unit_test(lengths_are_what_the_burst_takes),
		cmocka_unit_test(fields_have_the_pseudo_headers_sum),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
