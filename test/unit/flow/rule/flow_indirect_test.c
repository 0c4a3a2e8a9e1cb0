/* SPDX-License-Identifier: BSD-3-Clause */
/* Indirect actions on the fake context: kinds, sharing, lives, refusals, failing calls. */

#include <errno.h>
#include <string.h>

#include <rte_flow_driver.h>

#include "fake_verbs.h"
#include "flow/rule/flow_state.h"

/* clang-format off */
static const struct rte_flow_attr ingress = { .ingress = 1 };
static const struct rte_flow_indir_action_conf in = { .ingress = 1 }, out = { .egress = 1 };
static const struct rte_flow_action_queue queue_1 = { 1 }, queue_2 = { 2 }, queue_9 = { 9 };
static const struct rte_flow_action_mark mark_5 = { 5 };
static const uint16_t queues[] = { 0, 1, 2 };
static const struct rte_flow_action_rss rss = {
	.types = RTE_ETH_RSS_NONFRAG_IPV4_UDP, .queue_num = 3, .queue = queues };
static const struct rte_flow_item_udp udp_53 = { .hdr.dst_port = RTE_BE16(53) };
static const struct rte_flow_item_udp udp_54 = { .hdr.dst_port = RTE_BE16(54) };
static const struct rte_flow_action count = ACTION(COUNT), by_rss = ACTION_CONF(RSS, &rss),
				     to_2 = ACTION_CONF(QUEUE, &queue_2);
#define UDP_53	 PATTERN(ITEM(IPV4), ITEM_SPEC(UDP, &udp_53))
#define UDP_54	 PATTERN(ITEM(IPV4), ITEM_SPEC(UDP, &udp_54))
#define QUEUE_1	 ACTION_CONF(QUEUE, &queue_1)
#define QUEUE_2	 ACTION_CONF(QUEUE, &queue_2)
#define BY(h)	 ACTION_CONF(INDIRECT, h)
/* clang-format on */

static void
tear_down(void)
{
	fake_arm(0, 0);
	fake_end_flow();
}

static struct rte_flow *
rule(const struct rte_flow_item *pattern, const struct rte_flow_action *actions,
	struct rte_flow_error *error)
{
	return mdv_flow_ops.create(&fake.dev, &ingress, pattern, actions, error);
}

static struct rte_flow_action_handle *
share(const struct rte_flow_action *action)
{
	struct rte_flow_action_handle *handle =
		mdv_flow_ops.action_handle_create(&fake.dev, &in, action, NULL);

	assert_non_null(handle);
	return handle;
}

static void
give_back(struct rte_flow_action_handle *handle)
{
	assert_int_equal(mdv_flow_ops.action_handle_destroy(&fake.dev, handle, NULL), 0);
}

static uint64_t
hits(const struct rte_flow_action_handle *handle, bool reset)
{
	struct rte_flow_query_count answer = { .reset = reset };

	assert_int_equal(mdv_flow_ops.action_handle_query(&fake.dev, handle, &answer, NULL), 0);
	assert_true(answer.hits_set && answer.bytes_set);
	assert_int_equal(answer.bytes, 64 * answer.hits);
	return answer.hits;
}

/**
 * All the rules have one verbs counter, which exists while one of them does; its counts are kept.
 */
