/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs by number: a number is another program's when the first has ended. */
#include <errno.h>
#include <linux/sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "keeper/process.h"

/** Start a process with a number of our choice. @return -1: we may not choose, or it is taken. */
static pid_t
start(pid_t number)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = number != 0 ? (uintptr_t)&number : 0,
		.set_tid_size = number != 0 ? 1 : 0,
	};
	const pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	if (pid == 0)
		for (;;)
			pause();
	return pid;
}

static void
end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void
sessions_of_one_program_share(void **state)
{
	const pid_t pid = start(0);
	struct shca_process *first = shca_process_get(pid), *second = shca_process_get(pid);

	(void)state;
	assert_non_null(first);
	assert_ptr_equal(first, second);
	assert_int_equal(first->nb_sessions, 2);
	shca_process_put(second);
	assert_int_equal(first->nb_sessions, 1);
	shca_process_put(first);
	shca_process_put(NULL);
	end(pid);
	assert_null(shca_process_get(pid));
}

/** A session of the dead one is still there: its memory and descriptor are not the new one's. */
static void
a_number_that_is_used_again(void **state)
{
	const pid_t pid = start(0);
	struct shca_process *dead = shca_process_get(pid), *alive;

	(void)state;
	assert_non_null(dead);
	end(pid);
	if (start(pid) != pid) {
		shca_process_put(dead);
		skip(); /* CAP_CHECKPOINT_RESTORE is needed to choose */
	}
	alive = shca_process_get(pid);
	assert_non_null(alive);
	assert_ptr_not_equal(alive, dead);
	assert_int_not_equal(alive->pidfd, dead->pidfd);
	assert_int_equal(syscall(SYS_pidfd_send_signal, alive->pidfd, 0, NULL, 0), 0);
	assert_int_not_equal(syscall(SYS_pidfd_send_signal, dead->pidfd, 0, NULL, 0), 0);
	assert_ptr_equal(shca_process_get(pid), alive);
	shca_process_put(alive);
	shca_process_put(dead);
	shca_process_put(alive);
	end(pid);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sessions_of_one_program_share),
		cmocka_unit_test(a_number_that_is_used_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
