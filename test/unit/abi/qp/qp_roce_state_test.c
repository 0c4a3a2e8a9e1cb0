/* SPDX-License-Identifier: BSD-3-Clause */
/* Values that a queue pair with a transport may be set to. */
#include <errno.h>

#include <infiniband/verbs.h>

#include "rig.h"
#include "hw/state/device.h"

#include "../../capability.h"

/** What rdma-core before 44 lacks. */
#define RATE_800_GBPS 23

static uint32_t
create_qp(struct rig *rig, uint64_t type)
{
	struct qp_request request;

	qp_request_init(rig, &request, rig_cq(rig), -1);
	request.type = type;
	assert_int_equal(qp_request_run(rig, &request), 0);
	return request.handle;
}

static int
modify(struct rig *rig, const struct ib_uverbs_modify_qp *request)
{
	const struct command command = {
		.number = IB_USER_VERBS_CMD_MODIFY_QP,
		.in = request,
		.in_length = sizeof(*request),
	};

	return command_run(rig->file, &command);
}

/** A Q_Key with the highest bit is for those who may send raw packets. */
static void
test_privileged_qkey(void **state)
{
	struct rig *rig = *state;
	struct ib_uverbs_modify_qp request = {
		.qp_handle = create_qp(rig, IB_UVERBS_QPT_UD),
		.attr_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY,
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qkey = 0x80000001,
	};
	int privileged, other;

	test_capability(CAP_NET_RAW, false);
	privileged = modify(rig, &request);
	request.qkey = 0x7fffffff;
	other = modify(rig, &request);
	test_capability(CAP_NET_RAW, true);
	assert_int_equal(privileged, -EPERM);
	assert_int_equal(other, 0);
	request.qkey = 0x80000001;
	assert_int_equal(modify(rig, &request), 0);
}

/** A path's rate must have a meaning, though none has an effect. */
static void
test_static_rate(void **state)
{
	static const struct {
		uint8_t rate;
		enum shca_kernel kernel;
		int expected;
	} rows[] = {
		{ IBV_RATE_MAX, SHCA_KERNEL_6_1, 0 },
		{ 1, SHCA_KERNEL_6_1, -EINVAL },
		{ IBV_RATE_2_5_GBPS, SHCA_KERNEL_6_1, 0 },
		{ IBV_RATE_600_GBPS, SHCA_KERNEL_6_1, 0 },
		{ RATE_800_GBPS, SHCA_KERNEL_6_1, -EINVAL },
		{ RATE_800_GBPS, SHCA_KERNEL_6_12, 0 },
		{ RATE_800_GBPS + 1, SHCA_KERNEL_6_12, -EINVAL },
		{ UINT8_MAX, SHCA_KERNEL_6_12, -EINVAL },
	};
	struct rig *rig = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ib_uverbs_modify_qp request = {
			.qp_handle = create_qp(rig, IB_UVERBS_QPT_UC),
			.attr_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				IBV_QP_ACCESS_FLAGS,
			.qp_state = IBV_QPS_INIT,
			.port_num = 1,
		};

		rig->dev->conf.kernel_abi = rows[i].kernel;
		assert_int_equal(modify(rig, &request), 0);
		request.attr_mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			IBV_QP_RQ_PSN;
		request.qp_state = IBV_QPS_RTR;
		request.path_mtu = IBV_MTU_1024;
		request.dest_qp_num = 2;
		request.dest = (struct ib_uverbs_qp_dest){
			.dgid = { 0xfe, 0x80, [8] = 0, 0, 0, 0xff, 0xfe, 0, 0, 1 },
			.is_global = 1,
			.port_num = 1,
			.static_rate = rows[i].rate,
		};
		assert_int_equal(modify(rig, &request), rows[i].expected);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_privileged_qkey, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_static_rate, rig_setup, rig_teardown),
	};

	rig_skip_without_privilege();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
