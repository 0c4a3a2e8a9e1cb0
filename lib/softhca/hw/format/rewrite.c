/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes to a frame. */
#include "hw/format/rewrite.h"

#include <string.h>

#include "hw/format/csum.h"
#include "hw/format/hw.h"
#include "hw/format/tx.h"
#include "steering/match/bytes.h"
#include "steering/match/parse.h"
#include "wire/wire.h"

#define ETHERNET_BYTES    14
#define VLAN_TAG_BYTES    4
#define IPV6_HEADER_BYTES 40

#define IPV4_LENGTH_OFFSET   2
#define IPV4_CHECKSUM_OFFSET 10
#define IPV6_LENGTH_OFFSET   4
#define UDP_LENGTH_OFFSET    4
#define UDP_CHECKSUM_OFFSET  6
#define TCP_CHECKSUM_OFFSET  16

/** @return the offset of a layer, or 0 when the frame has none. Only the outer Ethernet header is
 * at offset 0, so *exists says whether there is one. */
static uint32_t
layer_offset(const struct shca_headers *headers, enum shca_modify_layer layer, bool *exists)
{
	const uint32_t type = headers->l2_offset + ETHERNET_BYTES - sizeof(uint16_t) +
		headers->nb_vlans * VLAN_TAG_BYTES;

	*exists = headers->valid;
	switch (layer) {
	case SHCA_MODIFY_ETHERNET:
		*exists &= headers->has_ether;
		return headers->l2_offset;
	case SHCA_MODIFY_TYPE:
		*exists &= headers->has_ether;
		return type;
	case SHCA_MODIFY_VLAN:
		*exists &= headers->has_ether && headers->nb_vlans != 0;
		return headers->l2_offset + ETHERNET_BYTES;
	case SHCA_MODIFY_IPV4:
		*exists &= headers->l3 == SHCA_L3_IPV4;
		return headers->l3_offset;
	case SHCA_MODIFY_IPV6:
		*exists &= headers->l3 == SHCA_L3_IPV6;
		return headers->l3_offset;
	case SHCA_MODIFY_TCP:
		*exists &= headers->l4 == SHCA_L4_TCP;
		return headers->l4_offset;
	case SHCA_MODIFY_UDP:
	default:
		*exists &= headers->l4 == SHCA_L4_UDP;
		return headers->l4_offset;
	}
}

/** A field of a frame, as a string of bits from @p first_bit of @p bytes on. */
struct place {
	uint8_t *bytes; /* NULL: the frame has no such field */
	uint32_t first_bit;
	uint8_t nb_bits;
};

static struct place
find(uint8_t *frame, const struct shca_packet *packet, uint16_t id)
{
	for (const struct shca_modify_field *field = shca_modify_fields; field->nb_bits != 0;
		field++) {
		bool exists;
		uint32_t offset;

		if (field->id != id)
			continue;
		offset = layer_offset(
			field->is_inner ? &packet->inner : &packet->outer, field->layer, &exists);
		if (exists)
			return (struct place){ frame + offset, field->first_bit, field->nb_bits };
	}
	return (struct place){ .bytes = NULL };
}

/** Bits @p offset and up of the field; offset 0 is its lowest bit. */
static uint32_t
load(const struct place *place, unsigned int offset, unsigned int nb_bits)
{
	uint32_t bit = place->first_bit + place->nb_bits - offset - nb_bits;
	uint32_t value = 0;

	for (unsigned int i = 0; i < nb_bits; i++, bit++)
		value = value << 1 | (place->bytes[bit / 8] >> (7 - bit % 8) & 1u);
	return value;
}

static void
store(const struct place *place, unsigned int offset, unsigned int nb_bits, uint32_t value)
{
	uint32_t bit = place->first_bit + place->nb_bits - offset - 1;

	for (unsigned int i = 0; i < nb_bits; i++, bit--, value >>= 1) {
		uint8_t mask = (uint8_t)(0x80 >> bit % 8);

		place->bytes[bit / 8] &= (uint8_t)~mask;
		if (value & 1)
			place->bytes[bit / 8] |= mask;
	}
}

