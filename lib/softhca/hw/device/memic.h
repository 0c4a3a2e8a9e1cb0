/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Allocates pages of the device memory (PRM: MEMIC), which all files share. The contents are up to
 * each file.
 */
#ifndef SHCA_HW_DEVICE_MEMIC_H
#define SHCA_HW_DEVICE_MEMIC_H

#include <stdint.h>

struct shca_device;

#define SHCA_MEMIC_PAGE_BYTES 4096

/**
 * Allocate adjacent pages; the caller of all functions holds the device lock.
 * @return 0 and the first, -ENOMEM.
 */
int shca_memic_take(struct shca_device *dev, uint32_t nb_pages, uint32_t *first);
void shca_memic_give(struct shca_device *dev, uint32_t first, uint32_t nb_pages);

#endif /* SHCA_HW_DEVICE_MEMIC_H */
