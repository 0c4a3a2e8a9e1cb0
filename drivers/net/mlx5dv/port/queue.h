/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Starts and stops the queues of a port, all or one at a time: their objects, and their
 * states in ethdev. */
#ifndef MDV_QUEUE_H
#define MDV_QUEUE_H

#include <rte_ethdev.h>

/**
 * Create the objects of all queues, and start the queues that are not deferred.
 * @return 0, or a negative errno, logged: no object is left
 */
int mdv_queue_start_all(struct rte_eth_dev *dev);
/** Stop all queues and destroy their objects. No rule may point at a queue. */
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
