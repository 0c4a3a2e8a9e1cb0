/* SPDX-License-Identifier: BSD-3-Clause */
/** @file What a requester does with each answer, and without one: NAK codes, RNR, timeouts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "transport/engine/requester.h"
#include "transport/engine/rnr.h"

#define MTU         256
#define PSN         0xfffffe /* wraps */
#define TIMEOUT     1000
#define RETRIES     2
#define RNR_RETRIES 3
#define NOTHING     0xffffffff

static struct rig {
	struct shca_requester requester;
	uint64_t now;
	unsigned int nb_done;
	enum shca_outcome outcome;
	struct shca_bth sent;
	uint8_t payload[MTU];
} rig;

static enum shca_outcome
gather(void *arg, const struct shca_wr *wr, uint32_t offset, uint32_t length, uint8_t *to)
{
	(void)arg;
	(void)offset;
	memset(to, wr->index, length);
	return SHCA_OUTCOME_SUCCESS;
}

static enum shca_outcome
scatter(void *arg, const struct shca_wr *wr, uint32_t offset, uint32_t length, const uint8_t *from)
{
	(void)arg;
	(void)wr;
	(void)from;
	assert_true(offset + length <= 3 * MTU);
	return SHCA_OUTCOME_SUCCESS;
}

static enum shca_outcome
execute(void *arg, const struct shca_wr *wr)
{
	(void)arg;
	(void)wr;
	return SHCA_OUTCOME_SUCCESS;
}

static void
complete(void *arg, const struct shca_wr *wr, enum shca_outcome outcome)
{
	(void)arg;
	assert_int_equal(rig.outcome, SHCA_OUTCOME_SUCCESS);
	assert_int_equal(wr->index, rig.nb_done);
	rig.outcome = outcome;
	rig.nb_done += outcome == SHCA_OUTCOME_SUCCESS;
}

static const struct shca_requester_host host = { gather, scatter, execute, complete };

static void
start(uint8_t rnr_retries)
{
	memset(&rig, 0, sizeof(rig));
	rig.now = 1;
	shca_requester_init(&rig.requester,
		&(struct shca_requester_conf){
			&host, NULL, true, MTU, PSN, 2, TIMEOUT, RETRIES, rnr_retries });
}

static void
post(enum shca_wr_kind kind, uint32_t length)
{
	shca_requester_post(&rig.requester,
		&(struct shca_wr){
			.kind = kind, .length = length, .index = (uint16_t)rig.requester.tail });
}

/** Some rounds without an answer. */
static void
look(void)
{
	for (unsigned int i = 0; i < 3; i++)
		shca_requester_look(&rig.requester, rig.now, false);
}

/** @return how far the next packet's PSN is ahead of the first one; NOTHING. */
static uint32_t
pull(void)
{
	if (!shca_requester_next(&rig.requester, rig.now, &rig.sent, rig.payload))
		return NOTHING;
	return (rig.sent.psn - PSN) & SHCA_PSN_MASK;
}

static void
answer(uint8_t opcode, uint8_t syndrome, uint32_t ahead, uint32_t length)
{
	static const uint8_t payload[MTU];
	struct shca_bth bth = {
		.opcode = opcode,
		.psn = (PSN + ahead) & SHCA_PSN_MASK,
		.syndrome = syndrome,
		.payload = payload,
		.payload_bytes = length,
	};

	shca_requester_receive(&rig.requester, rig.now, &bth);
}

static void
acknowledge(uint32_t ahead)
{
	answer(SHCA_BTH_ACK, SHCA_AETH_ACK | SHCA_AETH_NO_CREDITS, ahead, 0);
}

static void
nak(enum shca_nak code, uint32_t ahead)
{
	answer(SHCA_BTH_ACK, SHCA_AETH_NAK | (uint8_t)code, ahead, 0);
}

/** Three sends of one packet, all sent. */
static void
send_three(void)
{
	for (uint32_t i = 0; i < 3; i++)
		post(SHCA_WR_SEND, 1);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(pull(), i);
	assert_int_equal(pull(), NOTHING);
}

