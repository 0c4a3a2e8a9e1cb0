/* SPDX-License-Identifier: BSD-3-Clause */
/* Decoding of send WQEs: each form, and each way to be malformed. */
#include "rig.h"

#include <endian.h>
#include <string.h>

#include "hw/format/wqe.h"

static void
finish(struct rig_wqe *wqe)
{
	wqe->bytes[1] = 0x12;
	wqe->bytes[2] = 0x34;
	rig_put16(wqe->bytes + 4, 0xabcd);
	wqe->bytes[6] = 0xef;
	wqe->bytes[7] = (uint8_t)(wqe->length / 16);
}

static uint8_t
decode(const struct rig_wqe *raw, struct shca_wqe *wqe)
{
	return shca_wqe_decode(raw->bytes, sizeof(raw->bytes), wqe);
}

static void
control_segment(void **state)
{
	struct shca_wqe wqe;
	struct rig_wqe raw;

	(void)state;
	rig_wqe_start(&raw, MLX5_OPCODE_NOP, SHCA_CE_ALWAYS);
	finish(&raw);
	raw.bytes[0] = 7;
	/* Fence, solicited and reserved bits around CE. */
	raw.bytes[11] = 0xf3 | SHCA_CE_ON_FIRST_ERROR << 2;
	assert_int_equal(decode(&raw, &wqe), 0);
	assert_int_equal(wqe.opmod, 7);
	assert_int_equal(wqe.index, 0x1234);
	assert_int_equal(wqe.opcode, MLX5_OPCODE_NOP);
	assert_int_equal(wqe.sqn, 0xabcdef);
	assert_int_equal(wqe.ds, 1);
	assert_int_equal(wqe.nb_wqebbs, 1);
	assert_int_equal(wqe.ce, SHCA_CE_ON_FIRST_ERROR);
	assert_false(wqe.has_eth);
}

