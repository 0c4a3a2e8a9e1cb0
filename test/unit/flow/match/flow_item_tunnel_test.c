/* SPDX-License-Identifier: BSD-3-Clause */
/* Tunnels, their content, MPLS at its places, ANY: exact spec bytes and refusals. */

#include <errno.h>
#include <string.h>

#include "cause.h"
#include "fake_verbs.h"
#include "flow/match/flow_feature.h"
#include "flow/match/flow_item.h"

#define BE16 RTE_BE16
#define BE32 RTE_BE32
#define ALL  UINT32_MAX
#define OURS FAKE_FEATURES

/* clang-format off */
static const struct rte_flow_item_eth type_mpls_m = { .hdr.ether_type = BE16(0x8848) };
static const struct rte_flow_item_eth type_ipv4 = { .hdr.ether_type = BE16(0x0800) };
static const struct rte_flow_item_eth type_mask = { .hdr.ether_type = BE16(0xffff) };
static const struct rte_flow_item_eth type_stag = { .hdr.ether_type = BE16(0x88a8) };
static const struct rte_flow_item_eth has_vlan = { .has_vlan = 1 };
static const struct rte_flow_item_vlan vlan_5 = { .hdr.vlan_tci = BE16(5) };
static const struct rte_flow_item_ipv4 dst_10 = { .hdr.dst_addr = BE32(0x0a000001) };
static const struct rte_flow_item_ipv4 dst_mask = { .hdr.dst_addr = BE32(0xffffffff) };
static const struct rte_flow_item_ipv4 ttl_5 = { .hdr.time_to_live = 5 };
static const struct rte_flow_item_ipv4 ttl_mask = { .hdr.time_to_live = 0xf0 };
static const struct rte_flow_item_ipv4 flags_mf = { .hdr.fragment_offset = BE16(0x2000) };
static const struct rte_flow_item_ipv4 flags_mask = { .hdr.fragment_offset = BE16(0x6000) };
static const struct rte_flow_item_ipv4 offset_mask = { .hdr.fragment_offset = BE16(0x0001) };
static const struct rte_flow_item_ipv4 proto_tcp = { .hdr.next_proto_id = 6 };
static const struct rte_flow_item_ipv4 proto_gre = { .hdr.next_proto_id = 47 };
static const struct rte_flow_item_ipv4 proto_mask = { .hdr.next_proto_id = 0xff };
static const struct rte_flow_item_ipv6 hop_1 = { .hdr.hop_limits = 1 };
static const struct rte_flow_item_ipv6 hop_mask = { .hdr.hop_limits = 0xff };
static const struct rte_flow_item_udp port_53 = { .hdr.dst_port = BE16(53) };
static const struct rte_flow_item_udp port_8472 = { .hdr.dst_port = BE16(8472) };
static const struct rte_flow_item_udp port_mask = { .hdr.dst_port = BE16(0xffff) };
static const struct rte_flow_item_udp port_high = { .hdr.dst_port = BE16(0xff00) };
static const struct rte_flow_item_udp port_4700 = { .hdr.dst_port = BE16(0x12ff) };
static const struct rte_flow_item_udp src_7 = { .hdr.src_port = BE16(7) };
static const struct rte_flow_item_tcp tcp_80 = { .hdr.dst_port = BE16(80) };
static const struct rte_flow_item_tcp tcp_dst = { .hdr.dst_port = BE16(0xffff) };
static const struct rte_flow_item_vxlan vni_42 = { .hdr.vx_vni = BE32(42 << 8) };
static const struct rte_flow_item_vxlan vni_part = { .hdr.vx_vni = BE32(0x00ff0000) };
static const struct rte_flow_item_vxlan vxlan_flags = { .hdr.vx_flags = BE32(0x08000000) };
static const struct rte_flow_item_vxlan vxlan_rsvd = { .hdr.vx_vni = BE32(1) };
static const struct rte_flow_item_gre gre_ipv6 = { .protocol = BE16(0x86dd) };
static const struct rte_flow_item_gre gre_k = { .c_rsvd0_ver = BE16(0x2000) };
static const struct rte_flow_item_gre_opt option_7 = { .key.key = BE32(7) };
static const struct rte_flow_item_gre_opt option_sum = { .checksum_rsvd.checksum = BE16(1) };
static const rte_be32_t key_7 = BE32(7), key_mask = BE32(0xff), key_none;
static const struct rte_flow_item_nvgre tni_5 = { .tni = { 0, 0, 5 }, .flow_id = 9,
	.protocol = BE16(0x6558) };
static const struct rte_flow_item_nvgre nvgre_all = { .tni = { 0xff, 0xff, 0xff },
	.flow_id = 0xff, .protocol = BE16(0xffff) };
