/* SPDX-License-Identifier: BSD-3-Clause */
/* Packet pacing: exact over long runs, not made up for when idle, but for a burst. */
#include "hw/state/pace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/clock.h"

#define START 1000000000ULL

/** Frames that leave as soon as they may, looked at every @p step ticks. @return when the last did
 */
static uint64_t
run(struct shca_pace *pace, unsigned int nb, uint32_t bytes, uint64_t from, uint64_t step)
{
	uint64_t ticks = from;

	while (nb > 0) {
		while (nb > 0 && shca_pace_may_send(pace, ticks)) {
			shca_pace_sent(pace, ticks, bytes);
			if (--nb == 0)
				return ticks;
		}
		ticks += step;
	}
	return ticks;
}

static void
rate_is_kept(void **state)
{
	static const struct {
		uint32_t kbps, bytes;
		uint64_t step;
	} rows[] = {
		{ 1000, 1000, 1 },
		{ 1000000, 64, 1 },
		{ 1000000, 1500, 100000 }, /* late: as many at once as it takes */
		{ 100000000, 64, 1000 },
		{ 1, 60, 1000 },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const unsigned int nb = rows[i].kbps == 1 ? 3 : 1001;
		const double cost =
			(double)rows[i].bytes * 8 * SHCA_CLOCK_KHZ / (double)rows[i].kbps;
		struct shca_pace pace = { 0 };
		uint64_t took;

		shca_pace_set(&pace, rows[i].kbps, 0);
		took = run(&pace, nb, rows[i].bytes, START, rows[i].step) - START;
		/* The parts of a tick that a cost is cut by add up. */
		assert_true((double)took >= (double)(nb - 1) * (cost - 1.0 / 256) - 1);
		assert_true((double)took <= (double)(nb - 1) * cost + (double)rows[i].step);
	}
}

static void
no_limit(void **state)
{
	struct shca_pace pace = { 0 };

	(void)state;
	assert_int_equal(run(&pace, 1000, 1500, START, 1), START);
	/* One that is taken away is forgotten. */
	shca_pace_set(&pace, 1, 0);
	shca_pace_sent(&pace, START, 1500);
	assert_false(shca_pace_may_send(&pace, START + SHCA_CLOCK_KHZ));
	assert_true(shca_pace_due(&pace) > START + SHCA_CLOCK_KHZ);
	shca_pace_set(&pace, 0, 0);
	assert_true(shca_pace_may_send(&pace, START));
}

/** @return how many frames of 1000 bytes leave at once after a pause. */
static unsigned int
at_once(struct shca_pace *pace, uint64_t ticks)
{
	unsigned int nb = 0;

	while (shca_pace_may_send(pace, ticks)) {
		shca_pace_sent(pace, ticks, 1000);
		nb++;
	}
	return nb;
}

static void
bursts(void **state)
{
	struct shca_pace pace = { 0 };
	uint64_t ticks = START;

	(void)state;
	shca_pace_set(&pace, 1000, 0);
	assert_int_equal(at_once(&pace, ticks), 1);
	/* A minute without a frame to send is no credit; one of a late device is. */
	ticks += SHCA_CLOCK_KHZ * 60000ULL;
	shca_pace_idle(&pace);
	assert_int_equal(at_once(&pace, ticks), 1);
	ticks += SHCA_CLOCK_KHZ * 8 * 10;
	assert_int_equal(at_once(&pace, ticks), 10);
	shca_pace_set(&pace, 1000, 4000);
	assert_int_equal(at_once(&pace, ticks), 5);
	ticks += SHCA_CLOCK_KHZ * 60000ULL;
	shca_pace_idle(&pace);
	assert_int_equal(at_once(&pace, ticks), 5);
	/* Empty for a moment only: what was sent before still counts. */
	shca_pace_idle(&pace);
	assert_int_equal(at_once(&pace, ticks), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rate_is_kept),
		cmocka_unit_test(no_limit),
		cmocka_unit_test(bursts),
	};

	return cmocka_run_group_tests_name("hw/pace", tests, NULL, NULL);
}
