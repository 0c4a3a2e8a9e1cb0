/* SPDX-License-Identifier: BSD-3-Clause */
/* Receive queue: scatter, wraps, VLAN strip, FCS, errors, states, memory that goes away. */
#include "rig.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "hw/format/csum.h"

#define PROT  MLX5_CQE_SYNDROME_LOCAL_PROT_ERR
#define FLUSH MLX5_CQE_SYNDROME_WR_FLUSH_ERR
#define LONG  MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR

/** Every lap of the ring and of the 16-bit counters. */
static void
wraps(void **state)
{
	uint8_t frame[80];
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	rig_fill_rx(&rig, 8); /* a full ring is legal */
	for (unsigned int n = 0; n < 66000; n++) {
		struct shca_cqe cqe;

		rig_frame(frame, 60 + n % 20, (uint8_t)n);
		rig_come(&rig.wire, frame, 60 + n % 20);
		shca_device_step(rig.dev);
		assert_true(rig_poll(&rig.rx, &cqe));
		assert_int_equal(cqe.op_own >> 4, MLX5_CQE_RESP_SEND);
		assert_int_equal(be16toh(cqe.wqe_counter), n & 0xffff);
		assert_int_equal(be32toh(cqe.byte_count), 60 + n % 20);
		assert_int_equal(be32toh(cqe.user_index), RIG_USER_INDEX);
		assert_memory_equal(rig.buffers + n % 8 * RIG_RX_BYTES, frame, 60 + n % 20);
		rig_fill_rx(&rig, 1);
		rig_forget(&rig.wire);
	}
	assert_int_equal(shca_device_stats(rig.dev)->rx_steered, 66000);
	assert_int_equal(shca_device_stats(rig.dev)->rx_frames, 66000);
	rig_close(&rig);
}

/** Lists of a 64-byte stride: lengths of segments, in order; 0 is skipped, a short list ends with
 * the terminator. */
static void
scatter_lists(void **state)
{
	static const struct {
		uint16_t segments[4];
		uint8_t nb;
		bool has_signature;
		uint8_t syndrome;
	} cases[] = {
		{ { 100 }, 1, false, 0 },
		{ { 14, 86 }, 2, false, 0 },
		{ { 1, 1, 97, 1 }, 4, false, 0 },
		{ { 50, 0, 50 }, 3, false, 0 },
		{ { 0, 2000 }, 2, false, 0 },
		{ { 99 }, 1, false, LONG },
		{ { 30, 30, 30, 9 }, 4, false, LONG },
		{ { 0 }, 1, false, LONG },
		{ { 60, 40 }, 2, true, 0 },
		{ { 60, 39, 1 }, 3, true, 0 },
	};
	uint8_t frame[100];

	(void)state;
	rig_frame(frame, sizeof(frame), 9);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct mlx5_wqe_data_seg segments[4];
		uint32_t done = 0;
		struct shca_cqe cqe;
		struct rig rig;

		rig_init(&rig);
		rig.rq_attr.stride_bytes = 64;
		rig.rq_attr.has_signature = cases[i].has_signature;
		rig_open(&rig);
		for (unsigned int j = 0; j < cases[i].nb; j++)
			segments[j] = rig_segment(cases[i].segments[j], rig.mr->lkey,
				(uintptr_t)rig.buffers + j * 4096);
		rig_post_rx(&rig, segments, cases[i].nb);
		rig_fill_rx(&rig, 1);
		rig_come(&rig.wire, frame, sizeof(frame));
		rig_run(&rig);
		if (cases[i].syndrome != 0) {
			/* The queue goes on. */
			rig_expect_error(&rig.rx, MLX5_CQE_RESP_ERR, cases[i].syndrome, 0);
			assert_int_equal(shca_rq_state(rig.rq), SHCA_QUEUE_READY);
			rig_come(&rig.wire, frame, sizeof(frame));
			rig_run(&rig);
			assert_true(rig_poll(&rig.rx, &cqe));
			assert_int_equal(be16toh(cqe.wqe_counter), 1);
			rig_close(&rig);
			continue;
		}
		assert_true(rig_poll(&rig.rx, &cqe));
		assert_int_equal(be32toh(cqe.byte_count), 100);
		for (unsigned int j = 0; j < cases[i].nb && done < 100; j++) {
			uint32_t part = cases[i].segments[j];

			part = part < 100 - done ? part : 100 - done;
			assert_memory_equal(rig.buffers + j * 4096, frame + done, part);
			assert_int_equal(rig.buffers[j * 4096 + part], 0);
			done += part;
		}
		assert_int_equal(done, 100);
		rig_close(&rig);
	}
}

