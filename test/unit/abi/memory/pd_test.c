/* SPDX-License-Identifier: BSD-3-Clause */
/* Protection domains; and channels and domains whose answer cannot be written. */
#include <errno.h>
#include <unistd.h>

#include "rig.h"

/** Run a command with an answer of one word. */
static int
create(struct rig *rig, uint32_t number, uint32_t *answer, uint32_t *driver_answer)
{
	const uint64_t request = 0;
	const struct command command = {
		.number = number,
		.in = &request,
		.in_length = sizeof(request),
		.out = answer,
		.out_length = sizeof(*answer),
		.driver_out = driver_answer,
		.driver_out_length = driver_answer != NULL ? sizeof(*driver_answer) : 0,
	};

	return command_run(rig->file, &command);
}

static int
query(struct rig *rig, uint32_t handle, uint32_t *number)
{
	struct frame frame;

	frame_init(&frame, UVERBS_OBJECT_PD, MLX5_IB_METHOD_PD_QUERY);
	frame_handle(&frame, MLX5_IB_ATTR_QUERY_PD_HANDLE, handle);
	frame_out(&frame, MLX5_IB_ATTR_QUERY_PD_RESP_PDN, number, sizeof(*number));
	return frame_run(rig->file, &frame);
}

/** A program may ask for the number that the device gave a domain. */
static void
numbers(void **state)
{
	struct rig *rig = *state;
	uint32_t handle, number, answer;

	assert_int_equal(create(rig, IB_USER_VERBS_CMD_ALLOC_PD, &handle, &answer), 0);
	assert_int_equal(query(rig, handle, &number), 0);
	assert_int_equal(number, answer);
	assert_int_equal(query(rig, rig->pd, &number), 0);
	assert_int_not_equal(number, answer);
	assert_int_equal(query(rig, 999, &number), -ENOENT);
	assert_int_equal(query(rig, handle, (uint32_t *)8), -EFAULT);
}

/** A domain whose answer cannot be written does not exist: the next one gets its handle. */
static void
lost_answers(void **state)
{
	struct rig *rig = *state;
	uint32_t first, second, number;

	assert_int_equal(create(rig, IB_USER_VERBS_CMD_ALLOC_PD, &first, &number), 0);
	assert_int_equal(create(rig, IB_USER_VERBS_CMD_ALLOC_PD, (uint32_t *)8, &number), -EFAULT);
	assert_int_equal(create(rig, IB_USER_VERBS_CMD_ALLOC_PD, &second, (uint32_t *)8), -EFAULT);
	assert_int_equal(create(rig, IB_USER_VERBS_CMD_ALLOC_PD, &second, &number), 0);
	assert_int_equal(second, first + 1);
}

/** Likewise the descriptor of a channel. */
static void
lost_channel(void **state)
{
	struct rig *rig = *state;
	int before = dup(rig->fd), after;
	uint32_t channel;

	close(before);
	assert_int_equal(
		create(rig, IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, (uint32_t *)8, NULL), -EFAULT);
	/* The device's end stays until the next channel. */
	assert_int_equal(create(rig, IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, &channel, NULL), 0);
	close((int)channel);
	assert_int_equal(create(rig, IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, &channel, NULL), 0);
	close((int)channel);
	after = dup(rig->fd);
	assert_uint_in_range(after, before, before + 1);
	close(after);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(numbers, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(lost_answers, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(lost_channel, rig_setup, rig_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