static const struct rte_flow_item_nvgre nvgre_ip = { .protocol = BE16(0x0800) };
static const struct rte_flow_item_mpls label_16 = { .label_tc_s = { 0, 1, 0x0b }, .ttl = 64 };
static const struct rte_flow_item_mpls mpls_all = { .label_tc_s = { 0xff, 0xff, 0xff },
	.ttl = 0xff };
static const struct rte_flow_item_esp esp_5 = { .hdr = { BE32(5), BE32(6) } };
static const struct rte_flow_item_esp esp_all = { .hdr = { BE32(UINT32_MAX), BE32(UINT32_MAX) } };
static const struct rte_flow_item_any any_0 = { 0 }, any_1 = { 1 }, any_2 = { 2 }, any_3 = { 3 };
static const struct rte_flow_item_any any_mask = { UINT32_MAX }, any_part = { 3 };

#define ANY(n) ITEM_MASK(ANY, &any_##n, &any_mask)
#define HEX_TYPE(type)	HEX_ETH(HEX_0_12 type "0000", HEX_0_12 "ffff 0000")
#define HEX_PROTO(n)	HEX_IPV4("00000000 00000000 " n "000000", "00000000 00000000 ff000000")
#define HEX_PORT(port)	HEX_UDP(port "0000", "ffff 0000")
#define HEX_P4789	HEX_PORT("12b5")
#define HEX_P6635	HEX_PORT("19eb")
#define HEX_ANY_VXLAN	HEX_VXLAN("00000000", "00000000")
#define HEX_GRE_TYPE(type) HEX_GRE("0000" type "00000000", "0000 ffff 00000000")
#define HEX_ANY_GRE	HEX_GRE("0000 0000 00000000", "0000 0000 00000000")
#define HEX_LABEL	HEX_MPLS("00010000", "fffff000")
#define HEX_IN_ANY_ETH	HEX_IN_ETH(HEX_0_16, HEX_0_16)
#define HEX_IN_ANY_IPV4	HEX_IN_IPV4(HEX_0_12, HEX_0_12)
#define HEX_IN_ANY_IPV6 HEX_IN_IPV6(HEX_0_16 HEX_0_16 HEX_0_4 HEX_0_4, \
	HEX_0_16 HEX_0_16 HEX_0_4 HEX_0_4)
#define HEX_IN_ANY_TCP	HEX_IN_TCP(HEX_0_4, HEX_0_4)
#define HEX_IN_ANY_UDP	HEX_IN_UDP(HEX_0_4, HEX_0_4)
#define IN(layers)	MDV_LAYER_INNER(layers)

