/* SPDX-License-Identifier: BSD-3-Clause */
/* One round: fill (or empty) the rings, stop the device, time the bursts. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_atomic.h>
#include <rte_cycles.h>
#include <valgrind/callgrind.h>

#include "bench.h"

/** The longest time for frames to come back, in seconds. */
#define PATIENCE 60
/** After so many looks at an empty ring, so far apart, no frame is in flight any more. */
#define QUIET_POLLS 100
#define QUIET_US    100
/** More than the last level of caches has. */
#define COLD_BYTES  (64u << 20)
#define NB_PKTS_MAX (BENCH_QUEUES_MAX * BENCH_BATCH)
/** Packets that a receiving round begins with in each queue and does not measure: a block of
 * completions. */
#define WARM_PKTS 64u
/** The same of a sending one, in bursts: each takes two completions at most, by either driver. */
#define WARM_BURSTS 2u

const char *bench_freeze, *bench_thaw;
bool bench_steps;

static struct rte_mbuf *pkts[NB_PKTS_MAX];
/** To be sent burst by burst, while pkts is for received ones. */
static struct rte_mbuf *sent[NB_PKTS_MAX];
/** What a port has sent in its round before, and frees in this one. */
static struct rte_mbuf *before[BENCH_PORTS + 1][NB_PKTS_MAX];

static int
device(const char *command)
{
	if (command == NULL || system(command) == 0)
		return 0;
	fprintf(stderr, "rxtx-bench: `%s` failed\n", command);
	return -EIO;
}

/** Begin a measurement: by callgrind, by steps, or by the clock. */
static inline uint64_t
measure_begin(void)
{
	if (bench_steps)
		bench_step_begin();
	CALLGRIND_TOGGLE_COLLECT;
	return rte_rdtsc();
}

/** End a measurement. @return ticks, or instructions, since @p start */
static inline uint64_t
measure_end(uint64_t start)
{
	const uint64_t ticks = rte_rdtsc() - start;

	CALLGRIND_TOGGLE_COLLECT;
	return bench_steps ? bench_step_end() : ticks;
}

static void
caches_empty(void)
{
	static uint8_t *bytes;

	if (bytes == NULL)
		bytes = calloc(1, COLD_BYTES);
	for (unsigned int i = 0; bytes != NULL && i < COLD_BYTES; i += RTE_CACHE_LINE_SIZE)
		((volatile uint8_t *)bytes)[i]++;
}

/** @return the packets that a round begins with and does not measure. Instructions are the same
 * with cold caches. */
static unsigned int
nb_unmeasured(const struct bench_case *how, unsigned int nb, unsigned int nb_per_queue,
	unsigned int nb_queues)
{
	if (how->cold || bench_steps || RUNNING_ON_VALGRIND)
		return 0;
	return RTE_MIN(nb_per_queue * nb_queues, nb / 2);
}

/** Send all packets, spread over the queues. @param round NULL: nothing is measured */
static void
send_all(struct bench_port *port, const struct bench_case *how, unsigned int nb,
	struct bench_round *round)
{
	const uint64_t end = rte_rdtsc() + PATIENCE * rte_get_tsc_hz();
	const unsigned int from = nb_unmeasured(how, nb, WARM_BURSTS * how->burst, port->nb_queues);
	const bool is_bare = port->is_bare;
	unsigned int done = 0;

	for (uint16_t q = 0; done < nb && rte_rdtsc() < end; q = (q + 1) % port->nb_queues) {
		const bool timed = round != NULL && done >= from;
		const uint16_t want = RTE_MIN(nb - done, how->burst);
		const uint64_t start = timed ? measure_begin() : 0;
		const uint16_t got = is_bare ? bench_bare_send(q, want)
					     : rte_eth_tx_burst(port->id, q, pkts + done, want);

		if (timed) {
			round->ticks += measure_end(start);
			round->packets += got;
		}
		done += got;
	}
	port->sent += done;
}

static unsigned int
touch(struct rte_mbuf *const *mbufs, unsigned int nb)
{
	unsigned int sum = 0;

	for (unsigned int i = 0; i < nb; i++)
		sum += *rte_pktmbuf_mtod(mbufs[i], const volatile uint8_t *);
	return sum;
}

