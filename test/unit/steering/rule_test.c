/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules: the order of checks, what is shared and what is left after each goes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <errno.h>

#include "base/context.h"
#include "build.h"

#define DT     IBV_FLOW_ATTR_FLAGS_DONT_TRAP
#define EGRESS IBV_FLOW_ATTR_FLAGS_EGRESS

#define ALL_TUNNELS UINT32_C(0x1f)
#define MAX_SPECS   2

#define SPEC_ETH_UNICAST                                                                           \
	{                                                                                          \
		.type = 0x20, .value.eth.dst_mac = { 2 }, .mask.eth.dst_mac = { 3 }                \
	}
#define SPEC_OUTSIDE                                                                               \
	{                                                                                          \
		.type = 0x20, .value.eth.dst_mac = { 2 }                                           \
	}
#define SPEC_REFUSED                                                                               \
	{                                                                                          \
		.type = 0x34                                                                       \
	}
#define SPEC_UNKNOWN                                                                               \
	{                                                                                          \
		.type = 0x1003f                                                                    \
	} /* a type above all actions */
#define SPEC_DROP                                                                                  \
	{                                                                                          \
		.type = 0x1001                                                                     \
	}

static char tirs[] = "ABCDEF";
static struct shca_flow_counter counter;

static struct shca_steering *
make_steering(bool dont_trap, bool sniffer)
{
	const struct shca_steering_conf conf = {
		.dont_trap = dont_trap,
		.sniffer = sniffer,
		.tunnel_offloads = ALL_TUNNELS,
		.inner_ip_version = true,
	};
	struct shca_steering *steering = shca_steering_create(&conf);

	assert_non_null(steering);
	return steering;
}

struct request {
	uint32_t type, flags;
	uint16_t priority;
	bool no_tir;
	struct spec spec[MAX_SPECS];
};

static int
add(struct shca_steering *steering, const struct request *request, void *tir,
	struct shca_rule **rule)
{
	struct specs specs = { 0 };

	for (unsigned int i = 0; i < MAX_SPECS && request->spec[i].type != 0; i++) {
		if (request->spec[i].type == 0x1003f)
			specs_add_action(&specs, 0x1003f, 16, 0);
		else
			specs_add_spec(&specs, &request->spec[i]);
	}

	struct shca_rule_attr attr = {
		.type = request->type,
		.flags = request->flags,
		.priority = request->priority,
		.nb_specs = specs.nb,
		.specs = specs_bytes(&specs),
		.specs_length = specs.length,
		.tir = request->no_tir ? NULL : tir,
		.counter = &counter,
	};

	return shca_rule_add(steering, &attr, rule);
}

