/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Queues of a port, all of them or one at a time: their objects, and their states as ethdev
 * keeps them. */
#ifndef MDV_QUEUE_H
#define MDV_QUEUE_H

#include <rte_ethdev.h>

/**
 * Make the objects of all queues, and start those that are not deferred. @return 0 or a negative
 * errno, logged: nothing is left.
 */
int mdv_queue_start_all(struct rte_eth_dev *dev);
/** Undo it; no rule points at a queue any more. */
void mdv_queue_stop_all(struct rte_eth_dev *dev);

/** ethdev rx_queue_setup, tx_queue_setup. */
int mdv_queue_rx_setup(struct rte_eth_dev *dev, uint16_t idx, uint16_t nb_desc, unsigned int socket,
	const struct rte_eth_rxconf *conf, struct rte_mempool *pool);
int mdv_queue_tx_setup(struct rte_eth_dev *dev, uint16_t idx, uint16_t nb_desc, unsigned int socket,
	const struct rte_eth_txconf *conf);
/** ethdev rx_queue_start, rx_queue_stop, tx_queue_start, tx_queue_stop. */
int mdv_queue_rx_start(struct rte_eth_dev *dev, uint16_t idx);
int mdv_queue_rx_stop(struct rte_eth_dev *dev, uint16_t idx);
int mdv_queue_tx_start(struct rte_eth_dev *dev, uint16_t idx);
int mdv_queue_tx_stop(struct rte_eth_dev *dev, uint16_t idx);

#endif /* MDV_QUEUE_H */
