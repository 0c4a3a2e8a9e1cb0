/* SPDX-License-Identifier: BSD-3-Clause */
/** @file A queue pair of UC that never has an empty ring: it sends messages without bytes. */
#ifndef ROCE_SENDER_H
#define ROCE_SENDER_H

#include "rig.h"

#include <endian.h>
#include <string.h>

#include "hw/roce/roce_qp.h"

#define ROCE_SENDER_RING 128 /* more than a queue pair sends in a round */

struct roce_sender {
	struct shca_roce_qp *qp;
	uint64_t ring[ROCE_SENDER_RING * SHCA_WQEBB_BYTES / 8];
	__be32 record[2];
	uint32_t nb_posted, nb_sent; /* the latter is the test's to count */
};

/** @param conf borrowed */
static inline void
roce_sender_open(struct roce_sender *sender, struct rig *rig, const struct shca_roce_qp_conf *conf)
{
	const enum shca_roce_state states[] = { SHCA_ROCE_INIT, SHCA_ROCE_RTR, SHCA_ROCE_RTS };

	memset(sender, 0, sizeof(*sender));
	assert_int_equal(shca_roce_qp_create(rig->dev,
				 &(struct shca_roce_qp_attr){
					 .type = SHCA_ROCE_UC,
					 .sq_ring = (uint8_t *)sender->ring,
					 .dbrec = sender->record,
					 .nb_wqebbs = ROCE_SENDER_RING,
					 .pdn = RIG_PDN,
					 .send_cq = rig->tx.cq,
					 .recv_cq = rig->rx.cq,
				 },
				 &sender->qp),
		0);
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		shca_roce_qp_modify(sender->qp, states[i], conf);
}

/** As many as the ring has room for. */
static inline void
roce_sender_post(struct roce_sender *sender)
{
	for (; sender->nb_posted - sender->nb_sent < ROCE_SENDER_RING; sender->nb_posted++) {
		const struct mlx5_wqe_ctrl_seg ctrl = {
			.opmod_idx_opcode =
				htobe32((sender->nb_posted & 0xffff) << 8 | MLX5_OPCODE_SEND),
			.qpn_ds = htobe32(shca_roce_qp_number(sender->qp) << 8 | 1),
		};

		memcpy((uint8_t *)sender->ring +
				(size_t)(sender->nb_posted % ROCE_SENDER_RING) * SHCA_WQEBB_BYTES,
			&ctrl, sizeof(ctrl));
	}
	sender->record[MLX5_SND_DBR] = htobe32(sender->nb_posted);
}

#endif /* ROCE_SENDER_H */
