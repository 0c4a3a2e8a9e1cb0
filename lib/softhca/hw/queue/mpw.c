/* SPDX-License-Identifier: BSD-3-Clause */
/* Enhanced multi-packet sends: segments -> frames. */
#include "hw/queue/mpw.h"

#include <endian.h>
#include <string.h>

#include "hw/format/hw.h"
#include "hw/format/tx.h"
#include "hw/format/wqe.h"
#include "hw/queue/out.h"
#include "hw/queue/segment.h"
#include "hw/state/device.h"
#include "hw/state/prefetch.h"
#include "hw/state/sq.h"
#include "steering/steering.h"
#include "wire/copy.h"

#define HEAD_DS 2 /* control and ethernet segment */

static inline const uint8_t *
segment_bytes(const uint8_t *flat, unsigned int number)
{
	return flat + (size_t)(HEAD_DS + number) * SHCA_DS_BYTES;
}

static inline struct mlx5_wqe_data_seg
segment_at(const uint8_t *flat, unsigned int number)
{
	struct mlx5_wqe_data_seg segment;

	memcpy(&segment, segment_bytes(flat, number), sizeof(segment));
	return segment;
}

/** @return whether the WQE meets all conditions of the queue and of shca_opcode_is_refused() except
 * those on segments, and its frames leave unchanged. */
static bool
is_plain_head(const struct shca_sq *sq, const uint8_t *flat)
{
	const struct shca_model *model = sq->dev->conf.model;
	struct mlx5_wqe_ctrl_seg ctrl;
	struct mlx5_wqe_eth_seg eth = { 0 };

	memcpy(&ctrl, flat, sizeof(ctrl));
	memcpy(&eth, flat + sizeof(ctrl), SHCA_DS_BYTES);
	return be32toh(ctrl.opmod_idx_opcode) ==
		((uint32_t)sq->ci << SHCA_CTRL_INDEX_SHIFT | SHCA_OPCODE_ENHANCED_MPSW) &&
		be32toh(ctrl.qpn_ds) >> SHCA_CTRL_QPN_SHIFT == sq->number && eth.cs_flags == 0 &&
		eth.inline_hdr_sz == 0 && (model->multi_pkt_send & SHCA_MPW_ENHANCED) != 0 &&
		model->min_inline == SHCA_MIN_INLINE_NONE && sq->pace.kbps == 0 &&
		!sq->dev->loopback.is_on && !shca_steering_walks_tx(sq->dev->steering);
}

/** @return whether a segment's length, which has its top bit set if it is an inlined frame, is that
 * of a frame that can be sent. */
static inline bool
is_plain_length(uint32_t length)
{
	return length - SHCA_TX_MIN_HEADER <= SHCA_FRAME_MAX - SHCA_TX_MIN_HEADER;
}

/** Prefetch the frames: most regions begin at the address that they name; a prefetch of another
 * line does no harm. @return whether all segments point to frames of lengths that can be sent */
static bool
are_plain_segments(const uint8_t *flat, unsigned int first, unsigned int nb)
{
	bool all = true;

	for (unsigned int i = first; i < nb; i++) {
		const struct mlx5_wqe_data_seg segment = segment_at(flat, i);

		all &= is_plain_length(be32toh(segment.byte_count));
		shca_prefetch_read((const void *)(uintptr_t)be64toh(segment.addr));
	}
	return all;
}

/** Frames of one WQE that lie in one region and have one length. */
struct run {
	struct shca_segment_like like;
	unsigned int first, end;                         /**< segments of the WQE */
	uint8_t *at[SHCA_WQE_MAX_BYTES / SHCA_DS_BYTES]; /**< where they point, from first on */
};

/** Find where the frames are of the segment @p first and of those behind it that are like it.
 * @return whether that one's may be read */
static bool
point(const struct shca_sq *sq, const uint8_t *flat, unsigned int first, unsigned int nb,
	struct run *run)
{
	const struct mlx5_wqe_data_seg segment = segment_at(flat, first);

	run->like = (struct shca_segment_like){ 0 };
	run->first = run->end = first;
	run->at[0] = shca_segment_look_up(&run->like, sq->dev->mem, sq->attr.pdn, &segment,
		be32toh(segment.byte_count), false);
	if (run->at[0] == NULL)
		return false;
	run->end++;
	run->end += shca_segments_point(&run->like, segment_bytes(flat, run->end), SHCA_DS_BYTES,
		nb - run->end, false, &run->at[1]);
	return true;
}

/** Queue a frame like @p alike but for its place: the two numbers by one store. */
static inline void
put(struct shca_frame *frame, const struct shca_frame *alike, const uint8_t *bytes)
{
	const size_t at = offsetof(struct shca_frame, length);

	memcpy((uint8_t *)frame + at, (const uint8_t *)alike + at, sizeof(*alike) - at);
	frame->bytes = bytes;
}

/** @{ Queue frames of one length. Functions of their own have all that they need in registers,
 * where a copy, which might change any memory, leaves it. */