static void
strip_and_fcs(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 8; i++) {
		bool strip = i & 1, scatter_fcs = i & 2, tagged = i & 4;
		uint8_t packet[128], expected[132];
		uint32_t length = rig_packet(packet, RIG_IPV4_UDP, tagged, 30);
		uint32_t fcs = shca_csum_fcs(packet, length);
		bool is_stripped = strip && tagged;
		struct shca_cqe cqe;
		struct rig rig;

		rig_init(&rig);
		rig.rq_attr.scatter_fcs = scatter_fcs;
		rig_open(&rig);
		shca_rq_set_cvlan_strip(rig.rq, strip);
		rig_fill_rx(&rig, 1);
		rig_come(&rig.wire, packet, length);
		rig_run(&rig);
		memcpy(expected, packet, length);
		if (is_stripped) {
			memcpy(expected + 12, packet + 16, length - 16);
			length -= 4;
		}
		if (scatter_fcs) {
			memcpy(expected + length, &fcs, 4);
			length += 4;
		}
		assert_true(rig_poll(&rig.rx, &cqe));
		assert_int_equal(be32toh(cqe.byte_count), length);
		assert_memory_equal(rig.buffers, expected, length);
		assert_int_equal(rig.buffers[length], 0);
		assert_int_equal(be16toh(cqe.vlan_info), is_stripped ? 0x6005 : 0);
		assert_int_equal(cqe.l4_hdr_type, is_stripped ? 0x29 : 0x28);
		assert_int_equal(cqe.hds_ip_ext, 7);
		rig_close(&rig);
	}
}

/** A service tag is not a C-VLAN: it stays. */
static void
service_tags_stay(void **state)
{
	uint8_t packet[128];
	uint32_t length = rig_packet(packet, RIG_IPV4_UDP, true, 30);
	struct shca_cqe cqe;
	struct rig rig;

	(void)state;
	rig_put16(packet + 12, 0x88a8);
	rig_init(&rig);
	rig.rq_attr.cvlan_strip = true;
	rig_open(&rig);
	rig_fill_rx(&rig, 1);
	rig_come(&rig.wire, packet, length);
	rig_run(&rig);
	assert_true(rig_poll(&rig.rx, &cqe));
	assert_int_equal(be32toh(cqe.byte_count), length);
	assert_memory_equal(rig.buffers, packet, length);
	rig_close(&rig);
}

static void
no_buffer(void **state)
{
	uint8_t frame[60];
	struct shca_cqe cqe;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	rig_frame(frame, 60, 0);
	rig_fill_rx(&rig, 2);
	for (unsigned int i = 0; i < 5; i++)
		rig_come(&rig.wire, frame, 60);
	rig_run(&rig);
	assert_int_equal(shca_device_stats(rig.dev)->out_of_buffer, 3);
	assert_true(rig_poll(&rig.rx, &cqe));
	assert_true(rig_poll(&rig.rx, &cqe));
	assert_false(rig_poll(&rig.rx, &cqe));
	rig_fill_rx(&rig, 1);
	rig_come(&rig.wire, frame, 60);
	rig_run(&rig);
	assert_true(rig_poll(&rig.rx, &cqe));
	assert_int_equal(shca_device_stats(rig.dev)->out_of_buffer, 3);
	rig_close(&rig);
}

/** A key the region does not have, a range outside it, a region without local write: ERROR and
 * flush. */
