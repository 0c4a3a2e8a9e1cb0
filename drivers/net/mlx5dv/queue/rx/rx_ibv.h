/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * mode=ibv: a receive queue whose rings verbs fills and empties instead of the device.
 *
 *     verbs completions ──> CQEs ──> the burst ──> WQEs ──> ibv_post_wq_recv()
 *                           cq_ibv   rx_burst.h    refill   here
 *
 * The driver allocates the WQE ring, in the device's format. [ibv.posted, wqe_pi) has been refilled
 * and waits to be posted by verbs. So the same code receives, scatters, counts, recovers and drains
 * in both modes.
 */
#ifndef MDV_RX_IBV_H
#define MDV_RX_IBV_H

#include <stdint.h>

struct mdv_rxq;

/** @return enum ibv_create_cq_wc_flags of the fields that the queue's port may need of a packet. */
uint64_t mdv_rx_ibv_wc_flags(const struct mdv_rxq *rxq);
/** Make the ring of a queue that has its WQ. @return 0, -ENOMEM, logged. */
int mdv_rx_ibv_attach(struct mdv_rxq *rxq, uint32_t nb_wqes);
/** Free the ring of a queue whose WQ has been destroyed. */
void mdv_rx_ibv_detach(struct mdv_rxq *rxq);
/** Post the WQEs that verbs does not have yet; WQEs that verbs refuses wait for the next call. */
void mdv_rx_ibv_post(struct mdv_rxq *rxq);

#endif /* MDV_RX_IBV_H */
