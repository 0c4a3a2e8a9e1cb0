/* SPDX-License-Identifier: BSD-3-Clause */
/* Which objects a file has. */
#include <errno.h>
#include <unistd.h>

#include "rig.h"

#define NB_HANDLES 8

struct info {
	uint64_t type;
	uint32_t list_bytes; /**< 0: no list */
	uint32_t nb_bytes;   /**< 0: the number is not asked for */
	uint32_t nb;
	uint32_t handles[NB_HANDLES];
};

static int
run(struct shca_file *file, struct info *info)
{
	struct frame frame;

	frame_init(&frame, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INFO_HANDLES);
	frame_const(&frame, UVERBS_ATTR_INFO_OBJECT_ID, info->type);
	if (info->nb_bytes != 0)
		frame_out(&frame, UVERBS_ATTR_INFO_TOTAL_HANDLES, &info->nb, info->nb_bytes);
	if (info->list_bytes != 0)
		frame_out(&frame, UVERBS_ATTR_INFO_HANDLES_LIST, info->handles, info->list_bytes);
	return frame_run(file, &frame);
}

static struct info
info_of(struct shca_file *file, uint64_t type)
{
	struct info info = {
		.type = type, .list_bytes = sizeof(info.handles), .nb_bytes = 4, .nb = 99
	};

	assert_int_equal(run(file, &info), 0);
	return info;
}

/* clang-format off */
static const struct field_case cases[] = {
	FIELD(struct info, list_bytes, 0, -EINVAL),
	FIELD(struct info, list_bytes, 6, -EINVAL),
	FIELD(struct info, list_bytes, 2, -EINVAL),
	FIELD(struct info, nb_bytes, 8, -EINVAL),
	FIELD(struct info, nb_bytes, 0, -ENOENT),
	FIELD(struct info, type, 0x10000, -EINVAL),
	FIELD(struct info, type, 0xffff, -ENOMSG),
	FIELD(struct info, type, 0xfffe, -ENOENT),
	FIELD(struct info, type, UVERBS_OBJECT_ASYNC_EVENT + 1, -ENOENT),
	FIELD(struct info, type, MLX5_IB_OBJECT_PP, -ENOENT),
	FIELD(struct info, type, MLX5_IB_OBJECT_FLOW_MATCHER, 0),
	FIELD(struct info, type, UVERBS_OBJECT_DEVICE, 0),
};
/* clang-format on */

static void
test_requests(void **state)
{
	struct rig *rig = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct info info = {
			.type = UVERBS_OBJECT_PD, .list_bytes = sizeof(info.handles), .nb_bytes = 4
		};

		field_case_apply(&cases[i], &info);
		field_case_check(&cases[i], run(rig->file, &info));
	}
}

/** Those of its type alone, the newest first, as many as there is room for. */
static void
test_objects(void **state)
{
	struct rig *rig = *state;
	const uint32_t first = rig_cq(rig), second = rig_cq(rig);
	struct info info = info_of(rig->file, UVERBS_OBJECT_CQ);

	assert_int_equal(info.nb, 2);
	assert_int_equal(info.handles[0], second);
	assert_int_equal(info.handles[1], first);
	info = info_of(rig->file, UVERBS_OBJECT_PD);
	assert_int_equal(info.nb, 1);
	assert_int_equal(info.handles[0], rig->pd);
	assert_int_equal(info_of(rig->file, MLX5_IB_OBJECT_UAR).nb, 1);
	assert_int_equal(info_of(rig->file, UVERBS_OBJECT_MR).nb, 0);

	info = (struct info){ .type = UVERBS_OBJECT_CQ, .list_bytes = 4, .nb_bytes = 4 };
	assert_int_equal(run(rig->file, &info), 0);
	assert_int_equal(info.nb, 1);
	assert_int_equal(info.handles[0], second);
	assert_int_equal(info.handles[1], 0);
	assert_int_equal(frame_handle_only(rig->file, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY,
				 UVERBS_ATTR_DESTROY_PD_HANDLE, rig->pd),
		0);
	assert_int_equal(info_of(rig->file, UVERBS_OBJECT_PD).nb, 0);
}

/** Of what the program cannot be told it is told nothing else either. */
static void
test_unwritable_list(void **state)
{
	struct rig *rig = *state;
	struct frame frame;
	uint32_t nb = 99;

	frame_init(&frame, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INFO_HANDLES);
	frame_const(&frame, UVERBS_ATTR_INFO_OBJECT_ID, UVERBS_OBJECT_PD);
	frame_out(&frame, UVERBS_ATTR_INFO_TOTAL_HANDLES, &nb, sizeof(nb));
	frame_out(&frame, UVERBS_ATTR_INFO_HANDLES_LIST, (void *)0x1000, 4);
	assert_int_equal(frame_run(rig->file, &frame), -EFAULT);
	assert_int_equal(nb, 99);
}

/** A descriptor is one until the program closes it. */
static void
test_descriptors(void **state)
{
	struct rig *rig = *state;
	const struct ib_uverbs_create_comp_channel request = { 0 };
	struct ib_uverbs_create_comp_channel_resp response;
	const struct command command = {
		.number = IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL,
		.in = &request,
		.in_length = sizeof(request),
		.out = &response,
		.out_length = sizeof(response),
	};
	struct info info = info_of(rig->file, UVERBS_OBJECT_ASYNC_EVENT);

	assert_int_equal(info.nb, 1);
	assert_int_equal(info.handles[0], rig->async_fd);
	assert_int_equal(info_of(rig->file, UVERBS_OBJECT_COMP_CHANNEL).nb, 0);
	assert_int_equal(command_run(rig->file, &command), 0);
	info = info_of(rig->file, UVERBS_OBJECT_COMP_CHANNEL);
	assert_int_equal(info.nb, 1);
	assert_int_equal(info.handles[0], response.fd);
	close((int)response.fd);
	assert_int_equal(info_of(rig->file, UVERBS_OBJECT_COMP_CHANNEL).nb, 0);
}

/** It asks for no context. */
static void
test_without_context(void **state)
{
	struct rig *rig = *state;
	int fd;
	struct shca_file *file = rig_open(rig, &fd);

	assert_int_equal(info_of(file, UVERBS_OBJECT_PD).nb, 0);
	shca_file_close(file);
	close(fd);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_requests),
		TEST(test_objects),
		TEST(test_unwritable_list),
		TEST(test_descriptors),
		TEST(test_without_context),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
