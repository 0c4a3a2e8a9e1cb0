/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Updates of indirect actions in copying rules: at each step a packet hits one entry of the one
 * table that has any of its rules, for all forms of rules and whichever call fails.
 */

#include <errno.h>
#include <string.h>

#include <rte_flow_driver.h>

#include "fake_verbs.h"
#include "flow/match/flow_key.h"
#include "flow/rule/flow_install.h"
#include "flow/rule/flow_state.h"

/* clang-format off */
static const struct rte_flow_attr ingress = { .ingress = 1 };
static const struct rte_flow_indir_action_conf in = { .ingress = 1 };
static const struct rte_flow_action_queue queue_1 = { 1 }, queue_2 = { 2 }, queue_3 = { 3 };
static const uint16_t queues[] = { 1, 2 };
static const struct rte_flow_action_rss rss_1 = { .types = RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_IPV6,
	.queue_num = 1, .queue = queues };
static const struct rte_flow_action_rss rss_2 = { .types = RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_IPV6,
	.queue_num = 1, .queue = &queues[1] };
static const struct rte_flow_item_eth both = { .dst.addr_bytes = { 2 }, .src.addr_bytes = { 2 } };
static const struct rte_flow_item_eth all_but_one = { .dst.addr_bytes = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xf7 },
	.src.addr_bytes = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff } };
static const struct rte_flow_item_udp udp_53 = { .hdr.dst_port = RTE_BE16(53) };

static const struct rte_flow_item *const patterns[] = {
	PATTERN(ITEM(VOID)),
	PATTERN(ITEM(ETH)),
	PATTERN(ITEM(ETH), ITEM(VLAN)),
	PATTERN(ITEM_SPEC(UDP, &udp_53)),
	PATTERN(ITEM(ETH), ITEM(IPV4), ITEM_SPEC(UDP, &udp_53)),
	PATTERN(ITEM_MASK(ETH, &both, &all_but_one), ITEM(IPV6)),
};
/* clang-format on */

static struct rte_flow_action updated; /* the destination's new form */
static unsigned int steps;
static struct mdv_flow_match rule_match;

/** @return whether the packets are those of the rule; the halves' further bit may be in any
 * address. */
static bool
hits(const struct mdv_flow_match *match, uint64_t random)
{
	struct mdv_flow_key packet = rule_match.value;

	for (unsigned int i = 0; i < MDV_FLOW_KEY_WORDS; i++) {
		packet.words[i] |= random & ~rule_match.mask.words[i];
		random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
		if (((packet.words[i] ^ match->value.words[i]) & match->mask.words[i]) != 0 &&
			(match->mask.words[i] & ~rule_match.mask.words[i]) != 0)
			return false;
	}
	return true;
}

/** Check that there is one table, with one entry for each packet. */
static void
check_step(void)
{
	struct fake_flow *flow;

	steps++;
	for (unsigned int i = 0; i < 32; i++) {
		const uint64_t random = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
		bool any = false;

		TAILQ_FOREACH (flow, &fake.flows, next) {
			struct mdv_flow_match match;

			assert_int_equal(
				flow->build.attr.priority, fake_flow_at(0)->build.attr.priority);
			assert_int_equal(flow->build.attr.flags, IBV_FLOW_ATTR_FLAGS_DONT_TRAP);
			assert_int_equal(mdv_flow_key_match(&flow->build, &match), 0);
			any = any || hits(&match, random);
		}
		assert_true(any);
	}
}

static struct ibv_flow *(*create_flow)(struct ibv_qp *qp, struct ibv_flow_attr *attr);
static int (*destroy_flow)(struct ibv_flow *flow);

static struct ibv_flow *
watched_create(struct ibv_qp *qp, struct ibv_flow_attr *attr)
{
	struct ibv_flow *flow = create_flow(qp, attr);

	check_step();
	return flow;
}

static int
watched_destroy(struct ibv_flow *flow)
{
	int ret = destroy_flow(flow);

	check_step();
	return ret;
}