static void
test_count(void **state)
{
	struct rte_flow_query_count answer = { .reset = 0 };
	struct rte_flow_action_handle *handle;
	struct rte_flow *first, *second;

	(void)state;
	fake_start_isolated();
	handle = share(&count);
	assert_int_equal(fake.nb_counters, 0);
	assert_int_equal(hits(handle, false), 0);
	first = rule(UDP_53, ACTIONS(BY(handle), QUEUE_1), NULL);
	second = rule(UDP_54, ACTIONS(ACTION(DROP), BY(handle)), NULL);
	assert_true(first != NULL && second != NULL);
	assert_int_equal(fake.nb_counters, 1);
	assert_ptr_equal(fake_flow_at(0)->counters, fake_flow_at(1)->counters);
	assert_non_null(fake_flow_at(0)->counters);
	fake.hits = 10;
	assert_int_equal(hits(handle, true), 10);
	fake.hits = 13;
	assert_int_equal(hits(handle, false), 3);
	/* Each rule's count is that of all. */
	assert_int_equal(mdv_flow_ops.query(&fake.dev, first, &count, &answer, NULL), 0);
	assert_int_equal(answer.hits, 3);
	assert_int_equal(mdv_flow_ops.destroy(&fake.dev, first, NULL), 0);
	assert_int_equal(fake.nb_counters, 1);
	mdv_flow_stop(&fake.port);
	assert_int_equal(fake.nb_counters, 0);
	assert_int_equal(hits(handle, false), 3);
	fake.hits = 0;
	assert_int_equal(mdv_flow_start(&fake.port), 0);
	assert_int_equal(fake.nb_counters, 1);
	fake.hits = 4;
	assert_int_equal(hits(handle, false), 7);
	assert_int_equal(mdv_flow_ops.destroy(&fake.dev, second, NULL), 0);
	assert_int_equal(hits(handle, false), 7);
	give_back(handle);
	tear_down();
}

struct made {
	struct mdv_flow_build build;
	uint64_t fields;
	unsigned int nb_queues, queue;
};

/** Install one rule on a port of its own. @return the number of its flows */
static unsigned int
make_one(const struct rte_flow_action *action, bool indirect, const struct rte_flow_action *beside,
	struct made made[2])
{
	unsigned int nb;

	fake_start_isolated();

	const struct rte_flow_action by = BY(indirect ? share(action) : NULL);

	assert_non_null(rule(UDP_53, ACTIONS(indirect ? by : *action, *beside), NULL));
	nb = fake.nb_flows;
	assert_uint_in_range(nb, 1, 2);
	for (unsigned int i = 0; i < nb; i++) {
		const struct fake_flow *flow = fake_flow_at(i);

		made[i].build = flow->build;
		made[i].fields = flow->qp->fields;
		made[i].nb_queues = flow->qp->table != NULL ? flow->qp->table->size : 0;
		made[i].queue = flow->qp->table != NULL ? flow->qp->table->queues[0] : 0;
	}
	tear_down();
	return nb;
}

/** An action behind a handle has the same effect as in the rule itself: the same bytes to the same
 * queues. */
static void
test_kinds(void **state)
{
	/* clang-format off */
	const struct {
		struct rte_flow_action shared, beside;
	} cases[] = {
		{ QUEUE_2, ACTION(VOID) },
		{ ACTION_CONF(RSS, &rss), ACTION(PASSTHRU) },
		{ ACTION_CONF(MARK, &mark_5), QUEUE_1 },
		{ ACTION(FLAG), QUEUE_1 },
		{ ACTION(DROP), ACTION(VOID) },
	};
	/* clang-format on */
	struct made open[2], hidden[2];

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		unsigned int nb = make_one(&cases[i].shared, false, &cases[i].beside, open);

		assert_int_equal(make_one(&cases[i].shared, true, &cases[i].beside, hidden), nb);
		for (unsigned int part = 0; part < nb; part++) {
			const struct made *was = &open[part], *is = &hidden[part];

			assert_int_equal(was->build.attr.size, is->build.attr.size);
			assert_memory_equal(
				was->build.bytes, is->build.bytes, was->build.attr.size);
			assert_int_equal(was->fields, is->fields);
			assert_int_equal(was->nb_queues, is->nb_queues);
			assert_int_equal(was->queue, is->queue);
		}
	}
}

static void
expect_error(const struct rte_flow_error *error, const void *cause, const char *start)
{
	assert_ptr_equal(error->cause, cause);
	assert_memory_equal(error->message, start, strlen(start));
}

