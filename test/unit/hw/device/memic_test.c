/* SPDX-License-Identifier: BSD-3-Clause */
/* Pages of the card's own memory: adjacent, nobody else's, the lowest first. */
#include "hw/device/memic.h"

#include <errno.h>

#include "rig.h"

static void
pages(void **state)
{
	uint32_t first[3];
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.model.max_dm_bytes = 8 * SHCA_MEMIC_PAGE_BYTES;
	rig_open(&rig);
	assert_int_equal(shca_memic_take(rig.dev, 0, &first[0]), -ENOMEM);
	assert_int_equal(shca_memic_take(rig.dev, 9, &first[0]), -ENOMEM);
	assert_int_equal(shca_memic_take(rig.dev, 2, &first[0]), 0);
	assert_int_equal(shca_memic_take(rig.dev, 3, &first[1]), 0);
	assert_int_equal(shca_memic_take(rig.dev, 4, &first[2]), -ENOMEM);
	assert_int_equal(shca_memic_take(rig.dev, 3, &first[2]), 0);
	assert_int_equal(first[0], 0);
	assert_int_equal(first[1], 2);
	assert_int_equal(first[2], 5);
	assert_int_equal(shca_memic_take(rig.dev, 1, &first[1]), -ENOMEM);
	shca_memic_give(rig.dev, 2, 3);
	assert_int_equal(shca_memic_take(rig.dev, 4, &first[1]), -ENOMEM);
	assert_int_equal(shca_memic_take(rig.dev, 1, &first[1]), 0);
	assert_int_equal(first[1], 2);
	shca_memic_give(rig.dev, 0, 2);
	shca_memic_give(rig.dev, 2, 1);
	shca_memic_give(rig.dev, 5, 3);
	assert_int_equal(shca_memic_take(rig.dev, 8, &first[0]), 0);
	assert_int_equal(first[0], 0);
	rig_close(&rig);
}

/** As much as the bits can say, and none at all. */
static void
sizes(void **state)
{
	static const struct {
		uint32_t nb_pages, most;
	} rows[] = { { 64, 64 }, { 100, 64 }, { 1, 1 }, { 0, 0 } };

	(void)state;
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t first, nb = 0;
		struct rig rig;

		rig_init(&rig);
		rig.model.max_dm_bytes = rows[i].nb_pages * SHCA_MEMIC_PAGE_BYTES;
		rig_open(&rig);
		while (shca_memic_take(rig.dev, 1, &first) == 0)
			assert_int_equal(first, nb++);
		assert_int_equal(nb, rows[i].most);
		shca_memic_give(rig.dev, 0, nb != 0 ? nb : 1);
		assert_int_equal(shca_memic_take(rig.dev, nb, &first), nb != 0 ? 0 : -ENOMEM);
		rig_close(&rig);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages),
		cmocka_unit_test(sizes),
	};

	return cmocka_run_group_tests_name("hw/memic", tests, NULL, NULL);
}
