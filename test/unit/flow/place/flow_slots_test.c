/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of the levels: which slot each mask gets, and for how many entries there is room. */
#include <errno.h>
#include <string.h>

#include <rte_common.h>

#include "fake_verbs.h"
#include "flow/place/flow_slots.h"

#define ENTRIES 8
/** Masks whose order in a table is known. */
#define NB_ORDERED 6

static struct mdv_flow_levels levels;

static struct mdv_flow_shape
shape_of(uint8_t level, bool copies, uint8_t nb_masks, const uint64_t *masks)
{
	struct mdv_flow_shape shape = { .level = level, .copies = copies, .nb_masks = nb_masks };

	memcpy(shape.masks, masks, sizeof(*masks) * (nb_masks + 1));
	return shape;
}

/** A shape of the masks given, and one that is not its own behind them. */
#define SHAPE(level, copies, nb_masks, ...)                                                        \
	shape_of(level, copies, nb_masks, (const uint64_t[]){ __VA_ARGS__, 0x4711 })

static int
tables_make(void **state)
{
	(void)state;
	fake.fail_at = 0;
	memset(&levels, 0, sizeof(levels));
	levels.entries = ENTRIES;
	return mdv_flow_slots_init(&levels);
}

static int
tables_free(void **state)
{
	(void)state;
	mdv_flow_slots_fini(&levels);
	assert_null(levels.slots);
	mdv_flow_slots_fini(&levels);
	return 0;
}

static void
enter(const struct mdv_flow_shape *shape)
{
	assert_int_equal(mdv_flow_slots_reserve(&levels, shape->level, shape->copies), 0);
	mdv_flow_slots_enter(&levels, shape);
}

/** Whether the mask of one shape has a lower slot than that of another, in the order known. */
static bool
in_order(const struct mdv_flow_shape *earlier, const struct mdv_flow_shape *later)
{
	const bool is = mdv_flow_slots_in_order(&levels, earlier, later, later->level);

	assert_false(is && mdv_flow_slots_in_order(&levels, later, earlier, later->level));
	return is;
}

static void
each_mask_has_the_lowest_free_slot(void **state)
{
	const struct mdv_flow_shape first = SHAPE(1, false, 2, 1, 2),
				    second = SHAPE(1, false, 1, 3),
				    third = SHAPE(1, false, 2, 2, 4),
				    fourth = SHAPE(1, false, 1, 5);

	(void)state;
	enter(&first);
	enter(&second);
	assert_true(in_order(&first, &second));
	assert_false(in_order(&second, &first));
	/* It shares the slot of a mask with the first, so neither is before the other. */
	enter(&third);
	assert_false(in_order(&first, &third));
	assert_false(in_order(&second, &third));
	assert_false(in_order(&third, &second));
	/* The first slot is free, the second not yet. */
	mdv_flow_slots_leave(&levels, &first);
	assert_true(in_order(&fourth, &second));
	enter(&fourth);
	assert_true(in_order(&fourth, &third));
	assert_true(in_order(&fourth, &second));
	/* Of a table that is empty again, nothing is left. */
	mdv_flow_slots_leave(&levels, &second);
	mdv_flow_slots_leave(&levels, &fourth);
	mdv_flow_slots_leave(&levels, &third);
	enter(&second);
	assert_true(in_order(&second, &fourth));
}

static void
only_the_first_slots_are_ordered(void **state)
{
	struct mdv_flow_shape shapes[NB_ORDERED + 2];

	(void)state;
	for (uint8_t i = 0; i < RTE_DIM(shapes); i++) {
		shapes[i] = SHAPE(0, false, 1, 10 + i);
		enter(&shapes[i]);
		for (uint8_t j = 0; j < i; j++)
			assert_int_equal(in_order(&shapes[j], &shapes[i]), j < NB_ORDERED);
	}
}

