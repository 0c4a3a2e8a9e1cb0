/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Send queue: a RAW_PACKET QP with nothing but an SQ, its CQ, and the rings they live in.
 *
 * As with a receive queue, verbs objects exist while the port is started, and a stopped queue holds
 * no mbuf. Its QP is in the state RESET then, and its ring looks full: a burst sends nothing.
 */
#ifndef MDV_TXQ_H
#define MDV_TXQ_H

#include <stdint.h>

#include <rte_ethdev.h>

struct mdv_caps;
struct mdv_port;
struct mdv_txq;

/** Fewest WQEBBs of a queue: four of the longest WQEs. */
#define MDV_TXQ_DESC_MIN 64

/** @return most descriptors (WQEBBs) of a queue. */
uint16_t mdv_txq_desc_max(const struct mdv_caps *caps);
/** ethdev tx_queue_setup / release. */
int mdv_txq_setup(struct rte_eth_dev *dev, uint16_t idx, uint16_t nb_desc, unsigned int socket,
	const struct rte_eth_txconf *conf);
void mdv_txq_release(struct rte_eth_dev *dev, uint16_t idx);
/** Each returns 0 or a negative errno, logged; the queue is as before on failure. */
int mdv_txq_create(struct mdv_port *port, uint16_t idx);
int mdv_txq_start(struct mdv_port *port, uint16_t idx);
/** Nobody may send on the queue meanwhile; what the device has not sent is lost. */
int mdv_txq_stop(struct mdv_port *port, uint16_t idx);
/** Undo all of it. */
void mdv_txq_destroy(struct mdv_port *port, uint16_t idx);
/**
 * The device has stopped the SQ with this syndrome: make it ready again, empty. The caller deals
 * with the mbufs. Called by the sending thread. @return 0, or a negative errno, logged.
 */
int mdv_txq_recover(struct mdv_txq *txq, uint8_t syndrome);

/**
 * Give a running queue other objects, and destroy its own; packets on their way are given up.
 * Called by the sending thread, with the objects locked.
 * @return 0, or a negative errno, logged: nothing was touched
 */
int mdv_txq_replace(struct mdv_txq *txq);
/** Destroy what released queues have left for their successors. */
void mdv_txq_destroy_parked(struct mdv_port *port);

/** ethdev set_queue_rate_limit, in Mbit/s; it holds until the queue is set up anew. */
int mdv_txq_set_rate(struct rte_eth_dev *dev, uint16_t idx, uint32_t mbps);

/** ethdev txq_info_get, tx_descriptor_status. */
void mdv_txq_info_get(struct rte_eth_dev *dev, uint16_t idx, struct rte_eth_txq_info *info);
int mdv_txq_descriptor_status(void *txq, uint16_t offset);

#endif /* MDV_TXQ_H */
