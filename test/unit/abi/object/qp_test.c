/* SPDX-License-Identifier: BSD-3-Clause */
/* Raw packet and hash QPs: creation, states, queries. */
#include <errno.h>
#include <string.h>

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>

#include "rig.h"
#include "hw/queue/rq.h"
#include "hw/queue/sq.h"

#include "../../capability.h"

/* clang-format off */
static const struct field_case raw_cases[] = {
	FIELD(struct qp_request, type, IB_UVERBS_QPT_RAW_PACKET, 0),
	FIELD(struct qp_request, type, IB_UVERBS_QPT_UD, 0),
	FIELD(struct qp_request, type, IB_UVERBS_QPT_RC, 0),
	FIELD(struct qp_request, type, IB_UVERBS_QPT_XRC_INI, -EINVAL),
	FIELD(struct qp_request, type, IB_UVERBS_QPT_DRIVER, -EOPNOTSUPP),
	FIELD(struct qp_request, type, IB_UVERBS_QPT_XRC_TGT, -EINVAL),
	FIELD(struct qp_request, type, 1, -EINVAL),
	FIELD(struct qp_request, type, 0x108, -EINVAL),
	FIELD(struct qp_request, pd, 999, -ENOENT),
	FIELD(struct qp_request, pd, -1, -ENOENT),
	FIELD(struct qp_request, send_cq, 999, -ENOENT),
	FIELD(struct qp_request, recv_cq, 999, -ENOENT),
	FIELD(struct qp_request, send_cq, -1, -ENOENT),
	FIELD(struct qp_request, recv_cq, -1, -ENOENT),
	FIELD(struct qp_request, flags, 0x1000, 0),
	FIELD(struct qp_request, flags, 0x300, 0),
	FIELD(struct qp_request, flags, 0x2, 0),
	FIELD(struct qp_request, flags, 0x4, -EINVAL),
	FIELD(struct qp_request, source_qpn, 7, -EOPNOTSUPP),
	FIELD(struct qp_request, cap.max_recv_wr, 32769, -EINVAL),
	FIELD(struct qp_request, cap.max_recv_wr, 0, -EINVAL),
	FIELD(struct qp_request, driver_length, 48, 0),
	FIELD(struct qp_request, driver_length, 40, -EINVAL),
	FIELD(struct qp_request, driver_out_length, 0, 0),
	FIELD(struct qp_request, driver_out_length, 2, 0),
	FIELD(struct qp_request, driver.flags, 0x402, 0),
	FIELD(struct qp_request, driver.flags, 0x4c2, 0),
	FIELD(struct qp_request, driver.flags, 0x406, 0),
	FIELD(struct qp_request, driver.flags, 0, -EINVAL),
	FIELD(struct qp_request, driver.flags, 0x8, -EINVAL),
	FIELD(struct qp_request, driver.flags, 0x408, -EINVAL),
	FIELD(struct qp_request, driver.flags, 0x410, -EINVAL),
	FIELD(struct qp_request, driver.flags, 0x10400, -EINVAL),
	FIELD(struct qp_request, driver.bfreg_index, 99, -EINVAL),
	FIELD(struct qp_request, driver.uidx, 0xfffffe, 0),
	FIELD(struct qp_request, driver.uidx, 0xffffff, -EINVAL),
	FIELD(struct qp_request, driver.uidx, 0x1000000, -EINVAL),
	FIELD(struct qp_request, driver.sq_wqe_count, 48, -EINVAL),
	FIELD(struct qp_request, driver.sq_wqe_count, 65536, -EINVAL),
	FIELD(struct qp_request, driver.rq_wqe_count, 0, -EINVAL),
	FIELD(struct qp_request, driver.rq_wqe_shift, 0, -EINVAL),
	FIELD(struct qp_request, driver.rq_wqe_shift, 32, -EINVAL),
	FIELD(struct qp_request, driver.buf_addr, 0x1000, -EFAULT),
	FIELD(struct qp_request, driver.db_addr, 0x1000, -EFAULT),
	FIELD(struct qp_request, driver.sq_buf_addr, 0x1000, -EFAULT),
};

