/* SPDX-License-Identifier: BSD-3-Clause */
/* Offloads of a frame: checksum fill by flag, policies, tag insertion, padding. */
#include "rig.h"

#include <string.h>

#include "hw/format/tx.h"
#include "steering/match/parse.h"

#define L3       SHCA_ETH_CSUM_L3
#define L4       SHCA_ETH_CSUM_L4
#define L3_INNER SHCA_ETH_CSUM_L3_INNER
#define L4_INNER SHCA_ETH_CSUM_L4_INNER

static void
fill(uint8_t *bytes, uint32_t length, uint8_t cs_flags)
{
	struct shca_packet packet;

	shca_parse(bytes, length, &packet);
	shca_tx_checksum(bytes, &packet, cs_flags);
}

static uint32_t
l4_checksum_offset(enum rig_packet kind, bool vlan)
{
	uint32_t ip = vlan ? 18 : 14;
	uint32_t l4 = ip + (kind == RIG_IPV6_UDP || kind == RIG_IPV6_TCP ? 40 : 20);

	return l4 + (kind == RIG_IPV4_TCP || kind == RIG_IPV6_TCP ? 16 : 6);
}

/** Garbage in the fields is replaced by what the naive sum gives; other bytes stay. */
static void
fills_what_is_asked(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 4 * 2 * 4 * 2; i++) {
		enum rig_packet kind = i % 4;
		bool vlan = i / 4 % 2 != 0;
		uint8_t flags = (uint8_t)(i / 8 % 4 * L3); /* 0, L3, L4, both */
		uint32_t payload = i / 32 != 0 ? 33 : 64;
		bool is_v4 = kind == RIG_IPV4_UDP || kind == RIG_IPV4_TCP;
		uint32_t l3_field = (vlan ? 18 : 14) + 10;
		uint32_t l4_field = l4_checksum_offset(kind, vlan);
		uint8_t good[256], bytes[256];
		uint32_t length = rig_packet(good, kind, vlan, payload);

		memcpy(bytes, good, length);
		if (is_v4)
			rig_put16(bytes + l3_field, 0xdead);
		rig_put16(bytes + l4_field, 0xbeef);
		fill(bytes, length, flags);
		if (is_v4 && !(flags & L3)) {
			assert_int_equal(rig_get16(bytes + l3_field), 0xdead);
			memcpy(bytes + l3_field, good + l3_field, 2);
		}
		if (!(flags & L4)) {
			assert_int_equal(rig_get16(bytes + l4_field), 0xbeef);
			memcpy(bytes + l4_field, good + l4_field, 2);
		}
		assert_memory_equal(bytes, good, length);
	}
}

static void
inner_and_outer(void **state)
{
	uint8_t inner[128], good[256], bytes[256];
	uint32_t inner_length = rig_packet(inner, RIG_IPV4_TCP, false, 11);
	uint32_t length = rig_vxlan(good, inner, inner_length);
	const uint32_t inner_l3 = 50 + 14 + 10, inner_l4 = 50 + 34 + 16;

	(void)state;
	memcpy(bytes, good, length);
	rig_put16(bytes + 24, 0xdead);
	rig_put16(bytes + inner_l3, 0xdead);
	rig_put16(bytes + inner_l4, 0xdead);
	/* As DPDK and Linux ask for a VXLAN packet: the outer UDP checksum stays. */
	fill(bytes, length, L3 | L3_INNER | L4_INNER);
	assert_memory_equal(bytes, good, length);
	/* All: the outer UDP checksum covers the inner ones. */
	rig_put16(bytes + inner_l3, 0xdead);
	rig_put16(bytes + inner_l4, 0xdead);
	rig_put16(bytes + 40, 0xdead);
	fill(bytes, length, L3 | L4 | L3_INNER | L4_INNER);
	assert_memory_equal(bytes, good, length);
	/* Inner flags without a tunnel change nothing. */
	memcpy(bytes, inner, inner_length);
	rig_put16(bytes + 24, 0xdead);
	fill(bytes, inner_length, L3_INNER | L4_INNER);
	assert_int_equal(rig_get16(bytes + 24), 0xdead);
}

/** hardware.md 7.2: these leave the L4 field alone. */
static void
policies(void **state)
{
	static const struct {
		const char *what;
		uint16_t offset;
		uint8_t value;
	} cases[] = {
		{ "first fragment", 20, 0x20 },
		{ "later fragment", 21, 1 },
		{ "not UDP", 23, 132 },
		{ "longer than the frame", 17, 255 },
	};
	uint8_t bytes[256];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t length = rig_packet(bytes, RIG_IPV4_UDP, false, 40);

		bytes[cases[i].offset] = cases[i].value;
		rig_put16(bytes + 40, 0xbeef);
		fill(bytes, length, L3 | L4);
		if (rig_get16(bytes + 40) != 0xbeef)
			fail_msg("touched: %s", cases[i].what);
		assert_int_equal(rig_naive_sum(bytes + 14, 20, 0), 0xffff);
	}
}

static void
zero_is_sent_as_ones(void **state)
{
	uint8_t bytes[64];
	uint32_t length = rig_packet(bytes, RIG_IPV4_UDP, false, 2);
	uint16_t sum;

	(void)state;
	/* Choose the payload so that the sum without checksum is 0xffff. */
	rig_put16(bytes + 42, 0);
	rig_put16(bytes + 40, 0);
	sum = rig_naive_sum(bytes + 34, 10, rig_naive_pseudo(bytes + 14, 17, 10));
	rig_put16(bytes + 42, (uint16_t)~sum);
	fill(bytes, length, L4);
	assert_int_equal(rig_get16(bytes + 40), 0xffff);
}

static void
insert_and_pad(void **state)
{
	uint8_t bytes[80], expected[80];

	(void)state;
	rig_frame(bytes, 20, 3);
	memcpy(expected, bytes, 12);
	memcpy(expected + 12, "\x88\xa8\x20\x07", 4);
	memcpy(expected + 16, bytes + 12, 8);
	assert_int_equal(shca_tx_insert_vlan(bytes, 20, 0x88a8, 0x2007), 24);
	assert_memory_equal(bytes, expected, 24);
	memset(bytes + 24, 0xaa, sizeof(bytes) - 24);
	memset(expected + 24, 0, 36);
	assert_int_equal(shca_tx_pad(bytes, 24), 60);
	assert_memory_equal(bytes, expected, 60);
	assert_int_equal(bytes[60], 0xaa);
	assert_int_equal(shca_tx_pad(bytes, 60), 60);
	assert_int_equal(shca_tx_pad(bytes, 61), 61);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fills_what_is_asked),
		cmocka_unit_test(inner_and_outer),
		cmocka_unit_test(policies),
		cmocka_unit_test(zero_is_sent_as_ones),
		cmocka_unit_test(insert_and_pad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
