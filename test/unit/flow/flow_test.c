/* SPDX-License-Identifier: BSD-3-Clause */
/* rte_flow operations on the fake context: states of a rule, counters, isolation, failing calls. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_flow_driver.h>

#include "fake_verbs.h"
#include "flow/rule/flow_state.h"

/* clang-format off */
static const struct rte_flow_attr ingress = { .ingress = 1 };
static const struct rte_flow_action_queue queue_1 = { 1 };
static const struct rte_flow_action_mark mark_5 = { 5 };
static const uint16_t queues[] = { 0, 1, 2 };
static const struct rte_flow_action_rss rss = {
	.types = RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_IPV6, .queue_num = 3, .queue = queues };
static const struct rte_flow_item_udp udp_dns = { .hdr.dst_port = RTE_BE16(53) };
#define UDP_DNS	 PATTERN(ITEM(ETH), ITEM(IPV4), ITEM_SPEC(UDP, &udp_dns))
#define ETH	 PATTERN(ITEM(ETH))
#define QUEUE_1	 ACTION_CONF(QUEUE, &queue_1)
#define COUNTED	 ACTIONS(ACTION(COUNT), QUEUE_1)
#define EVERYTHING \
	ACTIONS(ACTION(COUNT), ACTION_CONF(MARK, &mark_5), ACTION_CONF(RSS, &rss), ACTION(PASSTHRU))
/* clang-format on */

static struct rte_flow *
create(const struct rte_flow_item *pattern, const struct rte_flow_action *actions,
	struct rte_flow_error *error)
{
	return mdv_flow_ops.create(&fake.dev, &ingress, pattern, actions, error);
}

static int
query(struct rte_flow *flow, bool reset, struct rte_flow_query_count *count)
{
	const struct rte_flow_action action = ACTION(COUNT);

	*count = (struct rte_flow_query_count){ .reset = reset };
	return mdv_flow_ops.query(&fake.dev, flow, &action, count, NULL);
}

/** No rule of the application's but those the test makes. */
static void
start_isolated(void)
{
	fake_init_flow();
	fake.port.isolated = true;
	assert_int_equal(mdv_flow_start(&fake.port), 0);
	fake_assert_empty();
}

static void
test_init(void **state)
{
	(void)state;
	fake_init();
	fake.port.device.caps.flow_steering = false;
	assert_int_equal(mdv_flow_init(&fake.port), -ENOTSUP);
	/* struct, CQ, QP of the drop destination; of failing flows see flow_probe_test.c. */
	for (unsigned int nth = 1; nth <= 3; nth++) {
		fake_init();
		fake_arm(nth, EPERM);
		assert_true(mdv_flow_init(&fake.port) < 0);
		fake_assert_empty();
	}
}

/** A rule made while the port is stopped waits; it comes back with every start. */
static void
test_states(void **state)
{
	struct rte_flow *flow;

	(void)state;
	fake_init_flow();
	flow = create(UDP_DNS, ACTIONS(QUEUE_1, ACTION(PASSTHRU)), NULL);
	assert_non_null(flow);
	fake_assert_empty();
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(mdv_flow_start(&fake.port), 0);
		assert_int_equal(fake.nb_flows, 4);
		assert_int_equal(fake_flow_at(0)->build.attr.flags, IBV_FLOW_ATTR_FLAGS_DONT_TRAP);
		assert_int_equal(fake_flow_at(0)->qp->table->queues[0], 1);
		mdv_flow_stop(&fake.port);
		fake_assert_empty();
	}
	assert_int_equal(mdv_flow_start(&fake.port), 0);
	assert_non_null(create(ETH, COUNTED, NULL));
	assert_int_equal(fake.nb_flows, 5);
	assert_int_equal(mdv_flow_ops.destroy(&fake.dev, flow, NULL), 0);
	assert_int_equal(fake.nb_flows, 4);
	assert_int_equal(mdv_flow_ops.flush(&fake.dev, NULL), 0);
	assert_int_equal(fake.nb_flows, 3);
	assert_true(TAILQ_EMPTY(&fake.port.flow->rules));
	mdv_flow_fini(&fake.port);
	fake_assert_empty();
}

