/* SPDX-License-Identifier: BSD-3-Clause */
/* Flow queues on the fake context: batches, results, limits, refusals, threads. */

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <rte_flow_driver.h>

#include "fake_verbs.h"
#include "flow_pull.h"

#define QUEUE_SIZE 6

/* clang-format off */
static const struct rte_flow_pattern_template_attr pattern_attr = { .ingress = 1 };
static const struct rte_flow_actions_template_attr actions_attr = { .ingress = 1 };
static const struct rte_flow_op_attr now = { .postpone = 0 }, later = { .postpone = 1 };
static const struct rte_flow_item_udp dst_mask = { .hdr.dst_port = RTE_BE16(0xffff) };
static const struct rte_flow_action_queue queue_1 = { 1 }, queue_9 = { 9 };
static const struct rte_flow_action_mark mark_7 = { 7 };
#define UDP_DST	PATTERN(ITEM(IPV4), ITEM_MASK(UDP, NULL, &dst_mask))
/* clang-format on */

static struct rte_flow_pattern_template *patterns[1];
static struct rte_flow_actions_template *actions[2]; /* queue; drop, count */
static struct rte_flow_template_table *table;

static int
configure(unsigned int nb_queues, uint32_t size)
{
	const struct rte_flow_port_attr attr = { 0 };
	const struct rte_flow_queue_attr queue = { size };
	const struct rte_flow_queue_attr *queues[] = { &queue, &queue, &queue, &queue };

	return mdv_flow_ops.configure(&fake.dev, &attr, nb_queues, queues, NULL);
}

static void
make_table(uint32_t nb_rules)
{
	const struct rte_flow_template_table_attr attr = {
		.flow_attr = { .ingress = 1, .priority = 2 }, .nb_flows = nb_rules
	};

	patterns[0] = mdv_flow_ops.pattern_template_create(&fake.dev, &pattern_attr, UDP_DST, NULL);
	actions[0] = mdv_flow_ops.actions_template_create(&fake.dev, &actions_attr,
		ACTIONS(ACTION(QUEUE), ACTION_CONF(MARK, &mark_7)),
		ACTIONS(ACTION(QUEUE), ACTION_CONF(MARK, &mark_7)), NULL);
	actions[1] = mdv_flow_ops.actions_template_create(&fake.dev, &actions_attr,
		ACTIONS(ACTION(DROP), ACTION(COUNT)), ACTIONS(ACTION(DROP), ACTION(COUNT)), NULL);
	assert_non_null(patterns[0]);
	assert_non_null(actions[0]);
	assert_non_null(actions[1]);
	table = mdv_flow_ops.template_table_create(&fake.dev, &attr, patterns, 1, actions, 2, NULL);
	assert_non_null(table);
}

/** Two queues, a table, an isolated port that is started. */
static void
set_up(uint32_t nb_rules)
{
	fake_init_flow();
	fake.port.isolated = true;
	assert_int_equal(configure(2, QUEUE_SIZE), 0);
	make_table(nb_rules);
	assert_int_equal(mdv_flow_start(&fake.port), 0);
}

static void
tear_down(void)
{
	fake_arm(0, 0);
	mdv_flow_fini(&fake.port);
	fake_assert_empty();
}

/** UDP to @p port goes to queue 1; the port is also the user data. */
static struct rte_flow *
give(uint32_t queue, const struct rte_flow_op_attr *attr, uint16_t port,
	struct rte_flow_error *error)
{
	struct rte_flow_item_udp udp = { .hdr.dst_port = rte_cpu_to_be_16(port) };
	const struct rte_flow_item pattern[] = { ITEM(IPV4), ITEM_SPEC(UDP, &udp), ITEM(END) };
	const struct rte_flow_action list[] = { ACTION_CONF(QUEUE, &queue_1), ACTION(MARK),
		ACTION(END) };

	return mdv_flow_async_create(
		&fake.dev, queue, attr, table, pattern, 0, list, 0, (void *)(uintptr_t)port, error);
}

