/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics of queues that no thread polls, and of frames that a made-up device had no buffer
 * for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <pthread.h>

#include <rte_cycles.h>

#include "burst/rx/rx.h"
#include "burst/tx/tx.h"
#include "port/stats.h"
#include "rig.h"

/** More queues than ethdev has counters for. */
#define NB_QUEUES (RTE_ETHDEV_QUEUE_STAT_CNTRS + 2)
/** The queue that is not set up. */
#define HOLE 3

static struct rig_port rig;
static struct mdv_rxq rxqs[NB_QUEUES];
static struct mdv_txq txqs[NB_QUEUES];
static void *rx_queues[NB_QUEUES], *tx_queues[NB_QUEUES];
static const char *const folders[] = { "", "/ports", "/ports/1", "/ports/1/hw_counters" };

static void
counter_path(char *path, size_t size, const char *name)
{
	snprintf(path, size, "%s/ports/1/hw_counters/%s", rig.port.device.sysfs_path, name);
}

/** Let sysfs show another count; a reader sees either the old one or the new one. */
static void
show(const char *name, uint64_t count)
{
	char path[PATH_MAX], fresh[PATH_MAX];
	FILE *file;

	counter_path(path, sizeof(path), name);
	counter_path(fresh, sizeof(fresh), "fresh");
	file = fopen(fresh, "w");
	assert_non_null(file);
	fprintf(file, "%" PRIu64 "\n", count);
	fclose(file);
	assert_int_equal(rename(fresh, path), 0);
}

static void
hide(const char *name)
{
	char path[PATH_MAX];

	counter_path(path, sizeof(path), name);
	unlink(path);
}

