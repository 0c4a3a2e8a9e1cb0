/* SPDX-License-Identifier: BSD-3-Clause */
/* Pages in which programs read the device's time. */
#include "hw/device/clock_page.h"

#include <assert.h>
#include <endian.h>

#include "base/clock.h"
#include "hw/state/device.h"

/** As in Linux (mlx5/core/lib/clock.c): 2^23 parts of a nanosecond, a counter of 41 bits. */
#define SHIFT 23
#define MULT  ((uint32_t)(((uint64_t)1000000 << SHIFT) / SHCA_CLOCK_KHZ))
#define MASK  ((1ULL << 41) - 1)

/** The greatest age of the relation. A multiplied difference of half the mask would not fit in 64
 * bits; that of 2000 seconds does. */
#define PERIOD_NS    1000000000ULL
#define PERIOD_TICKS ((uint64_t)SHCA_CLOCK_KHZ * 1000)

static_assert(PERIOD_TICKS * 2000 * MULT / MULT == PERIOD_TICKS * 2000, "no overflow");

static void
write_counter(const struct shca_device *dev, struct shca_clock_page *page)
{
	/* Store in one access: readers take the high half twice. */
	__atomic_store_n(page->counter, htobe64(dev->ticks), __ATOMIC_RELEASE);
}

/** A reader that sees the flag, or a sign that has changed, reads again. */
static void
write_info(const struct shca_device *dev, struct shca_clock_page *page)
{
	struct mlx5_ib_clock_info *info = page->info;
	uint64_t real_ns =
		shca_clock_real_ns() - SHCA_CLOCK_TICKS_TO_NS(shca_clock_ticks() - dev->ticks);
	uint32_t sign = info->sign;

	__atomic_store_n(&info->sign, sign | MLX5_IB_CLOCK_INFO_KERNEL_UPDATING, __ATOMIC_SEQ_CST);
	info->nsec = real_ns;
	info->cycles = dev->ticks;
	info->frac = 0;
	info->mult = MULT;
	info->shift = SHIFT;
	info->mask = MASK;
	info->overflow_period = PERIOD_NS;
	__atomic_store_n(
		&info->sign, sign + 2 * MLX5_IB_CLOCK_INFO_KERNEL_UPDATING, __ATOMIC_RELEASE);
}

void
shca_clock_page_add(struct shca_device *dev, struct shca_clock_page *page)
{
	dev->ticks = shca_clock_ticks();
	write_counter(dev, page);
	write_info(dev, page);
	LIST_INSERT_HEAD(&dev->clock_pages, page, link);
}

void
shca_clock_page_remove(struct shca_clock_page *page)
{
	LIST_REMOVE(page, link);
}

void
shca_clock_page_update(struct shca_device *dev)
{
	bool is_due = dev->ticks - dev->clock_info_ticks >= PERIOD_TICKS;
	struct shca_clock_page *page;

	LIST_FOREACH (page, &dev->clock_pages, link) {
		write_counter(dev, page);
		if (is_due)
			write_info(dev, page);
	}
	if (is_due)
		dev->clock_info_ticks = dev->ticks;
}
