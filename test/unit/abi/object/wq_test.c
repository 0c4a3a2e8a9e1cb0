/* SPDX-License-Identifier: BSD-3-Clause */
/* Work queues and their indirection tables. */
#include <errno.h>
#include <string.h>

#include <infiniband/verbs.h>

#include "rig.h"
#include "hw/queue/rq.h"

/* clang-format off */
static const struct field_case wq_cases[] = {
	FIELD(struct wq_request, type, IB_UVERBS_WQT_RQ, 0),
	FIELD(struct wq_request, type, 1, -EINVAL),
	FIELD(struct wq_request, pd, 999, -ENOENT),
	FIELD(struct wq_request, cq, 999, -ENOENT),
	FIELD(struct wq_request, max_wr, 32768, 0),
	FIELD(struct wq_request, max_wr, 32769, -EINVAL),
	FIELD(struct wq_request, flags, 1, 0),
	FIELD(struct wq_request, flags, 2, 0),
	FIELD(struct wq_request, flags, 8, 0),
	FIELD(struct wq_request, flags, 4, -EOPNOTSUPP),
	FIELD(struct wq_request, flags, 16, -EINVAL),
	FIELD(struct wq_request, driver_length, 40, 0),
	FIELD(struct wq_request, driver_length, 32, -EINVAL),
	FIELD(struct wq_request, driver.rq_wqe_count, 0, -EINVAL),
	FIELD(struct wq_request, driver.rq_wqe_count, 48, -EINVAL),
	FIELD(struct wq_request, driver.rq_wqe_shift, 32, -EINVAL),
	FIELD(struct wq_request, driver.rq_wqe_shift, 31, -EINVAL),
	FIELD(struct wq_request, driver.rq_wqe_shift, 3, -EINVAL),
	FIELD(struct wq_request, driver.comp_mask, MLX5_IB_CREATE_WQ_STRIDING_RQ, -EINVAL),
	FIELD(struct wq_request, driver.comp_mask, 2, -EOPNOTSUPP),
	FIELD(struct wq_request, without, UVERBS_ATTR_CREATE_WQ_FLAGS, -EINVAL),
	FIELD(struct wq_request, without, UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, -ENOENT),
	FIELD(struct wq_request, driver_out_length, 0, 0),
	FIELD(struct wq_request, driver_out_length, 4, -EINVAL),
	FIELD(struct wq_request, driver.buf_addr, 0x1000, -EFAULT),
	FIELD(struct wq_request, driver.buf_addr, 0, -EINVAL),
	FIELD(struct wq_request, driver.db_addr, 0x1000, -EFAULT),
};
/* clang-format on */

static void
test_create_wq(void **state)
{
	struct rig *rig = *state;
	uint32_t cq = rig_cq(rig);

	for (size_t i = 0; i < sizeof(wq_cases) / sizeof(wq_cases[0]); i++) {
		struct wq_request request;

		wq_request_init(rig, &request, cq);
		field_case_apply(&wq_cases[i], &request);
		field_case_check(&wq_cases[i], wq_request_run(rig, &request));
	}
}

/** Strides of 2^6 to 2^13 bytes, 2^least to 2^16 of them. */
static void
test_striding(void **state)
{
	static const struct {
		uint8_t least;
		uint32_t log_bytes, log_strides;
		int expected;
	} rows[] = {
		{ 9, 6, 9, 0 },
		{ 9, 13, 16, 0 },
		{ 9, 5, 9, -EINVAL },
		{ 9, 14, 9, -EINVAL },
		{ 9, 6, 8, -EINVAL },
		{ 9, 6, 17, -EINVAL },
		{ 3, 6, 3, 0 },
		{ 3, 6, 2, -EINVAL },
		{ 0, 6, 9, -EOPNOTSUPP },
	};
	struct rig *rig = *state;
	uint32_t cq = rig_cq(rig);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct wq_request request;

		rig->model.min_log_strides = rows[i].least;
		wq_request_init(rig, &request, cq);
		request.driver.comp_mask = MLX5_IB_CREATE_WQ_STRIDING_RQ;
		request.driver.single_stride_log_num_of_bytes = rows[i].log_bytes;
		request.driver.single_wqe_log_num_of_strides = rows[i].log_strides;
		/* A next segment and one of data at least. */
		request.driver.rq_wqe_shift = 5;
		assert_int_equal(wq_request_run(rig, &request), rows[i].expected);
		if (rows[i].expected != 0)
			continue;
		request.driver.rq_wqe_shift = 4;
		assert_int_equal(wq_request_run(rig, &request), -EINVAL);
	}
}

static void
test_wq_capabilities(void **state)
{
	struct rig *rig = *state;
	struct wq_request request;

	wq_request_init(rig, &request, rig_cq(rig));
	rig->model.cvlan_strip = false;
	rig->model.scatter_fcs = false;
	request.flags = IB_UVERBS_WQ_FLAGS_CVLAN_STRIPPING;
	assert_int_equal(wq_request_run(rig, &request), -EOPNOTSUPP);
	request.flags = IB_UVERBS_WQ_FLAGS_SCATTER_FCS;
	assert_int_equal(wq_request_run(rig, &request), -EOPNOTSUPP);
}

