/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames that can be told apart: sent in pieces, received, and compared byte by byte. */
#include <string.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_udp.h>

#include "campaign.h"

#define MAGIC     0x6d6c7835u
#define FRAME_MAX 9018u
#define FRAME_MIN 60u

/** The first bytes of the payload. */
struct stamp {
	uint32_t magic, sequence;
	uint16_t length; /**< of the frame without tag */
	uint8_t port, queue;
	uint32_t sum; /**< of the headers and the above */
} __attribute__((packed, aligned(2)));

struct headers {
	struct rte_ether_hdr ether;
	struct rte_ipv4_hdr ip;
	struct rte_udp_hdr udp;
	struct stamp stamp;
} __attribute__((packed, aligned(2)));

static uint8_t bytes[FRAME_MAX + RTE_VLAN_HLEN] __rte_aligned(2);

/** FNV-1a */
static uint32_t
sum_of(const struct headers *hdr)
{
	const uint8_t *at = (const void *)hdr, *end = (const void *)&hdr->stamp.sum;
	uint32_t sum = 0x811c9dc5;

	while (at != end)
		sum = (sum ^ *at++) * 0x01000193;
	return sum;
}

static uint8_t
pattern(uint32_t sequence, uint32_t at)
{
	return (uint8_t)(sequence * 31 + at * 7);
}

static void
choose_destination(const struct campaign_port *port, bool random, struct rte_ether_addr *addr)
{
	const unsigned int how = random ? campaign_choose(16) : 16;

	memset(addr, how == 0 ? 0xff : how, sizeof(*addr));
	if (how > 3)
		campaign_must(rte_eth_macaddr_get(campaign_peer(port)->id, addr) == 0,
			"rte_eth_macaddr_get");
}

static void
build(const struct campaign_port *port, uint16_t queue, uint16_t dport, uint32_t length)
{
	struct headers *hdr = (void *)bytes;

	memset(hdr, 0, sizeof(*hdr));
	choose_destination(port, dport == 0, &hdr->ether.dst_addr);
	rte_eth_macaddr_get(port->id, &hdr->ether.src_addr);
	hdr->ether.ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4);
	hdr->ip = (struct rte_ipv4_hdr){
		.version_ihl = RTE_IPV4_VHL_DEF,
		.total_length = rte_cpu_to_be_16(length - sizeof(hdr->ether)),
		.time_to_live = 64,
		.next_proto_id = IPPROTO_UDP,
		.src_addr = rte_cpu_to_be_32(0x0a000000 | campaign.sequence),
		.dst_addr = RTE_BE32(0x0a000001),
	};
	hdr->ip.hdr_checksum = rte_ipv4_cksum(&hdr->ip);
	hdr->udp = (struct rte_udp_hdr){
		.src_port = rte_cpu_to_be_16(campaign.sequence),
		.dst_port = rte_cpu_to_be_16(dport),
		.dgram_len = rte_cpu_to_be_16(length - sizeof(hdr->ether) - sizeof(hdr->ip)),
	};
	hdr->stamp = (struct stamp){
		.magic = MAGIC,
		.sequence = campaign.sequence,
		.length = length,
		.port = port->id,
		.queue = queue,
	};
	hdr->stamp.sum = sum_of(hdr);
	for (uint32_t i = sizeof(*hdr); i < length; i++)
		bytes[i] = pattern(campaign.sequence, i);
	/* Plain verbs fills in both checksums or none: that of IP may be asked for alone. */
	hdr->udp.dgram_cksum = rte_ipv4_udptcp_cksum(&hdr->ip, &hdr->udp);
}

/** Put the bytes into a chain of @p nb_segs. @return NULL when the pool has too few */
static struct rte_mbuf *
chain(uint32_t length, uint32_t nb_segs)
{
	const uint32_t room = rte_pktmbuf_data_room_size(campaign.pool) - RTE_PKTMBUF_HEADROOM;
	struct rte_mbuf *first = NULL, *mbuf;
	uint32_t done, part;

	for (done = 0; done < length; done += part) {
		part = RTE_MIN(length - done, length / nb_segs + 1);
		part = RTE_MIN(part, room);
		mbuf = rte_pktmbuf_alloc(campaign.pool);
		if (mbuf == NULL) {
			rte_pktmbuf_free(first);
			return NULL;
		}
		memcpy(rte_pktmbuf_append(mbuf, part), bytes + done, part);
		if (first == NULL)
			first = mbuf;
		else
			campaign_must(rte_pktmbuf_chain(first, mbuf) == 0, "rte_pktmbuf_chain");
	}
	return first;
}

