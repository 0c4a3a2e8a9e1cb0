/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole rules to whole attributes: golden bytes, expansions, priorities, refused attributes. */

#include <errno.h>
#include <string.h>

#include "fake_verbs.h"
#include "flow/rule/flow_plan.h"

static const uint8_t key[40] = { 1 };
static const uint16_t queues[] = { 0, 1, 2, 3 };
static const struct mdv_flow_plan_env env = {
	.actions = { .nb_queues = 4, .max_table = 512, .rss_types = UINT64_MAX, .rss_key = key },
	.port_num = 1,
};

/* clang-format off */
#define BE16 RTE_BE16
#define BE32 RTE_BE32
static const struct rte_flow_action_queue queue_1 = { 1 };
static const struct rte_flow_action_mark mark_5 = { 5 };
#define RSS(name, which) \
	static const struct rte_flow_action_rss name = { .types = which, .queue_num = 4, \
		.queue = queues }
RSS(rss_v4udp, RTE_ETH_RSS_NONFRAG_IPV4_UDP);
RSS(rss_v4, RTE_ETH_RSS_IPV4);
RSS(rss_v4_v4udp, RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_UDP);
RSS(rss_v4tcp_v6udp, RTE_ETH_RSS_NONFRAG_IPV4_TCP | RTE_ETH_RSS_NONFRAG_IPV6_UDP);
RSS(rss_all, RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP);

static const struct rte_flow_item_eth eth_group = { .hdr.dst_addr = { { 1, 0, 0x5e, 1, 2, 3 } } };
static const struct rte_flow_item_eth eth_dst_mask = {
	.hdr.dst_addr = { { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff } } };
static const struct rte_flow_item_eth eth_ipv4 = { .hdr.ether_type = BE16(0x0800) };
static const struct rte_flow_item_eth eth_type_mask = { .hdr.ether_type = BE16(0xffff) };
static const struct rte_flow_item_ipv4 ipv4_group = { .hdr.dst_addr = BE32(0xe0010101) };
static const struct rte_flow_item_ipv4 ipv4_tcp = { .hdr.next_proto_id = 6 };
static const struct rte_flow_item_ipv4 ipv4_proto_mask = { .hdr.next_proto_id = 0xff };
static const struct rte_flow_item_udp udp_dns = { .hdr.dst_port = BE16(53) };
static const struct rte_flow_item_udp udp_dst_mask = { .hdr.dst_port = BE16(0xffff) };

#define DNS	PATTERN(ITEM(ETH), ITEM(IPV4), ITEM_MASK(UDP, &udp_dns, &udp_dst_mask))
#define DNS_HEX HEX_ANY_ETH HEX_ANY_IPV4 HEX_UDP("0035 0000", "ffff 0000")
#define QUEUE_1 ACTION_CONF(QUEUE, &queue_1)
#define GROUP_HEX HEX_ETH("01005e010203" HEX_0_6 HEX_0_4, "ffffffffffff" HEX_0_6 HEX_0_4)

/** size, priority, number of specs; port 1 */
#define ATTR(size, prio, nb, flags) "00000000 00000000" size prio nb "01 0000" flags

