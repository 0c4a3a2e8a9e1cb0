/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames of headers from a table: written, sent and known again. */
#include "layers.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#define MAGIC       0x6c617972u /* "layr" */
#define BURST       32
#define NO_FIELD    UINT8_MAX
#define HEADER_MOST 40
#define PORT_MPLS   6635 /* RFC 7510 */
#define PORT_ANY    9

/** What ends a frame. */
struct marker {
	rte_be32_t magic, row, seq;
};

/** A header: its bytes, and where it says what follows, as an EtherType, a protocol or a port. */
struct header {
	enum rte_flow_item_type item;
	uint8_t nb;
	uint8_t next_at, next_nb;           /**< NO_FIELD: it does not say */
	uint16_t ethertype, protocol, port; /**< by which others name it */
	uint8_t bytes[HEADER_MOST];
};

#define ITEM(t) RTE_FLOW_ITEM_TYPE_##t

/* Addresses: RFC 2544 and RFC 3849. */
static const struct header headers[CHECK_NB_LAYERS] = {
	[CHECK_ETH] = { ITEM(ETH), 14, 12, 2, .ethertype = 0x6558 },
	[CHECK_VLAN] = { ITEM(VLAN), 4, 2, 2, .ethertype = RTE_ETHER_TYPE_VLAN, .bytes = { 0, 5 } },
	[CHECK_IPV4] = { ITEM(IPV4), 20, 9, 1, .ethertype = RTE_ETHER_TYPE_IPV4,
		.bytes = { 0x45, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, 198, 18, 0, 1, 198, 18, 0, 2 } },
	[CHECK_IPV6] = { ITEM(IPV6), 40, 6, 1, .ethertype = RTE_ETHER_TYPE_IPV6,
		.bytes = { 0x60, 0x40, [7] = 64, 0x20, 0x01, 0x0d, 0xb8, [23] = 1, 0x20, 0x01, 0x0d,
			0xb8, [39] = 2 } },
	[CHECK_UDP] = { ITEM(UDP), 8, 2, 2, .protocol = IPPROTO_UDP, .bytes = { 4, 0 } },
	[CHECK_TCP] = { ITEM(TCP), 20, NO_FIELD, .protocol = IPPROTO_TCP,
		.bytes = { 4, 0, 0, PORT_ANY, 1, 2, 3, 4, 5, 6, 7, 8, 0x50, 0x10, 0x20 } },
	[CHECK_ESP] = { ITEM(ESP), 8, NO_FIELD, .protocol = IPPROTO_ESP,
		.bytes = { 0, 0, 0, 5, 0, 0, 0, 1 } },
	[CHECK_GRE] = { ITEM(GRE), 4, 2, 2, .protocol = IPPROTO_GRE },
	[CHECK_GRE_KEY] = { ITEM(GRE), 8, 2, 2, .protocol = IPPROTO_GRE,
		.bytes = { 0x20, [7] = 7 } },
	[CHECK_NVGRE] = { ITEM(NVGRE), 8, 2, 2, .protocol = IPPROTO_GRE,
		.bytes = { 0x20, [6] = 42 } },
	[CHECK_VXLAN] = { ITEM(VXLAN), 8, NO_FIELD, .port = RTE_VXLAN_DEFAULT_PORT,
		.bytes = { 8, [6] = 42 } },
	[CHECK_MPLS] = { ITEM(MPLS), 4, NO_FIELD, .ethertype = 0x8847, .port = PORT_MPLS,
		.bytes = { 0, 1, 1, 64 } },
};

uint16_t
check_layer_bytes(enum check_layer layer)
{
	return headers[layer].nb;
}

enum rte_flow_item_type
check_layer_item(enum check_layer layer)
{
	return headers[layer].item;
}

static void
put16(uint8_t *to, uint16_t value)
{
	to[0] = value >> 8;
	to[1] = (uint8_t)value;
}

