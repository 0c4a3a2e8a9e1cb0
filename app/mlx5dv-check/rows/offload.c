/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of what the device does to packets, computed here in software. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <rte_ip.h>
#include <rte_mbuf_dyn.h>
#include <rte_tcp.h>
#include <rte_thash.h>
#include <rte_udp.h>

#include "check.h"

#define TCI         0x2064 /* priority 1, VLAN 100 */
#define NB_FLOWS    32
#define KEY_MAX     64
#define TSO_SEGMENT 200
#define TSO_PAYLOAD 1400 /* seven segments */

/** @return the IP header of the packet that begins at @p at */
static const struct rte_ipv4_hdr *
ip_of(const struct rte_mbuf *mbuf, uint32_t at)
{
	return rte_pktmbuf_mtod_offset(
		mbuf, const struct rte_ipv4_hdr *, at + sizeof(struct rte_ether_hdr));
}

struct rte_mbuf *
check_one(struct check *check, enum check_side from, const struct check_frame *frame,
	struct check_gots *gots)
{
	const int ret = check_traffic_exchange(check, from, frame, 1, gots);

	if (ret != 0) {
		(void)check_fail(check, "%s", rte_strerror(-ret));
		return NULL;
	}
	if (gots->nb == 1)
		return gots->got[0].mbuf;
	(void)check_fail(check, "the packet came %u times", gots->nb);
	return NULL;
}

bool
check_has_rx(const struct check *check, uint64_t offloads)
{
	return (check->port[CHECK_PORT].rx_offloads & offloads) == offloads;
}

bool
check_has_tx(const struct check *check, uint64_t offloads)
{
	return (check->port[CHECK_PORT].tx_offloads & offloads) == offloads;
}

enum check_result
check_rx_checksums(struct check *check, bool vxlan)
{
	static const struct {
		struct check_frame frame;
		bool good_ip, good_l4;
		const char *name;
	} cases[] = {
		{ { .tcp = false }, true, true, "UDP" },
		{ { .tcp = true }, true, true, "TCP" },
		{ { .bad_ip = true }, false, false, "UDP behind a bad IP checksum" },
		{ { .bad_l4 = true }, true, false, "UDP with a bad checksum" },
		{ { .tcp = true, .bad_l4 = true }, true, false, "TCP with a bad checksum" },
	};

	if (!check_has_rx(check, RTE_ETH_RX_OFFLOAD_CHECKSUM))
		return check_absent(check, "no such offload");
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		struct check_frame frame = cases[i].frame;
		struct check_gots gots;
		const struct rte_mbuf *mbuf;
		uint64_t flags;

		frame.vxlan = vxlan;
		mbuf = check_one(check, CHECK_PEER, &frame, &gots);
		flags = mbuf == NULL ? 0 : mbuf->ol_flags;
		check_traffic_free(&gots);
		if (mbuf == NULL)
			return CHECK_FAIL;
		if (cases[i].good_ip !=
			((flags & RTE_MBUF_F_RX_IP_CKSUM_MASK) == RTE_MBUF_F_RX_IP_CKSUM_GOOD))
			return check_fail(check, "%s: IP, flags 0x%" PRIx64, cases[i].name, flags);
		/* What the device says of L4 behind a bad IP header is not defined. */
		if (cases[i].good_ip &&
			cases[i].good_l4 !=
				((flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) ==
					RTE_MBUF_F_RX_L4_CKSUM_GOOD))
			return check_fail(check, "%s: L4, flags 0x%" PRIx64, cases[i].name, flags);
	}
	return CHECK_PASS;
}

static enum check_result
rx_checksums(struct check *check)
{
	return check_rx_checksums(check, false);
}

/** @return whether both checksums of the packet are right, and that of a tunnel around it. */
static bool
checksums_are_right(const struct rte_mbuf *mbuf, uint32_t at)
{
	const struct rte_ipv4_hdr *ip = ip_of(mbuf, at);

	if (at != 0 && rte_raw_cksum(ip_of(mbuf, 0), sizeof(*ip)) != UINT16_MAX)
		return false;
	/* Over a field that is right the sum is 0, in either representation. */
	const uint16_t l4 = rte_ipv4_udptcp_cksum(ip, ip + 1);

	return mbuf->nb_segs == 1 && rte_raw_cksum(ip, sizeof(*ip)) == UINT16_MAX &&
		(l4 == 0 || l4 == UINT16_MAX);
}

