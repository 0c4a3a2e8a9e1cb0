/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flow matchers of mlx5dv and their flows (drivers/infiniband/hw/mlx5/fs.c, UVERBS_HANDLERs
 * FLOW_MATCHER_CREATE and CREATE_FLOW). Without DevX the only destination is a QP.
 */
#include "abi/object/matcher.h"

#include <errno.h>
#include <linux/capability.h>

#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>

#include "abi/core/caps.h"
#include "abi/core/ioctl.h"
#include "abi/object/flow_use.h"
#include "abi/object/methods.h"

#define FLAG_EGRESS  (1u << 2) /* IB_FLOW_ATTR_FLAGS_EGRESS */
#define FLOW_TAG_MAX 0xffffff

static void
destroy(struct shca_object *object)
{
	/* The object is a mere mask; rules have copies of it. */
	(void)object;
}

const struct shca_object_class shca_matcher_class = {
	.type = MLX5_IB_OBJECT_FLOW_MATCHER,
	.name = "flow matcher",
	.bytes = sizeof(struct shca_matcher_object),
	.destroy = destroy,
};

/** As mlx5_ib_matcher_ns: the table type that the rules go to. Only the NIC's own tables exist. */
static int
take_direction(const struct shca_bundle *bundle, bool *egress)
{
	const struct shca_attr *type = shca_ioctl_attr(bundle, MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE);
	const struct shca_attr *flags =
		shca_ioctl_attr(bundle, MLX5_IB_ATTR_FLOW_MATCHER_FLOW_FLAGS);

	if (type != NULL && flags != NULL)
		return -EINVAL;
	*egress = flags != NULL && flags->value != 0;
	if (type == NULL)
		return 0;
	*egress = type->value == MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX;
	if (type->value > MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_TX)
		return -EINVAL;
	return type->value <= MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX ? 0 : -EOPNOTSUPP;
}

static int
take_param(const struct shca_bundle *bundle, uint16_t id, struct shca_param *param)
{
	/* Bytes past the end of the request read as 0. */
	return shca_user_read(shca_ioctl_buffer(bundle, id), 0, param, sizeof(*param));
}

static int
create_matcher(struct shca_bundle *bundle)
{
	struct shca_matcher_object *matcher =
		shca_ioctl_object(bundle, MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE);
	const struct shca_attr *type = shca_ioctl_attr(bundle, MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE);
	int ret;

	ret = take_param(bundle, MLX5_IB_ATTR_FLOW_MATCHER_MATCH_MASK, &matcher->mask);
	if (ret == 0)
		ret = take_direction(bundle, &matcher->egress);
	matcher->type = type->enum_id;
	matcher->priority = (uint16_t)type->value;
	matcher->criteria =
		(uint8_t)shca_ioctl_value(bundle, MLX5_IB_ATTR_FLOW_MATCHER_MATCH_CRITERIA);
	return ret;
}

/** As get_dests. */
static int
check_destination(
	const struct shca_matcher_object *matcher, const struct shca_qp_object *qp, uint64_t flags)
{
	if (flags ==
		(MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DEFAULT_MISS | MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DROP))
		return -EINVAL;
	if (qp != NULL && (matcher->egress || flags != 0))
		return -EINVAL;
	/* Linux passes a TIR number on that firmware refuses. */
	return qp != NULL && qp->tir == NULL ? -EINVAL : 0;
}

static int
take_actions(const struct shca_attr *attr, struct shca_modify_set *modify_set,
	struct shca_flow_object *flow)
{
	struct shca_flow_action_object *actions[SHCA_HANDLES_MAX];
	int ret = 0;

	for (unsigned int i = 0; ret == 0 && i < attr->nb_objects; i++) {
		actions[i] = (struct shca_flow_action_object *)attr->objects[i];
		ret = shca_modify_add(modify_set, &actions[i]->modify);
	}
	return ret != 0 ? ret : shca_flow_use_add(flow, actions, attr->nb_objects);
}

