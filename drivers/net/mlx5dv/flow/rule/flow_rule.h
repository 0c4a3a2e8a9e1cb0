/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A rule's life, in steps, for those who give rules: at once (flow.c) or by queues (flow_async.c).
 *
 *     make, no lock -> enter, with flow.lock -> leave, with flow.lock -> free
 *
 * Rules that have entered are in flow.rules and, while the port is started, in the device. A
 * queue's rule that could not enter is in flow.refused instead: its handle lives until it is
 * destroyed.
 */
#ifndef MDV_FLOW_RULE_H
#define MDV_FLOW_RULE_H

#include <rte_flow.h>

#include "flow_install.h"
#include "flow_plan.h"

struct mdv_port;

/**
 * Check and copy what the application gives; nothing of it is needed afterwards.
 * @param plan undefined on failure; points into @p given
 * @return NULL after filling @p error
 */
struct rte_flow *mdv_flow_rule_make(struct mdv_port *port, const struct mdv_flow_plan_rule *given,
	struct mdv_flow_plan *plan, struct rte_flow_error *error);
void mdv_flow_rule_free(struct mdv_port *port, struct rte_flow *flow);
/** What the rule's actions ask for, if they change packets, in @p modify. @return 0 or a negative
 * errno, @p error filled */
int mdv_flow_rule_translate_modify(const struct mdv_flow_plan *plan, struct mdv_flow_modify *modify,
	struct rte_flow_error *error);

/** Under flow.lock. @return 0 or a negative errno, @p error filled; nothing has changed then. */
int mdv_flow_rule_enter(struct mdv_port *port, struct rte_flow *flow, struct mdv_flow_plan *plan,
	struct rte_flow_error *error);
/** The same without the plan of mdv_flow_rule_make(). */
int mdv_flow_rule_enter_later(
	struct mdv_port *port, struct rte_flow *flow, struct rte_flow_error *error);
/** Under flow.lock: mdv_flow_rule_enter_later() failed, and the handle is with the application. */
void mdv_flow_rule_refuse(struct mdv_port *port, struct rte_flow *flow);
/** Under flow.lock: from wherever it is, which may be nowhere. */
void mdv_flow_rule_leave(struct mdv_port *port, struct rte_flow *flow);

#endif /* MDV_FLOW_RULE_H */
