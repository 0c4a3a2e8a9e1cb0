/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Recreates the verbs objects of a queue that has failed while its port runs.
 *
 *     CQ in error (event) ─────────┐
 *     an error CQE, and a verb     ├──> broken ──(a burst that finds nothing)──> recreated, or
 *     that fails while recovering ─┘     ^                                       tried later
 *                                        └──────────────────────────────────────────┘
 *
 * A CQ in error cannot be reset, and a WQ or QP cannot get another CQ. So both are replaced. For a
 * send queue that is all; for a receive queue the port's rules, which point at the WQ, are removed
 * from the device first and installed again afterwards.
 *
 * The polling thread starts it, because only this thread knows that no burst is in the rings. In a
 * secondary process it asks the primary, which owns the verbs objects, and waits. Other threads
 * that read the rings hold the lock (mdv_queue_list_lock_objects()).
 *
 * A receive queue whose process was killed in a burst is broken, too (queue/rx/rxq_ring.c): its
 * next start recreates it, before anybody polls it. A send queue that starts broken looks full
 * until a burst has it recreated.
 */
#ifndef MDV_RECOVER_H
#define MDV_RECOVER_H

#include <stdbool.h>
#include <stdint.h>

struct mdv_port;
struct mdv_rxq;
struct mdv_txq;

/** From now on bursts of this process have broken queues recreated. */
void mdv_recover_register(void);
/** Recreate it, in the primary process. @return 0, or a negative errno: it is still broken. */
int mdv_recover_rx_now(struct mdv_rxq *rxq);
/** The same; the caller tells secondaries of the new doorbell, mdv_primary_doorbells(). */
int mdv_recover_tx_now(struct mdv_txq *txq);

#endif /* MDV_RECOVER_H */
