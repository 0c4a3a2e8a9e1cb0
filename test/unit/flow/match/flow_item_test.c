/* SPDX-License-Identifier: BSD-3-Clause */
/* Items: exact spec bytes, every refusal, every mask bit. */

#include <errno.h>
#include <string.h>

#include "base/compat.h"
#include "cause.h"
#include "fake_verbs.h"
#include "flow/match/flow_item.h"
#include "flow/rule/flow_probe.h"

#define BE16 RTE_BE16
#define BE32 RTE_BE32
#define MAC_A                                                                                      \
	{                                                                                          \
		{                                                                                  \
			0x02, 0x11, 0x22, 0x33, 0x44, 0x55                                         \
		}                                                                                  \
	}
#define MAC_B                                                                                      \
	{                                                                                          \
		{                                                                                  \
			0x02, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5                                         \
		}                                                                                  \
	}
#define MAC_ONES                                                                                   \
	{                                                                                          \
		{                                                                                  \
			0xff, 0xff, 0xff, 0xff, 0xff, 0xff                                         \
		}                                                                                  \
	}

/* clang-format off */
static const struct rte_flow_item_eth eth_full = {
	.hdr = { MAC_A, MAC_B, BE16(0x0800) } };
static const struct rte_flow_item_eth eth_full_mask = {
	.hdr = { MAC_ONES, MAC_ONES, BE16(0xffff) } };
static const struct rte_flow_item_eth eth_group = { .hdr.dst_addr = { { 0xff, 0xff } } };
static const struct rte_flow_item_eth eth_group_mask = { .hdr.dst_addr = { { 0x01 } } };
static const struct rte_flow_item_eth eth_type_mask = { .hdr.ether_type = BE16(0xffff) };
static const struct rte_flow_item_eth eth_type_high_mask = { .hdr.ether_type = BE16(0xff00) };
static const struct rte_flow_item_eth eth_ipv4 = { .hdr.ether_type = BE16(0x0800) };
static const struct rte_flow_item_eth eth_ipv6 = { .hdr.ether_type = BE16(0x86dd) };
static const struct rte_flow_item_eth eth_arp = { .hdr.ether_type = BE16(0x0806) };
static const struct rte_flow_item_eth eth_ctag = { .hdr.ether_type = BE16(0x8100) };
static const struct rte_flow_item_eth eth_stag = { .hdr.ether_type = BE16(0x88a8) };
static const struct rte_flow_item_eth eth_has_vlan = { .has_vlan = 1 };
static const struct rte_flow_item_eth eth_none;
static const struct rte_flow_item_eth eth_reserved = { .reserved = 1 };
static const struct rte_flow_item_vlan vlan_none, vlan_reserved = { .reserved = 1 };
static const struct rte_flow_item_vlan vlan_5 = { .hdr.vlan_tci = BE16(0x6005) };
static const struct rte_flow_item_vlan vlan_pcp_mask = { .hdr.vlan_tci = BE16(0xe000) };
static const struct rte_flow_item_vlan vlan_full = {
	.hdr = { BE16(0xb123), BE16(0x0806) } };
static const struct rte_flow_item_vlan vlan_full_mask = {
	.hdr = { BE16(0xffff), BE16(0xffff) } };
static const struct rte_flow_item_vlan vlan_type_mask = { .hdr.eth_proto = BE16(0xffff) };
static const struct rte_flow_item_vlan vlan_5_ctag = {
	.hdr = { BE16(0x0005), BE16(0x8100) } };
static const struct rte_flow_item_vlan vlan_5_ipv6 = {
	.hdr = { BE16(0x0005), BE16(0x86dd) } };
static const struct rte_flow_item_vlan vlan_more = { .has_more_vlan = 1 };
static const struct rte_flow_item_vlan vlan_more_mask = {
	.hdr.vlan_tci = BE16(0x0fff), .has_more_vlan = 1 };
static const struct rte_flow_item_ipv4 ipv4_full = { .hdr = {
	.type_of_service = 0xb8, .next_proto_id = 47,
	.src_addr = BE32(0x0a000001), .dst_addr = BE32(0x0a0000fe) } };
