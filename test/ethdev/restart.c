/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flow rules over stop and start: made once, and what each queue receives of UDP packets is told
 * after each start. Whoever runs it sends the packets, at each start and at each stop, and ends a
 * start's with one to port LAST.
 *
 * Usage: ethdev-restart EAL-ARGUMENTS; goes on from a stop when a line is read
 */
#include <stdint.h>
#include <time.h>

#include <rte_byteorder.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_flow.h>
#include <rte_mbuf.h>

#include "rig.h"

#define PORT       0
#define NB_QUEUES  4
#define NB_DESC    256
#define NB_MBUFS   4095
#define NB_STARTS  3
#define PATIENCE_S 60
#define BURST      32
#define LAST       1999
/** Of Ethernet and IPv4 without options. */
#define UDP_AT 34

static struct rte_flow_action_handle *shared;

/* clang-format off */
#define ACTION(t) { .type = RTE_FLOW_ACTION_TYPE_##t }
#define ACTION_CONF(t, c) { .type = RTE_FLOW_ACTION_TYPE_##t, .conf = (c) }
static const struct rte_flow_action_queue queue_1 = { 1 }, queue_2 = { 2 }, queue_3 = { 3 };
static const struct rte_flow_action_mark mark_5 = { 5 };
static const struct rte_flow_action count = ACTION(COUNT);
static const uint16_t queues[] = { 2, 3 };
static const struct rte_flow_action_rss rss = {
	.types = RTE_ETH_RSS_NONFRAG_IPV4_UDP, .queue_num = 2, .queue = queues };
/** SHARED stands for the indirect COUNT of all rules that have it. */
#define SHARED ACTION(INDIRECT)

static const struct {
	uint16_t dst_port;
	uint32_t priority;
	struct rte_flow_action actions[5];
} rows[] = {
	{ 1000, 1, { ACTION_CONF(QUEUE, &queue_1), ACTION_CONF(MARK, &mark_5), ACTION(COUNT), ACTION(END) } },
	{ 1001, 0, { ACTION_CONF(QUEUE, &queue_2), ACTION(PASSTHRU), ACTION(COUNT), ACTION(END) } },
	{ 1001, 2, { ACTION_CONF(QUEUE, &queue_3), ACTION(PASSTHRU), ACTION(COUNT), ACTION(END) } },
	{ 1002, 0, { ACTION_CONF(RSS, &rss), ACTION(COUNT), ACTION(END) } },
	{ 1003, 0, { ACTION(DROP), ACTION(COUNT), ACTION(END) } },
	{ 1004, 0, { ACTION_CONF(QUEUE, &queue_1), ACTION_CONF(QUEUE, &queue_3), SHARED, ACTION(END) } },
	{ 1005, 0, { ACTION_CONF(QUEUE, &queue_2), SHARED, ACTION(END) } },
};
/* clang-format on */

#define NB_ROWS RTE_DIM(rows)

static struct rte_flow *flows[NB_ROWS];

static void
make_rule(unsigned int i)
{
	const struct rte_flow_item_udp udp = { .hdr.dst_port = rte_cpu_to_be_16(rows[i].dst_port) };
	const struct rte_flow_item_udp mask = { .hdr.dst_port = RTE_BE16(0xffff) };
	const struct rte_flow_item pattern[] = { { .type = RTE_FLOW_ITEM_TYPE_IPV4 },
		{ .type = RTE_FLOW_ITEM_TYPE_UDP, .spec = &udp, .mask = &mask },
		{ .type = RTE_FLOW_ITEM_TYPE_END } };
	const struct rte_flow_attr attr = { .ingress = 1, .priority = rows[i].priority };
	struct rte_flow_action actions[RTE_DIM(rows[i].actions)];

	for (unsigned int j = 0; j < RTE_DIM(actions); j++) {
		actions[j] = rows[i].actions[j];
		if (actions[j].type == RTE_FLOW_ACTION_TYPE_INDIRECT)
			actions[j].conf = shared;
	}
	flows[i] = rte_flow_create(PORT, &attr, pattern, actions, NULL);
	must(flows[i] != NULL, "rte_flow_create");
}

