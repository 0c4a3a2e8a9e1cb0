/* SPDX-License-Identifier: BSD-3-Clause */
/* A port as a case needs it, and the frames that it sends. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_flow.h>
#include <rte_ip.h>
#include <rte_lcore.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include "bench.h"

#define POOL_CACHE 512
/** Payload of the segments that TSO makes. */
#define TSO_SEGMENT 512

static int
complain(const struct bench_port *port, const char *what, int ret)
{
	fprintf(stderr, "rxtx-bench: port %u: %s: %s\n", port->id, what, rte_strerror(-ret));
	return ret;
}

struct rte_mempool *
bench_pool_create(const struct bench_port *port, const char *use, uint16_t room)
{
	char name[RTE_MEMPOOL_NAMESIZE];

	snprintf(name, sizeof(name), "bench_%s_%u", use, port->id);
	return rte_pktmbuf_pool_create(name, BENCH_QUEUES_MAX * 3 * BENCH_RING - 1, POOL_CACHE, 0,
		room + RTE_PKTMBUF_HEADROOM, rte_socket_id());
}

bool
bench_port_is_large(const struct bench_case *how)
{
	return how->nb_segs > 1 || (how->ol_flags & RTE_MBUF_F_TX_TCP_SEG) != 0;
}

static int
queues_setup(struct bench_port *port, const struct bench_case *how)
{
	struct rte_eth_dev_info info;
	int ret = rte_eth_dev_info_get(port->id, &info);

	for (uint16_t q = 0; q < how->nb_queues && ret == 0; q++) {
		info.default_txconf.offloads = how->what == BENCH_TX ? how->offloads : 0;
		info.default_rxconf.offloads = how->what == BENCH_TX ? 0 : how->offloads;
		/* What a round has sent comes back at once; TSO makes more frames of it. */
		ret = rte_eth_rx_queue_setup(port->id, q,
			how->what == BENCH_TX ? 2 * BENCH_RING : BENCH_RING, rte_socket_id(),
			&info.default_rxconf, port->pool);
		if (ret == 0)
			ret = rte_eth_tx_queue_setup(port->id, q,
				bench_port_is_large(how) ? 2 * BENCH_RING : BENCH_RING,
				rte_socket_id(), &info.default_txconf);
	}
	return ret;
}

static int
configure(struct bench_port *port, const struct bench_case *how)
{
	struct rte_eth_dev_info info;
	struct rte_eth_conf conf = { 0 };
	int ret = rte_eth_dev_info_get(port->id, &info);

	if (ret != 0)
		return ret;
	port->driver = info.driver_name;
	if (how->what == BENCH_TX)
		conf.txmode.offloads = how->offloads;
	else
		conf.rxmode.offloads = how->offloads;
	if (((how->what == BENCH_TX ? info.tx_offload_capa : info.rx_offload_capa) &
		    how->offloads) != how->offloads)
		return -ENOTSUP;
	if (how->nb_queues > 1 || (conf.rxmode.offloads & RTE_ETH_RX_OFFLOAD_RSS_HASH)) {
		conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		conf.rx_adv_conf.rss_conf.rss_hf =
			(RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP) & info.flow_type_rss_offloads;
	}
	return rte_eth_dev_configure(port->id, how->nb_queues, how->nb_queues, &conf);
}

/** Mark all packets, and let them go to the queues that they would go to. */
static int
mark_all(const struct bench_port *port, const struct bench_case *how)
{
	static const uint16_t queues[BENCH_QUEUES_MAX] = { 0, 1, 2, 3 };
	const struct rte_flow_attr ingress = { .ingress = 1 };
	const struct rte_flow_item pattern[] = { { .type = RTE_FLOW_ITEM_TYPE_ETH },
		{ .type = RTE_FLOW_ITEM_TYPE_END } };
	const struct rte_flow_action_mark mark = { .id = 42 };
	const struct rte_flow_action_rss rss = {
		.types = RTE_ETH_RSS_IP, .queue_num = how->nb_queues, .queue = queues
	};
	const struct rte_flow_action actions[] = { { .type = RTE_FLOW_ACTION_TYPE_MARK,
							   .conf = &mark },
		{ .type = RTE_FLOW_ACTION_TYPE_RSS, .conf = &rss },
		{ .type = RTE_FLOW_ACTION_TYPE_END } };
	struct rte_flow_error error = { 0 };

	if (rte_flow_create(port->id, &ingress, pattern, actions, &error) != NULL)
		return 0;
	fprintf(stderr, "rxtx-bench: port %u: no marks: %s\n", port->id,
		error.message != NULL ? error.message : "no reason");
	return -ENOTSUP;
}

int
bench_port_start(struct bench_port *port, const struct bench_case *how)
{
	int ret;

	port->nb_queues = how->nb_queues;
	port->sent = 0;
	port->received = 0;
	port->nb_behind = 0;
	port->nb_before = 0;
	port->pool = bench_pool_create(port, "rx", how->room != 0 ? how->room : BENCH_ROOM_MAX);
	port->tx_pool = bench_pool_create(port, "tx", BENCH_ROOM_MAX);
	if (port->pool == NULL || port->tx_pool == NULL)
		return complain(port, "no memory for mempools", -ENOMEM);
	ret = configure(port, how);
	if (ret == -ENOTSUP)
		return ret;
	if (ret == 0)
		ret = queues_setup(port, how);
	if (ret == 0)
		ret = rte_eth_dev_start(port->id);
	if (ret == 0)
		ret = rte_eth_promiscuous_enable(port->id);
	if (ret == 0 && how->marked) {
		ret = mark_all(port, how);
		if (ret == -ENOTSUP)
			return ret;
	}
	return ret == 0 ? 0 : complain(port, how->name, ret);
}