static const struct rte_flow_item_ipv4 ipv4_full_mask = { .hdr = {
	.type_of_service = 0xfc, .next_proto_id = 0xff,
	.src_addr = BE32(0xffffff00), .dst_addr = BE32(0xffffffff) } };
static const struct rte_flow_item_ipv4 ipv4_tcp = { .hdr.next_proto_id = 6 };
static const struct rte_flow_item_ipv4 ipv4_proto_mask = { .hdr.next_proto_id = 0xff };
static const struct rte_flow_item_ipv4 ipv4_ttl_mask = { .hdr.time_to_live = 0xf0 };
static const struct rte_flow_item_ipv4 ipv4_frag_mask = { .hdr.fragment_offset = BE16(0x2000) };
static const struct rte_flow_item_ipv6 ipv6_full = { .hdr = {
	.vtc_flow = BE32(0x6ab12345), .proto = 58, .hop_limits = 1,
	.src_addr = MDV_COMPAT_IPV6(0xfd, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
	.dst_addr = MDV_COMPAT_IPV6(0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1) } };
static const struct rte_flow_item_ipv6 ipv6_full_mask = { .hdr = {
	.vtc_flow = BE32(0x0fffffff), .proto = 0xff,
	.src_addr = MDV_COMPAT_IPV6(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
	.dst_addr = MDV_COMPAT_IPV6(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff) } };
static const struct rte_flow_item_ipv6 ipv6_label_mask = {
	.hdr.vtc_flow = BE32(0x000f00ff) };
static const struct rte_flow_item_ipv6 ipv6_version_mask = { .hdr.vtc_flow = BE32(0xf0000000) };
static const struct rte_flow_item_ipv6 ipv6_hop_mask = { .hdr.hop_limits = 0xff };
static const struct rte_flow_item_ipv6 ipv6_frag_mask = { .has_frag_ext = 1 };
static const struct rte_flow_item_ipv6 ipv6_udp = { .hdr.proto = 17 };
static const struct rte_flow_item_ipv6 ipv6_proto_mask = { .hdr.proto = 0xff };
static const struct rte_flow_item_tcp tcp_ports = { .hdr = {
	.src_port = BE16(0x1234), .dst_port = BE16(0x01bb) } };
static const struct rte_flow_item_tcp tcp_flags_mask = { .hdr.tcp_flags = 0x02 };
static const struct rte_flow_item_tcp tcp_ports_last = { .hdr = {
	.src_port = BE16(0x1234), .dst_port = BE16(0x01bc) } };
static const struct rte_flow_item_tcp tcp_dst_mask = { .hdr.dst_port = BE16(0xfff0) };
static const struct rte_flow_item_udp udp_dns = { .hdr.dst_port = BE16(53) };
static const struct rte_flow_item_udp udp_dst_mask = { .hdr.dst_port = BE16(0xffff) };
static const struct rte_flow_item_udp udp_sum_mask = { .hdr.dgram_cksum = BE16(0xffff) };

#define ETH_A	    "021122334455"
#define ETH_B	    "02a1a2a3a4a5"
#define ETH_ONES    "ffffffffffff"

static const struct golden {
	const char *name;
	const struct rte_flow_item *pattern;
	const char *specs;
	uint32_t layers;
} goldens[] = {
	{ "nothing", (const struct rte_flow_item[]){ { .type = RTE_FLOW_ITEM_TYPE_END } }, "", 0 },
	{ "void", PATTERN(ITEM(VOID), ITEM(VOID)), "", 0 },
	{ "eth", PATTERN(ITEM(ETH)), HEX_ANY_ETH, MDV_LAYER_ETH },
	{ "eth default mask", PATTERN(ITEM_SPEC(ETH, &eth_full)),
		HEX_ETH(ETH_A ETH_B "0000 0000", ETH_ONES ETH_ONES "0000 0000"), MDV_LAYER_ETH },
	{ "eth full", PATTERN(ITEM_MASK(ETH, &eth_full, &eth_full_mask)),
		HEX_ETH(ETH_A ETH_B "0800 0000", ETH_ONES ETH_ONES "ffff 0000"), MDV_LAYER_ETH },
	{ "eth partial mask, value outside it cleared",
		PATTERN(ITEM_MASK(ETH, &eth_group, &eth_group_mask)),
		HEX_ETH("010000000000" HEX_0_6 HEX_0_4, "010000000000" HEX_0_6 HEX_0_4),
		MDV_LAYER_ETH },
	{ "eth type high byte", PATTERN(ITEM_MASK(ETH, &eth_ipv6, &eth_type_high_mask)),
		HEX_ETH(HEX_0_12 "8600 0000", HEX_0_12 "ff00 0000"), MDV_LAYER_ETH },
	{ "eth mask without a bit", PATTERN(ITEM_MASK(ETH, &eth_full, &eth_none)), HEX_ANY_ETH,
		MDV_LAYER_ETH },
	{ "eth last equals spec",
		PATTERN(ITEM_LAST(ETH, &eth_full, &eth_full, &eth_full_mask)),
		HEX_ETH(ETH_A ETH_B "0800 0000", ETH_ONES ETH_ONES "ffff 0000"), MDV_LAYER_ETH },
	{ "vlan vid by default mask", PATTERN(ITEM(ETH), ITEM_SPEC(VLAN, &vlan_5)),
		HEX_ETH(HEX_0_12 "0000 0005", HEX_0_12 "0000 0fff"),
		MDV_LAYER_ETH | MDV_LAYER_VLAN },
	{ "vlan pcp", PATTERN(ITEM(ETH), ITEM_MASK(VLAN, &vlan_5, &vlan_pcp_mask)),
		HEX_ETH(HEX_0_12 "0000 6000", HEX_0_12 "0000 e000"),
		MDV_LAYER_ETH | MDV_LAYER_VLAN },
	{ "vlan full", PATTERN(ITEM_SPEC(ETH, &eth_full),
		ITEM_MASK(VLAN, &vlan_full, &vlan_full_mask)),
		HEX_ETH(ETH_A ETH_B "0806 b123", ETH_ONES ETH_ONES "ffff ffff"),
		MDV_LAYER_ETH | MDV_LAYER_VLAN },
	{ "vlan without eth", PATTERN(ITEM_SPEC(VLAN, &vlan_5)),
		HEX_ETH(HEX_0_12 "0000 0005", HEX_0_12 "0000 0fff"), MDV_LAYER_VLAN },
	{ "vlan, its type given to eth",
		PATTERN(ITEM_MASK(ETH, &eth_ctag, &eth_type_mask), ITEM_SPEC(VLAN, &vlan_5)),
		HEX_ETH(HEX_0_12 "0000 0005", HEX_0_12 "0000 0fff"),
		MDV_LAYER_ETH | MDV_LAYER_VLAN },
	{ "any tag", PATTERN(ITEM(ETH), ITEM(VLAN)),
		HEX_ETH(HEX_0_12 "0000 0000", HEX_0_12 "0000 1000"), MDV_LAYER_ETH | MDV_LAYER_VLAN },
	{ "any tag, what follows", PATTERN(ITEM_MASK(VLAN, &vlan_full, &vlan_type_mask)),
		HEX_ETH(HEX_0_12 "0806 0000", HEX_0_12 "ffff 1000"), MDV_LAYER_VLAN },
	{ "has_vlan with a vlan item",
		PATTERN(ITEM_MASK(ETH, &eth_has_vlan, &eth_has_vlan), ITEM_SPEC(VLAN, &vlan_5)),
		HEX_ETH(HEX_0_12 "0000 0005", HEX_0_12 "0000 0fff"),
		MDV_LAYER_ETH | MDV_LAYER_VLAN },
	{ "vlan, inner type folded into ipv6",
		PATTERN(ITEM_MASK(VLAN, &vlan_5_ipv6, &vlan_full_mask), ITEM(IPV6)),
		HEX_ETH(HEX_0_12 "0000 0005", HEX_0_12 "0000 ffff") HEX_ANY_IPV6,
		MDV_LAYER_VLAN | MDV_LAYER_IPV6 },
	{ "ipv4", PATTERN(ITEM(ETH), ITEM(IPV4)), HEX_ANY_ETH HEX_ANY_IPV4,
		MDV_LAYER_ETH | MDV_LAYER_IPV4 },
	{ "ipv4 alone", PATTERN(ITEM(IPV4)), HEX_ANY_IPV4, MDV_LAYER_IPV4 },
	{ "ipv4 default mask", PATTERN(ITEM_SPEC(IPV4, &ipv4_full)),
		HEX_IPV4("0a000001 0a0000fe 00 00 00 00", "ffffffff ffffffff 00 00 00 00"),
		MDV_LAYER_IPV4 },
	{ "ipv4 full", PATTERN(ITEM_MASK(IPV4, &ipv4_full, &ipv4_full_mask)),
		HEX_IPV4("0a000000 0a0000fe 2f b8 00 00", "ffffff00 ffffffff ff fc 00 00"),
		MDV_LAYER_IPV4 },
	{ "ipv4 type given to eth is folded",
		PATTERN(ITEM_MASK(ETH, &eth_full, &eth_full_mask), ITEM(IPV4)),
		HEX_ETH(ETH_A ETH_B "0000 0000", ETH_ONES ETH_ONES "0000 0000") HEX_ANY_IPV4,
		MDV_LAYER_ETH | MDV_LAYER_IPV4 },
	{ "ipv6 default mask", PATTERN(ITEM_SPEC(IPV6, &ipv6_full)),
		HEX_IPV6("fd0102030405060708090a0b0c0d0e0f ff020000000000000000000000000001"
			 "00000000 00 00 00 00",
			"ffffffffffffffffffffffffffffffff ffffffffffffffffffffffffffffffff"
			"00000000 00 00 00 00"), MDV_LAYER_IPV6 },
	{ "ipv6 full", PATTERN(ITEM_MASK(IPV6, &ipv6_full, &ipv6_full_mask)),
		HEX_IPV6("fd010203040506070000000000000000 ff020000000000000000000000000001"
			 "00012345 3a ab 00 00",
			"ffffffffffffffff0000000000000000 ffffffffffffffffffffffffffffffff"
			"000fffff ff ff 00 00"), MDV_LAYER_IPV6 },
	{ "ipv6 part of the label", PATTERN(ITEM_MASK(IPV6, &ipv6_full, &ipv6_label_mask)),
		HEX_IPV6(HEX_0_16 HEX_0_16 "00010045 00 00 00 00",
			HEX_0_16 HEX_0_16 "000f00ff 00 00 00 00"), MDV_LAYER_IPV6 },
	{ "tcp", PATTERN(ITEM(ETH), ITEM(IPV4), ITEM(TCP)),
		HEX_ANY_ETH HEX_ANY_IPV4 HEX_ANY_TCP,
		MDV_LAYER_ETH | MDV_LAYER_IPV4 | MDV_LAYER_TCP },
	{ "tcp default mask", PATTERN(ITEM(IPV6), ITEM_SPEC(TCP, &tcp_ports)),
		HEX_ANY_IPV6 HEX_TCP("01bb 1234", "ffff ffff"), MDV_LAYER_IPV6 | MDV_LAYER_TCP },
	{ "tcp partial", PATTERN(ITEM_MASK(TCP, &tcp_ports, &tcp_dst_mask)),
		HEX_TCP("01b0 0000", "fff0 0000"), MDV_LAYER_TCP },
	{ "udp", PATTERN(ITEM(VOID), ITEM(ETH), ITEM(VOID), ITEM(IPV4),
		ITEM_MASK(UDP, &udp_dns, &udp_dst_mask)),
		HEX_ANY_ETH HEX_ANY_IPV4 HEX_UDP("0035 0000", "ffff 0000"),
		MDV_LAYER_ETH | MDV_LAYER_IPV4 | MDV_LAYER_UDP },
	{ "udp over either ip", PATTERN(ITEM(UDP)), HEX_ANY_UDP, MDV_LAYER_UDP },
	{ "proto given to ipv4 is folded",
		PATTERN(ITEM_MASK(IPV4, &ipv4_tcp, &ipv4_proto_mask), ITEM(TCP)),
		HEX_ANY_IPV4 HEX_ANY_TCP, MDV_LAYER_IPV4 | MDV_LAYER_TCP },
	{ "proto given to ipv6 is folded",
		PATTERN(ITEM_MASK(IPV6, &ipv6_udp, &ipv6_proto_mask), ITEM(UDP)),
		HEX_ANY_IPV6 HEX_ANY_UDP, MDV_LAYER_IPV6 | MDV_LAYER_UDP },
};

static const struct refusal {
	const struct rte_flow_item *pattern;
	int code;
	enum rte_flow_error_type type;
	enum cause cause;
	unsigned int item;
	const char *message; /* begins like this */
} refusals[] = {
	{ PATTERN(ITEM_MASK(ETH, NULL, &eth_full_mask)), EINVAL, RTE_FLOW_ERROR_TYPE_ITEM_SPEC,
		CAUSE_ITEM, 0, "ETH: mask without spec" },
	{ PATTERN(ITEM(ETH), ITEM_LAST(IPV4, NULL, &ipv4_full, NULL)), EINVAL,
		RTE_FLOW_ERROR_TYPE_ITEM_SPEC, CAUSE_ITEM, 1, "IPV4: last without spec" },
	{ PATTERN(ITEM_LAST(TCP, &tcp_ports, &tcp_ports_last, NULL)), ENOTSUP,
		RTE_FLOW_ERROR_TYPE_ITEM_LAST, CAUSE_LAST, 0, "TCP dst port: last differs" },
	{ PATTERN(ITEM_MASK(ETH, &eth_none, &eth_has_vlan)), ENOTSUP,
		RTE_FLOW_ERROR_TYPE_ITEM_MASK, CAUSE_MASK, 0, "ETH has_vlan 0: " },
	{ PATTERN(ITEM_MASK(ETH, &eth_has_vlan, &eth_has_vlan)), ENOTSUP,
		RTE_FLOW_ERROR_TYPE_ITEM, CAUSE_ITEM, 0, "ETH has_vlan 1: " },
	{ PATTERN(ITEM_MASK(ETH, &eth_has_vlan, &eth_has_vlan), ITEM(IPV4)), ENOTSUP,
		RTE_FLOW_ERROR_TYPE_ITEM, CAUSE_ITEM, 0, "ETH has_vlan 1: " },
	{ PATTERN(ITEM_MASK(ETH, &eth_none, &eth_reserved)), ENOTSUP,
		RTE_FLOW_ERROR_TYPE_ITEM_MASK, CAUSE_MASK, 0, "ETH reserved bits: " },
	{ PATTERN(ITEM_MASK(ETH, &eth_ctag, &eth_type_mask)), ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM,
		CAUSE_ITEM, 0, "ETH type 0x8100: " },
	{ PATTERN(ITEM_MASK(ETH, &eth_stag, &eth_type_mask)), ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM,
		CAUSE_ITEM, 0, "ETH type 0x88a8: " },
	{ PATTERN(ITEM_MASK(ETH, &eth_stag, &eth_type_mask), ITEM_SPEC(VLAN, &vlan_5)), ENOTSUP,
		RTE_FLOW_ERROR_TYPE_ITEM, CAUSE_ITEM, 1,
		"VLAN: the device matches tags of type 0x8100 only, and the ETH item before it has "
		"type 0x88a8" },
	{ PATTERN(ITEM_MASK(ETH, &eth_ipv4, &eth_type_mask), ITEM_SPEC(VLAN, &vlan_5)), EINVAL,
		RTE_FLOW_ERROR_TYPE_ITEM, CAUSE_ITEM, 1, "VLAN: the device matches tags" },
	{ PATTERN(ITEM(ETH), ITEM_MASK(VLAN, &vlan_more, &vlan_more_mask)), ENOTSUP,
		RTE_FLOW_ERROR_TYPE_ITEM_MASK, CAUSE_MASK, 1, "VLAN has_more_vlan: " },
	{ PATTERN(ITEM(ETH), ITEM_MASK(VLAN, &vlan_none, &vlan_reserved)), ENOTSUP,
		RTE_FLOW_ERROR_TYPE_ITEM_MASK, CAUSE_MASK, 1, "VLAN reserved bits: " },
	{ PATTERN(ITEM(ETH), ITEM_MASK(VLAN, &vlan_5_ctag, &vlan_full_mask)), ENOTSUP,
		RTE_FLOW_ERROR_TYPE_ITEM, CAUSE_ITEM, 1, "VLAN inner_type 0x8100: " },
	{ PATTERN(ITEM(ETH), ITEM_SPEC(VLAN, &vlan_5), ITEM_SPEC(VLAN, &vlan_5)), ENOTSUP,
		RTE_FLOW_ERROR_TYPE_ITEM, CAUSE_ITEM, 2, "VLAN: cannot follow VLAN" },
	{ PATTERN(ITEM_MASK(ETH, &eth_arp, &eth_type_mask), ITEM(IPV4)), EINVAL,
		RTE_FLOW_ERROR_TYPE_ITEM, CAUSE_ITEM, 1,
		"IPV4: contradicts the Ethernet type 0x0806" },
	{ PATTERN(ITEM_MASK(ETH, &eth_ipv4, &eth_type_mask), ITEM(IPV6)), EINVAL,
		RTE_FLOW_ERROR_TYPE_ITEM, CAUSE_ITEM, 1,
		"IPV6: contradicts the Ethernet type 0x0800" },
	{ PATTERN(ITEM_MASK(IPV4, &ipv4_full, &ipv4_ttl_mask)), ENOTSUP,
		RTE_FLOW_ERROR_TYPE_ITEM_MASK, CAUSE_MASK, 0, "IPV4 ttl: " },
	{ PATTERN(ITEM_MASK(IPV4, &ipv4_full, &ipv4_frag_mask)), ENOTSUP,
		RTE_FLOW_ERROR_TYPE_ITEM_MASK, CAUSE_MASK, 0, "IPV4 fragment_offset: " },
	{ PATTERN(ITEM_MASK(IPV6, &ipv6_full, &ipv6_version_mask)), ENOTSUP,
		RTE_FLOW_ERROR_TYPE_ITEM_MASK, CAUSE_MASK, 0, "IPV6 version: " },
	{ PATTERN(ITEM_MASK(IPV6, &ipv6_full, &ipv6_hop_mask)), ENOTSUP,
		RTE_FLOW_ERROR_TYPE_ITEM_MASK, CAUSE_MASK, 0, "IPV6 hop limit: " },
	{ PATTERN(ITEM_MASK(IPV6, &ipv6_full, &ipv6_frag_mask)), ENOTSUP,
		RTE_FLOW_ERROR_TYPE_ITEM_MASK, CAUSE_MASK, 0, "IPV6 has_frag_ext: " },
	{ PATTERN(ITEM_MASK(TCP, &tcp_ports, &tcp_flags_mask)), ENOTSUP,
		RTE_FLOW_ERROR_TYPE_ITEM_MASK, CAUSE_MASK, 0, "TCP flags: " },
	{ PATTERN(ITEM_MASK(UDP, &udp_dns, &udp_sum_mask)), ENOTSUP,
		RTE_FLOW_ERROR_TYPE_ITEM_MASK, CAUSE_MASK, 0, "UDP checksum: " },
	{ PATTERN(ITEM_MASK(IPV4, &ipv4_tcp, &ipv4_proto_mask), ITEM(UDP)), EINVAL,
		RTE_FLOW_ERROR_TYPE_ITEM, CAUSE_ITEM, 1, "UDP: contradicts the protocol" },
	{ PATTERN(ITEM(ETH), ITEM(UDP)), EINVAL, RTE_FLOW_ERROR_TYPE_ITEM, CAUSE_ITEM, 1,
		"UDP: cannot follow ETH; it may come first or follow IPV4, IPV6" },
	{ PATTERN(ITEM(IPV4), ITEM(ETH)), EINVAL, RTE_FLOW_ERROR_TYPE_ITEM, CAUSE_ITEM, 1,
		"ETH: cannot follow IPV4; it may come first" },
	{ PATTERN(ITEM(IPV4), ITEM(IPV6)), EINVAL, RTE_FLOW_ERROR_TYPE_ITEM, CAUSE_ITEM, 1,
		"IPV6: cannot follow IPV4" },
	{ PATTERN(ITEM(IPV4), ITEM(TCP), ITEM(UDP)), EINVAL, RTE_FLOW_ERROR_TYPE_ITEM,
		CAUSE_ITEM, 2, "UDP: cannot follow TCP" },
	{ PATTERN(ITEM(ETH), ITEM(ETH)), ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM, CAUSE_ITEM, 1,
		"ETH: cannot follow ETH" },
	{ PATTERN(ITEM(ETH), ITEM(IPV4), ITEM(VOID), ITEM(SCTP)), ENOTSUP,
		RTE_FLOW_ERROR_TYPE_ITEM, CAUSE_ITEM, 3, "item SCTP (" },
	{ PATTERN({ .type = (enum rte_flow_item_type)4711 }), ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM,
		CAUSE_ITEM, 0, "item unknown (4711): " },
};
/* clang-format on */

static void
test_goldens(void **state)
{
	struct mdv_flow_build build;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(goldens); i++) {
		const struct golden *golden = &goldens[i];
		struct rte_flow_error error = { .message = "" };

		if (mdv_flow_item_translate(golden->pattern, FAKE_FEATURES, &build, &error) != 0)
			fail_msg("%s: refused: %s", golden->name, error.message);
		fake_assert_bytes(
			golden->name, &build.bytes[20], build.attr.size - 20, golden->specs);
		assert_int_equal(build.layers, golden->layers);
	}
}

static void
test_refusals(void **state)
{
	struct mdv_flow_build build;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(refusals); i++) {
		const struct refusal *refusal = &refusals[i];
		struct rte_flow_error error = { .message = "accepted" };
		int ret = mdv_flow_item_translate(refusal->pattern, FAKE_FEATURES, &build, &error);

		if (ret != -refusal->code || error.type != refusal->type ||
			error.cause != cause_of(&refusal->pattern[refusal->item], refusal->cause) ||
			strncmp(error.message, refusal->message, strlen(refusal->message)) != 0)
			fail_msg("\"%s\" expected, got %d, type %d, \"%s\"", refusal->message, ret,
				error.type, error.message);
		assert_int_equal(rte_errno, refusal->code);
		assert_int_equal(
			mdv_flow_item_translate(refusal->pattern, FAKE_FEATURES, &build, NULL),
			-refusal->code);
	}
}

