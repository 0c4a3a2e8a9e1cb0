/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Drives a send queue's ring by itself and makes one mistake, named on the command line, or none;
 * for softhca run --strict (test/system/test_strict.py). It ends when the device has handled the
 * posted WQEs, and prints the result: "completed", "error 0x04", "event 0".
 */
#include "strict.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE  60 /* seconds */
#define CE_ALWAYS (2 << 2)

void
strict_die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static void
to_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state, .port_num = 1 };
	int mask = IBV_QP_STATE | (state == IBV_QPS_INIT ? IBV_QP_PORT : 0);

	errno = ibv_modify_qp(qp, &attr, mask);
	if (errno != 0)
		strict_die("ibv_modify_qp");
}

void
strict_to_rts(struct ibv_qp *qp)
{
	to_state(qp, IBV_QPS_INIT);
	to_state(qp, IBV_QPS_RTR);
	to_state(qp, IBV_QPS_RTS);
}

static void
open_device(struct strict_program *program)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	if (list == NULL || list[0] == NULL)
		strict_die("no device");
	program->context = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	if (program->context == NULL)
		strict_die("ibv_open_device");
}

void
strict_make_qp(struct strict_program *program)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = program->cq,
		.recv_cq = program->cq,
		.cap = { .max_send_wr = 16, .max_send_sge = 1 },
		.qp_type = IBV_QPT_RAW_PACKET,
	};
	struct mlx5dv_obj obj = { 0 };

	program->qp = ibv_create_qp(program->pd, &attr);
	if (program->qp == NULL)
		strict_die("ibv_create_qp");
	strict_to_rts(program->qp);
	obj.qp.in = program->qp;
	obj.qp.out = &program->sq;
	errno = mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP);
	if (errno != 0)
		strict_die("mlx5dv_init_obj");
}

static void
open_queue(struct strict_program *program)
{
	void *memory = aligned_alloc(MR_BYTES, MR_BYTES);
	struct mlx5dv_obj obj = { 0 };

	program->pd = ibv_alloc_pd(program->context);
	program->cq = ibv_create_cq(program->context, 15, NULL, NULL, 0);
	if (memory == NULL || program->pd == NULL || program->cq == NULL)
		strict_die("PD or CQ");
	memset(memory, 2, MR_BYTES);
	program->mr = ibv_reg_mr(program->pd, memory, MR_BYTES, IBV_ACCESS_LOCAL_WRITE);
	if (program->mr == NULL)
		strict_die("ibv_reg_mr");
	obj.cq.in = program->cq;
	obj.cq.out = &program->ring;
	errno = mlx5dv_init_obj(&obj, MLX5DV_OBJ_CQ);
	if (errno != 0)
		strict_die("mlx5dv_init_obj");
	strict_make_qp(program);
}

struct strict_wqe
strict_make_wqe(const struct strict_program *program)
{
	struct strict_wqe wqe = { 0 };

	wqe.ctrl.opmod_idx_opcode = htobe32((uint32_t)program->pi << 8 | MLX5_OPCODE_SEND);
	wqe.ctrl.qpn_ds = htobe32(program->qp->qp_num << 8 | DS);
	wqe.ctrl.fm_ce_se = CE_ALWAYS;
	wqe.data.byte_count = htobe32(FRAME_BYTES);
	wqe.data.lkey = htobe32(program->mr->lkey);
	wqe.data.addr = htobe64((uintptr_t)program->mr->addr);
	return wqe;
}

void
strict_put_wqe(struct strict_program *program, const struct strict_wqe *wqe)
{
	uint32_t slot = program->pi & (program->sq.sq.wqe_cnt - 1);

	memcpy((uint8_t *)program->sq.sq.buf + (size_t)slot * program->sq.sq.stride, wqe,
		sizeof(*wqe));
	program->pi++;
}

void
strict_knock(const struct strict_program *program, const struct strict_wqe *wqe)
{
	uint64_t doorbell;

	memcpy(&doorbell, wqe, sizeof(doorbell));
	__atomic_store_n((uint64_t *)program->sq.bf.reg, doorbell, __ATOMIC_RELEASE);
}

void
strict_ring(struct strict_program *program, const struct strict_wqe *wqe)
{
	__atomic_store_n(&program->sq.dbrec[MLX5_SND_DBR], htobe32(program->pi), __ATOMIC_RELEASE);
	strict_knock(program, wqe);
}

void
strict_post(struct strict_program *program, const struct strict_wqe *wqe)
{
	strict_put_wqe(program, wqe);
	strict_ring(program, wqe);
}

void
strict_linger(void)
{
	printf("rung\n");
	while (getchar() != EOF)
		;
}

