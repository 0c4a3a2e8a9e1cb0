/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flows: the checks of ib_uverbs_ex_create_flow (drivers/infiniband/core/uverbs_cmd.c) that need
 * the request's frame or other objects, in its order. steering/ checks the contents of the specs.
 */
#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>

#include "abi/core/caps.h"
#include "abi/core/ioctl.h"
#include "abi/object/commands.h"
#include "abi/object/counters.h"
#include "abi/object/flow_use.h"
#include "abi/object/matcher.h"
#include "abi/object/methods.h"
#include "strict/findings.h"

/** enum ib_flow_attr_type and _flags, ib_flow_spec_type: the kernel's own, equal to the verbs'. */
#define TYPE_ALL_DEFAULT   1
#define TYPE_MC_DEFAULT    2
#define FLAG_DONT_TRAP     (1u << 1)
#define FLAGS_MAX          (1u << 3)
#define SPEC_ACTION_HANDLE 0x1002
#define SPEC_ACTION_COUNT  0x1003

#define SPECS_MAX      10 /* IB_FLOW_SPEC_SUPPORT_LAYERS */
#define SPEC_BYTES_MAX 88 /* sizeof(struct ib_uverbs_flow_spec) */

static void
destroy(struct shca_object *object)
{
	struct shca_flow_object *flow = (struct shca_flow_object *)object;

	shca_rule_del(shca_device_steering(object->file->dev), flow->rule);
	shca_device_rules_changed(object->file->dev);
	if (flow->qp != NULL)
		flow->qp->object.nb_users--;
	shca_flow_use_drop(flow);
	if (flow->matcher != NULL)
		flow->matcher->object.nb_users--;
	if (flow->counters != NULL && --flow->counters->object.nb_users == 0)
		shca_counters_unbind(flow->counters);
}

const struct shca_object_class shca_flow_class = {
	.type = UVERBS_OBJECT_FLOW,
	.name = "flow",
	.bytes = sizeof(struct shca_flow_object),
	.destroy = destroy,
};

static int
check_request(const struct shca_user_buffer *in, const struct ib_uverbs_create_flow *request)
{
	const struct ib_uverbs_flow_attr *attr = &request->flow_attr;

	if (request->comp_mask != 0)
		return -EINVAL;
	if (!shca_caps_has(CAP_NET_RAW))
		return -EPERM;
	if (attr->flags >= FLAGS_MAX)
		return -EINVAL;
	if ((attr->flags & FLAG_DONT_TRAP) &&
		(attr->type == TYPE_ALL_DEFAULT || attr->type == TYPE_MC_DEFAULT))
		return -EINVAL;
	if (attr->num_of_specs > SPECS_MAX || attr->size > attr->num_of_specs * SPEC_BYTES_MAX)
		return -EINVAL;
	if (attr->reserved[0] != 0 || attr->reserved[1] != 0)
		return -EINVAL;
	if (in->length < sizeof(*request) + attr->size)
		return -ENOSPC;
	return shca_user_check_clear(in, sizeof(*request) + attr->size);
}

/** The objects that specs name. */
struct named {
	struct shca_counters_object *counters; /* or NULL */
	struct shca_flow_action_object *action[SPECS_MAX];
	const struct shca_modify *modify[SPECS_MAX]; /* of the actions */
	unsigned int nb_actions;
};

/** Take the object of a spec that names one; others name none. @return 0 or a negative errno. */
static int
take_object_spec(struct shca_file *file, const uint8_t *spec, uint16_t size, uint32_t type,
	struct named *named)
{
	struct shca_object *object;
	uint32_t handle;
	int ret;

	if (type != SPEC_ACTION_HANDLE && type != SPEC_ACTION_COUNT)
		return 0;
	if (size != sizeof(struct ib_uverbs_flow_spec_action_count))
		return type == SPEC_ACTION_COUNT ? -EINVAL : -EOPNOTSUPP;
	memcpy(&handle, spec + offsetof(struct ib_uverbs_flow_spec_action_count, handle),
		sizeof(handle));
	ret = shca_object_find(file,
		type == SPEC_ACTION_HANDLE ? &shca_flow_action_class : &shca_counters_class, handle,
		&object);
	if (ret != 0)
		return ret;
	if (type == SPEC_ACTION_HANDLE) {
		named->action[named->nb_actions] = (struct shca_flow_action_object *)object;
		named->modify[named->nb_actions] = &named->action[named->nb_actions]->modify;
		named->nb_actions++;
		return 0;
	}
	if (named->counters != NULL)
		return -EINVAL;
	named->counters = (struct shca_counters_object *)object;
	return 0;
}

