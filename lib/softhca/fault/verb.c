/* SPDX-License-Identifier: BSD-3-Clause */
/* The verbs by name. */
#include "fault/verb.h"

#include <stddef.h>
#include <strings.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5_user_ioctl_cmds.h>

#define EXTENDED IB_USER_VERBS_CMD_FLAG_EXTENDED
#define METHOD(verb, object_id, method_id)                                                         \
	{                                                                                          \
		.name = (verb), .object = (object_id), .number = (method_id)                       \
	}
#define DESTROY(verb, object_id, method_id)                                                        \
	{                                                                                          \
		.name = (verb), .is_destroy = true, .object = (object_id), .number = (method_id)   \
	}
#define COMMAND(verb, command)                                                                     \
	{                                                                                          \
		.name = (verb), .is_write = true, .number = (command)                              \
	}

/* clang-format off */
const struct shca_verb shca_verbs[] = {
	METHOD("GET_CONTEXT", UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT),
	COMMAND("QUERY_DEVICE", IB_USER_VERBS_CMD_QUERY_DEVICE),
	COMMAND("QUERY_DEVICE_EX", EXTENDED | IB_USER_VERBS_EX_CMD_QUERY_DEVICE),
	METHOD("QUERY_PORT", UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT),
	METHOD("QUERY_GID_TABLE", UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE),
	METHOD("QUERY_GID_ENTRY", UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY),
	METHOD("ALLOC_ASYNC_EVENT", UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC),
	METHOD("ALLOC_UAR", MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC),
	DESTROY("DESTROY_UAR", MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_DESTROY),
	COMMAND("ALLOC_PD", IB_USER_VERBS_CMD_ALLOC_PD),
	METHOD("QUERY_PD", UVERBS_OBJECT_PD, MLX5_IB_METHOD_PD_QUERY),
	DESTROY("DEALLOC_PD", UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY),
	COMMAND("REG_MR", IB_USER_VERBS_CMD_REG_MR),
	COMMAND("REREG_MR", IB_USER_VERBS_CMD_REREG_MR),
	METHOD("REG_DM_MR", UVERBS_OBJECT_MR, UVERBS_METHOD_DM_MR_REG),
	METHOD("QUERY_MR", UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR),
	DESTROY("DEREG_MR", UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY),
	METHOD("ALLOC_DM", UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC),
	DESTROY("FREE_DM", UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE),
	COMMAND("CREATE_COMP_CHANNEL", IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL),
	METHOD("CREATE_CQ", UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE),
	COMMAND("MODIFY_CQ", EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_CQ),
	COMMAND("RESIZE_CQ", IB_USER_VERBS_CMD_RESIZE_CQ),
	DESTROY("DESTROY_CQ", UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY),
	METHOD("CREATE_WQ", UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_CREATE),
	COMMAND("MODIFY_WQ", EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_WQ),
	DESTROY("DESTROY_WQ", UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_DESTROY),
	COMMAND("CREATE_RWQ_IND_TBL", EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL),
	DESTROY("DESTROY_RWQ_IND_TBL", UVERBS_OBJECT_RWQ_IND_TBL, UVERBS_METHOD_RWQ_IND_TBL_DESTROY),
	METHOD("CREATE_QP", UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE),
	COMMAND("MODIFY_QP", IB_USER_VERBS_CMD_MODIFY_QP),
	COMMAND("MODIFY_QP_EX", EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_QP),
	COMMAND("QUERY_QP", IB_USER_VERBS_CMD_QUERY_QP),
	DESTROY("DESTROY_QP", UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY),
	COMMAND("CREATE_FLOW", EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_FLOW),
	DESTROY("DESTROY_FLOW", UVERBS_OBJECT_FLOW, UVERBS_METHOD_FLOW_DESTROY),
	METHOD("CREATE_MATCHER", MLX5_IB_OBJECT_FLOW_MATCHER, MLX5_IB_METHOD_FLOW_MATCHER_CREATE),
	DESTROY("DESTROY_MATCHER", MLX5_IB_OBJECT_FLOW_MATCHER, MLX5_IB_METHOD_FLOW_MATCHER_DESTROY),
	METHOD("CREATE_RAW_FLOW", UVERBS_OBJECT_FLOW, MLX5_IB_METHOD_CREATE_FLOW),
	DESTROY("DESTROY_RAW_FLOW", UVERBS_OBJECT_FLOW, MLX5_IB_METHOD_DESTROY_FLOW),
	METHOD("CREATE_MODIFY_HEADER", UVERBS_OBJECT_FLOW_ACTION, MLX5_IB_METHOD_FLOW_ACTION_CREATE_MODIFY_HEADER),
	METHOD("CREATE_PACKET_REFORMAT", UVERBS_OBJECT_FLOW_ACTION, MLX5_IB_METHOD_FLOW_ACTION_CREATE_PACKET_REFORMAT),
	DESTROY("DESTROY_FLOW_ACTION", UVERBS_OBJECT_FLOW_ACTION, UVERBS_METHOD_FLOW_ACTION_DESTROY),
	METHOD("CREATE_COUNTERS", UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_CREATE),
	METHOD("READ_COUNTERS", UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_READ),
	DESTROY("DESTROY_COUNTERS", UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_DESTROY),
	{ .name = NULL },
};
/* clang-format on */

const struct shca_verb *
shca_verb_find(const char *name)
{
	for (const struct shca_verb *verb = shca_verbs; verb->name != NULL; verb++)
		if (strcasecmp(verb->name, name) == 0)
			return verb;
	return NULL;
}

static const struct shca_verb *
find(bool is_write, uint16_t object, uint32_t number)
{
	for (const struct shca_verb *verb = shca_verbs; verb->name != NULL; verb++)
		if (verb->is_write == is_write && verb->object == object && verb->number == number)
			return verb;
	return NULL;
}

const struct shca_verb *
shca_verb_of_method(uint16_t object, uint16_t method)
{
	return find(false, object, method);
}

const struct shca_verb *
shca_verb_of_command(uint32_t command)
{
	return find(true, 0, command);
}
