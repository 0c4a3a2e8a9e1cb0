/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One flow rule, then many to the same RSS set, then none, and a look at the device each time.
 *
 * Usage: ethdev-many-rules EAL-ARGUMENTS -- LOOK-COMMAND NB_RULES      LOOK-COMMAND gets the state:
 * none, one, many, gone.
 */
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_flow.h>
#include <rte_mbuf.h>

#include "rig.h"

#define PORT      0
#define NB_QUEUES 4
#define NB_DESC   64
#define NB_MBUFS  1023

static void
look(const char *command, const char *state)
{
	char line[512];

	must(snprintf(line, sizeof(line), "%s %s", command, state) < (int)sizeof(line), "command");
	must(system(line) == 0, line);
}

static void
start_port(void)
{
	const struct rte_eth_conf conf = { 0 };
	struct rte_mempool *pool = rte_pktmbuf_pool_create(
		"many_rules", NB_MBUFS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);

	must(pool != NULL, "rte_pktmbuf_pool_create");
	must(rte_eth_dev_configure(PORT, NB_QUEUES, 1, &conf) == 0, "rte_eth_dev_configure");
	for (uint16_t queue = 0; queue < NB_QUEUES; queue++)
		must(rte_eth_rx_queue_setup(PORT, queue, NB_DESC, 0, NULL, pool) == 0, "Rx set-up");
	must(rte_eth_tx_queue_setup(PORT, 0, NB_DESC, 0, NULL) == 0, "Tx set-up");
	must(rte_eth_dev_start(PORT) == 0, "rte_eth_dev_start");
}

static void
create(uint32_t number)
{
	static const uint16_t queues[NB_QUEUES] = { 0, 1, 2, 3 };
	const struct rte_flow_attr attr = { .ingress = 1 };
	const struct rte_flow_item_ipv4 ip = { .hdr.dst_addr = rte_cpu_to_be_32(
						       RTE_IPV4(10, 0, 0, 0) + number) };
	const struct rte_flow_item_ipv4 mask = { .hdr.dst_addr = RTE_BE32(0xffffffff) };
	const struct rte_flow_item pattern[] = {
		{ .type = RTE_FLOW_ITEM_TYPE_ETH },
		{ .type = RTE_FLOW_ITEM_TYPE_IPV4, .spec = &ip, .mask = &mask },
		{ .type = RTE_FLOW_ITEM_TYPE_END },
	};
	const struct rte_flow_action_rss rss = {
		.types = RTE_ETH_RSS_IPV4, .queue_num = NB_QUEUES, .queue = queues
	};
	const struct rte_flow_action actions[] = {
		{ .type = RTE_FLOW_ACTION_TYPE_RSS, .conf = &rss },
		{ .type = RTE_FLOW_ACTION_TYPE_END },
	};

	must(rte_flow_create(PORT, &attr, pattern, actions, NULL) != NULL, "rte_flow_create");
}

int
main(int argc, char *argv[])
{
	const int nb = rte_eal_init(argc, argv);

	must(nb >= 0 && argc - nb == 3, "rte_eal_init");
	start_port();
	look(argv[nb + 1], "none");
	create(0);
	look(argv[nb + 1], "one");
	for (uint32_t number = 1; number < strtoul(argv[nb + 2], NULL, 10); number++)
		create(number);
	look(argv[nb + 1], "many");
	must(rte_flow_flush(PORT, NULL) == 0, "rte_flow_flush");
	look(argv[nb + 1], "gone");
	must(rte_eth_dev_stop(PORT) == 0, "rte_eth_dev_stop");
	must(rte_eth_dev_close(PORT) == 0, "rte_eth_dev_close");
	return rte_eal_cleanup() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
