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
 * so that no level stays taken. At no time is a packet taken twice or missed.
 *
 * A packet that is copied goes on to all levels behind, so a twin there would copy it once more.
 * But of a table it hits one entry. So the twin of a copying rule stands in the table of the rule,
 * by another mask, which is the rule's and one bit more, in two halves; and then one like the rule
 * takes over from these. Two levels it takes only where that cannot be: a rule of several queues
 * would give some of them too few, and one that names every bit of both MACs has no bit left. Then
 * a packet of that moment may be copied twice, as when rules are moved.
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
