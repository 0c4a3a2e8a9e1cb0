/* SPDX-License-Identifier: BSD-3-Clause */
/** @file What a program did first leaves first: sends before the call that stops their queue pair,
 * an acknowledgement before the datagram on queue pair 1 that asks to disconnect. */
#include "roce_end.h"

#include "hw/roce/qp1.h"

/** Sends without bytes. */
static void
post_sends(struct end *end, unsigned int nb)
{
	for (unsigned int i = 0; i < nb; i++) {
		const struct mlx5_wqe_ctrl_seg ctrl = {
			.opmod_idx_opcode = htobe32(i << 8 | MLX5_OPCODE_SEND),
			.qpn_ds = htobe32(shca_roce_qp_number(end->qp) << 8 | 1),
		};

		memcpy((uint8_t *)end->sq_ring + (size_t)i * SHCA_WQEBB_BYTES, &ctrl, sizeof(ctrl));
	}
	end->record[MLX5_SND_DBR] = htobe32(nb);
}

static void
sends_leave_before_their_queue_pair_stops(void **state)
{
	const enum shca_roce_type types[] = { SHCA_ROCE_RC, SHCA_ROCE_UC };

	(void)state;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct end end;

		connect_end(&end, types[i]);
		post_sends(&end, NB_WQEBBS);
		assert_int_equal(end.rig.wire.nb_sent, 0);
		shca_device_catch_up(end.rig.dev);
		shca_roce_qp_modify(end.qp, SHCA_ROCE_ERROR, &end.conf);
		assert_int_equal(end.rig.wire.nb_sent, NB_WQEBBS);
		for (unsigned int k = 0; k < NB_WQEBBS; k++)
			assert_int_equal(sent(&end, k).psn, PSN + k);
		disconnect_end(&end);
	}
}

/** As much as the wire takes. */
static void
a_full_wire_ends_it(void **state)
{
	struct end end;

	(void)state;
	connect_end(&end, SHCA_ROCE_RC);
	post_sends(&end, NB_WQEBBS);
	end.rig.wire.room = 3;
	shca_device_catch_up(end.rig.dev);
	assert_int_equal(end.rig.wire.nb_sent, 3);
	disconnect_end(&end);
}

/** The message is in the program's memory, and what the program does then is behind its
 * acknowledgement. */
static void
an_acknowledgement_leaves_before_what_follows(void **state)
{
	const struct shca_bth message = {
		.opcode = SHCA_BTH_RC | SHCA_BTH_SEND_ONLY,
		.psn = PSN,
		.ack_req = true,
	};
	struct shca_qp1_datagram datagram = { .is_v2 = true };
	struct end end;

	(void)state;
	connect_end(&end, SHCA_ROCE_RC);
	end.record[MLX5_RCV_DBR] = htobe32(1);
	come(&end, &message);
	shca_device_step(end.rig.dev);
	assert_int_equal(end.rig.wire.nb_sent, 0);
	memcpy(datagram.local, end.gid, sizeof(datagram.local));
	memcpy(datagram.remote, end.other_gid, sizeof(datagram.remote));
	assert_int_equal(shca_qp1_send(end.rig.dev, &datagram), 0);
	rig_run(&end.rig);
	assert_int_equal(end.rig.wire.nb_sent, 2);
	assert_int_equal(sent(&end, 0).opcode, SHCA_BTH_ACK);
	assert_int_equal(sent(&end, 1).qpn, 1);
	disconnect_end(&end);
}

/** What was asked for before the queue pair was reset is not answered in its next life. */
static void
a_reset_forgets_responses(void **state)
{
	const struct shca_bth request = {
		.opcode = SHCA_BTH_RC | SHCA_BTH_READ_REQUEST,
		.psn = PSN,
		.ack_req = true,
	};
	const enum shca_roce_state begin[] = { SHCA_ROCE_RESET, SHCA_ROCE_INIT, SHCA_ROCE_RTR,
		SHCA_ROCE_RTS };
	const enum shca_roce_state states[] = { SHCA_ROCE_RESET, SHCA_ROCE_INIT, SHCA_ROCE_ERROR };
	struct end end;

	(void)state;
	connect_end(&end, SHCA_ROCE_RC);
	end.conf.max_dest_rd_atomic = 1;
	for (size_t i = 0; i < sizeof(begin) / sizeof(begin[0]); i++)
		shca_roce_qp_modify(end.qp, begin[i], &end.conf);
	come(&end, &request);
	shca_device_step(end.rig.dev);
	assert_int_equal(end.rig.wire.nb_sent, 0);
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		shca_roce_qp_modify(end.qp, states[i], &end.conf);
	rig_run(&end.rig);
	assert_int_equal(end.rig.wire.nb_sent, 0);
	disconnect_end(&end);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sends_leave_before_their_queue_pair_stops),
		cmocka_unit_test(a_full_wire_ends_it),
		cmocka_unit_test(an_acknowledgement_leaves_before_what_follows),
		cmocka_unit_test(a_reset_forgets_responses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
