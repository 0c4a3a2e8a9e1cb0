/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands that have methods, too: by the old way they ask for the same, and answer in the fields
 * of their own structures. The headers of write(2) are test/bare's.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "rig.h"

static int
run_ex(struct rig *rig, uint32_t number, const void *in, size_t in_length, void *out,
	size_t out_length)
{
	const struct command command = {
		.number = EXTENDED | number,
		.in = in,
		.in_length = in_length,
		.out = out,
		.out_length = out_length,
	};

	return command_run(rig->file, &command);
}

struct cq_command {
	struct ib_uverbs_ex_create_cq core;
	struct mlx5_ib_create_cq driver;
};

static int
create_cq(struct rig *rig, const struct cq_command *request,
	struct ib_uverbs_ex_create_cq_resp *answer)
{
	struct mlx5_ib_create_cq_resp driver_answer;
	const struct command command = {
		.number = EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_CQ,
		.in = &request->core,
		.in_length = sizeof(request->core),
		.out = answer,
		.out_length = sizeof(*answer),
		.driver_in = &request->driver,
		.driver_in_length = sizeof(request->driver),
		.driver_out = &driver_answer,
		.driver_out_length = sizeof(driver_answer),
	};

	return command_run(rig->file, &command);
}

#define CQ struct cq_command
static const struct field_case cq_cases[] = {
	FIELD(CQ, core.comp_mask, 1, -EINVAL),
	FIELD(CQ, core.reserved, 1, -EINVAL),
	FIELD(CQ, core.flags, 4, -EOPNOTSUPP),
	FIELD(CQ, core.flags, IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN, 0),
	FIELD(CQ, core.comp_channel, 7777, -EBADF),
	FIELD(CQ, core.comp_vector, 1u << 20, -EINVAL),
	FIELD(CQ, core.cqe, 1u << 31, -EINVAL),
	FIELD(CQ, driver.cqe_size, 32, -EINVAL),
	FIELD(CQ, driver.flags, 0, -EINVAL),
	FIELD(CQ, core.cqe, 100, 0),
};

static void
test_create_cq(void **state)
{
	struct rig *rig = *state;

	for (size_t i = 0; i < sizeof(cq_cases) / sizeof(cq_cases[0]); i++) {
		struct ib_uverbs_ex_create_cq_resp answer;
		struct cq_request proper;
		struct cq_command request = {
			.core = { .cqe = 50, .comp_channel = -1, .user_handle = 5 },
		};

		memset(&answer, 0xff, sizeof(answer));
		cq_request_init(rig, &proper);
		request.driver = proper.driver;
		field_case_apply(&cq_cases[i], &request);
		field_case_check(&cq_cases[i], create_cq(rig, &request, &answer));
		if (cq_cases[i].expected != 0)
			continue;
		assert_int_equal(answer.base.cqe, request.core.cqe == 50 ? 63 : 127);
		assert_int_equal(answer.comp_mask, 0);
		assert_int_equal(answer.response_length, sizeof(answer));
		assert_int_equal(
			frame_handle_only(rig->file, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY,
				UVERBS_ATTR_DESTROY_CQ_HANDLE, answer.base.cq_handle),
			-EINVAL); /* it wants to answer, so it is there */
	}
}

/** An answer that cannot be given leaves nothing behind. */
static void
test_unwritable_answer(void **state)
{
	struct rig *rig = *state;
	struct cq_request proper;
	struct cq_command request = { .core = { .cqe = 50, .comp_channel = -1 } };
	struct ib_uverbs_ex_create_cq_resp answer;
	uint32_t before;

	cq_request_init(rig, &proper);
	request.driver = proper.driver;
	before = rig->file->nb_objects[SHCA_LIMIT_CQ];
	assert_int_equal(create_cq(rig, &request, (void *)8), -EFAULT);
	assert_int_equal(rig->file->nb_objects[SHCA_LIMIT_CQ], before);
	assert_int_equal(create_cq(rig, &request, &answer), 0);
	assert_int_equal(rig->file->nb_objects[SHCA_LIMIT_CQ], before + 1);
}

struct wq_command {
	struct ib_uverbs_ex_create_wq core;
	struct mlx5_ib_create_wq driver;
};

