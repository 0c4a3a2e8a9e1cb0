/* SPDX-License-Identifier: BSD-3-Clause */
/* Indirect actions by flow queues and in templates, on the fake context. */

#include <errno.h>
#include <string.h>

#include <rte_flow_driver.h>

#include "fake_verbs.h"
#include "flow_pull.h"

/* clang-format off */
static const struct rte_flow_actions_template_attr actions_attr = { .ingress = 1 };
static const struct rte_flow_op_attr now = { .postpone = 0 }, later = { .postpone = 1 };
static const struct rte_flow_action_queue queue_1 = { 1 }, queue_9 = { 9 };
/* clang-format on */

/** Two queues, an isolated port that is started. */
static void
set_up(void)
{
	const struct rte_flow_port_attr attr = { 0 };
	const struct rte_flow_queue_attr queue = { 6 };
	const struct rte_flow_queue_attr *queues[] = { &queue, &queue };

	fake_init_flow();
	fake.port.isolated = true;
	assert_int_equal(mdv_flow_ops.configure(&fake.dev, &attr, 2, queues, NULL), 0);
	assert_int_equal(mdv_flow_start(&fake.port), 0);
}

static void
tear_down(void)
{
	mdv_flow_fini(&fake.port);
	fake_assert_empty();
}

static int
take(uint32_t queue, const struct rte_flow_op_attr *attr, struct rte_flow *flow)
{
	return mdv_flow_async_destroy(&fake.dev, queue, attr, flow, flow, NULL);
}

static const struct rte_flow_indir_action_conf in = { .ingress = 1 };
static const struct rte_flow_action to_1 = ACTION_CONF(QUEUE, &queue_1);
static const struct rte_flow_action to_9 = ACTION_CONF(QUEUE, &queue_9);
static const struct rte_flow_action_queue queue_2 = { 2 };
static const struct rte_flow_action to_2 = ACTION_CONF(QUEUE, &queue_2);
static const struct rte_flow_action count = ACTION(COUNT);

static struct rte_flow_action_handle *
share(const struct rte_flow_op_attr *attr, const struct rte_flow_action *action)
{
	struct rte_flow_action_handle *handle = mdv_flow_async_action_create(
		&fake.dev, 0, attr, &in, action, (void *)(uintptr_t)action, NULL);

	assert_non_null(handle);
	return handle;
}

static int
unshare_later(struct rte_flow_action_handle *handle)
{
	return mdv_flow_async_action_destroy(&fake.dev, 0, &later, handle, handle, NULL);
}

static unsigned int
queue_at(unsigned int index)
{
	return fake_flow_at(index)->qp->table->queues[0];
}

/** Made, named, updated, queried and given back in one batch, in this order. */
static void
test_indirect(void **state)
{
	struct rte_flow_query_count answer = { .reset = 0 };
	struct rte_flow_action_handle *fate, *counter;
	const struct rte_flow_attr ingress = { .ingress = 1 };
	struct rte_flow *flow;

	(void)state;
	set_up();
	fate = share(&later, &to_1);
	counter = share(&now, &count);
	pull_one(0, &to_1, RTE_FLOW_OP_SUCCESS);
	pull_one(0, &count, RTE_FLOW_OP_SUCCESS);
	flow = mdv_flow_ops.create(&fake.dev, &ingress, PATTERN(ITEM(IPV4)),
		ACTIONS(ACTION_CONF(INDIRECT, fate), ACTION_CONF(INDIRECT, counter)), NULL);
	assert_non_null(flow);
	assert_int_equal(queue_at(0), 1);
	assert_int_equal(
		mdv_flow_async_action_update(&fake.dev, 0, &later, fate, &to_2, &answer, NULL), 0);
	assert_int_equal(
		mdv_flow_async_action_query(&fake.dev, 0, &later, counter, &answer, counter, NULL),
		0);
	assert_int_equal(unshare_later(fate), 0);
	assert_int_equal(take(0, &later, flow), 0);
	assert_int_equal(unshare_later(fate), 0);
	fake.hits = 5;
	assert_int_equal(queue_at(0), 1);
	assert_int_equal(mdv_flow_async_push(&fake.dev, 0, NULL), 0);
	pull_one(0, &answer, RTE_FLOW_OP_SUCCESS);
	pull_one(0, counter, RTE_FLOW_OP_SUCCESS);
	assert_int_equal(answer.hits, 5);
	pull_one(0, fate, RTE_FLOW_OP_ERROR); /* the rule was still there */
	pull_one(0, flow, RTE_FLOW_OP_SUCCESS);
	pull_one(0, fate, RTE_FLOW_OP_SUCCESS);
	pull_none(0);
	/* Pending operations are dropped at close; the counter goes with the port. */
	fate = share(&now, &to_1);
	assert_int_equal(
		mdv_flow_async_action_update(&fake.dev, 0, &later, fate, &to_2, NULL, NULL), 0);
	assert_int_equal(unshare_later(counter), 0);
	tear_down();
}