enum check_result
check_tx_checksums(struct check *check, const struct check_frame *frames, unsigned int nb)
{
	for (unsigned int i = 0; i < nb; i++) {
		struct check_gots gots;
		const struct rte_mbuf *mbuf = check_one(check, CHECK_PORT, &frames[i], &gots);
		const bool right = mbuf != NULL &&
			checksums_are_right(mbuf, frames[i].vxlan ? CHECK_TUNNEL : 0);

		check_traffic_free(&gots);
		if (mbuf == NULL)
			return CHECK_FAIL;
		if (!right)
			return check_fail(
				check, "%s: wrong on the wire", frames[i].tcp ? "TCP" : "UDP");
	}
	return CHECK_PASS;
}

static enum check_result
tx_checksums(struct check *check)
{
	static const struct check_frame frames[] = {
		{ .ol_flags = RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM |
				RTE_MBUF_F_TX_UDP_CKSUM },
		{ .ol_flags = RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_TCP_CKSUM,
			.tcp = true,
			.size = 1001 },
	};

	if (!check_has_tx(check,
		    RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM |
			    RTE_ETH_TX_OFFLOAD_TCP_CKSUM))
		return check_absent(check, "no such offloads");
	return check_tx_checksums(check, frames, RTE_DIM(frames));
}

/** A tag in the frame is taken off. */
static enum check_result
strip_one(struct check *check)
{
	const struct check_frame frame = { .vlan = TCI };
	enum check_result result = CHECK_PASS;
	struct check_gots gots;
	const struct rte_mbuf *mbuf = check_one(check, CHECK_PEER, &frame, &gots);

	if (mbuf == NULL)
		result = CHECK_FAIL;
	else if (!(mbuf->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) || mbuf->vlan_tci != TCI ||
		mbuf->pkt_len != 128 - sizeof(struct rte_vlan_hdr))
		result = check_fail(check, "%u bytes, TCI 0x%x, flags 0x%" PRIx64, mbuf->pkt_len,
			mbuf->vlan_tci, mbuf->ol_flags);
	check_traffic_free(&gots);
	return result;
}

static enum check_result
vlan_strip(struct check *check)
{
	const uint16_t id = check->port[CHECK_PORT].id;
	enum check_result result;
	int ret;

	if (!check_has_rx(check, RTE_ETH_RX_OFFLOAD_VLAN_STRIP))
		return check_absent(check, "no such offload");
	ret = rte_eth_dev_set_vlan_offload(id, RTE_ETH_VLAN_STRIP_OFFLOAD);
	if (ret != 0)
		return check_fail(check, "enabling it: %s", rte_strerror(-ret));
	result = strip_one(check);
	ret = rte_eth_dev_set_vlan_offload(id, 0);
	return ret == 0 ? result : check_fail(check, "disabling it: %s", rte_strerror(-ret));
}

static enum check_result
vlan_insert(struct check *check)
{
	const struct check_frame frame = { .ol_flags = RTE_MBUF_F_TX_VLAN, .tci = TCI };
	enum check_result result = CHECK_PASS;
	const struct rte_vlan_hdr *tag;
	const struct rte_mbuf *mbuf;
	struct check_gots gots;

	if (!check_has_tx(check, RTE_ETH_TX_OFFLOAD_VLAN_INSERT))
		return check_absent(check, "no such offload");
	mbuf = check_one(check, CHECK_PORT, &frame, &gots);
	if (mbuf == NULL) {
		result = CHECK_FAIL;
	} else {
		tag = rte_pktmbuf_mtod_offset(
			mbuf, const struct rte_vlan_hdr *, sizeof(struct rte_ether_hdr));
		if (mbuf->pkt_len != 128 + sizeof(*tag) || tag->vlan_tci != rte_cpu_to_be_16(TCI))
			result = check_fail(check, "%u bytes, TCI 0x%x", mbuf->pkt_len,
				rte_be_to_cpu_16(tag->vlan_tci));
	}
	check_traffic_free(&gots);
	return result;
}

uint32_t
check_toeplitz(const struct rte_mbuf *mbuf, uint32_t at, const uint8_t *key)
{
	const struct rte_ipv4_hdr *ip = ip_of(mbuf, at);
	const struct rte_udp_hdr *udp = (const struct rte_udp_hdr *)(ip + 1);
	struct rte_ipv4_tuple tuple = {
		.src_addr = rte_be_to_cpu_32(ip->src_addr),
		.dst_addr = rte_be_to_cpu_32(ip->dst_addr),
		.sport = rte_be_to_cpu_16(udp->src_port),
		.dport = rte_be_to_cpu_16(udp->dst_port),
	};

	return rte_softrss((uint32_t *)&tuple, RTE_THASH_V4_L4_LEN, key);
}

