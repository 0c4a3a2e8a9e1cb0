/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports that come and go: whatever was done with one, nothing of it is left. Each round has two
 * ports on one device; what is counted before and after the rounds must be the same.
 *
 * Usage: ethdev-hotplug EAL-ARGUMENTS -- ROUNDS stays|dies COMMAND, which shows what the device has
 *
 * A device that "stays" is mlx5_0, in all rounds. One that "dies" is mlx5_N in round N, and does so
 * while frames are sent; the ports then go as from one that lives.
 */
#include <dirent.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdbool.h>
#include <string.h>

#include <rte_alarm.h>
#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_flow.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_memzone.h>

#include "rig.h"

#define NB_PORTS   2
#define NB_QUEUES  2
#define NB_DESC    128
#define NB_MBUFS   2047
#define NB_RULES   3
#define HEAP_BYTES (16 << 20)

static struct rte_mempool *pool;

static void
name_of(unsigned int number, char name[RTE_DEV_NAME_MAX_LEN])
{
	snprintf(name, RTE_DEV_NAME_MAX_LEN, "net_mlx5dv%u", number);
}

static uint16_t
plug(unsigned int number, unsigned int device)
{
	char name[RTE_DEV_NAME_MAX_LEN], devargs[32];
	uint16_t port;

	snprintf(devargs, sizeof(devargs), "ibdev=mlx5_%u", device);
	name_of(number, name);
	must(rte_eal_hotplug_add("vdev", name, devargs) == 0, "plugging");
	must(rte_eth_dev_get_port_by_name(name, &port) == 0, "finding the port");
	return port;
}

static void
unplug(unsigned int number)
{
	char name[RTE_DEV_NAME_MAX_LEN];

	name_of(number, name);
	must(rte_eal_hotplug_remove("vdev", name) == 0, "unplugging");
}

static void
add_rule(uint16_t port, uint16_t number)
{
	const struct rte_flow_item_udp spec = { .hdr.dst_port = rte_cpu_to_be_16(number) };
	const struct rte_flow_item pattern[] = {
		{ .type = RTE_FLOW_ITEM_TYPE_ETH },
		{ .type = RTE_FLOW_ITEM_TYPE_IPV4 },
		{ .type = RTE_FLOW_ITEM_TYPE_UDP, .spec = &spec, .mask = &rte_flow_item_udp_mask },
		{ .type = RTE_FLOW_ITEM_TYPE_END },
	};
	const struct rte_flow_action_queue queue = { .index = number % NB_QUEUES };
	const struct rte_flow_action actions[] = {
		{ .type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &queue },
		{ .type = RTE_FLOW_ACTION_TYPE_COUNT },
		{ .type = RTE_FLOW_ACTION_TYPE_END },
	};
	const struct rte_flow_attr attr = { .ingress = 1 };
	struct rte_flow_error error;

	must(rte_flow_create(port, &attr, pattern, actions, &error) != NULL, "making a rule");
}

static void
start(uint16_t port)
{
	const struct rte_eth_conf conf = { .rxmode.mq_mode = RTE_ETH_MQ_RX_RSS };

	must(rte_eth_dev_configure(port, NB_QUEUES, NB_QUEUES, &conf) == 0, "configuring");
	for (uint16_t i = 0; i < NB_QUEUES; i++) {
		must(rte_eth_rx_queue_setup(port, i, NB_DESC, SOCKET_ID_ANY, NULL, pool) == 0,
			"setting up an Rx queue");
		must(rte_eth_tx_queue_setup(port, i, NB_DESC, SOCKET_ID_ANY, NULL) == 0,
			"setting up a Tx queue");
	}
	must(rte_eth_dev_start(port) == 0, "starting");
	for (uint16_t i = 0; i < NB_RULES; i++)
		add_rule(port, i);
}

/** Some frames are on their way when the port goes, and some were never looked at. */
static void
send_some(uint16_t port)
{
	struct rte_mbuf *mbuf;
	char *frame;

	for (unsigned int i = 0; i < 8; i++) {
		mbuf = rte_pktmbuf_alloc(pool);
		must(mbuf != NULL, "taking a buffer");
		frame = rte_pktmbuf_append(mbuf, 64);
		memset(frame, 0xff, 6);
		memcpy(frame + 6, "\x02\0\0\0\0\x07\x88\xb5", 8);
		if (rte_eth_tx_burst(port, i % NB_QUEUES, &mbuf, 1) == 0)
			rte_pktmbuf_free(mbuf);
	}
}

/** How far a port gets before it is taken away. */
enum stage {
	PLUGGED,
	STARTED,
	STOPPED,
	CLOSED,
	NB_STAGES,
};

/** Rounds before the first count: what is made once for the process is made then. */
#define WARM_UP NB_STAGES

static void
stop(uint16_t port, enum stage stage)
{
	if (stage == STOPPED || stage == CLOSED)
		must(rte_eth_dev_stop(port) == 0, "stopping");
	if (stage == CLOSED)
		must(rte_eth_dev_close(port) == 0, "closing");
}

/** The device dies of the frames, and each of its ports knows. */
static void
send_until_removed(const uint16_t ports[NB_PORTS], const enum stage stages[NB_PORTS])
{
	for (unsigned int i = 0; i < NB_PORTS; i++) {
		while (!rte_eth_dev_is_removed(ports[i])) {
			for (unsigned int j = 0; j < NB_PORTS; j++)
				if (stages[j] != PLUGGED)
					send_some(ports[j]);
			rte_delay_us_sleep(100);
		}
	}
}

