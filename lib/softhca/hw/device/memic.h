/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Who has which page of the card's own memory (PRM: MEMIC), which all files share. What is in the
 * pages is the files' business.
 */
#ifndef SHCA_HW_DEVICE_MEMIC_H
#define SHCA_HW_DEVICE_MEMIC_H

#include <stdint.h>

struct shca_device;

#define SHCA_MEMIC_PAGE_BYTES 4096

/**
 * Take adjacent pages; all functions want the device lock held.
 * @return 0 and the first, -ENOMEM.
 */
int shca_memic_take(struct shca_device *dev, uint32_t nb_pages, uint32_t *first);
void shca_memic_give(struct shca_device *dev, uint32_t first, uint32_t nb_pages);

#endif /* SHCA_HW_DEVICE_MEMIC_H */
