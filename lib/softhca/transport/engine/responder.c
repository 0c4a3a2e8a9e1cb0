/* SPDX-License-Identifier: BSD-3-Clause */
/* The receiving side of a connected queue pair. */
#include "transport/engine/responder.h"

#include <string.h>

#define ATOMIC_BYTES 8
#define LONGEST      (1u << 31) /* message (IBTA 9.7.2) */

/** What a packet is in its message. */
struct place {
	enum shca_message message; /* none: it is in no message */
	bool is_first, is_last;
	bool has_imm, has_inval;
};

/* clang-format off */
static const struct place places[SHCA_BTH_OP_MASK + 1] = {
	[SHCA_BTH_SEND_FIRST] = { SHCA_MESSAGE_SEND, true, false, false, false },
	[SHCA_BTH_SEND_MIDDLE] = { SHCA_MESSAGE_SEND, false, false, false, false },
	[SHCA_BTH_SEND_LAST] = { SHCA_MESSAGE_SEND, false, true, false, false },
	[SHCA_BTH_SEND_LAST_IMM] = { SHCA_MESSAGE_SEND, false, true, true, false },
	[SHCA_BTH_SEND_ONLY] = { SHCA_MESSAGE_SEND, true, true, false, false },
	[SHCA_BTH_SEND_ONLY_IMM] = { SHCA_MESSAGE_SEND, true, true, true, false },
	[SHCA_BTH_SEND_LAST_INV] = { SHCA_MESSAGE_SEND, false, true, false, true },
	[SHCA_BTH_SEND_ONLY_INV] = { SHCA_MESSAGE_SEND, true, true, false, true },
	[SHCA_BTH_WRITE_FIRST] = { SHCA_MESSAGE_WRITE, true, false, false, false },
	[SHCA_BTH_WRITE_MIDDLE] = { SHCA_MESSAGE_WRITE, false, false, false, false },
	[SHCA_BTH_WRITE_LAST] = { SHCA_MESSAGE_WRITE, false, true, false, false },
	[SHCA_BTH_WRITE_LAST_IMM] = { SHCA_MESSAGE_WRITE, false, true, true, false },
	[SHCA_BTH_WRITE_ONLY] = { SHCA_MESSAGE_WRITE, true, true, false, false },
	[SHCA_BTH_WRITE_ONLY_IMM] = { SHCA_MESSAGE_WRITE, true, true, true, false },
};
/* clang-format on */

void
shca_responder_init(struct shca_responder *responder, const struct shca_responder_conf *conf)
{
	*responder = (struct shca_responder){
		.conf = *conf,
		.psn = conf->psn,
	};
}

static struct shca_answer *
answer_at(struct shca_responder *responder, uint32_t position)
{
	return &responder->answer[position % SHCA_RESPONDER_ANSWERS];
}

static bool
has_room(const struct shca_responder *responder)
{
	return responder->tail - responder->head < SHCA_RESPONDER_ANSWERS;
}

/** Answer in turn. An acknowledgement replaces one that waits at the end: it says more. */
static void
answer(struct shca_responder *responder, const struct shca_answer *new)
{
	if (!responder->conf.is_reliable)
		return;
	if (responder->head != responder->tail && new->opcode == SHCA_BTH_ACK) {
		struct shca_answer *last = answer_at(responder, responder->tail - 1);

		if (last->opcode == SHCA_BTH_ACK &&
			(last->syndrome & SHCA_AETH_KIND_MASK) == SHCA_AETH_ACK) {
			*last = *new;
			return;
		}
	}
	if (has_room(responder))
		*answer_at(responder, responder->tail++) = *new;
}

static void
acknowledge(struct shca_responder *responder, uint32_t psn, uint8_t syndrome)
{
	answer(responder,
		&(struct shca_answer){
			.opcode = SHCA_BTH_ACK,
			.syndrome = syndrome,
			.psn = psn & SHCA_PSN_MASK,
			.msn = responder->msn,
		});
}

