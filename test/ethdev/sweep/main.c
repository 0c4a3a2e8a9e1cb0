/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs each control operation with its first call of the kernel's verbs failing, then its second,
 * and so on until it has no more. Each time the operation must return ENOMEM and leave the port as
 * it was, and in the end succeed; after each try the port must send and receive. Other runs fail a
 * library's calls for memory, or its system calls.
 *
 * Usage: ethdev-sweep EAL-ARGUMENTS -- DEVICE-ARGUMENTS verbs|memory|system LIBRARY...
 *
 * The port is net_mlx5dv0, looped to itself, beside a netdev. The device reports objects that are
 * left behind (SOFTHCA_LOG=info). A secondary process attaches the primary's port, asks it, sends
 * and receives.
 */
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_alarm.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_flow.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>

#include "sweep.h"

#define NB_MBUFS   2047
#define MOST_CALLS 1000

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

int
sweep_reason(void)
{
	sweep_must(rte_errno > 0, "failed, with %d in rte_errno", rte_errno);
	return -rte_errno;
}

/** @{ The port, as an application sees it. */
struct view {
	uint16_t mtu;
	int promiscuous, allmulticast, vlan;
	struct rte_ether_addr macs[8];
	struct rte_eth_rss_reta_entry64 reta[8];
	struct rte_eth_rss_conf rss;
	uint8_t key[64];
	struct rte_eth_rxq_info rxqs[SWEEP_NB_QUEUES];
	struct rte_eth_txq_info txqs[SWEEP_NB_QUEUES];
	struct sweep_netdev netdev;
	char rules[1 << 16]; /**< all rules, the driver's own included, as the port dumps them */
};

static void
look_at_rules(struct view *view)
{
	FILE *file = fmemopen(view->rules, sizeof(view->rules), "w");
	struct rte_flow_error error;

	sweep_must(file != NULL, "no memory");
	sweep_must(rte_flow_dev_dump(sweep_port, NULL, file, &error) == 0, "rte_flow_dev_dump");
	sweep_must(fflush(file) == 0 && !ferror(file), "too many rules");
	fclose(file);
}

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
	sweep_netdev_look(info.if_index, &view->netdev);
	look_at_rules(view);
}

/** The frame that is sent: broadcast, of a type for experiments. */
struct frame {
	struct rte_ether_hdr head;
	uint32_t sequence;
	uint32_t queue;
	uint8_t rest[38];
};

static void
send_all(uint32_t sequence)
{
	struct frame frame = {
		.head = { .dst_addr.addr_bytes = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
			.src_addr.addr_bytes = { 2, 0, 0, 0, 0, 7 },
			.ether_type = RTE_BE16(0x88b5) },
		.sequence = sequence,
	};

	for (frame.queue = 0; frame.queue < SWEEP_NB_QUEUES; frame.queue++) {
		struct rte_mbuf *pkt = rte_pktmbuf_alloc(sweep_pool);

		sweep_must(pkt != NULL, "no mbufs");
		memcpy(rte_pktmbuf_append(pkt, sizeof(frame)), &frame, sizeof(frame));
		if (rte_eth_tx_burst(sweep_port, frame.queue, &pkt, 1) == 0)
			rte_pktmbuf_free(pkt);
	}
}

/** @return the queues whose frames have arrived. */
static unsigned int
receive(uint32_t sequence)
{
	struct rte_mbuf *pkts[32];
	unsigned int queues = 0;

	for (uint16_t i = 0; i < SWEEP_NB_QUEUES; i++) {
		uint16_t nb = rte_eth_rx_burst(sweep_port, i, pkts, RTE_DIM(pkts));

		for (uint16_t k = 0; k < nb; k++) {
			const struct frame *frame = rte_pktmbuf_mtod(pkts[k], const void *);

			if (pkts[k]->data_len >= sizeof(*frame) &&
				frame->head.ether_type == RTE_BE16(0x88b5) &&
				frame->sequence == sequence)
				queues |= 1u << frame->queue;
		}
		rte_pktmbuf_free_bulk(pkts, nb);
	}
	return queues;
}

/** Send one packet from each Tx queue, until each has arrived. */
static void
exchange(void)
{
	static uint32_t sequence;
	const time_t end = time(NULL) + SWEEP_PATIENCE_S;
	unsigned int missing = (1u << SWEEP_NB_QUEUES) - 1;

	sequence++;
	while (missing != 0) {
		sweep_must(time(NULL) < end, "nothing arrives of the Tx queues %#x", missing);
		send_all(sequence);
		for (unsigned int i = 0; i < 32 && missing != 0; i++) {
			missing &= ~receive(sequence);
			/* The device may be waiting for this CPU. */
			sched_yield();
		}
	}
}
/* @} */

/** Run the operation with its nth call failing. @return whether there was such a call; @p result
 * gets the operation's own */
static bool
fail(const struct sweep_operation *operation, unsigned int nth, int *result)
{
	static struct view before, now;
	bool fired;
	int ret;

	if (!(operation->after & SWEEP_OPENS))
		look(&before);
	sweep_arm(what, nth);
	ret = operation->run();
	fired = sweep_disarm();
	*result = ret;
	sweep_must(fired || ret == 0 || ret == -ENOTSUP, "%s", rte_strerror(-ret));
	if (!fired)
		return false;
	/* The operation can do without this call. */
	if (ret == 0 && operation->undo != NULL)
		sweep_must(operation->undo() == 0, "call %u fails: cannot be undone", nth);
	if (operation->after & SWEEP_OPENS)
		return true;
	sweep_must(ret == 0 || ret == -ENOMEM, "call %u fails: %s", nth, rte_strerror(-ret));
	if (operation->after & SWEEP_STEPS)
		return true;
	look(&now);
	/* Recreated rules have other handles. */
	if (ret == 0)
		memcpy(now.rules, before.rules, sizeof(now.rules));
	sweep_must(memcmp(&before, &now, sizeof(now)) == 0, "call %u fails: the port has changed",
		nth);
	return true;
}

