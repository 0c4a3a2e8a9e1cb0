/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Makes completion queues whose CQEs have the size that the bursts read.
 */
#ifndef MDV_DV_CQ_H
#define MDV_DV_CQ_H

#include <infiniband/mlx5dv.h>

#include "base/hw.h"

/**
 * Make a CQ of CQEs of 64 bytes. It states their size, as libmlx5 takes that of a CQ without one
 * from the environment: MLX5_CQE_SIZE=128 comes from the user or from DPDK's mlx5 driver, which
 * sets it for the process where cache lines have 128 bytes (its
 * common/mlx5/linux/mlx5_common_os.c). Nothing reads CQEs of 128 bytes, as no device has only
 * those: Linux takes 64 of each and asks no capability (Linux hw/mlx5/cq.c create_cq_user()), and
 * what the card has of it is that the other half of the longer ones can be padding
 * (cqe_128_always).
 * @param cqe libmlx5 makes a ring of the next power of two above it
 * @param mini_format enum mlx5dv_cqe_comp_res_format; 0: not compressed
 * @param channel NULL: none
 * @return NULL with errno, which may be 0
 */
static inline struct ibv_cq *
mdv_dv_cq_create(
	struct ibv_context *ctx, int cqe, uint32_t mini_format, struct ibv_comp_channel *channel)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = cqe, .channel = channel };
	struct mlx5dv_cq_init_attr dv_attr = {
		.comp_mask = MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE |
			(mini_format != 0 ? MLX5DV_CQ_INIT_ATTR_MASK_COMPRESSED_CQE : 0),
		.cqe_comp_res_format = mini_format,
		.cqe_size = sizeof(struct mdv_hw_cqe),
	};
	struct ibv_cq_ex *cq = mlx5dv_create_cq(ctx, &attr, &dv_attr);

	return cq == NULL ? NULL : ibv_cq_ex_to_cq(cq);
}

#endif /* MDV_DV_CQ_H */