static const struct field_case hash_cases[] = {
	FIELD(struct qp_request, table, 999, -ENOENT),
	FIELD(struct qp_request, flags, 0x1000, -EINVAL),
	FIELD(struct qp_request, source_qpn, 7, -EINVAL),
	FIELD(struct qp_request, cap.max_recv_wr, 1, -EINVAL),
	FIELD(struct qp_request, cap.max_recv_sge, 1, -EINVAL),
	FIELD(struct qp_request, driver_length, 144, -EINVAL),
	FIELD(struct qp_request, driver_out_length, 0, -EINVAL),
	FIELD(struct qp_request, driver_out_length, 2, -EINVAL),
	FIELD(struct qp_request, driver_out_length, 4, 0),
	FIELD(struct qp_request, rss.rx_key_len, 39, -EINVAL),
	FIELD(struct qp_request, rss.rx_key_len, 0, -EINVAL),
	FIELD(struct qp_request, rss.rx_hash_function, 0, -EOPNOTSUPP),
	FIELD(struct qp_request, rss.comp_mask, 1, -EOPNOTSUPP),
	FIELD(struct qp_request, rss.flags, MLX5_QP_FLAG_TUNNEL_OFFLOADS, 0),
	FIELD(struct qp_request, rss.flags, MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_UC, 0),
	FIELD(struct qp_request, rss.flags, MLX5_QP_FLAG_SCATTER_CQE, -EINVAL),
	FIELD(struct qp_request, rss.rx_hash_fields_mask, 0, -EINVAL),
	FIELD(struct qp_request, rss.rx_hash_fields_mask, 0x33, 0),
	FIELD(struct qp_request, rss.rx_hash_fields_mask, 0xcc, 0),
	FIELD(struct qp_request, rss.rx_hash_fields_mask, 0x5, -EINVAL),
	FIELD(struct qp_request, rss.rx_hash_fields_mask, 0x53, -EINVAL),
	FIELD(struct qp_request, rss.rx_hash_fields_mask, 0x113, -EINVAL),
	FIELD(struct qp_request, rss.rx_hash_fields_mask, 0x80000003, -EOPNOTSUPP),
	FIELD(struct qp_request, rss.rx_hash_fields_mask, 0x100000003, -EOPNOTSUPP),
};
/* clang-format on */

static uint32_t
table_of_two(struct rig *rig)
{
	uint32_t wq = rig_wq(rig, rig_cq(rig));
	const uint32_t wqs[2] = { wq, wq };

	return rig_table(rig, wqs, 1);
}

static void
test_create_raw_qp(void **state)
{
	struct rig *rig = *state;
	uint32_t cq = rig_cq(rig);

	for (size_t i = 0; i < sizeof(raw_cases) / sizeof(raw_cases[0]); i++) {
		struct qp_request request;

		qp_request_init(rig, &request, cq, -1);
		field_case_apply(&raw_cases[i], &request);
		field_case_check(&raw_cases[i], qp_request_run(rig, &request));
	}
}

/** One that receives nothing has no receive queue, and its request no size of one. */
static void
test_no_receive_queue(void **state)
{
	static const struct {
		uint32_t wqe_count, wqe_shift;
		int expected;
	} rows[] = { { 0, 0, 0 }, { 64, 0, -EINVAL }, { 0, 4, -EINVAL }, { 3, 64, -EINVAL } };
	struct rig *rig = *state;
	struct qp_request request;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		qp_request_init(rig, &request, rig_cq(rig), -1);
		request.type = IB_UVERBS_QPT_XRC_INI;
		request.driver.rq_wqe_count = rows[i].wqe_count;
		request.driver.rq_wqe_shift = rows[i].wqe_shift;
		assert_int_equal(qp_request_run(rig, &request), rows[i].expected);
		if (rows[i].expected == 0)
			assert_int_equal(request.cap_answer.max_recv_wr, 0);
	}
}