static int
take(uint32_t queue, const struct rte_flow_op_attr *attr, struct rte_flow *flow,
	struct rte_flow_error *error)
{
	return mdv_flow_async_destroy(&fake.dev, queue, attr, flow, flow, error);
}

static void
push(uint32_t queue)
{
	assert_int_equal(mdv_flow_async_push(&fake.dev, queue, NULL), 0);
}

#define PORT(n)       ((void *)(uintptr_t)(n))
#define SUCCESS(q, d) pull_one(q, d, RTE_FLOW_OP_SUCCESS)
#define ERROR(q, d)   pull_one(q, d, RTE_FLOW_OP_ERROR)

static void
test_info(void **state)
{
	struct rte_flow_port_info port;
	struct rte_flow_queue_info queue = { 0 };

	(void)state;
	fake_init_flow();
	assert_int_equal(mdv_flow_ops.info_get(&fake.dev, &port, &queue, NULL), 0);
	assert_int_equal(port.max_nb_queues, RTE_MAX_LCORE);
	assert_int_equal(port.max_nb_counters, 16 * 65536);
	assert_int_equal(port.max_nb_aging_objects, 0);
	assert_int_equal(port.max_nb_meters, 0);
	assert_int_equal(port.max_nb_conn_tracks, 0);
	assert_int_equal(port.supported_flags, RTE_FLOW_PORT_FLAG_STRICT_QUEUE);
	assert_int_equal(queue.max_size, 32768);
	assert_int_equal(mdv_flow_ops.info_get(&fake.dev, &port, NULL, NULL), 0);
	tear_down();
}

static void
test_configure(void **state)
{
	/* clang-format off */
	static const struct {
		struct rte_flow_port_attr attr;
		unsigned int nb_queues;
		uint32_t size;
		int ret;
		const char *message;
	} cases[] = {
		{ { 0 }, 0, 1, 0, NULL },
		{ { .nb_counters = 1000 }, 1, 1, 0, NULL },
		{ { .flags = RTE_FLOW_PORT_FLAG_STRICT_QUEUE }, 4, 32768, 0, NULL },
		{ { 0 }, RTE_MAX_LCORE + 1, 1, -ENOTSUP, "129 flow queues: the port has 128" },
		{ { .nb_counters = 1u << 30 }, 1, 1, -ENOTSUP, "1073741824 counters: the port" },
		{ { .nb_aging_objects = 1 }, 1, 1, -ENOTSUP, "1 aging objects: the port has 0" },
		{ { .nb_meters = 2 }, 1, 1, -ENOTSUP, "2 meters: the port has 0" },
		{ { .nb_conn_tracks = 3 }, 1, 1, -ENOTSUP, "3 connection trackings: the port" },
#ifdef MDV_COMPAT_FLOW_LISTS
		{ { .nb_quotas = 4 }, 1, 1, -ENOTSUP, "4 quotas: the port has 0" },
#endif
		{ { .flags = 3 }, 1, 1, -ENOTSUP, "2 unknown flags" },
		{ { 0 }, 1, 32769, -ENOTSUP, "flow queue 0 of size 32769: a queue holds 32768" },
	};
	/* clang-format on */
	const struct rte_flow_queue_attr *none[] = { NULL };

	(void)state;
	fake_init_flow();
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		const struct rte_flow_queue_attr queue = { cases[i].size };
		const struct rte_flow_queue_attr *queues[] = { &queue, &queue, &queue, &queue };
		struct rte_flow_error error = { .message = NULL };

		assert_int_equal(mdv_flow_ops.configure(&fake.dev, &cases[i].attr,
					 cases[i].nb_queues, queues, &error),
			cases[i].ret);
		if (cases[i].message != NULL)
			assert_memory_equal(
				error.message, cases[i].message, strlen(cases[i].message));
	}
	assert_int_equal(mdv_flow_ops.configure(&fake.dev, &cases[0].attr, 1, none, NULL), -EINVAL);
	/* The four queues still exist: refused calls have changed nothing. */
	assert_int_equal(mdv_flow_async_push(&fake.dev, 3, NULL), 0);
	assert_int_equal(mdv_flow_async_push(&fake.dev, 4, NULL), -EINVAL);
	for (unsigned int nth = 1; nth <= 3; nth++) {
		fake_arm(nth, ENOMEM);
		assert_int_equal(configure(2, 4), -ENOMEM);
	}
	fake_arm(0, 0);
	assert_int_equal(mdv_flow_async_push(&fake.dev, 3, NULL), 0);
	assert_int_equal(configure(2, 4), 0);
	assert_int_equal(mdv_flow_async_push(&fake.dev, 3, NULL), -EINVAL);
	tear_down();
}

