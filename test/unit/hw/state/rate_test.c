/* SPDX-License-Identifier: BSD-3-Clause */
/* Who shares a packet pacing entry with whom. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "hw/state/rate.h"

static void
test_sharing(void **state)
{
	static const struct {
		uint8_t rate;
		uint16_t uid;
		bool is_dedicated;
		uint16_t index;
	} rows[] = {
		{ 100, 1, false, 1 },
		{ 100, 1, false, 1 },
		{ 100, 1, true, 2 },
		{ 100, 2, false, 3 },
		{ 50, 1, false, 4 },
		{ 100, 1, true, 5 },
		{ 100, 1, false, 1 },
	};
	struct shca_rates rates = { 0 };
	uint16_t index;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const uint8_t limit[SHCA_RATE_BYTES] = { [3] = rows[i].rate };

		assert_int_equal(
			shca_rate_add(&rates, limit, rows[i].uid, rows[i].is_dedicated, &index), 0);
		assert_int_equal(index, rows[i].index);
	}
	/* One of three: still there. */
	shca_rate_remove(&rates, 1);
	assert_int_equal(rates.entry[1].nb_users, 2);
	shca_rate_remove(&rates, 2);
	assert_int_equal(
		shca_rate_add(&rates, (uint8_t[SHCA_RATE_BYTES]){ 7 }, 1, false, &index), 0);
	assert_int_equal(index, 2);
}

static void
test_full(void **state)
{
	const uint8_t limit[SHCA_RATE_BYTES] = { 1 };
	struct shca_rates rates = { 0 };
	uint16_t index;

	(void)state;
	for (unsigned int i = 1; i <= SHCA_RATE_LAST; i++) {
		assert_int_equal(shca_rate_add(&rates, limit, 1, true, &index), 0);
		assert_int_equal(index, i);
	}
	assert_int_equal(shca_rate_add(&rates, limit, 1, true, &index), -ENOSPC);
	shca_rate_remove(&rates, 60);
	assert_int_equal(shca_rate_add(&rates, limit, 1, false, &index), 0);
	assert_int_equal(index, 60);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sharing),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
