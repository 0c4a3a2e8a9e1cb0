/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Send queue: fetch, execute, flush. */
#ifndef SHCA_HW_QUEUE_SQ_H
#define SHCA_HW_QUEUE_SQ_H

#include <stdint.h>

#include "hw/state/attr.h"

struct shca_device;
struct shca_sq;

/** @{ For the owner. */
int shca_sq_create(struct shca_device *dev, const struct shca_sq_attr *attr, struct shca_sq **sq);
void shca_sq_destroy(struct shca_sq *sq);
uint32_t shca_sq_number(const struct shca_sq *sq);
enum shca_queue_state shca_sq_state(const struct shca_sq *sq);
/** Leaving READY ends a rate limit. */
void shca_sq_modify(struct shca_sq *sq, enum shca_queue_state state);
/** Of an e-switch's manager: send by @p port (mlx5_eswitch_add_send_to_vport_rule). */
void shca_sq_set_port(struct shca_sq *sq, uint32_t port);
/** Send at most at @p kbps, with bursts of @p burst_bytes after a pause; 0: no limit. */
void shca_sq_set_rate(struct shca_sq *sq, uint32_t kbps, uint32_t burst_bytes);
/** @} */

/** Execute WQEs of all queues, or flush them in ERROR. @param budget of WQEs, of each queue */
void shca_sq_run_all(struct shca_device *dev, unsigned int budget);

#endif /* SHCA_HW_QUEUE_SQ_H */
