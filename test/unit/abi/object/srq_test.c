/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Shared receive queues: what the ioctl asks for. */
#include <errno.h>

#include "rig.h"

static uint32_t
open_domain(struct rig *rig)
{
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
	return response.xrcd_handle;
}

/** Only who sends to an XRC SRQ needs its number, but its program must ask for it
 * (core/uverbs_std_types_srq.c). */
static void
test_number_of_xrc(void **state)
{
	struct rig *rig = *state;
	const struct mlx5_ib_create_srq driver = {
		.buf_addr = (uintptr_t)rig->ring[1],
		.db_addr = (uintptr_t)rig->dbrec[1],
		.uidx = 5,
	};
	struct mlx5_ib_create_srq_resp response = { 0 };
	uint32_t max_wr, max_sge, number = 0;
	struct frame frame;

	frame_init(&frame, UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE);
	frame_handle(&frame, UVERBS_ATTR_CREATE_SRQ_HANDLE, 0);
	frame_handle(&frame, UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, rig->pd);
	frame_handle(&frame, UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, rig_cq(rig));
	frame_handle(&frame, UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE, open_domain(rig));
	frame_const(&frame, UVERBS_ATTR_CREATE_SRQ_TYPE, IB_UVERBS_SRQT_XRC);
	frame_const(&frame, UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, 0);
	frame_u32(&frame, UVERBS_ATTR_CREATE_SRQ_MAX_WR, 3);
	frame_u32(&frame, UVERBS_ATTR_CREATE_SRQ_MAX_SGE, 1);
	frame_u32(&frame, UVERBS_ATTR_CREATE_SRQ_LIMIT, 0);
	frame_out(&frame, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, &max_wr, sizeof(max_wr));
	frame_out(&frame, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, &max_sge, sizeof(max_sge));
	frame_in(&frame, UVERBS_ATTR_UHW_IN, &driver, sizeof(driver));
	frame_out(&frame, UVERBS_ATTR_UHW_OUT, &response, sizeof(response));
	assert_int_equal(frame_run(rig->file, &frame), -ENOENT);
	frame_out(&frame, UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, &number, sizeof(number));
	assert_int_equal(frame_run(rig->file, &frame), 0);
	assert_int_equal(number, response.srqn);
}

/** What a basic SRQ's driver asks for: bytes that are not there are 0, of the flags one has a
 * meaning, and what is reserved or comes later is 0 (hw/mlx5/srq.c create_srq_user()). */
static void
test_driver_request(void **state)
{
	struct request {
		struct mlx5_ib_create_srq driver;
		uint64_t more;
		uint32_t length;
	};
	/* clang-format off */
	static const struct field_case rows[] = {
		FIELD(struct request, length, sizeof(struct mlx5_ib_create_srq), 0),
		FIELD(struct request, length, 20, 0),
		FIELD(struct request, length, 16, 0),
		FIELD(struct request, length, 8, -EFAULT),
		FIELD(struct request, driver.flags, MLX5_SRQ_FLAG_SIGNATURE, 0),
		FIELD(struct request, driver.flags, 2, 0),
		FIELD(struct request, driver.reserved0, 1, -EINVAL),
		FIELD(struct request, driver.reserved1, 1, -EINVAL),
		FIELD(struct request, more, 1, -EINVAL),
	};
	/* clang-format on */
	struct rig *rig = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct request request = {
			.driver = {
				.buf_addr = (uintptr_t)rig->ring[1],
				.db_addr = (uintptr_t)rig->dbrec[1],
			},
			.length = offsetof(struct request, length),
		};
		struct mlx5_ib_create_srq_resp response;
		uint32_t max_wr, max_sge;
		struct frame frame;

		field_case_apply(&rows[i], &request);
		frame_init(&frame, UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE);
		frame_handle(&frame, UVERBS_ATTR_CREATE_SRQ_HANDLE, 0);
		frame_handle(&frame, UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, rig->pd);
		frame_const(&frame, UVERBS_ATTR_CREATE_SRQ_TYPE, IB_UVERBS_SRQT_BASIC);
		frame_const(&frame, UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, 0);
		frame_u32(&frame, UVERBS_ATTR_CREATE_SRQ_MAX_WR, 3);
		frame_u32(&frame, UVERBS_ATTR_CREATE_SRQ_MAX_SGE, 1);
		frame_u32(&frame, UVERBS_ATTR_CREATE_SRQ_LIMIT, 0);
		frame_out(&frame, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, &max_wr, sizeof(max_wr));
		frame_out(&frame, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, &max_sge, sizeof(max_sge));
		frame_in(&frame, UVERBS_ATTR_UHW_IN, &request, request.length);
		frame_out(&frame, UVERBS_ATTR_UHW_OUT, &response, sizeof(response));
		field_case_check(&rows[i], frame_run(rig->file, &frame));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_number_of_xrc, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_driver_request, rig_setup, rig_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