static int
find_named(struct shca_file *file, const uint8_t *specs, const struct ib_uverbs_flow_attr *attr,
	struct named *named)
{
	uint16_t offset = 0;

	*named = (struct named){ 0 };
	for (uint8_t i = 0; i < attr->num_of_specs; i++) {
		struct ib_uverbs_flow_spec_hdr header;
		int ret;

		if ((size_t)attr->size - offset < sizeof(header))
			return -EINVAL;
		memcpy(&header, specs + offset, sizeof(header));
		if (header.size < sizeof(header) || header.size > attr->size - offset)
			return -EINVAL;
		if (header.reserved != 0)
			return -EINVAL;
		ret = take_object_spec(file, specs + offset, header.size, header.type, named);
		if (ret != 0)
			return ret;
		offset += header.size;
	}
	return offset == attr->size ? 0 : -EINVAL;
}

/** Read mlx5's part of the request: the description of a counters object (hw/mlx5/fs.c,
 * mlx5_ib_create_flow). */
static int
take_driver_request(const struct shca_user_buffer *buffer, struct mlx5_ib_flow_counters_data *data)
{
	struct mlx5_ib_create_flow header;
	int ret;

	*data = (struct mlx5_ib_flow_counters_data){ 0 };
	if (buffer->length == 0)
		return 0;
	if (buffer->length < sizeof(header))
		return -EOPNOTSUPP;
	ret = shca_user_read(buffer, 0, &header, sizeof(header));
	if (ret != 0)
		return ret;
	if (header.ncounters_data > 1)
		return -EINVAL;
	ret = shca_user_check_clear(buffer, sizeof(header) + header.ncounters_data * sizeof(*data));
	if (ret == 0 && header.ncounters_data == 1)
		ret = shca_user_read(buffer, sizeof(header), data, sizeof(*data));
	return ret;
}

/** Linux fs_core.c: mlx5_flow_dests_cmp never finds two PORT destinations equal, and del_sw_hw_rule
 * of one clears ALLOW for all. */
static void
report_egress(const struct shca_file *file, const struct shca_flow_object *flow)
{
	const struct shca_device_conf *conf = shca_device_conf(file->dev);
	struct shca_finding_site site = {
		.device = conf->index,
		.queue = "QP handle",
		.number = flow->qp->object.handle,
		.context = &flow->qp->object.file->context,
	};

	if (conf->findings != NULL && shca_rule_shares_entry(flow->rule))
		shca_findings_report(conf->findings, SHCA_FINDING_EGRESS_ENTRY, &site);
}

static int
install(struct shca_write *write, const struct ib_uverbs_create_flow *request, const uint8_t *specs,
	const struct named *named, struct shca_flow_object *flow)
{
	struct shca_steering *steering = shca_device_steering(write->file->dev);
	const struct ib_uverbs_create_flow_resp response = { .flow_handle = flow->object.handle };
	const struct shca_rule_attr attr = {
		.type = request->flow_attr.type,
		.flags = request->flow_attr.flags,
		.priority = request->flow_attr.priority,
		.source_port = shca_conf_has_rep(
				       shca_device_conf(write->file->dev), request->flow_attr.port)
			? request->flow_attr.port
			: 0,
		.nb_specs = request->flow_attr.num_of_specs,
		.specs = specs,
		.specs_length = request->flow_attr.size,
		.tir = flow->qp->tir,
		.context = &write->file->context,
		.counter = flow->counters != NULL ? &flow->counters->count : NULL,
		.modify_set = named->modify,
	};
	int ret;

	ret = shca_rule_add(steering, &attr, &flow->rule);
	if (ret != 0)
		return ret;
	ret = shca_user_write(write->out, &response, sizeof(response));
	if (ret != 0) {
		shca_rule_del(steering, flow->rule);
		return ret;
	}
	if (attr.flags & IBV_FLOW_ATTR_FLAGS_EGRESS)
		report_egress(write->file, flow);
	shca_device_rules_changed(write->file->dev);
	return 0;
}

/** Bind the counters, install the rule, count the uses. An error undoes all of it. */
static int
create(struct shca_write *write, const struct ib_uverbs_create_flow *request, const uint8_t *specs,
	struct shca_flow_object *flow)
{
	struct mlx5_ib_flow_counters_data data;
	struct named named;
	int ret;

