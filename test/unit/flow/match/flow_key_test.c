/* SPDX-License-Identifier: BSD-3-Clause */
/* Matches as records: equal ones are equal in every notation, disjoint ones differ in a common
 * bit. */

#include <string.h>

#include "fake_verbs.h"
#include "flow/match/flow_item.h"
#include "flow/match/flow_key.h"
#include "flow/rule/flow_probe.h"

/* clang-format off */
static const struct rte_flow_item_eth eth_ipv4 = { .hdr.ether_type = RTE_BE16(0x0800) };
static const struct rte_flow_item_eth eth_arp = { .hdr.ether_type = RTE_BE16(0x0806) };
static const struct rte_flow_item_eth eth_mpls = { .hdr.ether_type = RTE_BE16(0x8847) };
static const struct rte_flow_item_eth type_mask = { .hdr.ether_type = RTE_BE16(0xffff) };
static const struct rte_flow_item_ipv4 proto_udp = { .hdr.next_proto_id = 17 };
static const struct rte_flow_item_ipv4 proto_tcp = { .hdr.next_proto_id = 6 };
static const struct rte_flow_item_ipv4 proto_mask = { .hdr.next_proto_id = 0xff };
static const struct rte_flow_item_ipv4 net_10 = { .hdr.src_addr = RTE_BE32(0x0a000000) };
static const struct rte_flow_item_ipv4 net_11 = { .hdr.src_addr = RTE_BE32(0x0b000000) };
static const struct rte_flow_item_ipv4 host_10 = { .hdr.src_addr = RTE_BE32(0x0a000001) };
static const struct rte_flow_item_ipv4 net_mask = { .hdr.src_addr = RTE_BE32(0xff000000) };
static const struct rte_flow_item_ipv4 host_mask = { .hdr.src_addr = RTE_BE32(0xffffffff) };
static const struct rte_flow_item_udp port_53 = { .hdr.dst_port = RTE_BE16(53) };
static const struct rte_flow_item_udp udp_dst = { .hdr.dst_port = RTE_BE16(0xffff) };
static const struct rte_flow_item_tcp tcp_53 = { .hdr.dst_port = RTE_BE16(53) };
static const struct rte_flow_item_tcp tcp_dst = { .hdr.dst_port = RTE_BE16(0xffff) };
static const struct rte_flow_item_vlan vid_5 = { .hdr.vlan_tci = RTE_BE16(5) };
static const struct rte_flow_item_vlan vid_6 = { .hdr.vlan_tci = RTE_BE16(6) };
static const struct rte_flow_item_vlan vid_mask = { .hdr.vlan_tci = RTE_BE16(0xfff) };

enum relation { SAME, MEET, APART };

static const struct {
	const char *name;
	const struct rte_flow_item *a, *b;
	enum relation relation;
	bool same_mask;
} cases[] = {
	{ "nothing and eth", PATTERN(ITEM(VOID)), PATTERN(ITEM(ETH)), SAME, true },
	{ "with and without eth", PATTERN(ITEM(ETH), ITEM(IPV4)), PATTERN(ITEM(IPV4)), SAME, true },
	{ "type folded", PATTERN(ITEM_MASK(ETH, &eth_ipv4, &type_mask), ITEM(IPV4)),
		PATTERN(ITEM(IPV4)), SAME, true },
	{ "proto folded", PATTERN(ITEM_MASK(IPV4, &proto_udp, &proto_mask), ITEM(UDP)),
		PATTERN(ITEM(IPV4), ITEM(UDP)), SAME, true },
	{ "proto and the item", PATTERN(ITEM_MASK(IPV4, &proto_udp, &proto_mask)),
		PATTERN(ITEM(IPV4), ITEM(UDP)), SAME, true },
	{ "versions", PATTERN(ITEM(IPV4)), PATTERN(ITEM(IPV6)), APART, true },
	{ "protocols", PATTERN(ITEM(UDP)), PATTERN(ITEM(TCP)), APART, true },
	{ "ports of protocols", PATTERN(ITEM_MASK(UDP, &port_53, &udp_dst)),
		PATTERN(ITEM_MASK(TCP, &tcp_53, &tcp_dst)), APART, false },
	{ "proto against tcp", PATTERN(ITEM_MASK(IPV4, &proto_tcp, &proto_mask)),
		PATTERN(ITEM(UDP)), APART, false },
	{ "arp against ip", PATTERN(ITEM_MASK(ETH, &eth_arp, &type_mask)), PATTERN(ITEM(IPV4)),
		APART, false },
	{ "type against version", PATTERN(ITEM_MASK(ETH, &eth_ipv4, &type_mask)),
		PATTERN(ITEM(IPV6)), APART, false },
	{ "type and version", PATTERN(ITEM_MASK(ETH, &eth_ipv4, &type_mask)), PATTERN(ITEM(IPV4)),
		MEET, false },
	{ "mpls may carry ip", PATTERN(ITEM_MASK(ETH, &eth_mpls, &type_mask)), PATTERN(ITEM(IPV4)),
		MEET, false },
	{ "two nets", PATTERN(ITEM_MASK(IPV4, &net_10, &net_mask)),
		PATTERN(ITEM_MASK(IPV4, &net_11, &net_mask)), APART, true },
	{ "a net and a host of it", PATTERN(ITEM_MASK(IPV4, &net_10, &net_mask)),
		PATTERN(ITEM_MASK(IPV4, &host_10, &host_mask)), MEET, false },
	{ "another net", PATTERN(ITEM_MASK(IPV4, &net_11, &net_mask)),
		PATTERN(ITEM_MASK(IPV4, &host_10, &host_mask)), APART, false },
	{ "two tags", PATTERN(ITEM_MASK(VLAN, &vid_5, &vid_mask)),
		PATTERN(ITEM_MASK(VLAN, &vid_6, &vid_mask)), APART, true },
	{ "a tag or none", PATTERN(ITEM_MASK(VLAN, &vid_5, &vid_mask)), PATTERN(ITEM(ETH)), MEET, false },
	{ "a tag and ip", PATTERN(ITEM_MASK(VLAN, &vid_5, &vid_mask)), PATTERN(ITEM(IPV4)), MEET, false },
	{ "l3 and l4", PATTERN(ITEM_MASK(IPV4, &net_10, &net_mask)),
		PATTERN(ITEM_MASK(UDP, &port_53, &udp_dst)), MEET, false },
};

