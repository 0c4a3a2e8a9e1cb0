/* SPDX-License-Identifier: BSD-3-Clause */
/* Receive queue: a run of frames, one after the other. */
#include "hw/queue/rq_run.h"

#include <endian.h>

#include "base/mem.h"
#include "hw/queue/copy.h"
#include "hw/queue/cq.h"
#include "hw/queue/rq.h"
#include "hw/queue/segment.h"
#include "hw/state/cq.h"
#include "hw/state/device.h"

/** Frames on their way to one queue. */
struct run {
	struct shca_rq *rq;
	const struct shca_flow_cache_line *line;
	struct shca_rx_csum_stack stack; /* the frames of a line have the same */
	struct shca_segment_like like;   /* the latest segment with room for a frame */
	struct shca_minicqe mini;        /* what all have in it */
	bool wants_sum;                  /* completions have the frames' checksums */
	/* The frame before is in the CQ's block of compressed completions with these checksum
	 * results, and so many that are like it may follow. */
	uint8_t latest;
	uint32_t room;
};

/** @return whether the queue gives a frame one buffer and takes it unchanged. */
static bool
is_plain(const struct shca_rq *rq)
{
	return rq->state == SHCA_QUEUE_READY && rq->nb_segments == 1 && !rq->attr.cvlan_strip &&
		!rq->attr.scatter_fcs && rq->attr.log_strides == 0 && !rq->is_watched;
}

/** @return how many of @p nb WQEs are posted. shca_rq_receive() handles an impossible counter. */
static unsigned int
nb_posted(struct shca_rq *rq, unsigned int nb)
{
	uint16_t pi;

	if ((uint16_t)(rq->pi_seen - rq->ci) < nb) {
		pi = shca_rq_read_pi(rq);
		if ((uint16_t)(pi - rq->ci) <= rq->attr.nb_wqes)
			rq->pi_seen = pi;
	}
	return (uint16_t)(rq->pi_seen - rq->ci) < nb ? (uint16_t)(rq->pi_seen - rq->ci) : nb;
}

/** @return the buffer of a segment that differs from the one before, or NULL when it is any special
 * case. */
static __attribute__((noinline)) uint8_t *
look_up(struct run *run, const struct shca_rq *rq, const struct mlx5_wqe_data_seg *segment)
{
	const uint32_t room = be32toh(segment->byte_count), length = run->line->length;

	if (room < length || room >= MLX5_INLINE_SEG)
		return NULL;
	return shca_segment_look_up(&run->like, rq->dev->mem, rq->attr.pdn, segment, length, true);
}

/** @return the buffer of WQE ci, or NULL when the WQE is any special case. */
static inline uint8_t *
buffer(struct run *run, const struct shca_rq *rq, struct shca_rq_ring ring)
{
	const uint64_t *posted = (const void *)shca_rq_ring_segments(ring, rq->ci);
	struct mlx5_wqe_data_seg segment;
	uint64_t word[2];
	uint8_t *at;

	/* Each word once: the program may write them at any time. */
	word[0] = __atomic_load_n(&posted[0], __ATOMIC_RELAXED);
	word[1] = __atomic_load_n(&posted[1], __ATOMIC_RELAXED);
	static_assert(sizeof(word) == sizeof(segment), "two words");
	memcpy(&segment, word, sizeof(segment));
	at = shca_segment_ptr(&run->like, &segment);
	return __builtin_expect(at != NULL, true) ? at : look_up(run, rq, &segment);
}

/** Put the frame for WQE ci into the block of the one before. */
static inline void
push_like(struct run *run, struct shca_rq *rq, uint16_t checksum)
{
	struct shca_cq *cq = rq->attr.cq;

	if (run->wants_sum) {
		run->mini.checksum = checksum;
		if (cq->block->format == SHCA_MINI_CSUM_STRIDX)
			run->mini.stride_index = htobe16(rq->ci);
	}
	shca_cq_push_like(cq, &run->mini);
	run->room--;
}

static inline uint8_t
good(struct shca_rx_csum rx_csum)
{
	return (uint8_t)(rx_csum.l3_good << 1 | rx_csum.l4_good);
}