/** Compare hash and queue of each packet with those computed. */
static enum check_result
compare_hashes(struct check *check, const struct check_gots *gots, const uint8_t *key)
{
	struct rte_eth_rss_reta_entry64 reta[CHECK_RETA_GROUPS];
	const uint16_t size = check->port[CHECK_PORT].info.reta_size;
	uint32_t queues = 0;

	memset(reta, 0xff, sizeof(reta));
	if (size == 0 || size > RTE_ETH_RSS_RETA_SIZE_512 ||
		rte_eth_dev_rss_reta_query(check->port[CHECK_PORT].id, reta, size) != 0)
		return check_fail(check, "no redirection table of %u entries", size);
	for (unsigned int i = 0; i < gots->nb; i++) {
		const struct check_got *got = &gots->got[i];
		const uint32_t hash = check_toeplitz(got->mbuf, 0, key), entry = hash % size;
		const uint16_t queue =
			reta[entry / RTE_ETH_RETA_GROUP_SIZE].reta[entry % RTE_ETH_RETA_GROUP_SIZE];

		queues |= 1u << got->queue;
		if (check_has_rx(check, RTE_ETH_RX_OFFLOAD_RSS_HASH) && got->mbuf->hash.rss != hash)
			return check_fail(check, "flow %u: hash 0x%08x, computed 0x%08x", got->seq,
				got->mbuf->hash.rss, hash);
		if (got->queue != queue)
			return check_fail(check, "flow %u: queue %u, by its hash %u", got->seq,
				got->queue, queue);
	}
	if (__builtin_popcount(queues) < 2)
		return check_fail(check, "all flows went to one queue");
	return CHECK_PASS;
}

static enum check_result
rss(struct check *check)
{
	uint8_t key[KEY_MAX] = { 0 };
	struct rte_eth_rss_conf conf = { .rss_key = key, .rss_key_len = sizeof(key) };
	struct check_frame frames[NB_FLOWS] = { 0 };
	enum check_result result;
	struct check_gots gots;
	int ret = rte_eth_dev_rss_hash_conf_get(check->port[CHECK_PORT].id, &conf);

	if (ret != 0)
		return check_fail(check, "no key: %s", rte_strerror(-ret));
	if (!(conf.rss_hf & RTE_ETH_RSS_NONFRAG_IPV4_UDP))
		return check_absent(check, "no hash of UDP over IPv4");
	for (unsigned int i = 0; i < NB_FLOWS; i++)
		frames[i].sport = 7 * i;
	ret = check_traffic_exchange(check, CHECK_PEER, frames, NB_FLOWS, &gots);
	if (ret != 0)
		result = check_fail(check, "%s", rte_strerror(-ret));
	else if (gots.nb != NB_FLOWS)
		result = check_fail(check, "of %u packets %u came", NB_FLOWS, gots.nb);
	else
		result = compare_hashes(check, &gots, key);
	check_traffic_free(&gots);
	return result;
}

/** The hash by another key; RSS_KEY has no symmetry that would hide fields that are swapped. */
static enum check_result
rss_key(struct check *check)
{
	const struct check_port *port = &check->port[CHECK_PORT];
	uint8_t before[KEY_MAX] = { 0 }, other[KEY_MAX];
	struct rte_eth_rss_conf conf = { .rss_key = before, .rss_key_len = sizeof(before) };
	enum check_result result;
	int ret = rte_eth_dev_rss_hash_conf_get(port->id, &conf);

	if (ret != 0)
		return check_fail(check, "no key: %s", rte_strerror(-ret));
	if (port->info.hash_key_size == 0 || port->info.hash_key_size > KEY_MAX)
		return check_absent(check, "the port has none");
	for (unsigned int i = 0; i < KEY_MAX; i++)
		other[i] = (uint8_t)(i * 151 + 43);
	conf.rss_key_len = port->info.hash_key_size;
	conf.rss_key = other;
	ret = rte_eth_dev_rss_hash_update(port->id, &conf);
	if (ret == -ENOTSUP)
		return check_absent(check, "it cannot be changed");
	if (ret != 0)
		return check_fail(check, "%s", rte_strerror(-ret));
	result = rss(check);
	conf.rss_key = before;
	ret = rte_eth_dev_rss_hash_update(port->id, &conf);
	return ret == 0 ? result : check_fail(check, "setting it back: %s", rte_strerror(-ret));
}