static int
create_wq(struct rig *rig, const struct wq_command *request,
	struct ib_uverbs_ex_create_wq_resp *answer)
{
	struct mlx5_ib_create_wq_resp driver_answer;
	const struct command command = {
		.number = EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_WQ,
		.in = &request->core,
		.in_length = sizeof(request->core),
		.out = answer,
		.out_length = sizeof(*answer),
		.driver_in = &request->driver,
		.driver_in_length = sizeof(request->driver),
		.driver_out = &driver_answer,
		.driver_out_length = sizeof(driver_answer),
	};

	return command_run(rig->file, &command);
}

#define WQ struct wq_command
static const struct field_case wq_cases[] = {
	FIELD(WQ, core.comp_mask, 1, -EOPNOTSUPP),
	FIELD(WQ, core.wq_type, 1, -EINVAL),
	FIELD(WQ, core.pd_handle, 999, -EINVAL),
	FIELD(WQ, core.cq_handle, 999, -EINVAL),
	FIELD(WQ, core.max_wr, 1u << 30, -EINVAL),
	FIELD(WQ, driver.rq_wqe_count, 0, -EINVAL),
	FIELD(WQ, core.max_sge, 1, 0),
};

/** And what is made of it: a table, and the end of both. */
static void
test_wq_and_table(void **state)
{
	struct rig *rig = *state;
	struct ib_uverbs_ex_destroy_wq_resp gone;
	struct ib_uverbs_ex_destroy_wq destroy_wq = { 0 };
	struct ib_uverbs_ex_destroy_rwq_ind_table destroy_table = { 0 };
	struct ib_uverbs_ex_create_wq_resp answer;
	uint32_t cq = rig_cq(rig), table;

	for (size_t i = 0; i < sizeof(wq_cases) / sizeof(wq_cases[0]); i++) {
		struct wq_command request = { 0 };
		struct wq_request proper;

		wq_request_init(rig, &proper, cq);
		request.driver = proper.driver;
		request.core.pd_handle = proper.pd;
		request.core.cq_handle = proper.cq;
		request.core.max_wr = proper.max_wr;
		request.core.max_sge = proper.max_sge;
		field_case_apply(&wq_cases[i], &request);
		field_case_check(&wq_cases[i], create_wq(rig, &request, &answer));
	}
	assert_int_equal(answer.response_length, sizeof(answer));
	assert_int_equal(answer.max_sge, 1);
	table = rig_table(rig, &answer.wq_handle, 0);
	destroy_wq.wq_handle = answer.wq_handle;
	destroy_table.ind_tbl_handle = table;
#define RUN(command, request, answer, length)                                                      \
	run_ex(rig, IB_USER_VERBS_EX_CMD_##command, &(request), sizeof(request), answer, length)
	assert_int_equal(RUN(DESTROY_WQ, destroy_wq, &gone, sizeof(gone)), -EBUSY);
	destroy_table.comp_mask = destroy_wq.comp_mask = 1;
	assert_int_equal(RUN(DESTROY_RWQ_IND_TBL, destroy_table, NULL, 0), -EOPNOTSUPP);
	assert_int_equal(RUN(DESTROY_WQ, destroy_wq, &gone, sizeof(gone)), -EOPNOTSUPP);
	destroy_table.comp_mask = destroy_wq.comp_mask = 0;
	assert_int_equal(RUN(DESTROY_RWQ_IND_TBL, destroy_table, NULL, 0), 0);
	assert_int_equal(RUN(DESTROY_RWQ_IND_TBL, destroy_table, NULL, 0), -ENOENT);
	memset(&gone, 0xff, sizeof(gone));
	assert_int_equal(RUN(DESTROY_WQ, destroy_wq, &gone, sizeof(gone)), 0);
	assert_int_equal(gone.events_reported, 0);
	assert_int_equal(gone.response_length, sizeof(gone));
}

struct qp_command {
	struct ib_uverbs_ex_create_qp core;
	struct mlx5_ib_create_qp_rss driver;
};

static int
create_hash_qp(struct rig *rig, const struct qp_command *request,
	struct ib_uverbs_ex_create_qp_resp *answer)
{
	struct mlx5_ib_create_qp_resp driver_answer;
	const struct command command = {
		.number = EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_QP,
		.in = &request->core,
		.in_length = sizeof(request->core),
		.out = answer,
		.out_length = sizeof(*answer),
		.driver_in = &request->driver,
		.driver_in_length = sizeof(request->driver),
		.driver_out = &driver_answer,
		.driver_out_length = sizeof(driver_answer),
	};

	return command_run(rig->file, &command);
}

#define QP struct qp_command
static const struct field_case qp_cases[] = {
	FIELD(QP, core.comp_mask, 3, -EINVAL),
	FIELD(QP, core.reserved, 1, -EINVAL),
	FIELD(QP, core.is_srq, 1, -EINVAL),
	FIELD(QP, core.create_flags, 1u << 4, -EINVAL),
	FIELD(QP, core.create_flags, IB_UVERBS_QP_CREATE_SQ_SIG_ALL, -EINVAL),
	FIELD(QP, core.qp_type, 2, -EINVAL),
	FIELD(QP, core.pd_handle, 999, -EINVAL),
	FIELD(QP, core.rwq_ind_tbl_handle, 999, -EINVAL),
	FIELD(QP, core.max_recv_wr, 1, -EINVAL),
	FIELD(QP, core.max_send_wr, 1, -EINVAL),
	FIELD(QP, driver.rx_key_len, 39, -EINVAL),
	FIELD(QP, core.user_handle, 9, 0),
};

static void
test_create_hash_qp(void **state)
{
	struct rig *rig = *state;
	uint32_t wq = rig_wq(rig, rig_cq(rig));
	uint32_t table = rig_table(rig, &wq, 0);
	struct ib_uverbs_ex_create_qp_resp answer;

	rig_skip_without_privilege();
	for (size_t i = 0; i < sizeof(qp_cases) / sizeof(qp_cases[0]); i++) {
		struct qp_request proper;
		struct qp_command request = {
			.core = { .comp_mask = IB_UVERBS_CREATE_QP_MASK_IND_TABLE,
				.pd_handle = rig->pd,
				.qp_type = 8,
				.rwq_ind_tbl_handle = table },
		};

		qp_request_init(rig, &proper, -1, table);
		request.driver = proper.rss;
		field_case_apply(&qp_cases[i], &request);
		field_case_check(&qp_cases[i], create_hash_qp(rig, &request, &answer));
	}
	assert_int_equal(answer.response_length, sizeof(answer));
	assert_non_null(rig_object(rig, answer.base.qp_handle));
}

/** No other number is taken for that of a command, which its last bits are. */
static void
test_unknown_numbers(void **state)
{
	const uint32_t last = IB_USER_VERBS_EX_CMD_DESTROY_FLOW;
	const struct {
		uint64_t number;
		int expected;
	} rows[] = {
		{ last, -EOPNOTSUPP },
		{ EXTENDED | 0x20, -EOPNOTSUPP },
		{ EXTENDED | 0x3f, -EOPNOTSUPP },
		{ EXTENDED | 0x40, -EOPNOTSUPP },
		{ EXTENDED | 0x40 | last, -EOPNOTSUPP },
		{ 0x40 | IB_USER_VERBS_CMD_QUERY_DEVICE, -EOPNOTSUPP },
		{ 0x80, -EOPNOTSUPP },
		{ 0x100, -EINVAL },
		{ EXTENDED | 0x100 | last, -EINVAL },
		{ UINT64_MAX, -EINVAL },
		{ UINT64_C(1) << 32 | IB_USER_VERBS_CMD_QUERY_DEVICE, -EINVAL },
		{ UINT64_C(1) << 32 | EXTENDED | last, -EINVAL },
	};
	struct ib_uverbs_destroy_flow in = { .flow_handle = 4711 };
	struct ib_uverbs_query_device_resp out;
	struct rig *rig = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct command command = {
			.number = rows[i].number,
			.in = &in,
			.in_length = sizeof(in),
			.out = &out,
			.out_length = sizeof(out),
		};

		assert_int_equal(command_run(rig->file, &command), rows[i].expected);
	}
	assert_int_equal(run_ex(rig, last, &in, sizeof(in), NULL, 0), -ENOENT);
}

