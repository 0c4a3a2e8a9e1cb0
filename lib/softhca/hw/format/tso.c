/* SPDX-License-Identifier: BSD-3-Clause */
/* Large send: the headers of one segment. */
#include "hw/format/tso.h"

#include <endian.h>
#include <string.h>

#include "steering/match/bytes.h"
#include "steering/match/parse.h"

#define IPV4_LENGTH_OFFSET 2
#define IPV4_ID_OFFSET     4
#define IPV6_LENGTH_OFFSET 4
#define IPV6_HEADER_BYTES  40
#define UDP_LENGTH_OFFSET  4
#define TCP_SEQ_OFFSET     4
#define TCP_FLAGS_OFFSET   13
#define TCP_FIN            0x01
#define TCP_PSH            0x08
#define TCP_CWR            0x80

static void
add_be16(uint8_t *field, uint32_t value)
{
	shca_bytes_store16(field, shca_bytes_load16(field) + value);
}

static void
edit_ip(uint8_t *frame, uint32_t length, const struct shca_headers *headers, uint32_t number)
{
	uint8_t *ip = frame + headers->l3_offset;

	if (headers->l3 == SHCA_L3_IPV4) {
		shca_bytes_store16(ip + IPV4_LENGTH_OFFSET, length - headers->l3_offset);
		add_be16(ip + IPV4_ID_OFFSET, number);
	} else if (headers->l3 == SHCA_L3_IPV6) {
		shca_bytes_store16(
			ip + IPV6_LENGTH_OFFSET, length - headers->l3_offset - IPV6_HEADER_BYTES);
	}
}

/** @return whether IPv6 states no length, so that the parser has seen nothing behind it. */
static bool
has_no_length(const uint8_t *frame, const struct shca_headers *headers)
{
	return headers->valid && headers->l3 == SHCA_L3_IPV6 &&
		shca_bytes_load16(frame + headers->l3_offset + IPV6_LENGTH_OFFSET) == 0;
}

/** Drivers may leave it 0, as LSO v2 asks for (Linux en_tx.c, mlx5e_sq_xmit_wqe). */
void
shca_tso_parse(uint8_t *frame, uint32_t length, struct shca_packet *packet)
{
	shca_parse(frame, length, packet);
	if (has_no_length(frame, &packet->outer)) {
		edit_ip(frame, length, &packet->outer, 0);
		shca_parse(frame, length, packet);
	}
	if (has_no_length(frame, &packet->inner)) {
		edit_ip(frame, length, &packet->inner, 0);
		shca_parse(frame, length, packet);
	}
}

static void
edit_tcp(uint8_t *tcp, const struct shca_tso_segment *segment)
{
	uint32_t seq;

	memcpy(&seq, tcp + TCP_SEQ_OFFSET, sizeof(seq));
	seq = htobe32(be32toh(seq) + segment->offset);
	memcpy(tcp + TCP_SEQ_OFFSET, &seq, sizeof(seq));
	if (segment->number + 1 != segment->nb)
		tcp[TCP_FLAGS_OFFSET] &= (uint8_t) ~(TCP_FIN | TCP_PSH);
	if (segment->number != 0)
		tcp[TCP_FLAGS_OFFSET] &= (uint8_t)~TCP_CWR;
}

/** The length of an innermost UDP header stays: Linux writes that of a segment beforehand
 * (en_accel.h, mlx5e_udp_gso_handle_tx_skb), so hardware does not change it. */
void
shca_tso_write_headers(
	uint8_t *frame, const struct shca_packet *packet, const struct shca_tso_segment *segment)
{
	const struct shca_headers *last = packet->inner.valid ? &packet->inner : &packet->outer;

	edit_ip(frame, packet->length, &packet->outer, segment->number);
	if (packet->inner.valid) {
		if (packet->outer.l4 == SHCA_L4_UDP)
			shca_bytes_store16(frame + packet->outer.l4_offset + UDP_LENGTH_OFFSET,
				packet->length - packet->outer.l4_offset);
		edit_ip(frame, packet->length, &packet->inner, segment->number);
	}
	if (last->l4 == SHCA_L4_TCP)
		edit_tcp(frame + last->l4_offset, segment);
}
