/* SPDX-License-Identifier: BSD-3-Clause */
/** @file RoCE frames: there and back, and what is none, wrong, or cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "transport/packet/roce.h"

static const struct shca_roce_path paths[] = {
	{ .dmac = { 2, 1 },
		.smac = { 2, 2 },
		.sgid = { 0xfe, 0x80, [15] = 1 },
		.dgid = { 0xfe, 0x80, [15] = 2 },
		.hop_limit = 64,
		.traffic_class = 3,
		.flow_label = 0x12345 },
	{ .dmac = { 2, 1 },
		.smac = { 2, 2 },
		.is_v2 = true,
		.sgid = { 0xfe, 0x80, [15] = 1 },
		.dgid = { 0xfe, 0x80, [15] = 2 },
		.hop_limit = 64,
		.udp_source = 0xc123 },
	{ .dmac = { 2, 1 },
		.smac = { 2, 2 },
		.is_v2 = true,
		.sgid = { [10] = 0xff, 0xff, 10, 0, 0, 1 },
		.dgid = { [10] = 0xff, 0xff, 10, 0, 0, 2 },
		.hop_limit = 1,
		.udp_source = 0xc000 },
};
#define NB_PATHS (sizeof(paths) / sizeof(paths[0]))

static uint32_t
make(const struct shca_roce_path *path, uint32_t payload_bytes, uint8_t *frame)
{
	const struct shca_bth bth = {
		.opcode = SHCA_BTH_SEND_ONLY,
		.pkey = 0xffff,
		.qpn = 0x111,
		.psn = 5,
		.payload_bytes = payload_bytes,
	};
	const uint32_t at = shca_roce_write_headers(path, &bth, frame);

	for (uint32_t i = 0; i < payload_bytes; i++)
		frame[at + i] = (uint8_t)(i * 7 + 1);
	return shca_roce_finish(path, &bth, frame);
}

static void
come_back(void **state)
{
	(void)state;
	for (size_t i = 0; i < NB_PATHS; i++)
		for (uint32_t payload_bytes = 0; payload_bytes < 70; payload_bytes++) {
			uint8_t frame[512];
			const uint32_t length = make(&paths[i], payload_bytes, frame);
			struct shca_roce_path path;
			struct shca_bth bth;

			assert_int_equal(
				shca_roce_read(frame, length, &path, &bth), SHCA_ROCE_GOOD);
			assert_memory_equal(&path, &paths[i], sizeof(path));
			assert_int_equal(bth.payload_bytes, payload_bytes);
			for (uint32_t k = 0; k < payload_bytes; k++)
				assert_int_equal(bth.payload[k], (uint8_t)(k * 7 + 1));
			/* Padding of short frames behind it changes nothing. */
			memset(frame + length, 0x55, 20);
			assert_int_equal(
				shca_roce_read(frame, length + 20, &path, &bth), SHCA_ROCE_GOOD);
		}
}

/** Each bit that a packet's receiver sees, and each length. */
static void
are_refused_when_damaged(void **state)
{
	(void)state;
	for (size_t i = 0; i < NB_PATHS; i++) {
		uint8_t frame[512];
		const uint32_t length = make(&paths[i], 11, frame);
		struct shca_roce_path path;
		struct shca_bth bth;

		for (uint32_t cut = 0; cut < length; cut++)
			assert_int_not_equal(
				shca_roce_read(frame, cut, &path, &bth), SHCA_ROCE_GOOD);
		for (uint32_t at = length - 20; at < length; at++) {
			frame[at] ^= 0x10;
			assert_int_equal(
				shca_roce_read(frame, length, &path, &bth), SHCA_ROCE_BAD_ICRC);
			frame[at] ^= 0x10;
		}
	}
}

/** The ICRC leaves out what routers change, and the checksum with it. */
static void
is_refused_with_a_wrong_checksum(void **state)
{
	static const uint32_t at[] = { 14 + 1, 14 + 8, 14 + 10, 14 + 11 };
	struct shca_roce_path path;
	struct shca_bth bth;
	uint8_t frame[512];
	const uint32_t length = make(&paths[2], 11, frame);

	(void)state;
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		frame[at[i]] ^= 0x10;
		assert_int_equal(shca_roce_read(frame, length, &path, &bth), SHCA_ROCE_MALFORMED);
		frame[at[i]] ^= 0x10;
	}
	assert_int_equal(shca_roce_read(frame, length, &path, &bth), SHCA_ROCE_GOOD);
}

static void
are_told_from_others(void **state)
{
	uint8_t frame[512];
	struct shca_roce_path path;
	enum shca_icrc_network network;
	uint32_t length;

	(void)state;
	length = make(&paths[2], 8, frame);
	assert_int_equal(shca_roce_look(frame, length, &path, &network), 14 + 28);
	frame[14 + 20 + 3] ^= 1; /* another port */
	assert_int_equal(shca_roce_look(frame, length, &path, &network), 0);
	length = make(&paths[2], 8, frame);
	frame[14 + 6] = 0x20; /* a fragment */
	assert_int_equal(shca_roce_look(frame, length, &path, &network), 0);
	length = make(&paths[0], 8, frame);
	frame[14 + 6] = 17; /* a GRH with another next header */
	assert_int_equal(shca_roce_look(frame, length, &path, &network), 0);
}

static void
has_40_bytes_in_front(void **state)
{
	uint8_t frame[512], grh[40];

	(void)state;
	make(&paths[0], 8, frame);
	shca_roce_copy_grh(frame, grh);
	assert_memory_equal(grh, frame + 14, sizeof(grh));
	make(&paths[2], 8, frame);
	shca_roce_copy_grh(frame, grh);
	assert_memory_equal(grh + 20, frame + 14, 20);
	for (unsigned int i = 0; i < 20; i++)
		assert_int_equal(grh[i], 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(come_back),
		cmocka_unit_test(are_refused_when_damaged),
		cmocka_unit_test(is_refused_with_a_wrong_checksum),
		cmocka_unit_test(are_told_from_others),
		cmocka_unit_test(has_40_bytes_in_front),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
