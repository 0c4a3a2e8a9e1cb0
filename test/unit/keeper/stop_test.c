/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of another process stand still, and go on: none is lost, none was forgotten. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "keeper/stop.h"

#define NB_THREADS 4

/** What both processes see. */
static struct shared {
	_Atomic uint64_t count[NB_THREADS];
	_Atomic uint64_t main_count;
	_Atomic int nb_signals;
	_Atomic pid_t main_tid;
	_Atomic int is_to_fork, has_forked, is_in_vfork;
	_Atomic int nb_moved; /* while a child looked */
} * shared;

static void *
count(void *arg)
{
	_Atomic uint64_t *own = arg;
	sigset_t all;

	/* Debuggers do not ask. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	for (;;)
		atomic_fetch_add(own, 1);
	return NULL;
}

/** Its child goes on until the main thread has forked. */
static void *
vfork_and_count(void *arg)
{
	if (vfork() == 0) {
		atomic_store(&shared->is_in_vfork, 1);
		while (atomic_load(&shared->has_forked) == 0)
			usleep(100);
		_exit(0);
	}
	return count(arg);
}

static void
on_signal(int number)
{
	(void)number;
	atomic_fetch_add(&shared->nb_signals, 1);
}

/** The child of a fork: nothing moves until it says so. */
static _Noreturn void
look(int done)
{
	uint64_t seen[NB_THREADS];

	for (unsigned int i = 0; i < NB_THREADS; i++)
		seen[i] = shared->count[i];
	usleep(20000);
	for (unsigned int i = 0; i < NB_THREADS; i++)
		shared->nb_moved += seen[i] != shared->count[i];
	shared->nb_moved += shared->has_forked;
	_exit(write(done, "", 1) == 1 ? 0 : 1);
}

/** Main thread of the process that forks when it is told so. */
static _Noreturn void
fork_when_told(int done, void *(*first)(void *arg))
{
	pthread_t thread;
	sigset_t all;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* As client/share.c does: a signal before the fork, such as that of the child of the fork
	 * before, would be taken for no fork. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	for (unsigned int i = 0; i < NB_THREADS; i++)
		if (pthread_create(&thread, NULL, i == 0 ? first : count, &shared->count[i]) != 0)
			_exit(1);
	atomic_store(&shared->main_tid, (pid_t)syscall(SYS_gettid));
	for (;;) {
		atomic_fetch_add(&shared->main_count, 1);
		if (!atomic_exchange(&shared->is_to_fork, 0))
			continue;
		if (fork() == 0)
			look(done);
		atomic_store(&shared->has_forked, 1);
	}
}

static _Noreturn void
run_other(void)
{
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGUSR1, on_signal);
	for (unsigned int i = 0; i < NB_THREADS; i++)
		if (pthread_create(&thread, NULL, count, &shared->count[i]) != 0)
			_exit(1);
	atomic_store(&shared->main_tid, (pid_t)syscall(SYS_gettid));
	for (;;)
		atomic_fetch_add(&shared->main_count, 1);
}

static void
wait_for_more(_Atomic uint64_t *counter)
{
	const uint64_t before = atomic_load(counter);

	while (atomic_load(counter) == before)
		usleep(100);
}

static void
check_round(pid_t pid)
{
	struct shca_stop stop;
	uint64_t seen[NB_THREADS];

	assert_int_equal(shca_stop_others(&stop, pid, shared->main_tid), 0);
	assert_int_equal(stop.nb, NB_THREADS);
	for (unsigned int i = 0; i < NB_THREADS; i++)
		seen[i] = shared->count[i];
	wait_for_more(&shared->main_count);
	for (unsigned int i = 0; i < NB_THREADS; i++)
		assert_true(seen[i] == shared->count[i]);
	shca_stop_end(&stop);
	for (unsigned int i = 0; i < NB_THREADS; i++)
		wait_for_more(&shared->count[i]);
}

