/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Counters that queue pairs are bound to by hand (Linux core/counters.c, RDMA_COUNTER_MODE_MANUAL).
 * A counter is there as long as a queue pair is bound to it. One table a process, as its devices
 * are. Thread-safe.
 */
#ifndef SHCA_NLDEV_COUNTER_H
#define SHCA_NLDEV_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

struct shca_device;

#define SHCA_COUNTER_QPS_MAX 64

struct shca_counter {
	uint32_t id;
	uint32_t qpn[SHCA_COUNTER_QPS_MAX];
	unsigned int nb_qps;
	uint64_t out_of_buffer; /**< of its queue pairs, each since it was bound */
};

/**
 * Bind queue pair @p qpn to counter *@p id; 0: to a new one, whose number is *@p id then.
 * @return 0, -ENOENT: no such queue pair or counter, -EINVAL: it is bound, or its port is another,
 * -ENOMEM: there are SHCA_COUNTER_QPS_MAX
 */
int shca_counter_bind(struct shca_device *dev, uint32_t port, uint32_t qpn, uint32_t *id);
/** @return 0, -ENOENT: no such queue pair, -EINVAL: it is not bound to this counter */
int shca_counter_unbind(struct shca_device *dev, uint32_t id, uint32_t qpn);
/** Find counter @p id. @return whether it is there */
bool shca_counter_find(struct shca_device *dev, uint32_t id, struct shca_counter *counter);
/** @return the number of the counter behind @p id, the least of those greater; 0: there is none */
uint32_t shca_counter_next(struct shca_device *dev, uint32_t id);

#endif /* SHCA_NLDEV_COUNTER_H */