static void
test_wq_answer(void **state)
{
	struct rig *rig = *state;
	struct wq_request request;
	struct shca_wq_object *wq;

	wq_request_init(rig, &request, rig_cq(rig));
	request.max_wr = 1;
	request.max_sge = 3;
	assert_int_equal(wq_request_run(rig, &request), 0);
	assert_int_equal(request.max_wr_answer, 1);
	assert_int_equal(request.max_sge_answer, 3);
	wq = rig_object(rig, request.handle);
	assert_int_equal(request.number, shca_rq_number(wq->rq));
	assert_int_equal(shca_rq_state(wq->rq), SHCA_QUEUE_RESET);
}

static int
modify_wq_by(struct rig *rig, const struct ib_uverbs_ex_modify_wq *request, size_t driver_length)
{
	const struct mlx5_ib_modify_wq driver = { 0 };
	const struct command command = {
		.number = EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_WQ,
		.in = request,
		.in_length = sizeof(*request),
		.driver_in = &driver,
		.driver_in_length = driver_length,
	};

	return command_run(rig->file, &command);
}

static int
modify_wq(struct rig *rig, const struct ib_uverbs_ex_modify_wq *request)
{
	return modify_wq_by(rig, request, sizeof(struct mlx5_ib_modify_wq));
}

/** The driver's part of the request must be there (mlx5_ib_modify_wq()). */
static void
test_modify_without_driver_part(void **state)
{
	struct rig *rig = *state;
	const struct ib_uverbs_ex_modify_wq request = {
		.attr_mask = IBV_WQ_ATTR_STATE,
		.wq_handle = rig_wq(rig, rig_cq(rig)),
		.wq_state = IBV_WQS_RDY,
	};

	assert_int_equal(modify_wq_by(rig, &request, 0), -EINVAL);
	assert_int_equal(modify_wq_by(rig, &request, 4), -EINVAL);
	assert_int_equal(modify_wq_by(rig, &request, 8), 0);
}

static void
test_wq_states(void **state)
{
	static const struct {
		uint32_t from, to;
		int expected;
		enum shca_queue_state queue;
	} rows[] = {
		{ IBV_WQS_RESET, IBV_WQS_RDY, 0, SHCA_QUEUE_READY },
		{ IBV_WQS_RDY, IBV_WQS_RDY, 0, SHCA_QUEUE_READY },
		{ IBV_WQS_RESET, IBV_WQS_RDY, -EINVAL, SHCA_QUEUE_READY }, /* it is in RDY */
		{ IBV_WQS_RDY, IBV_WQS_ERR, 0, SHCA_QUEUE_ERROR },
		{ IBV_WQS_ERR, IBV_WQS_RDY, -EINVAL, SHCA_QUEUE_ERROR },
		{ IBV_WQS_ERR, 3, -EINVAL, SHCA_QUEUE_ERROR },
		{ 3, IBV_WQS_RESET, -EINVAL, SHCA_QUEUE_ERROR },
		{ IBV_WQS_ERR, IBV_WQS_RESET, 0, SHCA_QUEUE_RESET },
		{ IBV_WQS_RESET, IBV_WQS_RDY, 0, SHCA_QUEUE_READY },
		{ IBV_WQS_RDY, IBV_WQS_RESET, 0, SHCA_QUEUE_RESET },
	};
	struct rig *rig = *state;
	struct ib_uverbs_ex_modify_wq request = { .attr_mask = 3,
		.wq_handle = rig_wq(rig, rig_cq(rig)) };
	struct shca_wq_object *wq = rig_object(rig, request.wq_handle);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		request.curr_wq_state = rows[i].from;
		request.wq_state = rows[i].to;
		assert_int_equal(modify_wq(rig, &request), rows[i].expected);
		assert_int_equal(shca_rq_state(wq->rq), rows[i].queue);
	}
}

/** A queue that fails is in another state than was set last: a state that is named must be that of
 * the queue. */
static void
test_states_of_a_failed_queue(void **state)
{
	struct rig *rig = *state;
	struct ib_uverbs_ex_modify_wq request = { .wq_handle = rig_wq(rig, rig_cq(rig)) };
	struct shca_wq_object *wq = rig_object(rig, request.wq_handle);

	for (unsigned int named = 0; named < 2; named++) {
		request.attr_mask = IBV_WQ_ATTR_STATE;
		request.wq_state = IBV_WQS_RDY;
		assert_int_equal(modify_wq(rig, &request), 0);
		shca_rq_modify(wq->rq, SHCA_QUEUE_ERROR);
		request.wq_state = IBV_WQS_RESET;
		request.attr_mask = IBV_WQ_ATTR_STATE | IBV_WQ_ATTR_CURR_STATE;
		request.curr_wq_state = IBV_WQS_RDY;
		assert_int_equal(modify_wq(rig, &request), -EINVAL);
		request.curr_wq_state = IBV_WQS_RESET;
		assert_int_equal(modify_wq(rig, &request), -EINVAL);
		assert_int_equal(shca_rq_state(wq->rq), SHCA_QUEUE_ERROR);
		request.curr_wq_state = IBV_WQS_ERR;
		request.attr_mask = named ? request.attr_mask : IBV_WQ_ATTR_STATE;
		assert_int_equal(modify_wq(rig, &request), 0);
		assert_int_equal(shca_rq_state(wq->rq), SHCA_QUEUE_RESET);
	}
}

