/* SPDX-License-Identifier: BSD-3-Clause */
/* What queues move over PCI: transactions and their bytes, by cases computed by hand. What TLPs
 * these make is pci_test.c's. */
#include "rig.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "fault/faults.h"
#include "hw/check/bus.h"
#include "hw/format/minicqe.h"
#include "pci/pci.h"

#define FRAME 60u
#define PAGE  4096u

static void
open_counted(struct rig *rig)
{
	rig_open(rig);
	assert_null(shca_device_pci(rig->dev));
	assert_int_equal(shca_device_count_pci(rig->dev, true), 0);
}

/** Print the causes that have counts, in their order: NAME TRANSACTIONS/BYTES. */
static void
print_counts(const struct rig *rig, char *text, size_t size)
{
	const struct shca_pci *pci = shca_device_pci(rig->dev);
	size_t used = 0;

	text[0] = '\0';
	for (unsigned int i = 0; i < SHCA_PCI_NB_CAUSES; i++)
		if (pci->count[i].transactions != 0)
			used += (size_t)snprintf(text + used, size - used, "%s%s %llu/%llu",
				used != 0 ? ", " : "", shca_pci_cause_name(i),
				(unsigned long long)pci->count[i].transactions,
				(unsigned long long)pci->count[i].data);
}

static void
check(const struct rig *rig, const char *want)
{
	char is[1024];

	print_counts(rig, is, sizeof(is));
	assert_string_equal(is, want);
}

static void
drain(struct rig_cq *cq)
{
	struct shca_cqe cqe;

	while (rig_poll(cq, &cqe))
		;
}

static void
come(struct rig *rig, unsigned int nb, uint32_t length)
{
	uint8_t frame[4096];

	rig_frame(frame, length, 1);
	for (unsigned int i = 0; i < nb; i++)
		rig_come(&rig->wire, frame, length);
	rig_run(rig);
	rig_forget(&rig->wire);
}

static void
wqes_posted_at_once_cross_together(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	open_counted(&rig);
	for (unsigned int i = 0; i < 5; i++)
		rig_send(&rig, 0, FRAME, i == 4 ? SHCA_CE_ALWAYS : SHCA_CE_ON_ERROR);
	rig_run(&rig);
	assert_int_equal(rig.wire.nb_sent, 5);
	/* Four blocks a read, and one. */
	check(&rig, "tx_doorbell 1/8, tx_record 1/4, tx_wqe 2/320, tx_data 5/300, tx_cqe 1/64");
	rig_close(&rig);
}

static void
wqes_posted_one_by_one_cross_so(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	open_counted(&rig);
	for (unsigned int i = 0; i < 5; i++) {
		rig_send(&rig, 0, FRAME, SHCA_CE_ALWAYS);
		rig_run(&rig);
	}
	check(&rig, "tx_doorbell 5/40, tx_record 5/20, tx_wqe 5/320, tx_data 5/300, tx_cqe 5/320");
	rig_close(&rig);
}

/** The ring has 16 WQEBBs: no read crosses its end. */
static void
a_ring_has_an_end(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	open_counted(&rig);
	for (unsigned int i = 0; i < 14; i++)
		rig_send(&rig, 0, FRAME, SHCA_CE_ON_ERROR);
	rig_run(&rig);
	for (unsigned int i = 0; i < 4; i++)
		rig_send(&rig, 0, FRAME, SHCA_CE_ON_ERROR);
	rig_run(&rig);
	check(&rig, "tx_doorbell 2/16, tx_record 2/8, tx_wqe 6/1152, tx_data 18/1080");
	rig_close(&rig);
}

/** An inlined frame, one of two segments, and a large send of 54 inlined and 1000 other bytes. */
static void
inlined_bytes_cross_with_the_wqe(void **state)
{
	uint8_t header[54], frame[FRAME];
	struct rig_wqe wqe;
	uint64_t at;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	open_counted(&rig);
	rig_packet(frame, RIG_IPV4_TCP, false, FRAME - 54);
	memcpy(header, frame, sizeof(header));
	at = (uintptr_t)rig.buffers + RIG_TX_OFFSET;
	rig_wqe_start(&wqe, MLX5_OPCODE_SEND, SHCA_CE_ON_ERROR);
	rig_wqe_eth(&wqe, 0, 0, "", 0);
	rig_wqe_inline(&wqe, frame, FRAME);
	rig_post(&rig, &wqe);
	rig_wqe_start(&wqe, MLX5_OPCODE_SEND, SHCA_CE_ON_ERROR);
	rig_wqe_eth(&wqe, 0, 0, "", 0);
	rig_wqe_pointer(&wqe, rig.mr->lkey, at, 100);
	rig_wqe_pointer(&wqe, rig.mr->lkey, at + 4096, 200);
	rig_post(&rig, &wqe);
	rig_wqe_start(&wqe, MLX5_OPCODE_TSO, SHCA_CE_ON_ERROR);
	rig_wqe_eth(&wqe, MLX5_ETH_WQE_L4_CSUM, 300, header, sizeof(header));
	rig_wqe_pointer(&wqe, rig.mr->lkey, at, 1000);
	rig_post(&rig, &wqe);
	rig_run(&rig);
	assert_int_equal(rig.wire.nb_sent, 2 + 4);
	/* 2, 1 and 2 blocks. */
	check(&rig, "tx_doorbell 1/8, tx_record 1/4, tx_wqe 2/320, tx_data 3/1300");
	rig_close(&rig);
}

