/* SPDX-License-Identifier: BSD-3-Clause */
/* More mistakes for strict.c: in WQEs, in doorbell records, in receiving and in the creation of
 * objects. */
#include "strict.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NB_TRIES   20
#define TRY_MICROS 5000

/** A mistake that takes the queue to the error state. */
static void
post_wrong(struct strict_program *program, const struct strict_wqe *wqe)
{
	strict_post(program, wqe);
	strict_await(program);
}

/** Four WQEBBs of which one is posted. */
static void
do_past_producer(struct strict_program *program)
{
	struct strict_wqe wqe = strict_make_wqe(program);

	wqe.ctrl.qpn_ds = htobe32(program->qp->qp_num << 8 | 13);
	post_wrong(program, &wqe);
}

/** Send the WQE that was left in the slot a lap ago. */
static void
do_stale(struct strict_program *program)
{
	struct strict_wqe wqe = strict_make_wqe(program);
	uint16_t index = (uint16_t)(program->pi - program->sq.sq.wqe_cnt);

	wqe.ctrl.opmod_idx_opcode = htobe32((uint32_t)index << 8 | MLX5_OPCODE_SEND);
	post_wrong(program, &wqe);
}

static void
do_opcode(struct strict_program *program)
{
	struct strict_wqe wqe = strict_make_wqe(program);

	wqe.ctrl.opmod_idx_opcode = htobe32((uint32_t)program->pi << 8 | MLX5_OPCODE_RDMA_WRITE);
	post_wrong(program, &wqe);
}

/** TSO without headers and segment size. */
static void
do_form(struct strict_program *program)
{
	struct strict_wqe wqe = strict_make_wqe(program);

	wqe.ctrl.opmod_idx_opcode = htobe32((uint32_t)program->pi << 8 | MLX5_OPCODE_TSO);
	post_wrong(program, &wqe);
}

/** A chain longer than the 6 bits of the count: a part of it is sent. */
static void
do_ds_overflow(struct strict_program *program)
{
	struct strict_wqe wqe = strict_make_wqe(program);

	wqe.ctrl.qpn_ds = htobe32(program->qp->qp_num << 8 | (64 + DS));
	post_wrong(program, &wqe);
}

/** On a model that needs 18 inlined bytes. */
static void
do_inline(struct strict_program *program)
{
	struct strict_wqe wqe = strict_make_wqe(program);

	post_wrong(program, &wqe);
}

/** The counter's first values have 0 in the 16 bits that count. */
static void
do_record_order(struct strict_program *program)
{
	struct strict_wqe wqe = strict_make_wqe(program);

	strict_put_wqe(program, &wqe);
	__atomic_store_n(&program->sq.dbrec[MLX5_SND_DBR], htole32(program->pi), __ATOMIC_RELEASE);
	strict_linger();
}

/** The device looks once a round, so it often enough sees the one without the other. */
static void
do_late_record(struct strict_program *program)
{
	for (unsigned int i = 0; i < NB_TRIES; i++) {
		struct strict_wqe wqe = strict_make_wqe(program);

		strict_put_wqe(program, &wqe);
		strict_knock(program, &wqe);
		usleep(TRY_MICROS);
		__atomic_store_n(
			&program->sq.dbrec[MLX5_SND_DBR], htobe32(program->pi), __ATOMIC_RELEASE);
		strict_await(program);
		program->ring.dbrec[0] = htobe32(program->ci & 0xffffff);
	}
}

/** More completions consumed than there are. */
static void
do_cq_index(struct strict_program *program)
{
	struct strict_wqe wqe = strict_make_wqe(program);

	strict_post(program, &wqe);
	strict_await(program);
	program->ring.dbrec[0] = htobe32(program->ci + 3);
	wqe = strict_make_wqe(program);
	strict_post(program, &wqe);
	strict_await(program);
}

static struct ibv_cq *
make_compressed(struct strict_program *program, uint8_t format)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 15 };
	struct mlx5dv_cq_init_attr dv = {
		.comp_mask = MLX5DV_CQ_INIT_ATTR_MASK_COMPRESSED_CQE,
		.cqe_comp_res_format = format,
	};
	struct ibv_cq_ex *cq = mlx5dv_create_cq(program->context, &attr, &dv);

	if (cq == NULL)
		strict_die("mlx5dv_create_cq");
	return ibv_cq_ex_to_cq(cq);
}

