/* SPDX-License-Identifier: BSD-3-Clause */
/* A child has what was in registered memory when its parent forked, whatever the parent's other
 * threads do meanwhile, and leaves alone what the parent's threads have. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"

#define NB_FORKS 50
#define NB_PAGES 64
#define PAGE     4096u

/** Pages that a thread keeps alike, under a lock that fork() takes, as it takes that of malloc().
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile uint64_t (*pages)[PAGE / sizeof(uint64_t)];
static uint64_t at_fork;
static atomic_bool is_ending;

static void
before_fork(void)
{
	pthread_mutex_lock(&lock);
	at_fork = pages[0][0];
}

static void
after_fork(void)
{
	pthread_mutex_unlock(&lock);
}

static void *
keep_alike(void *arg)
{
	while (!atomic_load(&is_ending)) {
		pthread_mutex_lock(&lock);
		for (unsigned int i = 0; i < NB_PAGES; i++)
			pages[i][0]++;
		pthread_mutex_unlock(&lock);
	}
	return arg;
}

/** Memory that touches no other, such as a thread's stack. */
static void *
map_alone(size_t bytes)
{
	uint8_t *all =
		mmap(NULL, bytes + 2 * (size_t)PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (all == MAP_FAILED || mprotect(all + PAGE, bytes, PROT_READ | PROT_WRITE) != 0)
		rig_die("mmap");
	return all + PAGE;
}

static void
check_child(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		for (unsigned int i = 0; i < NB_PAGES; i++)
			if (pages[i][0] != at_fork)
				_exit(1);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		rig_die("fork");
	CHECK(status == 0, status);
}

static sem_t is_registered, may_end;

/** Register some of this thread's memory. */
static void
register_and_wait(void *bytes, size_t length)
{
	struct ibv_mr *mr = ibv_reg_mr(rig_pd, bytes, length, IBV_ACCESS_LOCAL_WRITE);

	if (mr == NULL)
		rig_die("ibv_reg_mr");
	sem_post(&is_registered);
	while (sem_wait(&may_end) != 0)
		;
	rig_must(ibv_dereg_mr(mr), "ibv_dereg_mr");
}

/** Of its stack, some pages below what the C library has at the stack's end. */
static void *
use_stack(void *arg)
{
	uint8_t bytes[2 * PAGE];

	register_and_wait(bytes, PAGE);
	return arg;
}

/** Of its heap, some pages behind the arena's state. */
static void *
use_heap(void *arg)
{
	uint8_t *between = malloc(4 * PAGE), *bytes = malloc(PAGE);

	if (between == NULL || bytes == NULL)
		rig_die("malloc");
	register_and_wait(bytes, PAGE);
	free(bytes);
	free(between);
	return arg;
}

/** Of its heap, in the page with the arena's state. */
static void *
use_arena(void *arg)
{
	uint8_t *bytes = malloc(PAGE / 64);

	if (bytes == NULL)
		rig_die("malloc");
	register_and_wait(bytes, PAGE / 64);
	free(bytes);
	return arg;
}

/** Of its thread-local storage, which touches what the C library has at the stack's end. */
static void *
use_storage(void *arg)
{
	static __thread uint8_t bytes[PAGE / 64];

	register_and_wait(bytes, sizeof(bytes));
	return arg;
}

/** A child begins without its parent's other threads, which go on in the parent. */
static void
check_thread(void *(*run)(void *arg))
{
	pthread_t thread;

	sem_init(&is_registered, 0, 0);
	sem_init(&may_end, 0, 0);
	rig_must(pthread_create(&thread, NULL, run, NULL), "pthread_create");
	while (sem_wait(&is_registered) != 0)
		;
	check_child();
	CHECK(pthread_tryjoin_np(thread, NULL) == EBUSY, 0);
	sem_post(&may_end);
	rig_must(pthread_join(thread, NULL), "pthread_join");
}

/** Write to a stream of the heap, all of which has moved. */
static FILE *stream;
static atomic_uint nb_written[2];

static void *
write_lines(void *arg)
{
	atomic_uint *nb = arg;

	while (!atomic_load(&is_ending)) {
		fputs("a line\n", stream);
		atomic_fetch_add(nb, 1);
	}
	return arg;
}

static void
await_lines(atomic_uint *nb, unsigned int more)
{
	const unsigned int before = atomic_load(nb);

	while (atomic_load(nb) - before < more)
		sched_yield();
}

/** A child has the stream's lock for itself, and its parent's threads have theirs. */
static void
check_streams(void)
{
	pthread_t threads[2];

	atomic_store(&is_ending, false);
	stream = fopen("/dev/null", "w");
	if (stream == NULL)
		rig_die("/dev/null");
	for (unsigned int i = 0; i < 2; i++)
		rig_must(pthread_create(&threads[i], NULL, write_lines, &nb_written[i]),
			"pthread_create");
	for (unsigned int i = 0; i < 4 * NB_FORKS; i++)
		check_child();
	for (unsigned int i = 0; i < 2; i++)
		await_lines(&nb_written[i], 1000);
	atomic_store(&is_ending, true);
	for (unsigned int i = 0; i < 2; i++)
		rig_must(pthread_join(threads[i], NULL), "pthread_join");
	fclose(stream);
}

static atomic_bool is_over;

/** Register memory of which nothing has moved yet. */
static void *
register_fresh(void *arg)
{
	const size_t length = 16 * (size_t)PAGE;

	while (!atomic_load(&is_over)) {
		uint8_t *bytes = map_alone(length);
		struct ibv_mr *mr;

		memset(bytes, 5, length);
		mr = ibv_reg_mr(rig_pd, bytes, length, IBV_ACCESS_LOCAL_WRITE);
		if (mr == NULL)
			rig_die("ibv_reg_mr");
		CHECK(bytes[0] == 5 && memcmp(bytes, bytes + 1, length - 1) == 0, bytes[0]);
		rig_must(ibv_dereg_mr(mr), "ibv_dereg_mr");
		munmap(bytes - PAGE, length + 2 * (size_t)PAGE);
	}
	return arg;
}

/** Threads that stand still for a fork stand still for nothing else. */
static void
check_moves(void)
{
	pthread_t threads[3];

	for (unsigned int i = 0; i < 3; i++)
		rig_must(pthread_create(&threads[i], NULL, register_fresh, NULL), "pthread_create");
	for (unsigned int i = 0; i < 4 * NB_FORKS; i++)
		check_child();
	atomic_store(&is_over, true);
	for (unsigned int i = 0; i < 3; i++)
		rig_must(pthread_join(threads[i], NULL), "pthread_join");
}

int
main(void)
{
	struct ibv_mr *mr;
	pthread_t thread;
	uint64_t count;

	rig_open();
	pages = map_alone(NB_PAGES * PAGE);
	mr = ibv_reg_mr(rig_pd, (void *)(uintptr_t)pages, NB_PAGES * PAGE, IBV_ACCESS_LOCAL_WRITE);
	if (mr == NULL)
		rig_die("ibv_reg_mr");
	rig_must(pthread_atfork(before_fork, after_fork, after_fork), "pthread_atfork");
	rig_must(pthread_create(&thread, NULL, keep_alike, NULL), "pthread_create");
	for (unsigned int i = 0; i < NB_FORKS; i++)
		check_child();
	/* The thread has gone on. */
	count = at_fork;
	while (pages[0][0] == count)
		;
	atomic_store(&is_ending, true);
	rig_must(pthread_join(thread, NULL), "pthread_join");
	check_child();
	check_thread(use_arena);
	check_thread(use_heap);
	check_thread(use_storage);
	check_streams();
	check_moves();
	check_thread(use_stack);
	rig_must(ibv_dereg_mr(mr), "ibv_dereg_mr");
	return rig_close();
}
