/* SPDX-License-Identifier: BSD-3-Clause */
/* Flow matchers and their flows, as far as they are the ABI's. */
#include <errno.h>
#include <string.h>

#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>

#include "rig.h"

#define NONE       -1
#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

struct matcher_request {
	uint8_t mask[SHCA_PARAM_BYTES + 1];
	size_t mask_length;
	uint8_t criteria;
	uint16_t priority;
	uint8_t type;
	size_t type_length;
	int64_t ft_type, flow_flags;
	uint32_t handle;
};

static void
matcher_init(struct matcher_request *request)
{
	*request = (struct matcher_request){
		.mask = { [8] = 0xff },
		.mask_length = 64,
		.criteria = 1,
		.type_length = sizeof(request->priority),
		.ft_type = NONE,
		.flow_flags = NONE,
	};
}

static int
matcher_run(struct rig *rig, struct matcher_request *request)
{
	struct ib_uverbs_attr *handle, *type;
	struct frame frame;
	int ret;

	frame_init(&frame, MLX5_IB_OBJECT_FLOW_MATCHER, MLX5_IB_METHOD_FLOW_MATCHER_CREATE);
	handle = frame_handle(&frame, MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE, 0);
	frame_in(&frame, MLX5_IB_ATTR_FLOW_MATCHER_MATCH_MASK, request->mask, request->mask_length);
	type = frame_in(&frame, MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE, &request->priority,
		request->type_length);
	type->attr_data.enum_data.elem_id = request->type;
	frame_in(&frame, MLX5_IB_ATTR_FLOW_MATCHER_MATCH_CRITERIA, &request->criteria, 1);
	if (request->ft_type != NONE)
		frame_const(&frame, MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE, (uint64_t)request->ft_type);
	if (request->flow_flags != NONE)
		frame_u32(&frame, MLX5_IB_ATTR_FLOW_MATCHER_FLOW_FLAGS,
			(uint32_t)request->flow_flags);
	ret = frame_run(rig->file, &frame);
	request->handle = (uint32_t)handle->data;
	return ret;
}

static uint32_t
new_matcher(struct rig *rig, uint8_t type, int64_t ft_type)
{
	struct matcher_request request;

	matcher_init(&request);
	request.type = type;
	if (type != MLX5_IB_FLOW_TYPE_NORMAL)
		request.type_length = 0;
	request.ft_type = ft_type;
	assert_int_equal(matcher_run(rig, &request), 0);
	return request.handle;
}

/* clang-format off */
#define MATCHER(field, to, expected) FIELD(struct matcher_request, field, to, expected)
static const struct field_case matcher_cases[] = {
	MATCHER(mask_length, SHCA_PARAM_BYTES, 0),
	MATCHER(mask_length, SHCA_PARAM_BYTES + 1, -EINVAL),
	MATCHER(mask_length, 0, -EINVAL),
	MATCHER(type, MLX5_IB_FLOW_TYPE_SNIFFER, -EINVAL), /* has no priority */
	MATCHER(type, 4, -EOPNOTSUPP),
	MATCHER(type_length, 4, -EINVAL),
	MATCHER(ft_type, MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX, 0),
	MATCHER(ft_type, MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX, 0),
	MATCHER(ft_type, MLX5_IB_UAPI_FLOW_TABLE_TYPE_FDB, -EOPNOTSUPP),
	MATCHER(ft_type, 5, -EINVAL),
	MATCHER(flow_flags, 4, 0),
	MATCHER(flow_flags, 1, -EINVAL),
};
/* clang-format on */

static void
test_create_matcher(void **state)
{
	struct rig *rig = *state;
	struct matcher_request request;

	for (size_t i = 0; i < sizeof(matcher_cases) / sizeof(matcher_cases[0]); i++) {
		matcher_init(&request);
		field_case_apply(&matcher_cases[i], &request);
		field_case_check(&matcher_cases[i], matcher_run(rig, &request));
	}
	matcher_init(&request);
	request.ft_type = request.flow_flags = 0;
	assert_int_equal(matcher_run(rig, &request), -EINVAL);
}

struct flow {
	uint32_t matcher;
	int64_t qp, tag, flags;
	uint8_t value[64];
	uint32_t handle;
};

