/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames on their way out: those that wait, leave in part, go with their queue, or cannot be read
 * at last. */
#include "rig.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "hw/state/out.h"

#define PAGE 4096u

/** The guard looks for its handlers every 256th run only, and cmocka installs its own for each
 * test.
 */
static void
settle(struct rig *rig)
{
	for (unsigned int i = 0; i < 300; i++)
		shca_device_step(rig->dev);
}

/** A wire that has no room makes frames wait. The program takes the memory of one of them away: its
 * WQE fails, and so do those behind it; frames before it are sent. */
static void
unmapped_while_waiting(void **state)
{
	uint8_t frame[100];
	struct shca_cqe cqe;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	settle(&rig);
	rig_frame(frame, sizeof(frame), 1);
	rig.wire.room = 0;
	for (uint32_t i = 0; i < 3; i++) {
		rig_place(&rig, i * PAGE, frame, sizeof(frame));
		rig_send(&rig, i * PAGE, sizeof(frame), SHCA_CE_ALWAYS);
	}
	rig_run(&rig);
	assert_int_equal(rig.wire.nb_sent, 0);
	assert_int_equal(mprotect(rig.buffers + RIG_TX_OFFSET + PAGE, PAGE, PROT_NONE), 0);
	rig.wire.room = 1;
	rig_run(&rig);
	assert_int_equal(rig.wire.nb_sent, 1);
	rig.wire.room = 100;
	rig_run(&rig);
	assert_int_equal(rig.wire.nb_sent, 1);
	assert_true(rig_poll(&rig.tx, &cqe));
	assert_int_equal(cqe.op_own >> 4, MLX5_CQE_REQ);
	assert_int_equal(be16toh(cqe.wqe_counter), 0);
	rig_expect_error(&rig.tx, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR, 1);
	rig_expect_error(&rig.tx, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_WR_FLUSH_ERR, 2);
	assert_false(rig_poll(&rig.tx, &cqe));
	assert_int_equal(shca_sq_state(rig.sq), SHCA_QUEUE_ERROR);
	rig_close(&rig);
}

static uint8_t *forbidden;

static unsigned int
faulting_tx(struct shca_wire *wire, const struct shca_frame *frames, unsigned int nb_frames)
{
	(void)wire;
	(void)frames;
	*(volatile uint8_t *)forbidden = 1;
	return nb_frames;
}

/** The wire's own fault is no fault of a queue: the frames are lost, and complete. */
static void
faults_of_the_wire(void **state)
{
	struct shca_wire_ops ops;
	uint8_t frame[100];
	struct shca_cqe cqe;
	struct rig rig;

	(void)state;
	forbidden = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(forbidden, MAP_FAILED);
	rig_init(&rig);
	rig_open(&rig);
	settle(&rig);
	ops = *rig.wire.wire.ops;
	ops.tx = faulting_tx;
	rig.wire.wire.ops = &ops;
	rig_frame(frame, sizeof(frame), 1);
	rig_place(&rig, 0, frame, sizeof(frame));
	rig_send(&rig, 0, sizeof(frame), SHCA_CE_ALWAYS);
	rig_run(&rig);
	assert_true(rig_poll(&rig.tx, &cqe));
	assert_int_equal(cqe.op_own >> 4, MLX5_CQE_REQ);
	assert_false(rig_poll(&rig.tx, &cqe));
	assert_int_equal(shca_sq_state(rig.sq), SHCA_QUEUE_READY);
	assert_int_equal(rig.wire.nb_sent, 0);
	assert_int_equal(shca_device_stats(rig.dev)->tx_bytes, 0);
	rig_close(&rig);
	munmap(forbidden, PAGE);
}

/** A second send queue, posted to as the rig's own is. */
static void
open_other(const struct rig *rig, struct rig *other)
{
	*other = *rig;
	other->sq_attr.ring = aligned_alloc(64, (size_t)rig->sq_attr.nb_wqebbs * SHCA_WQEBB_BYTES);
	other->sq_attr.dbrec = aligned_alloc(64, 64);
	memset(other->sq_attr.dbrec, 0, 64);
	shca_device_lock(rig->dev);
	assert_int_equal(shca_sq_create(rig->dev, &other->sq_attr, &other->sq), 0);
	shca_sq_modify(other->sq, SHCA_QUEUE_READY);
	shca_device_unlock(rig->dev);
}

static void
close_other(struct rig *other)
{
	shca_device_lock(other->dev);
	shca_sq_destroy(other->sq);
	shca_device_unlock(other->dev);
	free(other->sq_attr.ring);
	free(other->sq_attr.dbrec);
}

static void
send_some(struct rig *rig, uint32_t length, unsigned int nb)
{
	uint8_t frame[300];

	for (uint32_t i = 0; i < nb; i++) {
		rig_frame(frame, length + i, (uint8_t)length);
		rig_place(rig, length * 10 + i * 300, frame, length + i);
		rig_send(rig, length * 10 + i * 300, length + i, SHCA_CE_ALWAYS);
	}
}

