/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Queues whose verbs objects have become useless under a running port, made anew.
 *
 *     CQ in error (event) ─────────┐
 *     an error CQE, and a verb     ├──> broken ──(a burst that finds nothing)──> made anew, or
 *     that fails while recovering ─┘     ^                                       tried later
 *                                        └──────────────────────────────────────────┘
 *
 * A CQ in error cannot be reset, and a WQ or QP cannot get another one. So both are replaced: a
 * send queue by itself; for a receive queue the port's rules leave the device meanwhile, as they
 * point at the WQ. It is done when the thread that polls says so, as it alone knows when nobody is
 * in the rings: by itself or, as verbs is the primary process's, there, while it waits. Other
 * threads that look into the rings hold the lock.
 */
#ifndef MDV_RECOVER_H
#define MDV_RECOVER_H

#include <stdbool.h>
#include <stdint.h>

struct mdv_port;
struct mdv_rxq;
struct mdv_txq;

/** From now on the queues that this process polls are made anew when they break. */
void mdv_recover_register(void);
/** Do it, in the primary process. @return 0 or a negative errno, logged: it is still broken */
int mdv_recover_rx_now(struct mdv_rxq *rxq);
/** Those who have its doorbell mapped are to be told, mdv_primary_doorbells(). */
int mdv_recover_tx_now(struct mdv_txq *txq);

#endif /* MDV_RECOVER_H */
