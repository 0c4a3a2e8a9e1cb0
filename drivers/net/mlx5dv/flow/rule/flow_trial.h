/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Rules that are installed and destroyed at once, to learn what the device says. */
#ifndef MDV_FLOW_TRIAL_H
#define MDV_FLOW_TRIAL_H

struct mdv_flow_actions;
struct mdv_flow_build;
struct mdv_flow_modify;
struct mdv_port;
struct rte_flow_error;

/** Begin a rule for frames between addresses that nobody has: 00:00:00:00:00:00 both. */
void mdv_flow_trial_begin(struct mdv_flow_build *build);
/**
 * Find out whether the device takes a rule with these changes of packets, which it judges when an
 * entry is written and by all that the entry does, but not by its match. The port may be stopped.
 * flow.lock is held; nothing is left behind.
 * @return 0 or a negative errno, with @p error set
 */
int mdv_flow_trial_modify(struct mdv_port *port, const struct mdv_flow_actions *actions,
	const struct mdv_flow_modify *modify, struct rte_flow_error *error);

#endif /* MDV_FLOW_TRIAL_H */
