/* SPDX-License-Identifier: BSD-3-Clause */
/* RSS by the headers inside a tunnel: parts, hash QPs, and refusals. */

#include <errno.h>
#include <string.h>

#include "fake_verbs.h"
#include "flow/match/flow_feature.h"
#include "flow/rule/flow_plan.h"

static const uint8_t key[40] = { 1 };
static const uint16_t queues[] = { 0, 1, 2, 3 };
static const struct rte_flow_attr attr = { .ingress = 1 };
static const struct mdv_flow_plan_env full_env = {
	.actions = { .nb_queues = 4, .max_table = 512, .rss_types = UINT64_MAX, .rss_key = key },
	.features = FAKE_FEATURES,
	.tunnels = FAKE_TUNNELS,
	.port_num = 1,
};

/* clang-format off */
#define CAP(t) MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_##t

static const struct tunnel {
	const char *name;
	const struct rte_flow_item *pattern;
	uint32_t cap;
} tunnels[] = {
	{ "VXLAN", PATTERN(ITEM(ETH), ITEM(IPV4), ITEM(UDP), ITEM(VXLAN)), CAP(VXLAN) },
	{ "VXLAN", PATTERN(ITEM(VXLAN)), CAP(VXLAN) },
	{ "VXLAN", PATTERN(ITEM(ETH), ITEM(IPV6), ITEM(UDP), ITEM(VXLAN), ITEM(ETH), ITEM(IPV4)),
		CAP(VXLAN) },
	{ "VXLAN", PATTERN(ITEM(ETH), ITEM(IPV4), ITEM(UDP), ITEM(VXLAN), ITEM(ETH), ITEM(IPV6),
		ITEM(TCP)), CAP(VXLAN) },
	{ "GRE", PATTERN(ITEM(ETH), ITEM(IPV4), ITEM(GRE)), CAP(GRE) },
	{ "GRE", PATTERN(ITEM(ETH), ITEM(IPV6), ITEM(GRE), ITEM(IPV4), ITEM(UDP)), CAP(GRE) },
	{ "NVGRE", PATTERN(ITEM(ETH), ITEM(IPV4), ITEM(NVGRE)), CAP(GRE) },
	{ "MPLS over UDP", PATTERN(ITEM(ETH), ITEM(IPV4), ITEM(UDP), ITEM(MPLS)),
		CAP(CW_MPLS_OVER_UDP) },
	{ "MPLS over GRE", PATTERN(ITEM(ETH), ITEM(IPV4), ITEM(GRE), ITEM(MPLS)),
		CAP(CW_MPLS_OVER_GRE) },
};

static const struct rte_flow_item *const bare[] = {
	PATTERN(ITEM(ETH)),
	PATTERN(ITEM(ETH), ITEM(IPV4), ITEM(UDP)),
	PATTERN(ITEM(ETH), ITEM(MPLS)),
	PATTERN(ITEM(ETH), ITEM(IPV4), ITEM(ESP)),
};
/* clang-format on */

static int
plan_for(const struct mdv_flow_plan_env *env, const struct rte_flow_item *pattern,
	const struct rte_flow_action_rss *rss, struct mdv_flow_plan *plan,
	struct rte_flow_error *error)
{
	const struct rte_flow_action actions[] = { ACTION_CONF(RSS, rss), ACTION(END) };
	const struct mdv_flow_plan_rule rule = { &attr, pattern, actions };

	return mdv_flow_plan_make(env, &rule, plan, error);
}

/** The classes are of the inner headers; the outer headers stay those of the pattern. */
static void
check_parts(const struct mdv_flow_plan *plan, uint64_t types)
{
	const struct mdv_flow_part *last = &plan->parts[plan->nb_parts - 1];

	for (unsigned int i = 0; i < plan->nb_parts; i++) {
		const struct mdv_flow_part *part = &plan->parts[i];
		const struct mdv_rss_class *class = &mdv_rss_classes[part->id];
		const uint32_t inner = mdv_flow_build_layers(&part->build, MDV_FLOW_BUILD_INNER);

		assert_int_equal(class->layers & ~inner, 0);
		assert_true(part->id == MDV_RSS_NONE || (class->types & types) != 0);
		assert_int_equal(mdv_flow_build_layers(&part->build, MDV_FLOW_BUILD_OUTER),
			mdv_flow_build_layers(&last->build, MDV_FLOW_BUILD_OUTER));
		assert_int_equal(last->build.layers & ~part->build.layers, 0);
		if (i != 0)
			assert_true((part[-1].build.layers & ~part->build.layers) != 0);
	}
}

