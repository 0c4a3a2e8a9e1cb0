/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion queues and memory regions: what is refused, and with what. */
#include <errno.h>
#include <string.h>

#include "rig.h"

/* clang-format off */
static const struct field_case cq_cases[] = {
	FIELD(struct cq_request, cqe, 0, 0),
	FIELD(struct cq_request, cqe, 63, 0),
	FIELD(struct cq_request, cqe, 4194304, -EINVAL),
	FIELD(struct cq_request, cqe, UINT32_MAX, -EINVAL),
	FIELD(struct cq_request, comp_vector, 100000, -EINVAL),
	FIELD(struct cq_request, channel, 0, -EBADF),
	FIELD(struct cq_request, channel, 12345, -EBADF),
	FIELD(struct cq_request, channel, INT64_MAX, -EINVAL),
	FIELD(struct cq_request, flags, 3, 0),
	FIELD(struct cq_request, flags, 4, -EINVAL),
	FIELD(struct cq_request, driver_length, 32, 0),
	FIELD(struct cq_request, driver_length, 20, -EINVAL),
	FIELD(struct cq_request, driver_length, 0, -EINVAL),
	FIELD(struct cq_request, driver.cqe_size, 128, 0),
	FIELD(struct cq_request, driver.cqe_size, 32, -EINVAL),
	FIELD(struct cq_request, driver.cqe_size, 0, -EINVAL),
	FIELD(struct cq_request, driver.flags, 0, -EINVAL),
	FIELD(struct cq_request, driver.flags, 8 | 2, -EINVAL),
	FIELD(struct cq_request, driver.flags, 1 | 2, -EOPNOTSUPP),
	/* Its queues are refused then. */
	FIELD(struct cq_request, driver.flags, 4 | 2, 0),
	FIELD(struct cq_request, driver.uar_page_index, 77, -EINVAL),
	FIELD(struct cq_request, driver.reserved0, 1, -EINVAL),
	FIELD(struct cq_request, driver.reserved1, 1, -EINVAL),
	FIELD(struct cq_request, driver.cqe_comp_en, 1, -EOPNOTSUPP),
	FIELD(struct cq_request, driver.cqe_comp_en, 2, 0),
	FIELD(struct cq_request, driver.buf_addr, 0x1000, -EFAULT),
	FIELD(struct cq_request, driver.db_addr, 0x1000, -EFAULT),
};
/* clang-format on */

static void
test_create_cq(void **state)
{
	struct rig *rig = *state;

	rig->model.cqe_comp_max = 0;
	for (size_t i = 0; i < sizeof(cq_cases) / sizeof(cq_cases[0]); i++) {
		struct cq_request request;
		uint32_t nb_before = rig->file->nb_objects[SHCA_LIMIT_CQ];
		int ret;

		cq_request_init(rig, &request);
		field_case_apply(&cq_cases[i], &request);
		ret = cq_request_run(rig, &request);
		field_case_check(&cq_cases[i], ret);
		assert_int_equal(rig->file->nb_objects[SHCA_LIMIT_CQ], nb_before + (ret == 0));
	}
}

/** Linux create_cq_user, mini_cqe_res_format_to_hw. */
static void
test_compression_and_padding(void **state)
{
	static const struct {
		uint16_t cqe_size;
		uint8_t format; /* 0: no compression */
		bool pad, has_stridx, has_pad;
		int ret;
	} cases[] = {
		{ 64, 1, false, false, false, 0 },
		{ 64, 2, false, false, false, 0 },
		{ 64, 4, false, true, false, 0 },
		{ 64, 4, false, false, false, -EOPNOTSUPP },
		{ 64, 3, false, true, false, -EINVAL },
		{ 64, 8, false, true, false, -EINVAL },
		{ 128, 1, false, true, true, -EOPNOTSUPP },
		{ 128, 0, true, true, true, 0 },
		{ 128, 0, true, true, false, -EOPNOTSUPP },
		{ 64, 0, true, true, true, -EOPNOTSUPP },
	};
	struct rig *rig = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cq_request request;

		cq_request_init(rig, &request);
		rig->model.cqe_comp_max = 64;
		rig->model.cqe_comp_formats = cases[i].has_stridx ? 7 : 3;
		rig->model.cqe_128b_pad = cases[i].has_pad;
		request.driver.cqe_size = cases[i].cqe_size;
		request.driver.cqe_comp_en = cases[i].format != 0;
		request.driver.cqe_comp_res_format = cases[i].format;
		request.driver.flags |= cases[i].pad;
		assert_int_equal(cq_request_run(rig, &request), cases[i].ret);
	}
}

