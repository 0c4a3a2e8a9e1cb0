/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Transport headers: their bytes by hand, and every opcode there and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "transport/packet/bth.h"

/** IBTA 9.2 and 9.3, written by hand. */
static const struct {
	struct shca_bth bth;
	uint32_t length;
	uint8_t bytes[SHCA_BTH_HEADERS_MAX];
} rows[] = {
	{ { .opcode = 0x04,
		  .solicited = true,
		  .pkey = 0xffff,
		  .qpn = 0x123456,
		  .psn = 0xabcdef,
		  .payload_bytes = 5 },
		12, { 0x04, 0xf0, 0xff, 0xff, 0, 0x12, 0x34, 0x56, 0, 0xab, 0xcd, 0xef } },
	{ { .opcode = 0x0b,
		  .ack_req = true,
		  .pkey = 0x8001,
		  .qpn = 1,
		  .psn = 2,
		  .va = 0x1122334455667788,
		  .rkey = 0x99aabbcc,
		  .dma_length = 0xddeeff00,
		  .imm = 0x01020304 },
		32,
		{ 0x0b, 0x40, 0x80, 0x01, 0, 0, 0, 1, 0x80, 0, 0, 2, 0x11, 0x22, 0x33, 0x44, 0x55,
			0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff, 0, 1, 2, 3,
			4 } },
	{ { .opcode = 0x64,
		  .pkey = 0xffff,
		  .qpn = 9,
		  .psn = 7,
		  .qkey = 0x11111111,
		  .src_qpn = 0x000102 },
		20,
		{ 0x64, 0x40, 0xff, 0xff, 0, 0, 0, 9, 0, 0, 0, 7, 0x11, 0x11, 0x11, 0x11, 0, 0, 1,
			2 } },
	{ { .opcode = 0x11, .pkey = 0xffff, .qpn = 9, .psn = 7, .syndrome = 0x61, .msn = 3 }, 16,
		{ 0x11, 0x40, 0xff, 0xff, 0, 0, 0, 9, 0, 0, 0, 7, 0x61, 0, 0, 3 } },
	{ { .opcode = 0x13,
		  .pkey = 0xffff,
		  .qpn = 9,
		  .psn = 7,
		  .va = 8,
		  .rkey = 5,
		  .swap_add = 6,
		  .compare = 4 },
		40,
		{ 0x13, 0x40, 0xff, 0xff, 0, 0, 0, 9, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0,
			5, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 4 } },
	{ { .opcode = 0x17, .pkey = 0xffff, .qpn = 9, .psn = 7, .rkey = 0x0a0b0c0d }, 16,
		{ 0x17, 0x40, 0xff, 0xff, 0, 0, 0, 9, 0, 0, 0, 7, 10, 11, 12, 13 } },
	{ { .opcode = 0xa5, .pkey = 0xffff, .qpn = 9, .psn = 7, .xrc_srqn = 0x77, .imm = 1 }, 20,
		{ 0xa5, 0x40, 0xff, 0xff, 0, 0, 0, 9, 0, 0, 0, 7, 0, 0, 0, 0x77, 0, 0, 0, 1 } },
};

static void
writes_by_the_book(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t bytes[SHCA_BTH_HEADERS_MAX];

		assert_int_equal(shca_bth_write(&rows[i].bth, bytes), rows[i].length);
		assert_memory_equal(bytes, rows[i].bytes, rows[i].length);
		assert_int_equal(shca_bth_headers_bytes(rows[i].bth.opcode), rows[i].length);
	}
}

/** All fields that an opcode may have, then those that it has come back. */
static void
reads_what_it_wrote(void **state)
{
	(void)state;
	for (unsigned int opcode = 0; opcode < 256; opcode++) {
		const struct shca_bth full = { .opcode = (uint8_t)opcode,
			.solicited = true,
			.ack_req = true,
			.pkey = 0x8123,
			.qpn = 0xfedcba,
			.psn = 0x123456,
			.qkey = 1,
			.src_qpn = 2,
			.xrc_srqn = 3,
			.va = 4,
			.rkey = 5,
			.dma_length = 6,
			.swap_add = 7,
			.compare = 8,
			.syndrome = 9,
			.msn = 10,
			.original = 11,
			.imm = 12,
			.payload_bytes = shca_bth_has_payload((uint8_t)opcode) ? 7 : 0 };
		uint8_t bytes[SHCA_BTH_HEADERS_MAX + 8] = { 0 }, again[SHCA_BTH_HEADERS_MAX];
		struct shca_bth bth;
		uint32_t length;

		if (!shca_bth_is_known((uint8_t)opcode)) {
			bytes[0] = (uint8_t)opcode;
			assert_false(shca_bth_read(&bth, bytes, sizeof(bytes) & ~3u));
			continue;
		}
		length = shca_bth_write(&full, bytes);
		assert_true(shca_bth_read(&bth, bytes, length + (full.payload_bytes + 3) / 4 * 4));
		assert_int_equal(bth.payload_bytes, full.payload_bytes);
		assert_int_equal(shca_bth_write(&bth, again), length);
		assert_memory_equal(again, bytes, length);
		/* Too short by a word, and not of whole words. */
		assert_false(shca_bth_read(&bth, bytes, length - 4));
		assert_false(shca_bth_read(&bth, bytes, length + 2));
		bytes[1] |= 1;
		assert_false(shca_bth_read(&bth, bytes, length));
	}
}

static void
compares_sequence_numbers(void **state)
{
	(void)state;
	assert_int_equal(shca_psn_diff(5, 3), 2);
	assert_int_equal(shca_psn_diff(0, 0xffffff), 1);
	assert_int_equal(shca_psn_diff(0xffffff, 0), -1);
	assert_int_equal(shca_psn_diff(0x7fffff, 0), 0x7fffff);
	assert_int_equal(shca_psn_diff(0x800000, 0), -0x800000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_by_the_book),
		cmocka_unit_test(reads_what_it_wrote),
		cmocka_unit_test(compares_sequence_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
