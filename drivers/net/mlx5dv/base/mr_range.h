/* SPDX-License-Identifier: BSD-3-Clause */
/** @file A memory region as queues and messages between processes know it. */
#ifndef MDV_MR_RANGE_H
#define MDV_MR_RANGE_H

#include <stdbool.h>
#include <stdint.h>

struct mdv_mr_range {
	uintptr_t start;
	uintptr_t size;   /**< bytes; 0: empty */
	uint32_t lkey_be; /**< as a data segment takes it */
	bool zero_based;  /**< device memory: what is at start is at 0 for the device */
};

#endif /* MDV_MR_RANGE_H */
