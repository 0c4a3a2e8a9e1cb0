/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of another process stand still, and go on: none is lost, none was forgotten. */
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

static void
on_signal(int number)
{
	(void)number;
	atomic_fetch_add(&shared->nb_signals, 1);
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

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(others_stand_still) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
