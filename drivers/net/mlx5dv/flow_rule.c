/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules made, entered, left and freed. */

#include <errno.h>
#include <stdlib.h>

#include <rte_flow_driver.h>

#include "flow_error.h"
#include "flow_rule.h"
#include "flow_table.h"
#include "port.h"

static struct rte_flow_conv_rule *
rule_copy(const struct mdv_flow_plan_rule *given, struct rte_flow_error *error)
{
	struct rte_flow_action *actions = mdv_flow_action_flatten(given->actions);
	const struct rte_flow_conv_rule rule = {
		.attr_ro = given->attr,
		.pattern_ro = given->pattern,
		.actions_ro = actions,
	};
	struct rte_flow_conv_rule *copy = NULL;
	int size = -1;

	if (actions != NULL)
		size = rte_flow_conv(RTE_FLOW_CONV_OP_RULE, NULL, 0, &rule, error);
	if (size >= 0)
		copy = calloc(1, size);
	if (copy == NULL && (actions == NULL || size >= 0))
		mdv_flow_error_set(error, ENOMEM, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
			"no memory for a copy of the rule");
	if (copy != NULL && rte_flow_conv(RTE_FLOW_CONV_OP_RULE, copy, size, &rule, error) < 0) {
		free(copy);
		copy = NULL;
	}
	free(actions);
	return copy;
}

struct rte_flow *
mdv_flow_rule_make(struct mdv_port *port, const struct mdv_flow_plan_rule *given,
	struct mdv_flow_plan *plan, struct rte_flow_error *error)
{
	const struct mdv_flow_plan_env env = mdv_flow_install_env(port);
	struct rte_flow *flow;

	/* Before anything is copied: rte_flow_conv() trusts what it is given. */
	if (mdv_flow_plan_make(&env, given, plan, error) != 0)
		return NULL;
	flow = calloc(1, sizeof(*flow));
	if (flow == NULL) {
		mdv_flow_error_set(error, ENOMEM, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
			"no memory for the rule");
		return NULL;
	}
	flow->counted = plan->actions.count;
	flow->rule = rule_copy(given, error);
	if (flow->rule == NULL) {
		free(flow);
		return NULL;
	}
	return flow;
}

void
mdv_flow_rule_free(struct rte_flow *flow)
{
	if (flow->table != NULL)
		mdv_flow_table_put(flow->table);
	free(flow->rule);
	free(flow);
}

int
mdv_flow_rule_enter(struct mdv_port *port, struct rte_flow *flow, struct mdv_flow_plan *plan,
	struct rte_flow_error *error)
{
	int rc = mdv_flow_install_level(port, flow, plan, error);

	if (rc != 0)
		return rc;
	rc = port->flow.active ? mdv_flow_install_add(port, flow, plan, error) : 0;
	if (rc != 0) {
		mdv_flow_level_del(&port->flow.levels, &flow->level);
		return rc;
	}
	TAILQ_INSERT_TAIL(&port->flow.rules, flow, next);
	flow->place = MDV_FLOW_RULES;
	return 0;
}

int
mdv_flow_rule_enter_later(
	struct mdv_port *port, struct rte_flow *flow, struct rte_flow_error *error)
{
	const struct mdv_flow_plan_env env = mdv_flow_install_env(port);
	const struct mdv_flow_plan_rule rule = {
		.attr = flow->rule->attr_ro,
		.pattern = flow->rule->pattern_ro,
		.actions = flow->rule->actions_ro,
	};
	struct mdv_flow_plan plan;
	int rc = mdv_flow_plan_make(&env, &rule, &plan, error);

	return rc != 0 ? rc : mdv_flow_rule_enter(port, flow, &plan, error);
}

void
mdv_flow_rule_refuse(struct mdv_port *port, struct rte_flow *flow)
{
	TAILQ_INSERT_TAIL(&port->flow.refused, flow, next);
	flow->place = MDV_FLOW_REFUSED;
}

void
mdv_flow_rule_leave(struct mdv_port *port, struct rte_flow *flow)
{
	switch (flow->place) {
	case MDV_FLOW_RULES:
		mdv_flow_install_del(port, flow);
		mdv_flow_level_del(&port->flow.levels, &flow->level);
		TAILQ_REMOVE(&port->flow.rules, flow, next);
		break;
	case MDV_FLOW_REFUSED:
		TAILQ_REMOVE(&port->flow.refused, flow, next);
		break;
	default:
		break;
	}
	flow->place = MDV_FLOW_NOWHERE;
}
