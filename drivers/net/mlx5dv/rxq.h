/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Receive queue: a WQ and its CQ in the device and the rings they live in.
 *
 * set-up checks and allocates software state; start makes the verbs objects, takes the rings with
 * mlx5dv_init_obj, fills them with mbufs; stop undoes start. So a stopped queue holds no mbuf and
 * no verbs object. The flow engine sees a queue only as struct ibv_wq.
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
/** @return 0 or a negative errno, logged; the queue is as before on failure. */
int mdv_rxq_start(struct mdv_port *port, uint16_t idx);
void mdv_rxq_stop(struct mdv_port *port, uint16_t idx);
/** @return the queue's WQ, NULL while it is not started or does not exist. */
struct ibv_wq *mdv_rxq_wq(const struct mdv_port *port, uint16_t idx);

/**
 * From now on rules may tag packets: the started queues' bursts look at tags. A queue that is
 * started anew has forgotten it.
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
/**
 * The device has stopped the WQ with this syndrome: throw away what is in the rings and start it
 * anew. Called by the polling thread. @return 0, or a negative errno, logged, when nothing was
 * touched.
 */
int mdv_rxq_recover(struct mdv_rxq *rxq, uint8_t syndrome);

/** ethdev rxq_info_get, rx_queue_count, rx_descriptor_status. */
void mdv_rxq_info_get(struct rte_eth_dev *dev, uint16_t idx, struct rte_eth_rxq_info *info);
uint32_t mdv_rxq_count(void *rxq);
int mdv_rxq_descriptor_status(void *rxq, uint16_t offset);

#endif /* MDV_RXQ_H */