/** Credits by packets are for connections that are reliable. */
static void
test_credits(void **state)
{
	static const struct {
		uint64_t type;
		int expected;
	} rows[] = {
		{ IB_UVERBS_QPT_RC, 0 },
		{ IB_UVERBS_QPT_UC, -EINVAL },
		{ IB_UVERBS_QPT_UD, -EINVAL },
		{ IB_UVERBS_QPT_RAW_PACKET, -EINVAL },
	};
	struct rig *rig = *state;
	struct qp_request request;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		qp_request_init(rig, &request, rig_cq(rig), -1);
		request.type = rows[i].type;
		request.driver.flags |= MLX5_QP_FLAG_PACKET_BASED_CREDIT_MODE;
		assert_int_equal(qp_request_run(rig, &request), rows[i].expected);
	}
}

static void
test_create_hash_qp(void **state)
{
	struct rig *rig = *state;
	uint32_t table = table_of_two(rig);

	for (size_t i = 0; i < sizeof(hash_cases) / sizeof(hash_cases[0]); i++) {
		struct qp_request request;

		qp_request_init(rig, &request, -1, table);
		field_case_apply(&hash_cases[i], &request);
		field_case_check(&hash_cases[i], qp_request_run(rig, &request));
	}
}

static void
test_hash_qp_without_hash(void **state)
{
	struct rig *rig = *state;
	uint32_t cq = rig_cq(rig);
	uint32_t wq = rig_wq(rig, cq);
	struct qp_request request;

	qp_request_init(rig, &request, -1, rig_table(rig, &wq, 0));
	request.rss.rx_hash_fields_mask = 0;
	assert_int_equal(qp_request_run(rig, &request), 0);
	assert_int_equal(request.number, 0);
	/* It counts where the QP sends, which this one cannot (mlx5/qp.c check_qp_attr). */
	request.send_cq = cq;
	assert_int_equal(qp_request_run(rig, &request), 0);
	request.cap.max_send_wr = 1;
	assert_int_equal(qp_request_run(rig, &request), -EINVAL);
	request.send_cq = -1;
	assert_int_equal(qp_request_run(rig, &request), -ENOENT);
}

/** Each type names what it needs, and a queue pair with a transport that has no queue, too. */
static void
test_what_a_type_needs(void **state)
{
	static const uint64_t types[] = { IB_UVERBS_QPT_RC, IB_UVERBS_QPT_UC, IB_UVERBS_QPT_UD,
		IB_UVERBS_QPT_RAW_PACKET };
	struct rig *rig = *state;
	struct qp_request request;

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		qp_request_init(rig, &request, rig_cq(rig), -1);
		request.type = types[i];
		request.send_cq = -1;
		request.driver.sq_wqe_count = 0;
		assert_int_equal(qp_request_run(rig, &request), -ENOENT);
	}
	/* An initiator receives nothing, and an XRC domain is for the other side. */
	qp_request_init(rig, &request, rig_cq(rig), -1);
	request.type = IB_UVERBS_QPT_XRC_INI;
	request.recv_cq = -1;
	request.cap.max_recv_wr = 0;
	request.driver.rq_wqe_count = 0;
	request.driver.rq_wqe_shift = 0;
	assert_int_equal(qp_request_run(rig, &request), 0);
	request.type = IB_UVERBS_QPT_XRC_TGT;
	request.pd = request.send_cq = -1;
	assert_int_equal(qp_request_run(rig, &request), -ENOENT);
}

