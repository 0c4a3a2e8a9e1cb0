/* SPDX-License-Identifier: BSD-3-Clause */
/* Profiles: what older cards refuse, with which errno, and what they ignore. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <errno.h>

#include "build.h"
#include "steering/ethtool.h"
#include "steering/match/param.h"
#include "steering/profile.h"

#define DT        IBV_FLOW_ATTR_FLAGS_DONT_TRAP
#define EGRESS    IBV_FLOW_ATTR_FLAGS_EGRESS
#define MAX_SPECS 3
#define FULL_MAC                                                                                   \
	{                                                                                          \
		255, 255, 255, 255, 255, 255                                                       \
	}

/** Specs, each with the fields that tests are about. */
#define MAC(...)                                                                                   \
	{                                                                                          \
		.type = 0x20, .value.eth.dst_mac = { 2, 0, 0, 0, 0, 1 }, .mask.eth = {             \
			.dst_mac = FULL_MAC,                                                       \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#define GROUP                                                                                      \
	{                                                                                          \
		.type = 0x20, .value.eth.dst_mac = { 1, 0, 0x5e }, .mask.eth.dst_mac = FULL_MAC    \
	}
#define ETH(...)                                                                                   \
	{                                                                                          \
		.type = 0x20, .mask.eth = { __VA_ARGS__ }                                          \
	}
#define IP4(...)                                                                                   \
	{                                                                                          \
		.type = 0x30, .mask.ipv4 = { __VA_ARGS__ }                                         \
	}
#define UDP(...)                                                                                   \
	{                                                                                          \
		.type = 0x41, .mask.tcp_udp = { __VA_ARGS__ }                                      \
	}
#define OTHER(number)                                                                              \
	{                                                                                          \
		.type = number                                                                     \
	}

static char tirs[SHCA_PROFILE_A0_RULES + 2];

static struct shca_steering *
make_steering(enum shca_profile profile)
{
	const struct shca_steering_conf conf = {
		.dont_trap = true,
		.sniffer = true,
		.tunnel_offloads = 0x1f,
		.inner_ip_version = true,
		.profile = profile,
	};
	struct shca_steering *steering = shca_steering_create(&conf);
	const struct shca_kernel_filter netdev = { .present = true };

	assert_non_null(steering);
	shca_steering_set_kernel(steering, &netdev);
	return steering;
}

struct request {
	uint32_t type, flags;
	uint16_t priority;
	struct spec spec[MAX_SPECS];
};

static int
add(struct shca_steering *steering, const struct request *request, void *tir,
	struct shca_rule **rule)
{
	struct specs specs = { 0 };

	for (unsigned int i = 0; i < MAX_SPECS && request->spec[i].type != 0; i++)
		specs_add_spec(&specs, &request->spec[i]);

	const struct shca_rule_attr attr = {
		.type = request->type,
		.flags = request->flags,
		.priority = request->priority,
		.nb_specs = specs.nb,
		.specs = specs_bytes(&specs),
		.specs_length = specs.length,
		.tir = tir,
	};

	return shca_rule_add(steering, &attr, rule);
}

/* clang-format off */
static const struct {
	const char *name;
	struct request request;
	int cx4_exp, dmfs, a0; /* errno */
} cases[] = {
	{ "MAC",               { .spec = { MAC() } }, 0, 0, 0 },
	{ "group",             { .spec = { GROUP } }, 0, 0, 0 },
	{ "no spec",           { 0 }, 0, 0, ENXIO },
	{ "ALL_DEFAULT",       { .type = 1 }, 0, 0, 0 },
	{ "MC_DEFAULT",        { .type = 2 }, 0, 0, 0 },
	{ "SNIFFER",           { .type = 3 }, 0, 0, 0 },
	{ "unknown type",      { .type = 4 }, EOPNOTSUPP, EINVAL, EINVAL },
	{ "priority 3",        { .priority = 3, .spec = { MAC() } }, 0, 0, 0 },
	{ "priority 4",        { .priority = 4, .spec = { MAC() } }, ENOSPC, 0, 0 },
	{ "priority 16",       { .priority = 16, .spec = { MAC() } }, ENOSPC, ENOMEM, ENOMEM },
	{ "priority 4096",     { .priority = 4096, .spec = { MAC() } }, ENOSPC, EINVAL, EINVAL },
	{ "half an address",   { .spec = { ETH(.dst_mac = { 255, 255, 255 }) } }, 0, EINVAL, EINVAL },
	{ "group bit",         { .spec = { ETH(.dst_mac = { 1 }) } }, 0, EINVAL, EINVAL },
	{ "no address",        { .spec = { ETH(.src_mac = FULL_MAC) } }, 0, 0, ENXIO },
	{ "VLAN",              { .spec = { MAC(.vlan_tag = BE16(0x0fff)) } }, 0, 0, ENXIO },
	{ "half a VLAN",       { .spec = { MAC(.vlan_tag = BE16(0x00ff)) } }, 0, EINVAL, EINVAL },
	{ "tag",               { .spec = { MAC(.vlan_tag = BE16(0xffff)) } }, 0, EINVAL, EINVAL },
	{ "source, type",      { .spec = { MAC(.src_mac = { 255 }, .ether_type = BE16(0xff)) } }, 0, 0, 0 },
	{ "IPv4",              { .spec = { MAC(), IP4(.src_ip = UINT32_MAX) } }, EINVAL, 0, ENXIO },
	{ "IPv4 prefix",       { .spec = { IP4(.dst_ip = BE32(0xffffff00)) } }, EINVAL, EINVAL, EINVAL },
	{ "IPv4 protocol",     { .spec = { IP4(.proto = 255) } }, EINVAL, EINVAL, EINVAL },
	{ "UDP",               { .spec = { MAC(), IP4(), UDP(.dst_port = 0xffff) } }, EINVAL, 0, ENXIO },
	{ "half a port",       { .spec = { UDP(.src_port = BE16(0xff00)) } }, EINVAL, EINVAL, EINVAL },
	{ "TCP",               { .spec = { OTHER(0x40) } }, EINVAL, 0, ENXIO },
	{ "IPv6",              { .spec = { OTHER(0x31) } }, EINVAL, EINVAL, EINVAL },
	{ "inner ETH",         { .spec = { OTHER(0x120) } }, EINVAL, EINVAL, EINVAL },
	{ "VXLAN",             { .spec = { OTHER(0x50) } }, EINVAL, EINVAL, EINVAL },
	{ "tag action",        { .spec = { MAC(), OTHER(0x1000) } }, EINVAL, EINVAL, EINVAL },
	{ "drop",              { .spec = { MAC(), OTHER(0x1001) } }, EINVAL, EINVAL, EINVAL },
	{ "EGRESS",            { .flags = EGRESS, .spec = { MAC() } }, EINVAL, EOPNOTSUPP, EOPNOTSUPP },
	{ "DT",                { .flags = DT }, 0, 0, EOPNOTSUPP },
	{ "DT zero",           { .flags = DT, .spec = { ETH() } }, 0, 0, EOPNOTSUPP },
	{ "DT group bit",      { .flags = DT, .spec = { ETH(.dst_mac = { 1 }) } }, 0, 0, EOPNOTSUPP },
	{ "DT MAC",            { .flags = DT, .spec = { MAC() } }, 0, EINVAL, EOPNOTSUPP },
	{ "DT IPv4",           { .flags = DT, .spec = { IP4() } }, EINVAL, EINVAL, EOPNOTSUPP },
	{ "DT priority",       { .flags = DT, .priority = 1 }, 0, EOPNOTSUPP, EOPNOTSUPP },
	{ "DT two specs",      { .flags = DT, .spec = { ETH(), IP4() } }, EINVAL, EOPNOTSUPP, EOPNOTSUPP },
	{ "DT SNIFFER",        { .type = 3, .flags = DT }, 0, EOPNOTSUPP, EOPNOTSUPP },
	{ "DT ALL_DEFAULT",    { .type = 1, .flags = DT }, EINVAL, EINVAL, EINVAL },
};
/* clang-format on */

static void
test_cases(void **state)
{
	static const struct {
		enum shca_profile profile;
		const char *name;
		size_t wanted;
	} profiles[] = {
		{ SHCA_PROFILE_CX4_EXP, "cx4-exp", offsetof(typeof(cases[0]), cx4_exp) },
		{ SHCA_PROFILE_DMFS, "dmfs", offsetof(typeof(cases[0]), dmfs) },
		{ SHCA_PROFILE_A0, "a0", offsetof(typeof(cases[0]), a0) },
	};

	(void)state;
	for (unsigned int p = 0; p < 3; p++) {
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			struct shca_steering *steering = make_steering(profiles[p].profile);
			const int wanted =
				*(const int *)((const char *)&cases[i] + profiles[p].wanted);
			struct shca_rule *rule = NULL;
			const int ret = add(steering, &cases[i].request, &tirs[0], &rule);

			if (ret != -wanted)
				fail_msg("%s, %s: %d, not %d", profiles[p].name, cases[i].name,
					-ret, wanted);
			assert_int_equal(shca_steering_nb_receiving(steering), ret == 0);
			shca_rule_del(steering, ret == 0 ? rule : NULL);
			shca_steering_destroy(steering);
		}
	}
}

/** A card that does not look at source and EtherType takes frames of all. */
static void
test_ignored_fields(void **state)
{
	struct request request = {
		.spec = { MAC(.src_mac = FULL_MAC, .ether_type = 0xffff) },
	};
	static const uint8_t bytes[64] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9, 0x88, 0xb5 };
	struct shca_steering *steering = make_steering(SHCA_PROFILE_DMFS);
	struct shca_packet packet;
	struct shca_verdict verdict;
	struct shca_rule *rule;

	(void)state;
	request.spec[0].value.eth.src_mac[0] = 0x40;
	assert_int_equal(add(steering, &request, &tirs[0], &rule), 0);
	shca_parse(bytes, sizeof(bytes), &packet);
	shca_walk_rx(steering, &packet, &verdict);
	assert_int_equal(verdict.nb_destinations, 1);
	shca_rule_del(steering, rule);
	shca_steering_destroy(steering);
}

