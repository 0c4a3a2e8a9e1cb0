/* SPDX-License-Identifier: BSD-3-Clause */
/** @file What the sweep's files have in common: the port, operations on it, and faults. */
#ifndef SWEEP_H
#define SWEEP_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>
#include <rte_mempool.h>

#define SWEEP_NB_QUEUES 2

/** What fails. */
enum sweep_fault {
	SWEEP_VERBS,  /**< the kernel's verbs, but those that destroy */
	SWEEP_MEMORY, /**< allocations by the driver itself */
};

/** Of this thread the @p nth call from now on fails with ENOMEM; 0: none. */
void sweep_arm(enum sweep_fault what, unsigned int nth);
/** No more. @return whether one has failed */
bool sweep_disarm(void);
/** @return whether the driver, a shared library, calls some function for memory. */
bool sweep_watch_memory(const char *driver);

/** What is to be seen in the end of an operation. */
enum sweep_after {
	SWEEP_QUIET = 1 << 0, /**< nothing to be received now */
	SWEEP_OPENS = 1 << 1, /**< a device: errno is the library's, and what there was is gone */
	SWEEP_STEPS =
		1 << 2, /**< several calls, of which those before the one that fails are done */
};

struct sweep_operation {
	const char *name;
	int (*run)(void);
	int (*undo)(void); /**< NULL: it can be done again */
	unsigned int after;
};

/** @{ Operations of rte_flow. 0, or a negative errno and a message. */
int sweep_rule_queues(void);
int sweep_rule_create(void);
int sweep_rule_query(void);
int sweep_rule_destroy(void);
int sweep_rule_share(void);
int sweep_rule_unshare(void);
int sweep_rule_create_shared(void);
int sweep_rule_update_shared(void);
int sweep_rule_destroy_shared(void);
int sweep_rule_make_templates(void);
int sweep_rule_destroy_templates(void);
int sweep_rule_enqueue(void);
int sweep_rule_dequeue(void);
int sweep_rule_isolate(void);
int sweep_rule_join(void);
/** Rules have gone with a reset. */
void sweep_rule_forget(void);
/** @} */

extern const struct sweep_operation sweep_operations[];
extern const unsigned int sweep_nb_operations;
extern uint16_t sweep_port;
extern struct rte_mempool *sweep_pool;

/** Ends the program with what was done and what is wrong. */
void sweep_must(bool ok, const char *format, ...) __rte_format_printf(2, 3);

#endif /* SWEEP_H */
