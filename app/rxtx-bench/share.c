/* SPDX-License-Identifier: BSD-3-Clause */
/* Rounds of several lcores, each with queues of its own, which show the cost of sharing. */
#include <errno.h>

#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_lcore.h>

#include "bench.h"

struct share {
	struct bench_port *port;
	const struct bench_case *how;
	struct rte_mbuf **pkts; /**< to send, or room for received ones */
	unsigned int nb;        /**< to send */
	uint16_t first, step;   /**< queues */
	unsigned int done;
	uint64_t ticks;
};

/** Number of lcores that are ready to begin together. */
static unsigned int here;

static void
begin_together(const struct share *share)
{
	__atomic_fetch_add(&here, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(&here, __ATOMIC_ACQUIRE) < share->step)
		rte_pause();
}

/** Drain each queue; no more packets come. */
static int
share_receive(void *arg)
{
	struct share *share = arg;

	begin_together(share);
	for (uint16_t q = share->first; q < share->port->nb_queues; q += share->step) {
		uint16_t got;

		do {
			const uint64_t start = rte_rdtsc();

			got = rte_eth_rx_burst(share->port->id, q, share->pkts, share->how->burst);
			share->ticks += got != 0 ? rte_rdtsc() - start : 0;
			share->done += got;
			rte_pktmbuf_free_bulk(share->pkts, got);
		} while (got != 0);
	}
	return 0;
}

/** Fill the queues evenly, until one is full. */
static int
share_send(void *arg)
{
	struct share *share = arg;
	uint16_t q = share->first, sent;

	begin_together(share);
	do {
		const uint16_t want = RTE_MIN(share->nb - share->done, share->how->burst);
		const uint64_t start = rte_rdtsc();

		sent = rte_eth_tx_burst(share->port->id, q, share->pkts + share->done, want);
		share->ticks += rte_rdtsc() - start;
		share->done += sent;
		q += share->step;
		q = q < share->port->nb_queues ? q : share->first;
	} while (sent != 0 && share->done < share->nb);
	return 0;
}

int
bench_share_run(struct bench_port *port, const struct bench_case *how, struct rte_mbuf **pkts,
	unsigned int nb, struct bench_round *round)
{
	struct share shares[RTE_MAX_LCORE];
	unsigned int lcore, i = 0;

	if (rte_lcore_count() < how->nb_lcores)
		return -ENOTSUP;
	here = 0;
	for (i = 0; i < how->nb_lcores; i++)
		shares[i] = (struct share){
			.port = port,
			.how = how,
			.pkts = pkts + i * (nb / how->nb_lcores),
			.nb = nb / how->nb_lcores,
			.first = i,
			.step = how->nb_lcores,
		};
	i = 1;
	RTE_LCORE_FOREACH_WORKER(lcore)
	{
		if (i < how->nb_lcores)
			rte_eal_remote_launch(how->what == BENCH_TX ? share_send : share_receive,
				&shares[i++], lcore);
	}
	(how->what == BENCH_TX ? share_send : share_receive)(&shares[0]);
	rte_eal_mp_wait_lcore();
	for (i = 0; i < how->nb_lcores; i++) {
		round->ticks += shares[i].ticks;
		round->packets += shares[i].done;
		if (how->what == BENCH_TX)
			rte_pktmbuf_free_bulk(
				shares[i].pkts + shares[i].done, shares[i].nb - shares[i].done);
	}
	return round->packets != 0 ? 0 : -EIO;
}
