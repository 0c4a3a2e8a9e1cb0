/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Send queue: fetches WQEs, gathers, offloads, queues frames for the wire. Internal to hw/.
 *
 * ci and the producer counter count WQEBBs over 16 bits; WQEBB n is at slot n & (nb_wqebbs - 1),
 * and a WQE may continue at the ring's start. The engine executes a WQE frame by frame and can stop
 * in between: nb_queued frames of the one at ci are in the wire queue (hw/state/out.h).
 *
 * Errors are reported in order: the queue goes to ERROR at once; when its earlier frames have left,
 * it is flushed, the failed WQE first.
 */
#ifndef SHCA_HW_STATE_SQ_H
#define SHCA_HW_STATE_SQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/queue.h>

#include "hw/format/hw.h"
#include "hw/state/attr.h"
#include "hw/state/pace.h"

/** Doorbells of a queue as a strict device sees them (hw/check/doorbell.h). */
struct shca_doorbell {
	bool has_rung; /**< a doorbell has named WQE `rung`, the latest one */
	bool is_early; /**< the record does not cover that WQE yet */
	bool is_owed;  /**< WQE `last` has been executed, and no doorbell has named it yet */
	uint16_t rung, last;
	unsigned int nb_early_rounds, nb_owed_rounds;
	uint64_t early_ticks, owed_ticks;
	uint64_t base; /**< doorbells of the device when the record had no new WQE */
};

struct shca_sq {
	LIST_ENTRY(shca_sq) link;
	struct shca_device *dev;
	struct shca_sq_attr attr;
	uint32_t number;
	uint32_t port; /**< of an e-switch's manager: its frames leave by this one */
	struct shca_queue_count count;
	enum shca_queue_state state;
	bool dead;              /**< the ring is gone: the device never accesses it again */
	bool is_faulty;         /**< faults may strike some of its WQEs (hw/check/inject.h) */
	bool is_watched;        /**< is_faulty, or what crosses PCI is counted (hw/check/bus.h) */
	uint8_t first_syndrome; /**< ERROR: of the WQE that failed; 0: already reported */
	uint16_t ci;
	uint16_t looked_at; /**< strict: earlier WQEBBs have been checked */
	bool has_begun;     /**< strict: its first producer counter has been checked */
	uint64_t serial;    /**< strict: of its creation */
	uint32_t ordinal; /**< number among the device's send queues in order of creation, from 1 */
	uint64_t nb_wqes; /**< faulty: executed since its creation */
	uint16_t fetched; /**< counted: earlier WQEBBs have crossed PCI */
	struct shca_doorbell bell;
	uint32_t nb_queued;
	struct shca_pace pace;
};

/** @return the WQEBB of index @p index. */
static inline const uint8_t *
shca_sq_wqebb(const struct shca_sq *sq, uint16_t index)
{
	return sq->attr.ring + (size_t)(index & (sq->attr.nb_wqebbs - 1)) * SHCA_WQEBB_BYTES;
}

/** Copy @p nb WQEBBs from @p index on into @p flat, around the ring's end if need be. */
static inline void
shca_sq_fetch(const struct shca_sq *sq, uint16_t index, unsigned int nb, uint8_t *flat)
{
	while (nb != 0) {
		const unsigned int to_end = sq->attr.nb_wqebbs - (index & (sq->attr.nb_wqebbs - 1));
		const unsigned int nb_now = nb < to_end ? nb : to_end;

		memcpy(flat, shca_sq_wqebb(sq, index), (size_t)nb_now * SHCA_WQEBB_BYTES);
		flat += (size_t)nb_now * SHCA_WQEBB_BYTES;
		index += (uint16_t)nb_now;
		nb -= nb_now;
	}
}

/**
 * Touch each page of a frame that leaves from application memory, so that a fault happens here,
 * where its owner is known, and not inside a wire that holds a lock of stdio.
 */
static inline void
shca_sq_meet_faults(const uint8_t *bytes, uint32_t length)
{
	const uint32_t page_bytes = 4096;

	(void)*(const volatile uint8_t *)bytes;
	for (uint32_t at = page_bytes; at < length; at += page_bytes)
		(void)*(const volatile uint8_t *)&bytes[at];
	(void)*(const volatile uint8_t *)&bytes[length - 1];
}

#endif /* SHCA_HW_STATE_SQ_H */
