/* SPDX-License-Identifier: BSD-3-Clause */
/* Fault injection around another wire. */
#include "wire/faulty.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "fault/faults.h"
#include "wire/wire.h"

#define BURST 64
/** A frame is cut to an Ethernet header at the shortest. */
#define MIN_FRAME  14
#define PAGE_BYTES 4096u

/** Faults of the port; shca_faulty_take() returns the last of those that are due first. */
static const enum shca_fault_kind port_faults[] = {
	SHCA_FAULT_DEVICE_SLOW,
	SHCA_FAULT_LINK_FLAP,
	SHCA_FAULT_DEVICE_FATAL,
};
#define NB_PORT_FAULTS (sizeof(port_faults) / sizeof(port_faults[0]))

/** A copy of a frame. */
struct copy {
	TAILQ_ENTRY(copy) link;
	uint64_t due; /**< held back until after the frame of that number */
	uint32_t length, port;
	uint8_t bytes[];
};
TAILQ_HEAD(copies, copy);

/** A frame to pass on; the bytes are in a copy, or the sender's own. */
struct ready {
	TAILQ_ENTRY(ready) link;
	struct shca_frame frame;
	struct copy *copy; /**< NULL: the bytes are the sender's */
};
TAILQ_HEAD(readies, ready);

struct direction {
	struct shca_fault_site site; /**< n: frames so far */
	struct copies held;          /**< copies to pass on later, in no order */
	struct readies ready;        /**< frames to pass on now */
};

struct faulty {
	struct shca_wire wire;
	struct shca_wire *inner;
	struct shca_faults *faults;
	struct direction rx, tx;
	struct shca_frame from_inner[BURST]; /**< received, from next on not yet looked at */
	unsigned int nb_from_inner, next;
	struct readies given; /**< frames that the device has, until its next rx call */

	const struct shca_fault *due[NB_PORT_FAULTS]; /**< after the last frame that passed */
	unsigned int nb_due;
	bool is_down, counts_tx; /**< the link is down; counts frames sent, or received */
	uint64_t nb_to_lose;     /**< frames of that direction until the link comes back */
	uint64_t rests_until_ns;
};

static struct faulty *
of(struct shca_wire *wire)
{
	return (struct faulty *)wire;
}

static const struct faulty *
const_of(const struct shca_wire *wire)
{
	return (const struct faulty *)wire;
}

static void
free_ready(struct ready *ready)
{
	free(ready->copy);
	free(ready);
}

static void
free_readies(struct readies *list)
{
	struct ready *ready;

	while ((ready = TAILQ_FIRST(list)) != NULL) {
		TAILQ_REMOVE(list, ready, link);
		free_ready(ready);
	}
}

static struct copy *
make_copy(const struct shca_frame *frame)
{
	struct copy *copy = malloc(sizeof(*copy) + frame->length);

	if (copy == NULL)
		return NULL;
	copy->length = frame->length;
	copy->port = frame->port;
	memcpy(copy->bytes, frame->bytes, frame->length);
	return copy;
}

/** Queue a frame to pass on; without memory it is lost. */
static void
make_ready(struct direction *dir, const struct shca_frame *frame, struct copy *copy)
{
	struct ready *ready = malloc(sizeof(*ready));

	if (ready == NULL) {
		free(copy);
		return;
	}
	*ready = (struct ready){ .frame = *frame, .copy = copy };
	if (copy != NULL)
		ready->frame = (struct shca_frame){ copy->bytes, copy->length, copy->port };
	TAILQ_INSERT_TAIL(&dir->ready, ready, link);
}

/** @return the fault of @p kind that is due at the current frame, counted as applied, or NULL. */
static const struct shca_fault *
inject_fault(struct faulty *faulty, const struct direction *dir, enum shca_fault_kind kind)
{
	const struct shca_fault *fault = shca_faults_due(faulty->faults, kind, &dir->site);

	if (fault != NULL)
		shca_faults_applied(faulty->faults, fault);
	return fault;
}

static void
corrupt(struct faulty *faulty, const struct direction *dir, const struct shca_fault *fault,
	struct copy *copy)
{
	uint64_t dice = shca_faults_dice(faulty->faults, fault, &dir->site), bit;

	if (copy->length == 0)
		return;
	bit = dice % ((uint64_t)copy->length * 8);
	copy->bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
}

/** @return the length after truncation. */
static uint32_t
cut(struct faulty *faulty, const struct direction *dir, const struct shca_fault *fault,
	uint32_t length)
{
	if (length <= MIN_FRAME)
		return length;
	if (fault->number != 0)
		return fault->number < length ? (uint32_t)fault->number : length;
	return MIN_FRAME +
		(uint32_t)(shca_faults_dice(faulty->faults, fault, &dir->site) %
			(length - MIN_FRAME));
}

