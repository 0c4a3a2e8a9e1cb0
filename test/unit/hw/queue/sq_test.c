/* SPDX-License-Identifier: BSD-3-Clause */
/* Send queue: forms of WQEs on the wire, wraps, completions, errors, flush, back-pressure. */
#include "rig.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define QP_OP MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR
#define PROT  MLX5_CQE_SYNDROME_LOCAL_PROT_ERR
#define FLUSH MLX5_CQE_SYNDROME_WR_FLUSH_ERR

static void
expect_sent(struct rig *rig, unsigned int n, const void *bytes, uint32_t length)
{
	assert_uint_in_range(rig->wire.nb_sent, n + 1, RIG_WIRE_FRAMES);
	assert_int_equal(rig->wire.sent[n].length, length);
	assert_memory_equal(rig->wire.sent[n].bytes, bytes, length);
}

/** The same frame in every way to cut it up. */
static void
forms(void **state)
{
	static const struct {
		uint16_t inlined;     /* in the ethernet segment */
		uint16_t segments[4]; /* lengths; high bit: inline */
	} cases[] = {
		{ 0, { 200 } },
		{ 18, { 182 } },
		{ 2, { 198 } },
		{ 1, { 199 } },
		{ 0, { 100, 100 } },
		{ 18, { 1, 80, 100, 1 } },
		{ 200, { 0 } },
		{ 0, { 0x8000 | 200 } },
		{ 18, { 0x8000 | 50, 82, 0x8000 | 49, 1 } },
	};
	uint8_t frame[200];
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	rig_frame(frame, sizeof(frame), 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t done = cases[i].inlined;
		struct shca_cqe cqe;
		struct rig_wqe wqe;
		uint16_t index;

		rig_wqe_start(&wqe, MLX5_OPCODE_SEND, SHCA_CE_ALWAYS);
		rig_wqe_eth(&wqe, 0, 0, frame, cases[i].inlined);
		for (unsigned int j = 0; j < 4 && cases[i].segments[j] != 0; j++) {
			uint32_t length = cases[i].segments[j] & 0x7fff;

			if (cases[i].segments[j] & 0x8000)
				rig_wqe_inline(&wqe, frame + done, length);
			else
				rig_wqe_pointer(&wqe, rig.mr->lkey,
					rig_place(&rig, j * 1000, frame + done, length), length);
			done += length;
		}
		assert_int_equal(done, sizeof(frame));
		index = rig_post(&rig, &wqe);
		rig_run(&rig);
		expect_sent(&rig, (unsigned int)i, frame, sizeof(frame));
		assert_true(rig_poll(&rig.tx, &cqe));
		assert_int_equal(cqe.op_own >> 4, MLX5_CQE_REQ);
		assert_int_equal(be16toh(cqe.wqe_counter), index);
		assert_int_equal(be32toh(cqe.sop_drop_qpn), 0x0a000000 | shca_sq_number(rig.sq));
		assert_int_equal(be32toh(cqe.user_index), RIG_USER_INDEX);
		assert_int_not_equal(cqe.timestamp, 0);
	}
	rig_close(&rig);
}

/** WQEs of 1 to 15 WQEBBs over the ring's end, and the 16-bit counter over its own. */
static void
wraps(void **state)
{
	uint8_t frame[900];
	struct shca_cqe cqe;
	unsigned int nb = 0;
	struct rig rig;
	uint32_t total = 0;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	rig_frame(frame, sizeof(frame), 5);
	while (total < 70000) {
		uint32_t length = 60 + nb * 37 % 840;
		struct rig_wqe wqe;
		uint16_t index;

		rig_wqe_start(&wqe, MLX5_OPCODE_SEND, SHCA_CE_ALWAYS);
		rig_wqe_eth(&wqe, 0, 0, frame, 18);
		rig_wqe_inline(&wqe, frame + 18, length - 18);
		index = rig_post(&rig, &wqe);
		assert_int_equal(index, (uint16_t)total);
		total += (wqe.length + 63) / 64;
		shca_device_step(rig.dev);
		assert_true(rig_poll(&rig.tx, &cqe));
		assert_int_equal(be16toh(cqe.wqe_counter), index);
		expect_sent(&rig, 0, frame, length);
		rig_forget(&rig.wire);
		nb++;
	}
	rig_close(&rig);
}

