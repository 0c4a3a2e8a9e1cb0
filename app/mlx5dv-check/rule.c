/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules of frames from one source. */
#include <errno.h>

#include <rte_flow.h>

#include "check.h"

#define ACTIONS_MAX 4

/** @return the actions of @p rule, up to and with the end */
static void
write_actions(const struct check_rule *rule, const struct rte_flow_action_queue *queue,
	struct rte_flow_action *actions)
{
	static const struct rte_flow_action_mark mark = { .id = CHECK_RULE_MARK };
	static const struct rte_flow_action_count count = { 0 };
	static const struct rte_flow_action_queue first = { .index = 1 };
	static const struct rte_flow_action copy[] = {
		{ .type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &first },
		{ .type = RTE_FLOW_ACTION_TYPE_END },
	};
	static const struct rte_flow_action_sample sample = { .ratio = 1, .actions = copy };

	if (rule->passthru)
		(actions++)->type = RTE_FLOW_ACTION_TYPE_PASSTHRU;
	if (rule->marked)
		*actions++ = (struct rte_flow_action){ RTE_FLOW_ACTION_TYPE_MARK, &mark };
	if (rule->flagged)
		(actions++)->type = RTE_FLOW_ACTION_TYPE_FLAG;
	if (rule->sampled)
		*actions++ = (struct rte_flow_action){ RTE_FLOW_ACTION_TYPE_SAMPLE, &sample };
	if (rule->counted)
		*actions++ = (struct rte_flow_action){ RTE_FLOW_ACTION_TYPE_COUNT, &count };
	if (rule->drop)
		(actions++)->type = RTE_FLOW_ACTION_TYPE_DROP;
	else
		*actions++ = (struct rte_flow_action){ RTE_FLOW_ACTION_TYPE_QUEUE, queue };
	actions->type = RTE_FLOW_ACTION_TYPE_END;
}

struct rte_flow *
check_flow_create(struct check *check, const struct rte_flow_attr *attr,
	const struct rte_flow_item *pattern, const struct rte_flow_action *actions)
{
	struct rte_flow_error error = { 0 };
	struct rte_flow *flow =
		rte_flow_create(check->port[CHECK_PORT].id, attr, pattern, actions, &error);

	if (flow == NULL)
		(void)check_end(check, rte_errno == ENOTSUP ? CHECK_ABSENT : CHECK_FAIL,
			"the rule was refused: %s",
			error.message != NULL ? error.message : rte_strerror(rte_errno));
	return flow;
}

struct rte_flow *
check_rule_create(struct check *check, const struct check_rule *rule)
{
	static const struct rte_ether_addr whole = { { 255, 255, 255, 255, 255, 255 } };
	const struct rte_flow_attr attr = { .ingress = 1, .priority = rule->priority };
	const struct rte_flow_action_queue queue = { .index = rule->queue };
	struct rte_flow_item_eth spec = { .hdr.src_addr = { { 2, 0, 0, 0, 1, CHECK_RULE_SRC } } };
	struct rte_flow_item_eth mask = { .hdr.src_addr = whole };
	const struct rte_flow_item pattern[] = {
		{ .type = RTE_FLOW_ITEM_TYPE_ETH, .spec = &spec, .mask = &mask },
		{ .type = RTE_FLOW_ITEM_TYPE_END },
	};
	struct rte_flow_action actions[ACTIONS_MAX + 1] = { 0 };

	if (rule->with_dst) {
		spec.hdr.dst_addr = check->port[CHECK_PORT].mac;
		mask.hdr.dst_addr = whole;
	}
	write_actions(rule, &queue, actions);
	return check_flow_create(check, &attr, pattern, actions);
}

enum check_result
check_rules_destroy(
	struct check *check, struct rte_flow **flows, unsigned int nb, enum check_result result)
{
	struct rte_flow_error error = { 0 };

	while (nb-- > 0)
		if (rte_flow_destroy(check->port[CHECK_PORT].id, flows[nb], &error) != 0)
			result = check_fail(check, "the rule was not removed: %s",
				error.message != NULL ? error.message : "no reason");
	return result;
}

enum check_result
check_rules_create(struct check *check, const struct check_rule *rules, unsigned int nb,
	struct rte_flow **flows)
{
	for (unsigned int i = 0; i < nb; i++) {
		flows[i] = check_rule_create(check, &rules[i]);
		if (flows[i] == NULL)
			return check_rules_destroy(
				check, flows, i, rte_errno == ENOTSUP ? CHECK_ABSENT : CHECK_FAIL);
	}
	return CHECK_PASS;
}
