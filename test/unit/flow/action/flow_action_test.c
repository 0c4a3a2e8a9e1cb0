/* SPDX-License-Identifier: BSD-3-Clause */
/* Actions: the effects, the refusals, and the pairs that may stand together. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mark.h"
#include "fake_verbs.h"
#include "flow/action/flow_action.h"

static const uint8_t port_key[40] = { 1 }, own_key[52] = { 2 };
static const uint8_t repeated_key[40] = { 0xa5, 0x17, 0xa5, 0x17, 0xa5, 0x17, 0xa5, 0x17, 0xa5,
	0x17, 0xa5, 0x17, 0xa5, 0x17, 0xa5, 0x17, 0xa5, 0x17, 0xa5, 0x17, 0xa5, 0x17, 0xa5, 0x17,
	0xa5, 0x17, 0xa5, 0x17, 0xa5, 0x17, 0xa5, 0x17, 0xa5, 0x17, 0xa5, 0x17, 0xa5, 0x17, 0xa5,
	0x17 };
static const uint16_t queues[16] = { 0, 3, 3, 1 };
static const uint16_t missing_queue[] = { 0, 4 };

static const struct mdv_flow_action_env env = {
	.nb_queues = 4,
	.max_table = 8,
	.rss_types = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP,
	.rss_key = port_key,
};

/* clang-format off */
#define QUEUE_3 ACTION_CONF(QUEUE, &queue_3)
static const struct rte_flow_action_queue queue_1 = { 1 }, queue_2 = { 2 },
	queue_3 = { 3 }, queue_4 = { 4 };
static const struct rte_flow_action_mark mark_0 = { 0 }, mark_max = { 0xfffffd },
	mark_over = { 0xfffffe };
static const struct rte_flow_action_rss rss = {
	.types = RTE_ETH_RSS_NONFRAG_IPV4_UDP, .queue_num = 4, .queue = queues };
static const struct rte_flow_action_rss rss_default = { .queue_num = 3, .queue = queues };
static const struct rte_flow_action_rss rss_key = { .func = RTE_ETH_HASH_FUNCTION_TOEPLITZ,
	.level = 1, .key_len = 40, .key = own_key, .queue_num = 8, .queue = queues };
static const struct rte_flow_action_rss rss_symmetric_key = {
	.func = RTE_ETH_HASH_FUNCTION_SYMMETRIC_TOEPLITZ, .key_len = 40, .key = repeated_key,
	.queue_num = 1, .queue = queues };
static const struct rte_flow_action_rss rss_asymmetric_key = {
	.func = RTE_ETH_HASH_FUNCTION_SYMMETRIC_TOEPLITZ, .key_len = 40, .key = own_key,
	.queue_num = 1, .queue = queues };
static const struct rte_flow_action_rss rss_symmetric = {
	.func = RTE_ETH_HASH_FUNCTION_SYMMETRIC_TOEPLITZ, .queue_num = 4, .queue = queues };
static const struct rte_flow_action_rss rss_func = {
	.func = RTE_ETH_HASH_FUNCTION_SIMPLE_XOR, .queue_num = 1, .queue = queues };
static const struct rte_flow_action_rss rss_inner = {
	.level = 2, .queue_num = 4, .queue = queues };
static const struct rte_flow_action_rss rss_level = {
	.level = 3, .queue_num = 1, .queue = queues };
static const struct rte_flow_action_rss rss_long_key = {
	.key_len = 52, .key = own_key, .queue_num = 1, .queue = queues };
static const struct rte_flow_action_rss rss_null_key = {
	.key_len = 40, .queue_num = 1, .queue = queues };
static const struct rte_flow_action_rss rss_types = {
	.types = RTE_ETH_RSS_NONFRAG_IPV4_TCP, .queue_num = 1, .queue = queues };
static const struct rte_flow_action_rss rss_outermost = {
	.types = RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_LEVEL_OUTERMOST, .queue_num = 4,
	.queue = queues };
