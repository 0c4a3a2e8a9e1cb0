/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks Linux for a queue that is stamped by the counter. */
#include "real_time.h"

#include <errno.h>

#include <infiniband/mlx5dv.h>

/** @return 0 or the errno of the refusal */
static int
try_queue(struct ibv_context *ctx, struct ibv_pd *pd, struct ibv_cq *cq)
{
	struct ibv_wq_init_attr attr = {
		.wq_type = IBV_WQT_RQ, .max_wr = 1, .max_sge = 1, .pd = pd, .cq = cq
	};
	struct ibv_wq *wq;

	errno = 0;
	wq = ibv_create_wq(ctx, &attr);
	if (wq == NULL)
		return errno != 0 ? errno : ENOMEM;
	ibv_destroy_wq(wq);
	return 0;
}

int
mdv_real_time_try(struct ibv_context *ctx, struct ibv_pd *pd, bool *is_only)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 1,
		.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP };
	struct mlx5dv_context dv = { 0 };
	struct ibv_cq_ex *cq;
	int ret = mlx5dv_query_device(ctx, &dv);

	*is_only = false;
	if (ret != 0 || !(dv.flags & MLX5DV_CONTEXT_FLAGS_REAL_TIME_TS))
		return -ret;
	errno = 0;
	cq = ibv_create_cq_ex(ctx, &attr);
	if (cq == NULL)
		return errno != 0 ? -errno : -ENOMEM;
	/* Linux looks at the CQ when a queue is made on it: mlx5_ib get_ts_format(). */
	ret = try_queue(ctx, pd, ibv_cq_ex_to_cq(cq));
	ibv_destroy_cq(ibv_cq_ex_to_cq(cq));
	*is_only = ret == EOPNOTSUPP;
	return *is_only ? 0 : -ret;
}