/** A WQE that fails has read nothing; those behind it are flushed. */
static void
what_is_not_sent_is_not_read(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	open_counted(&rig);
	rig_send(&rig, 0, FRAME, SHCA_CE_ALWAYS);
	rig_send(&rig, RIG_BUFFERS_BYTES, FRAME, SHCA_CE_ALWAYS);
	rig_send(&rig, 0, FRAME, SHCA_CE_ALWAYS);
	rig_run(&rig);
	check(&rig, "tx_doorbell 1/8, tx_record 1/4, tx_wqe 1/192, tx_data 1/60, tx_cqe 3/192");
	rig_close(&rig);
}

/** 64 WQEs of 16 bytes: 16 come with a read. */
static void
receive_wqes_come_in_blocks(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.rq_attr.nb_wqes = 64;
	open_counted(&rig);
	rig_fill_rx(&rig, 18);
	come(&rig, 1, 100);
	check(&rig, "rx_record 1/4, rx_wqe 1/256, rx_data 1/100, rx_cqe 1/64");
	come(&rig, 16, 100);
	check(&rig, "rx_record 1/4, rx_wqe 2/320, rx_data 17/1700, rx_cqe 17/1088");
	/* One is left that it knows of; the four behind are read with their block again. */
	rig_fill_rx(&rig, 4);
	drain(&rig.rx);
	come(&rig, 2, 100);
	check(&rig, "rx_record 2/8, rx_wqe 3/448, rx_data 19/1900, rx_cqe 19/1216");
	rig_close(&rig);
}

/** The next frames have no WQE: they cross nowhere. */
static void
lost_frames_do_not_cross(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	open_counted(&rig);
	rig_fill_rx(&rig, 2);
	come(&rig, 5, 100);
	assert_int_equal(shca_device_stats(rig.dev)->out_of_buffer, 3);
	check(&rig, "rx_record 1/4, rx_wqe 1/64, rx_data 2/200, rx_cqe 2/128");
	rig_close(&rig);
}

/** Two segments a WQE; the FCS is written, too. */
static void
a_frame_is_scattered(void **state)
{
	struct mlx5_wqe_data_seg segments[2];
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.rq_attr.stride_bytes = 32;
	rig.rq_attr.scatter_fcs = true;
	open_counted(&rig);
	segments[0] = rig_segment(64, rig.mr->lkey, (uintptr_t)rig.buffers);
	segments[1] = rig_segment(512, rig.mr->lkey, (uintptr_t)rig.buffers + 4096);
	rig_post_rx(&rig, segments, 2);
	come(&rig, 1, 100);
	check(&rig, "rx_record 1/4, rx_wqe 1/64, rx_data 2/104, rx_cqe 1/64");
	rig_close(&rig);
}

/** Strides of 256 bytes, 8 a WQE: the second frame does not fit in the rest of the first WQE. */
static void
strides_are_written_where_they_are(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.rq_attr.stride_bytes = 32;
	rig.rq_attr.log_strides = 3;
	rig.rq_attr.log_stride_bytes = 8;
	open_counted(&rig);
	for (unsigned int i = 0; i < 2; i++) {
		const struct mlx5_wqe_data_seg segments[2] = { { 0 },
			rig_segment(2048, rig.mr->lkey, (uintptr_t)rig.buffers + i * 2048) };

		rig_post_rx(&rig, segments, 2);
	}
	come(&rig, 1, 100);
	come(&rig, 1, 1500);
	check(&rig, "rx_record 1/4, rx_wqe 1/64, rx_data 2/1600, rx_cqe 2/128");
	come(&rig, 1, 1000);
	/* A filler, and the frame. */
	check(&rig, "rx_record 1/4, rx_wqe 1/64, rx_data 3/2600, rx_cqe 4/256");
	rig_close(&rig);
}