/** At no moment of a start or a stop does a packet reach a rule that comes after its own. */
static void
test_order_of_start(void **state)
{
	static const uint32_t priorities[] = { 5, 0, 9, 2 };
	const unsigned int nb_flows = 2 * RTE_DIM(priorities) + 3;
	unsigned int i, nth = 0;
	bool fails;

	(void)state;
	fake_init_flow();
	for (i = 0; i < RTE_DIM(priorities); i++) {
		const struct rte_flow_attr attr = { .ingress = 1, .priority = priorities[i] };

		assert_non_null(mdv_flow_ops.create(&fake.dev, &attr, ETH, ACTIONS(QUEUE_1), NULL));
		assert_non_null(mdv_flow_ops.create(
			&fake.dev, &attr, UDP_DNS, ACTIONS(QUEUE_1, ACTION(PASSTHRU)), NULL));
	}
	/* A start that fails undoes what it did as a stop does. */
	do {
		fake_arm(++nth, ENOMEM);
		fails = mdv_flow_start(&fake.port) != 0;
		fake_arm(0, 0);
		assert_int_equal(fake.nb_flows, fails ? 0 : nb_flows);
	} while (fails);
	assert_true(nth > nb_flows);
	mdv_flow_stop(&fake.port);
	assert_int_equal(fake.nb_bypassed, 0);
	mdv_flow_fini(&fake.port);
	fake_assert_empty();
}

/** What the application passed may be gone after create. */
static void
test_copy(void **state)
{
	uint16_t own_queues[] = { 3, 2 };
	uint8_t own_key[40] = { 9 };
	struct rte_flow_action_rss own_rss = { .queue_num = 2,
		.queue = own_queues,
		.key = own_key,
		.key_len = sizeof(own_key),
		.types = RTE_ETH_RSS_IPV4 };
	struct rte_flow_item_udp udp = udp_dns;
	struct rte_flow_item pattern[] = { ITEM(IPV4), ITEM_SPEC(UDP, &udp), ITEM(END) };
	struct rte_flow_action actions[] = { ACTION_CONF(RSS, &own_rss), ACTION(END) };

	(void)state;
	fake_init_flow();
	fake.port.isolated = true;
	assert_non_null(create(pattern, actions, NULL));
	memset(own_queues, 0xff, sizeof(own_queues));
	memset(own_key, 0xff, sizeof(own_key));
	memset(&own_rss, 0xff, sizeof(own_rss));
	memset(&udp, 0xff, sizeof(udp));
	memset(pattern, 0xff, sizeof(pattern));
	memset(actions, 0xff, sizeof(actions));
	assert_int_equal(mdv_flow_start(&fake.port), 0);
	assert_int_equal(fake.nb_flows, 1);
	assert_int_equal(fake_flow_at(0)->qp->table->queues[0], 3);
	assert_int_equal(fake_flow_at(0)->qp->key[0], 9);
	fake_assert_bytes(
		"udp", &fake_flow_at(0)->build.bytes[52], 16, HEX_UDP("0035 0000", "ffff ffff"));
	mdv_flow_fini(&fake.port);
	fake_assert_empty();
}

static void
test_validate(void **state)
{
	struct rte_flow_error error;

	(void)state;
	start_isolated();
	assert_int_equal(
		mdv_flow_ops.validate(&fake.dev, &ingress, UDP_DNS, EVERYTHING, &error), 0);
	assert_int_equal(mdv_flow_ops.validate(&fake.dev, &ingress, UDP_DNS,
				 ACTIONS(ACTION(DROP), ACTION(PASSTHRU)), &error),
		-EINVAL);
	assert_int_equal(error.type, RTE_FLOW_ERROR_TYPE_ACTION);
	assert_int_equal(fake.nb_created, 0);
	fake_assert_empty();
	mdv_flow_fini(&fake.port);
}