/** One acknowledgement stands for all before it; ones of the past and of the future for nothing
 * (IBTA 9.7.5.1.2). */
static void
acknowledgements(void **state)
{
	(void)state;
	start(RNR_RETRIES);
	send_three();
	acknowledge(3);
	acknowledge(0xffffff);
	assert_int_equal(rig.nb_done, 0);
	acknowledge(1);
	assert_int_equal(rig.nb_done, 2);
	acknowledge(0);
	assert_int_equal(rig.nb_done, 2);
	acknowledge(2);
	assert_int_equal(rig.nb_done, 3);
	assert_true(shca_requester_due_ns(&rig.requester) == SHCA_NEVER);
}

/** From the PSN that the NAK names on, at once; what is before it was taken (IBTA 9.7.5.2.8). */
static void
sequence_nak(void **state)
{
	(void)state;
	start(RNR_RETRIES);
	send_three();
	nak(SHCA_NAK_SEQUENCE, 1);
	assert_int_equal(rig.nb_done, 1);
	assert_int_equal(pull(), 1);
	assert_int_equal(pull(), 2);
	/* Each time nothing comes of it costs a retry. */
	for (unsigned int i = 1; i < RETRIES; i++)
		nak(SHCA_NAK_SEQUENCE, 1);
	assert_int_equal(rig.outcome, SHCA_OUTCOME_SUCCESS);
	nak(SHCA_NAK_SEQUENCE, 1);
	assert_int_equal(rig.outcome, SHCA_OUTCOME_RETRIES_EXCEEDED);
	assert_int_equal(pull(), NOTHING);
}

/** Others end the queue pair with the request that the PSN is of (IBTA 9.9.2.3, 10.8.3.4). */
static void
fatal_naks(void **state)
{
	static const enum shca_outcome outcomes[] = {
		[SHCA_NAK_INVALID_REQUEST] = SHCA_OUTCOME_REMOTE_INVALID_REQUEST,
		[SHCA_NAK_REMOTE_ACCESS] = SHCA_OUTCOME_REMOTE_ACCESS,
		[SHCA_NAK_REMOTE_OPERATION] = SHCA_OUTCOME_REMOTE_OPERATION,
	};

	(void)state;
	for (unsigned int code = SHCA_NAK_INVALID_REQUEST; code <= SHCA_NAK_REMOTE_OPERATION;
		code++) {
		start(RNR_RETRIES);
		send_three();
		nak(code, 1);
		assert_int_equal(rig.nb_done, 1);
		assert_int_equal(rig.outcome, outcomes[code]);
		rig.now += 10 * TIMEOUT;
		assert_int_equal(pull(), NOTHING);
		assert_false(shca_requester_has_room(&rig.requester));
	}
}

/** Nothing is sent for the time that the answer names, then all from that PSN on; another answer
 * than RNR brings the retries back (IBTA 9.7.5.2.8). */
static void
not_ready(void **state)
{
	const uint64_t wait = shca_rnr_ns(2);

	(void)state;
	start(RNR_RETRIES);
	send_three();
	for (unsigned int i = 0; i < 2 * RNR_RETRIES; i++) {
		if (i == RNR_RETRIES)
			acknowledge(0);
		answer(SHCA_BTH_ACK, SHCA_AETH_RNR | 2, i < RNR_RETRIES ? 0 : 1, 0);
		assert_true(shca_requester_due_ns(&rig.requester) == rig.now + wait);
		rig.now += wait - 1;
		assert_int_equal(pull(), NOTHING);
		rig.now++;
		for (uint32_t ahead = i < RNR_RETRIES ? 0 : 1; ahead < 3; ahead++)
			assert_int_equal(pull(), ahead);
	}
	answer(SHCA_BTH_ACK, SHCA_AETH_RNR | 2, 1, 0);
	assert_int_equal(rig.nb_done, 1);
	assert_int_equal(rig.outcome, SHCA_OUTCOME_RNR_RETRIES_EXCEEDED);
	assert_int_equal(pull(), NOTHING);
}

