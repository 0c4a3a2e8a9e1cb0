/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages: level, one line each, never too long, errno untouched. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

/** @return the bytes of a file, which @p bytes has room for. */
static size_t
slurp(const char *path, char *bytes, size_t size)
{
	const int fd = open(path, O_RDONLY);
	ssize_t nb;

	assert_true(fd >= 0);
	nb = read(fd, bytes, size);
	assert_true(nb >= 0 && (size_t)nb < size);
	bytes[nb] = '\0';
	close(fd);
	return (size_t)nb;
}

/** A file of messages has an end, and the newest of them. */
static void
a_file_does_not_grow(void **state)
{
	char dir[] = "/tmp/log-XXXXXX", path[64], old[96], bytes[2048], word[32];
	const int saved = dup(STDERR_FILENO);

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/log", dir);
	snprintf(old, sizeof(old), "%s.old", path);
	assert_int_equal(shca_log_keep("/nobody/has/this", 1000), -ENOENT);
	assert_int_equal(shca_log_keep(path, 1000), 0);
	for (unsigned int i = 0; i < 500; i++) {
		shca_log(SHCA_LOG_ERROR, "message %u", i);
		assert_uint_in_range(slurp(path, bytes, sizeof(bytes)), 1, 1000);
		snprintf(word, sizeof(word), "message %u\n", i);
		assert_string_equal(bytes + strlen(bytes) - strlen(word), word);
	}
	assert_uint_in_range(slurp(old, bytes, sizeof(bytes)), 900, 1000);
	/* A file that has gone cannot be kept. */
	unlink(path);
	for (unsigned int i = 0; i < 500; i++)
		shca_log(SHCA_LOG_ERROR, "message %u", i);
	assert_uint_in_range(slurp(path, bytes, sizeof(bytes)), 1, 1000);
	dup2(saved, STDERR_FILENO);
	close(saved);
	unlink(path);
	unlink(old);
	rmdir(dir);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels),
		cmocka_unit_test(long_lines_are_cut),
		cmocka_unit_test(a_file_does_not_grow),
	};

	setenv("SOFTHCA_LOG", "info", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