static const struct rte_flow_action_rss rss_only_outermost = { .level = 1,
	.types = RTE_ETH_RSS_LEVEL_OUTERMOST, .queue_num = 4, .queue = queues };
static const struct rte_flow_action_rss rss_innermost = {
	.types = RTE_ETH_RSS_LEVEL_INNERMOST, .queue_num = 4, .queue = queues };
static const struct rte_flow_action_rss rss_both_levels = { .level = 2,
	.types = RTE_ETH_RSS_LEVEL_OUTERMOST, .queue_num = 4, .queue = queues };
static const struct rte_flow_action_rss rss_no_queues = { .queue = queues };
static const struct rte_flow_action_rss rss_null_queues = { .queue_num = 1 };
static const struct rte_flow_action_rss rss_many = { .queue_num = 9, .queue = queues };
static const struct rte_flow_action_rss rss_missing = { .queue_num = 2, .queue = missing_queue };

static const struct rte_flow_action_sample sample_queue_1 = { 1,
	ACTIONS(ACTION(VOID), ACTION_CONF(QUEUE, &queue_1)) };
static const struct rte_flow_action_sample sample_rss = { 1, ACTIONS(ACTION_CONF(RSS, &rss)) };
static const struct rte_flow_action_sample sample_some = { 2,
	ACTIONS(ACTION_CONF(QUEUE, &queue_1)) };
static const struct rte_flow_action_sample sample_mark = { 1,
	ACTIONS(ACTION_CONF(QUEUE, &queue_1), ACTION(FLAG)) };
static const struct rte_flow_action_sample sample_nothing = { 1, ACTIONS(ACTION(VOID)) };
static const struct rte_flow_action_sample sample_null = { 1, NULL };