/** Size 0 is the driver's choice. */
static void
test_default_size(void **state)
{
	unsigned int nb = 0;

	(void)state;
	fake_init_flow();
	assert_int_equal(configure(1, 0), 0);
	make_table(2000);
	while (give(0, &later, nb, NULL) != NULL)
		nb++;
	assert_int_equal(rte_errno, EAGAIN);
	assert_int_equal(nb, 1024);
	tear_down();
}

/** No rule enters the device before the push, and one push installs all. */
static void
test_batch(void **state)
{
	struct rte_flow_op_result results[4];
	struct rte_flow *flow;

	(void)state;
	set_up(10);
	flow = give(0, &later, 53, NULL);
	assert_non_null(flow);
	assert_non_null(give(0, &later, 54, NULL));
	assert_non_null(give(1, &later, 55, NULL));
	pull_none(0);
	fake_assert_empty();
	push(0);
	assert_int_equal(fake.nb_flows, 2);
	assert_int_equal(fake_flow_at(0)->qp->table->queues[0], 1);
	fake_assert_bytes("rule", &fake_flow_at(0)->build.bytes[20],
		fake_flow_at(0)->build.attr.size - 20,
		HEX_ANY_IPV4 HEX_UDP("0035 0000", "ffff 0000") HEX_TAG("08000000"));
	assert_int_equal(mdv_flow_async_pull(&fake.dev, 0, results, 4, NULL), 2);
	assert_ptr_equal(results[0].user_data, PORT(53));
	assert_ptr_equal(results[1].user_data, PORT(54));
	assert_int_equal(results[1].status, RTE_FLOW_OP_SUCCESS);
	/* An operation without postpone pushes those before it. */
	assert_non_null(give(1, &now, 56, NULL));
	assert_int_equal(fake.nb_flows, 4);
	SUCCESS(1, PORT(55));
	SUCCESS(1, PORT(56));
	pull_none(1);
	assert_int_equal(take(0, &later, flow, NULL), 0);
	assert_int_equal(fake.nb_flows, 4);
	push(0);
	assert_int_equal(fake.nb_flows, 3);
	SUCCESS(0, flow);
	push(0);
	pull_none(0);
	tear_down();
}

/** Rules of queues are rules like others: they outlive a stop, count, and can be destroyed. */
static void
test_like_others(void **state)
{
	const struct rte_flow_action count = ACTION(COUNT);
	const struct rte_flow_attr attr = { .ingress = 1 };
	struct rte_flow_query_count answer = { 0 };
	struct rte_flow *flow, *plain;

	(void)state;
	set_up(10);
	mdv_flow_stop(&fake.port);
	assert_non_null(give(0, NULL, 53, NULL));
	SUCCESS(0, PORT(53));
	fake_assert_empty();
	assert_int_equal(mdv_flow_start(&fake.port), 0);
	assert_int_equal(fake.nb_flows, 1);
	flow = mdv_flow_async_create(&fake.dev, 0, &now, table,
		PATTERN(ITEM(IPV4), ITEM_SPEC(UDP, &dst_mask)), 0,
		ACTIONS(ACTION(DROP), ACTION(COUNT)), 1, NULL, NULL);
	assert_non_null(flow);
	SUCCESS(0, NULL);
	fake.hits = 3;
	assert_int_equal(mdv_flow_ops.query(&fake.dev, flow, &count, &answer, NULL), 0);
	assert_int_equal(answer.hits, 3);
	assert_int_equal(mdv_flow_ops.destroy(&fake.dev, flow, NULL), 0);
	assert_int_equal(fake.nb_flows, 1);
	/* And the other way round. */
	plain = mdv_flow_ops.create(
		&fake.dev, &attr, PATTERN(ITEM(ETH)), ACTIONS(ACTION(DROP)), NULL);
	assert_int_equal(take(1, &now, plain, NULL), 0);
	SUCCESS(1, plain);
	assert_int_equal(fake.nb_flows, 1);
	tear_down();
}