static void
wqebbs(void **state)
{
	static const struct {
		uint8_t ds, nb;
	} cases[] = { { 0, 1 }, { 1, 1 }, { 4, 1 }, { 5, 2 }, { 8, 2 }, { 60, 15 }, { 63, 16 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(shca_wqe_nb_wqebbs(cases[i].ds), cases[i].nb);
}

/** Where data segments start, by inline header length (PRM, ethernet segment). */
static void
inline_headers(void **state)
{
	static const struct {
		uint16_t length;
		uint8_t ds;
	} cases[] = { { 0, 3 }, { 1, 3 }, { 2, 3 }, { 3, 4 }, { 18, 4 }, { 19, 5 }, { 34, 5 },
		{ 35, 6 } };
	uint8_t header[64];
	struct shca_wqe wqe;
	struct rig_wqe raw;

	(void)state;
	for (unsigned int i = 0; i < sizeof(header); i++)
		header[i] = (uint8_t)(i + 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		rig_wqe_start(&raw, MLX5_OPCODE_SEND, SHCA_CE_ALWAYS);
		rig_wqe_eth(&raw, 0xc0, 0x5a5, header, cases[i].length);
		rig_wqe_pointer(&raw, 0x1234, 0xdeadbeef00112233, 100);
		finish(&raw);
		assert_int_equal(raw.length / 16, cases[i].ds);
		assert_int_equal(decode(&raw, &wqe), 0);
		assert_true(wqe.has_eth);
		assert_int_equal(wqe.cs_flags, 0xc0);
		assert_int_equal(wqe.mss, 0x5a5);
		assert_false(wqe.insert_vlan);
		assert_int_equal(wqe.inline_length, cases[i].length);
		assert_memory_equal(wqe.inline_header, header, cases[i].length);
		assert_int_equal(wqe.nb_segments, 1);
		assert_int_equal(wqe.segment[0].length, 100);
		assert_int_equal(wqe.segment[0].lkey, 0x1234);
		assert_true(wqe.segment[0].address == 0xdeadbeef00112233);
		assert_null(wqe.segment[0].inlined);
		assert_int_equal(wqe.segments_length, 100);
	}
}

static void
mixed_segments(void **state)
{
	struct shca_wqe wqe;
	struct rig_wqe raw;

	(void)state;
	rig_wqe_start(&raw, MLX5_OPCODE_SEND, SHCA_CE_ON_ERROR);
	rig_wqe_eth(&raw, 0, 0, "", 0);
	rig_wqe_pointer(&raw, 1, 2, 3);
	rig_wqe_inline(&raw, "0123456789abc", 13); /* 17 bytes with its header: 2 units */
	rig_wqe_inline(&raw, "", 0);
	rig_wqe_pointer(&raw, 4, 5, 0);
	finish(&raw);
	assert_int_equal(raw.length / 16, 7);
	assert_int_equal(decode(&raw, &wqe), 0);
	assert_int_equal(wqe.nb_segments, 4);
	assert_int_equal(wqe.segment[1].length, 13);
	assert_memory_equal(wqe.segment[1].inlined, "0123456789abc", 13);
	assert_int_equal(wqe.segment[2].length, 0);
	assert_non_null(wqe.segment[2].inlined);
	assert_int_equal(wqe.segment[3].lkey, 4);
	assert_int_equal(wqe.segments_length, 16);
}

/** Data at once behind the control segment: the fields of the ethernet segment are 0. */
static void
without_ethernet_segment(void **state)
{
	struct shca_wqe wqe;
	struct rig_wqe raw;

	(void)state;
	memset(&wqe, 0xff, sizeof(wqe));
	rig_wqe_start(&raw, SHCA_OPCODE_DUMP, SHCA_CE_ALWAYS);
	rig_wqe_pointer(&raw, 1, 2, 3);
	finish(&raw);
	assert_int_equal(raw.length, 32);
	assert_int_equal(decode(&raw, &wqe), 0);
	assert_false(wqe.has_eth);
	assert_int_equal(wqe.cs_flags, 0);
	assert_false(shca_swp_is_used(&wqe.swp));
	assert_int_equal(wqe.mss, 0);
	assert_false(wqe.insert_vlan);
	assert_int_equal(wqe.inline_length, 0);
	assert_null(wqe.inline_header);
	assert_int_equal(wqe.nb_segments, 1);
	assert_int_equal(wqe.segments_length, 3);
	assert_int_equal(wqe.segment[0].lkey, 1);
	assert_true(wqe.segment[0].address == 2);
	raw.bytes[7] = 1;
	assert_int_equal(decode(&raw, &wqe), MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR);
}

static void
vlan_insertion(void **state)
{
	static const struct {
		uint16_t insert, tpid;
	} cases[] = { { 0x8000, 0x8100 }, { 0x8001, 0x88a8 } };
	struct shca_wqe wqe;
	struct rig_wqe raw;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		rig_wqe_start(&raw, MLX5_OPCODE_SEND, SHCA_CE_ALWAYS);
		rig_wqe_eth_vlan(&raw, 0, cases[i].insert, 0x6123);
		rig_wqe_pointer(&raw, 1, 2, 3);
		finish(&raw);
		assert_int_equal(decode(&raw, &wqe), 0);
		assert_true(wqe.insert_vlan);
		assert_int_equal(wqe.vlan_tpid, cases[i].tpid);
		assert_int_equal(wqe.vlan_tci, 0x6123);
		assert_int_equal(wqe.inline_length, 0);
		assert_int_equal(wqe.nb_segments, 1);
	}
}

static void
longest(void **state)
{
	struct shca_wqe wqe;
	struct rig_wqe raw;

	(void)state;
	rig_wqe_start(&raw, SHCA_OPCODE_ENHANCED_MPSW, SHCA_CE_ALWAYS);
	rig_wqe_eth(&raw, 0, 0, "", 0);
	for (unsigned int i = 0; i < 61; i++)
		rig_wqe_pointer(&raw, i, i, i);
	finish(&raw);
	assert_int_equal(decode(&raw, &wqe), 0);
	assert_int_equal(wqe.nb_segments, 61);
	assert_int_equal(wqe.segment[60].lkey, 60);
	/* Without an ethernet segment one more. */
	rig_wqe_start(&raw, SHCA_OPCODE_DUMP, SHCA_CE_ALWAYS);
	for (unsigned int i = 0; i < 62; i++)
		rig_wqe_pointer(&raw, i, i, i);
	finish(&raw);
	assert_int_equal(decode(&raw, &wqe), 0);
	assert_int_equal(wqe.nb_segments, SHCA_WQE_MAX_SEGMENTS);
	assert_int_equal(wqe.segment[61].lkey, 61);
}

static void
malformed(void **state)
{
	enum {
		QP_OP = MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR
	};
	/* A change to a sound SEND with 18 inline bytes, one pointer and one inline segment of 20.
	 */
	static const struct {
		const char *what;
		uint16_t offset;
		uint8_t value;
	} cases[] = {
		{ "no units at all", 7, 0 },
		{ "no ethernet segment", 7, 1 },
		{ "inline header longer than the WQE", 7, 2 },
		{ "inline segment cut by the end", 7, 5 },
		{ "inline header length", 29, 200 },
		{ "inline header length, high byte", 28, 0x7f },
		{ "inline segment one too long", 67, 29 },
		{ "inline segment far too long", 65, 0xff },
		{ "RDMA write", 3, MLX5_OPCODE_RDMA_WRITE },
		{ "UMR", 3, MLX5_OPCODE_UMR },
		{ "no opcode", 3, 0xff },
	};
	static const uint8_t header[18] = { 1 };
	static const uint8_t payload[20] = { 2 };
	struct shca_wqe wqe;
	struct rig_wqe raw, bad;

	(void)state;
	rig_wqe_start(&raw, MLX5_OPCODE_SEND, SHCA_CE_ALWAYS);
	rig_wqe_eth(&raw, 0, 0, header, sizeof(header));
	rig_wqe_pointer(&raw, 1, 2, 3);
	rig_wqe_inline(&raw, payload, sizeof(payload));
	finish(&raw);
	assert_int_equal(decode(&raw, &wqe), 0);
	assert_int_equal(raw.bytes[64], 0x80);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bad = raw;
		bad.bytes[cases[i].offset] = cases[i].value;
		if (decode(&bad, &wqe) != QP_OP)
			fail_msg("accepted: %s", cases[i].what);
		assert_int_equal(wqe.sqn, 0xabcdef);
	}
	/* More units than the bytes that were fetched. */
	assert_int_equal(shca_wqe_decode(raw.bytes, 64, &wqe), QP_OP);
	/* Lengths that overflow 32 bits. */
	rig_wqe_start(&raw, MLX5_OPCODE_SEND, SHCA_CE_ALWAYS);
	rig_wqe_eth(&raw, 0, 0, "", 0);
	for (unsigned int i = 0; i < 3; i++)
		rig_wqe_pointer(&raw, 1, 2, 0x7fffffff);
	finish(&raw);
	assert_int_equal(decode(&raw, &wqe), MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR);
}

