/* SPDX-License-Identifier: BSD-3-Clause */
/* The frame: header, attributes, their order of checks; INVOKE_WRITE's sizes. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rig.h"

/** A QUERY_PORT that works; each row spoils it. */
static void
init_query(struct frame *frame, struct ib_uverbs_query_port_resp_ex *response)
{
	frame_init(frame, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT);
	frame_const(frame, UVERBS_ATTR_QUERY_PORT_PORT_NUM, 1);
	frame_out(frame, UVERBS_ATTR_QUERY_PORT_RESP, response, sizeof(*response));
}

/* clang-format off */
static const struct field_case frame_cases[] = {
	FIELD(struct frame, header.object_id, UVERBS_OBJECT_DEVICE, 0),
	FIELD(struct frame, header.length, 24, -EINVAL),
	FIELD(struct frame, header.length, 4112, -EINVAL),
	FIELD(struct frame, header.num_attrs, 3, -EINVAL),
	FIELD(struct frame, header.num_attrs, 0, -EINVAL),
	FIELD(struct frame, header.reserved1, 1, -EPROTONOSUPPORT),
	FIELD(struct frame, header.reserved2, 1, -EPROTONOSUPPORT),
	FIELD(struct frame, header.driver_id, 2, -EINVAL),
	FIELD(struct frame, header.driver_id, 0, -EINVAL),
	FIELD(struct frame, header.object_id, UVERBS_OBJECT_SRQ, -EPROTONOSUPPORT),
	FIELD(struct frame, header.object_id, UVERBS_OBJECT_DM, -EPROTONOSUPPORT),
	FIELD(struct frame, header.object_id, MLX5_IB_OBJECT_DEVX, -EPROTONOSUPPORT),
	FIELD(struct frame, header.object_id, MLX5_IB_OBJECT_FLOW_MATCHER, -EPROTONOSUPPORT),
	FIELD(struct frame, header.object_id, 0xffff, -EPROTONOSUPPORT),
	FIELD(struct frame, header.method_id, UVERBS_METHOD_QUERY_GID_ENTRY + 1, -EPROTONOSUPPORT),
	FIELD(struct frame, header.method_id, MLX5_IB_METHOD_QUERY_PORT, -EPROTONOSUPPORT),
	/* Unknown and mandatory; unknown and optional, which leaves a mandatory one missing. */
	FIELD(struct frame, attrs[1].attr_id, 99, -EPROTONOSUPPORT),
	FIELD(struct frame, attrs[1].attr_id, UVERBS_ATTR_QUERY_PORT_PORT_NUM, -EINVAL),
	FIELD(struct frame, attrs[0].len, 4, -EINVAL),
	FIELD(struct frame, attrs[0].len, 16, -EINVAL),
	FIELD(struct frame, attrs[1].len, 40, -EINVAL),
	FIELD(struct frame, attrs[0].attr_data.reserved, 1, -EINVAL),
	FIELD(struct frame, attrs[1].attr_data.reserved, 1, -EINVAL),
	FIELD(struct frame, attrs[1].data, 0, -EFAULT),
	FIELD(struct frame, attrs[1].data, 64, -EFAULT),
	FIELD(struct frame, attrs[0].data, 0, -EINVAL),
	FIELD(struct frame, attrs[0].data, 2, -EINVAL),
	FIELD(struct frame, attrs[0].data, UINT64_C(1) << 32 | 1, -EINVAL),
};
/* clang-format on */

static void
test_frame_is_checked(void **state)
{
	struct rig *rig = *state;

	for (size_t i = 0; i < sizeof(frame_cases) / sizeof(frame_cases[0]); i++) {
		struct ib_uverbs_query_port_resp_ex response;
		struct frame frame;

		init_query(&frame, &response);
		field_case_apply(&frame_cases[i], &frame);
		field_case_check(&frame_cases[i], frame_run(rig->file, &frame));
	}
}

static void
test_other_requests_are_no_ioctls_of_ours(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(shca_file_ioctl(rig->file, RDMA_VERBS_IOCTL + 1, NULL), -ENOTTY);
	assert_int_equal(shca_file_ioctl(rig->file, RDMA_VERBS_IOCTL, NULL), -EFAULT);
	assert_int_equal(shca_file_ioctl(rig->file, RDMA_VERBS_IOCTL, (void *)16), -EFAULT);
}