static void
test_cqe_counts_are_rounded(void **state)
{
	static const struct {
		uint32_t asked, answered;
	} rows[] = { { 0, 0 }, { 1, 1 }, { 2, 3 }, { 63, 63 }, { 64, 127 }, { 200, 255 } };
	struct rig *rig = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cq_request request;

		cq_request_init(rig, &request);
		request.cqe = rows[i].asked;
		assert_int_equal(cq_request_run(rig, &request), 0);
		assert_int_equal(request.cqe_answer, rows[i].answered);
		assert_int_not_equal(request.cqn, 0);
	}
}

static void
test_model_limits_cqs(void **state)
{
	struct rig *rig = *state;
	struct cq_request request;

	rig->model.max_cq = 1;
	cq_request_init(rig, &request);
	assert_int_equal(cq_request_run(rig, &request), 0);
	assert_int_equal(cq_request_run(rig, &request), -ENOMEM);
}

struct resize {
	struct ib_uverbs_resize_cq request;
	struct mlx5_ib_resize_cq driver;
};

static int
run_resize(struct rig *rig, const struct resize *resize, uint32_t *cqe)
{
	struct ib_uverbs_resize_cq_resp response = { 0 };
	const struct command command = {
		.number = IB_USER_VERBS_CMD_RESIZE_CQ,
		.in = &resize->request,
		.in_length = sizeof(resize->request),
		.out = &response,
		.out_length = sizeof(response),
		.driver_in = &resize->driver,
		.driver_in_length = sizeof(resize->driver),
	};
	int ret = command_run(rig->file, &command);

	*cqe = response.cqe;
	return ret;
}

/* clang-format off */
static const struct field_case resize_cases[] = {
	FIELD(struct resize, request.cqe, 127, 0),
	FIELD(struct resize, request.cqe, 0, -EINVAL),
	FIELD(struct resize, request.cqe, 4194304, -EINVAL),
	FIELD(struct resize, request.cq_handle, 999, -EINVAL),
	FIELD(struct resize, driver.reserved0, 1, -EINVAL),
	FIELD(struct resize, driver.reserved1, 1, -EINVAL),
	FIELD(struct resize, driver.cqe_size, 32, -EINVAL),
	FIELD(struct resize, driver.buf_addr, 0x1000, -EFAULT),
};
/* clang-format on */

static void
test_resize_cq(void **state)
{
	struct rig *rig = *state;

	for (size_t i = 0; i < sizeof(resize_cases) / sizeof(resize_cases[0]); i++) {
		struct resize resize = {
			.request = { .cq_handle = rig_cq(rig), .cqe = 100 },
			.driver = { .buf_addr = (uintptr_t)rig->ring[1], .cqe_size = 64 },
		};
		uint32_t cqe;
		int ret;

		field_case_apply(&resize_cases[i], &resize);
		ret = run_resize(rig, &resize, &cqe);
		field_case_check(&resize_cases[i], ret);
		if (ret == 0)
			assert_int_equal(cqe, 127);
	}
}

