/* SPDX-License-Identifier: BSD-3-Clause */
/** @file What a port has from its probing to its closing: made, unmade, made anew. */
#ifndef MDV_OPEN_H
#define MDV_OPEN_H

#include <rte_ethdev.h>

struct mdv_config;

/** Open the device for a port whose private data is zeroed. @return 0 or a negative errno, logged.
 */
int mdv_open_port(struct rte_eth_dev *dev, const struct mdv_config *config);
/** ethdev dev_close; what is left is for rte_eth_dev_release_port(). */
int mdv_open_close(struct rte_eth_dev *dev);
/**
 * ethdev dev_reset, of a stopped port: its device is opened anew and the port is as just probed,
 * without queues and rules, but for the MAC addresses. For when the device was lost underneath.
 * @return 0, or a negative errno, logged, and the port is what it was
 */
int mdv_open_reset(struct rte_eth_dev *dev);

#endif /* MDV_OPEN_H */
