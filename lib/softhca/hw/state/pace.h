/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Packet pacing of a send queue: when its next frame may leave. Pure.
 *
 * Each frame delays the next by its own duration at the rate, so a device that comes late still
 * keeps the rate. A queue that was empty may send at most a burst at once.
 *
 * Policy, as no driver shows it: a frame counts without FCS and preamble.
 */
#ifndef SHCA_HW_STATE_PACE_H
#define SHCA_HW_STATE_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct shca_pace {
	uint32_t kbps; /**< 0: no limit */
	uint32_t burst_bytes;
	bool is_idle; /**< no frame has waited since the last one left */
	uint64_t due; /**< in parts of a tick */
};

/** Set a limit from now on. @param kbps 0: no limit */
void shca_pace_set(struct shca_pace *pace, uint32_t kbps, uint32_t burst_bytes);
/** @return whether a frame may leave. */
bool shca_pace_may_send(const struct shca_pace *pace, uint64_t ticks);
/** A frame of @p bytes leaves; shca_pace_may_send() has allowed it. */
void shca_pace_sent(struct shca_pace *pace, uint64_t ticks, uint32_t bytes);
/** No frame waits any more. */
void shca_pace_idle(struct shca_pace *pace);
/** @return the first tick at which a frame may leave. */
uint64_t shca_pace_due(const struct shca_pace *pace);

#endif /* SHCA_HW_STATE_PACE_H */
