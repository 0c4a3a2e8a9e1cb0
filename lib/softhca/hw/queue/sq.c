/* SPDX-License-Identifier: BSD-3-Clause */
/* Send queue: fetch, execute, complete, flush. */
#include "hw/queue/sq.h"

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "hw/check/bus.h"
#include "hw/check/doorbell.h"
#include "hw/check/inject.h"
#include "hw/check/strict.h"
#include "hw/format/cqe.h"
#include "hw/format/gather.h"
#include "hw/format/opcode.h"
#include "hw/format/tunnels.h"
#include "hw/format/tx.h"
#include "hw/format/wqe.h"
#include "hw/queue/cq.h"
#include "hw/queue/mpw.h"
#include "hw/queue/out.h"
#include "hw/queue/sq_fail.h"
#include "hw/queue/steer.h"
#include "hw/state/cq.h"
#include "hw/state/device.h"
#include "hw/state/prefetch.h"
#include "hw/state/sq.h"
#include "steering/match/parse.h"
#include "steering/steering.h"

#define PREFETCH_WQEBBS 12 /* of a batch of WQEs */
#define PREFETCH_FRAMES 8
#define MAX_WQEBBS      (1u << 15) /* a full ring must differ from an empty one in 16 bits */

int
shca_sq_create(struct shca_device *dev, const struct shca_sq_attr *attr, struct shca_sq **out)
{
	struct shca_sq *sq;
	int ret;

	if (attr->nb_wqebbs == 0 || (attr->nb_wqebbs & (attr->nb_wqebbs - 1)) != 0 ||
		attr->nb_wqebbs > MAX_WQEBBS || (uintptr_t)attr->dbrec % SHCA_DBREC_BYTES != 0 ||
		attr->cq == NULL)
		return -EINVAL;
	if (!shca_mem_can_pin(attr->ring, (uint64_t)attr->nb_wqebbs * SHCA_WQEBB_BYTES, false) ||
		!shca_mem_can_pin(attr->dbrec, SHCA_DBREC_BYTES, false))
		return -EFAULT;
	if (!shca_cq_has_clock(attr->cq))
		return -EOPNOTSUPP;
	sq = calloc(1, sizeof(*sq));
	if (sq == NULL)
		return -ENOMEM;
	ret = shca_idtable_add(&dev->queue_numbers, sq, &sq->number);
	if (ret != 0) {
		free(sq);
		return ret;
	}
	sq->dev = dev;
	sq->attr = *attr;
	sq->state = SHCA_QUEUE_RESET;
	sq->serial = dev->nb_created++;
	sq->ordinal = ++dev->nb_made.sqs;
	sq->is_faulty = shca_inject_concerns(dev, SHCA_FAULT_SQ_ERROR, SHCA_FAULT_SQ_FATAL);
	sq->is_watched = sq->is_faulty || dev->pci != NULL;
	LIST_INSERT_HEAD(&dev->sqs, sq, link);
	if (shca_is_strict(dev))
		shca_strict_sq_created(sq);
	*out = sq;
	return 0;
}

void
shca_sq_destroy(struct shca_sq *sq)
{
	if (sq == NULL)
		return;
	shca_out_forget(&sq->dev->out, sq);
	if (shca_is_strict(sq->dev))
		shca_doorbell_forget(sq);
	if (sq->dev->sq_turn == sq)
		sq->dev->sq_turn = LIST_NEXT(sq, link);
	LIST_REMOVE(sq, link);
	shca_idtable_del(&sq->dev->queue_numbers, sq->number);
	free(sq);
}

uint32_t
shca_sq_number(const struct shca_sq *sq)
{
	return sq->number;
}

enum shca_queue_state
shca_sq_state(const struct shca_sq *sq)
{
	return sq->state;
}

