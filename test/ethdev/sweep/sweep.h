/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Shared by the sweep's files: the port, operations on it, and faults. */
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
/** A wait that even the slowest machine never needs. */
#define SWEEP_PATIENCE_S 60

/** The calls that fail. */
enum sweep_fault {
	SWEEP_VERBS,  /**< the kernel's verbs, except those that destroy */
	SWEEP_MEMORY, /**< a watched library's calls for memory */
	SWEEP_SYSTEM, /**< its system calls, and its calls of the EAL other than for memory */
};

/** Let this thread's @p nth call from now on fail with ENOMEM; 0: none. */
void sweep_arm(enum sweep_fault what, unsigned int nth);
/** Let no more calls fail. @return whether one has failed */
bool sweep_disarm(void);
/** Let calls of this shared library fail. @return whether there are any */
bool sweep_watch(const char *name);

/** Linux's view of the port. */
struct sweep_netdev {
	unsigned int mtu, flags;
	bool rx_pause, tx_pause;
};

void sweep_netdev_look(unsigned int ifindex, struct sweep_netdev *netdev);
/** As ioctl(); for a netdev with a cable. */
int sweep_netdev_ioctl(int fd, unsigned long request, void *arg);

/** The state at the end of an operation. */
enum sweep_after {
	SWEEP_QUIET = 1 << 0, /**< the port receives nothing now */
	SWEEP_OPENS =
		1 << 1, /**< opens a device: errno is the library's, and the former port is gone */
	SWEEP_STEPS = 1 << 2, /**< several calls; those before the failing one stay done */
};

struct sweep_operation {
	const char *name;  /**< operations of the driver's tables, and which of several rows */
	int (*run)(void);  /**< -ENOTSUP: not every device or process supports it */
	int (*undo)(void); /**< NULL: it can be repeated */
	unsigned int after;
};

/** An operation that is one expression: 0 or a negative errno. */
#define SWEEP_OPERATION(name, expression)                                                          \
	static int name(void)                                                                      \
	{                                                                                          \
		return expression;                                                                 \
	}

/** @{ In this order; each but the last leaves a running port. A row without a name ends them. */
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

/** @{ Make a running port, and remove it. */
int sweep_life_begin(void);
int sweep_life_end(void);
/** @} */
int sweep_queues_set_up_rx(uint16_t queue, uint16_t nb_desc);
int sweep_queues_set_up_tx(uint16_t queue, uint16_t nb_desc);
/** Configure flow queues of a stopped port. */
int sweep_rules_configure(void);
/** Forget the rules, which have gone with the port. */
void sweep_rules_forget(void);

extern uint16_t sweep_port;
extern const char *sweep_devargs;
extern struct rte_mempool *sweep_pool;

/** @return the negative errno that a call of DPDK's has left in rte_errno; there must be one. */
int sweep_reason(void);

/** End the program with the operation and the error, unless @p ok. */
void sweep_must(bool ok, const char *format, ...) __rte_format_printf(2, 3);

#endif /* SWEEP_H */
