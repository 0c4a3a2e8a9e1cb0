/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Receive queues that split packets by lengths (RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT): each segment of
 * a WQE has its mempool, its length and its place in the mbuf.
 *
 *     packet    |  64  |        1400        |   rest   |
 *     segment   [  0   ][         1         ][    2    ][    3    ]    2^log2_segs of them
 *     mempool   headers       payload          payload    payload
 *
 * Beyond the segments that the application describes the last mempool is used, whole mbufs, as
 * rte_ethdev.h has it (rte_eth_rxseg_split). A packet takes segments in order and a slot keeps
 * those that it did not need, as with scattered packets (rxq.h); but pools may run dry one without
 * the other, so any of a slot's mbufs may be missing, and a WQE is posted when none is.
 *
 * Owner: the control path until the queue starts, then the polling thread.
 */
#ifndef MDV_RX_SPLIT_H
#define MDV_RX_SPLIT_H

#include <stdint.h>

#include <rte_ethdev.h>
#include <rte_mempool.h>

#include "rxq.h"

/** What a segment of each WQE is made of. */
struct mdv_rx_seg {
	struct rte_mempool *pool;
	uint32_t lkey_be;    /**< as mdv_rxq.lkey_be */
	uint32_t buf_offset; /**< as mdv_rxq.buf_offset */
	uint16_t data_off;   /**< of the mbuf */
	uint16_t length;     /**< bytes of the packet, not 0 */
};

/** In memory that processes share. */
struct mdv_rx_split {
	struct mdv_rx_seg segs[MDV_RX_SEGS_MAX]; /**< each that a WQE may have */
	uint16_t nb;                             /**< described by the application */
	union rte_eth_rxseg asked[];             /**< what it described */
};

/** @return the segments that a WQE can have. */
uint16_t mdv_rx_split_max(const struct mdv_caps *caps);
/**
 * Check the segments of rxq->conf, and set rxq->split and the layout of a packet's first mbuf.
 * @return 0, -EINVAL, -ENOTSUP (split by protocol headers), -ENOMEM; logged
 */
int mdv_rx_split_setup(struct mdv_rxq *rxq, unsigned int socket);
/** @return the segments that a frame of @p bytes takes. */
uint32_t mdv_rx_split_nb_segs(const struct mdv_rx_split *split, uint32_t bytes);
/** @return the bytes that the segments described take. */
uint32_t mdv_rx_split_bytes(const struct mdv_rx_split *split);
/** Decide whether the burst of the port, which is about to start, splits packets: sets port->split.
 */
void mdv_rx_split_choose(struct mdv_port *port);

/** Register the mempools. @return 0 or a negative errno, logged: none is registered. */
int mdv_rx_split_register(struct mdv_rxq *rxq);
void mdv_rx_split_unregister(const struct mdv_rxq *rxq);
/** The same as mdv_rx_fill(), for these queues. */
int mdv_rx_split_fill(struct mdv_rxq *rxq);
/** The same as mdv_rx_refill_scattered(), for these queues. */
void mdv_rx_split_refill(struct mdv_rxq *rxq);
/** @return a mempool that the ring lacks mbufs of, NULL: none. @param nb what the ring takes of it
 */
const struct rte_mempool *mdv_rx_split_lacks(const struct mdv_rxq *rxq, uint32_t *nb);

#endif /* MDV_RX_SPLIT_H */
