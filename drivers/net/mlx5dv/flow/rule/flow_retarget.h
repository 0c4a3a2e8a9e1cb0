/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Replaces an indirect action by another of its kind, in all its rules.
 *
 *     rule            turn 0   ->  0 | 1   ->  1   ->  0 | 1   ->  0
 *     packets hit     old          old         new     new         new
 *
 * Verbs cannot change a rule, and two rules of one match and priority with different destinations
 * both get the packet. So each rule gets a twin with the new action in the next level, which no
 * packet reaches while the rule is there. When the rule is gone, another twin takes the rule's old
 * place before the first twin, so that no extra level stays in use. At no time is a packet taken
 * twice or missed.
 *
 * A copied packet goes on to all later levels, so a twin in a later level would copy it once more.
 * But a packet hits one entry of a table. So the twin of a copying rule is in the rule's own table
 * under another mask, which is that of the rule and one bit more; two halves, one for each value of
 * the bit, match the same packets as the rule. Later a twin with the mask of the rule replaces the
 * two. In three cases the twin of a copying rule takes a level of its own: if the rule has several
 * queues, as some of them would miss packets; if it names every bit of both MACs, as no bit is
 * left; and if other RSS types split it into other parts. Then a packet may be copied twice at that
 * moment, as when rules move.
 */
#ifndef MDV_FLOW_RETARGET_H
#define MDV_FLOW_RETARGET_H

#include <rte_flow.h>

struct mdv_port;

/**
 * Under flow.lock: make @p action, which has been checked, the action of @p handle.
 * @param action becomes the handle's on success
 * @return 0, or a negative errno, @p error filled: all rules do what they did
 */
int mdv_flow_retarget(struct mdv_port *port, struct rte_flow_action_handle *handle,
	struct rte_flow_action *action, struct rte_flow_error *error);

#endif /* MDV_FLOW_RETARGET_H */
