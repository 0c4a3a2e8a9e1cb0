/* SPDX-License-Identifier: BSD-3-Clause */
/* The clocks: monotonic, and ticks at the rate they claim. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/clock.h"

static void
ticks_follow_nanoseconds(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 1000; i++) {
		uint64_t before = shca_clock_ns();
		uint64_t ticks = shca_clock_ticks();
		uint64_t after = shca_clock_ns();

		assert_true(before <= after);
		assert_true(ticks >= before / 32 * 5);
		assert_true(ticks <= (after / 32 + 1) * 5);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ticks_follow_nanoseconds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
