/* SPDX-License-Identifier: BSD-3-Clause */
/** @file A queue pair whose other side is beyond the wire, where the test plays it. */
#ifndef ROCE_END_H
#define ROCE_END_H

#include "rig.h"

#include <endian.h>
#include <string.h>

#include <rdma/ib_user_ioctl_verbs.h>

#include "base/node.h"
#include "hw/roce/gid.h"
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

static inline void
connect_end(struct end *end, enum shca_roce_type type)
{
	const enum shca_roce_state states[] = { SHCA_ROCE_INIT, SHCA_ROCE_RTR, SHCA_ROCE_RTS };
	struct shca_gid_route route = { .sgid_index = 1, .hop_limit = 64 };

	memset(end, 0, sizeof(*end));
	rig_init(&end->rig);
	rig_open(&end->rig);
	shca_node_gid(shca_device_conf(end->rig.dev)->mac, end->gid);
	shca_node_gid(other_mac, end->other_gid);
	memcpy(route.dgid, end->other_gid, sizeof(route.dgid));
	end->conf = (struct shca_roce_qp_conf){
		.mtu = 1024,
		.timeout = 14,
		.sq_psn = PSN,
		.rq_psn = PSN,
		.dest_qpn = DEST_QPN,
		.access = IB_UVERBS_ACCESS_REMOTE_WRITE | IB_UVERBS_ACCESS_REMOTE_READ,
	};
	assert_true(shca_gid_path(end->rig.dev, &route, &end->conf.path));
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

static inline void
disconnect_end(struct end *end)
{
	shca_roce_qp_destroy(end->qp);
	rig_close(&end->rig);
}

/** A frame that has left. */
static inline struct shca_bth
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

/** The way of packets to the queue pair, from its other side. */
static inline struct shca_roce_path
way_back(const struct end *end)
{
	struct shca_roce_path path = { .is_v2 = true, .udp_source = 0xc000 };

	memcpy(path.sgid, end->other_gid, sizeof(path.sgid));
	memcpy(path.dgid, end->gid, sizeof(path.dgid));
	memcpy(path.dmac, shca_device_conf(end->rig.dev)->mac, sizeof(path.dmac));
	return path;
}

/** A packet to the queue pair. */
static inline void
come_by(struct end *end, const struct shca_roce_path *path, const struct shca_bth *bth)
{
	struct shca_bth to = *bth;
	uint8_t frame[512];
	uint32_t at;

	to.pkey = 0xffff;
	to.qpn = shca_roce_qp_number(end->qp);
	at = shca_roce_write_headers(path, &to, frame);
	assert_true(at + to.payload_bytes <= sizeof(frame) - 8);
	if (to.payload_bytes != 0)
		memcpy(frame + at, to.payload, to.payload_bytes);
	rig_come(&end->rig.wire, frame, shca_roce_finish(path, &to, frame));
}

/** A packet to the queue pair, from its other side. */
static inline void
come(struct end *end, const struct shca_bth *bth)
{
	const struct shca_roce_path path = way_back(end);

	come_by(end, &path, bth);
}

#endif /* ROCE_END_H */