static void
test_full(void **state)
{
	struct rte_flow_error error;

	(void)state;
	set_up(100);
	for (unsigned int round = 0; round < 3; round++) {
		struct rte_flow *first = NULL;

		for (unsigned int i = 0; i < QUEUE_SIZE; i++) {
			struct rte_flow *flow = give(0, &later, 100 * round + i, &error);

			assert_non_null(flow);
			first = first != NULL ? first : flow;
		}
		assert_null(give(0, &later, 1, &error));
		assert_int_equal(rte_errno, EAGAIN);
		assert_string_equal(error.message,
			"flow queue 0 holds 6 operations and is full; push and pull it");
		push(0);
		/* Results take up room until they are pulled. */
		assert_null(give(0, &now, 1, &error));
		assert_int_equal(take(0, &now, first, &error), -EAGAIN);
		SUCCESS(0, PORT(100 * round));
		assert_int_equal(take(0, &now, first, &error), 0);
		for (unsigned int i = 1; i < QUEUE_SIZE; i++)
			SUCCESS(0, PORT(100 * round + i));
		SUCCESS(0, first);
		pull_none(0);
	}
	assert_int_equal(fake.nb_flows, 3 * (QUEUE_SIZE - 1));
	tear_down();
}

static void
test_table(void **state)
{
	const struct rte_flow_template_table_attr good = { { .ingress = 1 }, 1 };
	const struct rte_flow_template_table_attr group = { { .ingress = 1, .group = 1 }, 1 };
	const struct rte_flow_template_table_attr empty = { { .ingress = 1 }, 0 };
	struct rte_flow_pattern_template *no_pattern[] = { NULL };
	struct rte_flow_error error;
	struct rte_flow *flow;

	(void)state;
	set_up(2);
	flow = give(0, &later, 1, NULL);
	assert_non_null(give(1, &later, 2, NULL));
	assert_null(give(0, &later, 3, &error));
	assert_int_equal(rte_errno, ENOSPC);
	push(0);
	assert_int_equal(take(0, &later, flow, NULL), 0);
	assert_null(give(0, &later, 3, NULL));
	push(0);
	assert_non_null(give(0, &later, 3, NULL));
	/* Everything in use stays. */
	assert_int_equal(configure(1, 1), -EBUSY);
	assert_int_equal(mdv_flow_ops.template_table_destroy(&fake.dev, table, &error), -EBUSY);
	assert_int_equal(
		mdv_flow_ops.pattern_template_destroy(&fake.dev, patterns[0], &error), -EBUSY);
	assert_int_equal(
		mdv_flow_ops.actions_template_destroy(&fake.dev, actions[1], &error), -EBUSY);
	push(0);
	push(1);
	assert_int_equal(mdv_flow_ops.flush(&fake.dev, NULL), 0);
	assert_int_equal(mdv_flow_ops.template_table_destroy(&fake.dev, table, &error), 0);
	assert_int_equal(configure(1, 1), -EBUSY);
	assert_null(mdv_flow_ops.template_table_create(
		&fake.dev, &group, patterns, 1, actions, 2, &error));
	assert_int_equal(error.type, RTE_FLOW_ERROR_TYPE_ATTR_GROUP);
#ifdef MDV_COMPAT_FLOW_LISTS
	const struct rte_flow_template_table_attr by_index = { .flow_attr.ingress = 1,
		.nb_flows = 4,
		.insertion_type = RTE_FLOW_TABLE_INSERTION_TYPE_INDEX };

	assert_null(mdv_flow_ops.template_table_create(
		&fake.dev, &by_index, patterns, 1, actions, 2, &error));
	assert_ptr_equal(error.cause, &by_index);
#endif
	assert_null(mdv_flow_ops.template_table_create(
		&fake.dev, &empty, patterns, 1, actions, 2, &error));
	assert_null(mdv_flow_ops.template_table_create(
		&fake.dev, &good, patterns, 0, actions, 2, &error));
	assert_null(mdv_flow_ops.template_table_create(
		&fake.dev, &good, no_pattern, 1, actions, 2, &error));
	fake_arm(1, ENOMEM);
	assert_null(mdv_flow_ops.template_table_create(
		&fake.dev, &good, patterns, 1, actions, 2, &error));
	fake_arm(0, 0);
	assert_int_equal(mdv_flow_ops.pattern_template_destroy(&fake.dev, patterns[0], &error), 0);
	assert_int_equal(mdv_flow_ops.actions_template_destroy(&fake.dev, actions[1], &error), 0);
	tear_down();
}