/** An impossible operation is refused when it is given, postponed or not. */
static void
test_indirect_refused(void **state)
{
	struct rte_flow_action_handle *fate;
	struct rte_flow_error error;
	struct rte_flow_query_count answer;

	(void)state;
	set_up();
	fate = share(&now, &to_1);
	pull_one(0, &to_1, RTE_FLOW_OP_SUCCESS);
	for (unsigned int i = 0; i < 2; i++) {
		const struct rte_flow_op_attr *attr = i == 0 ? &now : &later;

		assert_null(
			mdv_flow_async_action_create(&fake.dev, 0, attr, &in, &to_9, NULL, &error));
		assert_ptr_equal(error.cause, &queue_9);
		assert_null(
			mdv_flow_async_action_create(&fake.dev, 7, attr, &in, &to_1, NULL, NULL));
		assert_int_equal(
			mdv_flow_async_action_update(&fake.dev, 0, attr, fate, &to_9, NULL, NULL),
			-EINVAL);
		assert_int_equal(
			mdv_flow_async_action_update(&fake.dev, 0, attr, NULL, &to_1, NULL, NULL),
			-ENOENT);
		assert_int_equal(
			mdv_flow_async_action_query(&fake.dev, 0, attr, fate, &answer, NULL, NULL),
			-ENOTSUP);
		assert_int_equal(
			mdv_flow_async_action_query(&fake.dev, 0, attr, fate, NULL, NULL, NULL),
			-EINVAL);
		assert_int_equal(
			mdv_flow_async_action_destroy(&fake.dev, 0, attr, NULL, NULL, NULL),
			-ENOENT);
		assert_int_equal(
			mdv_flow_async_action_destroy(&fake.dev, 7, attr, fate, NULL, NULL),
			-EINVAL);
	}
	pull_none(0);
	tear_down();
}

/** A handle of the template's, and one of each rule's. */
static void
test_indirect_template(void **state)
{
	static const struct rte_flow_action_count any;
	const struct rte_flow_template_table_attr attr = { .flow_attr = { .ingress = 1 },
		.nb_flows = 9 };
	struct rte_flow_item_udp udp = { .hdr.dst_port = RTE_BE16(53) };
	const struct rte_flow_item pattern[] = { ITEM(IPV4), ITEM_SPEC(UDP, &udp), ITEM(END) };
	struct rte_flow_action_handle *counter, *one, *two;
	const struct rte_flow_pattern_template_attr pattern_attr = { .ingress = 1 };
	static const struct rte_flow_item_udp dst_mask = { .hdr.dst_port = RTE_BE16(0xffff) };
	struct rte_flow_pattern_template *form;
	struct rte_flow_actions_template *template;
	struct rte_flow_template_table *own;
	struct rte_flow_error error;
	struct rte_flow *flow;

	(void)state;
	set_up();
	counter = share(&now, &count);
	one = share(&now, &to_1);
	two = share(&now, &to_2);

	const struct rte_flow_action list[] = { ACTION_CONF(INDIRECT, counter),
		ACTION_CONF(INDIRECT, one), ACTION(END) };
	const struct rte_flow_action masks[] = { ACTION_CONF(INDIRECT, &any), ACTION(INDIRECT),
		ACTION(END) };
	const struct rte_flow_action wild[] = { ACTION(INDIRECT), ACTION_CONF(INDIRECT, one),
		ACTION(END) };

	assert_null(
		mdv_flow_ops.actions_template_create(&fake.dev, &actions_attr, wild, NULL, &error));
	assert_ptr_equal(error.cause, &wild[0]);
	template =
		mdv_flow_ops.actions_template_create(&fake.dev, &actions_attr, list, masks, NULL);
	form = mdv_flow_ops.pattern_template_create(&fake.dev, &pattern_attr,
		PATTERN(ITEM(IPV4), ITEM_MASK(UDP, NULL, &dst_mask)), NULL);
	assert_true(template != NULL && form != NULL);
	own = mdv_flow_ops.template_table_create(&fake.dev, &attr, &form, 1, &template, 1, NULL);
	assert_non_null(own);

	const struct rte_flow_action with_two[] = { ACTION(INDIRECT), ACTION_CONF(INDIRECT, two),
		ACTION(END) };
	const struct rte_flow_action with_none[] = { ACTION(INDIRECT), ACTION(INDIRECT),
		ACTION(END) };

	flow = mdv_flow_async_create(&fake.dev, 1, &now, own, pattern, 0, with_two, 0, NULL, NULL);
	assert_non_null(flow);
	assert_int_equal(queue_at(0), 2);
	assert_non_null(fake_flow_at(0)->counters);
	assert_null(mdv_flow_async_create(
		&fake.dev, 1, &now, own, pattern, 0, with_none, 0, NULL, &error));
	assert_ptr_equal(error.cause, &with_none[1]);
	assert_int_equal(mdv_flow_ops.action_handle_destroy(&fake.dev, counter, NULL), -EBUSY);
	assert_int_equal(mdv_flow_ops.action_handle_destroy(&fake.dev, two, NULL), -EBUSY);
	assert_int_equal(mdv_flow_ops.action_handle_destroy(&fake.dev, one, NULL), 0);
	assert_int_equal(take(1, &now, flow), 0);
	assert_int_equal(mdv_flow_ops.action_handle_destroy(&fake.dev, two, NULL), 0);
	tear_down();
}

