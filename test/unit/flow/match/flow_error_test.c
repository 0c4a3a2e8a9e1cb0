/* SPDX-License-Identifier: BSD-3-Clause */
/* Refusals: the content of rte_flow_error. */

#include <errno.h>
#include <string.h>

#include <rte_common.h>

#include "fake_verbs.h"
#include "flow/match/flow_error.h"

/* clang-format off */
static const struct {
	int code;
	const char *message;
} kernel_rows[] = {
	{ EEXIST, "the rule was refused (errno 17): a rule with the same match" },
	{ ENOSPC, "the rule was refused (errno 28): the device's table for this priority is full" },
	{ ENOMEM, "the rule was refused (errno 12): the device or the kernel is out of memory" },
	{ EAGAIN, "the rule was refused (errno 11): the device is out of resources" },
	{ EINVAL, "the rule was refused (errno 22): the device finds the rule contradictory" },
	{ EOPNOTSUPP, "the rule was refused (errno 95): the device or the kernel cannot do this" },
	{ EPERM, "the rule was refused (errno 1): the process lacks CAP_NET_RAW; start it" },
	{ EACCES, "the rule was refused (errno 13): the process may not do this" },
	{ EINTR, "the rule was refused (errno 4): a signal came in between; try again" },
	{ ENOENT, "the rule was refused (errno 2): an object that the rule needs is gone" },
	{ ETIMEDOUT, "the rule was refused (errno 110): the device does not answer; reset" },
	{ EBUSY, "the rule was refused (errno 16): the device object is in use" },
	{ ENODEV, "the rule was refused (errno 19): an Rx queue it names is not started" },
	{ EIO, "the rule was refused (errno 5): the device is gone" },
	{ EDOM, "the rule was refused (errno 33): Numerical argument out of domain" },
};
/* clang-format on */

static void
test_kernel(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(kernel_rows); i++) {
		struct rte_flow_error error = { .message = NULL };
		const size_t size = strlen(kernel_rows[i].message);

		assert_int_equal(mdv_flow_error_kernel(&error, kernel_rows[i].code, "the rule"),
			-kernel_rows[i].code);
		assert_int_equal(error.type, RTE_FLOW_ERROR_TYPE_UNSPECIFIED);
		if (strncmp(error.message, kernel_rows[i].message, size) != 0)
			fail_msg("errno %d: %s", kernel_rows[i].code, error.message);
	}
}

/** "Not possible; possible": every advice ends with something to do. */
static void
test_advice(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(kernel_rows) - 1; i++) {
		const char *advice = mdv_flow_error_advice(kernel_rows[i].code);

		assert_string_not_equal(advice, strerror(kernel_rows[i].code));
		if (strchr(advice, ';') == NULL)
			fail_msg("errno %d: %s", kernel_rows[i].code, advice);
	}
}

/** Without an rte_flow_error the answer is the same. */
static void
test_no_error_wanted(void **state)
{
	(void)state;
	assert_int_equal(
		mdv_flow_error_set(NULL, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM, NULL, "no"), -EINVAL);
	assert_int_equal(mdv_flow_error_kernel(NULL, ENOSPC, "the rule"), -ENOSPC);
}

/** A long message is cut and does not overflow. */
static void
test_long(void **state)
{
	struct rte_flow_error error = { .message = NULL };
	char text[2000];

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(
		mdv_flow_error_set(&error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ATTR, text, "%s", text),
		-ENOTSUP);
	assert_ptr_equal(error.cause, text);
	assert_uint_in_range(strlen(error.message), 400, sizeof(text) - 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_advice),
		cmocka_unit_test(test_no_error_wanted),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