static void
test_counters(void **state)
{
	const struct rte_flow_action queue = ACTION(QUEUE), count = ACTION(COUNT);
	struct rte_flow_query_count answer;
	struct rte_flow *flow, *plain;

	(void)state;
	start_isolated();
	flow = create(UDP_DNS, EVERYTHING, NULL);
	plain = create(ETH, ACTIONS(QUEUE_1), NULL);
	assert_int_equal(fake.nb_counters, 1);
	assert_non_null(fake_flow_at(0)->counters);
	fake.hits = 10;
	assert_int_equal(query(flow, false, &answer), 0);
	assert_true(answer.hits_set && answer.bytes_set);
	assert_int_equal(answer.hits, 10);
	assert_int_equal(answer.bytes, 640);
	assert_int_equal(query(flow, true, &answer), 0);
	assert_int_equal(answer.hits, 10);
	fake.hits = 13;
	assert_int_equal(query(flow, false, &answer), 0);
	assert_int_equal(answer.hits, 3);
	/* A stop keeps what was counted; the new counter starts at 0. */
	mdv_flow_stop(&fake.port);
	fake_assert_empty();
	assert_int_equal(query(flow, false, &answer), 0);
	assert_int_equal(answer.hits, 3);
	fake.hits = 0;
	assert_int_equal(mdv_flow_start(&fake.port), 0);
	fake.hits = 4;
	assert_int_equal(query(flow, false, &answer), 0);
	assert_int_equal(answer.hits, 7);
	assert_int_equal(answer.bytes, 7 * 64);
	assert_int_equal(mdv_flow_ops.query(&fake.dev, plain, &count, &answer, NULL), -EINVAL);
	assert_int_equal(mdv_flow_ops.query(&fake.dev, flow, &queue, &answer, NULL), -ENOTSUP);
	assert_int_equal(mdv_flow_ops.query(&fake.dev, NULL, &count, &answer, NULL), -EINVAL);
	assert_int_equal(mdv_flow_ops.query(&fake.dev, flow, &count, NULL, NULL), -EINVAL);
	for (int code = EPERM; code <= EIO; code++) {
		fake_arm(1, code);
		assert_int_equal(query(flow, false, &answer), -code);
	}
	fake_arm(0, 0);
	mdv_flow_fini(&fake.port);
	fake_assert_empty();
}

/** What came since the reset is lost then, and nothing else. */
static void
test_counter_unread(void **state)
{
	struct rte_flow_query_count answer;
	struct rte_flow *flow;

	(void)state;
	start_isolated();
	flow = create(ETH, COUNTED, NULL);
	fake.hits = 10;
	assert_int_equal(query(flow, true, &answer), 0);
	fake.hits = 13;
	fake_arm(1, EIO);
	mdv_flow_stop(&fake.port);
	fake_arm(0, 0);
	fake_assert_empty();
	assert_int_equal(query(flow, false, &answer), 0);
	assert_int_equal(answer.hits, 0);
	assert_int_equal(answer.bytes, 0);
	fake.hits = 0;
	assert_int_equal(mdv_flow_start(&fake.port), 0);
	fake.hits = 4;
	assert_int_equal(query(flow, false, &answer), 0);
	assert_int_equal(answer.hits, 4);
	assert_int_equal(answer.bytes, 4 * 64);
	/* Without a reset what an earlier stop has kept remains. */
	mdv_flow_stop(&fake.port);
	fake.hits = 0;
	assert_int_equal(mdv_flow_start(&fake.port), 0);
	fake.hits = 2;
	fake_arm(1, EIO);
	mdv_flow_stop(&fake.port);
	fake_arm(0, 0);
	assert_int_equal(query(flow, false, &answer), 0);
	assert_int_equal(answer.hits, 4);
	mdv_flow_fini(&fake.port);
	fake_assert_empty();
}