/** Refused at once: no operation, no result, no rule. */
static void
test_refused(void **state)
{
	const struct rte_flow_item *pattern = PATTERN(ITEM(IPV4), ITEM_SPEC(UDP, &dst_mask));
	const struct rte_flow_action *list = ACTIONS(ACTION_CONF(QUEUE, &queue_1), ACTION(MARK));
	const struct rte_flow_action *bad = ACTIONS(ACTION_CONF(QUEUE, &queue_9), ACTION(MARK));
	struct rte_flow_error error;
	struct rte_flow *flow;
	/* clang-format off */
	const struct {
		uint32_t queue;
		struct rte_flow_template_table *table;
		const struct rte_flow_item *pattern;
		unsigned int pattern_index;
		const struct rte_flow_action *list;
		unsigned int actions_index;
	} cases[] = {
		{ 2, NULL, pattern, 0, list, 0 },
		{ 0, NULL, pattern, 0, list, 0 },
		{ 0, PORT(1), pattern, 1, list, 0 },
		{ 0, PORT(1), pattern, 0, list, 2 },
		{ 0, PORT(1), NULL, 0, list, 0 },
		{ 0, PORT(1), pattern, 0, NULL, 0 },
		{ 0, PORT(1), pattern, 0, list, 1 },
		{ 0, PORT(1), pattern + 1, 0, list, 0 },
		{ 0, PORT(1), pattern, 0, bad, 0 },
	};
	/* clang-format on */

	(void)state;
	set_up(10);
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		error.message = NULL;
		assert_null(mdv_flow_async_create(&fake.dev, cases[i].queue, &now,
			cases[i].table != NULL ? table : NULL, cases[i].pattern,
			cases[i].pattern_index, cases[i].list, cases[i].actions_index, NULL,
			&error));
		assert_int_equal(rte_errno, EINVAL);
		assert_non_null(error.message);
	}
	assert_ptr_equal(error.cause, bad[0].conf);
	assert_int_equal(take(2, &now, NULL, &error), -EINVAL);
	assert_int_equal(take(0, &now, NULL, &error), -EINVAL);
	assert_int_equal(mdv_flow_async_push(&fake.dev, 2, &error), -EINVAL);
	assert_int_equal(mdv_flow_async_pull(&fake.dev, 2, NULL, 0, &error), -EINVAL);
	flow = give(0, &later, 1, NULL);
	/* Its creation waits. */
	assert_int_equal(take(0, &later, flow, &error), -EBUSY);
	assert_int_equal(mdv_flow_ops.destroy(&fake.dev, flow, &error), -EBUSY);
	push(0);
	/* Another queue's. */
	assert_int_equal(take(1, &later, flow, &error), -EINVAL);
	assert_string_equal(
		error.message, "the rule was created on flow queue 0; destroy it there");
	assert_int_equal(take(0, &later, flow, &error), 0);
	/* Its destruction waits. */
	assert_int_equal(take(0, &later, flow, &error), -EBUSY);
	assert_int_equal(mdv_flow_ops.destroy(&fake.dev, flow, &error), -EBUSY);
	push(0);
	SUCCESS(0, PORT(1));
	SUCCESS(0, flow);
	pull_none(0);
	pull_none(1);
	tear_down();
}

