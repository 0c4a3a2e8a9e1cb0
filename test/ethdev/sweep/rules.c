/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations of rte_flow: rules at once, with an action that they share, by a queue. */
#include <errno.h>

#include <rte_ethdev.h>
#include <rte_flow.h>

#include "sweep.h"

#define QUEUE      0
#define QUEUE_SIZE 64

static const struct rte_flow_attr ingress = { .ingress = 1 };
static const uint16_t queues[] = { 0, 1 };
static const struct rte_flow_action_rss rss = {
	.queue_num = RTE_DIM(queues),
	.queue = queues,
	.types = RTE_ETH_RSS_IP,
};
static const struct rte_flow_action_queue to_queue = { .index = 1 };
static const struct rte_flow_action only_queue[] = {
	{ .type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &to_queue },
	{ .type = RTE_FLOW_ACTION_TYPE_END },
};

static struct rte_flow *flow, *shared_flow, *queued_flow;
static struct rte_flow_action_handle *shared;
static struct rte_flow_pattern_template *pattern_template;
static struct rte_flow_actions_template *actions_template;
static struct rte_flow_template_table *table;

/** Datagrams to a port. */
struct pattern {
	struct rte_flow_item_udp udp;
	struct rte_flow_item items[4];
};

static const struct rte_flow_item *
pattern_of(struct pattern *pattern, uint16_t dport)
{
	static const struct rte_flow_item_udp mask = { .hdr.dst_port = RTE_BE16(UINT16_MAX) };

	*pattern = (struct pattern){
		.udp.hdr.dst_port = rte_cpu_to_be_16(dport),
		.items = {
			{ .type = RTE_FLOW_ITEM_TYPE_ETH },
			{ .type = RTE_FLOW_ITEM_TYPE_IPV4 },
			{ .type = RTE_FLOW_ITEM_TYPE_UDP, .spec = &pattern->udp, .mask = &mask },
			{ .type = RTE_FLOW_ITEM_TYPE_END },
		},
	};
	return pattern->items;
}

/** @return 0, or what is wrong, of which there is a message. */
static int
outcome(bool ok, const struct rte_flow_error *error)
{
	sweep_must(ok || error->message != NULL, "refused without a message");
	return ok ? 0 : -rte_errno;
}

int
sweep_rule_create(void)
{
	const struct rte_flow_action_mark mark = { .id = 3 };
	struct rte_flow_action actions[] = {
		{ .type = RTE_FLOW_ACTION_TYPE_DEC_TTL },
		{ .type = RTE_FLOW_ACTION_TYPE_MARK, .conf = &mark },
		{ .type = RTE_FLOW_ACTION_TYPE_COUNT },
		{ .type = RTE_FLOW_ACTION_TYPE_RSS, .conf = &rss },
		{ .type = RTE_FLOW_ACTION_TYPE_END },
	};
	struct rte_flow_error error = { 0 };
	struct pattern pattern;

	pattern_of(&pattern, 9);
	flow = rte_flow_create(sweep_port, &ingress, pattern.items, actions, &error);
	if (flow == NULL && rte_errno == ENOTSUP) {
		/* Not every model changes packets. */
		actions[0].type = RTE_FLOW_ACTION_TYPE_VOID;
		flow = rte_flow_create(sweep_port, &ingress, pattern.items, actions, &error);
	}
	return outcome(flow != NULL, &error);
}

int
sweep_rule_query(void)
{
	const struct rte_flow_action count[] = {
		{ .type = RTE_FLOW_ACTION_TYPE_COUNT },
		{ .type = RTE_FLOW_ACTION_TYPE_END },
	};
	struct rte_flow_query_count result = { 0 };
	struct rte_flow_error error;

	return rte_flow_query(sweep_port, flow, count, &result, &error);
}

static int
destroy(struct rte_flow **rule)
{
	struct rte_flow_error error;
	int ret = rte_flow_destroy(sweep_port, *rule, &error);

	*rule = ret == 0 ? NULL : *rule;
	return ret;
}

int
sweep_rule_destroy(void)
{
	return destroy(&flow);
}

void
sweep_rule_forget(void)
{
	flow = NULL;
}

int
sweep_rule_share(void)
{
	const struct rte_flow_indir_action_conf conf = { .ingress = 1 };
	const struct rte_flow_action action = { .type = RTE_FLOW_ACTION_TYPE_RSS, .conf = &rss };
	struct rte_flow_error error = { 0 };

	shared = rte_flow_action_handle_create(sweep_port, &conf, &action, &error);
	return outcome(shared != NULL, &error);
}

int
sweep_rule_unshare(void)
{
	struct rte_flow_error error;

	return rte_flow_action_handle_destroy(sweep_port, shared, &error);
}

