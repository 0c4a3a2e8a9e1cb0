/* SPDX-License-Identifier: BSD-3-Clause */
/* Flows and counters, as far as they are the ABI's; what specs mean is steering's to test. */
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "rig.h"

/** The command with room for two specs and a byte too many. */
struct flow_request {
	struct ib_uverbs_create_flow core;
	struct ib_uverbs_flow_spec_eth eth;
	struct ib_uverbs_flow_spec_action_count count;
	uint64_t beyond;
	size_t length;
	struct {
		struct mlx5_ib_create_flow header;
		struct mlx5_ib_flow_counters_data data;
		uint64_t beyond;
	} driver;
	size_t driver_length;
	uint32_t handle;
};
static_assert(offsetof(struct flow_request, count) == 24 + 40, "specs are packed");

static void
flow_request_init(struct flow_request *request, uint32_t qp)
{
	*request = (struct flow_request){
		.core = {
			.qp_handle = qp,
			.flow_attr = {
				.size = sizeof(request->eth),
				.num_of_specs = 1,
				.port = 1,
			},
		},
		.eth = {
			.type = 0x20 /* IBV_FLOW_SPEC_ETH */,
			.size = sizeof(request->eth),
			.val = { .ether_type = htons(0x800) },
			.mask = { .ether_type = 0xffff },
		},
		.count = { .type = 0x1003, .size = sizeof(request->count) },
		.length = sizeof(request->core) + sizeof(request->eth),
		.driver_length = sizeof(request->driver.header),
	};
}

static void
add_count(struct flow_request *request, uint32_t counters)
{
	request->count.handle = counters;
	request->core.flow_attr.num_of_specs = 2;
	request->core.flow_attr.size += sizeof(request->count);
	request->length += sizeof(request->count);
}

static void
add_points(struct flow_request *request, const struct mlx5_ib_flow_counters_desc *points,
	uint32_t nb_points)
{
	request->driver.header.ncounters_data = 1;
	request->driver.data.counters_data = (uintptr_t)points;
	request->driver.data.ncounters = nb_points;
	request->driver_length = sizeof(request->driver.header) + sizeof(request->driver.data);
}

static int
flow_request_run(struct rig *rig, struct flow_request *request)
{
	struct ib_uverbs_create_flow_resp response = { 0 };
	const struct command command = {
		.number = EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_FLOW,
		.in = request,
		.in_length = request->length,
		.out = &response,
		.out_length = sizeof(response),
		.driver_in = &request->driver,
		.driver_in_length = request->driver_length,
	};
	int ret = command_run(rig->file, &command);

	request->handle = response.flow_handle;
	return ret;
}

static uint32_t
qp_of_one(struct rig *rig)
{
	uint32_t wq = rig_wq(rig, rig_cq(rig));

	return rig_hash_qp(rig, rig_table(rig, &wq, 0));
}

/* clang-format off */
#define FLOW(field, to, expected) FIELD(struct flow_request, field, to, expected)
static const struct field_case flow_cases[] = {
	FLOW(core.comp_mask, 1, -EINVAL),
	FLOW(core.qp_handle, 999, -EINVAL),
	FLOW(core.qp_handle, 0, -EINVAL),
	FLOW(core.flow_attr.flags, 8, -EINVAL),
	FLOW(core.flow_attr.flags, 1, -EINVAL),
	FLOW(core.flow_attr.flags, 2, 0),
	FLOW(core.flow_attr.type, 4, -EOPNOTSUPP),
	FLOW(core.flow_attr.type, 1, 0),
	FLOW(core.flow_attr.type, 3, 0),
	FLOW(core.flow_attr.priority, 15, 0),
	FLOW(core.flow_attr.priority, 16, -ENOMEM),
	FLOW(core.flow_attr.num_of_specs, 11, -EINVAL),
	FLOW(core.flow_attr.num_of_specs, 2, -EINVAL),
	FLOW(core.flow_attr.num_of_specs, 0, -EINVAL),
	FLOW(core.flow_attr.size, 89, -EINVAL),
	FLOW(core.flow_attr.size, 32, -EOPNOTSUPP),
	FLOW(core.flow_attr.size, 48, -ENOSPC),
	FLOW(core.flow_attr.reserved[0], 1, -EINVAL),
	FLOW(core.flow_attr.reserved[1], 1, -EINVAL),
	FLOW(core.flow_attr.port, 0, -EINVAL),
	FLOW(core.flow_attr.port, 2, -EINVAL),
	FLOW(eth.size, 39, -EINVAL),
	FLOW(eth.size, 48, -EINVAL),
	FLOW(eth.size, 0, -EINVAL),
	FLOW(eth.reserved, 1, -EINVAL),
	FLOW(eth.type, 0x22, -EINVAL),
	FLOW(length, 72, -EOPNOTSUPP), /* the count spec's type behind the last spec */
	FLOW(driver_length, 0, 0),
	FLOW(driver_length, 4, -EOPNOTSUPP),
	FLOW(driver.header.ncounters_data, 2, -EINVAL),
};
/* clang-format on */

