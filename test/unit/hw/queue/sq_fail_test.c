/* SPDX-License-Identifier: BSD-3-Clause */
/* Send queues that fail outside of their engine: for one WQE, and for good. */
#include "rig.h"

#include <endian.h>

#include "hw/queue/sq_fail.h"
#include "hw/state/sq.h"

/** The WQE is the first of those that fail although others behind it had been executed. */
static void
one_wqe(void **state)
{
	struct shca_cqe cqe;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	for (unsigned int i = 0; i < 4; i++)
		rig_send(&rig, 0, 64, SHCA_CE_ON_ERROR);
	rig_run(&rig);
	assert_int_equal(rig.sq->ci, 4);
	rig.sq->nb_queued = 7;
	shca_sq_fail_wqe(rig.sq, 2);
	assert_int_equal(shca_sq_state(rig.sq), SHCA_QUEUE_ERROR);
	assert_int_equal(rig.sq->ci, 2);
	assert_int_equal(rig.sq->nb_queued, 0);
	assert_false(rig.sq->dead);
	rig_run(&rig);
	rig_expect_error(&rig.tx, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR, 2);
	rig_expect_error(&rig.tx, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_WR_FLUSH_ERR, 3);
	assert_false(rig_poll(&rig.tx, &cqe));
	assert_int_equal(rig.nb_sq_fatal, 0);
	rig_close(&rig);
}

/** No CQE, an event, and the ring is not read again before RESET. */
static void
for_good(void **state)
{
	struct shca_cqe cqe;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	shca_sq_fail_fatally(rig.sq);
	assert_int_equal(shca_sq_state(rig.sq), SHCA_QUEUE_ERROR);
	assert_int_equal(rig.nb_sq_fatal, 1);
	rig_send(&rig, 0, 64, SHCA_CE_ALWAYS);
	rig_run(&rig);
	assert_int_equal(rig.sq->ci, 0);
	assert_int_equal(rig.wire.nb_sent, 0);
	assert_false(rig_poll(&rig.tx, &cqe));
	shca_sq_modify(rig.sq, SHCA_QUEUE_RESET);
	shca_sq_modify(rig.sq, SHCA_QUEUE_READY);
	rig_run(&rig);
	assert_int_equal(rig.wire.nb_sent, 1);
	assert_true(rig_poll(&rig.tx, &cqe));
	assert_int_equal(cqe.op_own >> 4, MLX5_CQE_REQ);
	rig_close(&rig);
}

/** The owner wants no events. */
static void
without_callback(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	rig.sq->attr.event = NULL;
	shca_sq_fail_fatally(rig.sq);
	assert_int_equal(rig.nb_sq_fatal, 0);
	assert_true(rig.sq->dead);
	rig_close(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_wqe),
		cmocka_unit_test(for_good),
		cmocka_unit_test(without_callback),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
