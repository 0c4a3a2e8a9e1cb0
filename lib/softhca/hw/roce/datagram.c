/* SPDX-License-Identifier: BSD-3-Clause */
/* Unreliable datagrams: a WQE is a packet (IBTA 9.8.3). */
#include <string.h>

#include "hw/roce/count.h"
#include "hw/roce/state.h"

#define GRH_BYTES 40
#define QKEY_OF_QP                                                                                 \
	0x80000000u /* a Q_Key with this bit stands for the queue pair's own (10.2.5)              \
		     */

/** @return 0 or a syndrome: of a packet that is on its way, or nobody takes. */
static uint8_t
send(struct shca_roce_qp *qp, uint8_t *room)
{
	const struct shca_roce_wqe *wqe = &qp->wqe;
	const struct shca_roce_av *av = &wqe->av;
	struct shca_roce_path path;
	struct shca_bth bth = {
		.opcode = SHCA_BTH_UD |
			(wqe->wr.has_imm ? SHCA_BTH_SEND_ONLY_IMM : SHCA_BTH_SEND_ONLY),
		.solicited = wqe->wr.solicited,
		.pkey = SHCA_ROCE_PKEY,
		.qpn = av->qpn,
		.psn = qp->ud_psn++ & SHCA_PSN_MASK,
		.qkey = av->qkey & QKEY_OF_QP ? qp->conf.qkey : av->qkey,
		.src_qpn = qp->number,
		.imm = wqe->wr.imm,
		.payload = room,
		.payload_bytes = wqe->wr.length,
	};
	enum shca_outcome outcome;

	if (wqe->wr.length > qp->conf.mtu)
		return MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR;
	if (!shca_gid_path(qp->dev, &av->route, &path))
		return MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR;
	memcpy(path.dmac, av->dmac, sizeof(path.dmac));
	outcome = shca_roce_gather(qp, 0, wqe->wr.length, room);
	if (outcome != SHCA_OUTCOME_SUCCESS)
		return shca_roce_syndrome(outcome);
	shca_roce_send(qp->dev, &path, &bth);
	return 0;
}

unsigned int
shca_roce_run_ud(struct shca_roce_qp *qp, unsigned int budget)
{
	unsigned int nb = 0;

	for (; nb < budget && qp->state == SHCA_ROCE_RTS; nb++) {
		const uint16_t nb_posted = shca_roce_nb_posted(qp, qp->sq_ci);
		uint8_t *room, syndrome;

		if (nb_posted == 0)
			break;
		syndrome = shca_roce_fetch(qp, qp->sq_ci, nb_posted);
		if (syndrome == 0 && qp->wqe.wr.kind != SHCA_WR_LOCAL) {
			room = shca_roce_room(qp->dev);
			if (room == NULL)
				break;
			syndrome = send(qp, room);
		}
		if (syndrome != 0) {
			shca_roce_fail_sq(qp, &qp->wqe.wr, syndrome);
			break;
		}
		qp->has_wqe = false;
		shca_roce_complete_sq(qp, &qp->wqe.wr);
	}
	return nb;
}

/** Programs find the addresses in the first 40 bytes by it. */
static uint8_t
l3_type(const struct shca_roce_path *path)
{
	if (!path->is_v2)
		return SHCA_CQE_ROCE_GRH;
	return shca_roce_is_ipv4(path->sgid) ? SHCA_CQE_ROCE_IPV4 : SHCA_CQE_ROCE_IPV6;
}

void
shca_roce_receive_ud(struct shca_roce_qp *qp, const struct shca_roce_path *path,
	const struct shca_bth *bth, const uint8_t *frame)
{
	const struct shca_roce_rx rx = {
		.cqe_opcode =
			shca_bth_has_imm(bth->opcode) ? MLX5_CQE_RESP_SEND_IMM : MLX5_CQE_RESP_SEND,
		.solicited = bth->solicited,
		.has_grh = true,
		.l3_type = l3_type(path),
		.byte_count = GRH_BYTES + bth->payload_bytes,
		.imm = bth->imm,
		.src_qpn = bth->src_qpn,
	};
	enum shca_outcome outcome;
	uint8_t grh[GRH_BYTES];

	/* Dropped, and nobody told (IBTA 9.8.3.2, 10.2.5). */
	if (bth->qkey != qp->conf.qkey)
		return;
	if (!shca_roce_take_rq(qp)) {
		shca_roce_count_out_of_buffer(qp);
		return;
	}
	shca_roce_copy_grh(frame, grh);
	outcome = shca_roce_scatter_rq(qp, 0, sizeof(grh), grh);
	if (outcome == SHCA_OUTCOME_SUCCESS)
		outcome = shca_roce_scatter_rq(qp, GRH_BYTES, bth->payload_bytes, bth->payload);
	if (outcome == SHCA_OUTCOME_SUCCESS) {
		shca_roce_complete_rq(qp, &rx);
		return;
	}
	shca_roce_fail_rq(qp, shca_roce_syndrome(outcome));
	shca_roce_break(qp);
}
