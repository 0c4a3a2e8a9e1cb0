/* SPDX-License-Identifier: BSD-3-Clause */
/* Actions that change packets: the exact steps and headers for the device, the refusals and their
 * causes, and the objects, which equal rules share and release. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_flow_driver.h>

#include "base/compat.h"
#include "fake_verbs.h"
#include "flow/action/flow_action_row.h"
#include "flow/action/flow_modify.h"
#include "flow/match/flow_feature.h"
#include "flow/rule/flow_install.h"
#include "flow/rule/flow_state.h"

static const struct rte_flow_attr ingress = { .ingress = 1 }, egress = { .egress = 1 };
static const struct rte_flow_attr later = { .ingress = 1, .priority = 1 };
static const struct rte_flow_action_queue queue_0 = { 0 }, queue_1 = { 1 };

/* clang-format off */
static const struct rte_flow_action_set_mac mac = { { 2, 0x11, 0x22, 0x33, 0x44, 0x55 } };
static const struct rte_flow_action_set_ipv4 ipv4 = { RTE_BE32(0x01020304) };
static const struct rte_flow_action_set_ipv6 ipv6 = {
	MDV_COMPAT_IPV6(0xfd, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14) };
static const struct rte_flow_action_set_tp port = { RTE_BE16(0x1234) };
static const struct rte_flow_action_set_ttl ttl = { 7 };
static const struct rte_flow_action_set_dscp dscp = { 0xee };
static const struct rte_flow_action_of_set_vlan_vid vid = { RTE_BE16(0xf123) };
static const rte_be32_t number = RTE_BE32(5);
#define FIELD(op_, id, width_, ...) &(const struct rte_flow_action_modify_field){ \
	.operation = RTE_FLOW_MODIFY_##op_, .dst.field = RTE_FLOW_FIELD_##id, \
	.src = { .field = RTE_FLOW_FIELD_VALUE, .value = { __VA_ARGS__ } }, .width = width_ }
static const struct rte_flow_action_modify_field outermost = {
	.operation = RTE_FLOW_MODIFY_SET, .dst = { .field = RTE_FLOW_FIELD_IPV4_TTL, .level = 1 },
	.src = { .field = RTE_FLOW_FIELD_VALUE, .value = { 9 } }, .width = 8 };
static uint8_t pointed[] = { 0xab, 0xcd };
static const struct rte_flow_action_modify_field by_pointer = {
	.dst.field = RTE_FLOW_FIELD_UDP_PORT_SRC,
	.src = { .field = RTE_FLOW_FIELD_POINTER, .pvalue = pointed }, .width = 16 };

static uint8_t raw_bytes[200] = { 2, 0, 0, 0, 0, 0x0b, 2, 0, 0, 0, 0, 0x0a, 8, 0, 0x45 };
static uint8_t kept[34] = { [33] = 1 }, kept_first[34] = { 1 };
#define RAW_ENCAP_OF(nb) ACTION_CONF(RAW_ENCAP, \
	(&(const struct rte_flow_action_raw_encap){ .data = raw_bytes, .size = nb }))
#define RAW_DECAP_OF(nb) ACTION_CONF(RAW_DECAP, (&(const struct rte_flow_action_raw_decap){ .size = nb }))

static const struct rte_flow_item_eth tunnel_eth = { .dst.addr_bytes = { 2, 0, 0, 0, 0, 0x0b },
	.src.addr_bytes = { 2, 0, 0, 0, 0, 0x0a } };
/* IEEE 802.1ad: a service tag; and the content's type, which a tag does not have. */
static const struct rte_flow_item_eth service_eth = { .hdr.ether_type = RTE_BE16(0x88a8) },
	untagged_eth = { .hdr.ether_type = RTE_BE16(0x0800) };
static const struct rte_flow_item_vlan tunnel_vlan = { .tci = RTE_BE16(5) };
static const struct rte_flow_item_ipv4 tunnel_ipv4 = { .hdr = { .src_addr = RTE_BE32(0xc0000201),
	.dst_addr = RTE_BE32(0xc0000202), .type_of_service = 0x20 } };
static const struct rte_flow_item_ipv6 tunnel_ipv6 = { .hdr = { .vtc_flow = RTE_BE32(0x00100000),
	.hop_limits = 9, .src_addr = MDV_COMPAT_IPV6(0xfd, [15] = 1), .dst_addr = MDV_COMPAT_IPV6(0xfd, [15] = 2) } };
static const struct rte_flow_item_udp tunnel_udp = { .hdr.src_port = RTE_BE16(4) };
static const struct rte_flow_item_udp tunnel_port = {
	.hdr = { .src_port = RTE_BE16(4), .dst_port = RTE_BE16(8472) } };
static const struct rte_flow_item_vxlan tunnel_vxlan = { .vni = { 0, 0, 7 } };
static const struct rte_flow_item_nvgre tunnel_nvgre = { .tni = { 0, 0, 7 }, .flow_id = 1 };
#define DEFINITION(...) (&(const struct rte_flow_action_vxlan_encap){ \
	.definition = (struct rte_flow_item[]){ __VA_ARGS__, { .type = RTE_FLOW_ITEM_TYPE_END } } })
#define VXLAN_OF(...) ACTION_CONF(VXLAN_ENCAP, DEFINITION(__VA_ARGS__))
#define NVGRE_OF(...) ACTION_CONF(NVGRE_ENCAP, DEFINITION(__VA_ARGS__))
#define VXLAN_ITEMS ITEM_SPEC(ETH, &tunnel_eth), ITEM_SPEC(IPV4, &tunnel_ipv4), \
	ITEM_SPEC(UDP, &tunnel_udp), ITEM_SPEC(VXLAN, &tunnel_vxlan)