/** @return bytes of the frames that were sent, which are of @p length and one more each */
static uint64_t
expect_sent(const struct rig *rig, unsigned int from, uint32_t length, unsigned int nb)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < nb; i++) {
		assert_int_equal(rig->wire.sent[from + i].length, length + i);
		bytes += length + i;
	}
	return bytes;
}

static void
expect_completed(struct rig *rig, const struct shca_sq *sq, unsigned int nb)
{
	struct shca_cqe cqe;

	for (unsigned int i = 0; i < nb; i++) {
		assert_true(rig_poll(&rig->tx, &cqe));
		assert_int_equal(cqe.op_own >> 4, MLX5_CQE_REQ);
		assert_int_equal(be16toh(cqe.wqe_counter), i);
		assert_int_equal(be32toh(cqe.sop_drop_qpn) & 0xffffff, shca_sq_number(sq));
	}
}

/** Frames of two queues wait, of the later one first. One queue is destroyed or reset: only its
 * frames are lost. */
static void
one_queue_goes(void **state)
{
	struct shca_cqe cqe;
	struct rig rig;

	(void)state;
	for (unsigned int first_goes = 0; first_goes < 2; first_goes++) {
		struct rig other;
		struct rig *gone = first_goes ? &other : &rig, *kept = first_goes ? &rig : &other;
		const uint32_t length = first_goes ? 100 : 200;

		rig_init(&rig);
		rig_open(&rig);
		open_other(&rig, &other);
		rig.wire.room = 0;
		send_some(gone, 300 - length, 4);
		send_some(kept, length, 3);
		shca_device_step(rig.dev);
		assert_int_equal(rig.wire.nb_sent, 0);
		shca_device_lock(rig.dev);
		shca_sq_modify(gone->sq, SHCA_QUEUE_RESET);
		shca_device_unlock(rig.dev);
		rig.wire.room = 100;
		shca_device_step(rig.dev);
		assert_int_equal(rig.wire.nb_sent, 3);
		assert_int_equal(
			expect_sent(&rig, 0, length, 3), shca_device_stats(rig.dev)->tx_bytes);
		expect_completed(&rig, kept->sq, 3);
		assert_false(rig_poll(&rig.tx, &cqe));
		close_other(&other);
		rig_close(&rig);
	}
}

/** @return a WQE of @p nb pointers to frames, or to parts of one, of @p length bytes each. */
static struct rig_wqe
make_wqe(const struct rig *rig, uint8_t opcode, unsigned int nb, uint32_t length)
{
	struct rig_wqe wqe;

	rig_wqe_start(&wqe, opcode, SHCA_CE_ALWAYS);
	rig_wqe_eth(&wqe, 0, 0, "", 0);
	for (unsigned int i = 0; i < nb; i++)
		rig_wqe_pointer(
			&wqe, rig->mr->lkey, (uintptr_t)rig->buffers + RIG_TX_OFFSET, length);
	return wqe;
}

/** The completion of the first of three WQEs whose frames the wire has taken finds no CQ: no frame
 * is sent again, also if its queue goes then. */
static void
no_completion_queue(void **state)
{
	(void)state;
	for (unsigned int goes = 0; goes < 2; goes++) {
		uint8_t frame[100];
		struct rig rig, other;

		rig_init(&rig);
		rig.nb_cqes = PAGE / SHCA_CQE_BYTES;
		rig_open(&rig);
		open_other(&rig, &other);
		settle(&rig);
		rig_frame(frame, sizeof(frame), 1);
		rig_place(&rig, 0, frame, sizeof(frame));
		for (unsigned int i = 0; i < 3; i++)
			rig_send(i == 0 ? &other : &rig, 0, sizeof(frame), SHCA_CE_ALWAYS);
		assert_int_equal(mprotect(rig.tx.ring, PAGE, PROT_NONE), 0);
		shca_device_step(rig.dev);
		if (goes) {
			shca_device_lock(rig.dev);
			shca_sq_modify(other.sq, SHCA_QUEUE_RESET);
			shca_device_unlock(rig.dev);
		}
		rig_run(&rig);
		assert_int_equal(mprotect(rig.tx.ring, PAGE, PROT_READ | PROT_WRITE), 0);
		assert_int_equal(rig.wire.nb_sent, 3);
		assert_int_equal(shca_device_stats(rig.dev)->tx_frames, 3);
		assert_int_equal(shca_device_stats(rig.dev)->tx_bytes, 300);
		close_other(&other);
		rig_close(&rig);
	}
}

/** The only queue with frames goes: some of a WQE have left, or all wait, built, and fill the
 * arena. Another one then has all the room. */