/** The request breaks the queue pair (IBTA 9.9.3, class C). */
static void
refuse(struct shca_responder *responder, enum shca_nak nak, enum shca_outcome outcome)
{
	acknowledge(responder, responder->psn, SHCA_AETH_NAK | (uint8_t)nak);
	responder->has_failed = true;
	responder->conf.host->failed(responder->conf.arg, outcome);
}

/** An unreliable message that cannot be taken is dropped (IBTA 9.8.2.2); a reliable one breaks the
 * queue pair. */
static void
refuse_request(struct shca_responder *responder, enum shca_nak nak)
{
	static const enum shca_outcome outcomes[] = {
		[SHCA_NAK_INVALID_REQUEST] = SHCA_OUTCOME_REMOTE_INVALID_REQUEST,
		[SHCA_NAK_REMOTE_ACCESS] = SHCA_OUTCOME_LOCAL_ACCESS,
		[SHCA_NAK_REMOTE_OPERATION] = SHCA_OUTCOME_LOCAL_QP_OPERATION,
	};

	responder->message = SHCA_MESSAGE_NONE;
	if (responder->conf.is_reliable)
		refuse(responder, nak, outcomes[nak]);
}

/** No receive WQE: say so, and forget the packet. */
static void
not_ready(struct shca_responder *responder)
{
	if (!responder->conf.is_reliable) {
		responder->message = SHCA_MESSAGE_NONE;
		return;
	}
	acknowledge(responder, responder->psn,
		SHCA_AETH_RNR | (responder->conf.min_rnr_timer & SHCA_AETH_VALUE_MASK));
	responder->is_silent = true;
}

/** @return whether lengths and order of the packet are right (IBTA 9.7.4.1.2, 9.7.4.1.7). */
static bool
is_in_order(const struct shca_responder *responder, const struct place *place,
	const struct shca_bth *bth)
{
	const uint32_t mtu = responder->conf.mtu;

	if (place->message == SHCA_MESSAGE_NONE ||
		place->is_first != (responder->message == SHCA_MESSAGE_NONE) ||
		(!place->is_first && place->message != responder->message))
		return false;
	if (!place->is_last)
		return bth->payload_bytes == mtu;
	return bth->payload_bytes <= mtu && (place->is_first || bth->payload_bytes != 0);
}

/** Take a receive WQE unless the message has one; else answer. @return whether it has one. */
static bool
take_wqe(struct shca_responder *responder)
{
	enum shca_take took = SHCA_TAKE_DONE;

	if (!responder->has_wqe)
		took = responder->conf.host->take(responder->conf.arg);
	responder->has_wqe = took == SHCA_TAKE_DONE;
	if (took == SHCA_TAKE_NONE)
		not_ready(responder);
	else if (took == SHCA_TAKE_REFUSED)
		refuse_request(responder, SHCA_NAK_INVALID_REQUEST);
	return responder->has_wqe;
}

/** @return whether the packet's bytes are in the receive WQE's buffers. */
static bool
take_send(struct shca_responder *responder, const struct place *place, const struct shca_bth *bth)
{
	enum shca_outcome outcome = SHCA_OUTCOME_SUCCESS;

	if (place->is_first)
		responder->offset = 0;
	if (bth->payload_bytes != 0)
		outcome = responder->conf.host->scatter(
			responder->conf.arg, responder->offset, bth->payload_bytes, bth->payload);
	if (outcome == SHCA_OUTCOME_SUCCESS)
		return true;
	refuse(responder,
		outcome == SHCA_OUTCOME_LOCAL_LENGTH ? SHCA_NAK_INVALID_REQUEST
						     : SHCA_NAK_REMOTE_OPERATION,
		outcome);
	return false;
}

