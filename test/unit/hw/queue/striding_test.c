/* SPDX-License-Identifier: BSD-3-Clause */
/* Striding receive queue: strides, fillers, errors, and compression of its completions. */
#include "rig.h"

#include <endian.h>

#include "hw/format/minicqe.h"

#define LOG_STRIDES 3
#define NB_STRIDES  (1u << LOG_STRIDES)
#define LOG_BYTES   8
#define WQE_BYTES   (NB_STRIDES << LOG_BYTES)
#define RESPONSE    MLX5_CQE_RESP_SEND
#define LONG        MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR
#define FLUSH       MLX5_CQE_SYNDROME_WR_FLUSH_ERR

static void
open_striding(struct rig *rig, bool shift)
{
	rig_init(rig);
	rig->rq_attr.stride_bytes = 32;
	rig->rq_attr.log_strides = LOG_STRIDES;
	rig->rq_attr.log_stride_bytes = LOG_BYTES;
	rig->rq_attr.two_byte_shift = shift;
	rig_open(rig);
}

/** WQE n has buffer n: a next segment and one of data. */
static void
post(struct rig *rig, uint32_t buffer, uint32_t length)
{
	const struct mlx5_wqe_data_seg segments[2] = { { 0 },
		rig_segment(length, rig->mr->lkey,
			(uintptr_t)rig->buffers + (size_t)buffer * WQE_BYTES) };

	rig_post_rx(rig, segments, 2);
}

static void
come(struct rig *rig, uint32_t length, uint8_t seed)
{
	uint8_t frame[4096];

	rig_frame(frame, length, seed);
	rig_come(&rig->wire, frame, length);
	shca_device_step(rig->dev);
	rig_forget(&rig->wire);
}

static void
expect(struct rig *rig, uint16_t wqe, uint16_t stride, uint32_t strides, uint32_t length)
{
	struct shca_cqe cqe;

	assert_true(rig_poll(&rig->rx, &cqe));
	assert_int_equal(cqe.op_own >> SHCA_CQE_OPCODE_SHIFT, RESPONSE);
	assert_int_equal(be16toh(cqe.wqe_id), wqe);
	assert_int_equal(be16toh(cqe.wqe_counter), stride);
	assert_int_equal(be32toh(cqe.byte_count), strides << SHCA_CQE_STRIDES_SHIFT | length);
	assert_int_equal(be32toh(cqe.user_index), RIG_USER_INDEX);
}

/** A frame of exactly some strides takes no more; two bytes before it can make one more. */
static void
boundaries(void **state)
{
	(void)state;
	for (unsigned int shift = 0; shift < 2; shift++) {
		uint8_t frame[513];
		struct rig rig;

		open_striding(&rig, shift != 0);
		post(&rig, 0, WQE_BYTES);
		post(&rig, 1, WQE_BYTES);
		come(&rig, 512 - 2 * shift, 1);
		come(&rig, 513 - 2 * shift, 2);
		come(&rig, 256 * 3 - 2 * shift, 3);
		expect(&rig, 0, 0, 2, 512 - 2 * shift);
		expect(&rig, 0, 2, 3, 513 - 2 * shift);
		/* It fills the WQE: no filler, and the next begins another. */
		expect(&rig, 0, 5, 3, 256 * 3 - 2 * shift);
		come(&rig, 60, 4);
		expect(&rig, 1, 0, 1, 60);
		rig_frame(frame, 513 - 2 * shift, 2);
		assert_memory_equal(rig.buffers + 2 * 256 + 2 * shift, frame, 513 - 2 * shift);
		rig_close(&rig);
	}
}

static void
fillers(void **state)
{
	struct rig rig;

	(void)state;
	open_striding(&rig, false);
	post(&rig, 0, WQE_BYTES);
	come(&rig, 1000, 1);
	expect(&rig, 0, 0, 4, 1000);
	/* What follows finds no WQE: the first is given up all the same, or it would never be. */
	come(&rig, 1500, 2);
	expect(&rig, 0, 4, 4 | SHCA_CQE_FILLER >> SHCA_CQE_STRIDES_SHIFT, 0);
	assert_int_equal(shca_device_stats(rig.dev)->out_of_buffer, 1);
	come(&rig, 60, 2);
	assert_int_equal(shca_device_stats(rig.dev)->out_of_buffer, 2);
	post(&rig, 1, WQE_BYTES);
	come(&rig, 60, 3);
	expect(&rig, 1, 0, 1, 60);
	rig_close(&rig);
}

