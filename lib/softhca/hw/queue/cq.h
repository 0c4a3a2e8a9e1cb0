/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Completion queue: write, overrun, arm, resize. */
#ifndef SHCA_HW_QUEUE_CQ_H
#define SHCA_HW_QUEUE_CQ_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/state/attr.h"

struct shca_device;
struct shca_cqe;

/** @{ For the owner. */
/** @return 0, -EINVAL (geometry), -EFAULT (ring or record not mapped), -ENOMEM, -ENOSPC. */
int shca_cq_create(struct shca_device *dev, const struct shca_cq_attr *attr, struct shca_cq **cq);
void shca_cq_destroy(struct shca_cq *cq);
uint32_t shca_cq_number(const struct shca_cq *cq);
/** @return the ring, as its attributes or the last resize gave it. */
const uint8_t *shca_cq_ring(const struct shca_cq *cq);
/** Move to another ring, as ibv_resize_cq: writes the RESIZE CQE into the old one. */
int shca_cq_resize(struct shca_cq *cq, uint8_t *ring, uint32_t nb_cqes, uint32_t cqe_bytes);
/** Hold events back from now on, or with a zero no more (Linux mlx5_ifc.h cqc: cq_period, from
 * event to event, and cq_max_count). */
void shca_cq_moderate(struct shca_cq *cq, const struct shca_cq_moderation *moderation);
/** @} */

/** Append @p cqe, whose op_own has owner 0. @p solicited: it also fires an arm for solicited
 * completions. Without compression it is in the ring at once, otherwise with the next poll of the
 * arm word. */
void shca_cq_push(struct shca_cq *cq, struct shca_cqe *cqe, bool solicited);
/** End a block of compressed completions, read the arm word, and fire if the CQ is armed and has a
 * completion. */
void shca_cq_poll_arm(struct shca_cq *cq);
/** The same for all of device @p dev, a struct shca_device. */
void shca_cq_poll_all(void *dev);
/** @return whether queues can use this CQ: it may require timestamps of a clock that the device
 * lacks. */
bool shca_cq_has_clock(const struct shca_cq *cq);
/** @return whether a queue pair with a transport can use both: it has one clock for its
 * completions. NULL: it has no such CQ. */
bool shca_cq_have_one_clock(const struct shca_cq *send_cq, const struct shca_cq *recv_cq);
/** Stop the CQ and notify its owner: overrun, or its memory is gone. */
void shca_cq_fail(struct shca_cq *cq);

#endif /* SHCA_HW_QUEUE_CQ_H */
