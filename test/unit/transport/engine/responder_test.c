/* SPDX-License-Identifier: BSD-3-Clause */
/** @file What a responder answers, packet by packet: acknowledgements, NAK codes, RNR, duplicates.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "transport/engine/responder.h"

#define MTU     256
#define PSN     0xfffffe /* wraps */
#define RKEY    7
#define TIMER   5
#define NB_READ 2
#define NOTHING 0xff /* no answer */

static struct rig {
	struct shca_responder responder;
	enum shca_take takes;
	enum shca_outcome scatters;   /* what the buffers say */
	bool may_invalidate, is_gone; /* the memory */
	bool allows;                  /* the queue pair, what requests want */
	_Alignas(8) uint8_t memory[4 * MTU];
	uint8_t buffer[4 * MTU];
	unsigned int nb_received;
	enum shca_outcome failed;
	uint8_t payload[2 * MTU];
	struct shca_bth answer;
} rig;

static enum shca_take
take(void *arg)
{
	(void)arg;
	return rig.takes;
}

static enum shca_outcome
scatter(void *arg, uint32_t offset, uint32_t length, const uint8_t *from)
{
	(void)arg;
	assert_true(offset + length <= sizeof(rig.buffer));
	memcpy(rig.buffer + offset, from, length);
	return rig.scatters;
}

static void
received(void *arg, const struct shca_received *what)
{
	(void)arg;
	(void)what;
	rig.nb_received++;
}

static bool
allows(void *arg, enum shca_remote what)
{
	(void)arg;
	(void)what;
	return rig.allows;
}

static uint8_t *
remote(void *arg, enum shca_remote what, uint32_t rkey, uint64_t va, uint32_t length)
{
	(void)arg;
	(void)what;
	return !rig.is_gone && rkey == RKEY && va + length <= sizeof(rig.memory) ? rig.memory + va
										 : NULL;
}

static bool
invalidate(void *arg, uint32_t rkey)
{
	(void)arg;
	(void)rkey;
	return rig.may_invalidate;
}

static void
failed(void *arg, enum shca_outcome outcome)
{
	(void)arg;
	assert_int_equal(rig.failed, SHCA_OUTCOME_SUCCESS);
	rig.failed = outcome;
}

static const struct shca_responder_host host = { take, scatter, received, allows, remote,
	invalidate, failed };

static void
start(bool is_reliable)
{
	memset(&rig, 0, sizeof(rig));
	rig.takes = SHCA_TAKE_DONE;
	rig.allows = true;
	shca_responder_init(&rig.responder,
		&(struct shca_responder_conf){
			&host, NULL, is_reliable, MTU, PSN, NB_READ, TIMER });
}

/** A packet, @p ahead of the first PSN; requests of memory are of @p length bytes. */
static void
come(uint8_t opcode, uint32_t ahead, uint32_t length)
{
	struct shca_bth bth = {
		.opcode = opcode,
		.psn = (PSN + ahead) & SHCA_PSN_MASK,
		.ack_req = true,
		.rkey = RKEY,
		.dma_length = length,
		.swap_add = 3,
		.payload = rig.payload,
		.payload_bytes = shca_bth_has_payload(opcode) ? length : 0,
	};

	shca_responder_receive(&rig.responder, &bth);
}

/** @return the syndrome of the next answer; NOTHING. */
static uint8_t
pull(void)
{
	static uint8_t payload[MTU];

	if (!shca_responder_next(&rig.responder, &rig.answer, payload))
		return NOTHING;
	return rig.answer.syndrome;
}

static void
assert_answer(uint8_t syndrome, uint32_t ahead)
{
	assert_int_equal(pull(), syndrome);
	assert_int_equal(rig.answer.psn, (PSN + ahead) & SHCA_PSN_MASK);
}

#define ACK       (SHCA_AETH_ACK | SHCA_AETH_NO_CREDITS)
#define NAK(code) (SHCA_AETH_NAK | SHCA_NAK_##code)

/** Of what came since the last answer, the last packet is acknowledged (IBTA 9.7.5.1.2). */
static void
acknowledgements(void **state)
{
	(void)state;
	start(true);
	come(SHCA_BTH_SEND_ONLY, 0, 10);
	come(SHCA_BTH_SEND_FIRST, 1, MTU);
	come(SHCA_BTH_SEND_LAST, 2, 1);
	assert_answer(ACK, 2);
	assert_int_equal(rig.answer.msn, 2);
	assert_int_equal(pull(), NOTHING);
	assert_int_equal(rig.nb_received, 2);
}