static void
test_isolate(void **state)
{
	(void)state;
	fake_init_flow();
	/* Before configure: nothing to do yet, but remembered. */
	fake.data.nb_rx_queues = 0;
	assert_int_equal(mdv_flow_ops.isolate(&fake.dev, 1, NULL), 0);
	assert_true(fake.port.isolated);
	fake.data.nb_rx_queues = 4;
	assert_int_equal(mdv_flow_start(&fake.port), 0);
	fake_assert_empty();
	assert_non_null(create(UDP_DNS, ACTIONS(QUEUE_1), NULL));
	assert_int_equal(mdv_flow_ops.isolate(&fake.dev, 0, NULL), 0);
	assert_int_equal(fake.nb_flows, 4);
	assert_int_equal(mdv_flow_ops.isolate(&fake.dev, 1, NULL), 0);
	assert_int_equal(fake.nb_flows, 1);
	for (unsigned int nth = 1;; nth++) {
		struct rte_flow_error error = { .message = NULL };

		fake_arm(nth, ENOSPC);
		if (mdv_flow_ops.isolate(&fake.dev, 0, &error) == 0)
			break;
		assert_non_null(error.message);
		assert_true(fake.port.isolated);
		assert_int_equal(fake.nb_flows, 1);
	}
	assert_false(fake.port.isolated);
	fake_arm(0, 0);
	mdv_flow_fini(&fake.port);
	fake_assert_empty();
}

/** Whichever call of a create fails: no rule, an error, nothing left behind; with and without an
 * error. */
static void
test_failing_create(void **state)
{
	/* clang-format off */
	const struct {
		const struct rte_flow_action *actions;
		unsigned int nb_flows;
	} rules[2] = {
		{ EVERYTHING, 3 },
		{ ACTIONS(ACTION(DROP), ACTION(COUNT)), 1 },
	};
	/* clang-format on */

	(void)state;
	for (unsigned int i = 0; i < 4 * RTE_DIM(rules); i++) {
		/* Not all functions of verbs say why. */
		const int code = i % 4 < 2 ? ENOSPC : 0;
		unsigned int nth;

		start_isolated();
		for (nth = 1;; nth++) {
			struct rte_flow_error error = { .message = NULL };
			struct rte_flow *flow;

			fake_arm(nth, code);
			rte_errno = 0;
			flow = create(ETH, rules[i / 4].actions, i % 2 == 0 ? &error : NULL);
			if (flow != NULL && fake.calls < nth)
				break;
			/* One that returns its code has succeeded with 0; a form can do without an
			 * image. */
			if (flow != NULL) {
				assert_int_equal(mdv_flow_ops.destroy(&fake.dev, flow, NULL), 0);
				continue;
			}
			if (code != 0)
				assert_true(rte_errno == ENOSPC || rte_errno == ENOMEM);
			else
				assert_true(rte_errno == ENOMEM || rte_errno == EINVAL ||
					rte_errno == EOPNOTSUPP);
			if (i % 2 == 0)
				assert_non_null(error.message);
			fake_assert_empty();
			assert_true(TAILQ_EMPTY(&fake.port.flow->rules));
			fake_assert_no_dests();
		}
		assert_true(nth > 8);
		assert_int_equal(fake.nb_flows, rules[i / 4].nb_flows);
		fake_arm(0, 0);
		mdv_flow_fini(&fake.port);
		fake_assert_empty();
	}
}

/** An older error is not taken for the reason. */
static void
test_untold_refusal(void **state)
{
	(void)state;
	start_isolated();
	fake.flows_untold = true;
	errno = ENOTTY;
	assert_null(create(ETH, ACTIONS(QUEUE_1), NULL));
	assert_int_equal(rte_errno, EINVAL);
	fake.flows_untold = false;
	mdv_flow_fini(&fake.port);
	fake_assert_empty();
}

static struct ibv_flow *(*accept_flow)(struct ibv_qp *qp, struct ibv_flow_attr *attr);