static void
protection(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 5; i++) {
		uint8_t frame[60];
		struct mlx5_wqe_data_seg segment;
		struct shca_mr *read_only;
		struct shca_cqe cqe;
		struct rig rig;

		rig_init(&rig);
		rig_open(&rig);
		rig_frame(frame, 60, 0);
		assert_int_equal(shca_mem_reg(shca_device_mem(rig.dev), rig.buffers, 4096,
					 (uintptr_t)rig.buffers, RIG_PDN, 0, &read_only),
			0);
		segment = rig_segment(2048, rig.mr->lkey, (uintptr_t)rig.buffers);
		if (i == 0)
			segment.lkey = htobe32(0x4242);
		else if (i == 1)
			segment.addr = htobe64((uintptr_t)rig.buffers + RIG_BUFFERS_BYTES - 59);
		else if (i == 2)
			segment.addr = 0;
		else if (i == 3)
			segment.lkey = htobe32(read_only->lkey);
		else
			segment.lkey = htobe32(MLX5_INVALID_LKEY); /* but not empty */
		rig_fill_rx(&rig, 1);
		rig_post_rx(&rig, &segment, 1);
		rig_fill_rx(&rig, 2);
		rig_come(&rig.wire, frame, 60);
		rig_come(&rig.wire, frame, 60);
		rig_come(&rig.wire, frame, 60);
		rig_run(&rig);
		assert_true(rig_poll(&rig.rx, &cqe));
		rig_expect_error(&rig.rx, MLX5_CQE_RESP_ERR, PROT, 1);
		rig_expect_error(&rig.rx, MLX5_CQE_RESP_ERR, FLUSH, 2);
		rig_expect_error(&rig.rx, MLX5_CQE_RESP_ERR, FLUSH, 3);
		assert_int_equal(shca_rq_state(rig.rq), SHCA_QUEUE_ERROR);
		assert_int_equal(shca_device_stats(rig.dev)->rx_errors, 3);
		/* What is posted later is flushed too; recovery is through RESET. */
		rig_fill_rx(&rig, 1);
		rig_run(&rig);
		rig_expect_error(&rig.rx, MLX5_CQE_RESP_ERR, FLUSH, 4);
		shca_rq_modify(rig.rq, SHCA_QUEUE_RESET);
		rig.rq_pi = 0;
		rig.rq_attr.dbrec[0] = 0;
		shca_rq_modify(rig.rq, SHCA_QUEUE_READY);
		rig_fill_rx(&rig, 1);
		rig_come(&rig.wire, frame, 60);
		rig_run(&rig);
		assert_true(rig_poll(&rig.rx, &cqe));
		assert_int_equal(cqe.op_own >> 4, MLX5_CQE_RESP_SEND);
		assert_int_equal(cqe.wqe_counter, 0);
		assert_int_equal(rig.nb_rq_fatal, 0);
		shca_mem_dereg(shca_device_mem(rig.dev), read_only);
		rig_close(&rig);
	}
}

/** Only the bytes that are written must be in the region. */
static void
room_beyond_the_frame(void **state)
{
	uint8_t frame[60];
	struct mlx5_wqe_data_seg segment;
	struct shca_cqe cqe;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	rig_frame(frame, 60, 0);
	segment = rig_segment(2048, rig.mr->lkey, (uintptr_t)rig.buffers + RIG_BUFFERS_BYTES - 60);
	rig_post_rx(&rig, &segment, 1);
	rig_come(&rig.wire, frame, 60);
	rig_run(&rig);
	assert_true(rig_poll(&rig.rx, &cqe));
	assert_int_equal(cqe.op_own >> 4, MLX5_CQE_RESP_SEND);
	rig_close(&rig);
}

/** In RESET and ERROR frames are lost, and count as no lack of buffers. */
static void
states(void **state)
{
	uint8_t frame[60];
	struct shca_cqe cqe;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	rig_frame(frame, 60, 0);
	shca_rq_modify(rig.rq, SHCA_QUEUE_RESET);
	rig_fill_rx(&rig, 3);
	rig_come(&rig.wire, frame, 60);
	rig_run(&rig);
	assert_false(rig_poll(&rig.rx, &cqe));
	shca_rq_modify(rig.rq, SHCA_QUEUE_READY);
	rig_come(&rig.wire, frame, 60);
	rig_run(&rig);
	assert_true(rig_poll(&rig.rx, &cqe));
	shca_rq_modify(rig.rq, SHCA_QUEUE_ERROR);
	rig_come(&rig.wire, frame, 60);
	rig_run(&rig);
	rig_expect_error(&rig.rx, MLX5_CQE_RESP_ERR, FLUSH, 1);
	rig_expect_error(&rig.rx, MLX5_CQE_RESP_ERR, FLUSH, 2);
	assert_false(rig_poll(&rig.rx, &cqe));
	assert_int_equal(shca_device_stats(rig.dev)->out_of_buffer, 0);
	rig_close(&rig);
}

static void
counter_beyond_the_ring(void **state)
{
	uint8_t frame[60];
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	rig_frame(frame, 60, 0);
	rig.rq_attr.dbrec[0] = htobe32(9);
	rig_come(&rig.wire, frame, 60);
	rig_run(&rig);
	assert_int_equal(rig.nb_rq_fatal, 1);
	assert_int_equal(shca_rq_state(rig.rq), SHCA_QUEUE_ERROR);
	rig_close(&rig);
}