/** The mask of an INDIRECT has the action's own type (rte_flow.h,
 * rte_flow_actions_template_create()), from which it is known without a handle. */
static void
test_indirect_template_by_type(void **state)
{
	static const struct rte_flow_action_count any;
	const struct rte_flow_template_table_attr attr = { .flow_attr = { .ingress = 1 },
		.nb_flows = 9 };
	const struct rte_flow_pattern_template_attr pattern_attr = { .ingress = 1 };
	const struct rte_flow_item pattern[] = { ITEM(IPV4), ITEM(END) };
	struct rte_flow_action list[] = { ACTION(INDIRECT), ACTION(INDIRECT), ACTION(END) };
	struct rte_flow_action given[] = { ACTION(INDIRECT), ACTION(INDIRECT), ACTION(END) };
	const struct rte_flow_action masks[] = { ACTION_CONF(COUNT, &any), ACTION(QUEUE),
		ACTION(END) };
	const struct rte_flow_action twice[] = { ACTION(COUNT), ACTION(COUNT), ACTION(END) };
	const struct rte_flow_action never[] = { ACTION(COUNT), ACTION(PASSTHRU), ACTION(END) };
	struct rte_flow_pattern_template *form;
	struct rte_flow_actions_template *template;
	struct rte_flow_template_table *table;
	struct rte_flow_error error;

	(void)state;
	set_up();
	assert_null(mdv_flow_ops.actions_template_create(
		&fake.dev, &actions_attr, list, twice, &error));
	assert_ptr_equal(error.cause, &list[1]);
	assert_null(mdv_flow_ops.actions_template_create(
		&fake.dev, &actions_attr, list, never, &error));
	assert_ptr_equal(error.cause, &never[1]);
	list[0].conf = share(&now, &count);
	given[1].conf = share(&now, &to_2);
	template =
		mdv_flow_ops.actions_template_create(&fake.dev, &actions_attr, list, masks, NULL);
	form = mdv_flow_ops.pattern_template_create(&fake.dev, &pattern_attr, pattern, NULL);
	assert_true(template != NULL && form != NULL);
	table = mdv_flow_ops.template_table_create(&fake.dev, &attr, &form, 1, &template, 1, NULL);
	assert_non_null(table);
	assert_non_null(
		mdv_flow_async_create(&fake.dev, 1, &now, table, pattern, 0, given, 0, NULL, NULL));
	assert_int_equal(queue_at(0), 2);
	assert_non_null(fake_flow_at(0)->counters);
	tear_down();
}

/** A rule that an update before it in the queue makes impossible is refused when it is done, which
 * is when it is given. The cause is what the application gave, and not the copy that goes. */
static void
test_refused_by_update(void **state)
{
	const struct rte_flow_pattern_template_attr pattern_attr = { .ingress = 1 };
	const struct rte_flow_template_table_attr attr = { .flow_attr = { .ingress = 1 },
		.nb_flows = 4 };
	const struct rte_flow_item pattern[] = { ITEM(IPV4), ITEM(END) };
	struct rte_flow_action actions[] = { ACTION(INDIRECT), ACTION_CONF(QUEUE, &queue_2),
		ACTION(END) };
	struct rte_flow_pattern_template *form;
	struct rte_flow_actions_template *template;
	struct rte_flow_template_table *table;
	struct rte_flow_error error = { .message = NULL };
	struct rte_flow_action_handle *fate;

	(void)state;
	set_up();
	fate = share(&now, &to_1);
	actions[0].conf = fate;
	form = mdv_flow_ops.pattern_template_create(&fake.dev, &pattern_attr, pattern, NULL);
	template = mdv_flow_ops.actions_template_create(
		&fake.dev, &actions_attr, actions, actions, NULL);
	assert_true(template != NULL && form != NULL);
	table = mdv_flow_ops.template_table_create(&fake.dev, &attr, &form, 1, &template, 1, NULL);
	assert_non_null(table);
	assert_int_equal(
		mdv_flow_async_action_update(&fake.dev, 0, &later, fate, &to_2, NULL, NULL), 0);
	assert_null(mdv_flow_async_create(
		&fake.dev, 0, &now, table, pattern, 0, actions, 0, NULL, &error));
	assert_int_equal(error.type, RTE_FLOW_ERROR_TYPE_ACTION);
	assert_ptr_equal(error.cause, &actions[1]);
	tear_down();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_indirect),
		cmocka_unit_test(test_indirect_refused),
		cmocka_unit_test(test_indirect_template),
		cmocka_unit_test(test_indirect_template_by_type),
		cmocka_unit_test(test_refused_by_update),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
