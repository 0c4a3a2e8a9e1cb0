/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * mode=ibv: a receive queue whose rings verbs fills and empties instead of the device.
 *
 *     verbs completions ──> CQEs ──> the burst ──> WQEs ──> ibv_post_wq_recv()
 *                           cq_ibv   rx_burst.h    refill   here
 *
 * The driver allocates the WQE ring, in the device's format. [ibv.posted, wqe_pi) has been refilled
 * and is to be posted by verbs. So a queue is in either mode received from, scattered, counted,
 * recovered and drained by the same code.
 */
#ifndef MDV_RX_IBV_H
#define MDV_RX_IBV_H

#include <stdint.h>

struct mdv_rxq;

/** enum ibv_create_cq_wc_flags of what the queue's port may want to know of a packet. */
uint64_t mdv_rx_ibv_wc_flags(const struct mdv_rxq *rxq);
/** Make the ring of a queue that has its WQ. @return 0, -ENOMEM, logged. */
int mdv_rx_ibv_attach(struct mdv_rxq *rxq, uint32_t nb_wqes);
/** The WQ has been destroyed. */
void mdv_rx_ibv_detach(struct mdv_rxq *rxq);
/** Give verbs the WQEs that it does not have yet; those it does not take wait for the next call. */
void mdv_rx_ibv_post(struct mdv_rxq *rxq);

#endif /* MDV_RX_IBV_H */
