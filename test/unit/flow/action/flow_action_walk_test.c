/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Walks every row of the actions' table: it has rte_flow's name; the action is accepted with its
 * smallest and its full configuration, or refused by its name wherever it stands; and its
 * repetition is defined.
 */

#include <errno.h>
#include <string.h>

#include <rte_flow_driver.h>

#include "fake_verbs.h"
#include "flow/action/flow_action_row.h"

static const uint8_t port_key[40] = { 1 }, own_key[40] = { 2 };
static const uint16_t queues[4] = { 0, 1, 2, 3 };
static const struct mdv_flow_action_env env = {
	.nb_queues = 4,
	.max_table = 8,
	.rss_types = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP,
	.rss_key = port_key,
};

/* clang-format off */
static const struct rte_flow_action_queue queue_0 = { 0 }, queue_2 = { 2 }, queue_3 = { 3 };
static const struct rte_flow_action_mark mark_full = { 0xfffffd };
static const struct rte_flow_action_count count_full = { UINT32_MAX };
static const struct rte_flow_action_rss rss_least = { .queue_num = 1, .queue = queues };
static const struct rte_flow_action_rss rss_full = { .func = RTE_ETH_HASH_FUNCTION_TOEPLITZ,
	.level = 1, .types = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP, .key_len = 40, .key = own_key,
	.queue_num = 4, .queue = queues };
static const struct rte_flow_action_mark mark_least = { 0 };
static const struct rte_flow_action_sample sample_least = { 1,
	ACTIONS(ACTION_CONF(QUEUE, &queue_2)) };
static const struct rte_flow_action_sample sample_full = { 1,
	ACTIONS(ACTION_CONF(QUEUE, &queue_3), ACTION_CONF(RSS, &rss_full)) };

static struct rte_flow_action shared_count = ACTION(COUNT);
static struct rte_flow_action shared_mark = ACTION_CONF(MARK, &mark_full);
static const struct rte_flow_action_handle by_count = { .action = &shared_count };
static const struct rte_flow_action_handle by_mark = { .action = &shared_mark };

/** The supported actions, with their smallest and their full configuration. */
static const struct done {
	enum rte_flow_action_type type;
	const void *least, *full;
	bool alone; /* no QUEUE beside it */
	bool twice; /* with both configurations in one rule */
} done[] = {
	{ RTE_FLOW_ACTION_TYPE_PASSTHRU, NULL, NULL, false, false },
	{ RTE_FLOW_ACTION_TYPE_MARK, &mark_least, &mark_full, false, false },
	{ RTE_FLOW_ACTION_TYPE_FLAG, NULL, NULL, false, false },
	{ RTE_FLOW_ACTION_TYPE_QUEUE, &queue_0, &queue_3, true, true },
	{ RTE_FLOW_ACTION_TYPE_DROP, NULL, NULL, true, false },
	{ RTE_FLOW_ACTION_TYPE_COUNT, NULL, &count_full, false, false },
	{ RTE_FLOW_ACTION_TYPE_RSS, &rss_least, &rss_full, false, false },
	{ RTE_FLOW_ACTION_TYPE_SAMPLE, &sample_least, &sample_full, false, true },
	{ RTE_FLOW_ACTION_TYPE_INDIRECT, &by_count, &by_mark, false, true },
};
/* clang-format on */

static struct rte_flow_error error;

static int
parse(const struct rte_flow_action *list)
{
	struct mdv_flow_actions actions;

	memset(&error, 0, sizeof(error));
	error.message = "";
	return mdv_flow_action_parse(&env, list, &actions, &error);
}

static bool
message_begins(const char *name, const char *rest)
{
	const size_t length = strlen(name);

	return strncmp(error.message, name, length) == 0 &&
		strncmp(error.message + length, rest, strlen(rest)) == 0;
}

/** SHARED, METER_COLOR and SKIP_CMAN have no name there, nor has a number beyond the table. */
static void
test_names(void **state)
{
	unsigned int named = 0;

	(void)state;
	for (unsigned int type = 0; type <= MDV_FLOW_ACTION_ROWS; type++) {
		const char *name = NULL;
		int ret = rte_flow_conv(RTE_FLOW_CONV_OP_ACTION_NAME_PTR, &name, sizeof(name),
			(const void *)(uintptr_t)type, NULL);

		if (type == MDV_FLOW_ACTION_ROWS) {
			assert_true(ret <= 0);
			continue;
		}
		assert_non_null(mdv_flow_action_rows[type].name);
		assert_string_equal(mdv_flow_action_name(type), mdv_flow_action_rows[type].name);
		if (ret <= 0 || name == NULL)
			continue;
		named++;
		assert_string_equal(mdv_flow_action_rows[type].name, name);
	}
	assert_true(named >= MDV_FLOW_ACTION_ROWS - 3);
}

