/* SPDX-License-Identifier: BSD-3-Clause */
/* Frame -> headers. fits() guards every access to the frame. */
#include "steering/match/parse.h"

#include <netinet/in.h>
#include <string.h>

#include "steering/match/bytes.h"

enum {
	ETHER_BYTES = 14,
	VLAN_BYTES = 4,
	IPV4_BYTES = 20,
	IPV6_BYTES = 40,
	TCP_BYTES = 20,
	UDP_BYTES = 8,
	ESP_BYTES = 8, /* SPI and sequence number, RFC 4303 2 */
	VXLAN_BYTES = 8,
	GRE_BYTES = 4,
	LABEL_BYTES = 4,

	TYPE_IPV4 = 0x0800,
	TYPE_CVLAN = 0x8100,
	TYPE_TEB = 0x6558, /* an Ethernet frame inside GRE, RFC 7637 3.2 */
	TYPE_IPV6 = 0x86dd,
	TYPE_MPLS = 0x8847,
	TYPE_MPLS_UPSTREAM = 0x8848,
	TYPE_SVLAN = 0x88a8,

	PORT_VXLAN = 4789,    /* RFC 7348 */
	PORT_MPLS_UDP = 6635, /* RFC 7510 */

	/* Our limits: a hardware parser has limits, too. */
	MAX_VLANS = 8,
	MAX_LABELS = 16,
	MAX_EXTENSIONS = 8,
};

/** Inline all functions for outer headers, which are nearly all the work for most frames. */
#define STRAIGHT static inline __attribute__((always_inline))

static bool
fits(uint32_t offset, uint32_t bytes, uint32_t end)
{
	return offset <= end && bytes <= end - offset;
}

static bool
is_mpls(uint16_t type)
{
	return type == TYPE_MPLS || type == TYPE_MPLS_UPSTREAM;
}

/** Set the end of an IP packet of @p total_bytes; for an impossible length, the frame's end. */
STRAIGHT void
set_l3_end(struct shca_headers *headers, uint32_t header_bytes, uint32_t total_bytes, uint32_t end)
{
	headers->l3_length_ok =
		total_bytes >= header_bytes && fits(headers->l3_offset, total_bytes, end);
	headers->l3_end = headers->l3_length_ok ? headers->l3_offset + total_bytes : end;
}

STRAIGHT void
parse_ipv4(const uint8_t *restrict bytes, uint32_t offset, uint32_t end,
	struct shca_headers *restrict headers)
{
	if (!fits(offset, IPV4_BYTES, end))
		return;

	const uint8_t *ip = bytes + offset;
	uint32_t header_bytes = (ip[0] & 0xfu) * 4;

	if (ip[0] >> 4 != 4 || header_bytes < IPV4_BYTES || !fits(offset, header_bytes, end))
		return;
	headers->l3 = SHCA_L3_IPV4;
	headers->l3_offset = offset;
	set_l3_end(headers, header_bytes, shca_bytes_load16(ip + 2), end);
	headers->ip_options = header_bytes > IPV4_BYTES;
	headers->fragment = (shca_bytes_load16(ip + 6) & 0x3fff) != 0; /* more fragments, offset */
	headers->ip_proto = ip[9];
	headers->l4_offset = offset + header_bytes;
}

static bool
is_extension(uint8_t proto)
{
	return proto == IPPROTO_HOPOPTS || proto == IPPROTO_ROUTING || proto == IPPROTO_DSTOPTS ||
		proto == IPPROTO_FRAGMENT;
}

/** Follow the chain of RFC 8200 4 as far as it is in the frame; a fragment but the first has
 * payload next. */
static void
skip_extensions(const uint8_t *restrict bytes, struct shca_headers *restrict headers)
{
	for (unsigned int i = 0; i < MAX_EXTENSIONS && is_extension(headers->ip_proto); i++) {
		if (!fits(headers->l4_offset, 8, headers->l3_end))
			return;

		const uint8_t *extension = bytes + headers->l4_offset;
		bool is_fragment = headers->ip_proto == IPPROTO_FRAGMENT;
		uint32_t extension_bytes = is_fragment ? 8 : (extension[1] + 1u) * 8;

		if (!fits(headers->l4_offset, extension_bytes, headers->l3_end))
			return;
		headers->fragment |= is_fragment;
		headers->ip_proto = extension[0];
		headers->l4_offset += extension_bytes;
		if (is_fragment && (shca_bytes_load16(extension + 2) & 0xfff8) != 0)
			return;
	}
}

static void
parse_ipv6(const uint8_t *restrict bytes, uint32_t offset, uint32_t end,
	struct shca_headers *restrict headers)
{
	if (!fits(offset, IPV6_BYTES, end))
		return;

	const uint8_t *ip = bytes + offset;

