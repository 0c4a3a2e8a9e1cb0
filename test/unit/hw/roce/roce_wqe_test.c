/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Send WQEs as libmlx5 writes them for RC and UD, and broken ones. */
#include <endian.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "hw/roce/roce_wqe.h"

/** A WQE under construction. */
static struct {
	_Alignas(16) uint8_t bytes[256];
	uint32_t length;
} made;

static void
add(const void *bytes, uint32_t length)
{
	memcpy(made.bytes + made.length, bytes, length);
	made.length = (made.length + length + 15) & ~15u;
}

static void
start(uint8_t opcode, uint8_t flags)
{
	struct mlx5_wqe_ctrl_seg ctrl = {
		.opmod_idx_opcode = htobe32(0x1234 << 8 | opcode),
		.fm_ce_se = flags,
		.imm = htobe32(0xa1b2c3d4),
	};

	memset(&made, 0, sizeof(made));
	add(&ctrl, sizeof(ctrl));
}

static void
add_remote(void)
{
	const struct mlx5_wqe_raddr_seg raddr = { htobe64(0x1122334455667788), htobe32(0x99), 0 };

	add(&raddr, sizeof(raddr));
}

static void
add_pointer(uint32_t length)
{
	const struct mlx5_wqe_data_seg data = { htobe32(length), htobe32(0x500), htobe64(0x7000) };

	add(&data, sizeof(data));
}

static uint8_t
decode(enum shca_roce_wqe_form form, struct shca_roce_wqe *wqe)
{
	const uint32_t qpn_ds = htobe32(0x800001u << 8 | made.length / 16);

	memcpy(made.bytes + offsetof(struct mlx5_wqe_ctrl_seg, qpn_ds), &qpn_ds, sizeof(qpn_ds));
	return shca_roce_wqe_decode(made.bytes, (made.length + 63) & ~63u, form, wqe);
}

/** A bind of libmlx5's set_bind_wr(), or what is left of one. */
static uint8_t
bind(uint8_t flags, uint64_t mask, uint8_t is_free, uint32_t cut, struct shca_roce_wqe *wqe)
{
	const struct mlx5_wqe_umr_ctrl_seg ctrl = { .flags = flags, .mkey_mask = htobe64(mask) };
	const struct mlx5_wqe_mkey_context_seg mkey = {
		.free = is_free,
		.access_flags = MLX5_WQE_MKEY_CONTEXT_ACCESS_FLAGS_REMOTE_READ,
		.qpn_mkey = htobe32(0x800005u << 8 | 0x77),
		.start_addr = htobe64(0x9000),
		.len = htobe64(0x800),
	};
	const struct mlx5_wqe_umr_klm_seg klm = { htobe32(0x800), htobe32(0x500), htobe64(0x7000) };
	const uint8_t rest[48] = { 0 };

	start(MLX5_OPCODE_UMR, 0);
	add(&ctrl, sizeof(ctrl));
	add(&mkey, sizeof(mkey));
	add(&klm, sizeof(klm));
	add(rest, sizeof(rest));
	made.length -= cut;
	return decode(SHCA_ROCE_WQE_CONNECTED, wqe);
}

