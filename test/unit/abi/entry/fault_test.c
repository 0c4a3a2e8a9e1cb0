/* SPDX-License-Identifier: BSD-3-Clause */
/* Verbs that fail because a faults file says so: the n-th, without a trace. */
#include <errno.h>
#include <string.h>

#include "fault/faults.h"
#include "fixture.h"

/* The fixture's device has no faults: give it some for the rest of the test. */
static struct shca_faults *
give(struct fixture *fix, const char *text)
{
	struct shca_device_conf *conf = (void *)(uintptr_t)shca_device_conf(fix->dev);
	struct shca_faults *faults;

	assert_int_equal(shca_faults_make(text, 1, &faults), 0);
	conf->faults = faults;
	return faults;
}

static void
take_back(struct fixture *fix)
{
	struct shca_device_conf *conf = (void *)(uintptr_t)shca_device_conf(fix->dev);

	shca_faults_close(conf->faults);
	conf->faults = NULL;
}

static void
test_method(void **state)
{
	struct fixture *fix = *state;
	struct shca_faults *faults = give(fix, "verb enomem CREATE_CQ at 2");
	struct cq_request first, failed, next;

	cq_request_init(fix, &first);
	assert_int_equal(cq_request_run(fix, &first), 0);
	cq_request_init(fix, &failed);
	failed.driver.buf_addr = (uintptr_t)fix->ring[1];
	assert_int_equal(cq_request_run(fix, &failed), -ENOMEM);
	assert_int_equal(faults->applied[0], 1);
	/* Nothing of it is left: the next gets its number. */
	cq_request_init(fix, &next);
	next.driver.buf_addr = (uintptr_t)fix->ring[1];
	assert_int_equal(cq_request_run(fix, &next), 0);
	assert_int_equal(next.cqn, first.cqn + 1);
	assert_int_equal(next.handle, first.handle + 1);
	assert_int_equal(faults->applied[0], 1);
	take_back(fix);
}

/* Destruction that fails destroys nothing. A request that is no request is not counted. */
static void
test_destruction(void **state)
{
	struct fixture *fix = *state;
	struct shca_faults *faults = give(fix, "verb eio DEALLOC_PD at 1");

	assert_int_equal(frame_handle_only(fix->file, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY,
				 UVERBS_ATTR_DESTROY_PD_HANDLE, fix->pd + 1000),
		-ENOENT);
	assert_int_equal(faults->applied[0], 0);
	assert_int_equal(frame_handle_only(fix->file, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY,
				 UVERBS_ATTR_DESTROY_PD_HANDLE, fix->pd),
		-EIO);
	assert_non_null(fix_object(fix, fix->pd));
	assert_int_equal(frame_handle_only(fix->file, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY,
				 UVERBS_ATTR_DESTROY_PD_HANDLE, fix->pd),
		0);
	assert_int_equal(faults->applied[0], 1);
	take_back(fix);
}

static void
test_command(void **state)
{
	struct fixture *fix = *state;
	struct ib_uverbs_alloc_pd_resp response;
	struct ib_uverbs_alloc_pd request = { 0 };
	struct mlx5_ib_alloc_pd_resp driver_response;
	struct command command = {
		.number = IB_USER_VERBS_CMD_ALLOC_PD,
		.in = &request,
		.in_length = sizeof(request),
		.out = &response,
		.out_length = sizeof(response),
		.driver_out = &driver_response,
		.driver_out_length = sizeof(driver_response),
	};
	struct shca_faults *faults = give(fix, "verb eagain ALLOC_PD every 2");

	assert_int_equal(command_run(fix->file, &command), 0);
	/* libibverbs asks with nothing first: not a call. */
	command.in_length = 0;
	assert_int_equal(command_run(fix->file, &command), -ENOSPC);
	command.in_length = sizeof(request);
	assert_int_equal(command_run(fix->file, &command), -EAGAIN);
	assert_int_equal(command_run(fix->file, &command), 0);
	assert_int_equal(command_run(fix->file, &command), -EAGAIN);
	assert_int_equal(faults->applied[0], 2);
	take_back(fix);
}

/* "any" is each but destruction. */
static void
test_any(void **state)
{
	struct fixture *fix = *state;
	struct shca_faults *faults;
	struct cq_request request;

	cq_request_init(fix, &request);
	assert_int_equal(cq_request_run(fix, &request), 0);
	faults = give(fix, "verb ebusy any from 1");
	request.driver.buf_addr = (uintptr_t)fix->ring[1];
	assert_int_equal(cq_request_run(fix, &request), -EBUSY);
	assert_int_equal(fix_modify_qp(fix, 99, 1, 0), -EBUSY);
	assert_int_equal(faults->applied[0], 2);
	take_back(fix);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_method, fix_setup, fix_teardown),
		cmocka_unit_test_setup_teardown(test_destruction, fix_setup, fix_teardown),
		cmocka_unit_test_setup_teardown(test_command, fix_setup, fix_teardown),
		cmocka_unit_test_setup_teardown(test_any, fix_setup, fix_teardown),
	};

	fix_skip_without_privilege();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