static struct ibv_flow *
refuse_drop(struct ibv_qp *qp, struct ibv_flow_attr *attr)
{
	uint32_t last;

	memcpy(&last, (const uint8_t *)attr + attr->size - sizeof(struct ibv_flow_spec_action_drop),
		sizeof(last));
	if (last != IBV_FLOW_SPEC_ACTION_DROP)
		return accept_flow(qp, attr);
	errno = EOPNOTSUPP;
	return NULL;
}

/** A start that fails leaves the port stopped, its rules waiting. */
static void
test_failing_start(void **state)
{
	unsigned int nth;

	(void)state;
	fake_init_flow();
	fake.port.rss_types = RTE_ETH_RSS_IP;
	assert_non_null(create(ETH, EVERYTHING, NULL));
	assert_non_null(create(UDP_DNS, ACTIONS(ACTION(DROP)), NULL));
	for (nth = 1;; nth++) {
		fake_arm(nth, ENOMEM);
		if (mdv_flow_start(&fake.port) == 0)
			break;
		fake_assert_empty();
		assert_false(fake.port.flow->active);
		fake_assert_no_dests();
	}
	assert_true(nth > 20);
	assert_int_equal(fake.nb_flows, 3 * 3 + 3 + 1);
	fake_arm(0, 0);
	/* What the device refuses at a start is that rule's failure. */
	mdv_flow_stop(&fake.port);
	accept_flow = fake.context.ibv_create_flow;
	fake.context.ibv_create_flow = refuse_drop;
	assert_int_equal(mdv_flow_start(&fake.port), 0);
	assert_int_equal(fake.nb_flows, 3 * 3 + 3);
	fake.context.ibv_create_flow = accept_flow;
	mdv_flow_stop(&fake.port);
	fake_assert_empty();
	assert_int_equal(mdv_flow_start(&fake.port), 0);
	assert_int_equal(fake.nb_flows, 3 * 3 + 3 + 1);
	/* A queue that is gone after another configure names its rule and stops the start. */
	mdv_flow_stop(&fake.port);
	fake.data.nb_rx_queues = 2;
	assert_int_equal(mdv_flow_start(&fake.port), -EINVAL);
	fake_assert_empty();
	mdv_flow_fini(&fake.port);
}

static void
test_kernel_advice(void **state)
{
	static const struct {
		int code;
		const char *message;
	} cases[] = {
		{ EEXIST, "the rule was refused (errno 17): a rule with the same match" },
		{ ENOSPC, "the rule was refused (errno 28): the device's table" },
		{ ENOMEM, "the rule was refused (errno 12): the device or the kernel is out" },
		{ EINVAL, "the rule was refused (errno 22): the device finds" },
		{ EOPNOTSUPP, "the rule was refused (errno 95): the device or the kernel cannot" },
		{ EPERM, "the rule was refused (errno 1): the process lacks CAP_NET_RAW" },
		{ ENXIO, "the rule was refused (errno 6): No such device or address" },
	};
	unsigned int last_call;

	(void)state;
	start_isolated();
	/* Before the calls are counted: tables of slots, the form and its image, and memory of
	 * rules of both sizes are kept. */
	for (unsigned int i = 0; i < 3; i++) {
		assert_non_null(create(ETH, ACTIONS(QUEUE_1), NULL));
		mdv_flow_ops.flush(&fake.dev, NULL);
	}
	fake_arm(1000, 0);
	assert_non_null(create(ETH, ACTIONS(QUEUE_1), NULL));
	last_call = fake.calls;
	mdv_flow_ops.flush(&fake.dev, NULL);
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		struct rte_flow_error error = { .message = NULL };

		fake_arm(last_call, cases[i].code);
		assert_null(create(ETH, ACTIONS(QUEUE_1), &error));
		assert_int_equal(rte_errno, cases[i].code);
		assert_int_equal(error.type, RTE_FLOW_ERROR_TYPE_UNSPECIFIED);
		assert_memory_equal(error.message, cases[i].message, strlen(cases[i].message));
	}
	fake_arm(0, 0);
	mdv_flow_fini(&fake.port);
	fake_assert_empty();
}

