/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames on their way out that cannot be read when the wire takes them at last. */
#include "rig.h"

#include <endian.h>
#include <sys/mman.h>

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
	rig_close(&rig);
	munmap(forbidden, PAGE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unmapped_while_waiting),
		cmocka_unit_test(faults_of_the_wire),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