/** The header fits the last mapped page, the attributes do not. */
static void
test_attributes_beyond_the_mapping(void **state)
{
	struct rig *rig = *state;
	struct ib_uverbs_query_port_resp_ex response;
	struct frame frame;
	uint8_t *pages =
		mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *at = pages + 4096 - sizeof(frame.header) - 8;

	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(munmap(pages + 4096, 4096), 0);
	init_query(&frame, &response);
	memcpy(at, &frame, sizeof(frame.header));
	assert_int_equal(shca_file_ioctl(rig->file, RDMA_VERBS_IOCTL, at), -EFAULT);
	munmap(pages, 4096);
}

static void
test_unknown_optional_attribute_is_skipped(void **state)
{
	struct rig *rig = *state;
	struct ib_uverbs_query_port_resp_ex response;
	struct frame frame;

	init_query(&frame, &response);
	frame_const(&frame, 99, 0)->flags = 0;
	assert_int_equal(frame_run(rig->file, &frame), 0);
}

static void
test_duplicate_attribute(void **state)
{
	struct rig *rig = *state;
	struct ib_uverbs_query_port_resp_ex response;
	struct frame frame;

	init_query(&frame, &response);
	frame_const(&frame, UVERBS_ATTR_QUERY_PORT_PORT_NUM, 1);
	assert_int_equal(frame_run(rig->file, &frame), -EINVAL);
}

/** An answer longer than we know is zeroed to its end, and marked as written. */
static void
test_answers_are_padded_and_marked(void **state)
{
	struct rig *rig = *state;
	uint8_t response[4000];
	struct frame frame;

	memset(response, 0xa5, sizeof(response));
	frame_init(&frame, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT);
	frame_const(&frame, UVERBS_ATTR_QUERY_PORT_PORT_NUM, 1);
	frame_out(&frame, UVERBS_ATTR_QUERY_PORT_RESP, response, sizeof(response) - 1);
	assert_int_equal(frame_run(rig->file, &frame), 0);
	for (size_t i = sizeof(struct ib_uverbs_query_port_resp_ex); i < sizeof(response) - 1; i++)
		assert_int_equal(response[i], 0);
	assert_int_equal(response[sizeof(response) - 1], 0xa5);
	assert_true(frame.attrs[1].flags & UVERBS_ATTR_F_VALID_OUTPUT);
	assert_false(frame.attrs[0].flags & UVERBS_ATTR_F_VALID_OUTPUT);
}

static void
test_nothing_works_without_a_context(void **state)
{
	struct rig *rig = *state;
	struct ib_uverbs_query_device_resp response;
	const struct ib_uverbs_query_device request = { 0 };
	const struct command query = {
		.number = IB_USER_VERBS_CMD_QUERY_DEVICE,
		.in = &request,
		.in_length = sizeof(request),
		.out = &response,
		.out_length = sizeof(response),
	};
	/* The probe that decides whether libibverbs uses ioctl at all. */
	const struct command probe = { .number = IB_USER_VERBS_CMD_QUERY_DEVICE };
	struct frame frame;
	int fd;
	struct shca_file *file = rig_open(rig, &fd);

	assert_int_equal(command_run(file, &probe), -ENOSPC);
	assert_int_equal(command_run(file, &query), -EINVAL);
	frame_init(&frame, UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_CREATE);
	frame_handle(&frame, UVERBS_ATTR_CREATE_COUNTERS_HANDLE, 0);
	assert_int_equal(frame_run(file, &frame), -EINVAL);
	shca_file_close(file);
	assert_int_equal(close(fd), 0);
}

/** Sizes are the first check of a command; one byte less is ENOSPC, whatever the rest. */
static void
test_write_commands_check_sizes(void **state)
{
	static const struct {
		uint32_t number;
		uint16_t in, out;
	} rows[] = {
		{ IB_USER_VERBS_CMD_QUERY_DEVICE, 8, 176 },
		{ IB_USER_VERBS_CMD_ALLOC_PD, 8, 4 },
		{ IB_USER_VERBS_CMD_REG_MR, 40, 12 },
		{ IB_USER_VERBS_CMD_REREG_MR, 48, 8 },
		{ IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, 8, 4 },
		{ IB_USER_VERBS_CMD_RESIZE_CQ, 16, 4 },
		{ IB_USER_VERBS_CMD_QUERY_QP, 16, 128 },
		{ IB_USER_VERBS_CMD_MODIFY_QP, 112, 0 },
		{ EXTENDED | IB_USER_VERBS_EX_CMD_QUERY_DEVICE, 8, 184 },
		{ EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_QP, 112, 8 },
		{ EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_FLOW, 24, 8 },
		{ EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_WQ, 16, 0 },
		{ EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL, 8, 16 },
		{ EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_CQ, 16, 0 },
	};
	struct rig *rig = *state;
	const uint8_t in[128] = { 0 };
	uint8_t out[256];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct command command = {
			.number = rows[i].number,
			.in = in,
			.in_length = rows[i].in - 1u,
			.out = out,
			.out_length = rows[i].out,
		};

		assert_int_equal(command_run(rig->file, &command), -ENOSPC);
		if (rows[i].out == 0)
			continue;
		command.in_length = rows[i].in;
		command.out_length = rows[i].out - 1u;
		assert_int_equal(command_run(rig->file, &command), -ENOSPC);
	}
}

