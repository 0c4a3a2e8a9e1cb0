/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Frames of queue pairs with a transport, as the wire gets them. */
#include "roce_end.h"

#include "hw/state/device.h"

#define MIN_FRAME 60

/** The port's path becomes one of IPv4, whose headers are the shortest. */
static void
use_ipv4(struct end *end)
{
	static const uint8_t own[16] = { [10] = 0xff, 0xff, 192, 0, 2, 1 };
	static const uint8_t other[16] = { [10] = 0xff, 0xff, 192, 0, 2, 2 };
	const enum shca_roce_state states[] = { SHCA_ROCE_RESET, SHCA_ROCE_INIT, SHCA_ROCE_RTR,
		SHCA_ROCE_RTS };

	memcpy(end->conf.path.sgid, own, sizeof(own));
	memcpy(end->conf.path.dgid, other, sizeof(other));
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		shca_roce_qp_modify(end->qp, states[i], &end->conf);
}

/** A message without bytes would be a frame of 58 bytes: Ethernet 14, IPv4 20, UDP 8, BTH 12,
 * ICRC 4. */
static void
a_runt_is_padded(void **state)
{
	static const uint8_t padding[2] = { 0 };
	struct end end;

	(void)state;
	connect_end(&end, SHCA_ROCE_RC);
	use_ipv4(&end);
	memcpy(end.sq_ring,
		&(struct mlx5_wqe_ctrl_seg){
			.opmod_idx_opcode = htobe32(MLX5_OPCODE_SEND),
			.qpn_ds = htobe32(shca_roce_qp_number(end.qp) << 8 | 1),
		},
		sizeof(struct mlx5_wqe_ctrl_seg));
	end.record[MLX5_SND_DBR] = htobe32(1);
	/* Not from the room of the frame alone. */
	memset(end.rig.dev->out.arena, 0xee, SHCA_OUT_ARENA);
	rig_run(&end.rig);
	assert_int_equal(end.rig.wire.nb_sent, 1);
	assert_int_equal(end.rig.wire.sent[0].length, MIN_FRAME);
	assert_memory_equal(
		end.rig.wire.sent[0].bytes + MIN_FRAME - sizeof(padding), padding, sizeof(padding));
	assert_int_equal(sent(&end, 0).opcode, SHCA_BTH_SEND_ONLY);
	assert_int_equal(sent(&end, 0).payload_bytes, 0);
	disconnect_end(&end);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_runt_is_padded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
