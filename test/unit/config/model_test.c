/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The models of the tree: model_parse_test.c has what makes one. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <rdma/ib_user_verbs.h>

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

/** Bits that mlx5_ib sets for every device, and those that a model may lack. */
static void
test_capability_flags(void **state)
{
	const uint64_t all = IB_UVERBS_DEVICE_CHANGE_PHY_PORT | IB_UVERBS_DEVICE_PORT_ACTIVE_EVENT |
		IB_UVERBS_DEVICE_SYS_IMAGE_GUID | IB_UVERBS_DEVICE_RC_RNR_NAK_GEN |
		IB_UVERBS_DEVICE_MEM_MGT_EXTENSIONS;
	struct shca_model model = *shca_model_find("cx5");
	uint64_t flags;

	(void)state;
	flags = shca_model_cap_flags(&model);
	assert_true((flags & all) == all);
	assert_true((flags & IB_UVERBS_DEVICE_RAW_IP_CSUM) != 0);
	model.checksum = model.scatter_fcs = false;
	assert_true(shca_model_cap_flags(&model) ==
		(flags &
			~(uint64_t)(IB_UVERBS_DEVICE_RAW_IP_CSUM |
				IB_UVERBS_DEVICE_RAW_SCATTER_FCS)));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_default_and_unknown),
		cmocka_unit_test(test_what_tells_them_apart),
		cmocka_unit_test(test_capability_flags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
