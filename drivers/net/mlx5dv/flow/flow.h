/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * rte_flow of a port: rules as the application made them, and their form in the device.
 *
 *     rte_flow pattern, actions
 *        │ flow_item.c, flow_action.c: rows -> struct mdv_flow_build (flow_build.h)
 *        v
 *     ibv_flow_attr bytes, a destination (rss.h), expansions
 *        │ flow_level.c: the verbs priority, other rules moved when needed
 *        │ flow_install.c: ibv_create_flow, one or more a rule
 *        v
 *     struct rte_flow
 *
 * A rule outlives a stop: mdv_flow_stop() takes it out of the device and mdv_flow_start() puts it
 * back. Default steering (MACs, broadcast, promiscuous ...) is a set of the same rules, computed
 * from the port's state by flow_default.c, behind all rules of the application.
 */
#ifndef MDV_FLOW_H
#define MDV_FLOW_H

#include <rte_flow_driver.h>

struct rte_eth_dev;
struct mdv_port;

extern const struct rte_flow_ops mdv_flow_ops;

/** At probe: the operations that ethdev finds in @p dev, not by flow_ops_get. */
void mdv_flow_set_ops(struct rte_eth_dev *dev);

/**
 * At probe: make empty lists, probe the device's priorities and features.
 * @return 0 or a negative errno, logged
 */
int mdv_flow_init(struct mdv_port *port);
/** At close: destroy all rules. */
void mdv_flow_fini(struct mdv_port *port);
/**
 * The queues exist now: install the application's rules, then the default ones, so that no packet
 * reaches a rule while an earlier one is missing. mdv_flow_stop() removes them in reverse order.
 * @return 0, or a negative errno, logged: nothing is installed
 */
int mdv_flow_start(struct mdv_port *port);
/** Before the queues go: take everything out of the device; the application's rules are kept. */
void mdv_flow_stop(struct mdv_port *port);
#endif /* MDV_FLOW_H */