static void
test_expansions(void **state)
{
	static struct mdv_flow_plan plan;

	(void)state;
	for (unsigned int set = 1; set < 1u << MDV_RSS_NONE; set++) {
		struct rte_flow_action_rss rss = { .level = 2, .queue_num = 4, .queue = queues };

		for (unsigned int i = 0; i < MDV_RSS_NONE; i++)
			rss.types |= (set & 1u << i) != 0 ? mdv_rss_classes[i].types : 0;
		for (unsigned int i = 0; i < RTE_DIM(tunnels); i++) {
			struct rte_flow_error error = { .message = "" };

			if (plan_for(&full_env, tunnels[i].pattern, &rss, &plan, &error) != 0)
				fail_msg("%s: %s", tunnels[i].name, error.message);
			check_parts(&plan, rss.types);
		}
	}
}

static void
test_bytes(void **state)
{
	static const struct rte_flow_action_rss rss = { .level = 2,
		.types = RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_IPV6,
		.queue_num = 4,
		.queue = queues };
	/* The tunnel's UDP port is a part of the pattern (flow_item_check.c). */
	static const char vxlan[] = HEX_ANY_ETH HEX_ANY_IPV4 HEX_UDP("12b5 0000", "ffff 0000")
		HEX_VXLAN(HEX_0_4, HEX_0_4);
	static const struct {
		const char *hex;
		enum mdv_rss_class_id id;
	} parts[] = {
		{ HEX_IN_IPV4(HEX_0_12, HEX_0_12) HEX_IN_UDP(HEX_0_4, HEX_0_4), MDV_RSS_IPV4_UDP },
		{ HEX_IN_IPV6(HEX_0_40, HEX_0_40), MDV_RSS_IPV6 },
		{ "", MDV_RSS_NONE },
	};
	static struct mdv_flow_plan plan;

	(void)state;
	assert_int_equal(plan_for(&full_env, tunnels[0].pattern, &rss, &plan, NULL), 0);
	assert_int_equal(plan.nb_parts, RTE_DIM(parts));
	for (unsigned int i = 0; i < RTE_DIM(parts); i++) {
		const struct mdv_flow_build *build = &plan.parts[i].build;
		const size_t at = sizeof(build->attr);
		char hex[1024];

		snprintf(hex, sizeof(hex), "%s%s", vxlan, parts[i].hex);
		fake_assert_bytes("part", build->bytes + at, build->attr.size - at, hex);
		assert_int_equal(plan.parts[i].id, parts[i].id);
	}
}

static void
expect_refused(const struct mdv_flow_plan_env *env, const struct rte_flow_item *pattern,
	const char *message)
{
	static const struct rte_flow_action_rss rss = {
		.level = 2, .queue_num = 4, .queue = queues
	};
	static struct mdv_flow_plan plan;
	struct rte_flow_error error = { .message = "accepted" };

	assert_int_equal(plan_for(env, pattern, &rss, &plan, &error), -ENOTSUP);
	assert_int_equal(error.type, RTE_FLOW_ERROR_TYPE_ACTION_CONF);
	assert_ptr_equal(error.cause, &rss);
	if (strncmp(error.message, message, strlen(message)) != 0)
		fail_msg("\"%s\" expected, got \"%s\"", message, error.message);
	assert_int_equal(plan_for(env, pattern, &rss, &plan, NULL), -ENOTSUP);
}

/** No tunnel in the pattern, or a device that lacks the offload, for all tunnels or for one. */
static void
test_refused(void **state)
{
	struct mdv_flow_plan_env env = full_env;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(bare); i++)
		expect_refused(&env, bare[i], "RSS level 2: the pattern has no tunnel");
	for (unsigned int i = 0; i < RTE_DIM(tunnels); i++) {
		char message[96];

		env = full_env;
		env.tunnels &= ~tunnels[i].cap;
		snprintf(message, sizeof(message),
			"RSS level 2: the device does not hash inside of %s;", tunnels[i].name);
		expect_refused(&env, tunnels[i].pattern, message);
	}
	env = full_env;
	env.tunnels = 0;
	expect_refused(&env, tunnels[0].pattern, "RSS level 2: the device does not hash by inner");
	env = full_env;
	env.features &= ~MDV_FLOW_CAN_INNER;
	expect_refused(&env, tunnels[0].pattern, "RSS level 2: the device does not hash by inner");
}

