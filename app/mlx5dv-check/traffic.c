/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames that are known again, sent and collected. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include "check.h"

#define MAGIC        0x6d6c7835u /* "mlx5" */
#define SIZE_DEFAULT 128
#define SEQ_LAST     UINT32_MAX /**< of the frame that ends an exchange */
#define BURST        32
#define SETTLE_MS    20 /**< what is on its way has come by then */
#define WINDOW       96 /**< packets in flight: fewer than a ring of four buffers a packet holds */

#define VXLAN_SPORT 50000
#define VXLAN_VNI   42

/** What follows the L4 header. */
struct marker {
	rte_be32_t magic, row, seq;
};

/** Byte @p at of frame @p seq behind the marker. */
static uint8_t
filler(uint32_t seq, uint32_t at)
{
	return (uint8_t)(seq * 31 + at);
}

static uint32_t
header_bytes(const struct check_frame *frame)
{
	return sizeof(struct rte_ether_hdr) + (frame->vlan != 0 ? sizeof(struct rte_vlan_hdr) : 0) +
		sizeof(struct rte_ipv4_hdr) +
		(frame->tcp ? sizeof(struct rte_tcp_hdr) : sizeof(struct rte_udp_hdr));
}

/** @return what goes into the checksum field: the device completes that of a pseudo header. */
static rte_be16_t
l4_cksum(const struct check_frame *frame, const struct rte_ipv4_hdr *ip, const void *l4)
{
	const uint64_t by_device = RTE_MBUF_F_TX_L4_MASK | RTE_MBUF_F_TX_TCP_SEG;
	const rte_be16_t cksum = (frame->ol_flags & by_device) != 0
		? rte_ipv4_phdr_cksum(ip, frame->ol_flags)
		: rte_ipv4_udptcp_cksum(ip, l4);

	return frame->no_l4 ? 0 : frame->bad_l4 ? cksum ^ 0x5555 : cksum;
}

static void
write_l4(const struct check_frame *frame, const struct rte_ipv4_hdr *ip, void *l4, uint16_t length)
{
	const rte_be16_t sport = rte_cpu_to_be_16(1024 + frame->sport),
			 discard = rte_cpu_to_be_16(9);

	if (frame->tcp) {
		struct rte_tcp_hdr *tcp = l4;

		tcp->src_port = sport;
		tcp->dst_port = discard;
		tcp->data_off = sizeof(*tcp) / 4 << 4;
		tcp->cksum = l4_cksum(frame, ip, l4);
	} else {
		struct rte_udp_hdr *udp = l4;

		udp->src_port = sport;
		udp->dst_port = discard;
		udp->dgram_len = rte_cpu_to_be_16(length);
		udp->dgram_cksum = l4_cksum(frame, ip, l4);
	}
}