/** Name what follows in a header at @p bytes. */
static void
link_next(enum check_layer layer, enum check_layer next, uint8_t *bytes)
{
	const struct header *header = &headers[layer];
	uint8_t *to = bytes + header->next_at;

	if (layer == CHECK_UDP)
		put16(to, headers[next].port != 0 ? headers[next].port : PORT_ANY);
	else if (header->next_nb == 2)
		put16(to, headers[next].ethertype);
	else if (header->next_nb == 1)
		*to = (uint8_t)headers[next].protocol;
}

/** Of UDP and TCP the field is @p l4's, behind IP. Those of a tunnel have none: RFC 7348. */
static void
fill_checksum(const uint8_t *layers, uint8_t *ip, uint8_t *l4)
{
	const bool is_tcp = layers[1] == CHECK_TCP;
	uint8_t *to = l4 +
		(is_tcp ? offsetof(struct rte_tcp_hdr, cksum)
			: offsetof(struct rte_udp_hdr, dgram_cksum));
	uint16_t sum;

	put16(to, 0);
	if (!is_tcp && (layers[1] != CHECK_UDP || layers[2] != CHECK_LAYER_END))
		return;
	sum = layers[0] == CHECK_IPV4 ? rte_ipv4_udptcp_cksum((struct rte_ipv4_hdr *)ip, l4)
				      : rte_ipv6_udptcp_cksum((struct rte_ipv6_hdr *)ip, l4);
	memcpy(to, &sum, sizeof(sum));
}

/** Fill in the length of a header at @p bytes, @p rest bytes from the end, and its checksum. */
static void
finish(const uint8_t *layers, uint8_t *bytes, uint16_t rest)
{
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)bytes;
	uint8_t *next = bytes + headers[layers[0]].nb;

	if (layers[0] == CHECK_UDP) {
		put16(bytes + offsetof(struct rte_udp_hdr, dgram_len), rest);
		return;
	}
	if (layers[0] == CHECK_IPV4) {
		ip->total_length = rte_cpu_to_be_16(rest);
		ip->hdr_checksum = 0;
		ip->hdr_checksum = rte_ipv4_cksum(ip);
	} else if (layers[0] == CHECK_IPV6) {
		put16(bytes + offsetof(struct rte_ipv6_hdr, payload_len),
			rest - headers[CHECK_IPV6].nb);
	} else {
		return;
	}
	if (layers[1] == CHECK_UDP || layers[1] == CHECK_TCP)
		fill_checksum(layers, bytes, next);
}

void
check_layers_write(const struct check *check, enum check_side from, const uint8_t *layers,
	const struct check_patch *patch, uint32_t seq, struct check_layers *frame)
{
	const struct marker marker = { rte_cpu_to_be_32(MAGIC), rte_cpu_to_be_32(check->row),
		rte_cpu_to_be_32(seq) };
	const struct rte_ether_hdr eth = { .dst_addr = check->port[!from].mac,
		.src_addr = { { 2, 0, 0, 0, 1, CHECK_RULE_SRC } } };
	unsigned int nb = 0;
	uint16_t at = 0;

	memset(frame->bytes, 0, sizeof(frame->bytes));
	for (; layers[nb] != CHECK_LAYER_END; nb++) {
		const struct header *header = &headers[layers[nb]];

		memcpy(frame->bytes + at, header->bytes, header->nb);
		if (layers[nb] == CHECK_ETH)
			memcpy(frame->bytes + at, &eth, sizeof(eth));
		link_next(layers[nb], layers[nb + 1], frame->bytes + at);
		frame->at[nb] = at;
		at += header->nb;
	}
	memcpy(frame->bytes + sizeof(frame->bytes) - sizeof(marker), &marker, sizeof(marker));
	if (patch->nb != 0)
		memcpy(frame->bytes + frame->at[patch->layer] + patch->at, patch->bytes, patch->nb);
	while (nb-- > 0)
		finish(layers + nb, frame->bytes + frame->at[nb],
			sizeof(frame->bytes) - frame->at[nb]);
}

