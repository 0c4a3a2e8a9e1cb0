/* SPDX-License-Identifier: BSD-3-Clause */
/* Templates: accepted and refused ones, and the rules made with them. */

#include <errno.h>
#include <string.h>

#include "fake_verbs.h"
#include "flow/async/flow_template.h"
#include "flow/rule/flow_probe.h"
#include "flow/rule/flow_state.h"

/* clang-format off */
static const struct rte_flow_pattern_template_attr strict = { .ingress = 1 };
static const struct rte_flow_pattern_template_attr relaxed = { .ingress = 1,
	.relaxed_matching = 1 };
static const struct rte_flow_actions_template_attr ingress = { .ingress = 1 };
static const struct rte_flow_item_eth type_mask = { .hdr.ether_type = RTE_BE16(0xffff) };
static const struct rte_flow_item_eth type_ipv6 = { .hdr.ether_type = RTE_BE16(0x86dd) };
static const struct rte_flow_item_eth type_ipv4 = { .hdr.ether_type = RTE_BE16(0x0800) };
static const struct rte_flow_item_udp dst_mask = { .hdr.dst_port = RTE_BE16(0xffff) };
static const struct rte_flow_item_udp sum_mask = { .hdr.dgram_cksum = RTE_BE16(0xffff) };
static const struct rte_flow_item_udp dst_53 = { .hdr = { RTE_BE16(7), RTE_BE16(53) } };
static const struct rte_flow_action_queue queue_0 = { 0 }, queue_1 = { 1 }, queue_2 = { 2 };
static const struct rte_flow_action_mark mark_0 = { 0 }, mark_5 = { 5 }, mark_big = { 1u << 30 };
static const uint16_t queues_12[] = { 1, 2 }, queues_0[] = { 0 };
static const uint8_t key[40] = { 9 };
static const struct rte_flow_action_rss rss = { .types = RTE_ETH_RSS_IPV4, .queue_num = 2,
	.queue = queues_12, .key = key, .key_len = sizeof(key) };
static const struct rte_flow_action_rss rss_other = { .types = RTE_ETH_RSS_IPV6, .queue_num = 1,
	.queue = queues_0 };
/** A mask may be all ones, lengths and pointers included: its pointers are not followed. */
static const struct rte_flow_action_rss rss_ones = { .func = -1, .level = -1, .types = -1,
	.key_len = -1, .queue_num = -1, .key = (void *)-1, .queue = (void *)-1 };
static const struct rte_flow_action_rss rss_queues = { .queue_num = 1 };
static const struct rte_flow_action_rss rss_none = { .level = 7, .queue_num = 1u << 30 };
static const struct rte_flow_action_sample sample = { .ratio = 1,
	.actions = ACTIONS(ACTION_CONF(QUEUE, &queue_2)) };
static const struct rte_flow_action_set_ttl ttl_7 = { 7 };
static const struct rte_flow_action_raw_encap raw_encap = { .size = 14 };
static const struct rte_flow_action_modify_field modify_ones = { .width = UINT32_MAX };
#define TOO_MANY(what) "the template has too many " what "; use at most 31"
#define UDP_DST	 PATTERN(ITEM(ETH), ITEM(IPV4), ITEM_MASK(UDP, NULL, &dst_mask))
/* clang-format on */

struct pattern_case {
	const char *name;
	const struct rte_flow_pattern_template_attr *attr;
	const struct rte_flow_item *pattern;
	int code, cause; /* 0: taken; the culprit's index, -1: the attributes, -2: the pattern */
};

static const struct rte_flow_pattern_template_attr egress = { .egress = 1 };
static const struct rte_flow_pattern_template_attr nowhere = { .ingress = 0 };
static const struct rte_flow_item_udp udp_last = { .hdr.dst_port = RTE_BE16(99) };
static const struct rte_flow_item nobody_knows[] = { { .type = (enum rte_flow_item_type)707214662 },
	ITEM(END) };
static struct rte_flow_item endless[MDV_FLOW_TEMPLATE_MAX + 1];

/* clang-format off */
static const rte_be32_t key_mask = RTE_BE32(UINT32_MAX);
static const struct rte_flow_item_gre_opt option_mask = { .key.key = RTE_BE32(UINT32_MAX) };

