/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames from bytes; what the parser may say of a frame. */
#include "packet.h"

#include <string.h>

#include "check.h"

#define MAX_LAYERS 12

/** A frame under construction: lengths are set when what they cover is there. */
struct build {
	struct fuzz_input *input;
	uint8_t *frame;
	uint32_t length;
	struct {
		uint32_t offset, header_bytes, field;
	} lengths[MAX_LAYERS];
	unsigned int nb_lengths;
	uint16_t next_type; /* EtherType to announce what comes */
	uint8_t next_proto;
};

static void
put(struct build *build, const void *bytes, uint32_t length)
{
	if (length > FUZZ_PACKET_ROOM - build->length)
		length = FUZZ_PACKET_ROOM - build->length;
	memcpy(build->frame + build->length, bytes, length);
	build->length += length;
}

static void
put16(struct build *build, uint16_t value)
{
	put(build, (const uint8_t[]){ (uint8_t)(value >> 8), (uint8_t)value }, 2);
}

static void
put_any(struct build *build, uint32_t length)
{
	for (uint32_t i = 0; i < length; i++)
		put(build, (const uint8_t[]){ fuzz_input_byte(build->input) }, 1);
}

/** One of the numbers that mean something, or, now and then, any. */
static uint16_t
pick16(struct build *build, const uint16_t *values, unsigned int nb)
{
	uint8_t choice = fuzz_input_byte(build->input);

	if (choice >= 0xf0)
		return (uint16_t)fuzz_input_word(build->input);
	return values[choice % nb];
}

static uint16_t
ether_type(struct build *build)
{
	static const uint16_t types[] = { 0x0800, 0x86dd, 0x8100, 0x88a8, 0x8847, 0x8848, 0x0800,
		0x86dd };

	return pick16(build, types, 8);
}

static uint8_t
ip_proto(struct build *build)
{
	static const uint16_t protos[] = { 6, 17, 47, 50, 0, 43, 44, 60, 6, 17 };

	return (uint8_t)pick16(build, protos, 10);
}

static void
remember_length(struct build *build, uint32_t field, uint32_t header_bytes)
{
	if (build->nb_lengths == MAX_LAYERS)
		return;
	build->lengths[build->nb_lengths].offset = build->length;
	build->lengths[build->nb_lengths].field = field;
	build->lengths[build->nb_lengths++].header_bytes = header_bytes;
}

static void
put_ether(struct build *build)
{
	put_any(build, 2);
	put(build, "\0\0\0\0\2\2\0\0\0\1", 10);
	build->next_type = ether_type(build);
	put16(build, build->next_type);
}

static void
put_vlan(struct build *build)
{
	put_any(build, 2);
	build->next_type = ether_type(build);
	put16(build, build->next_type);
}

static void
put_label(struct build *build)
{
	put_any(build, 3);
	put(build, "\100", 1);
}

static void
put_ipv4(struct build *build)
{
	uint8_t shape = fuzz_input_byte(build->input);
	uint8_t options = shape >= 0xe0 ? shape & 15 : 0;

	remember_length(build, 2, 0);
	put(build, (const uint8_t[]){ (uint8_t)(0x45 + options) }, 1);
	put_any(build, 1);
	put16(build, 0);
	put_any(build, 2);
	put16(build, shape >= 0xd0 ? (uint16_t)fuzz_input_word(build->input) : 0x4000);
	build->next_proto = ip_proto(build);
	put(build, (const uint8_t[]){ 64, build->next_proto, 0, 0, 10, 0, 0, 1, 10, 0, 0 }, 11);
	put_any(build, 1 + 4u * options);
}

static void
put_ipv6(struct build *build)
{
	remember_length(build, 4, 40);
	put(build, "\x60", 1);
	put_any(build, 3);
	put16(build, 0);
	build->next_proto = ip_proto(build);
	put(build, (const uint8_t[]){ build->next_proto, 64 }, 2);
	put(build, "\x20\1\xd\xb8\0\0\0\0\0\0\0\0\0\0\0\1\x20\1\xd\xb8\0\0\0\0\0\0\0\0\0\0\0", 31);
	put_any(build, 1);
}

static void
put_extension(struct build *build)
{
	uint8_t words = fuzz_input_byte(build->input) & 3;

	if (build->next_proto == 44) { /* a fragment header: offset and flags are mostly clear */
		build->next_proto = ip_proto(build);
		put(build, (const uint8_t[]){ build->next_proto, 0 }, 2);
		put16(build, words == 3 ? (uint16_t)fuzz_input_word(build->input) : 0);
		put(build, "\0\0\0\1", 4);
		return;
	}
	build->next_proto = ip_proto(build);
	put(build, (const uint8_t[]){ build->next_proto, words }, 2);
	put_any(build, 6 + 8u * words);
}

