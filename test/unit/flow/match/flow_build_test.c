/* SPDX-License-Identifier: BSD-3-Clause */
/* The growing attribute: limits, folding, added layers, the multicast shield. */

#include <errno.h>
#include <string.h>

#include "fake_verbs.h"

static const uint8_t mac[6] = { 2, 0, 0, 0, 0, 1 }, whole[6] = { 255, 255, 255, 255, 255, 255 };
static const uint8_t group[6] = { 1 };

static void
test_limits(void **state)
{
	struct mdv_flow_build build;
	int at = 0;

	(void)state;
	mdv_flow_build_init(&build);
	for (unsigned int i = 0; i < MDV_FLOW_BUILD_SPECS; i++)
		assert_int_equal(mdv_flow_build_drop(&build), 0);
	assert_int_equal(mdv_flow_build_drop(&build), -E2BIG);
	assert_int_equal(mdv_flow_build_tag(&build, 1), -E2BIG);
	assert_int_equal(mdv_flow_build_count(&build, NULL), -E2BIG);
	assert_int_equal(mdv_flow_build_add_layers(&build, MDV_LAYER_UDP), -E2BIG);
	assert_int_equal(build.attr.num_of_specs, MDV_FLOW_BUILD_SPECS);
	assert_int_equal(build.attr.size, 20 + MDV_FLOW_BUILD_SPECS * 8);
	/* A full attribute cannot be shielded: refused, not sent behind all priorities. */
	mdv_flow_build_eth(&build, group, group);
	for (unsigned int i = 1; i < MDV_FLOW_BUILD_SPECS; i++)
		at = mdv_flow_build_drop(&build);
	assert_int_equal(at, 0);
	assert_int_equal(mdv_flow_build_finish(&build, 0, 1, false), -E2BIG);
	assert_int_equal(mdv_flow_build_finish(&build, 0, 1, true), 0);
}

static void
test_header(void **state)
{
	struct mdv_flow_build build;

	(void)state;
	mdv_flow_build_eth(&build, mac, whole);
	assert_int_equal(mdv_flow_build_tag(&build, 0x123456), 0);
	assert_int_equal(mdv_flow_build_drop(&build), 0);
	assert_int_equal(mdv_flow_build_finish(&build, 13, 2, true), 0);
	fake_assert_bytes("header", build.bytes, build.attr.size,
		"00000000 00000000 5000 0d00 03 02 0000 02000000" HEX_ETH(
			"020000000001" HEX_0_6 HEX_0_4, "ffffffffffff" HEX_0_6 HEX_0_4)
			HEX_TAG("56341200") HEX_DROP);
}

static void
test_count(void **state)
{
	struct ibv_counters *counters = (struct ibv_counters *)(uintptr_t)0x1122334455667788;
	struct mdv_flow_build build;

	(void)state;
	mdv_flow_build_init(&build);
	assert_int_equal(mdv_flow_build_count(&build, counters), 0);
	fake_assert_bytes("count", &build.bytes[20], build.attr.size - 20,
		"03100000 1000 0000 8877665544332211");
}

static void
test_add_layers(void **state)
{
	struct mdv_flow_build build;

	(void)state;
	mdv_flow_build_eth(&build, mac, whole);
	assert_int_equal(mdv_flow_build_add_layers(&build, MDV_LAYER_IPV6 | MDV_LAYER_TCP), 0);
	fake_assert_bytes(
		"ipv6 tcp", &build.bytes[60], build.attr.size - 60, HEX_ANY_IPV6 HEX_ANY_TCP);
	assert_int_equal(build.layers, MDV_LAYER_ETH | MDV_LAYER_IPV6 | MDV_LAYER_TCP);
	mdv_flow_build_init(&build);
	assert_int_equal(mdv_flow_build_add_layers(&build, MDV_LAYER_IPV4 | MDV_LAYER_UDP), 0);
	fake_assert_bytes(
		"ipv4 udp", &build.bytes[20], build.attr.size - 20, HEX_ANY_IPV4 HEX_ANY_UDP);
}

/** steering.md 2.2, cases 52 and 53: only a trap rule whose first spec is multicast-only moves. */
static void
test_shield(void **state)
{
	static const uint8_t broadcast[6] = { 255, 255, 255, 255, 255, 255 };
	static const uint8_t any[6];
	static const struct {
		const uint8_t *dst, *mask;
		uint32_t ip; /* 0: no IPV4 spec */
		bool dont_trap, shielded;
	} cases[] = {
		{ group, group, 0, false, true },
		{ broadcast, whole, 0, false, true },
		{ group, group, 0, true, false },
		{ mac, whole, 0, false, false },
		{ any, any, 0, false, false },
		{ NULL, NULL, 0xe0000001, false, true },
		{ NULL, NULL, 0xefffffff, false, true },
		{ NULL, NULL, 0xe0000001, true, false },
		{ NULL, NULL, 0xf0000001, false, false },
		{ NULL, NULL, 0x0a000001, false, false },
		{ mac, whole, 0xe0000001, false, false },
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		struct ibv_flow_spec_ipv4_ext ip = { IBV_FLOW_SPEC_IPV4_EXT, sizeof(ip),
			.val.dst_ip = rte_cpu_to_be_32(cases[i].ip), .mask.dst_ip = ~0u };
		struct mdv_flow_build build;
		uint16_t size;

		mdv_flow_build_init(&build);
		if (cases[i].dst != NULL)
			mdv_flow_build_eth(&build, cases[i].dst, cases[i].mask);
		if (cases[i].ip != 0)
			assert_true(mdv_flow_build_append(&build, &ip, sizeof(ip)) > 0);
		size = build.attr.size;
		assert_int_equal(mdv_flow_build_finish(&build, 0, 1, cases[i].dont_trap), 0);
		assert_int_equal(
			build.attr.flags, cases[i].dont_trap ? IBV_FLOW_ATTR_FLAGS_DONT_TRAP : 0);
		assert_int_equal(build.attr.size, size + (cases[i].shielded ? 40 : 0));
		if (!cases[i].shielded)
			continue;
		fake_assert_bytes("shield", &build.bytes[20], 40, HEX_ANY_ETH);
		if (cases[i].ip != 0)
			assert_memory_equal(&build.bytes[60], &ip, sizeof(ip));
		else
			assert_memory_equal(&build.bytes[66], cases[i].dst, 6);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_header),
		cmocka_unit_test(test_count),
		cmocka_unit_test(test_add_layers),
		cmocka_unit_test(test_shield),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
