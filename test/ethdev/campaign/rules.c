/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules of rte_flow, each for a UDP port of its own. */
#include <string.h>

#include "campaign.h"

/** Parts of a rule besides its destination. */
enum more {
	MORE_COUNT = 1 << 0,
	MORE_PASSTHRU = 1 << 1,
	MORE_PRIORITY = 1 << 2,
};

struct actions {
	struct rte_flow_action list[6];
	struct rte_flow_action_mark mark;
	struct rte_flow_action_queue queue;
	struct rte_flow_action_rss rss;
	uint16_t queues[CAMPAIGN_QUEUES];
};

static void
add(struct actions *actions, enum rte_flow_action_type type, const void *conf)
{
	unsigned int i = 0;

	while (actions->list[i].type != RTE_FLOW_ACTION_TYPE_END)
		i++;
	actions->list[i] = (struct rte_flow_action){ .type = type, .conf = conf };
}

static void
set_actions(struct actions *actions, uint16_t queues, uint32_t mark, unsigned int more)
{
	memset(actions, 0, sizeof(*actions));
	for (uint16_t i = 0; i < CAMPAIGN_QUEUES; i++) {
		if (queues & 1u << i)
			actions->queues[actions->rss.queue_num++] = i;
	}
	actions->rss.queue = actions->queues;
	actions->queue.index = actions->queues[0];
	actions->mark.id = mark;
	if (mark != 0)
		add(actions, RTE_FLOW_ACTION_TYPE_MARK, &actions->mark);
	if (more & MORE_COUNT)
		add(actions, RTE_FLOW_ACTION_TYPE_COUNT, NULL);
	if (queues == 0)
		add(actions, RTE_FLOW_ACTION_TYPE_DROP, NULL);
	else if (actions->rss.queue_num == 1)
		add(actions, RTE_FLOW_ACTION_TYPE_QUEUE, &actions->queue);
	else
		add(actions, RTE_FLOW_ACTION_TYPE_RSS, &actions->rss);
	if (more & MORE_PASSTHRU)
		add(actions, RTE_FLOW_ACTION_TYPE_PASSTHRU, NULL);
}

static struct campaign_rule *
free_slot(struct campaign_port *port)
{
	for (unsigned int i = 0; i < CAMPAIGN_RULES; i++) {
		if (port->rules[i].flow == NULL)
			return &port->rules[i];
	}
	return NULL;
}

int
campaign_rules_add(struct campaign_port *port, uint16_t dport, uint16_t queues, uint32_t mark,
	unsigned int more)
{
	const struct rte_flow_item_udp udp = { .hdr.dst_port = rte_cpu_to_be_16(dport) };
	const struct rte_flow_item_udp udp_mask = { .hdr.dst_port = RTE_BE16(UINT16_MAX) };
	const struct rte_flow_item pattern[] = {
		{ .type = RTE_FLOW_ITEM_TYPE_ETH },
		{ .type = RTE_FLOW_ITEM_TYPE_IPV4 },
		{ .type = RTE_FLOW_ITEM_TYPE_UDP, .spec = &udp, .mask = &udp_mask },
		{ .type = RTE_FLOW_ITEM_TYPE_END },
	};
	const struct rte_flow_attr attr = {
		.ingress = 1,
		.priority = more & MORE_PRIORITY ? 1 : 0,
	};
	struct campaign_rule *rule = free_slot(port);
	struct rte_flow_error error = { 0 };
	struct actions actions;

	if (rule == NULL)
		return 0;
	set_actions(&actions, queues, mark, more);
	rule->flow = rte_flow_create(port->id, &attr, pattern, actions.list, &error);
	if (rule->flow == NULL) {
		campaign_must(error.message != NULL, "port %u: a rule refused without a message",
			port->id);
		return -rte_errno;
	}
	rule->dport = dport;
	rule->queues = queues;
	rule->mark = mark;
	rule->passthru = more & MORE_PASSTHRU;
	return 0;
}

static int
create(struct campaign_port *port)
{
	uint16_t queues = campaign_choose(1u << port->nb_rxq);
	unsigned int more = campaign_choose(8);

	if (queues == 0)
		more &= ~MORE_PASSTHRU;
	campaign.dport++;
	return campaign_rules_add(port, campaign.dport, queues,
		queues != 0 && campaign_choose(2) ? campaign.dport : 0, more);
}

static int
destroy(struct campaign_port *port)
{
	struct campaign_rule *rule = &port->rules[campaign_choose(CAMPAIGN_RULES)];
	struct rte_flow_error error;
	int ret;

	if (rule->flow == NULL)
		return 0;
	ret = rte_flow_destroy(port->id, rule->flow, &error);
	if (ret == 0)
		rule->flow = NULL;
	return ret;
}

static int
query(struct campaign_port *port)
{
	const struct rte_flow_action count[] = {
		{ .type = RTE_FLOW_ACTION_TYPE_COUNT },
		{ .type = RTE_FLOW_ACTION_TYPE_END },
	};
	struct campaign_rule *rule = &port->rules[campaign_choose(CAMPAIGN_RULES)];
	struct rte_flow_query_count result = { .reset = 1 };
	struct rte_flow_error error;

	if (rule->flow != NULL)
		rte_flow_query(port->id, rule->flow, count, &result, &error);
	return 0;
}

void
campaign_rules_forget(struct campaign_port *port)
{
	memset(port->rules, 0, sizeof(port->rules));
}

static int
flush(struct campaign_port *port)
{
	struct rte_flow_error error;
	int ret = rte_flow_flush(port->id, &error);

	if (ret == 0)
		campaign_rules_forget(port);
	return ret;
}

static int
isolate(struct campaign_port *port)
{
	const bool on = campaign_choose(2);
	struct rte_flow_error error;
	int ret = rte_flow_isolate(port->id, on, &error);

	if (ret == 0)
		port->isolated = on;
	return ret;
}

/* clang-format off */
const struct campaign_row campaign_rules_rows[] = {
	{ "flow create", 20, CAMPAIGN_ALWAYS, create, 0 },
	{ "flow destroy", 20, CAMPAIGN_ALWAYS, destroy, 0 },
	{ "flow query", 5, CAMPAIGN_ALWAYS, query, 0 },
	{ "flow flush", 1, CAMPAIGN_ALWAYS, flush, 0 },
	{ "flow isolate", 2, CAMPAIGN_ALWAYS, isolate, 0 },
	{ NULL, 0, 0, NULL, 0 },
};
/* clang-format on */