static const struct {
	const struct rte_flow_item *pattern;
	uint8_t depth;
} depths[] = {
	{ PATTERN(ITEM(VOID)), 0 },
	{ PATTERN(ITEM(ETH)), 0 },
	{ PATTERN(ITEM(ETH), ITEM(ANY)), 0 },
	{ PATTERN(ITEM(ETH), ITEM(MPLS)), 1 },
	{ PATTERN(ITEM(ETH), ITEM(IPV4)), 2 },
	{ PATTERN(ITEM(ETH), ITEM(MPLS), ITEM(IPV4)), 2 },
	{ PATTERN(ITEM_MASK(IPV4, &proto_udp, &proto_mask)), 2 },
	{ PATTERN(ITEM(IPV6), ITEM(TCP)), 3 },
	{ PATTERN(ITEM(UDP)), 3 },
	{ PATTERN(ITEM(ETH), ITEM(IPV4), ITEM(ESP)), 3 },
	{ PATTERN(ITEM(VXLAN)), 4 },
	{ PATTERN(ITEM(IPV4), ITEM(GRE)), 4 },
	{ PATTERN(ITEM(IPV4), ITEM(NVGRE)), 4 },
	{ PATTERN(ITEM(IPV4), ITEM(GRE), ITEM(MPLS)), 5 },
	{ PATTERN(ITEM(UDP), ITEM(MPLS)), 5 },
	{ PATTERN(ITEM(VXLAN), ITEM(ETH)), 6 },
	{ PATTERN(ITEM(VXLAN), ITEM(ETH), ITEM(MPLS)), 7 },
	{ PATTERN(ITEM(GRE), ITEM(IPV6)), 8 },
	{ PATTERN(ITEM(GRE), ITEM(IPV6), ITEM(UDP)), 9 },
	{ PATTERN(ITEM(VXLAN), ITEM(TCP)), 9 },
};
/* clang-format on */

static void
check_used(const struct mdv_flow_match *match)
{
	for (unsigned int i = 0; i < MDV_FLOW_KEY_WORDS; i++)
		assert_int_equal((match->used >> i) & 1, match->mask.words[i] != 0);
}

static void
match_of(const struct rte_flow_item *pattern, struct mdv_flow_match *match)
{
	struct mdv_flow_build build;

	assert_int_equal(mdv_flow_item_translate(pattern, FAKE_FEATURES, &build, NULL), 0);
	/* Actions and the shield of multicast do not change the match. */
	assert_int_equal(mdv_flow_build_tag(&build, 7), 0);
	assert_int_equal(mdv_flow_build_drop(&build), 0);
	assert_int_equal(mdv_flow_key_match(&build, match), 0);
	for (unsigned int i = 0; i < MDV_FLOW_KEY_WORDS; i++)
		assert_int_equal(match->value.words[i] & ~match->mask.words[i], 0);
	check_used(match);
}

static bool
apart(const struct mdv_flow_match *a, const struct mdv_flow_match *b)
{
	for (unsigned int i = 0; i < MDV_FLOW_KEY_WORDS; i++)
		if (((a->value.words[i] ^ b->value.words[i]) & a->mask.words[i] &
			    b->mask.words[i]) != 0)
			return true;
	return false;
}

