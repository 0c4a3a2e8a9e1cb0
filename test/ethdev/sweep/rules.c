/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations of rte_flow on a running port: rules at once, with actions that they share, by a
 * queue. */
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
static struct rte_flow_action_handle *shared, *counter;
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
	return ok ? 0 : sweep_reason();
}

static const struct rte_flow_action_mark mark = { .id = 3 };
static struct rte_flow_action all_actions[] = {
	{ .type = RTE_FLOW_ACTION_TYPE_VOID },
	{ .type = RTE_FLOW_ACTION_TYPE_MARK, .conf = &mark },
	{ .type = RTE_FLOW_ACTION_TYPE_COUNT },
	{ .type = RTE_FLOW_ACTION_TYPE_RSS, .conf = &rss },
	{ .type = RTE_FLOW_ACTION_TYPE_END },
};

static int
validate(void)
{
	struct rte_flow_error error = { 0 };
	struct pattern pattern;
	int ret = rte_flow_validate(
		sweep_port, &ingress, pattern_of(&pattern, 9), all_actions, &error);

	return outcome(ret == 0, &error);
}

/** Not every model changes packets: on the others rules go without. */
static int
validate_change(void)
{
	int ret;

	all_actions[0].type = RTE_FLOW_ACTION_TYPE_DEC_TTL;
	ret = validate();
	if (ret != 0)
		all_actions[0].type = RTE_FLOW_ACTION_TYPE_VOID;
	return ret;
}

static int
create(void)
{
	struct rte_flow_error error = { 0 };
	struct pattern pattern;

	flow = rte_flow_create(sweep_port, &ingress, pattern_of(&pattern, 9), all_actions, &error);
	return outcome(flow != NULL, &error);
}

static int
query(void)
{
	const struct rte_flow_action count[] = {
		{ .type = RTE_FLOW_ACTION_TYPE_COUNT },
		{ .type = RTE_FLOW_ACTION_TYPE_END },
	};
	struct rte_flow_query_count result = { 0 };
	struct rte_flow_error error = { 0 };

	return outcome(rte_flow_query(sweep_port, flow, count, &result, &error) == 0, &error);
}

static int
drop(struct rte_flow **rule)
{
	struct rte_flow_error error = { 0 };
	int ret = rte_flow_destroy(sweep_port, *rule, &error);

	*rule = ret == 0 ? NULL : *rule;
	return outcome(ret == 0, &error);
}

static int
destroy(void)
{
	return drop(&flow);
}

void
sweep_rules_forget(void)
{
	flow = NULL;
}

static int
make_shared(void)
{
	const struct rte_flow_indir_action_conf conf = { .ingress = 1 };
	const struct rte_flow_action action = { .type = RTE_FLOW_ACTION_TYPE_RSS, .conf = &rss };
	struct rte_flow_error error = { 0 };

	shared = rte_flow_action_handle_create(sweep_port, &conf, &action, &error);
	return outcome(shared != NULL, &error);
}

static int
unmake_shared(void)
{
	struct rte_flow_error error = { 0 };
	int ret = rte_flow_action_handle_destroy(sweep_port, shared, &error);

	return outcome(ret == 0, &error);
}

/** A rule with what is shared: its queues, or its counter besides. */
static int
create_with(const struct rte_flow_action *actions)
{
	struct rte_flow_error error = { 0 };
	struct pattern pattern;

	shared_flow =
		rte_flow_create(sweep_port, &ingress, pattern_of(&pattern, 10), actions, &error);
	return outcome(shared_flow != NULL, &error);
}

static int
create_shared(void)
{
	const struct rte_flow_action actions[] = {
		{ .type = RTE_FLOW_ACTION_TYPE_INDIRECT, .conf = shared },
		{ .type = RTE_FLOW_ACTION_TYPE_END },
	};

	return create_with(actions);
}