static void
others_stand_still(void **state)
{
	struct shca_stop stop = { 0 };
	pid_t pid;

	(void)state;
	shca_stop_end(&stop);
	shared = mmap(
		NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(shared != MAP_FAILED);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		run_other();
	while (shared->main_tid == 0)
		usleep(100);
	for (unsigned int i = 0; i < NB_THREADS; i++)
		wait_for_more(&shared->count[i]);
	for (unsigned int round = 0; round < 20; round++) {
		check_round(pid);
		/* A signal beside it arrives once. */
		assert_int_equal(kill(pid, SIGUSR1), 0);
		check_round(pid);
		while (shared->nb_signals != (int)round + 1)
			usleep(100);
	}
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, __WALL), pid);
	assert_int_equal(shca_stop_others(&stop, pid, pid), 0);
	assert_int_equal(stop.nb, 0);
	munmap(shared, sizeof(*shared));
}

/** Start a process that forks when it is told so, and the pipes for both of us. */
static pid_t
begin(int said[2], int done[2], void *(*first)(void *arg))
{
	pid_t pid;

	shared = mmap(
		NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(shared != MAP_FAILED);
	assert_int_equal(pipe(said) | pipe(done), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		fork_when_told(done[1], first);
	return pid;
}

static void
end(const int said[2], const int done[2])
{
	for (unsigned int i = 0; i < 2; i++) {
		close(said[i]);
		close(done[i]);
	}
	munmap(shared, sizeof(*shared));
}

static void
until_a_child_is_done(void **state)
{
	int said[2], done[2];
	struct shca_stop_fork forking = { 0 };
	pid_t pid;

	(void)state;
	pid = begin(said, done, count);
	while (shared->main_tid == 0)
		usleep(100);
	for (unsigned int round = 0; round < 5; round++) {
		char byte;

		assert_int_equal(shca_stop_before_fork(&forking, pid, shared->main_tid), 0);
		assert_int_equal(forking.tid, shared->main_tid);
		atomic_store(&shared->has_forked, 0);
		atomic_store(&shared->is_to_fork, 1);
		shca_stop_at_fork(&forking, said[0], done[0]);
		assert_int_equal(forking.tid, 0);
		assert_int_equal(read(done[0], &byte, 1), 1);
		assert_int_equal(shared->nb_moved, 0);
		wait_for_more(&shared->main_count);
		for (unsigned int i = 0; i < NB_THREADS; i++)
			wait_for_more(&shared->count[i]);
	}
	/* It does not come to that: the program says something else. */
	assert_int_equal(shca_stop_before_fork(&forking, pid, shared->main_tid), 0);
	assert_int_equal(write(said[1], "", 1), 1);
	shca_stop_at_fork(&forking, said[0], done[0]);
	wait_for_more(&shared->main_count);
	/* Nor when it ends. */
	assert_int_equal(shca_stop_before_fork(&forking, pid, shared->main_tid), 0);
	kill(pid, SIGKILL);
	shca_stop_at_fork(&forking, done[0], done[0]);
	waitpid(pid, NULL, __WALL);
	assert_int_equal(shca_stop_before_fork(&forking, getpid(), getpid()), -ESRCH);
	end(said, done);
}

/** A thread that waits for the child of its vfork() does not stand still before that is done, and
 * that may wait for the thread that has forked. */
static void
not_for_a_vfork(void **state)
{
	struct shca_stop_fork forking = { 0 };
	int said[2], done[2];
	pid_t pid;

	(void)state;
	pid = begin(said, done, vfork_and_count);
	while (shared->main_tid == 0 || shared->is_in_vfork == 0)
		usleep(100);
	assert_int_equal(shca_stop_before_fork(&forking, pid, shared->main_tid), 0);
	atomic_store(&shared->is_to_fork, 1);
	shca_stop_at_fork(&forking, said[0], done[0]);
	assert_int_equal(shared->nb_moved, 0);
	wait_for_more(&shared->main_count);
	for (unsigned int i = 0; i < NB_THREADS; i++)
		wait_for_more(&shared->count[i]);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, __WALL), pid);
	end(said, done);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(others_stand_still),
		cmocka_unit_test(until_a_child_is_done),
		cmocka_unit_test(not_for_a_vfork),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
