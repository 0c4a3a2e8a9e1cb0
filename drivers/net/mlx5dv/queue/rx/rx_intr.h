/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Rx interrupts: a completion channel (rx_wake.h) for each queue of a port that is configured with
 * intr_conf.rxq; rte_eth_dev_rx_intr_ctl*() gives its descriptor to epoll.
 *
 * To wait without loss: enable, then wait. The arm says up to where completions have been taken, so
 * the device fires at once for a completion that came between the last poll and the arm.
 *
 *     device   pi ──> CQEs written            fires once, when armed and pi is beyond the arm's
 *     driver   cq_ci, sent with the arm       index; it ignores an arm with the number of one
 *              arm_sn, one more an event      that has fired
 */
#ifndef MDV_RX_INTR_H
#define MDV_RX_INTR_H

#include <stdint.h>

#include <rte_ethdev.h>

struct ibv_comp_channel;
struct mdv_port;
struct rte_power_monitor_cond;

/** Make the channels if interrupts are configured. @return 0 or a negative errno, logged. */
int mdv_rx_intr_create(struct rte_eth_dev *dev);
/** Destroy the channels, which no CQ uses any more. */
void mdv_rx_intr_destroy(struct rte_eth_dev *dev);
/** @return the queue's channel, NULL without interrupts. */
struct ibv_comp_channel *mdv_rx_intr_channel(const struct mdv_port *port, uint16_t idx);

/** Wake a thread that waits for the queue, so that it polls. */
void mdv_rx_intr_wake(const struct mdv_port *port, uint16_t idx);

/** ethdev rx_queue_intr_enable, rx_queue_intr_disable: by the polling thread. */
int mdv_rx_intr_enable(struct rte_eth_dev *dev, uint16_t idx);
int mdv_rx_intr_disable(struct rte_eth_dev *dev, uint16_t idx);
/** ethdev get_monitor_addr: the byte of the next completion that the device writes last. */
int mdv_rx_intr_monitor(void *rxq, struct rte_power_monitor_cond *cond);

#endif /* MDV_RX_INTR_H */
