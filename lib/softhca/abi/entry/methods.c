/* SPDX-License-Identifier: BSD-3-Clause */
/* All methods of the ioctl interface, by object. */
#include "abi/entry/methods.h"

#include <rdma/mlx5_user_ioctl_cmds.h>

#include "abi/entry/write.h"
#include "abi/memory/methods.h"
#include "abi/object/methods.h"

const struct shca_object_methods shca_methods_objects[SHCA_METHODS_NB_OBJECTS + 1] = {
	{ UVERBS_OBJECT_DEVICE, shca_device_methods },
	{ UVERBS_OBJECT_PD, shca_pd_methods },
	{ UVERBS_OBJECT_CQ, shca_cq_methods },
	{ UVERBS_OBJECT_QP, shca_qp_methods },
	{ UVERBS_OBJECT_MR, shca_mr_methods },
	{ UVERBS_OBJECT_FLOW, shca_flow_methods },
	{ UVERBS_OBJECT_FLOW_ACTION, shca_flow_action_methods },
	{ UVERBS_OBJECT_RWQ_IND_TBL, shca_rwq_ind_methods },
	{ UVERBS_OBJECT_WQ, shca_wq_methods },
	{ UVERBS_OBJECT_DM, shca_dm_methods },
	{ UVERBS_OBJECT_COUNTERS, shca_counters_methods },
	{ UVERBS_OBJECT_ASYNC_EVENT, shca_async_methods },
	{ UVERBS_OBJECT_AH, shca_ah_methods },
	{ UVERBS_OBJECT_MW, shca_mw_methods },
	{ UVERBS_OBJECT_XRCD, shca_xrcd_methods },
	{ UVERBS_OBJECT_SRQ, shca_srq_methods },
	{ MLX5_IB_OBJECT_UAR, shca_mlx5_uar_methods },
	{ MLX5_IB_OBJECT_FLOW_MATCHER, shca_matcher_methods },
	{ MLX5_IB_OBJECT_PP, shca_pp_methods, .needs_devx = true },
	{ UVERBS_OBJECT_DEVICE, shca_write_methods },
	{ UVERBS_OBJECT_DEVICE, shca_info_methods },
};