int
sweep_rule_create_shared(void)
{
	const struct rte_flow_action actions[] = {
		{ .type = RTE_FLOW_ACTION_TYPE_INDIRECT, .conf = shared },
		{ .type = RTE_FLOW_ACTION_TYPE_END },
	};
	struct rte_flow_error error = { 0 };
	struct pattern pattern;

	shared_flow =
		rte_flow_create(sweep_port, &ingress, pattern_of(&pattern, 10), actions, &error);
	return outcome(shared_flow != NULL, &error);
}

/** The queues change places each time. */
int
sweep_rule_update_shared(void)
{
	static bool is_turned;
	const uint16_t turned[] = { is_turned ? 0 : 1, is_turned ? 1 : 0 };
	const struct rte_flow_action_rss update = {
		.queue_num = RTE_DIM(turned),
		.queue = turned,
		.types = RTE_ETH_RSS_IP,
	};
	const struct rte_flow_action action = { .type = RTE_FLOW_ACTION_TYPE_RSS, .conf = &update };
	struct rte_flow_error error = { 0 };
	int ret = rte_flow_action_handle_update(sweep_port, shared, &action, &error);

	is_turned ^= ret == 0;
	return outcome(ret == 0, &error);
}

int
sweep_rule_destroy_shared(void)
{
	return destroy(&shared_flow);
}

int
sweep_rule_queues(void)
{
	const struct rte_flow_port_attr attr = { 0 };
	const struct rte_flow_queue_attr queue = { .size = QUEUE_SIZE };
	const struct rte_flow_queue_attr *all[] = { &queue };
	struct rte_flow_error error = { 0 };

	return outcome(rte_flow_configure(sweep_port, &attr, 1, all, &error) == 0, &error);
}

int
sweep_rule_destroy_templates(void)
{
	struct rte_flow_error error;
	int ret = 0;

	if (table != NULL)
		ret = rte_flow_template_table_destroy(sweep_port, table, &error);
	table = NULL;
	if (ret == 0 && actions_template != NULL)
		ret = rte_flow_actions_template_destroy(sweep_port, actions_template, &error);
	actions_template = NULL;
	if (ret == 0 && pattern_template != NULL)
		ret = rte_flow_pattern_template_destroy(sweep_port, pattern_template, &error);
	pattern_template = NULL;
	return ret;
}

int
sweep_rule_make_templates(void)
{
	const struct rte_flow_pattern_template_attr by_mask = { .relaxed_matching = 1,
		.ingress = 1 };
	const struct rte_flow_actions_template_attr actions_attr = { .ingress = 1 };
	const struct rte_flow_template_table_attr attr = {
		.flow_attr = ingress,
		.nb_flows = QUEUE_SIZE,
	};
	struct rte_flow_error error = { 0 };
	struct pattern pattern;
	int ret;

	pattern_template = rte_flow_pattern_template_create(
		sweep_port, &by_mask, pattern_of(&pattern, 0), &error);
	if (pattern_template != NULL)
		actions_template = rte_flow_actions_template_create(
			sweep_port, &actions_attr, only_queue, only_queue, &error);
	if (actions_template != NULL)
		table = rte_flow_template_table_create(
			sweep_port, &attr, &pattern_template, 1, &actions_template, 1, &error);
	ret = outcome(table != NULL, &error);
	if (ret != 0)
		sweep_must(sweep_rule_destroy_templates() == 0, "templates cannot be destroyed");
	return ret;
}

/** @return what became of the one operation that waits. */
static int
pull(void)
{
	struct rte_flow_op_result result;
	struct rte_flow_error error;
	int nb = rte_flow_pull(sweep_port, QUEUE, &result, 1, &error);

	if (nb < 0)
		return nb;
	sweep_must(nb == 1, "%d results", nb);
	return result.status == RTE_FLOW_OP_SUCCESS ? 0 : -ENOMEM;
}

int
sweep_rule_dequeue(void)
{
	const struct rte_flow_op_attr attr = { 0 };
	struct rte_flow_error error = { 0 };

	if (rte_flow_async_destroy(sweep_port, QUEUE, &attr, queued_flow, NULL, &error) != 0)
		return outcome(false, &error);
	queued_flow = NULL;
	return pull();
}

int
sweep_rule_enqueue(void)
{
	const struct rte_flow_op_attr attr = { 0 };
	struct rte_flow_error error = { 0 };
	struct pattern pattern;
	int ret;

	queued_flow = rte_flow_async_create(sweep_port, QUEUE, &attr, table,
		pattern_of(&pattern, 11), 0, only_queue, 0, NULL, &error);
	if (queued_flow == NULL)
		return outcome(false, &error);
	ret = pull();
	/* The handle of a rule that did not come to be is there all the same. */
	if (ret != 0)
		sweep_must(sweep_rule_dequeue() == 0, "the handle cannot be destroyed");
	return ret;
}

int
sweep_rule_isolate(void)
{
	struct rte_flow_error error;

	return rte_flow_isolate(sweep_port, 1, &error);
}

int
sweep_rule_join(void)
{
	struct rte_flow_error error;

	return rte_flow_isolate(sweep_port, 0, &error);
}
