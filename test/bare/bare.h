/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A port without libibverbs: what a program needs that talks to /dev/infiniband/uverbs<i> itself.
 * Memory, rings and the driving of them are here (struct names from mlx5dv.h, nothing is linked);
 * how its objects are asked for differs: struct bare_abi.
 */
#ifndef TEST_BARE_H
#define TEST_BARE_H

#include <infiniband/mlx5dv.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BARE_CQES         64
#define BARE_WQES         16
#define BARE_PAGE         4096
#define BARE_FRAME        200 /* bytes */
#define BARE_INLINE_BYTES 18  /* of a frame's head in its WQE: enough for each model */

/** Page-aligned; zero at first. */
struct bare_memory {
	uint8_t cq[BARE_CQES * sizeof(struct mlx5_cqe64)];
	uint8_t sq[BARE_WQES * MLX5_SEND_WQE_BB];
	uint8_t rq[BARE_WQES * sizeof(struct mlx5_wqe_data_seg)];
	__be32 cq_record[2] __attribute__((aligned(64)));
	__be32 qp_record[2] __attribute__((aligned(64)));
	uint8_t frames[2][BARE_WQES][256]; /* to be sent; received */
};

struct bare {
	int fd;
	struct bare_memory *memory;
	uint32_t pd, mr, cq, qp, flow; /**< handles */
	uint32_t lkey, sqn;
	uint32_t uar_page; /**< ioctl: which one it is told to use */
	uint8_t *uar;      /**< the page */
	uint32_t bf_offset;
	uint32_t cq_ci;
	uint16_t sq_pi, rq_pi;
};

/** Each does its part for @p bare, or ends the program. */
struct bare_abi {
	void (*get_context)(struct bare *bare);
	void (*alloc_pd)(struct bare *bare);
	void (*reg_mr)(struct bare *bare);
	void (*create_cq)(struct bare *bare);
	void (*create_qp)(struct bare *bare);
	void (*modify_qp)(struct bare *bare, uint32_t mask, uint8_t state);
	void (*create_flow)(struct bare *bare);
	void (*destroy_all)(struct bare *bare);
};

/** The node of the first port. */
int bare_open(void);
/** A context and its objects up to RTS; frames, all around the rings; and their end. */
void bare_run(const struct bare_abi *abi);
/** @{ Requests that are the same in both interfaces. */
void bare_fill_mr(const struct bare *bare, struct ib_uverbs_reg_mr *request);
void bare_fill_cq(const struct bare *bare, struct mlx5_ib_create_cq *request);
void bare_fill_cap(struct ib_uverbs_qp_cap *cap);
void bare_fill_qp(const struct bare *bare, struct mlx5_ib_create_qp *request);
void bare_fill_modify(
	const struct bare *bare, uint32_t mask, uint8_t state, struct ib_uverbs_modify_qp *request);
/** All frames to 02:00:00:00:00:01. */
struct bare_flow {
	struct ib_uverbs_create_flow core;
	struct ib_uverbs_flow_spec_eth eth;
};
void bare_fill_flow(const struct bare *bare, struct bare_flow *request);
/** @} */

/** Count and print what is not so. */
void bare_check(bool is_so, const char *what, long long value);
#define CHECK(is_so, value) bare_check(is_so, #is_so, (long long)(value))
/** End the program unless @p is_so. */
void bare_must(bool is_so, const char *what);
/** Print the count. @return the program's exit status. */
int bare_end(void);

#endif /* TEST_BARE_H */