/* clang-format off */
static const struct check {
	const char *name;
	struct request request;
	int err;
	bool no_dont_trap, no_sniffer;
} checks[] = {
	/* Each row has two faults: the check that comes first decides. */
	{ "flag 8",                       { .flags = 8 }, EINVAL },
	{ "flag 8, priority",             { .flags = 8, .priority = 16 }, EINVAL },
	{ "ALL_DEFAULT DT, priority",     { 1, DT, 16 }, EINVAL },
	{ "MC_DEFAULT DT",                { 2, DT }, EINVAL },
	{ "SNIFFER DT",                   { 3, DT }, 0 },
	{ "spec, priority",               { .priority = 16, .spec = { SPEC_UNKNOWN } }, EINVAL },
	{ "spec of ALL_DEFAULT",          { 1, .spec = { SPEC_UNKNOWN } }, EINVAL },
	{ "spec of SNIFFER",              { 3, .spec = { SPEC_UNKNOWN } }, EINVAL },
	{ "priority 15",                  { .priority = 15 }, 0 },
	{ "priority, bit 0",              { .flags = 1, .priority = 16 }, ENOMEM },
	{ "priority of ALL_DEFAULT",      { 1, 0, 16 }, ENOMEM },
	{ "priority of SNIFFER",          { 3, 0, 16 }, ENOMEM },
	{ "priority, type",               { 4, 0, 16 }, ENOMEM },
	{ "bit 0",                        { .flags = 1 }, EINVAL },
	{ "bit 0, type",                  { 4, 1 }, EINVAL },
	{ "ALL_DEFAULT EGRESS",           { 1, EGRESS }, EINVAL },
	{ "MC_DEFAULT EGRESS",            { 2, EGRESS }, EINVAL },
	{ "type, EGRESS",                 { 4, EGRESS }, EOPNOTSUPP },
	{ "type, spec",                   { 4, .spec = { SPEC_OUTSIDE } }, EOPNOTSUPP },
	{ "sniffer lacking, EGRESS",      { 3, EGRESS }, EOPNOTSUPP, .no_sniffer = true },
	{ "sniffer, EGRESS",              { 3, EGRESS }, EINVAL },
	{ "sniffer lacking",              { 3 }, EOPNOTSUPP, .no_sniffer = true },
	{ "refused spec",                 { .spec = { SPEC_REFUSED } }, EOPNOTSUPP },
	{ "refused spec of a default",    { 1, .spec = { SPEC_REFUSED } }, 0 },
	{ "refused spec of a sniffer",    { 3, .spec = { SPEC_REFUSED } }, 0 },
	{ "DT lacking",                   { .flags = DT }, EOPNOTSUPP, .no_dont_trap = true },
	{ "DT lacking, drop",             { .flags = DT, .spec = { SPEC_DROP } }, 0, .no_dont_trap = true },
	{ "DT lacking, value",            { .flags = DT, .spec = { SPEC_OUTSIDE } }, EOPNOTSUPP, .no_dont_trap = true },
	{ "value, DT",                    { .flags = DT, .spec = { SPEC_OUTSIDE } }, EINVAL },
	{ "DT EGRESS",                    { .flags = DT | EGRESS }, EOPNOTSUPP },
	{ "DT EGRESS drop",               { .flags = DT | EGRESS, .spec = { SPEC_DROP } }, 0 },
	{ "no TIR",                       { .no_tir = true }, EINVAL },
	{ "no TIR, ALL_DEFAULT",          { 1, .no_tir = true }, EINVAL },
	{ "no TIR, SNIFFER",              { 3, .no_tir = true }, EINVAL },
	{ "no TIR, drop",                 { .no_tir = true, .spec = { SPEC_DROP } }, 0 },
	{ "no TIR, EGRESS",               { .flags = EGRESS, .no_tir = true }, 0 },
};
/* clang-format on */

static char *
dump(const struct shca_steering *steering)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	shca_steering_dump(steering, out);
	fclose(out);
	return text;
}

static void
test_check_order(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		struct shca_steering *steering =
			make_steering(!checks[i].no_dont_trap, !checks[i].no_sniffer);
		struct shca_rule *rule = NULL;
		int err = -add(steering, &checks[i].request, &tirs[0], &rule);

		if (err != checks[i].err || (rule == NULL) != (err != 0))
			fail_msg("%s: %d, not %d", checks[i].name, err, checks[i].err);
		shca_rule_del(steering, rule);

		char *text = dump(steering);

		assert_string_equal(text, "");
		free(text);
		shca_steering_destroy(steering);
	}
}

/** Counts and lengths of the whole request. */
static void
test_request_bounds(void **state)
{
	struct shca_steering *steering = make_steering(true, true);
	struct specs specs = { 0 };
	struct shca_rule *rule;

	(void)state;
	for (unsigned int i = 0; i < 10; i++)
		specs_add_action(&specs, 0x1001, 8, 0);

	struct shca_rule_attr attr = {
		.nb_specs = 10,
		.specs = specs_bytes(&specs),
		.specs_length = specs.length,
	};

	assert_int_equal(shca_rule_add(steering, &attr, &rule), 0);
	shca_rule_del(steering, rule);
	specs_add_action(&specs, 0x1001, 8, 0);
	attr.nb_specs = 11;
	attr.specs_length = specs.length;
	assert_int_equal(shca_rule_add(steering, &attr, &rule), -EINVAL);
	attr.nb_specs = 0;
	attr.specs_length = 8;
	assert_int_equal(shca_rule_add(steering, &attr, &rule), -EINVAL);
	attr.nb_specs = 1;
	attr.specs_length = 89;
	assert_int_equal(shca_rule_add(steering, &attr, &rule), -EINVAL);
	shca_rule_del(steering, NULL);
	shca_steering_destroy(steering);
	shca_steering_destroy(NULL);
}

