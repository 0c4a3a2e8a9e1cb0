/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves of rules: installed before removed, counters kept, and undone when a call fails. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_flow_driver.h>

#include "fake_verbs.h"
#include "flow/rule/flow_install.h"
#include "flow/rule/flow_state.h"

/* clang-format off */
static const struct rte_flow_action_queue queue_0 = { 0 }, queue_3 = { 3 };
static const uint16_t queues[] = { 0, 1, 2 };
static const struct rte_flow_action_rss rss = {
	.types = RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_IPV6, .queue_num = 3, .queue = queues };
#define ALL	ACTIONS(ACTION(COUNT), ACTION_CONF(RSS, &rss), ACTION_CONF(QUEUE, &queue_3))
#define COPY	ACTIONS(ACTION_CONF(QUEUE, &queue_0), ACTION(PASSTHRU))
/* clang-format on */

/** A rule of ALL: three parts to two destinations. */
#define FLOWS_OF_ALL 6

static char last_message[512]; /* of the last refusal */

static struct rte_flow *
create(uint32_t priority, const struct rte_flow_action *actions)
{
	const struct rte_flow_attr attr = { .ingress = 1, .priority = priority };

	struct rte_flow_error error = { .message = NULL };
	struct rte_flow *flow =
		mdv_flow_ops.create(&fake.dev, &attr, PATTERN(ITEM(ETH)), actions, &error);

	snprintf(last_message, sizeof(last_message), "%s",
		flow == NULL && error.message != NULL ? error.message : "");
	return flow;
}

static void
start(unsigned int nb_levels)
{
	fake_init();
	fake.port.config.passthru_move = MDV_PASSTHRU_MOVE_ON;
	fake.nb_levels = nb_levels;
	assert_int_equal(mdv_flow_init(&fake.port), 0);
	fake.port.isolated = true;
	assert_int_equal(mdv_flow_start(&fake.port), 0);
	fake_assert_empty();
	fake.nb_created = 0;
	fake.nb_destroyed = 0;
	fake.max_flows = 0;
}

static uint64_t
nb_moved(void)
{
	return fake.port.flow->levels.nb_moved;
}

static const struct fake_flow *
part_of(const struct rte_flow *flow, unsigned int i)
{
	return (struct fake_flow *)(flow->present.is_many ? flow->present.many[i]
							  : flow->present.one)
		.verbs;
}

/** @return whether an earlier part has the same specs, COUNT behind them or not. */
static bool
is_further_destination(const struct rte_flow *flow, unsigned int i)
{
	const struct fake_flow *part = part_of(flow, i);
	const size_t header = sizeof(part->build.attr);

	while (i-- > 0)
		if (memcmp(part_of(flow, i)->build.bytes + header, part->build.bytes + header,
			    part->build.attr.size - header) == 0)
			return true;
	return false;
}

/** Check that each rule is in the device at its level, in the order of priorities, and counts once.
 */
static void
check_levels(void)
{
	const struct mdv_flow_shape *shape;
	struct mdv_flow_level_rule *rule;
	bool copies = false; /* the shape before */
	int last = -1;

	TAILQ_FOREACH (shape, &fake.port.flow->levels.shapes, next) {
		TAILQ_FOREACH (rule, &shape->rules, next) {
			const struct rte_flow *flow = container_of(rule, struct rte_flow, level);

			assert_true(flow->present.nb != 0);
			for (unsigned int i = 0; i < flow->present.nb; i++) {
				const struct fake_flow *made = part_of(flow, i);

				assert_int_equal(
					made->build.attr.priority, mdv_flow_level_of(rule));
				assert_ptr_equal(made->counters,
					!flow->counted || is_further_destination(flow, i)
						? NULL
						: flow->counter->verbs);
			}
		}
		assert_true(shape->level > last - (copies && !shape->copies ? 1 : 0));
		last = shape->level;
		copies = shape->copies;
	}
}