/* clang-format off */
static const struct field_case modify_cases[] = {
	FIELD(struct ib_uverbs_ex_modify_cq, attr.cq_count, 65535, 0),
	FIELD(struct ib_uverbs_ex_modify_cq, attr.cq_period, 4095, 0),
	FIELD(struct ib_uverbs_ex_modify_cq, attr.cq_period, 4096, -EINVAL),
	FIELD(struct ib_uverbs_ex_modify_cq, attr_mask, 0, -EINVAL),
	FIELD(struct ib_uverbs_ex_modify_cq, attr_mask, 2, -EOPNOTSUPP),
	FIELD(struct ib_uverbs_ex_modify_cq, reserved, 1, -EINVAL),
	FIELD(struct ib_uverbs_ex_modify_cq, cq_handle, 999, -EINVAL),
};
/* clang-format on */

static void
test_modify(void **state)
{
	struct rig *rig = *state;

	for (size_t i = 0; i < sizeof(modify_cases) / sizeof(modify_cases[0]); i++) {
		struct ib_uverbs_ex_modify_cq request = { .cq_handle = rig_cq(rig),
			.attr_mask = IBV_CQ_ATTR_MODERATE };
		const struct command command = {
			.number = EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_CQ,
			.in = &request,
			.in_length = sizeof(request),
		};

		field_case_apply(&modify_cases[i], &request);
		field_case_check(&modify_cases[i], command_run(rig->file, &command));
	}
}

static int
reg_mr(struct rig *rig, const struct ib_uverbs_reg_mr *request,
	struct ib_uverbs_reg_mr_resp *response)
{
	const struct command command = {
		.number = IB_USER_VERBS_CMD_REG_MR,
		.in = request,
		.in_length = sizeof(*request),
		.out = response,
		.out_length = sizeof(*response),
	};

	return command_run(rig->file, &command);
}

static struct ib_uverbs_reg_mr
mr_request(const struct rig *rig)
{
	return (struct ib_uverbs_reg_mr){
		.start = (uintptr_t)rig->ring[0],
		.hca_va = (uintptr_t)rig->ring[0],
		.length = 8192,
		.pd_handle = rig->pd,
		.access_flags = IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_RELAXED_ORDERING,
	};
}

/* clang-format off */
static const struct field_case mr_cases[] = {
	FIELD(struct ib_uverbs_reg_mr, length, 1, 0),
	FIELD(struct ib_uverbs_reg_mr, length, 0, -EINVAL),
	FIELD(struct ib_uverbs_reg_mr, length, UINT64_MAX, -EINVAL),
	FIELD(struct ib_uverbs_reg_mr, hca_va, 0, 0),
	FIELD(struct ib_uverbs_reg_mr, hca_va, 64, -EINVAL),
	FIELD(struct ib_uverbs_reg_mr, pd_handle, 999, -EINVAL),
	FIELD(struct ib_uverbs_reg_mr, pd_handle, 0, -EINVAL),
	FIELD(struct ib_uverbs_reg_mr, access_flags, 0, 0),
	FIELD(struct ib_uverbs_reg_mr, access_flags, 0x3ff00001, 0),
	FIELD(struct ib_uverbs_reg_mr, access_flags, 0x40000001, -EINVAL),
	FIELD(struct ib_uverbs_reg_mr, access_flags, 0x100, -EINVAL),
	FIELD(struct ib_uverbs_reg_mr, access_flags, IB_UVERBS_ACCESS_ON_DEMAND, -EINVAL),
	FIELD(struct ib_uverbs_reg_mr, access_flags, IB_UVERBS_ACCESS_REMOTE_WRITE, -EINVAL),
	FIELD(struct ib_uverbs_reg_mr, access_flags, IB_UVERBS_ACCESS_REMOTE_ATOMIC, -EINVAL),
	FIELD(struct ib_uverbs_reg_mr, access_flags, IB_UVERBS_ACCESS_REMOTE_READ, 0),
	FIELD(struct ib_uverbs_reg_mr, start, 0x1000, -EFAULT),
};
/* clang-format on */

/** Handle 0 is the UAR page: the first object of the context, and no PD. */
static void
test_reg_mr(void **state)
{
	struct rig *rig = *state;

	for (size_t i = 0; i < sizeof(mr_cases) / sizeof(mr_cases[0]); i++) {
		struct ib_uverbs_reg_mr request = mr_request(rig);
		struct ib_uverbs_reg_mr_resp response;

		field_case_apply(&mr_cases[i], &request);
		field_case_check(&mr_cases[i], reg_mr(rig, &request, &response));
	}
}