static void
test_unknown_write_commands(void **state)
{
	static const uint32_t numbers[] = { IB_USER_VERBS_CMD_REG_SMR, IB_USER_VERBS_CMD_POLL_CQ,
		IB_USER_VERBS_CMD_PEEK_CQ, EXTENDED | 63, IB_USER_VERBS_CMD_COMMAND_MASK };
	struct rig *rig = *state;
	const uint8_t in[128] = { 0 };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		const struct command command = { numbers[i], in, sizeof(in), NULL, 0, NULL, 0, NULL,
			0 };

		assert_int_equal(command_run(rig->file, &command), -EOPNOTSUPP);
	}
}

/** Fields of 64 bits: a handle of no object, and what is no handle or descriptor at all
 * (core/rdma_core.c lookup_get_idr_uobject(), lookup_get_fd_uobject()). */
static void
test_wide_numbers(void **state)
{
	static const struct {
		int64_t pd, channel;
		int expected;
	} rows[] = {
		{ INT64_C(1) << 32, -1, -ENOENT },
		{ INT64_MAX, -1, -ENOENT },
		{ INT64_MIN, -1, -EINVAL },
		{ -1, -1, -EINVAL },
		{ 0, 12345, -EBADF },
		{ 0, INT64_C(1) << 32, -EINVAL },
	};
	struct rig *rig = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cq_request request;
		uint32_t pdn;
		struct frame frame;

		cq_request_init(rig, &request);
		request.channel = rows[i].channel;
		if (rows[i].pd == 0) {
			assert_int_equal(cq_request_run(rig, &request), rows[i].expected);
			continue;
		}
		frame_init(&frame, UVERBS_OBJECT_PD, MLX5_IB_METHOD_PD_QUERY);
		frame_handle(&frame, MLX5_IB_ATTR_QUERY_PD_HANDLE, rows[i].pd);
		frame_out(&frame, MLX5_IB_ATTR_QUERY_PD_RESP_PDN, &pdn, sizeof(pdn));
		assert_int_equal(frame_run(rig->file, &frame), rows[i].expected);
	}
}

/** A handle that cannot be announced is not left behind. */
static void
test_unwritable_frame_creates_nothing(void **state)
{
	struct rig *rig = *state;
	struct frame *frame =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t nb_before = rig->file->nb_objects[SHCA_LIMIT_COUNTERS];

	assert_ptr_not_equal(frame, MAP_FAILED);
	frame_init(frame, UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_CREATE);
	frame_handle(frame, UVERBS_ATTR_CREATE_COUNTERS_HANDLE, 0);
	assert_int_equal(mprotect(frame, 4096, PROT_READ), 0);
	assert_int_equal(frame_run(rig->file, frame), -EFAULT);
	assert_int_equal(rig->file->nb_objects[SHCA_LIMIT_COUNTERS], nb_before);
	munmap(frame, 4096);
}

/** Of a number, as the kernel's UVERBS_ATTR_TYPE() has it: no more than its bytes. */
static void
test_answer_of_another_size(void **state)
{
	static const struct {
		uint16_t length;
		int expected;
	} rows[] = { { 2, -EINVAL }, { 8, -EINVAL }, { 4, 0 } };
	struct rig *rig = *state;
	uint64_t pdn;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct frame frame;

		frame_init(&frame, UVERBS_OBJECT_PD, MLX5_IB_METHOD_PD_QUERY);
		frame_handle(&frame, MLX5_IB_ATTR_QUERY_PD_HANDLE, rig->pd);
		frame_out(&frame, MLX5_IB_ATTR_QUERY_PD_RESP_PDN, &pdn, rows[i].length);
		assert_int_equal(frame_run(rig->file, &frame), rows[i].expected);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_frame_is_checked, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(
			test_other_requests_are_no_ioctls_of_ours, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(
			test_attributes_beyond_the_mapping, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(
			test_unknown_optional_attribute_is_skipped, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_duplicate_attribute, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(
			test_answers_are_padded_and_marked, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(
			test_nothing_works_without_a_context, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(
			test_write_commands_check_sizes, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(
			test_unknown_write_commands, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_wide_numbers, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(
			test_answer_of_another_size, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(
			test_unwritable_frame_creates_nothing, rig_setup, rig_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