/** Each destination gets its copy: the device makes one of two that are the same QP. */
static void
test_rss_and_its_first_queue(void **state)
{
	const struct rte_flow_action *const actions =
		ACTIONS(ACTION_CONF(QUEUE, &queue_0), ACTION_CONF(RSS, &rss));
	unsigned int nb_qps = 0;

	(void)state;
	start(16);
	for (unsigned int nb = 0; nb < 2; nb++) {
		const struct rte_flow *flow = create(nb, actions);

		assert_non_null(flow);
		assert_int_equal(flow->present.nb, FLOWS_OF_ALL);
		for (unsigned int i = 0; i < FLOWS_OF_ALL; i += 2) {
			assert_true(is_further_destination(flow, i + 1));
			assert_ptr_not_equal(part_of(flow, i)->qp, part_of(flow, i + 1)->qp);
		}
		/* Rules share these, too. */
		assert_true(nb == 0 || fake.nb_qps == nb_qps);
		nb_qps = fake.nb_qps;
	}
	fake_end_flow();
}

/** Rules between others, until only moves make room, and then nothing does. */
static void
test_moves(void **state)
{
	const uint32_t priorities[] = { 0, 100, 50, 25, 12, 6, 3 };
	unsigned int nb_flows = 0;

	(void)state;
	start(8);
	for (unsigned int i = 0; i < RTE_DIM(priorities); i++) {
		fake.max_flows = fake.nb_flows;
		assert_non_null(create(priorities[i], ALL));
		nb_flows += FLOWS_OF_ALL;
		assert_int_equal(fake.nb_flows, nb_flows);
		/* All rules stayed in the device, each with its double for a while. */
		assert_true(fake.max_flows >= nb_flows);
		assert_int_equal(fake.nb_counters, i + 1);
		check_levels();
	}
	assert_true(nb_moved() > 0);
	assert_null(create(4, ALL));
	assert_int_equal(fake.nb_flows, nb_flows);
	assert_int_equal(fake.nb_destroyed, fake.nb_created - nb_flows);
	mdv_flow_fini(&fake.port);
	fake_assert_empty();
}

/** If rules must stay where they are, the message says so, rather than that levels are short. */
static void
check_stay(const struct rte_flow_action *actions)
{
	uint32_t priority = 20;

	fake_init();
	fake.nb_levels = 8;
	assert_int_equal(mdv_flow_init(&fake.port), 0);
	fake.port.isolated = true;
	assert_int_equal(mdv_flow_start(&fake.port), 0);
	while (create(--priority, actions) != NULL)
		check_levels();
	assert_uint_in_range(priority, 14, 18);
	assert_int_equal(nb_moved(), 0);
	assert_non_null(strstr(last_message, "passthru_move=on"));
	mdv_flow_fini(&fake.port);
	fake_assert_empty();
}

/** With passthru_move=off a new copying rule is refused rather than an old one moved. */
static void
test_copies_stay(void **state)
{
	(void)state;
	check_stay(COPY);
}

/** A rule of several queues would deliver only some of its copies while it moves. */
static void
test_several_queues_stay(void **state)
{
	(void)state;
	check_stay(ALL);
}

/** Any one call of a create that moves others fails: the others are where they were. */
static void
test_failing_moves(void **state)
{
	unsigned int nth;

	(void)state;
	start(8);
	for (uint32_t priority = 10; priority <= 60; priority += 10)
		assert_non_null(create(priority, ALL));
	check_levels();
	for (nth = 1;; nth++) {
		fake_arm(nth, ENOSPC);
		if (create(15, ALL) != NULL)
			break;
		/* The undoing does not fail here: only the nth call does. */
		assert_int_equal(fake.nb_flows, 6 * FLOWS_OF_ALL);
		check_levels();
	}
	assert_true(nth > 10);
	assert_true(nb_moved() > 0);
	fake_arm(0, 0);
	check_levels();
	mdv_flow_fini(&fake.port);
	fake_assert_empty();
}

/** A stopped port moves its rules without the device, and starts with them in order. */
static void
test_moves_while_stopped(void **state)
{
	(void)state;
	start(8);
	mdv_flow_stop(&fake.port);
	for (uint32_t priority = 60; priority >= 10; priority -= 10)
		assert_non_null(create(priority, priority == 30 ? COPY : ALL));
	assert_non_null(create(15, ALL));
	assert_true(nb_moved() > 0);
	fake_assert_empty();
	assert_int_equal(mdv_flow_start(&fake.port), 0);
	assert_int_equal(fake.nb_flows, 6 * FLOWS_OF_ALL + 1);
	check_levels();
	mdv_flow_fini(&fake.port);
	fake_assert_empty();
}

