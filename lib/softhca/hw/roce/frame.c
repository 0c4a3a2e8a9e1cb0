/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames of queue pairs with a transport, to the wire or back into the device. */
#include <string.h>

#include "hw/format/tx.h"
#include "hw/queue/out.h"
#include "hw/roce/count.h"
#include "hw/roce/state.h"

#define IS_GROUP 0x01 /* of a MAC's first byte */

uint8_t *
shca_roce_room(struct shca_device *dev)
{
	if (!shca_out_has_room(&dev->out) && !shca_out_flush(dev))
		return NULL;
	return shca_out_build(&dev->out) + SHCA_ROCE_OVERHEAD;
}

/** The card's switch keeps what is for the port itself; a wire that gives all back does so, too. */
static bool
stays_here(const struct shca_device *dev, const struct shca_roce_path *path)
{
	return !dev->may_reflect && memcmp(path->dmac, shca_own_mac(dev), sizeof(path->dmac)) == 0;
}

void
shca_roce_send(
	struct shca_device *dev, const struct shca_roce_path *path, const struct shca_bth *bth)
{
	uint8_t *frame = shca_out_build(&dev->out);
	struct shca_frame whole = { .bytes = frame };
	uint32_t at;

	at = shca_roce_write_headers(path, bth, frame);
	if (bth->payload_bytes != 0)
		memmove(frame + at, frame + SHCA_ROCE_OVERHEAD, bth->payload_bytes);
	/* Over IPv4 a message without bytes is shorter than a frame on the medium may be. */
	whole.length = shca_tx_pad(frame, shca_roce_finish(path, bth, frame));
	dev->nb_done++;
	shca_roce_count_sent(dev, &whole);
	if (stays_here(dev, path)) {
		dev->take_roce(dev, &whole);
		return;
	}
	/* The card's switch copies what is for a group. */
	if (!dev->may_reflect && (path->dmac[0] & IS_GROUP) != 0)
		dev->take_roce(dev, &whole);
	shca_out_add(&dev->out, NULL, 0, &whole);
}

void
shca_roce_address(const struct shca_roce_qp *qp, struct shca_bth *bth)
{
	if (shca_roce_is_xrc(qp))
		bth->opcode |= SHCA_BTH_XRC;
	bth->qpn = qp->conf.dest_qpn;
	bth->pkey = SHCA_ROCE_PKEY;
}