static const struct golden {
	const char *name;
	uint32_t priority;
	const struct rte_flow_item *pattern;
	const struct rte_flow_action *actions;
	unsigned int nb_parts;
	struct {
		const char *hex;
		enum mdv_rss_class_id id;
	} parts[MDV_RSS_NB_CLASSES];
} goldens[] = {
	{ "dns to a queue", 0, DNS, ACTIONS(QUEUE_1), 1,
		{ { ATTR("6c00", "0000", "03", "00000000") DNS_HEX, MDV_RSS_NONE } } },
	{ "dns copied", 0, DNS, ACTIONS(QUEUE_1, ACTION(PASSTHRU)), 1,
		{ { ATTR("6c00", "0000", "03", "02000000") DNS_HEX, MDV_RSS_NONE } } },
	{ "dns copied and marked at priority 2", 2, DNS,
		ACTIONS(ACTION(PASSTHRU), ACTION_CONF(MARK, &mark_5), QUEUE_1), 1,
		{ { ATTR("7800", "0000", "04", "02000000") DNS_HEX HEX_TAG("06000000"),
		    MDV_RSS_NONE } } },
	{ "flag", 3, PATTERN(ITEM(ETH)), ACTIONS(QUEUE_1, ACTION(FLAG)), 1,
		{ { ATTR("4800", "0000", "02", "00000000") HEX_ANY_ETH HEX_TAG("ffffff00"),
		    MDV_RSS_NONE } } },
	{ "drop ip", 1, PATTERN(ITEM(ETH), ITEM(IPV4)), ACTIONS(ACTION(DROP)), 1,
		{ { ATTR("6400", "0000", "03", "00000000") HEX_ANY_ETH HEX_ANY_IPV4 HEX_DROP,
		    MDV_RSS_NONE } } },
	{ "everything", 0, PATTERN(ITEM(VOID)), ACTIONS(QUEUE_1), 1,
		{ { ATTR("1400", "0000", "00", "00000000"), MDV_RSS_NONE } } },
	{ "multicast keeps its priority", 0, PATTERN(ITEM_MASK(ETH, &eth_group, &eth_dst_mask)),
		ACTIONS(QUEUE_1), 1,
		{ { ATTR("6400", "0000", "02", "00000000") HEX_ANY_ETH GROUP_HEX,
		    MDV_RSS_NONE } } },
	{ "multicast copied needs no shield", 0, PATTERN(ITEM_MASK(ETH, &eth_group, &eth_dst_mask)),
		ACTIONS(QUEUE_1, ACTION(PASSTHRU)), 1,
		{ { ATTR("3c00", "0000", "01", "02000000") GROUP_HEX, MDV_RSS_NONE } } },
	{ "multicast ip first", 0, PATTERN(ITEM_SPEC(IPV4, &ipv4_group)), ACTIONS(QUEUE_1), 1,
		{ { ATTR("5c00", "0000", "02", "00000000") HEX_ANY_ETH
			HEX_IPV4("00000000 e0010101 00000000", "ffffffff ffffffff 00000000"),
		    MDV_RSS_NONE } } },
	{ "rss over the pattern's own class", 0, DNS, ACTIONS(ACTION_CONF(RSS, &rss_v4udp)), 1,
		{ { ATTR("6c00", "0000", "03", "00000000") DNS_HEX, MDV_RSS_IPV4_UDP } } },
	{ "rss by addresses", 0, DNS, ACTIONS(ACTION_CONF(RSS, &rss_v4)), 1,
		{ { ATTR("6c00", "0000", "03", "00000000") DNS_HEX, MDV_RSS_IPV4 } } },
	{ "rss types of other protocols are ignored", 0, DNS,
		ACTIONS(ACTION_CONF(RSS, &rss_v4tcp_v6udp)), 1,
		{ { ATTR("6c00", "0000", "03", "00000000") DNS_HEX, MDV_RSS_NONE } } },
	{ "rss expands, the rest still arrives", 1, PATTERN(ITEM(ETH)),
		ACTIONS(ACTION_CONF(RSS, &rss_v4tcp_v6udp)), 3,
		{ { ATTR("6c00", "0000", "03", "00000000") HEX_ANY_ETH HEX_ANY_IPV4 HEX_ANY_TCP,
		    MDV_RSS_IPV4_TCP },
		  { ATTR("a400", "0000", "03", "00000000") HEX_ANY_ETH HEX_ANY_IPV6 HEX_ANY_UDP,
		    MDV_RSS_IPV6_UDP },
		  { ATTR("3c00", "0000", "01", "00000000") HEX_ANY_ETH, MDV_RSS_NONE } } },
	{ "rss of l3 and l4", 0, PATTERN(ITEM(ETH), ITEM(IPV4)),
		ACTIONS(ACTION_CONF(RSS, &rss_v4_v4udp), ACTION_CONF(MARK, &mark_5)), 2,
		{ { ATTR("7800", "0000", "04", "00000000") HEX_ANY_ETH HEX_ANY_IPV4 HEX_ANY_UDP
			HEX_TAG("06000000"), MDV_RSS_IPV4_UDP },
		  { ATTR("6800", "0000", "03", "00000000") HEX_ANY_ETH HEX_ANY_IPV4
			HEX_TAG("06000000"), MDV_RSS_IPV4 } } },
	{ "copies share one table, so that a packet is copied once", 0,
		PATTERN(ITEM(ETH), ITEM(IPV4)),
		ACTIONS(ACTION_CONF(RSS, &rss_v4_v4udp), ACTION(PASSTHRU)), 2,
		{ { ATTR("6c00", "0000", "03", "02000000") HEX_ANY_ETH HEX_ANY_IPV4 HEX_ANY_UDP,
		    MDV_RSS_IPV4_UDP },
		  { ATTR("5c00", "0000", "02", "02000000") HEX_ANY_ETH HEX_ANY_IPV4,
		    MDV_RSS_IPV4 } } },
	{ "a type given to eth leaves only its own classes", 0,
		PATTERN(ITEM_MASK(ETH, &eth_ipv4, &eth_type_mask)),
		ACTIONS(ACTION_CONF(RSS, &rss_v4tcp_v6udp)), 2,
		{ { ATTR("6c00", "0000", "03", "00000000") HEX_ANY_ETH HEX_ANY_IPV4 HEX_ANY_TCP,
		    MDV_RSS_IPV4_TCP },
		  { ATTR("3c00", "0000", "01", "00000000")
			HEX_ETH(HEX_0_12 "0800 0000", HEX_0_12 "ffff 0000"), MDV_RSS_NONE } } },
	/* To the device both are one match, and all destinations of a match get the packet. */
	{ "a protocol given to ipv4 is the class, with no rest", 0,
		PATTERN(ITEM_MASK(IPV4, &ipv4_tcp, &ipv4_proto_mask)),
		ACTIONS(ACTION_CONF(RSS, &rss_all)), 1,
		{ { ATTR("4400", "0000", "02", "00000000") HEX_ANY_IPV4 HEX_ANY_TCP,
		    MDV_RSS_IPV4_TCP } } },
	{ "a protocol of which some bits are given has a rest", 0,
		PATTERN(ITEM_MASK(IPV4, &ipv4_tcp, &ipv4_tcp)),
		ACTIONS(ACTION_CONF(RSS, &rss_v4tcp_v6udp)), 2,
		{ { ATTR("4400", "0000", "02", "00000000") HEX_ANY_IPV4 HEX_ANY_TCP,
		    MDV_RSS_IPV4_TCP },
		  { ATTR("3400", "0000", "01", "00000000")
			HEX_IPV4("00000000 00000000 06 00 00 00", "00000000 00000000 06 00 00 00"),
		    MDV_RSS_NONE } } },
	{ "any tag, a value of DEI each", 0, PATTERN(ITEM(ETH), ITEM(VLAN)), ACTIONS(QUEUE_1), 2,
		{ { ATTR("3c00", "0000", "01", "00000000")
			HEX_ETH(HEX_0_16, HEX_0_12 "0000 1000"), MDV_RSS_NONE },
		  { ATTR("3c00", "0000", "01", "00000000")
			HEX_ETH(HEX_0_12 "0000 1000", HEX_0_12 "0000 1000"), MDV_RSS_NONE } } },
	{ "any tag, hashed and copied", 0, PATTERN(ITEM(VLAN)),
		ACTIONS(ACTION_CONF(RSS, &rss_v4), ACTION(PASSTHRU)), 4,
		{ { ATTR("5c00", "0000", "02", "02000000")
			HEX_ETH(HEX_0_16, HEX_0_12 "0000 1000") HEX_ANY_IPV4, MDV_RSS_IPV4 },
		  { ATTR("5c00", "0000", "02", "02000000")
			HEX_ETH(HEX_0_12 "0000 1000", HEX_0_12 "0000 1000") HEX_ANY_IPV4,
		    MDV_RSS_IPV4 },
		  { ATTR("3c00", "0000", "01", "02000000")
			HEX_ETH(HEX_0_16, HEX_0_12 "0000 1000"), MDV_RSS_NONE },
		  { ATTR("3c00", "0000", "01", "02000000")
			HEX_ETH(HEX_0_12 "0000 1000", HEX_0_12 "0000 1000"), MDV_RSS_NONE } } },
	{ "any tag and a protocol that is the class: no rest in either half", 0,
		PATTERN(ITEM(VLAN), ITEM_MASK(IPV4, &ipv4_tcp, &ipv4_proto_mask)),
		ACTIONS(ACTION_CONF(RSS, &rss_all)), 2,
		{ { ATTR("6c00", "0000", "03", "00000000") HEX_ETH(HEX_0_16, HEX_0_12 "0000 1000")
			HEX_ANY_IPV4 HEX_ANY_TCP, MDV_RSS_IPV4_TCP },
		  { ATTR("6c00", "0000", "03", "00000000")
			HEX_ETH(HEX_0_12 "0000 1000", HEX_0_12 "0000 1000") HEX_ANY_IPV4 HEX_ANY_TCP,
		    MDV_RSS_IPV4_TCP } } },
	{ "l4 without l3", 0, PATTERN(ITEM(UDP)), ACTIONS(ACTION_CONF(RSS, &rss_v4_v4udp)), 2,
		{ { ATTR("4400", "0000", "02", "00000000") HEX_ANY_UDP HEX_ANY_IPV4,
		    MDV_RSS_IPV4_UDP },
		  { ATTR("2400", "0000", "01", "00000000") HEX_ANY_UDP, MDV_RSS_NONE } } },
};

