/* SPDX-License-Identifier: BSD-3-Clause */
/* RoCE frames, bytes <-> struct. */
#include "transport/packet/roce.h"

#include <endian.h>

#define ETHERNET_BYTES 14
#define TAG_BYTES      4
#define IPV4_BYTES     20
#define IPV6_BYTES     40
#define UDP_BYTES      8
#define TYPE_IPV4      0x0800
#define TYPE_IPV6      0x86dd
#define TYPE_CVLAN     0x8100
#define PROTOCOL_UDP   17
#define NEXT_BTH       0x1b /* a GRH's next header (IBTA 8.2.4) */
#define DONT_FRAGMENT  0x4000
#define FRAGMENT_MASK  0x3fff /* more fragments, and the offset */

static uint16_t
get16(const uint8_t *bytes)
{
	return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

static void
put16(uint8_t *bytes, uint32_t value)
{
	bytes[0] = (uint8_t)(value >> 8);
	bytes[1] = (uint8_t)value;
}

static enum shca_icrc_network
network_of(const struct shca_roce_path *path)
{
	if (!path->is_v2)
		return SHCA_ICRC_GRH;
	return shca_roce_is_ipv4(path->sgid) && shca_roce_is_ipv4(path->dgid) ? SHCA_ICRC_IPV4_UDP
									      : SHCA_ICRC_IPV6_UDP;
}

/** RFC 1071: of all of the header. */
static uint16_t
ipv4_checksum(const uint8_t *ip)
{
	uint32_t sum = 0;

	for (unsigned int i = 0; i < IPV4_BYTES; i += 2)
		sum += get16(ip + i);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

static void
set_ipv4_checksum(uint8_t *ip)
{
	put16(ip + 10, 0);
	put16(ip + 10, ipv4_checksum(ip));
}

static void
write_ipv4(const struct shca_roce_path *path, uint8_t *ip)
{
	memset(ip, 0, IPV4_BYTES);
	ip[0] = 0x45;
	ip[1] = path->traffic_class;
	put16(ip + 6, DONT_FRAGMENT);
	ip[8] = path->hop_limit;
	ip[9] = PROTOCOL_UDP;
	memcpy(ip + 12, path->sgid + 12, 4);
	memcpy(ip + 16, path->dgid + 12, 4);
}

static void
write_ipv6(const struct shca_roce_path *path, uint8_t next_header, uint8_t *ip)
{
	const uint32_t word = htobe32(
		6u << 28 | (uint32_t)path->traffic_class << 20 | (path->flow_label & 0xfffff));

	memcpy(ip, &word, sizeof(word));
	ip[6] = next_header;
	ip[7] = path->hop_limit;
	memcpy(ip + 8, path->sgid, sizeof(path->sgid));
	memcpy(ip + 24, path->dgid, sizeof(path->dgid));
}

uint32_t
shca_roce_write_headers(
	const struct shca_roce_path *path, const struct shca_bth *bth, uint8_t *frame)
{
	static const uint16_t types[] = {
		[SHCA_ICRC_GRH] = SHCA_ROCE_ETHERTYPE,
		[SHCA_ICRC_IPV4_UDP] = TYPE_IPV4,
		[SHCA_ICRC_IPV6_UDP] = TYPE_IPV6,
	};
	const enum shca_icrc_network network = network_of(path);
	uint8_t *ip = frame + ETHERNET_BYTES;
	uint32_t at = ETHERNET_BYTES + shca_icrc_network_bytes(network);

	memcpy(frame, path->dmac, sizeof(path->dmac));
	memcpy(frame + 6, path->smac, sizeof(path->smac));
	put16(frame + 12, types[network]);
	if (network == SHCA_ICRC_IPV4_UDP)
		write_ipv4(path, ip);
	else
		write_ipv6(path, network == SHCA_ICRC_GRH ? NEXT_BTH : PROTOCOL_UDP, ip);
	if (network != SHCA_ICRC_GRH) {
		uint8_t *udp = frame + at - UDP_BYTES;

		put16(udp, path->udp_source);
		put16(udp + 2, SHCA_ROCE_UDP_PORT);
		put16(udp + 6, 0); /* no checksum: the ICRC protects (IBTA A17.3.1.2) */
	}
	at += shca_bth_write(bth, frame + at);
	return at;
}

uint32_t
shca_roce_finish(const struct shca_roce_path *path, const struct shca_bth *bth, uint8_t *frame)
{
	const enum shca_icrc_network network = network_of(path);
	const uint32_t network_bytes = shca_icrc_network_bytes(network);
	uint8_t *ip = frame + ETHERNET_BYTES;
	uint32_t length = network_bytes + shca_bth_headers_bytes(bth->opcode) + bth->payload_bytes;
	const uint32_t pad = -bth->payload_bytes & 3;
	uint32_t icrc;

	memset(ip + length, 0, pad);
	length += pad;
	if (network != SHCA_ICRC_GRH)
		put16(ip + network_bytes - UDP_BYTES + 4,
			length + SHCA_ICRC_BYTES - (network_bytes - UDP_BYTES));
	if (network == SHCA_ICRC_IPV4_UDP) {
		put16(ip + 2, length + SHCA_ICRC_BYTES);
		set_ipv4_checksum(ip);
	} else {
		put16(ip + 4, length + SHCA_ICRC_BYTES - IPV6_BYTES);
	}
	icrc = shca_icrc(network, ip, length);
	memcpy(ip + length, &icrc, sizeof(icrc));
	return ETHERNET_BYTES + length + SHCA_ICRC_BYTES;
}

/** @return the offset of what follows the Ethernet header and at most one tag. */
static uint32_t
network_offset(const uint8_t *frame, uint32_t length)
{
	if (length >= ETHERNET_BYTES + TAG_BYTES && get16(frame + 12) == TYPE_CVLAN)
		return ETHERNET_BYTES + TAG_BYTES;
	return ETHERNET_BYTES;
}

static bool
look_ipv4(const uint8_t *ip, uint32_t length, struct shca_roce_path *path)
{
	static const uint8_t prefix[12] = { [10] = 0xff, 0xff };

	if (length < IPV4_BYTES + UDP_BYTES || ip[0] != 0x45 || ip[9] != PROTOCOL_UDP ||
		(get16(ip + 6) & FRAGMENT_MASK) != 0)
		return false;
	path->traffic_class = ip[1];
	path->hop_limit = ip[8];
	memcpy(path->sgid, prefix, sizeof(prefix));
	memcpy(path->sgid + 12, ip + 12, 4);
	memcpy(path->dgid, prefix, sizeof(prefix));
	memcpy(path->dgid + 12, ip + 16, 4);
	return true;
}

static bool
look_ipv6(const uint8_t *ip, uint32_t length, uint8_t next_header, struct shca_roce_path *path)
{
	uint32_t word;

	if (length < IPV6_BYTES + UDP_BYTES || ip[0] >> 4 != 6 || ip[6] != next_header)
		return false;
	memcpy(&word, ip, sizeof(word));
	word = be32toh(word);
	path->traffic_class = (uint8_t)(word >> 20);
	path->flow_label = word & 0xfffff;
	path->hop_limit = ip[7];
	memcpy(path->sgid, ip + 8, sizeof(path->sgid));
	memcpy(path->dgid, ip + 24, sizeof(path->dgid));
	return true;
}

uint32_t
shca_roce_look(const uint8_t *frame, uint32_t length, struct shca_roce_path *path,
	enum shca_icrc_network *network)
{
	const uint32_t at = network_offset(frame, length);
	const uint8_t *ip = frame + at;
	uint32_t end;
	bool is_roce = false;

	if (length < at + IPV4_BYTES + UDP_BYTES)
		return 0;
	memset(path, 0, sizeof(*path));
	switch (get16(ip - 2)) {
	case SHCA_ROCE_ETHERTYPE:
		*network = SHCA_ICRC_GRH;
		is_roce = look_ipv6(ip, length - at, NEXT_BTH, path);
		break;
	case TYPE_IPV4:
		*network = SHCA_ICRC_IPV4_UDP;
		is_roce = look_ipv4(ip, length - at, path);
		break;
	case TYPE_IPV6:
		*network = SHCA_ICRC_IPV6_UDP;
		is_roce = look_ipv6(ip, length - at, PROTOCOL_UDP, path);
		break;
	}
	if (!is_roce)
		return 0;
	end = at + shca_icrc_network_bytes(*network);
	if (*network != SHCA_ICRC_GRH) {
		const uint8_t *udp = frame + end - UDP_BYTES;

		if (get16(udp + 2) != SHCA_ROCE_UDP_PORT)
			return 0;
		path->is_v2 = true;
		path->udp_source = get16(udp);
	}
	memcpy(path->dmac, frame, sizeof(path->dmac));
	memcpy(path->smac, frame + 6, sizeof(path->smac));
	return end;
}

/** @return bytes from the network header to the ICRC's end, as the header states them. */
static uint32_t
stated_bytes(const uint8_t *ip, enum shca_icrc_network network)
{
	return network == SHCA_ICRC_IPV4_UDP ? get16(ip + 2) : IPV6_BYTES + get16(ip + 4);
}

enum shca_roce_kind
shca_roce_read(
	const uint8_t *frame, uint32_t length, struct shca_roce_path *path, struct shca_bth *bth)
{
	enum shca_icrc_network network;
	const uint32_t end = shca_roce_look(frame, length, path, &network);
	uint32_t stated, network_bytes, icrc;
	const uint8_t *ip;

	if (end == 0)
		return SHCA_ROCE_NONE;
	network_bytes = shca_icrc_network_bytes(network);
	ip = frame + end - network_bytes;
	stated = stated_bytes(ip, network);
	/* Short frames are padded behind the ICRC. */
	if (stated > length - (end - network_bytes) ||
		stated < network_bytes + shca_bth_headers_bytes(0) + SHCA_ICRC_BYTES)
		return SHCA_ROCE_MALFORMED;
	/* The ICRC does not see it (RFC 1122, 3.2.1.2: discard). */
	if (network == SHCA_ICRC_IPV4_UDP && ipv4_checksum(ip) != 0)
		return SHCA_ROCE_MALFORMED;
	if (network != SHCA_ICRC_GRH &&
		get16(ip + network_bytes - UDP_BYTES + 4) != stated - (network_bytes - UDP_BYTES))
		return SHCA_ROCE_MALFORMED;
	icrc = shca_icrc(network, ip, stated - SHCA_ICRC_BYTES);
	if (memcmp(&icrc, ip + stated - SHCA_ICRC_BYTES, sizeof(icrc)) != 0)
		return SHCA_ROCE_BAD_ICRC;
	if (!shca_bth_read(bth, frame + end, stated - network_bytes - SHCA_ICRC_BYTES))
		return SHCA_ROCE_MALFORMED;
	return SHCA_ROCE_GOOD;
}

void
shca_roce_copy_grh(const uint8_t *frame, uint8_t grh[40])
{
	const uint8_t *ip = frame + network_offset(frame, UINT32_MAX);

	if (get16(ip - 2) == TYPE_IPV4) {
		memset(grh, 0, IPV6_BYTES - IPV4_BYTES);
		memcpy(grh + IPV6_BYTES - IPV4_BYTES, ip, IPV4_BYTES);
	} else {
		memcpy(grh, ip, IPV6_BYTES);
	}
}
