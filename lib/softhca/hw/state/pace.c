/* SPDX-License-Identifier: BSD-3-Clause */
/* Packet pacing of a send queue. */
#include "hw/state/pace.h"

#include "base/clock.h"

/** 1/256 of a tick, 25 ps: a frame of 64 bytes at 100 Gb/s takes 205 of them. */
#define PART_BITS 8

static uint64_t
cost(const struct shca_pace *pace, uint32_t bytes)
{
	/* Bits divided by kbit/s are milliseconds. */
	return ((uint64_t)bytes * 8 * SHCA_CLOCK_KHZ << PART_BITS) / pace->kbps;
}

void
shca_pace_set(struct shca_pace *pace, uint32_t kbps, uint32_t burst_bytes)
{
	pace->kbps = kbps;
	pace->burst_bytes = burst_bytes;
	pace->is_idle = true;
	pace->due = 0;
}

bool
shca_pace_may_send(const struct shca_pace *pace, uint64_t ticks)
{
	return pace->kbps == 0 || ticks << PART_BITS >= pace->due;
}

void
shca_pace_sent(struct shca_pace *pace, uint64_t ticks, uint32_t bytes)
{
	if (pace->kbps == 0)
		return;
	if (pace->is_idle) {
		uint64_t now = ticks << PART_BITS;
		uint64_t burst = cost(pace, pace->burst_bytes);
		uint64_t earliest = now > burst ? now - burst : 0;

		if (pace->due < earliest)
			pace->due = earliest;
		pace->is_idle = false;
	}
	pace->due += cost(pace, bytes);
}

void
shca_pace_idle(struct shca_pace *pace)
{
	pace->is_idle = true;
}

uint64_t
shca_pace_due(const struct shca_pace *pace)
{
	return (pace->due + (1 << PART_BITS) - 1) >> PART_BITS;
}
