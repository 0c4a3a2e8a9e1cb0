/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames on their way to the wire, and the completions that wait for them. */
#include "hw/queue/out.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
complete(struct shca_sq *sq, uint8_t opcode, uint16_t counter)
{
	struct shca_cqe cqe;

	shca_cqe_set_tx(&cqe, opcode, sq->number, sq->attr.user_index, counter, sq->dev->ticks);
	shca_cq_push(sq->attr.cq, &cqe, false);
}

/** The frames from the head to @p end, of one WQE, leave. */
static inline void
account(struct shca_device *dev, struct shca_sq *sq, unsigned int end, uint32_t bytes)
{
	struct shca_out *out = &dev->out;
	const unsigned int nb = end - out->head;

	out->head = end;
	if (!dev->carries) {
		dev->stats.tx_no_link += nb;
		return;
	}
	dev->stats.tx_frames += nb;
	dev->stats.tx_bytes += bytes;
	if (sq != NULL) {
		sq->count.packets += nb;
		sq->count.bytes += bytes;
	}
}

/** The frames from the head to @p end leave, others of their WQE do not yet. */
static void
leave_in_part(struct shca_device *dev, struct shca_out_wqe *wqe, unsigned int end)
{
	uint32_t bytes = 0;

	for (unsigned int i = dev->out.head; i < end; i++)
		bytes += dev->out.frame[i].length;
	wqe->bytes -= bytes;
	account(dev, wqe->sq, end, bytes);
}

/** @p nb frames from the head on have left: account for them, and complete the WQEs that have no
 * more. A fault on a CQ ends this: by then no frame counts as one that is still to be sent. */
static void
leave(struct shca_device *dev, unsigned int nb)
{
	struct shca_out *out = &dev->out;
	const unsigned int end = out->head + nb;

	for (unsigned int i = out->wqe_head; out->head < end; i++) {
		struct shca_out_wqe *wqe = &out->wqe[i];

		if (wqe->end > end)
			leave_in_part(dev, wqe, end);
		else if (wqe->end > out->head)
			account(dev, wqe->sq, wqe->end, wqe->bytes);
	}
	while (out->wqe_head < out->wqe_count && out->wqe[out->wqe_head].end <= end) {
		/* First, so that a fault on the CQ does not complete it again. */
		const struct shca_out_wqe *wqe = &out->wqe[out->wqe_head++];

		if (wqe->completes)
			complete(wqe->sq, wqe->opcode, wqe->counter);
	}
}

/**
 * @return how many of @p nb frames come straight back and need no wire. They lie in the arena,
 * because a received frame must not change any more. While the wire has other frames the answer is
 * 0: those come first.
 */
static unsigned int
nb_reflected(const struct shca_device *dev, unsigned int nb)
{
	const struct shca_wire *wire = dev->conf.wire;

	if (!wire->ops->reflects(wire))
		return 0;
	return nb < dev->reflect_budget ? nb : dev->reflect_budget;
}

/** The frames leave before they are received, so that a fault in a receive queue does not
 * send them again. */
static void
reflect(struct shca_device *dev, unsigned int nb)
{
	const struct shca_frame *frames = &dev->out.frame[dev->out.head];

	dev->reflect_budget -= nb;
	leave(dev, nb);
	shca_steer_rx(dev, frames, nb);
}

/** Nothing waits any more: all room is free. */
static inline void
begin_anew(struct shca_out *out)
{
	out->head = out->count = 0;
	out->wqe_head = out->wqe_count = 0;
	out->arena_used = 0;
	out->is_refused = false;
}

/** Without a WQE all room is free already. */
bool
shca_out_flush(struct shca_device *dev)
{
	struct shca_out *out = &dev->out;
	struct shca_wire *wire = dev->conf.wire;

	if (out->wqe_count == 0)
		return true;
	out->is_refused = true;
	while (out->head < out->count) {
		const unsigned int nb = out->count - out->head;
		unsigned int nb_taken = nb;

		if (dev->is_reflecting) {
			nb_taken = nb_reflected(dev, nb);
			if (nb_taken == 0)
				return false;
			reflect(dev, nb_taken);
			continue;
		}
		shca_touch(dev, SHCA_TOUCH_OUT, NULL);
		if (dev->carries)
			nb_taken = wire->ops->tx(wire, &out->frame[out->head], nb);
		else if (wire->ops->lose != NULL)
			nb_taken = wire->ops->lose(wire, nb);
		assert(nb_taken <= nb);
		leave(dev, nb_taken);
		if (nb_taken < nb)
			return false;
	}
	leave(dev, 0);
	begin_anew(out);
	return true;
}

bool
shca_out_complete(struct shca_device *dev, struct shca_sq *sq, uint16_t counter, uint8_t opcode)
{
	struct shca_out *out = &dev->out;
	struct shca_out_wqe *wqe;

	if (out->wqe_count == out->wqe_head) {
		complete(sq, opcode, counter);
		return true;
	}
	if (out->wqe_count == SHCA_OUT_WQES)
		return false;
	wqe = shca_out_wqe(out, sq, counter);
	wqe->opcode = opcode;
	wqe->completes = true;
	return true;
}

void
shca_out_forget(struct shca_out *out, const struct shca_sq *sq)
{
	unsigned int wqe_count = out->wqe_head, count = out->head;

	for (unsigned int i = out->wqe_head, begin = out->head; i < out->wqe_count; i++) {
		const struct shca_out_wqe wqe = out->wqe[i];
		/* A fault kept those that end in front of the head from completing: leave(). */
		const unsigned int nb = wqe.end > begin ? wqe.end - begin : 0;

		if (wqe.sq != sq) {
			memmove(&out->frame[count], &out->frame[begin], nb * sizeof(out->frame[0]));
			count += nb;
			out->wqe[wqe_count] = wqe;
			out->wqe[wqe_count++].end = count;
		}
		begin += nb;
	}
	out->wqe_count = wqe_count;
	out->count = count;
	if (wqe_count == out->wqe_head)
		begin_anew(out);
}

/** @return the WQE of a frame that has not left. */
static const struct shca_out_wqe *
wqe_of(const struct shca_out *out, unsigned int frame)
{
	const struct shca_out_wqe *wqe = &out->wqe[out->wqe_head];

	while (wqe->end <= frame)
		wqe++;
	return wqe;
}

static bool
is_readable(const struct shca_out *out, const struct shca_frame *frame)
{
	return (frame->bytes >= out->arena && frame->bytes < out->arena + SHCA_OUT_ARENA) ||
		shca_mem_is_mapped(frame->bytes, frame->length, false);
}

/** The WQEs that wait complete, for their frames were good. */
static void
lose_all(struct shca_out *out)
{
	SHCA_ERR("the wire faulted on a frame of its own: %u frames lost", out->count - out->head);
	out->count = out->head;
	for (unsigned int i = out->wqe_head; i < out->wqe_count; i++) {
		out->wqe[i].end = out->head;
		out->wqe[i].bytes = 0;
	}
}

void
shca_out_fault(struct shca_device *dev)
{
	struct shca_out *out = &dev->out;
	bool is_found = false;
	unsigned int i = out->head;

	while (i < out->count) {
		const struct shca_out_wqe wqe = *wqe_of(out, i);

		if (wqe.sq == NULL || is_readable(out, &out->frame[i])) {
			i++;
			continue;
		}
		is_found = true;
		shca_out_forget(out, wqe.sq);
		shca_sq_fail_wqe(wqe.sq, wqe.counter);
		i = out->head;
	}
	if (!is_found)
		lose_all(out);
}
