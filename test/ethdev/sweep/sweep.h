/* SPDX-License-Identifier: BSD-3-Clause */
/** @file What the sweep's files have in common: the port, operations on it, and faults. */
#ifndef SWEEP_H
#define SWEEP_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <rte_common.h>
#include <rte_mempool.h>

#define SWEEP_NB_QUEUES 2
#define SWEEP_PORT      "net_mlx5dv0"
#define SWEEP_NB_DESC   128
/** So long for what is a moment's on the slowest machine. */
#define SWEEP_PATIENCE_S 60

/** What fails. */
enum sweep_fault {
	SWEEP_VERBS,  /**< the kernel's verbs, but those that destroy */
	SWEEP_MEMORY, /**< a watched library's calls for memory */
	SWEEP_SYSTEM, /**< its calls of the system, and of the EAL for other than memory */
};

/** Of this thread the @p nth call from now on fails with ENOMEM; 0: none. */
void sweep_arm(enum sweep_fault what, unsigned int nth);
/** No more. @return whether one has failed */
bool sweep_disarm(void);
/** Calls of this shared library may fail. @return whether there are any */
bool sweep_watch(const char *name);

/** What Linux knows of the port. */
struct sweep_netdev {
	unsigned int mtu, flags;
	bool rx_pause, tx_pause;
};

void sweep_netdev_look(unsigned int ifindex, struct sweep_netdev *netdev);
/** As ioctl(); for a netdev with a cable. */
int sweep_netdev_ioctl(int fd, unsigned long request, void *arg);

/** What is to be seen in the end of an operation. */
enum sweep_after {
	SWEEP_QUIET = 1 << 0, /**< nothing to be received now */
	SWEEP_OPENS = 1 << 1, /**< a device: errno is the library's, and what there was is gone */
	SWEEP_STEPS =
		1 << 2, /**< several calls, of which those before the one that fails are done */
};

struct sweep_operation {
	const char *name;  /**< operations of the driver's tables, and which of several rows */
	int (*run)(void);  /**< -ENOTSUP: not every device, not every process has that */
	int (*undo)(void); /**< NULL: it can be done again */
	unsigned int after;
};

/** An operation that is one expression: 0 or a negative errno. */
#define SWEEP_OPERATION(name, expression)                                                          \
	static int name(void)                                                                      \
	{                                                                                          \
		return expression;                                                                 \
	}

/** @{ In this order; each but the last leaves a running port. Ended by one without a name. */
extern const struct sweep_operation sweep_opening[];
extern const struct sweep_operation sweep_queues[];
extern const struct sweep_operation sweep_filters[];
extern const struct sweep_operation sweep_rules[];
extern const struct sweep_operation sweep_reads[];
extern const struct sweep_operation sweep_beyond[];
extern const struct sweep_operation sweep_closing[];
/** @} */
/** @{ In this order, with sweep_reads between them, in a secondary process. */
extern const struct sweep_operation sweep_attaching[];
extern const struct sweep_operation sweep_detaching[];
/** @} */

/** @{ A port that runs; none. */
int sweep_life_begin(void);
int sweep_life_end(void);
/** @} */
int sweep_queues_set_up_rx(uint16_t queue, uint16_t nb_desc);
int sweep_queues_set_up_tx(uint16_t queue, uint16_t nb_desc);
/** Flow queues, for a port that is stopped. */
int sweep_rules_configure(void);
/** Rules have gone with the port. */
void sweep_rules_forget(void);

extern uint16_t sweep_port;
extern const char *sweep_devargs;
extern struct rte_mempool *sweep_pool;

/** @return the reason that a call of DPDK's has left in rte_errno, negative; there must be one. */
int sweep_reason(void);

/** Ends the program with what was done and what is wrong. */
void sweep_must(bool ok, const char *format, ...) __rte_format_printf(2, 3);

#endif /* SWEEP_H */
