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

/** @return whether a segment is a pointer to a frame of a length that can be sent. The top bit
 * marks an inlined one. */
static inline bool
is_plain_length(__be32 byte_count)
{
	return be32toh(byte_count) - SHCA_TX_MIN_HEADER <= SHCA_FRAME_MAX - SHCA_TX_MIN_HEADER;
}

/** Prefetch the frames: most regions begin at the address that they name; a prefetch of another
 * line does no harm. @return whether all segments have one length */
static bool
prefetch_frames(const uint8_t *flat, unsigned int nb)
{
	const uint8_t *const begin = segment_bytes(flat, 0), *const end = segment_bytes(flat, nb);
	struct mlx5_wqe_data_seg segment;
	__be32 first, differing = 0;

	memcpy(&first, begin, sizeof(first));
#pragma GCC unroll 4
	for (const uint8_t *at = begin; at < end; at += SHCA_DS_BYTES) {
		memcpy(&segment, at, sizeof(segment));
		differing |= segment.byte_count ^ first;
		shca_prefetch_read((const void *)(uintptr_t)be64toh(segment.addr));
	}
	return differing == 0;
}

/** @return whether all segments are pointers to frames of a length that can be sent. */
static bool
are_plain_segments(const uint8_t *flat, unsigned int nb)
{
	bool all = true;

	if (prefetch_frames(flat, nb))
		return is_plain_length(segment_at(flat, 0).byte_count);
	for (unsigned int i = 0; i < nb; i++)
		all &= is_plain_length(segment_at(flat, i).byte_count);
	return all;
}

/** @return whether frames like those of @p like are copied with the fewest instructions. */
static inline bool
is_short(const struct shca_segment_like *like)
{
	return like->length - SHCA_TX_MIN_FRAME <= SHCA_COPY_SHORT - SHCA_TX_MIN_FRAME;
}

/** Where the frames of a WQE are, and how many of them. */
struct frames {
	const uint8_t *flat;
	unsigned int first, nb;
	uint32_t port;
};

/** @return for how many of the frames there is room to copy a short one each. */
static inline unsigned int
nb_with_room(const struct shca_out_run *run, const struct frames *frames)
{
	const unsigned int nb = frames->nb - frames->first;
	size_t nb_rooms;

	if (!shca_out_run_has_arena(run))
		return 0;
	nb_rooms = (size_t)(run->room_last - run->room) / SHCA_COPY_SHORT + 1;
	return nb < nb_rooms ? nb : (unsigned int)nb_rooms;
}

/**
 * Queue frames like the one before.
 * @param copies short ones that may come back; otherwise none is a runt
 * @return how many; the next one is not like that
 */
static inline __attribute__((always_inline)) unsigned int
queue_alike(struct shca_out_run *out, const struct shca_segment_like *of,
	const struct frames *frames, const bool copies)
{
	const struct shca_segment_like like = *of;
	const uint8_t *at = segment_bytes(frames->flat, frames->first);
	const uint32_t port = frames->port;
	const unsigned int nb = copies ? nb_with_room(out, frames) : frames->nb - frames->first;
	struct shca_frame *frame = out->frame;
	uint8_t *room = out->room;
	unsigned int i;

	for (i = 0; i < nb; i++, at += SHCA_DS_BYTES) {
		const uint8_t *from;
		uint64_t offset;

		if (!shca_segment_is_like(&like, at, &offset))
			break;
		from = like.window.start + offset;
		if (copies) {
			shca_copy_short(room, from, like.length);
			from = room;
			room += SHCA_COPY_SHORT;
		} else {
			shca_sq_meet_faults(from, like.length);
		}
		frame[i] = (struct shca_frame){ from, like.length, port };
	}
	out->frame += i;
	out->room = room;
	out->bytes += i * like.length;
	return i;
}

/** @{ Functions of their own have all that they need in registers, where a copy, which might change
 * any memory, leaves it. */
static SHCA_WIDE unsigned int
copy_alike(
	struct shca_out_run *run, const struct shca_segment_like *like, const struct frames *frames)
{
	return queue_alike(run, like, frames, true);
}

static __attribute__((noinline)) unsigned int
point_alike(
	struct shca_out_run *run, const struct shca_segment_like *like, const struct frames *frames)
{
	return queue_alike(run, like, frames, false);
}
/** @} */

/**
 * The device pads runts, and copies frames that may come back, because those must not change any
 * more.
 * @return whether there was room
 */
static inline bool
queue_frame(struct shca_sq *sq, struct shca_out_run *run, const uint8_t *from, uint32_t length)
{
	if (length >= SHCA_TX_MIN_FRAME && !sq->dev->may_reflect) {
		shca_sq_meet_faults(from, length);
		shca_out_run_add(run, from, length, sq->port);
		return true;
	}
	if (!shca_out_run_has_arena(run))
		return false;
	shca_copy(run->room, from, length);
	if (length < SHCA_TX_MIN_FRAME)
		length = shca_tx_pad(run->room, length);
	shca_out_run_add(run, run->room, length, sq->port);
	run->room += shca_out_built_bytes(length);
	return true;
}

/** @return how many of @p nb frames are queued, from @p first on. */
static inline unsigned int
queue_frames(struct shca_sq *sq, const uint8_t *flat, unsigned int first, unsigned int nb)
{
	struct shca_out *out = &sq->dev->out;
	struct shca_out_run run = shca_out_begin(out, shca_out_wqe(out, sq, sq->ci));
	struct frames frames = { flat, first, nb, sq->port };
	struct shca_segment_like like = { 0 };

	while (frames.first < nb) {
		const struct mlx5_wqe_data_seg segment = segment_at(flat, frames.first);
		const uint8_t *from = shca_segment_ptr(&like, &segment);

		if (__builtin_expect(from == NULL, false))
			from = shca_segment_look_up(&like, sq->dev->mem, sq->attr.pdn, &segment,
				be32toh(segment.byte_count), false);
		if (from == NULL || !queue_frame(sq, &run, from, like.length))
			break;
		frames.first++;
		if (!sq->dev->may_reflect && like.length >= SHCA_TX_MIN_FRAME)
			frames.first += point_alike(&run, &like, &frames);
		else if (sq->dev->may_reflect && is_short(&like))
			frames.first += copy_alike(&run, &like, &frames);
	}
	shca_out_end(out, &run);
	return frames.first;
}

bool
shca_mpw_queue(struct shca_sq *sq, const uint8_t *flat)
{
	struct shca_device *dev = sq->dev;
	const uint8_t ds = shca_wqe_ds(flat);
	const unsigned int nb = ds - HEAD_DS;

	if (ds <= HEAD_DS || !is_plain_head(sq, flat) || !are_plain_segments(flat, nb))
		return false;
	if (!shca_out_has_room_for(&dev->out, nb) &&
		(!shca_out_flush(dev) || !shca_out_has_room_for(&dev->out, nb)))
		return false;
	shca_touch(dev, SHCA_TOUCH_SQ_BUFFER, sq);
	sq->nb_queued = queue_frames(sq, flat, sq->nb_queued, nb);
	return sq->nb_queued == nb;
}