/** A handle in use stays, whatever happens to its rules; after a flush it can be destroyed. */
static void
test_lives(void **state)
{
	struct rte_flow_action_handle *handle, *unused;
	struct rte_flow_error error;

	(void)state;
	fake_start_isolated();
	handle = share(&by_rss);
	unused = share(&count);
	assert_non_null(rule(UDP_53, ACTIONS(BY(handle)), NULL));
	assert_non_null(rule(UDP_54, ACTIONS(BY(handle)), NULL));
	assert_int_equal(fake.nb_qps, 1);
	for (unsigned int round = 0; round < 2; round++) {
		assert_int_equal(
			mdv_flow_ops.action_handle_destroy(&fake.dev, handle, &error), -EBUSY);
		expect_error(&error, handle, "the indirect RSS is in use by 2 rules; ");
		mdv_flow_stop(&fake.port);
	}
	assert_int_equal(mdv_flow_start(&fake.port), 0);
	assert_int_equal(fake.nb_flows, 2);
	assert_int_equal(mdv_flow_ops.flush(&fake.dev, NULL), 0);
	give_back(handle);
	/* A destroyed handle is refused, and an address that is no handle is not read. */
	assert_int_equal(mdv_flow_ops.action_handle_destroy(&fake.dev, handle, &error), -ENOENT);
	expect_error(&error, handle, "the port has no such indirect action; ");
	assert_int_equal(mdv_flow_ops.action_handle_destroy(&fake.dev, NULL, NULL), -ENOENT);
	assert_null(rule(UDP_53, ACTIONS(BY(handle), QUEUE_1), NULL));
	assert_int_equal(rte_errno, EINVAL);
	/* The other handle goes with the port, and so does one that a rule uses. */
	assert_non_null(rule(UDP_53, ACTIONS(BY(unused), QUEUE_1), NULL));
	tear_down();
}

static void
test_refused_handles(void **state)
{
	const struct rte_flow_action passthru = ACTION(PASSTHRU), queue = ACTION(QUEUE),
				     far = ACTION_CONF(QUEUE, &queue_9);
	/* clang-format off */
	const struct {
		const struct rte_flow_indir_action_conf *conf;
		const struct rte_flow_action *action;
		int code;
		const void *cause;
		const char *start;
	} cases[] = {
		{ NULL, &count, EINVAL, NULL, "an indirect action needs a direction and an action" },
		{ &in, NULL, EINVAL, NULL, "an indirect action needs a direction and an action" },
		{ &out, &count, ENOTSUP, &out, "egress: " },
		{ &in, &passthru, ENOTSUP, &passthru, "indirect PASSTHRU: " },
		{ &in, &queue, EINVAL, &queue, "QUEUE: no configuration" },
		{ &in, &far, EINVAL, &queue_9, "QUEUE: Rx queue 9 does not exist" },
	};
	/* clang-format on */
	struct rte_flow_error error;

	(void)state;
	fake_start_isolated();
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		assert_null(mdv_flow_ops.action_handle_create(
			&fake.dev, cases[i].conf, cases[i].action, &error));
		assert_int_equal(rte_errno, cases[i].code);
		expect_error(&error, cases[i].cause, cases[i].start);
		assert_null(mdv_flow_ops.action_handle_create(
			&fake.dev, cases[i].conf, cases[i].action, NULL));
	}
	tear_down();
}

/**
 * The cause of a refusal is the application's INDIRECT, and not the driver's copy of the action.
 */
static void
test_refused_rules(void **state)
{
	struct rte_flow_action_handle *one, *other;
	struct rte_flow_query_count answer;
	struct rte_flow_error error;

	(void)state;
	fake_start_isolated();
	one = share(&count);
	other = share(&to_2);

	const struct rte_flow_action twice[] = { BY(one), ACTION(COUNT), QUEUE_1, ACTION(END) };
	const struct rte_flow_action again[] = { BY(one), BY(one), QUEUE_1, ACTION(END) };
	const struct rte_flow_action same[] = { QUEUE_2, BY(other), ACTION(END) };
	const struct rte_flow_action fateless[] = { BY(one), ACTION(END) };
	const struct rte_flow_action wild[] = { QUEUE_2, BY(&answer), ACTION(END) };
	const struct rte_flow_action none[] = { QUEUE_2, BY(NULL), ACTION(END) };
	/* clang-format off */
	const struct {
		const struct rte_flow_action *list, *cause;
		const char *start;
	} cases[] = {
		{ twice, &twice[1], "COUNT with COUNT: " },
		{ again, &again[1], "COUNT with COUNT: " },
		{ same, &same[1], "QUEUE 2 twice: " },
		{ fateless, &fateless[0], "the actions say nothing of where packets go" },
		{ wild, &wild[1], "INDIRECT: the port has no such indirect action; " },
		{ none, &none[1], "INDIRECT: the port has no such indirect action; " },
	};
	/* clang-format on */

	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		assert_null(rule(UDP_53, cases[i].list, &error));
		expect_error(&error, cases[i].cause, cases[i].start);
		assert_true(mdv_flow_ops.validate(
				    &fake.dev, &ingress, UDP_53, cases[i].list, &error) < 0);
		expect_error(&error, cases[i].cause, cases[i].start);
	}
	assert_int_equal(mdv_flow_ops.validate(
				 &fake.dev, &ingress, UDP_53, ACTIONS(BY(one), BY(other)), NULL),
		0);
	assert_int_equal(
		mdv_flow_ops.action_handle_query(&fake.dev, other, &answer, &error), -ENOTSUP);
	expect_error(&error, other, "indirect QUEUE: there is nothing to query; ");
	assert_int_equal(mdv_flow_ops.action_handle_query(&fake.dev, one, NULL, &error), -EINVAL);
	expect_error(&error, NULL, "a query of an indirect action needs room for the answer");
	assert_int_equal(mdv_flow_ops.action_handle_query(&fake.dev, NULL, &answer, NULL), -ENOENT);
	/* Refused calls have left nothing behind. */
	give_back(one);
	give_back(other);
	tear_down();
}