static void
set_up(void)
{
	const struct rte_flow_indir_action_conf ingress = { .ingress = 1 };
	const struct rte_eth_conf conf = { 0 };
	struct rte_mempool *pool = rte_pktmbuf_pool_create(
		"restart", NB_MBUFS, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);

	must(pool != NULL, "rte_pktmbuf_pool_create");
	must(rte_eth_dev_configure(PORT, NB_QUEUES, 1, &conf) == 0, "rte_eth_dev_configure");
	for (uint16_t i = 0; i < NB_QUEUES; i++)
		must(rte_eth_rx_queue_setup(PORT, i, NB_DESC, 0, NULL, pool) == 0, "Rx set-up");
	must(rte_eth_tx_queue_setup(PORT, 0, NB_DESC, 0, NULL) == 0, "Tx set-up");
	shared = rte_flow_action_handle_create(PORT, &ingress, &count, NULL);
	must(shared != NULL, "rte_flow_action_handle_create");
}

static uint16_t
port_at(const struct rte_mbuf *pkt, uint16_t offset)
{
	return rte_be_to_cpu_16(*rte_pktmbuf_mtod_offset(pkt, const rte_be16_t *, offset));
}

/** Tell one packet; @return whether it was the last. */
static bool
tell(uint16_t queue, struct rte_mbuf *pkt)
{
	const bool marked = (pkt->ol_flags & RTE_MBUF_F_RX_FDIR_ID) != 0;
	const uint16_t dst_port = port_at(pkt, UDP_AT + 2);

	if (dst_port != LAST)
		printf("port %u from %u: queue %u mark %d\n", dst_port, port_at(pkt, UDP_AT), queue,
			marked ? (int)pkt->hash.fdir.hi : -1);
	rte_pktmbuf_free(pkt);
	return dst_port == LAST;
}

static bool
tell_burst(uint16_t queue)
{
	struct rte_mbuf *pkts[BURST];
	const uint16_t nb = rte_eth_rx_burst(PORT, queue, pkts, BURST);
	bool last = false;

	for (uint16_t i = 0; i < nb; i++)
		last |= tell(queue, pkts[i]);
	return last;
}

/** The device takes packets in their order: behind the last there is nothing on its way. */
static void
receive(void)
{
	const time_t end = time(NULL) + PATIENCE_S;

	while (!tell_burst(0))
		must(time(NULL) < end, "waiting for the last packet");
	for (uint16_t i = 0; i < NB_QUEUES; i++)
		tell_burst(i);
}

static void
tell_counts(void)
{
	struct rte_flow_query_count answer = { 0 };

	for (unsigned int i = 0; i < NB_ROWS; i++) {
		must(rte_flow_query(PORT, flows[i], &count, &answer, NULL) == 0, "rte_flow_query");
		printf("count of rule %u: %" PRIu64 " packets %" PRIu64 " bytes\n", i, answer.hits,
			answer.bytes);
	}
	must(rte_flow_action_handle_query(PORT, shared, &answer, NULL) == 0, "query");
	printf("shared count: %" PRIu64 " packets\n", answer.hits);
}

int
main(int argc, char **argv)
{
	must(rte_eal_init(argc, argv) >= 0, "rte_eal_init");
	set_up();
	for (unsigned int start = 0; start < NB_STARTS; start++) {
		/* Half of the rules wait for the first start, the others come behind it. */
		for (unsigned int i = 0; start == 0 && i < NB_ROWS; i += 2)
			make_rule(i);
		must(rte_eth_dev_start(PORT) == 0, "rte_eth_dev_start");
		for (unsigned int i = 1; start == 0 && i < NB_ROWS; i += 2)
			make_rule(i);
		say("started");
		receive();
		tell_counts();
		must(rte_eth_dev_stop(PORT) == 0, "rte_eth_dev_stop");
		say("stopped");
		await_line();
		tell_counts();
	}
	must(rte_eth_dev_close(PORT) == 0, "rte_eth_dev_close");
	return EXIT_SUCCESS;
}