static int
create_counted(void)
{
	const struct rte_flow_action actions[] = {
		{ .type = RTE_FLOW_ACTION_TYPE_INDIRECT, .conf = shared },
		{ .type = RTE_FLOW_ACTION_TYPE_INDIRECT, .conf = counter },
		{ .type = RTE_FLOW_ACTION_TYPE_END },
	};

	return create_with(actions);
}

static bool is_turned;
static const uint16_t turned[] = { 1, 0 };

/** The queues change places with each update. */
static struct rte_flow_action_rss
turned_rss(void)
{
	return (struct rte_flow_action_rss){
		.queue_num = RTE_DIM(queues),
		.queue = is_turned ? queues : turned,
		.types = RTE_ETH_RSS_IP,
	};
}

static int
update_shared(void)
{
	const struct rte_flow_action_rss update = turned_rss();
	const struct rte_flow_action action = { .type = RTE_FLOW_ACTION_TYPE_RSS, .conf = &update };
	struct rte_flow_error error = { 0 };
	int ret = rte_flow_action_handle_update(sweep_port, shared, &action, &error);

	is_turned ^= ret == 0;
	return outcome(ret == 0, &error);
}

static int
destroy_shared(void)
{
	return drop(&shared_flow);
}

int
sweep_rules_configure(void)
{
	const struct rte_flow_port_attr attr = { 0 };
	const struct rte_flow_queue_attr queue = { .size = QUEUE_SIZE };
	const struct rte_flow_queue_attr *all[] = { &queue };
	struct rte_flow_error error = { 0 };

	return outcome(rte_flow_configure(sweep_port, &attr, 1, all, &error) == 0, &error);
}

static int
destroy_templates(void)
{
	struct rte_flow_error error = { 0 };
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
	return outcome(ret == 0, &error);
}

static int
make_templates(void)
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
		sweep_must(destroy_templates() == 0, "templates cannot be destroyed");
	return ret;
}

/** @return what became of the one operation that waits. */
static int
pull(void)
{
	struct rte_flow_op_result result;
	struct rte_flow_error error = { 0 };
	int nb = rte_flow_push(sweep_port, QUEUE, &error);

	if (nb == 0)
		nb = rte_flow_pull(sweep_port, QUEUE, &result, 1, &error);
	if (nb < 0)
		return outcome(false, &error);
	sweep_must(nb == 1, "%d results", nb);
	return result.status == RTE_FLOW_OP_SUCCESS ? 0 : -ENOMEM;
}

static int
dequeue(void)
{
	const struct rte_flow_op_attr attr = { .postpone = 1 };
	struct rte_flow_error error = { 0 };

	if (rte_flow_async_destroy(sweep_port, QUEUE, &attr, queued_flow, NULL, &error) != 0)
		return outcome(false, &error);
	queued_flow = NULL;
	return pull();
}

static int
enqueue(void)
{
	const struct rte_flow_op_attr attr = { .postpone = 1 };
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
		sweep_must(dequeue() == 0, "the handle cannot be destroyed");
	return ret;
}

/** An action by the queue: done at once, or refused when it is pulled. */
static int
share_by_queue(void)
{
	const struct rte_flow_indir_action_conf conf = { .ingress = 1 };
	const struct rte_flow_action action = { .type = RTE_FLOW_ACTION_TYPE_COUNT };
	const struct rte_flow_op_attr attr = { 0 };
	struct rte_flow_error error = { 0 };

	counter = rte_flow_async_action_handle_create(
		sweep_port, QUEUE, &attr, &conf, &action, NULL, &error);
	return counter == NULL ? outcome(false, &error) : pull();
}

static int
unshare_by_queue(void)
{
	const struct rte_flow_op_attr attr = { 0 };
	struct rte_flow_error error = { 0 };
	int ret = rte_flow_async_action_handle_destroy(
		sweep_port, QUEUE, &attr, counter, NULL, &error);

	return ret != 0 ? outcome(false, &error) : pull();
}