static const struct pattern_case pattern_cases[] = {
	{ "protocols", &strict, PATTERN(ITEM(ETH), ITEM(IPV4), ITEM(UDP)), 0, 0 },
	{ "a mask", &strict, UDP_DST, 0, 0 },
	{ "nothing", &strict, PATTERN(ITEM(VOID)), 0, 0 },
	{ "spec and last are ignored", &strict,
		PATTERN(ITEM_LAST(UDP, &dst_53, &udp_last, &dst_mask)), 0, 0 },
	{ "a type and what says the same", &strict,
		PATTERN(ITEM_MASK(ETH, NULL, &type_mask), ITEM(IPV6)), 0, 0 },
	{ "a key behind a protocol that says the same", &strict,
		PATTERN(ITEM(IPV4), ITEM_MASK(GRE, NULL, &rte_flow_item_gre_mask),
			ITEM_MASK(GRE_KEY, NULL, &key_mask), ITEM(IPV6)), 0, 0 },
	{ "a key behind masks that say nothing as values", &strict,
		PATTERN(ITEM_MASK(ETH, NULL, &type_mask), ITEM(IPV4), ITEM(GRE),
			ITEM_MASK(GRE_KEY, NULL, &key_mask)), 0, 0 },
	{ "an option behind them", &strict,
		PATTERN(ITEM_MASK(ETH, NULL, &type_mask), ITEM(IPV4), ITEM(GRE),
			ITEM_MASK(GRE_OPTION, NULL, &option_mask)), 0, 0 },
	{ "relaxed", &relaxed, PATTERN(ITEM(IPV4), ITEM_MASK(UDP, NULL, &dst_mask)), 0, 0 },
	{ "egress", &egress, UDP_DST, ENOTSUP, -1 },
	{ "no direction", &nowhere, UDP_DST, EINVAL, -1 },
	{ "unknown item", &strict, PATTERN(ITEM(ETH), ITEM(ARP_ETH_IPV4)), ENOTSUP, 1 },
	{ "order", &strict, PATTERN(ITEM(IPV4), ITEM(ETH)), EINVAL, 1 },
	{ "order with a type", &strict,
		PATTERN(ITEM_MASK(ETH, NULL, &type_mask), ITEM(UDP)), EINVAL, 1 },
	{ "a field nobody matches", &strict, PATTERN(ITEM_MASK(UDP, NULL, &sum_mask)), ENOTSUP,
		-3 },
	{ "a type that nobody knows, skipped", &relaxed, nobody_knows, ENOTSUP, -2 },
	{ "endless", &strict, endless, ENOTSUP, -2 },
};
/* clang-format on */

static void
test_patterns(void **state)
{
	(void)state;
	fake_init();
	fake.port.flow->features = FAKE_FEATURES;
	for (unsigned int i = 0; i < RTE_DIM(endless); i++)
		endless[i].type = RTE_FLOW_ITEM_TYPE_VOID;
	for (unsigned int i = 0; i < RTE_DIM(pattern_cases); i++) {
		const struct pattern_case *row = &pattern_cases[i];
		struct rte_flow_error error = { .message = NULL };
		struct rte_flow_pattern_template *template;
		const void *causes[] = { &sum_mask, row->pattern, row->attr };
		const void *cause;

		template =
			mdv_flow_template_make_pattern(&fake.port, row->attr, row->pattern, &error);
		if ((template != NULL) != (row->code == 0))
			fail_msg("%s: %s", row->name, error.message);
		if (template != NULL) {
			mdv_flow_template_free_pattern(template);
			continue;
		}
		cause = row->cause < 0 ? causes[row->cause + 3] : &row->pattern[row->cause];
		assert_int_equal(rte_errno, row->code);
		assert_non_null(error.message);
		if (error.cause != cause)
			fail_msg("%s: blames another", row->name);
		if (row->pattern == endless)
			assert_string_equal(error.message, TOO_MANY("items"));
		assert_null(
			mdv_flow_template_make_pattern(&fake.port, row->attr, row->pattern, NULL));
	}
}

struct actions_case {
	const char *name;
	const struct rte_flow_action *actions, *masks;
	int code, cause; /* 0: taken; the culprit's index in actions, -1 and -3: in masks, the
			    second, the first */
};