/** @return whether the packet's bytes are where its sender wants them. */
static bool
take_write(struct shca_responder *responder, const struct place *place, const struct shca_bth *bth)
{
	uint8_t *to = NULL;

	if (place->is_first) {
		responder->offset = 0;
		responder->va = bth->va;
		responder->rkey = bth->rkey;
		responder->length = bth->dma_length;
	}
	if (responder->length > LONGEST ||
		bth->payload_bytes > responder->length - responder->offset ||
		(place->is_last && bth->payload_bytes != responder->length - responder->offset)) {
		refuse_request(responder, SHCA_NAK_INVALID_REQUEST);
		return false;
	}
	/* A write of nothing names no memory (IBTA 9.7.4.1.3). */
	if (responder->length == 0)
		return true;
	if (responder->offset == 0)
		to = responder->conf.host->remote(responder->conf.arg, SHCA_REMOTE_WRITE,
			responder->rkey, responder->va, responder->length);
	else
		to = responder->conf.host->remote(responder->conf.arg, SHCA_REMOTE_WRITE,
			responder->rkey, responder->va + responder->offset, bth->payload_bytes);
	if (to == NULL) {
		refuse_request(responder, SHCA_NAK_REMOTE_ACCESS);
		return false;
	}
	memcpy(to, bth->payload, bth->payload_bytes);
	return true;
}

/** The packet is taken: count it, and end the message with its last one. */
static void
finish_packet(
	struct shca_responder *responder, const struct place *place, const struct shca_bth *bth)
{
	const bool is_write = place->message == SHCA_MESSAGE_WRITE;

	responder->message = place->is_last ? SHCA_MESSAGE_NONE : place->message;
	responder->offset += bth->payload_bytes;
	responder->psn = (bth->psn + 1) & SHCA_PSN_MASK;
	responder->nb_writes += is_write && place->is_last;
	if (place->is_last)
		responder->msn = (responder->msn + 1) & SHCA_PSN_MASK;
	/* A WQE may still wait for the end of an unreliable send that has lost it. */
	if (place->is_last && responder->has_wqe && (!is_write || place->has_imm)) {
		responder->has_wqe = false;
		responder->conf.host->received(responder->conf.arg,
			&(struct shca_received){
				.is_write = is_write,
				.has_imm = place->has_imm,
				.has_inval = place->has_inval,
				.solicited = bth->solicited,
				.imm = place->has_inval ? bth->rkey : bth->imm,
				.length = responder->offset,
			});
	}
	if (bth->ack_req)
		acknowledge(responder, bth->psn, SHCA_AETH_ACK | SHCA_AETH_NO_CREDITS);
}

/** A right that the queue pair lacks makes the request one that it does not support (Linux
 * rxe_resp.c check_op_valid(), hfi1 rc.c; "not set up for this": the ConnectX PRM's rq_num_rire).
 */
static bool
allows(const struct shca_responder *responder, enum shca_remote what)
{
	return responder->conf.host->allows(responder->conf.arg, what);
}

static void
take_message(
	struct shca_responder *responder, const struct place *place, const struct shca_bth *bth)
{
	const bool is_send = place->message == SHCA_MESSAGE_SEND;

	if (!is_in_order(responder, place, bth) ||
		(!is_send && place->is_first && !allows(responder, SHCA_REMOTE_WRITE))) {
		refuse_request(responder, SHCA_NAK_INVALID_REQUEST);
		return;
	}
	if ((is_send || place->has_imm) && !take_wqe(responder))
		return;
	if (is_send ? !take_send(responder, place, bth) : !take_write(responder, place, bth))
		return;
	if (place->has_inval && !responder->conf.host->invalidate(responder->conf.arg, bth->rkey)) {
		refuse_request(responder, SHCA_NAK_REMOTE_ACCESS);
		return;
	}
	finish_packet(responder, place, bth);
}

/** @return responses of reads that wait. One that is asked for again takes no resource: its sender
 * may have got the first response meanwhile. */