int
shca_matcher_create_flow(struct shca_bundle *bundle)
{
	struct shca_flow_object *flow = shca_ioctl_object(bundle, MLX5_IB_ATTR_CREATE_FLOW_HANDLE);
	struct shca_matcher_object *matcher =
		shca_ioctl_object(bundle, MLX5_IB_ATTR_CREATE_FLOW_MATCHER);
	struct shca_qp_object *qp = shca_ioctl_object(bundle, MLX5_IB_ATTR_CREATE_FLOW_DEST_QP);
	uint64_t flags = shca_ioctl_value(bundle, MLX5_IB_ATTR_CREATE_FLOW_FLAGS);
	uint64_t tag = shca_ioctl_value(bundle, MLX5_IB_ATTR_CREATE_FLOW_TAG);
	const struct shca_attr *actions =
		shca_ioctl_attr(bundle, MLX5_IB_ATTR_CREATE_FLOW_ARR_FLOW_ACTIONS);
	struct shca_param value;
	struct shca_raw_rule_attr attr = {
		.egress = matcher->egress,
		.priority = matcher->priority,
		.criteria = matcher->criteria,
		.mask = &matcher->mask,
		.value = &value,
		.drop = (flags & MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DROP) != 0,
		.default_miss = (flags & MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DEFAULT_MISS) != 0,
		.tag = shca_ioctl_attr(bundle, MLX5_IB_ATTR_CREATE_FLOW_TAG) != NULL,
		.flow_tag = (uint32_t)tag,
		.tir = qp != NULL ? qp->tir : NULL,
		.context = &bundle->file->context,
	};
	int ret;

	if (!shca_caps_has(CAP_NET_RAW))
		return -EPERM;
	ret = check_destination(matcher, qp, flags);
	if (ret == 0)
		ret = take_param(bundle, MLX5_IB_ATTR_CREATE_FLOW_MATCH_VALUE, &value);
	if (ret == 0 && actions != NULL)
		ret = take_actions(actions, &attr.modify_set, flow);
	if (ret == 0 && tag > FLOW_TAG_MAX)
		ret = -EINVAL;
	if (ret == 0 && matcher->type != MLX5_IB_FLOW_TYPE_NORMAL)
		ret = -EOPNOTSUPP;
	if (ret == 0)
		ret = shca_rule_add_raw(
			shca_device_steering(bundle->file->dev), &attr, &flow->rule);
	if (ret != 0) {
		shca_flow_use_drop(flow);
		return ret;
	}
	flow->matcher = matcher;
	matcher->object.nb_users++;
	flow->qp = qp;
	if (qp != NULL)
		qp->object.nb_users++;

	shca_device_rules_changed(bundle->file->dev);
	return 0;
}

/* clang-format off */
static const uint16_t type_bytes[] = {
	[MLX5_IB_FLOW_TYPE_NORMAL] = sizeof(uint16_t), /* the priority */
	[MLX5_IB_FLOW_TYPE_SNIFFER] = 0,
	[MLX5_IB_FLOW_TYPE_ALL_DEFAULT] = 0,
	[MLX5_IB_FLOW_TYPE_MC_DEFAULT] = 0,
};

static const struct shca_attr_row create_rows[] = {
	SHCA_NEW(MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE, &shca_matcher_class),
	SHCA_IN_MANDATORY(MLX5_IB_ATTR_FLOW_MATCHER_MATCH_MASK, 1, SHCA_PARAM_BYTES),
	SHCA_ENUM(MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE, type_bytes,
		sizeof(type_bytes) / sizeof(type_bytes[0])),
	SHCA_IN(MLX5_IB_ATTR_FLOW_MATCHER_MATCH_CRITERIA, 1),
	SHCA_FLAGS(MLX5_IB_ATTR_FLOW_MATCHER_FLOW_FLAGS, FLAG_EGRESS),
	SHCA_IN_OPTIONAL(MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE, 8, 8),
};

static const struct shca_attr_row destroy_rows[] = {
	SHCA_DESTROY(MLX5_IB_ATTR_FLOW_MATCHER_DESTROY_HANDLE, &shca_matcher_class),
};

const struct shca_method shca_matcher_methods[] = {
	{ MLX5_IB_METHOD_FLOW_MATCHER_CREATE, SHCA_ROWS(create_rows), .handler = create_matcher },
	{ MLX5_IB_METHOD_FLOW_MATCHER_DESTROY, SHCA_ROWS(destroy_rows) },
	{ 0 },
};
/* clang-format on */
