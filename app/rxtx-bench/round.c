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
/** The same of a sending one, in bursts. */
#define WARM_BURSTS 2u
/** Descriptors that each frame takes in a ring for frames that may be scattered: both drivers. */
#define SEGS 4u

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

/** Where a round of sends is. */
struct send_at {
	unsigned int done;
	uint16_t queue;
};

/** Send packets until @p to are sent, spread over the queues. @param round NULL: nothing is
 * measured
 */
static void
send_until(struct bench_port *port, const struct bench_case *how, struct send_at *at,
	unsigned int to, struct bench_round *round)
{
	const uint64_t end = rte_rdtsc() + PATIENCE * rte_get_tsc_hz();
	const bool is_bare = port->is_bare;
	const unsigned int from = at->done;
	unsigned int done = from;
	uint16_t q = at->queue;

	for (; done < to && rte_rdtsc() < end; q = (q + 1) % port->nb_queues) {
		const uint16_t want = RTE_MIN(to - done, how->burst);
		const uint64_t start = round != NULL ? measure_begin() : 0;
		const uint16_t got = is_bare ? bench_bare_send(q, want)
					     : rte_eth_tx_burst(port->id, q, pkts + done, want);

		if (round != NULL) {
			round->ticks += measure_end(start);
			round->packets += got;
		}
		done += got;
	}
	port->sent += done - from;
	at->done = done;
	at->queue = q;
}

/** Send all packets, and measure nothing. */
static void
send_all(struct bench_port *port, const struct bench_case *how, unsigned int nb)
{
	struct send_at at = { .done = 0 };

	send_until(port, how, &at, nb, NULL);
}

/**
 * Send @p nb packets and port->nb_behind more. The first bursts, which are not measured, free more
 * than they send: what has completed waits for them, and a burst of one driver takes more of it
 * than that of another. As many are sent behind, so that there is as much to free in the next
 * round, and those that are measured free as many as they are.
 */
static void
send_measured(struct bench_port *port, const struct bench_case *how, unsigned int nb,
	struct bench_round *round)
{
	const unsigned int from = nb_unmeasured(how, nb, WARM_BURSTS * how->burst, port->nb_queues);
	const unsigned int avail = from != 0 ? rte_mempool_avail_count(port->tx_pool) : 0;
	const unsigned int behind = port->nb_behind;
	struct send_at at = { .done = 0 };
	unsigned int freed = 0;

	send_until(port, how, &at, from, NULL);
	if (from != 0 && !port->is_bare)
		freed = (rte_mempool_avail_count(port->tx_pool) - avail) / how->nb_segs;
	port->nb_behind =
		freed > from ? RTE_MIN(freed - from, port->nb_queues * BENCH_RING / 2) : 0;
	/* What is freed has room there: an application takes as many mbufs as it sends. */
	if (from != 0)
		rte_mempool_cache_flush(NULL, port->tx_pool);
	send_until(port, how, &at, nb, round);
	send_until(port, how, &at, nb + behind, NULL);
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

/** @return the frames that wait, of which a queue counts the descriptors. */
static unsigned int
waiting(const struct bench_port *port, const struct bench_case *how)
{
	unsigned int nb = 0;

	for (uint16_t q = 0; q < port->nb_queues; q++) {
		int count = rte_eth_rx_queue_count(port->id, q);

		nb += count > 0 ? count : 0;
	}
	return how->room != 0 ? nb / SEGS : nb;
}

/** Receive the sent frames; the device decides their number (TSO). Then it has completed all WQEs,
 * so that each round pays for freeing the packets of the round before. */
static void
take_back(struct bench_port *port, const struct bench_case *how)
{
	unsigned int quiet = 0;

	/* Not by rte_eth_rx_queue_count(), which may tell more than come. */
	while (quiet < QUIET_POLLS) {
		unsigned int nb = 0;

		for (uint16_t q = 0; q < port->nb_queues; q++) {
			const uint16_t got = rte_eth_rx_burst(port->id, q, pkts, how->burst);

			rte_pktmbuf_free_bulk(pkts, got);
			nb += got;
		}
		port->received += nb;
		quiet = nb == 0 ? quiet + 1 : 0;
		if (nb == 0)
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
		send_all(port, how, nb);
	if (ret == 0)
		ret = device(bench_thaw);
	while (ret == 0 && waiting(port, how) < nb && rte_rdtsc() < end)
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

	send_all(port, how, nb);
	while (waiting(port, how) < nb && rte_rdtsc() < end)
		rte_pause();
}

static int
receive_round(struct bench_port *port, const struct bench_case *how, struct bench_round *round)
{
	/* A ring for frames that may be scattered has fewer places. */
	const unsigned int nb = how->room != 0 ? BENCH_BATCH / SEGS : BENCH_BATCH;
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
	const unsigned int all = nb + port->nb_behind;
	int ret = bench_port_frames(port, how, pkts, all);

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
		fetch(before[port->nth], port->nb_before);
		fetch(pkts, all);
	}
	memcpy(before[port->nth], pkts, all * sizeof(pkts[0]));
	port->nb_before = all;
	if (how->nb_lcores != 0) {
		ret = bench_share_run(port, how, pkts, nb, round);
		port->sent += round->packets;
	} else {
		send_measured(port, how, nb, round);
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
