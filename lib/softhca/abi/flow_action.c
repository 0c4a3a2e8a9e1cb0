/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flow actions of mlx5's own: header modification and packet reformat. No model can do either, and
 * what the kernel says then is -EOPNOTSUPP (drivers/infiniband/hw/mlx5/fs.c,
 * mlx5_ib_modify_header_supported and mlx5_ib_flow_action_packet_reformat_valid).
 */
#include <errno.h>

#include <rdma/mlx5_user_ioctl_cmds.h>

#include "abi/ioctl.h"

/* There never is one: the handle that a request wants is reserved for it and given back. */
static const struct shca_object_class flow_action_class = {
	.type = UVERBS_OBJECT_FLOW_ACTION,
	.name = "flow action",
	.bytes = sizeof(struct shca_object),
};

static int
refuse(struct shca_bundle *bundle)
{
	(void)bundle;
	return -EOPNOTSUPP;
}

/* clang-format off */
static const struct shca_attr_row modify_header_rows[] = {
	SHCA_NEW(MLX5_IB_ATTR_CREATE_MODIFY_HEADER_HANDLE, &flow_action_class),
	SHCA_IN_MANDATORY(MLX5_IB_ATTR_CREATE_MODIFY_HEADER_ACTIONS_PRM, 1, SHCA_ANY_BYTES),
	SHCA_IN(MLX5_IB_ATTR_CREATE_MODIFY_HEADER_FT_TYPE, 8),
};

static const struct shca_attr_row packet_reformat_rows[] = {
	SHCA_NEW(MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_HANDLE, &flow_action_class),
	SHCA_IN_OPTIONAL(MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_DATA_BUF, 1, SHCA_ANY_BYTES),
	SHCA_IN(MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_TYPE, 8),
	SHCA_IN(MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_FT_TYPE, 8),
};

const struct shca_method shca_flow_action_methods[] = {
	{ MLX5_IB_METHOD_FLOW_ACTION_CREATE_MODIFY_HEADER, SHCA_ROWS(modify_header_rows), .handler = refuse },
	{ MLX5_IB_METHOD_FLOW_ACTION_CREATE_PACKET_REFORMAT, SHCA_ROWS(packet_reformat_rows), .handler = refuse },
	{ 0 },
};
/* clang-format on */