static void
take_step(uint8_t *frame, const struct shca_packet *packet, const struct shca_modify_step *step)
{
	const struct place place = find(frame, packet, step->field);
	struct place to = place;
	uint32_t value;

	if (place.bytes == NULL)
		return;
	switch (step->type) {
	case SHCA_MODIFY_SET:
		store(&place, step->offset, step->nb_bits, step->data);
		break;
	case SHCA_MODIFY_ADD:
		value = load(&place, step->offset, step->nb_bits);
		store(&place, step->offset, step->nb_bits, value + step->data);
		break;
	case SHCA_MODIFY_COPY:
		to = find(frame, packet, step->to_field);
		if (to.bytes != NULL)
			store(&to, step->to_offset, step->nb_bits,
				load(&place, step->offset, step->nb_bits));
		break;
	}
}

/** The sum of those headers that the checksums of a stack cover. */
struct sums {
	uint16_t l3, addresses, l4;
};

static uint16_t
sum(const uint8_t *bytes, size_t length)
{
	return shca_csum_fold(shca_csum_add(bytes, length, 0));
}

static struct sums
sum_headers(const uint8_t *frame, const struct shca_headers *headers)
{
	const bool is_v4 = headers->l3 == SHCA_L3_IPV4;
	const uint8_t *ip = frame + headers->l3_offset;
	struct sums sums = { 0 };

	if (!headers->valid || headers->l3 == SHCA_L3_NONE)
		return sums;
	sums.addresses = is_v4 ? sum(ip + 12, 8) : sum(ip + 8, 32);
	if (is_v4)
		sums.l3 = sum(ip, (size_t)headers->l4_offset - headers->l3_offset);
	if (headers->l4 == SHCA_L4_TCP || headers->l4 == SHCA_L4_UDP)
		sums.l4 = sum(frame + headers->l4_offset,
			(size_t)headers->payload_offset - headers->l4_offset);
	return sums;
}

/** RFC 1624, equation 3. */
static void
follow(uint8_t *field, uint16_t before, uint16_t after, bool is_udp)
{
	uint16_t checksum;

	memcpy(&checksum, field, sizeof(checksum));
	if (is_udp && checksum == 0)
		return;
	checksum = ~shca_csum_fold(
		(uint64_t)(uint16_t)~checksum + (uint16_t)~before + (uint64_t)after);
	if (is_udp && checksum == 0)
		checksum = UINT16_MAX;
	memcpy(field, &checksum, sizeof(checksum));
}

static void
follow_stack(uint8_t *frame, const struct shca_headers *headers, const struct sums *before)
{
	const struct sums after = sum_headers(frame, headers);
	const bool is_udp = headers->l4 == SHCA_L4_UDP;
	uint8_t *l4 =
		frame + headers->l4_offset + (is_udp ? UDP_CHECKSUM_OFFSET : TCP_CHECKSUM_OFFSET);

	if (before->l3 != after.l3)
		follow(frame + headers->l3_offset + IPV4_CHECKSUM_OFFSET, before->l3, after.l3,
			false);
	if (headers->l4 != SHCA_L4_TCP && !is_udp)
		return;
	if (before->addresses != after.addresses)
		follow(l4, before->addresses, after.addresses, is_udp);
	if (before->l4 != after.l4)
		follow(l4, before->l4, after.l4, is_udp);
}

static void
modify(const struct shca_modify *modify, uint8_t *frame, uint32_t length)
{
	struct shca_packet packet;
	struct sums outer, inner;

	shca_parse(frame, length, &packet);
	outer = sum_headers(frame, &packet.outer);
	inner = sum_headers(frame, &packet.inner);
	for (unsigned int i = 0; i < modify->nb_steps; i++)
		take_step(frame, &packet, &modify->step[i]);
	follow_stack(frame, &packet.outer, &outer);
	follow_stack(frame, &packet.inner, &inner);
}