/** Nothing has been sent since: it is the same answer, which a cable may double. */
static void
not_ready_is_said_twice(void **state)
{
	const uint64_t wait = shca_rnr_ns(2);

	(void)state;
	start(1);
	send_three();
	answer(SHCA_BTH_ACK, SHCA_AETH_RNR | 2, 0, 0);
	rig.now += wait - 1;
	answer(SHCA_BTH_ACK, SHCA_AETH_RNR | 2, 0, 0);
	assert_int_equal(rig.outcome, SHCA_OUTCOME_SUCCESS);
	assert_int_equal(rig.requester.nb_rnr, 1);
	assert_int_equal(pull(), NOTHING);
	rig.now++;
	assert_int_equal(pull(), 0);
	answer(SHCA_BTH_ACK, SHCA_AETH_RNR | 2, 0, 0);
	assert_int_equal(rig.outcome, SHCA_OUTCOME_RNR_RETRIES_EXCEEDED);
}

/** 7 retries are not counted (IBTA 11.2.4.2). */
static void
not_ready_for_ever(void **state)
{
	(void)state;
	start(7);
	send_three();
	for (unsigned int i = 0; i < 100; i++) {
		answer(SHCA_BTH_ACK, SHCA_AETH_RNR | 1, 0, 0);
		rig.now += shca_rnr_ns(1);
		assert_int_equal(pull(), 0);
	}
	assert_int_equal(rig.outcome, SHCA_OUTCOME_SUCCESS);
}

/** After a timeout the window is one packet and grows with each answer: so the packet that fills it
 * asks for one, in the middle of a message as well. */
static void
the_last_of_a_window_asks(void **state)
{
	uint32_t una = 0, window = 1;

	(void)state;
	start(RNR_RETRIES);
	post(SHCA_WR_SEND, 28 * MTU);
	while (pull() != NOTHING)
		;
	rig.now += TIMEOUT;
	look();
	while (una + window < 28) {
		for (uint32_t i = 0; i < window; i++) {
			assert_int_equal(pull(), una + i);
			assert_int_equal(
				rig.sent.ack_req, i + 1 == window || (rig.sent.psn + 1) % 32 == 0);
		}
		assert_int_equal(pull(), NOTHING);
		una += window;
		window *= 2;
		acknowledge(una - 1);
	}
	assert_int_equal(una, 15);
	assert_int_equal(rig.requester.nb_timeouts, 1);
}

/** Without an answer the oldest packet is sent again when the time is over, and after it, one at a
 * time, what else is not answered; at last the queue pair is broken (IBTA 9.9.2.1.1). */
static void
timeouts(void **state)
{
	(void)state;
	start(RNR_RETRIES);
	send_three();
	for (unsigned int i = 0; i < RETRIES; i++) {
		assert_true(shca_requester_due_ns(&rig.requester) == rig.now + TIMEOUT);
		rig.now += TIMEOUT - 1;
		look();
		assert_int_equal(pull(), NOTHING);
		rig.now++;
		look();
		assert_int_equal(pull(), 0);
		assert_int_equal(pull(), NOTHING);
	}
	acknowledge(0);
	assert_int_equal(rig.nb_done, 1);
	assert_int_equal(pull(), 1);
	assert_int_equal(pull(), 2);
	for (unsigned int i = 0; i < RETRIES; i++) {
		rig.now += TIMEOUT;
		look();
		assert_int_equal(pull(), 1);
	}
	rig.now += TIMEOUT;
	look();
	assert_int_equal(pull(), NOTHING);
	assert_int_equal(rig.outcome, SHCA_OUTCOME_RETRIES_EXCEEDED);
	assert_int_equal(rig.nb_done, 1);
	assert_true(shca_requester_due_ns(&rig.requester) == SHCA_NEVER);
}

