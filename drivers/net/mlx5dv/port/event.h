/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Events of a port: link changes, removal, broken queues, changes of its netdev.
 *
 *     verbs async fd ──┬─ EAL's interrupt thread ── RTE_ETH_EVENT_INTR_LSC, INTR_RMV, the log
 *     netlink socket ──┘
 *
 * In the primary process only. The application gets states, not edges: a link that goes down and up
 * again before the interrupt thread looks raises no event.
 */
#ifndef MDV_EVENT_H
#define MDV_EVENT_H

#include <stdbool.h>

#include <rte_ethdev.h>

struct mdv_port;
struct rte_intr_handle;

/**
 * Start to listen, and set dev->data->dev_flags accordingly. A port that cannot listen (logged)
 * still works.
 */
void mdv_event_install(struct mdv_port *port);
/**
 * Stop listening. When this returns no handler runs, except the one that it is called from: an
 * application may close the port in its callback. A second call, or one without
 * mdv_event_install(), does nothing.
 */
void mdv_event_remove(struct mdv_port *port);
/** Call when the port starts: failures are logged again, and the link is queried if the application
 * has asked for link events. */
void mdv_event_start(struct mdv_port *port);
/** ethdev is_removed. */
int mdv_event_is_removed(struct rte_eth_dev *dev);

#endif /* MDV_EVENT_H */