/** Write the frame, without its tunnel, as one run of @p size bytes. */
static void
write_bytes(const struct check *check, enum check_side from, const struct check_frame *frame,
	uint32_t seq, uint8_t *bytes, uint16_t size)
{
	struct rte_ether_hdr *eth = (struct rte_ether_hdr *)bytes;
	struct rte_vlan_hdr *vlan = (struct rte_vlan_hdr *)(eth + 1);
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(vlan + (frame->vlan != 0));
	uint8_t *l4 = (uint8_t *)(ip + 1), *payload = bytes + header_bytes(frame);
	const uint16_t length = size - (l4 - bytes);
	const struct marker marker = {
		.magic = rte_cpu_to_be_32(MAGIC),
		.row = rte_cpu_to_be_32(check->row),
		.seq = rte_cpu_to_be_32(seq),
	};

	memset(bytes, 0, payload - bytes);
	eth->dst_addr = frame->dst != NULL ? *frame->dst : check->port[!from].mac;
	/* Locally administered: no switch between the ports takes it for somebody's. */
	eth->src_addr = (struct rte_ether_addr){ { 0x02, 0, 0, 0, 1, frame->src } };
	eth->ether_type =
		rte_cpu_to_be_16(frame->vlan != 0 ? RTE_ETHER_TYPE_VLAN : RTE_ETHER_TYPE_IPV4);
	if (frame->vlan != 0) {
		vlan->vlan_tci = rte_cpu_to_be_16(frame->vlan);
		vlan->eth_proto = rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4);
	}
	ip->version_ihl = RTE_IPV4_VHL_DEF;
	ip->total_length = rte_cpu_to_be_16(sizeof(*ip) + length);
	ip->fragment_offset = frame->fragment ? rte_cpu_to_be_16(RTE_IPV4_HDR_MF_FLAG) : 0;
	ip->time_to_live = 64;
	ip->next_proto_id = frame->tcp ? IPPROTO_TCP : IPPROTO_UDP;
	ip->src_addr = rte_cpu_to_be_32(RTE_IPV4(198, 18, 0, 1)); /* RFC 2544: for tests */
	ip->dst_addr = rte_cpu_to_be_32(RTE_IPV4(198, 18, 0, 2));
	if (!(frame->ol_flags & RTE_MBUF_F_TX_IP_CKSUM))
		ip->hdr_checksum = rte_ipv4_cksum(ip);
	if (frame->bad_ip)
		ip->hdr_checksum ^= 0x5555;
	memcpy(payload, &marker, sizeof(marker));
	for (uint32_t at = sizeof(marker); at < size - (payload - bytes); at++)
		payload[at] = filler(seq, at);
	write_l4(frame, ip, l4, length);
}

/** Write the headers around a frame that follows them. RFC 7348: no UDP checksum is 0. */
static void
write_tunnel(const struct check_frame *frame, uint8_t *bytes, uint16_t size)
{
	struct rte_ether_hdr *eth = (struct rte_ether_hdr *)bytes;
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(eth + 1);
	struct rte_udp_hdr *udp = (struct rte_udp_hdr *)(ip + 1);
	struct rte_vxlan_hdr *vxlan = (struct rte_vxlan_hdr *)(udp + 1);

	memcpy(eth, vxlan + 1, sizeof(*eth));
	eth->ether_type = rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4);
	*ip = (struct rte_ipv4_hdr){
		.version_ihl = RTE_IPV4_VHL_DEF,
		.total_length = rte_cpu_to_be_16(size - sizeof(*eth)),
		.time_to_live = 64,
		.next_proto_id = IPPROTO_UDP,
		.src_addr = rte_cpu_to_be_32(RTE_IPV4(198, 19, 0, 1)),
		.dst_addr = rte_cpu_to_be_32(RTE_IPV4(198, 19, 0, 2)),
	};
	if (!(frame->ol_flags & RTE_MBUF_F_TX_OUTER_IP_CKSUM))
		ip->hdr_checksum = rte_ipv4_cksum(ip);
	*udp = (struct rte_udp_hdr){
		.src_port = rte_cpu_to_be_16(VXLAN_SPORT),
		.dst_port = rte_cpu_to_be_16(RTE_VXLAN_DEFAULT_PORT),
		.dgram_len = rte_cpu_to_be_16(size - sizeof(*eth) - sizeof(*ip)),
	};
	vxlan->vx_flags = rte_cpu_to_be_32(1u << 27); /* I: the VNI is valid */
	vxlan->vx_vni = rte_cpu_to_be_32(VXLAN_VNI << 8);
}

/** Copy @p size bytes into a chain of @p nb_segs mbufs. */
static struct rte_mbuf *
chain(struct rte_mempool *pool, const uint8_t *bytes, uint16_t size, uint16_t nb_segs)
{
	struct rte_mbuf *head = NULL;
	uint16_t at = 0;

	for (uint16_t i = 0; i < nb_segs; i++) {
		const uint16_t part = i + 1 == nb_segs ? size - at : size / nb_segs;
		struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
		char *room = mbuf == NULL ? NULL : rte_pktmbuf_append(mbuf, part);

		if (room == NULL || (head != NULL && rte_pktmbuf_chain(head, mbuf) != 0)) {
			rte_pktmbuf_free(mbuf);
			rte_pktmbuf_free(head);
			return NULL;
		}
		memcpy(room, bytes + at, part);
		head = head == NULL ? mbuf : head;
		at += part;
	}
	return head;
}