/** The device refuses: at once for a rule without postpone, else by a result; the handle lives. */
static void
test_device_refuses(void **state)
{
	struct rte_flow_error error = { .message = NULL };
	struct rte_flow *first, *second;

	(void)state;
	set_up(2);
	fake.nb_levels = 0;
	assert_null(give(0, &now, 1, &error));
	assert_int_equal(rte_errno, ENOMEM);
	assert_non_null(error.message);
	pull_none(0);
	first = give(0, &later, 1, NULL);
	second = give(0, &later, 2, NULL);
	assert_non_null(first);
	assert_non_null(second);
	push(0);
	ERROR(0, PORT(1));
	ERROR(0, PORT(2));
	fake_assert_empty();
	fake.nb_levels = 16;
	/* They hold their places until destroyed, one way or another. */
	assert_null(give(0, &later, 3, NULL));
	assert_int_equal(take(0, &later, first, NULL), 0);
	push(0);
	SUCCESS(0, first);
	assert_int_equal(mdv_flow_ops.destroy(&fake.dev, second, NULL), 0);
	assert_non_null(give(0, &now, 3, NULL));
	SUCCESS(0, PORT(3));
	/* An older rule that waits fails by its result, the other one gets in. */
	assert_int_equal(mdv_flow_ops.flush(&fake.dev, NULL), 0);
	assert_non_null(give(0, &later, 4, NULL));
	fake.data.nb_rx_queues = 1;
	push(0);
	ERROR(0, PORT(4));
	fake.data.nb_rx_queues = 4;
	assert_int_equal(mdv_flow_ops.flush(&fake.dev, NULL), 0);
	assert_int_equal(mdv_flow_ops.template_table_destroy(&fake.dev, table, NULL), 0);
	tear_down();
}

/** A flush takes all rules, also those that wait in queues: the push only makes their results. What
 * is given later is done, and places in the table come back. */
static void
test_flush(void **state)
{
	struct rte_flow *flow;

	(void)state;
	set_up(3);
	flow = give(0, &now, 1, NULL);
	assert_non_null(give(0, &now, 2, NULL));
	assert_int_equal(take(0, &later, flow, NULL), 0);
	assert_non_null(give(0, &later, 3, NULL));
	assert_int_equal(mdv_flow_ops.flush(&fake.dev, NULL), 0);
	fake_assert_empty();
	push(0);
	fake_assert_empty();
	SUCCESS(0, PORT(1));
	SUCCESS(0, PORT(2));
	SUCCESS(0, flow);
	SUCCESS(0, PORT(3));
	for (uint16_t port = 4; port < 7; port++)
		assert_non_null(give(0, port == 6 ? &now : &later, port, NULL));
	assert_int_equal(fake.nb_flows, 3);
	for (uint16_t port = 4; port < 7; port++)
		SUCCESS(0, PORT(port));
	pull_none(0);
	tear_down();
}

/** A rule that is addressed by its handle is never skipped silently. */
static void
test_dump(void **state)
{
	struct rte_flow *flow;
	char text[256] = "";
	FILE *file = fmemopen(text, sizeof(text), "w");

	(void)state;
	assert_non_null(file);
	set_up(10);
	fake.nb_levels = 0;
	flow = give(0, &later, 1, NULL);
	assert_int_equal(mdv_flow_ops.dev_dump(&fake.dev, flow, file, NULL), 0);
	push(0);
	assert_int_equal(mdv_flow_ops.dev_dump(&fake.dev, flow, file, NULL), 0);
	fclose(file);
	assert_non_null(strstr(text, ", waiting in flow queue 0\n"));
	assert_non_null(strstr(text, ", refused by the device\n"));
	tear_down();
}

