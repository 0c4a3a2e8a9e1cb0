/* SPDX-License-Identifier: BSD-3-Clause */
/* Rings of a queue pair with a transport: WQEs out of them, bytes to and from their buffers,
 * completions. */
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "hw/format/cqe.h"
#include "hw/queue/cq.h"
#include "hw/roce/count.h"
#include "hw/roce/roce_strict.h"
#include "hw/roce/state.h"
#include "hw/state/cq.h"

static enum shca_roce_wqe_form
form_of(const struct shca_roce_qp *qp)
{
	return qp->attr.type == SHCA_ROCE_UD         ? SHCA_ROCE_WQE_DATAGRAM
		: qp->attr.type == SHCA_ROCE_XRC_INI ? SHCA_ROCE_WQE_XRC
						     : SHCA_ROCE_WQE_CONNECTED;
}

static uint8_t
fetch(struct shca_roce_qp *qp, uint16_t index, uint16_t nb_posted)
{
	const uint32_t mask = qp->attr.nb_wqebbs - 1;
	unsigned int nb_wqebbs = 1;

	shca_touch(qp->dev, SHCA_TOUCH_ROCE, qp);
	for (unsigned int i = 0; i < nb_wqebbs; i++) {
		memcpy(qp->flat + (size_t)i * SHCA_WQEBB_BYTES,
			qp->attr.sq_ring + (size_t)((index + i) & mask) * SHCA_WQEBB_BYTES,
			SHCA_WQEBB_BYTES);
		if (i == 0)
			nb_wqebbs = shca_wqe_nb_wqebbs(shca_wqe_ds(qp->flat));
	}
	const uint8_t syndrome =
		shca_roce_wqe_decode(qp->flat, nb_wqebbs * SHCA_WQEBB_BYTES, form_of(qp), &qp->wqe);

	if (syndrome != 0 || nb_wqebbs > nb_posted || qp->wqe.wr.index != index) {
		qp->wqe.wr.index = index;
		return syndrome != 0 ? syndrome : MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR;
	}
	qp->has_wqe = true;
	return 0;
}

uint8_t
shca_roce_fetch(struct shca_roce_qp *qp, uint16_t index, uint16_t nb_posted)
{
	uint8_t syndrome;

	if (qp->has_wqe && qp->wqe.wr.index == index)
		return 0;
	qp->has_wqe = false;
	syndrome = fetch(qp, index, nb_posted);
	if (shca_is_strict(qp->dev))
		shca_roce_strict_wqe(qp, index, nb_posted, syndrome);
	return syndrome;
}

/** @return the segment's bytes in the program's memory, or in the WQE. */
static uint8_t *
segment_at(
	const struct shca_roce_qp *qp, uint32_t lkey, uint64_t address, uint32_t length, bool write)
{
	return shca_mem_ptr(qp->dev->mem, qp->attr.pdn, lkey, address, length, write);
}

enum shca_outcome
shca_roce_gather(struct shca_roce_qp *qp, uint32_t offset, uint32_t length, uint8_t *to)
{
	const struct shca_roce_wqe *wqe = &qp->wqe;

	shca_touch(qp->dev, SHCA_TOUCH_ROCE, qp);
	for (unsigned int i = 0; i < wqe->nb_segments && length != 0; i++) {
		const struct shca_wqe_segment *segment = &wqe->segment[i];
		const uint8_t *from = segment->inlined;
		uint32_t part;

		if (offset >= segment->length) {
			offset -= segment->length;
			continue;
		}
		part = segment->length - offset < length ? segment->length - offset : length;
		if (from != NULL)
			from += offset;
		else
			from = segment_at(
				qp, segment->lkey, segment->address + offset, part, false);
		if (from == NULL)
			return SHCA_OUTCOME_LOCAL_PROTECTION;
		memcpy(to, from, part);
		to += part;
		length -= part;
		offset = 0;
	}
	return length == 0 ? SHCA_OUTCOME_SUCCESS : SHCA_OUTCOME_LOCAL_LENGTH;
}

