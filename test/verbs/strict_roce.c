/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes one mistake, named on the command line, or none, with queue pairs that have a transport;
 * for softhca run --strict (test/system/test_strict.py). It prints what it sees of it: a
 * completion's status, or "done".
 */
#include "pair.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

#define ODD_OFFSET 4

static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_mr *mr;

/** A queue pair that is connected to itself, of which a case changes a step's attributes. */
static void
make(enum ibv_qp_type type, struct ibv_srq *srq)
{
	cq = pair_cq();
	mr = pair_mr(PAIR_ACCESS);
	qp = pair_qp(type, cq, srq);
}

static void
step(struct ibv_qp_attr *attr, int mask)
{
	rig_must(ibv_modify_qp(qp, attr, mask), "ibv_modify_qp");
}

static void
to_init(void)
{
	struct ibv_qp_attr attr;
	const int mask = pair_init_attr(qp->qp_type, &attr);

	step(&attr, mask);
}

static void
to_rts(void)
{
	struct ibv_qp_attr attr;
	int mask = pair_rtr_attr(qp->qp_type, qp->qp_num, &attr);

	step(&attr, mask);
	mask = pair_rts_attr(qp->qp_type, &attr);
	step(&attr, mask);
}

static void
print_completion(void)
{
	struct ibv_wc wc;

	rig_poll(cq, &wc, 1);
	printf("%s\n", ibv_wc_status_str(wc.status));
}

/** A write takes no receive WQE. @param sge NULL: of no bytes */
static void
post_write(unsigned int flags, struct ibv_sge *sge)
{
	struct ibv_send_wr wr = pair_wr(IBV_WR_RDMA_WRITE, 0, sge);

	wr.send_flags = flags;
	wr.wr.rdma.remote_addr = (uintptr_t)rig_buffer(1);
	wr.wr.rdma.rkey = mr->rkey;
	pair_post(qp, &wr);
}

static void
do_nothing_wrong(void)
{
	make(IBV_QPT_RC, NULL);
	to_init();
	to_rts();
	post_write(IBV_SEND_SIGNALED, NULL);
	print_completion();
}

/** @return the rings, for what libmlx5 would not do. */
static struct mlx5dv_qp
rings(void)
{
	struct mlx5dv_qp dv = { 0 };
	struct mlx5dv_obj obj = { .qp = { .in = qp, .out = &dv } };

	rig_must(mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP), "mlx5dv_init_obj");
	return dv;
}

static void
do_send_state(void)
{
	struct mlx5_wqe_ctrl_seg ctrl = { .fm_ce_se = MLX5_WQE_CTRL_CQ_UPDATE };
	struct mlx5dv_qp dv;

	make(IBV_QPT_RC, NULL);
	to_init();
	dv = rings();
	ctrl.qpn_ds = htobe32(qp->qp_num << 8 | 1); /* NOP, index 0 */
	memcpy(dv.sq.buf, &ctrl, sizeof(ctrl));
	dv.dbrec[MLX5_SND_DBR] = htobe32(1);
	to_rts();
	printf("done\n");
}

static void
do_receive_state(void)
{
	make(IBV_QPT_RC, NULL);
	rings().dbrec[MLX5_RCV_DBR] = htobe32(1);
	to_init();
	to_rts();
	printf("done\n");
}

static void
do_receive_queue(void)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 16, .max_sge = 1 } };
	struct ibv_srq *srq = ibv_create_srq(rig_pd, &attr);

	if (srq == NULL)
		rig_die("ibv_create_srq");
	make(IBV_QPT_RC, srq);
	to_init();
	rings().dbrec[MLX5_RCV_DBR] = htobe32(1);
	to_rts();
	printf("done\n");
	ibv_destroy_qp(qp);
	ibv_destroy_srq(srq);
	qp = NULL;
}

/** The queue is exactly as long as the wish: more cannot be posted. The last write tells by its
 * byte that the device has taken all. */
static void
do_unsignaled(void)
{
	volatile uint8_t *written = rig_buffer(1);
	struct ibv_sge sge = rig_sge(0, 0, 1);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	make(IBV_QPT_RC, NULL);
	to_init();
	to_rts();
	rig_must(ibv_query_qp(qp, &attr, IBV_QP_CAP, &init), "ibv_query_qp");
	*written = 0;
	rig_buffer(0)[0] = 1;
	for (unsigned int i = 1; i < init.cap.max_send_wr; i++)
		post_write(0, NULL);
	post_write(0, &sge);
	while (*written == 0)
		;
	printf("done\n");
}

static void
post_datagram(struct ibv_ah *ah, size_t length)
{
	struct ibv_sge sge = rig_sge(0, 0, length);
	struct ibv_send_wr wr = pair_wr(IBV_WR_SEND, 0, &sge);

	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = qp->qp_num;
	wr.wr.ud.remote_qkey = PAIR_KEY;
	pair_post(qp, &wr);
	print_completion();
	ibv_destroy_ah(ah);
}

