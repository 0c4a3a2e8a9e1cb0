/* SPDX-License-Identifier: BSD-3-Clause */
/* The checks of a strict device. */
#include "hw/check/strict.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "hw/check/doorbell.h"
#include "hw/check/report.h"
#include "hw/format/cqe.h"
#include "hw/format/opcode.h"
#include "hw/format/wqe.h"
#include "hw/state/cq.h"
#include "hw/state/device.h"
#include "hw/state/rq.h"
#include "hw/state/sq.h"
#include "steering/steering.h"

#define TEXT_MAX 512

#define MAC_BYTES 6

/** Reserved bits in the control segment's second word, between the queue's number and the DS count
 * (PRM). */
#define CTRL_DS_RESERVED 0xc0

/** A send WQE under examination. */
struct look {
	struct shca_sq *sq;
	uint16_t index;
	uint16_t nb_posted; /* WQEBBs from index on */
	struct shca_wqe wqe;
	uint8_t flat[SHCA_WQE_MAX_BYTES + SHCA_WQEBB_BYTES];
};

static void
report_wqe(struct look *look, enum shca_finding finding)
{
	char text[TEXT_MAX];
	struct shca_finding_site site = {
		.queue = "SQ",
		.number = look->sq->number,
		.context = look->sq->attr.context,
		.index = look->index,
		.decoded = text,
		.bytes = look->flat,
		.nb_bytes = (size_t)look->wqe.nb_wqebbs * SHCA_WQEBB_BYTES,
	};

	if (look->wqe.nb_wqebbs > look->nb_posted)
		site.nb_bytes = SHCA_WQEBB_BYTES;
	shca_wqe_print(&look->wqe, text, sizeof(text));
	shca_report(look->sq->dev, finding, &site);
}

static enum shca_finding
check_segments(const struct look *look)
{
	const struct shca_sq *sq = look->sq;

	if (look->wqe.row->nb_frames == NULL)
		return SHCA_NB_FINDINGS;
	for (unsigned int i = 0; i < look->wqe.nb_segments; i++) {
		const struct shca_wqe_segment *segment = &look->wqe.segment[i];
		enum shca_finding finding;

		if (segment->inlined != NULL || segment->length == 0)
			continue;
		finding = shca_report_of_access(sq->dev, sq->attr.pdn, segment->lkey,
			segment->address, segment->length, false);
		if (finding != SHCA_NB_FINDINGS)
			return finding;
	}
	return SHCA_NB_FINDINGS;
}

/** @return the first error, or SHCA_NB_FINDINGS. */
static enum shca_finding
check_wqe(struct look *look)
{
	struct shca_sq *sq = look->sq;
	struct shca_wqe *wqe = &look->wqe;
	struct mlx5_wqe_ctrl_seg ctrl;

	shca_sq_fetch(sq, look->index, 1, look->flat);
	memcpy(&ctrl, look->flat, sizeof(ctrl));
	shca_wqe_decode_ctrl(look->flat, wqe);
	if (wqe->index != look->index || wqe->sqn != sq->number)
		return SHCA_FINDING_WQE_STALE;
	if (be32toh(ctrl.qpn_ds) & CTRL_DS_RESERVED)
		return SHCA_FINDING_WQE_DS_OVERFLOW;
	if (wqe->nb_wqebbs > look->nb_posted || wqe->nb_wqebbs > sq->attr.nb_wqebbs)
		return SHCA_FINDING_WQE_PAST_PRODUCER;
	shca_sq_fetch(sq, look->index, wqe->nb_wqebbs, look->flat);
	if (wqe->row == NULL)
		return SHCA_FINDING_WQE_OPCODE;
	if (shca_wqe_decode(look->flat, (size_t)wqe->nb_wqebbs * SHCA_WQEBB_BYTES, wqe) != 0)
		return SHCA_FINDING_WQE_DS;
	if (shca_opcode_is_inline_short(wqe, sq->dev->conf.model))
		return SHCA_FINDING_WQE_INLINE;
	if (shca_opcode_is_refused(wqe, sq->dev->conf.model))
		return SHCA_FINDING_WQE_FORM;
	/* Softhca's own engine, and older hardware, ignore the field. */
	if (ctrl.imm != 0 && wqe->opcode == MLX5_OPCODE_SEND)
		report_wqe(look, SHCA_FINDING_WQE_IMMEDIATE);
	return check_segments(look);
}