/** Queue the copies that were held back until the current frame. */
static void
release(struct direction *dir)
{
	struct copy *copy = TAILQ_FIRST(&dir->held);

	while (copy != NULL) {
		struct copy *next = TAILQ_NEXT(copy, link);

		if (copy->due <= dir->site.n) {
			const struct shca_frame frame = { copy->bytes, copy->length, copy->port };

			TAILQ_REMOVE(&dir->held, copy, link);
			make_ready(dir, &frame, copy);
		}
		copy = next;
	}
}

/** Count frames while the link is down, too. @return how many of @p nb are lost before the link
 * comes back. */
static unsigned int
lose(struct faulty *faulty, struct direction *dir, unsigned int nb)
{
	if (faulty->is_down && dir->site.is_tx == faulty->counts_tx) {
		if (nb > faulty->nb_to_lose)
			nb = (unsigned int)faulty->nb_to_lose;
		faulty->nb_to_lose -= nb;
	}
	dir->site.n += nb;
	return nb;
}

/** @return whether the wire may look at further frames. */
static bool
is_open(const struct faulty *faulty)
{
	return faulty->nb_due == 0 && !(faulty->is_down && faulty->nb_to_lose == 0);
}

/** Find the faults of the port that are due after the current frame. */
static void
find_port_faults(struct faulty *faulty, const struct direction *dir)
{
	for (size_t i = 0; i < NB_PORT_FAULTS; i++) {
		const struct shca_fault *fault = inject_fault(faulty, dir, port_faults[i]);

		if (fault != NULL)
			faulty->due[faulty->nb_due++] = fault;
	}
}

/** Apply the faults to the next frame and append the result to dir->ready. */
static void
pass(struct faulty *faulty, struct direction *dir, struct shca_frame frame)
{
	const struct shca_fault *fault;
	struct copy *copy = NULL;

	if (faulty->is_down) {
		lose(faulty, dir, 1);
		make_ready(dir, &frame, NULL); /* the device loses it */
		return;
	}
	dir->site.n++;
	find_port_faults(faulty, dir);
	if (inject_fault(faulty, dir, SHCA_FAULT_WIRE_LOSS) != NULL)
		goto release;
	fault = inject_fault(faulty, dir, SHCA_FAULT_WIRE_TRUNCATE);
	if (fault != NULL)
		frame.length = cut(faulty, dir, fault, frame.length);
	fault = inject_fault(faulty, dir, SHCA_FAULT_WIRE_CORRUPT);
	if (fault != NULL) {
		copy = make_copy(&frame);
		if (copy == NULL)
			goto release;
		corrupt(faulty, dir, fault, copy);
		frame.bytes = copy->bytes;
	}
	if (inject_fault(faulty, dir, SHCA_FAULT_WIRE_DUPLICATE) != NULL)
		make_ready(dir, &frame, copy != NULL ? make_copy(&frame) : NULL);
	fault = inject_fault(faulty, dir, SHCA_FAULT_WIRE_REORDER);
	if (fault == NULL) {
		make_ready(dir, &frame, copy);
		goto release;
	}
	if (copy == NULL)
		copy = make_copy(&frame);
	if (copy == NULL)
		goto release;
	copy->due = dir->site.n + fault->number;
	TAILQ_INSERT_TAIL(&dir->held, copy, link);
release:
	release(dir);
}

/** Send the frames that are ready. @return whether the inner wire has taken all of them. */
static bool
flush_tx(struct faulty *faulty)
{
	struct ready *ready;

	while ((ready = TAILQ_FIRST(&faulty->tx.ready)) != NULL) {
		if (faulty->inner->ops->tx(faulty->inner, &ready->frame, 1) == 0)
			return false;
		TAILQ_REMOVE(&faulty->tx.ready, ready, link);
		free_ready(ready);
	}
	return true;
}

/** Copy those of the caller's frames that the inner wire did not take: they must outlive the call.
 */
static void
keep_tx(struct faulty *faulty)
{
	struct ready *ready, *next;

	for (ready = TAILQ_FIRST(&faulty->tx.ready); ready != NULL; ready = next) {
		next = TAILQ_NEXT(ready, link);
		if (ready->copy != NULL)
			continue;
		ready->copy = make_copy(&ready->frame);
		if (ready->copy == NULL) {
			TAILQ_REMOVE(&faulty->tx.ready, ready, link);
			free_ready(ready);
			continue;
		}
		ready->frame.bytes = ready->copy->bytes;
	}
}

