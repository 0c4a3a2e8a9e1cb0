/* SPDX-License-Identifier: BSD-3-Clause */
/* Flow actions: what is refused with what, and which flows may use them. */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>

#include "rig.h"

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

#define RX    MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX
#define TX    MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX
#define FDB   MLX5_IB_UAPI_FLOW_TABLE_TYPE_FDB
#define RDMA  MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_TX
#define DECAP MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2
#define ENCAP MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L2_TUNNEL
#define TO_L2 MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L3_TUNNEL_TO_L2
#define TO_L3 MLX5_IB_UAPI_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TO_L3_TUNNEL

/** set TTL 1 */
#define SET_TTL UINT64_C(0x100a000800000001)

static int
modify_header(struct rig *rig, size_t bytes, uint64_t ft_type, uint32_t *handle)
{
	struct ib_uverbs_attr *attr;
	uint64_t actions[32];
	struct frame frame;
	int ret;

	for (size_t i = 0; i < 32; i++)
		actions[i] = htobe64(SET_TTL);
	frame_init(
		&frame, UVERBS_OBJECT_FLOW_ACTION, MLX5_IB_METHOD_FLOW_ACTION_CREATE_MODIFY_HEADER);
	attr = frame_handle(&frame, MLX5_IB_ATTR_CREATE_MODIFY_HEADER_HANDLE, 0);
	frame_in(&frame, MLX5_IB_ATTR_CREATE_MODIFY_HEADER_ACTIONS_PRM, actions, bytes);
	frame_const(&frame, MLX5_IB_ATTR_CREATE_MODIFY_HEADER_FT_TYPE, ft_type);
	ret = frame_run(rig->file, &frame);
	*handle = (uint32_t)attr->data;
	return ret;
}

static int
reformat(struct rig *rig, uint64_t type, uint64_t ft_type, size_t bytes, uint32_t *handle)
{
	struct ib_uverbs_attr *attr;
	uint8_t header[256] = { 2 };
	struct frame frame;
	int ret;

	frame_init(&frame, UVERBS_OBJECT_FLOW_ACTION,
		MLX5_IB_METHOD_FLOW_ACTION_CREATE_PACKET_REFORMAT);
	attr = frame_handle(&frame, MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_HANDLE, 0);
	if (bytes != 0)
		frame_in(&frame, MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_DATA_BUF, header, bytes);
	frame_const(&frame, MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_TYPE, type);
	frame_const(&frame, MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_FT_TYPE, ft_type);
	ret = frame_run(rig->file, &frame);
	*handle = (uint32_t)attr->data;
	return ret;
}

static int
destroy(struct rig *rig, uint32_t handle)
{
	return frame_handle_only(rig->file, UVERBS_OBJECT_FLOW_ACTION,
		UVERBS_METHOD_FLOW_ACTION_DESTROY, UVERBS_ATTR_DESTROY_FLOW_ACTION_HANDLE, handle);
}

static void
test_modify_header(void **state)
{
	static const struct {
		size_t bytes;
		uint64_t ft_type;
		int ret;
	} cases[] = {
		{ 8, RX, 0 },
		{ 8, TX, 0 },
		{ 8, FDB, -EOPNOTSUPP },
		{ 8, RDMA, -EOPNOTSUPP },
		{ 8, RDMA + 1, -EINVAL },
		{ 4, RX, -EINVAL },
		{ 12, RX, -EINVAL },
		{ 16 * 8, RX, 0 },
		{ 17 * 8, RX, -EOPNOTSUPP },
	};
	struct rig *rig = *state;
	uint32_t handle;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int ret = modify_header(rig, cases[i].bytes, cases[i].ft_type, &handle);

		if (ret != cases[i].ret)
			fail_msg("case %zu: %d", i, ret);
		if (ret == 0)
			assert_int_equal(destroy(rig, handle), 0);
	}
	rig->model.modify_actions = 0;
	assert_int_equal(modify_header(rig, 8, RDMA + 1, &handle), -EOPNOTSUPP);
}