static void
choose_offloads(const struct campaign_port *port, struct rte_mbuf *mbuf)
{
	mbuf->l2_len = sizeof(struct rte_ether_hdr);
	mbuf->l3_len = sizeof(struct rte_ipv4_hdr);
	if (port->tx_offloads & RTE_ETH_TX_OFFLOAD_IPV4_CKSUM && campaign_choose(2))
		mbuf->ol_flags |= RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM;
	if (port->tx_offloads & RTE_ETH_TX_OFFLOAD_VLAN_INSERT && campaign_choose(4) == 0) {
		mbuf->ol_flags |= RTE_MBUF_F_TX_VLAN;
		mbuf->vlan_tci = 1 + campaign_choose(8);
	}
}

/** @param plain in its simplest form */
static struct rte_mbuf *
make(struct campaign_port *port, uint16_t queue, uint16_t dport, uint32_t length, bool plain)
{
	const bool multi = port->tx_offloads & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	struct rte_mbuf *mbuf;

	campaign.sequence++;
	build(port, queue, dport, length);
	mbuf = chain(length, multi && !plain ? 1 + campaign_choose(4) : 1);
	if (mbuf != NULL && !plain)
		choose_offloads(port, mbuf);
	return mbuf;
}

uint32_t
campaign_traffic_send(struct campaign_port *port, uint16_t queue, uint16_t dport, uint32_t length)
{
	struct rte_mbuf *mbuf = make(port, queue, dport, length, true);

	if (mbuf == NULL)
		return 0;
	if (rte_eth_tx_burst(port->id, queue, &mbuf, 1) == 1)
		return campaign.sequence;
	rte_pktmbuf_free(mbuf);
	return 0;
}

static bool
is_intact(struct headers *hdr, uint32_t length)
{
	if (length < sizeof(*hdr) || hdr->stamp.magic != MAGIC || hdr->stamp.length != length)
		return false;
	/* A cable with faults may have changed any of the bytes; the length in the frame says how
	 * many of them the checksum covers. */
	if (hdr->ip.version_ihl != RTE_IPV4_VHL_DEF ||
		rte_be_to_cpu_16(hdr->ip.total_length) != length - sizeof(hdr->ether) ||
		rte_ipv4_udptcp_cksum_verify(&hdr->ip, &hdr->udp) != 0)
		return false;
	hdr->udp.dgram_cksum = 0;
	if (hdr->stamp.sum != sum_of(hdr))
		return false;
	for (uint32_t i = sizeof(*hdr); i < length; i++) {
		if (((const uint8_t *)hdr)[i] != pattern(hdr->stamp.sequence, i))
			return false;
	}
	return true;
}

static bool
look(const struct campaign_port *port, uint16_t queue, struct rte_mbuf *mbuf,
	struct campaign_seen *seen)
{
	struct headers *hdr = (void *)bytes;
	uint32_t length = mbuf->pkt_len;
	const void *data;

	rte_mbuf_sanity_check(mbuf, 1);
	campaign_must(length <= sizeof(bytes), "port %u Rx queue %u: a frame of %u bytes", port->id,
		queue, length);
	data = rte_pktmbuf_read(mbuf, 0, length, bytes);
	campaign_must(data != NULL, "port %u Rx queue %u: less than pkt_len", port->id, queue);
	if (data != bytes)
		memcpy(bytes, data, length);
	if (length > FRAME_MIN && hdr->ether.ether_type == RTE_BE16(RTE_ETHER_TYPE_VLAN)) {
		length -= RTE_VLAN_HLEN;
		memmove(bytes + 12, bytes + 16, length - 12);
	}
	if (!is_intact(hdr, length)) {
		campaign_must(campaign.may & CAMPAIGN_MAY_DAMAGE,
			"port %u Rx queue %u: a damaged frame of %u bytes", port->id, queue,
			length);
		return false;
	}
	*seen = (struct campaign_seen){
		.sequence = hdr->stamp.sequence,
		.dport = rte_be_to_cpu_16(hdr->udp.dst_port),
		.port = hdr->stamp.port,
		.queue = hdr->stamp.queue,
		.mark = mbuf->ol_flags & RTE_MBUF_F_RX_FDIR_ID ? mbuf->hash.fdir.hi : 0,
	};
	return true;
}

unsigned int
campaign_traffic_receive(struct campaign_port *port, uint16_t queue, struct campaign_seen *seen)
{
	struct rte_mbuf *pkts[CAMPAIGN_BURST];
	unsigned int nb_seen = 0;
	uint16_t i, nb;

	nb = rte_eth_rx_burst(port->id, queue, pkts, 1 + campaign_choose(CAMPAIGN_BURST));
	for (i = 0; i < nb; i++)
		nb_seen += look(port, queue, pkts[i], &seen[nb_seen]);
	rte_pktmbuf_free_bulk(pkts, nb);
	return nb_seen;
}

