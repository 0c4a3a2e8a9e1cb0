/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A queue whose verbs objects are useless asks for others. Who replaces them is above the queues (a
 * receive queue's rules leave the device meanwhile), so a process registers it when it probes: each
 * its own, since the same code is elsewhere in another process.
 */
#ifndef MDV_RECOVER_OPS_H
#define MDV_RECOVER_OPS_H

#include <stdint.h>

struct mdv_rxq;
struct mdv_txq;

/** When to try again, of a queue that could not be recreated. */
struct mdv_recover_wait {
	uint64_t until; /**< cycles of the timer */
	uint32_t ms;    /**< how long the last wait was; 0: none */
};

/** Called by the polling thread of a broken queue that has nothing else to do. */
struct mdv_recover_ops {
	void (*rx)(struct mdv_rxq *rxq);
	void (*tx)(struct mdv_txq *txq);
};

extern struct mdv_recover_ops mdv_recover_ops;

#endif /* MDV_RECOVER_OPS_H */
