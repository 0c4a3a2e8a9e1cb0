/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Threads of several devices: how many, whose, and that all of them work. */
#include "rig.h"

#include <time.h>

#include "hw/device/threads.h"

#define NB_DEVICES 4

static struct rig rig[NB_DEVICES];
static struct shca_device *devs[NB_DEVICES];
static const unsigned int apart[NB_DEVICES] = { 0, 1, 2, 3 };

static int
setup(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < NB_DEVICES; i++) {
		rig_init(&rig[i]);
		rig_open(&rig[i]);
		devs[i] = rig[i].dev;
	}
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < NB_DEVICES; i++)
		rig_close(&rig[i]);
	return 0;
}

static struct shca_threads *
start(const unsigned int *group, unsigned int nb_most, unsigned int nb_cpus)
{
	struct shca_threads *threads;
	cpu_set_t cpus, counted;

	/* Those of this machine: its threads must run, however many CPUs are counted. */
	assert_int_equal(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
	counted = cpus;
	for (unsigned int cpu = 0; (unsigned int)CPU_COUNT(&counted) != nb_cpus; cpu++) {
		if ((unsigned int)CPU_COUNT(&counted) < nb_cpus)
			CPU_SET(cpu, &counted);
		else
			CPU_CLR(CPU_SETSIZE - 1 - cpu, &counted);
	}
	assert_int_equal(shca_threads_start(
				 &(struct shca_threads_conf){
					 .devs = devs,
					 .group = group,
					 .nb_devs = NB_DEVICES,
					 .nb_most = nb_most,
					 .cpus = &counted,
				 },
				 &threads),
		0);
	return threads;
}

static void
are_as_many_as_groups_and_cpus_allow(void **state)
{
	static const unsigned int in_pairs[NB_DEVICES] = { 0, 1, 0, 1 }, alone[NB_DEVICES] = { 0 };
	static const struct {
		const unsigned int *group;
		unsigned int nb_most, nb_cpus, nb;
	} rows[] = { { apart, 0, 1, 1 }, { apart, 0, 2, 1 }, { apart, 0, 4, 2 }, { apart, 0, 7, 3 },
		{ apart, 0, 64, 4 }, { apart, 1, 64, 1 }, { apart, 3, 1, 3 }, { apart, 9, 1, 4 },
		{ in_pairs, 0, 64, 2 }, { in_pairs, 1, 64, 1 }, { alone, 9, 64, 1 } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct shca_threads *threads =
			start(rows[i].group, rows[i].nb_most, rows[i].nb_cpus);

		assert_int_equal(shca_threads_nb(threads), rows[i].nb);
		shca_threads_stop(threads);
	}
	assert_int_equal(shca_threads_nb(NULL), 0);
	shca_threads_stop(NULL);
}

static void
send_on_each(void)
{
	for (unsigned int i = 0; i < NB_DEVICES; i++)
		rig_send(&rig[i], 0, 64, SHCA_CE_ALWAYS);
}

/** @return how many sends are complete, as soon as one on each is, or after @p ms. */
static unsigned int
nb_sent(unsigned int ms)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	unsigned int nb = 0;

	for (; ms != 0 && nb < NB_DEVICES; ms--) {
		for (unsigned int i = 0; i < NB_DEVICES; i++) {
			struct shca_cqe cqe;

			nb += rig_poll(&rig[i].tx, &cqe);
		}
		nanosleep(&pause, NULL);
	}
	return nb;
}

static void
all_work_and_stand_still(void **state)
{
	(void)state;
	for (unsigned int nb = 1; nb <= NB_DEVICES; nb++) {
		struct shca_threads *threads = start(apart, nb, 1);

		assert_false(shca_threads_are_frozen(threads));
		send_on_each();
		assert_int_equal(nb_sent(10000), NB_DEVICES);
		shca_threads_freeze(threads);
		assert_true(shca_threads_are_frozen(threads));
		send_on_each();
		assert_int_equal(nb_sent(20), 0);
		shca_threads_thaw(threads);
		assert_false(shca_threads_are_frozen(threads));
		assert_int_equal(nb_sent(10000), NB_DEVICES);
		shca_threads_stop(threads);
	}
}

static unsigned int nb_open[NB_DEVICES]; /* sends that are not complete */

/** @return whether a send on the device, or one of before, is complete within @p ms. */
static bool
can_send(unsigned int i, unsigned int ms)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	struct shca_cqe cqe;

	if (nb_open[i] == 0)
		rig_send(&rig[i], 0, 64, SHCA_CE_ALWAYS);
	nb_open[i] = 1;
	for (; ms != 0 && nb_open[i] != 0; ms--) {
		nb_open[i] -= rig_poll(&rig[i].tx, &cqe);
		nanosleep(&pause, NULL);
	}
	return nb_open[i] == 0;
}

/** A thread waits for the lock of the first device; groups go in turn to threads. */
static void
each_has_its_own_groups(void **state)
{
	static const unsigned int in_turn[NB_DEVICES] = { 0, 1, 0, 1 };
	static const unsigned int side_by_side[NB_DEVICES] = { 0, 0, 2, 2 };
	static const struct {
		const unsigned int *group;
		unsigned int nb_threads;
		bool goes_on[NB_DEVICES];
	} rows[] = {
		{ apart, 4, { false, true, true, true } },
		{ apart, 3, { false, true, true, false } },
		{ apart, 2, { false, true, false, true } },
		{ in_turn, 2, { false, true, false, true } },
		{ side_by_side, 2, { false, false, true, true } },
	};

	(void)state;
	for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
		struct shca_threads *threads = start(rows[row].group, rows[row].nb_threads, 1);

		bool goes_on[NB_DEVICES] = { false };

		shca_device_lock(devs[0]);
		for (unsigned int i = 1; i < NB_DEVICES; i++)
			if (rows[row].goes_on[i])
				goes_on[i] = can_send(i, 10000);
			else /* the round that the thread was in may have been before it */
				goes_on[i] = can_send(i, 20) && can_send(i, 20);
		shca_device_unlock(devs[0]);
		assert_memory_equal(goes_on, rows[row].goes_on, sizeof(goes_on));
		for (unsigned int i = 0; i < NB_DEVICES; i++)
			assert_true(can_send(i, 10000));
		shca_threads_stop(threads);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			are_as_many_as_groups_and_cpus_allow, setup, teardown),
		cmocka_unit_test_setup_teardown(all_work_and_stand_still, setup, teardown),
		cmocka_unit_test_setup_teardown(each_has_its_own_groups, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
