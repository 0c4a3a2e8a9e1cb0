/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flow actions of mlx5's own: header modification and packet reformat, with the checks of Linux
 * 6.1 in their order (drivers/infiniband/hw/mlx5/fs.c, the two UVERBS_HANDLERs; then
 * mlx5/core/fs_cmd.c; then what firmware refuses). ESP actions went with Linux 5.19: their methods
 * are unknown. An action without bytes of its own (L2_TUNNEL_TO_L2) is no context of the firmware.
 */
#include <errno.h>
#include <string.h>

#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>

#include "abi/core/ioctl.h"
#include "abi/object/methods.h"
#include "config/model.h"

#define ACTION_BYTES   8
#define ETHERNET_BYTES 14
#define TAG_BYTES      4

static void
destroy(struct shca_object *object)
{
	/* The object is mere data, and no rule uses it any more. */
	(void)object;
}

const struct shca_object_class shca_flow_action_class = {
	.type = UVERBS_OBJECT_FLOW_ACTION,
	.name = "flow action",
	.bytes = sizeof(struct shca_flow_action_object),
	.destroy = destroy,
};

/** mlx5_ib_ft_type_to_namespace. */
static int
take_table_type(const struct shca_bundle *bundle, uint16_t id, bool *egress)
{
	const uint64_t type = shca_ioctl_value(bundle, id);

	if (type > MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_TX)
		return -EINVAL;
	*egress = type == MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX;
	return type <= MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX ? 0 : -EOPNOTSUPP;
}

static int
create_modify_header(struct shca_bundle *bundle)
{
	struct shca_flow_action_object *action =
		shca_ioctl_object(bundle, MLX5_IB_ATTR_CREATE_MODIFY_HEADER_HANDLE);
	const struct shca_user_buffer *actions =
		shca_ioctl_buffer(bundle, MLX5_IB_ATTR_CREATE_MODIFY_HEADER_ACTIONS_PRM);
	uint8_t prm[SHCA_MODIFY_STEPS_MAX * ACTION_BYTES];
	int ret;

	if (bundle->file->model->modify_actions == 0)
		return -EOPNOTSUPP;
	if (actions->length % ACTION_BYTES != 0)
		return -EINVAL;
	ret = take_table_type(
		bundle, MLX5_IB_ATTR_CREATE_MODIFY_HEADER_FT_TYPE, &action->modify.egress);
	if (ret != 0)
		return ret;
	if (actions->length / ACTION_BYTES > bundle->file->model->modify_actions)
		return -EOPNOTSUPP;
	ret = shca_user_read(actions, 0, prm, actions->length);
	if (ret == 0)
		ret = shca_modify_parse(prm, actions->length / ACTION_BYTES, &action->modify);
	return ret != 0
		? ret
		: shca_object_charge(bundle->file, &action->object, SHCA_LIMIT_MODIFY_HEADERS);
}

static const struct reformat {
	uint8_t type;    /* enum mlx5_ib_uapi_flow_action_packet_reformat_type */
	uint8_t ft_type; /* the only table type that can have it */
	enum shca_modify_kind kind;
} reformats[] = {
	{ MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2,
		MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX, SHCA_MODIFY_L2_TUNNEL_TO_L2 },
	{ MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL,
		MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX, SHCA_MODIFY_L2_TO_L2_TUNNEL },
	{ MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L3_TUNNEL_TO_L2,
		MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX, SHCA_MODIFY_L3_TUNNEL_TO_L2 },
	{ MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L3_TUNNEL,
		MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX, SHCA_MODIFY_L2_TO_L3_TUNNEL },
};

/** mlx5_ib_flow_action_packet_reformat_valid. */
static const struct reformat *
find_reformat(const struct shca_bundle *bundle)
{
	const uint64_t type = shca_ioctl_value(bundle, MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_TYPE);
	const uint64_t ft_type =
		shca_ioctl_value(bundle, MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_FT_TYPE);

	for (size_t i = 0; i < sizeof(reformats) / sizeof(reformats[0]); i++)
		if (reformats[i].type == type && reformats[i].ft_type == ft_type)
			return &reformats[i];
	return NULL;
}

/** Firmware accepts an Ethernet header with at most one tag where the reformat header begins a
 * frame. */
static bool
is_header_valid(enum shca_modify_kind kind, size_t length)
{
	if (kind == SHCA_MODIFY_L3_TUNNEL_TO_L2)
		return length == ETHERNET_BYTES || length == ETHERNET_BYTES + TAG_BYTES;
	return length >= ETHERNET_BYTES;
}

static int
create_packet_reformat(struct shca_bundle *bundle)
{
	struct shca_flow_action_object *action =
		shca_ioctl_object(bundle, MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_HANDLE);
	const struct shca_user_buffer *header =
		shca_ioctl_buffer(bundle, MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_DATA_BUF);
	const struct reformat *reformat = find_reformat(bundle);
	struct shca_modify *modify = &action->modify;
	int ret;

	if (bundle->file->model->encap_bytes == 0 || reformat == NULL)
		return -EOPNOTSUPP;
	modify->kind = reformat->kind;
	modify->egress = reformat->ft_type == MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX;
	if (modify->kind == SHCA_MODIFY_L2_TUNNEL_TO_L2)
		return 0;
	if (header->length == 0)
		return -ENOENT;
	if (header->length > bundle->file->model->encap_bytes ||
		!is_header_valid(modify->kind, header->length))
		return -EINVAL;
	modify->header_bytes = (uint8_t)header->length;
	ret = shca_user_read(header, 0, modify->header, header->length);
	return ret != 0 ? ret
			: shca_object_charge(bundle->file, &action->object, SHCA_LIMIT_REFORMATS);
}

/* clang-format off */
static const struct shca_attr_row modify_header_rows[] = {
	SHCA_NEW(MLX5_IB_ATTR_CREATE_MODIFY_HEADER_HANDLE, &shca_flow_action_class),
	SHCA_IN_MANDATORY(MLX5_IB_ATTR_CREATE_MODIFY_HEADER_ACTIONS_PRM, ACTION_BYTES, SHCA_ANY_BYTES),
	SHCA_IN(MLX5_IB_ATTR_CREATE_MODIFY_HEADER_FT_TYPE, 8),
};

static const struct shca_attr_row packet_reformat_rows[] = {
	SHCA_NEW(MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_HANDLE, &shca_flow_action_class),
	SHCA_IN_OPTIONAL(MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_DATA_BUF, 1, SHCA_ANY_BYTES),
	SHCA_IN(MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_TYPE, 8),
	SHCA_IN(MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_FT_TYPE, 8),
};

static const struct shca_attr_row destroy_rows[] = {
	SHCA_DESTROY(UVERBS_ATTR_DESTROY_FLOW_ACTION_HANDLE, &shca_flow_action_class),
};

const struct shca_method shca_flow_action_methods[] = {
	{ UVERBS_METHOD_FLOW_ACTION_DESTROY, SHCA_ROWS(destroy_rows) },
	{ MLX5_IB_METHOD_FLOW_ACTION_CREATE_MODIFY_HEADER, SHCA_ROWS(modify_header_rows), .handler = create_modify_header },
	{ MLX5_IB_METHOD_FLOW_ACTION_CREATE_PACKET_REFORMAT, SHCA_ROWS(packet_reformat_rows), .handler = create_packet_reformat },
	{ 0 },
};
/* clang-format on */