struct rte_mbuf *
check_traffic_frame(
	struct check *check, enum check_side from, const struct check_frame *frame, uint32_t seq)
{
	uint8_t bytes[RTE_ETHER_MAX_JUMBO_FRAME_LEN];
	const uint16_t size = frame->size != 0 ? frame->size : SIZE_DEFAULT;
	const uint16_t tunnel = frame->vxlan ? CHECK_TUNNEL : 0;
	struct rte_mbuf *mbuf;

	write_bytes(check, from, frame, seq, bytes + tunnel, size - tunnel);
	if (frame->vxlan)
		write_tunnel(frame, bytes, size);
	mbuf = chain(check->port[from].pool, bytes, size, RTE_MAX(frame->nb_segs, 1));
	if (mbuf == NULL)
		return NULL;
	mbuf->ol_flags |= frame->ol_flags;
	mbuf->l2_len = sizeof(struct rte_ether_hdr);
	if (frame->vxlan) {
		mbuf->outer_l2_len = sizeof(struct rte_ether_hdr);
		mbuf->outer_l3_len = sizeof(struct rte_ipv4_hdr);
		/* Of an inner header it begins behind the outer IP header. */
		mbuf->l2_len = CHECK_TUNNEL - sizeof(struct rte_ipv4_hdr);
	}
	mbuf->l3_len = sizeof(struct rte_ipv4_hdr);
	mbuf->l4_len = frame->tcp ? sizeof(struct rte_tcp_hdr) : sizeof(struct rte_udp_hdr);
	mbuf->vlan_tci = frame->tci;
	mbuf->tso_segsz = frame->segsz;
	return mbuf;
}

/** @return where the headers of the packet that begins at @p at end, if they are such as ours. */
static uint32_t
headers_end(const struct rte_mbuf *mbuf, uint32_t at)
{
	const struct rte_ether_hdr *eth =
		rte_pktmbuf_mtod_offset(mbuf, const struct rte_ether_hdr *, at);
	const bool tagged = eth->ether_type == rte_cpu_to_be_16(RTE_ETHER_TYPE_VLAN);
	const uint32_t l3 = at + sizeof(*eth) + (tagged ? sizeof(struct rte_vlan_hdr) : 0);
	const struct rte_ipv4_hdr *ip =
		rte_pktmbuf_mtod_offset(mbuf, const struct rte_ipv4_hdr *, l3);

	return l3 + sizeof(*ip) +
		(ip->next_proto_id == IPPROTO_TCP ? sizeof(struct rte_tcp_hdr)
						  : sizeof(struct rte_udp_hdr));
}

/** @return where the marker of a packet is. */
static uint32_t
marker_offset(const struct rte_mbuf *mbuf)
{
	const uint32_t outer = headers_end(mbuf, 0);
	const struct rte_udp_hdr *udp =
		rte_pktmbuf_mtod_offset(mbuf, const struct rte_udp_hdr *, outer - sizeof(*udp));

	/* All of ours go to port 9 otherwise, also those of TCP. */
	return udp->dst_port == rte_cpu_to_be_16(RTE_VXLAN_DEFAULT_PORT) &&
			rte_pktmbuf_data_len(mbuf) >= CHECK_TUNNEL + 60
		? headers_end(mbuf, CHECK_TUNNEL)
		: outer;
}