/** A gap is told once; then again only when what was wanted has come (IBTA 9.7.5.2.8 on PSNs). */
static void
sequence(void **state)
{
	(void)state;
	start(true);
	come(SHCA_BTH_SEND_ONLY, 1, 10);
	come(SHCA_BTH_SEND_ONLY, 2, 10);
	assert_answer(NAK(SEQUENCE), 0);
	assert_int_equal(pull(), NOTHING);
	come(SHCA_BTH_SEND_ONLY, 0, 10);
	assert_answer(ACK, 0);
	come(SHCA_BTH_SEND_ONLY, 3, 10);
	assert_answer(NAK(SEQUENCE), 1);
	assert_int_equal(rig.nb_received, 1);
	assert_int_equal(rig.failed, SHCA_OUTCOME_SUCCESS);
}

/** Each breaks the queue pair: a NAK with the expected PSN, and nothing more, whatever comes. */
static void
assert_refused(uint8_t syndrome, uint32_t ahead, enum shca_outcome outcome)
{
	assert_answer(syndrome, ahead);
	assert_int_equal(rig.failed, outcome);
	come(SHCA_BTH_SEND_ONLY, ahead, 1);
	assert_int_equal(pull(), NOTHING);
	assert_int_equal(rig.nb_received, 0);
}

