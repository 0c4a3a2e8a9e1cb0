/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The device's side of a send queue: its CQ and QP, their states, and the rings in them.
 */
#ifndef MDV_TXQ_RING_H
#define MDV_TXQ_RING_H

#include <stdint.h>

struct mdv_txq;

/** Make the objects; the queue is reset. @return 0 or a negative errno, logged. */
int mdv_txq_ring_create(struct mdv_txq *txq);
/** Destroy the objects, and free the mbufs. */
void mdv_txq_ring_destroy(struct mdv_txq *txq);
/** Move the objects and rings of @p from, which is alike, to @p txq. */
void mdv_txq_ring_adopt(struct mdv_txq *txq, const struct mdv_txq *from);
/** Let the QP send. @return 0 or a negative errno, logged. */
int mdv_txq_ring_ready(struct mdv_txq *txq);
/** Stop the QP and free the mbufs. @return 0 or a negative errno, logged: all is as before. */
int mdv_txq_ring_reset(struct mdv_txq *txq);
/** Limit the rate of a QP that sends; 0: no limit. @return 0 or a negative errno, logged. */
int mdv_txq_ring_set_rate(struct mdv_txq *txq, uint32_t kbps);
/**
 * Reset the SQ, which the device has stopped with this syndrome, and make it ready, empty. The
 * caller handles the mbufs. Called by the sending thread.
 * @return 0 or a negative errno, logged.
 */
int mdv_txq_ring_recover(struct mdv_txq *txq, uint8_t syndrome);

/**
 * Replace the objects of a running queue and destroy the old ones; packets in flight are lost.
 * Called by the sending thread, with the objects locked.
 * @return 0, or a negative errno, logged: nothing was touched
 */
int mdv_txq_ring_replace(struct mdv_txq *txq);
/** Free the mbufs [tail, to): of one pool or several, shared or not, segments or whole packets. */
void mdv_txq_ring_release(struct mdv_txq *txq, uint16_t to);
/** Empty the rings: no packet is in flight, no completion requested. */
void mdv_txq_ring_clear(struct mdv_txq *txq);
/** Make all WQEBBs look used, so that bursts send nothing until mdv_txq_ring_clear(). */
void mdv_txq_ring_look_full(struct mdv_txq *txq);

#endif /* MDV_TXQ_RING_H */