static void
put_tcp(struct build *build)
{
	uint8_t shape = fuzz_input_byte(build->input);

	put_any(build, 12);
	put(build, (const uint8_t[]){ shape >= 0xe0 ? (uint8_t)(shape << 4) : 0x50 }, 1);
	put_any(build, 1);
	put(build, "\x10\0\0\0\0\0", 6);
}

static void
put_udp(struct build *build)
{
	static const uint16_t ports[] = { 4789, 6635, 53, 4789 };

	put_any(build, 2);
	put16(build, pick16(build, ports, 4));
	remember_length(build, 0, 0);
	put16(build, 0);
	put_any(build, 2);
}

static void
put_vxlan(struct build *build)
{
	put(build, (const uint8_t[]){ fuzz_input_byte(build->input) < 0xf0 ? 8 : 0 }, 1);
	put(build, "\0\0\0\0\0", 5);
	put_any(build, 1);
	put(build, "", 1);
}

static void
put_gre(struct build *build)
{
	static const uint16_t types[] = { 0x6558, 0x0800, 0x86dd, 0x8847 };
	uint8_t flags = fuzz_input_byte(build->input);

	put(build, (const uint8_t[]){ flags, 0 }, 2);
	build->next_type = pick16(build, types, 4);
	put16(build, build->next_type);
	put_any(build, 4u * ((flags >> 7 & 1) + (flags >> 5 & 1) + (flags >> 4 & 1)));
}

static void
put_payload(struct build *build)
{
	put_any(build, fuzz_input_byte(build->input));
}

static void (*const layers[])(struct build *) = { put_ether, put_vlan, put_label, put_ipv4,
	put_ipv6, put_extension, put_tcp, put_udp, put_vxlan, put_gre, put_payload };

/** What the last header announced. */
static void
put_announced(struct build *build, bool by_type)
{
	switch (by_type ? build->next_type : build->next_proto) {
	case 0x0800:
		put_ipv4(build);
		break;
	case 0x86dd:
		put_ipv6(build);
		break;
	case 0x8100:
	case 0x88a8:
		put_vlan(build);
		break;
	case 0x8847:
	case 0x8848:
		put_label(build);
		break;
	case 0x6558:
		put_ether(build);
		break;
	case 6:
		put_tcp(build);
		break;
	case 17:
		put_udp(build);
		break;
	case 47:
		put_gre(build);
		break;
	case 0:
	case 43:
	case 44:
	case 60:
		put_extension(build);
		break;
	default:
		put_payload(build);
	}
}

static void
set_lengths(struct build *build)
{
	for (unsigned int i = 0; i < build->nb_lengths; i++) {
		uint32_t offset = build->lengths[i].offset,
			 field = offset + build->lengths[i].field;
		uint32_t covered = build->length - offset;
		uint8_t lie = fuzz_input_byte(build->input);

		if (field + 2 > build->length || lie >= 0xf8)
			continue;
		covered -= covered < build->lengths[i].header_bytes
			? covered
			: build->lengths[i].header_bytes;
		covered += lie >= 0xe0 ? (uint32_t)lie - 0xec : 0;
		build->frame[field] = (uint8_t)(covered >> 8);
		build->frame[field + 1] = (uint8_t)covered;
	}
}

uint32_t
fuzz_packet_build(struct fuzz_input *input, uint8_t *frame)
{
	struct build build = { .input = input, .frame = frame };
	uint8_t how = fuzz_input_byte(input);
	unsigned int nb = how & 15;

	if (how >= 0xf0) {
		while (fuzz_input_left(input) && build.length < FUZZ_PACKET_ROOM)
			put_any(&build, 1);
		return build.length;
	}
	put_ether(&build);
	for (unsigned int i = 0; i < nb; i++) {
		uint8_t what = fuzz_input_byte(input);

		/* By EtherType, by protocol, or whatever else. */
		if (what < 0xe0)
			put_announced(&build, what < 0x60);
		else
			layers[what % (sizeof(layers) / sizeof(layers[0]))](&build);
	}
	put_payload(&build);
	set_lengths(&build);
	if (how >= 0xc0) /* cut off */
		build.length -= fuzz_input_word(input) % (build.length + 1);
	return build.length;
}