static const struct effect {
	const struct rte_flow_action *list;
	struct mdv_flow_actions expected;
} effects[] = {
	{ ACTIONS(ACTION_CONF(QUEUE, &queue_3)),
		{ MDV_FLOW_ACTION_QUEUES, &queue_3.index, 1, 0, port_key, 0, false, false } },
	{ ACTIONS(ACTION(VOID), ACTION_CONF(QUEUE, &queue_3), ACTION(VOID), ACTION(PASSTHRU)),
		{ MDV_FLOW_ACTION_QUEUES, &queue_3.index, 1, 0, port_key, 0, false, true } },
	{ ACTIONS(ACTION(PASSTHRU), ACTION(COUNT), ACTION_CONF(MARK, &mark_0),
		ACTION_CONF(RSS, &rss)),
		{ MDV_FLOW_ACTION_QUEUES, queues, 4, RTE_ETH_RSS_NONFRAG_IPV4_UDP, port_key, 1,
		  true, true } },
	{ ACTIONS(ACTION_CONF(RSS, &rss_default)),
		{ MDV_FLOW_ACTION_QUEUES, queues, 3, RTE_ETH_RSS_IP, port_key, 0, false, false } },
	/* Types as dev_info has them. */
	{ ACTIONS(ACTION_CONF(RSS, &rss_outermost)),
		{ MDV_FLOW_ACTION_QUEUES, queues, 4, RTE_ETH_RSS_NONFRAG_IPV4_UDP, port_key, 0,
		  false, false } },
	{ ACTIONS(ACTION_CONF(RSS, &rss_only_outermost)),
		{ MDV_FLOW_ACTION_QUEUES, queues, 4, RTE_ETH_RSS_IP, port_key, 0, false, false } },
	{ ACTIONS(ACTION_CONF(RSS, &rss_symmetric_key)),
		{ MDV_FLOW_ACTION_QUEUES, queues, 1, RTE_ETH_RSS_IP, repeated_key, 0, false,
		  false } },
	{ ACTIONS(ACTION_CONF(RSS, &rss_inner)),
		{ MDV_FLOW_ACTION_QUEUES, queues, 4, RTE_ETH_RSS_IP, port_key, 0, false, false, 0,
		  { NULL }, &rss_inner } },
	{ ACTIONS(ACTION_CONF(RSS, &rss_key), ACTION(FLAG)),
		{ MDV_FLOW_ACTION_QUEUES, queues, 8, RTE_ETH_RSS_IP, own_key, 0xffffff, false,
		  false } },
	{ ACTIONS(ACTION_CONF(QUEUE, &queue_3), ACTION_CONF(MARK, &mark_max)),
		{ MDV_FLOW_ACTION_QUEUES, &queue_3.index, 1, 0, port_key, 0xfffffe, false, false } },
	{ ACTIONS(ACTION(COUNT), ACTION(DROP)),
		{ MDV_FLOW_ACTION_DROP, NULL, 0, 0, NULL, 0, true, false } },
	/* Every QUEUE gets its copy, and so does one RSS, in any order. */
	{ ACTIONS(ACTION_CONF(QUEUE, &queue_1), QUEUE_3, ACTION_CONF(QUEUE, &queue_2)),
		{ MDV_FLOW_ACTION_QUEUES, &queue_1.index, 1, 0, port_key, 0, false, false, 2,
		  { &queue_3.index, &queue_2.index } } },
	{ ACTIONS(QUEUE_3, ACTION_CONF(RSS, &rss), ACTION(PASSTHRU), ACTION_CONF(QUEUE, &queue_1)),
		{ MDV_FLOW_ACTION_QUEUES, queues, 4, RTE_ETH_RSS_NONFRAG_IPV4_UDP, port_key, 0,
		  false, true, 2, { &queue_3.index, &queue_1.index } } },
	{ ACTIONS(ACTION_CONF(SAMPLE, &sample_queue_1), QUEUE_3),
		{ MDV_FLOW_ACTION_QUEUES, &queue_1.index, 1, 0, port_key, 0, false, false, 1,
		  { &queue_3.index } } },
	{ ACTIONS(ACTION_CONF(SAMPLE, &sample_queue_1), ACTION(PASSTHRU)),
		{ MDV_FLOW_ACTION_QUEUES, &queue_1.index, 1, 0, port_key, 0, false, true } },
	{ ACTIONS(QUEUE_3, ACTION_CONF(SAMPLE, &sample_rss)),
		{ MDV_FLOW_ACTION_QUEUES, queues, 4, RTE_ETH_RSS_NONFRAG_IPV4_UDP, port_key, 0,
		  false, false, 1, { &queue_3.index } } },
};

#define CONF  RTE_FLOW_ERROR_TYPE_ACTION_CONF
#define WHOLE RTE_FLOW_ERROR_TYPE_ACTION