static const struct request by_mac = { .spec = { SPEC_ETH_UNICAST } };
static const struct request by_mac_drop = { .spec = { SPEC_ETH_UNICAST, SPEC_DROP } };
static const struct request all_default = { .type = 1 };
static const struct request mc_default = { .type = 2 };
static const struct request sniffer = { .type = 3 };

/** A refused rule leaves everything as it was: dump and count. */
static void
test_nothing_changed(void **state)
{
	static const struct request bad[] = {
		{ .spec = { SPEC_ETH_UNICAST, SPEC_DROP } },
		{ .spec = { SPEC_ETH_UNICAST, { .type = 0x1000, .word = 1 } } },
		{ .spec = { SPEC_ETH_UNICAST }, .no_tir = true },
		{ .type = 1, .no_tir = true },
		{ .spec = { SPEC_OUTSIDE } },
	};
	struct shca_steering *steering = make_steering(true, true);
	struct shca_rule *rule, *none = NULL;

	(void)state;
	assert_int_equal(add(steering, &by_mac, &tirs[0], &rule), 0);

	char *before = dump(steering);

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_not_equal(add(steering, &bad[i], &tirs[1], &none), 0);
		assert_null(none);

		char *after = dump(steering);

		assert_string_equal(after, before);
		free(after);
		assert_int_equal(shca_steering_nb_receiving(steering), 1);
	}
	free(before);
	shca_rule_del(steering, rule);
	shca_steering_destroy(steering);
}

static void
test_nb_receiving(void **state)
{
	static const struct request egress = { .flags = EGRESS };
	const struct {
		const struct request *request;
		unsigned int nb;
	} steps[] = {
		{ &by_mac, 1 },
		{ &by_mac, 2 },
		{ &all_default, 3 },
		{ &mc_default, 4 },
		{ &sniffer, 5 },
		{ &egress, 5 },
	};
	struct shca_steering *steering = make_steering(true, true);
	struct shca_rule *rules[6], *drop;

	(void)state;
	for (unsigned int i = 0; i < 6; i++) {
		assert_int_equal(add(steering, steps[i].request, &tirs[i], &rules[i]), 0);
		assert_int_equal(shca_steering_nb_receiving(steering), steps[i].nb);
	}
	for (unsigned int i = 6; i-- > 0;) {
		shca_rule_del(steering, rules[i]);
		assert_int_equal(shca_steering_nb_receiving(steering), i > 0 ? steps[i - 1].nb : 0);
	}
	assert_int_equal(add(steering, &by_mac_drop, &tirs[0], &drop), 0);
	assert_int_equal(shca_steering_nb_receiving(steering), 0);
	shca_rule_del(steering, drop);
	shca_steering_destroy(steering);
}

/** Rules of one match: each QP has one place in the entry's list, and each rule with a counter one
 * in the other. */