/** Complete a frame by a CQE of its own, or as the first one of its kind in a block. */
static __attribute__((noinline)) void
push(struct run *run, const uint8_t *bytes)
{
	const struct shca_rx_csum rx_csum = shca_rx_csum_check(bytes, &run->stack, true);
	const struct shca_rq *rq = run->rq;
	const struct shca_cqe_rx cqe_rx = {
		.byte_count = run->line->length,
		.rss_hash = run->line->rss_hash,
		.rss_hash_type = run->line->rss_hash_type,
		.flow_tag = run->line->flow_tag,
		.user_index = rq->attr.user_index,
		.wqe_counter = rq->ci,
	};
	struct shca_cqe described, cqe;

	shca_cqe_describe_plain(&described, &run->line->packet.outer, rx_csum, rq->dev->ticks);
	shca_cqe_set_rx(&cqe, &described, &cqe_rx);
	shca_cq_push(rq->attr.cq, &cqe, false);
	if (rq->attr.cq->block != NULL)
		shca_cq_prefetch_title(rq->attr.cq);
	run->latest = good(rx_csum);
	run->room = shca_cq_room_like(rq->attr.cq);
}

/** The frame is in its buffer. */
static inline void
complete(struct run *run, struct shca_rq *rq, const uint8_t *bytes)
{
	struct shca_rx_csum rx_csum;

	if (run->room != 0)
		rx_csum = shca_rx_csum_check(bytes, &run->stack, run->wants_sum);
	if (run->room != 0 && good(rx_csum) == run->latest) {
		push_like(run, rq, rx_csum.checksum);
	} else {
		push(run, bytes);
	}
	rq->ci++;
	rq->dev->stats.rx_steered++;
	rq->count.packets++;
	rq->count.bytes += run->line->length;
}

/** @return how many frames were delivered; the next one takes the slow path. */
static unsigned int
receive_plain(struct run *run, const struct shca_frame *frame, unsigned int nb_frames)
{
	struct shca_rq *rq = run->rq;
	struct shca_device *dev = rq->dev;
	const struct shca_rq_ring ring = shca_rq_ring_of(rq);
	const uint32_t length = run->line->length;

	if (!is_plain(rq))
		return 0;
	shca_touch(dev, SHCA_TOUCH_RQ_RING, rq);
	nb_frames = nb_posted(rq, nb_frames);
	for (unsigned int i = 0; i < nb_frames; i++) {
		uint8_t *to;

		/* The completion before has noted its CQ. */
		shca_touch(dev, SHCA_TOUCH_RQ_RING, rq);
		shca_rq_prefetch(ring, rq->ci);
		to = buffer(run, rq, ring);
		if (to == NULL)
			return i;
		shca_touch_part(dev, SHCA_TOUCH_RQ_BUFFER);
		shca_copy(to, frame[i].bytes, length);
		complete(run, rq, frame[i].bytes);
	}
	return nb_frames;
}

static void
receive_one(struct run *run, const struct shca_frame *frame)
{
	struct shca_packet packet = run->line->packet;
	struct shca_rx rx = { .packet = &packet };
	struct shca_cqe_rx cqe_rx = {
		.rss_hash = run->line->rss_hash,
		.rss_hash_type = run->line->rss_hash_type,
		.flow_tag = run->line->flow_tag,
	};

	packet.bytes = frame->bytes;
	run->room = 0;
	shca_rq_receive(run->rq, &rx, &cqe_rx);
}

void
shca_rq_run_receive(const struct shca_flow_cache_line *line, const struct shca_frame *frame,
	unsigned int nb_frames)
{
	const struct shca_minicqe_block *block = line->rq->attr.cq->block;
	struct run run = {
		.rq = line->rq,
		.line = line,
		.stack = shca_rx_csum_stack(frame->bytes, &line->packet.outer),
		.mini = { .byte_count = htobe32(line->length) },
		.wants_sum = block == NULL || block->format != SHCA_MINI_HASH,
	};
	unsigned int i = 0;

	if (!run.wants_sum)
		run.mini.rss_hash = htobe32(line->rss_hash);
	while (i < nb_frames) {
		i += receive_plain(&run, frame + i, nb_frames - i);
		if (i < nb_frames)
			receive_one(&run, &frame[i++]);
	}
}