static void
the_only_one_goes(void **state)
{
	(void)state;
	for (unsigned int is_full = 0; is_full < 2; is_full++) {
		struct rig rig, other;
		struct rig_wqe wqe;
		uint8_t frame[100];

		rig_init(&rig);
		rig.sq_attr.nb_wqebbs = 32;
		rig_open(&rig);
		open_other(&rig, &other);
		rig_frame(frame, sizeof(frame), 1);
		rig_place(&rig, 0, frame, sizeof(frame));
		rig.wire.room = is_full ? 0 : 2;
		for (unsigned int i = 0; i < (is_full ? 20 : 1); i++) {
			wqe = is_full ? make_wqe(&rig, MLX5_OPCODE_SEND, 2, SHCA_FRAME_MAX / 2)
				      : make_wqe(&rig, SHCA_OPCODE_ENHANCED_MPSW, 3, 100);
			rig_post(&rig, &wqe);
		}
		shca_device_step(rig.dev);
		assert_int_equal(rig.wire.nb_sent, is_full ? 0 : 2);
		shca_device_lock(rig.dev);
		shca_sq_modify(rig.sq, SHCA_QUEUE_RESET);
		shca_device_unlock(rig.dev);
		rig.wire.room = 100;
		wqe = is_full ? make_wqe(&other, MLX5_OPCODE_SEND, 2, SHCA_FRAME_MAX / 2)
			      : make_wqe(&other, SHCA_OPCODE_ENHANCED_MPSW, 3, 100);
		rig_post(&other, &wqe);
		shca_device_step(rig.dev);
		assert_int_equal(rig.wire.nb_sent, is_full ? 1 : 5);
		expect_completed(&rig, other.sq, 1);
		close_other(&other);
		rig_close(&rig);
	}
}

/** The wire takes two of five frames of two WQEs: what has left counts, and completes, once. */
static void
some_leave(void **state)
{
	struct shca_cqe cqe;
	struct rig_wqe wqe;
	uint8_t frame[300];
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	rig_frame(frame, sizeof(frame), 1);
	rig_place(&rig, 0, frame, sizeof(frame));
	rig.wire.room = 2;
	for (unsigned int i = 0; i < 2; i++) {
		rig_wqe_start(&wqe, SHCA_OPCODE_ENHANCED_MPSW, SHCA_CE_ALWAYS);
		rig_wqe_eth(&wqe, 0, 0, "", 0);
		for (uint32_t n = 0; n < 3 - i; n++)
			rig_wqe_pointer(&wqe, rig.mr->lkey, (uintptr_t)rig.buffers + RIG_TX_OFFSET,
				100 * (i + 1) + n);
		rig_post(&rig, &wqe);
	}
	shca_device_step(rig.dev);
	assert_int_equal(expect_sent(&rig, 0, 100, 2), shca_device_stats(rig.dev)->tx_bytes);
	assert_int_equal(shca_device_stats(rig.dev)->tx_frames, 2);
	assert_false(rig_poll(&rig.tx, &cqe));
	rig.wire.room = 1;
	shca_device_step(rig.dev);
	expect_completed(&rig, rig.sq, 1);
	assert_false(rig_poll(&rig.tx, &cqe));
	assert_int_equal(shca_device_stats(rig.dev)->tx_bytes, 303);
	rig.wire.room = 100;
	shca_device_step(rig.dev);
	assert_int_equal(shca_device_stats(rig.dev)->tx_frames, 5);
	assert_int_equal(shca_device_stats(rig.dev)->tx_bytes, 303 + expect_sent(&rig, 3, 200, 2));
	assert_true(rig_poll(&rig.tx, &cqe));
	assert_int_equal(be16toh(cqe.wqe_counter), 2);
	assert_false(rig_poll(&rig.tx, &cqe));
	rig_close(&rig);
}

/** More WQEs without a frame complete behind one that waits than there is room for. */
static void
many_wait_for_one(void **state)
{
	const unsigned int nb = SHCA_OUT_WQES + 10;
	struct shca_cqe cqe;
	struct rig_wqe wqe;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.sq_attr.nb_wqebbs = 256;
	rig.nb_cqes = 256;
	rig_open(&rig);
	rig.wire.room = 0;
	send_some(&rig, 100, 1);
	for (unsigned int i = 1; i < nb; i++) {
		rig_wqe_start(&wqe, MLX5_OPCODE_NOP, SHCA_CE_ALWAYS);
		rig_post(&rig, &wqe);
	}
	for (unsigned int i = 0; i < nb; i++)
		shca_device_step(rig.dev);
	assert_false(rig_poll(&rig.tx, &cqe));
	rig.wire.room = 1;
	rig_run(&rig);
	expect_completed(&rig, rig.sq, nb);
	assert_false(rig_poll(&rig.tx, &cqe));
	rig_close(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unmapped_while_waiting),
		cmocka_unit_test(faults_of_the_wire),
		cmocka_unit_test(no_completion_queue),
		cmocka_unit_test(one_queue_goes),
		cmocka_unit_test(the_only_one_goes),
		cmocka_unit_test(some_leave),
		cmocka_unit_test(many_wait_for_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