static const struct refusal {
	const struct rte_flow_action *list;
	int code;
	enum rte_flow_error_type type;
	unsigned int culprit; /* the cause is this action, or its conf where it has one and type says so */
	const char *message;
} refusals[] = {
	{ ACTIONS(ACTION_CONF(QUEUE, &queue_4)), EINVAL, CONF, 0,
		"QUEUE: Rx queue 4 does not exist; the port has 0 to 3" },
	{ ACTIONS(ACTION(QUEUE)), EINVAL, CONF, 0, "QUEUE: no configuration" },
	{ ACTIONS(ACTION(RSS)), EINVAL, CONF, 0, "RSS: no configuration" },
	{ ACTIONS(QUEUE_3, ACTION(MARK)), EINVAL, CONF, 1, "MARK: no configuration" },
	{ ACTIONS(QUEUE_3, ACTION_CONF(MARK, &mark_over)), ENOTSUP, CONF, 1,
		"MARK id 0xfffffe: the device has 24 bits for it; use at most 0xfffffd" },
	{ ACTIONS(ACTION_CONF(RSS, &rss_func)), ENOTSUP, CONF, 0, "RSS func 2: " },
	{ ACTIONS(ACTION_CONF(RSS, &rss_asymmetric_key)), ENOTSUP, CONF, 0,
		"RSS func symmetric_toeplitz with this key: " },
	{ ACTIONS(ACTION_CONF(RSS, &rss_level)), ENOTSUP, CONF, 0, "RSS level 3: " },
	{ ACTIONS(ACTION_CONF(RSS, &rss_long_key)), ENOTSUP, CONF, 0, "RSS key of 52 bytes: " },
	{ ACTIONS(ACTION_CONF(RSS, &rss_null_key)), EINVAL, CONF, 0,
		"RSS key of 40 bytes at NULL: " },
	{ ACTIONS(ACTION_CONF(RSS, &rss_types)), ENOTSUP, CONF, 0, "RSS types 0x10: " },
	{ ACTIONS(ACTION_CONF(RSS, &rss_innermost)), ENOTSUP, CONF, 0, "RSS types 0x8000000000000: " },
	{ ACTIONS(ACTION_CONF(RSS, &rss_both_levels)), ENOTSUP, CONF, 0, "RSS types 0x4000000000000: " },
	{ ACTIONS(ACTION_CONF(RSS, &rss_no_queues)), EINVAL, CONF, 0, "RSS queues: there are none" },
	{ ACTIONS(ACTION_CONF(RSS, &rss_null_queues)), EINVAL, CONF, 0,
		"RSS queues: there are none" },
	{ ACTIONS(ACTION_CONF(RSS, &rss_many)), ENOTSUP, CONF, 0, "RSS queues: 9 are more" },
	{ ACTIONS(ACTION_CONF(RSS, &rss_missing)), EINVAL, CONF, 0,
		"RSS: Rx queue 4 does not exist" },
	{ ACTIONS(ACTION(VOID)), EINVAL, WHOLE, 0, "the actions say nothing of where" },
	{ ACTIONS(ACTION(COUNT)), EINVAL, WHOLE, 0, "the actions say nothing of where" },
	{ ACTIONS(ACTION(PASSTHRU)), EINVAL, WHOLE, 0, "PASSTHRU without QUEUE or RSS: " },
	{ ACTIONS(ACTION(COUNT), ACTION(PASSTHRU)), EINVAL, WHOLE, 1, "PASSTHRU without " },
	{ ACTIONS(QUEUE_3, ACTION(OF_POP_VLAN)), ENOTSUP, WHOLE, 1, "action OF_POP_VLAN: verbs takes no tags off" },
	{ ACTIONS({ .type = (enum rte_flow_action_type)4711 }), ENOTSUP, WHOLE, 0,
		"action 4711: " },
	{ ACTIONS(QUEUE_3, QUEUE_3), EINVAL, WHOLE, 1, "QUEUE 3 twice: " },
	{ ACTIONS(QUEUE_3, ACTION_CONF(RSS, &rss), QUEUE_3), EINVAL, WHOLE, 2, "QUEUE 3 twice: " },
	{ ACTIONS(QUEUE_3, ACTION_CONF(QUEUE, &queue_4)), EINVAL, CONF, 1,
		"QUEUE: Rx queue 4 does not exist" },
	{ ACTIONS(ACTION_CONF(SAMPLE, &sample_queue_1)), EINVAL, WHOLE, 0, "SAMPLE alone does not" },
	{ ACTIONS(ACTION_CONF(SAMPLE, &sample_queue_1), ACTION(DROP)), EINVAL, WHOLE, 1,
		"QUEUE with DROP: " },
	{ ACTIONS(ACTION(DROP), ACTION_CONF(SAMPLE, &sample_queue_1)), EINVAL, WHOLE, 1,
		"DROP with SAMPLE: " },
	{ ACTIONS(QUEUE_3, ACTION_CONF(SAMPLE, &sample_some)), ENOTSUP, CONF, 1,
		"SAMPLE ratio 2: the device copies every packet; use ratio 1" },
	{ ACTIONS(QUEUE_3, ACTION_CONF(SAMPLE, &sample_nothing)), EINVAL, CONF, 1,
		"SAMPLE: it has no actions" },
	{ ACTIONS(QUEUE_3, ACTION_CONF(SAMPLE, &sample_null)), EINVAL, CONF, 1,
		"SAMPLE: it has no actions" },
	{ ACTIONS(QUEUE_3, ACTION(SAMPLE)), EINVAL, CONF, 1, "SAMPLE: no configuration" },
};

