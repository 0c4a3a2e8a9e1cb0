/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The models of the tree: model_parse_test.c has what makes one. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "config/model.h"

static void
test_rows(void **state)
{
	const struct shca_model *model;
	unsigned int i;

	(void)state;
	for (i = 0; (model = shca_model_at(i)) != NULL; i++) {
		assert_ptr_equal(shca_model_find(model->name), model);
		assert_string_equal(model->left_out, "");
		assert_true(model->min_inline != SHCA_MIN_INLINE_UNKNOWN);
	}
	assert_int_equal(i, 4);
}

static void
test_default_and_unknown(void **state)
{
	(void)state;
	assert_string_equal(shca_model_at(0)->name, "cx5");
	assert_null(shca_model_find("cx3"));
	assert_null(shca_model_find(""));
}

static void
test_what_tells_them_apart(void **state)
{
	(void)state;
	assert_int_equal(shca_model_find("cx4lx")->pci_device_id, 0x1015);
	assert_int_equal(shca_model_find("cx4lx")->min_inline, SHCA_MIN_INLINE_L2);
	assert_int_equal(shca_model_find("cx5")->pci_device_id, 0x1017);
	assert_int_equal(shca_model_find("cx5")->min_inline, SHCA_MIN_INLINE_NONE);
	assert_int_equal(shca_model_find("cx6dx")->pci_device_id, 0x101d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_default_and_unknown),
		cmocka_unit_test(test_what_tells_them_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