/** Any one call fails: nothing is left behind. */
static void
test_failing_calls(void **state)
{
	struct rte_flow_action_handle *handle = NULL, *counter;
	struct rte_flow *flow = NULL;

	(void)state;
	fake_start_isolated();
	for (unsigned int nth = 1; handle == NULL; nth++) {
		struct rte_flow_error error = { .message = NULL };

		fake_arm(nth, ENOMEM);
		handle = mdv_flow_ops.action_handle_create(&fake.dev, &in, &by_rss, &error);
		assert_true((handle == NULL) == (error.message != NULL));
	}
	fake_arm(0, 0);
	counter = share(&count);
	for (unsigned int nth = 1; flow == NULL; nth++) {
		fake_arm(nth, ENOMEM);
		flow = rule(UDP_53, ACTIONS(BY(handle), BY(counter)), NULL);
		if (flow == NULL)
			fake_assert_empty();
		assert_int_equal(mdv_flow_ops.action_handle_destroy(&fake.dev, counter, NULL),
			flow == NULL ? 0 : -EBUSY);
		fake_arm(0, 0);
		if (flow == NULL)
			counter = share(&count);
	}
	tear_down();
}

/** Find the queues of a packet that matches the index-th flow's match: those of all such flows in
 * the first level that has one. */
static unsigned int
copies_of(const uint8_t *udp, unsigned int *queue)
{
	unsigned int level = UINT32_MAX, nb = 0;
	const struct fake_flow *flow;

	TAILQ_FOREACH (flow, &fake.flows, next) {
		const struct ibv_flow_attr *attr = &flow->build.attr;

		if (memcmp(&flow->build.bytes[sizeof(*attr) + 32], udp, 16) != 0 ||
			attr->priority > level)
			continue;
		nb = attr->priority < level ? 1 : nb + 1;
		level = attr->priority;
		*queue = flow->qp->table->queues[0];
	}
	return nb;
}

/** The watched rules at each step. */
static struct {
	bool on;
	uint8_t udp[2][16];
	unsigned int was[2], steps, changes;
} watch;

static struct ibv_flow *(*create_flow)(struct ibv_qp *qp, struct ibv_flow_attr *attr);
static int (*destroy_flow)(struct ibv_flow *flow);

/** Each packet is taken once at each step, by the old or the new rule. */
static void
watch_step(void)
{
	for (unsigned int i = 0; watch.on && i < RTE_DIM(watch.udp); i++) {
		unsigned int now = UINT32_MAX;

		assert_int_equal(copies_of(watch.udp[i], &now), 1);
		watch.changes += now != watch.was[i] ? 1 : 0;
		watch.was[i] = now;
	}
	watch.steps++;
}

static struct ibv_flow *
watched_create(struct ibv_qp *qp, struct ibv_flow_attr *attr)
{
	struct ibv_flow *flow = create_flow(qp, attr);

	watch_step();
	return flow;
}