/** @return the bytes that the frame starts with, or NULL when they are too scattered. */
static const uint8_t *
frame_start(const struct look *look)
{
	const struct shca_sq *sq = look->sq;
	const struct shca_wqe_segment *first = &look->wqe.segment[0];

	if (look->wqe.inline_length >= MAC_BYTES)
		return look->wqe.inline_header;
	if (look->wqe.inline_length != 0 || look->wqe.nb_segments == 0 || first->length < MAC_BYTES)
		return NULL;
	if (first->inlined != NULL)
		return first->inlined;
	return shca_mem_ptr(
		sq->dev->mem, sq->attr.pdn, first->lkey, first->address, first->length, false);
}

/**
 * VPP creates send queues first, because its own broadcasts came back otherwise (df213385d39); the
 * reason is unknown. One receiving queue is enough, whatever its rules are.
 */
static void
check_broadcast(struct look *look)
{
	static const uint8_t broadcast[MAC_BYTES] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	struct shca_sq *sq = look->sq;
	const uint8_t *start;
	struct shca_rq *rq;

	if (!look->wqe.has_eth || shca_steering_nb_receiving(sq->dev->steering) == 0)
		return;
	start = frame_start(look);
	if (start == NULL || memcmp(start, broadcast, MAC_BYTES) != 0)
		return;
	LIST_FOREACH (rq, &sq->dev->rqs, link)
		if (rq->serial < sq->serial && rq->attr.pdn == sq->attr.pdn &&
			rq->state == SHCA_QUEUE_READY) {
			report_wqe(look, SHCA_FINDING_OWN_BROADCAST);
			return;
		}
}

void
shca_strict_sq(struct shca_sq *sq, uint16_t pi)
{
	struct look look = { .sq = sq };

	shca_touch(sq->dev, SHCA_TOUCH_SQ_RING, sq);
	while (sq->looked_at != pi) {
		enum shca_finding finding;

		look.index = sq->looked_at;
		look.nb_posted = (uint16_t)(pi - sq->looked_at);
		finding = check_wqe(&look);
		if (finding != SHCA_NB_FINDINGS) {
			report_wqe(&look, finding);
			/* The following WQEs are flushed, or begin at an unknown place. */
			sq->looked_at = pi;
			return;
		}
		check_broadcast(&look);
		sq->looked_at += look.wqe.nb_wqebbs;
		shca_doorbell_posted(sq, look.index);
	}
}

void
shca_strict_sq_overrun(struct shca_sq *sq)
{
	struct shca_finding_site site = {
		.queue = "SQ", .number = sq->number, .context = sq->attr.context
	};

	shca_report_overrun(
		sq->dev, &site, sq->attr.dbrec[MLX5_SND_DBR], sq->ci, sq->attr.nb_wqebbs);
}

void
shca_strict_rq_overrun(struct shca_rq *rq)
{
	struct shca_finding_site site = {
		.queue = "RQ", .number = rq->number, .context = rq->attr.context
	};

	shca_report_overrun(rq->dev, &site, rq->attr.dbrec[MLX5_RCV_DBR], rq->ci, rq->attr.nb_wqes);
}

/**
 * A byte-swapped first counter of up to 255 has 0 in the low 16 bits, which the device reads: the
 * queue waits for ever. Later counters of a driver that writes 32 bits (DPDK's receive queues) may
 * well have 0 in the low half.
 */
static void
check_first(struct shca_device *dev, struct shca_finding_site *site, const __be32 *record,
	uint32_t nb, bool *has_begun)
{
	__be32 word = __atomic_load_n(record, __ATOMIC_ACQUIRE);

	if (word == 0 || *has_begun)
		return;
	*has_begun = true;
	if ((uint16_t)be32toh(word) == 0 && le32toh(word) <= nb)
		shca_report_overrun(dev, site, word, 0, nb);
}