/** @return whether the own ring has a WQE that is not taken. A counter beyond it is a program's
 * bug: no WQE is valid. */
static bool
has_posted_rq(struct shca_roce_qp *qp)
{
	uint16_t nb_posted;

	if (qp->attr.nb_wqes == 0)
		return false;
	nb_posted = (uint16_t)(be32toh(__atomic_load_n(
				       &qp->attr.dbrec[MLX5_RCV_DBR], __ATOMIC_ACQUIRE)) -
		qp->rq_ci);
	if (nb_posted <= qp->attr.nb_wqes)
		return nb_posted != 0;
	SHCA_WARN("QP 0x%x: %u receive WQEs in a ring of %u", qp->number, nb_posted,
		qp->attr.nb_wqes);
	if (shca_is_strict(qp->dev))
		shca_roce_strict_overrun(qp, MLX5_RCV_DBR, qp->rq_ci, qp->attr.nb_wqes);
	shca_roce_qp_fault(qp);
	return false;
}

/** Take the oldest WQE of the own ring. Its segments begin behind a signature. */
static void
take_own(struct shca_roce_qp *qp)
{
	const uint32_t header = qp->attr.has_signature ? SHCA_DS_BYTES : 0;
	const uint16_t slot = qp->rq_ci & (uint16_t)(qp->attr.nb_wqes - 1);

	qp->rx_wqe = (struct shca_roce_rx_wqe){
		.is_taken = true,
		.index = qp->rq_ci++,
		.pdn = qp->attr.pdn,
		.segments = qp->attr.rq_ring + (size_t)slot * qp->attr.stride_bytes + header,
		.nb_segments = (qp->attr.stride_bytes - header) / SHCA_DS_BYTES,
		.cq = qp->attr.recv_cq,
		.user_index = qp->attr.user_index,
	};
}

struct shca_srq *
shca_roce_srq(const struct shca_roce_qp *qp)
{
	struct shca_srq *srq = qp->attr.srq;

	if (qp->attr.type != SHCA_ROCE_XRC_TGT)
		return srq;
	srq = shca_idtable_get(&qp->dev->srq_numbers, qp->responder.xrc_srqn);
	return srq != NULL && srq->attr.xrcdn == qp->attr.xrcdn ? srq : NULL;
}

/** Completions of a basic SRQ are the queue pair's; an XRC SRQ has its own. */
static bool
take_shared(struct shca_roce_qp *qp, struct shca_srq *srq)
{
	const bool is_xrc = srq->attr.xrcdn != 0;

	if (!shca_srq_take(srq, &qp->rx_wqe))
		return false;
	qp->rx_wqe.cq = is_xrc ? srq->attr.cq : qp->attr.recv_cq;
	qp->rx_wqe.user_index = is_xrc ? srq->attr.user_index : qp->attr.user_index;
	return true;
}

bool
shca_roce_take_rq(struct shca_roce_qp *qp)
{
	struct shca_srq *srq;

	if (qp->is_dead || qp->rx_wqe.is_taken)
		return !qp->is_dead;
	shca_touch(qp->dev, SHCA_TOUCH_ROCE, qp);
	srq = shca_roce_srq(qp);
	if (srq != NULL)
		return take_shared(qp, srq);
	if (has_posted_rq(qp))
		take_own(qp);
	return qp->rx_wqe.is_taken;
}

static enum shca_outcome
scatter_rq(struct shca_roce_qp *qp, uint32_t offset, uint32_t length, const uint8_t *from)
{
	const struct shca_roce_rx_wqe *wqe = &qp->rx_wqe;

	shca_touch(qp->dev, SHCA_TOUCH_ROCE, qp);
	for (uint32_t i = 0; i < wqe->nb_segments && length != 0; i++) {
		struct mlx5_wqe_data_seg segment;
		uint32_t room, part;
		uint8_t *to;

		memcpy(&segment, wqe->segments + (size_t)i * sizeof(segment), sizeof(segment));
		room = be32toh(segment.byte_count);
		if (room == 0 && be32toh(segment.lkey) == MLX5_INVALID_LKEY)
			break;
		if (offset >= room) {
			offset -= room;
			continue;
		}
		part = room - offset < length ? room - offset : length;
		to = shca_mem_ptr(qp->dev->mem, wqe->pdn, be32toh(segment.lkey),
			be64toh(segment.addr) + offset, part, true);
		if (to == NULL)
			return SHCA_OUTCOME_LOCAL_PROTECTION;
		memcpy(to, from, part);
		from += part;
		length -= part;
		offset = 0;
	}
	return length == 0 ? SHCA_OUTCOME_SUCCESS : SHCA_OUTCOME_LOCAL_LENGTH;
}