/* clang-format off */
static const struct field_case modify_cases[] = {
	FIELD(struct ib_uverbs_ex_modify_wq, attr_mask, 1, 0),
	FIELD(struct ib_uverbs_ex_modify_wq, attr_mask, 0, -EINVAL),
	FIELD(struct ib_uverbs_ex_modify_wq, attr_mask, 8, -EINVAL),
	FIELD(struct ib_uverbs_ex_modify_wq, wq_handle, 999, -EINVAL),
	FIELD(struct ib_uverbs_ex_modify_wq, wq_handle, 0, -EINVAL),
	FIELD(struct ib_uverbs_ex_modify_wq, flags_mask, IB_UVERBS_WQ_FLAGS_CVLAN_STRIPPING, 0),
	FIELD(struct ib_uverbs_ex_modify_wq, flags_mask, IB_UVERBS_WQ_FLAGS_PCI_WRITE_END_PADDING, -EOPNOTSUPP),
};
/* clang-format on */

static void
test_modify_wq(void **state)
{
	struct rig *rig = *state;
	uint32_t cq = rig_cq(rig);

	for (size_t i = 0; i < sizeof(modify_cases) / sizeof(modify_cases[0]); i++) {
		struct ib_uverbs_ex_modify_wq request = {
			.attr_mask = 1 | 4,
			.wq_handle = rig_wq(rig, cq),
			.wq_state = IBV_WQS_RDY,
			.flags = IB_UVERBS_WQ_FLAGS_CVLAN_STRIPPING,
		};

		field_case_apply(&modify_cases[i], &request);
		field_case_check(&modify_cases[i], modify_wq(rig, &request));
	}
}

static void
test_indirection_table(void **state)
{
	struct rig *rig = *state;
	uint32_t cq = rig_cq(rig);
	uint32_t wq = rig_wq(rig, cq);
	const uint32_t twice[2] = { wq, wq };
	const uint32_t unknown[2] = { wq, 999 };
	const uint32_t wrong[2] = { wq, cq };
	const uint32_t too_many[4] = { wq, wq, wq, wq };
	uint32_t table;

	rig->model.max_rwq_ind_table_size = 4;
	assert_int_equal(rig_create_table(rig, 0, 1, twice, 2, &table), 0);
	assert_int_equal(rig_create_table(rig, 0, 0, &wq, 1, &table), 0);
	assert_int_equal(rig_create_table(rig, 1, 1, twice, 2, &table), -EOPNOTSUPP);
	assert_int_equal(rig_create_table(rig, 0, 14, twice, 2, &table), -EINVAL);
	assert_int_equal(rig_create_table(rig, 0, 3, too_many, 4, &table), -EINVAL);
	assert_int_equal(rig_create_table(rig, 0, 2, twice, 2, &table), -ENOSPC);
	assert_int_equal(rig_create_table(rig, 0, 1, unknown, 2, &table), -EINVAL);
	assert_int_equal(rig_create_table(rig, 0, 1, wrong, 2, &table), -EINVAL);
	assert_int_equal(rig_create_table(rig, 0, 1, too_many, 4, &table), -EOPNOTSUPP);
	/* Two slots of the first table, one of the second; the failures have left no use behind. */
	assert_int_equal(((struct shca_object *)rig_object(rig, wq))->nb_users, 3);
}

/** Its answer to a table, and room that is too small for it (mlx5_ib_create_rwq_ind_table()). */
static void
test_answer_of_table(void **state)
{
	struct rig *rig = *state;
	const uint32_t request[4] = { 0, 0, rig_wq(rig, rig_cq(rig)) };
	struct ib_uverbs_ex_create_rwq_ind_table_resp response = { 0 };
	struct mlx5_ib_create_rwq_ind_tbl_resp driver = { 0 };
	struct command command = {
		.number = EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL,
		.in = request,
		.in_length = sizeof(request),
		.out = &response,
		.out_length = sizeof(response),
		.driver_out = &driver,
		.driver_out_length = sizeof(driver),
	};

	assert_int_equal(command_run(rig->file, &command), 0);
	assert_int_equal(driver.response_length, sizeof(driver.response_length));
	command.driver_out_length = sizeof(driver.response_length);
	assert_int_equal(command_run(rig->file, &command), -EINVAL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_create_wq),
		TEST(test_striding),
		TEST(test_wq_capabilities),
		TEST(test_wq_answer),
		TEST(test_wq_states),
		TEST(test_states_of_a_failed_queue),
		TEST(test_modify_wq),
		TEST(test_modify_without_driver_part),
		TEST(test_indirection_table),
		TEST(test_answer_of_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
