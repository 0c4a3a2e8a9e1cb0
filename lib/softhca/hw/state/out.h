/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Frames on their way to the wire, in order, and the completions that wait for them.
 *
 *     SQs, kernel --add--> [slot][slot][slot] --flush--> wire->tx, then CQE of the slots taken
 *
 * A WQE completes once the wire has taken its last frame. Frames that the wire does not take stay
 * here, built, steered and counted once, and no frame is added before they have left: so
 * back-pressure reaches the queues.
 *
 * A frame lies in application memory (one pointer segment, no change, a wire that does not
 * reflect), in memory of the kernel wire, or in the arena. The first two stay valid because the
 * application gets its completion, and the kernel wire is asked for more, only after the slot has
 * left.
 */
#ifndef SHCA_HW_STATE_OUT_H
#define SHCA_HW_STATE_OUT_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "wire/wire.h"

struct shca_device;
struct shca_sq;

#define SHCA_OUT_SLOTS 64

/** Room to build a frame in: the longest frame, a tag, and alignment. */
#define SHCA_OUT_FRAME_ROOM (SHCA_FRAME_MAX + 64)
#define SHCA_OUT_ARENA      (16 * SHCA_OUT_FRAME_ROOM)

struct shca_out_slot {
	struct shca_sq *sq; /**< NULL: a frame of the kernel, or its queue is destroyed */
	bool completes;     /**< the WQE's CQE is due when this slot has left */
	uint8_t opcode;
	uint16_t wqe_counter;
};

struct shca_out {
	struct shca_frame frame[SHCA_OUT_SLOTS]; /**< length 0: no frame, only a completion */
	struct shca_out_slot slot[SHCA_OUT_SLOTS];
	unsigned int head;  /**< first slot that has not left */
	unsigned int count; /**< slots in use, including those that have left */
	uint32_t arena_used;
	uint8_t *arena;
};

/** @return whether there is room for one more frame; otherwise flush all. */
static inline bool
shca_out_has_room(const struct shca_out *out)
{
	return out->count < SHCA_OUT_SLOTS &&
		out->arena_used + SHCA_OUT_FRAME_ROOM <= SHCA_OUT_ARENA && out->head == 0;
}

/** @return SHCA_OUT_FRAME_ROOM bytes to build the next frame in; there is room. */
static inline uint8_t *
shca_out_build(struct shca_out *out)
{
	return out->arena + out->arena_used;
}

/** Queue a frame of WQE @p wqe_counter; there is room. */
static inline void
shca_out_add(struct shca_out *out, struct shca_sq *sq, uint16_t wqe_counter,
	const struct shca_frame *frame)
{
	const uint32_t cache_line = 64;

	assert(out->count < SHCA_OUT_SLOTS && frame->length != 0);
	if (frame->bytes == shca_out_build(out))
		out->arena_used += (frame->length + cache_line - 1) & ~(cache_line - 1);
	out->frame[out->count] = *frame;
	out->slot[out->count] = (struct shca_out_slot){ .sq = sq, .wqe_counter = wqe_counter };
	out->count++;
}

#endif /* SHCA_HW_STATE_OUT_H */
