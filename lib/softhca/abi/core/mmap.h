/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The areas that an open file maps, by offset (drivers/infiniband/hw/mlx5/main.c mlx5_ib_mmap): the
 * page offset's second byte is a command; commands from 9 on are objects' pages.
 *
 * The file behind the descriptor is sparse and covers all offsets, so the real mmap serves. UAR
 * pages are plain memory. Only a strict device reads them: each doorbell is in a doorbell record,
 * too.
 */
#ifndef SHCA_ABI_CORE_MMAP_H
#define SHCA_ABI_CORE_MMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHCA_MMAP_PAGE_BYTES 4096
/** Highest index of a UAR page: 16 bits, because a CQ names its page in 16. */
#define SHCA_MMAP_UAR_LAST 0xfeff

/** UAR pages that a strict device can watch; allocation starts with these. */
#define SHCA_MMAP_NB_WATCHED 256

/** @return a descriptor for the node of device @p index, or a negative errno. */
int shca_mmap_open(unsigned int index, bool cloexec);
/** Areas with contents of the device's, by command (enum mlx5_ib_mmap_cmd). */
enum shca_mmap_area {
	SHCA_MMAP_CORE_CLOCK = 5,
	SHCA_MMAP_CLOCK_INFO = 7,
	SHCA_MMAP_DEVICE_MEMORY = 8,
	SHCA_MMAP_UARS = 9, /**< objects' pages: the first SHCA_MMAP_NB_WATCHED */
};
/**
 * Map the beginning of an area for the device; munmap() ends it.
 * @return NULL when there is no room.
 */
void *shca_mmap_area(int fd, enum shca_mmap_area area, size_t bytes);
/**
 * Check what a program maps of an open file, whose offsets would all do, as far as the commands
 * have no state: pages of objects and of bfregs pass.
 * @param prot, flags of mmap() @return 0 or a negative errno.
 */
int shca_mmap_check(uint64_t offset, size_t length, int prot, int flags);
/** @return the offset to map UAR page @p index at. */
uint64_t shca_mmap_uar_offset(uint32_t index);
/** @return the number by which CQs and QPs name UAR page @p index. */
uint32_t shca_mmap_uar_page(uint32_t index);

#endif /* SHCA_ABI_CORE_MMAP_H */