/** The matrix, written down once more: x for two that may stand in one rule beside a fate. */
static const struct rte_flow_action members[] = {
	QUEUE_3, ACTION_CONF(RSS, &rss), ACTION(DROP), ACTION_CONF(MARK, &mark_0), ACTION(FLAG),
	ACTION(COUNT), ACTION(PASSTHRU),
};
static const char *const matrix[] = {
	/* Q R D M F C P */
	  "- x - x x x x", /* QUEUE: not the same one again */
	  "x - - x x x x", /* RSS */
	  "- - - - - x -", /* DROP */
	  "x x - - - x x", /* MARK */
	  "x x - - - x x", /* FLAG */
	  "x x x x x - x", /* COUNT */
	  "x x - x x x -", /* PASSTHRU */
};
/* clang-format on */

static void
test_effects(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(effects); i++) {
		const struct mdv_flow_actions *expected = &effects[i].expected;
		struct mdv_flow_actions actions;

		assert_int_equal(mdv_flow_action_parse(&env, effects[i].list, &actions, NULL), 0);
		assert_int_equal(actions.fate, expected->fate);
		assert_ptr_equal(actions.queues, expected->queues);
		assert_int_equal(actions.nb_queues, expected->nb_queues);
		assert_int_equal(actions.rss_types, expected->rss_types);
		assert_ptr_equal(actions.rss_key, expected->rss_key);
		assert_int_equal(actions.tag, expected->tag);
		assert_int_equal(actions.count, expected->count);
		assert_int_equal(actions.passthru, expected->passthru);
		assert_int_equal(actions.nb_extras, expected->nb_extras);
		assert_ptr_equal(actions.inner, expected->inner);
		for (unsigned int j = 0; j < actions.nb_extras; j++)
			assert_ptr_equal(actions.extras[j], expected->extras[j]);
	}
}

/** The driver's own key: two bytes that repeat. */
static void
test_symmetric(void **state)
{
	struct mdv_flow_actions actions;

	(void)state;
	assert_int_equal(mdv_flow_action_parse(
				 &env, ACTIONS(ACTION_CONF(RSS, &rss_symmetric)), &actions, NULL),
		0);
	assert_int_equal(actions.nb_queues, 4);
	for (unsigned int i = 0; i < 40; i++)
		assert_int_equal(actions.rss_key[i], i % 2 == 0 ? 0x6d : 0x5a);
}

/** An action inside of a SAMPLE cannot be named by its place in the list. */
static void
test_sample_refusals(void **state)
{
	struct rte_flow_error error = { .message = "" };
	struct mdv_flow_actions actions;

	(void)state;
	assert_int_equal(
		mdv_flow_action_parse(&env, ACTIONS(QUEUE_3, ACTION_CONF(SAMPLE, &sample_mark)),
			&actions, &error),
		-ENOTSUP);
	assert_string_equal(error.message,
		"SAMPLE with FLAG in it: a copy goes to QUEUE or RSS and nothing else");
	assert_ptr_equal(error.cause, &sample_mark.actions[1]);
	assert_int_equal(
		mdv_flow_action_parse(&env,
			ACTIONS(ACTION_CONF(SAMPLE, &sample_rss), ACTION_CONF(RSS, &rss_default)),
			&actions, &error),
		-EINVAL);
	assert_string_equal(
		error.message, "RSS with RSS: a rule has one fate; put all queues into one RSS");
}