static const struct golden {
	const char *name;
	uint32_t features;
	const struct rte_flow_item *pattern;
	const char *specs;
	uint32_t layers;
} goldens[] = {
	{ "ttl, in part", ALL, PATTERN(ITEM_MASK(IPV4, &ttl_5, &ttl_mask)),
		HEX_IPV4(HEX_0_4 HEX_0_4 "00000000", HEX_0_4 HEX_0_4 "0000f000"), MDV_LAYER_IPV4 },
	{ "first and middle fragments", ALL, PATTERN(ITEM_MASK(IPV4, &flags_mf, &flags_mask)),
		HEX_IPV4(HEX_0_4 HEX_0_4 "00000004", HEX_0_4 HEX_0_4 "00000006"), MDV_LAYER_IPV4 },
	{ "hop limit", ALL, PATTERN(ITEM_MASK(IPV6, &hop_1, &hop_mask)),
		HEX_IPV6(HEX_0_16 HEX_0_16 HEX_0_4 "00000100", HEX_0_16 HEX_0_16 HEX_0_4 "0000ff00"),
		MDV_LAYER_IPV6 },
	{ "vxlan", OURS, PATTERN(ITEM(ETH), ITEM(IPV4), ITEM(UDP), ITEM(VXLAN)),
		HEX_ANY_ETH HEX_ANY_IPV4 HEX_P4789 HEX_ANY_VXLAN,
		MDV_LAYER_ETH | MDV_LAYER_IPV4 | MDV_LAYER_UDP | MDV_LAYER_VXLAN },
	{ "vxlan alone", OURS, PATTERN(ITEM_SPEC(VXLAN, &vni_42)),
		HEX_P4789 HEX_VXLAN("0000002a", "00ffffff"), MDV_LAYER_UDP | MDV_LAYER_VXLAN },
	{ "vxlan, part of the vni", OURS, PATTERN(ITEM_MASK(VXLAN, &vni_42, &vni_part)),
		HEX_P4789 HEX_VXLAN("00000000", "0000ff00"), MDV_LAYER_UDP | MDV_LAYER_VXLAN },
	{ "vxlan on another port", OURS,
		PATTERN(ITEM_MASK(UDP, &port_8472, &port_mask), ITEM(VXLAN)),
		HEX_PORT("2118") HEX_ANY_VXLAN, MDV_LAYER_UDP | MDV_LAYER_VXLAN },
	{ "vxlan, part of the port", OURS,
		PATTERN(ITEM_MASK(UDP, &port_4700, &port_high), ITEM(VXLAN)),
		HEX_P4789 HEX_ANY_VXLAN, MDV_LAYER_UDP | MDV_LAYER_VXLAN },
	{ "vxlan, source port stays", OURS, PATTERN(ITEM_MASK(UDP, &src_7, &src_7), ITEM(VXLAN)),
		HEX_UDP("12b5 0007", "ffff 0007") HEX_ANY_VXLAN, MDV_LAYER_UDP | MDV_LAYER_VXLAN },
	{ "all of vxlan", OURS, PATTERN(ITEM(ETH), ITEM(IPV6), ITEM(UDP), ITEM_SPEC(VXLAN, &vni_42),
		ITEM(ETH), ITEM_SPEC(VLAN, &vlan_5), ITEM_MASK(IPV4, &dst_10, &dst_mask),
		ITEM_MASK(TCP, &tcp_80, &tcp_dst)),
		HEX_ANY_ETH HEX_ANY_IPV6 HEX_P4789 HEX_VXLAN("0000002a", "00ffffff")
		HEX_IN_ETH(HEX_0_12 "0000 0005", HEX_0_12 "0000 0fff")
		HEX_IN_IPV4("00000000 0a000001 00000000", "00000000 ffffffff 00000000")
		HEX_IN_TCP("0050 0000", "ffff 0000"),
		MDV_LAYER_ETH | MDV_LAYER_IPV6 | MDV_LAYER_UDP | MDV_LAYER_VXLAN |
		IN(MDV_LAYER_ETH | MDV_LAYER_VLAN | MDV_LAYER_IPV4 | MDV_LAYER_TCP) },
	{ "inner protocol is folded", OURS, PATTERN(ITEM(VXLAN),
		ITEM_MASK(ETH, &type_ipv4, &type_mask), ITEM_MASK(IPV4, &proto_tcp, &proto_mask),
		ITEM(TCP)),
		HEX_P4789 HEX_ANY_VXLAN HEX_IN_ANY_ETH HEX_IN_ANY_IPV4 HEX_IN_ANY_TCP,
		MDV_LAYER_UDP | MDV_LAYER_VXLAN |
		IN(MDV_LAYER_ETH | MDV_LAYER_IPV4 | MDV_LAYER_TCP) },
	{ "gre", OURS, PATTERN(ITEM(ETH), ITEM(IPV4), ITEM(GRE)),
		HEX_ANY_ETH HEX_ANY_IPV4 HEX_ANY_GRE,
		MDV_LAYER_ETH | MDV_LAYER_IPV4 | MDV_LAYER_GRE },
	{ "gre protocol, ip protocol folded", OURS,
		PATTERN(ITEM_MASK(IPV4, &proto_gre, &proto_mask), ITEM_SPEC(GRE, &gre_ipv6)),
		HEX_ANY_IPV4 HEX_GRE_TYPE("86dd"), MDV_LAYER_IPV4 | MDV_LAYER_GRE },
	{ "gre flags", ALL, PATTERN(ITEM_MASK(GRE, &gre_k, &gre_k)),
		HEX_GRE("2000 0000 00000000", "2000 0000 00000000"), MDV_LAYER_GRE },
	{ "gre key", OURS, PATTERN(ITEM(IPV6), ITEM_SPEC(GRE, &gre_ipv6), ITEM_SPEC(GRE_KEY, &key_7)),
		HEX_ANY_IPV6 HEX_GRE("0000 86dd 00000007", "0000 ffff ffffffff"),
		MDV_LAYER_IPV6 | MDV_LAYER_GRE | MDV_LAYER_GRE_KEY },
	{ "gre option", OURS,
		PATTERN(ITEM(IPV6), ITEM_SPEC(GRE, &gre_ipv6), ITEM_SPEC(GRE_OPTION, &option_7)),
		HEX_ANY_IPV6 HEX_GRE("0000 86dd 00000007", "0000 ffff ffffffff"),
		MDV_LAYER_IPV6 | MDV_LAYER_GRE | MDV_LAYER_GRE_KEY },
	{ "gre key in part, carries ip", OURS,
		PATTERN(ITEM(GRE), ITEM_MASK(GRE_KEY, &key_7, &key_mask), ITEM(IPV4), ITEM(UDP)),
		HEX_GRE("0000 0800 00000007", "0000 ffff 000000ff") HEX_IN_ANY_IPV4 HEX_IN_ANY_UDP,
		MDV_LAYER_GRE | MDV_LAYER_GRE_KEY | IN(MDV_LAYER_IPV4 | MDV_LAYER_UDP) },
	{ "gre carries ipv6", OURS, PATTERN(ITEM(GRE), ITEM(IPV6)),
		HEX_GRE_TYPE("86dd") HEX_IN_ANY_IPV6, MDV_LAYER_GRE | IN(MDV_LAYER_IPV6) },
	{ "gre carries frames", OURS, PATTERN(ITEM(GRE), ITEM(ETH)),
		HEX_GRE_TYPE("6558") HEX_IN_ANY_ETH, MDV_LAYER_GRE | IN(MDV_LAYER_ETH) },
	{ "nvgre", OURS, PATTERN(ITEM(IPV4), ITEM(NVGRE)),
		HEX_ANY_IPV4 HEX_GRE_TYPE("6558"), MDV_LAYER_IPV4 | MDV_LAYER_NVGRE },
	{ "nvgre, all, and a frame", OURS,
		PATTERN(ITEM_MASK(NVGRE, &tni_5, &nvgre_all), ITEM(ETH), ITEM(IPV4)),
		HEX_GRE("0000 6558 00000509", "0000 ffff ffffffff") HEX_IN_ANY_ETH HEX_IN_ANY_IPV4,
		MDV_LAYER_NVGRE | IN(MDV_LAYER_ETH | MDV_LAYER_IPV4) },
	{ "mpls", OURS, PATTERN(ITEM(ETH), ITEM(MPLS)),
		HEX_TYPE("8847") HEX_MPLS("00000000", "00000000"), MDV_LAYER_ETH | MDV_LAYER_MPLS },
	{ "mpls, whole entry, other type", OURS,
		PATTERN(ITEM_MASK(ETH, &type_mpls_m, &type_mask), ITEM_MASK(MPLS, &label_16, &mpls_all)),
		HEX_TYPE("8848") HEX_MPLS("00010b40", "ffffffff"), MDV_LAYER_ETH | MDV_LAYER_MPLS },
	{ "mpls behind a tag, carries ip", OURS,
		PATTERN(ITEM_SPEC(VLAN, &vlan_5), ITEM_SPEC(MPLS, &label_16), ITEM(IPV4), ITEM(UDP)),
		HEX_ETH(HEX_0_12 "8847 0005", HEX_0_12 "ffff 0fff") HEX_LABEL HEX_ANY_IPV4 HEX_ANY_UDP,
		MDV_LAYER_VLAN | MDV_LAYER_MPLS | MDV_LAYER_IPV4 | MDV_LAYER_UDP },
	{ "mpls over udp", OURS,
		PATTERN(ITEM(IPV4), ITEM(UDP), ITEM_SPEC(MPLS, &label_16), ITEM(IPV6)),
		HEX_ANY_IPV4 HEX_P6635 HEX_LABEL HEX_IN_ANY_IPV6,
		MDV_LAYER_IPV4 | MDV_LAYER_UDP | MDV_LAYER_MPLS_TUNNEL | IN(MDV_LAYER_IPV6) },
	{ "mpls over gre", OURS,
		PATTERN(ITEM(IPV4), ITEM(GRE), ITEM_SPEC(GRE_KEY, &key_7), ITEM_SPEC(MPLS, &label_16),
			ITEM(ETH)),
		HEX_ANY_IPV4 HEX_GRE("0000 8847 00000007", "0000 ffff ffffffff") HEX_LABEL
		HEX_IN_ANY_ETH,
		MDV_LAYER_IPV4 | MDV_LAYER_GRE | MDV_LAYER_GRE_KEY | MDV_LAYER_MPLS_TUNNEL |
		IN(MDV_LAYER_ETH) },
	{ "mpls inside", OURS,
		PATTERN(ITEM(VXLAN), ITEM(ETH), ITEM_SPEC(MPLS, &label_16), ITEM(IPV4)),
		HEX_P4789 HEX_ANY_VXLAN HEX_IN_ETH(HEX_0_12 "8847 0000", HEX_0_12 "ffff 0000")
		HEX_IN_MPLS("00010000", "fffff000") HEX_IN_ANY_IPV4,
		MDV_LAYER_UDP | MDV_LAYER_VXLAN |
		IN(MDV_LAYER_ETH | MDV_LAYER_MPLS | MDV_LAYER_IPV4) },
	{ "mpls on any", OURS, PATTERN(ANY(1), ITEM_SPEC(MPLS, &label_16), ITEM(IPV4)),
		HEX_TYPE("8847") HEX_LABEL HEX_ANY_IPV4,
		MDV_LAYER_ETH | MDV_LAYER_MPLS | MDV_LAYER_IPV4 },
	{ "mpls on any, inside", OURS,
		PATTERN(ITEM(ETH), ITEM(IPV4), ITEM(UDP), ITEM(VXLAN), ANY(1), ITEM_SPEC(MPLS, &label_16)),
		HEX_ANY_ETH HEX_ANY_IPV4 HEX_P4789 HEX_ANY_VXLAN
		HEX_IN_ETH(HEX_0_12 "8847 0000", HEX_0_12 "ffff 0000")
		HEX_IN_MPLS("00010000", "fffff000"),
		MDV_LAYER_ETH | MDV_LAYER_IPV4 | MDV_LAYER_UDP | MDV_LAYER_VXLAN |
		IN(MDV_LAYER_ETH | MDV_LAYER_MPLS) },
	{ "esp is a protocol", OURS, PATTERN(ITEM(ETH), ITEM(IPV4), ITEM(ESP)),
		HEX_ANY_ETH HEX_PROTO("32"), MDV_LAYER_ETH | MDV_LAYER_IPV4 | MDV_LAYER_ESP },
	{ "esp spi", ALL, PATTERN(ITEM(IPV4), ITEM_SPEC(ESP, &esp_5)),
		HEX_PROTO("32") HEX_ESP("00000005 00000000", "ffffffff 00000000"),
		MDV_LAYER_IPV4 | MDV_LAYER_ESP },
	{ "esp whole", ALL, PATTERN(ITEM(IPV4), ITEM_MASK(ESP, &esp_5, &esp_all)),
		HEX_PROTO("32") HEX_ESP("00000005 00000006", "ffffffff ffffffff"),
		MDV_LAYER_IPV4 | MDV_LAYER_ESP },
	{ "esp inside", OURS, PATTERN(ITEM(VXLAN), ITEM(IPV4), ITEM(ESP)),
		HEX_P4789 HEX_ANY_VXLAN
		HEX_IN_IPV4(HEX_0_4 HEX_0_4 "32000000", HEX_0_4 HEX_0_4 "ff000000"),
		MDV_LAYER_UDP | MDV_LAYER_VXLAN | IN(MDV_LAYER_IPV4 | MDV_LAYER_ESP) },
	{ "any alone", OURS, PATTERN(ITEM(ANY)), "", 0 },
	{ "any, then nothing", OURS, PATTERN(ITEM(ETH), ANY(1)), HEX_ANY_ETH, MDV_LAYER_ETH },
	{ "any for ethernet", OURS, PATTERN(ANY(1), ITEM(IPV4)), HEX_ANY_IPV4, MDV_LAYER_IPV4 },
	{ "any for ip", OURS, PATTERN(ITEM(ETH), ANY(1), ITEM(UDP)), HEX_ANY_ETH HEX_ANY_UDP,
		MDV_LAYER_ETH | MDV_LAYER_UDP },
	{ "any for a tag's ip", OURS, PATTERN(ITEM_SPEC(VLAN, &vlan_5), ANY(1), ITEM(GRE)),
		HEX_ETH(HEX_0_12 "0000 0005", HEX_0_12 "0000 0fff") HEX_ANY_GRE,
		MDV_LAYER_VLAN | MDV_LAYER_GRE },
	{ "the guide's any", OURS,
		PATTERN(ITEM(ETH), ANY(2), ITEM(VXLAN), ITEM(ETH), ANY(1), ITEM(TCP)),
		HEX_ANY_ETH HEX_P4789 HEX_ANY_VXLAN HEX_IN_ANY_ETH HEX_IN_ANY_TCP,
		MDV_LAYER_ETH | MDV_LAYER_UDP | MDV_LAYER_VXLAN | IN(MDV_LAYER_ETH | MDV_LAYER_TCP) },
	{ "any for udp folds the protocol", OURS, PATTERN(ITEM(IPV4), ANY(1), ITEM(VXLAN)),
		HEX_ANY_IPV4 HEX_P4789 HEX_ANY_VXLAN,
		MDV_LAYER_IPV4 | MDV_LAYER_UDP | MDV_LAYER_VXLAN },
	{ "any inside gre", OURS, PATTERN(ITEM(GRE), ANY(1), ITEM(TCP)),
		HEX_ANY_GRE HEX_IN_ANY_TCP, MDV_LAYER_GRE | IN(MDV_LAYER_TCP) },
	{ "last 0 says nothing", OURS, PATTERN(ITEM_LAST(IPV4, &dst_10, &ttl_5, &dst_mask)),
		HEX_IPV4("00000000 0a000001 00000000", "00000000 ffffffff 00000000"),
		MDV_LAYER_IPV4 },
};

