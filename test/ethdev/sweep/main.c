/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each control operation with its first call of the kernel's verbs failing, then its second, and so
 * on until it has no more: each time it must say ENOMEM and leave the port as it was, and in the
 * end succeed; then the port sends and receives. And all of that with the driver's own calls for
 * memory.
 *
 * Usage: ethdev-sweep EAL-ARGUMENTS -- verbs|memory DRIVER
 *
 * The port is net_mlx5dv0 on mlx5_0, looped to itself. What is left behind the device tells
 * (SOFTHCA_LOG=info).
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>

#include "sweep.h"

#define NB_MBUFS   2047
#define MOST_CALLS 1000
#define PATIENCE_S 60

struct rte_mempool *sweep_pool;
static enum sweep_fault what;
static const char *at = "set-up";

void
sweep_must(bool ok, const char *format, ...)
{
	va_list args;

	if (ok)
		return;
	printf("ethdev-sweep: %s: ", at);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
	abort();
}

/* @{ The port, as an application sees it. */
struct view {
	uint16_t mtu;
	int promiscuous, allmulticast, vlan;
	struct rte_ether_addr macs[8];
	struct rte_eth_rss_reta_entry64 reta[8];
	struct rte_eth_rss_conf rss;
	uint8_t key[64];
	struct rte_eth_rxq_info rxqs[SWEEP_NB_QUEUES];
	struct rte_eth_txq_info txqs[SWEEP_NB_QUEUES];
};

static void
look(struct view *view)
{
	struct rte_eth_dev_info info;

	memset(view, 0, sizeof(*view));
	sweep_must(rte_eth_dev_info_get(sweep_port, &info) == 0, "rte_eth_dev_info_get");
	rte_eth_dev_get_mtu(sweep_port, &view->mtu);
	view->promiscuous = rte_eth_promiscuous_get(sweep_port);
	view->allmulticast = rte_eth_allmulticast_get(sweep_port);
	view->vlan = rte_eth_dev_get_vlan_offload(sweep_port);
	rte_eth_macaddrs_get(sweep_port, view->macs, RTE_DIM(view->macs));
	for (unsigned int i = 0; i < RTE_DIM(view->reta); i++)
		view->reta[i].mask = UINT64_MAX;
	rte_eth_dev_rss_reta_query(sweep_port, view->reta, info.reta_size);
	view->rss.rss_key = view->key;
	view->rss.rss_key_len = sizeof(view->key);
	rte_eth_dev_rss_hash_conf_get(sweep_port, &view->rss);
	for (uint16_t i = 0; i < SWEEP_NB_QUEUES; i++) {
		rte_eth_rx_queue_info_get(sweep_port, i, &view->rxqs[i]);
		rte_eth_tx_queue_info_get(sweep_port, i, &view->txqs[i]);
	}
	view->rss.rss_key = NULL;
}

/** One packet from each Tx queue arrives; each is sent until it does. */
static void
exchange(void)
{
	static const uint8_t head[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 7, 0x88,
		0xb5 };
	const time_t end = time(NULL) + PATIENCE_S;
	struct rte_mbuf *pkt, *pkts[32];
	unsigned int missing = (1u << SWEEP_NB_QUEUES) - 1;

	while (missing != 0) {
		sweep_must(time(NULL) < end, "nothing arrives of the Tx queues %#x", missing);
		for (uint16_t i = 0; i < SWEEP_NB_QUEUES; i++) {
			pkt = rte_pktmbuf_alloc(sweep_pool);
			sweep_must(pkt != NULL, "no mbufs");
			memset(rte_pktmbuf_append(pkt, 60), i, 60);
			memcpy(rte_pktmbuf_mtod(pkt, void *), head, sizeof(head));
			if (rte_eth_tx_burst(sweep_port, i, &pkt, 1) == 0)
				rte_pktmbuf_free(pkt);
		}
		for (uint16_t i = 0; i < 64; i++) {
			uint16_t nb = rte_eth_rx_burst(
				sweep_port, i % SWEEP_NB_QUEUES, pkts, RTE_DIM(pkts));

			for (uint16_t k = 0; k < nb; k++)
				missing &=
					~(1u << *rte_pktmbuf_mtod_offset(pkts[k], uint8_t *, 40));
			rte_pktmbuf_free_bulk(pkts, nb);
		}
	}
}
/* @} */

/** The nth call fails. @return whether there was one */
static bool
fail(const struct sweep_operation *operation, unsigned int nth)
{
	struct view before = { 0 }, now = { 0 };
	bool fired;
	int ret;

	if (!(operation->after & SWEEP_OPENS))
		look(&before);
	sweep_arm(what, nth);
	ret = operation->run();
	fired = sweep_disarm();
	if (ret == 0) {
		/* It can do without. */
		if (fired && operation->undo != NULL)
			sweep_must(operation->undo() == 0, "cannot be undone");
		return fired;
	}
	sweep_must(fired, "%s", rte_strerror(-ret));
	sweep_must(ret == -ENOMEM || operation->after & SWEEP_OPENS, "call %u fails: %s", nth,
		rte_strerror(-ret));
	if (operation->after & (SWEEP_OPENS | SWEEP_STEPS))
		return true;
	look(&now);
	sweep_must(memcmp(&before, &now, sizeof(now)) == 0, "call %u fails: the port has changed",
		nth);
	return true;
}

static void
sweep(const struct sweep_operation *operation)
{
	unsigned int nth = 1;

	at = operation->name;
	while (fail(operation, nth)) {
		nth++;
		sweep_must(nth < MOST_CALLS, "fails again and again");
	}
	printf("%s: %u calls\n", at, nth - 1);
	if (!(operation->after & SWEEP_QUIET))
		exchange();
}

/** Bytes of DPDK's memory that are in use. */
static size_t
nb_allocated(void)
{
	struct rte_malloc_socket_stats stats;

	sweep_must(rte_malloc_get_socket_stats(rte_socket_id(), &stats) == 0, "no statistics");
	return stats.heap_allocsz_bytes;
}

int
main(int argc, char **argv)
{
	const int nb_eal = rte_eal_init(argc, argv);
	size_t before, after;

	sweep_must(
		nb_eal >= 0 && argc == nb_eal + 3, "usage: EAL-ARGUMENTS -- verbs|memory DRIVER");
	what = strcmp(argv[nb_eal + 1], "memory") == 0 ? SWEEP_MEMORY : SWEEP_VERBS;
	sweep_must(sweep_watch_memory(argv[nb_eal + 2]), "the driver needs no memory");
	setvbuf(stdout, NULL, _IOLBF, 0);
	sweep_pool = rte_pktmbuf_pool_create(
		"sweep", NB_MBUFS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	sweep_must(sweep_pool != NULL, "rte_pktmbuf_pool_create");
	/* What the first port leaves for all others. */
	sweep_must(sweep_operations[0].run() == 0 && sweep_operations[0].undo() == 0, "no port");
	before = nb_allocated();
	for (unsigned int i = 0; i < sweep_nb_operations; i++)
		sweep(&sweep_operations[i]);
	at = "in the end";
	after = nb_allocated();
	sweep_must(before == after, "%zu bytes are allocated, %zu were", after, before);
	sweep_must(rte_mempool_in_use_count(sweep_pool) == 0, "%u mbufs are missing",
		rte_mempool_in_use_count(sweep_pool));
	printf("%u operations\n", sweep_nb_operations);
	return EXIT_SUCCESS;
}