static void
do_send_length(void)
{
	make(IBV_QPT_UD, NULL);
	to_init();
	to_rts();
	post_datagram(pair_ah(), 2048);
}

static void
do_atomic_address(void)
{
	struct ibv_sge sge = rig_sge(0, 0, 8);
	struct ibv_send_wr wr = pair_wr(IBV_WR_ATOMIC_FETCH_AND_ADD, 0, &sge);

	make(IBV_QPT_RC, NULL);
	to_init();
	to_rts();
	wr.wr.atomic.remote_addr = (uintptr_t)rig_buffer(1) + ODD_OFFSET;
	wr.wr.atomic.rkey = mr->rkey;
	pair_post(qp, &wr);
	print_completion();
}

/** @return a handle of this port's address, in @p pd. */
static struct ibv_ah *
make_ah(struct ibv_pd *pd, uint8_t hop_limit)
{
	struct ibv_ah_attr attr = {
		.is_global = 1,
		.port_num = 1,
		.grh = { .sgid_index = PAIR_GID, .hop_limit = hop_limit },
	};
	struct ibv_ah *ah;

	rig_must(ibv_query_gid(rig_context, 1, PAIR_GID, &attr.grh.dgid), "ibv_query_gid");
	ah = ibv_create_ah(pd, &attr);
	if (ah == NULL)
		rig_die("ibv_create_ah");
	return ah;
}

static void
do_ah_domain(void)
{
	struct ibv_pd *pd = ibv_alloc_pd(rig_context);

	if (pd == NULL)
		rig_die("ibv_alloc_pd");
	make(IBV_QPT_UD, NULL);
	to_init();
	to_rts();
	post_datagram(make_ah(pd, 64), 64);
	ibv_dealloc_pd(pd);
}

static void
do_path(void)
{
	make(IBV_QPT_UD, NULL);
	to_init();
	to_rts();
	post_datagram(make_ah(rig_pd, 0), 64);
}

/** @{ Attributes of RTR and RTS. */
static void
connect_with(void (*change)(struct ibv_qp_attr *attr))
{
	struct ibv_qp_attr attr;
	int mask;

	make(IBV_QPT_RC, NULL);
	to_init();
	mask = pair_rtr_attr(IBV_QPT_RC, qp->qp_num, &attr);
	change(&attr);
	step(&attr, mask);
	mask = pair_rts_attr(IBV_QPT_RC, &attr);
	change(&attr);
	step(&attr, mask);
}

static void
take_mtu(struct ibv_qp_attr *attr)
{
	attr->path_mtu = IBV_MTU_4096;
}

static void
take_destination(struct ibv_qp_attr *attr)
{
	attr->dest_qp_num = 0;
}

static void
take_reads(struct ibv_qp_attr *attr)
{
	attr->max_dest_rd_atomic = 0;
}

static void
take_timeout(struct ibv_qp_attr *attr)
{
	attr->timeout = 0;
}

static void
do_path_mtu(void)
{
	connect_with(take_mtu);
	printf("done\n");
}

static void
do_destination(void)
{
	connect_with(take_destination);
	printf("done\n");
}

static void
do_reads(void)
{
	struct ibv_sge sge = rig_sge(0, 0, 8);
	struct ibv_send_wr wr = pair_wr(IBV_WR_RDMA_READ, 0, &sge);

	connect_with(take_reads);
	wr.wr.rdma.remote_addr = (uintptr_t)rig_buffer(1);
	wr.wr.rdma.rkey = mr->rkey;
	pair_post(qp, &wr);
	print_completion();
}

static void
do_timeout(void)
{
	connect_with(take_timeout);
	printf("done\n");
}
/** @} */

static const struct {
	const char *name;
	void (*run)(void);
} mistakes[] = {
	{ "none", do_nothing_wrong },
	{ "send-state", do_send_state },
	{ "receive-state", do_receive_state },
	{ "receive-queue", do_receive_queue },
	{ "send-unsignaled", do_unsignaled },
	{ "send-length", do_send_length },
	{ "atomic-address", do_atomic_address },
	{ "ah-domain", do_ah_domain },
	{ "path", do_path },
	{ "path-mtu", do_path_mtu },
	{ "qp-destination", do_destination },
	{ "qp-reads", do_reads },
	{ "qp-timeout", do_timeout },
};

int
main(int argc, char *argv[])
{
	const char *name = argc == 2 ? argv[1] : "";
	size_t i = 0;

	while (i < sizeof(mistakes) / sizeof(mistakes[0]) && strcmp(mistakes[i].name, name) != 0)
		i++;
	if (i == sizeof(mistakes) / sizeof(mistakes[0])) {
		fprintf(stderr, "usage: %s MISTAKE\n", argv[0]);
		return 2;
	}
	rig_open();
	mistakes[i].run();
	if (qp != NULL)
		ibv_destroy_qp(qp);
	ibv_dereg_mr(mr);
	ibv_destroy_cq(cq);
	return 0;
}
