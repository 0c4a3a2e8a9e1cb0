/* SPDX-License-Identifier: BSD-3-Clause */
/* The sending side of a connected queue pair. */
#include "transport/engine/requester.h"

#include <assert.h>
#include <string.h>

#include "transport/engine/rnr.h"

/** Packets without an answer, at most: what two queues of a wire hold. After a timeout one, and
 * with each answer twice as many (roce_slow_restart of mlx5's counters): where a thousand queue
 * pairs wait for a slow cable, repeating everything would make it slower. */
#define WINDOW 128
/** An answer is asked for at the end of a message, every so many packets, and where the window
 * ends: nothing leaves behind it without one. */
#define ACK_EVERY    32
#define RNR_FOR_EVER 7
/** In a round the caller sends, and then looks at what has come. Of both sides in one thread: the
 * other one takes the packet in this round, answers in the next, and the third look finds it. */
#define LEAST_LOOKS 3

void
shca_requester_init(struct shca_requester *requester, const struct shca_requester_conf *conf)
{
	*requester = (struct shca_requester){
		.conf = *conf,
		.una = conf->psn,
		.next = conf->psn,
		.sent_end = conf->psn,
		.end = conf->psn,
		.retries_left = conf->retries,
		.window = WINDOW,
		.rnr_retries_left = conf->rnr_retries,
		.timer_ns = SHCA_NEVER,
	};
}

static struct shca_wr *
wr_at(struct shca_requester *requester, uint32_t position)
{
	return &requester->wr[position % SHCA_REQUESTER_WRS];
}

/** @return whether a WR is answered by more than an acknowledgement. */
static bool
has_response(const struct shca_wr *wr)
{
	return wr->kind == SHCA_WR_READ || wr->kind == SHCA_WR_CMP_SWAP ||
		wr->kind == SHCA_WR_FETCH_ADD;
}

/** IBTA table 38: reads, atomics and invalidations are of reliable services. */
bool
shca_requester_may_be_asked(const struct shca_requester_conf *conf, const struct shca_wr *wr)
{
	if (!conf->is_reliable)
		return !has_response(wr) && !wr->has_inval;
	return !has_response(wr) || conf->max_rd_atomic != 0;
}

/** One that was never started has neither an MTU to divide by nor a host to ask. */
static bool
can_run(const struct shca_requester *requester)
{
	return requester->conf.mtu != 0 && !requester->has_failed;
}

bool
shca_requester_has_room(const struct shca_requester *requester)
{
	return can_run(requester) && requester->tail - requester->head < SHCA_REQUESTER_WRS;
}

bool
shca_requester_is_idle(const struct shca_requester *requester)
{
	return requester->head == requester->tail;
}

void
shca_requester_post(struct shca_requester *requester, const struct shca_wr *wr)
{
	struct shca_wr *mine = wr_at(requester, requester->tail++);

	assert(requester->tail - requester->head <= SHCA_REQUESTER_WRS);
	*mine = *wr;
	mine->psn = requester->end;
	mine->nb_psns = 1;
	if (wr->kind == SHCA_WR_LOCAL)
		mine->nb_psns = 0;
	else if (wr->kind <= SHCA_WR_READ)
		mine->nb_psns = shca_nb_packets(wr->length, requester->conf.mtu);
	if (!shca_requester_may_be_asked(&requester->conf, wr))
		mine->outcome = SHCA_OUTCOME_LOCAL_QP_OPERATION;
	/* Its responses would be as far ahead as behind (IBTA 9.7.1). */
	else if (wr->kind == SHCA_WR_READ && mine->nb_psns > SHCA_PSN_MASK / 2)
		mine->outcome = SHCA_OUTCOME_LOCAL_LENGTH;
	requester->end = (requester->end + mine->nb_psns) & SHCA_PSN_MASK;
}

/** The oldest WR ends the queue pair. */
static void
fail(struct shca_requester *requester, enum shca_outcome outcome)
{
	const struct shca_wr *wr = wr_at(requester, requester->head);

	requester->has_failed = true;
	requester->timer_ns = SHCA_NEVER;
	requester->wait_ns = 0;
	requester->conf.host->complete(requester->conf.arg, wr, outcome);
}

/** All before @p una has been answered, and is not sent again. */
static void
move_una(struct shca_requester *requester, uint32_t una)
{
	requester->una = una & SHCA_PSN_MASK;
	if (shca_psn_diff(requester->una, requester->next) > 0)
		requester->next = requester->una;
}

