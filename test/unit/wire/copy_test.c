/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of every short length, and nothing written beside them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "wire/copy.h"

#define LENGTH_MAX 200
#define BESIDE     16

static void
fill(uint8_t *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		bytes[i] = (uint8_t)(i * 5 + 1);
}

static void
copies(void **state)
{
	uint8_t from[LENGTH_MAX], to[LENGTH_MAX + 2 * BESIDE];

	(void)state;
	fill(from, sizeof(from));
	for (size_t length = 0; length <= LENGTH_MAX; length++) {
		memset(to, 0, sizeof(to));
		shca_copy(to + BESIDE, from, length);
		assert_memory_equal(to + BESIDE, from, length);
		for (size_t i = 0; i < BESIDE; i++) {
			assert_int_equal(to[i], 0);
			assert_int_equal(to[BESIDE + length + i], 0);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
