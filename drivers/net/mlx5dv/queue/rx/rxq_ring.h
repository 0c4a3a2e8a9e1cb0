/* SPDX-License-Identifier: BSD-3-Clause */
/* clang-format off */
/**
 * @file
 * The device's half of a receive queue: its CQ and WQ, made, emptied, set going.
 *
 *                 create           ready
 *     (nothing) ──────────> reset ───────> ready
 *               <──────────       <───────
 *                 destroy          reset
 *
 * In state reset the WQ drops packets; rules and RSS may still point at it. The rings look full and
 * empty at once, so a burst does nothing.
 */
/* clang-format on */
#ifndef MDV_RXQ_RING_H
#define MDV_RXQ_RING_H

#include <stdbool.h>
#include <stdint.h>

struct mdv_rxq;

/** Make the objects, with rxq->ring.log2_segs; the queue is reset. @return 0 or a negative errno,
 * logged.
 */
int mdv_rxq_ring_create(struct mdv_rxq *rxq);
/**
 * Free the mbufs of a ready queue, too. Objects that were not made are taken.
 * @return 0, or -EBUSY: something points at the WQ; all is as before.
 */
int mdv_rxq_ring_destroy(struct mdv_rxq *rxq);
/** Fill the ring of a reset queue and let the device use it. @return 0 or a negative errno, logged.
 */
int mdv_rxq_ring_ready(struct mdv_rxq *rxq);
/** Let the WQ of a ready queue strip VLAN tags as rxq->vlan_strip says. @return 0 or a negative
 * errno, logged. */
int mdv_rxq_ring_strip(struct mdv_rxq *rxq);
/** Stop a ready queue and free its mbufs. @return 0 or a negative errno, logged: all is as before.
 */
int mdv_rxq_ring_reset(struct mdv_rxq *rxq);
/**
 * The device has stopped the WQ with this syndrome: drop the packets in the rings and restart it.
 * Called by the polling thread. @return 0, or a negative errno, logged, when nothing was touched.
 */
int mdv_rxq_ring_recover(struct mdv_rxq *rxq, uint8_t syndrome);

/** Nothing will come from the device any more, until the objects are others. Any thread. */
void mdv_rxq_ring_break(struct mdv_rxq *rxq);
/** The objects and rings of @p from, which is alike, become those of @p rxq. */
void mdv_rxq_ring_adopt(struct mdv_rxq *rxq, const struct mdv_rxq *from);
/**
 * Give a ready queue that no rule points at the objects of @p fresh, which are reset, and let the
 * device use them; its own are destroyed. If the pool runs short, bursts refill the rest.
 * @return 0, or a negative errno, logged: the queue is reset, or as it was, and nothing is left of
 * @p fresh
 */
int mdv_rxq_ring_replace(struct mdv_rxq *rxq, struct mdv_rxq *fresh);

#endif /* MDV_RXQ_RING_H */
