/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many flow rules to one set of queues: made, all but one destroyed, the last one destroyed. After
 * each step whoever runs it looks at the device and sends a line.
 *
 * Usage: ethdev-sharing EAL-ARGUMENTS -- NUMBER-OF-RULES
 */
#include <rte_byteorder.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_flow.h>

#include "kit.h"

#define PORT      0
#define NB_QUEUES 4
#define NB_DESC   64
#define NB_MBUFS  1023
#define FIRST     0x0a000000u

static const uint16_t queues[] = { 3, 1, 2 };
static const struct rte_flow_action_rss rss = {
	.types = RTE_ETH_RSS_IPV4, .queue_num = RTE_DIM(queues), .queue = queues
};

static struct rte_flow *
make_rule(uint32_t i)
{
	const struct rte_flow_item_ipv4 ipv4 = { .hdr.dst_addr = rte_cpu_to_be_32(FIRST + i) };
	const struct rte_flow_item_ipv4 mask = { .hdr.dst_addr = RTE_BE32(UINT32_MAX) };
	const struct rte_flow_item pattern[] = {
		{ .type = RTE_FLOW_ITEM_TYPE_IPV4, .spec = &ipv4, .mask = &mask },
		{ .type = RTE_FLOW_ITEM_TYPE_END },
	};
	const struct rte_flow_action actions[] = {
		{ .type = RTE_FLOW_ACTION_TYPE_RSS, .conf = &rss },
		{ .type = RTE_FLOW_ACTION_TYPE_END },
	};
	const struct rte_flow_attr attr = { .ingress = 1 };
	struct rte_flow *flow = rte_flow_create(PORT, &attr, pattern, actions, NULL);

	must(flow != NULL, "rte_flow_create");
	return flow;
}

static void
set_up(void)
{
	const struct rte_eth_conf conf = { 0 };
	struct rte_mempool *pool = rte_pktmbuf_pool_create(
		"sharing", NB_MBUFS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);

	must(pool != NULL, "rte_pktmbuf_pool_create");
	must(rte_flow_isolate(PORT, 1, NULL) == 0, "rte_flow_isolate");
	must(rte_eth_dev_configure(PORT, NB_QUEUES, 0, &conf) == 0, "rte_eth_dev_configure");
	for (uint16_t i = 0; i < NB_QUEUES; i++)
		must(rte_eth_rx_queue_setup(PORT, i, NB_DESC, 0, NULL, pool) == 0, "Rx set-up");
	must(rte_eth_dev_start(PORT) == 0, "rte_eth_dev_start");
}

int
main(int argc, char **argv)
{
	const int nb_eal = rte_eal_init(argc, argv);
	struct rte_flow **flows;
	uint32_t nb;

	must(nb_eal >= 0 && argc == nb_eal + 2, "reading the arguments");
	nb = strtoul(argv[nb_eal + 1], NULL, 10);
	flows = calloc(nb, sizeof(*flows));
	must(nb != 0 && flows != NULL, "reading the number");
	set_up();
	for (uint32_t i = 0; i < nb; i++)
		flows[i] = make_rule(i);
	say("made");
	await_line();
	for (uint32_t i = nb; i-- != 1;)
		must(rte_flow_destroy(PORT, flows[i], NULL) == 0, "rte_flow_destroy");
	say("one left");
	await_line();
	must(rte_flow_destroy(PORT, flows[0], NULL) == 0, "rte_flow_destroy");
	say("none left");
	await_line();
	must(rte_eth_dev_stop(PORT) == 0, "rte_eth_dev_stop");
	must(rte_eth_dev_close(PORT) == 0, "rte_eth_dev_close");
	free(flows);
	return EXIT_SUCCESS;
}
