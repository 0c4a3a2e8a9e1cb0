/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The program that roce_strict_test.c has make mistakes: one queue pair, connected to
 * itself, and WQEs of its own. */
#ifndef ROCE_STRICT_RIG_H
#define ROCE_STRICT_RIG_H

#include "../check/strict_rig.h"

#include <endian.h>
#include <inttypes.h>

#include <rdma/ib_user_ioctl_verbs.h>

#include "base/node.h"
#include "hw/roce/gid.h"
#include "hw/roce/roce_qp.h"
#include "hw/roce/srq.h"

#define NB_WQEBBS   16
#define NB_WQES     8
#define STRIDE      64
#define MAX_SEND_WR 4
#define KEY         0x1234
#define BYTES       64u
#define OTHER_PDN   (RIG_PDN + 1)
/** RoCE v2 of the port's link-local address. */
#define GID_INDEX 1
#define FAR       (RIG_BUFFERS_BYTES / 2)

struct program {
	struct strict_rig strict_rig;
	struct shca_roce_qp_attr attr;
	struct shca_roce_qp_conf conf;
	struct shca_roce_qp *qp;
	struct shca_srq *srq;
	struct shca_srq_attr srq_attr;
	struct shca_ah ah;
	uint8_t gid[16];
	uint16_t sq_pi;
	uint64_t sq_ring[NB_WQEBBS * SHCA_WQEBB_BYTES / 8];
	uint64_t rq_ring[NB_WQES * STRIDE / 8];
	uint64_t dbrec, srq_dbrec;
};

/** A send WQE; segments are appended. */
struct wqe {
	uint8_t bytes[512];
	uint32_t length;
};

static struct rig *
rig_of(struct program *program)
{
	return &program->strict_rig.rig;
}

static __be32 *
record(struct program *program)
{
	return (__be32 *)&program->dbrec;
}

/** Default attributes; cases change some before they make it. */
static void
prepare(struct program *program, enum shca_roce_type type)
{
	struct rig *rig = rig_of(program);

	rig_open(rig);
	program->attr = (struct shca_roce_qp_attr){
		.type = type,
		.sq_ring = (uint8_t *)program->sq_ring,
		.rq_ring = (uint8_t *)program->rq_ring,
		.dbrec = record(program),
		.nb_wqebbs = NB_WQEBBS,
		.nb_wqes = NB_WQES,
		.stride_bytes = STRIDE,
		.pdn = RIG_PDN,
		.max_send_wr = MAX_SEND_WR,
		.send_cq = rig->tx.cq,
		.recv_cq = rig->rx.cq,
	};
	program->conf = (struct shca_roce_qp_conf){
		.qkey = KEY,
		.mtu = type == SHCA_ROCE_UD ? 4096 : 1024,
		.access = IB_UVERBS_ACCESS_REMOTE_WRITE | IB_UVERBS_ACCESS_REMOTE_ATOMIC,
		.max_rd_atomic = 1,
		.max_dest_rd_atomic = 1,
		.timeout = 14,
	};
	shca_node_gid(shca_device_conf(rig->dev)->mac, program->gid);
}

static void
make(struct program *program)
{
	struct shca_device *dev = rig_of(program)->dev;
	struct shca_gid_route route = { .sgid_index = GID_INDEX, .hop_limit = 64 };

	shca_device_lock(dev);
	assert_int_equal(shca_roce_qp_create(dev, &program->attr, &program->qp), 0);
	memcpy(route.dgid, program->gid, sizeof(route.dgid));
	assert_true(shca_gid_path(dev, &route, &program->conf.path));
	memcpy(program->conf.path.dmac, shca_device_conf(dev)->mac, 6);
	program->conf.dest_qpn = shca_roce_qp_number(program->qp);
	shca_device_unlock(dev);
}

static void
to_state(struct program *program, enum shca_roce_state state)
{
	struct shca_device *dev = rig_of(program)->dev;

	shca_device_lock(dev);
	shca_roce_qp_modify(program->qp, state, &program->conf);
	shca_device_unlock(dev);
	shca_device_step(dev);
}

static void
start(struct program *program)
{
	to_state(program, SHCA_ROCE_INIT);
	to_state(program, SHCA_ROCE_RTR);
	to_state(program, SHCA_ROCE_RTS);
}

static void
begin(struct program *program, enum shca_roce_type type)
{
	prepare(program, type);
	make(program);
	start(program);
}

static void
add(struct wqe *wqe, const void *bytes, size_t length)
{
	memcpy(wqe->bytes + wqe->length, bytes, length);
	wqe->length += (uint32_t)length;
}

