/* SPDX-License-Identifier: BSD-3-Clause */
/** @file GIDs of a port, and the MACs behind those of others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "hw/roce/gid.h"

static const struct shca_device_conf conf = { .mac = { 2, 0, 0, 0, 0, 0x10 } };
static const uint8_t own[16] = { 0xfe, 0x80, [11] = 0xff, 0xfe, 0, 0, 0x10 };

static void
are_made_of_the_mac(void **state)
{
	uint8_t gid[16];
	bool is_v2;

	(void)state;
	assert_int_equal(shca_gid_nb(&conf), 2);
	for (uint32_t i = 0; i < 2; i++) {
		assert_true(shca_gid_get(&conf, i, gid, &is_v2));
		assert_memory_equal(gid, own, sizeof(gid));
		assert_int_equal(is_v2, i);
		assert_true(shca_gid_is_own(&conf, gid, is_v2));
	}
	assert_false(shca_gid_get(&conf, 2, gid, &is_v2));
	gid[15]++;
	assert_false(shca_gid_is_own(&conf, gid, true));
}

static void
are_not_there_on_representors(void **state)
{
	const struct shca_device_conf manager = { .nb_vports = 3 };

	(void)state;
	assert_int_equal(shca_gid_nb(&manager), 0);
}

static void
are_resolved(void **state)
{
	static const struct {
		uint8_t gid[16];
		bool is_known;
		uint8_t mac[6];
	} rows[] = {
		{ { 0xfe, 0x80, [11] = 0xff, 0xfe, 0, 0, 0x10 }, true, { 2, 0, 0, 0, 0, 0x10 } },
		{ { 0xfe, 0x80, [8] = 0x50, 1, 2, 0xff, 0xfe, 3, 4, 5 }, true,
			{ 0x52, 1, 2, 3, 4, 5 } },
		{ { 0xff, 0x0e, [12] = 9, 8, 7, 6 }, true, { 0x33, 0x33, 9, 8, 7, 6 } },
		{ { [10] = 0xff, 0xff, 10, 0, 0, 1 }, false, { 0 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t mac[6] = { 0 };

		assert_int_equal(shca_gid_resolve(&conf, rows[i].gid, mac), rows[i].is_known);
		assert_memory_equal(mac, rows[i].mac, sizeof(mac));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(are_made_of_the_mac),
		cmocka_unit_test(are_not_there_on_representors),
		cmocka_unit_test(are_resolved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