/* clang-format off */
static const struct actions_case actions_cases[] = {
	{ "a queue", ACTIONS(ACTION(QUEUE)), ACTIONS(ACTION(QUEUE)), 0, 0 },
	{ "no masks", ACTIONS(ACTION(QUEUE)), NULL, 0, 0 },
	{ "two queues", ACTIONS(ACTION(QUEUE), ACTION(QUEUE)), NULL, 0, 0 },
	{ "two samples", ACTIONS(ACTION(SAMPLE), ACTION(SAMPLE), ACTION(QUEUE)), NULL, 0, 0 },
	{ "eight copies and one more", ACTIONS(ACTION(QUEUE), ACTION(QUEUE), ACTION(QUEUE),
		ACTION(QUEUE), ACTION(QUEUE), ACTION(QUEUE), ACTION(QUEUE), ACTION(QUEUE),
		ACTION(SAMPLE)), NULL, ENOTSUP, 8 },
	{ "all", ACTIONS(ACTION(VOID), ACTION(SAMPLE), ACTION(RSS), ACTION(MARK), ACTION(COUNT),
		ACTION(PASSTHRU)), NULL, 0, 0 },
	{ "constants", ACTIONS(ACTION_CONF(RSS, &rss), ACTION_CONF(MARK, &mark_5)),
		ACTIONS(ACTION_CONF(RSS, &rss_ones), ACTION_CONF(MARK, &mark_5)), 0, 0 },
	{ "what no mask makes constant is not read",
		ACTIONS(ACTION_CONF(RSS, &rss_none), ACTION_CONF(MARK, &mark_big)),
		ACTIONS(ACTION(RSS), ACTION_CONF(MARK, &mark_0)), 0, 0 },
	{ "no fate", ACTIONS(ACTION(MARK)), NULL, EINVAL, 0 },
	{ "unknown", ACTIONS(ACTION(QUEUE), ACTION(OF_POP_VLAN)), NULL, ENOTSUP, 1 },
	{ "drop and mark", ACTIONS(ACTION(DROP), ACTION(MARK)), NULL, EINVAL, 1 },
	{ "a constant too large", ACTIONS(ACTION(QUEUE), ACTION_CONF(MARK, &mark_big)),
		ACTIONS(ACTION(QUEUE), ACTION_CONF(MARK, &mark_5)), ENOTSUP, -2 },
	{ "constant nothing", ACTIONS(ACTION(QUEUE), ACTION(MARK)),
		ACTIONS(ACTION(QUEUE), ACTION_CONF(MARK, &mark_5)), EINVAL, 1 },
	{ "another's mask", ACTIONS(ACTION(QUEUE), ACTION(MARK)),
		ACTIONS(ACTION(QUEUE), ACTION(COUNT)), EINVAL, -1 },
	{ "masks end early", ACTIONS(ACTION(QUEUE), ACTION(MARK)), ACTIONS(ACTION(QUEUE)), EINVAL,
		-1 },
	{ "changes", ACTIONS(ACTION(RAW_DECAP), ACTION(RAW_ENCAP), ACTION(DEC_TTL), ACTION_CONF(SET_TTL, &ttl_7),
		ACTION(MODIFY_FIELD), ACTION(QUEUE)), ACTIONS(ACTION(RAW_DECAP), ACTION(RAW_ENCAP), ACTION(DEC_TTL),
		ACTION_CONF(SET_TTL, &ttl_7), ACTION(MODIFY_FIELD), ACTION(QUEUE)), 0, 0 },
	{ "changes in a wrong order", ACTIONS(ACTION(DEC_TTL), ACTION(VXLAN_DECAP), ACTION(QUEUE)), NULL, ENOTSUP, 1 },
	{ "a constant that is not copied", ACTIONS(ACTION(QUEUE), ACTION(RAW_ENCAP)),
		ACTIONS(ACTION(QUEUE), ACTION_CONF(RAW_ENCAP, &raw_encap)), ENOTSUP, -1 },
	{ "VXLAN constant", ACTIONS(ACTION(QUEUE), ACTION(VXLAN_ENCAP)),
		ACTIONS(ACTION(QUEUE), ACTION_CONF(VXLAN_ENCAP, &raw_encap)), ENOTSUP, -1 },
	{ "NVGRE constant", ACTIONS(ACTION(QUEUE), ACTION(NVGRE_ENCAP)),
		ACTIONS(ACTION(QUEUE), ACTION_CONF(NVGRE_ENCAP, &raw_encap)), ENOTSUP, -1 },
	{ "MODIFY_FIELD constant", ACTIONS(ACTION(MODIFY_FIELD), ACTION(QUEUE)),
		ACTIONS(ACTION_CONF(MODIFY_FIELD, &modify_ones), ACTION(QUEUE)), ENOTSUP, -3 },
	{ "sample constant", ACTIONS(ACTION(QUEUE), ACTION_CONF(SAMPLE, &sample)),
		ACTIONS(ACTION(QUEUE), ACTION_CONF(SAMPLE, &sample)), ENOTSUP, -1 },
};
/* clang-format on */

