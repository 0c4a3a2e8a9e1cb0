/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Pages in which programs read the device's time: the free-running counter, as the card's register
 * shows it, and what the kernel's driver tells of its relation to the time of day.
 *
 * The counter moves with the device's rounds: completions of a round carry the same time. So a time
 * read before a frame was posted is not later than its completion's, and one read after the
 * completion not earlier; it may be as old as the device thread sleeps.
 */
#ifndef SHCA_HW_DEVICE_CLOCK_PAGE_H
#define SHCA_HW_DEVICE_CLOCK_PAGE_H

#include <linux/types.h>
#include <rdma/mlx5-abi.h>
#include <sys/queue.h>

struct shca_device;

/** The pages of one open file; the caller's, who maps them. */
struct shca_clock_page {
	LIST_ENTRY(shca_clock_page) link;
	__be64 *counter;
	struct mlx5_ib_clock_info *info;
};

/** Keep @p page up to date from now on; it is when this returns. */
void shca_clock_page_add(struct shca_device *dev, struct shca_clock_page *page);
void shca_clock_page_remove(struct shca_clock_page *page);
/** A round begins: dev->ticks is new. */
void shca_clock_page_update(struct shca_device *dev);

#endif /* SHCA_HW_DEVICE_CLOCK_PAGE_H */