static void
bind_of_a_window(void **state)
{
	const uint64_t mask = MLX5_WQE_UMR_CTRL_MKEY_MASK_FREE | MLX5_WQE_UMR_CTRL_MKEY_MASK_QPN;
	struct shca_roce_wqe wqe;

	(void)state;
	assert_int_equal(bind(MLX5_WQE_UMR_CTRL_FLAG_INLINE, mask, 0, 0, &wqe), 0);
	assert_int_equal(wqe.wr.kind, SHCA_WR_LOCAL);
	assert_true(wqe.has_umr && wqe.umr.has_qpn && !wqe.umr.is_free);
	assert_int_equal(wqe.umr.key, 0xa1b2c3d4);
	assert_int_equal(wqe.umr.qpn, 0x800005);
	assert_int_equal(wqe.umr.variant, 0x77);
	assert_int_equal(wqe.umr.start, 0x9000);
	assert_int_equal(wqe.umr.length, 0x800);
	assert_int_equal(wqe.umr.lkey, 0x500);
	assert_int_equal(wqe.umr.address, 0x7000);
	/* One that ends has no region. */
	assert_int_equal(
		bind(MLX5_WQE_UMR_CTRL_FLAG_INLINE, mask, MLX5_WQE_MKEY_CONTEXT_FREE, 64, &wqe), 0);
	assert_true(wqe.umr.is_free);
	assert_int_equal(bind(MLX5_WQE_UMR_CTRL_FLAG_INLINE, mask, 0, 64, &wqe),
		MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR);
	assert_int_equal(bind(MLX5_WQE_UMR_CTRL_FLAG_INLINE, mask, 0, 80, &wqe),
		MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR);
	/* Keys that DevX makes. */
	assert_int_equal(bind(0, mask, 0, 0, &wqe), MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR);
	assert_int_equal(bind(MLX5_WQE_UMR_CTRL_FLAG_INLINE, 0, 0, 0, &wqe),
		MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR);
	bind(MLX5_WQE_UMR_CTRL_FLAG_INLINE, mask, 0, 0, &wqe);
	assert_int_equal(decode(SHCA_ROCE_WQE_DATAGRAM, &wqe), MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR);
}

/** The SRQ's number stands before what an opcode has of its own. */
static void
write_to_an_srq(void **state)
{
	const uint32_t srqn[4] = { htobe32(0x123456) };
	struct shca_roce_wqe wqe;

	(void)state;
	start(MLX5_OPCODE_RDMA_WRITE, 0);
	add(srqn, sizeof(srqn));
	add_remote();
	add_pointer(100);
	assert_int_equal(decode(SHCA_ROCE_WQE_XRC, &wqe), 0);
	assert_int_equal(wqe.wr.xrc_srqn, 0x123456);
	assert_int_equal(wqe.wr.rkey, 0x99);
	assert_int_equal(wqe.wr.length, 100);
	start(MLX5_OPCODE_SEND, 0);
	assert_int_equal(decode(SHCA_ROCE_WQE_XRC, &wqe), MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR);
}

static void
send_of_two_segments(void **state)
{
	struct shca_roce_wqe wqe;

	(void)state;
	start(MLX5_OPCODE_SEND_IMM, MLX5_WQE_CTRL_CQ_UPDATE | MLX5_WQE_CTRL_SOLICITED);
	add_pointer(100);
	add_pointer(28);
	assert_int_equal(decode(SHCA_ROCE_WQE_CONNECTED, &wqe), 0);
	assert_int_equal(wqe.wr.kind, SHCA_WR_SEND);
	assert_true(wqe.wr.has_imm && wqe.wr.solicited && wqe.wr.is_signaled && !wqe.wr.fence);
	assert_int_equal(wqe.wr.imm, 0xa1b2c3d4);
	assert_int_equal(wqe.wr.index, 0x1234);
	assert_int_equal(wqe.wr.length, 128);
	assert_int_equal(wqe.nb_segments, 2);
	assert_int_equal(wqe.segment[1].lkey, 0x500);
}

static void
inlined_write_with_fence(void **state)
{
	uint8_t segment[4 + 21];
	const uint32_t word = htobe32(MLX5_INLINE_SEG | 21);
	struct shca_roce_wqe wqe;

	(void)state;
	memset(segment, 0x77, sizeof(segment));
	memcpy(segment, &word, sizeof(word));
	start(MLX5_OPCODE_RDMA_WRITE, MLX5_WQE_CTRL_FENCE);
	add_remote();
	add(segment, sizeof(segment));
	assert_int_equal(decode(SHCA_ROCE_WQE_CONNECTED, &wqe), 0);
	assert_int_equal(wqe.wr.kind, SHCA_WR_WRITE);
	assert_true(wqe.wr.fence && !wqe.wr.is_signaled);
	assert_int_equal(wqe.wr.va, 0x1122334455667788);
	assert_int_equal(wqe.wr.rkey, 0x99);
	assert_int_equal(wqe.wr.length, 21);
	assert_memory_equal(wqe.segment[0].inlined, segment + 4, 21);
}

/** A port's longest message (max_msg_sz) has 1 GiB: a longer one is a local length error (IBTA
 * 11.6.2). */