static void
test_qp_capabilities(void **state)
{
	struct rig *rig = *state;
	struct qp_request request;

	rig->model.cvlan_strip = false;
	rig->model.scatter_fcs = false;
	rig->model.tunnel_offloads = 0;
	qp_request_init(rig, &request, rig_cq(rig), -1);
	request.flags = IB_UVERBS_QP_CREATE_CVLAN_STRIPPING;
	assert_int_equal(qp_request_run(rig, &request), -EOPNOTSUPP);
	request.flags = IB_UVERBS_QP_CREATE_SCATTER_FCS;
	assert_int_equal(qp_request_run(rig, &request), -EOPNOTSUPP);
	request.flags = 0;
	request.driver.flags |= MLX5_QP_FLAG_TUNNEL_OFFLOADS;
	assert_int_equal(qp_request_run(rig, &request), -EOPNOTSUPP);
	rig->model.tunnel_offloads = MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_CW_MPLS_OVER_GRE;
	assert_int_equal(qp_request_run(rig, &request), -EOPNOTSUPP);
	rig->model.tunnel_offloads = MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GRE;
	assert_int_equal(qp_request_run(rig, &request), 0);
}

/** Which queues there are, whose number the QP has, and what of the capabilities comes back. */
static void
test_queues_of_a_qp(void **state)
{
	static const struct {
		bool has_sq, has_rq;
	} rows[] = { { true, true }, { true, false }, { false, true }, { false, false } };
	struct rig *rig = *state;
	uint32_t cq = rig_cq(rig);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct qp_request request;
		struct shca_qp_object *qp;

		qp_request_init(rig, &request, cq, -1);
		if (!rows[i].has_sq)
			request.driver.sq_wqe_count = 0;
		if (!rows[i].has_rq) {
			request.cap.max_recv_wr = 0;
			request.driver.rq_wqe_count = 0;
			request.driver.rq_wqe_shift = 0;
		}
		if (!rows[i].has_sq && !rows[i].has_rq) {
			assert_int_equal(qp_request_run(rig, &request), -EINVAL);
			continue;
		}
		assert_int_equal(qp_request_run(rig, &request), 0);
		qp = rig_object(rig, request.handle);
		assert_int_equal(qp->sq != NULL, rows[i].has_sq);
		assert_int_equal(qp->rq != NULL, rows[i].has_rq);
		assert_int_equal(qp->tir != NULL, rows[i].has_rq);
		assert_int_equal(request.number,
			rows[i].has_sq ? shca_sq_number(qp->sq) : shca_rq_number(qp->rq));
		assert_int_equal(request.cap_answer.max_recv_wr, rows[i].has_rq ? 64 : 0);
		assert_int_equal(request.cap_answer.max_recv_sge, rows[i].has_rq ? 1 : 0);
		assert_int_equal(request.cap_answer.max_send_wr, 64);
	}
}