static void
test_reformat(void **state)
{
	static const struct {
		uint64_t type, ft_type;
		size_t bytes;
		int ret;
	} cases[] = {
		{ DECAP, RX, 0, 0 },
		{ DECAP, RX, 14, 0 }, /* not looked at */
		{ DECAP, TX, 0, -EOPNOTSUPP },
		{ ENCAP, RX, 50, -EOPNOTSUPP },
		{ ENCAP, TX, 0, -ENOENT },
		{ ENCAP, TX, 13, -EINVAL },
		{ ENCAP, TX, 14, 0 },
		{ ENCAP, TX, 128, 0 },
		{ ENCAP, TX, 129, -EINVAL },
		{ ENCAP, FDB, 50, -EOPNOTSUPP },
		{ TO_L3, TX, 38, 0 },
		{ TO_L3, RX, 38, -EOPNOTSUPP },
		{ TO_L2, RX, 14, 0 },
		{ TO_L2, RX, 18, 0 },
		{ TO_L2, RX, 16, -EINVAL },
		{ TO_L2, RX, 0, -ENOENT },
		{ TO_L2, TX, 14, -EOPNOTSUPP },
		{ 4, RX, 14, -EOPNOTSUPP },
		{ DECAP, 5, 0, -EOPNOTSUPP },
	};
	struct rig *rig = *state;
	uint32_t handle;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int ret = reformat(rig, cases[i].type, cases[i].ft_type, cases[i].bytes, &handle);

		if (ret != cases[i].ret)
			fail_msg("case %zu: %d", i, ret);
		if (ret == 0)
			assert_int_equal(destroy(rig, handle), 0);
	}
	rig->model.encap_bytes = 0;
	assert_int_equal(reformat(rig, DECAP, RX, 0, &handle), -EOPNOTSUPP);
}

/** Contexts of the firmware: a refused request takes none, and what is destroyed gives its own
 * back. */
static void
test_few_contexts(void **state)
{
	struct rig *rig = *state;
	uint32_t first, second, other;

	rig->model.max_modify_headers = 2;
	rig->model.max_reformats = 1;
	assert_int_equal(modify_header(rig, 4, RX, &other), -EINVAL);
	assert_int_equal(modify_header(rig, 8, RX, &first), 0);
	assert_int_equal(modify_header(rig, 8, TX, &second), 0);
	assert_int_equal(modify_header(rig, 8, RX, &other), -ENOMEM);
	assert_int_equal(destroy(rig, first), 0);
	assert_int_equal(modify_header(rig, 8, RX, &first), 0);
	assert_int_equal(modify_header(rig, 8, RX, &other), -ENOMEM);
	assert_int_equal(reformat(rig, ENCAP, TX, 50, &other), 0);
	assert_int_equal(reformat(rig, ENCAP, TX, 50, &second), -ENOMEM);
	/* No context. */
	assert_int_equal(reformat(rig, DECAP, RX, 0, &second), 0);
	assert_int_equal(destroy(rig, other), 0);
	assert_int_equal(reformat(rig, TO_L2, RX, 14, &other), 0);
}

/** Linux 6.1 has none of these any more. */
static void
test_esp(void **state)
{
	static const uint16_t methods[] = { UVERBS_METHOD_FLOW_ACTION_ESP_CREATE,
		UVERBS_METHOD_FLOW_ACTION_ESP_MODIFY };
	struct rig *rig = *state;

	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		struct frame frame;

		frame_init(&frame, UVERBS_OBJECT_FLOW_ACTION, methods[i]);
		assert_int_equal(frame_run(rig->file, &frame), -EPROTONOSUPPORT);
	}
}

/** A flow of any type by IPv4, whose specs behind that are HANDLEs. */
struct request {
	struct ib_uverbs_create_flow core;
	struct ib_uverbs_flow_spec_action_handle handle[4];
};

