/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Receive queue: a WQ and its CQ in the device and the rings they live in.
 *
 * set-up checks and allocates software state; start makes the verbs objects, takes the rings with
 * mlx5dv_init_obj, fills them with mbufs; stop undoes start. So a stopped queue holds no mbuf and no
 * verbs object. The flow engine sees a queue only as struct ibv_wq.
 */
#ifndef MDV_RXQ_H
#define MDV_RXQ_H

#include <stdint.h>

#include <rte_ethdev.h>

struct ibv_wq;
struct mdv_port;
struct mdv_rxq;

/** ethdev rx_queue_setup / release. */
int mdv_rxq_setup(struct rte_eth_dev *dev, uint16_t idx, uint16_t nb_desc, unsigned int socket,
	const struct rte_eth_rxconf *conf, struct rte_mempool *pool);
void mdv_rxq_release(struct rte_eth_dev *dev, uint16_t idx);
/** @return 0 or a negative errno, logged; the queue is as before on failure. */
int mdv_rxq_start(struct mdv_port *port, uint16_t idx);
void mdv_rxq_stop(struct mdv_port *port, uint16_t idx);
/** @return the queue's WQ, NULL while it is not started or does not exist. */
struct ibv_wq *mdv_rxq_wq(const struct mdv_port *port, uint16_t idx);

#endif /* MDV_RXQ_H */
