/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Queue pairs with a transport: creation, modify and query of their states. */
#ifndef SHCA_ABI_QP_QP_ROCE_H
#define SHCA_ABI_QP_QP_ROCE_H

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <rdma/mlx5-abi.h>

#include "abi/core/ioctl.h"

/** Flags of libmlx5 that such a QP may have. Those of CQE scatter allow the card to put a message
 * into its completion, which this one never does. */
#define SHCA_QP_ROCE_DRIVER_FLAGS                                                                  \
	(MLX5_QP_FLAG_SIGNATURE | MLX5_QP_FLAG_SCATTER_CQE | MLX5_QP_FLAG_ALLOW_SCATTER_CQE |      \
		MLX5_QP_FLAG_BFREG_INDEX | MLX5_QP_FLAG_UAR_PAGE_INDEX)
/** Only a reliable connection has credits (Linux hw/mlx5/qp.c process_vendor_flags()). */
#define SHCA_QP_RC_DRIVER_FLAGS (SHCA_QP_ROCE_DRIVER_FLAGS | MLX5_QP_FLAG_PACKET_BASED_CREDIT_MODE)

/** @return whether the type of queue pair has a transport that is there. */
bool shca_qp_is_roce(uint64_t type);
/** @return whether it may have receive WQEs of its own (Linux hw/mlx5/qp.c qp_has_rq). */
static inline bool
shca_qp_has_rq(const struct shca_qp_object *qp)
{
	return qp->srq == NULL && qp->type != IBV_QPT_XRC_SEND;
}

/** Note the receive queue as its ring is, which a query tells of (set_rq_size(),
 * mlx5_ib_query_qp()). */
static inline void
shca_qp_note_rq(struct shca_qp_object *qp, const struct mlx5_ib_create_qp *request)
{
	const bool has_signature = (request->flags & MLX5_QP_FLAG_SIGNATURE) != 0;

	if (!shca_qp_has_rq(qp) || request->rq_wqe_count == 0)
		return;
	qp->rq_wqes = request->rq_wqe_count;
	qp->rq_segments =
		(1u << request->rq_wqe_shift) / sizeof(struct mlx5_wqe_data_seg) - has_signature;
}

/** Create one by a request that has been checked. */
int shca_qp_create_roce(
	struct shca_file *file, struct shca_qp_object *qp, const struct mlx5_ib_create_qp *request);
/** Create an XRC target, of which the program has nothing. */
int shca_qp_create_target(struct shca_file *file, struct shca_qp_object *qp);
int shca_qp_modify_roce(struct shca_qp_object *qp, const struct ib_uverbs_modify_qp *request);
void shca_qp_query_roce(const struct shca_qp_object *qp, struct ib_uverbs_query_qp_resp *response);

#endif /* SHCA_ABI_QP_QP_ROCE_H */
