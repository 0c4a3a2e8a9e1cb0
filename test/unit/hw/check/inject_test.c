/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of queues: what a program sees of them, and that they strike where the file says. */
#include "rig.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

#include "fault/faults.h"

#define NB_FRAMES 6

static void
open_faulty(struct rig *rig, const char *text)
{
	assert_int_equal(shca_faults_make(text, 2, &rig->faults), 0);
	rig_open(rig);
}

static void
close_faulty(struct rig *rig)
{
	rig_close(rig);
	shca_faults_close(rig->faults);
}

/** All completions so far: the WQE's index, or SYNDROME@INDEX. */
static void
print_completions(struct rig_cq *cq, char *text, size_t size)
{
	struct shca_cqe cqe;
	size_t used = 0;

	text[0] = '\0';
	while (rig_poll(cq, &cqe) && used < size) {
		struct shca_cqe_error error;
		uint8_t opcode = cqe.op_own >> SHCA_CQE_OPCODE_SHIFT;

		memcpy(&error, &cqe, sizeof(error));
		if (opcode == MLX5_CQE_REQ_ERR || opcode == MLX5_CQE_RESP_ERR)
			used += (size_t)snprintf(text + used, size - used, "%02x@%u ",
				error.syndrome, be16toh(error.wqe_counter));
		else
			used += (size_t)snprintf(
				text + used, size - used, "%u ", be16toh(cqe.wqe_counter));
	}
}

/** Send and receive NB_FRAMES, all at once or one by one. */
static void
pass_frames(struct rig *rig, bool at_once)
{
	uint8_t frame[64];

	for (unsigned int i = 0; i < NB_FRAMES; i++) {
		rig_send(rig, 0, 64, SHCA_CE_ALWAYS);
		rig_frame(frame, 64, (uint8_t)i);
		rig_come(&rig->wire, frame, 64);
		if (!at_once)
			rig_run(rig);
	}
	rig_run(rig);
}

static const struct {
	const char *faults;
	const char *tx, *rx; /* completions */
	unsigned int sq_fatal, rq_fatal, cq_errors;
	unsigned int applied; /* of the first fault */
} cases[] = {
	{ "sq error 0x04 at 3", "0 1 04@2 05@3 05@4 05@5 ", "0 1 2 3 4 5 ", 0, 0, 0, 1 },
	{ "sq error 34 at 1", "22@0 05@1 05@2 05@3 05@4 05@5 ", "0 1 2 3 4 5 ", 0, 0, 0, 1 },
	{ "sq error 0xff every 6", "0 1 2 3 4 ff@5 ", "0 1 2 3 4 5 ", 0, 0, 0, 1 },
	{ "sq error 2 at 7", "0 1 2 3 4 5 ", "0 1 2 3 4 5 ", 0, 0, 0, 0 },
	{ "sq fatal at 4", "0 1 2 05@3 05@4 05@5 ", "0 1 2 3 4 5 ", 1, 0, 0, 1 },
	{ "sq fatal at 2 queue 1", "0 05@1 05@2 05@3 05@4 05@5 ", "0 1 2 3 4 5 ", 1, 0, 0, 1 },
	{ "sq fatal at 2 queue 2", "0 1 2 3 4 5 ", "0 1 2 3 4 5 ", 0, 0, 0, 0 },
	{ "rq error 0x04 at 3", "0 1 2 3 4 5 ", "0 1 04@2 05@3 05@4 05@5 05@6 05@7 ", 0, 0, 0, 1 },
	{ "rq error 0x13 at 1", "0 1 2 3 4 5 ", "13@0 05@1 05@2 05@3 05@4 05@5 05@6 05@7 ", 0, 0, 0,
		1 },
	/* A length error is the frame's own affair. */
	{ "rq error 0x01 every 2", "0 1 2 3 4 5 ", "0 01@1 2 01@3 4 01@5 ", 0, 0, 0, 3 },
	{ "rq error 0x01 100%", "0 1 2 3 4 5 ", "01@0 01@1 01@2 01@3 01@4 01@5 ", 0, 0, 0, 6 },
	{ "rq fatal at 5", "0 1 2 3 4 5 ", "0 1 2 3 05@4 05@5 05@6 05@7 ", 0, 1, 0, 1 },
	/* The send queue's CQ was made first. */
	{ "cq overrun at 3 queue 1", "0 1 ", "0 1 2 3 4 5 ", 0, 0, 1, 1 },
	{ "cq overrun at 3 queue 2", "0 1 2 3 4 5 ", "0 1 ", 0, 0, 1, 1 },
	{ "cq overrun from 5", "0 1 2 3 ", "0 1 2 3 ", 0, 0, 2, 2 },
	{ "cq overrun at 3 of mlx5_1", "0 1 2 3 4 5 ", "0 1 2 3 4 5 ", 0, 0, 0, 0 },
	/* Errors complete, too. */
	{ "cq overrun at 3 queue 1\nsq error 0x04 at 2", "0 04@1 ", "0 1 2 3 4 5 ", 0, 0, 1, 1 },
};

