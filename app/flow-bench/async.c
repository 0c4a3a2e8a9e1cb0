/* SPDX-License-Identifier: BSD-3-Clause */
/* The same rules through a flow queue: of one template table, in batches. */
#include <rte_common.h>

#include "flow-bench.h"

#define QUEUE 0
#define BATCH 64u

struct templates {
	struct rte_flow_pattern_template *pattern;
	struct rte_flow_actions_template *actions;
	struct rte_flow_template_table *table;
};

static const struct rte_flow_item_ipv4 ip_mask = { .hdr.dst_addr = UINT32_MAX };
static const struct rte_flow_item_udp udp_mask = { .hdr.dst_port = UINT16_MAX };
static const struct rte_flow_action_queue to_queue = { .index = 0 };
static const struct rte_flow_action actions[] = {
	{ .type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &to_queue },
	{ .type = RTE_FLOW_ACTION_TYPE_END },
};

void
async_configure(void)
{
	const struct rte_flow_port_attr port = { .nb_counters = 0 };
	const struct rte_flow_queue_attr queue = { .size = 2 * BATCH };
	const struct rte_flow_queue_attr *queues[] = { &queue };
	struct rte_flow_error error = { .message = NULL };

	if (rte_flow_configure(PORT, &port, RTE_DIM(queues), queues, &error) != 0)
		die("rte_flow_configure: %s", error.message);
}

static struct templates
templates_make(unsigned int nb)
{
	const struct rte_flow_item items[] = {
		{ .type = RTE_FLOW_ITEM_TYPE_ETH },
		{ .type = RTE_FLOW_ITEM_TYPE_IPV4, .mask = &ip_mask },
		{ .type = RTE_FLOW_ITEM_TYPE_UDP, .mask = &udp_mask },
		{ .type = RTE_FLOW_ITEM_TYPE_END },
	};
	const struct rte_flow_pattern_template_attr pattern_attr = { .ingress = 1 };
	const struct rte_flow_actions_template_attr actions_attr = { .ingress = 1 };
	const struct rte_flow_template_table_attr table_attr = {
		.flow_attr = { .ingress = 1, .priority = 1 },
		.nb_flows = nb,
	};
	struct rte_flow_error error = { .message = NULL };
	struct templates made;

	made.pattern = rte_flow_pattern_template_create(PORT, &pattern_attr, items, &error);
	if (made.pattern == NULL)
		die("rte_flow_pattern_template_create: %s", error.message);
	made.actions =
		rte_flow_actions_template_create(PORT, &actions_attr, actions, actions, &error);
	if (made.actions == NULL)
		die("rte_flow_actions_template_create: %s", error.message);
	made.table = rte_flow_template_table_create(
		PORT, &table_attr, &made.pattern, 1, &made.actions, 1, &error);
	if (made.table == NULL)
		die("rte_flow_template_table_create: %s", error.message);
	return made;
}

static void
templates_free(const struct templates *made)
{
	struct rte_flow_error error = { .message = NULL };

	if (rte_flow_template_table_destroy(PORT, made->table, &error) != 0 ||
		rte_flow_pattern_template_destroy(PORT, made->pattern, &error) != 0 ||
		rte_flow_actions_template_destroy(PORT, made->actions, &error) != 0)
		die("templates: %s", error.message);
}

/** Push what is queued, and take the results of @p nb operations. */
static void
finish(unsigned int nb)
{
	struct rte_flow_op_result results[BATCH];
	struct rte_flow_error error = { .message = NULL };

	if (rte_flow_push(PORT, QUEUE, &error) != 0)
		die("rte_flow_push: %s", error.message);
	while (nb != 0) {
		const int got = rte_flow_pull(PORT, QUEUE, results, RTE_MIN(nb, BATCH), &error);

		if (got < 0)
			die("rte_flow_pull: %s", error.message);
		for (int i = 0; i < got; i++)
			if (results[i].status != RTE_FLOW_OP_SUCCESS)
				die("an operation failed");
		nb -= got;
	}
}

void
async_measure(struct rte_flow **flows, unsigned int nb)
{
	const struct templates made = templates_make(nb);
	const struct rte_flow_op_attr later = { .postpone = 1 };
	struct rte_flow_item_ipv4 ip = { .hdr.dst_addr = 0 };
	struct rte_flow_item_udp udp = { .hdr.dst_port = 0 };
	const struct rte_flow_item items[] = {
		{ .type = RTE_FLOW_ITEM_TYPE_ETH },
		{ .type = RTE_FLOW_ITEM_TYPE_IPV4, .spec = &ip },
		{ .type = RTE_FLOW_ITEM_TYPE_UDP, .spec = &udp },
		{ .type = RTE_FLOW_ITEM_TYPE_END },
	};
	struct rte_flow_error error = { .message = NULL };
	struct instant start = now(), middle;

	for (unsigned int i = 0; i < nb; i++) {
		ip.hdr.dst_addr = rule_address(i);
		udp.hdr.dst_port = rule_port(i);
		flows[i] = rte_flow_async_create(
			PORT, QUEUE, &later, made.table, items, 0, actions, 0, NULL, &error);
		if (flows[i] == NULL)
			die("rte_flow_async_create, rule %u: %s", i, error.message);
		if (i % BATCH == BATCH - 1 || i == nb - 1)
			finish(i % BATCH + 1);
	}
	middle = now();
	for (unsigned int i = 0; i < nb; i++) {
		if (rte_flow_async_destroy(PORT, QUEUE, &later, flows[i], NULL, &error) != 0)
			die("rte_flow_async_destroy, rule %u: %s", i, error.message);
		if (i % BATCH == BATCH - 1 || i == nb - 1)
			finish(i % BATCH + 1);
	}
	report("async", nb, start, middle, now());
	templates_free(&made);
}