/** Every kind of operation is pending when the port is closed. */
static void
test_close(void **state)
{
	struct rte_flow *flow;

	(void)state;
	set_up(10);
	flow = give(0, &now, 1, NULL);
	assert_int_equal(take(0, &later, flow, NULL), 0);
	assert_non_null(give(0, &later, 2, NULL));
	assert_non_null(give(1, &now, 3, NULL));
	fake.nb_levels = 0;
	flow = give(1, &later, 4, NULL);
	push(1);
	assert_int_equal(take(1, &later, flow, NULL), 0);
	tear_down();
}

/** Any one call fails: no rule is left, and no place in the table is lost. */
static void
test_failing(void **state)
{
	(void)state;
	for (unsigned int postponed = 0; postponed < 2; postponed++) {
		struct rte_flow *flow = NULL;
		unsigned int nth;

		set_up(1);
		for (nth = 1; flow == NULL; nth++) {
			struct rte_flow_op_result result = { .status = RTE_FLOW_OP_SUCCESS };
			bool fails;

			fake_arm(nth, EIO);
			flow = give(0, postponed ? &later : &now, 53, NULL);
			if (flow == NULL)
				continue;
			push(0);
			fails = fake.calls >= nth;
			fake_arm(0, 0);
			assert_int_equal(mdv_flow_async_pull(&fake.dev, 0, &result, 1, NULL), 1);
			/* A form can do without an image. */
			if (result.status == RTE_FLOW_OP_SUCCESS && !fails)
				break;
			assert_int_equal(take(0, &now, flow, NULL), 0);
			SUCCESS(0, flow);
			flow = NULL;
			fake_assert_empty();
		}
		assert_true(nth > 6);
		assert_int_equal(fake.nb_flows, 1);
		tear_down();
	}
}

/** One thread a queue, with no lock but the driver's. */
static void *
run_queue(void *argument)
{
	uint32_t queue = (uintptr_t)argument;
	struct rte_flow_op_result results[QUEUE_SIZE];
	uintptr_t good = 0;

	for (unsigned int round = 0; round < 300; round++) {
		struct rte_flow *flows[QUEUE_SIZE];
		int nb;

		for (unsigned int i = 0; i < QUEUE_SIZE; i++)
			flows[i] = give(queue, &later, 1 + queue * 100 + i, NULL);
		mdv_flow_async_push(&fake.dev, queue, NULL);
		nb = mdv_flow_async_pull(&fake.dev, queue, results, QUEUE_SIZE, NULL);
		for (int i = 0; i < nb; i++)
			good += results[i].status == RTE_FLOW_OP_SUCCESS;
		for (unsigned int i = 0; i < QUEUE_SIZE; i++)
			if (flows[i] == NULL ||
				mdv_flow_async_destroy(
					&fake.dev, queue, &later, flows[i], NULL, NULL) != 0)
				return NULL;
		mdv_flow_async_push(&fake.dev, queue, NULL);
		nb = mdv_flow_async_pull(&fake.dev, queue, results, QUEUE_SIZE, NULL);
		good += nb == QUEUE_SIZE;
	}
	return (void *)good;
}

static void
test_threads(void **state)
{
	pthread_t threads[2];

	(void)state;
	set_up(2 * QUEUE_SIZE);
	for (uintptr_t i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, run_queue, (void *)i), 0);
	for (unsigned int i = 0; i < 2; i++) {
		void *good;

		assert_int_equal(pthread_join(threads[i], &good), 0);
		assert_int_equal((uintptr_t)good, 300 * (QUEUE_SIZE + 1));
	}
	fake_assert_empty();
	assert_int_equal(mdv_flow_ops.template_table_destroy(&fake.dev, table, NULL), 0);
	tear_down();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_info),
		cmocka_unit_test(test_configure),
		cmocka_unit_test(test_default_size),
		cmocka_unit_test(test_batch),
		cmocka_unit_test(test_like_others),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_device_refuses),
		cmocka_unit_test(test_flush),
		cmocka_unit_test(test_dump),
		cmocka_unit_test(test_close),
		cmocka_unit_test(test_failing),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
