/* SPDX-License-Identifier: BSD-3-Clause */
/* clang-format off */
/**
 * @file
 * The device's side of a receive queue: its CQ and WQ, and their states.
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

#include "rxq.h"

/** Make the objects, with rxq->ring.log2_segs; the queue is reset. @return 0 or a negative errno,
 * logged.
 */
int mdv_rxq_ring_create(struct mdv_rxq *rxq);
/**
 * Destroy the objects, and free the mbufs of a ready queue. The objects may be missing.
 * @return 0, -EBUSY: a rule points at the WQ, or another negative errno, logged: firmware refused.
 * After these the device may go on writing to the mbufs, and nothing has changed.
 */
int mdv_rxq_ring_destroy(struct mdv_rxq *rxq);
/** Fill the ring of a reset queue and let the device use it. @return 0 or a negative errno, logged.
 */
int mdv_rxq_ring_ready(struct mdv_rxq *rxq);
/**
 * Make the WQ of a ready queue strip VLAN tags or not, by rxq->vlan_strip.
 * @param may_have_failed unnoticed: it is not ready then, and its recovery does this
 * @return 0 or a negative errno, logged.
 */
int mdv_rxq_ring_strip(struct mdv_rxq *rxq, bool may_have_failed);
/** Stop a ready queue and free its mbufs. @return 0 or a negative errno, logged: all is as before.
 */
int mdv_rxq_ring_reset(struct mdv_rxq *rxq);
/**
 * The device has stopped the WQ with this syndrome: drop the packets in the rings and restart it.
 * Called by the polling thread; takes the objects' lock. @return 0, or a negative errno, logged,
 * when nothing was touched.
 */
int mdv_rxq_ring_recover(struct mdv_rxq *rxq, uint8_t syndrome);

/** Mark the queue as broken: the device will write no more CQEs until the objects are replaced.
 * Any thread may call it. */
static inline void
mdv_rxq_ring_break(struct mdv_rxq *rxq)
{
	__atomic_fetch_or(&rxq->ring.runtime_opts, MDV_RX_RUNTIME_BROKEN, __ATOMIC_RELAXED);
}

/** Move the objects and rings of @p from, which is alike, to @p rxq. */
void mdv_rxq_ring_adopt(struct mdv_rxq *rxq, const struct mdv_rxq *from);
/**
 * Replace the objects of a ready queue that no rule points at by those of @p fresh, which are
 * reset, destroy the old ones, and let the device use the new ones. If the pool runs short, bursts
 * refill the rest.
 * @return 0, or a negative errno, logged: the queue is reset or unchanged, and @p fresh has no
 * objects
 */
int mdv_rxq_ring_replace(struct mdv_rxq *rxq, struct mdv_rxq *fresh);

#endif /* MDV_RXQ_RING_H */