static const struct refusal {
	struct rte_flow_attr attr;
	int code;
	enum rte_flow_error_type type;
	const char *message;
} refusals[] = {
	{ { .priority = UINT32_MAX, .ingress = 1 }, ENOTSUP, RTE_FLOW_ERROR_TYPE_ATTR_PRIORITY,
		"priority 4294967295: it is that of the port's default rules; use 0 to 4294967294" },
	{ { .group = 1, .ingress = 1 }, ENOTSUP, RTE_FLOW_ERROR_TYPE_ATTR_GROUP, "group 1: " },
	{ { .egress = 1 }, ENOTSUP, RTE_FLOW_ERROR_TYPE_ATTR_EGRESS, "egress: " },
	{ { .ingress = 1, .egress = 1 }, ENOTSUP, RTE_FLOW_ERROR_TYPE_ATTR_EGRESS,
		"egress with ingress: " },
	{ { .ingress = 1, .transfer = 1 }, ENOTSUP, RTE_FLOW_ERROR_TYPE_ATTR_TRANSFER,
		"transfer: " },
	{ { .priority = 0 }, EINVAL, RTE_FLOW_ERROR_TYPE_ATTR_INGRESS,
		"the rule has no direction; add ingress" },
};
/* clang-format on */

static void
test_goldens(void **state)
{
	static struct mdv_flow_plan plan;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(goldens); i++) {
		const struct golden *golden = &goldens[i];
		const struct rte_flow_attr attr = { .priority = golden->priority, .ingress = 1 };
		const struct mdv_flow_plan_rule rule = { &attr, golden->pattern, golden->actions };
		struct rte_flow_error error = { .message = "" };

		if (mdv_flow_plan_make(&env, &rule, &plan, &error) != 0)
			fail_msg("%s: refused: %s", golden->name, error.message);
		if (plan.nb_parts != golden->nb_parts)
			fail_msg("%s: %u parts", golden->name, plan.nb_parts);
		for (unsigned int part = 0; part < plan.nb_parts; part++) {
			fake_assert_bytes(golden->name, plan.parts[part].build.bytes,
				plan.parts[part].build.attr.size, golden->parts[part].hex);
			assert_int_equal(plan.parts[part].id, golden->parts[part].id);
		}
	}
}