static void
test_create_flow(void **state)
{
	struct rig *rig = *state;
	uint32_t qp = qp_of_one(rig);

	for (size_t i = 0; i < sizeof(flow_cases) / sizeof(flow_cases[0]); i++) {
		struct flow_request request;
		int ret;

		flow_request_init(&request, qp);
		field_case_apply(&flow_cases[i], &request);
		ret = flow_request_run(rig, &request);
		field_case_check(&flow_cases[i], ret);
		assert_int_equal(((struct shca_object *)rig_object(rig, qp))->nb_users, ret == 0);
		if (ret == 0)
			assert_int_equal(frame_handle_only(rig->file, UVERBS_OBJECT_FLOW,
						 UVERBS_METHOD_FLOW_DESTROY,
						 UVERBS_ATTR_DESTROY_FLOW_HANDLE, request.handle),
				0);
	}
}

static void
test_dont_trap_with_default_types(void **state)
{
	struct rig *rig = *state;
	uint32_t qp = qp_of_one(rig);

	for (uint32_t type = 1; type <= 2; type++) {
		struct flow_request request;

		flow_request_init(&request, qp);
		request.core.flow_attr.type = type;
		request.core.flow_attr.flags = 2;
		assert_int_equal(flow_request_run(rig, &request), -EINVAL);
	}
}

static void
test_action_handles_are_unknown(void **state)
{
	struct rig *rig = *state;
	struct flow_request request;

	flow_request_init(&request, qp_of_one(rig));
	add_count(&request, 999);
	request.count.type = 0x1002;
	assert_int_equal(flow_request_run(rig, &request), -EINVAL);
	request.count.handle = rig->pd;
	assert_int_equal(flow_request_run(rig, &request), -EINVAL);
}

static uint32_t
create_counters(struct rig *rig)
{
	struct frame frame;

	frame_init(&frame, UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_CREATE);
	frame_handle(&frame, UVERBS_ATTR_CREATE_COUNTERS_HANDLE, 0);
	assert_int_equal(frame_run(rig->file, &frame), 0);
	return (uint32_t)frame.attrs[0].data;
}

static int
read_counters(struct rig *rig, uint32_t handle, uint64_t *values, size_t nb_values, uint32_t flags)
{
	struct frame frame;

	frame_init(&frame, UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_READ);
	frame_handle(&frame, UVERBS_ATTR_READ_COUNTERS_HANDLE, handle);
	frame_out(&frame, UVERBS_ATTR_READ_COUNTERS_BUFF, values, nb_values * sizeof(*values));
	frame_u32(&frame, UVERBS_ATTR_READ_COUNTERS_FLAGS, flags);
	return frame_run(rig->file, &frame);
}

static int
destroy_counters(struct rig *rig, uint32_t handle)
{
	return frame_handle_only(rig->file, UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_DESTROY,
		UVERBS_ATTR_DESTROY_COUNTERS_HANDLE, handle);
}

static int
destroy_flow(struct rig *rig, uint32_t handle)
{
	return frame_handle_only(rig->file, UVERBS_OBJECT_FLOW, UVERBS_METHOD_FLOW_DESTROY,
		UVERBS_ATTR_DESTROY_FLOW_HANDLE, handle);
}

/** Described by the first flow, and by no later one; described again when the last is gone. */
static void
test_counters_are_bound_once(void **state)
{
	static const struct mlx5_ib_flow_counters_desc points[] = { { 0, 0 }, { 1, 2 }, { 0, 2 } };
	struct rig *rig = *state;
	uint32_t qp = qp_of_one(rig);
	uint32_t counters = create_counters(rig);
	struct shca_counters_object *object = rig_object(rig, counters);
	struct flow_request first, second;
	uint64_t values[4];

	flow_request_init(&first, qp);
	add_count(&first, counters);
	assert_int_equal(flow_request_run(rig, &first), -EINVAL); /* nothing describes it */
	assert_int_equal(read_counters(rig, counters, values, 4, 0), -EINVAL);
	add_points(&first, points, 3);
	assert_int_equal(flow_request_run(rig, &first), 0);
	assert_int_equal(destroy_counters(rig, counters), -EBUSY);

	flow_request_init(&second, qp);
	second.core.flow_attr.priority = 1;
	add_count(&second, counters);
	add_points(&second, points, 3);
	assert_int_equal(flow_request_run(rig, &second), -EINVAL);
	second.driver.header.ncounters_data = 0;
	second.driver_length = sizeof(second.driver.header);
	assert_int_equal(flow_request_run(rig, &second), 0);

	object->count = (struct shca_flow_counter){ .packets = 3, .bytes = 300 };
	assert_int_equal(read_counters(rig, counters, values, 2, 0), -EINVAL);
	assert_int_equal(read_counters(rig, counters, values, 3, 2), -EINVAL);
	assert_int_equal(read_counters(rig, counters, values, 4, 1), 0);
	assert_int_equal(values[0], 3);
	assert_int_equal(values[1], 0);
	assert_int_equal(values[2], 303);
	assert_int_equal(values[3], 0);

	assert_int_equal(destroy_flow(rig, first.handle), 0);
	assert_int_equal(read_counters(rig, counters, values, 4, 0), 0);
	assert_int_equal(destroy_flow(rig, second.handle), 0);
	assert_int_equal(read_counters(rig, counters, values, 4, 0), -EINVAL);
	assert_int_equal(flow_request_run(rig, &first), 0);
	assert_int_equal(destroy_flow(rig, first.handle), 0);
	assert_int_equal(destroy_counters(rig, counters), 0);
}