/** What has come and was not looked at may be the answer. */
static void
behind(void **state)
{
	(void)state;
	start(RNR_RETRIES);
	send_three();
	rig.now += TIMEOUT - 1;
	shca_requester_look(&rig.requester, rig.now, true);
	assert_true(shca_requester_due_ns(&rig.requester) == rig.now + 1);
	rig.now++;
	shca_requester_look(&rig.requester, rig.now, true);
	look();
	assert_int_equal(pull(), NOTHING);
	rig.now += TIMEOUT;
	look();
	assert_int_equal(pull(), 0);
}

/** Two looks after the time is over, none of those before count. */
static void
nothing_is_lost_before_it_was_looked_for(void **state)
{
	(void)state;
	start(RNR_RETRIES);
	send_three();
	look();
	rig.now += TIMEOUT;
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(pull(), NOTHING);
		shca_requester_look(&rig.requester, rig.now, false);
	}
	assert_int_equal(pull(), 0);
	assert_int_equal(rig.requester.nb_timeouts, 1);
}

/** A later answer says that a response was lost: ask for what is missing of it, once (IBTA
 * 9.7.5.1.1 implied NAK). */
static void
lost_response(void **state)
{
	(void)state;
	start(RNR_RETRIES);
	post(SHCA_WR_READ, 3 * MTU);
	post(SHCA_WR_SEND, 1);
	assert_int_equal(pull(), 0);
	assert_int_equal(rig.sent.dma_length, 3 * MTU);
	assert_int_equal(pull(), 3);
	answer(SHCA_BTH_READ_FIRST, SHCA_AETH_NO_CREDITS, 0, MTU);
	answer(SHCA_BTH_READ_LAST, SHCA_AETH_NO_CREDITS, 2, MTU);
	acknowledge(3);
	assert_int_equal(rig.nb_done, 0);
	assert_int_equal(pull(), 1);
	assert_int_equal(rig.sent.opcode, SHCA_BTH_READ_REQUEST);
	assert_int_equal(rig.sent.va, MTU);
	assert_int_equal(rig.sent.dma_length, 2 * MTU);
	assert_int_equal(pull(), 3);
	assert_int_equal(pull(), NOTHING);
	answer(SHCA_BTH_READ_FIRST, SHCA_AETH_NO_CREDITS, 1, MTU);
	answer(SHCA_BTH_READ_LAST, SHCA_AETH_NO_CREDITS, 2, MTU);
	acknowledge(3);
	assert_int_equal(rig.nb_done, 2);
}

/** A response that is not to what was asked ends the queue pair (IBTA 9.9.2.4.1): by its opcode, or
 * by too much or too little payload. */
