/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of send opcodes: which one a WQE finds, when it is refused, how many frames it makes. */
#include "rig.h"

#include <netinet/in.h>
#include <string.h>

#include "hw/format/opcode.h"
#include "hw/format/wqe.h"

#define MPW_BOTH (SHCA_MPW_OLD | SHCA_MPW_ENHANCED)

static void
rows(void **state)
{
	static const struct {
		uint8_t opcode, opmod;
		const char *name; /* NULL: unknown */
		bool has_eth, is_split;
	} cases[] = {
		{ MLX5_OPCODE_NOP, 0, "NOP", false, false },
		{ MLX5_OPCODE_NOP, 3, "NOP", false, false },
		{ MLX5_OPCODE_SEND, 0, "SEND", true, false },
		{ MLX5_OPCODE_TSO, 0, "TSO", true, false },
		{ MLX5_OPCODE_TSO, SHCA_OPMOD_MPW, "TSO", true, true },
		{ MLX5_OPCODE_TSO, 2, "TSO", true, false },
		{ SHCA_OPCODE_ENHANCED_MPSW, 0, "ENHANCED_MPSW", true, false },
		{ SHCA_OPCODE_DUMP, 0, "DUMP", false, false },
		{ MLX5_OPCODE_SEND_IMM, 0, NULL, false, false },
		{ MLX5_OPCODE_RDMA_WRITE, 0, NULL, false, false },
		{ MLX5_OPCODE_UMR, 0, NULL, false, false },
		{ 0xff, 0, NULL, false, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct shca_opcode *row = shca_opcode_find(cases[i].opcode, cases[i].opmod);

		if (cases[i].name == NULL) {
			assert_null(row);
			continue;
		}
		assert_non_null(row);
		assert_int_equal(row->opcode, cases[i].opcode);
		assert_string_equal(row->name, cases[i].name);
		assert_int_equal(row->has_eth, cases[i].has_eth);
		assert_int_equal(row->is_split, cases[i].is_split);
		/* Frames have a builder, and only they. */
		assert_true((row->nb_frames != NULL) == (row->build != NULL));
		assert_true(!cases[i].has_eth || row->build != NULL);
	}
}

/** A decoded WQE with an ethernet segment and @p nb pointer segments of @p length bytes. */
static struct shca_wqe
decoded(uint8_t opcode, uint8_t opmod, unsigned int nb, uint32_t length)
{
	struct shca_wqe wqe;

	memset(&wqe, 0, sizeof(wqe));
	wqe.opcode = opcode;
	wqe.opmod = opmod;
	wqe.row = shca_opcode_find(opcode, opmod);
	assert_non_null(wqe.row);
	wqe.has_eth = wqe.row->has_eth;
	wqe.nb_segments = (uint8_t)nb;
	wqe.segments_length = nb * length;
	for (unsigned int i = 0; i < nb; i++)
		wqe.segment[i].length = length;
	return wqe;
}

/** Each row takes one form, and one change after the other makes it another. */
static void
refusals(void **state)
{
	static const struct {
		const char *what;
		uint8_t opcode, opmod;
		uint8_t nb;
		uint16_t length, inlined, mss;
		uint32_t caps;
		bool insert_vlan, is_refused;
	} cases[] = {
		{ "NOP", MLX5_OPCODE_NOP, 5, 0, 0, 0, 0, 0, false, false },
		{ "SEND", MLX5_OPCODE_SEND, 0, 1, 14, 0, 0, 0, false, false },
		{ "SEND, all inlined", MLX5_OPCODE_SEND, 0, 0, 0, 14, 0, 0, false, false },
		{ "SEND of 13 bytes", MLX5_OPCODE_SEND, 0, 1, 11, 2, 0, 0, false, true },
		{ "SEND, opmod", MLX5_OPCODE_SEND, 1, 1, 14, 0, 0, 0, false, true },
		{ "SEND with a tag", MLX5_OPCODE_SEND, 0, 1, 14, 0, 0, 0, true, false },
		{ "TSO", MLX5_OPCODE_TSO, 0, 1, 1000, 14, 100, 0, false, false },
		{ "TSO, opmod", MLX5_OPCODE_TSO, 2, 1, 1000, 14, 100, 0, false, true },
		{ "TSO with a tag", MLX5_OPCODE_TSO, 0, 1, 1000, 14, 100, 0, true, true },
		{ "TSO without mss", MLX5_OPCODE_TSO, 0, 1, 1000, 14, 0, 0, false, true },
		{ "TSO without payload", MLX5_OPCODE_TSO, 0, 0, 0, 14, 100, 0, false, true },
		{ "TSO, short header", MLX5_OPCODE_TSO, 0, 1, 1000, 13, 100, 0, false, true },
		{ "TSO, longest", MLX5_OPCODE_TSO, 0, 8, 0x8000, 14, 100, 0, false, false },
		{ "TSO, too long", MLX5_OPCODE_TSO, 0, 8, 0x8001, 14, 100, 0, false, true },
		{ "MPW", MLX5_OPCODE_TSO, 1, 6, 14, 0, 14, SHCA_MPW_OLD, false, false },
		{ "MPW of seven", MLX5_OPCODE_TSO, 1, 7, 14, 0, 14, MPW_BOTH, false, true },
		{ "MPW of none", MLX5_OPCODE_TSO, 1, 0, 0, 0, 14, MPW_BOTH, false, true },
		{ "MPW, short", MLX5_OPCODE_TSO, 1, 2, 13, 0, 13, MPW_BOTH, false, true },
		{ "MPW, lengths", MLX5_OPCODE_TSO, 1, 2, 15, 0, 14, MPW_BOTH, false, true },
		{ "MPW, inlined", MLX5_OPCODE_TSO, 1, 2, 14, 1, 14, MPW_BOTH, false, true },
		{ "MPW, no cap", MLX5_OPCODE_TSO, 1, 6, 14, 0, 14, SHCA_MPW_ENHANCED, false, true },
		{ "MPSW", 0x29, 0, 61, 14, 0, 0, SHCA_MPW_ENHANCED, false, false },
		{ "MPSW with a tag", 0x29, 0, 1, 14, 0, 0, MPW_BOTH, true, true },
		{ "MPSW, opmod", 0x29, 1, 1, 14, 0, 0, MPW_BOTH, false, true },
		{ "MPSW of none", 0x29, 0, 0, 0, 0, 0, MPW_BOTH, false, true },
		{ "MPSW, short", 0x29, 0, 2, 13, 0, 0, MPW_BOTH, false, true },
		{ "MPSW, inlined", 0x29, 0, 2, 14, 18, 0, MPW_BOTH, false, true },
		{ "MPSW, no cap", 0x29, 0, 2, 14, 0, 0, SHCA_MPW_OLD, false, true },
		{ "DUMP", 0x23, 0, 1, 1, 0, 0, 0, false, false },
		{ "DUMP of two", 0x23, 0, 2, 60, 0, 0, 0, false, true },
		{ "DUMP of none", 0x23, 0, 0, 0, 0, 0, 0, false, true },
		{ "DUMP, opmod", 0x23, 1, 1, 60, 0, 0, 0, false, true },
	};
	struct shca_model model = *shca_model_at(0);

	(void)state;
	assert_int_equal(model.max_tso_bytes, 8 * 0x8000);
	model.dump = true;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct shca_wqe wqe =
			decoded(cases[i].opcode, cases[i].opmod, cases[i].nb, cases[i].length);

		model.multi_pkt_send = cases[i].caps;
		wqe.inline_length = cases[i].inlined;
		wqe.mss = cases[i].mss;
		wqe.insert_vlan = cases[i].insert_vlan;
		if (shca_opcode_is_refused(&wqe, &model) != cases[i].is_refused)
			fail_msg("%s", cases[i].what);
	}
}