static void
strikes_where_the_file_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		const size_t c = i / 2;
		char text[256];
		struct rig rig;

		rig_init(&rig);
		open_faulty(&rig, cases[c].faults);
		rig_fill_rx(&rig, 8);
		pass_frames(&rig, i % 2 == 0);
		print_completions(&rig.tx, text, sizeof(text));
		assert_string_equal(text, cases[c].tx);
		print_completions(&rig.rx, text, sizeof(text));
		assert_string_equal(text, cases[c].rx);
		assert_int_equal(rig.nb_sq_fatal, cases[c].sq_fatal);
		assert_int_equal(rig.nb_rq_fatal, cases[c].rq_fatal);
		assert_int_equal(
			rig.tx.nb_error_events + rig.rx.nb_error_events, cases[c].cq_errors);
		assert_int_equal(rig.faults->applied[0], cases[c].applied);
		assert_int_equal(shca_device_stats(rig.dev)->out_of_buffer, 0);
		close_faulty(&rig);
	}
}

/** WQEs are counted on over a reset, so that what was struck once is not struck again. */
static void
queues_recover(void **state)
{
	char text[256];
	struct rig rig;

	(void)state;
	rig_init(&rig);
	open_faulty(&rig, "sq error 0x04 at 3\nrq error 0x04 at 3\nsq error 0x02 at 8\n");
	rig_fill_rx(&rig, 8);
	pass_frames(&rig, true);
	print_completions(&rig.tx, text, sizeof(text));
	print_completions(&rig.rx, text, sizeof(text));
	assert_int_equal(shca_sq_state(rig.sq), SHCA_QUEUE_ERROR);
	assert_int_equal(shca_rq_state(rig.rq), SHCA_QUEUE_ERROR);

	shca_sq_modify(rig.sq, SHCA_QUEUE_RESET);
	shca_rq_modify(rig.rq, SHCA_QUEUE_RESET);
	rig.sq_pi = rig.rq_pi = 0;
	rig.sq_attr.dbrec[MLX5_SND_DBR] = rig.rq_attr.dbrec[MLX5_RCV_DBR] = 0;
	shca_sq_modify(rig.sq, SHCA_QUEUE_READY);
	shca_rq_modify(rig.rq, SHCA_QUEUE_READY);
	rig_fill_rx(&rig, 8);
	pass_frames(&rig, true);
	/* The flushed ones were not executed: the fourth is the first now. */
	print_completions(&rig.tx, text, sizeof(text));
	assert_string_equal(text, "0 1 2 3 02@4 05@5 ");
	print_completions(&rig.rx, text, sizeof(text));
	assert_string_equal(text, "0 1 2 3 4 5 ");
	close_faulty(&rig);
}