/* of an IPv4 header to the end */
#define SERVICE_REST " 4520 0000 0000 0000 4011 0000 c0000201 c0000202 0004 12b5 0000 0000 08000000 00000700"

#define TCP4  PATTERN(ITEM(ETH), ITEM(IPV4), ITEM(TCP))
#define UDP4  PATTERN(ITEM(ETH), ITEM(IPV4), ITEM(UDP))
#define TCP6  PATTERN(ITEM(ETH), ITEM(IPV6), ITEM(TCP))
#define VLAN  PATTERN(ITEM(ETH), ITEM_SPEC(VLAN, &tunnel_vlan), ITEM(IPV4))
#define VXLAN PATTERN(ITEM(ETH), ITEM(IPV4), ITEM(UDP), ITEM(VXLAN))
#define VXLAN_TCP6 PATTERN(ITEM(ETH), ITEM(IPV4), ITEM(UDP), ITEM(VXLAN), ITEM(ETH), ITEM(IPV6), ITEM(TCP))
#define NVGRE PATTERN(ITEM(ETH), ITEM(IPV6), ITEM(NVGRE))
#define MPLS_VXLAN PATTERN(ITEM(ETH), ITEM(MPLS), ITEM(IPV4), ITEM(UDP), ITEM(VXLAN))
#define GRE   PATTERN(ITEM(ETH), ITEM(IPV4), ITEM(GRE), ITEM(IPV4))
#define GRE_ETH PATTERN(ITEM(ETH), ITEM(IPV4), ITEM(GRE), ITEM(ETH))
static const uint16_t some_queues[] = { 0, 1 };
static const struct rte_flow_action_rss rss_inner = { .level = 2, .types = RTE_ETH_RSS_IPV4,
	.queue_num = 2, .queue = some_queues };
static const struct rte_flow_action_sample sample_edit = { 1, ACTIONS(ACTION(DEC_TTL)) };
#define TO_0  ACTION_CONF(QUEUE, &queue_0)
#define NONE  (-1)
#define REFORMAT(type) MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_##type

/** A rule, and the verbs actions it becomes: steps (set_action_in and add_action_in of the PRM: type,
 * field, length; data), reformat, headers. */