/** Default rules make room, too: a level of their own behind every priority is enough. */
static void
test_default_rules_are_last(void **state)
{
	(void)state;
	fake_init_flow();
	/* While the port is stopped copies may move: no packet can see it. */
	for (uint32_t priority = 0; priority < 15; priority++)
		assert_non_null(create(UINT32_MAX - 1 - priority, COPY));
	assert_true(nb_moved() > 0);
	assert_int_equal(mdv_flow_start(&fake.port), 0);
	assert_null(create(0, COPY));
	for (unsigned int i = 15; i < 18; i++)
		assert_int_equal(fake_flow_at(i)->build.attr.priority, 15);
	/* RETA changes with all levels in use: the new set goes beside the old one. */
	fake.port.reta[0] = 1;
	assert_int_equal(mdv_flow_default_update(&fake.port), 0);
	assert_int_equal(fake.nb_flows, 18);
	mdv_flow_fini(&fake.port);
	fake_assert_empty();
}

#define NB_ALIKE 20

/** What the device gets for rules of one form, in two turns of actions. */
static void
note_alike(struct fake_flow *noted)
{
	for (unsigned int i = 0; i < NB_ALIKE; i++)
		noted[i] = *fake_flow_at(i);
}

/** Rules that keep their values alone come back with these, as the others. */
static void
test_values_come_back(void **state)
{
	static struct fake_flow before[NB_ALIKE], after[NB_ALIKE];
	const struct rte_flow_attr attr = { .ingress = 1 };
	const struct rte_flow_item_eth host = { .hdr.dst_addr.addr_bytes = { 2 } };
	struct rte_flow_item_ipv4 ip = { .hdr.time_to_live = 64 };
	const struct rte_flow_item_ipv4 mask = { .hdr.dst_addr = RTE_BE32(UINT32_MAX) };
	unsigned int nb_alike[2] = { 0 };

	(void)state;
	fake_start_isolated();
	for (unsigned int i = 0; i < NB_ALIKE; i++) {
		const struct rte_flow_action_queue queue = { i % 4 };
		const struct rte_flow_action_mark mark = { i };
		const bool counts = i >= NB_ALIKE / 2;
		const struct rte_flow *flow;

		ip.hdr.dst_addr = RTE_BE32(0x0a000000) + rte_cpu_to_be_32(i);
		ip.hdr.time_to_live++;
		flow = mdv_flow_ops.create(&fake.dev, &attr,
			PATTERN(ITEM_SPEC(ETH, &host), ITEM_MASK(IPV4, &ip, &mask), ITEM(UDP)),
			counts ? ACTIONS(ACTION(COUNT), ACTION_CONF(MARK, &mark),
					 ACTION_CONF(QUEUE, &queue))
			       : ACTIONS(ACTION_CONF(MARK, &mark), ACTION_CONF(QUEUE, &queue)),
			NULL);
		assert_non_null(flow);
		nb_alike[counts] += flow->alike;
		assert_true(counts == (flow->counter != NULL));
	}
	assert_true(nb_alike[false] > 1 && nb_alike[true] > 1);
	note_alike(before);
	mdv_flow_stop(&fake.port);
	assert_int_equal(fake.nb_flows, 0);
	assert_int_equal(mdv_flow_start(&fake.port), 0);
	note_alike(after);
	for (unsigned int i = 0; i < NB_ALIKE; i++) {
		const bool counts = i >= NB_ALIKE / 2;

		assert_int_equal(after[i].qp->table->queues[0], i % 4);
		assert_true((after[i].counters != NULL) == counts);
		assert_int_equal(before[i].build.attr.size, after[i].build.attr.size);
		/* The counters are others than before. */
		assert_memory_equal(before[i].build.bytes, after[i].build.bytes,
			after[i].build.attr.size -
				(counts ? sizeof(struct ibv_flow_spec_counter_action) : 0));
	}
	mdv_flow_fini(&fake.port);
	fake_assert_empty();
}