static void
complete_head(struct shca_requester *requester)
{
	const struct shca_wr wr = *wr_at(requester, requester->head);

	requester->head++;
	if ((int32_t)(requester->send - requester->head) < 0)
		requester->send = requester->head;
	move_una(requester, wr.psn + wr.nb_psns);
	requester->conf.host->complete(requester->conf.arg, &wr, SHCA_OUTCOME_SUCCESS);
}

/** The oldest WR may be one that cannot succeed. */
static void
settle(struct shca_requester *requester)
{
	const struct shca_wr *wr = wr_at(requester, requester->head);

	if (!requester->has_failed && requester->head != requester->tail &&
		wr->outcome != SHCA_OUTCOME_SUCCESS)
		fail(requester, wr->outcome);
}

/** Send again from the oldest PSN without an answer on. */
static void
go_back(struct shca_requester *requester)
{
	requester->next = requester->una;
	requester->send = requester->head;
	requester->nb_repeats++;
}

/** From now on the oldest packet is due. */
static void
set_timer(struct shca_requester *requester, uint64_t now_ns)
{
	requester->timer_ns =
		requester->conf.timeout_ns != 0 ? now_ns + requester->conf.timeout_ns : SHCA_NEVER;
	requester->nb_looks = 0;
}

/** Repeat, if the attributes of the queue pair allow one more (IBTA 9.9.2.1.1). */
static void
retry(struct shca_requester *requester, uint64_t now_ns)
{
	if (requester->retries_left == 0) {
		fail(requester, SHCA_OUTCOME_RETRIES_EXCEEDED);
		return;
	}
	requester->retries_left--;
	go_back(requester);
	set_timer(requester, now_ns);
}

/** Something was answered: all retries are there again (IBTA 9.7.6.1). */
static void
progress(struct shca_requester *requester, uint64_t now_ns)
{
	requester->retries_left = requester->conf.retries;
	requester->rnr_retries_left = requester->conf.rnr_retries;
	requester->is_repeating = false;
	requester->window = requester->window < WINDOW ? 2 * requester->window : WINDOW;
	requester->timer_ns = SHCA_NEVER;
	if (requester->una != requester->sent_end)
		set_timer(requester, now_ns);
}

/** @return reads and atomics that have been sent and not answered. */
static uint32_t
nb_responses_due(struct shca_requester *requester)
{
	uint32_t nb = 0;

	for (uint32_t i = requester->head; i != requester->send; i++)
		nb += has_response(wr_at(requester, i));
	return nb;
}

/** @return whether the WR's next packet may leave now. What is local waits for all before it, so
 * that what follows finds it done. */
static bool
may_send(struct shca_requester *requester, const struct shca_wr *wr)
{
	if (wr->kind == SHCA_WR_LOCAL)
		return requester->head == requester->send;
	if (!requester->conf.is_reliable)
		return true;
	if (shca_psn_diff(requester->next, requester->una) >= (int32_t)requester->window)
		return false;
	if (requester->next != wr->psn)
		return true;
	if (wr->fence && nb_responses_due(requester) != 0)
		return false;
	return !has_response(wr) || nb_responses_due(requester) < requester->conf.max_rd_atomic;
}

/** @return the opcode of a send's or write's packet (IBTA 9.4.1, 9.4.3). */
static uint8_t
opcode_of(const struct shca_wr *wr, bool is_first, bool is_last)
{
	/* First, middle, last, only: without more, with immediate, with invalidate. */
	static const uint8_t sends[2][2][3] = {
		{ { SHCA_BTH_SEND_MIDDLE, SHCA_BTH_SEND_MIDDLE, SHCA_BTH_SEND_MIDDLE },
			{ SHCA_BTH_SEND_LAST, SHCA_BTH_SEND_LAST_IMM, SHCA_BTH_SEND_LAST_INV } },
		{ { SHCA_BTH_SEND_FIRST, SHCA_BTH_SEND_FIRST, SHCA_BTH_SEND_FIRST },
			{ SHCA_BTH_SEND_ONLY, SHCA_BTH_SEND_ONLY_IMM, SHCA_BTH_SEND_ONLY_INV } },
	};
	static const uint8_t writes[2][2][2] = {
		{ { SHCA_BTH_WRITE_MIDDLE, SHCA_BTH_WRITE_MIDDLE },
			{ SHCA_BTH_WRITE_LAST, SHCA_BTH_WRITE_LAST_IMM } },
		{ { SHCA_BTH_WRITE_FIRST, SHCA_BTH_WRITE_FIRST },
			{ SHCA_BTH_WRITE_ONLY, SHCA_BTH_WRITE_ONLY_IMM } },
	};

	if (wr->kind == SHCA_WR_WRITE)
		return writes[is_first][is_last][wr->has_imm];
	return sends[is_first][is_last][wr->has_inval ? 2 : wr->has_imm];
}