static const struct golden {
	const struct rte_flow_attr *attr;
	const struct rte_flow_item *pattern;
	const struct rte_flow_action *actions;
	const char *steps;
	int reformat;
	const char *header;
} goldens[] = {
#define RECEIVED(pattern, ...) &ingress, pattern, ACTIONS(__VA_ARGS__, TO_0)
#define SENT(pattern, ...) &egress, pattern, ACTIONS(__VA_ARGS__)
	{ RECEIVED(TCP4, ACTION_CONF(SET_MAC_SRC, &mac)), "10010000 02112233 10020010 00004455", NONE, NULL },
	{ RECEIVED(TCP4, ACTION_CONF(SET_MAC_DST, &mac)), "10040000 02112233 10050010 00004455", NONE, NULL },
	{ RECEIVED(VLAN, ACTION_CONF(OF_SET_VLAN_VID, &vid)), "1017000c 00000123", NONE, NULL },
	{ RECEIVED(TCP4, ACTION_CONF(SET_IPV4_SRC, &ipv4)), "10150000 01020304", NONE, NULL },
	{ RECEIVED(TCP4, ACTION_CONF(SET_IPV4_DST, &ipv4)), "10160000 01020304", NONE, NULL },
	{ RECEIVED(TCP4, ACTION_CONF(SET_IPV4_DSCP, &dscp)), "10060006 0000002e", NONE, NULL },
	{ RECEIVED(TCP6, ACTION_CONF(SET_IPV6_SRC, &ipv6)),
	  "100d0000 fd000102 100e0000 03040506 100f0000 0708090a 10100000 0b0c0d0e", NONE, NULL },
	{ RECEIVED(TCP6, ACTION_CONF(SET_IPV6_DST, &ipv6)),
	  "10110000 fd000102 10120000 03040506 10130000 0708090a 10140000 0b0c0d0e", NONE, NULL },
	{ RECEIVED(TCP6, ACTION_CONF(SET_IPV6_DSCP, &dscp)), "10060006 0000002e", NONE, NULL },
	{ RECEIVED(TCP4, ACTION_CONF(SET_TTL, &ttl)), "100a0008 00000007", NONE, NULL },
	{ RECEIVED(TCP6, ACTION_CONF(SET_TTL, &ttl)), "10470008 00000007", NONE, NULL },
	{ RECEIVED(UDP4, ACTION(DEC_TTL)), "200a0008 000000ff", NONE, NULL },
	{ RECEIVED(TCP6, ACTION_CONF(DEC_TTL, &queue_1)), "20470008 000000ff", NONE, NULL },
	{ RECEIVED(TCP4, ACTION_CONF(SET_TP_SRC, &port)), "10080010 00001234", NONE, NULL },
	{ RECEIVED(TCP4, ACTION_CONF(SET_TP_DST, &port)), "10090010 00001234", NONE, NULL },
	{ RECEIVED(UDP4, ACTION_CONF(SET_TP_SRC, &port)), "100b0010 00001234", NONE, NULL },
	{ RECEIVED(UDP4, ACTION_CONF(SET_TP_DST, &port)), "100c0010 00001234", NONE, NULL },
	{ RECEIVED(TCP4, ACTION_CONF(INC_TCP_SEQ, &number)), "20590000 00000005", NONE, NULL },
	{ RECEIVED(TCP4, ACTION_CONF(DEC_TCP_SEQ, &number)), "20590000 fffffffb", NONE, NULL },
	{ RECEIVED(TCP4, ACTION_CONF(INC_TCP_ACK, &number)), "205b0000 00000005", NONE, NULL },
	{ RECEIVED(TCP4, ACTION_CONF(DEC_TCP_ACK, &number)), "205b0000 fffffffb", NONE, NULL },
	{ RECEIVED(TCP4, ACTION_CONF(MODIFY_FIELD, FIELD(SET, IPV4_TTL, 8, 9))), "100a0008 00000009", NONE, NULL },
	{ RECEIVED(TCP6, ACTION_CONF(MODIFY_FIELD, FIELD(ADD, IPV6_HOPLIMIT, 8, 2))), "20470008 00000002", NONE, NULL },
	{ RECEIVED(TCP4, ACTION_CONF(MODIFY_FIELD, FIELD(SUB, TCP_PORT_DST, 16, 0, 1))), "20090010 0000ffff", NONE, NULL },
	{ RECEIVED(TCP4, ACTION_CONF(MODIFY_FIELD, FIELD(SET, MAC_DST, 48, 2, 3, 4, 5, 6, 7))),
	  "10040000 02030405 10050010 00000607", NONE, NULL },
	{ RECEIVED(UDP4, ACTION_CONF(MODIFY_FIELD, &by_pointer)), "100b0010 0000abcd", NONE, NULL },
	{ RECEIVED(TCP4, ACTION_CONF(MODIFY_FIELD, &outermost)), "100a0008 00000009", NONE, NULL },
	/* In the order of the list, whatever stands between. */
	{ RECEIVED(UDP4, ACTION(DEC_TTL), ACTION(COUNT), ACTION_CONF(SET_TP_DST, &port), ACTION(DEC_TTL)),
	  "200a0008 000000ff 100c0010 00001234 200a0008 000000ff", NONE, NULL },
	{ SENT(UDP4, ACTION_CONF(SET_IPV4_SRC, &ipv4)), "10150000 01020304", NONE, NULL },

	/* Behind a tunnel that is taken off, fields are those of its content. */
	{ RECEIVED(VXLAN, ACTION(VXLAN_DECAP)), NULL, REFORMAT(L2_TUNNEL_TO_L2), "" },
	{ RECEIVED(NVGRE, ACTION(NVGRE_DECAP)), NULL, REFORMAT(L2_TUNNEL_TO_L2), "" },
	{ RECEIVED(VXLAN, ACTION(VXLAN_DECAP), ACTION_CONF(SET_MAC_DST, &mac)),
	  "10040000 02112233 10050010 00004455", REFORMAT(L2_TUNNEL_TO_L2), "" },
	{ RECEIVED(VXLAN_TCP6, ACTION(VXLAN_DECAP), ACTION(DEC_TTL), ACTION_CONF(SET_TP_DST, &port)),
	  "20470008 000000ff 10090010 00001234", REFORMAT(L2_TUNNEL_TO_L2), "" },
	{ RECEIVED(VXLAN_TCP6, ACTION(DEC_TTL), ACTION_CONF(SET_TP_DST, &port)),
	  "200a0008 000000ff 100c0010 00001234", NONE, NULL },
	{ RECEIVED(VXLAN, RAW_DECAP_OF(50)), NULL, REFORMAT(L2_TUNNEL_TO_L2), "" },
	{ RECEIVED(NVGRE, RAW_DECAP_OF(62)), NULL, REFORMAT(L2_TUNNEL_TO_L2), "" },
	{ RECEIVED(GRE_ETH, RAW_DECAP_OF(38)), NULL, REFORMAT(L2_TUNNEL_TO_L2), "" },
	{ RECEIVED(MPLS_VXLAN, RAW_DECAP_OF(54)), NULL, REFORMAT(L2_TUNNEL_TO_L2), "" },
	{ RECEIVED(VXLAN_TCP6, RAW_DECAP_OF(50), ACTION(DEC_TTL)),
	  "20470008 000000ff", REFORMAT(L2_TUNNEL_TO_L2), "" },
	{ RECEIVED(GRE, RAW_DECAP_OF(38), RAW_ENCAP_OF(14)), NULL, REFORMAT(L3_TUNNEL_TO_L2),
	  "02000000000b 02000000000a 0800" },
	{ RECEIVED(GRE, RAW_DECAP_OF(38), RAW_ENCAP_OF(18), ACTION_CONF(SET_TTL, &ttl)),
	  "100a0008 00000007", REFORMAT(L3_TUNNEL_TO_L2), "02000000000b 02000000000a 0800 4500 0000" },
	{ SENT(UDP4, VXLAN_OF(VXLAN_ITEMS)), NULL, REFORMAT(L2_TO_L2_TUNNEL),
	  "02000000000b 02000000000a 0800  4520 0000 0000 0000 4011 0000 c0000201 c0000202"
	  "0004 12b5 0000 0000  08000000 00000700" },
	{ SENT(UDP4, ACTION(DEC_TTL), VXLAN_OF(ITEM_SPEC(ETH, &tunnel_eth), ITEM_SPEC(VLAN, &tunnel_vlan), ITEM(VOID),
		ITEM_SPEC(IPV6, &tunnel_ipv6), ITEM_SPEC(UDP, &tunnel_port), ITEM_SPEC(VXLAN, &tunnel_vxlan))),
	  "200a0008 000000ff", REFORMAT(L2_TO_L2_TUNNEL),
	  "02000000000b 02000000000a 8100 0005 86dd  60100000 0000 11 09"
	  "fd000000 00000000 00000000 00000001 fd000000 00000000 00000000 00000002"
	  "0004 2118 0000 0000  08000000 00000700" },
	{ SENT(UDP4, VXLAN_OF(ITEM_SPEC(ETH, &service_eth), ITEM_SPEC(VLAN, &tunnel_vlan),
		ITEM_SPEC(IPV4, &tunnel_ipv4), ITEM_SPEC(UDP, &tunnel_udp), ITEM_SPEC(VXLAN, &tunnel_vxlan))),
	  NULL, REFORMAT(L2_TO_L2_TUNNEL), "000000000000 000000000000 88a8 0005 0800" SERVICE_REST },
	{ SENT(UDP4, VXLAN_OF(ITEM_SPEC(ETH, &untagged_eth), ITEM_SPEC(VLAN, &tunnel_vlan),
		ITEM_SPEC(IPV4, &tunnel_ipv4), ITEM_SPEC(UDP, &tunnel_udp), ITEM_SPEC(VXLAN, &tunnel_vxlan))),
	  NULL, REFORMAT(L2_TO_L2_TUNNEL), "000000000000 000000000000 8100 0005 0800" SERVICE_REST },
	{ SENT(UDP4, NVGRE_OF(ITEM_SPEC(ETH, &tunnel_eth), ITEM_SPEC(IPV4, &tunnel_ipv4),
		ITEM_SPEC(NVGRE, &tunnel_nvgre)), ACTION(COUNT)), NULL, REFORMAT(L2_TO_L2_TUNNEL),
	  "02000000000b 02000000000a 0800  4520 0000 0000 0000 402f 0000 c0000201 c0000202  2000 6558 00000701" },
	{ SENT(UDP4, RAW_ENCAP_OF(15)), NULL, REFORMAT(L2_TO_L2_TUNNEL), "02000000000b 02000000000a 0800 45" },
	{ SENT(UDP4, RAW_DECAP_OF(14), ACTION(COUNT), RAW_ENCAP_OF(15)), NULL, REFORMAT(L2_TO_L3_TUNNEL),
	  "02000000000b 02000000000a 0800 45" },
	{ SENT(VLAN, ACTION_CONF(OF_SET_VLAN_VID, &vid), RAW_DECAP_OF(18), RAW_ENCAP_OF(15)),
	  "1017000c 00000123", REFORMAT(L2_TO_L3_TUNNEL), "02000000000b 02000000000a 0800 45" },
};