static struct rte_flow_action_handle *
start(const struct rte_flow_item *pattern, const struct rte_flow_action *shared, unsigned int nb)
{
	struct rte_flow_action_handle *handle;
	struct rte_flow_action list[] = { ACTION(COUNT), ACTION(INDIRECT), ACTION(PASSTHRU),
		ACTION(END), ACTION(END) };

	fake_init_flow();
	fake.port.isolated = true;
	assert_int_equal(mdv_flow_start(&fake.port), 0);
	handle = mdv_flow_ops.action_handle_create(&fake.dev, &in, shared, NULL);
	assert_non_null(handle);
	list[1].conf = handle;
	if (nb > 1)
		list[3] = (struct rte_flow_action)ACTION_CONF(QUEUE, &queue_3);
	assert_non_null(mdv_flow_ops.create(&fake.dev, &ingress, pattern, list, NULL));
	assert_int_equal(
		mdv_flow_key_match(&fake_flow_at(fake.nb_flows - 1)->build, &rule_match), 0);
	create_flow = fake.context.ibv_create_flow;
	destroy_flow = fake.context.ibv_destroy_flow;
	steps = 0;
	return handle;
}

static void
watch(bool on)
{
	fake.context.ibv_create_flow = on ? watched_create : create_flow;
	fake.context.ibv_destroy_flow = on ? watched_destroy : destroy_flow;
}

static void
end(void)
{
	watch(false);
	mdv_flow_fini(&fake.port);
	fake_assert_empty();
}

static unsigned int
first_queue(unsigned int index)
{
	return fake_flow_at(index)->qp->table->queues[0];
}

/** Each packet hits one entry at each step, and the end state is that of a rule created so. */
static void
test_once(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 2 * RTE_DIM(patterns); i++) {
		const bool rss = i % 2 == 1;
		const struct rte_flow_action before[] = { ACTION_CONF(QUEUE, &queue_1),
			ACTION_CONF(RSS, &rss_1) };
		const struct rte_flow_action after[] = { ACTION_CONF(QUEUE, &queue_2),
			ACTION_CONF(RSS, &rss_2) };
		struct rte_flow_action_handle *handle = start(patterns[i / 2], &before[rss], 1);
		const unsigned int nb = fake.nb_flows;

		watch(true);
		for (unsigned int round = 0; round < 3; round++) {
			updated = round % 2 == 0 ? after[rss] : before[rss];
			assert_int_equal(mdv_flow_ops.action_handle_update(
						 &fake.dev, handle, &updated, NULL),
				0);
			assert_int_equal(fake.nb_flows, nb);
			assert_int_equal(fake.nb_counters, 1);
			assert_int_equal(fake.port.flow->levels.nb_shapes, 1);
			for (unsigned int j = 0; j < nb; j++)
				assert_int_equal(first_queue(j), round % 2 == 0 ? 2 : 1);
		}
		/* For each rule two halves come, the old rule goes, the new one comes, the halves
		 * go. */
		assert_int_equal(steps, 3 * nb * 6);
		end();
	}
}

/** An update is done or not done; a rule left in halves is whole again after the next one. */
static void
test_failing(void **state)
{
	const struct rte_flow_action to_1 = ACTION_CONF(QUEUE, &queue_1);
	struct rte_flow_action_handle *handle = start(patterns[3], &to_1, 1);
	unsigned int queue = 1, in_halves = 0;

	(void)state;
	for (unsigned int nth = 1; nth < 40; nth++) {
		struct rte_flow_error error = { .message = NULL };
		int ret;

		/* If the halves fail, the update takes two levels, where it may copy twice. */
		fake_arm(nth % 20, ENOMEM);
		updated = (struct rte_flow_action)ACTION_CONF(
			QUEUE, queue == 1 ? &queue_2 : &queue_1);
		ret = mdv_flow_ops.action_handle_update(&fake.dev, handle, &updated, &error);
		fake_arm(0, 0);
		queue = ret == 0 ? 3 - queue : queue;
		assert_true(ret == 0 || error.message != NULL);
		assert_uint_in_range(fake.nb_flows, 1, 2);
		in_halves += fake.nb_flows - 1;
		assert_int_equal(first_queue(0), queue);
		assert_int_equal(first_queue(fake.nb_flows - 1), queue);
	}
	assert_true(in_halves != 0);
	watch(true);
	updated = to_1;
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(
			mdv_flow_ops.action_handle_update(&fake.dev, handle, &updated, NULL), 0);
	assert_int_equal(fake.nb_flows, 1);
	assert_int_equal(fake.port.flow->levels.nb_shapes, 1);
	end();
}

