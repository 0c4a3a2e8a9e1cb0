/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Datagrams that come: what takes one, and what is counted when nothing does. */
#include "roce_end.h"

#define QKEY  0x1234
#define BYTES 64u
#define GRH   40u

static void
datagram(struct end *end, uint32_t qkey)
{
	static const uint8_t payload[BYTES] = { 1, 2, 3 };
	const struct shca_bth bth = {
		.opcode = SHCA_BTH_UD | SHCA_BTH_SEND_ONLY,
		.qkey = qkey,
		.src_qpn = DEST_QPN,
		.payload = payload,
		.payload_bytes = BYTES,
	};

	come(end, &bth);
	rig_run(&end->rig);
}

/** One receive WQE. mlx5's out_of_buffer counts packets for which there is none; one of a wrong
 * Q_Key is for nobody. */
static void
without_a_receive_wqe_it_is_counted(void **state)
{
	struct mlx5_wqe_data_seg *segment;
	struct shca_cqe cqe;
	struct end end;

	(void)state;
	connect_end(&end, SHCA_ROCE_UD);
	end.conf.qkey = QKEY;
	shca_roce_qp_modify(end.qp, SHCA_ROCE_RTS, &end.conf);
	segment = (struct mlx5_wqe_data_seg *)end.rq_ring;
	segment->byte_count = htobe32(GRH + BYTES);
	segment->lkey = htobe32(end.rig.mr->lkey);
	segment->addr = htobe64((uintptr_t)end.rig.buffers);
	end.record[MLX5_RCV_DBR] = htobe32(1);
	datagram(&end, QKEY + 1);
	assert_false(rig_poll(&end.rig.rx, &cqe));
	datagram(&end, QKEY);
	assert_true(rig_poll(&end.rig.rx, &cqe));
	assert_int_equal(be32toh(cqe.byte_count), GRH + BYTES);
	assert_int_equal(end.rig.buffers[GRH + 1], 2);
	assert_int_equal(shca_device_stats(end.rig.dev)->out_of_buffer, 0);
	datagram(&end, QKEY);
	assert_false(rig_poll(&end.rig.rx, &cqe));
	assert_int_equal(shca_device_stats(end.rig.dev)->out_of_buffer, 1);
	datagram(&end, QKEY + 1);
	assert_int_equal(shca_device_stats(end.rig.dev)->out_of_buffer, 1);
	disconnect_end(&end);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_receive_wqe_it_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
