/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds out by a trial CQ whether the bursts can use the device's rings. */
#include <errno.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include "base/hw.h"
#include "base/log.h"
#include "dv_cq.h"
#include "mode.h"

/** Try a CQ of one entry. Real queues need more, and their own creation reports what is missing. */
static int
find_cq_obstacle(struct ibv_context *ctx, const char **obstacle)
{
	struct mlx5dv_cq dv = { 0 };
	struct mlx5dv_obj obj = { .cq.out = &dv };

	errno = 0;
	obj.cq.in = mdv_dv_cq_create(ctx, 1, 0, NULL);
	if (obj.cq.in == NULL) {
		*obstacle = "it makes no completion queue";
		/* Another errno may be temporary and says nothing about the device. */
		return errno == EOPNOTSUPP || errno == ENOSYS ? 0 : -(errno != 0 ? errno : ENOMEM);
	}
	if (mlx5dv_init_obj(&obj, MLX5DV_OBJ_CQ) != 0)
		*obstacle = "libmlx5 does not show its rings";
	else if (dv.cqe_size != sizeof(struct mdv_hw_cqe))
		*obstacle = "its completions are not of 64 bytes";
	ibv_destroy_cq(obj.cq.in);
	return 0;
}

/**
 * @param[out] obstacle the reason against direct verbs; unchanged if there is none
 * @return 0, or a negative errno if the trial was inconclusive
 */
static int
find_obstacle(struct ibv_context *ctx, const char **obstacle)
{
	if (mlx5dv_is_supported(ctx->device))
		return find_cq_obstacle(ctx, obstacle);
	*obstacle = "it is not an mlx5 device";
	return 0;
}

int
mdv_mode_choose(
	enum mdv_mode wanted, struct ibv_context *ctx, const char *name, enum mdv_mode *mode)
{
	const char *obstacle = NULL;
	int ret = wanted == MDV_MODE_IBV ? 0 : find_obstacle(ctx, &obstacle);

	if (ret != 0) {
		MDV_LOG(ERR, "%s: cannot make a completion queue to try direct verbs with: %s",
			name, strerror(-ret));
		return ret;
	}
	if (wanted == MDV_MODE_DV && obstacle != NULL) {
		MDV_LOG(ERR, "%s: mode=dv, but the device has no direct verbs for us: %s", name,
			obstacle);
		return -ENOTSUP;
	}
	*mode = wanted == MDV_MODE_IBV || obstacle != NULL ? MDV_MODE_IBV : MDV_MODE_DV;
	MDV_LOG(INFO, "%s: %s: %s", name,
		*mode == MDV_MODE_DV ? "direct verbs" : "plain verbs (ibv)",
		obstacle != NULL                  ? obstacle
			: wanted == MDV_MODE_AUTO ? "the device has them"
						  : "as mode= says");
	return 0;
}