/** Refused before anything is touched. */
static void
test_refused(void **state)
{
	const struct rte_flow_attr egress = { .egress = 1 };

	(void)state;
	start_isolated();
	assert_null(mdv_flow_ops.create(&fake.dev, &egress, ETH, COUNTED, NULL));
	assert_null(mdv_flow_ops.create(&fake.dev, NULL, ETH, COUNTED, NULL));
	assert_null(mdv_flow_ops.create(&fake.dev, &ingress, NULL, COUNTED, NULL));
	assert_null(mdv_flow_ops.create(&fake.dev, &ingress, ETH, NULL, NULL));
	assert_int_equal(mdv_flow_ops.destroy(&fake.dev, NULL, NULL), -EINVAL);
	assert_int_equal(fake.nb_created, 0);
	mdv_flow_fini(&fake.port);
	fake_assert_empty();
}

#define MANY 10000

static void
expect_objects(unsigned int nb_flows, unsigned int nb_destinations, unsigned int nb_counters)
{
	assert_int_equal(fake.nb_flows, nb_flows);
	assert_int_equal(fake.nb_qps, nb_destinations);
	assert_int_equal(fake.nb_tables, nb_destinations);
	assert_int_equal(fake.nb_counters, nb_counters);
	assert_int_equal(fake.nb_cqs, 0);
}

/**
 * Ten thousand rules to one queue set make one destination a class: one QP and one table. It goes
 * with the last of them, and comes back with them. Counters are a rule's own: it is what they
 * count.
 */
static void
test_shared_destinations(void **state)
{
	static struct rte_flow *made[MANY];

	(void)state;
	start_isolated();
	for (unsigned int i = 0; i < MANY; i++) {
		struct rte_flow_item_udp udp = { .hdr.dst_port = rte_cpu_to_be_16(i) };
		const struct rte_flow_item pattern[] = { ITEM(IPV4), ITEM_SPEC(UDP, &udp),
			ITEM(END) };
		const struct rte_flow_action actions[] = { ACTION_CONF(RSS, &rss),
			i % 100 == 0 ? (struct rte_flow_action)ACTION(COUNT)
				     : (struct rte_flow_action)ACTION(VOID),
			ACTION(END) };

		made[i] = create(pattern, actions, NULL);
		assert_non_null(made[i]);
	}
	expect_objects(MANY, 1, MANY / 100);
	mdv_flow_stop(&fake.port);
	fake_assert_empty();
	assert_int_equal(mdv_flow_start(&fake.port), 0);
	expect_objects(MANY, 1, MANY / 100);
	for (unsigned int i = 0; i < MANY - 1; i++)
		assert_int_equal(mdv_flow_ops.destroy(&fake.dev, made[i], NULL), 0);
	expect_objects(1, 1, 0);
	assert_int_equal(mdv_flow_ops.destroy(&fake.dev, made[MANY - 1], NULL), 0);
	fake_assert_empty();
	mdv_flow_fini(&fake.port);
	fake_assert_empty();
}

/** Over all classes: a destination each, whatever rules, and one for all that drop. */
static void
test_shared_classes(void **state)
{
	static const uint16_t all[] = { 0, 1, 2, 3 };
	static const struct rte_flow_action_rss every = {
		.types = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP,
		.queue_num = 4,
		.queue = all,
	};

	(void)state;
	start_isolated();
	for (unsigned int i = 0; i < 1000; i++) {
		struct rte_flow_item_eth eth = { .hdr.src_addr = { { 2, 0, 0, 0, i >> 8, i } } };
		const struct rte_flow_item pattern[] = { ITEM_SPEC(ETH, &eth), ITEM(END) };
		const struct rte_flow_action *actions =
			i % 2 == 0 ? ACTIONS(ACTION_CONF(RSS, &every)) : ACTIONS(ACTION(DROP));

		assert_non_null(create(pattern, actions, NULL));
	}
	assert_int_equal(fake.nb_flows, 500 * MDV_RSS_NB_CLASSES + 500);
	assert_int_equal(fake.nb_qps, MDV_RSS_NB_CLASSES + 1);
	assert_int_equal(fake.nb_tables, MDV_RSS_NB_CLASSES);
	assert_int_equal(fake.nb_cqs, 1);
	assert_int_equal(mdv_flow_ops.flush(&fake.dev, NULL), 0);
	fake_assert_empty();
	mdv_flow_fini(&fake.port);
	fake_assert_empty();
}