/** Order and lengths (IBTA 9.7.4.1.2 opcode sequence, 9.7.4.1.6 and .7 lengths). */
static void
invalid_requests(void **state)
{
	static const struct {
		struct {
			uint8_t opcode;
			uint32_t length;
		} packet[2];
	} cases[] = {
		{ { { SHCA_BTH_SEND_MIDDLE, MTU } } },
		{ { { SHCA_BTH_SEND_LAST, 1 } } },
		{ { { SHCA_BTH_WRITE_MIDDLE, MTU } } },
		{ { { SHCA_BTH_WRITE_LAST_IMM, 1 } } },
		{ { { SHCA_BTH_SEND_FIRST, MTU }, { SHCA_BTH_SEND_FIRST, MTU } } },
		{ { { SHCA_BTH_SEND_FIRST, MTU }, { SHCA_BTH_SEND_ONLY, 1 } } },
		{ { { SHCA_BTH_SEND_FIRST, MTU }, { SHCA_BTH_WRITE_LAST, 1 } } },
		{ { { SHCA_BTH_SEND_FIRST, MTU }, { SHCA_BTH_READ_REQUEST, 1 } } },
		{ { { SHCA_BTH_SEND_FIRST, MTU }, { SHCA_BTH_FETCH_ADD, 8 } } },
		{ { { SHCA_BTH_SEND_FIRST, MTU }, { SHCA_BTH_SEND_LAST, 0 } } },
		{ { { SHCA_BTH_SEND_FIRST, MTU - 1 } } },
		{ { { SHCA_BTH_SEND_ONLY, MTU + 1 } } },
		{ { { SHCA_BTH_SEND_FIRST, MTU }, { SHCA_BTH_SEND_MIDDLE, MTU - 1 } } },
		/* Of a write the RETH says how long it is: here as long as its first packet. */
		{ { { SHCA_BTH_WRITE_FIRST, MTU }, { SHCA_BTH_WRITE_LAST, 1 } } },
		{ { { SHCA_BTH_READ_REQUEST, 0x80000001 } } },
		{ { { 0x15, 1 } } }, /* reserved */
		{ { { 0x18, 1 } } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		start(true);
		come(cases[i].packet[0].opcode, 0, cases[i].packet[0].length);
		if (cases[i].packet[1].opcode != 0 || cases[i].packet[1].length != 0) {
			while (pull() != NOTHING)
				;
			come(cases[i].packet[1].opcode, 1, cases[i].packet[1].length);
		}
		assert_refused(NAK(INVALID_REQUEST),
			cases[i].packet[1].opcode != 0 || cases[i].packet[1].length != 0,
			SHCA_OUTCOME_REMOTE_INVALID_REQUEST);
	}
}

/** A write that says it is longer than a message can be (IBTA 9.7.4.1.6). */
static void
write_is_too_long(void **state)
{
	struct shca_bth bth = {
		.opcode = SHCA_BTH_WRITE_FIRST,
		.psn = PSN,
		.rkey = RKEY,
		.dma_length = 0x80000001,
		.payload = rig.payload,
		.payload_bytes = MTU,
	};

	(void)state;
	start(true);
	shca_responder_receive(&rig.responder, &bth);
	assert_refused(NAK(INVALID_REQUEST), 0, SHCA_OUTCOME_REMOTE_INVALID_REQUEST);
}

/** More reads than the queue pair has resources for; an atomic that is not aligned. */
static void
more_invalid_requests(void **state)
{
	struct shca_bth bth = { .opcode = SHCA_BTH_FETCH_ADD, .psn = PSN, .rkey = RKEY, .va = 4 };

	(void)state;
	start(true);
	come(SHCA_BTH_READ_REQUEST, 0, 8);
	come(SHCA_BTH_READ_REQUEST, 1, 8);
	come(SHCA_BTH_READ_REQUEST, 2, 8);
	assert_answer(ACK, 0);
	assert_answer(ACK, 1);
	assert_refused(NAK(INVALID_REQUEST), 2, SHCA_OUTCOME_REMOTE_INVALID_REQUEST);
	start(true);
	shca_responder_receive(&rig.responder, &bth);
	assert_refused(NAK(INVALID_REQUEST), 0, SHCA_OUTCOME_REMOTE_INVALID_REQUEST);
}

/** Keys and bounds (IBTA 9.7.4.1.5); a send that invalidates what it may not. */
static void
remote_access(void **state)
{
	static const uint8_t opcodes[] = { SHCA_BTH_WRITE_ONLY, SHCA_BTH_READ_REQUEST,
		SHCA_BTH_CMP_SWAP };

	(void)state;
	for (size_t i = 0; i < sizeof(opcodes); i++) {
		struct shca_bth bth = {
			.opcode = opcodes[i],
			.psn = PSN,
			.rkey = RKEY,
			.va = sizeof(rig.memory),
			.dma_length = 8,
			.payload = rig.payload,
			.payload_bytes = shca_bth_has_payload(opcodes[i]) ? 8 : 0,
		};

		start(true);
		shca_responder_receive(&rig.responder, &bth);
		assert_refused(NAK(REMOTE_ACCESS), 0, SHCA_OUTCOME_LOCAL_ACCESS);
		start(true);
		bth.va = 0;
		bth.rkey = RKEY + 1;
		shca_responder_receive(&rig.responder, &bth);
		assert_refused(NAK(REMOTE_ACCESS), 0, SHCA_OUTCOME_LOCAL_ACCESS);
	}
	start(true);
	come(SHCA_BTH_SEND_ONLY_INV, 0, 8);
	assert_refused(NAK(REMOTE_ACCESS), 0, SHCA_OUTCOME_LOCAL_ACCESS);
}

/** What a queue pair is not set up for is no matter of keys (IBTA 11.6.2, Remote Invalid Request
 * Error), even where no memory is named; and it takes no receive WQE. */
static void
not_set_up(void **state)
{
	static const uint8_t opcodes[] = { SHCA_BTH_WRITE_FIRST, SHCA_BTH_WRITE_ONLY,
		SHCA_BTH_WRITE_ONLY_IMM, SHCA_BTH_READ_REQUEST, SHCA_BTH_CMP_SWAP,
		SHCA_BTH_FETCH_ADD };

	(void)state;
	for (size_t i = 0; i < sizeof(opcodes); i++)
		for (unsigned int length = 0; length <= MTU; length += MTU) {
			start(true);
			rig.allows = false;
			come(opcodes[i], 0, length);
			assert_refused(
				NAK(INVALID_REQUEST), 0, SHCA_OUTCOME_REMOTE_INVALID_REQUEST);
			assert_false(rig.responder.has_wqe);
		}
	start(true);
	rig.allows = false;
	come(SHCA_BTH_SEND_ONLY, 0, 8);
	assert_answer(ACK, 0);
	start(false);
	rig.allows = false;
	come(SHCA_BTH_WRITE_ONLY, 0, 8);
	assert_int_equal(rig.failed, SHCA_OUTCOME_SUCCESS);
	assert_int_equal(rig.responder.nb_writes, 0);
}

/** The receive WQE is the program's fault, not the sender's (IBTA 9.7.5.2.8, table 56); one that is
 * too short is the sender's. */
static void
bad_buffers(void **state)
{
	(void)state;
	start(true);
	rig.scatters = SHCA_OUTCOME_LOCAL_PROTECTION;
	come(SHCA_BTH_SEND_ONLY, 0, 8);
	assert_refused(NAK(REMOTE_OPERATION), 0, SHCA_OUTCOME_LOCAL_PROTECTION);
	start(true);
	rig.scatters = SHCA_OUTCOME_LOCAL_LENGTH;
	come(SHCA_BTH_SEND_ONLY, 0, 8);
	assert_refused(NAK(INVALID_REQUEST), 0, SHCA_OUTCOME_LOCAL_LENGTH);
}

/** No receive WQE: told once with the timer, and taken when it is sent again (IBTA 9.7.5.2.8). */
static void
not_ready(void **state)
{
	(void)state;
	start(true);
	rig.takes = SHCA_TAKE_NONE;
	come(SHCA_BTH_SEND_ONLY, 0, 8);
	come(SHCA_BTH_SEND_ONLY, 1, 8);
	assert_answer(SHCA_AETH_RNR | TIMER, 0);
	assert_int_equal(pull(), NOTHING);
	/* A write without immediate takes none. */
	come(SHCA_BTH_WRITE_ONLY, 0, 8);
	assert_answer(ACK, 0);
	come(SHCA_BTH_WRITE_ONLY_IMM, 1, 8);
	assert_answer(SHCA_AETH_RNR | TIMER, 1);
	rig.takes = SHCA_TAKE_DONE;
	come(SHCA_BTH_WRITE_ONLY_IMM, 1, 8);
	assert_answer(ACK, 1);
	assert_int_equal(rig.nb_received, 1);
}

/** What was done is answered again, and not done again (IBTA 9.7.5.1.5). */
static void
duplicates(void **state)
{
	uint64_t value;

	(void)state;
	start(true);
	come(SHCA_BTH_SEND_ONLY, 0, 8);
	come(SHCA_BTH_FETCH_ADD, 1, 8);
	come(SHCA_BTH_FETCH_ADD, 2, 8);
	come(SHCA_BTH_READ_REQUEST, 3, MTU + 1);
	while (pull() != NOTHING)
		;
	come(SHCA_BTH_SEND_ONLY, 0, 8);
	assert_answer(ACK, 4);
	assert_int_equal(rig.nb_received, 1);
	come(SHCA_BTH_FETCH_ADD, 2, 8);
	assert_answer(ACK, 2);
	assert_int_equal(rig.answer.opcode, SHCA_BTH_ATOMIC_ACK);
	assert_int_equal(rig.answer.original, 3);
	memcpy(&value, rig.memory, sizeof(value));
	assert_int_equal(value, 6);
	come(SHCA_BTH_READ_REQUEST, 3, MTU + 1);
	assert_answer(ACK, 3);
	assert_int_equal(rig.answer.opcode, SHCA_BTH_READ_FIRST);
	assert_answer(ACK, 4);
	assert_int_equal(rig.answer.opcode, SHCA_BTH_READ_LAST);
	assert_int_equal(rig.responder.nb_duplicates, 3);
}

/** The first response to a repeated read was late, not lost: the sender has gone on and asks for as
 * many others as it may. */
static void
repeated_reads_take_no_resource(void **state)
{
	(void)state;
	start(true);
	come(SHCA_BTH_READ_REQUEST, 0, 8);
	assert_answer(ACK, 0);
	come(SHCA_BTH_READ_REQUEST, 0, 8);
	come(SHCA_BTH_READ_REQUEST, 1, 8);
	come(SHCA_BTH_READ_REQUEST, 2, 8);
	assert_answer(ACK, 0);
	assert_answer(ACK, 1);
	assert_answer(ACK, 2);
	assert_int_equal(rig.failed, SHCA_OUTCOME_SUCCESS);
}

/** An unreliable one answers nothing, and what cannot be taken is dropped with its message. */
static void
unreliable(void **state)
{
	(void)state;
	start(false);
	come(SHCA_BTH_SEND_FIRST, 0, MTU);
	come(SHCA_BTH_SEND_LAST, 2, 1);
	come(SHCA_BTH_SEND_ONLY, 3, 1);
	come(SHCA_BTH_SEND_MIDDLE, 4, MTU);
	rig.takes = SHCA_TAKE_NONE;
	come(SHCA_BTH_SEND_ONLY, 5, 1);
	rig.takes = SHCA_TAKE_DONE;
	come(SHCA_BTH_SEND_ONLY, 6, 1);
	assert_int_equal(rig.nb_received, 2);
	assert_int_equal(pull(), NOTHING);
	assert_int_equal(rig.failed, SHCA_OUTCOME_SUCCESS);
}

/** A send that has taken a WQE loses its end: the WQE waits for another send, and a write without
 * immediate, which takes none, does not complete it. */
static void
unreliable_write_behind_half_a_send(void **state)
{
	(void)state;
	start(false);
	come(SHCA_BTH_SEND_FIRST, 0, MTU);
	come(SHCA_BTH_WRITE_ONLY, 2, 8);
	assert_int_equal(rig.responder.nb_writes, 1);
	assert_int_equal(rig.nb_received, 0);
	come(SHCA_BTH_SEND_ONLY, 3, 8);
	assert_int_equal(rig.nb_received, 1);
}

/** Of an atomic whose PSN has come again since, the latest result is kept, and answered once. */
static void
repeated_atomic_behind_a_turn_of_psns(void **state)
{
	const uint32_t half = (SHCA_PSN_MASK + 1) / 2;

	(void)state;
	start(true);
	come(SHCA_BTH_FETCH_ADD, 0, 8);
	assert_answer(ACK, 0);
	/* As after many sends. */
	rig.responder.psn = (PSN + half) & SHCA_PSN_MASK;
	come(SHCA_BTH_SEND_ONLY, half, 8);
	assert_answer(ACK, half);
	rig.responder.psn = PSN;
	come(SHCA_BTH_FETCH_ADD, 0, 8);
	assert_answer(ACK, 0);
	assert_int_equal(rig.answer.original, 3);
	come(SHCA_BTH_FETCH_ADD, 0, 8);
	assert_answer(ACK, 0);
	assert_int_equal(rig.answer.original, 3);
	assert_int_equal(pull(), NOTHING);
}

/** The rest of a read's response cannot be fetched: that breaks the queue pair. */
static void
memory_goes_while_it_is_read(void **state)
{
	(void)state;
	start(true);
	come(SHCA_BTH_READ_REQUEST, 0, 3 * MTU);
	come(SHCA_BTH_SEND_ONLY, 3, 8);
	assert_answer(ACK, 0);
	rig.is_gone = true;
	assert_answer(NAK(REMOTE_ACCESS), 1);
	assert_int_equal(rig.answer.opcode, SHCA_BTH_ACK);
	assert_int_equal(rig.failed, SHCA_OUTCOME_LOCAL_ACCESS);
	assert_int_equal(pull(), NOTHING);
	come(SHCA_BTH_SEND_ONLY, 4, 8);
	assert_int_equal(pull(), NOTHING);
	assert_int_equal(rig.nb_received, 1);
}

/** One that has all of it may ask once more. */
static void
memory_goes_while_it_is_read_again(void **state)
{
	(void)state;
	start(true);
	come(SHCA_BTH_READ_REQUEST, 0, 2 * MTU);
	assert_answer(ACK, 0);
	assert_answer(ACK, 1);
	come(SHCA_BTH_READ_REQUEST, 0, 2 * MTU);
	assert_answer(ACK, 0);
	rig.is_gone = true;
	assert_answer(NAK(REMOTE_ACCESS), 1);
	assert_int_equal(rig.failed, SHCA_OUTCOME_SUCCESS);
}

/** It has no MTU to divide by, and no host to ask. */
static void
never_started(void **state)
{
	(void)state;
	memset(&rig, 0, sizeof(rig));
	come(SHCA_BTH_SEND_ONLY, 0, 0);
	come(SHCA_BTH_READ_REQUEST, 1, 1);
	assert_int_equal(pull(), NOTHING);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(acknowledgements),
		cmocka_unit_test(sequence),
		cmocka_unit_test(invalid_requests),
		cmocka_unit_test(write_is_too_long),
		cmocka_unit_test(more_invalid_requests),
		cmocka_unit_test(remote_access),
		cmocka_unit_test(not_set_up),
		cmocka_unit_test(bad_buffers),
		cmocka_unit_test(not_ready),
		cmocka_unit_test(duplicates),
		cmocka_unit_test(repeated_reads_take_no_resource),
		cmocka_unit_test(unreliable),
		cmocka_unit_test(unreliable_write_behind_half_a_send),
		cmocka_unit_test(repeated_atomic_behind_a_turn_of_psns),
		cmocka_unit_test(memory_goes_while_it_is_read),
		cmocka_unit_test(memory_goes_while_it_is_read_again),
		cmocka_unit_test(never_started),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