/** The next step flushes the queue: it catches faults on the application's memory. */
void
shca_sq_modify(struct shca_sq *sq, enum shca_queue_state state)
{
	if (shca_is_strict(sq->dev))
		shca_doorbell_forget(sq);
	if (state == SHCA_QUEUE_RESET) {
		shca_out_forget(&sq->dev->out, sq);
		sq->ci = 0;
		shca_bus_sq_begin(sq);
		sq->looked_at = 0;
		sq->has_begun = false;
		sq->dead = false;
	}
	if (state != SHCA_QUEUE_READY) {
		sq->nb_queued = 0;
		shca_pace_set(&sq->pace, 0, 0);
	}
	sq->first_syndrome = 0;
	sq->state = state;
}

void
shca_sq_set_rate(struct shca_sq *sq, uint32_t kbps, uint32_t burst_bytes)
{
	shca_pace_set(&sq->pace, kbps, burst_bytes);
}

void
shca_sq_set_port(struct shca_sq *sq, uint32_t port)
{
	sq->port = port;
}

static uint16_t
read_pi(const struct shca_sq *sq)
{
	return (uint16_t)be32toh(__atomic_load_n(&sq->attr.dbrec[MLX5_SND_DBR], __ATOMIC_ACQUIRE));
}

/**
 * Report the failed WQE, unless it has been reported, and flush the following ones. A flushed WQE
 * with CE "on first error" makes no CQE: DPDK's send CQ has no room for more.
 */
static unsigned int
flush(struct shca_sq *sq, uint16_t pi, unsigned int budget)
{
	unsigned int nb_done = 0;

	if (!shca_out_flush(sq->dev))
		return 0;
	for (; nb_done < budget && sq->ci != pi; nb_done++) {
		struct shca_cqe_fault fault = {
			.cqe_opcode = MLX5_CQE_REQ_ERR,
			.syndrome = sq->first_syndrome,
			.number = sq->number,
			.user_index = sq->attr.user_index,
			.wqe_counter = sq->ci,
		};
		uint8_t flat[SHCA_WQEBB_BYTES];
		struct shca_wqe wqe;
		struct shca_cqe cqe;
		uint16_t nb_left = (uint16_t)(pi - sq->ci);

		shca_touch(sq->dev, SHCA_TOUCH_SQ_RING, sq);
		shca_sq_fetch(sq, sq->ci, 1, flat);
		shca_wqe_decode_ctrl(flat, &wqe);
		fault.wqe_opcode = wqe.opcode;
		sq->first_syndrome = 0;
		sq->ci += wqe.nb_wqebbs < nb_left ? wqe.nb_wqebbs : nb_left;
		if (fault.syndrome == 0) {
			if (wqe.ce == SHCA_CE_ON_FIRST_ERROR && !sq->attr.signal_all)
				continue;
			fault.syndrome = MLX5_CQE_SYNDROME_WR_FLUSH_ERR;
		}
		sq->dev->stats.tx_errors++;
		sq->count.errors++;
		sq->attr.cq->count.errors++;
		shca_cqe_set_fault(&cqe, &fault);
		shca_cq_push(sq->attr.cq, &cqe, true);
	}
	return nb_done;
}

/** Rules match on the device's own parser; offsets in the WQE apply to checksums only. */
static inline void
fill_checksums(const struct shca_gather *source, const struct shca_packet *packet, uint8_t *room)
{
	struct shca_packet pointed_out;

	if (source->has_swp) {
		pointed_out = *packet;
		shca_swp_apply(&source->wqe->swp, &pointed_out);
		packet = &pointed_out;
	}
	shca_tx_checksum(room, packet, source->wqe->cs_flags);
}

/**
 * Queue the next frame of @p wqe; there is room.
 *
 * @param is_looked_at checksums or rules need parsed headers; otherwise only the receiving side
 * parses it
 * @return 0 or a syndrome
 */
