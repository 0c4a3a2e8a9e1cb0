/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames on their way to the wire, and the completions that wait for them. */
#include "hw/queue/out.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "hw/format/cqe.h"
#include "hw/queue/cq.h"
#include "hw/queue/sq_fail.h"
#include "hw/queue/steer.h"
#include "hw/state/cq.h"
#include "hw/state/device.h"
#include "hw/state/out.h"
#include "hw/state/sq.h"

int
shca_out_init(struct shca_out *out)
{
	*out = (struct shca_out){ .arena = malloc(SHCA_OUT_ARENA) };
	return out->arena != NULL ? 0 : -ENOMEM;
}

void
shca_out_fini(struct shca_out *out)
{
	free(out->arena);
	out->arena = NULL;
}

/** A WQE's frames have left, and it asked for a completion. */
static void
complete(struct shca_sq *sq, uint8_t opcode, uint16_t wqe_counter)
{
	struct shca_cqe cqe;

	shca_cqe_set_tx(&cqe, opcode, sq->number, sq->attr.user_index, wqe_counter, sq->dev->ticks);
	shca_cq_push(sq->attr.cq, &cqe, false);
}

/** Frames of one queue that have left together. */
struct departed {
	struct shca_sq *sq;
	uint64_t nb, bytes;
};

static inline void
account(struct shca_device *dev, struct departed *departed)
{
	if (!dev->carries) {
		dev->stats.tx_no_link += departed->nb;
	} else {
		dev->stats.tx_frames += departed->nb;
		dev->stats.tx_bytes += departed->bytes;
		if (departed->sq != NULL) {
			departed->sq->count.packets += departed->nb;
			departed->sq->count.bytes += departed->bytes;
		}
	}
	departed->nb = departed->bytes = 0;
}

/** Account for @p nb slots from the head on, which have left, and notify their queues. */
static void
leave(struct shca_device *dev, unsigned int nb)
{
	struct shca_out *out = &dev->out;
	const unsigned int end = out->head + nb;
	struct departed departed = { 0 };

	for (unsigned int i = out->head; i < end; i++) {
		const struct shca_out_slot *slot = &out->slot[i];

		if (slot->sq != departed.sq) {
			account(dev, &departed);
			departed.sq = slot->sq;
		}
		departed.nb += out->frame[i].length != 0;
		departed.bytes += out->frame[i].length;
		if (!slot->completes)
			continue;
		/* Advance the head first, so that a fault on the CQ does not send the frame again.
		 */
		out->head = i + 1;
		account(dev, &departed);
		complete(slot->sq, slot->opcode, slot->wqe_counter);
	}
	out->head = end;
	account(dev, &departed);
}

/**
 * @return how many frames up to @p end come straight back and need no wire. They lie in the arena,
 * because a received frame must not change any more. While the wire has other frames the answer is
 * 0: those come first.
 */
static unsigned int
nb_reflected(const struct shca_device *dev, unsigned int end)
{
	const struct shca_wire *wire = dev->conf.wire;
	unsigned int nb = end - dev->out.head;

	if (!wire->ops->reflects(wire))
		return 0;
	return nb < dev->reflect_budget ? nb : dev->reflect_budget;
}

/** The slots leave before their frames are received, so that a fault in a receive queue does not
 * send them again. */
static void
reflect(struct shca_device *dev, unsigned int nb)
{
	const struct shca_frame *frames = &dev->out.frame[dev->out.head];

	dev->reflect_budget -= nb;
	leave(dev, nb);
	shca_steer_rx(dev, frames, nb);
}

bool
shca_out_flush(struct shca_device *dev)
{
	struct shca_out *out = &dev->out;
	struct shca_wire *wire = dev->conf.wire;

	while (out->head < out->count) {
		unsigned int end = out->head;
		unsigned int nb_taken;

		while (end < out->count && out->frame[end].length != 0)
			end++;
		if (end == out->head) {
			leave(dev, 1);
			continue;
		}
		if (dev->is_reflecting) {
			nb_taken = nb_reflected(dev, end);
			if (nb_taken == 0)
				return false;
			reflect(dev, nb_taken);
			continue;
		}
		shca_touch(dev, SHCA_TOUCH_OUT, NULL);
		nb_taken = end - out->head;
		if (dev->carries)
			nb_taken = wire->ops->tx(wire, &out->frame[out->head], nb_taken);
		else if (wire->ops->lose != NULL)
			nb_taken = wire->ops->lose(wire, nb_taken);
		assert(nb_taken <= end - out->head);
		leave(dev, nb_taken);
		if (out->head < end)
			return false;
	}
	out->head = 0;
	out->count = 0;
	out->arena_used = 0;
	return true;
}

bool
shca_out_complete(struct shca_device *dev, struct shca_sq *sq, uint16_t wqe_counter, uint8_t opcode)
{
	struct shca_out *out = &dev->out;
	struct shca_out_slot *last;

	if (out->count == out->head) {
		complete(sq, opcode, wqe_counter);
		return true;
	}
	last = &out->slot[out->count - 1];
	if (last->sq != sq || last->completes || last->wqe_counter != wqe_counter) {
		if (out->count == SHCA_OUT_SLOTS)
			return false;
		last = &out->slot[out->count];
		out->frame[out->count] = (struct shca_frame){ 0 };
		out->count++;
	}
	*last = (struct shca_out_slot){ sq, true, opcode, wqe_counter };
	return true;
}

void
shca_out_forget(struct shca_out *out, const struct shca_sq *sq)
{
	for (unsigned int i = out->head; i < out->count; i++)
		if (out->slot[i].sq == sq) {
			out->slot[i] = (struct shca_out_slot){ 0 };
			out->frame[i].length = 0;
		}
}

static bool
is_in_arena(const struct shca_out *out, const uint8_t *bytes)
{
	return bytes >= out->arena && bytes < out->arena + SHCA_OUT_ARENA;
}

void
shca_out_fault(struct shca_device *dev)
{
	struct shca_out *out = &dev->out;
	bool is_found = false;

	for (unsigned int i = out->head; i < out->count; i++) {
		struct shca_out_slot slot = out->slot[i];

		if (slot.sq == NULL || is_in_arena(out, out->frame[i].bytes) ||
			shca_mem_is_mapped(out->frame[i].bytes, out->frame[i].length, false))
			continue;
		is_found = true;
		shca_out_forget(out, slot.sq);
		shca_sq_fail_wqe(slot.sq, slot.wqe_counter);
	}
	if (is_found)
		return;
	SHCA_ERR("the wire faulted on a frame of its own: %u frames lost", out->count - out->head);
	for (unsigned int i = out->head; i < out->count; i++)
		out->frame[i].length = 0;
}
