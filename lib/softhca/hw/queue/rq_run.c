/* SPDX-License-Identifier: BSD-3-Clause */
/* Receive queue: a run of frames, one after the other. */
#include "hw/queue/rq_run.h"

#include <endian.h>

#include "base/mem.h"
#include "hw/queue/cq.h"
#include "hw/queue/rq.h"
#include "hw/queue/segment.h"
#include "hw/state/cq.h"
#include "hw/state/device.h"
#include "wire/copy.h"

/** Frames that take each step together: as many as a wire gives at once, and not so many bytes that
 * those copied first have left the CPU's cache when their checksums are added up. */
#define STEP_FRAMES 64
#define STEP_BYTES  16384

/** Frames on their way to one queue. */
struct run {
	struct shca_rq *rq;
	const struct shca_flow_cache_line *line;
	struct shca_rx_csum_stack stack; /* the frames of a line have the same */
	struct shca_segment_like like;   /* the latest segment with room for a frame */
	struct shca_minicqe mini;        /* what all have in it */
	unsigned int nb_step;            /* frames of a step at most */
	bool wants_sum;                  /* completions have the frames' checksums */
	/* The frame before is in the CQ's block of compressed completions, and so many with good
	 * checksums may follow. */
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

/** @return the buffer of a segment that may differ from the one before, or NULL when it is any
 * special case. */
static uint8_t *
look_up(struct run *run, const struct shca_rq *rq, const struct mlx5_wqe_data_seg *segment)
{
	const uint32_t room = be32toh(segment->byte_count), length = run->line->length;

	if (room < length || room >= MLX5_INLINE_SEG)
		return NULL;
	return shca_segment_look_up(&run->like, rq->dev->mem, rq->attr.pdn, segment, length, true);
}

/** Find the buffers of the next @p nb WQEs, which lie one behind the other. @return for how many;
 * the next one is a special case */
static unsigned int
point(struct run *run, const struct shca_rq *rq, unsigned int nb, uint8_t **to)
{
	const struct shca_rq_ring ring = shca_rq_ring_of(rq);
	const uint8_t *at = (const void *)shca_rq_ring_segments(ring, rq->ci);
	unsigned int i = 0;

	while (i < nb) {
		const struct mlx5_wqe_data_seg segment =
			shca_segment_load(at + (size_t)i * ring.stride_bytes);

		to[i] = look_up(run, rq, &segment);
		if (to[i] == NULL)
			break;
		i++;
		i += shca_segments_point(&run->like, at + (size_t)i * ring.stride_bytes,
			ring.stride_bytes, nb - i, true, to + i);
	}
	return i;
}

#define COPIES_AT_ONCE 8

/** Frames on their way into their buffers. */
struct copies {
	uint8_t *const *to;
	const struct shca_frame *frame;
	unsigned int nb;
	uint32_t length;
	volatile unsigned int nb_done; /* a fault ends the loop; some more may be copied then */
};

/** A function of its own has all that it needs in registers, where a copy, which might change any
 * memory, leaves it. */
static SHCA_WIDE void
copy_all(void *arg)
{
	struct copies *copies = arg;
	const struct shca_frame *frame = copies->frame;
	uint8_t *const *to = copies->to;
	const unsigned int nb = copies->nb;
	const uint32_t length = copies->length;
	unsigned int i = 0;

	if (shca_copy_is_short(length))
		for (; i + COPIES_AT_ONCE <= nb; copies->nb_done = i += COPIES_AT_ONCE) {
#pragma GCC unroll 8
			for (size_t j = 0; j < COPIES_AT_ONCE; j++)
				shca_copy_short(to[j], frame[j].bytes, length);
			to += COPIES_AT_ONCE;
			frame += COPIES_AT_ONCE;
		}
	for (; i < nb; copies->nb_done = ++i)
		shca_copy(*to++, (frame++)->bytes, length);
}

static inline bool
is_good(const struct run *run, struct shca_rx_csum rx_csum)
{
	return rx_csum.l3_good && rx_csum.l4_good == run->stack.covers_l4;
}

/** Complete the frame of WQE ci by a CQE of its own, or as the first one of its kind in a block. */
static __attribute__((noinline)) void
push(struct run *run, const uint8_t *bytes)
{
	const struct shca_rx_csum rx_csum = shca_rx_csum_check(bytes, &run->stack);
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
	run->room = is_good(run, rx_csum) ? shca_cq_room_like(rq->attr.cq) : 0;
}

/** Frames whose checksums are looked at together. */
#define SUMS_AT_ONCE 8

static inline uint64_t
word_of(const struct shca_frame *frame, uint32_t offset)
{
	uint64_t word;

	memcpy(&word, frame->bytes + offset, sizeof(word));
	return word;
}

/** Load 8 bytes of each of some frames. */
static inline __attribute__((always_inline)) void
load_words(const struct shca_frame *frame, uint32_t offset, shca_wide *words)
{
	static_assert(SHCA_WIDE_WORDS == 4, "all of them");
	*words = (shca_wide){ word_of(&frame[0], offset), word_of(&frame[1], offset),
		word_of(&frame[2], offset), word_of(&frame[3], offset) };
}

/**
 * Of UDP over IPv4: look for good IP headers and no checksum of UDP.
 * @param nb at least SUMS_AT_ONCE
 * @return how many of the first frames are like that; one of the next SUMS_AT_ONCE is not, if there
 * are any
 */
static SHCA_WIDE_ONLY unsigned int
nb_good_bare(
	const struct shca_rx_csum_stack *stack, const struct shca_frame *frame, unsigned int nb)
{
	/* Words that begin or end with the fields; in memory order, as sums are. */
	const uint32_t ip = stack->headers->l3_offset + SHCA_RX_CSUM_IPV4_ID;
	const uint32_t udp = stack->headers->l4_offset;
	const uint64_t rest = shca_csum_fold(stack->l3_rest);

	static_assert(SHCA_RX_CSUM_IPV4_CHECKSUM - SHCA_RX_CSUM_IPV4_ID == 6, "at the word's end");
	static_assert(SHCA_RX_CSUM_UDP_CHECKSUM == 6, "at the word's end");
	for (size_t i = 0; i < nb; i += SUMS_AT_ONCE) {
		shca_wide bad = { 0 }, words, sums;
		const struct shca_frame *at;

		/* Those that are fewer take their turn with some of the ones before. */
		if (i > nb - SUMS_AT_ONCE)
			i = nb - SUMS_AT_ONCE;
		at = frame + i;
#pragma GCC unroll 8
		for (size_t j = 0; j < SUMS_AT_ONCE; j += SHCA_WIDE_WORDS) {
			load_words(at + j, ip, &words);
			sums = (words & UINT16_MAX) + (words >> 48) + rest;
			/* Below 3 * 2^16: one more carry is all. */
			sums = (sums & UINT16_MAX) + (sums >> 16);
			load_words(at + j, udp, &words);
			bad |= (sums ^ UINT16_MAX) | words >> 48;
		}
		if (shca_wide_only_any(&bad))
			return (unsigned int)i;
	}
	return nb;
}

/** @return how many frames have good IP headers; the next one has not. */
static __attribute__((noinline)) unsigned int
nb_good_l3(const struct shca_rx_csum_stack *stack, const struct shca_frame *frame, unsigned int nb)
{
	const uint32_t offset = stack->headers->l3_offset;
	const uint64_t rest = stack->l3_rest;
	unsigned int i;

	if (stack->headers->l3 != SHCA_L3_IPV4)
		return nb;
#pragma GCC unroll 4
	for (i = 0; i < nb; i++)
		if (!shca_csum_is_good(rest + shca_rx_csum_ipv4_own(frame[i].bytes + offset)))
			break;
	return i;
}

/** The same for TCP and UDP. */
static __attribute__((noinline)) unsigned int
nb_good_l4(const struct shca_rx_csum_stack *stack, const struct shca_frame *frame, unsigned int nb)
{
	const struct shca_headers headers = *stack->headers;
	const uint64_t pseudo = stack->pseudo;
	unsigned int i;

	if (!stack->covers_l4)
		return nb;
	for (i = 0; i < nb; i++)
		if (!shca_rx_csum_l4_is_good(frame[i].bytes, &headers, pseudo))
			break;
	return i;
}

/** @return how many frames have good checksums; the next one has not. */
static unsigned int
nb_good(const struct shca_rx_csum_stack *stack, const struct shca_frame *frame, unsigned int nb)
{
	const struct shca_headers *headers = stack->headers;
	unsigned int i = 0;

	if (nb >= SUMS_AT_ONCE && shca_has_wide() && stack->covers_l4 &&
		headers->l3 == SHCA_L3_IPV4 && headers->l4 == SHCA_L4_UDP &&
		!shca_rx_csum_l4_depends(frame->bytes, headers))
		i = nb_good_bare(stack, frame, nb);
	if (i == nb)
		return nb;
	nb = i + nb_good_l3(stack, frame + i, nb - i);
	return i + nb_good_l4(stack, frame + i, nb - i);
}

/** Make mini CQEs that have the frames' checksums. @return how many; the next one is not good */
static __attribute__((noinline)) unsigned int
make_minis_of_sum(const struct run *run, const struct shca_frame *frame, unsigned int nb,
	struct shca_minicqe *mini)
{
	const struct shca_headers headers = *run->stack.headers;
	struct shca_rx_csum_stack stack = run->stack;
	const struct shca_minicqe alike = run->mini;
	unsigned int i;