bool
check_traffic_is_ours(const struct check *check, const struct rte_mbuf *mbuf, uint32_t *seq)
{
	const struct marker *found;
	struct marker marker;

	if (rte_pktmbuf_data_len(mbuf) < 60)
		return false;
	found = rte_pktmbuf_read(mbuf, marker_offset(mbuf), sizeof(marker), &marker);
	if (found == NULL)
		return false;
	memcpy(&marker, found, sizeof(marker));
	*seq = rte_be_to_cpu_32(marker.seq);
	return marker.magic == rte_cpu_to_be_32(MAGIC) &&
		marker.row == rte_cpu_to_be_32(check->row);
}

/** Send all of @p mbufs. @return 0 or -EIO, then the rest is freed. */
static int
send_all(struct check *check, enum check_side from, struct rte_mbuf **mbufs, uint16_t nb)
{
	const uint64_t end = check_wait_end(check);
	const uint16_t queue = from == CHECK_PORT ? check->tx_queue : 0;
	uint16_t sent = 0;

	while (sent < nb && check_wait_on(end))
		sent += rte_eth_tx_burst(check->port[from].id, queue, mbufs + sent, nb - sent);
	if (sent == nb)
		return 0;
	rte_pktmbuf_free_bulk(mbufs + sent, nb - sent);
	return -EIO;
}

void
check_traffic_keep(
	struct check *check, enum check_side side, uint16_t queue, const struct rte_mbuf *mbuf)
{
	struct check_evidence *kept = &check->evidence[check->nb_evidence];
	const uint8_t *bytes;

	if (check->nb_evidence == CHECK_EVIDENCE_MAX)
		return;
	check->nb_evidence++;
	*kept = (struct check_evidence){ .side = side,
		.queue = queue,
		.length = mbuf->pkt_len,
		.hash = mbuf->hash.rss,
		.ol_flags = mbuf->ol_flags,
		.nb = RTE_MIN(mbuf->pkt_len, (uint32_t)CHECK_EVIDENCE_BYTES) };
	bytes = rte_pktmbuf_read(mbuf, 0, kept->nb, kept->bytes);
	if (bytes != NULL && bytes != kept->bytes)
		memcpy(kept->bytes, bytes, kept->nb);
}

/** Look into all queues once. @return whether the last frame was among what came */
static bool
collect(struct check *check, enum check_side side, struct check_gots *gots)
{
	struct rte_mbuf *mbufs[BURST];
	bool is_last = false;
	uint32_t seq;

	for (uint16_t q = 0; q < check->port[side].nb_queues; q++) {
		const uint16_t nb = rte_eth_rx_burst(check->port[side].id, q, mbufs, BURST);

		for (uint16_t i = 0; i < nb; i++) {
			const bool ours = check_traffic_is_ours(check, mbufs[i], &seq);

			is_last |= ours && seq == SEQ_LAST;
			if (!ours || seq != SEQ_LAST)
				check_traffic_keep(check, side, q, mbufs[i]);
			if (ours && seq != SEQ_LAST && gots->nb < CHECK_GOT_MAX)
				gots->got[gots->nb++] = (struct check_got){ mbufs[i], q, seq };
			else
				rte_pktmbuf_free(mbufs[i]);
		}
	}
	return is_last;
}

/** Collect until the last frame has come, and a little longer: queues do not wait for each other.
 */
static int
collect_to_last(struct check *check, enum check_side side, struct check_gots *gots)
{
	uint64_t end = check_wait_end(check);
	bool is_last = false;

	while (check_wait_on(end)) {
		if (!collect(check, side, gots) || is_last)
			continue;
		is_last = true;
		end = check_wait_for(1);
	}
	if (!is_last)
		return -ETIMEDOUT;
	/* That time may have passed while the program did not run: what is there it has not seen.
	 */
	(void)collect(check, side, gots);
	return 0;
}