/** What was sent before the fault leaves, however long the wire takes. */
static void
back_pressure(void **state)
{
	char text[256];
	struct rig rig;

	(void)state;
	rig_init(&rig);
	open_faulty(&rig, "sq error 0x04 at 4");
	rig.wire.room = 0;
	for (unsigned int i = 0; i < NB_FRAMES; i++)
		rig_send(&rig, 0, 64, SHCA_CE_ALWAYS);
	rig_run(&rig);
	print_completions(&rig.tx, text, sizeof(text));
	assert_string_equal(text, "");
	rig.wire.room = 1;
	rig_run(&rig);
	print_completions(&rig.tx, text, sizeof(text));
	assert_string_equal(text, "0 ");
	rig.wire.room = 100;
	rig_run(&rig);
	print_completions(&rig.tx, text, sizeof(text));
	assert_string_equal(text, "1 2 04@3 05@4 05@5 ");
	assert_int_equal(rig.wire.nb_sent, 3);
	assert_int_equal(rig.faults->applied[0], 1);
	close_faulty(&rig);
}

/** Without WQEs frames are lost for want of them, and are no events. */
static void
no_wqe_no_fault(void **state)
{
	char text[256];
	struct rig rig;

	(void)state;
	rig_init(&rig);
	open_faulty(&rig, "rq error 0x04 at 1");
	pass_frames(&rig, true);
	assert_int_equal(shca_device_stats(rig.dev)->out_of_buffer, NB_FRAMES);
	assert_int_equal(rig.faults->applied[0], 0);
	rig_forget(&rig.wire);
	rig_fill_rx(&rig, 2);
	pass_frames(&rig, false);
	print_completions(&rig.rx, text, sizeof(text));
	assert_string_equal(text, "04@0 05@1 ");
	assert_int_equal(shca_device_stats(rig.dev)->out_of_buffer, NB_FRAMES);
	close_faulty(&rig);
}

/** A striding queue counts WQEs, not frames. */
static void
striding(void **state)
{
	uint8_t frame[64];
	char text[256];
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.rq_attr.stride_bytes = 32;
	rig.rq_attr.log_strides = 3;
	rig.rq_attr.log_stride_bytes = 6;
	open_faulty(&rig, "rq error 0x01 at 2\nrq error 0x04 at 3");
	for (unsigned int i = 0; i < 4; i++) {
		const struct mlx5_wqe_data_seg segments[2] = { { 0 },
			rig_segment(512, rig.mr->lkey, (uintptr_t)rig.buffers + i * 512) };

		rig_post_rx(&rig, segments, 2);
	}
	rig_frame(frame, 64, 1);
	for (unsigned int i = 0; i < 10; i++)
		rig_come(&rig.wire, frame, 64);
	rig_run(&rig);
	/* 8 frames in the first WQE, by stride; one struck each. */
	print_completions(&rig.rx, text, sizeof(text));
	assert_string_equal(text, "0 1 2 3 4 5 6 7 01@1 04@2 05@3 ");
	close_faulty(&rig);
}

/** A CQ that is told to ignore overruns is never full. */
static void
ignored_overrun(void **state)
{
	char text[256];
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.ignore_overrun = true;
	open_faulty(&rig, "cq overrun from 1");
	rig_fill_rx(&rig, 8);
	pass_frames(&rig, true);
	print_completions(&rig.rx, text, sizeof(text));
	assert_string_equal(text, "0 1 2 3 4 5 ");
	assert_int_equal(rig.faults->applied[0], 0);
	close_faulty(&rig);
}

/** Of a compressed block what came before the overrun is kept. */
static void
compressed_overrun(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.rx_mini = SHCA_MINI_HASH;
	open_faulty(&rig, "cq overrun at 4 queue 2");
	rig_fill_rx(&rig, 8);
	pass_frames(&rig, true);
	assert_int_equal(rig.rx.nb_error_events, 1);
	assert_int_equal(rig.faults->applied[0], 1);
	assert_int_equal(rig.rx.ring[63] >> SHCA_CQE_OPCODE_SHIFT, MLX5_CQE_RESP_SEND);
	close_faulty(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strikes_where_the_file_says),
		cmocka_unit_test(queues_recover),
		cmocka_unit_test(back_pressure),
		cmocka_unit_test(no_wqe_no_fault),
		cmocka_unit_test(striding),
		cmocka_unit_test(ignored_overrun),
		cmocka_unit_test(compressed_overrun),
	};

	return cmocka_run_group_tests_name("hw/inject", tests, NULL, NULL);
}