/** Caps: without IBV_RX_HASH_INNER no tunnel counts. */
static void
test_caps(void **state)
{
	struct mdv_caps caps = { .rx_hash_fields = 0xff, .tunnel_offloads = FAKE_TUNNELS };

	(void)state;
	assert_int_equal(mdv_rss_tunnels(&caps), 0);
	caps.rx_hash_fields |= IBV_RX_HASH_INNER;
	assert_int_equal(mdv_rss_tunnels(&caps), FAKE_TUNNELS);
	caps.tunnel_offloads = 0;
	assert_int_equal(mdv_rss_tunnels(&caps), 0);
	assert_int_equal(mdv_rss_fields(MDV_RSS_NONE, true), 0);
	assert_int_equal(mdv_rss_fields(MDV_RSS_IPV4, true),
		IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4 | IBV_RX_HASH_INNER);
	assert_int_equal(
		mdv_rss_fields(MDV_RSS_IPV4, false), IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4);
}

static uint64_t
fields_of(unsigned int index)
{
	return fake_flow_at(index)->qp->fields;
}

/** In the device: the fate's QPs hash inside, the QPs of further queues and of the rest do not
 * hash; level 1 has QPs of its own. */
static void
test_installed(void **state)
{
	static const uint64_t addresses = IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4;
	static const struct rte_flow_action_queue queue_2 = { 2 };
	struct rte_flow_action_rss rss = {
		.level = 2, .types = RTE_ETH_RSS_IPV4, .queue_num = 4, .queue = queues
	};
	const struct rte_flow_action actions[] = { ACTION(PASSTHRU), ACTION_CONF(RSS, &rss),
		ACTION_CONF(QUEUE, &queue_2), ACTION(END) };
	struct rte_flow *flow, *outer;

	(void)state;
	fake_init_flow();
	assert_int_equal(mdv_flow_start(&fake.port), 0);
	mdv_flow_ops.isolate(&fake.dev, 1, NULL);
	assert_int_equal(fake.nb_flows, 0);
	flow = mdv_flow_ops.create(&fake.dev, &attr, tunnels[0].pattern, actions, NULL);
	assert_non_null(flow);
	assert_int_equal(fake.nb_flows, 4);
	assert_int_equal(fields_of(0), addresses | IBV_RX_HASH_INNER);
	assert_int_equal(fields_of(1), 0);
	assert_int_equal(fields_of(2), 0);
	assert_int_equal(fields_of(3), 0);
	assert_int_equal(fake.nb_qps, 3);
	rss.level = 1;
	outer = mdv_flow_ops.create(&fake.dev, &attr, tunnels[0].pattern, actions, NULL);
	assert_non_null(outer);
	assert_int_equal(fake.nb_qps, 4);
	assert_int_equal(fields_of(4), addresses);
	assert_int_equal(mdv_flow_ops.destroy(&fake.dev, flow, NULL), 0);
	assert_int_equal(mdv_flow_ops.destroy(&fake.dev, outer, NULL), 0);
	mdv_flow_fini(&fake.port);
	fake_assert_empty();
}

/** Default rules and rules to queues, too, go to QPs that ask for offloads in tunnels, where the
 * device has any. */
static void
test_asked(void **state)
{
	static const struct rte_flow_item_eth eth = { .hdr.dst_addr.addr_bytes = { 2 } };
	static const struct rte_flow_action_queue queue_2 = { 2 };
	const struct rte_flow_item pattern[] = {
		{ .type = RTE_FLOW_ITEM_TYPE_ETH, .spec = &eth, .mask = &rte_flow_item_eth_mask },
		{ .type = RTE_FLOW_ITEM_TYPE_END },
	};
	const struct rte_flow_action actions[] = { ACTION_CONF(QUEUE, &queue_2), ACTION(END) };

	(void)state;
	for (unsigned int has = 0; has < 2; has++) {
		struct rte_flow *flow;

		fake_init_flow();
		fake.port.device.caps.tunnel_offloads = has ? FAKE_TUNNELS : 0;
		assert_int_equal(mdv_flow_start(&fake.port), 0);
		assert_true(fake.nb_flows > 1);
		flow = mdv_flow_ops.create(&fake.dev, &attr, pattern, actions, NULL);
		assert_non_null(flow);
		for (unsigned int i = 0; i < fake.nb_flows; i++)
			assert_int_equal(fake_flow_at(i)->qp->tunnel, has);
		assert_int_equal(mdv_flow_ops.destroy(&fake.dev, flow, NULL), 0);
		mdv_flow_fini(&fake.port);
		fake_assert_empty();
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_expansions),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_caps),
		cmocka_unit_test(test_installed),
		cmocka_unit_test(test_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
