/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles, use counts, destruction, what close leaves (nothing: run under LeakSanitizer, too). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rig.h"

static int
destroy(struct rig *rig, uint16_t object, uint32_t handle)
{
	static const struct {
		uint16_t object, method, handle_attr, answer_attr;
		uint8_t answer_bytes;
	} rows[] = {
		{ UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, UVERBS_ATTR_DESTROY_PD_HANDLE, 0, 0 },
		{ UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, UVERBS_ATTR_DESTROY_MR_HANDLE, 0, 0 },
		{ UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY, UVERBS_ATTR_DESTROY_CQ_HANDLE,
			UVERBS_ATTR_DESTROY_CQ_RESP, 8 },
		{ UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY, UVERBS_ATTR_DESTROY_QP_HANDLE,
			UVERBS_ATTR_DESTROY_QP_RESP, 4 },
		{ UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_DESTROY, UVERBS_ATTR_DESTROY_WQ_HANDLE,
			UVERBS_ATTR_DESTROY_WQ_RESP, 4 },
		{ UVERBS_OBJECT_RWQ_IND_TBL, UVERBS_METHOD_RWQ_IND_TBL_DESTROY,
			UVERBS_ATTR_DESTROY_RWQ_IND_TBL_HANDLE, 0, 0 },
		{ UVERBS_OBJECT_FLOW, UVERBS_METHOD_FLOW_DESTROY, UVERBS_ATTR_DESTROY_FLOW_HANDLE,
			0, 0 },
		{ UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_DESTROY,
			UVERBS_ATTR_DESTROY_COUNTERS_HANDLE, 0, 0 },
	};
	uint8_t answer[8];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct frame frame;

		if (rows[i].object != object)
			continue;
		frame_init(&frame, object, rows[i].method);
		frame_handle(&frame, rows[i].handle_attr, handle);
		if (rows[i].answer_bytes != 0)
			frame_out(&frame, rows[i].answer_attr, answer, rows[i].answer_bytes);
		return frame_run(rig->file, &frame);
	}
	fail_msg("no row for object %u", object);
	return 0;
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

/** One number space for all types, the lowest free first. */
static void
test_handles(void **state)
{
	struct rig *rig = *state;
	uint32_t first = create_counters(rig);
	uint32_t second = create_counters(rig);

	/* 0 is the fixture's UAR page, 1 its PD. */
	assert_int_equal(rig->pd, 1);
	assert_int_equal(first, 2);
	assert_int_equal(second, 3);
	assert_int_equal(destroy(rig, UVERBS_OBJECT_COUNTERS, first), 0);
	assert_int_equal(destroy(rig, UVERBS_OBJECT_COUNTERS, first), -ENOENT);
	assert_int_equal(rig_cq(rig), first);
	assert_int_equal(destroy(rig, UVERBS_OBJECT_COUNTERS, first), -EINVAL);
	assert_int_equal(destroy(rig, UVERBS_OBJECT_COUNTERS, 1000000), -ENOENT);
}

static void
test_files_do_not_see_each_other(void **state)
{
	struct rig *rig = *state;
	const struct mlx5_ib_alloc_ucontext_req_v2 request = {
		.total_num_bfregs = 16,
		.max_cqe_version = 1,
		.lib_caps = MLX5_LIB_CAP_DYN_UAR,
	};
	uint32_t counters = create_counters(rig);
	struct shca_file *mine = rig->file;
	int fd;

	rig->file = rig_open(rig, &fd);
	assert_int_equal(rig_get_context(rig->file, &request, sizeof(request), NULL), 0);
	assert_int_equal(destroy(rig, UVERBS_OBJECT_COUNTERS, counters), -ENOENT);
	assert_int_equal(create_counters(rig), 0);
	shca_file_close(rig->file);
	close(fd);
	rig->file = mine;
	assert_int_equal(destroy(rig, UVERBS_OBJECT_COUNTERS, counters), 0);
}

/** A catch-all flow to @p qp. */
static uint32_t
create_flow(struct rig *rig, uint32_t qp)
{
	const struct ib_uverbs_create_flow request = {
		.qp_handle = qp,
		.flow_attr = { .port = 1 },
	};
	struct ib_uverbs_create_flow_resp response;
	const struct command command = {
		.number = EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_FLOW,
		.in = &request,
		.in_length = sizeof(request),
		.out = &response,
		.out_length = sizeof(response),
	};

	assert_int_equal(command_run(rig->file, &command), 0);
	return response.flow_handle;
}