static void
test_done(void **state)
{
	unsigned int nb = 0;

	(void)state;
	/* Actions that change packets: flow_modify_test.c. */
	for (unsigned int type = 0; type < MDV_FLOW_ACTION_ROWS; type++)
		nb += mdv_flow_action_rows[type].apply != NULL &&
			mdv_flow_action_rows[type].modify == MDV_FLOW_MODIFY_NONE;
	assert_int_equal(nb, RTE_DIM(done));
	for (unsigned int i = 0; i < RTE_DIM(done); i++) {
		struct rte_flow_action list[] = {
			done[i].alone ? (struct rte_flow_action)ACTION(VOID)
				      : (struct rte_flow_action)ACTION_CONF(QUEUE, &queue_0),
			{ .type = done[i].type, .conf = done[i].least },
			ACTION(VOID),
			ACTION(END),
		};
		const char *name = mdv_flow_action_name(done[i].type);

		if (parse(list) != 0)
			fail_msg("%s: %s", name, error.message);
		list[1].conf = done[i].full;
		if (parse(list) != 0)
			fail_msg("%s: %s", name, error.message);
		list[2] = (struct rte_flow_action){ .type = done[i].type, .conf = done[i].least };
		assert_int_equal(parse(list), done[i].twice ? 0 : -EINVAL);
		if (!done[i].twice)
			assert_ptr_equal(error.cause, &list[2]);
	}
}

/** Actions whose configuration rte_flow requires. */
static void
test_no_configuration(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(done); i++) {
		const struct rte_flow_action list[] = {
			{ .type = done[i].type },
			ACTION(END),
		};
		const char *name = mdv_flow_action_name(done[i].type);

		assert_int_equal(
			mdv_flow_action_rows[done[i].type].needs_conf, done[i].least != NULL);
		if (done[i].least == NULL)
			continue;
		assert_int_equal(parse(list), -EINVAL);
		assert_true(message_begins(name, ": no configuration; it needs one"));
		assert_ptr_equal(error.cause, &list[0]);
		assert_int_equal(error.type, RTE_FLOW_ERROR_TYPE_ACTION_CONF);
	}
}

static void
expect_refused(const struct rte_flow_action *list, const struct rte_flow_action *culprit)
{
	const struct mdv_flow_action_row *row = &mdv_flow_action_rows[culprit->type];
	char start[64];

	assert_int_equal(parse(list), -ENOTSUP);
	assert_ptr_equal(error.cause, culprit);
	assert_int_equal(error.type, RTE_FLOW_ERROR_TYPE_ACTION);
	snprintf(start, sizeof(start), "action %s: ", row->name);
	assert_true(message_begins(start, row->instead));
	/* what is not possible; what would be */
	assert_non_null(strchr(row->instead, ';'));
}

/** Refused by name, with and without a configuration, which is not read; first, last and in a
 * SAMPLE. */
static void
test_refused(void **state)
{
	unsigned int refused = 0, modifies = 0;

	(void)state;
	for (unsigned int type = 0; type < MDV_FLOW_ACTION_ROWS; type++) {
		struct rte_flow_action culprit = { .type = type };
		struct rte_flow_action_sample sample = { 1, NULL };
		struct rte_flow_action list[] = { ACTION_CONF(QUEUE, &queue_0), ACTION(VOID),
			ACTION(END) };
		struct rte_flow_action inside[] = { culprit, ACTION(END) };

		modifies += mdv_flow_action_rows[type].modify != MDV_FLOW_MODIFY_NONE;
		if (type == RTE_FLOW_ACTION_TYPE_END || type == RTE_FLOW_ACTION_TYPE_VOID ||
			mdv_flow_action_rows[type].apply != NULL)
			continue;
		refused++;
		list[1] = culprit;
		expect_refused(list, &list[1]);
		list[1].conf = (const void *)1;
		expect_refused(list, &list[1]);
		list[0] = culprit;
		expect_refused(list, &list[0]);
		sample.actions = inside;
		list[0] = (struct rte_flow_action)ACTION_CONF(SAMPLE, &sample);
		assert_int_equal(parse(list), -ENOTSUP);
		assert_ptr_equal(error.cause, &inside[0]);
		assert_true(message_begins("SAMPLE with ", mdv_flow_action_name(type)));
	}
	assert_int_equal(refused, MDV_FLOW_ACTION_ROWS - 2 - RTE_DIM(done) - modifies);
}

/** Numbers that this rte_flow lacks, including those that drivers use among themselves. */
static void
test_unknown(void **state)
{
	static const int types[] = { MDV_FLOW_ACTION_ROWS, 4711, INT32_MAX, INT32_MIN, -1 };

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(types); i++) {
		const struct rte_flow_action list[] = {
			{ .type = (enum rte_flow_action_type)types[i] },
			ACTION(END),
		};
		char start[32];

		snprintf(start, sizeof(start), "action %d: ", types[i]);
		assert_int_equal(parse(list), -ENOTSUP);
		assert_ptr_equal(error.cause, &list[0]);
		assert_true(message_begins(start, ""));
		assert_string_equal(mdv_flow_action_name(list[0].type), "unknown");
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_done),
		cmocka_unit_test(test_no_configuration),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