/** Refusals, by the nth action. */
static const struct refusal {
	const struct rte_flow_attr *attr;
	const struct rte_flow_item *pattern;
	const struct rte_flow_action *actions;
	unsigned int nth;
	const char *message;
} refusals[] = {
#define REFUSED(attr, pattern, nth, message, ...) { &attr, pattern, ACTIONS(__VA_ARGS__), nth, message }
	REFUSED(ingress, UDP4, 1, "SET_TTL behind QUEUE: the device changes a packet before it gives it to anybody; "
		"put SET_TTL first", TO_0, ACTION_CONF(SET_TTL, &ttl)),
	REFUSED(ingress, UDP4, 0, "SET_TTL with DROP: nobody sees a dropped packet; leave SET_TTL out",
		ACTION_CONF(SET_TTL, &ttl), ACTION(DROP)),
	REFUSED(ingress, UDP4, 1, "SET_TTL with DROP: ", ACTION(DROP), ACTION_CONF(SET_TTL, &ttl)),
	REFUSED(egress, UDP4, 1, "DEC_TTL with DROP: ", ACTION(DROP), ACTION(DEC_TTL)),
	REFUSED(ingress, VXLAN, 1, "VXLAN_DECAP: the device takes a tunnel off before it changes fields",
		ACTION(DEC_TTL), ACTION(VXLAN_DECAP), TO_0),
	REFUSED(ingress, VXLAN, 1, "VXLAN_DECAP: the device takes off or puts on one tunnel a rule",
		ACTION(VXLAN_DECAP), ACTION(VXLAN_DECAP), TO_0),
	REFUSED(egress, VXLAN, 0, "VXLAN_DECAP: the device takes tunnels off received packets; use ingress",
		ACTION(VXLAN_DECAP)),
	REFUSED(ingress, UDP4, 0, "VXLAN_ENCAP: the device puts tunnels on sent packets; use egress",
		VXLAN_OF(VXLAN_ITEMS), TO_0),
	REFUSED(ingress, UDP4, 0, "RAW_ENCAP: the device puts headers on sent packets, and an Ethernet header on what",
		RAW_ENCAP_OF(14), TO_0),
	REFUSED(ingress, GRE, 2, "RAW_ENCAP: the device puts headers on sent packets, and an Ethernet header on what",
		RAW_DECAP_OF(38), ACTION(DEC_TTL), RAW_ENCAP_OF(14), TO_0),
	REFUSED(egress, UDP4, 1, "DEC_TTL: the device changes fields before it puts headers on; put this action",
		VXLAN_OF(VXLAN_ITEMS), ACTION(DEC_TTL)),
	REFUSED(egress, UDP4, 1, "RAW_ENCAP: the device takes off or puts on one tunnel a rule",
		VXLAN_OF(VXLAN_ITEMS), RAW_ENCAP_OF(14)),
	REFUSED(egress, UDP4, 0, "RAW_DECAP: a sent packet's Ethernet header comes off to make place for other headers",
		RAW_DECAP_OF(14)),
	REFUSED(egress, UDP4, 1, "DEC_TTL: a sent packet's Ethernet header comes off to make place",
		RAW_DECAP_OF(14), ACTION(DEC_TTL), RAW_ENCAP_OF(14)),
	REFUSED(ingress, PATTERN(ITEM(IPV4)), 0, "SET_MAC_SRC: the pattern does not name the header that it changes; add ETH",
		ACTION_CONF(SET_MAC_SRC, &mac), TO_0),
	REFUSED(ingress, TCP6, 1, "SET_IPV4_DST: the pattern does not name the header that it changes; add IPV4",
		ACTION(DEC_TTL), ACTION_CONF(SET_IPV4_DST, &ipv4), TO_0),
	REFUSED(ingress, VXLAN, 1, "SET_TP_DST: the pattern does not name the header that it changes; add TCP or UDP",
		ACTION(VXLAN_DECAP), ACTION_CONF(SET_TP_DST, &port), TO_0),
	REFUSED(ingress, UDP4, 0, "MODIFY_FIELD: the driver changes fields of ETH", ACTION_CONF(MODIFY_FIELD, FIELD(SET, META, 32, 1)), TO_0),
	REFUSED(ingress, UDP4, 0, "MODIFY_FIELD: the driver changes fields of ETH", ACTION_CONF(MODIFY_FIELD, FIELD(SET, TCP_PORT_DST, 16, 1)), TO_0),
	REFUSED(ingress, UDP4, 0, "MODIFY_FIELD offset 0 width 4: the driver changes fields as a whole; use offset 0 and width 8",
		ACTION_CONF(MODIFY_FIELD, FIELD(SET, IPV4_TTL, 4, 1)), TO_0),
	REFUSED(ingress, UDP4, 0, "MODIFY_FIELD: the device sets fields", ACTION_CONF(MODIFY_FIELD, FIELD(ADD, MAC_DST, 48, 1)), TO_0),
	REFUSED(ingress, UDP4, 0, "MODIFY_FIELD: the driver changes the outermost headers", ACTION_CONF(MODIFY_FIELD,
		(&(const struct rte_flow_action_modify_field){ .dst = { .field = RTE_FLOW_FIELD_IPV4_TTL, .level = 2 },
			.src.field = RTE_FLOW_FIELD_VALUE, .width = 8 })), TO_0),
	REFUSED(ingress, UDP4, 0, "MODIFY_FIELD: the driver writes values", ACTION_CONF(MODIFY_FIELD,
		(&(const struct rte_flow_action_modify_field){ .dst.field = RTE_FLOW_FIELD_IPV4_TTL,
			.src.field = RTE_FLOW_FIELD_IPV6_HOPLIMIT, .width = 8 })), TO_0),
	REFUSED(ingress, UDP4, 0, "MODIFY_FIELD: the driver writes values", ACTION_CONF(MODIFY_FIELD,
		(&(const struct rte_flow_action_modify_field){ .dst.field = RTE_FLOW_FIELD_IPV4_TTL,
			.src.field = RTE_FLOW_FIELD_POINTER, .width = 8 })), TO_0),
	REFUSED(ingress, TCP6, 4, "SET_IPV6_DST: a rule changes at most 16 pieces of 32 bits; leave some out",
		ACTION_CONF(SET_IPV6_SRC, &ipv6), ACTION_CONF(SET_IPV6_DST, &ipv6), ACTION_CONF(SET_IPV6_SRC, &ipv6),
		ACTION(DEC_TTL), ACTION_CONF(SET_IPV6_DST, &ipv6), TO_0),
	REFUSED(ingress, UDP4, 0, "VXLAN_DECAP: the pattern does not name the tunnel that it takes off; add VXLAN or NVGRE",
		ACTION(VXLAN_DECAP), TO_0),
	REFUSED(ingress, VXLAN, 0, "NVGRE_DECAP: the pattern does not name the tunnel", ACTION(NVGRE_DECAP), TO_0),
	REFUSED(ingress, UDP4, 0, "RAW_DECAP: the pattern has no tunnel to take off", RAW_DECAP_OF(42), TO_0),
	REFUSED(ingress, VXLAN, 0, "RAW_DECAP of 42 bytes: the device takes off the headers that the pattern names, here 50 bytes",
		RAW_DECAP_OF(42), TO_0),
	REFUSED(ingress, GRE, 0, "RAW_DECAP: the pattern does not say that a frame is in the tunnel; add ETH behind it",
		RAW_DECAP_OF(38), TO_0),
	REFUSED(ingress, VXLAN, 1, "RAW_ENCAP: the pattern does not say that a packet without Ethernet header is in the tunnel",
		RAW_DECAP_OF(50), RAW_ENCAP_OF(14), TO_0),
	REFUSED(ingress, VXLAN_TCP6, 1, "RAW_ENCAP: the pattern does not say that a packet without Ethernet header is in the tunnel",
		RAW_DECAP_OF(50), RAW_ENCAP_OF(14), TO_0),
	REFUSED(ingress, GRE, 1, "RAW_ENCAP: what comes out of a tunnel gets an Ethernet header",
		RAW_DECAP_OF(38), RAW_ENCAP_OF(16), TO_0),
	REFUSED(egress, UDP4, 0, "RAW_ENCAP: headers begin with an Ethernet header", RAW_ENCAP_OF(13)),
	REFUSED(egress, UDP4, 0, "RAW_ENCAP of 129 bytes: the device takes no more than 128", RAW_ENCAP_OF(129)),
	REFUSED(egress, UDP4, 0, "RAW_ENCAP: the device writes headers as they are given; leave preserve out",
		ACTION_CONF(RAW_ENCAP, (&(const struct rte_flow_action_raw_encap){
			.data = raw_bytes, .preserve = kept, .size = 34 }))),
	REFUSED(egress, UDP4, 0, "RAW_ENCAP: the device writes headers as they are given; leave preserve out",
		ACTION_CONF(RAW_ENCAP, (&(const struct rte_flow_action_raw_encap){
			.data = raw_bytes, .preserve = kept_first, .size = 34 }))),
	REFUSED(egress, UDP4, 0, "VXLAN_ENCAP: its items do not make the headers of that tunnel; give ETH, VLAN if wanted, "
		"IPV4 or IPV6, and UDP and VXLAN, each with a spec", VXLAN_OF(ITEM_SPEC(ETH, &tunnel_eth))),
	REFUSED(egress, UDP4, 0, "VXLAN_ENCAP: its items", VXLAN_OF(ITEM_SPEC(ETH, &tunnel_eth), ITEM_SPEC(IPV4, &tunnel_ipv4),
		ITEM_SPEC(UDP, &tunnel_udp), ITEM(VXLAN))),
	REFUSED(egress, UDP4, 0, "VXLAN_ENCAP: its items", VXLAN_OF(ITEM_SPEC(IPV4, &tunnel_ipv4), ITEM_SPEC(ETH, &tunnel_eth),
		ITEM_SPEC(UDP, &tunnel_udp), ITEM_SPEC(VXLAN, &tunnel_vxlan))),
	REFUSED(egress, UDP4, 0, "NVGRE_ENCAP: its items", NVGRE_OF(VXLAN_ITEMS)),
	REFUSED(ingress, VXLAN, 1, "RSS level 2: the tunnel is off by then; use level 0 or 1 for what was in it",
		ACTION(VXLAN_DECAP), ACTION_CONF(RSS, &rss_inner)),
	REFUSED(ingress, UDP4, 0, "SAMPLE with DEC_TTL in it: ", ACTION_CONF(SAMPLE, &sample_edit), TO_0),
};
/* clang-format on */

