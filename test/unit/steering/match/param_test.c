/* SPDX-License-Identifier: BSD-3-Clause */
/* Matchers in the device's own form: which byte is which field, what is refused, who gets a packet.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "steering/match/param.h"
#include "steering/match/parse.h"
#include "steering/steering.h"

/** Bytes of fte_match_param as the PRM lays them out: outer at 0, misc 64, inner 128, misc 2 192.
 */
enum {
	SMAC = 0,
	ETHERTYPE = 6,
	DMAC = 8,
	VLAN = 14,
	PROTOCOL = 16,
	TOS = 17,
	FLAGS = 18,
	TCP_SPORT = 20,
	TCP_DPORT = 22,
	TTL = 27,
	UDP_SPORT = 28,
	UDP_DPORT = 30,
	SRC_IP = 32,
	DST_IP = 48,
	MISC = 64,
	INNER = 128,
	MISC2 = 192,
	MISC3 = 256,
};

#define KEY(member)                                                                                \
	offsetof(union shca_match_key, member), sizeof(((union shca_match_key *)0)->member)

/** One byte of mask, and the field that must then be looked at, with what mask. */
static void
one_byte(void **state)
{
	static const struct {
		uint16_t at;
		uint8_t bits;
		size_t offset, width;
		uint32_t number; /* 0: a string; byte `index` has the bits */
		uint8_t index;
	} cases[] = {
		{ SMAC, 0xff, KEY(outer.src_mac), 0, 0 },
		{ SMAC + 5, 0x0f, KEY(outer.src_mac), 0, 5 },
		{ DMAC, 0x01, KEY(outer.dst_mac), 0, 0 },
		{ DMAC + 4, 0xff, KEY(outer.dst_mac), 0, 4 },
		{ ETHERTYPE, 0xff, KEY(outer.ether_type), 0xff00, 0 },
		{ VLAN, 0xe0, KEY(outer.vlan_tci), 0xe000, 0 },
		{ VLAN + 1, 0xff, KEY(outer.vlan_tci), 0x00ff, 0 },
		{ PROTOCOL, 0xff, KEY(outer.ip_proto), 0xff, 0 },
		{ TOS, 0xfc, KEY(outer.tos), 0xfc, 0 },
		{ FLAGS, 0x80, KEY(outer.cvlan), 1, 0 },
		{ FLAGS, 0x1e, KEY(outer.ip_version), 0xf, 0 },
		{ FLAGS, 0x40, KEY(outer.svlan), 1, 0 },
		{ FLAGS, 0x20, KEY(outer.fragment), 1, 0 },
		{ FLAGS, 0x01, KEY(outer.tcp_flags), 0x100, 0 },
		{ FLAGS + 1, 0x12, KEY(outer.tcp_flags), 0x12, 0 },
		{ TTL, 0xff, KEY(outer.ttl), 0xff, 0 },
		{ INNER + TTL, 0x80, KEY(inner.ttl), 0x80, 0 },
		{ TCP_SPORT, 0xff, KEY(outer.tcp_src_port), 0xff00, 0 },
		{ TCP_DPORT + 1, 0xff, KEY(outer.tcp_dst_port), 0xff, 0 },
		{ UDP_SPORT, 0x12, KEY(outer.udp_src_port), 0x1200, 0 },
		{ UDP_DPORT + 1, 0x34, KEY(outer.udp_dst_port), 0x34, 0 },
		{ SRC_IP, 0xfe, KEY(outer.src_ip), 0, 0 },
		{ DST_IP + 15, 0x7f, KEY(outer.dst_ip), 0, 15 },
		{ INNER + DMAC + 1, 0xff, KEY(inner.dst_mac), 0, 1 },
		{ INNER + UDP_DPORT, 0xff, KEY(inner.udp_dst_port), 0xff00, 0 },
		{ INNER + FLAGS, 0x08, KEY(inner.ip_version), 4, 0 },
		{ MISC + 14, 0xff, KEY(gre_protocol), 0xff00, 0 },
		{ MISC + 16, 0xff, KEY(gre_key), 0xff000000, 0 },
		{ MISC + 20, 0xff, KEY(vni), 0xff0000, 0 },
		{ MISC + 22, 0x01, KEY(vni), 0x01, 0 },
		{ MISC + 29, 0x0f, KEY(outer.flow_label), 0xf0000, 0 },
		{ MISC + 35, 0xff, KEY(inner.flow_label), 0xff, 0 },
		{ MISC2 + 0, 0xff, KEY(outer.mpls), 0xff000000, 0 },
		{ MISC2 + 7, 0xff, KEY(inner.mpls), 0xff, 0 },
		{ MISC2 + 8, 0xff, KEY(mpls_gre), 0xff000000, 0 },
		{ MISC2 + 15, 0xff, KEY(mpls_udp), 0xff, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct shca_param mask = { 0 }, value = { 0 };
		union shca_match_key want = { 0 };
		uint8_t *at = (uint8_t *)&want + cases[i].offset;
		uint16_t number16 = (uint16_t)cases[i].number;
		struct shca_match match;

		mask.bytes[cases[i].at] = value.bytes[cases[i].at] = cases[i].bits;
		if (cases[i].number == 0)
			at[cases[i].index] = cases[i].bits;
		else if (cases[i].width == 1)
			*at = (uint8_t)cases[i].number;
		else if (cases[i].width == 2)
			memcpy(at, &number16, 2);
		else
			memcpy(at, &cases[i].number, 4);
		assert_int_equal(shca_param_match(0xf, &mask, &value, &match), 0);
		if (memcmp(&match.mask, &want, sizeof(want)) != 0 ||
			memcmp(&match.value, &want, sizeof(want)) != 0)
			fail_msg("byte %u is another field", cases[i].at);
	}
}

static bool
is_without_match(const struct shca_match *match)
{
	static const struct shca_match none;

	return memcmp(match, &none, sizeof(none)) == 0;
}

static void
refusals(void **state)
{
	static const struct {
		uint8_t criteria;
		uint16_t at;
		uint8_t mask, value;
		int ret;
	} cases[] = {
		{ 0, 0, 0, 0, 0 },
		{ 1, DMAC, 1, 0, 0 },
		{ 1, DMAC, 1, 3, -EINVAL },
		{ 0, DMAC, 1, 0, 0 }, /* parts that criteria leaves out: not looked at */
		{ 4, DMAC, 1, 0, 0 },
		{ 1, MISC + 20, 1, 0, 0 },
		{ 1, MISC + 20, 1, 3, -EINVAL },
		{ 0x80, 0, 0, 0, -EINVAL },
		{ 0x7f, 0, 0, 0, 0 },
		{ 1, TTL - 1, 0xf0, 0, -EOPNOTSUPP },  /* IHL */
		{ 2, MISC + 8, 0xff, 0, -EOPNOTSUPP }, /* second tag */
		{ 2, MISC + 3, 1, 0, -EOPNOTSUPP },    /* source SQ */
		{ 8, MISC2 + 47, 1, 0, -EOPNOTSUPP },  /* register C 0 */
		{ 0x10, MISC3, 1, 0, -EOPNOTSUPP },
		{ 1, MISC3, 1, 0, 0 },
		{ 2, TTL - 1, 0xf0, 0, 0 },
		{ 0x7f, 600, 1, 0, -EOPNOTSUPP },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct shca_param mask = { 0 }, value = { 0 };
		struct shca_match match;
		int ret;

		mask.bytes[cases[i].at] = cases[i].mask;
		value.bytes[cases[i].at] = cases[i].value;
		ret = shca_param_match(cases[i].criteria, &mask, &value, &match);
		if (ret != cases[i].ret)
			fail_msg("case %zu: %d", i, ret);
		/* DMAC and MISC + 20 are of parts 0 and 1. */
		if (ret == 0 && cases[i].mask != 0 &&
			(cases[i].criteria & 1u << (cases[i].at >= MISC)) == 0)
			assert_true(is_without_match(&match));
	}
}

static void
multicast(void **state)
{
	static const struct {
		uint8_t criteria;
		uint16_t at;
		uint8_t mask, value;
		bool is_multicast;
	} cases[] = {
		{ 1, DMAC, 0xff, 0x01, true },
		{ 1, DMAC, 0x01, 0x01, true },
		{ 0, DMAC, 0x01, 0x01, false },
		{ 1, DMAC, 0xfe, 0x00, false },
		{ 1, DMAC, 0xff, 0x02, false },
		{ 1, DST_IP + 12, 0xff, 0xe0, false },
		{ 1, DST_IP + 12, 0xe0, 0xe0, true },
		{ 1, DST_IP + 12, 0xe0, 0xc0, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct shca_param mask = { 0 }, value = { 0 };

		mask.bytes[cases[i].at] = cases[i].mask;
		value.bytes[cases[i].at] = cases[i].value;
		if (shca_param_is_multicast(cases[i].criteria, &mask, &value) !=
			cases[i].is_multicast)
			fail_msg("case %zu", i);
	}
}

/** A rule for a destination MAC of one byte; its TIR is named by a pointer to its number. */
static int
add(struct shca_steering *steering, uint16_t priority, uint8_t dmac, void *tir,
	const struct shca_raw_rule_attr *other, struct shca_rule **rule)
{
	struct shca_param mask = { 0 }, value = { 0 };
	struct shca_raw_rule_attr attr = other != NULL ? *other : (struct shca_raw_rule_attr){ 0 };

	mask.bytes[DMAC] = 0xff;
	value.bytes[DMAC] = dmac;
	attr.priority = priority;
	attr.criteria = 1;
	attr.mask = &mask;
	attr.value = &value;
	attr.tir = tir;
	return shca_rule_add_raw(steering, &attr, rule);
}

static struct shca_verdict
walk(struct shca_steering *steering, uint8_t dmac)
{
	uint8_t frame[60] = { dmac, [12] = 0x88, [13] = 0xb5 };
	struct shca_verdict verdict = { 0 };
	struct shca_packet packet;

	shca_parse(frame, sizeof(frame), &packet);
	shca_walk_rx(steering, &packet, &verdict);
	return verdict;
}

/** Matchers' rules share tables with those of verbs. */
static void
walks(void **state)
{
	const struct shca_steering_conf conf = { .dont_trap = true };
	const struct shca_kernel_filter kernel = { .present = true, .promiscuous = true };
	struct shca_steering *steering = shca_steering_create(&conf);
	const struct shca_raw_rule_attr drop = { .drop = true };
	const struct shca_raw_rule_attr miss = { .default_miss = true };
	const struct shca_raw_rule_attr tag = { .tag = true, .flow_tag = 7 };
	const struct shca_rule_attr all = { .priority = 5, .tir = &(int){ 0 } };
	struct shca_rule *rule[6] = { NULL };
	int a, b;

	(void)state;
	shca_steering_set_kernel(steering, &kernel);
	assert_int_equal(shca_rule_add(steering, &all, &rule[0]), 0);
	assert_int_equal(add(steering, 4, 2, &a, &tag, &rule[1]), 0);
	assert_int_equal(add(steering, 4, 2, &b, NULL, &rule[2]), 0);
	assert_int_equal(add(steering, 4, 4, NULL, &drop, &rule[3]), 0);
	assert_int_equal(add(steering, 4, 6, NULL, &miss, &rule[4]), 0);
	assert_int_equal(shca_steering_nb_receiving(steering), 3);
	/* Same match: other tag, drop against forward; nothing to do; priorities. */
	assert_int_equal(
		add(steering, 4, 2, &a, &(struct shca_raw_rule_attr){ .tag = true }, &rule[5]),
		-EEXIST);
	assert_int_equal(add(steering, 4, 2, NULL, &drop, &rule[5]), -EEXIST);
	assert_int_equal(add(steering, 4, 8, NULL, NULL, &rule[5]), -EINVAL);
	assert_int_equal(add(steering, 16, 8, &a, NULL, &rule[5]), -ENOMEM);

	assert_int_equal(walk(steering, 2).nb_destinations, 2);
	assert_ptr_equal(walk(steering, 2).destination[0].tir, &a);
	assert_int_equal(walk(steering, 2).destination[1].flow_tag, 7);
	assert_true(walk(steering, 4).dropped);
	/* The default miss passes the verbs rule of priority 5 over. */
	assert_int_equal(walk(steering, 6).nb_destinations, 0);
	assert_true(walk(steering, 6).to_kernel);
	assert_int_equal(walk(steering, 8).nb_destinations, 1);
	/* Multicast only: behind all priorities, so the verbs rule is first. */
	assert_int_equal(add(steering, 0, 1, &a, NULL, &rule[5]), 0);
	assert_ptr_equal(walk(steering, 1).destination[0].tir, all.tir);
	shca_rule_del(steering, rule[4]);
	assert_int_equal(walk(steering, 6).nb_destinations, 1);
	rule[4] = NULL;
	for (unsigned int i = 0; i < 6; i++)
		shca_rule_del(steering, rule[i]);
	assert_int_equal(shca_steering_nb_receiving(steering), 0);
	shca_steering_destroy(steering);
}

/** Fields that no spec has, in packets that have them and in packets that lack them. */
static void
fields_of_matchers(void **state)
{
	/* Ethernet, then 4 bytes that a tag may take, IPv4 or IPv6, TCP. */
	static const uint8_t ipv4[60] = { 2, [12] = 0x08, 0x00, [14] = 0x45, [16] = 0,
		40, [22] = 64, 6, [34] = 0, 1, 0, 2, [46] = 0x51, 0x12 };
	static const uint8_t fragment[60] = { 2, [12] = 0x08, 0x00, [14] = 0x45, [16] = 0,
		40, [20] = 0x20, 0, 63, 6 };
	static const uint8_t ipv6[80] = { 2, [12] = 0x86, 0xdd, [14] = 0x60, [18] = 0, 20, 59, 64 };
	static const uint8_t svlan[60] = { 2, [12] = 0x88, 0xa8, 0x20, 0x07, 0x88, 0xb5 };
	static const uint8_t cvlan[60] = { 2, [12] = 0x81, 0x00, 0x20, 0x07, 0x88, 0xb5 };
	static const struct {
		uint16_t at;
		uint8_t mask, value;
		uint8_t hits; /* bit i: packet i */
	} cases[] = {
		{ TTL, 0xff, 64, 1 << 0 | 1 << 2 },
		{ TTL, 0xff, 63, 1 << 1 },
		{ TTL, 0xff, 0, 0 },
		{ FLAGS, 0x20, 0x20, 1 << 1 },
		{ FLAGS, 0x20, 0, 1 << 0 | 1 << 2 },
		{ FLAGS + 1, 0x02, 0x02, 1 << 0 },
		{ FLAGS + 1, 0x01, 0x00, 1 << 0 },
		{ FLAGS, 0x01, 0x01, 1 << 0 },
		{ FLAGS, 0x40, 0x40, 1 << 3 },
		{ FLAGS, 0x40, 0, 1 << 0 | 1 << 1 | 1 << 2 | 1 << 4 },
		{ VLAN + 1, 0x0f, 7, 1 << 3 | 1 << 4 },
		{ FLAGS, 0x80, 0x80, 1 << 4 },
	};
	const struct {
		const uint8_t *bytes;
		uint32_t length;
	} packets[] = { { ipv4, 60 }, { fragment, 60 }, { ipv6, 80 }, { svlan, 60 },
		{ cvlan, 60 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct shca_steering_conf conf = { .dont_trap = true };
		struct shca_steering *steering = shca_steering_create(&conf);
		struct shca_param mask = { 0 }, value = { 0 };
		const struct shca_raw_rule_attr attr = {
			.criteria = 1, .mask = &mask, .value = &value, .tir = &mask
		};
		struct shca_rule *rule;

		mask.bytes[cases[i].at] = cases[i].mask;
		value.bytes[cases[i].at] = cases[i].value;
		assert_int_equal(shca_rule_add_raw(steering, &attr, &rule), 0);
		for (size_t j = 0; j < sizeof(packets) / sizeof(packets[0]); j++) {
			struct shca_verdict verdict;
			struct shca_packet packet;

			shca_parse(packets[j].bytes, packets[j].length, &packet);
			shca_walk_rx(steering, &packet, &verdict);
			if (verdict.nb_destinations != (cases[i].hits >> j & 1))
				fail_msg("case %zu, packet %zu", i, j);
		}
		shca_rule_del(steering, rule);
		shca_steering_destroy(steering);
	}
}

/** Without support for going on there is no default miss; nor for sending. */
static void
default_miss_unsupported(void **state)
{
	const struct shca_raw_rule_attr miss = { .default_miss = true };
	const struct shca_raw_rule_attr egress = { .default_miss = true, .egress = true };
	const struct shca_steering_conf conf = { .dont_trap = false }, able = { .dont_trap = true };
	struct shca_steering *steering = shca_steering_create(&conf);
	struct shca_rule *rule;

	(void)state;
	assert_int_equal(add(steering, 0, 2, NULL, &miss, &rule), -EOPNOTSUPP);
	shca_steering_destroy(steering);
	steering = shca_steering_create(&able);
	assert_int_equal(add(steering, 0, 2, NULL, &egress, &rule), -EOPNOTSUPP);
	shca_steering_destroy(steering);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_byte),
		cmocka_unit_test(refusals),
		cmocka_unit_test(multicast),
		cmocka_unit_test(walks),
		cmocka_unit_test(fields_of_matchers),
		cmocka_unit_test(default_miss_unsupported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