/** Read each page of the frame: one that the application has unmapped faults here, before faulty
 * changes any state. */
static void
touch(const struct shca_frame *frame)
{
	for (uint32_t at = 0; at < frame->length; at += PAGE_BYTES)
		(void)*(const volatile uint8_t *)&frame->bytes[at];
	if (frame->length != 0)
		(void)*(const volatile uint8_t *)&frame->bytes[frame->length - 1];
}

static unsigned int
faulty_tx(struct shca_wire *wire, const struct shca_frame *frames, unsigned int nb_frames)
{
	struct faulty *faulty = of(wire);

	for (unsigned int i = 0; i < nb_frames; i++) {
		if (!flush_tx(faulty) || !is_open(faulty))
			return i;
		touch(&frames[i]);
		pass(faulty, &faulty->tx, frames[i]);
		if (!flush_tx(faulty))
			keep_tx(faulty);
	}
	return nb_frames;
}

/** @return the next frame to receive, or NULL: looks at received frames until one is ready. */
static struct ready *
next_rx(struct faulty *faulty)
{
	while (TAILQ_EMPTY(&faulty->rx.ready) && faulty->next < faulty->nb_from_inner &&
		is_open(faulty))
		pass(faulty, &faulty->rx, faulty->from_inner[faulty->next++]);
	return TAILQ_FIRST(&faulty->rx.ready);
}

/** Asks the inner wire for more when none of its frames is in use any more: rx invalidates them. */
static unsigned int
faulty_rx(struct shca_wire *wire, struct shca_frame *frames, unsigned int nb_frames)
{
	struct faulty *faulty = of(wire);
	struct ready *ready;
	unsigned int nb = 0;

	flush_tx(faulty);
	free_readies(&faulty->given);
	if (next_rx(faulty) == NULL && is_open(faulty)) {
		faulty->next = 0;
		faulty->nb_from_inner = faulty->inner->ops->rx(
			faulty->inner, faulty->from_inner, nb_frames < BURST ? nb_frames : BURST);
	}
	while (nb < nb_frames && (ready = next_rx(faulty)) != NULL) {
		TAILQ_REMOVE(&faulty->rx.ready, ready, link);
		TAILQ_INSERT_TAIL(&faulty->given, ready, link);
		frames[nb++] = ready->frame;
	}
	return nb;
}

static void
faulty_start(struct shca_wire *wire)
{
	struct shca_wire *inner = of(wire)->inner;

	if (inner->ops->start != NULL)
		inner->ops->start(inner);
}

static int
faulty_fd(const struct shca_wire *wire)
{
	const struct faulty *faulty = const_of(wire);

	return faulty->rests_until_ns == 0 ? faulty->inner->ops->fd(faulty->inner) : -1;
}

static uint64_t
faulty_due_ns(const struct shca_wire *wire)
{
	const struct faulty *faulty = const_of(wire);

	if (faulty->rests_until_ns != 0)
		return faulty->rests_until_ns;
	if (!TAILQ_EMPTY(&faulty->rx.ready) || !TAILQ_EMPTY(&faulty->tx.ready) ||
		faulty->next < faulty->nb_from_inner)
		return 0;
	return faulty->inner->ops->due_ns != NULL ? faulty->inner->ops->due_ns(faulty->inner)
						  : UINT64_MAX;
}

/** While the link is down, frames do not wait: a capture would wait for the link, and the link for
 * the capture's frames, if it counts those. */
static bool
faulty_is_patient(const struct shca_wire *wire)
{
	const struct shca_wire *inner = const_of(wire)->inner;

	return !const_of(wire)->is_down && inner->ops->is_patient != NULL &&
		inner->ops->is_patient(inner);
}

static unsigned int
faulty_lose(struct shca_wire *wire, unsigned int nb_frames)
{
	return lose(of(wire), &of(wire)->tx, nb_frames);
}

static bool
faulty_link(struct shca_wire *wire)
{
	struct shca_wire *inner = of(wire)->inner;

	return inner->ops->link == NULL || inner->ops->link(inner);
}

static void
faulty_set_carrier(struct shca_wire *wire, bool on)
{
	struct shca_wire *inner = of(wire)->inner;

	if (inner->ops->set_carrier != NULL)
		inner->ops->set_carrier(inner, on);
}

static void
faulty_set_vport_link(struct shca_wire *wire, uint32_t port, bool up)
{
	struct shca_wire *inner = of(wire)->inner;

	if (inner->ops->set_vport_link != NULL)
		inner->ops->set_vport_link(inner, port, up);
}

