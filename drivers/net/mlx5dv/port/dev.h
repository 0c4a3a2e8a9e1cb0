/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The states of a port from probe to close: opened, configured, started, stopped. */
#ifndef MDV_DEV_H
#define MDV_DEV_H

#include <stdint.h>

#include <rte_ethdev.h>

struct mdv_config;

/** Open the device of a port with zeroed private data, and all else that does not depend on the
 * configuration. @return 0 or a negative errno, logged. */
int mdv_dev_open(struct rte_eth_dev *dev, const struct mdv_config *config);
/** ethdev dev_configure, dev_start, dev_stop. */
int mdv_dev_configure(struct rte_eth_dev *dev);
int mdv_dev_start(struct rte_eth_dev *dev);
int mdv_dev_stop(struct rte_eth_dev *dev);
/** ethdev mtu_set: sets the netdev's MTU, too. The WQEs of running queues must be large enough;
 * those of a stopped port are checked when it starts. */
int mdv_dev_mtu_set(struct rte_eth_dev *dev, uint16_t mtu);
/** ethdev dev_close; rte_eth_dev_release_port() frees the rest. */
int mdv_dev_close(struct rte_eth_dev *dev);
/**
 * ethdev dev_reset of a stopped port, for when its device was lost: open the device again. The port
 * is then as after probe, without queues and rules; it keeps its MAC addresses.
 * @return 0, or a negative errno, logged: the port is unchanged
 */
int mdv_dev_reset(struct rte_eth_dev *dev);

#endif /* MDV_DEV_H */