	stack.headers = &headers;
	for (i = 0; i < nb; i++) {
		const struct shca_rx_csum rx_csum = shca_rx_csum_check(frame[i].bytes, &stack);

		if (!is_good(run, rx_csum))
			break;
		mini[i] = alike;
		mini[i].checksum = rx_csum.checksum;
	}
	return i;
}

static inline void
fill(struct shca_minicqe *mini, unsigned int nb, const struct shca_minicqe *alike)
{
	const struct shca_minicqe two[2] = { *alike, *alike };
	unsigned int i = 0;

#pragma GCC unroll 4
	for (; i + 2 <= nb; i += 2)
		memcpy(&mini[i], two, sizeof(two));
	if (i < nb)
		mini[i] = *alike;
}

/** Make the mini CQEs of frames with good checksums. @return how many; the next one is not good */
static unsigned int
make_minis(const struct run *run, const struct shca_frame *frame, unsigned int nb,
	struct shca_minicqe *mini)
{
	if (run->wants_sum)
		return make_minis_of_sum(run, frame, nb, mini);
	nb = nb_good(&run->stack, frame, nb);
	fill(mini, nb, &run->mini);
	return nb;
}

/** Put the frames from that of WQE ci on into the block of the one before. @return how many; the
 * next one does not belong there */
static unsigned int
push_alike(struct run *run, const struct shca_frame *frame, unsigned int nb)
{
	const struct shca_rq *rq = run->rq;
	struct shca_cq *cq = rq->attr.cq;
	struct shca_minicqe *mini;

	if (nb > run->room)
		nb = run->room;
	if (nb == 0)
		return 0;
	mini = shca_minicqe_behind(cq->block);
	nb = make_minis(run, frame, nb, mini);
	if (cq->block->format == SHCA_MINI_CSUM_STRIDX)
		for (unsigned int i = 0; i < nb; i++)
			mini[i].stride_index = htobe16((uint16_t)(rq->ci + i));
	shca_cq_push_alike(cq, nb);
	run->room -= nb;
	return nb;
}

/** The frames are in their buffers. */
static void
complete(struct run *run, const struct shca_frame *frame, unsigned int nb)
{
	struct shca_rq *rq = run->rq;

	for (unsigned int i = 0, end; i < nb; i = end) {
		end = i + push_alike(run, frame + i, nb - i);
		rq->ci += (uint16_t)(end - i);
		if (end < nb) {
			push(run, frame[end++].bytes);
			rq->ci++;
		}
	}
	rq->dev->stats.rx_steered += nb;
	rq->count.packets += nb;
	rq->count.bytes += (uint64_t)nb * run->line->length;
}

/** @return how many of @p nb frames take the next step together: their WQEs lie one behind the
 * other. */
static unsigned int
nb_in_step(const struct run *run, unsigned int nb)
{
	const struct shca_rq *rq = run->rq;
	const unsigned int nb_to_end = rq->attr.nb_wqes - (rq->ci & (rq->attr.nb_wqes - 1));

	nb = nb < run->nb_step ? nb : run->nb_step;
	return nb < nb_to_end ? nb : nb_to_end;
}

/** Receive frames by one step. @return how many were delivered; the next one takes the slow path,
 * and faults again if its buffer is no longer mapped */
static unsigned int
receive_step(struct run *run, const struct shca_frame *frame, unsigned int nb)
{
	uint8_t *to[STEP_FRAMES];
	struct copies copies = { .to = to, .frame = frame, .length = run->line->length };
	struct shca_rq *rq = run->rq;

	/* The completion before has noted its CQ. */
	shca_touch(rq->dev, SHCA_TOUCH_RQ_RING, rq);
	copies.nb = point(run, rq, nb, to);
	shca_rq_prefetch_ring(shca_rq_ring_of(rq), (uint16_t)(rq->ci + nb), nb);
	(void)shca_mem_guard_run(copy_all, &copies);
	complete(run, frame, copies.nb_done);
	return copies.nb_done;
}

/**
 * Each part of a step is a loop of its own, so that what all frames need stays in registers: find
 * the buffers, copy, complete.
 * @return how many frames were delivered; the next one takes the slow path
 */
static unsigned int
receive_plain(struct run *run, const struct shca_frame *frame, unsigned int nb_frames)
{
	struct shca_rq *rq = run->rq;
	unsigned int nb_done = 0, nb_wanted, nb;

	if (!is_plain(rq))
		return 0;
	shca_touch(rq->dev, SHCA_TOUCH_RQ_RING, rq);
	nb_frames = nb_posted(rq, nb_frames);
	while (nb_done < nb_frames) {
		nb_wanted = nb_in_step(run, nb_frames - nb_done);
		nb = receive_step(run, frame + nb_done, nb_wanted);
		nb_done += nb;
		if (nb < nb_wanted)
			break;
	}
	return nb_done;
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
		.nb_step = STEP_BYTES / line->length,
		.wants_sum = block == NULL || block->format != SHCA_MINI_HASH,
	};
	unsigned int i = 0;

	if (run.nb_step > STEP_FRAMES)
		run.nb_step = STEP_FRAMES;
	if (!run.wants_sum)
		run.mini.rss_hash = htobe32(line->rss_hash);
	while (i < nb_frames) {
		i += receive_plain(&run, frame + i, nb_frames - i);
		if (i < nb_frames)
			receive_one(&run, &frame[i++]);
	}
}