static int
watched_destroy(struct ibv_flow *flow)
{
	int ret = destroy_flow(flow);

	watch_step();
	return ret;
}

static int
update(struct rte_flow_action_handle *handle, const struct rte_flow_action action,
	struct rte_flow_error *error)
{
	return mdv_flow_ops.action_handle_update(&fake.dev, handle, &action, error);
}

/** Two rules of the handle, and one of the same form that is none. */
static void
set_up_rules(const struct rte_flow_action_handle *handle)
{
	static const struct rte_flow_item_udp udp_55 = { .hdr.dst_port = RTE_BE16(55) };

	memset(&watch, 0, sizeof(watch));
	assert_non_null(rule(UDP_53, ACTIONS(BY(handle)), NULL));
	assert_non_null(rule(UDP_54, ACTIONS(ACTION(COUNT), BY(handle)), NULL));
	assert_non_null(rule(PATTERN(ITEM(IPV4), ITEM_SPEC(UDP, &udp_55)), ACTIONS(QUEUE_1), NULL));
	for (unsigned int i = 0; i < RTE_DIM(watch.udp); i++) {
		memcpy(watch.udp[i],
			&fake_flow_at(i)->build.bytes[sizeof(struct ibv_flow_attr) + 32],
			sizeof(watch.udp[i]));
		assert_int_equal(copies_of(watch.udp[i], &watch.was[i]), 1);
	}
	create_flow = fake.context.ibv_create_flow;
	destroy_flow = fake.context.ibv_destroy_flow;
	fake.context.ibv_create_flow = watched_create;
	fake.context.ibv_destroy_flow = watched_destroy;
}

/** Each packet has one taker at each step, and the end state is that of a rule created so. */
static void
test_update(void **state)
{
	const struct rte_flow_action to_1 = QUEUE_1;
	struct rte_flow_action_handle *handle;

	(void)state;
	fake_start_isolated();
	handle = share(&to_1);
	set_up_rules(handle);
	watch.on = true;
	for (unsigned int round = 0; round < 40; round++) {
		const unsigned int queue = round % 2 == 0 ? 2 : 1;

		watch.changes = 0;
		assert_int_equal(update(handle,
					 (struct rte_flow_action)ACTION_CONF(
						 QUEUE, queue == 2 ? &queue_2 : &queue_1),
					 NULL),
			0);
		assert_int_equal(watch.changes, 2);
		assert_true(watch.was[0] == queue && watch.was[1] == queue);
		/* As many levels, rules and counters as before. */
		assert_int_equal(fake.nb_flows, 3);
		assert_int_equal(fake.nb_counters, 1);
		assert_int_equal(fake.port.flow->levels.nb_shapes, 1);
	}
	watch.on = false;
	mdv_flow_stop(&fake.port);
	assert_int_equal(update(handle, (struct rte_flow_action)QUEUE_2, NULL), 0);
	fake_assert_empty();
	assert_int_equal(mdv_flow_start(&fake.port), 0);
	assert_int_equal(copies_of(watch.udp[0], &watch.was[0]), 1);
	assert_int_equal(watch.was[0], 2);
	tear_down();
}

/** Other types make other parts of a rule; marks and copying rules are moved as well. */
static void
test_update_kinds(void **state)
{
	static const struct rte_flow_action_rss by_ip = {
		.types = RTE_ETH_RSS_IPV4, .queue_num = 2, .queue = &queues[1]
	};
	static const struct rte_flow_action_mark mark_6 = { 6 };
	const struct rte_flow_action mark = ACTION_CONF(MARK, &mark_5);
	struct rte_flow_action_handle *handle, *marker;

	(void)state;
	fake_start_isolated();
	handle = share(&by_rss);
	marker = share(&mark);
	assert_non_null(rule(PATTERN(ITEM(ETH)), ACTIONS(BY(handle)), NULL));
	assert_int_equal(fake.nb_flows, 2); /* ipv4-udp, and the rest */
	assert_non_null(rule(UDP_53, ACTIONS(BY(marker), BY(handle), ACTION(PASSTHRU)), NULL));
	assert_int_equal(fake.nb_flows, 3);
	assert_int_equal(update(handle, (struct rte_flow_action)ACTION_CONF(RSS, &by_ip), NULL), 0);
	assert_int_equal(fake.nb_flows, 3);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(fake_flow_at(i)->qp->table->queues[0], 1);
		assert_true((fake_flow_at(i)->qp->fields & IBV_RX_HASH_DST_PORT_UDP) == 0);
	}
	assert_int_equal(
		update(marker, (struct rte_flow_action)ACTION_CONF(MARK, &mark_6), NULL), 0);
	assert_int_equal(fake.nb_flows, 3);
	assert_int_equal(fake.port.flow->levels.nb_shapes, 2);
	assert_true(fake.marks_expected);
	tear_down();
}