	if (ip[0] >> 4 != 6)
		return;
	headers->l3 = SHCA_L3_IPV6;
	headers->l3_offset = offset;
	set_l3_end(headers, IPV6_BYTES, IPV6_BYTES + shca_bytes_load16(ip + 4), end);
	headers->ip_proto = ip[6];
	headers->ip_options = is_extension(ip[6]);
	headers->l4_offset = offset + IPV6_BYTES;
	skip_extensions(bytes, headers);
}

STRAIGHT void
parse_tcp(const uint8_t *restrict bytes, struct shca_headers *restrict headers)
{
	if (!fits(headers->l4_offset, TCP_BYTES, headers->l3_end))
		return;

	const uint8_t *tcp = bytes + headers->l4_offset;
	uint32_t header_bytes = (tcp[12] >> 4) * 4u;

	if (header_bytes < TCP_BYTES || !fits(headers->l4_offset, header_bytes, headers->l3_end))
		return;
	headers->l4 = SHCA_L4_TCP;
	headers->src_port = shca_bytes_load16(tcp);
	headers->dst_port = shca_bytes_load16(tcp + 2);
	headers->tcp_flags = tcp[13];
	headers->payload_offset = headers->l4_offset + header_bytes;
}

STRAIGHT void
parse_udp(const uint8_t *restrict bytes, struct shca_headers *restrict headers)
{
	if (!fits(headers->l4_offset, UDP_BYTES, headers->l3_end))
		return;

	const uint8_t *udp = bytes + headers->l4_offset;

	headers->l4 = SHCA_L4_UDP;
	headers->src_port = shca_bytes_load16(udp);
	headers->dst_port = shca_bytes_load16(udp + 2);
	headers->payload_offset = headers->l4_offset + UDP_BYTES;
}

STRAIGHT void
parse_ip(const uint8_t *restrict bytes, uint32_t offset, uint32_t end, uint16_t type,
	struct shca_headers *restrict headers)
{
	if (type == TYPE_IPV4)
		parse_ipv4(bytes, offset, end, headers);
	else if (type == TYPE_IPV6)
		parse_ipv6(bytes, offset, end, headers);
	if (headers->l3 == SHCA_L3_NONE || headers->fragment)
		return;
	if (headers->ip_proto == IPPROTO_TCP)
		parse_tcp(bytes, headers);
	else if (headers->ip_proto == IPPROTO_UDP)
		parse_udp(bytes, headers);
	else if (headers->ip_proto == IPPROTO_ESP &&
		fits(headers->l4_offset, ESP_BYTES, headers->l3_end))
		headers->l4 = SHCA_L4_ESP;
}

/** Skip a label stack (RFC 3032 2.1). @return true when its bottom was found. */
static bool
skip_labels(const uint8_t *bytes, uint32_t *offset, uint32_t end)
{
	for (unsigned int i = 0; i < MAX_LABELS && fits(*offset, LABEL_BYTES, end); i++) {
		bool bottom = bytes[*offset + 2] & 1;

		*offset += LABEL_BYTES;
		if (bottom)
			return true;
	}
	return false;
}

/** A label does not name the next protocol: like routers, look at the first nibble (RFC 4928 2). */
static uint16_t
type_behind_labels(const uint8_t *bytes, uint32_t offset, uint32_t end)
{
	if (!fits(offset, 1, end))
		return 0;
	switch (bytes[offset] >> 4) {
	case 4:
		return TYPE_IPV4;
	case 6:
		return TYPE_IPV6;
	case 0:
		return TYPE_TEB; /* after the control word of a pseudowire, RFC 4385 3 */
	default:
		return 0;
	}
}

STRAIGHT void
parse_ether(const uint8_t *restrict bytes, uint32_t offset, uint32_t end,
	struct shca_headers *restrict headers)
{
	if (!fits(offset, ETHER_BYTES, end))
		return;
	headers->valid = true;
	headers->has_ether = true;
	headers->l2_offset = offset;

	uint16_t type = shca_bytes_load16(bytes + offset + 12);

	offset += ETHER_BYTES;
	while ((type == TYPE_CVLAN || type == TYPE_SVLAN) && headers->nb_vlans < MAX_VLANS &&
		fits(offset, VLAN_BYTES, end)) {
		if (headers->nb_vlans == 0) {
			headers->vlan_tpid = type;
			headers->vlan_tci = shca_bytes_load16(bytes + offset);
		}
		headers->nb_vlans++;
		type = shca_bytes_load16(bytes + offset + 2);
		offset += VLAN_BYTES;
	}
	headers->ether_type = type;
	if (is_mpls(type) && fits(offset, LABEL_BYTES, end)) {
		headers->has_mpls = true;
		headers->mpls_label = shca_bytes_load32(bytes + offset);
		if (skip_labels(bytes, &offset, end))
			type = type_behind_labels(bytes, offset, end);
	}
	parse_ip(bytes, offset, end, type, headers);
}