static struct wqe
wqe_of(uint8_t opcode, bool is_signaled)
{
	const struct mlx5_wqe_ctrl_seg ctrl = {
		.opmod_idx_opcode = htobe32(opcode),
		.fm_ce_se = is_signaled ? MLX5_WQE_CTRL_CQ_UPDATE : 0,
	};
	struct wqe wqe = { .length = 0 };

	add(&wqe, &ctrl, sizeof(ctrl));
	return wqe;
}

static void
add_remote(struct program *program, struct wqe *wqe, uint64_t offset)
{
	const struct mlx5_wqe_raddr_seg raddr = {
		.raddr = htobe64((uintptr_t)rig_of(program)->buffers + offset),
		.rkey = htobe32(rig_of(program)->mr->lkey),
	};

	add(wqe, &raddr, sizeof(raddr));
}

static void
add_data(struct wqe *wqe, uint32_t lkey, uint64_t address, uint32_t length)
{
	const struct mlx5_wqe_data_seg data = {
		.byte_count = htobe32(length),
		.lkey = htobe32(lkey),
		.addr = htobe64(address),
	};

	add(wqe, &data, sizeof(data));
}

static void
add_buffer(struct program *program, struct wqe *wqe, uint32_t length)
{
	struct rig *rig = rig_of(program);

	add_data(wqe, rig->mr->lkey, (uintptr_t)rig->buffers, length);
}

static void
add_address(struct program *program, struct wqe *wqe, const uint8_t *gid, uint8_t hop_limit)
{
	struct mlx5_wqe_av av = {
		.key.qkey.qkey = htobe32(KEY),
		.dqp_dct = htobe32(1u << 31 | program->conf.dest_qpn),
		.rlid = htobe16(0xc000),
		.grh_gid_fl = htobe32(1u << 30 | GID_INDEX << 20),
		.hop_limit = hop_limit,
	};

	memcpy(av.rgid, gid, sizeof(av.rgid));
	memcpy(av.rmac, program->conf.path.dmac, sizeof(av.rmac));
	add(wqe, &av, sizeof(av));
}

/** Number it as its slot wants, with @p ds segments, of the queue @p qpn. */
static void
put_as(struct program *program, struct wqe *wqe, uint32_t qpn, uint32_t ds)
{
	uint8_t *ring = (uint8_t *)program->sq_ring;
	struct mlx5_wqe_ctrl_seg ctrl;

	memcpy(&ctrl, wqe->bytes, sizeof(ctrl));
	ctrl.opmod_idx_opcode |= htobe32((uint32_t)program->sq_pi << 8);
	ctrl.qpn_ds = htobe32(qpn << 8 | ds);
	memcpy(wqe->bytes, &ctrl, sizeof(ctrl));
	for (uint32_t at = 0; at < wqe->length; at += SHCA_WQEBB_BYTES)
		memcpy(ring + (size_t)(program->sq_pi++ % NB_WQEBBS) * SHCA_WQEBB_BYTES,
			wqe->bytes + at, SHCA_WQEBB_BYTES);
}

static void
tell(struct program *program)
{
	record(program)[MLX5_SND_DBR] = htobe32(program->sq_pi);
	rig_run(rig_of(program));
}

static void
post(struct program *program, struct wqe *wqe)
{
	put_as(program, wqe, shca_roce_qp_number(program->qp), wqe->length / SHCA_DS_BYTES);
	tell(program);
}

/** An empty write, which takes no receive WQE. */
static void
post_write(struct program *program, bool is_signaled)
{
	struct wqe wqe = wqe_of(MLX5_OPCODE_RDMA_WRITE, is_signaled);

	add_remote(program, &wqe, FAR);
	post(program, &wqe);
}

static void
post_receive_at(
	struct program *program, uint16_t index, uint32_t lkey, uint32_t length, uint64_t offset)
{
	struct rig *rig = rig_of(program);
	struct mlx5_wqe_data_seg data[STRIDE / SHCA_DS_BYTES] = {
		{ htobe32(length), htobe32(lkey), htobe64((uintptr_t)rig->buffers + offset) },
		{ 0, htobe32(MLX5_INVALID_LKEY), 0 },
	};

	memcpy((uint8_t *)program->rq_ring + (size_t)index * STRIDE, data, sizeof(data));
	record(program)[MLX5_RCV_DBR] = htobe32(index + 1u);
}

static void
post_receive(struct program *program, uint16_t index, uint32_t lkey, uint32_t length)
{
	post_receive_at(program, index, lkey, length, FAR);
}

#endif /* ROCE_STRICT_RIG_H */