static void
test_actions(void **state)
{
	static struct rte_flow_action many[MDV_FLOW_TEMPLATE_MAX];
	struct rte_flow_error too_many;

	(void)state;
	fake_init();
	fake_init();
	fake.port.flow->features = FAKE_MODIFIES;
	for (unsigned int i = 0; i < RTE_DIM(actions_cases); i++) {
		const struct actions_case *row = &actions_cases[i];
		struct rte_flow_error error = { .message = NULL };
		struct rte_flow_actions_template *template;
		const void *cause;

		template = mdv_flow_template_make_actions(
			&fake.port, &ingress, row->actions, row->masks, &error);
		if ((template != NULL) != (row->code == 0))
			fail_msg("%s: %s", row->name, error.message);
		if (template != NULL) {
			mdv_flow_template_free_actions(template);
			continue;
		}
		cause = row->cause == -2 ? row->actions[1].conf
			: row->cause < 0 ? &row->masks[row->cause == -3 ? 0 : 1]
					 : &row->actions[row->cause];
		assert_int_equal(rte_errno, row->code);
		assert_non_null(error.message);
		if (row->cause != -2 && error.cause != cause)
			fail_msg("%s: blames another", row->name);
	}
	for (unsigned int i = 0; i < RTE_DIM(many); i++)
		many[i].type = RTE_FLOW_ACTION_TYPE_VOID;
	assert_null(mdv_flow_template_make_actions(&fake.port, &ingress, many, NULL, NULL));
	assert_int_equal(rte_errno, ENOTSUP);
	assert_null(mdv_flow_template_make_actions(&fake.port, &ingress, many, NULL, &too_many));
	assert_string_equal(too_many.message, TOO_MANY("actions"));
}

static void
merge(const struct rte_flow_pattern_template_attr *attr, const struct rte_flow_item *template,
	const struct rte_flow_item *pattern, struct mdv_flow_template_merged *merged)
{
	static struct rte_flow_pattern_template *patterns;
	static struct rte_flow_actions_template *actions;
	struct rte_flow_error error = { .message = NULL };

	if (patterns != NULL) {
		mdv_flow_template_free_pattern(patterns);
		mdv_flow_template_free_actions(actions);
		patterns = NULL;
	}
	if (attr == NULL)
		return;
	patterns = mdv_flow_template_make_pattern(&fake.port, attr, template, &error);
	assert_non_null(patterns);
	actions = mdv_flow_template_make_actions(
		&fake.port, &ingress, ACTIONS(ACTION(QUEUE)), NULL, &error);
	assert_non_null(actions);
	assert_int_equal(mdv_flow_template_merge(patterns, pattern, actions,
				 ACTIONS(ACTION_CONF(QUEUE, &queue_1)), merged, &error),
		0);
	assert_ptr_equal(merged->actions[0].conf, &queue_1);
}

/** An error keeps its content when there is none, even if it points into the merged rule. */
static void
test_blame(void **state)
{
	struct rte_flow_error error = { .message = NULL };
	struct mdv_flow_template_merged merged;
	const struct rte_flow_item *pattern = PATTERN(ITEM_MASK(UDP, NULL, &dst_mask));
	const struct rte_flow_action *actions = ACTIONS(ACTION(QUEUE));

	(void)state;
	memset(&merged, 0, sizeof(merged));
	/* Beyond the application's list. */
	error.cause = &merged.confs[MDV_FLOW_TEMPLATE_MAX - 1];
	mdv_flow_template_blame(&merged, pattern, actions, &error);
	assert_ptr_equal(error.cause, &merged.confs[MDV_FLOW_TEMPLATE_MAX - 1]);
	merged.pattern[0].mask = &sum_mask;
	error.cause = &sum_mask;
	mdv_flow_template_blame(&merged, pattern, actions, &error);
	assert_ptr_equal(error.cause, &pattern[0]);
	merged.actions[0].conf = &queue_0;
	error.cause = &queue_0;
	mdv_flow_template_blame(&merged, pattern, actions, &error);
	assert_ptr_equal(error.cause, &actions[0]);
	merged.pattern[0].mask = pattern[0].mask;
	error.cause = pattern[0].mask;
	mdv_flow_template_blame(&merged, pattern, actions, &error);
	assert_ptr_equal(error.cause, pattern[0].mask);
	mdv_flow_template_blame(&merged, pattern, actions, NULL);
}