static void
bad_responses(void **state)
{
	static const struct {
		enum shca_wr_kind kind;
		uint8_t opcode;
		uint32_t length;
		enum shca_outcome outcome;
	} cases[] = {
		{ SHCA_WR_READ, SHCA_BTH_READ_ONLY, 9, SHCA_OUTCOME_LOCAL_LENGTH },
		{ SHCA_WR_READ, SHCA_BTH_READ_LAST, 7, SHCA_OUTCOME_LOCAL_LENGTH },
		{ SHCA_WR_READ, SHCA_BTH_READ_FIRST, MTU, SHCA_OUTCOME_LOCAL_LENGTH },
		{ SHCA_WR_READ, SHCA_BTH_READ_MIDDLE, 8, SHCA_OUTCOME_LOCAL_LENGTH },
		{ SHCA_WR_READ, SHCA_BTH_ATOMIC_ACK, 0, SHCA_OUTCOME_BAD_RESPONSE },
		{ SHCA_WR_FETCH_ADD, SHCA_BTH_READ_ONLY, 8, SHCA_OUTCOME_BAD_RESPONSE },
		{ SHCA_WR_SEND, SHCA_BTH_READ_ONLY, 8, SHCA_OUTCOME_BAD_RESPONSE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		start(RNR_RETRIES);
		post(cases[i].kind, 8);
		assert_int_equal(pull(), 0);
		answer(cases[i].opcode, SHCA_AETH_NO_CREDITS, 0, cases[i].length);
		assert_int_equal(rig.outcome, cases[i].outcome);
	}
}

/** The end of a read's response has one packet's bytes, and not all that are missing. */
static void
response_longer_than_the_mtu(void **state)
{
	static const uint8_t payload[2 * MTU];
	const struct shca_bth bth = {
		.opcode = SHCA_BTH_READ_ONLY,
		.psn = PSN,
		.syndrome = SHCA_AETH_NO_CREDITS,
		.payload = payload,
		.payload_bytes = sizeof(payload),
	};

	(void)state;
	start(RNR_RETRIES);
	post(SHCA_WR_READ, sizeof(payload));
	assert_int_equal(pull(), 0);
	shca_requester_receive(&rig.requester, rig.now, &bth);
	assert_int_equal(rig.outcome, SHCA_OUTCOME_LOCAL_LENGTH);
}

/** Of a read with half of all PSNs, which two gigabytes in the shortest packets have, nobody could
 * say whether a response is behind or ahead. */
static void
read_of_half_of_all_psns(void **state)
{
	(void)state;
	start(RNR_RETRIES);
	post(SHCA_WR_READ, 1u << 31);
	assert_int_equal(pull(), NOTHING);
	assert_int_equal(rig.outcome, SHCA_OUTCOME_LOCAL_LENGTH);
	start(RNR_RETRIES);
	post(SHCA_WR_READ, (1u << 31) - MTU);
	assert_int_equal(pull(), 0);
	answer(SHCA_BTH_READ_FIRST, SHCA_AETH_NO_CREDITS, 0, MTU);
	assert_int_equal(rig.outcome, SHCA_OUTCOME_SUCCESS);
	assert_int_equal(rig.requester.una, (PSN + 1) & SHCA_PSN_MASK);
}

/** An unreliable connection has sends and writes alone: nothing of others leaves (IBTA table 38).
 */
static void
unreliable(void **state)
{
	static const struct shca_wr refused[] = {
		{ .kind = SHCA_WR_READ, .length = 8, .index = 1 },
		{ .kind = SHCA_WR_FETCH_ADD, .length = 8, .index = 1 },
		{ .kind = SHCA_WR_SEND, .length = 8, .index = 1, .has_inval = true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		start(RNR_RETRIES);
		rig.requester.conf.is_reliable = false;
		post(SHCA_WR_SEND, 1);
		shca_requester_post(&rig.requester, &refused[i]);
		assert_int_equal(pull(), 0);
		assert_int_equal(rig.sent.opcode, SHCA_BTH_UC | SHCA_BTH_SEND_ONLY);
		assert_int_equal(rig.nb_done, 1);
		assert_int_equal(pull(), NOTHING);
		assert_int_equal(rig.outcome, SHCA_OUTCOME_LOCAL_QP_OPERATION);
	}
}

/** It has no MTU to divide by, and no host to ask. */
static void
never_started(void **state)
{
	(void)state;
	memset(&rig, 0, sizeof(rig));
	assert_false(shca_requester_has_room(&rig.requester));
	look();
	assert_int_equal(pull(), NOTHING);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(acknowledgements),
		cmocka_unit_test(sequence_nak),
		cmocka_unit_test(fatal_naks),
		cmocka_unit_test(not_ready),
		cmocka_unit_test(not_ready_is_said_twice),
		cmocka_unit_test(not_ready_for_ever),
		cmocka_unit_test(the_last_of_a_window_asks),
		cmocka_unit_test(timeouts),
		cmocka_unit_test(behind),
		cmocka_unit_test(nothing_is_lost_before_it_was_looked_for),
		cmocka_unit_test(lost_response),
		cmocka_unit_test(bad_responses),
		cmocka_unit_test(response_longer_than_the_mtu),
		cmocka_unit_test(read_of_half_of_all_psns),
		cmocka_unit_test(unreliable),
		cmocka_unit_test(never_started),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