void
check_layers_blank(const uint8_t *layers, unsigned int nb, struct check_layers *frame)
{
	for (unsigned int i = 0; i < nb; i++) {
		uint8_t *bytes = frame->bytes + frame->at[i];

		if (layers[i] == CHECK_IPV4) {
			put16(bytes + offsetof(struct rte_ipv4_hdr, total_length), 0);
			put16(bytes + offsetof(struct rte_ipv4_hdr, hdr_checksum), 0);
		} else if (layers[i] == CHECK_UDP) {
			put16(bytes + offsetof(struct rte_udp_hdr, dgram_len), 0);
		}
	}
}

int
check_layers_send(struct check *check, enum check_side from, const uint8_t *bytes, uint16_t length)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(check->port[from].pool);
	const uint16_t queue = from == CHECK_PORT ? check->tx_queue : 0;
	const uint64_t end = check_wait_end(check);
	char *room = mbuf == NULL ? NULL : rte_pktmbuf_append(mbuf, length);
	uint16_t sent = 0;

	if (room == NULL) {
		rte_pktmbuf_free(mbuf);
		return -ENOMEM;
	}
	memcpy(room, bytes, length);
	while (sent == 0 && check_wait_on(end))
		sent = rte_eth_tx_burst(check->port[from].id, queue, &mbuf, 1);
	if (sent == 0)
		rte_pktmbuf_free(mbuf);
	return sent == 1 ? 0 : -EIO;
}

/** @return whether @p mbuf is a frame of this row; then *seq is its number */
static bool
is_ours(const struct check *check, const struct rte_mbuf *mbuf, uint32_t *seq)
{
	const uint16_t length = rte_pktmbuf_data_len(mbuf);
	struct marker marker;

	if (length < sizeof(marker))
		return false;
	memcpy(&marker, rte_pktmbuf_mtod_offset(mbuf, const uint8_t *, length - sizeof(marker)),
		sizeof(marker));
	*seq = rte_be_to_cpu_32(marker.seq);
	return marker.magic == rte_cpu_to_be_32(MAGIC) &&
		marker.row == rte_cpu_to_be_32(check->row);
}

/** Look into all queues once. @return whether frame 0 was there */
static bool
collect(struct check *check, enum check_side side, struct check_got *got, unsigned int nb_frames)
{
	struct rte_mbuf *mbufs[BURST];
	bool is_there = false;
	uint32_t seq;

	for (uint16_t q = 0; q < check->port[side].nb_queues; q++) {
		const uint16_t nb = rte_eth_rx_burst(check->port[side].id, q, mbufs, BURST);

		for (uint16_t i = 0; i < nb; i++) {
			if (!is_ours(check, mbufs[i], &seq) || seq >= nb_frames ||
				got[seq].mbuf != NULL) {
				rte_pktmbuf_free(mbufs[i]);
				continue;
			}
			check_traffic_keep(check, side, q, mbufs[i]);
			got[seq] = (struct check_got){ mbufs[i], q, seq };
			is_there |= seq == 0;
		}
	}
	return is_there;
}

void
check_layers_collect(
	struct check *check, enum check_side side, struct check_got *got, unsigned int nb)
{
	uint64_t end = check_wait_end(check);

	memset(got, 0, nb * sizeof(*got));
	check->nb_evidence = 0;
	while (check_wait_on(end))
		if (collect(check, side, got, nb))
			/* Queues do not wait for each other. */
			end = check_wait_for(1);
	/* That time may have passed while the program did not run. */
	(void)collect(check, side, got, nb);
}

bool
check_layers_equal(const struct rte_mbuf *mbuf, const uint8_t *bytes, uint16_t length)
{
	const uint8_t *got = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	const uint16_t addresses = offsetof(struct rte_ether_hdr, ether_type);
	const uint16_t tag =
		mbuf->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED ? sizeof(struct rte_vlan_hdr) : 0;

	if (rte_pktmbuf_data_len(mbuf) + tag != length)
		return false;
	if (tag != 0 && mbuf->vlan_tci != (bytes[addresses + 2] << 8 | bytes[addresses + 3]))
		return false;
	return memcmp(got, bytes, addresses) == 0 &&
		memcmp(got + addresses, bytes + addresses + tag, length - addresses - tag) == 0;
}
