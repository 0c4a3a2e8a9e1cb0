/* SPDX-License-Identifier: BSD-3-Clause */
/* What a strict device makes of a consumer index in a CQ's doorbell record. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "hw/check/strict.h"

static void
consumer_indices(void **state)
{
	static const struct {
		uint32_t word, ci, pi, nb_cqes;
		enum shca_finding finding;
		uint32_t moved;
	} cases[] = {
		{ 0, 0, 0, 64, SHCA_NB_FINDINGS, 0 },
		{ 64, 0, 64, 64, SHCA_NB_FINDINGS, 64 },
		{ 0xffffff, 0xfffff0, 0xffffff, 64, SHCA_NB_FINDINGS, 0xffffff },
		{ 0, 0xfffff0, 0x1000000, 64, SHCA_NB_FINDINGS, 0x1000000 },
		{ 5, 0x1fffffa, 0x2000010, 64, SHCA_NB_FINDINGS, 0x2000005 },
		/* 32 bits of it, 16 bits, the ring's. */
		{ 0x1000000, 0xfffff0, 0x1000000, 64, SHCA_FINDING_CQ_RECORD_WIDTH, 0x1000000 },
		{ 3, 0xfff0, 0x10003, 64, SHCA_FINDING_CQ_RECORD_WIDTH, 0x10003 },
		{ 0xffff, 0x1fff0, 0x20003, 64, SHCA_FINDING_CQ_RECORD_WIDTH, 0x1ffff },
		{ 1, 60, 65, 64, SHCA_FINDING_CQ_RECORD_WIDTH, 65 },
		{ 0, 60, 64, 64, SHCA_FINDING_CQ_RECORD_WIDTH, 64 },
		/* Swapped. */
		{ 0x01000000, 0, 1, 64, SHCA_FINDING_CQ_RECORD_ORDER, 1 },
		{ 0x40000000, 0, 64, 64, SHCA_FINDING_CQ_RECORD_ORDER, 64 },
		{ 0x34120000, 0x1230, 0x1240, 64, SHCA_FINDING_CQ_RECORD_ORDER, 0x1234 },
		/* None of all that. */
		{ 2, 0, 1, 64, SHCA_FINDING_CQ_RECORD_INDEX, 0 },
		{ 99, 200, 250, 64, SHCA_FINDING_CQ_RECORD_INDEX, 200 },
		{ 0xffffffff, 0, 10, 64, SHCA_FINDING_CQ_RECORD_INDEX, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t ci = cases[i].ci;

		if (shca_strict_check_ci(cases[i].word, &ci, cases[i].pi, cases[i].nb_cqes) !=
				cases[i].finding ||
			ci != cases[i].moved)
			fail_msg("case %zu: index %u", i, ci);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(consumer_indices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