void
bench_port_stop(struct bench_port *port)
{
	struct rte_flow_error error;

	rte_flow_flush(port->id, &error);
	rte_eth_dev_stop(port->id);
	rte_mempool_free(port->pool);
	rte_mempool_free(port->tx_pool);
	port->pool = NULL;
	port->tx_pool = NULL;
}

static uint16_t
frame_size(const struct bench_case *how, unsigned int nth)
{
	static const uint16_t imix[] = { 60, 252, 60, 60, 252, 60, 1514, 60, 252, 60, 60, 252 };

	return how->size != BENCH_IMIX ? how->size : imix[nth % RTE_DIM(imix)];
}

/** Write Ethernet, IPv4, and UDP (or TCP for TSO): flows differ in the port. */
static void
headers_write(struct rte_mbuf *mbuf, const struct bench_case *how, uint16_t size, unsigned int nth)
{
	struct rte_ether_hdr *eth = rte_pktmbuf_mtod(mbuf, struct rte_ether_hdr *);
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(eth + 1);
	const bool tcp = (how->ol_flags & RTE_MBUF_F_TX_TCP_SEG) != 0;
	rte_be16_t cksum;

	memset(eth, 0, RTE_MIN(size, (uint16_t)128));
	eth->dst_addr.addr_bytes[0] = 2;
	eth->src_addr.addr_bytes[0] = 2;
	eth->src_addr.addr_bytes[5] = 1;
	eth->ether_type = rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4);
	ip->version_ihl = RTE_IPV4_VHL_DEF;
	ip->total_length = rte_cpu_to_be_16(size - sizeof(*eth));
	ip->time_to_live = 64;
	ip->next_proto_id = tcp ? IPPROTO_TCP : IPPROTO_UDP;
	ip->src_addr = rte_cpu_to_be_32(RTE_IPV4(198, 18, 0, 1));
	ip->dst_addr = rte_cpu_to_be_32(RTE_IPV4(198, 18, 0, 2));
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	if (tcp) {
		struct rte_tcp_hdr *l4 = (struct rte_tcp_hdr *)(ip + 1);

		l4->src_port = rte_cpu_to_be_16(1024 + nth);
		l4->data_off = sizeof(*l4) / 4 << 4;
	} else {
		struct rte_udp_hdr *l4 = (struct rte_udp_hdr *)(ip + 1);

		l4->src_port = rte_cpu_to_be_16(1024 + nth);
		l4->dgram_len = rte_cpu_to_be_16(size - sizeof(*eth) - sizeof(*ip));
	}
	if (how->what == BENCH_TX && (how->ol_flags & RTE_MBUF_F_TX_L4_MASK) != 0)
		cksum = rte_ipv4_phdr_cksum(ip, how->ol_flags);
	else
		cksum = rte_ipv4_udptcp_cksum(ip, ip + 1);
	if (tcp)
		((struct rte_tcp_hdr *)(ip + 1))->cksum = cksum;
	else
		((struct rte_udp_hdr *)(ip + 1))->dgram_cksum = cksum;
	mbuf->l2_len = sizeof(*eth);
	mbuf->l3_len = sizeof(*ip);
	mbuf->l4_len = tcp ? sizeof(struct rte_tcp_hdr) : sizeof(struct rte_udp_hdr);
	mbuf->tso_segsz = TSO_SEGMENT;
	mbuf->vlan_tci = 100;
	mbuf->ol_flags |= how->what == BENCH_TX ? how->ol_flags : 0;
}

/** Cut the end of a frame off into mbufs of its own. */
static int
segments_split(struct bench_port *port, struct rte_mbuf *mbuf, uint16_t nb_segs)
{
	const uint16_t part = mbuf->data_len / nb_segs;

	for (uint16_t i = 1; i < nb_segs; i++) {
		struct rte_mbuf *seg = rte_pktmbuf_alloc(port->tx_pool);

		if (seg == NULL)
			return -ENOMEM;
		rte_pktmbuf_append(seg, part);
		/* Not rte_pktmbuf_trim(), which takes bytes of the last segment. */
		mbuf->data_len -= part;
		mbuf->pkt_len -= part;
		rte_pktmbuf_chain(mbuf, seg);
	}
	return 0;
}

int
bench_port_frames(struct bench_port *port, const struct bench_case *how, struct rte_mbuf **mbufs,
	unsigned int nb)
{
	int ret = rte_pktmbuf_alloc_bulk(port->tx_pool, mbufs, nb);

	for (unsigned int i = 0; i < nb && ret == 0; i++) {
		const uint16_t size = frame_size(how, i);

		rte_pktmbuf_append(mbufs[i], size);
		headers_write(mbufs[i], how, size, i);
		if (how->nb_segs > 1)
			ret = segments_split(port, mbufs[i], how->nb_segs);
	}
	return ret == 0 ? 0 : complain(port, "no mbufs", ret);
}
