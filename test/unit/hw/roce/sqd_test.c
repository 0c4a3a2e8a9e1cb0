/* SPDX-License-Identifier: BSD-3-Clause */
/** @file What a queue pair still sends in SQD. */
#include "roce_end.h"

/** What SENDs wait for that have a fence: a read of no bytes. */
static void
post_read(struct end *end, uint16_t index)
{
	memcpy((uint8_t *)end->sq_ring + (size_t)index * SHCA_WQEBB_BYTES,
		&(struct mlx5_wqe_ctrl_seg){
			.opmod_idx_opcode = htobe32((uint32_t)index << 8 | MLX5_OPCODE_RDMA_READ),
			.qpn_ds = htobe32(shca_roce_qp_number(end->qp) << 8 | 2),
			.fm_ce_se = MLX5_WQE_CTRL_CQ_UPDATE,
		},
		sizeof(struct mlx5_wqe_ctrl_seg));
	end->record[MLX5_SND_DBR] = htobe32(index + 1u);
}

static void
post_send(struct end *end, uint16_t index)
{
	memcpy((uint8_t *)end->sq_ring + (size_t)index * SHCA_WQEBB_BYTES,
		&(struct mlx5_wqe_ctrl_seg){
			.opmod_idx_opcode = htobe32((uint32_t)index << 8 | MLX5_OPCODE_SEND),
			.qpn_ds = htobe32(shca_roce_qp_number(end->qp) << 8 | 1),
			.fm_ce_se = MLX5_WQE_CTRL_CQ_UPDATE | MLX5_WQE_CTRL_FENCE,
		},
		sizeof(struct mlx5_wqe_ctrl_seg));
	end->record[MLX5_SND_DBR] = htobe32(index + 1u);
}

static void
answer_read(struct end *end)
{
	come(end,
		&(struct shca_bth){ .opcode = SHCA_BTH_RC | SHCA_BTH_READ_ONLY,
			.psn = PSN,
			.syndrome = SHCA_AETH_ACK | SHCA_AETH_NO_CREDITS });
	rig_run(&end->rig);
}

/** What was posted and has not begun waits for RTS, and then takes the next PSN. */
static void
only_what_has_begun_goes_on(void **state)
{
	const enum shca_roce_state states[] = { SHCA_ROCE_RESET, SHCA_ROCE_INIT, SHCA_ROCE_RTR,
		SHCA_ROCE_RTS };
	struct end end;

	(void)state;
	connect_end(&end, SHCA_ROCE_RC);
	end.conf.max_rd_atomic = 1;
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		shca_roce_qp_modify(end.qp, states[i], &end.conf);
	post_read(&end, 0);
	post_send(&end, 1);
	post_send(&end, 2);
	rig_run(&end.rig);
	assert_int_equal(end.rig.wire.nb_sent, 1);
	shca_roce_qp_modify(end.qp, SHCA_ROCE_SQD, &end.conf);
	assert_true(shca_roce_qp_is_draining(end.qp));
	answer_read(&end);
	assert_int_equal(end.rig.wire.nb_sent, 1);
	assert_false(shca_roce_qp_is_draining(end.qp));
	shca_roce_qp_modify(end.qp, SHCA_ROCE_RTS, &end.conf);
	rig_run(&end.rig);
	assert_int_equal(end.rig.wire.nb_sent, 3);
	for (unsigned int i = 1; i < 3; i++) {
		assert_int_equal(sent(&end, i).opcode, SHCA_BTH_RC | SHCA_BTH_SEND_ONLY);
		assert_int_equal(sent(&end, i).psn, PSN + i);
	}
	disconnect_end(&end);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_has_begun_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
