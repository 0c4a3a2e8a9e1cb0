/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Every model's row is whole and consistent in itself. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "config/model.h"

static bool
is_power_of_two(uint32_t value)
{
	return value != 0 && (value & (value - 1)) == 0;
}

static void
test_rows(void **state)
{
	(void)state;
	for (const struct shca_model *model = shca_models; model->name != NULL; model++) {
		assert_ptr_equal(shca_model_find(model->name), model);
		assert_non_null(model->board);
		assert_true(model->max_qp > 0 && model->max_cq > 0 && model->max_mr > 0);
		assert_true(model->max_pd > 0 && model->max_sge > 0 && model->max_mr_size > 0);
		/* libmlx5 rounds sizes up to powers of two and compares afterwards. */
		assert_true(is_power_of_two(model->max_qp_wr));
		assert_true(is_power_of_two(model->max_send_wqebb));
		assert_true(is_power_of_two(model->max_recv_wr));
		assert_true(is_power_of_two(model->max_rwq_ind_table_size));
		assert_true(is_power_of_two(model->max_cqe + 1));
		/* The WQE counter has 16 bits. */
		assert_true(model->max_send_wqebb <= 65536 && model->max_recv_wr <= 65536);
		/* A receive WQE holds max_sge data segments of 16 bytes, a send WQE 2 more. */
		assert_true(model->max_sge * 16 <= model->max_rq_desc_bytes);
		assert_true(48 + model->max_sge * 16 <= model->max_sq_desc_bytes);
		assert_true(model->min_inline != SHCA_MIN_INLINE_UNKNOWN);
	}
}

static void
test_default_and_unknown(void **state)
{
	(void)state;
	assert_string_equal(shca_models[0].name, "cx5");
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