static void
vlan_insertion(void **state)
{
	uint8_t frame[100], expected[104];
	struct rig_wqe wqe;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	rig_frame(frame, sizeof(frame), 1);
	memcpy(expected, frame, 12);
	memcpy(expected + 12, "\x81\x00\x20\x07", 4);
	memcpy(expected + 16, frame + 12, 88);
	rig_wqe_start(&wqe, MLX5_OPCODE_SEND, SHCA_CE_ON_ERROR);
	rig_wqe_eth_vlan(&wqe, 0, 0x8000, 0x2007);
	rig_wqe_pointer(&wqe, rig.mr->lkey, rig_place(&rig, 0, frame, 100), 100);
	rig_post(&rig, &wqe);
	rig_run(&rig);
	expect_sent(&rig, 0, expected, 104);
	rig_close(&rig);
}

static void
checksums_and_padding(void **state)
{
	uint8_t packet[128], sent[128] = { 0 };
	uint32_t length = rig_packet(packet, RIG_IPV4_UDP, false, 3);
	struct rig_wqe wqe;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	memcpy(sent, packet, length);
	rig_put16(packet + 24, 0xdead);
	rig_put16(packet + 40, 0xbeef);
	rig_wqe_start(&wqe, MLX5_OPCODE_SEND, SHCA_CE_ON_ERROR);
	rig_wqe_eth(&wqe, SHCA_ETH_CSUM_L3 | SHCA_ETH_CSUM_L4, 0, packet, 18);
	rig_wqe_pointer(
		&wqe, rig.mr->lkey, rig_place(&rig, 0, packet + 18, length - 18), length - 18);
	rig_post(&rig, &wqe);
	rig_run(&rig);
	expect_sent(&rig, 0, sent, 60);
	/* The application's memory is only read. */
	assert_memory_equal(rig.buffers + RIG_TX_OFFSET, packet + 18, length - 18);
	rig_close(&rig);
}

