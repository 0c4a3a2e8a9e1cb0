/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations that rte_flow has in releases behind 22.11: each is there, and those that verbs has
 * nothing for refuse in words. */

#include <errno.h>
#include <string.h>

#include <rte_flow_driver.h>

#include "base/compat.h"
#include "fake_verbs.h"
#include "flow/flow.h"

/** A device gets the operations that its release looks for in it, and ethdev finds none NULL. */
static void
test_the_device_has_them(void **state)
{
	struct rte_eth_dev dev;

	(void)state;
	memset(&dev, 0, sizeof(dev));
	mdv_flow_set_ops(&dev);
#ifdef MDV_COMPAT_FLOW_FP_OPS
	const uint8_t *bytes = (const uint8_t *)dev.flow_fp_ops;
	size_t at;

	assert_non_null(bytes);
	/* Its members end with this one; what follows is padding of a cache line. */
	for (at = 0; at <= offsetof(struct rte_flow_fp_ops, async_action_list_handle_query_update);
		at += sizeof(void (*)(void))) {
		void (*op)(void);

		memcpy(&op, bytes + at, sizeof(op));
		if (op == NULL)
			fail_msg("operation %zu of rte_flow_fp_ops", at / sizeof(op));
	}
	assert_true(sizeof(struct rte_flow_fp_ops) - at < RTE_CACHE_LINE_SIZE);
#endif
}

#ifdef MDV_COMPAT_FLOW_LISTS
#ifdef MDV_COMPAT_FLOW_FP_OPS
#define ASYNC(op) fake.dev.flow_fp_ops->op
#else
#define ASYNC(op) mdv_flow_ops.op
#endif

static struct rte_flow_error error;
static const struct rte_flow_op_attr later = { .postpone = 1 };
static const struct rte_flow_indir_action_conf in = { .ingress = 1 };
static const struct rte_flow_action_queue queue_1 = { 1 }, queue_2 = { 2 };
static const struct rte_flow_action to_1 = ACTION_CONF(QUEUE, &queue_1);
static const struct rte_flow_action to_2 = ACTION_CONF(QUEUE, &queue_2);
static const struct rte_flow_action count = ACTION(COUNT);
static struct rte_flow_action actions[] = { ACTION(DROP), ACTION(END) };
static struct rte_flow_item pattern[] = { ITEM(ETH), ITEM(END) };
/* Something to point at: the refusals read none of it. */
static char thing;
#define TABLE  ((struct rte_flow_template_table *)&thing)
#define FLOW   ((struct rte_flow *)&thing)
#define HANDLE ((struct rte_flow_action_list_handle *)&thing)

static int
code_of(const void *made)
{
	assert_null(made);
	return -rte_errno;
}

static int
by_index(void)
{
	return code_of(ASYNC(async_create_by_index)(
		&fake.dev, 0, &later, TABLE, 0, actions, 0, NULL, &error));
}

static int
actions_update(void)
{
	return mdv_flow_ops.actions_update(&fake.dev, FLOW, actions, &error);
}

static int
async_actions_update(void)
{
	return ASYNC(async_actions_update)(&fake.dev, 0, &later, FLOW, actions, 0, NULL, &error);
}

static int
list_create(void)
{
	return code_of(mdv_flow_ops.action_list_handle_create(&fake.dev, &in, actions, &error));
}

static int
async_list_create(void)
{
	return code_of(ASYNC(async_action_list_handle_create)(
		&fake.dev, 0, &later, &in, actions, NULL, &error));
}

static int
list_destroy(void)
{
	return mdv_flow_ops.action_list_handle_destroy(&fake.dev, HANDLE, &error);
}

static int
async_list_destroy(void)
{
	return ASYNC(async_action_list_handle_destroy)(&fake.dev, 0, &later, HANDLE, NULL, &error);
}

static int
list_query_update(void)
{
	return mdv_flow_ops.action_list_handle_query_update(
		&fake.dev, HANDLE, NULL, NULL, RTE_FLOW_QU_QUERY_FIRST, &error);
}

static int
async_list_query_update(void)
{
	return ASYNC(async_action_list_handle_query_update)(
		&fake.dev, 0, &later, HANDLE, NULL, NULL, RTE_FLOW_QU_QUERY_FIRST, NULL, &error);
}

static int
miss_actions(void)
{
	static const struct rte_flow_group_attr attr = { .ingress = 1 };

	return mdv_flow_ops.group_set_miss_actions(&fake.dev, 0, &attr, actions, &error);
}

static int
table_hash(void)
{
	uint32_t hash;

	return mdv_flow_ops.flow_calc_table_hash(&fake.dev, TABLE, pattern, 0, &hash, &error);
}

#ifdef MDV_COMPAT_FLOW_FP_OPS
static int
by_index_with_pattern(void)
{
	return code_of(ASYNC(async_create_by_index_with_pattern)(
		&fake.dev, 0, &later, TABLE, 0, pattern, 0, actions, 0, NULL, &error));
}

static int
encap_hash(void)
{
	uint8_t hash[2];

	return mdv_flow_ops.flow_calc_encap_hash(
		&fake.dev, pattern, RTE_FLOW_ENCAP_HASH_FIELD_SRC_PORT, hash, &error);
}

static const struct rte_flow_template_table_attr resizable_attr = {
	.flow_attr = { .ingress = 1 },
	.nb_flows = 1,
	.specialize = RTE_FLOW_TABLE_SPECIALIZE_RESIZABLE,
};