	ret = find_named(write->file, specs, &request->flow_attr, &named);
	flow->counters = named.counters;
	if (ret == 0)
		ret = take_driver_request(write->driver_in, &data);
	if (ret == 0 && flow->counters != NULL)
		ret = shca_counters_bind(flow->counters, data.counters_data, data.ncounters);
	if (ret != 0)
		return ret;
	ret = shca_flow_use_add(flow, named.action, named.nb_actions);
	if (ret == 0)
		ret = install(write, request, specs, &named, flow);
	if (ret != 0) {
		shca_flow_use_drop(flow);
		if (flow->counters != NULL && flow->counters->object.nb_users == 0)
			shca_counters_unbind(flow->counters);
		return ret;
	}
	if (flow->counters != NULL)
		flow->counters->object.nb_users++;
	flow->qp->object.nb_users++;
	return 0;
}

/** As ib_uverbs_ex_create_flow, in which a QP of another type is no better than none. */
static bool
may_have_flows(const struct shca_qp_object *qp)
{
	return qp->type == IB_UVERBS_QPT_RAW_PACKET || qp->type == IB_UVERBS_QPT_UD;
}

int
shca_flow_write_create(struct shca_write *write)
{
	uint8_t specs[SPECS_MAX * SPEC_BYTES_MAX];
	struct ib_uverbs_create_flow request;
	struct shca_object *object, *qp;
	int ret;

	ret = shca_user_read(write->in, 0, &request, sizeof(request));
	if (ret == 0)
		ret = check_request(write->in, &request);
	if (ret == 0)
		ret = shca_user_read(write->in, sizeof(request), specs, request.flow_attr.size);
	if (ret == 0)
		ret = shca_qp_check_port(write->file, request.qp_handle, request.flow_attr.port);
	if (ret == 0)
		ret = shca_object_find(write->file, &shca_qp_class, request.qp_handle, &qp);
	if (ret == 0 && !may_have_flows((const struct shca_qp_object *)qp))
		ret = -EINVAL;
	if (ret == 0)
		ret = shca_object_reserve(write->file, &shca_flow_class, &object);
	if (ret != 0)
		return ret;
	((struct shca_flow_object *)object)->qp = (struct shca_qp_object *)qp;
	ret = create(write, &request, specs, (struct shca_flow_object *)object);
	if (ret == 0)
		shca_object_commit(write->file, object);
	else
		shca_object_abort(write->file, object);
	return ret;
}

/* clang-format off */
static const struct shca_attr_row destroy_rows[] = {
	SHCA_DESTROY(UVERBS_ATTR_DESTROY_FLOW_HANDLE, &shca_flow_class),
};

static const struct shca_attr_row create_raw_rows[] = {
	SHCA_NEW(MLX5_IB_ATTR_CREATE_FLOW_HANDLE, &shca_flow_class),
	SHCA_IN_MANDATORY(MLX5_IB_ATTR_CREATE_FLOW_MATCH_VALUE, 1, SHCA_PARAM_BYTES),
	SHCA_HANDLE(MLX5_IB_ATTR_CREATE_FLOW_MATCHER, &shca_matcher_class),
	SHCA_HANDLE_OPTIONAL(MLX5_IB_ATTR_CREATE_FLOW_DEST_QP, &shca_qp_class),
	SHCA_HANDLES(MLX5_IB_ATTR_CREATE_FLOW_ARR_FLOW_ACTIONS, 2, &shca_flow_action_class), /* MLX5_IB_CREATE_FLOW_MAX_FLOW_ACTIONS */
	SHCA_IN_OPTIONAL(MLX5_IB_ATTR_CREATE_FLOW_TAG, 4, 4),
	SHCA_FLAGS(MLX5_IB_ATTR_CREATE_FLOW_FLAGS, MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DEFAULT_MISS |
		MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DROP),
};

static const struct shca_attr_row destroy_raw_rows[] = {
	SHCA_DESTROY(MLX5_IB_ATTR_DESTROY_FLOW_HANDLE, &shca_flow_class),
};

const struct shca_method shca_flow_methods[] = {
	{ UVERBS_METHOD_FLOW_DESTROY, SHCA_ROWS(destroy_rows) },
	{ MLX5_IB_METHOD_CREATE_FLOW, SHCA_ROWS(create_raw_rows), .handler = shca_matcher_create_flow },
	{ MLX5_IB_METHOD_DESTROY_FLOW, SHCA_ROWS(destroy_raw_rows) },
	{ 0 },
};
/* clang-format on */