/** The cause is the application's item or action at the same place, whichever part of it. */
static void
test_blame_copy(void **state)
{
	const struct rte_flow_conv_rule copy = {
		.pattern_ro = PATTERN(ITEM(IPV4), ITEM_LAST(UDP, &dst_53, &udp_last, &dst_mask)),
		.actions_ro = ACTIONS(ACTION_CONF(MARK, &mark_5), ACTION_CONF(QUEUE, &queue_1)),
	};
	const struct rte_flow_item *items = PATTERN(ITEM(IPV4), ITEM_SPEC(UDP, &dst_53));
	const struct rte_flow_action *flat = ACTIONS(ACTION(MARK), ACTION(QUEUE)),
				     *deep = ACTIONS(ACTION_CONF(SAMPLE, &sample), ACTION(QUEUE));
	const struct {
		const void *cause, *blamed;
		const struct rte_flow_action *actions;
	} rows[] = {
		{ &copy.pattern_ro[0], &items[0], flat },
		{ &copy.pattern_ro[1], &items[1], deep },
		{ &dst_53, &items[1], flat },
		{ &udp_last, &items[1], flat },
		{ &dst_mask, &items[1], flat },
		{ &copy.actions_ro[0], &flat[0], flat },
		{ &queue_1, &flat[1], flat },
		{ &copy.actions_ro[1], NULL, deep },
		{ &copy, NULL, flat },
		{ NULL, NULL, flat },
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(rows); i++) {
		struct rte_flow_error error = { .cause = rows[i].cause };

		mdv_flow_template_blame_copy(&copy, items, rows[i].actions, &error);
		assert_ptr_equal(error.cause, rows[i].blamed);
		mdv_flow_template_blame_copy(&copy, items, rows[i].actions, NULL);
	}
}

static void
test_merge_pattern(void **state)
{
	struct mdv_flow_template_merged merged;
	struct rte_flow_item_udp other_mask = { .hdr.src_port = 0xffff };

	(void)state;
	fake_init();
	/* The mask is the template's, whatever mask the rule has; and it is a copy. */
	merge(&strict, UDP_DST,
		PATTERN(ITEM_SPEC(ETH, &type_ipv6), ITEM(IPV4),
			ITEM_MASK(UDP, &dst_53, &other_mask)),
		&merged);
	assert_null(merged.pattern[0].spec);
	assert_null(merged.pattern[0].mask);
	assert_ptr_equal(merged.pattern[2].spec, &dst_53);
	assert_memory_equal(merged.pattern[2].mask, &dst_mask, sizeof(dst_mask));
	assert_ptr_not_equal(merged.pattern[2].mask, &dst_mask);
	assert_int_equal(merged.pattern[3].type, RTE_FLOW_ITEM_TYPE_END);
	/* In a relaxed template an item without a mask is not matched. */
	merge(&relaxed, UDP_DST, PATTERN(ITEM(ETH), ITEM(IPV4), ITEM_SPEC(UDP, &dst_53)), &merged);
	assert_int_equal(merged.pattern[0].type, RTE_FLOW_ITEM_TYPE_VOID);
	assert_int_equal(merged.pattern[1].type, RTE_FLOW_ITEM_TYPE_VOID);
	assert_int_equal(merged.pattern[2].type, RTE_FLOW_ITEM_TYPE_UDP);
	assert_int_equal(merged.pattern[3].type, RTE_FLOW_ITEM_TYPE_END);
	merge(&strict, PATTERN(ITEM_MASK(ETH, NULL, &type_mask), ITEM(IPV4)),
		PATTERN(ITEM_SPEC(ETH, &type_ipv4), ITEM(IPV4)), &merged);
	assert_ptr_equal(merged.pattern[0].spec, &type_ipv4);
	merge(NULL, NULL, NULL, NULL);
}