static void
test_qp_states(void **state)
{
	static const struct {
		uint32_t mask;
		uint8_t to;
		int expected;
		enum shca_queue_state rq, sq;
	} rows[] = {
		{ IBV_QP_STATE, IBV_QPS_INIT, -EINVAL, SHCA_QUEUE_RESET, SHCA_QUEUE_RESET },
		{ IBV_QP_STATE, IBV_QPS_RTR, -EINVAL, SHCA_QUEUE_RESET, SHCA_QUEUE_RESET },
		{ IBV_QP_STATE, IBV_QPS_ERR, -EINVAL, SHCA_QUEUE_RESET, SHCA_QUEUE_RESET },
		{ IBV_QP_STATE | IBV_QP_PORT | IBV_QP_QKEY, IBV_QPS_INIT, -EINVAL, SHCA_QUEUE_RESET,
			SHCA_QUEUE_RESET },
		{ IBV_QP_STATE | IBV_QP_PORT | 1u << 21, IBV_QPS_INIT, -EOPNOTSUPP,
			SHCA_QUEUE_RESET, SHCA_QUEUE_RESET },
		{ IBV_QP_STATE | IBV_QP_PORT, IBV_QPS_INIT, 0, SHCA_QUEUE_READY, SHCA_QUEUE_RESET },
		{ IBV_QP_STATE, IBV_QPS_RTS, -EINVAL, SHCA_QUEUE_READY, SHCA_QUEUE_RESET },
		{ IBV_QP_STATE, IBV_QPS_INIT, 0, SHCA_QUEUE_READY, SHCA_QUEUE_RESET },
		{ IBV_QP_STATE, IBV_QPS_RTR, 0, SHCA_QUEUE_READY, SHCA_QUEUE_RESET },
		{ IBV_QP_STATE, IBV_QPS_RTS, 0, SHCA_QUEUE_READY, SHCA_QUEUE_READY },
		{ IBV_QP_STATE, IBV_QPS_SQD, -EINVAL, SHCA_QUEUE_READY, SHCA_QUEUE_READY },
		{ IBV_QP_STATE, 99, -EINVAL, SHCA_QUEUE_READY, SHCA_QUEUE_READY },
		{ IBV_QP_STATE | IBV_QP_CUR_STATE, IBV_QPS_RTS, -EINVAL, SHCA_QUEUE_READY,
			SHCA_QUEUE_READY },
		{ IBV_QP_STATE, IBV_QPS_RTS, 0, SHCA_QUEUE_READY, SHCA_QUEUE_READY },
		{ IBV_QP_STATE, IBV_QPS_ERR, 0, SHCA_QUEUE_ERROR, SHCA_QUEUE_ERROR },
		{ IBV_QP_STATE, IBV_QPS_RTS, -EINVAL, SHCA_QUEUE_ERROR, SHCA_QUEUE_ERROR },
		{ IBV_QP_STATE, IBV_QPS_RESET, 0, SHCA_QUEUE_RESET, SHCA_QUEUE_RESET },
	};
	struct rig *rig = *state;
	struct qp_request request;
	struct shca_qp_object *qp;

	qp_request_init(rig, &request, rig_cq(rig), -1);
	assert_int_equal(qp_request_run(rig, &request), 0);
	qp = rig_object(rig, request.handle);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int ret = rig_modify_qp(rig, request.handle, rows[i].mask, rows[i].to);

		if (ret != rows[i].expected)
			fail_msg("row %zu: %d, expected %d", i, ret, rows[i].expected);
		assert_int_equal(shca_rq_state(qp->rq), rows[i].rq);
		assert_int_equal(shca_sq_state(qp->sq), rows[i].sq);
	}
	assert_int_equal(rig_modify_qp(rig, 999, IBV_QP_STATE, IBV_QPS_RESET), -EINVAL);
}

static void
test_modify_checks_the_port(void **state)
{
	struct rig *rig = *state;
	struct qp_request qp;
	struct ib_uverbs_modify_qp request = {
		.attr_mask = IBV_QP_STATE | IBV_QP_PORT,
		.qp_state = IBV_QPS_INIT,
		.port_num = 2,
	};
	const struct command command = {
		.number = IB_USER_VERBS_CMD_MODIFY_QP,
		.in = &request,
		.in_length = sizeof(request),
	};

	qp_request_init(rig, &qp, rig_cq(rig), -1);
	assert_int_equal(qp_request_run(rig, &qp), 0);
	request.qp_handle = qp.handle;
	assert_int_equal(command_run(rig->file, &command), -EINVAL);
	request.port_num = 0;
	assert_int_equal(command_run(rig->file, &command), -EINVAL);
	request.port_num = 1;
	assert_int_equal(command_run(rig->file, &command), 0);
}