enum shca_outcome
shca_roce_scatter_rq(struct shca_roce_qp *qp, uint32_t offset, uint32_t length, const uint8_t *from)
{
	const enum shca_outcome outcome = scatter_rq(qp, offset, length, from);

	if (outcome != SHCA_OUTCOME_SUCCESS && shca_is_strict(qp->dev))
		shca_roce_strict_receive(qp, outcome, offset + length);
	return outcome;
}

/** Into a CQ that has failed nothing can be written: that breaks the queue pair, whose owner learns
 * it by an event (IBTA 11.6.3.2, local work queue catastrophic error). */
static void
push(struct shca_roce_qp *qp, struct shca_cq *cq, struct shca_cqe *cqe, bool solicited)
{
	shca_cq_push(cq, cqe, solicited);
	if (!cq->failed || qp->cannot_complete)
		return;
	SHCA_WARN("QP 0x%x: CQ 0x%x has failed and takes no completion", qp->number, cq->number);
	qp->cannot_complete = true;
	shca_roce_break(qp);
	shca_notify(qp->attr.event, qp->attr.owner, SHCA_EVENT_QP_FATAL);
}

/** Bits of flags_rqpn: a GRH is there (mlx5's get_cqe of libmlx5's handle_responder). */
#define GRH_SHIFT 28
/** Where it has an InfiniBand packet's service level (mlx5_ib's handle_responder). */
#define L3_TYPE_SHIFT 24

void
shca_roce_complete_rq(struct shca_roce_qp *qp, const struct shca_roce_rx *rx)
{
	struct shca_cqe cqe = {
		.flags_rqpn = htobe32((rx->has_grh ? 1u << GRH_SHIFT : 0) |
			(uint32_t)rx->l3_type << L3_TYPE_SHIFT | rx->src_qpn),
		.user_index = htobe32(qp->rx_wqe.user_index & SHCA_CQE_NUMBER_MASK),
		.metadata = htobe32(rx->imm),
		.byte_count = htobe32(rx->byte_count),
		.timestamp = htobe64(qp->dev->ticks),
		.sop_drop_qpn = htobe32(qp->number),
		.wqe_counter = htobe16(qp->rx_wqe.index),
		.op_own = (uint8_t)(rx->cqe_opcode << SHCA_CQE_OPCODE_SHIFT),
	};

	qp->rx_wqe.is_taken = false;
	push(qp, qp->rx_wqe.cq, &cqe, rx->solicited);
}

static void
count_fault(struct shca_roce_qp *qp, uint8_t cqe_opcode, uint8_t syndrome)
{
	static const struct {
		uint8_t cqe_opcode, syndrome;
		enum shca_roce_count which;
	} count_rows[] = {
		{ MLX5_CQE_RESP_ERR, MLX5_CQE_SYNDROME_WR_FLUSH_ERR,
			SHCA_ROCE_COUNT_RESP_CQE_FLUSH_ERROR },
		{ MLX5_CQE_RESP_ERR, MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR,
			SHCA_ROCE_COUNT_RESP_LOCAL_LENGTH_ERROR },
		{ MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_WR_FLUSH_ERR,
			SHCA_ROCE_COUNT_REQ_CQE_FLUSH_ERROR },
		{ MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR,
			SHCA_ROCE_COUNT_REQ_REMOTE_INVALID_REQUEST },
		{ MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR,
			SHCA_ROCE_COUNT_REQ_REMOTE_ACCESS_ERRORS },
	};

	shca_roce_count(qp,
		cqe_opcode == MLX5_CQE_REQ_ERR ? SHCA_ROCE_COUNT_REQ_CQE_ERROR
					       : SHCA_ROCE_COUNT_RESP_CQE_ERROR);
	for (size_t i = 0; i < sizeof(count_rows) / sizeof(count_rows[0]); i++)
		if (count_rows[i].cqe_opcode == cqe_opcode && count_rows[i].syndrome == syndrome)
			shca_roce_count(qp, count_rows[i].which);
}

