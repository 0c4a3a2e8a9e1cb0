/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Wire "null": drops the frames sent, never receives. */
#include "wire/kinds.h"

#include <errno.h>
#include <stdlib.h>

static int
null_open(const struct shca_wire_conf *conf, struct shca_wire **wire)
{
	(void)conf;
	*wire = calloc(1, sizeof(**wire));
	if (*wire == NULL)
		return -ENOMEM;
	(*wire)->ops = &shca_null_wire;
	return 0;
}

static unsigned int
null_tx(struct shca_wire *wire, const struct shca_frame *frames, unsigned int nb_frames)
{
	(void)wire;
	(void)frames;
	return nb_frames;
}

static unsigned int
null_rx(struct shca_wire *wire, struct shca_frame *frames, unsigned int nb_frames)
{
	(void)wire;
	(void)frames;
	(void)nb_frames;
	return 0;
}

static int
null_fd(const struct shca_wire *wire)
{
	(void)wire;
	return -1;
}

static void
null_explain(
	const struct shca_wire *wire, const struct shca_frame *frame, struct shca_wire_path *path)
{
	(void)wire;
	(void)frame;
	*path = (struct shca_wire_path){ .what = "the wire swallows all", .is_lost = true };
}

static void
null_close(struct shca_wire *wire)
{
	free(wire);
}

const struct shca_wire_ops shca_null_wire = {
	.name = "null",
	.usage = "null",
	.help = "what is sent is gone, and nothing comes",
	.open = null_open,
	.tx = null_tx,
	.rx = null_rx,
	.fd = null_fd,
	.explain = null_explain,
	.close = null_close,
};