static uint32_t
nb_reads(struct shca_responder *responder)
{
	uint32_t nb = 0;

	for (uint32_t i = responder->head; i != responder->tail; i++)
		nb += answer_at(responder, i)->opcode == SHCA_BTH_READ_REQUEST &&
			!answer_at(responder, i)->is_repeated;
	return nb;
}

static bool
may_read(struct shca_responder *responder, const struct shca_bth *bth)
{
	return bth->dma_length == 0 ||
		responder->conf.host->remote(responder->conf.arg, SHCA_REMOTE_READ, bth->rkey,
			bth->va, bth->dma_length) != NULL;
}

static void
answer_read(struct shca_responder *responder, const struct shca_bth *bth, bool is_repeated)
{
	answer(responder,
		&(struct shca_answer){
			.opcode = SHCA_BTH_READ_REQUEST,
			.psn = bth->psn,
			.msn = responder->msn,
			.va = bth->va,
			.rkey = bth->rkey,
			.length = bth->dma_length,
			.is_repeated = is_repeated,
			.xrc_srqn = bth->xrc_srqn,
		});
}

static void
take_read(struct shca_responder *responder, const struct shca_bth *bth)
{
	if (responder->message != SHCA_MESSAGE_NONE || bth->dma_length > LONGEST ||
		nb_reads(responder) >= responder->conf.max_dest_rd_atomic ||
		!allows(responder, SHCA_REMOTE_READ)) {
		refuse_request(responder, SHCA_NAK_INVALID_REQUEST);
		return;
	}
	if (!may_read(responder, bth)) {
		refuse_request(responder, SHCA_NAK_REMOTE_ACCESS);
		return;
	}
	responder->nb_reads++;
	responder->msn = (responder->msn + 1) & SHCA_PSN_MASK;
	responder->psn =
		(bth->psn + shca_nb_packets(bth->dma_length, responder->conf.mtu)) & SHCA_PSN_MASK;
	answer_read(responder, bth, false);
}

static void
answer_atomic(struct shca_responder *responder, uint32_t psn, uint64_t original)
{
	answer(responder,
		&(struct shca_answer){
			.opcode = SHCA_BTH_ATOMIC_ACK,
			.psn = psn,
			.msn = responder->msn,
			.original = original,
		});
}