static int
flow(struct rig *rig, uint32_t qp, uint32_t type, uint32_t flags, const uint32_t *handles,
	unsigned int nb, uint32_t *created)
{
	struct ib_uverbs_create_flow_resp response = { 0 };
	const struct mlx5_ib_create_flow driver = { 0 };
	struct request request = {
		.core = {
			.qp_handle = qp,
			.flow_attr = {
				.type = type,
				.flags = flags,
				.size = (uint16_t)(nb * sizeof(request.handle[0])),
				.num_of_specs = (uint8_t)nb,
				.port = 1,
			},
		},
	};
	const struct command command = {
		.number = EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_FLOW,
		.in = &request,
		.in_length = sizeof(request.core) + request.core.flow_attr.size,
		.out = &response,
		.out_length = sizeof(response),
		.driver_in = &driver,
		.driver_in_length = sizeof(driver),
	};
	int ret;

	for (unsigned int i = 0; i < nb; i++)
		request.handle[i] = (struct ib_uverbs_flow_spec_action_handle){
			.type = 0x1002,
			.size = sizeof(request.handle[i]),
			.handle = handles[i],
		};
	ret = command_run(rig->file, &command);
	*created = response.flow_handle;
	return ret;
}

static int
destroy_flow(struct rig *rig, uint32_t handle)
{
	return frame_handle_only(rig->file, UVERBS_OBJECT_FLOW, UVERBS_METHOD_FLOW_DESTROY,
		UVERBS_ATTR_DESTROY_FLOW_HANDLE, handle);
}

static void
test_flows(void **state)
{
	struct rig *rig = *state;
	const uint32_t wq = rig_wq(rig, rig_cq(rig));
	const uint32_t qp = rig_hash_qp(rig, rig_table(rig, &wq, 0));
	uint32_t rx, rx2, tx, decap, created;
	struct {
		uint32_t type, flags;
		uint32_t handles[4];
		unsigned int nb;
		int ret;
	} cases[8] = { 0 };

	assert_int_equal(modify_header(rig, 8, RX, &rx), 0);
	assert_int_equal(modify_header(rig, 8, RX, &rx2), 0);
	assert_int_equal(modify_header(rig, 8, TX, &tx), 0);
	assert_int_equal(reformat(rig, DECAP, RX, 0, &decap), 0);
	memcpy(cases,
		(__typeof__(cases)){
			{ 0, 0, { rx }, 1, 0 }, { 0, 2, { decap, rx }, 2, 0 },
			{ 0, 0, { rx, rx2 }, 2, -EINVAL }, /* one of a kind */
			{ 0, 0, { decap, rx, decap }, 3, -EINVAL }, { 0, 0, { tx }, 1, -EINVAL },
			{ 0, 4, { tx }, 1, 0 }, { 0, 0, { 999 }, 1, -EINVAL },
			{ 1, 0, { rx, rx2, tx, rx }, 4, 0 }, /* not looked at, but used */
		},
		sizeof(cases));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int ret = flow(rig, qp, cases[i].type, cases[i].flags, cases[i].handles,
			cases[i].nb, &created);

		if (ret != cases[i].ret)
			fail_msg("case %zu: %d", i, ret);
		if (ret != 0)
			continue;
		assert_int_equal(destroy(rig, cases[i].handles[0]), -EBUSY);
		assert_int_equal(destroy_flow(rig, created), 0);
	}
	/* The same match: another object is a conflict, even one alike. */
	assert_int_equal(flow(rig, qp, 0, 0, &rx, 1, &created), 0);
	assert_int_equal(flow(rig, qp, 0, 0, &rx2, 1, &created), -EEXIST);
	assert_int_equal(flow(rig, qp, 0, 0, NULL, 0, &created), -EEXIST);
	assert_int_equal(flow(rig, qp, 0, 0, &rx, 1, &created), 0);
	assert_int_equal(destroy(rig, rx2), 0);
	assert_int_equal(destroy(rig, tx), 0);
	/* What is left goes with the file. */
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_modify_header),
		TEST(test_reformat),
		TEST(test_few_contexts),
		TEST(test_esp),
		TEST(test_flows),
	};

	rig_skip_without_privilege();
	return cmocka_run_group_tests_name("flow_action", tests, NULL, NULL);
}
