/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What can be mapped from an open file, and at which offset (drivers/infiniband/hw/mlx5/main.c
 * mlx5_ib_mmap): the page offset's second byte is a command; commands from 9 on are objects' pages.
 *
 * The file behind the descriptor is sparse and as long as the offsets go, so the real mmap serves.
 * UAR pages are plain memory: none but a strict device reads them, because every doorbell is also
 * in a doorbell record.
 */
#ifndef SHCA_ABI_CORE_MMAP_H
#define SHCA_ABI_CORE_MMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHCA_MMAP_PAGE_BYTES 4096
/** Highest index of a UAR page: 16 bits, because a CQ names its page in 16. */
#define SHCA_MMAP_UAR_LAST 0xfeff

/** UAR pages that a strict device can watch; they are given out from the first on. */
#define SHCA_MMAP_NB_WATCHED 256

/** @return a descriptor for the node of device @p index, or a negative errno. */
int shca_mmap_open(unsigned int index, bool cloexec);
/** What a device fills in the space, by its command (enum mlx5_ib_mmap_cmd). */
enum shca_mmap_area {
	SHCA_MMAP_CORE_CLOCK = 5,
	SHCA_MMAP_CLOCK_INFO = 7,
	SHCA_MMAP_DEVICE_MEMORY = 8,
	SHCA_MMAP_UARS = 9, /**< the first SHCA_MMAP_NB_WATCHED: of objects' pages */
};
/**
 * Map the beginning of an area for ourselves; munmap() ends it.
 * @return NULL when there is no room.
 */
void *shca_mmap_area(int fd, enum shca_mmap_area area, size_t bytes);
/** @return the offset to map UAR page @p index at. */
uint64_t shca_mmap_uar_offset(uint32_t index);
/** @return the number CQs and QPs name UAR page @p index by. */
uint32_t shca_mmap_uar_page(uint32_t index);

#endif /* SHCA_ABI_CORE_MMAP_H */