static void
tables_are_apart(void **state)
{
	const int last = MDV_FLOW_LEVEL_MAX - 1;
	const struct mdv_flow_shape first = SHAPE(last, false, 1, 1),
				    second = SHAPE(last, false, 1, 2),
				    copies = SHAPE(last, true, 1, 2), other = SHAPE(0, false, 1, 2);

	(void)state;
	enter(&copies);
	enter(&other);
	assert_false(in_order(&first, &second));
	enter(&first);
	assert_true(in_order(&first, &second));
	enter(&second);
	assert_true(in_order(&first, &second));
	mdv_flow_slots_count(&levels, &first, ENTRIES);
	assert_false(mdv_flow_slots_room(&levels, &second, last));
	assert_true(mdv_flow_slots_room(&levels, &copies, last));
	assert_true(mdv_flow_slots_room(&levels, &second, 0));
	mdv_flow_slots_clear(&levels);
	assert_true(mdv_flow_slots_room(&levels, &second, last));
	enter(&second);
	assert_true(in_order(&second, &first));
}

/** A shape needs room for all of its rules, or for its first. */
static void
entries_are_counted(void **state)
{
	struct mdv_flow_shape shape = SHAPE(3, true, 2, 1, 2), later = SHAPE(3, true, 2, 3, 4);

	(void)state;
	shape.nb_rules = ENTRIES / 2;
	assert_true(mdv_flow_slots_room(&levels, &shape, 3));
	shape.nb_rules++;
	assert_false(mdv_flow_slots_room(&levels, &shape, 3));
	mdv_flow_slots_count(&levels, &shape, ENTRIES / 2 - 1);
	assert_true(mdv_flow_slots_room(&levels, &later, 3));
	mdv_flow_slots_count(&levels, &shape, 1);
	assert_false(mdv_flow_slots_room(&levels, &later, 3));
	mdv_flow_slots_count(&levels, &shape, -1);
	assert_true(mdv_flow_slots_room(&levels, &later, 3));
	later.nb_rules = 2;
	assert_false(mdv_flow_slots_room(&levels, &later, 3));
}

/** Memory for a shape of the most masks is there before it enters, and what stood there stays. */
static void
a_table_grows_before_a_shape_enters(void **state)
{
	uint64_t masks[MDV_FLOW_LEVEL_MASKS] = { 0 };
	struct mdv_flow_shape first = SHAPE(2, false, 1, 1), second = SHAPE(2, false, 1, 2), many;

	(void)state;
	enter(&first);
	fake.calls = 0;
	fake.fail_at = 1;
	fake.fail_errno = ENOMEM;
	assert_int_equal(mdv_flow_slots_reserve(&levels, 2, false), -ENOMEM);
	fake.fail_at = 0;
	enter(&second);
	assert_true(in_order(&first, &second));
	for (uint64_t at = 0; at < 10; at++) {
		for (unsigned int i = 0; i < RTE_DIM(masks); i++)
			masks[i] = 100 * (at + 1) + i;
		many = shape_of(2, false, MDV_FLOW_LEVEL_MASKS - 1, masks);
		enter(&many);
		assert_true(in_order(&first, &second));
		assert_true(in_order(&second, &many));
	}
	/* Room for another needs no memory. */
	assert_int_equal(mdv_flow_slots_reserve(&levels, 2, false), 0);
	fake.calls = 0;
	fake.fail_at = 1;
	assert_int_equal(mdv_flow_slots_reserve(&levels, 2, false), 0);
	fake.fail_at = 0;
}

static void
tables_without_memory_are_refused(void **state)
{
	struct mdv_flow_levels none = { 0 };

	(void)state;
	fake.calls = 0;
	fake.fail_at = 1;
	assert_int_equal(mdv_flow_slots_init(&none), -ENOMEM);
	fake.fail_at = 0;
	mdv_flow_slots_fini(&none);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			each_mask_has_the_lowest_free_slot, tables_make, tables_free),
		cmocka_unit_test_setup_teardown(
			only_the_first_slots_are_ordered, tables_make, tables_free),
		cmocka_unit_test_setup_teardown(tables_are_apart, tables_make, tables_free),
		cmocka_unit_test_setup_teardown(entries_are_counted, tables_make, tables_free),
		cmocka_unit_test_setup_teardown(
			a_table_grows_before_a_shape_enters, tables_make, tables_free),
		cmocka_unit_test(tables_without_memory_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