static void
tag_without_the_cap(void **state)
{
	struct shca_wqe wqe = decoded(MLX5_OPCODE_SEND, 0, 1, 60);
	struct shca_model model = *shca_model_at(0);

	(void)state;
	wqe.insert_vlan = true;
	model.cvlan_insert = false;
	assert_true(shca_opcode_is_refused(&wqe, &model));
}

static void
dump_needs_the_model(void **state)
{
	static const struct {
		const char *name;
		bool has_dump;
	} cases[] = { { "cx4lx", false }, { "cx5", false }, { "cx6dx", true } };
	struct shca_wqe wqe = decoded(SHCA_OPCODE_DUMP, 0, 1, 60);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(shca_opcode_is_refused(&wqe, shca_model_find(cases[i].name)),
			!cases[i].has_dump);
	wqe.segment[0].inlined = (const uint8_t *)"";
	assert_true(shca_opcode_is_refused(&wqe, shca_model_find("cx6dx")));
}

/** The model's minimum, which whole inlined frames and the old multi-packet form need not keep. */
static void
inline_minimum(void **state)
{
	static const struct {
		uint8_t opcode, opmod, nb;
		uint16_t inlined;
		enum shca_min_inline mode;
		bool is_short;
	} cases[] = {
		{ MLX5_OPCODE_SEND, 0, 1, 18, SHCA_MIN_INLINE_L2, false },
		{ MLX5_OPCODE_SEND, 0, 1, 17, SHCA_MIN_INLINE_L2, true },
		{ MLX5_OPCODE_SEND, 0, 1, 17, SHCA_MIN_INLINE_UNKNOWN, true },
		{ MLX5_OPCODE_SEND, 0, 1, 17, SHCA_MIN_INLINE_NONE, false },
		{ MLX5_OPCODE_SEND, 0, 0, 17, SHCA_MIN_INLINE_L2, false },
		{ MLX5_OPCODE_TSO, 0, 1, 14, SHCA_MIN_INLINE_L2, true },
		{ MLX5_OPCODE_TSO, SHCA_OPMOD_MPW, 1, 0, SHCA_MIN_INLINE_L2, false },
		{ SHCA_OPCODE_ENHANCED_MPSW, 0, 1, 0, SHCA_MIN_INLINE_L2, true },
		{ MLX5_OPCODE_NOP, 0, 0, 0, SHCA_MIN_INLINE_L2, false },
	};
	struct shca_model model = *shca_model_at(0);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct shca_wqe wqe = decoded(cases[i].opcode, cases[i].opmod, cases[i].nb, 60);

		wqe.inline_length = cases[i].inlined;
		wqe.mss = 60;
		model.min_inline = cases[i].mode;
		assert_int_equal(shca_opcode_is_inline_short(&wqe, &model), cases[i].is_short);
		if (cases[i].is_short)
			assert_true(shca_opcode_is_refused(&wqe, &model));
	}
}