static struct rte_flow_error error;

static struct rte_flow *
create(const struct rte_flow_attr *attr, const struct rte_flow_item *pattern,
	const struct rte_flow_action *actions)
{
	error.message = "";
	return mdv_flow_ops.create(&fake.dev, attr, pattern, actions, &error);
}

static void
check_action(const struct golden *golden, const struct fake_action *action, bool reformat)
{
	char name[16];

	snprintf(name, sizeof(name), "golden %d", (int)(golden - goldens));
	assert_int_equal(action->table,
		golden->attr->egress ? MLX5DV_FLOW_TABLE_TYPE_NIC_TX
				     : MLX5DV_FLOW_TABLE_TYPE_NIC_RX);
	assert_int_equal(action->reformat, reformat ? golden->reformat : NONE);
	fake_assert_bytes(
		name, action->bytes, action->nb_bytes, reformat ? golden->header : golden->steps);
}

static void
test_goldens(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(goldens); i++) {
		const struct golden *golden = &goldens[i];
		const bool reformat = golden->reformat != NONE;
		struct rte_flow *flow;

		fake_start_isolated();
		assert_int_equal(mdv_flow_ops.validate(&fake.dev, golden->attr, golden->pattern,
					 golden->actions, &error),
			0);
		fake_assert_empty();
		flow = create(golden->attr, golden->pattern, golden->actions);
		if (flow == NULL)
			fail_msg("golden %u: %s", i, error.message);
		assert_int_equal(fake.nb_flows, 1);
		assert_int_equal(fake.nb_actions, reformat + (golden->steps != NULL));
		if (reformat)
			check_action(golden, fake_flow_at(0)->actions[0], true);
		assert_string_equal(error.message, "");
		if (golden->steps != NULL)
			check_action(golden, fake_flow_at(0)->actions[reformat ? 1 : 0], false);
		assert_int_equal(mdv_flow_ops.destroy(&fake.dev, flow, NULL), 0);
		fake_assert_empty();
		fake_end_flow();
	}
}