/** @return whether a packet is the last that may leave before an answer comes. */
static bool
fills_window(const struct shca_requester *requester, uint32_t psn)
{
	return requester->conf.is_reliable &&
		shca_psn_diff(psn + 1, requester->una) >= (int32_t)requester->window;
}

/** Make a packet of a send or a write. @return what the host says of its bytes. */
static enum shca_outcome
make_message(struct shca_requester *requester, const struct shca_wr *wr, uint32_t number,
	struct shca_bth *bth, uint8_t *payload)
{
	const uint32_t offset = number * requester->conf.mtu;
	const bool is_last = number + 1 == wr->nb_psns;

	bth->opcode = opcode_of(wr, number == 0, is_last);
	bth->solicited = wr->solicited && is_last;
	bth->ack_req =
		is_last || (bth->psn + 1) % ACK_EVERY == 0 || fills_window(requester, bth->psn);
	bth->payload_bytes = is_last ? wr->length - offset : requester->conf.mtu;
	bth->imm = wr->imm;
	bth->va = wr->va;
	bth->rkey = wr->kind == SHCA_WR_WRITE ? wr->rkey : wr->imm;
	bth->dma_length = wr->length;
	bth->xrc_srqn = wr->xrc_srqn;
	bth->payload = payload;
	if (bth->payload_bytes == 0)
		return SHCA_OUTCOME_SUCCESS;
	return requester->conf.host->gather(
		requester->conf.arg, wr, offset, bth->payload_bytes, payload);
}

/** Make the request of a read, or of what a read lacks, or of an atomic (IBTA 9.4.4, 9.4.5). */
static void
make_request(const struct shca_requester *requester, const struct shca_wr *wr, uint32_t number,
	struct shca_bth *bth)
{
	const uint32_t offset = number * requester->conf.mtu;

	bth->opcode = wr->kind == SHCA_WR_READ ? SHCA_BTH_READ_REQUEST
		: wr->kind == SHCA_WR_CMP_SWAP ? SHCA_BTH_CMP_SWAP
					       : SHCA_BTH_FETCH_ADD;
	bth->va = wr->va + offset;
	bth->rkey = wr->rkey;
	bth->dma_length = wr->length - offset;
	bth->xrc_srqn = wr->xrc_srqn;
	bth->swap_add = wr->swap_add;
	bth->compare = wr->compare;
}

/** The packet leaves: what is next, and when it counts as lost. */
static void
advance(struct shca_requester *requester, const struct shca_wr *wr, uint64_t now_ns)
{
	const uint32_t end = (wr->psn + wr->nb_psns) & SHCA_PSN_MASK;

	requester->next = has_response(wr) ? end : (requester->next + 1) & SHCA_PSN_MASK;
	if (shca_psn_diff(requester->next, requester->sent_end) > 0)
		requester->sent_end = requester->next;
	if (requester->next == end)
		requester->send++;
	if (!requester->conf.is_reliable) {
		if (requester->next == end)
			complete_head(requester);
	} else if (requester->timer_ns == SHCA_NEVER) {
		set_timer(requester, now_ns);
	}
}