static int
update_by_queue(void)
{
	const struct rte_flow_action_rss update = turned_rss();
	const struct rte_flow_action action = { .type = RTE_FLOW_ACTION_TYPE_RSS, .conf = &update };
	const struct rte_flow_op_attr attr = { 0 };
	struct rte_flow_error error = { 0 };
	int ret = rte_flow_async_action_handle_update(
		sweep_port, QUEUE, &attr, shared, &action, NULL, &error);

	ret = ret != 0 ? outcome(false, &error) : pull();
	is_turned ^= ret == 0;
	return ret;
}

static int
query_by_queue(void)
{
	const struct rte_flow_op_attr attr = { 0 };
	struct rte_flow_query_count result = { 0 };
	struct rte_flow_error error = { 0 };
	int ret = rte_flow_async_action_handle_query(
		sweep_port, QUEUE, &attr, counter, &result, NULL, &error);

	return ret != 0 ? outcome(false, &error) : pull();
}

static int
query_shared(void)
{
	struct rte_flow_query_count result = { 0 };
	struct rte_flow_error error = { 0 };

	return outcome(
		rte_flow_action_handle_query(sweep_port, counter, &result, &error) == 0, &error);
}

static int
get_info(void)
{
	struct rte_flow_port_info port_info;
	struct rte_flow_queue_info queue_info;
	struct rte_flow_error error = { 0 };

	return outcome(rte_flow_info_get(sweep_port, &port_info, &queue_info, &error) == 0, &error);
}

static int
dump(void)
{
	struct rte_flow_error error = { 0 };
	FILE *sink = fopen("/dev/null", "w");
	int ret = rte_flow_dev_dump(sweep_port, NULL, sink, &error);

	fclose(sink);
	return outcome(ret == 0, &error);
}

static int
flush(void)
{
	struct rte_flow_error error = { 0 };
	int ret = rte_flow_flush(sweep_port, &error);

	flow = ret == 0 ? NULL : flow;
	return outcome(ret == 0, &error);
}

SWEEP_OPERATION(isolate, rte_flow_isolate(sweep_port, 1, NULL))
SWEEP_OPERATION(join, rte_flow_isolate(sweep_port, 0, NULL))

/* clang-format off */
const struct sweep_operation sweep_rules[] = {
	{ "info_get", get_info, NULL, 0 },
	{ "validate (of a change)", validate_change, NULL, 0 },
	{ "validate", validate, NULL, 0 },
	{ "create", create, destroy, 0 },
	{ "query", query, NULL, 0 },
	{ "action_handle_create", make_shared, unmake_shared, 0 },
	{ "create (of it)", create_shared, destroy_shared, 0 },
	{ "action_handle_update", update_shared, update_shared, 0 },
	{ "async_action_handle_update", update_by_queue, update_by_queue, 0 },
	{ "destroy (of it)", destroy_shared, create_shared, 0 },
	{ "async_action_handle_create", share_by_queue, unshare_by_queue, 0 },
	{ "create (counted by it)", create_counted, destroy_shared, 0 },
	{ "async_action_handle_query", query_by_queue, NULL, 0 },
	{ "action_handle_query", query_shared, NULL, 0 },
	{ "destroy (counted by it)", destroy_shared, create_counted, 0 },
	{ "async_action_handle_destroy", unshare_by_queue, share_by_queue, 0 },
	{ "action_handle_destroy", unmake_shared, make_shared, 0 },
	{ "pattern_template_create actions_template_create template_table_create", make_templates,
		destroy_templates, 0 },
	{ "async_create push pull", enqueue, dequeue, 0 },
	{ "dev_dump", dump, NULL, 0 },
	{ "async_destroy", dequeue, enqueue, 0 },
	{ "pattern_template_destroy actions_template_destroy template_table_destroy",
		destroy_templates, make_templates, 0 },
	{ "isolate (with rules)", isolate, join, SWEEP_QUIET },
	{ "isolate (no more, with rules)", join, isolate, 0 },
	{ "destroy", destroy, create, 0 },
	{ "create (again)", create, destroy, 0 },
	{ "flush", flush, create, 0 },
	{ "create (to stay)", create, destroy, 0 },
	{ NULL },
};
/* clang-format on */
