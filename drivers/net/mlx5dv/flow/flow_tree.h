/* SPDX-License-Identifier: BSD-3-Clause */
/** @file dev_dump: the rules of a port in the order in which the device looks at them. */
#ifndef MDV_FLOW_TREE_H
#define MDV_FLOW_TREE_H

#include <stdio.h>

#include <rte_flow.h>

struct mdv_port;

/**
 * Under flow.lock. The driver counts groups and entries itself: the device does not report its own
 * numbers.
 * @param only this rule; NULL: all, the default rules included
 * @return 0 or a negative errno, @p error filled
 */
int mdv_flow_tree_print(struct mdv_port *port, const struct rte_flow *only, FILE *file,
	struct rte_flow_error *error);

#endif /* MDV_FLOW_TREE_H */