/** The same actions for the fourth time, of which one has become impossible. */
static void
test_queues_that_have_gone(void **state)
{
	const struct rte_flow_attr attr = { .ingress = 1 };
	struct rte_flow_item_ipv4 ip = { .hdr.dst_addr = 0 };
	struct rte_flow_error error;

	(void)state;
	fake_start_isolated();
	for (unsigned int i = 0; i < 4; i++) {
		struct rte_flow *flow;

		ip.hdr.dst_addr++;
		if (i == 3)
			fake.dev.data->nb_rx_queues = 3;
		flow = mdv_flow_ops.create(&fake.dev, &attr,
			PATTERN(ITEM(ETH), ITEM_SPEC(IPV4, &ip)),
			ACTIONS(ACTION_CONF(QUEUE, &queue_3)), &error);
		assert_true((flow != NULL) == (i < 3));
	}
	assert_string_equal(error.message, "QUEUE: Rx queue 3 does not exist; the port has 0 to 2");
	assert_ptr_equal(error.cause, &queue_3);
	mdv_flow_fini(&fake.port);
	fake_assert_empty();
}

static struct rte_flow *
create_udp(unsigned int port, const struct rte_flow_action *actions)
{
	const struct rte_flow_attr attr = { .ingress = 1 };
	const struct rte_flow_item_udp udp = { .hdr.dst_port = rte_cpu_to_be_16(port) };

	return mdv_flow_ops.create(&fake.dev, &attr,
		PATTERN(ITEM(ETH), ITEM(IPV4), ITEM_SPEC(UDP, &udp)), actions, NULL);
}

/** Some rules of one mask are replaced in any order by others of the same match, each there before
 * the old one goes: as often as the application wants, in two levels. */
static void
test_replacements(void **state)
{
	const struct rte_flow_action *const lists[] = {
		ACTIONS(ACTION(COUNT), ACTION_CONF(QUEUE, &queue_3)),
		ACTIONS(ACTION_CONF(RSS, &rss)),
		COPY,
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(lists); i++) {
		struct rte_flow *flows[20] = { NULL };

		fake_start_isolated();
		for (unsigned int nb = 0; nb < 50 * RTE_DIM(flows); nb++) {
			const unsigned int which = nb * nb / 7 % RTE_DIM(flows);
			struct rte_flow *flow = create_udp(which, lists[i]);

			assert_non_null(flow);
			check_levels();
			if (flows[which] != NULL)
				assert_int_equal(
					mdv_flow_ops.destroy(&fake.dev, flows[which], NULL), 0);
			check_levels();
			flows[which] = flow;
			assert_uint_in_range(fake.port.flow->levels.nb_shapes, 1, 2);
		}
		mdv_flow_fini(&fake.port);
		fake_assert_empty();
	}
}

/** A rule that cannot move up takes its packets where it is, and the older ones go first as before.
 */
static void
test_failing_replacements(void **state)
{
	const struct rte_flow_action *const actions = ACTIONS(ACTION_CONF(RSS, &rss));
	unsigned int nth = 0, nb_stayed = 0;
	bool fails;

	(void)state;
	fake_start_isolated();
	do {
		struct rte_flow *flows[3];

		for (unsigned int i = 0; i < RTE_DIM(flows); i++)
			flows[i] = create_udp(53, actions);
		fake_arm(++nth, ENOMEM);
		assert_int_equal(mdv_flow_ops.destroy(&fake.dev, flows[0], NULL), 0);
		fails = fake.calls >= nth;
		fake_arm(0, 0);
		check_levels();
		assert_true(
			mdv_flow_level_of(&flows[1]->level) < mdv_flow_level_of(&flows[2]->level));
		nb_stayed += flows[2]->level.shape->rank == 2;
		assert_int_equal(flows[2]->level.shape->rank, fails ? 2 : 1);
		for (unsigned int i = 1; i < RTE_DIM(flows); i++)
			assert_int_equal(mdv_flow_ops.destroy(&fake.dev, flows[i], NULL), 0);
		assert_int_equal(fake.nb_flows, 0);
	} while (fails);
	assert_true(nth > 4 && nb_stayed == nth - 1);
	mdv_flow_fini(&fake.port);
	fake_assert_empty();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rss_and_its_first_queue),
		cmocka_unit_test(test_moves),
		cmocka_unit_test(test_copies_stay),
		cmocka_unit_test(test_several_queues_stay),
		cmocka_unit_test(test_failing_moves),
		cmocka_unit_test(test_moves_while_stopped),
		cmocka_unit_test(test_default_rules_are_last),
		cmocka_unit_test(test_values_come_back),
		cmocka_unit_test(test_queues_that_have_gone),
		cmocka_unit_test(test_replacements),
		cmocka_unit_test(test_failing_replacements),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