/** The program's threads see it as one access (IBTA 10.7.2.3: atomic with the device's others). */
static uint64_t
execute(const struct shca_bth *bth, uint64_t *to)
{
	uint64_t expected = bth->compare;

	if ((bth->opcode & SHCA_BTH_OP_MASK) == SHCA_BTH_FETCH_ADD)
		return __atomic_fetch_add(to, bth->swap_add, __ATOMIC_SEQ_CST);
	__atomic_compare_exchange_n(
		to, &expected, bth->swap_add, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return expected;
}

/** Keep a result for duplicates. Since an older one of this PSN all PSNs have been used: nobody
 * asks for that again. */
static void
keep_result(struct shca_responder *responder, uint32_t psn, uint64_t original)
{
	const uint32_t slot = responder->nb_atomics++ % SHCA_RESPONDER_ATOMICS;

	for (unsigned int i = 0; i < SHCA_RESPONDER_ATOMICS; i++)
		if (responder->atomic[i].psn == psn)
			responder->atomic[i].is_there = false;
	responder->atomic[slot].is_there = true;
	responder->atomic[slot].psn = psn;
	responder->atomic[slot].original = original;
}

static void
take_atomic(struct shca_responder *responder, const struct shca_bth *bth)
{
	uint64_t original;
	uint8_t *to;

	if (responder->message != SHCA_MESSAGE_NONE || responder->conf.max_dest_rd_atomic == 0 ||
		bth->va % ATOMIC_BYTES != 0 || !allows(responder, SHCA_REMOTE_ATOMIC)) {
		refuse_request(responder, SHCA_NAK_INVALID_REQUEST);
		return;
	}
	to = responder->conf.host->remote(
		responder->conf.arg, SHCA_REMOTE_ATOMIC, bth->rkey, bth->va, ATOMIC_BYTES);
	if (to == NULL || (uintptr_t)to % ATOMIC_BYTES != 0) {
		refuse_request(responder, SHCA_NAK_REMOTE_ACCESS);
		return;
	}
	responder->nb_atomics_done++;
	original = execute(bth, (uint64_t *)(void *)to);
	keep_result(responder, bth->psn, original);
	responder->msn = (responder->msn + 1) & SHCA_PSN_MASK;
	responder->psn = (bth->psn + 1) & SHCA_PSN_MASK;
	answer_atomic(responder, bth->psn, original);
}

/** @return whether the packet's answer still waits. */
static bool
is_being_answered(struct shca_responder *responder, uint32_t psn)
{
	for (uint32_t i = responder->head; i != responder->tail; i++) {
		const struct shca_answer *waiting = answer_at(responder, i);
		const uint32_t nb = waiting->opcode == SHCA_BTH_READ_REQUEST
			? shca_nb_packets(waiting->length, responder->conf.mtu)
			: 1;
		const int32_t ahead = shca_psn_diff(psn, waiting->psn);

		if (waiting->opcode != SHCA_BTH_ACK && ahead >= 0 && ahead < (int32_t)nb &&
			ahead >= (int32_t)waiting->sent)
			return true;
	}
	return false;
}

/** Sent again: what was done is not done again, but answered (IBTA 9.7.1, 9.7.5.1.5). */
static void
take_duplicate(struct shca_responder *responder, const struct shca_bth *bth)
{
	const uint8_t op = bth->opcode & SHCA_BTH_OP_MASK;

	responder->nb_duplicates++;
	if (op == SHCA_BTH_READ_REQUEST) {
		if (!is_being_answered(responder, bth->psn) && has_room(responder) &&
			may_read(responder, bth))
			answer_read(responder, bth, true);
		return;
	}
	if (op != SHCA_BTH_CMP_SWAP && op != SHCA_BTH_FETCH_ADD) {
		acknowledge(responder, responder->psn - 1, SHCA_AETH_ACK | SHCA_AETH_NO_CREDITS);
		return;
	}
	for (unsigned int i = 0; i < SHCA_RESPONDER_ATOMICS; i++)
		if (responder->atomic[i].is_there && responder->atomic[i].psn == bth->psn &&
			!is_being_answered(responder, bth->psn))
			answer_atomic(responder, bth->psn, responder->atomic[i].original);
}

static void
take_expected(struct shca_responder *responder, const struct shca_bth *bth)
{
	const uint8_t op = bth->opcode & SHCA_BTH_OP_MASK;

	responder->is_silent = false;
	if (op == SHCA_BTH_READ_REQUEST)
		take_read(responder, bth);
	else if (op == SHCA_BTH_CMP_SWAP || op == SHCA_BTH_FETCH_ADD)
		take_atomic(responder, bth);
	else
		take_message(responder, &places[op], bth);
}

/** Lost packets take their message with them (IBTA 9.8.2.2.1): wait for another's beginning. */
static void
receive_unreliable(struct shca_responder *responder, const struct shca_bth *bth)
{
	const struct place *place = &places[bth->opcode & SHCA_BTH_OP_MASK];

	if (bth->psn != responder->psn)
		responder->nb_out_of_sequence++;
	if (bth->psn != responder->psn || place->is_first)
		responder->message = SHCA_MESSAGE_NONE;
	responder->psn = (bth->psn + 1) & SHCA_PSN_MASK;
	if (responder->message != SHCA_MESSAGE_NONE || place->is_first)
		take_expected(responder, bth);
}

void
shca_responder_receive(struct shca_responder *responder, const struct shca_bth *bth)
{
	int32_t ahead;

	/* One that was never started has neither an MTU to divide by nor a host to ask. */
	if (responder->has_failed || responder->conf.mtu == 0)
		return;
	responder->xrc_srqn = bth->xrc_srqn;
	if (!responder->conf.is_reliable) {
		receive_unreliable(responder, bth);
		return;
	}
	ahead = shca_psn_diff(bth->psn, responder->psn);
	/* The sender repeats what finds no room for an answer. */
	if (ahead == 0 && has_room(responder)) {
		take_expected(responder, bth);
	} else if (ahead < 0) {
		take_duplicate(responder, bth);
	} else if (ahead > 0 && !responder->is_silent) {
		responder->nb_out_of_sequence++;
		responder->is_silent = true;
		acknowledge(responder, responder->psn, SHCA_AETH_NAK | SHCA_NAK_SEQUENCE);
	}
}

/** Its memory has gone meanwhile, which breaks the queue pair (IBTA 9.9.3, class C). One that was
 * answered before may be asked for in vain. */
static void
refuse_rest(struct shca_responder *responder, const struct shca_answer *read, struct shca_bth *bth)
{
	bth->opcode = SHCA_BTH_ACK;
	bth->syndrome = SHCA_AETH_NAK | SHCA_NAK_REMOTE_ACCESS;
	if (read->is_repeated || responder->has_failed)
		return;
	responder->tail = responder->head + 1;
	responder->has_failed = true;
	responder->conf.host->failed(responder->conf.arg, SHCA_OUTCOME_LOCAL_ACCESS);
}

/** Make a packet of a read's response. @return whether it was the last one. */
static bool
next_of_read(struct shca_responder *responder, struct shca_answer *read, struct shca_bth *bth,
	uint8_t *payload)
{
	const uint32_t mtu = responder->conf.mtu;
	const uint32_t nb = shca_nb_packets(read->length, mtu);
	const uint32_t offset = read->sent * mtu;
	const bool is_first = read->sent == 0, is_last = read->sent + 1 == nb;
	const uint32_t part = is_last ? read->length - offset : mtu;
	const uint8_t *from = NULL;

	bth->psn = (read->psn + read->sent) & SHCA_PSN_MASK;
	responder->xrc_srqn = read->xrc_srqn;
	if (part != 0) {
		from = responder->conf.host->remote(
			responder->conf.arg, SHCA_REMOTE_READ, read->rkey, read->va + offset, part);
		if (from == NULL) {
			refuse_rest(responder, read, bth);
			return true;
		}
		memcpy(payload, from, part);
	}
	bth->opcode = is_last ? is_first ? SHCA_BTH_READ_ONLY : SHCA_BTH_READ_LAST
		: is_first    ? SHCA_BTH_READ_FIRST
			      : SHCA_BTH_READ_MIDDLE;
	bth->syndrome = SHCA_AETH_ACK | SHCA_AETH_NO_CREDITS;
	bth->payload = payload;
	bth->payload_bytes = part;
	read->sent++;
	return is_last;
}

bool
shca_responder_is_reading(const struct shca_responder *responder)
{
	return responder->head != responder->tail &&
		responder->answer[responder->head % SHCA_RESPONDER_ANSWERS].opcode ==
		SHCA_BTH_READ_REQUEST;
}

void
shca_responder_forget(struct shca_responder *responder)
{
	responder->head = responder->tail;
}

bool
shca_responder_next(struct shca_responder *responder, struct shca_bth *bth, uint8_t *payload)
{
	struct shca_answer *first = answer_at(responder, responder->head);

	if (responder->head == responder->tail)
		return false;
	*bth = (struct shca_bth){
		.opcode = first->opcode,
		.psn = first->psn,
		.msn = first->msn,
		.syndrome = first->syndrome,
		.original = first->original,
	};
	if (first->opcode == SHCA_BTH_ATOMIC_ACK)
		bth->syndrome = SHCA_AETH_ACK | SHCA_AETH_NO_CREDITS;
	if (first->opcode != SHCA_BTH_READ_REQUEST || next_of_read(responder, first, bth, payload))
		responder->head++;
	return true;
}