static void
test_merge_actions(void **state)
{
	struct rte_flow_pattern_template *pattern =
		mdv_flow_template_make_pattern(&fake.port, &strict, PATTERN(ITEM(ETH)), NULL);
	struct rte_flow_actions_template *actions;
	struct mdv_flow_template_merged merged;
	const struct rte_flow_action_rss *got;

	(void)state;
	fake_init();
	actions = mdv_flow_template_make_actions(&fake.port, &ingress,
		ACTIONS(ACTION_CONF(RSS, &rss), ACTION_CONF(MARK, &mark_5), ACTION(COUNT)),
		ACTIONS(ACTION_CONF(RSS, &rss_queues), ACTION_CONF(MARK, &mark_5), ACTION(COUNT)),
		NULL);
	assert_non_null(actions);
	assert_int_equal(mdv_flow_template_merge(pattern, PATTERN(ITEM(ETH)), actions,
				 ACTIONS(ACTION_CONF(RSS, &rss_other), ACTION_CONF(MARK, &mark_big),
					 ACTION(COUNT)),
				 &merged, NULL),
		0);
	got = merged.actions[0].conf;
	assert_int_equal(got->types, RTE_ETH_RSS_IPV6);
	assert_int_equal(got->key_len, 0);
	assert_int_equal(got->queue_num, 2);
	assert_memory_equal(got->queue, queues_12, sizeof(queues_12));
	assert_ptr_not_equal(got->queue, queues_12);
	assert_int_equal(((const struct rte_flow_action_mark *)merged.actions[1].conf)->id, 5);
	assert_null(merged.actions[2].conf);
	/* Without a configuration the rest is zero. */
	assert_int_equal(mdv_flow_template_merge(pattern, PATTERN(ITEM(ETH)), actions,
				 ACTIONS(ACTION(RSS), ACTION(MARK), ACTION(COUNT)), &merged, NULL),
		0);
	got = merged.actions[0].conf;
	assert_int_equal(got->types, 0);
	assert_int_equal(got->queue_num, 2);
	mdv_flow_template_free_actions(actions);
	mdv_flow_template_free_pattern(pattern);
}