/** Where the halves are refused, the rule goes by another table and back; no rule stays whole in
 * another table, or is installed there once more. */
static void
test_halves_refused(void **state)
{
	const struct rte_flow_action to_1 = ACTION_CONF(QUEUE, &queue_1);
	unsigned int nb_tables = 0;

	(void)state;
	for (unsigned int nth = 1; nth < 20; nth++) {
		struct rte_flow_action_handle *handle = start(patterns[3], &to_1, 1);
		const struct rte_flow *rule = TAILQ_FIRST(&fake.port.flow->rules);

		fake_arm(nth, ENOMEM);
		updated = (struct rte_flow_action)ACTION_CONF(QUEUE, &queue_2);
		(void)mdv_flow_ops.action_handle_update(&fake.dev, handle, &updated, NULL);
		fake_arm(0, 0);
		assert_int_equal(rule->level.shape->turn, 0);
		assert_int_equal(fake.nb_flows, rule->is_split ? 2 : 1);
		/* One rule at first, one by another table, one at home again. */
		nb_tables += fake.nb_created == 3 && fake.nb_flows == 1;
		end();
	}
	assert_true(nb_tables != 0);
}

/** Types that split the rule otherwise: its parts are those of a rule created so, in a table where
 * the deeper one has the first slot, and no rule with one of their masks is there. */
static void
test_other_parts(void **state)
{
	static const struct rte_flow_item_ipv4 dst_1 = { .hdr.dst_addr = RTE_BE32(0x0a000001) };
	static const struct rte_flow_item_ipv4 dst_2 = { .hdr.dst_addr = RTE_BE32(0x0a000002) };
	static const struct rte_flow_item_ipv4 dst = { .hdr.dst_addr = RTE_BE32(UINT32_MAX) };
	const struct rte_flow_action_rss udp = {
		.types = RTE_ETH_RSS_NONFRAG_IPV4_UDP, .queue_num = 2, .queue = queues
	};
	const struct rte_flow_action_rss addresses = {
		.types = RTE_ETH_RSS_IPV4, .queue_num = 2, .queue = queues
	};
	const struct rte_flow_action before = ACTION_CONF(RSS, &addresses);
	const struct mdv_flow_shape *shape, *others;
	struct rte_flow_action_handle *handle;
	struct rte_flow *rule, *other;

	(void)state;
	handle = start(PATTERN(ITEM(ETH), ITEM_MASK(IPV4, &dst_1, &dst)), &before, 1);
	rule = TAILQ_FIRST(&fake.port.flow->rules);
	other = mdv_flow_ops.create(&fake.dev, &ingress,
		PATTERN(ITEM(ETH), ITEM_MASK(IPV4, &dst_2, &dst)),
		ACTIONS(ACTION_CONF(RSS, &addresses), ACTION(PASSTHRU)), NULL);
	assert_non_null(other);
	assert_ptr_equal(rule->level.shape, other->level.shape);
	for (unsigned int round = 0; round < 4; round++) {
		const unsigned int nb = round % 2 == 0 ? 2 : 1;

		updated = (struct rte_flow_action)ACTION_CONF(RSS, nb == 2 ? &udp : &addresses);
		assert_int_equal(
			mdv_flow_ops.action_handle_update(&fake.dev, handle, &updated, NULL), 0);
		shape = rule->level.shape;
		others = other->level.shape;
		assert_int_equal(fake.nb_flows, 1 + nb);
		assert_int_equal(rule->present.nb, nb);
		assert_int_equal(shape->nb_masks, nb);
		assert_int_equal(shape->turn, 0);
		assert_int_equal(others->nb_masks, 1);
		assert_true(nb == 1 || shape->level != others->level);
	}
	end();
}