bool
shca_requester_next(
	struct shca_requester *requester, uint64_t now_ns, struct shca_bth *bth, uint8_t *payload)
{
	if (!can_run(requester) || now_ns < requester->wait_ns)
		return false;
	requester->wait_ns = 0;
	if (now_ns >= requester->timer_ns && requester->nb_looks >= LEAST_LOOKS) {
		requester->nb_timeouts += requester->retries_left != 0;
		requester->window = 1;
		requester->is_repeating = false;
		retry(requester, now_ns);
	}
	settle(requester);
	while (!requester->has_failed && requester->send != requester->tail) {
		struct shca_wr *wr = wr_at(requester, requester->send);
		const uint32_t number = (requester->next - wr->psn) & SHCA_PSN_MASK;

		if (wr->outcome != SHCA_OUTCOME_SUCCESS || !may_send(requester, wr))
			return false;
		if (wr->kind == SHCA_WR_LOCAL) {
			wr->outcome = requester->conf.host->execute(requester->conf.arg, wr);
			if (wr->outcome == SHCA_OUTCOME_SUCCESS) {
				requester->send++;
				complete_head(requester);
				continue;
			}
			settle(requester);
			return false;
		}
		*bth = (struct shca_bth){ .psn = requester->next };
		if (has_response(wr))
			make_request(requester, wr, number, bth);
		else
			wr->outcome = make_message(requester, wr, number, bth, payload);
		if (wr->outcome != SHCA_OUTCOME_SUCCESS) {
			settle(requester);
			return false;
		}
		if (!requester->conf.is_reliable)
			bth->opcode |= SHCA_BTH_UC;
		advance(requester, wr, now_ns);
		return true;
	}
	return false;
}

/**
 * All before @p end has been answered, except by responses.
 * @return false: a response is missing
 */
static bool
acknowledge(struct shca_requester *requester, uint32_t end, uint64_t now_ns)
{
	const uint32_t una = requester->una;
	bool is_whole = true;

	while (requester->head != requester->tail && shca_psn_diff(end, requester->una) > 0) {
		const struct shca_wr *wr = wr_at(requester, requester->head);

		if (has_response(wr)) {
			is_whole = false;
			break;
		}
		if (shca_psn_diff(end, wr->psn + wr->nb_psns) < 0) {
			move_una(requester, end);
			break;
		}
		complete_head(requester);
	}
	if (requester->una != una)
		progress(requester, now_ns);
	return is_whole;
}

static void
take_nak(struct shca_requester *requester, uint64_t now_ns, uint8_t code)
{
	static const enum shca_outcome outcomes[] = {
		[SHCA_NAK_INVALID_REQUEST] = SHCA_OUTCOME_REMOTE_INVALID_REQUEST,
		[SHCA_NAK_REMOTE_ACCESS] = SHCA_OUTCOME_REMOTE_ACCESS,
		[SHCA_NAK_REMOTE_OPERATION] = SHCA_OUTCOME_REMOTE_OPERATION,
	};

	if (code == SHCA_NAK_SEQUENCE) {
		requester->nb_sequence_naks += requester->retries_left != 0;
		retry(requester, now_ns);
	} else if (code <= SHCA_NAK_REMOTE_OPERATION)
		fail(requester, outcomes[code]);
}

/** The other side has no receive WQE: wait as long as it says (IBTA 9.7.5.2.8). Nothing is sent
 * meanwhile, so that another one is the same again. */
static void
take_rnr(struct shca_requester *requester, uint64_t now_ns, uint8_t timer)
{
	if (now_ns < requester->wait_ns)
		return;
	if (requester->rnr_retries_left == 0) {
		fail(requester, SHCA_OUTCOME_RNR_RETRIES_EXCEEDED);
		return;
	}
	requester->nb_rnr++;
	if (requester->rnr_retries_left != RNR_FOR_EVER)
		requester->rnr_retries_left--;
	go_back(requester);
	requester->timer_ns = SHCA_NEVER;
	requester->wait_ns = now_ns + shca_rnr_ns(timer);
}

static void
take_ack(struct shca_requester *requester, uint64_t now_ns, const struct shca_bth *bth)
{
	const uint8_t value = bth->syndrome & SHCA_AETH_VALUE_MASK;
	const uint8_t kind = bth->syndrome & SHCA_AETH_KIND_MASK;
	const uint32_t end = kind == SHCA_AETH_ACK ? bth->psn + 1 : bth->psn;

	if (!acknowledge(requester, end & SHCA_PSN_MASK, now_ns)) {
		/* An answer behind a response says that this was lost (IBTA 9.7.5.1.1). */
		if (!requester->is_repeating) {
			requester->nb_implied_naks++;
			retry(requester, now_ns);
			requester->is_repeating = true;
		}
		return;
	}
	settle(requester);
	if (requester->has_failed || requester->head == requester->tail)
		return;
	if (kind == SHCA_AETH_NAK)
		take_nak(requester, now_ns, value);
	else if (kind == SHCA_AETH_RNR)
		take_rnr(requester, now_ns, value);
}