/** Any one call fails, or the device refuses: the rules keep their effect. */
static void
test_failing_update(void **state)
{
	const struct rte_flow_action to_1 = QUEUE_1;
	struct rte_flow_action_handle *handle;
	struct rte_flow_error error;
	int ret = -1;

	(void)state;
	fake_start_isolated();
	handle = share(&to_1);
	set_up_rules(handle);
	watch.on = true;
	for (unsigned int nth = 1; ret != 0; nth++) {
		watch.changes = 0;
		error.message = NULL;
		fake_arm(nth, ENOMEM);
		ret = update(handle, (struct rte_flow_action)QUEUE_2, &error);
		fake_arm(0, 0);
		assert_int_equal(fake.nb_flows, 3);
		assert_int_equal(fake.nb_counters, 1);
		assert_int_equal(watch.changes, ret != 0 ? 0 : 2);
		assert_true(ret == 0 || error.message != NULL);
	}
	/* A rule that could not go back can be updated again, which brings it back. */
	for (unsigned int nth = 1; nth < 60; nth++) {
		fake_arm(nth, ENOMEM);
		update(handle, nth % 2 == 0 ? (struct rte_flow_action)QUEUE_2 : to_1, NULL);
		fake_arm(0, 0);
		assert_int_equal(fake.nb_flows, 3);
	}
	assert_int_equal(update(handle, to_1, NULL), 0);
	assert_int_equal(watch.was[0], 1);
	assert_int_equal(fake.port.flow->levels.nb_shapes, 1);
	watch.on = false;
	tear_down();
}

static void
test_refused_updates(void **state)
{
	struct rte_flow_action_handle *counter, *handle, *second;
	struct rte_flow_error error;

	(void)state;
	fake_start_isolated();
	counter = share(&count);
	handle = share(&to_2);
	second = share(&to_2);
	assert_non_null(rule(UDP_53, ACTIONS(BY(handle), QUEUE_1), NULL));

	const struct rte_flow_action far = ACTION_CONF(QUEUE, &queue_9), near = QUEUE_1;
	/* clang-format off */
	const struct {
		struct rte_flow_action_handle *handle;
		const struct rte_flow_action *action;
		int code;
		const void *cause;
		const char *start;
	} cases[] = {
		{ NULL, &near, -ENOENT, NULL, "the port has no such indirect action; " },
		{ handle, NULL, -EINVAL, NULL, "an update of an indirect action needs " },
		{ counter, &count, -ENOTSUP, counter, "indirect COUNT: it has nothing to update; " },
		{ handle, &count, -EINVAL, &count, "indirect QUEUE: it cannot become COUNT; " },
		{ handle, &far, -EINVAL, &queue_9, "QUEUE: Rx queue 9 does not exist" },
		{ handle, &near, -EINVAL, handle, "QUEUE 1 twice: " },
	};
	/* clang-format on */

	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		assert_int_equal(mdv_flow_ops.action_handle_update(
					 &fake.dev, cases[i].handle, cases[i].action, &error),
			cases[i].code);
		expect_error(&error, cases[i].cause, cases[i].start);
	}
	assert_int_equal(update(second, near, NULL), 0);
	tear_down();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_count),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_lives),
		cmocka_unit_test(test_refused_handles),
		cmocka_unit_test(test_refused_rules),
		cmocka_unit_test(test_failing_calls),
		cmocka_unit_test(test_update),
		cmocka_unit_test(test_update_kinds),
		cmocka_unit_test(test_failing_update),
		cmocka_unit_test(test_refused_updates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