static uint32_t
choose_length(const struct campaign_port *port)
{
	uint16_t mtu = RTE_ETHER_MTU, peer_mtu = RTE_ETHER_MTU;
	uint32_t most;

	rte_eth_dev_get_mtu(port->id, &mtu);
	rte_eth_dev_get_mtu(campaign_peer(port)->id, &peer_mtu);
	most = RTE_MIN(mtu, peer_mtu) + sizeof(struct rte_ether_hdr);
	most = RTE_MIN(most, FRAME_MAX);
	if (!(port->tx_offloads & RTE_ETH_TX_OFFLOAD_MULTI_SEGS))
		most = RTE_MIN(most, 2000u);
	if (campaign_choose(4) != 0)
		most = RTE_MIN(most, 128u);
	return most <= FRAME_MIN ? FRAME_MIN : FRAME_MIN + campaign_choose(most - FRAME_MIN);
}

static uint16_t
choose_dport(const struct campaign_port *port)
{
	const struct campaign_rule *rule = &port->rules[campaign_choose(CAMPAIGN_RULES)];

	return rule->flow != NULL ? rule->dport : 0;
}

static int
send_burst(struct campaign_port *port)
{
	const uint16_t queue = campaign_choose(port->nb_txq);
	uint16_t want = 1 + campaign_choose(CAMPAIGN_BURST), ready, sent;
	struct rte_mbuf *pkts[CAMPAIGN_BURST];
	uint16_t nb = 0;

	if (!campaign_peer(port)->attached)
		return 0;
	while (nb < want) {
		pkts[nb] = make(
			port, queue, choose_dport(campaign_peer(port)), choose_length(port), false);
		if (pkts[nb] == NULL)
			break;
		nb++;
	}
	ready = rte_eth_tx_prepare(port->id, queue, pkts, nb);
	campaign_must(ready == nb || !port->started || campaign_gone(port),
		"port %u Tx queue %u: packet not prepared: %s", port->id, queue,
		rte_strerror(rte_errno));
	sent = rte_eth_tx_burst(port->id, queue, pkts, ready);
	rte_pktmbuf_free_bulk(pkts + sent, nb - sent);
	return 0;
}

static int
receive_bursts(struct campaign_port *port)
{
	struct campaign_seen seen[CAMPAIGN_BURST];
	unsigned int nb = 1 + campaign_choose(16);

	while (nb-- != 0)
		campaign_traffic_receive(port, campaign_choose(port->nb_rxq), seen);
	return 0;
}

static int
clean_up(struct campaign_port *port)
{
	const uint16_t queue = campaign_choose(port->nb_txq);
	int ret = rte_eth_tx_done_cleanup(port->id, queue, campaign_choose(64));

	rte_eth_tx_descriptor_status(port->id, queue, campaign_choose(64));
	rte_eth_rx_descriptor_status(port->id, campaign_choose(port->nb_rxq), campaign_choose(64));
	rte_eth_rx_queue_count(port->id, campaign_choose(port->nb_rxq));
	return RTE_MIN(ret, 0);
}

/** Empty a pool. */
static int
hoard(__rte_unused struct campaign_port *port)
{
	struct rte_mempool *pool = campaign_choose(2) ? campaign.pool : campaign.small_pool;
	unsigned int nb = rte_mempool_avail_count(pool);

	campaign_traffic_release();
	nb -= RTE_MIN(nb, campaign_choose(64));
	campaign.hoard = calloc(nb + 1, sizeof(campaign.hoard[0]));
	if (campaign.hoard != NULL && rte_pktmbuf_alloc_bulk(pool, campaign.hoard, nb) == 0)
		campaign.nb_hoard = nb;
	return 0;
}

void
campaign_traffic_release(void)
{
	rte_pktmbuf_free_bulk(campaign.hoard, campaign.nb_hoard);
	free(campaign.hoard);
	campaign.hoard = NULL;
	campaign.nb_hoard = 0;
}

static int
release(__rte_unused struct campaign_port *port)
{
	campaign_traffic_release();
	return 0;
}

/* clang-format off */
const struct campaign_row campaign_traffic_rows[] = {
	{ "send", 60, CAMPAIGN_STARTED, send_burst, 0 },
	{ "receive", 60, CAMPAIGN_STARTED, receive_bursts, 0 },
	{ "clean up", 3, CAMPAIGN_STARTED, clean_up, 0 },
	{ "hoard mbufs", 2, CAMPAIGN_ALWAYS, hoard, 0 },
	{ "release mbufs", 6, CAMPAIGN_ALWAYS, release, 0 },
	{ NULL, 0, 0, NULL, 0 },
};
/* clang-format on */
