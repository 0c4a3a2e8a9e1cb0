/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each call for memory or a descriptor fails once in each creation: it is refused with that errno,
 * its handle is free again, and it succeeds the next time.
 */
#include <endian.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rig.h"

/** Calls until the one that fails; negative: none does. */
static int countdown = -1;
/** Errno of the one that failed; 0: none has. */
static int failure;

static bool
fails(int error)
{
	if (countdown < 0 || countdown-- > 0)
		return false;
	failure = error;
	errno = error;
	return true;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t nb, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__real_mmap64(void *at, size_t length, int prot, int flags, int fd, off_t offset);
int __real_socketpair(int domain, int type, int protocol, int fds[2]);
int __real_memfd_create(const char *name, unsigned int flags);
int __real_ftruncate64(int fd, off_t length);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t nb, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_mmap64(void *at, size_t length, int prot, int flags, int fd, off_t offset);
int __wrap_socketpair(int domain, int type, int protocol, int fds[2]);
int __wrap_memfd_create(const char *name, unsigned int flags);
int __wrap_ftruncate64(int fd, off_t length);

void *
__wrap_malloc(size_t size)
{
	return fails(ENOMEM) ? NULL : __real_malloc(size);
}

void *
__wrap_calloc(size_t nb, size_t size)
{
	return fails(ENOMEM) ? NULL : __real_calloc(nb, size);
}

void *
__wrap_realloc(void *old, size_t size)
{
	return fails(ENOMEM) ? NULL : __real_realloc(old, size);
}

void *
__wrap_aligned_alloc(size_t alignment, size_t size)
{
	return fails(ENOMEM) ? NULL : __real_aligned_alloc(alignment, size);
}

void *
__wrap_mmap64(void *at, size_t length, int prot, int flags, int fd, off_t offset)
{
	return fails(ENOMEM) ? MAP_FAILED : __real_mmap64(at, length, prot, flags, fd, offset);
}

int
__wrap_socketpair(int domain, int type, int protocol, int fds[2])
{
	return fails(EMFILE) ? -1 : __real_socketpair(domain, type, protocol, fds);
}

int
__wrap_memfd_create(const char *name, unsigned int flags)
{
	return fails(ENFILE) ? -1 : __real_memfd_create(name, flags);
}

int
__wrap_ftruncate64(int fd, off_t length)
{
	return fails(ENOSPC) ? -1 : __real_ftruncate64(fd, length);
}

/** Handles of what was created so far. */
static uint32_t cq, wq, table, hash_qp, counters, action, dm;

static int
open_file(struct rig *rig)
{
	struct shca_file *file;
	int fd, ret = shca_file_open(rig->dev, true, &file, &fd);

	if (ret != 0)
		return ret;
	shca_file_close(file);
	return close(fd);
}

static int
create_channel(struct rig *rig)
{
	struct ib_uverbs_create_comp_channel_resp response;
	const struct ib_uverbs_create_comp_channel request = { 0 };
	const struct command command = {
		.number = IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL,
		.in = &request,
		.in_length = sizeof(request),
		.out = &response,
		.out_length = sizeof(response),
	};
	int ret = command_run(rig->file, &command);

	if (ret == 0)
		close((int)response.fd);
	return ret;
}

static int
create_async(struct rig *rig)
{
	struct frame frame;
	int ret;

	frame_init(&frame, UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC);
	frame_handle(&frame, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, 0);
	ret = frame_run(rig->file, &frame);
	if (ret == 0)
		close((int)frame.attrs[0].data_s64);
	return ret;
}

static int
create_cq(struct rig *rig)
{
	struct cq_request request;
	int ret;

	cq_request_init(rig, &request);
	request.driver.cqe_comp_en = 1;
	request.driver.cqe_comp_res_format = 1;
	ret = cq_request_run(rig, &request);
	cq = request.handle;
	return ret;
}

static int
create_wq(struct rig *rig)
{
	struct wq_request request;
	int ret;

	wq_request_init(rig, &request, cq);
	ret = wq_request_run(rig, &request);
	wq = request.handle;
	return ret;
}

static int
create_table(struct rig *rig)
{
	return rig_create_table(rig, 0, 0, &wq, 1, &table);
}

static int
create_hash_qp(struct rig *rig)
{
	struct qp_request request;
	int ret;

	qp_request_init(rig, &request, -1, table);
	ret = qp_request_run(rig, &request);
	hash_qp = request.handle;
	return ret;
}

static int
create_raw_qp(struct rig *rig)
{
	struct qp_request request;

	qp_request_init(rig, &request, cq, -1);
	return qp_request_run(rig, &request);
}

static int
create_mr(struct rig *rig)
{
	struct ib_uverbs_reg_mr_resp response;
	const struct ib_uverbs_reg_mr request = {
		.start = (uintptr_t)rig->ring[0],
		.hca_va = (uintptr_t)rig->ring[0],
		.length = 4096,
		.pd_handle = rig->pd,
		.access_flags = IB_UVERBS_ACCESS_LOCAL_WRITE,
	};
	const struct command command = {
		.number = IB_USER_VERBS_CMD_REG_MR,
		.in = &request,
		.in_length = sizeof(request),
		.out = &response,
		.out_length = sizeof(response),
	};

	return command_run(rig->file, &command);
}

static int
create_dm(struct rig *rig)
{
	uint64_t offset;
	uint16_t page;
	struct frame frame;
	int ret;

	frame_init(&frame, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC);
	frame_handle(&frame, UVERBS_ATTR_ALLOC_DM_HANDLE, 0);
	frame_const(&frame, UVERBS_ATTR_ALLOC_DM_LENGTH, 4096);
	frame_u32(&frame, UVERBS_ATTR_ALLOC_DM_ALIGNMENT, 0);
	frame_out(&frame, MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET, &offset, sizeof(offset));
	frame_out(&frame, MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX, &page, sizeof(page));
	ret = frame_run(rig->file, &frame);
	dm = (uint32_t)frame.attrs[0].data;
	return ret;
}

static int
create_dm_mr(struct rig *rig)
{
	uint32_t lkey, rkey;
	struct frame frame;

	frame_init(&frame, UVERBS_OBJECT_MR, UVERBS_METHOD_DM_MR_REG);
	frame_handle(&frame, UVERBS_ATTR_REG_DM_MR_HANDLE, 0);
	frame_const(&frame, UVERBS_ATTR_REG_DM_MR_OFFSET, 64);
	frame_const(&frame, UVERBS_ATTR_REG_DM_MR_LENGTH, 128);
	frame_handle(&frame, UVERBS_ATTR_REG_DM_MR_PD_HANDLE, rig->pd);
	frame_u32(&frame, UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS,
		IB_UVERBS_ACCESS_ZERO_BASED | IB_UVERBS_ACCESS_LOCAL_WRITE);
	frame_handle(&frame, UVERBS_ATTR_REG_DM_MR_DM_HANDLE, dm);
	frame_out(&frame, UVERBS_ATTR_REG_DM_MR_RESP_LKEY, &lkey, sizeof(lkey));
	frame_out(&frame, UVERBS_ATTR_REG_DM_MR_RESP_RKEY, &rkey, sizeof(rkey));
	return frame_run(rig->file, &frame);
}

static int
create_counters(struct rig *rig)
{
	struct frame frame;
	int ret;

	frame_init(&frame, UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_CREATE);
	frame_handle(&frame, UVERBS_ATTR_CREATE_COUNTERS_HANDLE, 0);
	ret = frame_run(rig->file, &frame);
	counters = (uint32_t)frame.attrs[0].data;
	return ret;
}

static int
create_action(struct rig *rig)
{
	const uint64_t set_ttl = htobe64(UINT64_C(0x100a000800000001));
	struct frame frame;
	int ret;

	frame_init(
		&frame, UVERBS_OBJECT_FLOW_ACTION, MLX5_IB_METHOD_FLOW_ACTION_CREATE_MODIFY_HEADER);
	frame_handle(&frame, MLX5_IB_ATTR_CREATE_MODIFY_HEADER_HANDLE, 0);
	frame_in(&frame, MLX5_IB_ATTR_CREATE_MODIFY_HEADER_ACTIONS_PRM, &set_ttl, sizeof(set_ttl));
	frame_const(&frame, MLX5_IB_ATTR_CREATE_MODIFY_HEADER_FT_TYPE, 0);
	ret = frame_run(rig->file, &frame);
	action = (uint32_t)frame.attrs[0].data;
	return ret;
}

/** A flow that counts and changes its packets, and describes the counters. */
static int
create_flow(struct rig *rig)
{
	static const struct mlx5_ib_flow_counters_desc point = { 0, 0 };
	const struct {
		struct ib_uverbs_create_flow core;
		struct ib_uverbs_flow_spec_eth eth;
		struct ib_uverbs_flow_spec_action_handle action;
		struct ib_uverbs_flow_spec_action_count count;
	} request = {
		.core = {
			.qp_handle = hash_qp,
			.flow_attr = {
				.size = sizeof(request) - sizeof(request.core),
				.num_of_specs = 3,
				.port = 1,
			},
		},
		.eth = {
			.type = 0x20,
			.size = sizeof(request.eth),
			.val = { .ether_type = htons(0x800) },
			.mask = { .ether_type = 0xffff },
		},
		.action = { .type = 0x1002, .size = sizeof(request.action), .handle = action },
		.count = { .type = 0x1003, .size = sizeof(request.count), .handle = counters },
	};
	const struct {
		struct mlx5_ib_create_flow header;
		struct mlx5_ib_flow_counters_data data;
	} driver = {
		.header.ncounters_data = 1,
		.data = { .counters_data = (uintptr_t)&point, .ncounters = 1 },
	};
	struct ib_uverbs_create_flow_resp response;
	const struct command command = {
		.number = EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_FLOW,
		.in = &request,
		.in_length = sizeof(request),
		.out = &response,
		.out_length = sizeof(response),
		.driver_in = &driver,
		.driver_in_length = sizeof(driver),
	};

	return command_run(rig->file, &command);
}

static int
read_counters(struct rig *rig)
{
	uint64_t value;
	struct frame frame;

	frame_init(&frame, UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_READ);
	frame_handle(&frame, UVERBS_ATTR_READ_COUNTERS_HANDLE, counters);
	frame_out(&frame, UVERBS_ATTR_READ_COUNTERS_BUFF, &value, sizeof(value));
	return frame_run(rig->file, &frame);
}

/** @return the handle that the next object gets: the lowest that is free. */
static uint32_t
next_handle(struct rig *rig)
{
	struct frame frame;
	uint32_t handle;

	frame_init(&frame, UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_CREATE);
	frame_handle(&frame, UVERBS_ATTR_CREATE_COUNTERS_HANDLE, 0);
	assert_int_equal(frame_run(rig->file, &frame), 0);
	handle = (uint32_t)frame.attrs[0].data;
	assert_int_equal(
		frame_handle_only(rig->file, UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_DESTROY,
			UVERBS_ATTR_DESTROY_COUNTERS_HANDLE, handle),
		0);
	return handle;
}

static const struct {
	const char *name;
	int (*run)(struct rig *rig);
	int least; /* failures there are at least */
} operations[] = {
	{ "file", open_file, 5 },
	{ "channel", create_channel, 2 },
	{ "async", create_async, 2 },
	{ "cq", create_cq, 3 },
	{ "wq", create_wq, 2 },
	{ "table", create_table, 2 },
	{ "hash qp", create_hash_qp, 2 },
	{ "raw qp", create_raw_qp, 3 },
	{ "mr", create_mr, 2 },
	{ "dm", create_dm, 1 },
	{ "dm mr", create_dm_mr, 2 },
	{ "counters", create_counters, 1 },
	{ "action", create_action, 1 },
	{ "flow", create_flow, 5 },
	{ "read counters", read_counters, 1 },
};

static void
each_call_fails(void **state)
{
	struct rig *rig = *state;

	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		const uint32_t next = next_handle(rig);
		int nb_failures = -1, ret;

		do {
			nb_failures++;
			failure = 0;
			countdown = nb_failures;
			ret = operations[i].run(rig);
			countdown = -1;
			if (ret != -failure)
				fail_msg("%s, failure %d: %d instead of %d", operations[i].name,
					nb_failures, ret, -failure);
			if (ret != 0 && next_handle(rig) != next)
				fail_msg("%s, failure %d: a handle is lost", operations[i].name,
					nb_failures);
		} while (failure != 0);
		if (nb_failures < operations[i].least)
			fail_msg("%s: only %d failures", operations[i].name, nb_failures);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_call_fails, rig_setup, rig_teardown),
	};

	rig_skip_without_privilege();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