/** Have packets at hand, as an application has those that it sends and has sent: a round begins
 * with cold caches otherwise. */
static void
fetch(struct rte_mbuf *const *mbufs, unsigned int nb)
{
	for (unsigned int i = 0; i < nb; i++) {
		const struct rte_mbuf *seg = mbufs[i];

		for (unsigned int left = seg->nb_segs; left > 0 && seg != NULL; left--) {
			(void)*rte_pktmbuf_mtod(seg, const volatile uint8_t *);
			seg = seg->next;
		}
	}
	/* A read that is still under way would count as the burst's. */
	rte_mb();
}

/** Receive packets and free them. @param round NULL: nothing is measured */
static void
receive_all(struct bench_port *port, const struct bench_case *how, unsigned int nb,
	struct bench_round *round)
{
	const uint64_t end = rte_rdtsc() + PATIENCE * rte_get_tsc_hz();
	/* Bursts prefetch for those behind them; what that is worth shows after the first ones. */
	const unsigned int from = nb_unmeasured(how, nb, WARM_PKTS, port->nb_queues);
	const bool is_bare = port->is_bare;
	unsigned int done = 0;

	for (uint16_t q = 0; done < nb && rte_rdtsc() < end; q = (q + 1) % port->nb_queues) {
		const bool timed = round != NULL && done >= from;
		const uint64_t start = timed ? measure_begin() : 0;
		const uint16_t got = is_bare ? bench_bare_receive(q, pkts, how->burst)
					     : rte_eth_rx_burst(port->id, q, pkts, how->burst);

		if (how->touch)
			touch(pkts, got);
		if (timed) {
			round->ticks += measure_end(start);
			round->packets += got;
		}
		rte_pktmbuf_free_bulk(pkts, got);
		done += got;
	}
	port->received += done;
}

static unsigned int
waiting(const struct bench_port *port)
{
	unsigned int nb = 0;

	for (uint16_t q = 0; q < port->nb_queues; q++) {
		int count = rte_eth_rx_queue_count(port->id, q);

		nb += count > 0 ? count : 0;
	}
	return nb;
}

/** Receive the sent frames; the device decides their number (TSO). Then it has completed all WQEs,
 * so that each round pays for freeing the packets of the round before. */
static void
take_back(struct bench_port *port, const struct bench_case *how)
{
	unsigned int quiet = 0;

	while (quiet < QUIET_POLLS) {
		unsigned int nb = waiting(port);

		quiet = nb == 0 ? quiet + 1 : 0;
		receive_all(port, how, nb, NULL);
		rte_delay_us_sleep(QUIET_US);
	}
}

/** Send burst by burst; the device is done with each before the next. */
static int
send_counted(struct bench_port *port, const struct bench_case *how, unsigned int nb,
	struct bench_round *round)
{
	int ret = device(bench_begin);

	round->packets = nb;
	memcpy(sent, pkts, nb * sizeof(pkts[0]));
	for (unsigned int done = 0; done < nb && ret == 0; done += how->burst) {
		const uint16_t q = done / how->burst % port->nb_queues;
		const uint16_t want = RTE_MIN(nb - done, how->burst);

		if (rte_eth_tx_burst(port->id, q, sent + done, want) != want)
			ret = -EIO;
		port->sent += want;
		take_back(port, how);
	}
	return ret == 0 ? bench_trace_count(port, how, nb) : ret;
}

/** Send all; then the device has them at once, and what it does goes by their number only. */
static int
receive_counted(struct bench_port *port, const struct bench_case *how, unsigned int nb,
	struct bench_round *round)
{
	const uint64_t end = rte_rdtsc() + PATIENCE * rte_get_tsc_hz();
	int ret = device(bench_freeze);

	round->packets = nb;
	if (ret == 0)
		ret = device(bench_begin);
	if (ret == 0)
		send_all(port, how, nb, NULL);
	if (ret == 0)
		ret = device(bench_thaw);
	while (ret == 0 && waiting(port) < nb && rte_rdtsc() < end)
		rte_pause();
	if (ret == 0)
		ret = bench_trace_count(port, how, nb);
	receive_all(port, how, nb, NULL);
	return ret;
}

