/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that drives a send queue's ring by itself and makes one mistake, named on the command
 * line, or none; for softhca run --strict (test/system/test_strict.py). It ends when the device has
 * dealt with what was posted, and says how: "completed", "error 0x04", "event 0".
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE    60 /* seconds */
#define FRAME_BYTES 64
#define MR_BYTES    4096
#define CE_ALWAYS   (2 << 2)
#define DS          3 /* control, ethernet, pointer */

struct program {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct mlx5dv_qp sq;
	struct mlx5dv_cq ring;
	uint16_t pi;
	uint32_t ci;
};

/* One WQE, and what a mistake makes of it. */
struct wqe {
	struct mlx5_wqe_ctrl_seg ctrl;
	uint8_t eth[16];
	struct mlx5_wqe_data_seg data;
	uint8_t rest[16];
};

static void
die(const char *what)
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
		die("ibv_modify_qp");
}

static void
open_device(struct program *program)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	if (list == NULL || list[0] == NULL)
		die("no device");
	program->context = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	if (program->context == NULL)
		die("ibv_open_device");
}

static void
open_queue(struct program *program)
{
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 16, .max_send_sge = 1 },
		.qp_type = IBV_QPT_RAW_PACKET,
	};
	struct mlx5dv_obj obj = { 0 };
	void *memory = aligned_alloc(MR_BYTES, MR_BYTES);

	program->pd = ibv_alloc_pd(program->context);
	program->cq = ibv_create_cq(program->context, 15, NULL, NULL, 0);
	if (memory == NULL || program->pd == NULL || program->cq == NULL)
		die("PD or CQ");
	memset(memory, 2, MR_BYTES);
	program->mr = ibv_reg_mr(program->pd, memory, MR_BYTES, IBV_ACCESS_LOCAL_WRITE);
	attr.send_cq = attr.recv_cq = program->cq;
	program->qp = ibv_create_qp(program->pd, &attr);
	if (program->mr == NULL || program->qp == NULL)
		die("MR or QP");
	to_state(program->qp, IBV_QPS_INIT);
	to_state(program->qp, IBV_QPS_RTR);
	to_state(program->qp, IBV_QPS_RTS);
	obj.qp.in = program->qp;
	obj.qp.out = &program->sq;
	obj.cq.in = program->cq;
	obj.cq.out = &program->ring;
	errno = mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP | MLX5DV_OBJ_CQ);
	if (errno != 0)
		die("mlx5dv_init_obj");
}

static struct wqe
make_wqe(const struct program *program)
{
	struct wqe wqe = { 0 };

	wqe.ctrl.opmod_idx_opcode = htobe32((uint32_t)program->pi << 8 | MLX5_OPCODE_SEND);
	wqe.ctrl.qpn_ds = htobe32(program->qp->qp_num << 8 | DS);
	wqe.ctrl.fm_ce_se = CE_ALWAYS;
	wqe.data.byte_count = htobe32(FRAME_BYTES);
	wqe.data.lkey = htobe32(program->mr->lkey);
	wqe.data.addr = htobe64((uintptr_t)program->mr->addr);
	return wqe;
}

static void
put_wqe(struct program *program, const struct wqe *wqe)
{
	uint32_t slot = program->pi & (program->sq.sq.wqe_cnt - 1);

	memcpy((uint8_t *)program->sq.sq.buf + (size_t)slot * program->sq.sq.stride, wqe,
		sizeof(*wqe));
	program->pi++;
}

static void
ring(struct program *program, const struct wqe *wqe)
{
	uint64_t doorbell;

	memcpy(&doorbell, wqe, sizeof(doorbell));
	__atomic_store_n(&program->sq.dbrec[MLX5_SND_DBR], htobe32(program->pi), __ATOMIC_RELEASE);
	__atomic_store_n((uint64_t *)program->sq.bf.reg, doorbell, __ATOMIC_RELEASE);
}

static void
post(struct program *program, const struct wqe *wqe)
{
	put_wqe(program, wqe);
	ring(program, wqe);
}

/* @return the next CQE when it is there. */
static const struct mlx5_err_cqe *
poll_cqe(const struct program *program)
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

/* Wait for a CQE or an event, and say which. */
static void
await(struct program *program)
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
				die("ibv_get_async_event");
			printf("event %d\n", event.event_type);
			ibv_ack_async_event(&event);
			return;
		}
		if (time(NULL) - start > PATIENCE) {
			errno = ETIMEDOUT;
			die("no completion");
		}
	}
}

static void
do_nothing_wrong(struct program *program)
{
	struct wqe wqe = make_wqe(program);

	post(program, &wqe);
	await(program);
	program->ring.dbrec[0] = htobe32(program->ci & 0xffffff);
}

