/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages: level, one line each, never too long, errno untouched. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/log.h"

/** What @p level prints for @p text on standard error. */
static void
capture(enum shca_log_level level, const char *text, char *got, size_t size)
{
	int ends[2];
	int saved = dup(STDERR_FILENO);
	ssize_t nb_read;

	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	assert_int_equal(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
	errno = 77;
	shca_log(level, "%s", text);
	assert_int_equal(errno, 77);
	dup2(saved, STDERR_FILENO);
	close(saved);
	nb_read = read(ends[0], got, size - 1);
	got[nb_read > 0 ? nb_read : 0] = '\0';
	close(ends[0]);
	close(ends[1]);
}

static void
levels(void **state)
{
	char got[2048];

	(void)state;
	capture(SHCA_LOG_ERROR, "one", got, sizeof(got));
	assert_string_equal(got, "softhca: one\n");
	capture(SHCA_LOG_INFO, "two", got, sizeof(got));
	assert_string_equal(got, "softhca: two\n");
	capture(SHCA_LOG_DEBUG, "three", got, sizeof(got));
	assert_string_equal(got, "");
}

static void
long_lines_are_cut(void **state)
{
	char text[3000], got[4096];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	capture(SHCA_LOG_ERROR, text, got, sizeof(got));
	assert_uint_in_range(strlen(got), 1000, 1024);
	assert_ptr_equal(strchr(got, '\n'), got + strlen(got) - 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels),
		cmocka_unit_test(long_lines_are_cut),
	};

	setenv("SOFTHCA_LOG", "info", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