static void
run_round(unsigned int number, bool dies)
{
	enum stage stages[NB_PORTS];
	uint16_t ports[NB_PORTS];

	for (unsigned int i = 0; i < NB_PORTS; i++) {
		ports[i] = plug(i, dies ? number : 0);
		stages[i] = (number + i) % NB_STAGES;
	}
	for (unsigned int i = 0; i < NB_PORTS; i++) {
		if (stages[i] == PLUGGED)
			continue;
		start(ports[i]);
		send_some(ports[i]);
	}
	if (dies)
		send_until_removed(ports, stages);
	for (unsigned int i = 0; i < NB_PORTS; i++)
		stop(ports[i], stages[i]);
	for (unsigned int i = 0; i < NB_PORTS; i++)
		unplug((number + i) % NB_PORTS);
}

struct counts {
	unsigned int fds, maps, memzones, mbufs;
	size_t heap, heap_objects; /* DPDK's */
	size_t malloced;           /* the C library's */
};

static unsigned int
count_lines(const char *path)
{
	FILE *file = fopen(path, "r");
	unsigned int nb = 0;
	int c;

	must(file != NULL, path);
	while ((c = fgetc(file)) != EOF)
		nb += c == '\n';
	fclose(file);
	return nb;
}

static unsigned int
count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int nb = 0;

	must(dir != NULL, "/proc/self/fd");
	while (readdir(dir) != NULL)
		nb++;
	closedir(dir);
	return nb;
}

static void
count_memzone(const struct rte_memzone *zone, void *nb)
{
	(void)zone;
	(*(unsigned int *)nb)++;
}

/** EAL's interrupt thread counts: it makes its epoll descriptor anew when a callback comes or goes,
 * some time afterwards, and has it while it calls (eal_intr_thread_main).
 */
static void
count_fds_by_interrupt_thread(void *counted)
{
	__atomic_store_n((unsigned int *)counted, count_fds(), __ATOMIC_RELEASE);
}

static struct counts
count(void)
{
	struct counts now = { 0 };
	struct rte_malloc_socket_stats heap;
	unsigned int nb_fds = 0;

	must(rte_eal_alarm_set(1, count_fds_by_interrupt_thread, &nb_fds) == 0, "an alarm");
	while (__atomic_load_n(&nb_fds, __ATOMIC_ACQUIRE) == 0)
		rte_delay_us_sleep(100);
	now.fds = nb_fds;
	now.maps = count_lines("/proc/self/maps");
	rte_memzone_walk(count_memzone, &now.memzones);
	must(rte_malloc_get_socket_stats(0, &heap) == 0, "DPDK's heap");
	now.heap = heap.heap_allocsz_bytes;
	now.heap_objects = heap.alloc_count;
	now.mbufs = rte_mempool_in_use_count(pool);
	now.malloced = mallinfo2().uordblks;
	return now;
}

static void
print(const char *when, const struct counts *counts)
{
	printf("%s: fds %u, maps %u, memzones %u, mbufs %u, heap %zu in %zu, malloc %zu\n", when,
		counts->fds, counts->maps, counts->memzones, counts->mbufs, counts->heap,
		counts->heap_objects, counts->malloced);
}

int
main(int argc, char *argv[])
{
	struct counts before, after;
	unsigned int nb_rounds;
	int nb_args;
	bool dies;

	/* A thread that begins while another is still ending has an arena of its own: two maps. */
	must(mallopt(M_ARENA_MAX, 1) == 1, "one arena");
	/* Where it grows above memory that another process maps, too, it is a map more. */
	must(mallopt(M_TOP_PAD, HEAP_BYTES) == 1, "a heap that need not grow");
	nb_args = rte_eal_init(argc, argv);
	must(nb_args >= 0 && argc - nb_args == 4, "rte_eal_init, or the arguments are not these:");
	/* DPDK's net_mlx4, which the EAL loads where it is installed, sets this (drivers/net/mlx4/
	 * mlx4.c), and libibverbs takes it for the variable that our driver sets. It reads both at
	 * the first list of devices. */
	must(unsetenv("MLX4_DEVICE_FATAL_CLEANUP") == 0, "undoing what another driver did");
	nb_rounds = strtoul(argv[nb_args + 1], NULL, 10);
	dies = strcmp(argv[nb_args + 2], "dies") == 0;
	pool = rte_pktmbuf_pool_create("pool", NB_MBUFS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, 0);
	must(pool != NULL, "a pool of mbufs");
	for (unsigned int i = 0; i < WARM_UP; i++)
		run_round(i, dies);
	before = count();
	print("before", &before);
	for (unsigned int i = 0; i < nb_rounds; i++)
		run_round(WARM_UP + i, dies);
	after = count();
	print("after", &after);
	must(before.fds == after.fds && before.maps == after.maps &&
			before.memzones == after.memzones && before.mbufs == after.mbufs,
		"giving back descriptors, maps, memzones or mbufs");
	must(before.heap == after.heap && before.heap_objects == after.heap_objects,
		"giving back DPDK's memory");
	/* The C library's caches fill up, which takes some hundred rounds, and that is all. */
	must(after.malloced < before.malloced + 65536, "giving back memory");
	fflush(stdout);
	must(system(argv[nb_args + 3]) == 0, argv[nb_args + 3]);
	return rte_eal_cleanup() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
