/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The port's link, by verbs: in the primary process only. */
#ifndef MDV_LINK_H
#define MDV_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>

struct mdv_port;

/**
 * @param[out] speed in Mbit/s
 * @return 0, or a negative errno: the link is unknown, and nothing is set
 */
int mdv_link_query(const struct mdv_port *port, bool *up, uint32_t *speed);
/** ethdev link_update. */
int mdv_link_update(struct rte_eth_dev *dev, int wait);
/** ethdev dev_set_link_up, dev_set_link_down: the netdev's administrative state. */
int mdv_link_set_up(struct rte_eth_dev *dev);
int mdv_link_set_down(struct rte_eth_dev *dev);

#endif /* MDV_LINK_H */