/** Behind a request as the kernel knows it, nothing or zeros. */
static void
test_rest(void **state)
{
	static const struct {
		uint32_t number;
		size_t bytes;
	} rows[] = {
		{ IB_USER_VERBS_CMD_QUERY_DEVICE, sizeof(struct ib_uverbs_query_device) },
		{ IB_USER_VERBS_CMD_ALLOC_PD, sizeof(struct ib_uverbs_alloc_pd) },
		{ EXTENDED | IB_USER_VERBS_EX_CMD_QUERY_DEVICE,
			sizeof(struct ib_uverbs_ex_query_device) },
		{ EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_CQ,
			sizeof(struct ib_uverbs_ex_modify_cq) },
		{ EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_WQ,
			sizeof(struct ib_uverbs_ex_create_wq) },
		{ EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_QP,
			sizeof(struct ib_uverbs_ex_modify_qp) },
	};
	struct rig *rig = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t in[256] = { 0 }, out[512];
		struct command command = {
			.number = rows[i].number,
			.in = in,
			.in_length = rows[i].bytes,
			.out = out,
			.out_length = sizeof(out),
		};
		const int ret = command_run(rig->file, &command);

		assert_int_not_equal(ret, -EOPNOTSUPP);
		command.in_length += 8;
		assert_int_equal(command_run(rig->file, &command), ret);
		in[command.in_length - 1] = 1;
		assert_int_equal(command_run(rig->file, &command), -EOPNOTSUPP);
	}
}

