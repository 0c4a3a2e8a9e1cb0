/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Pages in which programs read the device's time: the free-running counter, like the card's
 * register, and its relation to the time of day, which the kernel's driver publishes.
 *
 * The counter advances with the device's rounds: all completions of a round carry the same time. So
 * a time read before a frame is posted is at most its completion's, and a time read after the
 * completion is at least that; it may lag by as long as the device thread sleeps.
 */
#ifndef SHCA_HW_DEVICE_CLOCK_PAGE_H
#define SHCA_HW_DEVICE_CLOCK_PAGE_H

#include <linux/types.h>
#include <rdma/mlx5-abi.h>
#include <sys/queue.h>

struct shca_device;

/** The pages of one open file; the caller owns and maps them. */
struct shca_clock_page {
	LIST_ENTRY(shca_clock_page) link;
	__be64 *counter;
	struct mlx5_ib_clock_info *info;
};

/** Keep @p page up to date from now on; it is up to date on return. */
void shca_clock_page_add(struct shca_device *dev, struct shca_clock_page *page);
void shca_clock_page_remove(struct shca_clock_page *page);
/** A round begins with a new dev->ticks: update the pages. */
void shca_clock_page_update(struct shca_device *dev);

#endif /* SHCA_HW_DEVICE_CLOCK_PAGE_H */
