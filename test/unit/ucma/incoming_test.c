/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that come: whose they are, and what they tell. */
#include <stddef.h>
#include <stdint.h>

#include "rig.h"

enum {
	SERVER = 1, /* uids */
	CLIENT,
};

/** Nobody has the port at the device: it is no service (core/cm.c cm_match_req()). Somebody has it,
 * but for other addresses: the RDMA CM refuses (cma_find_listener(), cm_destroy_id()). */
static void
test_not_for_us(void **state)
{
	static const struct {
		uint16_t space;
		bool is_ipv6; /* who listens, at mlx5_1; else at mlx5_0 */
		uint32_t event;
		uint32_t status;
	} rows[] = {
		{ RDMA_PS_TCP, false, RIG_REJECTED, SHCA_MAD_INVALID_SERVICE_ID },
		{ RDMA_PS_TCP, true, RIG_REJECTED, SHCA_MAD_CONSUMER },
		{ RDMA_PS_UDP, false, RIG_UNREACHABLE, SHCA_MAD_SIDR_UNSUPPORTED },
		{ RDMA_PS_UDP, true, RIG_UNREACHABLE, SHCA_MAD_SIDR_REJECTED },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rig rig;
		uint32_t id;

		rig_open(&rig);
		id = rig_create(&rig, SERVER, rows[i].space);
		if (rows[i].is_ipv6)
			assert_int_equal(rig_bind6(&rig, id, 2, RIG_PORT), 0);
		else
			assert_int_equal(rig_bind(&rig, id, 1, RIG_PORT), 0);
		assert_int_equal(rig_listen(&rig, id, 1), 0);
		id = rig_caller(&rig, CLIENT, rows[i].space);
		assert_int_equal(rig_connect(&rig, id, 1, ""), 0);
		shca_ucma_step(rig.ucma);
		assert_int_equal(rig_event(&rig, rows[i].event).status, rows[i].status);
		rig_expect_silence(&rig);
		rig_close(&rig);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_not_for_us),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