static void
test_refused_attributes(void **state)
{
	static struct mdv_flow_plan plan;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(refusals); i++) {
		const struct refusal *refusal = &refusals[i];
		const struct mdv_flow_plan_rule rule = { &refusal->attr, DNS, ACTIONS(QUEUE_1) };
		struct rte_flow_error error = { .message = "accepted" };

		assert_int_equal(mdv_flow_plan_make(&env, &rule, &plan, &error), -refusal->code);
		assert_int_equal(error.type, refusal->type);
		assert_ptr_equal(error.cause, &refusal->attr);
		assert_memory_equal(error.message, refusal->message, strlen(refusal->message));
		assert_int_equal(mdv_flow_plan_make(&env, &rule, &plan, NULL), -refusal->code);
	}
}

/** The kernel takes ten specs, those of actions among them, and not one more. Halves of a rule need
 * an ETH spec, which is one more where the rule has none. */
static void
test_room_for_specs(void **state)
{
	/* clang-format off */
	static const struct rte_flow_action_set_ttl ttl = { 9 };
	const struct rte_flow_item *const seven = PATTERN(ITEM(ETH), ITEM(IPV4), ITEM(UDP),
		ITEM(VXLAN), ITEM(ETH), ITEM(IPV4), ITEM(TCP));
	const struct rte_flow_action *const two =
		ACTIONS(ACTION_CONF(MARK, &mark_5), ACTION(COUNT), QUEUE_1);
	const struct rte_flow_action *const three = ACTIONS(ACTION(VXLAN_DECAP),
		ACTION_CONF(MARK, &mark_5), ACTION(COUNT), QUEUE_1);
	const struct rte_flow_action *const four = ACTIONS(ACTION(VXLAN_DECAP),
		ACTION_CONF(SET_TTL, &ttl), ACTION_CONF(MARK, &mark_5), ACTION(COUNT), QUEUE_1);
	const struct {
		const struct rte_flow_item *pattern;
		const struct rte_flow_action *actions;
		int code, split; /* of the rule, and of its halves */
	} cases[] = {
		{ seven, two, 0, 0 },
		{ seven, three, 0, 0 },
		{ seven, four, E2BIG, 0 },
		{ seven + 1, three, 0, 0 },
		{ seven + 1, four, 0, E2BIG },
	};
	/* clang-format on */
	static struct mdv_flow_plan plan;
	const struct rte_flow_attr attr = { .ingress = 1 };
	struct mdv_flow_plan_env able = env;

	(void)state;
	able.features = able.actions.features = FAKE_MODIFIES | FAKE_FEATURES;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		const struct mdv_flow_plan_rule rule = { &attr, cases[i].pattern,
			cases[i].actions };
		struct rte_flow_error error = { .message = "" };
		int ret = mdv_flow_plan_make(&able, &rule, &plan, &error);

		if (ret != -cases[i].code)
			fail_msg("%u: %d, %s", i, ret, error.message);
		if (ret != 0)
			continue;
		assert_int_equal(mdv_flow_plan_split(&plan), -cases[i].split);
		if (cases[i].split == 0)
			assert_int_equal(plan.nb_parts, 2);
	}
}

