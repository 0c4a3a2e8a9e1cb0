/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The burst functions of a port, by its configuration; the same choice in each process. */
#ifndef MDV_BURST_SELECT_H
#define MDV_BURST_SELECT_H

#include <stdint.h>

#include <rte_ethdev.h>

/** Choose the burst functions; all queues are set up. */
void mdv_burst_select(struct rte_eth_dev *dev);
/** Log the chosen functions, and the reason against wider vectors. */
void mdv_burst_log(const struct rte_eth_dev *dev);
/** ethdev rx_burst_mode_get, tx_burst_mode_get. */
int mdv_burst_rx_mode_get(struct rte_eth_dev *dev, uint16_t idx, struct rte_eth_burst_mode *mode);
int mdv_burst_tx_mode_get(struct rte_eth_dev *dev, uint16_t idx, struct rte_eth_burst_mode *mode);

#endif /* MDV_BURST_SELECT_H */