/** @return the next CQE when the device has written it. */
static const struct mlx5_err_cqe *
poll_cqe(const struct strict_program *program)
{
	uint32_t slot = program->ci & (program->ring.cqe_cnt - 1);
	const uint8_t *cqe =
		(uint8_t *)program->ring.buf + (size_t)(slot + 1) * program->ring.cqe_size - 64;
	uint8_t op_own = __atomic_load_n(cqe + 63, __ATOMIC_ACQUIRE);
	uint8_t lap = program->ci / program->ring.cqe_cnt & 1;

	if (op_own >> 4 == MLX5_CQE_INVALID || (op_own & 1) != lap)
		return NULL;
	return (const void *)cqe;
}

void
strict_await(struct strict_program *program)
{
	struct pollfd fd = { .fd = program->context->async_fd, .events = POLLIN };
	time_t start = time(NULL);

	for (;;) {
		const struct mlx5_err_cqe *cqe = poll_cqe(program);

		if (cqe != NULL && cqe->op_own >> 4 == MLX5_CQE_REQ) {
			printf("completed\n");
			program->ci++;
			return;
		}
		if (cqe != NULL) {
			printf("error 0x%02x\n", cqe->syndrome);
			program->ci++;
			return;
		}
		if (poll(&fd, 1, 1) > 0) {
			struct ibv_async_event event;

			if (ibv_get_async_event(program->context, &event) != 0)
				strict_die("ibv_get_async_event");
			printf("event %d\n", event.event_type);
			ibv_ack_async_event(&event);
			return;
		}
		if (time(NULL) - start > PATIENCE) {
			errno = ETIMEDOUT;
			strict_die("no completion");
		}
	}
}

static void
do_nothing_wrong(struct strict_program *program)
{
	struct strict_wqe wqe = strict_make_wqe(program);

	strict_post(program, &wqe);
	strict_await(program);
	program->ring.dbrec[0] = htobe32(program->ci & 0xffffff);
}

static void
do_ds(struct strict_program *program)
{
	struct strict_wqe wqe = strict_make_wqe(program);

	wqe.ctrl.qpn_ds = htobe32(program->qp->qp_num << 8 | 1);
	strict_post(program, &wqe);
	strict_await(program);
}

static void
do_lkey(struct strict_program *program)
{
	struct strict_wqe wqe = strict_make_wqe(program);

	wqe.data.lkey = htobe32(program->mr->lkey ^ 1);
	strict_post(program, &wqe);
	strict_await(program);
}

/** Reset a QP that has failed. */
static void
do_queue_state(struct strict_program *program)
{
	do_lkey(program);
	to_state(program->qp, IBV_QPS_RESET);
}

static void
query(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	errno = ibv_query_qp(qp, &attr, IBV_QP_STATE, &init);
	if (errno != 0)
		strict_die("ibv_query_qp");
}

/** The same with the state queried before, as a program should. */
static void
do_queried_state(struct strict_program *program)
{
	do_lkey(program);
	query(program->qp);
	to_state(program->qp, IBV_QPS_RESET);
}

/** It fails between the query and the command, which no program can know. */
static void
do_failed_since(struct strict_program *program)
{
	query(program->qp);
	do_lkey(program);
	to_state(program->qp, IBV_QPS_RESET);
}

/** It fails a while after the query. */
static void
do_queried_long_ago(struct strict_program *program)
{
	struct ibv_port_attr attr;

	query(program->qp);
	errno = ibv_query_port(program->qp->context, 1, &attr);
	if (errno != 0)
		strict_die("ibv_query_port");
	do_lkey(program);
	to_state(program->qp, IBV_QPS_RESET);
}

static void
do_address(struct strict_program *program)
{
	struct strict_wqe wqe = strict_make_wqe(program);

	wqe.data.addr = htobe64((uintptr_t)program->mr->addr + MR_BYTES - FRAME_BYTES + 1);
	strict_post(program, &wqe);
	strict_await(program);
}

static void
do_immediate(struct strict_program *program)
{
	struct strict_wqe wqe = strict_make_wqe(program);

	wqe.ctrl.imm = htobe32(1);
	strict_post(program, &wqe);
	strict_await(program);
}

static void
do_overrun(struct strict_program *program)
{
	struct strict_wqe wqe;

	for (unsigned int i = 0; i <= program->sq.sq.wqe_cnt; i++) {
		wqe = strict_make_wqe(program);
		strict_put_wqe(program, &wqe);
	}
	strict_ring(program, &wqe);
	strict_await(program);
}

static void
do_cq_overrun(struct strict_program *program)
{
	for (unsigned int i = 0; i <= program->ring.cqe_cnt; i++) {
		struct strict_wqe wqe = strict_make_wqe(program);

		strict_post(program, &wqe);
		strict_await(program);
	}
}