static void
test_lists_of_an_entry(void **state)
{
	static const struct request counted = { .spec = { SPEC_ETH_UNICAST, { .type = 0x1003 } } };
	static const struct request plain = { .spec = { SPEC_ETH_UNICAST } };
	static const struct request copying = { .flags = DT, .spec = { SPEC_ETH_UNICAST } };
	const struct shca_steering_conf conf = {
		.dont_trap = true,
		.max_fte_destinations = 3,
		.max_fte_counters = 2,
	};
	struct shca_steering *steering = shca_steering_create(&conf);
	struct shca_rule *rules[5], *refused;

	(void)state;
	assert_non_null(steering);
	assert_int_equal(add(steering, &counted, &tirs[0], &rules[0]), 0);
	assert_int_equal(add(steering, &counted, &tirs[0], &rules[1]), 0);
	assert_int_equal(add(steering, &counted, &tirs[0], &refused), -EINVAL);
	assert_int_equal(add(steering, &plain, &tirs[0], &rules[2]), 0);
	assert_int_equal(add(steering, &plain, &tirs[1], &rules[3]), 0);
	assert_int_equal(add(steering, &plain, &tirs[2], &rules[4]), 0);
	assert_int_equal(add(steering, &plain, &tirs[3], &refused), -EINVAL);
	shca_rule_del(steering, rules[0]);
	assert_int_equal(add(steering, &counted, &tirs[1], &rules[0]), 0);
	for (unsigned int i = 0; i < 5; i++)
		shca_rule_del(steering, rules[i]);
	/* Behind a copying entry the next table takes one place. */
	assert_int_equal(add(steering, &copying, &tirs[0], &rules[0]), 0);
	assert_int_equal(add(steering, &copying, &tirs[1], &rules[1]), 0);
	assert_int_equal(add(steering, &copying, &tirs[2], &refused), -EINVAL);
	shca_rule_del(steering, rules[0]);
	shca_rule_del(steering, rules[1]);
	shca_steering_destroy(steering);
}

static uint64_t
rewrites(const struct shca_steering *steering)
{
	return shca_steering_commands(steering)->rewrites;
}

/** Copying entries are written again whenever the next table with rules is another. */
static void
test_tables_that_come_and_go(void **state)
{
	struct request copying = { .flags = DT, .priority = 3 };
	struct request taking = { .priority = 5 }, refused = { .priority = 4 };
	struct shca_steering *steering = make_steering(true, true);
	struct shca_rule *copies[10], *rule, *other;

	(void)state;
	for (uint16_t i = 0; i < 10; i++) {
		copying.spec[0] = (struct spec){ .type = 0x20,
			.value.eth.ether_type = htobe16(i),
			.mask.eth.ether_type = 0xffff };
		assert_int_equal(add(steering, &copying, &tirs[0], &copies[i]), 0);
	}
	assert_int_equal(rewrites(steering), 0);
	assert_int_equal(add(steering, &taking, &tirs[0], &rule), 0);
	assert_int_equal(rewrites(steering), 10);
	assert_int_equal(add(steering, &taking, &tirs[1], &other), 0); /* the table was there */
	shca_rule_del(steering, other);
	assert_int_equal(rewrites(steering), 10);
	taking.priority = 6; /* copies do not forward to this one */
	assert_int_equal(add(steering, &taking, &tirs[0], &other), 0);
	shca_rule_del(steering, other);
	assert_int_equal(rewrites(steering), 10);
	/* mlx5_ib makes a table for what it then refuses, but not for a priority that is not there.
	 */
	refused.spec[0] = (struct spec)SPEC_REFUSED;
	assert_int_equal(add(steering, &refused, &tirs[0], &other), -EOPNOTSUPP);
	assert_int_equal(rewrites(steering), 30);
	refused.priority = 16;
	assert_int_equal(add(steering, &refused, &tirs[0], &other), -ENOMEM);
	/* Nothing stands before the first table, and a dropping entry does not forward. */
	copying = (struct request){ .flags = DT, .spec = { SPEC_DROP } };
	assert_int_equal(add(steering, &copying, &tirs[0], &other), 0);
	shca_rule_del(steering, other);
	assert_int_equal(rewrites(steering), 30);
	shca_rule_del(steering, rule);
	assert_int_equal(rewrites(steering), 40);
	for (uint16_t i = 0; i < 10; i++)
		shca_rule_del(steering, copies[i]);
	assert_int_equal(rewrites(steering), 40);
	assert_int_equal(shca_steering_commands(steering)->tables, 2 * 5);
	shca_steering_destroy(steering);
}

