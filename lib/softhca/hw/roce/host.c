/* SPDX-License-Identifier: BSD-3-Clause */
/* What the engines of a connected queue pair ask: its rings, and memory by remote keys. */
#include <rdma/ib_user_ioctl_verbs.h>

#include "base/mem.h"
#include "hw/roce/count.h"
#include "hw/roce/window.h"
#include "hw/roce/state.h"

/** WQEs stay in the ring until they are done: one that is sent again is decoded again. */
static enum shca_outcome
find_wqe(struct shca_roce_qp *qp, const struct shca_wr *wr)
{
	return shca_roce_fetch(qp, wr->index, UINT16_MAX) == 0 ? SHCA_OUTCOME_SUCCESS
							       : SHCA_OUTCOME_LOCAL_QP_OPERATION;
}

static enum shca_outcome
gather(void *arg, const struct shca_wr *wr, uint32_t offset, uint32_t length, uint8_t *to)
{
	const enum shca_outcome outcome = find_wqe(arg, wr);

	return outcome != SHCA_OUTCOME_SUCCESS ? outcome
					       : shca_roce_gather(arg, offset, length, to);
}

static enum shca_outcome
scatter_response(
	void *arg, const struct shca_wr *wr, uint32_t offset, uint32_t length, const uint8_t *from)
{
	struct shca_roce_qp *qp = arg;
	enum shca_outcome outcome = find_wqe(qp, wr);

	shca_touch(qp->dev, SHCA_TOUCH_ROCE, qp);
	for (unsigned int i = 0;
		outcome == SHCA_OUTCOME_SUCCESS && i < qp->wqe.nb_segments && length != 0; i++) {
		const struct shca_wqe_segment *segment = &qp->wqe.segment[i];
		uint32_t part;
		uint8_t *to;

		if (offset >= segment->length) {
			offset -= segment->length;
			continue;
		}
		part = segment->length - offset < length ? segment->length - offset : length;
		to = segment->inlined != NULL
			? NULL
			: shca_mem_ptr(qp->dev->mem, qp->attr.pdn, segment->lkey,
				  segment->address + offset, part, true);
		if (to == NULL)
			return SHCA_OUTCOME_LOCAL_PROTECTION;
		memcpy(to, from, part);
		from += part;
		length -= part;
		offset = 0;
	}
	return outcome;
}

static enum shca_outcome
execute(void *arg, const struct shca_wr *wr)
{
	struct shca_roce_qp *qp = arg;
	const enum shca_outcome outcome = find_wqe(qp, wr);

	return outcome == SHCA_OUTCOME_SUCCESS && qp->wqe.has_umr ? shca_roce_bind(qp, &qp->wqe.umr)
								  : outcome;
}

static void
complete(void *arg, const struct shca_wr *wr, enum shca_outcome outcome)
{
	struct shca_roce_qp *qp = arg;

	if (outcome == SHCA_OUTCOME_SUCCESS)
		shca_roce_complete_sq(qp, wr);
	else
		shca_roce_fail_sq(qp, wr, shca_roce_syndrome(outcome));
}

const struct shca_requester_host shca_roce_requester_host = { gather, scatter_response, execute,
	complete };

static enum shca_take
take(void *arg)
{
	struct shca_roce_qp *qp = arg;

	if (qp->attr.type == SHCA_ROCE_XRC_TGT && shca_roce_srq(qp) == NULL)
		return SHCA_TAKE_REFUSED;
	if (shca_roce_take_rq(qp))
		return SHCA_TAKE_DONE;
	shca_roce_count_out_of_buffer(qp);
	return SHCA_TAKE_NONE;
}

static enum shca_outcome
scatter(void *arg, uint32_t offset, uint32_t length, const uint8_t *from)
{
	return shca_roce_scatter_rq(arg, offset, length, from);
}

static void
received(void *arg, const struct shca_received *received)
{
	const struct shca_roce_rx rx = {
		.cqe_opcode = received->is_write ? MLX5_CQE_RESP_WR_IMM
			: received->has_inval    ? MLX5_CQE_RESP_SEND_INV
			: received->has_imm      ? MLX5_CQE_RESP_SEND_IMM
						 : MLX5_CQE_RESP_SEND,
		.solicited = received->solicited,
		.byte_count = received->length,
		.imm = received->imm,
	};

	shca_roce_complete_rq(arg, &rx);
}

/** Memory is of the queue pair's PD; an XRC target has that of the SRQ which the request names
 * (IBTA A14.2.6). @return 0: of none */
static uint32_t
remote_pdn(const struct shca_roce_qp *qp)
{
	const struct shca_srq *srq;

	if (qp->attr.type != SHCA_ROCE_XRC_TGT)
		return qp->attr.pdn;
	srq = shca_roce_srq(qp);
	return srq != NULL ? srq->attr.pdn : 0;
}

static const uint32_t wanted[] = {
	[SHCA_REMOTE_WRITE] = IB_UVERBS_ACCESS_REMOTE_WRITE,
	[SHCA_REMOTE_READ] = IB_UVERBS_ACCESS_REMOTE_READ,
	[SHCA_REMOTE_ATOMIC] = IB_UVERBS_ACCESS_REMOTE_ATOMIC,
};

static bool
allows(void *arg, enum shca_remote what)
{
	const struct shca_roce_qp *qp = arg;

	return (qp->conf.access & wanted[what]) != 0;
}

static uint8_t *
remote(void *arg, enum shca_remote what, uint32_t rkey, uint64_t va, uint32_t length)
{
	struct shca_roce_qp *qp = arg;
	const struct shca_mr *mr =
		shca_idtable_get(&qp->dev->mem->mrs, rkey >> SHCA_MEM_LKEY_INDEX_SHIFT);

	if (mr == NULL || (mr->access & wanted[what]) == 0 || !allows(arg, what))
		return NULL;
	shca_touch(qp->dev, SHCA_TOUCH_ROCE, qp);
	if (mr->is_window)
		return shca_window_ptr(qp->dev->mem, (const struct shca_window *)mr, wanted[what],
			rkey, remote_pdn(qp), qp->number, va, length);
	return shca_mem_ptr(
		qp->dev->mem, remote_pdn(qp), rkey, va, length, what != SHCA_REMOTE_READ);
}

/** Keys of regions stay valid for their owner; windows of type 2 may be invalidated by whom they
 * are bound to. */
static bool
invalidate(void *arg, uint32_t rkey)
{
	struct shca_roce_qp *qp = arg;
	struct shca_window *window = shca_window_find(qp->dev->mem, rkey);

	return window != NULL && shca_window_invalidate(window, rkey, remote_pdn(qp), qp->number);
}

/** What a responder's owner hears of it (IBTA 11.6.3.3). */
static void
failed(void *arg, enum shca_outcome outcome)
{
	struct shca_roce_qp *qp = arg;

	if (outcome == SHCA_OUTCOME_LOCAL_ACCESS)
		shca_roce_count(qp, SHCA_ROCE_COUNT_RESP_REMOTE_ACCESS_ERRORS);
	if (qp->rx_wqe.is_taken)
		shca_roce_fail_rq(qp, shca_roce_syndrome(outcome));
	shca_roce_break(qp);
	shca_notify(qp->attr.event, qp->attr.owner,
		outcome == SHCA_OUTCOME_LOCAL_ACCESS ? SHCA_EVENT_QP_ACCESS_ERR
						     : SHCA_EVENT_QP_REQ_ERR);
}

const struct shca_responder_host shca_roce_responder_host = { take, scatter, received, allows,
	remote, invalidate, failed };
