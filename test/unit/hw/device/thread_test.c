/* SPDX-License-Identifier: BSD-3-Clause */
/* The device thread: works, reports losses, leaves signals alone, gives the CPU back. */
#include "rig.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hw/device/thread.h"
#include "hw/state/device.h"

static atomic_uint_fast64_t nb_lost, nb_packets;

static void
on_counter(unsigned int index, const char *name, uint64_t count, void *arg)
{
	(void)index;
	(void)arg;
	if (strcmp(name, "multicast_rcv_packets") == 0)
		atomic_store(&nb_packets, count);
	else if (strcmp(name, "out_of_buffer") == 0)
		atomic_store(&nb_lost, count);
	else
		assert_string_equal(name, "port_rcv_packets");
}

static void
sleep_ms(long ms)
{
	const struct timespec pause = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&pause, NULL);
}

static struct shca_thread *
start(struct rig *rig)
{
	struct shca_thread *thread;
	cpu_set_t cpus;

	((struct shca_device_conf *)(uintptr_t)shca_device_conf(rig->dev))->counter = on_counter;
	assert_int_equal(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
	assert_int_equal(shca_thread_start(&rig->dev, 1, &cpus, &thread), 0);
	return thread;
}

static bool
poll_for_a_second(struct rig_cq *cq, struct shca_cqe *cqe)
{
	for (unsigned int i = 0; i < 1000; i++, sleep_ms(1))
		if (rig_poll(cq, cqe))
			return true;
	return false;
}

static void
works_and_reports(void **state)
{
	struct shca_thread *thread;
	struct shca_cqe cqe;
	uint8_t frame[60];
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	rig_frame(frame, 60, 0);
	rig_come(&rig.wire, frame, 60); /* no buffer is posted */
	thread = start(&rig);
	/* Idle for long: asleep. A doorbell must still be seen. */
	sleep_ms(30);
	rig_send(&rig, 0, 64, SHCA_CE_ALWAYS);
	assert_true(poll_for_a_second(&rig.tx, &cqe));
	for (unsigned int i = 0; i < 1000 && atomic_load(&nb_lost) == 0; i++)
		sleep_ms(1);
	assert_int_equal(atomic_load(&nb_lost), 1);
	shca_device_lock(rig.dev);
	rig.dev->roce_traffic.received[1].packets = 5;
	shca_device_unlock(rig.dev);
	for (unsigned int i = 0; i < 1000 && atomic_load(&nb_packets) == 0; i++)
		sleep_ms(1);
	assert_int_equal(atomic_load(&nb_packets), 5);
	shca_thread_stop(thread);
	shca_thread_stop(NULL);
	assert_int_equal(rig.wire.nb_sent, 1);
	rig_close(&rig);
}

/** While it steps as fast as it can, others get the lock. */
static void
lock_is_fair(void **state)
{
	struct shca_thread *thread;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	thread = start(&rig);
	for (unsigned int i = 0; i < 2000; i++) {
		shca_device_lock(rig.dev);
		shca_device_unlock(rig.dev);
	}
	shca_thread_stop(thread);
	rig_close(&rig);
}

/** Idle, it takes a small part of a CPU; the bound leaves room for a busy machine. */
static void
idle_gives_the_cpu_back(void **state)
{
	struct timespec before, after;
	struct shca_thread *thread;
	int64_t used_ns;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	thread = start(&rig);
	sleep_ms(50);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
	sleep_ms(400);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
	shca_thread_stop(thread);
	used_ns = (after.tv_sec - before.tv_sec) * 1000000000LL + after.tv_nsec - before.tv_nsec;
	assert_uint_in_range(used_ns, 0, 100000000);
	rig_close(&rig);
}

static volatile sig_atomic_t nb_signals;
static pthread_t signalled;

static void
on_signal(int number)
{
	(void)number;
	nb_signals++;
	signalled = pthread_self();
}

static void
signals_go_elsewhere(void **state)
{
	struct shca_thread *thread;
	struct rig rig;

	(void)state;
	signal(SIGUSR1, on_signal);
	rig_init(&rig);
	rig_open(&rig);
	thread = start(&rig);
	for (int i = 0; i < 20; i++)
		kill(getpid(), SIGUSR1);
	shca_thread_stop(thread);
	assert_int_equal(nb_signals, 20);
	assert_true(pthread_equal(signalled, pthread_self()));
	signal(SIGUSR1, SIG_DFL);
	rig_close(&rig);
}

/** A frozen device does nothing; what piles up meanwhile is done when it is thawed. */
static void
stands_still(void **state)
{
	struct shca_thread *thread;
	struct shca_cqe cqe;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig_open(&rig);
	thread = start(&rig);
	assert_false(shca_thread_is_frozen(thread));
	shca_thread_freeze(thread);
	shca_thread_freeze(thread);
	assert_true(shca_thread_is_frozen(thread));
	rig_send(&rig, 0, 64, SHCA_CE_ALWAYS);
	sleep_ms(20);
	assert_false(rig_poll(&rig.tx, &cqe));
	assert_int_equal(rig.wire.nb_sent, 0);
	shca_thread_thaw(thread);
	assert_true(poll_for_a_second(&rig.tx, &cqe));
	/* To and fro, faster than it may wake up. */
	for (unsigned int i = 0; i < 1000; i++) {
		shca_thread_freeze(thread);
		shca_thread_thaw(thread);
	}
	shca_thread_freeze(thread);
	shca_thread_stop(thread);
	assert_int_equal(rig.wire.nb_sent, 1);
	rig_close(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(works_and_reports),
		cmocka_unit_test(stands_still),
		cmocka_unit_test(lock_is_fair),
		cmocka_unit_test(idle_gives_the_cpu_back),
		cmocka_unit_test(signals_go_elsewhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