/** @return whether the oldest WR waits for a response of this kind. */
static bool
is_expected(const struct shca_wr *wr, uint8_t opcode)
{
	if (opcode == SHCA_BTH_ATOMIC_ACK)
		return wr->kind == SHCA_WR_CMP_SWAP || wr->kind == SHCA_WR_FETCH_ADD;
	return wr->kind == SHCA_WR_READ;
}

/** @return whether a part of a read's response has the bytes that belong at @p offset. */
static bool
is_long_enough(const struct shca_requester *requester, const struct shca_wr *wr,
	const struct shca_bth *bth, uint32_t offset)
{
	const uint32_t left = wr->length - offset;

	if (bth->opcode == SHCA_BTH_READ_FIRST || bth->opcode == SHCA_BTH_READ_MIDDLE)
		return bth->payload_bytes == requester->conf.mtu && left > requester->conf.mtu;
	return left <= requester->conf.mtu && bth->payload_bytes == left;
}

/** A response by another opcode is a bad one; one with too much or too little payload is a length
 * error (ConnectX PRM, sq_num_bre and sq_num_lle). */
static enum shca_outcome
check_response(const struct shca_requester *requester, const struct shca_wr *wr,
	const struct shca_bth *bth, uint32_t offset)
{
	if (!is_expected(wr, bth->opcode))
		return SHCA_OUTCOME_BAD_RESPONSE;
	return bth->opcode == SHCA_BTH_ATOMIC_ACK || is_long_enough(requester, wr, bth, offset)
		? SHCA_OUTCOME_SUCCESS
		: SHCA_OUTCOME_LOCAL_LENGTH;
}

static void
take_response(struct shca_requester *requester, uint64_t now_ns, const struct shca_bth *bth)
{
	enum shca_outcome outcome;
	const struct shca_wr *wr;
	uint32_t offset;

	acknowledge(requester, bth->psn, now_ns);
	settle(requester);
	if (requester->has_failed || requester->head == requester->tail)
		return;
	wr = wr_at(requester, requester->head);
	if (bth->psn != requester->una) {
		if (has_response(wr) && !requester->is_repeating) {
			requester->nb_implied_naks++;
			retry(requester, now_ns);
			requester->is_repeating = true;
		}
		return;
	}
	offset = ((bth->psn - wr->psn) & SHCA_PSN_MASK) * requester->conf.mtu;
	outcome = check_response(requester, wr, bth, offset);
	if (outcome != SHCA_OUTCOME_SUCCESS) {
		fail(requester, outcome);
		return;
	}
	if (bth->opcode == SHCA_BTH_ATOMIC_ACK)
		outcome = requester->conf.host->scatter(requester->conf.arg, wr, 0,
			sizeof(bth->original), (const uint8_t *)&bth->original);
	else if (bth->payload_bytes != 0)
		outcome = requester->conf.host->scatter(
			requester->conf.arg, wr, offset, bth->payload_bytes, bth->payload);
	if (outcome != SHCA_OUTCOME_SUCCESS) {
		fail(requester, outcome);
		return;
	}
	if (((bth->psn + 1 - wr->psn) & SHCA_PSN_MASK) == wr->nb_psns) {
		complete_head(requester);
	} else {
		move_una(requester, requester->una + 1);
	}
	progress(requester, now_ns);
	settle(requester);
}

void
shca_requester_receive(
	struct shca_requester *requester, uint64_t now_ns, const struct shca_bth *bth)
{
	/* An answer to what was answered, or never sent (IBTA 9.7.5.1.5: ghost acknowledge). */
	if (!requester->conf.is_reliable || requester->has_failed ||
		shca_psn_diff(bth->psn, requester->una) < 0 ||
		shca_psn_diff(bth->psn, requester->sent_end) >= 0)
		return;
	if (bth->opcode == SHCA_BTH_ACK)
		take_ack(requester, now_ns, bth);
	else
		take_response(requester, now_ns, bth);
}

void
shca_requester_look(struct shca_requester *requester, uint64_t now_ns, bool is_behind)
{
	if (now_ns < requester->timer_ns)
		return;
	if (is_behind)
		set_timer(requester, now_ns);
	else
		requester->nb_looks++;
}

uint64_t
shca_requester_due_ns(const struct shca_requester *requester)
{
	if (requester->has_failed)
		return SHCA_NEVER;
	return requester->wait_ns != 0 && requester->wait_ns < requester->timer_ns
		? requester->wait_ns
		: requester->timer_ns;
}