static int
resizable(void)
{
	struct rte_flow_pattern_template *patterns[] = { (void *)&thing };
	struct rte_flow_actions_template *made_of[] = { (void *)&thing };

	return code_of(mdv_flow_ops.template_table_create(
		&fake.dev, &resizable_attr, patterns, 1, made_of, 1, &error));
}

static int
resize(void)
{
	return mdv_flow_ops.flow_template_table_resize(&fake.dev, TABLE, 100, &error);
}

static int
update_resized(void)
{
	return mdv_flow_ops.flow_update_resized(&fake.dev, 0, &later, FLOW, NULL, &error);
}

static int
resize_complete(void)
{
	return mdv_flow_ops.flow_template_table_resize_complete(&fake.dev, TABLE, &error);
}
#endif

/* clang-format off */
static const struct {
	int (*call)(void);
	const void *cause;
	const char *start;
} cases[] = {
	{ by_index, TABLE, "rules by index: " },
	{ actions_update, FLOW, "update of actions: " },
	{ async_actions_update, FLOW, "update of actions: " },
	{ list_create, actions, "lists of indirect actions: " },
	{ async_list_create, actions, "lists of indirect actions: " },
	{ list_destroy, HANDLE, "lists of indirect actions: " },
	{ async_list_destroy, HANDLE, "lists of indirect actions: " },
	{ list_query_update, HANDLE, "lists of indirect actions: " },
	{ async_list_query_update, HANDLE, "lists of indirect actions: " },
	{ miss_actions, actions, "misses of a group: " },
	{ table_hash, TABLE, "hash in a table: " },
#ifdef MDV_COMPAT_FLOW_FP_OPS
	{ by_index_with_pattern, TABLE, "rules by index: " },
	{ encap_hash, pattern, "hash of an encapsulation: " },
	{ resizable, &resizable_attr, "a template table that can be resized: " },
	{ resize, TABLE, "size of a table: " },
	{ update_resized, FLOW, "rule of a resized table: " },
	{ resize_complete, TABLE, "size of a table: " },
#endif
};
/* clang-format on */

static void
test_each_refuses(void **state)
{
	(void)state;
	fake_init_flow();
	mdv_flow_set_ops(&fake.dev);
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		memset(&error, 0, sizeof(error));
		assert_int_equal(cases[i].call(), -ENOTSUP);
		assert_ptr_equal(error.cause, cases[i].cause);
		assert_memory_equal(error.message, cases[i].start, strlen(cases[i].start));
		assert_non_null(strchr(error.message, ';'));
	}
	fake_assert_empty();
	mdv_flow_fini(&fake.port);
}

static int
query_update(struct rte_flow_action_handle *handle, const void *update, void *query)
{
	return mdv_flow_ops.action_handle_query_update(
		&fake.dev, handle, update, query, RTE_FLOW_QU_QUERY_FIRST, &error);
}

static int
async_query_update(struct rte_flow_action_handle *handle, const void *update, void *query)
{
	const struct rte_flow_op_attr now = { .postpone = 0 };
	struct rte_flow_op_result result;
	int ret = ASYNC(async_action_handle_query_update)(&fake.dev, 0, &now, handle, update, query,
		RTE_FLOW_QU_UPDATE_FIRST, handle, &error);

	assert_int_equal(ASYNC(pull)(&fake.dev, 0, &result, 1, NULL), ret == 0 ? 1 : 0);
	if (ret == 0) {
		assert_int_equal(result.status, RTE_FLOW_OP_SUCCESS);
		assert_ptr_equal(result.user_data, handle);
	}
	return ret;
}

/** One of the two is done as by its own operation; both at once fit no action. */
static void
test_query_update(void **state)
{
	static const struct rte_flow_queue_attr size = { 8 };
	static const struct rte_flow_queue_attr *const sizes[] = { &size };
	int (*const ways[])(struct rte_flow_action_handle * handle, const void *update,
		void *query) = { query_update, async_query_update };
	struct rte_flow_action_handle *counter, *fate;

	(void)state;
	fake_init_flow();
	mdv_flow_set_ops(&fake.dev);
	assert_int_equal(mdv_flow_ops.configure(&fake.dev, &(struct rte_flow_port_attr){ 0 }, 1,
				 (const struct rte_flow_queue_attr **)(uintptr_t)sizes, NULL),
		0);
	counter = mdv_flow_ops.action_handle_create(&fake.dev, &in, &count, NULL);
	fate = mdv_flow_ops.action_handle_create(&fake.dev, &in, &to_1, NULL);
	for (unsigned int i = 0; i < RTE_DIM(ways); i++) {
		struct rte_flow_query_count answer = { 0 };

		assert_int_equal(ways[i](fate, &to_2, NULL), 0);
		assert_int_equal(ways[i](counter, NULL, &answer), 0);
		assert_int_equal(ways[i](fate, NULL, &answer), -ENOTSUP);
		assert_int_equal(ways[i](counter, &count, NULL), -ENOTSUP);
		memset(&error, 0, sizeof(error));
		assert_int_equal(ways[i](counter, &count, &answer), -ENOTSUP);
		assert_non_null(strstr(error.message, "query and update at once: "));
		assert_ptr_equal(error.cause, &count);
	}
	mdv_flow_fini(&fake.port);
}
#endif

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_device_has_them),
#ifdef MDV_COMPAT_FLOW_LISTS
		cmocka_unit_test(test_each_refuses),
		cmocka_unit_test(test_query_update),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