static void
unmapped_memory(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		uint8_t frame[60];
		struct shca_cqe cqe;
		struct rig rig;

		rig_init(&rig);
		rig_open(&rig);
		for (unsigned int j = 0; j < 300; j++)
			shca_device_step(rig.dev); /* cmocka's handler gives way to the guard's */
		rig_frame(frame, 60, 0);
		rig_fill_rx(&rig, 2);
		if (i == 0)
			munmap(rig.buffers, 4096);
		else
			munmap(i == 1 ? (void *)rig.rq_attr.ring : rig.rq_attr.dbrec, 4096);
		rig_come(&rig.wire, frame, 60);
		rig_run(&rig);
		assert_int_equal(shca_rq_state(rig.rq), SHCA_QUEUE_ERROR);
		if (i == 0) {
			rig_expect_error(&rig.rx, MLX5_CQE_RESP_ERR, PROT, 0);
			rig_expect_error(&rig.rx, MLX5_CQE_RESP_ERR, FLUSH, 1);
		}
		assert_false(rig_poll(&rig.rx, &cqe));
		assert_int_equal(rig.nb_rq_fatal, i != 0);
		assert_int_equal(shca_device_step(rig.dev), 0);
		rig_close(&rig);
	}
}

/** Of frames alike that come together, the second finds its buffer gone; the first has written a
 * completion before. */
static void
unmapped_in_a_run(void **state)
{
	uint8_t frame[256];
	const uint32_t length = rig_packet(frame, RIG_IPV4_UDP, false, 40);
	struct shca_cqe cqe;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	for (unsigned int j = 0; j < 300; j++)
		shca_device_step(rig.dev); /* cmocka's handler gives way to the guard's */
	rig_fill_rx(&rig, 4);
	rig_come(&rig.wire, frame, length);
	rig_run(&rig);
	assert_true(rig_poll(&rig.rx, &cqe));
	assert_true(2 * RIG_RX_BYTES % 4096 == 0);
	munmap(rig.buffers + 2 * RIG_RX_BYTES, 4096);
	for (unsigned int i = 0; i < 3; i++)
		rig_come(&rig.wire, frame, length);
	rig_run(&rig);
	assert_true(rig_poll(&rig.rx, &cqe));
	assert_int_equal(be16toh(cqe.wqe_counter), 1);
	assert_int_equal(shca_rq_state(rig.rq), SHCA_QUEUE_ERROR);
	rig_expect_error(&rig.rx, MLX5_CQE_RESP_ERR, PROT, 2);
	rig_expect_error(&rig.rx, MLX5_CQE_RESP_ERR, FLUSH, 3);
	assert_false(rig_poll(&rig.rx, &cqe));
	rig_close(&rig);
}

static void
creation(void **state)
{
	struct shca_rq *rq = NULL;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	for (unsigned int i = 0; i < 8; i++) {
		struct shca_rq_attr attr = rig.rq_attr;

		if (i == 0)
			attr.nb_wqes = 0;
		else if (i == 1)
			attr.nb_wqes = 3;
		else if (i == 2)
			attr.stride_bytes = 8;
		else if (i == 3)
			attr.stride_bytes = 48;
		else if (i == 4)
			attr.has_signature = true; /* and no room for a segment */
		else if (i == 5)
			attr.dbrec++;
		else if (i == 6)
			attr.ring = NULL;
		else
			attr.dbrec = NULL;
		assert_int_equal(shca_rq_create(rig.dev, &attr, &rq), i < 6 ? -EINVAL : -EFAULT);
	}
	assert_null(rq);
	assert_int_not_equal(shca_rq_number(rig.rq), shca_sq_number(rig.sq));
	shca_rq_destroy(NULL);
	rig_close(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wraps),
		cmocka_unit_test(scatter_lists),
		cmocka_unit_test(strip_and_fcs),
		cmocka_unit_test(service_tags_stay),
		cmocka_unit_test(no_buffer),
		cmocka_unit_test(protection),
		cmocka_unit_test(room_beyond_the_frame),
		cmocka_unit_test(states),
		cmocka_unit_test(counter_beyond_the_ring),
		cmocka_unit_test(unmapped_memory),
		cmocka_unit_test(unmapped_in_a_run),
		cmocka_unit_test(creation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
