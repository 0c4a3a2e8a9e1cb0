/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Steps of queue pairs: which there are, and what each must and may have, by numbers of the
 * attributes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "abi/qp/qp_transition.h"

static const uint8_t types[] = { IBV_QPT_UD, IBV_QPT_UC, IBV_QPT_RC, IBV_QPT_XRC_SEND,
	IBV_QPT_XRC_RECV };
#define NB_TYPES 5

/** Bits of IBV_QP_*, as ib_user_verbs has them: 1 CUR_STATE, 2 SQD_NOTIFY, 3 ACCESS, 4 PKEY, 5
 * PORT, 6 QKEY, 7 AV, 8 MTU, 9 TIMEOUT, 10 RETRY, 11 RNR_RETRY, 12 RQ_PSN, 13 MAX_RD, 14 ALT, 15
 * MIN_RNR, 16 SQ_PSN, 17 MAX_DEST_RD, 18 MIG, 20 DEST_QPN. */
static const struct {
	uint8_t from, to;
	uint32_t required[NB_TYPES], optional[NB_TYPES];
} rows[] = {
	{ IBV_QPS_RESET, IBV_QPS_INIT, { 0x70, 0x38, 0x38, 0x38, 0x38 }, { 0 } },
	{ IBV_QPS_INIT, IBV_QPS_INIT, { 0 }, { 0x70, 0x38, 0x38, 0x38, 0x38 } },
	{ IBV_QPS_INIT, IBV_QPS_RTR, { 0, 0x101180, 0x129180, 0x101180, 0x129180 },
		{ 0x50, 0x4018, 0x4018, 0x4018, 0x4018 } },
	{ IBV_QPS_RTR, IBV_QPS_RTS, { 0x10000, 0x10000, 0x12e00, 0x12e00, 0x10200 },
		{ 0x42, 0x4400a, 0x4c00a, 0x4400a, 0x4c00a } },
	{ IBV_QPS_RTS, IBV_QPS_RTS, { 0 }, { 0x42, 0x4400a, 0x4c00a, 0x4400a, 0x4c00a } },
	{ IBV_QPS_SQE, IBV_QPS_RTS, { 0 }, { 0x42, 0xa, 0, 0, 0 } },
};

static void
attributes_of_each_step(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (unsigned int j = 0; j < NB_TYPES; j++) {
			const struct shca_qp_transition found =
				shca_qp_transition_find(types[j], rows[i].from, rows[i].to);

			if (!found.is_allowed || found.required != rows[i].required[j] ||
				found.optional != rows[i].optional[j])
				fail_msg("type %u, %u to %u: 0x%x, 0x%x", types[j], rows[i].from,
					rows[i].to, found.required, found.optional);
		}
	}
}

/** Every state but SQD, where no queue pair is, leads to RESET, and all but RESET to ERR, without
 * an attribute; no others than those above. */
static void
no_other_steps(void **state)
{
	unsigned int nb = 0;

	(void)state;
	for (uint32_t from = 0; from <= IBV_QPS_ERR; from++) {
		for (uint32_t to = 0; to <= IBV_QPS_ERR; to++) {
			const struct shca_qp_transition found =
				shca_qp_transition_find(IBV_QPT_RC, from, to);

			nb += found.is_allowed;
			if (from == IBV_QPS_SQD)
				assert_false(found.is_allowed);
			else if (to == IBV_QPS_RESET ||
				(to == IBV_QPS_ERR && from != IBV_QPS_RESET))
				assert_true(found.is_allowed && found.required == 0 &&
					found.optional == 0);
		}
	}
	assert_int_equal(nb, 2 * IBV_QPS_ERR - 1 + sizeof(rows) / sizeof(rows[0]));
	assert_false(shca_qp_transition_find(IBV_QPT_RC, IBV_QPS_ERR + 1, 0).is_allowed);
	assert_false(shca_qp_transition_find(IBV_QPT_RC, 0, IBV_QPS_ERR + 1).is_allowed);
	assert_false(shca_qp_transition_find(IBV_QPT_RC, 0, UINT32_MAX).is_allowed);
}

/** perftest gives both ends of XRC what RC wants. */
static void
what_is_passed_over(void **state)
{
	const uint32_t responder = IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	const uint32_t requester = IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY;
	const uint32_t all = responder | requester | IBV_QP_AV | IBV_QP_TIMEOUT;

	(void)state;
	assert_int_equal(shca_qp_transition_mask(IBV_QPT_XRC_SEND, all), all & ~responder);
	assert_int_equal(shca_qp_transition_mask(IBV_QPT_XRC_RECV, all), all & ~requester);
	assert_int_equal(shca_qp_transition_mask(IBV_QPT_RC, all), all);
	assert_int_equal(shca_qp_transition_mask(IBV_QPT_UC, all), all);
	assert_int_equal(shca_qp_transition_mask(IBV_QPT_UD, all), all);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attributes_of_each_step),
		cmocka_unit_test(no_other_steps),
		cmocka_unit_test(what_is_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
