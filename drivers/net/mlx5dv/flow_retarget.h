/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * An indirect action becomes another one of its kind, and with it what all its rules do.
 *
 *     rule            turn 0   ->  0 | 1   ->  1   ->  0 | 1   ->  0
 *     what is hit     old          old         new     new         new
 *
 * Verbs cannot change a rule, and two destinations of one match at one priority both get the
 * packet. So beside each rule a twin is put that does what is to be, in the level behind it, where
 * no packet gets until the rule is gone; and then another one before the twin, where the rule was,
 * so that no level stays taken. At no time is a packet taken twice or missed. One that is copied
 * may be copied twice while both are there, as when rules are moved.
 */
#ifndef MDV_FLOW_RETARGET_H
#define MDV_FLOW_RETARGET_H

#include <rte_flow.h>

struct mdv_port;

/**
 * Under flow.lock: @p action, which is right by itself, stands behind @p handle from now on.
 * @param action becomes the handle's on success
 * @return 0 or a negative errno, @p error filled: all rules do what they did
 */
int mdv_flow_retarget(struct mdv_port *port, struct rte_flow_action_handle *handle,
	struct rte_flow_action *action, struct rte_flow_error *error);

#endif /* MDV_FLOW_RETARGET_H */