static void
completion_modes(void **state)
{
	static const struct {
		enum shca_ce ce;
		bool signal_all, completes;
	} cases[] = {
		{ SHCA_CE_ON_ERROR, false, false },
		{ SHCA_CE_ON_FIRST_ERROR, false, false },
		{ SHCA_CE_ALWAYS, false, true },
		{ SHCA_CE_ALWAYS_AND_EQE, false, true },
		{ SHCA_CE_ON_ERROR, true, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct shca_cqe cqe;
		struct rig rig;

		rig_init(&rig);
		rig.sq_attr.signal_all = cases[i].signal_all;
		rig_open(&rig);
		rig_send(&rig, 0, 64, cases[i].ce);
		rig_run(&rig);
		assert_int_equal(rig.wire.nb_sent, 1);
		assert_int_equal(rig_poll(&rig.tx, &cqe), cases[i].completes);
		rig_close(&rig);
	}
}

/** Each way to fail: one error CQE at the WQE's index, the flush of what follows by CE, then
 * silence. */
static void
errors(void **state)
{
	static const struct {
		const char *what;
		uint8_t syndrome;
		uint16_t offset; /* byte of the WQE to change */
		uint8_t value;
		bool swallows; /* nobody can tell where the next WQE starts */
	} cases[] = {
		{ "opcode", QP_OP, 3, MLX5_OPCODE_RDMA_WRITE },
		{ "old multi-packet, not offered", QP_OP, 0, 1 },
		{ "enhanced multi-packet, not offered", QP_OP, 3, SHCA_OPCODE_ENHANCED_MPSW },
		{ "no units", QP_OP, 7, 0 },
		{ "more units than posted", QP_OP, 7, 63, true },
		{ "another queue's number", QP_OP, 6, 0x77 },
		{ "another WQE's index", QP_OP, 2, 99 },
		{ "inline header too long", QP_OP, 29, 100 },
		{ "less than an Ethernet header", QP_OP, 35, 13 },
		{ "unknown key", PROT, 38, 0x55 },
		{ "reserved key", PROT, 39, 0 },
		{ "before the region", PROT, 42, 0 }, /* 0x7f of an address */
		{ "longer than the region", PROT, 32, 0x70 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct shca_cqe cqe;
		struct rig_wqe wqe;
		struct rig rig;

		rig_init(&rig);
		rig.model.multi_pkt_send = 0;
		rig_open(&rig);
		rig_send(&rig, 0, 100, SHCA_CE_ON_ERROR);
		rig_wqe_start(&wqe, MLX5_OPCODE_SEND, SHCA_CE_ON_ERROR);
		rig_wqe_eth(&wqe, 0, 0, "", 0);
		rig_wqe_pointer(&wqe, rig.mr->lkey, (uintptr_t)rig.buffers + 0x10000, 100);
		rig_number(&rig, &wqe);
		if (wqe.bytes[cases[i].offset] == cases[i].value)
			fail_msg("no change: %s", cases[i].what);
		wqe.bytes[cases[i].offset] = cases[i].value;
		rig_post_raw(&rig, &wqe, 1);
		rig_send(&rig, 0, 100, SHCA_CE_ON_FIRST_ERROR);
		rig_send(&rig, 0, 100, SHCA_CE_ON_ERROR);
		rig_send(&rig, 0, 100, SHCA_CE_ALWAYS);
		rig_run(&rig);
		rig_expect_error(&rig.tx, MLX5_CQE_REQ_ERR, cases[i].syndrome, 1);
		if (!cases[i].swallows) {
			rig_expect_error(&rig.tx, MLX5_CQE_REQ_ERR, FLUSH, 3);
			rig_expect_error(&rig.tx, MLX5_CQE_REQ_ERR, FLUSH, 4);
		}
		assert_false(rig_poll(&rig.tx, &cqe));
		assert_int_equal(rig.wire.nb_sent, 1);
		assert_int_equal(shca_sq_state(rig.sq), SHCA_QUEUE_ERROR);
		/* What is posted to a queue in error is flushed too. */
		rig_send(&rig, 0, 100, SHCA_CE_ALWAYS);
		rig_run(&rig);
		rig_expect_error(&rig.tx, MLX5_CQE_REQ_ERR, FLUSH, 5);
		assert_int_equal(shca_device_stats(rig.dev)->tx_errors, cases[i].swallows ? 2 : 4);
		rig_close(&rig);
	}
}

/** RESET forgets, READY starts over at 0. */
static void
recovery(void **state)
{
	struct shca_cqe cqe;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	rig_send(&rig, 0, 5, SHCA_CE_ALWAYS);
	rig_run(&rig);
	rig_expect_error(&rig.tx, MLX5_CQE_REQ_ERR, QP_OP, 0);
	shca_sq_modify(rig.sq, SHCA_QUEUE_RESET);
	rig.sq_pi = 0;
	rig.sq_attr.dbrec[1] = 0;
	rig_run(&rig);
	shca_sq_modify(rig.sq, SHCA_QUEUE_READY);
	rig_send(&rig, 0, 100, SHCA_CE_ALWAYS);
	rig_run(&rig);
	assert_true(rig_poll(&rig.tx, &cqe));
	assert_int_equal(cqe.op_own >> 4, MLX5_CQE_REQ);
	assert_int_equal(cqe.wqe_counter, 0);
	assert_int_equal(rig.wire.nb_sent, 1);
	/* By command: flushed by the next step. */
	shca_sq_modify(rig.sq, SHCA_QUEUE_ERROR);
	rig_send(&rig, 0, 100, SHCA_CE_ALWAYS);
	rig_run(&rig);
	rig_expect_error(&rig.tx, MLX5_CQE_REQ_ERR, FLUSH, 1);
	rig_close(&rig);
}

static void
counter_beyond_the_ring(void **state)
{
	struct shca_cqe cqe;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	rig.sq_attr.dbrec[1] = htobe32(17);
	rig_run(&rig);
	assert_int_equal(rig.nb_sq_fatal, 1);
	assert_false(rig_poll(&rig.tx, &cqe));
	assert_int_equal(shca_sq_state(rig.sq), SHCA_QUEUE_ERROR);
	rig_close(&rig);
}

/** A wire that takes one frame at a time: each is sent once, and completes when it has been taken.
 */
static void
back_pressure(void **state)
{
	uint8_t frame[8][64];
	struct shca_cqe cqe;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	rig.wire.room = 0;
	for (unsigned int i = 0; i < 8; i++) {
		rig_frame(frame[i], 64, (uint8_t)(i * 50));
		rig_place(&rig, i * 64, frame[i], 64);
		rig_send(&rig, i * 64, 64, SHCA_CE_ALWAYS);
	}
	/* The last fails: after the others have left. */
	rig_send(&rig, 0, 5, SHCA_CE_ALWAYS);
	for (unsigned int i = 0; i < 8; i++) {
		rig_run(&rig);
		assert_int_equal(rig.wire.nb_sent, i);
		assert_false(rig_poll(&rig.tx, &cqe));
		rig.wire.room = 1;
		rig_run(&rig);
		assert_true(rig_poll(&rig.tx, &cqe));
		assert_int_equal(be16toh(cqe.wqe_counter), i);
		expect_sent(&rig, i, frame[i], 64);
	}
	rig_run(&rig);
	rig_expect_error(&rig.tx, MLX5_CQE_REQ_ERR, QP_OP, 8);
	assert_int_equal(shca_device_stats(rig.dev)->tx_frames, 8);
	assert_int_equal(shca_device_stats(rig.dev)->tx_bytes, 8 * 64);
	rig_close(&rig);
}

/** A queue reset while its frames wait: they are not sent, and complete nothing. */
static void
reset_under_back_pressure(void **state)
{
	struct shca_cqe cqe;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	rig.wire.room = 1;
	for (unsigned int i = 0; i < 4; i++)
		rig_send(&rig, 0, 64, SHCA_CE_ALWAYS);
	rig_run(&rig);
	assert_true(rig_poll(&rig.tx, &cqe));
	shca_sq_modify(rig.sq, SHCA_QUEUE_RESET);
	rig.wire.room = 100;
	rig_run(&rig);
	assert_int_equal(rig.wire.nb_sent, 1);
	assert_false(rig_poll(&rig.tx, &cqe));
	rig_close(&rig);
}

static void
enhanced_multi_packet(void **state)
{
	uint8_t frame[20][80];
	struct shca_cqe cqe;
	struct rig_wqe wqe;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.model.multi_pkt_send = 4;
	rig_open(&rig);
	rig_wqe_start(&wqe, SHCA_OPCODE_ENHANCED_MPSW, SHCA_CE_ALWAYS);
	rig_wqe_eth(&wqe, 0, 0, "", 0);
	for (unsigned int i = 0; i < 20; i++) {
		rig_frame(frame[i], 80, (uint8_t)i);
		if (i % 4 == 3)
			rig_wqe_inline(&wqe, frame[i], 80);
		else
			rig_wqe_pointer(
				&wqe, rig.mr->lkey, rig_place(&rig, i * 80, frame[i], 80), 80);
	}
	rig.wire.room = 7;
	rig_post(&rig, &wqe);
	rig_run(&rig);
	assert_int_equal(rig.wire.nb_sent, 7);
	assert_false(rig_poll(&rig.tx, &cqe));
	rig.wire.room = 100;
	rig_run(&rig);
	assert_int_equal(rig.wire.nb_sent, 20);
	for (unsigned int i = 0; i < 20; i++)
		expect_sent(&rig, i, frame[i], 80);
	assert_true(rig_poll(&rig.tx, &cqe));
	assert_int_equal(be32toh(cqe.sop_drop_qpn) >> 24, SHCA_OPCODE_ENHANCED_MPSW);
	assert_false(rig_poll(&rig.tx, &cqe));
	rig_close(&rig);
}

/** Read, completed in order, and not sent; a bad key fails the queue as with a frame. */
static void
dump(void **state)
{
	uint8_t frame[64];
	struct shca_cqe cqe;
	struct rig_wqe wqe;
	uint64_t address;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.model.dump = true;
	rig_open(&rig);
	rig_frame(frame, sizeof(frame), 1);
	address = rig_place(&rig, 0, frame, sizeof(frame));
	rig_wqe_start(&wqe, SHCA_OPCODE_DUMP, SHCA_CE_ALWAYS);
	rig_wqe_pointer(&wqe, rig.mr->lkey, address, sizeof(frame));
	rig_post(&rig, &wqe);
	rig_send(&rig, 0, sizeof(frame), SHCA_CE_ALWAYS);
	rig_wqe_start(&wqe, SHCA_OPCODE_DUMP, SHCA_CE_ALWAYS);
	rig_wqe_pointer(&wqe, rig.mr->lkey + 1, address, sizeof(frame));
	rig_post(&rig, &wqe);
	rig_run(&rig);
	assert_true(rig_poll(&rig.tx, &cqe));
	assert_int_equal(cqe.op_own >> 4, MLX5_CQE_REQ);
	assert_int_equal(be16toh(cqe.wqe_counter), 0);
	assert_int_equal(be32toh(cqe.sop_drop_qpn) >> 24, SHCA_OPCODE_DUMP);
	assert_true(rig_poll(&rig.tx, &cqe));
	assert_int_equal(be32toh(cqe.sop_drop_qpn) >> 24, MLX5_OPCODE_SEND);
	rig_expect_error(&rig.tx, MLX5_CQE_REQ_ERR, PROT, 2);
	assert_int_equal(rig.wire.nb_sent, 1);
	expect_sent(&rig, 0, frame, sizeof(frame));
	rig_close(&rig);
}

/** Up to six frames of one length, by pointer or inlined end to end; nothing else. */
static void
old_multi_packet(void **state)
{
	static const struct {
		const char *what;
		bool is_inlined, is_sent;
		uint8_t nb;
		uint16_t length, mss;
		uint8_t last; /* bytes the last frame lacks */
		uint32_t caps;
	} cases[] = {
		{ "pointers", false, true, 6, 80, 80, 0, 2 },
		{ "inlined end to end", true, true, 5, 65, 65, 0, 2 },
		{ "one frame", true, true, 1, 90, 90, 0, 6 },
		{ "seven", false, false, 7, 80, 80, 0, 2 },
		{ "seven inlined", true, false, 7, 60, 60, 0, 2 },
		{ "a length of its own", false, false, 3, 80, 80, 1, 2 },
		{ "inlined, the last cut", true, false, 3, 80, 80, 1, 2 },
		{ "another length than stated", false, false, 3, 80, 81, 0, 2 },
		{ "no length", true, false, 3, 80, 0, 0, 2 },
		{ "shorter than a header", false, false, 3, 13, 13, 0, 2 },
		{ "no frame", false, false, 0, 80, 80, 0, 2 },
		{ "only the enhanced form offered", false, false, 3, 80, 80, 0, 4 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const uint16_t length = cases[i].length;
		uint32_t all = (uint32_t)length * cases[i].nb - cases[i].last;
		uint8_t frames[7 * 80];
		struct shca_cqe cqe;
		struct rig_wqe wqe;
		uint64_t address;
		struct rig rig;

		rig_init(&rig);
		rig.model.multi_pkt_send = cases[i].caps;
		rig.model.min_inline = SHCA_MIN_INLINE_L2;
		rig_open(&rig);
		rig_wqe_start(&wqe, MLX5_OPCODE_TSO, SHCA_CE_ALWAYS);
		wqe.bytes[0] = SHCA_OPMOD_MPW;
		rig_wqe_eth(&wqe, 0, cases[i].mss, "", 0);
		for (uint8_t j = 0; j < cases[i].nb; j++)
			rig_frame(frames + (size_t)j * length, length, j);
		address = rig_place(&rig, 0, frames, all);
		if (cases[i].is_inlined)
			rig_wqe_inline(&wqe, frames, all);
		for (uint8_t j = 0; j < cases[i].nb && !cases[i].is_inlined; j++)
			rig_wqe_pointer(&wqe, rig.mr->lkey, address + (uint64_t)j * length,
				length - (j == cases[i].nb - 1 ? cases[i].last : 0));
		rig_post(&rig, &wqe);
		rig_run(&rig);
		if (rig.wire.nb_sent != (cases[i].is_sent ? cases[i].nb : 0))
			fail_msg("%s: %u sent", cases[i].what, rig.wire.nb_sent);
		for (uint8_t j = 0; j < rig.wire.nb_sent; j++)
			expect_sent(&rig, j, frames + (size_t)j * length, length);
		if (cases[i].is_sent) {
			assert_true(rig_poll(&rig.tx, &cqe));
			assert_int_equal(be32toh(cqe.sop_drop_qpn) >> 24, MLX5_OPCODE_TSO);
		} else {
			rig_expect_error(&rig.tx, MLX5_CQE_REQ_ERR, QP_OP, 0);
		}
		assert_false(rig_poll(&rig.tx, &cqe));
		rig_close(&rig);
	}
}

/** ConnectX-4 Lx wants an Ethernet header with tag inlined. */
static void
min_inline(void **state)
{
	static const struct {
		enum shca_min_inline mode;
		uint16_t inlined, length;
		bool is_sent;
	} cases[] = {
		{ SHCA_MIN_INLINE_L2, 18, 100, true },
		{ SHCA_MIN_INLINE_L2, 17, 100, false },
		{ SHCA_MIN_INLINE_L2, 0, 100, false },
		{ SHCA_MIN_INLINE_L2, 16, 16, true },
		{ SHCA_MIN_INLINE_UNKNOWN, 0, 100, false },
		{ SHCA_MIN_INLINE_NONE, 0, 100, true },
	};
	uint8_t frame[100];

	(void)state;
	rig_frame(frame, sizeof(frame), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint16_t rest = cases[i].length - cases[i].inlined;
		struct rig_wqe wqe;
		struct rig rig;

		rig_init(&rig);
		rig.model.min_inline = cases[i].mode;
		rig_open(&rig);
		rig_wqe_start(&wqe, MLX5_OPCODE_SEND, SHCA_CE_ON_ERROR);
		rig_wqe_eth(&wqe, 0, 0, frame, cases[i].inlined);
		if (rest != 0)
			rig_wqe_pointer(&wqe, rig.mr->lkey, rig_place(&rig, 0, frame, rest), rest);
		rig_post(&rig, &wqe);
		rig_run(&rig);
		assert_int_equal(rig.wire.nb_sent, cases[i].is_sent);
		if (!cases[i].is_sent)
			rig_expect_error(&rig.tx, MLX5_CQE_REQ_ERR, QP_OP, 0);
		rig_close(&rig);
	}
}

/** Longer than any port carries: the port drops it, the WQE completes. */
static void
oversize(void **state)
{
	struct shca_cqe cqe;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	rig_send(&rig, 0, SHCA_FRAME_MAX + 1, SHCA_CE_ALWAYS);
	rig_send(&rig, 0, SHCA_FRAME_MAX, SHCA_CE_ALWAYS);
	rig_run(&rig);
	assert_true(rig_poll(&rig.tx, &cqe));
	assert_int_equal(cqe.op_own >> 4, MLX5_CQE_REQ);
	assert_true(rig_poll(&rig.tx, &cqe));
	assert_int_equal(rig.wire.nb_sent, 1);
	assert_int_equal(rig.wire.sent[0].length, SHCA_FRAME_MAX);
	rig_close(&rig);
}

/** The hardware would have pinned the pages; the model reports them, and the process lives. */
static void
unmapped_memory(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		struct shca_cqe cqe;
		struct rig_wqe wqe;
		struct rig rig;

		rig_init(&rig);
		rig_open(&rig);
		for (unsigned int j = 0; j < 300; j++)
			shca_device_step(rig.dev); /* cmocka's handler gives way to the guard's */
		rig_send(&rig, 4096, 64, SHCA_CE_ON_FIRST_ERROR);
		rig_wqe_start(&wqe, MLX5_OPCODE_SEND, SHCA_CE_ON_FIRST_ERROR);
		/* 0: in place; 1: gathered. 2 and 3: ring and record. */
		rig_wqe_eth(&wqe, i == 1 ? SHCA_ETH_CSUM_L3 : 0, 0, "", 0);
		rig_wqe_pointer(&wqe, rig.mr->lkey, (uintptr_t)rig.buffers + RIG_TX_OFFSET, 100);
		rig_post(&rig, &wqe);
		rig_send(&rig, 4096, 64, SHCA_CE_ALWAYS);
		if (i < 2)
			munmap(rig.buffers + RIG_TX_OFFSET, 4096);
		else
			munmap(i == 2 ? (void *)rig.sq_attr.ring : rig.sq_attr.dbrec, 4096);
		rig_run(&rig);
		assert_int_equal(shca_sq_state(rig.sq), SHCA_QUEUE_ERROR);
		if (i < 2) {
			rig_expect_error(&rig.tx, MLX5_CQE_REQ_ERR, PROT, 1);
			rig_expect_error(&rig.tx, MLX5_CQE_REQ_ERR, FLUSH, 2);
		}
		assert_int_equal(rig.nb_sq_fatal, i >= 2);
		assert_false(rig_poll(&rig.tx, &cqe));
		assert_int_equal(shca_device_step(rig.dev), 0);
		rig_close(&rig);
	}
}

static void
creation(void **state)
{
	struct shca_sq *sq = NULL;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	for (unsigned int i = 0; i < 6; i++) {
		struct shca_sq_attr attr = rig.sq_attr;

		if (i == 0)
			attr.nb_wqebbs = 0;
		else if (i == 1)
			attr.nb_wqebbs = 12;
		else if (i == 2)
			attr.nb_wqebbs = 1 << 16;
		else if (i == 3)
			attr.dbrec++;
		else if (i == 4)
			attr.ring = NULL;
		else
			attr.dbrec = NULL;
		assert_int_equal(shca_sq_create(rig.dev, &attr, &sq), i < 4 ? -EINVAL : -EFAULT);
	}
	assert_null(sq);
	shca_sq_destroy(NULL);
	rig_close(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forms),
		cmocka_unit_test(wraps),
		cmocka_unit_test(vlan_insertion),
		cmocka_unit_test(checksums_and_padding),
		cmocka_unit_test(completion_modes),
		cmocka_unit_test(errors),
		cmocka_unit_test(recovery),
		cmocka_unit_test(counter_beyond_the_ring),
		cmocka_unit_test(back_pressure),
		cmocka_unit_test(reset_under_back_pressure),
		cmocka_unit_test(enhanced_multi_packet),
		cmocka_unit_test(dump),
		cmocka_unit_test(old_multi_packet),
		cmocka_unit_test(min_inline),
		cmocka_unit_test(oversize),
		cmocka_unit_test(unmapped_memory),
		cmocka_unit_test(creation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