static void
do_ds(struct program *program)
{
	struct wqe wqe = make_wqe(program);

	wqe.ctrl.qpn_ds = htobe32(program->qp->qp_num << 8 | 1);
	post(program, &wqe);
	await(program);
}

static void
do_lkey(struct program *program)
{
	struct wqe wqe = make_wqe(program);

	wqe.data.lkey = htobe32(program->mr->lkey ^ 1);
	post(program, &wqe);
	await(program);
}

static void
do_address(struct program *program)
{
	struct wqe wqe = make_wqe(program);

	wqe.data.addr = htobe64((uintptr_t)program->mr->addr + MR_BYTES - FRAME_BYTES + 1);
	post(program, &wqe);
	await(program);
}

static void
do_immediate(struct program *program)
{
	struct wqe wqe = make_wqe(program);

	wqe.ctrl.imm = htobe32(1);
	post(program, &wqe);
	await(program);
}

static void
do_overrun(struct program *program)
{
	struct wqe wqe;

	for (unsigned int i = 0; i <= program->sq.sq.wqe_cnt; i++) {
		wqe = make_wqe(program);
		put_wqe(program, &wqe);
	}
	ring(program, &wqe);
	await(program);
}

static void
do_cq_overrun(struct program *program)
{
	for (unsigned int i = 0; i <= program->ring.cqe_cnt; i++) {
		struct wqe wqe = make_wqe(program);

		post(program, &wqe);
		await(program);
	}
}

/* Completions consumed, and their count written by @p write. */
static void
consume(struct program *program, __be32 (*write)(uint32_t ci))
{
	for (unsigned int i = 0; i < 2; i++) {
		struct wqe wqe = make_wqe(program);

		post(program, &wqe);
		await(program);
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
do_cq_order(struct program *program)
{
	consume(program, write_little_endian);
}

static void
do_cq_width(struct program *program)
{
	consume(program, write_32_bits);
}

/* Nothing comes of it: until standard input ends. */
static void
do_no_record(struct program *program)
{
	struct wqe wqe = make_wqe(program);
	uint64_t doorbell;

	put_wqe(program, &wqe);
	memcpy(&doorbell, &wqe, sizeof(doorbell));
	__atomic_store_n((uint64_t *)program->sq.bf.reg, doorbell, __ATOMIC_RELEASE);
	printf("rung\n");
	while (getchar() != EOF)
		;
}

static void
do_no_doorbell(struct program *program)
{
	struct wqe wqe = make_wqe(program);

	put_wqe(program, &wqe);
	__atomic_store_n(&program->sq.dbrec[MLX5_SND_DBR], htobe32(program->pi), __ATOMIC_RELEASE);
	await(program);
}

static void
do_cqe_size(struct program *program)
{
	struct ibv_cq *cq;

	setenv("MLX5_CQE_SIZE", "128", 1);
	cq = ibv_create_cq(program->context, 15, NULL, NULL, 0);
	if (cq == NULL)
		die("ibv_create_cq");
	ibv_destroy_cq(cq);
	printf("created\n");
}

static void
do_flow_port(struct program *program)
{
	struct ibv_flow_attr attr = {
		.type = IBV_FLOW_ATTR_NORMAL, .size = sizeof(attr), .port = 2
	};

	if (ibv_create_flow(program->qp, &attr) == NULL)
		printf("%s\n", strerror(errno));
}

static const struct mistake {
	const char *name;
	void (*run)(struct program *program);
} mistakes[] = {
	{ "none", do_nothing_wrong },
	{ "wqe-ds", do_ds },
	{ "lkey", do_lkey },
	{ "address", do_address },
	{ "wqe-immediate", do_immediate },
	{ "ring-overrun", do_overrun },
	{ "cq-overrun", do_cq_overrun },
	{ "cq-record-byte-order", do_cq_order },
	{ "cq-record-width", do_cq_width },
	{ "doorbell-without-record", do_no_record },
	{ "record-without-doorbell", do_no_doorbell },
	{ "cqe-size", do_cqe_size },
	{ "flow-port", do_flow_port },
};

int
main(int argc, char *argv[])
{
	struct program program = { 0 };

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (unsigned int i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		if (argc != 2 || strcmp(argv[1], mistakes[i].name) != 0)
			continue;
		open_device(&program);
		open_queue(&program);
		mistakes[i].run(&program);
		ibv_destroy_qp(program.qp);
		ibv_destroy_cq(program.cq);
		ibv_dereg_mr(program.mr);
		ibv_dealloc_pd(program.pd);
		ibv_close_device(program.context);
		return 0;
	}
	fprintf(stderr, "usage: %s MISTAKE\n", argv[0]);
	return 2;
}