static inline uint8_t
queue_frame(struct shca_sq *sq, const struct shca_wqe *wqe, bool is_looked_at)
{
	struct shca_device *dev = sq->dev;
	const struct shca_gather source = { dev->mem, wqe, sq->attr.pdn, dev->may_reflect,
		dev->conf.model->tunnel_offloads,
		dev->conf.model->sw_parsing != 0 && shca_swp_is_used(&wqe->swp) };
	uint8_t *room = shca_out_build(&dev->out);
	struct shca_packet packet;
	const uint8_t *bytes;
	uint32_t length;
	uint8_t syndrome;

	shca_touch(dev, SHCA_TOUCH_SQ_BUFFER, sq);
	syndrome = wqe->row->build(&source, sq->nb_queued, room, &bytes, &length);
	if (syndrome != 0 || length == 0)
		return syndrome;
	if (bytes != room)
		shca_sq_meet_faults(bytes, length);
	if (is_looked_at) {
		shca_parse(bytes, length, &packet);
		shca_tunnels_limit(&packet, dev->conf.model->tunnel_offloads);
		if (wqe->cs_flags != 0)
			fill_checksums(&source, &packet, room);
		if (!shca_steer_tx(dev, &packet))
			return 0;
		bytes = packet.bytes;
		length = packet.length;
		if (dev->loopback.is_on && !shca_steer_back(dev, sq->attr.tdn, &packet)) {
			sq->count.packets++;
			sq->count.bytes += length;
			return 0;
		}
	}
	shca_pace_sent(&sq->pace, dev->ticks, length);
	shca_out_add(&dev->out, sq, sq->ci, &(struct shca_frame){ bytes, length, sq->port });
	return 0;
}

enum outcome {
	DONE,
	BUSY, /* the wire takes no more, or pacing says later: try again */
	FAILED,
};

static enum outcome
fail(struct shca_sq *sq, const struct shca_wqe *wqe, uint8_t syndrome)
{
	char text[256];

	shca_wqe_print(wqe, text, sizeof(text));
	SHCA_WARN("SQ 0x%x: WQE %u fails with syndrome 0x%02x: %s", sq->number, sq->ci, syndrome,
		text);
	sq->state = SHCA_QUEUE_ERROR;
	sq->first_syndrome = syndrome;
	sq->nb_queued = 0;
	return FAILED;
}

/** All frames are queued, if the WQE has any: complete it. */
static inline enum outcome
finish(struct shca_sq *sq, enum shca_ce ce, uint8_t opcode, uint8_t nb_wqebbs)
{
	if (ce >= SHCA_CE_ALWAYS || sq->attr.signal_all) {
		if (!shca_out_complete(sq->dev, sq, sq->ci, opcode))
			return BUSY;
	}
	sq->ci += nb_wqebbs;
	sq->nb_queued = 0;
	return DONE;
}

/** The application's core wrote the ring: prefetch posted WQEBBs from ci + @p from up to ci + @p
 * end. */
static void
prefetch(const struct shca_sq *sq, unsigned int from, unsigned int end, uint16_t nb_posted)
{
	const uint8_t *const ring = sq->attr.ring;

	if (end > nb_posted)
		end = nb_posted;
	if (from < end)
		shca_prefetch_ring(ring, ring + (size_t)sq->attr.nb_wqebbs * SHCA_WQEBB_BYTES,
			shca_sq_wqebb(sq, (uint16_t)(sq->ci + from)),
			(size_t)(end - from) * SHCA_WQEBB_BYTES);
}

/** Prefetch the frame of segment @p number, if there is one: most regions begin at the address that
 * they name. */
static inline void
prefetch_frame(const struct shca_wqe *wqe, uint32_t number)
{
	if (wqe->has_eth && number < wqe->nb_segments)
		shca_prefetch_read((const void *)(uintptr_t)wqe->segment[number].address);
}

/** @return whether the next frame has to wait for pacing. */
static bool
is_paced(struct shca_sq *sq)
{
	uint64_t due;

	if (shca_pace_may_send(&sq->pace, sq->dev->ticks))
		return false;
	due = shca_pace_due(&sq->pace);
	if (due < sq->dev->paced_ticks)
		__atomic_store_n(&sq->dev->paced_ticks, due, __ATOMIC_RELAXED);
	return true;
}

