/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Packet pacing of a send queue: when its next frame may leave. Pure.
 *
 * Each frame moves the time of the next by what it takes at the rate, so the rate is kept however
 * late the device comes round. A queue that has run empty saves up at most a burst.
 *
 * Policy, as no driver shows it: what counts are the bytes of the frame without FCS and preamble.
 */
#ifndef SHCA_HW_STATE_PACE_H
#define SHCA_HW_STATE_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct shca_pace {
	uint32_t kbps; /**< 0: no limit */
	uint32_t burst_bytes;
	bool is_idle; /**< nothing has been waiting since the last frame */
	uint64_t due; /**< in parts of a tick */
};

/** A limit from now on. @param kbps 0 takes it away */
void shca_pace_set(struct shca_pace *pace, uint32_t kbps, uint32_t burst_bytes);
/** @return whether a frame may leave. */
bool shca_pace_may_send(const struct shca_pace *pace, uint64_t ticks);
/** A frame of @p bytes leaves, when it may. */
void shca_pace_sent(struct shca_pace *pace, uint64_t ticks, uint32_t bytes);
/** Nothing waits any more. */
void shca_pace_idle(struct shca_pace *pace);
/** @return the first tick at which a frame may leave. */
uint64_t shca_pace_due(const struct shca_pace *pace);

#endif /* SHCA_HW_STATE_PACE_H */