/** @return whether the headers around a packet have its length */
static bool
lengths_are_right(const struct rte_mbuf *mbuf)
{
	const struct rte_ipv4_hdr *ip = ip_of(mbuf, 0);
	const struct rte_udp_hdr *udp = (const struct rte_udp_hdr *)(ip + 1);
	const uint32_t length = mbuf->pkt_len - sizeof(struct rte_ether_hdr);

	return rte_be_to_cpu_16(ip->total_length) == length &&
		rte_be_to_cpu_16(udp->dgram_len) == length - sizeof(*ip);
}

/** All segments but the last are full, numbered on, with right checksums. */
static enum check_result
compare_segments(struct check *check, const struct check_frame *frame, struct rte_mbuf **mbufs,
	unsigned int nb)
{
	const uint32_t tunnel = frame->vxlan ? CHECK_TUNNEL : 0;
	const uint32_t headers = tunnel + sizeof(struct rte_ether_hdr) +
		sizeof(struct rte_ipv4_hdr) + sizeof(struct rte_tcp_hdr);
	uint32_t at = 0;

	for (unsigned int i = 0; i < nb; i++) {
		const struct rte_tcp_hdr *tcp =
			(const struct rte_tcp_hdr *)(ip_of(mbufs[i], tunnel) + 1);

		if (rte_be_to_cpu_32(tcp->sent_seq) != at)
			return check_fail(check, "segment %u begins at %u, not %u", i,
				rte_be_to_cpu_32(tcp->sent_seq), at);
		if (!checksums_are_right(mbufs[i], tunnel))
			return check_fail(check, "segment %u has a wrong checksum", i);
		if (tunnel != 0 && !lengths_are_right(mbufs[i]))
			return check_fail(check, "segment %u has a wrong length outside", i);
		if (i + 1 != nb && mbufs[i]->pkt_len != headers + TSO_SEGMENT)
			return check_fail(check, "segment %u has %u bytes", i, mbufs[i]->pkt_len);
		at += mbufs[i]->pkt_len - headers;
	}
	if (at != frame->size - headers)
		return check_fail(check, "of %u bytes %u came", frame->size - headers, at);
	return CHECK_PASS;
}

/** Segments are no frames of ours but for the first: take what comes from the frame's source. */
static unsigned int
collect_segments(struct check *check, const struct check_frame *frame, struct rte_mbuf **mbufs,
	unsigned int wanted)
{
	const uint64_t end = check_wait_end(check);
	unsigned int nb = 0;

	while (nb < wanted && check_wait_on(end)) {
		for (uint16_t q = 0; q < check->port[CHECK_PEER].nb_queues && nb < wanted; q++) {
			const struct rte_ether_hdr *eth;

			if (rte_eth_rx_burst(check->port[CHECK_PEER].id, q, &mbufs[nb], 1) == 0)
				continue;
			eth = rte_pktmbuf_mtod(mbufs[nb], const struct rte_ether_hdr *);
			if (eth->src_addr.addr_bytes[5] == frame->src)
				nb++;
			else
				rte_pktmbuf_free(mbufs[nb]);
		}
	}
	return nb;
}

enum check_result
check_segmentation(struct check *check, bool vxlan)
{
	const struct check_frame frame = {
		.tcp = true,
		.vxlan = vxlan,
		.src = 0x77,
		.size = TSO_PAYLOAD + 54 + (vxlan ? CHECK_TUNNEL : 0),
		.segsz = TSO_SEGMENT,
		.ol_flags = RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_TCP_SEG |
			(vxlan ? CHECK_TX_VXLAN : 0),
	};
	struct rte_mbuf *mbufs[TSO_PAYLOAD / TSO_SEGMENT], *mbuf;
	enum check_result result;
	unsigned int nb;

	mbuf = check_traffic_frame(check, CHECK_PORT, &frame, 0);
	if (mbuf == NULL)
		return check_fail(check, "no mbuf");
	if (rte_eth_tx_burst(check->port[CHECK_PORT].id, 0, &mbuf, 1) != 1) {
		rte_pktmbuf_free(mbuf);
		return check_fail(check, "it was not sent");
	}
	nb = collect_segments(check, &frame, mbufs, RTE_DIM(mbufs));
	result = nb == RTE_DIM(mbufs)
		? compare_segments(check, &frame, mbufs, nb)
		: check_fail(check, "of %zu segments %u came", RTE_DIM(mbufs), nb);
	rte_pktmbuf_free_bulk(mbufs, nb);
	return result;
}