/** Longer than a WQE, or than what its segments have room for. */
static void
too_long(void **state)
{
	struct shca_cqe cqe;
	struct rig rig;

	(void)state;
	open_striding(&rig, false);
	post(&rig, 0, WQE_BYTES);
	post(&rig, 1, 300);
	post(&rig, 2, WQE_BYTES);
	post(&rig, 3, WQE_BYTES);
	come(&rig, WQE_BYTES + 1, 1);
	rig_expect_error(&rig.rx, MLX5_CQE_RESP_ERR, LONG, 0);
	come(&rig, 301, 2);
	rig_expect_error(&rig.rx, MLX5_CQE_RESP_ERR, LONG, 1);
	come(&rig, 60, 3);
	expect(&rig, 2, 0, 1, 60);
	/* In error, the WQE in use is flushed like the others. */
	shca_rq_modify(rig.rq, SHCA_QUEUE_ERROR);
	shca_device_step(rig.dev);
	rig_expect_error(&rig.rx, MLX5_CQE_RESP_ERR, FLUSH, 2);
	rig_expect_error(&rig.rx, MLX5_CQE_RESP_ERR, FLUSH, 3);
	assert_false(rig_poll(&rig.rx, &cqe));
	rig_close(&rig);
}

/** The same while someone counts: what has not been posted is not taken. */
static void
too_long_and_counted(void **state)
{
	struct shca_cqe cqe;
	struct rig rig;

	(void)state;
	open_striding(&rig, false);
	assert_int_equal(shca_device_count_pci(rig.dev, true), 0);
	post(&rig, 0, 512);
	come(&rig, 60, 1);
	expect(&rig, 0, 0, 1, 60);
	come(&rig, 400, 2);
	rig_expect_error(&rig.rx, MLX5_CQE_RESP_ERR, LONG, 0);
	come(&rig, 60, 3);
	assert_false(rig_poll(&rig.rx, &cqe));
	assert_int_equal(shca_device_stats(rig.dev)->out_of_buffer, 1);
	post(&rig, 1, WQE_BYTES);
	come(&rig, 60, 4);
	expect(&rig, 1, 0, 1, 60);
	rig_close(&rig);
}

/** Software counts the stride on by what each frame took. */
static void
compressed_counters(void **state)
{
	struct shca_minicqe_block block;
	struct shca_cqe cqe = { .op_own = RESPONSE << SHCA_CQE_OPCODE_SHIFT };

	(void)state;
	shca_minicqe_init(&block, SHCA_MINI_CSUM, 64);
	cqe.byte_count = htobe32(3 << SHCA_CQE_STRIDES_SHIFT | 700);
	cqe.wqe_counter = htobe16(2);
	assert_true(shca_minicqe_add(&block, &cqe));
	cqe.wqe_counter = htobe16(3);
	assert_false(shca_minicqe_add(&block, &cqe));
	cqe.wqe_counter = htobe16(5);
	cqe.byte_count = htobe32(1 << SHCA_CQE_STRIDES_SHIFT | 60);
	assert_true(shca_minicqe_add(&block, &cqe));
	cqe.wqe_counter = htobe16(6);
	assert_true(shca_minicqe_add(&block, &cqe));
	/* Another WQE is another block. */
	cqe.wqe_counter = htobe16(7);
	cqe.wqe_id = htobe16(1);
	assert_false(shca_minicqe_add(&block, &cqe));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(boundaries),
		cmocka_unit_test(fillers),
		cmocka_unit_test(too_long),
		cmocka_unit_test(too_long_and_counted),
		cmocka_unit_test(compressed_counters),
	};

	return cmocka_run_group_tests_name("hw/striding", tests, NULL, NULL);
}