static void
test_relations(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		uint64_t mask_of_a, whole_of_a, mask_of_b, whole_of_b;
		struct mdv_flow_match a, b;
		bool same;

		match_of(cases[i].a, &a);
		match_of(cases[i].b, &b);
		same = mdv_flow_key_equal(&a.value, &b.value) &&
			mdv_flow_key_equal(&a.mask, &b.mask);
		if (same != (cases[i].relation == SAME) ||
			apart(&a, &b) != (cases[i].relation == APART) ||
			mdv_flow_key_equal(&a.mask, &b.mask) != cases[i].same_mask)
			fail_msg("%s", cases[i].name);
		mdv_flow_key_hash(&a, &mask_of_a, &whole_of_a);
		mdv_flow_key_hash(&b, &mask_of_b, &whole_of_b);
		assert_int_equal(mask_of_a == mask_of_b, cases[i].same_mask);
		assert_int_equal(whole_of_a == whole_of_b, cases[i].relation == SAME);
	}
}

/** A rule of a tag is of tagged frames, and one of no tag of both kinds: a fact, of all its bits.
 */
static void
test_tagged(void **state)
{
	struct mdv_flow_spec_record mask, value;
	struct mdv_flow_match match;

	(void)state;
	match_of(PATTERN(ITEM_MASK(VLAN, &vid_5, &vid_mask)), &match);
	memcpy(&mask, &match.mask, sizeof(mask));
	memcpy(&value, &match.value, sizeof(value));
	assert_int_equal(mask.headers[0].c_vlan, 0xff);
	assert_int_equal(value.headers[0].c_vlan, 1);
	match_of(PATTERN(ITEM(ETH)), &match);
	memcpy(&mask, &match.mask, sizeof(mask));
	assert_int_equal(mask.headers[0].c_vlan, 0);
}

/** Of the sides named, and of no other. */
static void
test_any_tag(void **state)
{
	(void)state;
	for (uint8_t sides = 0; sides < 1 << MDV_FLOW_BUILD_SIDES; sides++) {
		struct mdv_flow_spec_record mask = { 0 }, value = { 0 };
		struct mdv_flow_match match;

		for (unsigned int side = 0; side < MDV_FLOW_BUILD_SIDES; side++) {
			mask.headers[side].vlan_tag = UINT16_MAX;
			value.headers[side].vlan_tag = 5;
		}
		memcpy(&match.mask, &mask, sizeof(mask));
		memcpy(&match.value, &value, sizeof(value));
		mdv_flow_key_set_used(&match);
		mdv_flow_key_any_tag(&match, sides);
		check_used(&match);
		memcpy(&mask, &match.mask, sizeof(mask));
		memcpy(&value, &match.value, sizeof(value));
		for (unsigned int side = 0; side < MDV_FLOW_BUILD_SIDES; side++) {
			const bool any = (sides & 1u << side) != 0;

			assert_int_equal(mask.headers[side].vlan_tag, any ? 0 : UINT16_MAX);
			assert_int_equal(value.headers[side].vlan_tag, any ? 0 : 5);
		}
	}
}

static void
test_depths(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(depths); i++) {
		struct mdv_flow_match match;

		match_of(depths[i].pattern, &match);
		assert_int_equal(match.depth, depths[i].depth);
	}
}

/** Unpacking restores the match, with few words or all. */
static void
test_packed(void **state)
{
	(void)state;
	for (unsigned int nb = 0; nb <= MDV_FLOW_KEY_WORDS; nb++) {
		struct mdv_flow_match match = { .depth = 0 }, back;
		struct mdv_flow_packed packed;

		for (unsigned int i = 0; i < nb; i++) {
			match.mask.words[(i * 5) % MDV_FLOW_KEY_WORDS] = i + 1;
			match.value.words[(i * 5) % MDV_FLOW_KEY_WORDS] = i & (i + 1);
		}
		mdv_flow_key_set_used(&match);
		check_used(&match);
		assert_int_equal(mdv_flow_key_pack(&match, &packed), 0);
		mdv_flow_key_unpack(&packed, &back);
		assert_memory_equal(&match, &back, sizeof(match));
		assert_true(mdv_flow_key_packed_equal(&packed, &match.value));
		if (nb != 0) {
			match.value.words[0] ^= match.mask.words[0];
			assert_false(mdv_flow_key_packed_equal(&packed, &match.value));
		}
		mdv_flow_key_packed_free(&packed);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_relations),
		cmocka_unit_test(test_tagged),
		cmocka_unit_test(test_any_tag),
		cmocka_unit_test(test_depths),
		cmocka_unit_test(test_packed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