void
shca_strict_round(struct shca_device *dev)
{
	struct shca_rq *rq;
	struct shca_sq *sq;

	shca_doorbell_round(dev);
	LIST_FOREACH (sq, &dev->sqs, link) {
		struct shca_finding_site site = {
			.queue = "SQ", .number = sq->number, .context = sq->attr.context
		};

		if (sq->state != SHCA_QUEUE_READY)
			continue;
		shca_touch(dev, SHCA_TOUCH_SQ_RING, sq);
		check_first(dev, &site, &sq->attr.dbrec[MLX5_SND_DBR], sq->attr.nb_wqebbs,
			&sq->has_begun);
	}
	LIST_FOREACH (rq, &dev->rqs, link) {
		struct shca_finding_site site = {
			.queue = "RQ", .number = rq->number, .context = rq->attr.context
		};

		if (rq->state != SHCA_QUEUE_READY)
			continue;
		shca_touch(dev, SHCA_TOUCH_RQ_RING, rq);
		check_first(dev, &site, &rq->attr.dbrec[MLX5_RCV_DBR], rq->attr.nb_wqes,
			&rq->has_begun);
	}
}

/** Check the mini CQE format of a CQ against a queue that cannot use it. */
static void
report_format(struct shca_device *dev, enum shca_finding finding, struct shca_finding_site *site,
	const struct shca_cq *cq)
{
	static const char *const names[] = {
		[SHCA_MINI_NONE] = "none",
		[SHCA_MINI_HASH] = "hash",
		[SHCA_MINI_CSUM] = "checksum",
		[SHCA_MINI_CSUM_STRIDX] = "checksum and stride index",
	};
	char text[TEXT_MAX];

	snprintf(text, sizeof(text), "CQ 0x%" PRIx32 ", mini CQEs with %s", cq->number,
		names[cq->attr.mini_format]);
	site->decoded = text;
	shca_report(dev, finding, site);
}

void
shca_strict_sq_created(struct shca_sq *sq)
{
	struct shca_finding_site site = {
		.queue = "SQ", .number = sq->number, .context = sq->attr.context
	};

	if (sq->attr.cq->attr.mini_format != SHCA_MINI_NONE)
		report_format(sq->dev, SHCA_FINDING_CQ_COMPRESSED_TX, &site, sq->attr.cq);
}

void
shca_strict_rq_created(struct shca_rq *rq)
{
	struct shca_finding_site site = {
		.queue = "RQ", .number = rq->number, .context = rq->attr.context
	};
	enum shca_mini_format format = rq->attr.cq->attr.mini_format;
	bool has_strides = rq->attr.log_strides != 0;

	/* Linux requests the index whenever the device has it, as all models do (en/params.c). */
	if (format != SHCA_MINI_NONE && (format == SHCA_MINI_CSUM_STRIDX) != has_strides)
		report_format(rq->dev, SHCA_FINDING_CQ_MINI_FORMAT, &site, rq->attr.cq);
}

/** Find the first segment that does not take its part of a frame, and print all segments. */
static enum shca_finding
check_rx_segments(struct shca_rq *rq, const uint8_t *wqe, uint32_t length, char *text)
{
	enum shca_finding finding = SHCA_NB_FINDINGS;

	for (unsigned int i = 0; i < rq->nb_segments; i++) {
		struct mlx5_wqe_data_seg segment;
		uint32_t room, lkey, part;
		uint64_t address;

		memcpy(&segment, wqe + (size_t)i * sizeof(segment), sizeof(segment));
		room = be32toh(segment.byte_count);
		lkey = be32toh(segment.lkey);
		address = be64toh(segment.addr);
		if (room == 0 && lkey == MLX5_INVALID_LKEY)
			break;
		shca_text_append(text, TEXT_MAX, " [0x%" PRIx64 "+%" PRIu32 " lkey 0x%" PRIx32 "]",
			address, room, lkey);
		part = room < length ? room : length;
		if (part != 0 && finding == SHCA_NB_FINDINGS)
			finding = shca_report_of_access(
				rq->dev, rq->attr.pdn, lkey, address, part, true);
		length -= part;
	}
	return finding;
}