static void
push_fault(struct shca_roce_qp *qp, struct shca_cq *cq, const struct shca_cqe_fault *fault)
{
	struct shca_cqe cqe;

	count_fault(qp, fault->cqe_opcode, fault->syndrome);
	shca_cqe_set_fault(&cqe, fault);
	push(qp, cq, &cqe, true);
}

void
shca_roce_fail_rq(struct shca_roce_qp *qp, uint8_t syndrome)
{
	const struct shca_cqe_fault fault = {
		.cqe_opcode = MLX5_CQE_RESP_ERR,
		.syndrome = syndrome,
		.number = qp->number,
		.user_index = qp->rx_wqe.user_index,
		.wqe_counter = qp->rx_wqe.index,
	};

	qp->rx_wqe.is_taken = false;
	push_fault(qp, qp->rx_wqe.cq, &fault);
}

void
shca_roce_complete_sq(struct shca_roce_qp *qp, const struct shca_wr *wr)
{
	struct shca_cqe cqe;

	qp->sq_ci = (uint16_t)(wr->index + wr->nb_wqebbs);
	if (!wr->is_signaled && !qp->attr.signal_all)
		return;
	shca_cqe_set_tx(
		&cqe, wr->opcode, qp->number, qp->attr.user_index, wr->index, qp->dev->ticks);
	cqe.byte_count = htobe32(wr->length);
	push(qp, qp->attr.send_cq, &cqe, false);
}

void
shca_roce_qp_fault(struct shca_roce_qp *qp)
{
	shca_roce_break(qp);
	qp->is_dead = true;
	shca_notify(qp->attr.event, qp->attr.owner, SHCA_EVENT_QP_FATAL);
}

void
shca_roce_fail_sq(struct shca_roce_qp *qp, const struct shca_wr *wr, uint8_t syndrome)
{
	SHCA_WARN("QP 0x%x: send WQE %u (opcode 0x%02x) fails with syndrome 0x%02x", qp->number,
		wr->index, wr->opcode, syndrome);
	if (qp->attr.type == SHCA_ROCE_UC || qp->attr.type == SHCA_ROCE_UD) {
		qp->state = SHCA_ROCE_SQE;
		qp->requester.has_failed = true;
		qp->has_wqe = false;
	} else {
		shca_roce_break(qp);
	}
	qp->sq_ci = wr->index;
	qp->first_syndrome = syndrome;
}

/**
 * The vendor's syndrome of a send WQE, as ConnectX-5 and -6 cards have it: of one that was under
 * way when the program chose ERROR, of others that are flushed, and of those that the other side or
 * the lack of one ends. No source tells more of them.
 */
static uint8_t
vendor_syndrome(uint8_t syndrome, bool is_halted)
{
	static const uint8_t vendors[] = {
		[MLX5_CQE_SYNDROME_WR_FLUSH_ERR] = 0xf9,
		[MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR] = 0x8a,
		[MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR] = 0x88,
		[MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR] = 0x81,
		[MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR] = 0x87,
	};

	if (syndrome == MLX5_CQE_SYNDROME_WR_FLUSH_ERR && is_halted)
		return 0xf5;
	return syndrome < sizeof(vendors) ? vendors[syndrome] : 0;
}

