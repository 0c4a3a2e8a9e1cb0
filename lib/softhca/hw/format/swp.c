/* SPDX-License-Identifier: BSD-3-Clause */
/* Offsets of a send WQE -> headers. */
#include "hw/format/swp.h"

#include <netinet/in.h>

#include "hw/format/hw.h"
#include "steering/match/bytes.h"
#include "steering/match/parse.h"

#define IPV4_BYTES 20
#define IPV6_BYTES 40
#define TCP_BYTES  20
#define UDP_BYTES  8

/** Offsets of a stack of headers, in bytes, as the WQE gives them. */
struct place {
	uint32_t l3, l4;
	bool is_ipv6, is_udp;
};

/** @return bytes of the IP header; 0 when there is none, or it is cut off. */
static uint32_t
ip_bytes(const struct shca_packet *packet, const struct place *place)
{
	const uint32_t least = place->is_ipv6 ? IPV6_BYTES : IPV4_BYTES;
	uint32_t bytes = least;

	if (place->l3 == 0 || place->l3 + least > packet->length)
		return 0;
	if (!place->is_ipv6)
		bytes = (packet->bytes[place->l3] & 0xfu) * 4;
	return bytes >= least && place->l3 + bytes <= packet->length ? bytes : 0;
}

static void
add_l3(const struct shca_packet *packet, const struct place *place, struct shca_headers *headers)
{
	const uint8_t *ip = packet->bytes + place->l3;
	const uint32_t bytes = ip_bytes(packet, place);
	uint32_t total;

	if (bytes == 0)
		return;
	total = place->is_ipv6 ? bytes + shca_bytes_load16(ip + 4) : shca_bytes_load16(ip + 2);
	headers->valid = true;
	headers->l3 = place->is_ipv6 ? SHCA_L3_IPV6 : SHCA_L3_IPV4;
	headers->l3_offset = (uint16_t)place->l3;
	headers->l3_length_ok = total >= bytes && place->l3 + total <= packet->length;
	headers->l3_end = (uint16_t)(headers->l3_length_ok ? place->l3 + total : packet->length);
	headers->l4_offset = (uint16_t)(place->l3 + bytes);
}

static void
add_l4(const struct shca_packet *packet, const struct place *place, struct shca_headers *headers)
{
	const uint32_t bytes = place->is_udp ? UDP_BYTES : TCP_BYTES;

	if (place->l4 < headers->l4_offset || place->l4 + bytes > packet->length)
		return;
	headers->l4 = place->is_udp ? SHCA_L4_UDP : SHCA_L4_TCP;
	headers->ip_proto = place->is_udp ? IPPROTO_UDP : IPPROTO_TCP;
	headers->l4_offset = (uint16_t)place->l4;
	headers->payload_offset = (uint16_t)(place->l4 + bytes);
}

static void
add(const struct shca_packet *packet, const struct place *place, struct shca_headers *headers)
{
	if (headers->l3 == SHCA_L3_NONE)
		add_l3(packet, place, headers);
	if (headers->l3 != SHCA_L3_NONE && headers->l4 == SHCA_L4_NONE && place->l4 != 0 &&
		headers->l3_offset == place->l3)
		add_l4(packet, place, headers);
}

void
shca_swp_apply(const struct shca_swp *swp, struct shca_packet *packet)
{
	const struct place outer = {
		.l3 = swp->outer_l3 * 2u,
		.l4 = swp->outer_l4 * 2u,
		.is_ipv6 = (swp->flags & SHCA_SWP_OUTER_L3_IPV6) != 0,
		.is_udp = (swp->flags & SHCA_SWP_OUTER_L4_UDP) != 0,
	};
	const struct place inner = {
		.l3 = swp->inner_l3 * 2u,
		.l4 = swp->inner_l4 * 2u,
		.is_ipv6 = (swp->flags & SHCA_SWP_INNER_L3_IPV6) != 0,
		.is_udp = (swp->flags & SHCA_SWP_INNER_L4_UDP) != 0,
	};

	add(packet, &outer, &packet->outer);
	/* Drivers give headers without a tunnel as inner ones, too (Linux en_accel.h
	 * mlx5e_set_eseg_swp). */
	if (inner.l3 != packet->outer.l3_offset)
		add(packet, &inner, &packet->inner);
}