static void
test_rate_limit(void **state)
{
	struct rig *rig = *state;
	/* clang-format off */
	static const struct {
		uint32_t most;
		bool bursts;
		uint32_t kbps, burst;
		uint16_t typical;
	} refused[] = {
		{ 0, false, 1000, 0, 0 },
		{ 0, false, 0, 1000, 0 },
		{ 1000, false, 1001, 0, 0 },
		{ 1000, false, 1000, 1, 0 },
		{ 1000, false, 1000, 0, 1 },
		{ 1000, true, 0, 1, 1 },
		{ 1000, true, 1001, 1, 1 },
	};
	/* clang-format on */
	struct qp_request qp;
	struct ib_uverbs_ex_modify_qp request = { 0 };
	struct ib_uverbs_ex_modify_qp_resp response;
	struct mlx5_ib_modify_qp driver = { 0 };
	struct command command = {
		.number = EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_QP,
		.in = &request,
		.in_length = sizeof(request),
		.out = &response,
		.out_length = sizeof(response),
		.driver_in = &driver,
		.driver_in_length = sizeof(driver),
	};

	qp_request_init(rig, &qp, rig_cq(rig), -1);
	assert_int_equal(qp_request_run(rig, &qp), 0);
	assert_int_equal(
		rig_modify_qp(rig, qp.handle, IBV_QP_STATE | IBV_QP_PORT, IBV_QPS_INIT), 0);
	assert_int_equal(rig_modify_qp(rig, qp.handle, IBV_QP_STATE, IBV_QPS_RTR), 0);
	request.base.qp_handle = qp.handle;
	request.base.attr_mask = IBV_QP_STATE | IBV_QP_RATE_LIMIT;
	request.base.qp_state = IBV_QPS_RTS;
	for (unsigned int i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		rig->model.max_rate_kbps = refused[i].most;
		rig->model.paced_bursts = refused[i].bursts;
		request.rate_limit = refused[i].kbps;
		driver.burst_info.max_burst_sz = refused[i].burst;
		driver.burst_info.typical_pkt_sz = refused[i].typical;
		assert_int_equal(command_run(rig->file, &command), -EINVAL);
	}
	driver.burst_info.typical_pkt_sz = 64;
	driver.burst_info.max_burst_sz = 1000;
	driver.burst_info.reserved = 1;
	assert_int_equal(command_run(rig->file, &command), -EOPNOTSUPP);
	driver.burst_info.reserved = 0;
	driver.comp_mask = 1;
	assert_int_equal(command_run(rig->file, &command), -EOPNOTSUPP);
	driver.comp_mask = 0;
	command.driver_in_length = 8;
	assert_int_equal(command_run(rig->file, &command), -EINVAL);
	command.driver_in_length = sizeof(driver);
	request.rate_limit = 1000;
	assert_int_equal(command_run(rig->file, &command), 0);
	assert_int_equal(response.response_length, sizeof(response));
	/* Again on the way from RTS to RTS; and away. */
	request.rate_limit = 1;
	assert_int_equal(command_run(rig->file, &command), 0);
	driver.burst_info = (struct mlx5_ib_burst_info){ 0 };
	request.rate_limit = 0;
	assert_int_equal(command_run(rig->file, &command), 0);
}

static int
query_qp(struct rig *rig, uint32_t handle, struct ib_uverbs_query_qp_resp *response)
{
	const struct ib_uverbs_query_qp request = { .qp_handle = handle };
	const struct command command = {
		.number = IB_USER_VERBS_CMD_QUERY_QP,
		.in = &request,
		.in_length = sizeof(request),
		.out = response,
		.out_length = sizeof(*response),
	};

	return command_run(rig->file, &command);
}

/** Groups are for datagrams, not for raw packets. */
static void
test_multicast_groups(void **state)
{
	static const uint32_t numbers[] = { IB_USER_VERBS_CMD_ATTACH_MCAST,
		IB_USER_VERBS_CMD_DETACH_MCAST };
	struct rig *rig = *state;
	struct ib_uverbs_attach_mcast request = { .gid = { 0xff, 0x0e } };
	struct qp_request qp;

	qp_request_init(rig, &qp, rig_cq(rig), -1);
	assert_int_equal(qp_request_run(rig, &qp), 0);
	request.qp_handle = qp.handle;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		const struct command command = {
			.number = numbers[i],
			.in = &request,
			.in_length = sizeof(request),
		};

		assert_int_equal(command_run(rig->file, &command), -EINVAL);
	}
}

