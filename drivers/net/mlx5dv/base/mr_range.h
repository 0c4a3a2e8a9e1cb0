/* SPDX-License-Identifier: BSD-3-Clause */
/** @file A memory region as queues and messages between processes know it. */
#ifndef MDV_MR_RANGE_H
#define MDV_MR_RANGE_H

#include <stdbool.h>
#include <stdint.h>

struct mdv_mr_range {
	uintptr_t start;
	uintptr_t size;   /**< bytes; 0: empty */
	uint32_t lkey_be; /**< as in a data segment */
	bool zero_based;  /**< device memory: the address start is offset 0 for the device */
};

#endif /* MDV_MR_RANGE_H */
