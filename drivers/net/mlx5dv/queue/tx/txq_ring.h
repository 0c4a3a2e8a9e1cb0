/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The device's half of a send queue: its CQ and QP, made, emptied, set going; and the rings in
 * them.
 */
#ifndef MDV_TXQ_RING_H
#define MDV_TXQ_RING_H

#include <stdint.h>

struct mdv_txq;

/** Make the objects; the queue is reset. @return 0 or a negative errno, logged. */
int mdv_txq_ring_create(struct mdv_txq *txq);
/** Free the mbufs, too. */
void mdv_txq_ring_destroy(struct mdv_txq *txq);
/** The objects and rings of @p from, which is alike, become those of @p txq. */
void mdv_txq_ring_adopt(struct mdv_txq *txq, const struct mdv_txq *from);
/** Let the QP send. @return 0 or a negative errno, logged. */
int mdv_txq_ring_ready(struct mdv_txq *txq);
/** Stop the QP and free the mbufs. @return 0 or a negative errno, logged: all is as before. */
int mdv_txq_ring_reset(struct mdv_txq *txq);
/** Have a QP that sends go no faster; 0: no limit. @return 0 or a negative errno, logged. */
int mdv_txq_ring_set_rate(struct mdv_txq *txq, uint32_t kbps);
/**
 * The device has stopped the SQ with this syndrome: make it ready again, empty. The caller deals
 * with the mbufs. Called by the sending thread. @return 0, or a negative errno, logged.
 */
int mdv_txq_ring_recover(struct mdv_txq *txq, uint8_t syndrome);

/**
 * Give a running queue other objects, and destroy its own; packets on their way are given up.
 * Called by the sending thread, with the objects locked.
 * @return 0, or a negative errno, logged: nothing was touched
 */
int mdv_txq_ring_replace(struct mdv_txq *txq);
/** Free the mbufs [tail, to), whatever they are. */
void mdv_txq_ring_release(struct mdv_txq *txq, uint16_t to);
/** Nothing is in flight, nothing asked for. */
void mdv_txq_ring_clear(struct mdv_txq *txq);
/** No WQEBB is free: bursts send nothing. Until mdv_txq_ring_clear(). */
void mdv_txq_ring_look_full(struct mdv_txq *txq);

#endif /* MDV_TXQ_RING_H */