static void
test_a0_is_small(void **state)
{
	struct shca_steering *steering = make_steering(SHCA_PROFILE_A0);
	struct shca_rule *rules[SHCA_PROFILE_A0_RULES + 1], *group, *none;
	struct request request = { .spec = { MAC() } };
	const struct request multicast = { .spec = { GROUP } };
	uint8_t *last = &request.spec[0].value.eth.dst_mac[5];
	unsigned int i;

	(void)state;
	for (i = 0; i < SHCA_PROFILE_A0_RULES; i++) {
		*last = (uint8_t)i;
		assert_int_equal(add(steering, &request, &tirs[i], &rules[i]), 0);
		/* The same address, then the same queue. */
		assert_int_equal(add(steering, &request, &tirs[i + 1], &none), -ENXIO);
		*last = 200;
		assert_int_equal(add(steering, &request, &tirs[i], &none), -ENXIO);
	}
	assert_int_equal(add(steering, &request, &tirs[i], &none), -ENXIO);
	assert_int_equal(add(steering, &multicast, &tirs[0], &group), 0);
	shca_rule_del(steering, group);
	shca_rule_del(steering, rules[7]);
	assert_int_equal(add(steering, &request, &tirs[7], &rules[7]), 0);
	while (i-- > 0)
		shca_rule_del(steering, rules[i]);
	shca_steering_destroy(steering);
}