static int
flow_run(struct rig *rig, struct flow *flow)
{
	struct ib_uverbs_attr *handle;
	struct frame frame;
	int ret;

	frame_init(&frame, UVERBS_OBJECT_FLOW, MLX5_IB_METHOD_CREATE_FLOW);
	handle = frame_handle(&frame, MLX5_IB_ATTR_CREATE_FLOW_HANDLE, 0);
	frame_in(&frame, MLX5_IB_ATTR_CREATE_FLOW_MATCH_VALUE, flow->value, sizeof(flow->value));
	frame_handle(&frame, MLX5_IB_ATTR_CREATE_FLOW_MATCHER, flow->matcher);
	if (flow->qp != NONE)
		frame_handle(&frame, MLX5_IB_ATTR_CREATE_FLOW_DEST_QP, flow->qp);
	if (flow->tag != NONE)
		frame_u32(&frame, MLX5_IB_ATTR_CREATE_FLOW_TAG, (uint32_t)flow->tag);
	if (flow->flags != NONE)
		frame_u32(&frame, MLX5_IB_ATTR_CREATE_FLOW_FLAGS, (uint32_t)flow->flags);
	ret = frame_run(rig->file, &frame);
	flow->handle = (uint32_t)handle->data;
	return ret;
}

static int
destroy_flow(struct rig *rig, uint32_t handle)
{
	return frame_handle_only(rig->file, UVERBS_OBJECT_FLOW, UVERBS_METHOD_FLOW_DESTROY,
		UVERBS_ATTR_DESTROY_FLOW_HANDLE, handle);
}

static int
destroy_matcher(struct rig *rig, uint32_t handle)
{
	return frame_handle_only(rig->file, MLX5_IB_OBJECT_FLOW_MATCHER,
		MLX5_IB_METHOD_FLOW_MATCHER_DESTROY, MLX5_IB_ATTR_FLOW_MATCHER_DESTROY_HANDLE,
		handle);
}