/** The bursts look at tags only when there can be some. */
static void
test_marks_are_announced(void **state)
{
	const struct rte_flow_action_mark last = { 0xfffffd };

	(void)state;
	start_isolated();
	assert_non_null(create(UDP_DNS, COUNTED, NULL));
	assert_false(fake.marks_expected);
	assert_null(create(UDP_DNS, ACTIONS(ACTION_CONF(MARK, &mark_5)), NULL));
	assert_false(fake.marks_expected);
	assert_non_null(create(UDP_DNS, ACTIONS(QUEUE_1, ACTION_CONF(MARK, &last)), NULL));
	assert_true(fake.marks_expected);
	mdv_flow_stop(&fake.port);
	fake.marks_expected = false;
	assert_int_equal(mdv_flow_start(&fake.port), 0);
	assert_true(fake.marks_expected);
	mdv_flow_fini(&fake.port);
	fake_assert_empty();
}

static void
test_dump(void **state)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);
	struct rte_flow *flow;

	(void)state;
	assert_non_null(file);
	start_isolated();
	flow = create(
		UDP_DNS, ACTIONS(QUEUE_1, ACTION_CONF(MARK, &mark_5), ACTION(PASSTHRU)), NULL);
	create(ETH, ACTIONS(ACTION(DROP)), NULL);
	assert_int_equal(mdv_flow_ops.dev_dump(&fake.dev, flow, file, NULL), 0);
	fflush(file);
	assert_non_null(strstr(text, "FTE: 0x0 (FWD) to (TIR: queue 1, FT:next) tag:0x6 rule:"));
	assert_non_null(strstr(text, "    |-- out.udp_dport:0x35\n"));
	assert_null(strstr(text, "DROP"));
	assert_int_equal(mdv_flow_ops.dev_dump(&fake.dev, NULL, file, NULL), 0);
	fclose(file);
	assert_non_null(strstr(text, "(DROP) to ("));
	free(text);
	mdv_flow_fini(&fake.port);
	fake_assert_empty();
}

/** With fewer queues a rule to one that is gone waits; the dump says so and has the others. */
static void
test_dump_of_what_does_not_fit(void **state)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);

	(void)state;
	assert_non_null(file);
	start_isolated();
	create(UDP_DNS, ACTIONS(QUEUE_1), NULL);
	create(ETH, ACTIONS(ACTION(DROP)), NULL);
	mdv_flow_stop(&fake.port);
	fake.data.nb_rx_queues = 1;
	assert_int_equal(mdv_flow_ops.dev_dump(&fake.dev, NULL, file, NULL), 0);
	fclose(file);
	assert_non_null(strstr(text, " is not in the device: QUEUE: "));
	assert_non_null(strstr(text, "(DROP) to ("));
	free(text);
	mdv_flow_fini(&fake.port);
	fake_assert_empty();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_init),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_order_of_start),
		cmocka_unit_test(test_copy),
		cmocka_unit_test(test_validate),
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_counter_unread),
		cmocka_unit_test(test_isolate),
		cmocka_unit_test(test_failing_create),
		cmocka_unit_test(test_untold_refusal),
		cmocka_unit_test(test_failing_start),
		cmocka_unit_test(test_kernel_advice),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_shared_destinations),
		cmocka_unit_test(test_shared_classes),
		cmocka_unit_test(test_marks_are_announced),
		cmocka_unit_test(test_dump),
		cmocka_unit_test(test_dump_of_what_does_not_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