static __attribute__((noinline)) void
parse_inner(struct shca_packet *packet, uint32_t offset, uint32_t end, uint16_t type)
{
	if (type == TYPE_TEB) {
		parse_ether(packet->bytes, offset, end, &packet->inner);
	} else if (type == TYPE_IPV4 || type == TYPE_IPV6) {
		packet->inner.valid = true;
		packet->inner.l2_offset = offset;
		parse_ip(packet->bytes, offset, end, type, &packet->inner);
	}
}

static void
parse_mpls_tunnel(
	struct shca_packet *packet, uint32_t offset, uint32_t end, enum shca_tunnel tunnel)
{
	if (!fits(offset, LABEL_BYTES, end))
		return;
	packet->tunnel = tunnel;
	packet->has_mpls = true;
	packet->mpls_label = shca_bytes_load32(packet->bytes + offset);
	if (!skip_labels(packet->bytes, &offset, end))
		return;

	uint16_t type = type_behind_labels(packet->bytes, offset, end);

	parse_inner(packet, type == TYPE_TEB ? offset + LABEL_BYTES : offset, end, type);
}

static void
parse_vxlan(struct shca_packet *packet, uint32_t offset, uint32_t end)
{
	/* Without the I flag the packet is not VXLAN: it has no VNI (RFC 7348 5). */
	if (!fits(offset, VXLAN_BYTES, end) || !(packet->bytes[offset] & 0x08))
		return;
	packet->tunnel = SHCA_TUNNEL_VXLAN;
	packet->vni = shca_bytes_load32(packet->bytes + offset + 4) >> 8;
	parse_inner(packet, offset + VXLAN_BYTES, end, TYPE_TEB);
}

/** Parse GRE of RFC 2784 with key and sequence number of RFC 2890, but not source routes of RFC
 * 1701 nor PPTP's version 1. */
static void
parse_gre(struct shca_packet *packet, uint32_t offset, uint32_t end)
{
	enum {
		CHECKSUM = 0x8000,
		ROUTING = 0x4000,
		KEY = 0x2000,
		SEQUENCE = 0x1000,
		VERSION = 0x0007,
	};

	if (!fits(offset, GRE_BYTES, end))
		return;

	const uint8_t *gre = packet->bytes + offset;
	uint16_t flags = shca_bytes_load16(gre);
	uint16_t type = shca_bytes_load16(gre + 2);
	uint32_t key_offset = GRE_BYTES + (flags & CHECKSUM ? 4 : 0);
	uint32_t header_bytes = key_offset + (flags & KEY ? 4 : 0) + (flags & SEQUENCE ? 4 : 0);

	if (flags & (ROUTING | VERSION) || !fits(offset, header_bytes, end))
		return;
	packet->tunnel = SHCA_TUNNEL_GRE;
	packet->gre_protocol = type;
	if (flags & KEY) {
		packet->has_gre_key = true;
		packet->gre_key = shca_bytes_load32(gre + key_offset);
	}
	if (is_mpls(type))
		parse_mpls_tunnel(packet, offset + header_bytes, end, SHCA_TUNNEL_MPLS_GRE);
	else
		parse_inner(packet, offset + header_bytes, end, type);
}

static void
parse_tunnel(struct shca_packet *packet)
{
	const struct shca_headers *outer = &packet->outer;

	if (outer->l3 == SHCA_L3_NONE || outer->fragment)
		return;
	if (outer->l4 == SHCA_L4_UDP && outer->dst_port == PORT_VXLAN)
		parse_vxlan(packet, outer->payload_offset, outer->l3_end);
	else if (outer->l4 == SHCA_L4_UDP && outer->dst_port == PORT_MPLS_UDP)
		parse_mpls_tunnel(
			packet, outer->payload_offset, outer->l3_end, SHCA_TUNNEL_MPLS_UDP);
	else if (outer->ip_proto == IPPROTO_GRE)
		parse_gre(packet, outer->l4_offset, outer->l3_end);
}

bool
shca_parse_may_tunnel(const struct shca_headers *outer)
{
	return outer->ip_proto == IPPROTO_GRE ||
		(outer->l4 == SHCA_L4_UDP &&
			(outer->dst_port == PORT_VXLAN || outer->dst_port == PORT_MPLS_UDP));
}

void
shca_parse(const uint8_t *bytes, uint32_t length, struct shca_packet *packet)
{
	memset(packet, 0, sizeof(*packet));
	packet->bytes = bytes;
	packet->length = length;
	/* Offsets have 16 bits. No frame is longer; the parser would ignore the rest. */
	parse_ether(bytes, 0, length < UINT16_MAX ? length : UINT16_MAX, &packet->outer);
	parse_tunnel(packet);
}