static void
sweep(const struct sweep_operation *operation)
{
	static bool receives;
	unsigned int nth = 1;
	int ret;

	at = operation->name;
	while (fail(operation, nth, &ret)) {
		if (receives)
			exchange();
		/* A test runner waits for output. */
		if (nth % 16 == 0)
			printf("%s: call %u\n", at, nth);
		nth++;
		sweep_must(nth < MOST_CALLS, "fails again and again");
	}
	if (ret == -ENOTSUP)
		printf("%s: refused\n", at);
	else
		printf("%s: %u calls\n", at, nth - 1);
	receives = !(operation->after & SWEEP_QUIET);
	if (receives)
		exchange();
}

/** @return the bytes of DPDK's memory in use. */
static size_t
nb_allocated(void)
{
	struct rte_malloc_socket_stats stats;
	uint64_t owner;

	/* Since DPDK 23.11 ethdev frees what its ports share with the last of them, and the next
	 * question after a port allocates it again. */
	sweep_must(rte_eth_dev_owner_new(&owner) == 0, "no owner");
	sweep_must(rte_malloc_get_socket_stats(rte_socket_id(), &stats) == 0, "no statistics");
	return stats.heap_allocsz_bytes;
}

/** @param nb gets the number of open descriptors */
static void
count_descriptors(void *nb)
{
	DIR *directory = opendir("/proc/self/fd");
	unsigned int count = 0;

	sweep_must(directory != NULL, "no /proc");
	while (readdir(directory) != NULL)
		count++;
	closedir(directory);
	__atomic_store_n((unsigned int *)nb, count, __ATOMIC_RELEASE);
}

/** EAL's interrupt thread counts in this number, but now and then has no descriptor of its own. */
static unsigned int
nb_descriptors(void)
{
	unsigned int nb = 0;

	sweep_must(rte_eal_alarm_set(1, count_descriptors, &nb) == 0, "no alarm");
	while (__atomic_load_n(&nb, __ATOMIC_ACQUIRE) == 0)
		sched_yield();
	return nb;
}

static void
sweep_tables(const struct sweep_operation *const *tables, unsigned int nb)
{
	const size_t bytes = nb_allocated();
	const unsigned int fds = nb_descriptors();
	time_t end;

	for (unsigned int i = 0; i < nb; i++) {
		for (const struct sweep_operation *row = tables[i]; row->name != NULL; row++)
			sweep(row);
	}
	at = "in the end";
	end = time(NULL) + SWEEP_PATIENCE_S;
	sweep_must(nb_allocated() == bytes, "%zu bytes are allocated, %zu were", nb_allocated(),
		bytes);
	/* Other threads briefly have descriptors of their own. */
	while (nb_descriptors() > fds)
		sweep_must(time(NULL) < end, "%u descriptors are open, %u were", nb_descriptors(),
			fds);
}

static void
sweep_primary(void)
{
	static const struct sweep_operation *const tables[] = { sweep_opening, sweep_queues,
		sweep_filters, sweep_rules, sweep_reads, sweep_beyond, sweep_closing };

	sweep_pool = rte_pktmbuf_pool_create(
		"sweep", NB_MBUFS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	sweep_must(sweep_pool != NULL, "rte_pktmbuf_pool_create");
	/* The first port and the first frame leave objects behind that all later ones share. */
	sweep_must(sweep_life_begin() == 0, "no port");
	exchange();
	exchange();
	sweep_must(sweep_life_end() == 0, "not removed");
	sweep_tables(tables, RTE_DIM(tables));
	sweep_must(rte_mempool_in_use_count(sweep_pool) == 0, "%u mbufs are missing",
		rte_mempool_in_use_count(sweep_pool));
}

/** The EAL has attached the port already. */
static void
sweep_secondary(void)
{
	static const struct sweep_operation *const tables[] = { sweep_attaching, sweep_reads,
		sweep_detaching };

	sweep_must(sweep_detaching[0].run() == 0, "no port");
	sweep_tables(tables, RTE_DIM(tables));
}

int
main(int argc, char **argv)
{
	static const char *const kinds[] = {
		[SWEEP_VERBS] = "verbs",
		[SWEEP_MEMORY] = "memory",
		[SWEEP_SYSTEM] = "system",
	};
	const int at_args = rte_eal_init(argc, argv) + 1;

	sweep_must(at_args > 0 && argc >= at_args + 3,
		"usage: EAL-ARGUMENTS -- DEVICE-ARGUMENTS verbs|memory|system LIBRARY...");
	sweep_devargs = argv[at_args];
	while (strcmp(argv[at_args + 1], kinds[what]) != 0)
		sweep_must(++what < RTE_DIM(kinds), "nothing is called %s", argv[at_args + 1]);
	for (int i = at_args + 2; i < argc; i++)
		sweep_must(sweep_watch(argv[i]), "%s calls nothing", argv[i]);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (rte_eal_process_type() == RTE_PROC_PRIMARY)
		sweep_primary();
	else
		sweep_secondary();
	return EXIT_SUCCESS;
}