/** What firmware may not do in one entry: reformat and go on to another table, reformat and modify.
 */
static void
test_changes_in_one_entry(void **state)
{
	static const struct shca_modify modify = { .kind = SHCA_MODIFY_HEADER },
					decap = { .kind = SHCA_MODIFY_L2_TUNNEL_TO_L2 };
	static const struct {
		bool fwd_to_table, modify_action; /* what the device can do */
		uint32_t flags;
		const struct shca_modify *set[2];
		int ret;
	} cases[] = {
		{ false, false, 0, { &decap }, 0 },
		{ false, false, DT, { &modify }, 0 },
		{ false, true, DT, { &decap }, -EINVAL },
		{ true, false, DT, { &decap }, 0 },
		{ true, false, 0, { &decap, &modify }, -EINVAL },
		{ false, true, 0, { &decap, &modify }, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct shca_steering_conf conf = {
			.dont_trap = true,
			.reformat_and_fwd_to_table = cases[i].fwd_to_table,
			.reformat_and_modify_action = cases[i].modify_action,
		};
		struct shca_steering *steering = shca_steering_create(&conf);
		const struct spec handle = { .type = 0x1002 };
		struct specs specs = { 0 };
		struct shca_rule *rule = NULL;

		assert_non_null(steering);
		for (unsigned int j = 0; j < 2 && cases[i].set[j] != NULL; j++)
			specs_add_spec(&specs, &handle);

		const struct shca_rule_attr attr = {
			.flags = cases[i].flags,
			.nb_specs = specs.nb,
			.specs = specs_bytes(&specs),
			.specs_length = specs.length,
			.tir = &tirs[0],
			.modify_set = cases[i].set,
		};
		const int ret = shca_rule_add(steering, &attr, &rule);

		if (ret != cases[i].ret)
			fail_msg("case %zu: %d", i, ret);
		shca_rule_del(steering, rule);
		shca_steering_destroy(steering);
	}
}

/** Rules of one FT, FG and FTE of each kind. */
static const struct request dumped[] = {
	{ .type = 3 },
	{ .flags = DT,
		.spec = { { .type = 0x41,
			.value.tcp_udp.dst_port = BE16(53),
			.mask.tcp_udp.dst_port = BE16(0xffff) } } },
	{ .spec = { { .type = 0x20,
			    .value.eth = { { 2, 0, 0, 0, 0, 1 }, { 0 }, 0, BE16(5) },
			    .mask.eth = { { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff }, { 0 }, 0,
				    BE16(0xfff) } },
		  { .type = 0x1000, .word = 7 } } },
	{ .spec = { { .type = 0x30,
			    .value.ipv4.src_ip = BE32(0x0a000000),
			    .mask.ipv4.src_ip = BE32(0xff000000) },
		  SPEC_DROP } },
	{ .type = 2 },
	{ .flags = EGRESS,
		.spec = { { .type = 0x31,
			.value.ipv6 = { { 0x20, 1 }, { 0 }, BE32(0x12), 0, 0, 0, 0 },
			.mask.ipv6 = { { 0xff, 0xff }, { 0 }, BE32(0xff), 0, 0, 0, 0 } } } },
};

/** The tables as the tool of the hardware would show them. */
static void
test_dump(void **state)
{
	struct shca_steering *steering = make_steering(true, true);
	struct shca_rule *rules[6];
	char expected[2048];

	(void)state;
	for (unsigned int i = 0; i < 6; i++)
		assert_int_equal(add(steering, &dumped[i], &tirs[i], &rules[i]), 0);
	snprintf(expected, sizeof(expected),
		"FT: 0x0 (level: 0x0, type: SNIFFER_RX)\n"
		"|-- FG: 0x0 ()\n"
		"  |-- FTE: 0x0 (FWD) to (TIR:%p) packets:0 bytes:0\n"
		"FT: 0x1 (level: 0x0, type: NIC_RX)\n"
		"|-- FG: 0x0 (OUTER)\n"
		"  |-- FTE: 0x0 (FWD) to (TIR:%p, FT:next) packets:0 bytes:0\n"
		"    |-- out.ip_prot:0x11\n"
		"    |-- out.udp_dport:0x35\n"
		"FT: 0x2 (level: 0x1, type: NIC_RX)\n"
		"|-- FG: 0x0 (OUTER)\n"
		"  |-- FTE: 0x0 (FWD) to (TIR:%p) tag:0x7 packets:0 bytes:0\n"
		"    |-- out.dmac:02:00:00:00:00:01\n"
		"    |-- out.cvlan_tag:0x1\n"
		"    |-- out.first_vid:0x5\n"
		"|-- FG: 0x1 (OUTER)\n"
		"  |-- FTE: 0x2492 (DROP) to () packets:0 bytes:0\n"
		"    |-- out.ip_version:0x4\n"
		"    |-- out.src_ip:10.0.0.0/255.0.0.0\n"
		"FT: 0x3 (level: 0x3c, type: NIC_RX)\n"
		"|-- FG: 0x0 (OUTER)\n"
		"  |-- FTE: 0x0 (FWD) to (TIR:%p) packets:0 bytes:0\n"
		"    |-- out.dmac:01:00:00:00:00:00/01:00:00:00:00:00\n"
		"FT: 0x4 (level: 0x0, type: SNIFFER_TX)\n"
		"|-- FG: 0x0 ()\n"
		"  |-- FTE: 0x0 (FWD) to (TIR:%p) packets:0 bytes:0\n"
		"FT: 0x5 (level: 0x1, type: NIC_TX)\n"
		"|-- FG: 0x0 (OUTER|MISC)\n"
		"  |-- FTE: 0x0 (ALLOW) to () packets:0 bytes:0\n"
		"    |-- out.ip_version:0x6\n"
		"    |-- out.src_ip:2001::/ffff::\n"
		"    |-- out.ipv6_flow_label:0x12/0xff\n",
		(void *)&tirs[0], (void *)&tirs[1], (void *)&tirs[2], (void *)&tirs[4],
		(void *)&tirs[0]);

	char *text = dump(steering);

	assert_string_equal(text, expected);
	free(text);
	for (unsigned int i = 0; i < 6; i++)
		shca_rule_del(steering, rules[i]);
	shca_steering_destroy(steering);
}

/** An entry names those whose rules it has, each once, until the last of their rules goes. */
static void
test_whose(void **state)
{
	struct shca_context one = { .ctxn = 1, .pid = 10, .comm = "one" };
	struct shca_context two = { .ctxn = 2, .pid = 20, .comm = "two" };
	struct shca_context *const contexts[] = { &one, &two, &two, NULL };
	struct shca_steering *steering = make_steering(true, true);
	struct shca_rule *rules[4];
	char *text;

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		const struct shca_rule_attr attr = { .tir = &tirs[i], .context = contexts[i] };

		assert_int_equal(shca_rule_add(steering, &attr, &rules[i]), 0);
	}
	text = dump(steering);
	assert_non_null(strstr(
		text, "packets:0 bytes:0 of pid 10 comm one ctxn 1, pid 20 comm two ctxn 2\n"));
	free(text);
	shca_rule_del(steering, rules[0]);
	shca_rule_del(steering, rules[1]);
	text = dump(steering);
	assert_non_null(strstr(text, "packets:0 bytes:0 of pid 20 comm two ctxn 2\n"));
	free(text);
	shca_rule_del(steering, rules[2]);
	text = dump(steering);
	assert_non_null(strstr(text, "packets:0 bytes:0\n"));
	free(text);
	shca_rule_del(steering, rules[3]);
	shca_steering_destroy(steering);
}