static void
test_bad_counter_descriptions(void **state)
{
	static const struct mlx5_ib_flow_counters_desc unknown[] = { { 2, 0 } };
	static const struct mlx5_ib_flow_counters_desc good[] = { { 0, 0 } };
	struct rig *rig = *state;
	uint32_t qp = qp_of_one(rig);
	uint32_t counters = create_counters(rig);
	struct flow_request request;

	flow_request_init(&request, qp);
	add_count(&request, counters);
	add_points(&request, unknown, 1);
	assert_int_equal(flow_request_run(rig, &request), -EINVAL);
	add_points(&request, good, 8192);
	assert_int_equal(flow_request_run(rig, &request), -EINVAL);
	add_points(&request, (const void *)16, 1);
	assert_int_equal(flow_request_run(rig, &request), -EFAULT);
	add_points(&request, good, 1);
	request.core.flow_attr.priority = 99;
	assert_int_equal(flow_request_run(rig, &request), -ENOMEM);
	/* A rule that was not installed has bound nothing. */
	request.core.flow_attr.priority = 0;
	assert_int_equal(flow_request_run(rig, &request), 0);
	request.count.handle = 999;
	assert_int_equal(flow_request_run(rig, &request), -EINVAL);
	request.count.handle = qp;
	assert_int_equal(flow_request_run(rig, &request), -EINVAL);
	request.count.size = 8;
	assert_int_equal(flow_request_run(rig, &request), -EINVAL);
}

/** Steering gets the rule: same match, other action. */
static void
test_conflicting_rules(void **state)
{
	struct rig *rig = *state;
	uint32_t qp = qp_of_one(rig);
	struct flow_request forward, drop;

	flow_request_init(&forward, qp);
	assert_int_equal(flow_request_run(rig, &forward), 0);
	flow_request_init(&drop, qp);
	add_count(&drop, 0);
	drop.count.type = 0x1001;
	drop.count.size = 8;
	drop.core.flow_attr.size -= 8;
	drop.length -= 8;
	assert_int_equal(flow_request_run(rig, &drop), -EEXIST);
	assert_int_equal(destroy_flow(rig, forward.handle), 0);
	assert_int_equal(flow_request_run(rig, &drop), 0);
}

/** A QP that cannot receive is no destination. */
static void
test_send_only_qp(void **state)
{
	struct rig *rig = *state;
	struct flow_request flow;
	struct qp_request qp;

	qp_request_init(rig, &qp, rig_cq(rig), -1);
	qp.cap.max_recv_wr = 0;
	qp.driver.rq_wqe_count = 0;
	qp.driver.rq_wqe_shift = 0;
	assert_int_equal(qp_request_run(rig, &qp), 0);
	flow_request_init(&flow, qp.handle);
	assert_int_equal(flow_request_run(rig, &flow), -EINVAL);
	flow.core.flow_attr.flags = 4; /* EGRESS */
	assert_int_equal(flow_request_run(rig, &flow), 0);
}

/** As ib_uverbs_ex_create_flow: of queue pairs with a transport only datagrams' may have flows. */
static void
test_qp_with_a_transport(void **state)
{
	static const struct {
		uint64_t type;
		int expected;
	} rows[] = {
		{ IB_UVERBS_QPT_RC, -EINVAL },
		{ IB_UVERBS_QPT_XRC_INI, -EINVAL },
		{ IB_UVERBS_QPT_UD, 0 },
	};
	static const uint32_t drop[2] = { 0x1001, 8 }; /* IBV_FLOW_SPEC_ACTION_DROP */
	struct rig *rig = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct flow_request request;
		struct qp_request qp;

		qp_request_init(rig, &qp, rig_cq(rig), -1);
		qp.type = rows[i].type;
		if (qp.type == IB_UVERBS_QPT_XRC_INI)
			qp.driver.rq_wqe_count = qp.driver.rq_wqe_shift = 0;
		assert_int_equal(qp_request_run(rig, &qp), 0);
		flow_request_init(&request, qp.handle);
		memcpy(&request.count, drop, sizeof(drop));
		request.core.flow_attr.num_of_specs = 2;
		request.core.flow_attr.size += sizeof(drop);
		request.length += sizeof(drop);
		assert_int_equal(flow_request_run(rig, &request), rows[i].expected);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_create_flow),
		TEST(test_dont_trap_with_default_types),
		TEST(test_action_handles_are_unknown),
		TEST(test_counters_are_bound_once),
		TEST(test_bad_counter_descriptions),
		TEST(test_conflicting_rules),
		TEST(test_send_only_qp),
		TEST(test_qp_with_a_transport),
	};

	rig_skip_without_privilege();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