static void
do_compressed_tx(struct strict_program *program)
{
	struct ibv_cq *cq = make_compressed(program, MLX5DV_CQE_RES_FORMAT_HASH);
	struct ibv_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = program->cq,
		.cap = { .max_send_wr = 4, .max_send_sge = 1 },
		.qp_type = IBV_QPT_RAW_PACKET,
	};

	if (ibv_create_qp(program->pd, &attr) == NULL)
		strict_die("ibv_create_qp");
	printf("created\n");
}

static void
make_wq(struct strict_program *program, uint8_t format, const struct mlx5dv_wq_init_attr *dv)
{
	struct ibv_wq_init_attr attr = {
		.wq_type = IBV_WQT_RQ,
		.max_wr = 4,
		.max_sge = 1,
		.pd = program->pd,
		.cq = make_compressed(program, format),
	};
	struct mlx5dv_wq_init_attr plain = { 0 };
	struct mlx5dv_wq_init_attr wanted = dv != NULL ? *dv : plain;

	if (mlx5dv_create_wq(program->context, &attr, &wanted) == NULL)
		strict_die("mlx5dv_create_wq");
	printf("created\n");
}

/** The index of a stride, in a queue without strides. */
static void
do_format(struct strict_program *program)
{
	make_wq(program, MLX5DV_CQE_RES_FORMAT_CSUM_STRIDX, NULL);
}

/** Strides without an index (VPP 28aa9128ebd). */
static void
do_format_striding(struct strict_program *program)
{
	const struct mlx5dv_wq_init_attr dv = {
		.comp_mask = MLX5DV_WQ_INIT_ATTR_MASK_STRIDING_RQ,
		.striding_rq_attrs = { .single_stride_log_num_of_bytes = 6,
			.single_wqe_log_num_of_strides = 9 },
	};

	make_wq(program, MLX5DV_CQE_RES_FORMAT_HASH, &dv);
}

/** Make a QP that receives all frames and has a buffer of @p room bytes. */
static struct ibv_qp *
make_receiver(struct strict_program *program, struct ibv_cq *cq, uint32_t room)
{
	struct ibv_flow_attr rule = {
		.type = IBV_FLOW_ATTR_ALL_DEFAULT, .size = sizeof(rule), .port = 1
	};
	struct ibv_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = 1, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RAW_PACKET,
	};
	struct ibv_sge sge = { (uintptr_t)program->mr->addr + MR_BYTES / 2, room,
		program->mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;
	struct ibv_qp *qp = ibv_create_qp(program->pd, &attr);

	if (qp == NULL)
		strict_die("ibv_create_qp");
	strict_to_rts(qp);
	if (ibv_post_recv(qp, &wr, &bad) != 0 || ibv_create_flow(qp, &rule) == NULL)
		strict_die("ibv_post_recv, ibv_create_flow");
	return qp;
}

static void
do_truncated(struct strict_program *program)
{
	struct ibv_cq *cq = ibv_create_cq(program->context, 3, NULL, NULL, 0);
	struct strict_wqe wqe = strict_make_wqe(program);
	struct ibv_qp *qp;
	struct ibv_wc wc;

	if (cq == NULL)
		strict_die("ibv_create_cq");
	qp = make_receiver(program, cq, FRAME_BYTES - 1);
	strict_post(program, &wqe);
	while (ibv_poll_cq(cq, 1, &wc) == 0)
		;
	printf("%s\n", ibv_wc_status_str(wc.status));
	ibv_destroy_qp(qp);
}

/** VPP makes send queues first (df213385d39). */
static void
do_own_broadcast(struct strict_program *program)
{
	struct strict_wqe wqe;

	struct ibv_cq *cq = ibv_create_cq(program->context, 3, NULL, NULL, 0);

	if (cq == NULL)
		strict_die("ibv_create_cq");
	make_receiver(program, cq, FRAME_BYTES);
	ibv_destroy_qp(program->qp);
	strict_make_qp(program);
	memset(program->mr->addr, 0xff, 6);
	wqe = strict_make_wqe(program);
	strict_post(program, &wqe);
	strict_await(program);
}

const struct strict_mistake strict_more[] = {
	{ "wqe-past-producer", do_past_producer },
	{ "wqe-stale", do_stale },
	{ "wqe-opcode", do_opcode },
	{ "wqe-form", do_form },
	{ "wqe-ds-overflow", do_ds_overflow },
	{ "wqe-inline", do_inline },
	{ "record-byte-order", do_record_order },
	{ "record-after-doorbell", do_late_record },
	{ "cq-record-index", do_cq_index },
	{ "cq-compressed-tx", do_compressed_tx },
	{ "cq-mini-format", do_format },
	{ "cq-mini-format-striding", do_format_striding },
	{ "rx-truncated", do_truncated },
	{ "own-broadcast", do_own_broadcast },
	{ NULL },
};