/** @return the number of destinations of a frame that comes by a port, to @p dst_mac. */
static unsigned int
nb_destinations(struct shca_steering *steering, uint16_t port, uint8_t dst_mac)
{
	const uint8_t bytes[60] = { dst_mac };
	struct shca_verdict verdict;
	struct shca_packet packet;

	shca_parse(bytes, sizeof(bytes), &packet);
	packet.source_port = port;
	shca_walk_rx(steering, &packet, &verdict);
	return verdict.nb_destinations;
}

/** Rules of an e-switch's manager are of one port each, but for the sniffer's. */
static void
test_ports_of_a_manager(void **state)
{
	static const struct shca_modify decap = { .kind = SHCA_MODIFY_L2_TUNNEL_TO_L2 };
	static const struct shca_modify *const set[] = { &decap };
	const struct shca_steering_conf conf = {
		.dont_trap = true, .sniffer = true, .is_rep = true
	};
	struct shca_steering *steering = shca_steering_create(&conf);
	struct shca_rule_attr attr = { .tir = &tirs[0], .source_port = 2 };
	struct shca_rule *rule, *other, *refused;
	struct specs specs = { 0 };
	char *text;

	(void)state;
	assert_non_null(steering);
	assert_int_equal(shca_rule_add(steering, &attr, &rule), 0);
	attr.source_port = 3;
	attr.tir = &tirs[1];
	assert_int_equal(shca_rule_add(steering, &attr, &other), 0);
	text = dump(steering);
	assert_non_null(strstr(text, "source_port:0x2"));
	assert_non_null(strstr(text, "source_port:0x3"));
	free(text);
	for (uint16_t port = 0; port < 5; port++)
		assert_int_equal(nb_destinations(steering, port, 2), port == 2 || port == 3);
	shca_rule_del(steering, other);
	assert_int_equal(nb_destinations(steering, 3, 2), 0);
	attr.type = IBV_FLOW_ATTR_MC_DEFAULT;
	assert_int_equal(shca_rule_add(steering, &attr, &other), 0);
	assert_int_equal(nb_destinations(steering, 3, 1), 1);
	assert_int_equal(nb_destinations(steering, 3, 2), 0);
	assert_int_equal(nb_destinations(steering, 4, 1), 0);
	shca_rule_del(steering, other);
	attr.type = IBV_FLOW_ATTR_SNIFFER;
	attr.source_port = 0;
	assert_int_equal(shca_rule_add(steering, &attr, &other), 0);
	assert_int_equal(nb_destinations(steering, 4, 2), 1);
	assert_int_equal(nb_destinations(steering, 2, 2), 2);
	shca_rule_del(steering, other);
	shca_rule_del(steering, rule);
	/* No representor, no sending, and nothing that changes a frame's length. */
	for (uint32_t type = IBV_FLOW_ATTR_NORMAL; type <= IBV_FLOW_ATTR_MC_DEFAULT; type++) {
		attr.type = type;
		assert_int_equal(shca_rule_add(steering, &attr, &refused), -EINVAL);
	}
	attr = (struct shca_rule_attr){ .flags = EGRESS, .source_port = 2 };
	assert_int_equal(shca_rule_add(steering, &attr, &refused), -EINVAL);
	specs_add_spec(&specs, &(struct spec){ .type = 0x1002 });
	attr = (struct shca_rule_attr){ .source_port = 2,
		.nb_specs = specs.nb,
		.specs = specs_bytes(&specs),
		.specs_length = specs.length,
		.tir = &tirs[0],
		.modify_set = set };
	assert_int_equal(shca_rule_add(steering, &attr, &refused), -EINVAL);
	shca_steering_destroy(steering);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_check_order),
		cmocka_unit_test(test_request_bounds),
		cmocka_unit_test(test_nothing_changed),
		cmocka_unit_test(test_nb_receiving),
		cmocka_unit_test(test_lists_of_an_entry),
		cmocka_unit_test(test_tables_that_come_and_go),
		cmocka_unit_test(test_changes_in_one_entry),
		cmocka_unit_test(test_ports_of_a_manager),
		cmocka_unit_test(test_dump),
		cmocka_unit_test(test_whose),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