int
check_traffic_exchange(struct check *check, enum check_side from, const struct check_frame *frames,
	uint32_t nb, struct check_gots *gots)
{
	const struct check_frame last = { .src = 0xff, .vlan = check->last_vlan };
	int ret = 0;

	gots->nb = 0;
	check->nb_evidence = 0;
	for (uint32_t i = 0; i <= nb && ret == 0; i++) {
		struct rte_mbuf *mbuf = check_traffic_frame(
			check, from, i == nb ? &last : &frames[i], i == nb ? SEQ_LAST : i);

		ret = mbuf == NULL ? -ENOMEM : send_all(check, from, &mbuf, 1);
	}
	return ret != 0 ? ret : collect_to_last(check, !from, gots);
}

int
check_traffic_send(struct check *check, enum check_side from, const struct check_frame *frame)
{
	struct rte_mbuf *mbuf = check_traffic_frame(check, from, frame, 0);

	return mbuf == NULL ? -ENOMEM : send_all(check, from, &mbuf, 1);
}

void
check_traffic_free(struct check_gots *gots)
{
	for (unsigned int i = 0; i < gots->nb; i++)
		rte_pktmbuf_free(gots->got[i].mbuf);
	gots->nb = 0;
}

unsigned int
check_traffic_count(const struct check_gots *gots, uint32_t seq, uint16_t queue)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < gots->nb; i++)
		count += gots->got[i].seq == seq &&
			(queue == UINT16_MAX || gots->got[i].queue == queue);
	return count;
}

/** @return whether the packet is frame @p seq byte for byte */
static bool
is_whole(const struct rte_mbuf *mbuf, uint32_t seq, uint16_t size)
{
	uint8_t room[RTE_ETHER_MAX_JUMBO_FRAME_LEN];
	const uint32_t offset = marker_offset(mbuf);
	const uint8_t *payload;

	if (mbuf->pkt_len != size)
		return false;
	payload = rte_pktmbuf_read(mbuf, offset, size - offset, room);
	for (uint32_t at = sizeof(struct marker); payload != NULL && at < size - offset; at++)
		if (payload[at] != filler(seq, at))
			return false;
	return payload != NULL;
}

/** Take what has come. @return the number of packets, or a negative errno with a message */
static int
flood_receive(struct check *check, enum check_side side, uint16_t size, uint32_t expected)
{
	struct rte_mbuf *mbufs[BURST];
	int nb_ours = 0, ret = 0;

	for (uint16_t q = 0; q < check->port[side].nb_queues; q++) {
		const uint16_t nb = rte_eth_rx_burst(check->port[side].id, q, mbufs, BURST);

		for (uint16_t i = 0; i < nb; i++) {
			uint32_t seq;

			if (ret != 0 || !check_traffic_is_ours(check, mbufs[i], &seq))
				continue;
			if (seq != expected + nb_ours)
				ret = check_fail(check, "after packet %u came packet %u",
					expected + nb_ours - 1, seq);
			else if (!is_whole(mbufs[i], seq, size))
				ret = check_fail(
					check, "packet %u of %u bytes has other bytes", seq, size);
			if (ret != 0)
				check_traffic_keep(check, side, q, mbufs[i]);
			nb_ours++;
		}
		rte_pktmbuf_free_bulk(mbufs, nb);
	}
	return ret != 0 ? -EBADMSG : nb_ours;
}

/** Send the next burst. @return 0 or a negative errno with a message */
static int
flood_send(struct check *check, enum check_side from, const struct check_frame *frame,
	uint32_t first, uint32_t nb)
{
	struct rte_mbuf *mbufs[BURST];

	for (uint32_t i = 0; i < nb; i++) {
		mbufs[i] = check_traffic_frame(check, from, frame, first + i);
		if (mbufs[i] == NULL) {
			rte_pktmbuf_free_bulk(mbufs, i);
			(void)check_fail(check, "no mbuf for packet %u", first + i);
			return -ENOMEM;
		}
	}
	if (send_all(check, from, mbufs, nb) == 0)
		return 0;
	(void)check_fail(check, "the device does not send from packet %u on", first);
	return -EIO;
}

