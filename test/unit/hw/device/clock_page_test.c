/* SPDX-License-Identifier: BSD-3-Clause */
/* Pages that show the device's time: what they say, and that they are kept. */
#include "hw/device/clock_page.h"

#include <endian.h>
#include <errno.h>
#include <infiniband/mlx5dv.h>

#include "base/clock.h"
#include "hw/roce/roce_qp.h"
#include "hw/state/cq.h"
#include "hw/state/device.h"
#include "rig.h"

static uint64_t
page_ns(const struct mlx5_ib_clock_info *info, uint64_t ticks)
{
	struct mlx5dv_clock_info copy = {
		.nsec = info->nsec,
		.last_cycles = info->cycles,
		.frac = info->frac,
		.mult = info->mult,
		.shift = info->shift,
		.mask = info->mask,
	};

	return mlx5dv_ts_to_ns(&copy, ticks);
}

static void
test_counter(void **state)
{
	struct mlx5_ib_clock_info info[2] = { 0 };
	__be64 counter[2] = { 0 };
	struct shca_clock_page page[2] = {
		{ .counter = &counter[0], .info = &info[0] },
		{ .counter = &counter[1], .info = &info[1] },
	};
	uint64_t last;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	shca_clock_page_add(rig.dev, &page[0]);
	assert_int_equal(be64toh(counter[0]), rig.dev->ticks);
	assert_int_equal(counter[1], 0);
	shca_clock_page_add(rig.dev, &page[1]);
	for (unsigned int i = 0; i < 100; i++) {
		last = be64toh(counter[0]);
		shca_device_step(rig.dev);
		assert_true(be64toh(counter[0]) >= last);
		assert_int_equal(counter[0], counter[1]);
		assert_int_equal(be64toh(counter[0]), rig.dev->ticks);
	}
	/* Nobody writes a page that is gone. */
	shca_clock_page_remove(&page[0]);
	counter[0] = 0;
	shca_device_step(rig.dev);
	assert_int_equal(counter[0], 0);
	assert_int_not_equal(counter[1], 0);
	shca_clock_page_remove(&page[1]);
	rig_close(&rig);
}

static void
test_relation(void **state)
{
	const uint64_t second = (uint64_t)SHCA_CLOCK_KHZ * 1000;
	struct mlx5_ib_clock_info info = { 0 };
	__be64 counter;
	struct shca_clock_page page = { .counter = &counter, .info = &info };
	struct mlx5_ib_clock_info first;
	uint64_t written;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	shca_clock_page_add(rig.dev, &page);
	first = info;
	assert_int_equal(info.sign & MLX5_IB_CLOCK_INFO_KERNEL_UPDATING, 0);
	/* A second of ticks is one of nanoseconds, as exactly as the factor's parts allow. */
	written = page_ns(&info, info.cycles + second) - info.nsec;
	assert_true(written > 999999900 && written <= 1000000000);
	assert_int_equal(page_ns(&info, info.cycles - second), info.nsec - written);
	/* Nothing is due at once; what is due, is written, with another sign. */
	rig.dev->clock_info_ticks = rig.dev->ticks;
	shca_device_step(rig.dev);
	assert_memory_equal(&info, &first, sizeof(info));
	rig.dev->clock_info_ticks -= second;
	shca_device_step(rig.dev);
	assert_int_equal(info.sign, first.sign + 2);
	assert_int_equal(info.cycles, rig.dev->ticks);
	assert_true(info.nsec > first.nsec);
	shca_clock_page_remove(&page);
	rig_close(&rig);
}

/** As if the CQ had been made so. */
static void
stamp_real_time(struct shca_cq *cq, bool is_so)
{
	cq->attr.real_time = is_so;
	cq->stamps_real_time = is_so;
}

/** Send a frame. @return the stamp of its completion. */
static uint64_t
next_stamp(struct rig *rig)
{
	struct shca_cqe cqe;

	rig_send(rig, 0, 100, SHCA_CE_ALWAYS);
	rig_run(rig);
	assert_true(rig_poll(&rig->tx, &cqe));
	return be64toh(cqe.timestamp);
}

/** The next completion is stamped by the real-time clock: seconds and nanoseconds, of now. */
static void
expect_real_time(struct rig *rig)
{
	const uint64_t before = shca_clock_real_ns();
	const uint64_t stamp = next_stamp(rig);
	const uint64_t ns = (stamp >> 32) * 1000000000 + (uint32_t)stamp;

	assert_true((uint32_t)stamp < 1000000000);
	assert_true(ns >= before && ns <= shca_clock_real_ns());
}

/** Open a rig whose CQs ask for real time. */
static void
open_real_time(struct rig *rig)
{
	rig_init(rig);
	rig_open(rig);
	stamp_real_time(rig->tx.cq, true);
	stamp_real_time(rig->rx.cq, true);
}