/** By write(2) the kernel looks at the words of numbers up to its last one only. */
static void
test_numbers_beyond_the_last(void **state)
{
	static const struct {
		uint32_t number;
		int expected;
	} rows[] = {
		{ IB_USER_VERBS_CMD_REG_SMR, -EINVAL },
		{ IB_USER_VERBS_CMD_OPEN_QP, -EINVAL },
		{ IB_USER_VERBS_CMD_OPEN_QP + 1, -EOPNOTSUPP },
		{ 0xff, -EOPNOTSUPP },
		{ EXTENDED | 0x20, -EINVAL },
		{ EXTENDED | (IB_USER_VERBS_EX_CMD_MODIFY_CQ + 1), -EOPNOTSUPP },
		{ EXTENDED | 0xff, -EOPNOTSUPP },
		{ 0x100, -EINVAL },
	};
	struct rig *rig = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		/* Three words that say they are two. */
		const struct ib_uverbs_cmd_hdr words[2] = { { .command = rows[i].number,
			.in_words = 2 } };

		assert_int_equal(shca_file_write(rig->file, words, 12), rows[i].expected);
	}
}

/** @return what a queue pair of XRC gets that names an SRQ which is not there. */
static int
create_xrc(struct rig *rig, uint8_t type, uint32_t domain)
{
	struct ib_uverbs_create_qp_resp response;
	struct mlx5_ib_create_qp_resp driver;
	struct qp_request qp;
	const struct ib_uverbs_create_qp request = {
		.pd_handle = domain,
		.send_cq_handle = rig_cq(rig),
		.srq_handle = 999,
		.max_send_wr = 1,
		.max_send_sge = 1,
		.qp_type = type,
		.is_srq = 1,
	};
	const struct command command = {
		.number = IB_USER_VERBS_CMD_CREATE_QP,
		.in = &request,
		.in_length = sizeof(request),
		.out = &response,
		.out_length = sizeof(response),
		.driver_in = &qp.driver,
		.driver_in_length = sizeof(qp.driver),
		.driver_out = &driver,
		.driver_out_length = sizeof(driver),
	};

	qp_request_init(rig, &qp, request.send_cq_handle, -1);
	qp.driver.rq_wqe_count = qp.driver.rq_wqe_shift = 0;
	return command_run(rig->file, &command);
}

/** The command looks at an SRQ only where the type may have one (core/uverbs_cmd.c create_qp()). */
static void
test_srq_of_xrc(void **state)
{
	struct rig *rig = *state;
	const struct ib_uverbs_open_xrcd request = { .fd = UINT32_MAX };
	struct ib_uverbs_open_xrcd_resp response = { 0 };
	const struct command command = {
		.number = IB_USER_VERBS_CMD_OPEN_XRCD,
		.in = &request,
		.in_length = sizeof(request),
		.out = &response,
		.out_length = sizeof(response),
	};

	assert_int_equal(command_run(rig->file, &command), 0);
	assert_int_equal(create_xrc(rig, IB_UVERBS_QPT_XRC_INI, rig->pd), 0);
	assert_int_equal(create_xrc(rig, IB_UVERBS_QPT_XRC_TGT, response.xrcd_handle), 0);
	assert_int_equal(create_xrc(rig, IB_UVERBS_QPT_UD, rig->pd), -EINVAL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_create_cq),
		TEST(test_unwritable_answer),
		TEST(test_wq_and_table),
		TEST(test_create_hash_qp),
		TEST(test_srq_of_xrc),
		TEST(test_unknown_numbers),
		TEST(test_rest),
		TEST(test_numbers_beyond_the_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