/** @return whether this queue or the model refuses the well-formed WQE at ci. */
static bool
is_refused(const struct shca_sq *sq, const struct shca_wqe *wqe)
{
	return wqe->index != sq->ci || wqe->sqn != sq->number ||
		shca_opcode_is_refused(wqe, sq->dev->conf.model);
}

static uint32_t
nb_frames(const struct shca_wqe *wqe)
{
	return wqe->row->nb_frames != NULL ? wqe->row->nb_frames(wqe) : 0;
}

static enum outcome
execute(struct shca_sq *sq, uint16_t nb_posted)
{
	uint8_t flat[SHCA_WQE_MAX_BYTES + SHCA_WQEBB_BYTES];
	struct shca_wqe wqe;
	bool is_looked_at;
	enum shca_mpw mpw;
	uint8_t syndrome;
	uint8_t nb_wqebbs;
	uint32_t nb;

	shca_touch(sq->dev, SHCA_TOUCH_SQ_RING, sq);
	memcpy(flat, shca_sq_wqebb(sq, sq->ci), SHCA_WQEBB_BYTES);
	nb_wqebbs = shca_wqe_nb_wqebbs(shca_wqe_ds(flat));
	if (nb_wqebbs > nb_posted || nb_wqebbs > sq->attr.nb_wqebbs) {
		shca_wqe_decode_ctrl(flat, &wqe);
		return fail(sq, &wqe, MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR);
	}
	/* Prefetch the WQEs behind this one while it is executed. */
	prefetch(sq, nb_wqebbs, 2u * nb_wqebbs, nb_posted);
	if (nb_wqebbs > 1)
		shca_sq_fetch(sq, sq->ci + 1, nb_wqebbs - 1u, flat + SHCA_WQEBB_BYTES);
	mpw = shca_mpw_queue(sq, flat);
	if (mpw == SHCA_MPW_BUSY)
		return BUSY;
	if (mpw == SHCA_MPW_QUEUED)
		return finish(sq, shca_wqe_ce(flat), SHCA_OPCODE_ENHANCED_MPSW, nb_wqebbs);
	syndrome = shca_wqe_decode(flat, (size_t)nb_wqebbs * SHCA_WQEBB_BYTES, &wqe);
	if (syndrome == 0 && is_refused(sq, &wqe))
		syndrome = MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR;
	if (syndrome != 0)
		return fail(sq, &wqe, syndrome);
	is_looked_at = wqe.cs_flags != 0 || sq->dev->loopback.is_on ||
		shca_steering_walks_tx(sq->dev->steering);
	for (nb = 0; nb < PREFETCH_FRAMES; nb++)
		prefetch_frame(&wqe, sq->nb_queued + nb);
	for (nb = nb_frames(&wqe); sq->nb_queued < nb; sq->nb_queued++) {
		if ((!shca_out_has_room(&sq->dev->out) && !shca_out_flush(sq->dev)) || is_paced(sq))
			return BUSY;
		prefetch_frame(&wqe, sq->nb_queued + PREFETCH_FRAMES);
		syndrome = queue_frame(sq, &wqe, is_looked_at);
		if (syndrome != 0)
			return fail(sq, &wqe, syndrome);
	}
	return finish(sq, wqe.ce, wqe.opcode, wqe.nb_wqebbs);
}

/** Execute the WQE at ci of a queue of which it is counted what crosses PCI. */
static enum outcome
execute_counted(struct shca_sq *sq, uint16_t nb_posted)
{
	struct shca_wqe wqe;
	const bool is_sound = shca_bus_sq_look(sq, &wqe);
	const enum outcome outcome = execute(sq, nb_posted);

	if (is_sound && outcome == DONE)
		shca_bus_sq_done(sq, &wqe);
	return outcome;
}