/** Ten like each other: a title with eight minis behind it, and two more minis. One is a CQE. */
static void
a_block_is_written_whole(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.rq_attr.nb_wqes = 16;
	rig.rx_mini = SHCA_MINI_HASH;
	open_counted(&rig);
	rig_fill_rx(&rig, 16);
	come(&rig, 10, 100);
	check(&rig, "rx_record 1/4, rx_wqe 1/256, rx_data 10/1000, rx_cqe 2/192");
	come(&rig, 1, 100);
	check(&rig, "rx_record 1/4, rx_wqe 1/256, rx_data 11/1100, rx_cqe 3/256");
	rig_close(&rig);
}

/** 32 CQEs: room for them is known, then the consumer index must cross. */
static void
a_full_cq_is_asked_for_its_index(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	open_counted(&rig);
	for (unsigned int i = 0; i < 33; i++) {
		rig_send(&rig, 0, FRAME, SHCA_CE_ALWAYS);
		rig_run(&rig);
		drain(&rig.tx);
	}
	check(&rig,
		"tx_doorbell 33/264, tx_record 33/132, tx_wqe 33/2112, tx_data 33/1980, "
		"tx_cqe 33/2112, cq_record 1/4");
	rig_close(&rig);
}

/** An EQE and an MSI-X message, seen in the next round. */
static void
arms_and_events_cross(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	open_counted(&rig);
	rig_arm(&rig.tx, 1, false);
	rig_run(&rig);
	check(&rig, "cq_arm 1/8");
	rig_send(&rig, 0, FRAME, SHCA_CE_ALWAYS);
	rig_run(&rig);
	rig_run(&rig);
	assert_int_equal(rig.tx.nb_completion_events, 1);
	check(&rig,
		"tx_doorbell 1/8, tx_record 1/4, tx_wqe 1/64, tx_data 1/60, tx_cqe 1/64, "
		"cq_arm 1/8, interrupt 2/68");
	rig_close(&rig);
}

static void
counting_begins_from_zero_and_ends(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	open_counted(&rig);
	rig_send(&rig, 0, FRAME, SHCA_CE_ALWAYS);
	rig_run(&rig);
	assert_int_equal(shca_device_count_pci(rig.dev, true), 0);
	check(&rig, "");
	rig_send(&rig, 0, FRAME, SHCA_CE_ALWAYS);
	rig_run(&rig);
	check(&rig, "tx_doorbell 1/8, tx_record 1/4, tx_wqe 1/64, tx_data 1/60, tx_cqe 1/64");
	assert_int_equal(shca_device_count_pci(rig.dev, false), 0);
	assert_null(shca_device_pci(rig.dev));
	rig_fill_rx(&rig, 4);
	rig_send(&rig, 0, FRAME, SHCA_CE_ALWAYS);
	come(&rig, 2, 100);
	assert_int_equal(shca_device_stats(rig.dev)->rx_steered, 2);
	rig_close(&rig);
}

/** The bytes of rings and buffers are the same, counted or not. */
static void
nothing_is_changed_by_being_counted(void **state)
{
	static uint8_t rings[2][3][32 * 64];

	(void)state;
	for (unsigned int mini = SHCA_MINI_NONE; mini <= SHCA_MINI_CSUM; mini++) {
		for (unsigned int is_counted = 0; is_counted < 2; is_counted++) {
			struct rig rig;

			rig_init(&rig);
			rig.rq_attr.nb_wqes = 16;
			rig.rx_mini = mini;
			rig_open(&rig);
			assert_int_equal(shca_device_count_pci(rig.dev, is_counted != 0), 0);
			rig_fill_rx(&rig, 16);
			for (unsigned int i = 0; i < 3; i++) {
				rig_send(&rig, 0, FRAME, SHCA_CE_ALWAYS);
				come(&rig, 3, 100);
			}
			memcpy(rings[is_counted][0], rig.tx.ring, sizeof(rings[0][0]));
			memcpy(rings[is_counted][1], rig.rx.ring, sizeof(rings[0][0]));
			memcpy(rings[is_counted][2], rig.buffers, sizeof(rings[0][0]));
			/* Timestamps differ. */
			for (unsigned int c = 0; c < 2; c++)
				for (unsigned int i = 0; i < 32; i++)
					memset(&rings[is_counted][c][i * 64 + 48], 0, 8);
			rig_close(&rig);
		}
		assert_memory_equal(rings[0], rings[1], sizeof(rings[0]));
	}
}

