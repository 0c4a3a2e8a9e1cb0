/* SPDX-License-Identifier: BSD-3-Clause */
/** @file When a packet counts as lost: not for a device that was off its CPU. */
#include "roce_end.h"

#include <unistd.h>

#include "hw/roce/count.h"

static const struct shca_bth acknowledgement = {
	.opcode = SHCA_BTH_RC | SHCA_BTH_ACK,
	.psn = PSN,
	.syndrome = SHCA_AETH_ACK | SHCA_AETH_NO_CREDITS,
};

/** A queue pair whose packets are due at once, for their time is 8 us, and one that it has sent. */
static void
start(struct end *end)
{
	const enum shca_roce_state states[] = { SHCA_ROCE_RESET, SHCA_ROCE_INIT, SHCA_ROCE_RTR,
		SHCA_ROCE_RTS };

	connect_end(end, SHCA_ROCE_RC);
	end->conf.timeout = 1;
	end->conf.retries = 7;
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		shca_roce_qp_modify(end->qp, states[i], &end->conf);
	memcpy(end->sq_ring,
		&(struct mlx5_wqe_ctrl_seg){
			.opmod_idx_opcode = htobe32(MLX5_OPCODE_SEND),
			.qpn_ds = htobe32(shca_roce_qp_number(end->qp) << 8 | 1),
			.fm_ce_se = MLX5_WQE_CTRL_CQ_UPDATE,
		},
		sizeof(struct mlx5_wqe_ctrl_seg));
	end->record[MLX5_SND_DBR] = htobe32(1);
	shca_device_step(end->rig.dev);
	assert_int_equal(end->rig.wire.nb_sent, 1);
	usleep(1000);
}

static uint64_t
nb_timeouts(const struct end *end)
{
	return shca_roce_counts(end->rig.dev)[SHCA_ROCE_COUNT_LOCAL_ACK_TIMEOUT_ERR];
}

static void
an_answer_on_the_wire_is_not_late(void **state)
{
	struct end end;

	(void)state;
	start(&end);
	come(&end, &acknowledgement);
	rig_run(&end.rig);
	assert_int_equal(end.rig.wire.nb_sent, 1);
	assert_int_equal(nb_timeouts(&end), 0);
	disconnect_end(&end);
}

/** The other side's device is stepped by the same thread, and was late as well. */
static void
the_other_side_has_a_round_to_answer(void **state)
{
	struct end end;

	(void)state;
	start(&end);
	shca_device_step(end.rig.dev);
	come(&end, &acknowledgement);
	rig_run(&end.rig);
	assert_int_equal(end.rig.wire.nb_sent, 1);
	assert_int_equal(nb_timeouts(&end), 0);
	disconnect_end(&end);
}

/** Who stops or destroys other queues makes the device send what is posted, several times between
 * two of its rounds, and nobody looks for answers meanwhile. */
static void
to_catch_up_is_no_look(void **state)
{
	struct end end;

	(void)state;
	start(&end);
	shca_device_step(end.rig.dev);
	for (unsigned int i = 0; i < 8; i++)
		shca_device_catch_up(end.rig.dev);
	come(&end, &acknowledgement);
	rig_run(&end.rig);
	assert_int_equal(end.rig.wire.nb_sent, 1);
	assert_int_equal(nb_timeouts(&end), 0);
	disconnect_end(&end);
}

static void
without_an_answer_it_is_sent_again(void **state)
{
	struct end end;

	(void)state;
	start(&end);
	while (nb_timeouts(&end) == 0)
		shca_device_step(end.rig.dev);
	assert_int_equal(end.rig.wire.nb_sent, 2);
	assert_int_equal(sent(&end, 1).psn, PSN);
	disconnect_end(&end);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_on_the_wire_is_not_late),
		cmocka_unit_test(the_other_side_has_a_round_to_answer),
		cmocka_unit_test(to_catch_up_is_no_look),
		cmocka_unit_test(without_an_answer_it_is_sent_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
