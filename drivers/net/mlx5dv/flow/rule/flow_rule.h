/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The steps of a rule's life, for flow.c (at once) and flow_async.c (by flow queues).
 *
 *     make, with flow.lock if there is INDIRECT -> enter, with flow.lock -> leave, with flow.lock
 * -> free
 *
 * Rules that have entered are in flow.rules and, while the port is started, in the device. If a
 * rule of a flow queue cannot enter, it goes to flow.refused: its handle lives until it is
 * destroyed.
 */
#ifndef MDV_FLOW_RULE_H
#define MDV_FLOW_RULE_H

#include <rte_flow.h>

#include "flow_form.h"
#include "flow_install.h"
#include "flow_plan.h"

struct mdv_port;

/**
 * Check and copy what the application gives, which may free it afterwards. With INDIRECT actions
 * under flow.lock.
 * @param form of rules made by the same caller, to whom it belongs
 * @param plan points to room for a plan in full; set to the rule's, which may be the form's own and
 *        points into @p given
 * @return NULL after filling @p error
 */
struct rte_flow *mdv_flow_rule_make(struct mdv_port *port, const struct mdv_flow_plan_rule *given,
	struct mdv_flow_form *form, struct mdv_flow_plan **plan, struct rte_flow_error *error);
void mdv_flow_rule_free(struct mdv_port *port, struct rte_flow *flow);
/**
 * Translate the changes of a rule that changes packets, to @p modify.
 * @return 0 or a negative errno, @p error filled
 */
int mdv_flow_rule_translate_modify(const struct mdv_flow_plan *plan, struct mdv_flow_modify *modify,
	struct rte_flow_error *error);

/** Under flow.lock. @return 0, or a negative errno, @p error filled: nothing has changed */
int mdv_flow_rule_enter(struct mdv_port *port, struct rte_flow *flow, struct mdv_flow_form *form,
	struct mdv_flow_plan *plan, struct rte_flow_error *error);
/** The same without the plan of mdv_flow_rule_make(). @param form the same as there */
int mdv_flow_rule_enter_later(struct mdv_port *port, struct rte_flow *flow,
	struct mdv_flow_form *form, struct rte_flow_error *error);
/** Under flow.lock: note a rule that failed in mdv_flow_rule_enter_later() and whose handle the
 * application has. */
void mdv_flow_rule_refuse(struct mdv_port *port, struct rte_flow *flow);
/** Under flow.lock: take the rule from the list it is in, if any. */
void mdv_flow_rule_leave(struct mdv_port *port, struct rte_flow *flow);

#endif /* MDV_FLOW_RULE_H */
