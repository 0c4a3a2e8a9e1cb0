/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Wire "loop": a loopback plug, which sends every frame back; a full ring is back-pressure.
 */
#include "wire/kinds.h"

#include <errno.h>
#include <stdlib.h>
#include "base/log.h"
#include "wire/ring.h"

/** 2 MiB: some 25000 of the shortest frames, and small enough for a core's cache. */
#define LOOP_SIZE_LOG2 21

struct loop {
	struct shca_wire wire;
	struct shca_ring *ring;
	uint64_t nb_dropped; /**< longer than any wire carries */
};

static int
loop_open(const struct shca_wire_conf *conf, struct shca_wire **wire)
{
	struct loop *loop = calloc(1, sizeof(*loop));

	(void)conf;
	if (loop == NULL)
		return -ENOMEM;
	loop->ring = shca_ring_create(LOOP_SIZE_LOG2);
	if (loop->ring == NULL) {
		free(loop);
		return -ENOMEM;
	}
	loop->wire.ops = &shca_loop_wire;
	*wire = &loop->wire;
	return 0;
}

static unsigned int
loop_tx(struct shca_wire *wire, const struct shca_frame *frames, unsigned int nb_frames)
{
	struct loop *loop = (struct loop *)wire;

	return shca_ring_push(loop->ring, frames, nb_frames, &loop->nb_dropped);
}

static unsigned int
loop_rx(struct shca_wire *wire, struct shca_frame *frames, unsigned int nb_frames)
{
	return shca_ring_pop(((struct loop *)wire)->ring, frames, nb_frames);
}

static int
loop_fd(const struct shca_wire *wire)
{
	(void)wire;
	return -1;
}

static uint64_t
loop_due_ns(const struct shca_wire *wire)
{
	return shca_ring_is_empty(((const struct loop *)wire)->ring) ? UINT64_MAX : 0;
}

static bool
loop_reflects(const struct shca_wire *wire)
{
	return shca_ring_is_empty(((const struct loop *)wire)->ring);
}

static void
loop_explain(
	const struct shca_wire *wire, const struct shca_frame *frame, struct shca_wire_path *path)
{
	(void)frame;
	*path = (struct shca_wire_path){ .what = "it comes back", .to = { wire }, .nb_to = 1 };
}

static void
loop_close(struct shca_wire *wire)
{
	struct loop *loop = (struct loop *)wire;

	if (loop->nb_dropped != 0)
		SHCA_INFO("loop: dropped %lu oversized frames", (unsigned long)loop->nb_dropped);
	shca_ring_destroy(loop->ring);
	free(loop);
}

const struct shca_wire_ops shca_loop_wire = {
	.name = "loop",
	.usage = "loop",
	.help = "what is sent comes back",
	.open = loop_open,
	.tx = loop_tx,
	.rx = loop_rx,
	.fd = loop_fd,
	.due_ns = loop_due_ns,
	.reflects = loop_reflects,
	.explain = loop_explain,
	.close = loop_close,
};
