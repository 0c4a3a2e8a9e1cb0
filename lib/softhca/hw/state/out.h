/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Frames on their way to the wire, in order, and the completions that wait for them.
 *
 *     SQs, kernel --add--> [frame][frame][frame] --flush--> wire->tx
 *                          [WQE         ][WQE  ] ---------> CQE, once its last frame has left
 *
 * Frames that the wire does not take stay here, built, steered and counted once, and no frame is
 * added before they have left: so back-pressure reaches the queues.
 *
 * A frame lies in application memory (one pointer segment, no change, a wire that does not
 * reflect), in memory of the kernel wire, or in the arena. The first two stay valid because the
 * application gets its completion, and the kernel wire is asked for more, only after the frame has
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

#define SHCA_OUT_FRAMES 64
/** A WQE may complete without a frame of its own. */
#define SHCA_OUT_WQES (2 * SHCA_OUT_FRAMES)

/** Room to build a frame in: the longest frame, a tag, and alignment. */
#define SHCA_OUT_FRAME_ROOM (SHCA_FRAME_MAX + 64)
#define SHCA_OUT_ARENA      (16 * SHCA_OUT_FRAME_ROOM)

/** Frames that belong together, and lie behind those of the one before. */
struct shca_out_wqe {
	struct shca_sq *sq; /**< NULL: frames of the kernel, or of queue pairs with a transport */
	unsigned int end;   /**< the frame behind its last one */
	uint32_t bytes;     /**< of the frames that have not left */
	uint16_t counter;
	uint8_t opcode;
	bool completes; /**< a CQE is due when its frames have left */
};

struct shca_out {
	struct shca_frame frame[SHCA_OUT_FRAMES];
	struct shca_out_wqe wqe[SHCA_OUT_WQES];
	unsigned int head;      /**< first frame that has not left */
	unsigned int count;     /**< frames, including those that have left */
	unsigned int wqe_head;  /**< first WQE that is not done */
	unsigned int wqe_count; /**< WQEs, including those that are done */
	bool is_refused;        /**< the wire did not take all of it when it was last asked to */
	uint32_t arena_used;
	uint8_t *arena;
};

/** @return whether there is room to build one more frame. */
static inline bool
shca_out_has_arena(const struct shca_out *out)
{
	return out->arena_used + SHCA_OUT_FRAME_ROOM <= SHCA_OUT_ARENA;
}

/** @return whether there is room for @p nb frames of one WQE that are not built; otherwise flush
 * all. */
static inline bool
shca_out_has_room_for(const struct shca_out *out, unsigned int nb)
{
	return out->head == 0 && out->count + nb <= SHCA_OUT_FRAMES &&
		out->wqe_count < SHCA_OUT_WQES;
}

/** @return whether there is room for one more frame; otherwise flush all. */
static inline bool
shca_out_has_room(const struct shca_out *out)
{
	return shca_out_has_room_for(out, 1) && shca_out_has_arena(out);
}

/** @return SHCA_OUT_FRAME_ROOM bytes to build the next frame in; there is room. */
static inline uint8_t *
shca_out_build(struct shca_out *out)
{
	return out->arena + out->arena_used;
}

/** @return bytes of the arena that a frame takes. */
static inline uint32_t
shca_out_built_bytes(uint32_t length)
{
	const uint32_t cache_line = 64;

	return (length + cache_line - 1) & ~(cache_line - 1);
}

/** The frame built last has @p length bytes. */
static inline void
shca_out_built(struct shca_out *out, uint32_t length)
{
	out->arena_used += shca_out_built_bytes(length);
}

/** @return where to add frames of the WQE; there is room. */
static inline struct shca_out_wqe *
shca_out_wqe(struct shca_out *out, struct shca_sq *sq, uint16_t counter)
{
	struct shca_out_wqe *wqe = &out->wqe[out->wqe_count];

	if (out->wqe_count > out->wqe_head) {
		struct shca_out_wqe *last = wqe - 1;

		if (last->sq == sq && last->counter == counter && !last->completes)
			return last;
	}
	assert(out->wqe_count < SHCA_OUT_WQES);
	*wqe = (struct shca_out_wqe){ .sq = sq, .end = out->count, .counter = counter };
	out->wqe_count++;
	return wqe;
}

/** Queue a frame of @p wqe, the last one; there is room. */
static inline void
shca_out_append(struct shca_out *out, struct shca_out_wqe *wqe, const struct shca_frame *frame)
{
	assert(out->count < SHCA_OUT_FRAMES && frame->length != 0);
	out->frame[out->count++] = *frame;
	wqe->end = out->count;
	wqe->bytes += frame->length;
}

/** Frames of one WQE on their way into the queue, which has them at the end of the run. */
struct shca_out_run {
	struct shca_out_wqe *wqe;
	struct shca_frame *frame;  /**< the next one */
	uint8_t *room, *room_last; /**< to build it in; behind room_last there is none */
	uint32_t bytes;
};

/** Begin to queue frames of @p wqe, the last one; there is room for them, but in the arena. */
static inline struct shca_out_run
shca_out_begin(struct shca_out *out, struct shca_out_wqe *wqe)
{
	return (struct shca_out_run){
		.wqe = wqe,
		.frame = &out->frame[out->count],
		.room = shca_out_build(out),
		.room_last = out->arena + SHCA_OUT_ARENA - SHCA_OUT_FRAME_ROOM,
	};
}

/** @return whether there is room to build one more frame, at run->room. */
static inline bool
shca_out_run_has_arena(const struct shca_out_run *run)
{
	return run->room <= run->room_last;
}

static inline void
shca_out_run_add(struct shca_out_run *run, const uint8_t *bytes, uint32_t length, uint32_t port)
{
	*run->frame++ = (struct shca_frame){ bytes, length, port };
	run->bytes += length;
}

/** Queue the frames. */
static inline void
shca_out_end(struct shca_out *out, const struct shca_out_run *run)
{
	out->count = (unsigned int)(run->frame - out->frame);
	assert(out->count <= SHCA_OUT_FRAMES);
	out->arena_used = (uint32_t)(run->room - out->arena);
	run->wqe->end = out->count;
	run->wqe->bytes += run->bytes;
}

/** Queue a frame of WQE @p counter; there is room. */
static inline void
shca_out_add(
	struct shca_out *out, struct shca_sq *sq, uint16_t counter, const struct shca_frame *frame)
{
	if (frame->bytes == shca_out_build(out))
		shca_out_built(out, frame->length);
	shca_out_append(out, shca_out_wqe(out, sq, counter), frame);
}

#endif /* SHCA_HW_STATE_OUT_H */