/** The list without its SAMPLEs has the same effect. */
static void
test_flatten(void **state)
{
	struct mdv_flow_actions before, after;
	struct rte_flow_action *flat;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(effects); i++) {
		flat = mdv_flow_action_flatten(effects[i].list);
		assert_non_null(flat);
		assert_true(mdv_flow_action_is_flat(flat));
		assert_int_equal(mdv_flow_action_parse(&env, effects[i].list, &before, NULL), 0);
		assert_int_equal(mdv_flow_action_parse(&env, flat, &after, NULL), 0);
		assert_memory_equal(&before, &after, sizeof(before));
		for (unsigned int j = 0; flat[j].type != RTE_FLOW_ACTION_TYPE_END; j++)
			assert_int_not_equal(flat[j].type, RTE_FLOW_ACTION_TYPE_SAMPLE);
		free(flat);
	}
}

static void
test_refusals(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(refusals); i++) {
		const struct refusal *refusal = &refusals[i];
		const struct rte_flow_action *culprit = &refusal->list[refusal->culprit];
		const void *cause =
			refusal->type == CONF && culprit->conf != NULL ? culprit->conf : culprit;
		struct rte_flow_error error = { .message = "accepted" };
		struct mdv_flow_actions actions;
		int ret = mdv_flow_action_parse(&env, refusal->list, &actions, &error);

		if (ret != -refusal->code || error.type != refusal->type || error.cause != cause ||
			strncmp(error.message, refusal->message, strlen(refusal->message)) != 0)
			fail_msg("\"%s\" expected, got %d, type %d, \"%s\"", refusal->message, ret,
				error.type, error.message);
		assert_int_equal(
			mdv_flow_action_parse(&env, refusal->list, &actions, NULL), -refusal->code);
	}
}

static void
test_pairs(void **state)
{
	(void)state;
	for (unsigned int a = 0; a < RTE_DIM(members); a++) {
		for (unsigned int b = 0; b < RTE_DIM(members); b++) {
			/* If neither is a fate, QUEUE comes first. */
			const bool fate = a < 3 || b < 3;
			const struct rte_flow_action list[] = {
				fate ? (struct rte_flow_action)ACTION(VOID) : members[0],
				members[a],
				members[b],
				ACTION(END),
			};
			struct rte_flow_error error = { .message = "" };
			struct mdv_flow_actions actions;
			int ret = mdv_flow_action_parse(&env, list, &actions, &error);

			if ((ret == 0) != (matrix[a][2 * b] == 'x'))
				fail_msg("actions %u and %u: %d, %s", a, b, ret, error.message);
			if (ret != 0)
				assert_ptr_equal(error.cause, &list[2]);
		}
	}
}

static void
test_no_queues(void **state)
{
	const struct mdv_flow_action_env none = { .max_table = 8, .rss_key = port_key };
	struct rte_flow_error error = { .message = NULL };
	struct mdv_flow_actions actions;

	(void)state;
	assert_int_equal(mdv_flow_action_parse(&none, ACTIONS(QUEUE_3), &actions, &error), -EINVAL);
	assert_string_equal(
		error.message, "QUEUE: Rx queue 3 does not exist; the port has none configured");
}

/** The receive burst understands the translator's tags. */
static void
test_mark_tags(void **state)
{
	(void)state;
	assert_int_equal(mdv_mark_to_tag(0), 1);
	assert_int_equal(mdv_mark_to_tag(MDV_MARK_ID_MAX), 0xfffffe);
	assert_int_equal(mdv_mark_from_tag(mdv_mark_to_tag(0x1234)), 0x1234);
	assert_true(mdv_mark_to_tag(MDV_MARK_ID_MAX) < MDV_MARK_TAG_FLAG);
	assert_true(mdv_mark_to_tag(0) > MDV_MARK_TAG_NONE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_effects),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_symmetric),
		cmocka_unit_test(test_sample_refusals),
		cmocka_unit_test(test_flatten),
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_no_queues),
		cmocka_unit_test(test_mark_tags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
