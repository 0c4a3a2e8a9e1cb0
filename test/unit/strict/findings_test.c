/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings: modes, the counts that processes share, the summary; abort ends the process. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/context.h"
#include "strict/findings.h"

static void
modes(void **state)
{
	enum shca_strict mode = SHCA_STRICT_ABORT;

	(void)state;
	for (unsigned int i = SHCA_STRICT_OFF; i <= SHCA_STRICT_ABORT; i++) {
		assert_int_equal(shca_findings_find_mode(shca_findings_mode_name(i), &mode), 0);
		assert_int_equal(mode, i);
	}
	assert_int_equal(shca_findings_find_mode("very", &mode), -EINVAL);
	assert_int_equal(shca_findings_find_mode("", &mode), -EINVAL);
	assert_int_equal(mode, SHCA_STRICT_ABORT);
	assert_int_equal(shca_findings_find_mode(NULL, &mode), 0);
	assert_int_equal(mode, SHCA_STRICT_REPORT);
}

static void
rows_are_whole(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < SHCA_NB_FINDINGS; i++) {
		assert_non_null(shca_finding_rows[i].name);
		assert_non_null(shca_finding_rows[i].what);
		assert_non_null(shca_finding_rows[i].hardware);
		for (unsigned int j = 0; j < i; j++)
			assert_string_not_equal(
				shca_finding_rows[i].name, shca_finding_rows[j].name);
	}
}

static void
summary(void **state)
{
	uint64_t count[SHCA_NB_FINDINGS] = { 0 };
	char text[4096], small[16];

	(void)state;
	assert_int_equal(shca_findings_sum(count, text, sizeof(text)), 0);
	assert_string_equal(text, "no findings");
	count[SHCA_FINDING_LKEY] = 1;
	assert_int_equal(shca_findings_sum(count, text, sizeof(text)), 1);
	assert_string_equal(text, "1 finding: lkey 1");
	count[SHCA_FINDING_CQ_OVERRUN] = 41;
	assert_int_equal(shca_findings_sum(count, text, sizeof(text)), 42);
	assert_string_equal(text, "42 findings: lkey 1 cq-overrun 41");
	for (unsigned int i = 0; i < SHCA_NB_FINDINGS; i++)
		count[i] = 1000000000;
	assert_int_equal(shca_findings_sum(count, small, sizeof(small)),
		UINT64_C(1000000000) * SHCA_NB_FINDINGS);
	assert_uint_in_range(strlen(small), 1, sizeof(small) - 1);
	/* The runner's buffer has room for all. */
	shca_findings_sum(count, text, sizeof(text));
	assert_uint_in_range(strlen(text), 100, 1023);
}

/** A child that finds something: its status, and the count we share with it. */
static int
find_in_child(const char *path, enum shca_strict mode)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		struct shca_findings findings = { .mode = mode };
		struct shca_finding_site site = { .queue = "CQ", .number = 0x400 };

		if (shca_findings_map(path, false, &findings.count) != 0)
			_exit(1);
		close(STDERR_FILENO);
		for (unsigned int i = 0; i < 3; i++)
			shca_findings_report(&findings, SHCA_FINDING_CQ_OVERRUN, &site);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void
processes_share_counts(void **state)
{
	char path[] = "/tmp/findings-XXXXXX";
	int fd = mkstemp(path);
	uint64_t *count;

	(void)state;
	close(fd);
	unlink(path);
	assert_int_equal(shca_findings_map(path, false, &count), -ENOENT);
	assert_int_equal(shca_findings_map(path, true, &count), 0);
	assert_int_equal(count[SHCA_FINDING_CQ_OVERRUN], 0);
	assert_int_equal(find_in_child(path, SHCA_STRICT_REPORT), 0);
	assert_int_equal(count[SHCA_FINDING_CQ_OVERRUN], 3);
	assert_int_equal(find_in_child(path, SHCA_STRICT_ABORT), SHCA_FINDINGS_EXIT);
	assert_int_equal(count[SHCA_FINDING_CQ_OVERRUN], 4);
	shca_findings_unmap(count);
	shca_findings_unmap(NULL);
	unlink(path);
}

/** A device of several processes: the one at fault ends, once; this one goes on. */
static void
another_process_ends(void **state)
{
	uint64_t count[SHCA_NB_FINDINGS] = { 0 };
	struct shca_findings findings = { .mode = SHCA_STRICT_REPORT, .count = count };
	struct shca_program program = { .pidfd = -1 };
	const struct shca_context context = { .pid = fork(), .comm = "name", .program = &program };
	const struct shca_finding_site site = { .queue = "CQ", .context = &context };
	int status;

	(void)state;
	assert_true(context.pid >= 0);
	if (context.pid == 0)
		for (;;)
			pause();
	program.pidfd = (int)syscall(SYS_pidfd_open, context.pid, 0);
	shca_findings_report(&findings, SHCA_FINDING_LKEY, &site);
	assert_false(program.is_ended);
	findings.mode = SHCA_STRICT_ABORT;
	for (unsigned int i = 0; i < 3; i++)
		shca_findings_report(&findings, SHCA_FINDING_LKEY, &site);
	assert_true(program.is_ended);
	assert_int_equal(count[SHCA_FINDING_LKEY], 2);
	assert_int_equal(waitpid(context.pid, &status, 0), context.pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	/* One that has ended already: its number may be another's by now, but not its descriptor.
	 */
	program.is_ended = false;
	shca_findings_report(&findings, SHCA_FINDING_LKEY, &site);
	assert_true(program.is_ended);
	close(program.pidfd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modes),
		cmocka_unit_test(rows_are_whole),
		cmocka_unit_test(summary),
		cmocka_unit_test(processes_share_counts),
		cmocka_unit_test(another_process_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