static void
longest_message(void **state)
{
	struct shca_roce_wqe wqe;

	(void)state;
	for (uint32_t more = 0; more <= 1; more++) {
		start(MLX5_OPCODE_RDMA_WRITE, 0);
		add_remote();
		add_pointer(1u << 29);
		add_pointer((1u << 29) + more);
		assert_int_equal(decode(SHCA_ROCE_WQE_CONNECTED, &wqe),
			more == 0 ? 0 : MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR);
	}
}

static void
atomic_of_8_bytes(void **state)
{
	const struct mlx5_wqe_atomic_seg atomic = { htobe64(5), htobe64(6) };
	struct shca_roce_wqe wqe;

	(void)state;
	for (uint32_t length = 7; length <= 9; length++) {
		start(MLX5_OPCODE_ATOMIC_CS, 0);
		add_remote();
		add(&atomic, sizeof(atomic));
		add_pointer(length);
		assert_int_equal(decode(SHCA_ROCE_WQE_CONNECTED, &wqe),
			length == 8 ? 0 : MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR);
	}
	assert_int_equal(wqe.wr.kind, SHCA_WR_CMP_SWAP);
	assert_int_equal(wqe.wr.swap_add, 5);
	assert_int_equal(wqe.wr.compare, 6);
}

static void
datagram(void **state)
{
	struct mlx5_wqe_av av = {
		.key.qkey.qkey = htobe32(0x11111111),
		.dqp_dct = htobe32(0x80000000 | 0x800002),
		.rlid = htobe16(0xc001),
		.rmac = { 2, 0, 0, 0, 0, 1 },
		.tclass = 7,
		.hop_limit = 64,
		.grh_gid_fl = htobe32(1u << 30 | 1 << 20 | 0x54321),
		.rgid = { 0xfe, 0x80, [15] = 9 },
	};
	struct shca_roce_wqe wqe;

	(void)state;
	start(MLX5_OPCODE_SEND, 0);
	add(&av, sizeof(av));
	add_pointer(10);
	assert_int_equal(decode(SHCA_ROCE_WQE_DATAGRAM, &wqe), 0);
	assert_int_equal(wqe.av.qpn, 0x800002);
	assert_int_equal(wqe.av.qkey, 0x11111111);
	assert_int_equal(wqe.av.route.sgid_index, 1);
	assert_int_equal(wqe.av.route.flow_label, 0x54321);
	assert_int_equal(wqe.av.route.udp_source, 0xc001);
	assert_memory_equal(wqe.av.dmac, av.rmac, 6);
	assert_memory_equal(wqe.av.route.dgid, av.rgid, 16);
	assert_int_equal(wqe.wr.length, 10);
}

static void
broken_ones(void **state)
{
	const uint32_t word = htobe32(MLX5_INLINE_SEG | 13);
	struct shca_roce_wqe wqe;

	(void)state;
	start(0x7f, 0);
	assert_int_equal(decode(SHCA_ROCE_WQE_CONNECTED, &wqe), MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR);
	/* A write and a read of datagrams, a remote address that is missing, bytes beyond the end.
	 */
	start(MLX5_OPCODE_RDMA_WRITE, 0);
	add_remote();
	assert_int_equal(decode(SHCA_ROCE_WQE_DATAGRAM, &wqe), MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR);
	start(MLX5_OPCODE_RDMA_READ, 0);
	assert_int_equal(decode(SHCA_ROCE_WQE_CONNECTED, &wqe), MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR);
	start(MLX5_OPCODE_SEND, 0);
	add(&word, sizeof(word));
	assert_int_equal(decode(SHCA_ROCE_WQE_CONNECTED, &wqe), MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR);
	assert_int_equal(wqe.wr.index, 0x1234);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bind_of_a_window),
		cmocka_unit_test(write_to_an_srq),
		cmocka_unit_test(send_of_two_segments),
		cmocka_unit_test(inlined_write_with_fence),
		cmocka_unit_test(longest_message),
		cmocka_unit_test(atomic_of_8_bytes),
		cmocka_unit_test(datagram),
		cmocka_unit_test(broken_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
