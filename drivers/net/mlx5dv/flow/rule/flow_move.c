/* SPDX-License-Identifier: BSD-3-Clause */
/* The mover of the port's levels. */

#include <rte_common.h>

#include "base/log.h"
#include "flow_default.h"
#include "flow_install.h"
#include "flow_move.h"
#include "state/port.h"

static int
move_one(struct mdv_port *port, struct mdv_flow_level_rule *rule, uint8_t level)
{
	if (rule->shape->priority == MDV_FLOW_LEVEL_DEFAULT)
		return mdv_flow_default_move(port, rule, level);
	return mdv_flow_install_at(port, container_of(rule, struct rte_flow, level), level);
}

int
mdv_flow_move(void *context, const struct mdv_flow_shape *shape, uint8_t level)
{
	struct mdv_port *port = context;
	struct mdv_flow_level_rule *rule, *failed = NULL;
	int ret = 0;

	TAILQ_FOREACH (rule, &shape->rules, next) {
		ret = move_one(port, rule, level);
		if (ret != 0) {
			failed = rule;
			break;
		}
	}
	if (ret == 0) {
		MDV_LOG(DEBUG, "port %u: %u %srules moved from verbs priority %d to %u",
			port->dev->data->port_id, shape->nb_rules, shape->copies ? "PASSTHRU " : "",
			shape->level, level);
		return 0;
	}
	TAILQ_FOREACH (rule, &shape->rules, next) {
		if (rule == failed)
			break;
		if (move_one(port, rule, shape->level) != 0)
			MDV_LOG(ERR, "port %u: a rule cannot be moved back to verbs priority %d",
				port->dev->data->port_id, shape->level);
	}
	return ret;
}