static void
test_create_flow(void **state)
{
	struct rig *rig = *state;
	const uint32_t wq = rig_wq(rig, rig_cq(rig));
	const uint32_t qp = rig_hash_qp(rig, rig_table(rig, &wq, 0));
	const uint32_t rx = new_matcher(rig, MLX5_IB_FLOW_TYPE_NORMAL, NONE);
	const uint32_t tx = new_matcher(rig, MLX5_IB_FLOW_TYPE_NORMAL, 1);
	const uint32_t sniffer = new_matcher(rig, MLX5_IB_FLOW_TYPE_SNIFFER, NONE);
	const struct {
		uint32_t matcher;
		int64_t qp, tag, flags;
		int ret;
	} cases[] = {
		{ rx, qp, NONE, NONE, 0 },
		{ rx, qp, 0xffffff, NONE, 0 },
		{ rx, qp, 0x1000000, NONE, -EINVAL },
		{ rx, qp, NONE, 0, 0 },
		{ rx, qp, NONE, MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DROP, -EINVAL },
		{ rx, NONE, NONE, MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DROP, 0 },
		{ rx, NONE, NONE, MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DEFAULT_MISS, 0 },
		{ rx, NONE, NONE, 3, -EINVAL },
		{ rx, NONE, NONE, 4, -EINVAL },
		{ rx, NONE, NONE, NONE, -EINVAL },
		{ rx, 999, NONE, NONE, -ENOENT },
		{ rx, rx, NONE, NONE, -EINVAL },
		{ tx, qp, NONE, NONE, -EINVAL },
		{ tx, NONE, NONE, NONE, 0 },
		{ tx, NONE, NONE, MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DROP, 0 },
		{ sniffer, qp, NONE, NONE, -EOPNOTSUPP },
		{ 999, qp, NONE, NONE, -ENOENT },
		{ qp, qp, NONE, NONE, -EINVAL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct flow flow = { cases[i].matcher, cases[i].qp, cases[i].tag, cases[i].flags,
			{ [8] = 2 }, 0 };
		int ret = flow_run(rig, &flow);

		if (ret != cases[i].ret)
			fail_msg("case %zu: %d", i, ret);
		if (ret == 0)
			assert_int_equal(destroy_flow(rig, flow.handle), 0);
	}
	assert_int_equal(destroy_matcher(rig, rx), 0);
	assert_int_equal(destroy_matcher(rig, rx), -ENOENT);
}

/** An action that takes tunnels away, or that sets a TTL. */
static uint32_t
new_action(struct rig *rig, bool is_decap)
{
	/* set_action_in: SET, TTL, 8 bits, 1 */
	static const uint8_t set_ttl[8] = { 0x10, 0x0a, 0, 8, 0, 0, 0, 1 };
	struct ib_uverbs_attr *handle;
	struct frame frame;

	if (is_decap) {
		frame_init(&frame, UVERBS_OBJECT_FLOW_ACTION,
			MLX5_IB_METHOD_FLOW_ACTION_CREATE_PACKET_REFORMAT);
		handle = frame_handle(&frame, MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_HANDLE, 0);
		frame_const(&frame, MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_TYPE,
			MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2);
		frame_const(&frame, MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_FT_TYPE,
			MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX);
	} else {
		frame_init(&frame, UVERBS_OBJECT_FLOW_ACTION,
			MLX5_IB_METHOD_FLOW_ACTION_CREATE_MODIFY_HEADER);
		handle = frame_handle(&frame, MLX5_IB_ATTR_CREATE_MODIFY_HEADER_HANDLE, 0);
		frame_in(&frame, MLX5_IB_ATTR_CREATE_MODIFY_HEADER_ACTIONS_PRM, set_ttl,
			sizeof(set_ttl));
		frame_const(&frame, MLX5_IB_ATTR_CREATE_MODIFY_HEADER_FT_TYPE,
			MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX);
	}
	assert_int_equal(frame_run(rig->file, &frame), 0);
	return (uint32_t)handle->data;
}

/** Up to two, in an array of handles; each is used by the flow. */
static void
test_flow_actions(void **state)
{
	struct rig *rig = *state;
	const uint32_t wq = rig_wq(rig, rig_cq(rig));
	const uint32_t qp = rig_hash_qp(rig, rig_table(rig, &wq, 0));
	const uint32_t matcher = new_matcher(rig, MLX5_IB_FLOW_TYPE_NORMAL, NONE);
	const uint32_t set = new_action(rig, false), decap = new_action(rig, true);
	const struct {
		uint32_t handles[3];
		size_t bytes;
		int ret;
	} cases[] = {
		{ { set }, 4, 0 },
		{ { decap, set }, 8, 0 },
		{ { set, set }, 8, -EINVAL },
		{ { decap, set, set }, 12, -EINVAL },
		{ { set }, 6, -EINVAL },
		{ { set }, 0, -EINVAL },
		{ { 999 }, 4, -ENOENT },
		{ { set, qp }, 8, -EINVAL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const uint8_t value[64] = { [8] = 2 };
		struct ib_uverbs_attr *handle;
		struct frame frame;
		int ret;

		frame_init(&frame, UVERBS_OBJECT_FLOW, MLX5_IB_METHOD_CREATE_FLOW);
		handle = frame_handle(&frame, MLX5_IB_ATTR_CREATE_FLOW_HANDLE, 0);
		frame_in(&frame, MLX5_IB_ATTR_CREATE_FLOW_MATCH_VALUE, value, sizeof(value));
		frame_handle(&frame, MLX5_IB_ATTR_CREATE_FLOW_MATCHER, matcher);
		frame_handle(&frame, MLX5_IB_ATTR_CREATE_FLOW_DEST_QP, qp);
		frame_in(&frame, MLX5_IB_ATTR_CREATE_FLOW_ARR_FLOW_ACTIONS, cases[i].handles,
			cases[i].bytes);
		ret = frame_run(rig->file, &frame);
		if (ret != cases[i].ret)
			fail_msg("case %zu: %d", i, ret);
		if (ret != 0)
			continue;
		assert_int_equal(frame_handle_only(rig->file, UVERBS_OBJECT_FLOW_ACTION,
					 UVERBS_METHOD_FLOW_ACTION_DESTROY,
					 UVERBS_ATTR_DESTROY_FLOW_ACTION_HANDLE, set),
			-EBUSY);
		assert_int_equal(destroy_flow(rig, (uint32_t)handle->data), 0);
	}
	assert_int_equal(frame_handle_only(rig->file, UVERBS_OBJECT_FLOW_ACTION,
				 UVERBS_METHOD_FLOW_ACTION_DESTROY,
				 UVERBS_ATTR_DESTROY_FLOW_ACTION_HANDLE, set),
		0);
}

/** A flow uses its matcher and its QP. */
static void
test_flow_uses(void **state)
{
	struct rig *rig = *state;
	const uint32_t wq = rig_wq(rig, rig_cq(rig));
	const uint32_t qp = rig_hash_qp(rig, rig_table(rig, &wq, 0));
	const uint32_t matcher = new_matcher(rig, MLX5_IB_FLOW_TYPE_NORMAL, NONE);
	struct flow flow = { matcher, qp, NONE, NONE, { 0 }, 0 };

	assert_int_equal(flow_run(rig, &flow), 0);
	assert_int_equal(shca_steering_nb_receiving(shca_device_steering(rig->dev)), 1);
	assert_int_equal(destroy_matcher(rig, matcher), -EBUSY);
	assert_int_equal(
		frame_handle_only(rig->file, UVERBS_OBJECT_FLOW, MLX5_IB_METHOD_DESTROY_FLOW,
			MLX5_IB_ATTR_DESTROY_FLOW_HANDLE, flow.handle),
		0);
	assert_int_equal(shca_steering_nb_receiving(shca_device_steering(rig->dev)), 0);
	assert_int_equal(destroy_matcher(rig, matcher), 0);
	/* What is left goes with the file. */
	flow.matcher = new_matcher(rig, MLX5_IB_FLOW_TYPE_NORMAL, NONE);
	assert_int_equal(flow_run(rig, &flow), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_create_matcher),
		TEST(test_create_flow),
		TEST(test_flow_actions),
		TEST(test_flow_uses),
	};

	rig_skip_without_privilege();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
