/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs by number: a number is another program's when the first has ended. */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "keeper/message.h"
#include "keeper/process.h"

#define PAGE 4096

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

/** Start a process that has moved memory, and calls execve() when @p go has a byte. */
static pid_t
start_with_memory(int fd, int go)
{
	const pid_t pid = fork();
	char byte;

	if (pid != 0)
		return pid;
	if (mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED)
		_exit(1);
	close(fd);
	(void)!read(go, &byte, 1);
	execl("/bin/sleep", "sleep", "1000", (char *)NULL);
	_exit(1);
}

static bool
has_moved(void *arg)
{
	const struct shca_process *process = arg;

	return shca_memory_has_moved(&process->memory, 0, UINT64_MAX);
}

static bool
is_awaited(void *arg)
{
	const struct shca_process *process = arg;

	return *(const volatile bool *)&process->is_awaited;
}

static void
until(bool (*is_so)(void *arg), void *arg, bool wanted)
{
	for (unsigned int i = 0; i < 60000 && is_so(arg) != wanted; i++)
		usleep(1000);
	assert_int_equal(is_so(arg), wanted);
}

static void *
await_end(void *arg)
{
	shca_process_await_end(arg);
	return NULL;
}

/** A session has ended before, and waits for the program's end: only the other one can tell that
 * the program has become another. */
static void
memory_of_the_program_before(void **state)
{
	int fd = memfd_create(SHCA_MESSAGE_MEMORY, MFD_CLOEXEC), go[2];
	struct shca_process *process;
	pthread_t thread;
	pid_t pid;

	(void)state;
	assert_int_equal(ftruncate(fd, PAGE) | pipe2(go, O_CLOEXEC), 0);
	pid = start_with_memory(fd, go[0]);
	process = shca_process_get(pid);
	assert_ptr_equal(shca_process_get(pid), process);
	until(has_moved, process, true);
	assert_int_equal(shca_memory_add(&process->memory, fd, PAGE), 0);
	assert_int_equal(pthread_create(&thread, NULL, await_end, process), 0);
	until(is_awaited, process, true);
	shca_process_await_end(process);
	assert_false(LIST_EMPTY(&process->memory.files));
	assert_int_equal(write(go[1], "", 1), 1);
	until(has_moved, process, false);
	shca_process_await_end(process);
	assert_true(LIST_EMPTY(&process->memory.files));
	end(pid);
	close(go[0]);
	close(go[1]);
	assert_int_equal(pthread_join(thread, NULL), 0);
	shca_process_put(process);
	shca_process_put(process);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sessions_of_one_program_share),
		cmocka_unit_test(a_number_that_is_used_again),
		cmocka_unit_test(memory_of_the_program_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
