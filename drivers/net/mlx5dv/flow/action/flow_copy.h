/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The copy of a rule as the application gave it, for the next start of the port and for dumps.
 *
 * rte_flow_conv() does the same for any rule, in a fifth of the time that a rule takes here. The
 * rows know the size of each item that the driver matches, and of most configurations of actions.
 * Pure.
 */
#ifndef MDV_FLOW_COPY_H
#define MDV_FLOW_COPY_H

#include <stdbool.h>
#include <stddef.h>

#include <rte_flow_driver.h>

#include "flow/match/flow_build.h"

/** What is copied, and how much memory it takes. */
struct mdv_flow_copy {
	const struct rte_flow_conv_rule *given;
	size_t nb_items, nb_actions; /**< END included */
	size_t bytes;                /**< of the whole copy */
	size_t conv_bytes;           /**< of its actions, by rte_flow_conv(); 0: not needed */
};

/**
 * Measure a rule that mdv_flow_plan_make() has accepted, without SAMPLE.
 * @param match made of the rule's pattern
 * @return 0 or a negative errno, @p error filled
 */
int mdv_flow_copy_measure(struct mdv_flow_copy *copy, const struct rte_flow_conv_rule *given,
	const struct mdv_flow_build *match, struct rte_flow_error *error);
/** Write the copy to @p to, aligned to 8 bytes and with room for copy->bytes. */
void mdv_flow_copy_write(const struct mdv_flow_copy *copy, struct rte_flow_conv_rule *to);

#endif /* MDV_FLOW_COPY_H */