/** No bit left, or a further queue beside the handle: two levels, as for taking rules. */
static void
test_two_levels(void **state)
{
	static const struct rte_flow_item_eth whole = {
		.dst.addr_bytes = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
		.src.addr_bytes = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
	};
	const struct rte_flow_action to_1 = ACTION_CONF(QUEUE, &queue_1);
	struct rte_flow_action_handle *handle;

	(void)state;
	updated = (struct rte_flow_action)ACTION_CONF(QUEUE, &queue_2);
	for (unsigned int nb = 1; nb < 3; nb++) {
		handle = start(
			nb == 1 ? PATTERN(ITEM_MASK(ETH, &both, &whole)) : patterns[1], &to_1, nb);
		assert_int_equal(fake.nb_flows, nb);
		assert_int_equal(
			mdv_flow_ops.action_handle_update(&fake.dev, handle, &updated, NULL), 0);
		assert_int_equal(fake.nb_flows, nb);
		assert_int_equal(fake.max_flows, 2 * nb);
		assert_int_equal(first_queue(0), 2);
		end();
	}
}

/** A rule that changes packets changes them alike at its new queue, whichever call fails. */
static void
check_modifying(const struct rte_flow_action list[], struct rte_flow_action_handle *handle)
{
	const struct rte_flow_action_queue *const to[] = { &queue_1, &queue_2 };
	struct fake_action before;
	unsigned int queue = 1;

	assert_non_null(mdv_flow_ops.create(&fake.dev, &ingress, patterns[4], list, NULL));
	before = *fake_flow_at(0)->actions[0];
	for (unsigned int nth = 0; nth < 20; nth++) {
		int ret;

		updated = (struct rte_flow_action)ACTION_CONF(QUEUE, to[queue % 2]);
		fake_arm(nth, ENOMEM);
		ret = mdv_flow_ops.action_handle_update(&fake.dev, handle, &updated, NULL);
		fake_arm(0, 0);
		queue = ret == 0 ? 3 - queue : queue;
		assert_uint_in_range(fake.nb_flows, 1, 2);
		assert_int_equal(fake.nb_actions, 1);
		for (unsigned int i = 0; i < fake.nb_flows; i++) {
			const struct fake_action *action = fake_flow_at(i)->actions[0];

			assert_int_equal(first_queue(i), queue);
			assert_non_null(action);
			assert_int_equal(action->reformat, before.reformat);
			assert_int_equal(action->nb_bytes, before.nb_bytes);
			assert_memory_equal(action->bytes, before.bytes, before.nb_bytes);
		}
	}
}

/** One that takes packets, and one that copies them, which goes by halves. */
static void
test_modifying(void **state)
{
	static const struct rte_flow_action_set_ttl ttl = { 9 };
	const struct rte_flow_action to_1 = ACTION_CONF(QUEUE, &queue_1);

	(void)state;
	for (unsigned int copies = 0; copies < 2; copies++) {
		struct rte_flow_action list[] = { ACTION_CONF(SET_TTL, &ttl), ACTION(INDIRECT),
			ACTION(END), ACTION(END) };
		struct rte_flow_action_handle *handle;

		fake_start_isolated();
		handle = mdv_flow_ops.action_handle_create(&fake.dev, &in, &to_1, NULL);
		assert_non_null(handle);
		list[1].conf = handle;
		if (copies != 0)
			list[2].type = RTE_FLOW_ACTION_TYPE_PASSTHRU;
		check_modifying(list, handle);
		fake_end_flow();
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_once),
		cmocka_unit_test(test_failing),
		cmocka_unit_test(test_halves_refused),
		cmocka_unit_test(test_other_parts),
		cmocka_unit_test(test_two_levels),
		cmocka_unit_test(test_modifying),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
