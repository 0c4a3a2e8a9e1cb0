/* SPDX-License-Identifier: BSD-3-Clause */
/* By which of the device's clocks completions are stamped. */
#include <errno.h>

#include <infiniband/mlx5dv.h>

#include "check.h"

/** @return 0 or the errno of the refusal */
static int
try_queue(struct ibv_context *ctx, struct ibv_cq *cq)
{
	struct ibv_wq_init_attr attr = { .wq_type = IBV_WQT_RQ, .max_wr = 1, .max_sge = 1 };
	struct ibv_wq *wq;
	int ret = 0;

	errno = ENOMEM;
	attr.cq = cq;
	attr.pd = ibv_alloc_pd(ctx);
	wq = attr.pd == NULL ? NULL : ibv_create_wq(ctx, &attr);
	if (wq == NULL)
		ret = errno;
	else
		ibv_destroy_wq(wq);
	if (attr.pd != NULL)
		ibv_dealloc_pd(attr.pd);
	return ret;
}

int
check_clock_find(struct ibv_context *ctx, enum check_clock *clock)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 1,
		.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP };
	struct mlx5dv_context dv = { 0 };
	int ret = mlx5dv_query_device(ctx, &dv);
	struct ibv_cq_ex *cq;

	*clock = CHECK_CLOCK_COUNTER;
	if (ret != 0 || !(dv.flags & MLX5DV_CONTEXT_FLAGS_REAL_TIME_TS))
		return ret;
	*clock = CHECK_CLOCK_EITHER;
	errno = ENOMEM;
	cq = ibv_create_cq_ex(ctx, &attr);
	if (cq == NULL)
		return errno;
	/* The kernel refuses the queue, not its CQ: mlx5_ib get_ts_format(). */
	ret = try_queue(ctx, ibv_cq_ex_to_cq(cq));
	ibv_destroy_cq(ibv_cq_ex_to_cq(cq));
	if (ret == EOPNOTSUPP)
		*clock = CHECK_CLOCK_REAL_TIME_ALONE;
	return ret == EOPNOTSUPP ? 0 : ret;
}