/** Nothing is there that far up; but what ends in the last of all pages is a wrong request. */
static void
test_reg_mr_at_the_end(void **state)
{
	struct rig *rig = *state;
	struct ib_uverbs_reg_mr request = mr_request(rig);
	struct ib_uverbs_reg_mr_resp response;

	request.start = UINT64_MAX - 0x2fff;
	assert_int_equal(reg_mr(rig, &request, &response), -EFAULT);
	request.length++;
	assert_int_equal(reg_mr(rig, &request, &response), -EINVAL);
}

static void
test_rereg_and_query_mr(void **state)
{
	struct rig *rig = *state;
	struct ib_uverbs_reg_mr request = mr_request(rig);
	struct ib_uverbs_reg_mr_resp first;
	struct ib_uverbs_rereg_mr_resp second;
	struct ib_uverbs_rereg_mr rereg = { 0 };
	struct command command = {
		.number = IB_USER_VERBS_CMD_REREG_MR,
		.in = &rereg,
		.in_length = sizeof(rereg),
		.out = &second,
		.out_length = sizeof(second),
	};
	uint32_t lkey, rkey;
	uint64_t length, iova;
	struct frame frame;

	assert_int_equal(reg_mr(rig, &request, &first), 0);
	rereg = (struct ib_uverbs_rereg_mr){
		.mr_handle = first.mr_handle,
		.flags = 1,
		.start = (uintptr_t)rig->ring[1],
		.hca_va = 0x10000,
		.length = 4096,
	};
	assert_int_equal(command_run(rig->file, &command), 0);
	frame_init(&frame, UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR);
	frame_handle(&frame, UVERBS_ATTR_QUERY_MR_HANDLE, first.mr_handle);
	frame_out(&frame, UVERBS_ATTR_QUERY_MR_RESP_LKEY, &lkey, 4);
	frame_out(&frame, UVERBS_ATTR_QUERY_MR_RESP_RKEY, &rkey, 4);
	frame_out(&frame, UVERBS_ATTR_QUERY_MR_RESP_LENGTH, &length, 8);
	frame_out(&frame, UVERBS_ATTR_QUERY_MR_RESP_IOVA, &iova, 8);
	assert_int_equal(frame_run(rig->file, &frame), 0);
	assert_int_equal(lkey, second.lkey);
	assert_int_equal(rkey, second.rkey);
	assert_int_equal(length, 4096);
	assert_int_equal(iova, 0x10000);
	/* What fails leaves the region as it was. */
	rereg.start = 0x1000;
	assert_int_equal(command_run(rig->file, &command), -EFAULT);
	rereg.flags = 0;
	assert_int_equal(command_run(rig->file, &command), -EINVAL);
	rereg.flags = 8;
	assert_int_equal(command_run(rig->file, &command), -EOPNOTSUPP);
	rereg.flags = 2;
	rereg.pd_handle = 999;
	assert_int_equal(command_run(rig->file, &command), -EINVAL);
	rereg.pd_handle = first.mr_handle;
	assert_int_equal(command_run(rig->file, &command), -EINVAL);
	rereg.pd_handle = rig->pd;
	rereg.mr_handle = 999;
	assert_int_equal(command_run(rig->file, &command), -ENOENT);
	assert_int_equal(frame_run(rig->file, &frame), 0);
	assert_int_equal(lkey, second.lkey);
	rereg.mr_handle = first.mr_handle;
	assert_int_equal(command_run(rig->file, &command), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_create_cq),
		TEST(test_compression_and_padding),
		TEST(test_cqe_counts_are_rounded),
		TEST(test_model_limits_cqs),
		TEST(test_resize_cq),
		TEST(test_modify),
		TEST(test_reg_mr),
		TEST(test_reg_mr_at_the_end),
		TEST(test_rereg_and_query_mr),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
