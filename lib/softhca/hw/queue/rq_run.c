/* SPDX-License-Identifier: BSD-3-Clause */
/* Receive queue: a run of frames, one after the other. */
#include "hw/queue/rq_run.h"

#include <endian.h>

#include "base/mem.h"
#include "hw/queue/copy.h"
#include "hw/queue/cq.h"
#include "hw/queue/rq.h"
#include "hw/state/cq.h"
#include "hw/state/device.h"

/** Frames on their way to one queue. */
struct run {
	struct shca_rq *rq;
	const struct shca_flow_cache_line *line;
	struct shca_mem_window window;
	struct shca_rx_csum_stack stack; /* the frames of a line have the same */
	/* The frame before is in the CQ's block of compressed completions with these checksum
	 * results, and the next one may be like it; or NONE_LATEST. */
	uint8_t latest;
};

#define NONE_LATEST UINT8_MAX

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

/** @return the buffer of WQE ci for @p length bytes, or NULL when the WQE is any special case. */
static inline uint8_t *
buffer(struct run *run, uint32_t length)
{
	struct shca_rq *rq = run->rq;
	struct mlx5_wqe_data_seg segment;
	uint32_t room;

	memcpy(&segment, shca_rq_segments(rq, rq->ci), sizeof(segment));
	room = be32toh(segment.byte_count);
	if (room < length || room >= MLX5_INLINE_SEG)
		return NULL;
	return shca_mem_window_ptr(&run->window, rq->dev->mem, rq->attr.pdn, be32toh(segment.lkey),
		be64toh(segment.addr), length, true);
}

static inline struct shca_minicqe
make_mini(const struct run *run, struct shca_rx_csum rx_csum)
{
	struct shca_minicqe mini = { .byte_count = htobe32(run->line->length) };

	if (run->rq->attr.cq->block->format == SHCA_MINI_HASH) {
		mini.rss_hash = htobe32(run->line->rss_hash);
	} else {
		mini.checksum = rx_csum.checksum;
		if (run->rq->attr.cq->block->format == SHCA_MINI_CSUM_STRIDX)
			mini.stride_index = htobe16(run->rq->ci);
	}
	return mini;
}

static inline uint8_t
good(struct shca_rx_csum rx_csum)
{
	return (uint8_t)(rx_csum.l3_good << 1 | rx_csum.l4_good);
}

static void
push(struct run *run, struct shca_rx_csum rx_csum)
{
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
	if (rq->attr.cq->block == NULL)
		return;
	shca_cq_prefetch_title(rq->attr.cq);
	run->latest = good(rx_csum);
}

/** The frame is in its buffer. */
static inline void
complete(struct run *run, const uint8_t *bytes)
{
	const struct shca_rx_csum rx_csum = shca_rx_csum_check(bytes, &run->stack);
	struct shca_rq *rq = run->rq;

	if (good(rx_csum) != run->latest ||
		!shca_cq_push_like(rq->attr.cq, make_mini(run, rx_csum)))
		push(run, rx_csum);
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
	const uint32_t length = run->line->length;

	if (!is_plain(rq))
		return 0;
	shca_touch(dev, SHCA_TOUCH_RQ_RING, rq);
	nb_frames = nb_posted(rq, nb_frames);
	for (unsigned int i = 0; i < nb_frames; i++) {
		uint8_t *to;

		shca_touch(dev, SHCA_TOUCH_RQ_RING, rq);
		shca_rq_prefetch(rq);
		to = buffer(run, length);
		if (to == NULL)
			return i;
		shca_touch(dev, SHCA_TOUCH_RQ_BUFFER, rq);
		shca_copy(to, frame[i].bytes, length);
		complete(run, frame[i].bytes);
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
	run->latest = NONE_LATEST;
	shca_rq_receive(run->rq, &rx, &cqe_rx);
}

void
shca_rq_run_receive(const struct shca_flow_cache_line *line, const struct shca_frame *frame,
	unsigned int nb_frames)
{
	struct run run = {
		.rq = line->rq,
		.line = line,
		.stack = shca_rx_csum_stack(frame->bytes, &line->packet.outer),
		.latest = NONE_LATEST,
	};
	unsigned int i = 0;

	while (i < nb_frames) {
		i += receive_plain(&run, frame + i, nb_frames - i);
		if (i < nb_frames)
			receive_one(&run, &frame[i++]);
	}
}
