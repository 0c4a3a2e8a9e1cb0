/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Datagrams that come: what takes one, and what is counted when nothing does. */
#include "roce_end.h"

#include "hw/roce/count.h"
#include "hw/roce/group.h"
#include "hw/roce/state.h"

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

static void
post_one(struct end *end)
{
	struct mlx5_wqe_data_seg *segment = (struct mlx5_wqe_data_seg *)end->rq_ring;

	segment->byte_count = htobe32(GRH + BYTES);
	segment->lkey = htobe32(end->rig.mr->lkey);
	segment->addr = htobe64((uintptr_t)end->rig.buffers);
	end->record[MLX5_RCV_DBR] = htobe32(1);
}

/** One receive WQE. mlx5's out_of_buffer counts packets for which there is none; one of a wrong
 * Q_Key is for nobody. */
static void
without_a_receive_wqe_it_is_counted(void **state)
{
	struct shca_cqe cqe;
	struct end end;

	(void)state;
	connect_end(&end, SHCA_ROCE_UD);
	end.conf.qkey = QKEY;
	shca_roce_qp_modify(end.qp, SHCA_ROCE_RTS, &end.conf);
	post_one(&end);
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

/** A datagram to a group, whole or with a bit of its ICRC turned. @return whether the device said
 * that it takes it */
static bool
group_datagram(struct end *end, const uint8_t group[16], bool is_whole)
{
	static const uint8_t payload[BYTES] = { 1, 2, 3 };
	static const uint8_t ipv4[16] = { [10] = 0xff, 0xff, 10, 0, 0, 2 };
	struct shca_roce_path path = {
		.is_v2 = true, .udp_source = 0xc000, .dmac = { 1, 0, 0x5e }
	};
	const struct shca_bth bth = {
		.opcode = SHCA_BTH_UD | SHCA_BTH_SEND_ONLY,
		.pkey = 0xffff,
		.qpn = SHCA_ROCE_GROUP_QPN,
		.qkey = QKEY,
		.src_qpn = DEST_QPN,
		.payload = payload,
		.payload_bytes = BYTES,
	};
	uint8_t frame[512];
	uint32_t at, length;
	bool is_wanted;

	memcpy(path.sgid, shca_roce_is_ipv4(group) ? ipv4 : end->other_gid, sizeof(path.sgid));
	memcpy(path.dgid, group, sizeof(path.dgid));
	at = shca_roce_write_headers(&path, &bth, frame);
	memcpy(frame + at, payload, BYTES);
	length = shca_roce_finish(&path, &bth, frame);
	frame[length - 1] ^= is_whole ? 0 : 1;
	is_wanted = shca_roce_wants(end->rig.dev, &(struct shca_frame){ frame, length, 0 });
	rig_come(&end->rig.wire, frame, length);
	rig_run(&end->rig);
	return is_wanted;
}

#define HEADERS (14u + 40 + 8 + 12 + 8) /* Ethernet, IPv6, UDP, BTH, DETH */
#define ICRC    4u

static void
assert_traffic(const struct end *end, const char *name, uint64_t wanted)
{
	uint64_t count[SHCA_NB_ROCE_TRAFFIC];
	unsigned int i = 0;

	shca_roce_traffic(end->rig.dev, count);
	while (strcmp(shca_roce_traffic_names[i], name) != 0)
		assert_true(++i < SHCA_NB_ROCE_TRAFFIC);
	assert_int_equal(count[i], wanted);
}

/** Frames that come are counted by the card's switch, before a queue pair takes or drops them; what
 * is for nobody here is no traffic of RoCE. */
static void
frames_are_counted(void **state)
{
	static const uint8_t group[16] = { 0xff, 0x0e, [15] = 1 };
	const struct shca_bth answer = { .payload_bytes = 0 };
	uint32_t nb_groups = 0;
	struct end end;

	(void)state;
	connect_end(&end, SHCA_ROCE_UD);
	end.conf.qkey = QKEY;
	shca_roce_qp_modify(end.qp, SHCA_ROCE_RTS, &end.conf);
	datagram(&end, QKEY);
	datagram(&end, QKEY + 1);
	assert_traffic(&end, "unicast_rcv_packets", 2);
	assert_traffic(&end, "port_rcv_packets", 2);
	assert_false(group_datagram(&end, group, true));
	assert_traffic(&end, "multicast_rcv_packets", 0);
	assert_int_equal(shca_group_attach(end.qp, group, &nb_groups), 0);
	assert_true(group_datagram(&end, group, true));
	assert_traffic(&end, "multicast_rcv_packets", 1);
	assert_traffic(&end, "unicast_rcv_packets", 2);
	assert_traffic(&end, "port_rcv_packets", 3);
	assert_traffic(&end, "port_rcv_data", 3 * (HEADERS + BYTES + ICRC) / 4);
	assert_traffic(&end, "port_xmit_packets", 0);
	assert_non_null(shca_roce_room(end.rig.dev));
	shca_roce_send(end.rig.dev, &end.conf.path, &answer);
	end.conf.path.dmac[0] |= 1;
	assert_non_null(shca_roce_room(end.rig.dev));
	shca_roce_send(end.rig.dev, &end.conf.path, &answer);
	rig_run(&end.rig);
	assert_int_equal(end.rig.wire.nb_sent, 2);
	assert_traffic(&end, "unicast_xmit_packets", 1);
	assert_traffic(&end, "multicast_xmit_packets", 1);
	assert_traffic(&end, "port_xmit_packets", 2);
	assert_traffic(&end, "port_xmit_data",
		(end.rig.wire.sent[0].length + end.rig.wire.sent[1].length) / 4);
	disconnect_end(&end);
}

/** A damaged datagram is for the rules, as the group does not take it. The next one of the same
 * addresses and ports is for the group all the same. */
static void
a_damaged_one_does_not_turn_away_the_next(void **state)
{
	static const uint8_t groups[][16] = {
		{ 0xff, 0x0e, [15] = 1 },
		{ [10] = 0xff, 0xff, 239, 0, 0, 1 },
	};

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		uint32_t nb_groups = 0;
		struct shca_cqe cqe;
		struct end end;

		connect_end(&end, SHCA_ROCE_UD);
		end.conf.qkey = QKEY;
		shca_roce_qp_modify(end.qp, SHCA_ROCE_RTS, &end.conf);
		post_one(&end);
		assert_int_equal(shca_group_attach(end.qp, groups[i], &nb_groups), 0);
		assert_false(group_datagram(&end, groups[i], false));
		assert_false(rig_poll(&end.rig.rx, &cqe));
		assert_true(group_datagram(&end, groups[i], true));
		assert_true(rig_poll(&end.rig.rx, &cqe));
		assert_int_equal(be32toh(cqe.byte_count), GRH + BYTES);
		/* A GRH, and whose addresses are in it: Linux mlx5_ib handle_responder(). */
		assert_int_equal(be32toh(cqe.flags_rqpn) >> 24, i == 0 ? 0x11 : 0x12);
		disconnect_end(&end);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_damaged_one_does_not_turn_away_the_next),
		cmocka_unit_test(frames_are_counted),
		cmocka_unit_test(without_a_receive_wqe_it_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