static int
rig_make(void **state)
{
	char top[] = "/tmp/mlx5dv-stats-XXXXXX", path[PATH_MAX];
	unsigned int i;

	(void)state;
	rig_port_init(&rig);
	memset(rxqs, 0, sizeof(rxqs));
	memset(txqs, 0, sizeof(txqs));
	for (i = 0; i < NB_QUEUES; i++) {
		rx_queues[i] = i == HOLE ? NULL : &rxqs[i];
		tx_queues[i] = i == HOLE ? NULL : &txqs[i];
	}
	rig.data.rx_queues = rx_queues;
	rig.data.tx_queues = tx_queues;
	rig.data.nb_rx_queues = NB_QUEUES;
	rig.data.nb_tx_queues = NB_QUEUES;
	assert_non_null(mkdtemp(top));
	snprintf(rig.port.device.sysfs_path, sizeof(rig.port.device.sysfs_path), "%s", top);
	for (i = 1; i < RTE_DIM(folders); i++) {
		snprintf(path, sizeof(path), "%s%s", top, folders[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	return 0;
}

static int
rig_free(void **state)
{
	char path[PATH_MAX];
	unsigned int i;

	(void)state;
	hide(MDV_DEVICE_OUT_OF_BUFFER);
	hide(MDV_DEVICE_LIFESPAN);
	for (i = RTE_DIM(folders); i-- > 0;) {
		snprintf(path, sizeof(path), "%s%s", rig.port.device.sysfs_path, folders[i]);
		assert_int_equal(rmdir(path), 0);
	}
	return 0;
}

static struct rte_eth_stats
get(void)
{
	struct rte_eth_stats stats = { 0 };

	assert_int_equal(mdv_stats_get(MDV_COMPAT_STATS_CALL(&rig.dev, &stats, NULL)), 0);
	return stats;
}

static uint64_t
missed(void)
{
	return get().imissed;
}

/** Each counter of each queue is another power of ten times the queue's number and one. */
static void
count(unsigned int times)
{
	unsigned int i;

	for (i = 0; i < NB_QUEUES; i++) {
		rxqs[i].count.packets += times * (i + 1);
		rxqs[i].count.bytes += times * (i + 1) * 1000;
		rxqs[i].count.errors += times * (i + 1) * 1000000;
		rxqs[i].count.nombuf += times * (i + 1) * 10000000;
		txqs[i].count.packets += times * (i + 1) * 2;
		txqs[i].count.bytes += times * (i + 1) * 2000;
		txqs[i].errors += times * (i + 1) * 2000000;
	}
}

static void
check_counted(unsigned int times)
{
	const uint64_t sum = times * (NB_QUEUES * (NB_QUEUES + 1) / 2 - (HOLE + 1));
	struct eth_queue_stats queues = { 0 };
	struct rte_eth_stats stats = { 0 };
	const struct eth_queue_stats *by = MDV_COMPAT_QUEUE_STATS(&stats, &queues);
	unsigned int i;

	assert_int_equal(mdv_stats_get(MDV_COMPAT_STATS_CALL(&rig.dev, &stats, &queues)), 0);
	assert_int_equal(stats.ipackets, sum);
	assert_int_equal(stats.ibytes, sum * 1000);
	assert_int_equal(stats.ierrors, sum * 1000000);
	assert_int_equal(stats.rx_nombuf, sum * 10000000);
	assert_int_equal(stats.opackets, sum * 2);
	assert_int_equal(stats.obytes, sum * 2000);
	assert_int_equal(stats.oerrors, sum * 2000000);
	for (i = 0; i < RTE_ETHDEV_QUEUE_STAT_CNTRS; i++) {
		const uint64_t own = i == HOLE ? 0 : times * (i + 1);

		assert_int_equal(by->q_ipackets[i], own);
		assert_int_equal(by->q_ibytes[i], own * 1000);
		assert_int_equal(by->q_errors[i], own * 1000000);
		assert_int_equal(by->q_opackets[i], own * 2);
		assert_int_equal(by->q_obytes[i], own * 2000);
	}
}

static void
queues_add_up_over_their_base(void **state)
{
	(void)state;
	check_counted(0);
	count(1);
	check_counted(1);
	count(4);
	check_counted(5);
	assert_int_equal(mdv_stats_reset(&rig.dev), 0);
	check_counted(0);
	count(2);
	check_counted(2);
	/* Only the queues' own threads write their counters. */
	assert_int_equal(rxqs[0].count.packets, 7);
	assert_int_equal(txqs[0].count.packets, 14);
}

/** Packets that were sent before a reset are lost after it, and taken back from those sent. */
static void
what_is_taken_back_counts_as_nothing(void **state)
{
	struct rte_eth_stats stats;

	(void)state;
	count(1);
	assert_int_equal(mdv_stats_reset(&rig.dev), 0);
	memset(&stats, 0, sizeof(stats));
	txqs[0].count.packets--;
	txqs[0].count.bytes -= 60;
	assert_int_equal(mdv_stats_get(MDV_COMPAT_STATS_CALL(&rig.dev, &stats, NULL)), 0);
	assert_int_equal(stats.opackets, 0);
	assert_int_equal(stats.obytes, 0);
}

static void
frames_missed_are_those_while_started(void **state)
{
	(void)state;
	show(MDV_DEVICE_OUT_OF_BUFFER, 100);
	assert_int_equal(missed(), 0);
	mdv_stats_start(&rig.port);
	rig.port.started = true;
	assert_int_equal(missed(), 0);
	show(MDV_DEVICE_OUT_OF_BUFFER, 107);
	assert_int_equal(missed(), 7);
	assert_int_equal(missed(), 7);
	show(MDV_DEVICE_OUT_OF_BUFFER, 110);
	mdv_stats_stop(&rig.port);
	rig.port.started = false;
	assert_int_equal(missed(), 10);
	/* Frames of another user, while this port has no queues. */
	show(MDV_DEVICE_OUT_OF_BUFFER, 1000);
	assert_int_equal(missed(), 10);
	mdv_stats_start(&rig.port);
	rig.port.started = true;
	show(MDV_DEVICE_OUT_OF_BUFFER, 1001);
	assert_int_equal(missed(), 11);
	assert_int_equal(mdv_stats_reset(&rig.dev), 0);
	assert_int_equal(missed(), 0);
	show(MDV_DEVICE_OUT_OF_BUFFER, 1003);
	assert_int_equal(missed(), 2);
}

static void
the_device_counts_in_32_bits(void **state)
{
	(void)state;
	show(MDV_DEVICE_OUT_OF_BUFFER, UINT32_MAX - 1);
	mdv_stats_start(&rig.port);
	rig.port.started = true;
	show(MDV_DEVICE_OUT_OF_BUFFER, 3);
	assert_int_equal(missed(), 5);
	mdv_stats_stop(&rig.port);
	rig.port.started = false;
	assert_int_equal(missed(), 5);
}

/** A card that lacks buffers at its full rate goes round each minute or two. */
static void
it_goes_round_often(void **state)
{
	const uint64_t first = 3000000000, step = 1000000000;
	uint64_t k;

	(void)state;
	show(MDV_DEVICE_OUT_OF_BUFFER, first);
	mdv_stats_start(&rig.port);
	rig.port.started = true;
	for (k = 1; k < 20; k++) {
		show(MDV_DEVICE_OUT_OF_BUFFER, (uint32_t)(first + k * step));
		assert_int_equal(missed(), k * step);
		assert_int_equal(missed(), k * step);
	}
	assert_int_equal(mdv_stats_reset(&rig.dev), 0);
	assert_int_equal(missed(), 0);
	for (; k < 30; k++) {
		show(MDV_DEVICE_OUT_OF_BUFFER, (uint32_t)(first + k * step));
		assert_int_equal(missed(), (k - 19) * step);
	}
	mdv_stats_stop(&rig.port);
	assert_int_equal(missed(), 10 * step);
	/* The device recovers, and counts anew. */
	show(MDV_DEVICE_OUT_OF_BUFFER, 0);
	mdv_stats_start(&rig.port);
	show(MDV_DEVICE_OUT_OF_BUFFER, 2);
	assert_int_equal(missed(), 10 * step + 2);
}

/** Changes of the device's count after a start, and the frames that they stand for. */
static const struct {
	uint64_t base, now, missed;
} steps[] = {
	{ 0, 0, 0 },
	{ 0, UINT32_MAX, UINT32_MAX },
	{ 7, 0, 0 },              /* the device was reset */
	{ UINT32_MAX / 4, 5, 0 }, /* the same */
	{ 1000, 999, 0 },         /* read before the base was */
	{ UINT32_MAX, 0, 1 },
	{ UINT32_MAX, INT32_MAX - 1, INT32_MAX },
	{ UINT32_MAX, INT32_MAX, 0 },
	{ UINT32_MAX, UINT32_MAX - 1, 0 },
	{ (4ULL << 32) - 1, 2, 3 },    /* it went round before */
	{ 1ULL << 32, UINT32_MAX, 0 }, /* of a device that counts in 64 bits, cleared */
	{ 1ULL << 32, 1ULL << 33, 1ULL << 32 },
};

static void
a_decrease_is_a_wrap_or_nothing(void **state)
{
	uint64_t before = 0;
	unsigned int i;

	(void)state;
	rig.port.started = true;
	for (i = 0; i < RTE_DIM(steps); i++) {
		assert_int_equal(mdv_device_counted(steps[i].base, steps[i].now), steps[i].missed);
		show(MDV_DEVICE_OUT_OF_BUFFER, steps[i].base);
		mdv_stats_start(&rig.port);
		assert_int_equal(missed(), before);
		show(MDV_DEVICE_OUT_OF_BUFFER, steps[i].now);
		before += steps[i].missed;
		assert_int_equal(missed(), before);
		mdv_stats_stop(&rig.port);
		assert_int_equal(missed(), before);
	}
}

static void
to_read_changes_no_terms(void **state)
{
	struct mdv_missed terms;

	(void)state;
	/* Unreadable at the start, then readable twice, then unreadable. */
	mdv_stats_start(&rig.port);
	rig.port.started = true;
	memcpy(&terms, &rig.port.missed, sizeof(terms));
	assert_int_equal(missed(), 0);
	show(MDV_DEVICE_OUT_OF_BUFFER, 50);
	assert_int_equal(missed(), 0);
	show(MDV_DEVICE_OUT_OF_BUFFER, 54);
	assert_int_equal(missed(), 0);
	assert_memory_equal(&terms, &rig.port.missed, sizeof(terms));
	assert_int_equal(mdv_stats_reset(&rig.dev), 0);
	memcpy(&terms, &rig.port.missed, sizeof(terms));
	show(MDV_DEVICE_OUT_OF_BUFFER, 57);
	assert_int_equal(missed(), 3);
	terms.terms[terms.seq & 1].seen = 57;
	hide(MDV_DEVICE_OUT_OF_BUFFER);
	assert_int_equal(missed(), 0);
	assert_memory_equal(&terms, &rig.port.missed, sizeof(terms));
}

static void
unreadable_counts_leave_those_of_earlier_starts(void **state)
{
	(void)state;
	rig.port.started = true;
	show(MDV_DEVICE_OUT_OF_BUFFER, 10);
	mdv_stats_start(&rig.port);
	show(MDV_DEVICE_OUT_OF_BUFFER, 14);
	mdv_stats_stop(&rig.port);
	assert_int_equal(missed(), 4);
	mdv_stats_start(&rig.port);
	hide(MDV_DEVICE_OUT_OF_BUFFER);
	assert_int_equal(missed(), 4);
	mdv_stats_stop(&rig.port);
	assert_int_equal(missed(), 4);
	mdv_stats_start(&rig.port);
	show(MDV_DEVICE_OUT_OF_BUFFER, 1000);
	assert_int_equal(missed(), 4);
	/* A stopped port has no base, whether the count can be read or not. */
	mdv_stats_stop(&rig.port);
	rig.port.started = false;
	assert_int_equal(mdv_stats_reset(&rig.dev), 0);
	show(MDV_DEVICE_OUT_OF_BUFFER, 1001);
	assert_int_equal(missed(), 0);
}

/** Frames that are missed from one start to the next, and how often the port is started. */
#define RACE_STEP   10
#define RACE_STARTS 300

struct race {
	uint64_t nb_reads, nb_backward, most;
	bool over;
};

/** Cmocka's asserts only work in the main thread. */
static void *
race_read(void *arg)
{
	struct race *race = arg;

	while (!__atomic_load_n(&race->over, __ATOMIC_RELAXED) || race->nb_reads == 0) {
		struct rte_eth_stats stats = { 0 };

		mdv_stats_get(MDV_COMPAT_STATS_CALL(&rig.dev, &stats, NULL));
		race->nb_backward += stats.imissed < race->most;
		race->most = RTE_MAX(race->most, stats.imissed);
		race->nb_reads++;
	}
	return NULL;
}

static void
threads_see_it_grow_over_stops_and_starts(void **state)
{
	struct race races[2] = { 0 };
	pthread_t threads[RTE_DIM(races)];
	unsigned int i;

	(void)state;
	/* This makes a stop take a while. */
	show(MDV_DEVICE_LIFESPAN, 1);
	show(MDV_DEVICE_OUT_OF_BUFFER, 1000000);
	mdv_stats_start(&rig.port);
	rig.port.started = true;
	for (i = 0; i < RTE_DIM(races); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, race_read, &races[i]), 0);
	for (i = 1; i <= RACE_STARTS; i++) {
		show(MDV_DEVICE_OUT_OF_BUFFER, 1000000 + i * RACE_STEP);
		__atomic_store_n(&rig.port.started, false, __ATOMIC_RELAXED);
		mdv_stats_stop(&rig.port);
		mdv_stats_start(&rig.port);
		__atomic_store_n(&rig.port.started, true, __ATOMIC_RELAXED);
	}
	for (i = 0; i < RTE_DIM(races); i++) {
		__atomic_store_n(&races[i].over, true, __ATOMIC_RELAXED);
		pthread_join(threads[i], NULL);
		assert_int_equal(races[i].nb_backward, 0);
		assert_true(races[i].most <= RACE_STARTS * RACE_STEP);
	}
	assert_int_equal(missed(), RACE_STARTS * RACE_STEP);
}

static void
a_stop_waits_for_what_linux_shows_late(void **state)
{
	/* Linux's 10 ms, none, and one that would hold up the stop. */
	static const struct {
		uint64_t lifespan, least_ms, most_ms;
	} cases[] = { { 10, 10, 5000 }, { 0, 0, 5000 }, { 3600 * 1000, 100, 60000 } };
	unsigned int i;

	(void)state;
	show(MDV_DEVICE_OUT_OF_BUFFER, 1);
	for (i = 0; i < RTE_DIM(cases); i++) {
		const uint64_t begin = rte_get_timer_cycles();
		uint64_t ms;

		show(MDV_DEVICE_LIFESPAN, cases[i].lifespan);
		mdv_stats_stop(&rig.port);
		ms = (rte_get_timer_cycles() - begin) * 1000 / rte_get_timer_hz();
		assert_uint_in_range(ms, cases[i].least_ms, cases[i].most_ms);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(queues_add_up_over_their_base, rig_make, rig_free),
		cmocka_unit_test_setup_teardown(
			what_is_taken_back_counts_as_nothing, rig_make, rig_free),
		cmocka_unit_test_setup_teardown(
			frames_missed_are_those_while_started, rig_make, rig_free),
		cmocka_unit_test_setup_teardown(the_device_counts_in_32_bits, rig_make, rig_free),
		cmocka_unit_test_setup_teardown(it_goes_round_often, rig_make, rig_free),
		cmocka_unit_test_setup_teardown(
			a_decrease_is_a_wrap_or_nothing, rig_make, rig_free),
		cmocka_unit_test_setup_teardown(to_read_changes_no_terms, rig_make, rig_free),
		cmocka_unit_test_setup_teardown(
			unreadable_counts_leave_those_of_earlier_starts, rig_make, rig_free),
		cmocka_unit_test_setup_teardown(
			threads_see_it_grow_over_stops_and_starts, rig_make, rig_free),
		cmocka_unit_test_setup_teardown(
			a_stop_waits_for_what_linux_shows_late, rig_make, rig_free),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
