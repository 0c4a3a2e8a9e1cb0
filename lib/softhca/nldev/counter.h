/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Counters of queue pairs (Linux core/counters.c): bound to by hand, or, in a port's auto mode, by
 * the queue pairs that get to INIT while it is on. A counter is there as long as a queue pair is
 * bound to it. One table a process, as its devices are. Thread-safe.
 */
#ifndef SHCA_NLDEV_COUNTER_H
#define SHCA_NLDEV_COUNTER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/entry/restrack.h"

struct shca_device;

#define SHCA_COUNTER_QPS_MAX 64 /**< that are bound, of a device */

/** Whose counters a call is about. */
struct shca_counter_port {
	struct shca_device *dev; /**< NULL: not open in this process; it has no queue pairs */
	unsigned int device;     /**< its index */
	uint32_t port;
};

struct shca_counter {
	uint32_t id, port;
	uint32_t auto_mask; /**< RDMA_COUNTER_MASK_*: made in auto mode; 0: by hand */
	uint8_t qp_type;
	pid_t pid; /**< of its first queue pair's process */
	uint32_t qpn[SHCA_COUNTER_QPS_MAX];
	unsigned int nb_qps;
	struct shca_qp_counts counts; /**< of its queue pairs, each since it was bound */
};

/**
 * Bind queue pair @p qpn to counter @p id.
 * @return 0, -ENOENT: no such queue pair or counter, -EINVAL: it is bound, or is not at the
 * counter's port, or @p of is in auto mode, -ENOMEM: there are SHCA_COUNTER_QPS_MAX
 */
int shca_counter_bind(const struct shca_counter_port *of, uint32_t qpn, uint32_t id);
/** Bind it to a new counter of the port, whose number is *@p id then; it may be at no port yet.
 * @return as above */
int shca_counter_bind_alloc(const struct shca_counter_port *of, uint32_t qpn, uint32_t *id);
/** @return 0, -ENOENT: no such queue pair, -EINVAL: it is not bound to this counter, or is at
 * another port, or the port does not count by hand */
int shca_counter_unbind(const struct shca_counter_port *of, uint32_t id, uint32_t qpn);
/** Find counter @p id of any port. @return whether it is there */
bool shca_counter_find(
	const struct shca_counter_port *of, uint32_t id, struct shca_counter *counter);
/** @return the number of the counter behind @p id, the least of those greater, of the port, or of
 * any with port 0; 0: there is none */
uint32_t shca_counter_next(const struct shca_counter_port *of, uint32_t id);
/**
 * Turn a port's auto mode on, or off with @p mask 0: those that are bound stay so.
 * @param mask RDMA_COUNTER_MASK_*: queue pairs that differ in these have counters of their own
 * @return 0, -EINVAL: unknown bits, -EBUSY: the port has counters
 */
int shca_counter_set_auto(const struct shca_counter_port *of, uint32_t mask);
/** @return RDMA_COUNTER_MODE_* of a port @param mask of its auto mode, or 0 */
uint32_t shca_counter_get_mode(const struct shca_counter_port *of, uint32_t *mask);

#endif /* SHCA_NLDEV_COUNTER_H */