/** Consume completions, and let @p write write their count. */
static void
consume(struct strict_program *program, __be32 (*write)(uint32_t ci))
{
	for (unsigned int i = 0; i < 2; i++) {
		struct strict_wqe wqe = strict_make_wqe(program);

		strict_post(program, &wqe);
		strict_await(program);
		program->ring.dbrec[0] = write(program->ci);
	}
}

static __be32
write_little_endian(uint32_t ci)
{
	return htole32(ci);
}

static __be32
write_32_bits(uint32_t ci)
{
	return htobe32(ci | 1u << 24);
}

static void
do_cq_order(struct strict_program *program)
{
	consume(program, write_little_endian);
}

static void
do_cq_width(struct strict_program *program)
{
	consume(program, write_32_bits);
}

static void
do_no_record(struct strict_program *program)
{
	struct strict_wqe wqe = strict_make_wqe(program);

	strict_put_wqe(program, &wqe);
	strict_knock(program, &wqe);
	strict_linger();
}

static void
do_no_doorbell(struct strict_program *program)
{
	struct strict_wqe wqe = strict_make_wqe(program);

	strict_put_wqe(program, &wqe);
	__atomic_store_n(&program->sq.dbrec[MLX5_SND_DBR], htobe32(program->pi), __ATOMIC_RELEASE);
	strict_await(program);
}

static void
do_cqe_size(struct strict_program *program)
{
	struct ibv_cq *cq;

	cq = ibv_create_cq(program->context, 15, NULL, NULL, 0);
	if (cq == NULL)
		strict_die("ibv_create_cq");
	ibv_destroy_cq(cq);
	printf("created\n");
}

static void
do_flow_port(struct strict_program *program)
{
	struct ibv_flow_attr attr = {
		.type = IBV_FLOW_ATTR_NORMAL, .size = sizeof(attr), .port = 2
	};

	if (ibv_create_flow(program->qp, &attr) == NULL)
		printf("%s\n", strerror(errno));
}

static void
do_egress_entry(struct strict_program *program)
{
	struct ibv_flow_attr attr = {
		.type = IBV_FLOW_ATTR_NORMAL,
		.size = sizeof(attr),
		.port = 1,
		.flags = IBV_FLOW_ATTR_FLAGS_EGRESS,
	};
	struct ibv_flow *flows[2];

	for (unsigned int i = 0; i < 2; i++) {
		flows[i] = ibv_create_flow(program->qp, &attr);
		if (flows[i] == NULL)
			strict_die("ibv_create_flow");
	}
	ibv_destroy_flow(flows[0]);
	ibv_destroy_flow(flows[1]);
	printf("created\n");
}

static const struct strict_mistake mistakes[] = {
	{ "none", do_nothing_wrong },
	{ "wqe-ds", do_ds },
	{ "lkey", do_lkey },
	{ "address", do_address },
	{ "queue-state", do_queue_state },
	{ "queried-state", do_queried_state },
	{ "failed-since", do_failed_since },
	{ "queried-long-ago", do_queried_long_ago },
	{ "wqe-immediate", do_immediate },
	{ "ring-overrun", do_overrun },
	{ "cq-overrun", do_cq_overrun },
	{ "cq-record-byte-order", do_cq_order },
	{ "cq-record-width", do_cq_width },
	{ "doorbell-without-record", do_no_record },
	{ "record-without-doorbell", do_no_doorbell },
	{ "cqe-size", do_cqe_size },
	{ "flow-port", do_flow_port },
	{ "egress-entry", do_egress_entry },
	{ NULL },
};

static const struct strict_mistake *
find(const char *name)
{
	const struct strict_mistake *tables[] = { mistakes, strict_more };

	for (unsigned int i = 0; i < 2; i++)
		for (const struct strict_mistake *row = tables[i]; row->name != NULL; row++)
			if (strcmp(row->name, name) == 0)
				return row;
	return NULL;
}

/** Start again with the variable, as a user sets it: who asks another process for its environment
 * sees what it was started with. */
static void
set_cqe_size(char *argv[])
{
	if (getenv("MLX5_CQE_SIZE") != NULL)
		return;
	setenv("MLX5_CQE_SIZE", "128", 1);
	execv("/proc/self/exe", argv);
	strict_die("execv");
}

int
main(int argc, char *argv[])
{
	const struct strict_mistake *mistake = find(argc == 2 ? argv[1] : "");
	struct strict_program program = { 0 };

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (mistake == NULL) {
		fprintf(stderr, "usage: %s MISTAKE\n", argv[0]);
		return 2;
	}
	if (mistake->run == do_cqe_size)
		set_cqe_size(argv);
	open_device(&program);
	open_queue(&program);
	mistake->run(&program);
	ibv_destroy_qp(program.qp);
	ibv_destroy_cq(program.cq);
	ibv_dereg_mr(program.mr);
	ibv_dealloc_pd(program.pd);
	ibv_close_device(program.context);
	return 0;
}