static void
test_no_matchers(void **state)
{
	static const struct shca_param param;
	const struct shca_raw_rule_attr attr = { .mask = &param, .value = &param, .tir = tirs };
	struct shca_rule *rule;

	(void)state;
	for (enum shca_profile p = SHCA_PROFILE_CX4_EXP; p <= SHCA_PROFILE_A0; p++) {
		struct shca_steering *steering = make_steering(p);

		assert_int_equal(shca_rule_add_raw(steering, &attr, &rule), -EOPNOTSUPP);
		shca_steering_destroy(steering);
	}
}

#define L2(...)                                                                                    \
	{                                                                                          \
		.is_l2 = true, .nb_tuples = 1, .match.mask.outer = { __VA_ARGS__ }                 \
	}
#define L3(type, nb, ...)                                                                          \
	{                                                                                          \
		.nb_tuples = nb, .match.mask.outer = { .ether_type = 0xffff, __VA_ARGS__ },        \
		.match.value.outer = {                                                             \
			.ether_type = type                                                         \
		}                                                                                  \
	}
#define V4(bits)                                                                                   \
	{                                                                                          \
		[12] = bits, bits, bits, bits                                                      \
	}

static void
test_rules_of_the_netdev(void **state)
{
	static const struct {
		struct shca_ethtool_attr attr;
		int dmfs, a0;
	} rules[] = {
		{ L2(.dst_mac = FULL_MAC), 0, 0 },
		{ L2(.dst_mac = { 255 }), EINVAL, EINVAL },
		{ L2(.dst_mac = FULL_MAC, .src_mac = { 1 }), EINVAL, EINVAL },
		{ { .is_l2 = true,
			  .nb_tuples = 2,
			  .match.mask.outer = { .dst_mac = FULL_MAC,
				  .cvlan = 1,
				  .vlan_tci = 0xfff } },
			0, ENXIO },
		{ L2(.dst_mac = FULL_MAC, .cvlan = 1, .vlan_tci = 7), EINVAL, EINVAL },
		{ L3(0x800, 2, .src_ip = V4(255)), 0, ENXIO },
		{ L3(0x800, 2, .src_ip = V4(15)), EINVAL, EINVAL },
		{ L3(0x800, 2, .dst_ip = V4(15)), EINVAL, EINVAL },
		{ L3(0x800, 1), EINVAL, EINVAL },
		{ L3(0x800, 1, .ip_proto = 255, .dst_ip = V4(255)), EINVAL, EINVAL },
		{ L3(0x86dd, 2, .dst_ip = V4(255)), EINVAL, EINVAL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		for (enum shca_profile p = SHCA_PROFILE_CX4_EXP; p <= SHCA_PROFILE_A0; p++) {
			const int wanted = p == SHCA_PROFILE_CX4_EXP ? 0
				: p == SHCA_PROFILE_DMFS             ? rules[i].dmfs
								     : rules[i].a0;
			const char *why = NULL;
			struct shca_steering *steering = make_steering(p);

			assert_int_equal(shca_ethtool_add(steering, &rules[i].attr, &why), -wanted);
			if (wanted != 0)
				assert_int_equal(strncmp(why, "steering=", 9), 0);
			else
				assert_null(why);
			shca_steering_destroy(steering);
		}
	}
}

/** Where the profile takes a rule and the table does not, the profile is not the reason. */
static void
test_other_refusals(void **state)
{
	const struct shca_ethtool_attr first = L2(.dst_mac = FULL_MAC);
	struct shca_ethtool_attr second = first;

	(void)state;
	second.location = 1;
	second.drop = true;
	for (enum shca_profile p = SHCA_PROFILE_CX4_EXP; p <= SHCA_PROFILE_A0; p++) {
		struct shca_steering *steering = make_steering(p);
		const char *why = NULL;

		assert_int_equal(shca_ethtool_add(steering, &first, &why), 0);
		assert_int_equal(shca_ethtool_add(steering, &second, &why), -EEXIST);
		assert_null(why);
		shca_steering_destroy(steering);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_ignored_fields),
		cmocka_unit_test(test_a0_is_small),
		cmocka_unit_test(test_no_matchers),
		cmocka_unit_test(test_rules_of_the_netdev),
		cmocka_unit_test(test_other_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