/** Only queues whose CQ asks for it, and only where there is such a clock. */
static void
test_real_time(void **state)
{
	struct shca_sq *sq;
	struct shca_rq *rq;
	struct rig rig;

	(void)state;
	open_real_time(&rig);
	assert_int_equal(shca_sq_create(rig.dev, &rig.sq_attr, &sq), -EOPNOTSUPP);
	assert_int_equal(shca_rq_create(rig.dev, &rig.rq_attr, &rq), -EOPNOTSUPP);
	rig.dev->conf.has_rtc = true;
	expect_real_time(&rig);
	stamp_real_time(rig.tx.cq, false);
	assert_true(next_stamp(&rig) <= rig.dev->ticks);
	rig_close(&rig);
}

/** Their syndromes lie where others have the end of a stamp. */
static void
test_errors_have_no_stamp(void **state)
{
	struct rig rig;

	(void)state;
	open_real_time(&rig);
	rig.dev->conf.has_rtc = true;
	shca_sq_modify(rig.sq, SHCA_QUEUE_ERROR);
	shca_rq_modify(rig.rq, SHCA_QUEUE_ERROR);
	for (uint16_t i = 0; i < 4; i++) {
		rig_fill_rx(&rig, 1);
		rig_send(&rig, 0, 100, SHCA_CE_ALWAYS);
		rig_run(&rig);
		rig_expect_error(&rig.tx, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_WR_FLUSH_ERR, i);
		rig_expect_error(&rig.rx, MLX5_CQE_RESP_ERR, MLX5_CQE_SYNDROME_WR_FLUSH_ERR, i);
	}
	rig_close(&rig);
}

/** Firmware may have real-time stamps alone: queues of whichever CQ get them unless it asks for
 * free-running ones. */
static void
test_real_time_only(void **state)
{
	struct shca_sq *sq;
	struct shca_rq *rq;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.model.clocks = SHCA_CLOCKS_REAL_ONLY;
	rig_open(&rig);
	rig.dev->conf.has_rtc = true;
	expect_real_time(&rig);
	rig.tx.cq->attr.timestamps = true;
	rig.rx.cq->attr.timestamps = true;
	assert_int_equal(shca_sq_create(rig.dev, &rig.sq_attr, &sq), -EOPNOTSUPP);
	assert_int_equal(shca_rq_create(rig.dev, &rig.rq_attr, &rq), -EOPNOTSUPP);
	/* libmlx5 sets both for wallclock stamps; the kernel looks at this one first. */
	rig.tx.cq->attr.real_time = true;
	assert_int_equal(shca_sq_create(rig.dev, &rig.sq_attr, &sq), 0);
	shca_sq_destroy(sq);
	rig_close(&rig);
}

/** A queue pair with a transport has one clock, whichever CQ asks for it. */
static void
test_one_clock(void **state)
{
	/* Which CQs ask for real time, and whether an initiator, without a CQ to receive, asks. */
	static const struct {
		bool send, recv, is_good, is_good_alone;
	} rows[] = {
		{ false, false, true, true },
		{ true, true, true, false },
		{ true, false, false, false },
		{ false, true, false, true },
	};
	struct shca_roce_qp_attr attr = { .type = SHCA_ROCE_RC };
	struct shca_roce_qp *qp;
	struct rig rig;

	(void)state;
	for (unsigned int only = 0; only < 2; only++) {
		rig_init(&rig);
		rig.model.clocks = only ? SHCA_CLOCKS_REAL_ONLY : rig.model.clocks;
		rig_open(&rig);
		rig.dev->conf.has_rtc = true;
		for (unsigned int i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
			const bool alone = i % 2 == 1;
			const bool good = alone ? rows[i / 2].is_good_alone : rows[i / 2].is_good;

			rig.tx.cq->attr.real_time = rows[i / 2].send;
			rig.rx.cq->attr.real_time = rows[i / 2].recv;
			attr.send_cq = rig.tx.cq;
			attr.recv_cq = alone ? NULL : rig.rx.cq;
			qp = NULL;
			assert_int_equal(shca_roce_qp_create(rig.dev, &attr, &qp),
				good || only ? 0 : -EOPNOTSUPP);
			shca_roce_qp_destroy(qp);
		}
		rig_close(&rig);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counter),
		cmocka_unit_test(test_relation),
		cmocka_unit_test(test_real_time),
		cmocka_unit_test(test_errors_have_no_stamp),
		cmocka_unit_test(test_real_time_only),
		cmocka_unit_test(test_one_clock),
	};

	return cmocka_run_group_tests_name("hw/clock_page", tests, NULL, NULL);
}
