/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What happens to a port by itself: link, removal, queues that broke, the netdev beside it.
 *
 *     verbs async fd ──┬─ EAL's interrupt thread ── RTE_ETH_EVENT_INTR_LSC, INTR_RMV, the log
 *     netlink socket ──┘
 *
 * In the primary process only. An application is told of states, not of edges: of a link that goes
 * down and up again before anybody looked it hears nothing.
 */
#ifndef MDV_EVENT_H
#define MDV_EVENT_H

#include <stdbool.h>

#include <rte_ethdev.h>

struct mdv_port;
struct rte_intr_handle;

/**
 * Listen from now on; dev->data->dev_flags say so afterwards. A port that cannot (logged) works all
 * the same.
 */
void mdv_event_install(struct mdv_port *port);
/**
 * Nothing is handled any more when this returns, but for the handler it is called from, if so: an
 * application may close the port in its callback. Twice, or without mdv_event_install(), is
 * nothing.
 */
void mdv_event_remove(struct mdv_port *port);
/** The port starts: what breaks is news again, and the link is looked at where events tell it. */
void mdv_event_start(struct mdv_port *port);
/** ethdev is_removed. */
int mdv_event_is_removed(struct rte_eth_dev *dev);

#endif /* MDV_EVENT_H */