/** Have frames wait in the receive queues. */
static void
bring(struct bench_port *port, const struct bench_case *how, unsigned int nb)
{
	const uint64_t end = rte_rdtsc() + PATIENCE * rte_get_tsc_hz();

	send_all(port, how, nb, NULL);
	while (waiting(port) < nb && rte_rdtsc() < end)
		rte_pause();
}

static int
receive_round(struct bench_port *port, const struct bench_case *how, struct bench_round *round)
{
	/* A ring for frames that may be scattered has fewer places. */
	const unsigned int nb = how->room != 0 ? BENCH_BATCH / 4 : BENCH_BATCH;
	int ret = port->is_bare ? bench_bare_rx_complete(nb / port->nb_queues)
				: bench_port_frames(port, how, pkts, nb);

	if (ret != 0)
		return ret;
	if (bench_count != NULL)
		return receive_counted(port, how, nb, round);
	if (!port->is_bare)
		bring(port, how, nb);
	ret = device(bench_freeze);
	if (ret != 0)
		return ret;
	if (how->cold)
		caches_empty();
	if (how->nb_lcores != 0) {
		ret = bench_share_run(port, how, pkts, nb, round);
		port->received += round->packets;
	} else {
		receive_all(port, how, nb, round);
	}
	return device(bench_thaw) != 0 ? -EIO : ret;
}

static int
send_round(struct bench_port *port, const struct bench_case *how, struct bench_round *round)
{
	const unsigned int nb = bench_port_is_large(how) ? BENCH_BATCH / 2 : BENCH_BATCH;
	int ret = bench_port_frames(port, how, pkts, nb);

	if (bench_count != NULL && ret == 0)
		return send_counted(port, how, nb, round);
	if (ret == 0)
		ret = device(bench_freeze);
	if (ret != 0)
		return ret;
	if (port->is_bare)
		bench_bare_tx_take(pkts, nb);
	if (how->cold) {
		caches_empty();
	} else {
		fetch(before[port->nth], port->sent != 0 ? nb : 0);
		fetch(pkts, nb);
	}
	memcpy(before[port->nth], pkts, nb * sizeof(pkts[0]));
	if (how->nb_lcores != 0) {
		ret = bench_share_run(port, how, pkts, nb, round);
		port->sent += round->packets;
	} else {
		send_all(port, how, nb, round);
	}
	ret = device(bench_thaw) != 0 ? -EIO : ret;
	if (port->is_bare)
		bench_bare_tx_free();
	else
		take_back(port, how);
	return ret;
}

/** Take a burst of raw mbufs from the port's pool and put it back; time one of the two. */
static int
pool_round(struct bench_port *port, const struct bench_case *how, struct bench_round *round)
{
	const bool get = how->what == BENCH_POOL_GET;

	for (unsigned int done = 0; done < BENCH_BATCH; done += how->burst) {
		uint64_t start = get ? measure_begin() : 0;
		int ret = rte_mempool_get_bulk(port->pool, (void **)pkts, how->burst);

		round->ticks += get ? measure_end(start) : 0;
		if (ret != 0)
			return ret;
		start = get ? 0 : measure_begin();
		rte_mempool_put_bulk(port->pool, (void **)pkts, how->burst);
		round->ticks += get ? 0 : measure_end(start);
	}
	round->packets = BENCH_BATCH;
	return 0;
}

int
bench_round(struct bench_port *port, const struct bench_case *how, struct bench_round *round)
{
	switch (how->what) {
	case BENCH_RX:
		return receive_round(port, how, round);
	case BENCH_TX:
		return send_round(port, how, round);
	default:
		return pool_round(port, how, round);
	}
}

uint64_t
bench_round_overhead(void)
{
	uint64_t least = UINT64_MAX;

	for (unsigned int i = 0; i < (bench_steps ? 2 : 1000); i++) {
		const uint64_t start = measure_begin(), ticks = measure_end(start);

		least = RTE_MIN(least, ticks);
	}
	return least;
}
