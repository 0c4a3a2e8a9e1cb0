/* SPDX-License-Identifier: BSD-3-Clause */
/** @file What a program did first leaves first: sends before the call that stops their queue pair,
 * an acknowledgement before the datagram on queue pair 1 that asks to disconnect. */
#include "rig.h"

#include <endian.h>
#include <string.h>

#include "base/node.h"
#include "hw/roce/gid.h"
#include "hw/roce/qp1.h"
#include "hw/roce/roce_qp.h"
#include "transport/packet/roce.h"

#define NB_WQEBBS 8
#define NB_WQES   4
#define STRIDE    16
#define PSN       77
#define DEST_QPN  0x4711

static const uint8_t other_mac[6] = { 2, 0, 0, 0, 0, 0x77 };

/** A queue pair that is connected to one beyond the wire. */
struct end {
	struct rig rig;
	struct shca_roce_qp *qp;
	struct shca_roce_qp_conf conf;
	uint8_t gid[16], other_gid[16];
	uint64_t sq_ring[NB_WQEBBS * SHCA_WQEBB_BYTES / 8];
	uint64_t rq_ring[NB_WQES * STRIDE / 8];
	__be32 record[2];
};

static void
connect_end(struct end *end, enum shca_roce_type type)
{
	const enum shca_roce_state states[] = { SHCA_ROCE_INIT, SHCA_ROCE_RTR, SHCA_ROCE_RTS };
	const struct shca_gid_route route = { .sgid_index = 1, .hop_limit = 64 };
	struct shca_gid_route to = route;

	memset(end, 0, sizeof(*end));
	rig_init(&end->rig);
	rig_open(&end->rig);
	shca_node_gid(shca_device_conf(end->rig.dev)->mac, end->gid);
	shca_node_gid(other_mac, end->other_gid);
	memcpy(to.dgid, end->other_gid, sizeof(to.dgid));
	end->conf = (struct shca_roce_qp_conf){
		.mtu = 1024, .timeout = 14, .sq_psn = PSN, .rq_psn = PSN, .dest_qpn = DEST_QPN
	};
	assert_true(shca_gid_path(end->rig.dev, &to, &end->conf.path));
	memcpy(end->conf.path.dmac, other_mac, sizeof(other_mac));
	assert_int_equal(shca_roce_qp_create(end->rig.dev,
				 &(struct shca_roce_qp_attr){
					 .type = type,
					 .sq_ring = (uint8_t *)end->sq_ring,
					 .rq_ring = (uint8_t *)end->rq_ring,
					 .dbrec = end->record,
					 .nb_wqebbs = NB_WQEBBS,
					 .nb_wqes = NB_WQES,
					 .stride_bytes = STRIDE,
					 .pdn = RIG_PDN,
					 .send_cq = end->rig.tx.cq,
					 .recv_cq = end->rig.rx.cq,
				 },
				 &end->qp),
		0);
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		shca_roce_qp_modify(end->qp, states[i], &end->conf);
}

static void
disconnect_end(struct end *end)
{
	shca_roce_qp_destroy(end->qp);
	rig_close(&end->rig);
}

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

static struct shca_bth
sent(const struct end *end, unsigned int index)
{
	struct shca_roce_path path;
	struct shca_bth bth;

	assert_true(index < end->rig.wire.nb_sent);
	assert_int_equal(shca_roce_read(end->rig.wire.sent[index].bytes,
				 end->rig.wire.sent[index].length, &path, &bth),
		SHCA_ROCE_GOOD);
	return bth;
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
	struct shca_roce_path path = { .is_v2 = true, .udp_source = 0xc000 };
	const struct shca_bth message = {
		.opcode = SHCA_BTH_RC | SHCA_BTH_SEND_ONLY,
		.pkey = 0xffff,
		.psn = PSN,
		.ack_req = true,
	};
	struct shca_qp1_datagram datagram = { .is_v2 = true };
	struct shca_bth bth;
	uint8_t frame[256];
	struct end end;

	(void)state;
	connect_end(&end, SHCA_ROCE_RC);
	bth = message;
	bth.qpn = shca_roce_qp_number(end.qp);
	memcpy(path.sgid, end.other_gid, sizeof(path.sgid));
	memcpy(path.dgid, end.gid, sizeof(path.dgid));
	memcpy(path.dmac, shca_device_conf(end.rig.dev)->mac, sizeof(path.dmac));
	end.record[MLX5_RCV_DBR] = htobe32(1);
	(void)shca_roce_write_headers(&path, &bth, frame);
	rig_come(&end.rig.wire, frame, shca_roce_finish(&path, &bth, frame));
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sends_leave_before_their_queue_pair_stops),
		cmocka_unit_test(a_full_wire_ends_it),
		cmocka_unit_test(an_acknowledgement_leaves_before_what_follows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
