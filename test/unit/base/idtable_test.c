/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers: lowest free first, bounds, look-up, iteration; compared with a naive table. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/idtable.h"

static char objects[300];

static void
lowest_free_first(void **state)
{
	struct shca_idtable table;
	uint32_t id;

	(void)state;
	shca_idtable_init(&table, 5, 1000);
	for (uint32_t i = 0; i < 40; i++) {
		assert_int_equal(shca_idtable_add(&table, &objects[i], &id), 0);
		assert_int_equal(id, 5 + i);
	}
	shca_idtable_del(&table, 30);
	shca_idtable_del(&table, 7);
	assert_null(shca_idtable_get(&table, 7));
	assert_int_equal(shca_idtable_add(&table, &objects[50], &id), 0);
	assert_int_equal(id, 7);
	assert_int_equal(shca_idtable_add(&table, &objects[51], &id), 0);
	assert_int_equal(id, 30);
	assert_int_equal(shca_idtable_add(&table, &objects[52], &id), 0);
	assert_int_equal(id, 45);
	assert_ptr_equal(shca_idtable_get(&table, 30), &objects[51]);
	shca_idtable_fini(&table);
}

static void
numbers_run_out(void **state)
{
	struct shca_idtable table;
	uint32_t id = 99;

	(void)state;
	shca_idtable_init(&table, 1, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(shca_idtable_add(&table, &objects[i], &id), 0);
	id = 99;
	assert_int_equal(shca_idtable_add(&table, &objects[3], &id), -ENOSPC);
	assert_int_equal(id, 99);
	shca_idtable_del(&table, 2);
	assert_int_equal(shca_idtable_add(&table, &objects[3], &id), 0);
	assert_int_equal(id, 2);
	shca_idtable_fini(&table);
}

static void
look_up_outside(void **state)
{
	static const uint32_t strangers[] = { 0, 9, 11, 27, 1000, UINT32_MAX };
	struct shca_idtable table;
	uint32_t id;

	(void)state;
	shca_idtable_init(&table, 10, UINT32_MAX - 1);
	for (size_t i = 0; i < sizeof(strangers) / sizeof(strangers[0]); i++)
		assert_null(shca_idtable_get(&table, strangers[i]));
	assert_int_equal(shca_idtable_add(&table, &objects[0], &id), 0);
	for (size_t i = 0; i < sizeof(strangers) / sizeof(strangers[0]); i++)
		assert_null(shca_idtable_get(&table, strangers[i]));
	assert_ptr_equal(shca_idtable_get(&table, 10), &objects[0]);
	shca_idtable_fini(&table);
}

/** Random adds and deletes against an array; the seed is fixed. */
static void
as_a_naive_table(void **state)
{
	enum {
		FIRST = 3,
		SLOTS = 256
	};
	void *naive[SLOTS] = { NULL };
	struct shca_idtable table;
	uint32_t id, from = 0;
	unsigned int nb = 0;

	(void)state;
	srandom(1);
	shca_idtable_init(&table, FIRST, FIRST + SLOTS - 1);
	for (unsigned int i = 0; i < 20000; i++) {
		uint32_t slot = (uint32_t)random() % SLOTS;

		if (naive[slot] != NULL) {
			shca_idtable_del(&table, FIRST + slot);
			naive[slot] = NULL;
		} else if (shca_idtable_add(&table, &objects[slot], &id) == 0) {
			for (slot = 0; naive[slot] != NULL;)
				slot++;
			assert_int_equal(id, FIRST + slot);
			naive[slot] = shca_idtable_get(&table, id);
			assert_non_null(naive[slot]);
		}
	}
	for (uint32_t slot = 0; slot < SLOTS; slot++) {
		assert_ptr_equal(shca_idtable_get(&table, FIRST + slot), naive[slot]);
		nb += naive[slot] != NULL;
	}
	for (; shca_idtable_next(&table, &from) != NULL; from++) {
		assert_non_null(naive[from - FIRST]);
		nb--;
	}
	assert_int_equal(nb, 0);
	shca_idtable_fini(&table);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lowest_free_first),
		cmocka_unit_test(numbers_run_out),
		cmocka_unit_test(look_up_outside),
		cmocka_unit_test(as_a_naive_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
