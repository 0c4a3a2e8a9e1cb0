/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port that goes on with one of its two receive queues: a rule points at the other, whose set-up
 * at run time is refused. Whoever runs it sends packets to queue 0 until one to port LAST comes
 * through, then for queue 1, which is set up as before.
 *
 * Usage: ethdev-half-set-up EAL-ARGUMENTS
 */
#include <errno.h>
#include <stdint.h>
#include <time.h>

#include <rte_byteorder.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_flow.h>
#include <rte_mbuf.h>

#include "rig.h"

#define PORT       0
#define NB_DESC    256
#define PATIENCE_S 60
#define BURST      32
/** What the rule gives to queue 1. */
#define RULED 1000
#define LAST  1999
/** Of Ethernet and IPv4 without options. */
#define UDP_AT 34

static struct rte_mempool *pool;

static int
set_up(uint16_t queue, uint16_t nb_desc)
{
	return rte_eth_rx_queue_setup(PORT, queue, nb_desc, 0, NULL, pool);
}

static void
make_rule(void)
{
	const struct rte_flow_item_udp udp = { .hdr.dst_port = RTE_BE16(RULED) };
	const struct rte_flow_item_udp mask = { .hdr.dst_port = RTE_BE16(0xffff) };
	const struct rte_flow_item pattern[] = { { .type = RTE_FLOW_ITEM_TYPE_IPV4 },
		{ .type = RTE_FLOW_ITEM_TYPE_UDP, .spec = &udp, .mask = &mask },
		{ .type = RTE_FLOW_ITEM_TYPE_END } };
	const struct rte_flow_action_queue queue_1 = { 1 };
	const struct rte_flow_action actions[] = { { .type = RTE_FLOW_ACTION_TYPE_QUEUE,
							   .conf = &queue_1 },
		{ .type = RTE_FLOW_ACTION_TYPE_END } };
	const struct rte_flow_attr attr = { .ingress = 1 };

	must(rte_flow_create(PORT, &attr, pattern, actions, NULL) != NULL, "rte_flow_create");
}

static void
start(void)
{
	const struct rte_eth_conf conf = { 0 };

	pool = rte_pktmbuf_pool_create(
		"half", 4095, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	must(pool != NULL, "rte_pktmbuf_pool_create");
	must(rte_eth_dev_configure(PORT, 2, 1, &conf) == 0, "rte_eth_dev_configure");
	must(set_up(0, NB_DESC) == 0 && set_up(1, NB_DESC) == 0, "Rx set-up");
	must(rte_eth_tx_queue_setup(PORT, 0, NB_DESC, 0, NULL) == 0, "Tx set-up");
	must(rte_eth_dev_start(PORT) == 0, "rte_eth_dev_start");
}

/** Poll the queue until a packet to @p dst_port comes. */
static void
receive(uint16_t queue, uint16_t dst_port)
{
	const time_t end = time(NULL) + PATIENCE_S;

	for (bool seen = false; !seen;) {
		struct rte_mbuf *pkts[BURST];
		const uint16_t nb = rte_eth_rx_burst(PORT, queue, pkts, BURST);

		must(time(NULL) < end, "waiting for a packet");
		for (uint16_t i = 0; i < nb; i++) {
			seen |= *rte_pktmbuf_mtod_offset(pkts[i], rte_be16_t *, UDP_AT + 2) ==
				rte_cpu_to_be_16(dst_port);
			rte_pktmbuf_free(pkts[i]);
		}
	}
}

int
main(int argc, char **argv)
{
	must(rte_eal_init(argc, argv) >= 0, "rte_eal_init");
	start();
	make_rule();
	must(rte_eth_dev_rx_queue_stop(PORT, 1) == 0, "rte_eth_dev_rx_queue_stop");
	must(set_up(1, 2 * NB_DESC) == -EBUSY, "the refusal of another ring");
	say("half set up");
	receive(0, LAST);
	must(set_up(1, NB_DESC) == 0, "the set-up as before");
	must(rte_eth_dev_rx_queue_start(PORT, 1) == 0, "rte_eth_dev_rx_queue_start");
	say("set up");
	receive(1, RULED);
	must(rte_eth_dev_stop(PORT) == 0, "rte_eth_dev_stop");
	must(rte_eth_dev_close(PORT) == 0, "rte_eth_dev_close");
	return EXIT_SUCCESS;
}
