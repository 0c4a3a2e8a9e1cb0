/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A send queue whose ring a program drives by itself, for the mistakes of strict.c and
 * strict_more.c. An unexpected error ends the program with a message.
 */
#ifndef TEST_VERBS_STRICT_H
#define TEST_VERBS_STRICT_H

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <stdint.h>

#define FRAME_BYTES 64
#define MR_BYTES    4096
#define DS          3 /* control, ethernet, pointer */

struct strict_program {
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

/** One WQE, which a mistake changes. */
struct strict_wqe {
	struct mlx5_wqe_ctrl_seg ctrl;
	uint8_t eth[16];
	struct mlx5_wqe_data_seg data;
	uint8_t rest[16];
};

/** One row a mistake; it has the finding's name unless several lead to one finding. */
struct strict_mistake {
	const char *name;
	void (*run)(struct strict_program *program);
};
/** The mistakes of strict_more.c, ended by one without a name. */
extern const struct strict_mistake strict_more[];

void strict_die(const char *what) __attribute__((noreturn));
/** Make the send queue with the program's other objects, and start it. */
void strict_make_qp(struct strict_program *program);
void strict_to_rts(struct ibv_qp *qp);
/** A WQE that sends one frame. */
struct strict_wqe strict_make_wqe(const struct strict_program *program);
void strict_put_wqe(struct strict_program *program, const struct strict_wqe *wqe);
/** Write the doorbell register. */
void strict_knock(const struct strict_program *program, const struct strict_wqe *wqe);
/** Write the doorbell record, then the register. */
void strict_ring(struct strict_program *program, const struct strict_wqe *wqe);
/** Write one WQE, the doorbell record and the register. */
void strict_post(struct strict_program *program, const struct strict_wqe *wqe);
/** Wait for a CQE or an event, and print which: "completed", "error 0x04", "event 0". */
void strict_await(struct strict_program *program);
/** Wait until standard input ends: no CQE comes. */
void strict_linger(void);

#endif /* TEST_VERBS_STRICT_H */
