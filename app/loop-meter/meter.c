/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Times the loop of a DPDK program that was not made to be timed: a plugin for the EAL's -d,
 * whatever the driver. After each burst that the first port's first queue receives it notes what
 * the loop has taken since the one before, if both were full: receive, process and send, of one
 * burst.
 *
 *     LOOP_METER=FILE program -d loop-meter.so ...
 *
 * FILE has a struct meter, which whoever reads it may look at while the program runs.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>

/** Packets of a full burst: MAX_PKT_BURST of DPDK's programs. */
#define BURST 32

#define NB_TICKS (1u << 20)

struct meter {
	uint64_t nb; /**< loops; the last is whole once nb says so */
	uint64_t hz; /**< ticks a second; 0 until the EAL knows */
	uint32_t ticks[NB_TICKS];
};

static struct {
	struct meter *meter;
	uint64_t last; /**< when the burst before was received; 0: it was not full */
} state;

/** Called by the lcore that polls. The TSC counts at the same rate whatever the CPU does. */
static uint16_t
on_receive(uint16_t port, uint16_t queue, struct rte_mbuf *packets[], uint16_t nb, uint16_t nb_most,
	void *arg)
{
	struct meter *meter = state.meter;
	uint64_t now;

	(void)port, (void)queue, (void)packets, (void)nb_most, (void)arg;
	if (nb != BURST) {
		state.last = 0;
		return nb;
	}
	now = rte_rdtsc();
	if (state.last != 0 && meter->nb < NB_TICKS) {
		meter->ticks[meter->nb] = (uint32_t)RTE_MIN(now - state.last, UINT32_MAX);
		rte_atomic_thread_fence(__ATOMIC_RELEASE);
		meter->nb++;
	}
	state.last = now;
	return nb;
}

/** A queue that is configured takes a callback. */
static void *
wait_for_queue(void *arg)
{
	(void)arg;
	while (rte_eth_find_next(0) >= RTE_MAX_ETHPORTS ||
		rte_eth_add_rx_callback(rte_eth_find_next(0), 0, on_receive, NULL) == NULL)
		usleep(10000);
	state.meter->hz = rte_get_tsc_hz();
	return NULL;
}

static int
map_meter(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0)
		return -1;
	if (ftruncate(fd, sizeof(struct meter)) != 0) {
		close(fd);
		return -1;
	}
	state.meter = mmap(NULL, sizeof(struct meter), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_POPULATE, fd, 0);
	close(fd);
	return state.meter == MAP_FAILED ? -1 : 0;
}

RTE_INIT(start_meter)
{
	const char *path = getenv("LOOP_METER");
	pthread_t thread;

	if (path == NULL)
		return;
	if (map_meter(path) != 0 || pthread_create(&thread, NULL, wait_for_queue, NULL) != 0) {
		perror("LOOP_METER");
		exit(EXIT_FAILURE);
	}
	pthread_detach(thread);
}