/** Send frames and receive them. @return 0 or a negative errno with a message */
static int
flood(struct check *check, enum check_side from, enum check_side to,
	const struct check_frame *frame, uint32_t nb_packets)
{
	uint64_t end = check_wait_end(check);
	uint32_t sent = 0, received = 0;
	int ret;

	while (received < nb_packets) {
		const uint32_t nb = RTE_MIN(nb_packets - sent, (uint32_t)BURST);

		if (nb != 0 && sent - received <= WINDOW - BURST) {
			ret = flood_send(check, from, frame, sent, nb);
			if (ret != 0)
				return ret;
			sent += nb;
		}
		ret = flood_receive(check, to, frame->size, received);
		if (ret < 0)
			return ret;
		if (ret > 0)
			end = check_wait_end(check);
		received += ret;
		if (!check_wait_on(end)) {
			(void)check_fail(check, "of %u packets %u have come", sent, received);
			return -ETIMEDOUT;
		}
	}
	return 0;
}

int
check_traffic_flood(struct check *check, enum check_side from, uint16_t size)
{
	return check_traffic_flood_some(check, from, size, check->nb_packets);
}

int
check_traffic_flood_some(struct check *check, enum check_side from, uint16_t size, uint32_t nb)
{
	const struct check_frame frame = { .size = size };

	return flood(check, from, !from, &frame, nb);
}

int
check_traffic_echo(
	struct check *check, enum check_side side, const struct check_frame *frame, uint32_t nb)
{
	return flood(check, side, side, frame, nb);
}

void
check_losses_begin(const struct check *check, struct check_losses *losses)
{
	for (unsigned int side = 0; side < CHECK_NB_SIDES; side++)
		losses->is_known[side] =
			rte_eth_stats_get(check->port[side].id, &losses->before[side]) == 0;
}

/** Take what is still on its way: the row has looked at none behind the first that was wrong. A
 * sender hears of errors when it is asked for completions. */
static void
settle(const struct check_port *port, const struct check_port *sender, uint16_t tx_queue)
{
	const uint64_t end = check_wait_for(SETTLE_MS);
	struct rte_mbuf *mbufs[32];

	while (check_wait_on(end)) {
		(void)rte_eth_tx_done_cleanup(sender->id, tx_queue, 0);
		for (uint16_t q = 0; q < port->nb_queues; q++)
			rte_pktmbuf_free_bulk(
				mbufs, rte_eth_rx_burst(port->id, q, mbufs, RTE_DIM(mbufs)));
	}
}

void
check_losses_explain(struct check *check, enum check_side from, const struct check_losses *losses)
{
	struct rte_eth_stats now[CHECK_NB_SIDES];
	const struct rte_eth_stats *before = losses->before;
	const size_t at = strlen(check->why);
	uint64_t sent, failed, arrived, no_descriptor, no_mbuf, broken;

	settle(&check->port[!from], &check->port[from], from == CHECK_PORT ? check->tx_queue : 0);
	for (unsigned int side = 0; side < CHECK_NB_SIDES; side++)
		if (!losses->is_known[side] ||
			rte_eth_stats_get(check->port[side].id, &now[side]) != 0)
			return;
	sent = now[from].opackets - before[from].opackets;
	failed = now[from].oerrors - before[from].oerrors;
	arrived = now[!from].ipackets - before[!from].ipackets;
	no_descriptor = now[!from].imissed - before[!from].imissed;
	no_mbuf = now[!from].rx_nombuf - before[!from].rx_nombuf;
	broken = now[!from].ierrors - before[!from].ierrors;
	snprintf(check->why + at, sizeof(check->why) - at,
		"; by the ports' counters %" PRIu64 " were sent and %" PRIu64
		" failed to be, %" PRIu64 " came, %" PRIu64 " found no descriptor and %" PRIu64
		" no mbuf, %" PRIu64 " were broken, %" PRId64 " are lost between the ports",
		sent, failed, arrived, no_descriptor, no_mbuf, broken,
		(int64_t)(sent - arrived - no_descriptor - broken));
}
