/* SPDX-License-Identifier: BSD-3-Clause */
/* Who gets which register: the orders the kernel's allocator gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "abi/core/bfreg.h"

static void
expect(struct shca_bfregs *regs, const uint32_t *wanted, unsigned int nb)
{
	for (unsigned int i = 0; i < nb; i++)
		assert_int_equal(shca_bfreg_get(regs), wanted[i]);
}
#define EXPECT(regs, ...)                                                                          \
	expect(regs, (const uint32_t[]){ __VA_ARGS__ },                                            \
		sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t))

/** Those of low latency to one each, then the rest in turns; never the first. */
static void
test_classes(void **state)
{
	struct shca_bfregs regs;

	(void)state;
	assert_int_equal(shca_bfreg_init(&regs, 8, 3, true), 0);
	EXPECT(&regs, 5, 6, 7, 1, 2, 3, 4, 1, 2);
	shca_bfreg_put(&regs, 6);
	shca_bfreg_put(&regs, 3);
	shca_bfreg_put(&regs, SHCA_BFREG_NONE);
	EXPECT(&regs, 6, 3, 3, 4);
}

/** Nothing between the first and those of low latency: the first is for the others. */
static void
test_shared(void **state)
{
	struct shca_bfregs regs;

	(void)state;
	assert_int_equal(shca_bfreg_init(&regs, 2, 1, true), 0);
	EXPECT(&regs, 1, 0, 0);
	assert_int_equal(shca_bfreg_init(&regs, 16, 4, false), 0);
	EXPECT(&regs, 0, 0);
}

static void
test_index(void **state)
{
	static const uint32_t wanted[] = { 0, 1, 4, 5, 8, 9 };

	(void)state;
	for (uint32_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		assert_int_equal(shca_bfreg_index(i), wanted[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_index),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
