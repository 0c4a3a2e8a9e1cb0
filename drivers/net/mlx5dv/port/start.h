/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The port's states between open and closed: configured, started, stopped. */
#ifndef MDV_START_H
#define MDV_START_H

#include <stdint.h>

#include <rte_ethdev.h>

struct mdv_port;

/** ethdev dev_configure, dev_start, dev_stop. */
int mdv_start_configure(struct rte_eth_dev *dev);
int mdv_start_start(struct rte_eth_dev *dev);
int mdv_start_stop(struct rte_eth_dev *dev);
/** ethdev mtu_set: sets the netdev's MTU, too. The WQEs of running queues must be large enough;
 * those of a stopped port are checked when it starts. */
int mdv_start_mtu_set(struct rte_eth_dev *dev, uint16_t mtu);

#endif /* MDV_START_H */
