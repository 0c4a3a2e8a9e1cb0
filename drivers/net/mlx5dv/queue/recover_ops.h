/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A queue whose verbs objects have failed asks for others. The functions that replace them are in a
 * room above (they take a receive queue's rules out of the device), so each process registers them
 * when it probes; their addresses differ between processes.
 */
#ifndef MDV_RECOVER_OPS_H
#define MDV_RECOVER_OPS_H

#include <stdint.h>

struct mdv_rxq;
struct mdv_txq;

/** The next try for a queue that could not be recreated. */
struct mdv_recover_wait {
	uint64_t until; /**< cycles of the timer */
	uint32_t ms;    /**< length of the last wait; 0: none */
};

/** Called by the polling thread of a broken queue that has nothing else to do. */
struct mdv_recover_ops {
	void (*rx)(struct mdv_rxq *rxq);
	void (*tx)(struct mdv_txq *txq);
};

extern struct mdv_recover_ops mdv_recover_ops;

#endif /* MDV_RECOVER_OPS_H */