static void
faulty_set_rx_mode(struct shca_wire *wire, const struct shca_netdev *netdev)
{
	struct shca_wire *inner = of(wire)->inner;

	if (inner->ops->set_rx_mode != NULL)
		inner->ops->set_rx_mode(inner, netdev);
}

static uint64_t
faulty_nb_refused(const struct shca_wire *wire)
{
	const struct shca_wire *inner = const_of(wire)->inner;

	return inner->ops->nb_refused != NULL ? inner->ops->nb_refused(inner) : 0;
}

/** Does not predict faults. */
static void
faulty_explain(
	const struct shca_wire *wire, const struct shca_frame *frame, struct shca_wire_path *path)
{
	const struct shca_wire *inner = const_of(wire)->inner;

	if (inner->ops->explain == NULL)
		return;
	inner->ops->explain(inner, frame, path);
	for (unsigned int i = 0; i < path->nb_to; i++)
		if (path->to[i] == inner)
			path->to[i] = wire;
}

static void
clear(struct direction *dir)
{
	struct copy *copy;

	free_readies(&dir->ready);
	while ((copy = TAILQ_FIRST(&dir->held)) != NULL) {
		TAILQ_REMOVE(&dir->held, copy, link);
		free(copy);
	}
}

static void
faulty_close(struct shca_wire *wire)
{
	struct faulty *faulty = of(wire);

	flush_tx(faulty);
	clear(&faulty->tx);
	clear(&faulty->rx);
	free_readies(&faulty->given);
	faulty->inner->ops->close(faulty->inner);
	free(faulty);
}

/** No reflects: frames may come back changed. */
static const struct shca_wire_ops faulty_ops = {
	.name = "faulty",
	.tx = faulty_tx,
	.rx = faulty_rx,
	.start = faulty_start,
	.fd = faulty_fd,
	.due_ns = faulty_due_ns,
	.is_patient = faulty_is_patient,
	.lose = faulty_lose,
	.link = faulty_link,
	.set_carrier = faulty_set_carrier,
	.set_rx_mode = faulty_set_rx_mode,
	.set_vport_link = faulty_set_vport_link,
	.nb_refused = faulty_nb_refused,
	.explain = faulty_explain,
	.close = faulty_close,
};

static void
init(struct direction *dir, unsigned int device, bool is_tx)
{
	dir->site = (struct shca_fault_site){ .device = device, .is_tx = is_tx };
	TAILQ_INIT(&dir->held);
	TAILQ_INIT(&dir->ready);
}

int
shca_faulty_wrap(struct shca_faults *faults, unsigned int device, struct shca_wire *inner,
	struct shca_wire **wire)
{
	struct faulty *faulty;

	if (!shca_faults_concern(faults, SHCA_FAULT_WIRE_LOSS, SHCA_FAULT_WIRE_TRUNCATE, device) &&
		!shca_faults_concern(
			faults, SHCA_FAULT_LINK_FLAP, SHCA_FAULT_DEVICE_SLOW, device)) {
		*wire = inner;
		return 0;
	}
	faulty = calloc(1, sizeof(*faulty));
	if (faulty == NULL)
		return -ENOMEM;
	faulty->wire.ops = &faulty_ops;
	faulty->inner = inner;
	faulty->faults = faults;
	init(&faulty->rx, device, false);
	init(&faulty->tx, device, true);
	TAILQ_INIT(&faulty->given);
	*wire = &faulty->wire;
	return 0;
}

const struct shca_fault *
shca_faulty_take(struct shca_wire *wire)
{
	struct faulty *faulty = of(wire);

	return faulty->nb_due != 0 ? faulty->due[--faulty->nb_due] : NULL;
}

void
shca_faulty_link_down(struct shca_wire *wire, bool is_tx, uint64_t nb)
{
	struct faulty *faulty = of(wire);

	faulty->is_down = true;
	faulty->counts_tx = is_tx;
	faulty->nb_to_lose = nb;
}

bool
shca_faulty_is_over(const struct shca_wire *wire)
{
	return const_of(wire)->nb_to_lose == 0;
}

void
shca_faulty_link_up(struct shca_wire *wire)
{
	of(wire)->is_down = false;
}

void
shca_faulty_rest(struct shca_wire *wire, uint64_t until_ns)
{
	struct shca_wire *inner = of(wire)->inner;

	of(wire)->rests_until_ns = until_ns;
	if (inner->ops->set_resting != NULL)
		inner->ops->set_resting(inner, until_ns != 0);
}
