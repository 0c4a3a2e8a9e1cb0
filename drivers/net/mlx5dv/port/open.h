/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Opens, closes and resets a port: its resources from probe to close. */
#ifndef MDV_OPEN_H
#define MDV_OPEN_H

#include <rte_ethdev.h>

struct mdv_config;

/** Open the device of a port with zeroed private data. @return 0 or a negative errno, logged. */
int mdv_open_port(struct rte_eth_dev *dev, const struct mdv_config *config);
/** ethdev dev_close; rte_eth_dev_release_port() frees the rest. */
int mdv_open_close(struct rte_eth_dev *dev);
/**
 * ethdev dev_reset of a stopped port, for when its device was lost: open the device again. The port
 * is then as after probe, without queues and rules; it keeps its MAC addresses.
 * @return 0, or a negative errno, logged: the port is unchanged
 */
int mdv_open_reset(struct rte_eth_dev *dev);

#endif /* MDV_OPEN_H */