static void
check_l4(const struct shca_headers *headers)
{
	switch (headers->l4) {
	case SHCA_L4_TCP:
		FUZZ_CHECK(headers->ip_proto == 6);
		FUZZ_CHECK(headers->payload_offset >= headers->l4_offset + 20);
		FUZZ_CHECK(headers->payload_offset <= headers->l3_end);
		break;
	case SHCA_L4_UDP:
		FUZZ_CHECK(headers->ip_proto == 17);
		FUZZ_CHECK(headers->payload_offset == headers->l4_offset + 8);
		FUZZ_CHECK(headers->payload_offset <= headers->l3_end);
		break;
	case SHCA_L4_ESP:
		FUZZ_CHECK(headers->ip_proto == 50);
		FUZZ_CHECK(headers->l4_offset + 8 <= headers->l3_end);
		break;
	default:
		break;
	}
	if (headers->l4 != SHCA_L4_NONE)
		FUZZ_CHECK(headers->l3 != SHCA_L3_NONE && !headers->fragment);
	if (headers->l4 != SHCA_L4_TCP)
		FUZZ_CHECK(headers->tcp_flags == 0);
}

static void
check_l3(const uint8_t *bytes, const struct shca_headers *headers, uint32_t end)
{
	const uint8_t *ip = bytes + headers->l3_offset;
	uint32_t header_bytes;

	FUZZ_CHECK(headers->l3_offset >= headers->l2_offset);
	FUZZ_CHECK(headers->l3_end <= end && headers->l3_offset < headers->l3_end);
	FUZZ_CHECK(headers->l4_offset <= headers->l3_end);
	if (headers->l3 == SHCA_L3_IPV4) {
		header_bytes = (ip[0] & 15) * 4u;
		FUZZ_CHECK(header_bytes >= 20 && ip[0] >> 4 == 4);
		FUZZ_CHECK(headers->l4_offset == headers->l3_offset + header_bytes);
		FUZZ_CHECK(headers->ip_options == (header_bytes > 20));
		FUZZ_CHECK(headers->ip_proto == ip[9]);
		if (headers->l3_length_ok)
			FUZZ_CHECK(headers->l3_end == headers->l3_offset + (ip[2] << 8 | ip[3]));
	} else {
		FUZZ_CHECK(ip[0] >> 4 == 6 && headers->l4_offset >= headers->l3_offset + 40);
		FUZZ_CHECK((headers->l4_offset - headers->l3_offset) % 8 == 0);
		if (headers->l3_length_ok)
			FUZZ_CHECK(
				headers->l3_end == headers->l3_offset + 40 + (ip[4] << 8 | ip[5]));
	}
	if (!headers->l3_length_ok)
		FUZZ_CHECK(headers->l3_end == end);
}

static void
check_headers(const uint8_t *bytes, const struct shca_headers *headers, uint32_t end)
{
	static const struct shca_headers none;

	if (!headers->valid) {
		FUZZ_CHECK(memcmp(headers, &none, sizeof(none)) == 0);
		return;
	}
	FUZZ_CHECK(headers->nb_vlans <= 8);
	FUZZ_CHECK((uint32_t)headers->l2_offset + (headers->has_ether ? 14 : 0) +
			4u * headers->nb_vlans <=
		end);
	FUZZ_CHECK((headers->nb_vlans != 0) == (headers->vlan_tpid != 0));
	if (headers->l3 != SHCA_L3_NONE)
		check_l3(bytes, headers, end);
	check_l4(headers);
}

void
fuzz_packet_check(const struct shca_packet *packet)
{
	const struct shca_headers *outer = &packet->outer, *inner = &packet->inner;

	check_headers(packet->bytes, outer, packet->length < 65535 ? packet->length : 65535);
	FUZZ_CHECK(outer->valid == (packet->length >= 14));
	if (packet->tunnel == SHCA_TUNNEL_NONE) {
		FUZZ_CHECK(!inner->valid && !packet->has_mpls && !packet->has_gre_key);
		return;
	}
	FUZZ_CHECK(outer->l3 != SHCA_L3_NONE && !outer->fragment);
	FUZZ_CHECK(packet->has_mpls ==
		(packet->tunnel == SHCA_TUNNEL_MPLS_GRE || packet->tunnel == SHCA_TUNNEL_MPLS_UDP));
	if (inner->valid)
		FUZZ_CHECK(inner->l2_offset >= outer->l4_offset + 4);
	check_headers(packet->bytes, inner, outer->l3_end);
}