static enum check_result
tso(struct check *check)
{
	return check_has_tx(check, RTE_ETH_TX_OFFLOAD_TCP_TSO)
		? check_segmentation(check, false)
		: check_absent(check, "no such offload");
}

static enum check_result
segments(struct check *check)
{
	const struct check_frame frame = { .nb_segs = 5, .size = 1001 };
	struct check_gots gots;
	const struct rte_mbuf *mbuf;
	enum check_result result = CHECK_PASS;

	if (!check_has_tx(check, RTE_ETH_TX_OFFLOAD_MULTI_SEGS))
		return check_absent(check, "no such offload");
	mbuf = check_one(check, CHECK_PORT, &frame, &gots);
	if (mbuf == NULL)
		result = CHECK_FAIL;
	else if (mbuf->pkt_len != frame.size || !checksums_are_right(mbuf, 0))
		result = check_fail(check, "%u bytes came, or others", mbuf->pkt_len);
	check_traffic_free(&gots);
	return result;
}

/** Packets of one flow come on one queue, in order. @param before the time so far */
static enum check_result
compare_times(struct check *check, const struct check_gots *gots, rte_mbuf_timestamp_t *before)
{
	const int at = rte_mbuf_dynfield_lookup(RTE_MBUF_DYNFIELD_TIMESTAMP_NAME, NULL);
	const int flag = rte_mbuf_dynflag_lookup(RTE_MBUF_DYNFLAG_RX_TIMESTAMP_NAME, NULL);

	if (at < 0 || flag < 0)
		return check_fail(check, "the driver registered no field for it");
	for (unsigned int i = 0; i < gots->nb; i++) {
		const struct rte_mbuf *mbuf = gots->got[i].mbuf;
		const rte_mbuf_timestamp_t now =
			*RTE_MBUF_DYNFIELD(mbuf, at, const rte_mbuf_timestamp_t *);

		if (!(mbuf->ol_flags & RTE_BIT64(flag)) || now < *before)
			return check_fail(
				check, "packet %u: %" PRIu64 " after %" PRIu64, i, now, *before);
		*before = now;
	}
	return CHECK_PASS;
}

static enum check_result
timestamps(struct check *check)
{
	const struct check_frame frames[4] = { { .size = 128 } };
	rte_mbuf_timestamp_t time[2] = { 0, 0 };

	if (!check_has_rx(check, RTE_ETH_RX_OFFLOAD_TIMESTAMP))
		return check_absent(check, "no such offload");
	for (unsigned int round = 0; round < RTE_DIM(time); round++) {
		enum check_result result;
		struct check_gots gots;
		const int ret =
			check_traffic_exchange(check, CHECK_PEER, frames, RTE_DIM(frames), &gots);

		time[round] = round == 0 ? 0 : time[round - 1];
		if (ret != 0 || gots.nb != RTE_DIM(frames))
			result = check_fail(
				check, "%u of %zu packets came", gots.nb, RTE_DIM(frames));
		else
			result = compare_times(check, &gots, &time[round]);
		check_traffic_free(&gots);
		if (result != CHECK_PASS)
			return result;
	}
	return time[1] > time[0] ? CHECK_PASS
				 : check_fail(check, "the clock stands at %" PRIu64, time[0]);
}

const struct check_row check_rows_offload[] = {
	{ "Rx checksums", "right ones are good, wrong ones are not", rx_checksums },
	{ "Tx checksums", "IPv4, UDP and TCP are right on the wire", tx_checksums },
	{ "VLAN strip", "the tag is in the mbuf and not in the packet", vlan_strip },
	{ "VLAN insert", "the tag is in the frame", vlan_insert },
	{ "RSS", "hash and queue of flows are those computed", rss },
	{ "RSS key", "the same by another key", rss_key },
	{ "TSO", "segments, numbers and checksums", tso },
	{ "segments", "a packet of five mbufs is one frame", segments },
	{ "timestamps", "each packet has one, none earlier than those before", timestamps },
	{ NULL, NULL, NULL },
};