/** Any bytes whatever are decoded without reading beyond them (ASan) or running over the segments.
 */
static void
noise(void **state)
{
	struct shca_wqe wqe;
	uint32_t random = 1;

	(void)state;
	for (unsigned int i = 0; i < 20000; i++) {
		uint8_t bytes[SHCA_WQE_MAX_BYTES];
		char text[64];

		for (unsigned int j = 0; j < sizeof(bytes); j++) {
			random = random * 1103515245 + 12345;
			bytes[j] = (uint8_t)(random >> 16) & (i & 1 ? 0x83 : 0xff);
		}
		bytes[3] = i & 2 ? MLX5_OPCODE_SEND : SHCA_OPCODE_ENHANCED_MPSW;
		(void)shca_wqe_decode(bytes, sizeof(bytes), &wqe);
		assert_uint_in_range(wqe.nb_segments, 0, SHCA_WQE_MAX_SEGMENTS);
		shca_wqe_print(&wqe, text, sizeof(text));
		assert_uint_in_range(strlen(text), 1, sizeof(text) - 1);
	}
}

static void
print(void **state)
{
	struct shca_wqe wqe;
	struct rig_wqe raw;
	char text[256];

	(void)state;
	rig_wqe_start(&raw, MLX5_OPCODE_SEND, SHCA_CE_ALWAYS);
	rig_wqe_eth_vlan(&raw, 0xc0, 0x8000, 5);
	rig_wqe_pointer(&raw, 0x101, 0x1000, 60);
	rig_wqe_inline(&raw, "ab", 2);
	finish(&raw);
	assert_int_equal(decode(&raw, &wqe), 0);
	shca_wqe_print(&wqe, text, sizeof(text));
	assert_string_equal(text,
		"SEND(0x0a.0) index 4660 sqn 0xabcdef ds 4 ce 2 cs 0xc0 mss 0 inline 0"
		" insert 0x8100:0x0005 [0x1000+60 lkey 0x101] [inline 2]");
}

/** A WQE without an ethernet segment shows its data, and one that was not decoded no data. */
static void
print_without_ethernet_segment(void **state)
{
	struct shca_wqe wqe;
	struct rig_wqe raw;
	char text[256];

	(void)state;
	rig_wqe_start(&raw, SHCA_OPCODE_DUMP, SHCA_CE_ALWAYS);
	rig_wqe_pointer(&raw, 0x101, 0x1000, 60);
	finish(&raw);
	assert_int_equal(decode(&raw, &wqe), 0);
	shca_wqe_print(&wqe, text, sizeof(text));
	assert_string_equal(
		text, "DUMP(0x23.0) index 4660 sqn 0xabcdef ds 2 ce 2 [0x1000+60 lkey 0x101]");
	raw.bytes[7] = 1;
	memset(&wqe, 0xff, sizeof(wqe));
	assert_int_equal(decode(&raw, &wqe), MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR);
	shca_wqe_print(&wqe, text, sizeof(text));
	assert_string_equal(text, "DUMP(0x23.0) index 4660 sqn 0xabcdef ds 1 ce 2");
	/* Likewise when only the control segment was decoded. */
	memset(&wqe, 0xff, sizeof(wqe));
	shca_wqe_decode_ctrl(raw.bytes, &wqe);
	shca_wqe_print(&wqe, text, sizeof(text));
	assert_string_equal(text, "DUMP(0x23.0) index 4660 sqn 0xabcdef ds 1 ce 2");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(control_segment),
		cmocka_unit_test(wqebbs),
		cmocka_unit_test(inline_headers),
		cmocka_unit_test(mixed_segments),
		cmocka_unit_test(without_ethernet_segment),
		cmocka_unit_test(vlan_insertion),
		cmocka_unit_test(longest),
		cmocka_unit_test(malformed),
		cmocka_unit_test(noise),
		cmocka_unit_test(print),
		cmocka_unit_test(print_without_ethernet_segment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