static void
test_query_qp(void **state)
{
	struct rig *rig = *state;
	struct ib_uverbs_query_qp_resp response;
	struct shca_qp_object *qp;
	struct qp_request request;

	qp_request_init(rig, &request, rig_cq(rig), -1);
	assert_int_equal(qp_request_run(rig, &request), 0);
	qp = rig_object(rig, request.handle);
	assert_int_equal(query_qp(rig, request.handle, &response), 0);
	assert_int_equal(response.qp_state, IBV_QPS_RESET);
	/* Limits of sends are libmlx5's, and a raw packet QP's port is always the same. */
	assert_int_equal(response.max_send_wr, 0);
	assert_int_equal(response.max_send_sge, 0);
	assert_int_equal(response.max_inline_data, 0);
	assert_int_equal(response.max_recv_wr, 64);
	assert_int_equal(response.max_recv_sge, 1);
	assert_int_equal(response.port_num, 1);
	assert_int_equal(
		rig_modify_qp(rig, request.handle, IBV_QP_STATE | IBV_QP_PORT, IBV_QPS_INIT), 0);
	assert_int_equal(rig_modify_qp(rig, request.handle, IBV_QP_STATE, IBV_QPS_RTR), 0);
	assert_int_equal(rig_modify_qp(rig, request.handle, IBV_QP_STATE, IBV_QPS_RTS), 0);
	assert_int_equal(query_qp(rig, request.handle, &response), 0);
	assert_int_equal(response.qp_state, IBV_QPS_RTS);
	/* What the device did by itself shows, too. */
	shca_rq_modify(qp->rq, SHCA_QUEUE_ERROR);
	assert_int_equal(query_qp(rig, request.handle, &response), -EINVAL);
	shca_rq_modify(qp->rq, SHCA_QUEUE_READY);
	shca_sq_modify(qp->sq, SHCA_QUEUE_ERROR);
	assert_int_equal(query_qp(rig, request.handle, &response), 0);
	assert_int_equal(response.qp_state, IBV_QPS_SQE);
	/* It is the kernel's state from then on, and one without a way back but by RESET. */
	assert_int_equal(rig_modify_qp(rig, request.handle, IBV_QP_STATE, IBV_QPS_RTS), -EINVAL);
	shca_rq_modify(qp->rq, SHCA_QUEUE_ERROR);
	assert_int_equal(query_qp(rig, request.handle, &response), 0);
	assert_int_equal(response.qp_state, IBV_QPS_ERR);
	assert_int_equal(rig_modify_qp(rig, request.handle, IBV_QP_STATE, IBV_QPS_RTS), -EINVAL);
	assert_int_equal(rig_modify_qp(rig, request.handle, IBV_QP_STATE, IBV_QPS_RESET), 0);
	assert_int_equal(query_qp(rig, request.handle, &response), 0);
	assert_int_equal(response.qp_state, IBV_QPS_RESET);
	assert_int_equal(query_qp(rig, 999, &response), -EINVAL);
}

static void
test_hash_qps_have_no_states(void **state)
{
	struct rig *rig = *state;
	uint32_t qp = rig_hash_qp(rig, table_of_two(rig));
	struct ib_uverbs_query_qp_resp response;

	assert_int_equal(rig_modify_qp(rig, qp, IBV_QP_STATE | IBV_QP_PORT, IBV_QPS_INIT), -ENOSYS);
	assert_int_equal(query_qp(rig, qp, &response), -ENOSYS);
}

static void
test_raw_qps_need_a_privilege(void **state)
{
	struct rig *rig = *state;
	struct qp_request request;
	int ret;

	qp_request_init(rig, &request, rig_cq(rig), -1);
	test_capability(CAP_NET_RAW, false);
	ret = qp_request_run(rig, &request);
	test_capability(CAP_NET_RAW, true);
	assert_int_equal(ret, -EPERM);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_create_raw_qp),
		TEST(test_no_receive_queue),
		TEST(test_credits),
		TEST(test_create_hash_qp),
		TEST(test_hash_qp_without_hash),
		TEST(test_what_a_type_needs),
		TEST(test_qp_capabilities),
		TEST(test_queues_of_a_qp),
		TEST(test_qp_states),
		TEST(test_modify_checks_the_port),
		TEST(test_rate_limit),
		TEST(test_query_qp),
		TEST(test_multicast_groups),
		TEST(test_hash_qps_have_no_states),
		TEST(test_raw_qps_need_a_privilege),
	};

	rig_skip_without_privilege();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