/** Every action of the table is in a golden, and each that needs a configuration is tried without
 * one. */
static void
test_every_action(void **state)
{
	(void)state;
	fake_start_isolated();
	for (unsigned int type = 0; type < MDV_FLOW_ACTION_ROWS; type++) {
		const struct mdv_flow_action_row *row = &mdv_flow_action_rows[type];
		const struct rte_flow_action list[] = { { .type = type }, TO_0, ACTION(END) };
		const struct rte_flow_action *action;
		bool seen = false;

		if (row->modify == MDV_FLOW_MODIFY_NONE)
			continue;
		assert_true(row->egress && row->apply != NULL && strchr(row->instead, ';') != NULL);
		for (unsigned int i = 0; i < RTE_DIM(goldens); i++)
			for (action = goldens[i].actions; action->type != RTE_FLOW_ACTION_TYPE_END;
				action++)
				seen = seen || action->type == type;
		if (!seen)
			fail_msg("no golden of %s", row->name);
		if (!row->needs_conf)
			continue;
		assert_null(create(&ingress, VXLAN_TCP6, list));
		assert_int_equal(strncmp(error.message, row->name, strlen(row->name)), 0);
		assert_string_equal(
			error.message + strlen(row->name), ": no configuration; it needs one");
	}
	fake_end_flow();
}

/** By create, by validate, and without an rte_flow_error. */
static void
test_refusals(void **state)
{
	(void)state;
	fake_start_isolated();
	for (unsigned int i = 0; i < RTE_DIM(refusals); i++) {
		const struct refusal *row = &refusals[i];
		const struct rte_flow_action *culprit = &row->actions[row->nth];

		assert_null(create(row->attr, row->pattern, row->actions));
		if (strncmp(error.message, row->message, strlen(row->message)) != 0)
			fail_msg("\"%s\" expected, got \"%s\"", row->message, error.message);
		assert_true(error.cause == culprit || error.cause == culprit->conf ||
			culprit->type == RTE_FLOW_ACTION_TYPE_SAMPLE);
		assert_true(mdv_flow_ops.validate(
				    &fake.dev, row->attr, row->pattern, row->actions, &error) < 0);
		assert_memory_equal(error.message, row->message, strlen(row->message));
		assert_null(mdv_flow_ops.create(
			&fake.dev, row->attr, row->pattern, row->actions, NULL));
	}
	assert_int_equal(fake.nb_created, 0);
	fake_end_flow();
}