static uint32_t
create_mr(struct rig *rig)
{
	const struct ib_uverbs_reg_mr request = {
		.start = (uintptr_t)rig->ring[0],
		.hca_va = (uintptr_t)rig->ring[0],
		.length = 4096,
		.pd_handle = rig->pd,
		.access_flags = 1,
	};
	struct ib_uverbs_reg_mr_resp response;
	const struct command command = {
		.number = IB_USER_VERBS_CMD_REG_MR,
		.in = &request,
		.in_length = sizeof(request),
		.out = &response,
		.out_length = sizeof(response),
	};

	assert_int_equal(command_run(rig->file, &command), 0);
	return response.mr_handle;
}

struct tower {
	uint32_t mr, cq, wq, table, hash_qp, raw_qp, flow;
};

static void
build(struct rig *rig, struct tower *tower)
{
	struct qp_request request;

	tower->mr = create_mr(rig);
	tower->cq = rig_cq(rig);
	tower->wq = rig_wq(rig, tower->cq);
	tower->table = rig_table(rig, &tower->wq, 0);
	tower->hash_qp = rig_hash_qp(rig, tower->table);
	qp_request_init(rig, &request, tower->cq, -1);
	assert_int_equal(qp_request_run(rig, &request), 0);
	tower->raw_qp = request.handle;
	tower->flow = create_flow(rig, tower->hash_qp);
}

/** Destroying out of order is refused and harms nothing; in order it all works. */
static void
test_objects_in_use_are_busy(void **state)
{
	struct rig *rig = *state;
	struct tower tower;

	build(rig, &tower);
	assert_int_equal(destroy(rig, UVERBS_OBJECT_PD, rig->pd), -EBUSY);
	assert_int_equal(destroy(rig, UVERBS_OBJECT_CQ, tower.cq), -EBUSY);
	assert_int_equal(destroy(rig, UVERBS_OBJECT_WQ, tower.wq), -EBUSY);
	assert_int_equal(destroy(rig, UVERBS_OBJECT_RWQ_IND_TBL, tower.table), -EBUSY);
	assert_int_equal(destroy(rig, UVERBS_OBJECT_QP, tower.hash_qp), -EBUSY);

	assert_int_equal(destroy(rig, UVERBS_OBJECT_FLOW, tower.flow), 0);
	assert_int_equal(destroy(rig, UVERBS_OBJECT_QP, tower.hash_qp), 0);
	assert_int_equal(destroy(rig, UVERBS_OBJECT_RWQ_IND_TBL, tower.table), 0);
	assert_int_equal(destroy(rig, UVERBS_OBJECT_WQ, tower.wq), 0);
	assert_int_equal(destroy(rig, UVERBS_OBJECT_CQ, tower.cq), -EBUSY);
	assert_int_equal(destroy(rig, UVERBS_OBJECT_QP, tower.raw_qp), 0);
	assert_int_equal(destroy(rig, UVERBS_OBJECT_CQ, tower.cq), 0);
	assert_int_equal(destroy(rig, UVERBS_OBJECT_PD, rig->pd), -EBUSY);
	assert_int_equal(destroy(rig, UVERBS_OBJECT_MR, tower.mr), 0);
	assert_int_equal(destroy(rig, UVERBS_OBJECT_PD, rig->pd), 0);
}

/** Close takes everything down, however it was stacked; the device is empty then and can go. */
static void
test_close_cleans_up(void **state)
{
	struct rig *rig = *state;
	struct tower tower;

	for (unsigned int i = 0; i < 3; i++) {
		build(rig, &tower);
		/* Another shape: the newest object is used by nothing, the flow by an older QP. */
		create_flow(rig, tower.raw_qp);
		create_counters(rig);
	}
	assert_int_equal(shca_steering_nb_receiving(shca_device_steering(rig->dev)), 6);
	shca_file_close(rig->file);
	assert_int_equal(shca_steering_nb_receiving(shca_device_steering(rig->dev)), 0);
	rig->file = NULL;
}

/** A request that fails after its object was reserved leaves no object, handle or use. */
static void
test_failed_creations_leave_nothing(void **state)
{
	struct rig *rig = *state;
	uint32_t cq = rig_cq(rig);
	struct wq_request wq;
	struct qp_request qp;

	wq_request_init(rig, &wq, cq);
	wq.driver.buf_addr = 0x1000;
	qp_request_init(rig, &qp, cq, -1);
	qp.driver.buf_addr = 0x1000; /* the SQ is made by then */
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(wq_request_run(rig, &wq), -EFAULT);
		assert_int_equal(qp_request_run(rig, &qp), -EFAULT);
	}
	assert_int_equal(destroy(rig, UVERBS_OBJECT_CQ, cq), 0);
	assert_int_equal(destroy(rig, UVERBS_OBJECT_PD, rig->pd), 0);
	assert_int_equal(create_counters(rig), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_handles),
		TEST(test_files_do_not_see_each_other),
		TEST(test_objects_in_use_are_busy),
		TEST(test_close_cleans_up),
		TEST(test_failed_creations_leave_nothing),
	};

	rig_skip_without_privilege();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
