/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Receive queue: a WQ and its CQ in the device and the rings they live in.
 *
 * Set-up checks and allocates software state. Verbs objects (rxq_ring.h) exist while the port is
 * started: mdv_rxq_create() makes them, mdv_rxq_start() fills the rings with mbufs and lets packets
 * in, mdv_rxq_stop() undoes that, so a stopped queue holds no mbuf. The flow engine sees a queue
 * only as struct ibv_wq, and that stays the same while a queue of a running port is stopped,
 * started, or set up anew in the same size: rules go on pointing at it.
 */
#ifndef MDV_RXQ_H
#define MDV_RXQ_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>

struct ibv_wq;
struct mdv_caps;
struct mdv_port;
struct mdv_rxq;

/** Fewest buffers of a queue. */
#define MDV_RXQ_DESC_MIN 64

/** ethdev rx_queue_setup / release. */
int mdv_rxq_setup(struct rte_eth_dev *dev, uint16_t idx, uint16_t nb_desc, unsigned int socket,
	const struct rte_eth_rxconf *conf, struct rte_mempool *pool);
void mdv_rxq_release(struct rte_eth_dev *dev, uint16_t idx);
/** Each returns 0 or a negative errno, logged; the queue is as before on failure. */
int mdv_rxq_create(struct mdv_port *port, uint16_t idx);
int mdv_rxq_start(struct mdv_port *port, uint16_t idx);
/** The queue must not be polled meanwhile; what it has not handed out is lost. */
int mdv_rxq_stop(struct mdv_port *port, uint16_t idx);
/** Undo all of it, when no rule points at the queue any more. */
void mdv_rxq_destroy(struct mdv_port *port, uint16_t idx);
/** Destroy what was left of queues that were released while rules pointed at them. */
void mdv_rxq_destroy_parked(struct mdv_port *port);
/** @return the queue's WQ, NULL while the port is stopped or the queue is not set up. */
struct ibv_wq *mdv_rxq_wq(const struct mdv_port *port, uint16_t idx);

/**
 * From now on rules may tag packets: the queues' bursts look at tags until the port is stopped.
 */
void mdv_rxq_expect_marks(struct mdv_port *port);

/** @return most buffers of a queue. */
uint16_t mdv_rxq_desc_max(const struct mdv_caps *caps);
/**
 * Can the queue, as it is set up, take frames of this MTU?
 * @return 0, -EINVAL (scattering is needed and off, or not enough), -EBUSY (it could after a
 * restart); logged.
 */
int mdv_rxq_check_mtu(const struct mdv_port *port, uint16_t idx, uint16_t mtu);
/** Strip VLAN tags or not, at once when the queue is started. @return 0 or a negative errno,
 * logged. */
int mdv_rxq_set_vlan_strip(struct mdv_port *port, uint16_t idx, bool on);
/** ethdev rxq_info_get, rx_queue_count, rx_descriptor_status. */
void mdv_rxq_info_get(struct rte_eth_dev *dev, uint16_t idx, struct rte_eth_rxq_info *info);
uint32_t mdv_rxq_count(void *rxq);
int mdv_rxq_descriptor_status(void *rxq, uint16_t offset);

#endif /* MDV_RXQ_H */