/** Put a header in place of the first @p nb bytes. @return the new length, or 0 */
static uint32_t
replace(uint8_t *frame, uint32_t length, uint32_t nb, const uint8_t *header, uint32_t header_bytes)
{
	if (nb >= length || length - nb + header_bytes > SHCA_FRAME_MAX)
		return 0;
	memmove(frame + header_bytes, frame + nb, length - nb);
	if (header_bytes != 0)
		memcpy(frame, header, header_bytes);
	return length - nb + header_bytes;
}

static uint32_t
take_off(const struct shca_modify_set *modify_set, const struct shca_packet *packet, uint8_t *frame)
{
	const struct shca_headers *inner = &packet->inner;
	const struct shca_modify *modify = modify_set->reformat;

	if (packet->tunnel == SHCA_TUNNEL_NONE || !inner->valid)
		return packet->length;
	if (modify_set->decap != NULL)
		return inner->has_ether ? replace(frame, packet->length, inner->l2_offset, NULL, 0)
					: packet->length;
	if (modify == NULL || modify->kind != SHCA_MODIFY_L3_TUNNEL_TO_L2 ||
		inner->l3 == SHCA_L3_NONE)
		return packet->length;
	return replace(
		frame, packet->length, inner->l3_offset, modify->header, modify->header_bytes);
}

/** Update the fields that depend on the frame's length. */
static void
fill_in(uint8_t *frame, uint32_t length)
{
	struct shca_packet packet;
	const struct shca_headers *outer = &packet.outer;
	uint8_t *ip;

	shca_parse(frame, length, &packet);
	ip = frame + outer->l3_offset;
	if (outer->valid && outer->l3 == SHCA_L3_IPV4)
		shca_bytes_store16(ip + IPV4_LENGTH_OFFSET, length - outer->l3_offset);
	else if (outer->valid && outer->l3 == SHCA_L3_IPV6)
		shca_bytes_store16(
			ip + IPV6_LENGTH_OFFSET, length - outer->l3_offset - IPV6_HEADER_BYTES);
	/* An IPv6 packet with a length of 0 has no payload. */
	shca_parse(frame, length, &packet);
	if (outer->valid && outer->l4 == SHCA_L4_UDP)
		shca_bytes_store16(
			frame + outer->l4_offset + UDP_LENGTH_OFFSET, length - outer->l4_offset);
	shca_tx_checksum(frame, &packet, SHCA_ETH_CSUM_L3);
}

static uint32_t
put_on(const struct shca_modify *modify, uint8_t *frame, uint32_t length)
{
	struct shca_packet packet;
	uint32_t nb = 0;

	if (modify->kind == SHCA_MODIFY_L2_TO_L3_TUNNEL) {
		shca_parse(frame, length, &packet);
		if (!packet.outer.valid || packet.outer.l3 == SHCA_L3_NONE)
			return length;
		nb = packet.outer.l3_offset;
	}
	length = replace(frame, length, nb, modify->header, modify->header_bytes);
	if (length != 0)
		fill_in(frame, length);
	return length;
}

uint32_t
shca_rewrite(
	const struct shca_modify_set *modify_set, const struct shca_packet *packet, uint8_t *room)
{
	const struct shca_modify *reformat = modify_set->reformat;
	uint32_t length;

	memmove(room, packet->bytes, packet->length);
	length = take_off(modify_set, packet, room);
	if (modify_set->modify != NULL && length != 0)
		modify(modify_set->modify, room, length);
	if (reformat != NULL && reformat->kind != SHCA_MODIFY_L3_TUNNEL_TO_L2 && length != 0)
		length = put_on(reformat, room, length);
	return length;
}