/* clang-format off */
#define OF(name, conf, member) \
	{ RTE_FLOW_ACTION_TYPE_##name, sizeof(struct rte_flow_action_##conf), \
	  offsetof(struct rte_flow_action_##conf, member), \
	  sizeof(((struct rte_flow_action_##conf *)0)->member) }
#define NUMBER(name) { RTE_FLOW_ACTION_TYPE_##name, 4, 0, 4 }

/** Configurations of one field, and what that is. */
static const struct {
	enum rte_flow_action_type type;
	uint8_t size, at, bytes;
} single_fields[] = {
	OF(QUEUE, queue, index), OF(COUNT, count, id), OF(MARK, mark, id),
	OF(SET_MAC_SRC, set_mac, mac_addr), OF(SET_MAC_DST, set_mac, mac_addr),
	OF(OF_SET_VLAN_VID, of_set_vlan_vid, vlan_vid),
	OF(SET_IPV4_SRC, set_ipv4, ipv4_addr), OF(SET_IPV4_DST, set_ipv4, ipv4_addr),
	OF(SET_IPV4_DSCP, set_dscp, dscp), OF(SET_IPV6_DSCP, set_dscp, dscp),
	OF(SET_IPV6_SRC, set_ipv6, ipv6_addr), OF(SET_IPV6_DST, set_ipv6, ipv6_addr),
	OF(SET_TTL, set_ttl, ttl_value), OF(SET_TP_SRC, set_tp, port), OF(SET_TP_DST, set_tp, port),
	NUMBER(INC_TCP_SEQ), NUMBER(DEC_TCP_SEQ), NUMBER(INC_TCP_ACK), NUMBER(DEC_TCP_ACK),
	OF(RAW_DECAP, raw_decap, size),
};
/* clang-format on */

/** Of row @p i: is the field the template's, if the mask's byte @p bit_at is not 0? All of its
 * bytes must be the template's then, else the rule's. */
static bool
is_constant(unsigned int i, unsigned int bit_at)
{
	union mdv_flow_template_conf own = { .mark.id = 0 }, rules, mask = { .mark.id = 0 };
	const struct rte_flow_action actions[] = { { single_fields[i].type, &own }, ACTION(QUEUE),
		ACTION(END) };
	const struct rte_flow_action masks[] = { { single_fields[i].type, &mask }, ACTION(QUEUE),
		ACTION(END) };
	const struct rte_flow_action given[] = { { single_fields[i].type, &rules },
		ACTION_CONF(QUEUE, &queue_1), ACTION(END) };
	struct rte_flow_pattern_template *pattern =
		mdv_flow_template_make_pattern(&fake.port, &strict, PATTERN(ITEM(ETH)), NULL);
	struct rte_flow_actions_template *template;
	struct mdv_flow_template_merged merged;
	const uint8_t *got, *wanted;
	bool is;

	memset((uint8_t *)&own + single_fields[i].at, 1, single_fields[i].bytes);
	if (single_fields[i].type == RTE_FLOW_ACTION_TYPE_MARK)
		own.mark.id = 0x10101;
	memset(&rules, 2, sizeof(rules));
	((uint8_t *)&mask)[bit_at] = 0x80;
	template = mdv_flow_template_make_actions(&fake.port, &ingress, actions, masks, NULL);
	assert_non_null(template);
	assert_int_equal(mdv_flow_template_merge(
				 pattern, PATTERN(ITEM(ETH)), template, given, &merged, NULL),
		0);
	got = (const uint8_t *)merged.actions[0].conf + single_fields[i].at;
	is = template->fixed[0] != 0;
	wanted = (const uint8_t *)(is ? &own : &rules) + single_fields[i].at;
	assert_memory_equal(got, wanted, single_fields[i].bytes);
	assert_int_equal(merged.actions[0].conf == &rules, !is);
	mdv_flow_template_free_actions(template);
	mdv_flow_template_free_pattern(pattern);
	return is;
}

/** Any bit of a field's mask makes it constant, and no other bit does. */
static void
test_single_fields(void **state)
{
	(void)state;
	fake_init();
	fake.port.flow->features = FAKE_MODIFIES;
	for (unsigned int i = 0; i < RTE_DIM(single_fields); i++)
		for (unsigned int at = 0; at < single_fields[i].size; at++)
			if (is_constant(i, at) !=
				(at >= single_fields[i].at &&
					at < single_fields[i].at + single_fields[i].bytes))
				fail_msg("action %d, byte %u", single_fields[i].type, at);
}

/** Each field of RSS alone, and an array with its length. */
static void
test_fields_of_rss(void **state)
{
	static const struct rte_flow_action_rss own = { .func = RTE_ETH_HASH_FUNCTION_TOEPLITZ,
		.level = 1,
		.types = RTE_ETH_RSS_IPV4,
		.queue_num = 2,
		.queue = queues_12,
		.key = key,
		.key_len = sizeof(key) };
	static const struct rte_flow_action_rss rules = { .func = 77,
		.level = 78,
		.types = 79,
		.queue_num = 1,
		.queue = queues_0,
		.key = (const uint8_t *)"x",
		.key_len = 1 };
	static const struct rte_flow_action_rss masks[] = {
		{ .func = 1 },
		{ .level = 1 },
		{ .types = 1 },
		{ .key_len = 1 },
		{ .queue_num = 1 },
		{ .types = UINT64_C(1) << 63 },
		{ .key = key },
		{ .queue = queues_0 },
	};
	static const uint8_t fields[] = { 1, 2, 4, 8, 16, 4, 8, 16 };
	struct rte_flow_pattern_template *pattern =
		mdv_flow_template_make_pattern(&fake.port, &strict, PATTERN(ITEM(ETH)), NULL);

	(void)state;
	fake_init();
	for (unsigned int i = 0; i < RTE_DIM(masks); i++) {
		struct rte_flow_actions_template *actions = mdv_flow_template_make_actions(
			&fake.port, &ingress, ACTIONS(ACTION_CONF(RSS, &own)),
			ACTIONS(ACTION_CONF(RSS, &masks[i])), NULL);
		struct mdv_flow_template_merged merged;
		const struct rte_flow_action_rss *got;

		assert_non_null(actions);
		assert_int_equal(mdv_flow_template_merge(pattern, PATTERN(ITEM(ETH)), actions,
					 ACTIONS(ACTION_CONF(RSS, &rules)), &merged, NULL),
			0);
		got = merged.actions[0].conf;
		assert_int_equal(got->func, fields[i] == 1 ? own.func : 77);
		assert_int_equal(got->level, fields[i] == 2 ? 1 : 78);
		assert_int_equal(got->types, fields[i] == 4 ? own.types : 79);
		assert_int_equal(got->key_len, fields[i] == 8 ? sizeof(key) : 1);
		assert_int_equal(got->key[0], fields[i] == 8 ? 9 : 'x');
		assert_int_equal(got->queue_num, fields[i] == 16 ? 2 : 1);
		assert_int_equal(got->queue[0], fields[i] == 16 ? 1 : 0);
		mdv_flow_template_free_actions(actions);
	}
	mdv_flow_template_free_pattern(pattern);
}

static void
test_merge_refused(void **state)
{
	struct rte_flow_pattern_template *pattern =
		mdv_flow_template_make_pattern(&fake.port, &strict, UDP_DST, NULL);
	struct rte_flow_actions_template *actions;
	struct mdv_flow_template_merged merged;
	struct rte_flow_error error;
	/* clang-format off */
	const struct rte_flow_action *good = ACTIONS(ACTION_CONF(QUEUE, &queue_0));
	const struct {
		const struct rte_flow_item *pattern;
		const struct rte_flow_action *actions;
		int item, action;
	} cases[] = {
		{ PATTERN(ITEM(ETH), ITEM(IPV6), ITEM_SPEC(UDP, &dst_53)), good, 1, -1 },
		{ PATTERN(ITEM(ETH), ITEM(IPV4)), good, 2, -1 },
		{ PATTERN(ITEM(ETH), ITEM(IPV4), ITEM(UDP)), good, 2, -1 },
		{ PATTERN(ITEM(ETH), ITEM(IPV4), ITEM_SPEC(UDP, &dst_53), ITEM(VOID)), good, 3,
			-1 },
		{ PATTERN(ITEM(ETH), ITEM(IPV4), ITEM_SPEC(UDP, &dst_53)), ACTIONS(ACTION(DROP)),
			-1, 0 },
		{ PATTERN(ITEM(ETH), ITEM(IPV4), ITEM_SPEC(UDP, &dst_53)),
			ACTIONS(ACTION_CONF(QUEUE, &queue_0), ACTION(FLAG)), -1, 1 },
	};
	/* clang-format on */

	(void)state;
	fake_init();
	actions = mdv_flow_template_make_actions(
		&fake.port, &ingress, ACTIONS(ACTION(QUEUE)), NULL, NULL);
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		const void *cause = cases[i].item >= 0
			? (const void *)&cases[i].pattern[cases[i].item]
			: &cases[i].actions[cases[i].action];

		assert_int_equal(mdv_flow_template_merge(pattern, cases[i].pattern, actions,
					 cases[i].actions, &merged, &error),
			-EINVAL);
		assert_ptr_equal(error.cause, cause);
	}
	mdv_flow_template_free_actions(actions);
	mdv_flow_template_free_pattern(pattern);
}

/** Any one allocation fails. */
static void
test_no_memory(void **state)
{
	struct rte_flow_pattern_template *pattern = NULL;
	struct rte_flow_actions_template *actions = NULL;

	(void)state;
	fake_init();
	for (unsigned int nth = 1; pattern == NULL; nth++) {
		fake_arm(nth, ENOMEM);
		pattern = mdv_flow_template_make_pattern(&fake.port, &strict, UDP_DST, NULL);
		assert_true(pattern != NULL ? nth == 3 : rte_errno == ENOMEM);
	}
	for (unsigned int nth = 1; actions == NULL; nth++) {
		fake_arm(nth, ENOMEM);
		actions = mdv_flow_template_make_actions(
			&fake.port, &ingress, ACTIONS(ACTION(QUEUE)), NULL, NULL);
		assert_true(actions != NULL ? nth == 3 : rte_errno == ENOMEM);
	}
	fake_arm(0, 0);
	mdv_flow_template_free_actions(actions);
	mdv_flow_template_free_pattern(pattern);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_patterns),
		cmocka_unit_test(test_actions),
		cmocka_unit_test(test_blame),
		cmocka_unit_test(test_blame_copy),
		cmocka_unit_test(test_merge_pattern),
		cmocka_unit_test(test_merge_actions),
		cmocka_unit_test(test_single_fields),
		cmocka_unit_test(test_fields_of_rss),
		cmocka_unit_test(test_merge_refused),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
