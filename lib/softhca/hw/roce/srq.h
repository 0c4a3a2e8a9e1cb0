/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Shared receive queues, for their owner and for the device. */
#ifndef SHCA_HW_ROCE_SRQ_H
#define SHCA_HW_ROCE_SRQ_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/state/attr.h"

struct shca_device;
struct shca_srq;

/** What an owner makes it with; ring and record are application memory. */
struct shca_srq_attr {
	uint8_t *ring;
	__be32 *dbrec;                  /**< [0] producer counter */
	uint32_t nb_wqes, stride_bytes; /**< powers of two */
	uint32_t pdn;
	uint32_t xrcdn; /**< of an XRC SRQ; 0: a basic one, whose queue pairs have CQ and user index
			 */
	struct shca_cq *cq;
	uint32_t user_index;
	const struct shca_context *context; /**< whose it is; borrowed */
	shca_event_fn event;
	void *owner;
};

/** @return 0, -EFAULT, -ENOMEM, -ENOSPC. */
int shca_srq_create(
	struct shca_device *dev, const struct shca_srq_attr *attr, struct shca_srq **srq);
void shca_srq_destroy(struct shca_srq *srq);
uint32_t shca_srq_number(const struct shca_srq *srq);
/** Report once that fewer than @p limit WQEs are posted; 0: do not. */
void shca_srq_arm(struct shca_srq *srq, uint32_t limit);
/** @return the limit, 0 once it has been reported. */
uint32_t shca_srq_limit(const struct shca_srq *srq);

#endif /* SHCA_HW_ROCE_SRQ_H */