/** What a device may lack, and a rule that needs it. */
static const struct {
	uint32_t action;
	const struct rte_flow_attr *attr;
	const struct rte_flow_item *pattern;
	const struct rte_flow_action *actions;
	const char *message;
} lacks[] = {
#define LACKS(table, reformat, attr, pattern, message, ...)                                        \
	{                                                                                          \
		FAKE_ACTION(MLX5DV_FLOW_TABLE_TYPE_NIC_##table, reformat), &attr, pattern,         \
			ACTIONS(__VA_ARGS__), message                                              \
	}
	LACKS(RX, NONE, ingress, UDP4,
		"action DEC_TTL: the device or its kernel changes no such packets", ACTION(DEC_TTL),
		TO_0),
	LACKS(TX, NONE, egress, UDP4,
		"action DEC_TTL: the device or its kernel changes no such packets",
		ACTION(DEC_TTL)),
	LACKS(RX, REFORMAT(L2_TUNNEL_TO_L2), ingress, VXLAN,
		"action VXLAN_DECAP: the device or its kernel takes no tunnels off",
		ACTION(VXLAN_DECAP), TO_0),
	LACKS(RX, REFORMAT(L2_TUNNEL_TO_L2), ingress, VXLAN,
		"action RAW_DECAP: the device or its kernel takes no tunnels off", RAW_DECAP_OF(50),
		TO_0),
	LACKS(RX, REFORMAT(L3_TUNNEL_TO_L2), ingress, GRE,
		"action RAW_ENCAP: the device or its kernel puts no headers on", RAW_DECAP_OF(38),
		RAW_ENCAP_OF(14), TO_0),
	LACKS(TX, REFORMAT(L2_TO_L2_TUNNEL), egress, UDP4,
		"action VXLAN_ENCAP: the device or its kernel puts no headers on",
		VXLAN_OF(VXLAN_ITEMS)),
	LACKS(TX, REFORMAT(L2_TO_L3_TUNNEL), egress, UDP4,
		"action RAW_DECAP: the device or its kernel takes no tunnels off", RAW_DECAP_OF(14),
		RAW_ENCAP_OF(15)),
};

/** On a device without one kind of action the others work, and validate agrees. */
static void
test_devices(void **state)
{
	(void)state;
	for (unsigned int lacking = 0; lacking < RTE_DIM(lacks); lacking++) {
		fake_init();
		fake.no_actions = lacks[lacking].action;
		assert_int_equal(mdv_flow_init(&fake.port), 0);
		fake.port.isolated = true;
		assert_int_equal(mdv_flow_start(&fake.port), 0);
		for (unsigned int i = 0; i < RTE_DIM(lacks); i++) {
			const char *message = lacks[i].message;

			if (create(lacks[i].attr, lacks[i].pattern, lacks[i].actions) != NULL)
				assert_int_not_equal(lacks[i].action, lacks[lacking].action);
			else if (lacks[i].action != lacks[lacking].action ||
				strncmp(error.message, message, strlen(message)))
				fail_msg("%u of %u: %s", i, lacking, error.message);
		}
		fake_end_flow();
	}
}

/** Ten thousand rules with equal changes share one object; the application's memory is its own
 * again. */
static void
test_shared(void **state)
{
	struct rte_flow_item_udp dst = { .hdr.dst_port = 0 };
	struct rte_flow_action_raw_encap raw = { .data = raw_bytes, .size = 20 };
	const struct rte_flow_item pattern[] = { ITEM(ETH), ITEM(IPV4),
		ITEM_MASK(UDP, &dst, &rte_flow_item_udp_mask), ITEM(END) };
	struct rte_flow *flows[100];
	struct fake_action *action;

	(void)state;
	fake_start_isolated();
	for (unsigned int i = 0; i < RTE_DIM(flows); i++) {
		dst.hdr.dst_port = i;
		flows[i] = create(
			&egress, pattern, ACTIONS(ACTION(DEC_TTL), ACTION_CONF(RAW_ENCAP, &raw)));
		assert_non_null(flows[i]);
		assert_int_equal(fake.nb_actions, 2);
	}
	raw_bytes[19]++;
	flows[0] = create(&egress, TCP4, ACTIONS(ACTION(DEC_TTL), ACTION_CONF(RAW_ENCAP, &raw)));
	assert_non_null(flows[0]);
	assert_int_equal(fake.nb_actions, 4);
	/* A stop destroys them; a start makes them with the headers given at creation. */
	mdv_flow_stop(&fake.port);
	fake_assert_empty();
	raw_bytes[19]--;
	assert_int_equal(mdv_flow_start(&fake.port), 0);
	assert_int_equal(fake.nb_actions, 4);
	assert_int_equal(fake.nb_flows, RTE_DIM(flows) + 1);
	action = fake_flow_at(RTE_DIM(flows))->actions[0];
	assert_int_equal(action->nb_bytes, 20);
	assert_int_equal(action->bytes[19] + fake_flow_at(0)->actions[0]->bytes[19], 1);
	assert_int_equal(mdv_flow_ops.flush(&fake.dev, NULL), 0);
	fake_assert_empty();
	fake_end_flow();
}

/** All destinations of all parts have the same objects, of one entry as of several. */
static void
test_parts(void **state)
{
	static const uint16_t queues[] = { 1, 2 };
	static const struct rte_flow_action_rss rss = {
		.types = RTE_ETH_RSS_NONFRAG_IPV4_TCP | RTE_ETH_RSS_IPV6,
		.queue_num = 2,
		.queue = queues,
	};
	const struct rte_flow_item *pattern = VXLAN;

	(void)state;
	fake_start_isolated();
	/* The content of the tunnel is hashed: by its outer headers, matched as inner ones. */
	assert_non_null(create(&ingress, pattern,
		ACTIONS(ACTION(VXLAN_DECAP), ACTION_CONF(SET_MAC_SRC, &mac), TO_0,
			ACTION_CONF(RSS, &rss), ACTION(COUNT))));
	assert_int_equal(fake.nb_flows, 6);
	assert_int_equal(fake.nb_actions, 2);
	fake.port.flow->features &= ~MDV_FLOW_CAN_INNER;
	assert_null(
		create(&ingress, pattern, ACTIONS(ACTION(VXLAN_DECAP), ACTION_CONF(RSS, &rss))));
	assert_string_equal(error.message,
		"RSS of what comes out of a tunnel: the device does not match inner headers; use "
		"QUEUE");
	for (unsigned int i = 0; i < 6; i++) {
		const struct fake_flow *flow = fake_flow_at(i);

		assert_ptr_equal(flow->actions[0], fake_flow_at(0)->actions[0]);
		assert_ptr_equal(flow->actions[1], fake_flow_at(0)->actions[1]);
		assert_int_equal(flow->qp->fields & IBV_RX_HASH_INNER, 0);
		/* ETH IPV4 UDP VXLAN and two handles; and inner IPV4 TCP, inner IPV6; and COUNT for
		 * the first of two destinations. */
		assert_int_equal(flow->build.attr.num_of_specs,
			(i < 2                  ? 8
					: i < 4 ? 7
						: 6) +
				(i + 1) % 2);
	}
	fake_end_flow();
}

/** All other priorities are behind a rule that copies and changes, whatever their values. */
static void
test_levels(void **state)
{
	static const struct rte_flow_item_udp dst[] = { { .hdr.dst_port = RTE_BE16(53) },
		{ .hdr.dst_port = RTE_BE16(0x1234) } };
	const struct rte_flow_action *change =
		ACTIONS(ACTION_CONF(SET_TP_DST, &port), TO_0, ACTION(PASSTHRU));
	const struct rte_flow_action *copy = ACTIONS(TO_0, ACTION(PASSTHRU));
	struct rte_flow *first, *second;

	(void)state;
	for (unsigned int changes = 0; changes < 2; changes++) {
		fake_start_isolated();
		first = create(&ingress, PATTERN(ITEM_SPEC(UDP, &dst[0])), changes ? change : copy);
		second = create(&later, PATTERN(ITEM_SPEC(UDP, &dst[1])), copy);
		assert_non_null(first);
		assert_non_null(second);
		if (changes)
			assert_true(mdv_flow_level_of(&second->level) >
				mdv_flow_level_of(&first->level));
		/* The same match with other changes has a level of its own. */
		assert_non_null(create(&ingress, PATTERN(ITEM_SPEC(UDP, &dst[0])),
			ACTIONS(ACTION(COUNT), TO_0, ACTION(PASSTHRU))));
		assert_true(fake_flow_at(2)->build.attr.priority !=
			fake_flow_at(0)->build.attr.priority);
		fake_end_flow();
	}
}

/** Any one call fails, on a started port and on a stopped one. */
static void
test_sweep(void **state)
{
	const struct rte_flow_action *actions[] = {
		ACTIONS(ACTION(VXLAN_DECAP), ACTION_CONF(SET_MAC_SRC, &mac), TO_0, ACTION(COUNT)),
		ACTIONS(ACTION(DEC_TTL), VXLAN_OF(VXLAN_ITEMS)),
	};

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		struct rte_flow *flow = NULL;
		unsigned int nth;

		fake_start_isolated();
		if (i >= 2)
			mdv_flow_stop(&fake.port);
		for (nth = 1; flow == NULL; nth++) {
			fake_arm(nth, ENOSPC);
			flow = create(i % 2 == 0 ? &ingress : &egress, VXLAN, actions[i % 2]);
			if (flow == NULL) {
				fake_assert_empty();
				assert_int_not_equal(error.message[0], '\0');
			}
		}
		assert_true(nth > 3);
		fake_arm(0, 0);
		fake_end_flow();
	}
}

static void
test_dump(void **state)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);

	(void)state;
	fake_start_isolated();
	assert_non_null(create(&ingress, VXLAN_TCP6,
		ACTIONS(ACTION(VXLAN_DECAP), ACTION(DEC_TTL), ACTION_CONF(SET_MAC_DST, &mac),
			TO_0)));
	assert_non_null(create(&egress, UDP4, ACTIONS(VXLAN_OF(VXLAN_ITEMS))));
	assert_int_equal(mdv_flow_ops.dev_dump(&fake.dev, NULL, file, NULL), 0);
	fclose(file);
	assert_non_null(strstr(text,
		"    |-- REFORMAT L2_TUNNEL_TO_L2, 0 bytes\n"
		"    |-- MOD_HDR add ipv6_hop_limit:0xff\n"
		"    |-- MOD_HDR set dmac[0]:0x2112233\n"
		"    |-- MOD_HDR set dmac[1]:0x4455\n"));
	assert_non_null(strstr(text, "    |-- REFORMAT L2_TO_L2_TUNNEL, 50 bytes\n"));
	free(text);
	fake_end_flow();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_goldens),
		cmocka_unit_test(test_every_action),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_devices),
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_sweep),
		cmocka_unit_test(test_dump),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