/** End the send WQE at sq_ci, of those up to @p pi. */
static void
flush_sq(struct shca_roce_qp *qp, uint16_t pi)
{
	struct shca_cqe_fault fault = {
		.cqe_opcode = MLX5_CQE_REQ_ERR,
		.syndrome = qp->first_syndrome,
		.number = qp->number,
		.user_index = qp->attr.user_index,
		.wqe_counter = qp->sq_ci,
	};
	const uint16_t nb_left = (uint16_t)(pi - qp->sq_ci);
	struct shca_wqe wqe;

	shca_wqe_decode_ctrl(qp->attr.sq_ring +
			(size_t)(qp->sq_ci & (qp->attr.nb_wqebbs - 1)) * SHCA_WQEBB_BYTES,
		&wqe);
	fault.wqe_opcode = wqe.opcode;
	if (fault.syndrome == 0)
		fault.syndrome = MLX5_CQE_SYNDROME_WR_FLUSH_ERR;
	fault.vendor = vendor_syndrome(fault.syndrome, qp->is_halted);
	qp->first_syndrome = 0;
	qp->is_halted = false;
	qp->sq_ci += wqe.nb_wqebbs < nb_left ? wqe.nb_wqebbs : nb_left;
	push_fault(qp, qp->attr.send_cq, &fault);
}

/** End the receive WQE that is taken, and as many as the own ring has; those of a shared one are
 * others'. The owner learns that no more of those end here (IBTA 11.6.3.1, last WQE reached). */
static unsigned int
flush_rq(struct shca_roce_qp *qp)
{
	const bool shares = qp->attr.srq != NULL || qp->attr.type == SHCA_ROCE_XRC_TGT;
	unsigned int nb = 0;

	while (qp->rx_wqe.is_taken ||
		(!shares && nb <= qp->attr.nb_wqes && shca_roce_take_rq(qp))) {
		shca_roce_fail_rq(qp, MLX5_CQE_SYNDROME_WR_FLUSH_ERR);
		nb++;
	}
	if (shares && !qp->is_last_told) {
		qp->is_last_told = true;
		shca_notify(qp->attr.event, qp->attr.owner, SHCA_EVENT_QP_LAST_WQE_REACHED);
	}
	return nb;
}

unsigned int
shca_roce_flush(struct shca_roce_qp *qp)
{
	unsigned int nb = 0;
	uint16_t pi;

	if (qp->is_dead)
		return 0;
	shca_touch(qp->dev, SHCA_TOUCH_ROCE, qp);
	/* What is posted meanwhile is the next round's: a program may post as fast. */
	pi = (uint16_t)(qp->sq_ci + shca_roce_nb_posted(qp, qp->sq_ci));
	for (; pi != qp->sq_ci; nb++) {
		flush_sq(qp, pi);
		shca_touch(qp->dev, SHCA_TOUCH_ROCE, qp);
	}
	return qp->state == SHCA_ROCE_SQE ? nb : nb + flush_rq(qp);
}

uint8_t
shca_roce_syndrome(enum shca_outcome outcome)
{
	static const uint8_t syndromes[SHCA_NB_OUTCOMES] = {
		[SHCA_OUTCOME_LOCAL_LENGTH] = MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR,
		[SHCA_OUTCOME_LOCAL_QP_OPERATION] = MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR,
		[SHCA_OUTCOME_LOCAL_PROTECTION] = MLX5_CQE_SYNDROME_LOCAL_PROT_ERR,
		[SHCA_OUTCOME_BAD_RESPONSE] = MLX5_CQE_SYNDROME_BAD_RESP_ERR,
		[SHCA_OUTCOME_LOCAL_ACCESS] = MLX5_CQE_SYNDROME_LOCAL_ACCESS_ERR,
		[SHCA_OUTCOME_REMOTE_INVALID_REQUEST] = MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR,
		[SHCA_OUTCOME_REMOTE_ACCESS] = MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR,
		[SHCA_OUTCOME_REMOTE_OPERATION] = MLX5_CQE_SYNDROME_REMOTE_OP_ERR,
		[SHCA_OUTCOME_RETRIES_EXCEEDED] = MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR,
		[SHCA_OUTCOME_RNR_RETRIES_EXCEEDED] = MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR,
		[SHCA_OUTCOME_WINDOW_BIND] = MLX5_CQE_SYNDROME_MW_BIND_ERR,
	};

	return syndromes[outcome];
}