static void
test_missing_parts(void **state)
{
	static struct mdv_flow_plan plan;
	const struct rte_flow_attr attr = { .ingress = 1 };
	const struct mdv_flow_plan_rule rules[] = {
		{ NULL, DNS, ACTIONS(QUEUE_1) },
		{ &attr, NULL, ACTIONS(QUEUE_1) },
		{ &attr, DNS, NULL },
	};
	static const enum rte_flow_error_type types[] = { RTE_FLOW_ERROR_TYPE_ATTR,
		RTE_FLOW_ERROR_TYPE_ITEM_NUM, RTE_FLOW_ERROR_TYPE_ACTION_NUM };

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(rules); i++) {
		struct rte_flow_error error = { .message = NULL };

		assert_int_equal(mdv_flow_plan_make(&env, &rules[i], &plan, &error), -EINVAL);
		assert_int_equal(error.type, types[i]);
		assert_non_null(error.message);
	}
}

/* clang-format off */
static const struct rte_flow_item *const kinds[] = {
	PATTERN(ITEM(VOID)),
	PATTERN(ITEM(ETH)),
	PATTERN(ITEM(ETH), ITEM(IPV4)),
	PATTERN(ITEM(ETH), ITEM(IPV6)),
	PATTERN(ITEM(ETH), ITEM(IPV4), ITEM(UDP)),
	PATTERN(ITEM(ETH), ITEM(IPV6), ITEM(TCP)),
	PATTERN(ITEM(TCP)),
};
/* clang-format on */

/** Every set of types over every kind of pattern: each part keeps the limits of verbs and the
 * kernel. */
static void
test_expansions(void **state)
{
	static struct mdv_flow_plan plan;
	const struct rte_flow_attr attr = { .ingress = 1 };

	(void)state;
	for (unsigned int set = 1; set < 1u << MDV_RSS_NONE; set++) {
		struct rte_flow_action_rss rss = { .queue_num = 4, .queue = queues };
		const struct rte_flow_action actions[] = { ACTION_CONF(RSS, &rss), ACTION(END) };

		for (unsigned int i = 0; i < MDV_RSS_NONE; i++)
			if ((set & 1u << i) != 0)
				rss.types |= mdv_rss_classes[i].types;
		for (unsigned int p = 0; p < RTE_DIM(kinds); p++) {
			const struct mdv_flow_plan_rule rule = { &attr, kinds[p], actions };
			uint32_t own;

			assert_int_equal(mdv_flow_plan_make(&env, &rule, &plan, NULL), 0);
			assert_uint_in_range(plan.nb_parts, 1, MDV_RSS_NB_CLASSES);
			own = plan.parts[plan.nb_parts - 1].build.layers;
			for (unsigned int i = 0; i < plan.nb_parts; i++) {
				const struct mdv_flow_part *part = &plan.parts[i];
				const struct mdv_rss_class *class = &mdv_rss_classes[part->id];

				/* The hashed headers are matched, and were requested. */
				assert_int_equal(class->layers & ~part->build.layers, 0);
				assert_true(
					part->id == MDV_RSS_NONE || (set & 1u << part->id) != 0);
				assert_int_equal(own & ~part->build.layers, 0);
				if (i == 0)
					continue;
				/* A part never stands behind one that takes its packets. */
				assert_int_equal(
					part[-1].build.attr.priority, part->build.attr.priority);
				assert_true((part[-1].build.layers & ~part->build.layers) != 0);
			}
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_goldens),
		cmocka_unit_test(test_refused_attributes),
		cmocka_unit_test(test_missing_parts),
		cmocka_unit_test(test_room_for_specs),
		cmocka_unit_test(test_expansions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