/** Execute the WQEs up to @p pi of a watched queue. @return how many are done */
static __attribute__((noinline)) unsigned int
execute_watched(struct shca_sq *sq, uint16_t pi, unsigned int budget)
{
	const bool is_counted = sq->dev->pci != NULL;
	unsigned int nb_done = 0;

	if (is_counted)
		shca_bus_sq_posted(sq, pi);
	for (; nb_done < budget && sq->ci != pi && sq->state == SHCA_QUEUE_READY; nb_done++) {
		enum outcome outcome = FAILED;

		if (!sq->is_faulty || !shca_inject_sq(sq))
			outcome = (is_counted ? execute_counted : execute)(
				sq, (uint16_t)(pi - sq->ci));
		if (outcome == BUSY)
			break;
		sq->nb_wqes++;
	}
	return nb_done;
}

/** Execute the WQEs up to @p pi. @return how many are done */
static inline unsigned int
execute_all(struct shca_sq *sq, uint16_t pi, unsigned int budget)
{
	unsigned int nb_done = 0;

	while (nb_done < budget && sq->ci != pi && sq->state == SHCA_QUEUE_READY) {
		if (execute(sq, (uint16_t)(pi - sq->ci)) != DONE)
			break;
		nb_done++;
	}
	return nb_done;
}

/** @return WQEs finished */
static unsigned int
run_one(struct shca_sq *sq, unsigned int budget)
{
	unsigned int nb_done;
	uint16_t pi;

	if (sq->state == SHCA_QUEUE_RESET || sq->dead)
		return 0;
	shca_touch(sq->dev, SHCA_TOUCH_SQ_RING, sq);
	pi = read_pi(sq);
	if (pi == sq->ci) {
		shca_pace_idle(&sq->pace);
		return 0;
	}
	/* A counter beyond the ring is a driver's bug: no WQE is valid. */
	if ((uint16_t)(pi - sq->ci) > sq->attr.nb_wqebbs) {
		SHCA_WARN("SQ 0x%x: producer counter %u, consumer %u, but only %u WQEBBs",
			sq->number, pi, sq->ci, sq->attr.nb_wqebbs);
		if (shca_is_strict(sq->dev))
			shca_strict_sq_overrun(sq);
		shca_sq_fail_fatally(sq);
		return 0;
	}
	if (shca_is_strict(sq->dev) && sq->state == SHCA_QUEUE_READY)
		shca_strict_sq(sq, pi);
	prefetch(sq, 0, PREFETCH_WQEBBS, (uint16_t)(pi - sq->ci));
	if (__builtin_expect(sq->is_watched, false))
		nb_done = execute_watched(sq, pi, budget);
	else
		nb_done = execute_all(sq, pi, budget);
	if (sq->state == SHCA_QUEUE_ERROR && nb_done < budget)
		nb_done += flush(sq, pi, budget - nb_done);
	return nb_done;
}

static bool
has_room(struct shca_device *dev)
{
	return shca_out_has_room(&dev->out) || shca_out_flush(dev);
}

/** Where the wire takes no more, the next round begins behind the queue that has filled it, or with
 * the one whose next WQE has more frames than there was room for: else those that are first in the
 * list, and never empty, would be the only ones to send. */
void
shca_sq_run_all(struct shca_device *dev, unsigned int budget)
{
	struct shca_sq *const first = dev->sq_turn != NULL ? dev->sq_turn : LIST_FIRST(&dev->sqs);
	bool had_room = has_room(dev);
	struct shca_sq *next;

	for (struct shca_sq *sq = first; sq != NULL; sq = next != first ? next : NULL) {
		const unsigned int nb_done = run_one(sq, budget);

		dev->nb_done += nb_done;
		next = LIST_NEXT(sq, link) != NULL ? LIST_NEXT(sq, link) : LIST_FIRST(&dev->sqs);
		if (had_room && (dev->out.is_refused || !has_room(dev))) {
			had_room = false;
			dev->sq_turn = nb_done != 0 ? next : sq;
		}
	}
	shca_out_flush(dev);
}