/** Each bit of each item's mask alone: matched as that one bit, or refused by the field's name. */
static void
test_mask_bits(void **state)
{
	/* clang-format off */
	static const struct {
		enum rte_flow_item_type type;
		unsigned int bytes, matched, padding;
		const char *name;
	} items[] = {
		{ RTE_FLOW_ITEM_TYPE_ETH, sizeof(struct rte_flow_item_eth), 48 + 48 + 16, 16, "ETH " },
		{ RTE_FLOW_ITEM_TYPE_IPV4, sizeof(struct rte_flow_item_ipv4), 8 + 8 + 32 + 32, 0, "IPV4 " },
		{ RTE_FLOW_ITEM_TYPE_IPV6, sizeof(struct rte_flow_item_ipv6), 28 + 8 + 256, 0, "IPV6 " },
		{ RTE_FLOW_ITEM_TYPE_TCP, sizeof(struct rte_flow_item_tcp), 32, 0, "TCP " },
		{ RTE_FLOW_ITEM_TYPE_UDP, sizeof(struct rte_flow_item_udp), 32, 0, "UDP " },
	};
	/* clang-format on */

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(items); i++) {
		unsigned int matched = 0, padding = 0;

		for (unsigned int bit = 0; bit < items[i].bytes * 8; bit++) {
			uint64_t spec[8], mask[8] = { 0 };
			struct rte_flow_item pattern[] = { { items[i].type, spec, NULL, mask },
				{ .type = RTE_FLOW_ITEM_TYPE_END } };
			struct rte_flow_error error = { .message = "" };
			struct mdv_flow_build build;
			unsigned int ones = 0;
			int ret;

			memset(spec, 0xff, sizeof(spec));
			((uint8_t *)mask)[bit / 8] = 1u << bit % 8;
			ret = mdv_flow_item_translate(pattern, FAKE_FEATURES, &build, &error);
			if (ret != 0) {
				assert_int_equal(ret, -ENOTSUP);
				assert_memory_equal(
					error.message, items[i].name, strlen(items[i].name));
				continue;
			}
			for (unsigned int at = 26; at < build.attr.size; at++)
				ones += __builtin_popcount(build.bytes[at]);
			/* One in the value, one in the mask; none: padding of the item. */
			assert_true(ones == 2 || ones == 0);
			matched += ones / 2;
			padding += ones == 0;
		}
		assert_int_equal(padding, items[i].padding);
		assert_int_equal(matched, items[i].matched);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_goldens),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_mask_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
