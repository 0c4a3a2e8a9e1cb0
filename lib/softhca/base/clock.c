/* SPDX-License-Identifier: BSD-3-Clause */
/* The device's clocks. */
#include "base/clock.h"

#include <assert.h>
#include <time.h>

/** 156250 kHz is 5 ticks in 32 ns: exact, and ns * 5 does not wrap within a century of uptime. */
static_assert(SHCA_CLOCK_KHZ * 32ULL == 5 * 1000000ULL, "ticks are ns * 5 / 32");

uint64_t
shca_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t
shca_clock_real_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t
shca_clock_ticks(void)
{
	return shca_clock_ns() * 5 >> 5;
}