/** Short ones that may come back: there is room for all copies. */
static SHCA_WIDE void
queue_copies(struct shca_out_run *out, uint8_t *const at[], unsigned int nb, uint32_t length,
	uint32_t port)
{
	const struct shca_frame alike = { NULL, length, port };
	struct shca_frame *frame = out->frame;
	uint8_t *room = out->room;

#pragma GCC unroll 8
	for (size_t i = 0; i < nb; i++) {
		uint8_t *const to = room + i * SHCA_COPY_SHORT;

		shca_copy_short(to, at[i], length);
		put(&frame[i], &alike, to);
	}
	out->frame += nb;
	out->room = room + (size_t)nb * SHCA_COPY_SHORT;
	out->bytes += nb * length;
}

/** Those that are no runts, and do not come back. */
static __attribute__((noinline)) void
queue_pointers(struct shca_out_run *out, uint8_t *const at[], unsigned int nb, uint32_t length,
	uint32_t port)
{
	const struct shca_frame alike = { NULL, length, port };
	struct shca_frame *frame = out->frame;

	for (size_t i = 0; i < nb; i++) {
		shca_sq_meet_faults(at[i], length);
		put(&frame[i], &alike, at[i]);
	}
	out->frame += nb;
	out->bytes += nb * length;
}
/** @} */

/** The device pads runts, and copies frames that may come back, because those must not change any
 * more. @return how many there was room for */
static __attribute__((noinline)) unsigned int
queue_built(struct shca_out_run *out, uint8_t *const at[], unsigned int nb, uint32_t length,
	uint32_t port)
{
	for (unsigned int i = 0; i < nb; i++) {
		uint32_t bytes = length;

		if (!shca_out_run_has_arena(out))
			return i;
		shca_copy(out->room, at[i], length);
		if (length < SHCA_TX_MIN_FRAME)
			bytes = shca_tx_pad(out->room, length);
		shca_out_run_add(out, out->room, bytes, port);
		out->room += shca_out_built_bytes(bytes);
	}
	return nb;
}

/** @return whether there is room to copy so many short frames. */
static inline bool
has_room(const struct shca_out_run *out, unsigned int nb)
{
	return shca_out_run_has_arena(out) &&
		(size_t)(out->room_last - out->room) >= (size_t)nb * SHCA_COPY_SHORT;
}

/** @return how many frames of the run are queued. */
static inline unsigned int
queue_run(const struct shca_sq *sq, struct shca_out_run *out, const struct run *run)
{
	const unsigned int nb = run->end - run->first;
	const uint32_t length = run->like.length;

	if (!sq->dev->may_reflect && length >= SHCA_TX_MIN_FRAME)
		queue_pointers(out, run->at, nb, length, sq->port);
	else if (length >= SHCA_TX_MIN_FRAME && length <= SHCA_COPY_SHORT && has_room(out, nb))
		queue_copies(out, run->at, nb, length, sq->port);
	else
		return queue_built(out, run->at, nb, length, sq->port);
	return nb;
}

/**
 * Queue the frames of a WQE up to the @p nb'th.
 * @param run the first of them
 * @return how many are queued, with those that were
 */
static unsigned int
queue_frames(struct shca_sq *sq, const uint8_t *flat, unsigned int nb, struct run *run)
{
	struct shca_out *out = &sq->dev->out;
	struct shca_out_run frames = shca_out_begin(out, shca_out_wqe(out, sq, sq->ci));
	unsigned int nb_queued;

	do
		nb_queued = run->first + queue_run(sq, &frames, run);
	while (nb_queued == run->end && nb_queued < nb && point(sq, flat, nb_queued, nb, run));
	shca_out_end(out, &frames);
	return nb_queued;
}

enum shca_mpw
shca_mpw_queue(struct shca_sq *sq, const uint8_t *flat)
{
	struct shca_device *dev = sq->dev;
	const uint8_t ds = shca_wqe_ds(flat);
	const unsigned int nb = ds - HEAD_DS;
	struct run run;

	if (ds <= HEAD_DS || !is_plain_head(sq, flat))
		return SHCA_MPW_OTHER;
	/* There was no room for its completion. */
	if (sq->nb_queued >= nb)
		return SHCA_MPW_QUEUED;
	if (!point(sq, flat, sq->nb_queued, nb, &run) || !is_plain_length(run.like.length) ||
		(run.end < nb && !are_plain_segments(flat, run.end, nb)))
		return SHCA_MPW_OTHER;
	if (!shca_out_has_room_for(&dev->out, nb) &&
		(!shca_out_flush(dev) || !shca_out_has_room_for(&dev->out, nb)))
		return SHCA_MPW_BUSY;
	shca_touch(dev, SHCA_TOUCH_SQ_BUFFER, sq);
	sq->nb_queued = queue_frames(sq, flat, nb, &run);
	return sq->nb_queued == nb ? SHCA_MPW_QUEUED : SHCA_MPW_OTHER;
}
