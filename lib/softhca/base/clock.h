/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The device's clocks, read from the host's monotonic clock. */
#ifndef SHCA_BASE_CLOCK_H
#define SHCA_BASE_CLOCK_H

#include <stdint.h>

/** Frequency of the device's free-running counter, as device queries report it. */
#define SHCA_CLOCK_KHZ 156250
/** Exact, and free of overflow for a century of ticks. */
#define SHCA_CLOCK_TICKS_TO_NS(ticks) ((ticks)*32 / 5)

/** @return nanoseconds of CLOCK_MONOTONIC. */
uint64_t shca_clock_ns(void);
/** @return milliseconds of CLOCK_MONOTONIC. */
static inline int64_t
shca_clock_ms(void)
{
	return (int64_t)(shca_clock_ns() / 1000000);
}
/** @return nanoseconds of CLOCK_REALTIME. */
uint64_t shca_clock_real_ns(void);
/** @return the free-running counter, in ticks of SHCA_CLOCK_KHZ. */
uint64_t shca_clock_ticks(void);

#endif /* SHCA_BASE_CLOCK_H */