static const struct refusal {
	uint32_t features;
	const struct rte_flow_item *pattern;
	int code;
	enum cause cause;
	unsigned int item;
	const char *message; /* begins like this */
} refusals[] = {
	{ ALL, PATTERN(ITEM_MASK(IPV4, &dst_10, &offset_mask)), ENOTSUP, CAUSE_MASK, 0,
		"IPV4 fragment_offset: verbs has DF" },
	{ OURS, PATTERN(ITEM_MASK(IPV4, &dst_10, &flags_mask)), ENOTSUP, CAUSE_MASK, 0,
		"IPV4 fragment_offset: the device cannot tell fragments" },
	{ OURS, PATTERN(ITEM_MASK(VXLAN, &vni_42, &vxlan_flags)), ENOTSUP, CAUSE_MASK, 0,
		"VXLAN flags: " },
	{ OURS, PATTERN(ITEM_MASK(VXLAN, &vni_42, &vxlan_rsvd)), ENOTSUP, CAUSE_MASK, 0,
		"VXLAN reserved bits: " },
	{ OURS, PATTERN(ITEM(ETH), ITEM(VXLAN)), EINVAL, CAUSE_ITEM, 1,
		"VXLAN: cannot follow ETH; it may come first or follow UDP" },
	{ OURS, PATTERN(ITEM(TCP), ITEM(VXLAN)), EINVAL, CAUSE_ITEM, 1, "VXLAN: cannot follow TCP" },
	{ OURS, PATTERN(ITEM_MASK(UDP, &port_53, &port_high), ITEM(VXLAN)), EINVAL, CAUSE_ITEM, 1,
		"VXLAN: contradicts the UDP dst port" },
	{ OURS, PATTERN(ITEM_MASK(UDP, &port_53, &port_mask), ITEM(MPLS)), EINVAL, CAUSE_ITEM, 1,
		"MPLS: contradicts the UDP dst port 53 given before it; leave the port out or make it "
		"6635" },
	{ OURS, PATTERN(ITEM(MPLS)), ENOTSUP, CAUSE_ITEM, 0, "MPLS: cannot come first" },
	{ OURS, PATTERN(ITEM(ESP)), ENOTSUP, CAUSE_ITEM, 0,
		"ESP: cannot come first, its place in the packet must be known; put it behind IPV4, "
		"IPV6" },
	{ OURS, PATTERN(ITEM(ETH), ITEM(MPLS), ITEM(MPLS)), ENOTSUP, CAUSE_ITEM, 2,
		"MPLS: cannot follow MPLS; it may follow ETH, VLAN" },
	{ OURS, PATTERN(ITEM(ETH), ITEM(MPLS), ITEM(ETH)), EINVAL, CAUSE_ITEM, 2,
		"ETH: cannot follow MPLS; it may come first or follow MPLS, VXLAN, GRE, GRE_KEY, "
		"GRE_OPTION, NVGRE" },
	{ OURS, PATTERN(ITEM_MASK(ETH, &type_ipv4, &type_mask), ITEM(MPLS)), EINVAL, CAUSE_ITEM, 1,
		"MPLS: contradicts the Ethernet type 0x0800 given before it; leave the type out or "
		"make it 0x8847" },
	{ OURS, PATTERN(ITEM_SPEC(GRE, &gre_ipv6), ITEM(IPV4)), EINVAL, CAUSE_ITEM, 1,
		"IPV4: contradicts the GRE protocol 0x86dd given before it; leave that out or make it "
		"0x0800" },
	{ OURS, PATTERN(ITEM_SPEC(GRE, &gre_ipv6), ITEM(ETH)), EINVAL, CAUSE_ITEM, 1,
		"ETH: contradicts the GRE protocol" },
	{ OURS, PATTERN(ITEM_SPEC(GRE, &gre_ipv6), ITEM(MPLS)), EINVAL, CAUSE_ITEM, 1,
		"MPLS: contradicts the GRE protocol" },
	{ OURS, PATTERN(ITEM_MASK(GRE, &gre_k, &gre_k)), ENOTSUP, CAUSE_MASK, 0,
		"GRE c_rsvd0_ver: the device does not match GRE flags" },
	{ OURS, PATTERN(ITEM(GRE), ITEM(GRE_KEY)), ENOTSUP, CAUSE_ITEM, 1, "GRE_KEY: the device" },
	{ OURS, PATTERN(ITEM(GRE), ITEM_MASK(GRE_KEY, &key_7, &key_none)), ENOTSUP, CAUSE_ITEM, 1,
		"GRE_KEY: the device" },
	{ OURS, PATTERN(ITEM(GRE), ITEM(GRE_OPTION)), ENOTSUP, CAUSE_ITEM, 1,
		"GRE_OPTION: the device" },
	{ OURS, PATTERN(ITEM(GRE), ITEM_MASK(GRE_OPTION, &option_sum, &option_sum)), ENOTSUP,
		CAUSE_MASK, 1, "GRE_OPTION checksum: the device matches no checksums" },
	{ OURS, PATTERN(ITEM(IPV4), ITEM_SPEC(GRE_KEY, &key_7)), EINVAL, CAUSE_ITEM, 1,
		"GRE_KEY: cannot follow IPV4; it may follow GRE" },
	{ OURS, PATTERN(ITEM_MASK(NVGRE, &nvgre_ip, &nvgre_all)), EINVAL, CAUSE_ITEM, 0,
		"NVGRE protocol 0x0800: " },
	{ OURS, PATTERN(ITEM_MASK(IPV4, &proto_tcp, &proto_mask), ITEM(NVGRE)), EINVAL, CAUSE_ITEM, 1,
		"NVGRE: contradicts the protocol" },
	{ OURS, PATTERN(ITEM_MASK(IPV4, &proto_tcp, &proto_mask), ITEM(GRE)), EINVAL, CAUSE_ITEM, 1,
		"GRE: contradicts the protocol" },
	{ OURS, PATTERN(ITEM_MASK(IPV4, &proto_tcp, &proto_mask), ITEM(ESP)), EINVAL, CAUSE_ITEM, 1,
		"ESP: contradicts the protocol of the IP item before it; leave that out or make it 50" },
	{ OURS, PATTERN(ITEM_MASK(IPV4, &proto_tcp, &proto_mask), ANY(1), ITEM(VXLAN)), EINVAL,
		CAUSE_ITEM, 2, "VXLAN: contradicts the protocol" },
	{ OURS, PATTERN(ITEM(IPV4), ITEM_SPEC(ESP, &esp_5)), ENOTSUP, CAUSE_ITEM, 1,
		"ESP spi: the device or its kernel does not match it; ESP without spi takes all" },
	{ ALL, PATTERN(ITEM(VXLAN), ITEM(IPV4), ITEM_MASK(ESP, &esp_5, &esp_all)), ENOTSUP,
		CAUSE_MASK, 2, "ESP spi inside a tunnel: " },
	{ OURS, PATTERN(ITEM(ETH), ANY(1), ITEM(ESP)), ENOTSUP, CAUSE_ITEM, 2, "ESP: the device tells" },
	{ OURS, PATTERN(ITEM(VXLAN), ITEM(ETH), ITEM(IPV4), ITEM(GRE)), ENOTSUP, CAUSE_ITEM, 3,
		"GRE inside a tunnel: the device looks into one tunnel" },
	{ OURS, PATTERN(ITEM(GRE), ITEM(IPV4), ITEM(UDP), ITEM(VXLAN)), ENOTSUP, CAUSE_ITEM, 3,
		"VXLAN inside a tunnel: " },
	{ OURS, PATTERN(ITEM(VXLAN), ITEM(UDP), ITEM(MPLS)), ENOTSUP, CAUSE_ITEM, 2,
		"MPLS inside a tunnel: " },
	{ OURS & ~MDV_FLOW_CAN_INNER, PATTERN(ITEM(VXLAN), ITEM(ETH)), ENOTSUP, CAUSE_ITEM, 1,
		"ETH inside a tunnel: the device does not match inner headers" },
	{ 0, PATTERN(ITEM(VXLAN)), ENOTSUP, CAUSE_ITEM, 0,
		"VXLAN: the device or its kernel does not match it; use UDP dst port 4789 instead" },
	{ 0, PATTERN(ITEM(GRE)), ENOTSUP, CAUSE_ITEM, 0, "GRE: the device or its kernel" },
	{ 0, PATTERN(ITEM(NVGRE)), ENOTSUP, CAUSE_ITEM, 0, "NVGRE: the device or its kernel" },
	{ 0, PATTERN(ITEM(ETH), ITEM(MPLS)), ENOTSUP, CAUSE_ITEM, 1,
		"MPLS: the device or its kernel does not match it; use ETH type 0x8847 instead" },
	{ ALL & ~MDV_FLOW_CAN_MPLS_UDP, PATTERN(ITEM(UDP), ITEM(MPLS)), ENOTSUP, CAUSE_ITEM, 1,
		"MPLS: the device or its kernel does not match it; use UDP dst port 6635 or" },
	{ ALL & ~MDV_FLOW_CAN_MPLS_GRE, PATTERN(ITEM(GRE), ITEM(MPLS)), ENOTSUP, CAUSE_ITEM, 1,
		"MPLS: the device or its kernel does not match it; use UDP dst port 6635 or" },
	{ OURS, PATTERN(ITEM_MASK(ETH, &has_vlan, &has_vlan), ITEM(IPV4), ITEM(UDP), ITEM(VXLAN),
		ITEM(ETH), ITEM_SPEC(VLAN, &vlan_5)), ENOTSUP, CAUSE_ITEM, 0, "ETH has_vlan 1: " },
	{ OURS, PATTERN(ITEM(VXLAN), ITEM_MASK(ETH, &type_stag, &type_mask)), ENOTSUP, CAUSE_ITEM, 1,
		"ETH type 0x88a8: " },
	{ OURS, PATTERN(ITEM(ETH), ITEM(ANY), ITEM(UDP)), ENOTSUP, CAUSE_ITEM, 1,
		"ANY num 0 before UDP: the device finds that in one place only; use num 1" },
	{ OURS, PATTERN(ITEM(ETH), ANY(2), ITEM(UDP)), ENOTSUP, CAUSE_ITEM, 1, "ANY num 2 before UDP: " },
	{ OURS, PATTERN(ANY(1), ITEM(VXLAN)), ENOTSUP, CAUSE_ITEM, 0,
		"ANY num 1 before VXLAN: the device finds that in one place only; use num 3" },
	{ OURS, PATTERN(ITEM(ETH), ANY(1), ITEM(ETH)), EINVAL, CAUSE_ITEM, 2,
		"ETH: cannot follow ANY here" },
	{ OURS, PATTERN(ITEM(GRE), ANY(1), ITEM(IPV4)), EINVAL, CAUSE_ITEM, 2,
		"IPV4: cannot follow ANY here" },
	{ OURS, PATTERN(ITEM(ETH), ANY(3)), ENOTSUP, CAUSE_ITEM, 1, "ANY num 3 at the end: " },
	{ OURS, PATTERN(ANY(1), ANY(1), ITEM(UDP)), ENOTSUP, CAUSE_ITEM, 1, "ANY behind ANY: " },
	{ OURS, PATTERN(ITEM(IPV4), ITEM(ESP), ANY(1)), EINVAL, CAUSE_ITEM, 2, "ANY: cannot follow ESP" },
	{ OURS, PATTERN(ITEM_MASK(ANY, NULL, &any_mask)), EINVAL, CAUSE_ITEM, 0, "ANY: mask without" },
	{ OURS, PATTERN(ITEM_LAST(ANY, NULL, &any_1, NULL)), EINVAL, CAUSE_ITEM, 0,
		"ANY: last without" },
	{ OURS, PATTERN(ITEM_MASK(ANY, &any_1, &any_part)), ENOTSUP, CAUSE_MASK, 0, "ANY num mask 0x3: " },
	{ OURS, PATTERN(ITEM_LAST(ANY, &any_1, &any_2, &any_mask)), ENOTSUP, CAUSE_LAST, 0,
		"ANY num: last differs" },
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

		if (mdv_flow_item_translate(golden->pattern, golden->features, &build, &error) != 0)
			fail_msg("%s: refused: %s", golden->name, error.message);
		fake_assert_bytes(
			golden->name, &build.bytes[20], build.attr.size - 20, golden->specs);
		if (build.layers != golden->layers)
			fail_msg("%s: layers 0x%x", golden->name, build.layers);
	}
	/* ANY with num 0 stands for any number of layers. */
	assert_int_equal(
		mdv_flow_item_translate(PATTERN(ITEM(ETH), ANY(0)), OURS, &build, NULL), 0);
}

static void
test_refusals(void **state)
{
	struct mdv_flow_build build;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(refusals); i++) {
		const struct refusal *refusal = &refusals[i];
		struct rte_flow_error error = { .message = "accepted" };
		int ret = mdv_flow_item_translate(
			refusal->pattern, refusal->features, &build, &error);

		if (ret != -refusal->code ||
			error.cause != cause_of(&refusal->pattern[refusal->item], refusal->cause) ||
			strncmp(error.message, refusal->message, strlen(refusal->message)) != 0) {
			fail_msg("\"%s\" expected, got %d, \"%s\"", refusal->message, ret,
				error.message);
		}
		assert_int_equal(ret, -refusal->code);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_goldens),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