/** Faults strike a counted queue where they strike another. */
static void
faults_strike_counted_queues(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	assert_int_equal(
		shca_faults_make("sq error 0x04 at 2\nrq error 0x04 at 2", 2, &rig.faults), 0);
	open_counted(&rig);
	rig_fill_rx(&rig, 2);
	rig_send(&rig, 0, FRAME, SHCA_CE_ALWAYS);
	rig_send(&rig, 0, FRAME, SHCA_CE_ALWAYS);
	come(&rig, 2, 100);
	check(&rig,
		"tx_doorbell 1/8, tx_record 1/4, tx_wqe 1/128, tx_data 1/60, tx_cqe 2/128, "
		"rx_record 1/4, rx_wqe 1/64, rx_data 1/100, rx_cqe 2/128");
	rig_close(&rig);
	shca_faults_close(rig.faults);
}

/** libmlx5 ends a short list in a long WQE by a segment, behind which older ones stay. */
static void
nothing_is_written_behind_a_list(void **state)
{
	struct shca_cqe cqe;
	char is[1024];
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.rq_attr.stride_bytes = 64;
	open_counted(&rig);
	rig_post_rx(&rig,
		(const struct mlx5_wqe_data_seg[]){
			rig_segment(100, rig.mr->lkey, (uintptr_t)rig.buffers),
			rig_segment(0, MLX5_INVALID_LKEY, 0),
			rig_segment(2048, rig.mr->lkey, (uintptr_t)rig.buffers),
		},
		3);
	come(&rig, 1, 200);
	assert_true(rig_poll(&rig.rx, &cqe));
	assert_int_equal(cqe.op_own >> SHCA_CQE_OPCODE_SHIFT, MLX5_CQE_RESP_ERR);
	print_counts(&rig, is, sizeof(is));
	assert_non_null(strstr(is, "rx_data 1/100"));
	rig_close(&rig);
}

/** Behind a WQE that completes at once, the next one is in a page that has gone: the queue is
 * struck, and not the CQ that was written to before. */
static void
an_unmapped_ring_is_the_queue_s(void **state)
{
	struct rig_wqe wqe;
	struct rig rig;
	struct shca_cqe cqe;

	(void)state;
	rig_init(&rig);
	rig.sq_attr.nb_wqebbs = 2 * PAGE / SHCA_WQEBB_BYTES;
	open_counted(&rig);
	for (unsigned int i = 0; i < 300; i++)
		shca_device_step(rig.dev); /* cmocka's handler gives way to the guard's */
	for (unsigned int i = 0; i <= PAGE / SHCA_WQEBB_BYTES; i++) {
		rig_wqe_start(&wqe, MLX5_OPCODE_NOP,
			i == PAGE / SHCA_WQEBB_BYTES - 1 ? SHCA_CE_ALWAYS : SHCA_CE_ON_ERROR);
		rig_post(&rig, &wqe);
		/* The others are of one round. */
		if (i == PAGE / SHCA_WQEBB_BYTES / 2)
			rig_run(&rig);
	}
	munmap(rig.sq_attr.ring + PAGE, PAGE);
	rig_run(&rig);
	assert_int_equal(rig.tx.nb_error_events, 0);
	assert_int_equal(rig.nb_sq_fatal, 1);
	assert_true(rig_poll(&rig.tx, &cqe));
	assert_int_equal(be16toh(cqe.wqe_counter), PAGE / SHCA_WQEBB_BYTES - 1);
	rig_close(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_written_behind_a_list),
		cmocka_unit_test(wqes_posted_at_once_cross_together),
		cmocka_unit_test(wqes_posted_one_by_one_cross_so),
		cmocka_unit_test(a_ring_has_an_end),
		cmocka_unit_test(inlined_bytes_cross_with_the_wqe),
		cmocka_unit_test(what_is_not_sent_is_not_read),
		cmocka_unit_test(receive_wqes_come_in_blocks),
		cmocka_unit_test(lost_frames_do_not_cross),
		cmocka_unit_test(a_frame_is_scattered),
		cmocka_unit_test(strides_are_written_where_they_are),
		cmocka_unit_test(a_block_is_written_whole),
		cmocka_unit_test(a_full_cq_is_asked_for_its_index),
		cmocka_unit_test(arms_and_events_cross),
		cmocka_unit_test(counting_begins_from_zero_and_ends),
		cmocka_unit_test(nothing_is_changed_by_being_counted),
		cmocka_unit_test(faults_strike_counted_queues),
		cmocka_unit_test(an_unmapped_ring_is_the_queue_s),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