void
shca_strict_rq(struct shca_rq *rq, uint8_t syndrome, uint32_t length)
{
	const uint8_t *wqe =
		rq->attr.ring + (size_t)(rq->ci & (rq->attr.nb_wqes - 1)) * rq->attr.stride_bytes;
	char text[TEXT_MAX] = "";
	struct shca_finding_site site = {
		.queue = "RQ",
		.number = rq->number,
		.context = rq->attr.context,
		.index = rq->ci,
		.decoded = text,
		.bytes = wqe,
		.nb_bytes = rq->attr.stride_bytes,
	};
	enum shca_finding finding;

	shca_touch(rq->dev, SHCA_TOUCH_RQ_RING, rq);
	shca_text_append(text, TEXT_MAX, "frame of %" PRIu32 " bytes, segments", length);
	finding = check_rx_segments(rq, wqe + rq->header_bytes, length, text);
	if (syndrome == MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR)
		finding = SHCA_FINDING_RX_TRUNCATED;
	else if (syndrome == MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR || finding == SHCA_NB_FINDINGS)
		finding = SHCA_FINDING_WQE_FORM;
	shca_report(rq->dev, finding, &site);
}

/** @return whether @p value, masked by @p mask, lies from ci to pi; *ci is moved there. */
static bool
take_ci(uint32_t value, uint32_t mask, uint32_t *ci, uint32_t pi)
{
	uint32_t nb_unread = (pi - value) & mask;

	if (nb_unread > pi - *ci)
		return false;
	*ci = pi - nb_unread;
	return true;
}

enum shca_finding
shca_strict_check_ci(uint32_t word, uint32_t *ci, uint32_t pi, uint32_t nb_cqes)
{
	const uint32_t mask = SHCA_CQ_ARM_CI_MASK;
	uint32_t swapped = __builtin_bswap32(word);

	if (word <= mask && take_ci(word, mask, ci, pi))
		return SHCA_NB_FINDINGS;
	if (swapped <= mask && take_ci(swapped, mask, ci, pi))
		return SHCA_FINDING_CQ_RECORD_ORDER;
	if (take_ci(word & mask, mask, ci, pi))
		return SHCA_FINDING_CQ_RECORD_WIDTH;
	if (word <= UINT16_MAX && take_ci(word, UINT16_MAX, ci, pi))
		return SHCA_FINDING_CQ_RECORD_WIDTH;
	if (word < nb_cqes && take_ci(word, nb_cqes - 1, ci, pi))
		return SHCA_FINDING_CQ_RECORD_WIDTH;
	return SHCA_FINDING_CQ_RECORD_INDEX;
}

void
shca_strict_cq(struct shca_cq *cq)
{
	__be32 word = __atomic_load_n(&cq->attr.dbrec[SHCA_CQ_DBR_CI], __ATOMIC_ACQUIRE);
	uint32_t before = cq->ci_valid;
	enum shca_finding finding;
	char text[TEXT_MAX];
	struct shca_finding_site site = {
		.queue = "CQ",
		.number = cq->number,
		.context = cq->attr.context,
		.decoded = text,
	};

	/* If overruns are ignored, every index is valid. */
	if (word == cq->ci_word || cq->attr.ignore_overrun)
		return;
	cq->ci_word = word;
	finding = shca_strict_check_ci(be32toh(word), &cq->ci_valid, cq->pi, cq->attr.nb_cqes);
	if (finding == SHCA_NB_FINDINGS)
		return;
	snprintf(text, sizeof(text),
		"record 0x%08" PRIx32 ", possible %" PRIu32 " to %" PRIu32 ", ring of %" PRIu32,
		be32toh(word), before & SHCA_CQ_ARM_CI_MASK, cq->pi & SHCA_CQ_ARM_CI_MASK,
		cq->attr.nb_cqes);
	site.index = be32toh(word);
	shca_report(cq->dev, finding, &site);
}

void
shca_strict_cq_overrun(struct shca_cq *cq, const struct shca_cqe *cqe)
{
	char text[TEXT_MAX];
	struct shca_finding_site site = {
		.queue = "CQ",
		.number = cq->number,
		.context = cq->attr.context,
		.index = cq->pi,
		.decoded = text,
		.bytes = cqe,
		.nb_bytes = sizeof(*cqe),
	};

	shca_cqe_print(cqe, text, sizeof(text));
	shca_report(cq->dev, SHCA_FINDING_CQ_OVERRUN, &site);
}