/** Ethernet, VLAN; then IPv4 with options or IPv6; then TCP, UDP or another. */
static void
inline_headers(void **state)
{
	static const struct {
		const char *what;
		uint8_t type[2], proto;
		uint16_t network, transport; /* least bytes in either mode */
	} cases[] = {
		{ "IPv4, TCP", { 8, 0 }, IPPROTO_TCP, 38, 58 },
		{ "IPv4, UDP", { 8, 0 }, IPPROTO_UDP, 38, 46 },
		{ "IPv4, ICMP", { 8, 0 }, IPPROTO_ICMP, 38, 38 },
		{ "IPv6, TCP", { 0x86, 0xdd }, IPPROTO_TCP, 58, 78 },
		{ "IPv6, UDP", { 0x86, 0xdd }, IPPROTO_UDP, 58, 66 },
		{ "ARP", { 8, 6 }, 0, 18, 18 },
	};
	struct shca_model model = *shca_model_at(0);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct shca_wqe wqe = decoded(MLX5_OPCODE_SEND, 0, 1, 1000);
		const bool is_v6 = cases[i].type[0] == 0x86;
		const uint32_t l4 = is_v6 ? 58 : 38;
		uint8_t header[128] = { [12] = 0x81,
			[16] = cases[i].type[0],
			[17] = cases[i].type[1],
			[18] = is_v6 ? 0x60 : 0x45 };

		header[is_v6 ? 24 : 27] = cases[i].proto;
		header[is_v6 ? 22 : 20] = 4; /* the length */
		header[l4 + 12] = 5 << 4;    /* of TCP's header */
		wqe.inline_header = header;
		for (wqe.inline_length = 14; wqe.inline_length <= 100; wqe.inline_length++) {
			model.min_inline = SHCA_MIN_INLINE_NETWORK;
			if (shca_opcode_is_inline_short(&wqe, &model) !=
				(wqe.inline_length < cases[i].network))
				fail_msg("network: %s, %u", cases[i].what, wqe.inline_length);
			model.min_inline = SHCA_MIN_INLINE_TRANSPORT;
			if (shca_opcode_is_inline_short(&wqe, &model) !=
				(wqe.inline_length < cases[i].transport))
				fail_msg("transport: %s, %u", cases[i].what, wqe.inline_length);
		}
	}
}

static void
frames(void **state)
{
	static const struct {
		uint8_t opcode, opmod, nb;
		uint16_t length, mss;
		uint32_t nb_frames;
	} cases[] = {
		{ MLX5_OPCODE_SEND, 0, 3, 100, 0, 1 },
		{ MLX5_OPCODE_TSO, 0, 1, 1, 1000, 1 },
		{ MLX5_OPCODE_TSO, 0, 2, 500, 1000, 1 },
		{ MLX5_OPCODE_TSO, 0, 1, 1001, 1000, 2 },
		{ MLX5_OPCODE_TSO, 0, 1, 3000, 1000, 3 },
		{ MLX5_OPCODE_TSO, SHCA_OPMOD_MPW, 5, 64, 64, 5 },
		{ SHCA_OPCODE_ENHANCED_MPSW, 0, 61, 64, 0, 61 },
		{ SHCA_OPCODE_DUMP, 0, 1, 64, 0, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct shca_wqe wqe =
			decoded(cases[i].opcode, cases[i].opmod, cases[i].nb, cases[i].length);

		wqe.mss = cases[i].mss;
		assert_int_equal(wqe.row->nb_frames(&wqe), cases[i].nb_frames);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows),
		cmocka_unit_test(refusals),
		cmocka_unit_test(tag_without_the_cap),
		cmocka_unit_test(dump_needs_the_model),
		cmocka_unit_test(inline_minimum),
		cmocka_unit_test(inline_headers),
		cmocka_unit_test(frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
