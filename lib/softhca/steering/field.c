/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of what can be matched, and the one loop that takes them from a packet. */
#include "steering/field.h"

#include <inttypes.h>
#include <arpa/inet.h>
#include <stddef.h>
#include <string.h>

#include "steering/bytes.h"

#define TCP_FLAGS_MASK 0x1ff

static bool
take_dst_mac(const struct shca_packet *packet, const struct shca_headers *headers, void *field)
{
	if (!headers->has_ether)
		return false;
	memcpy(field, packet->bytes + headers->l2_offset, 6);
	return true;
}

static bool
take_src_mac(const struct shca_packet *packet, const struct shca_headers *headers, void *field)
{
	if (!headers->has_ether)
		return false;
	memcpy(field, packet->bytes + headers->l2_offset + 6, 6);
	return true;
}

static bool
take_ether_type(const struct shca_packet *packet, const struct shca_headers *headers, void *field)
{
	(void)packet;
	*(uint16_t *)field = headers->ether_type;
	return headers->has_ether;
}

static bool
is_cvlan(const struct shca_headers *headers)
{
	return headers->nb_vlans > 0 && headers->vlan_tpid == 0x8100;
}

static bool
take_cvlan(const struct shca_packet *packet, const struct shca_headers *headers, void *field)
{
	(void)packet;
	*(uint8_t *)field = is_cvlan(headers);
	return headers->has_ether;
}

static bool
take_svlan(const struct shca_packet *packet, const struct shca_headers *headers, void *field)
{
	(void)packet;
	*(uint8_t *)field = headers->nb_vlans > 0 && headers->vlan_tpid == 0x88a8;
	return headers->has_ether;
}

static bool
take_vlan_tci(const struct shca_packet *packet, const struct shca_headers *headers, void *field)
{
	(void)packet;
	*(uint16_t *)field = headers->vlan_tci;
	return headers->nb_vlans > 0;
}

static bool
take_mpls(const struct shca_packet *packet, const struct shca_headers *headers, void *field)
{
	(void)packet;
	*(uint32_t *)field = headers->mpls_label;
	return headers->has_mpls;
}

static bool
take_ip_version(const struct shca_packet *packet, const struct shca_headers *headers, void *field)
{
	(void)packet;
	*(uint8_t *)field = headers->l3 == SHCA_L3_IPV4 ? 4 : 6;
	return headers->l3 != SHCA_L3_NONE;
}

static bool
take_ip_proto(const struct shca_packet *packet, const struct shca_headers *headers, void *field)
{
	(void)packet;
	*(uint8_t *)field = headers->ip_proto;
	return headers->l3 != SHCA_L3_NONE;
}

static bool
take_tos(const struct shca_packet *packet, const struct shca_headers *headers, void *field)
{
	const uint8_t *ip = packet->bytes + headers->l3_offset;

	if (headers->l3 == SHCA_L3_IPV4)
		*(uint8_t *)field = ip[1];
	else if (headers->l3 == SHCA_L3_IPV6)
		*(uint8_t *)field = (uint8_t)(shca_bytes_load16(ip) >> 4);
	return headers->l3 != SHCA_L3_NONE;
}

static bool
take_ttl(const struct shca_packet *packet, const struct shca_headers *headers, void *field)
{
	const uint8_t *ip = packet->bytes + headers->l3_offset;

	if (headers->l3 != SHCA_L3_NONE)
		*(uint8_t *)field = headers->l3 == SHCA_L3_IPV4 ? ip[8] : ip[7];
	return headers->l3 != SHCA_L3_NONE;
}

static bool
take_fragment(const struct shca_packet *packet, const struct shca_headers *headers, void *field)
{
	(void)packet;
	*(uint8_t *)field = headers->fragment;
	return headers->l3 != SHCA_L3_NONE;
}

static bool
take_address(const struct shca_packet *packet, const struct shca_headers *headers, void *field,
	unsigned int ipv4_offset, unsigned int ipv6_offset)
{
	const uint8_t *ip = packet->bytes + headers->l3_offset;

	if (headers->l3 == SHCA_L3_IPV4)
		memcpy((uint8_t *)field + 12, ip + ipv4_offset, 4);
	else if (headers->l3 == SHCA_L3_IPV6)
		memcpy(field, ip + ipv6_offset, 16);
	return headers->l3 != SHCA_L3_NONE;
}

static bool
take_src_ip(const struct shca_packet *packet, const struct shca_headers *headers, void *field)
{
	return take_address(packet, headers, field, 12, 8);
}

static bool
take_dst_ip(const struct shca_packet *packet, const struct shca_headers *headers, void *field)
{
	return take_address(packet, headers, field, 16, 24);
}

static bool
take_flow_label(const struct shca_packet *packet, const struct shca_headers *headers, void *field)
{
	if (headers->l3 != SHCA_L3_IPV6)
		return false;
	*(uint32_t *)field = shca_bytes_load32(packet->bytes + headers->l3_offset) & 0xfffff;
	return true;
}

static bool
take_tcp_src_port(const struct shca_packet *packet, const struct shca_headers *headers, void *field)
{
	(void)packet;
	*(uint16_t *)field = headers->src_port;
	return headers->l4 == SHCA_L4_TCP;
}

static bool
take_tcp_dst_port(const struct shca_packet *packet, const struct shca_headers *headers, void *field)
{
	(void)packet;
	*(uint16_t *)field = headers->dst_port;
	return headers->l4 == SHCA_L4_TCP;
}

static bool
take_tcp_flags(const struct shca_packet *packet, const struct shca_headers *headers, void *field)
{
	if (headers->l4 != SHCA_L4_TCP)
		return false;
	*(uint16_t *)field =
		shca_bytes_load16(packet->bytes + headers->l4_offset + 12) & TCP_FLAGS_MASK;
	return true;
}

static bool
take_udp_src_port(const struct shca_packet *packet, const struct shca_headers *headers, void *field)
{
	(void)packet;
	*(uint16_t *)field = headers->src_port;
	return headers->l4 == SHCA_L4_UDP;
}

static bool
take_udp_dst_port(const struct shca_packet *packet, const struct shca_headers *headers, void *field)
{
	(void)packet;
	*(uint16_t *)field = headers->dst_port;
	return headers->l4 == SHCA_L4_UDP;
}

static bool
take_vni(const struct shca_packet *packet, const struct shca_headers *headers, void *field)
{
	(void)headers;
	*(uint32_t *)field = packet->vni;
	return packet->tunnel == SHCA_TUNNEL_VXLAN;
}

static bool
take_gre_protocol(const struct shca_packet *packet, const struct shca_headers *headers, void *field)
{
	(void)headers;
	*(uint16_t *)field = packet->gre_protocol;
	return packet->tunnel == SHCA_TUNNEL_GRE || packet->tunnel == SHCA_TUNNEL_MPLS_GRE;
}

static bool
take_gre_key(const struct shca_packet *packet, const struct shca_headers *headers, void *field)
{
	(void)headers;
	*(uint32_t *)field = packet->gre_key;
	return packet->has_gre_key;
}

static bool
take_mpls_gre(const struct shca_packet *packet, const struct shca_headers *headers, void *field)
{
	(void)headers;
	*(uint32_t *)field = packet->mpls_label;
	return packet->tunnel == SHCA_TUNNEL_MPLS_GRE;
}

static bool
take_mpls_udp(const struct shca_packet *packet, const struct shca_headers *headers, void *field)
{
	(void)headers;
	*(uint32_t *)field = packet->mpls_label;
	return packet->tunnel == SHCA_TUNNEL_MPLS_UDP;
}

static void
print_bytes(FILE *out, const uint8_t *bytes, unsigned int nb_bytes)
{
	for (unsigned int i = 0; i < nb_bytes; i++)
		fprintf(out, "%s%02x", i == 0 ? "" : ":", bytes[i]);
}

static void
print_mac(FILE *out, const struct shca_field *field, const struct shca_match *match)
{
	static const uint8_t whole[6] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	const uint8_t *value = (const uint8_t *)&match->value + field->offset;
	const uint8_t *mask = (const uint8_t *)&match->mask + field->offset;

	fprintf(out, "%s:", field->name);
	print_bytes(out, value, 6);
	if (memcmp(mask, whole, 6) != 0) {
		fputc('/', out);
		print_bytes(out, mask, 6);
	}
}

static uint64_t
load_number(const union shca_match_key *key, const struct shca_field *field)
{
	const uint8_t *at = (const uint8_t *)key + field->offset;
	uint16_t number16;
	uint32_t number32;

	switch (field->width) {
	case 1:
		return *at;
	case 2:
		memcpy(&number16, at, sizeof(number16));
		return number16;
	default:
		memcpy(&number32, at, sizeof(number32));
		return number32;
	}
}

/** @param whole the mask of the whole field: only a partial one is printed. */
static void
print_masked(FILE *out, const char *name, uint64_t value, uint64_t mask, uint64_t whole)
{
	fprintf(out, "%s:0x%" PRIx64, name, value);
	if (mask != whole)
		fprintf(out, "/0x%" PRIx64, mask);
}

static void
print_number(FILE *out, const struct shca_field *field, const struct shca_match *match)
{
	print_masked(out, field->name, load_number(&match->value, field),
		load_number(&match->mask, field), UINT64_MAX >> (64 - 8 * field->width));
}

/** The low bits of a byte or word are the whole field. */
static void
print_flow_label(FILE *out, const struct shca_field *field, const struct shca_match *match)
{
	print_masked(out, field->name, load_number(&match->value, field),
		load_number(&match->mask, field), 0xfffff);
}

static void
print_vni(FILE *out, const struct shca_field *field, const struct shca_match *match)
{
	print_masked(out, field->name, load_number(&match->value, field),
		load_number(&match->mask, field), 0xffffff);
}

static void
print_tcp_flags(FILE *out, const struct shca_field *field, const struct shca_match *match)
{
	print_masked(out, field->name, load_number(&match->value, field),
		load_number(&match->mask, field), TCP_FLAGS_MASK);
}

static void
print_nibble(FILE *out, const struct shca_field *field, const struct shca_match *match)
{
	print_masked(out, field->name, load_number(&match->value, field),
		load_number(&match->mask, field), 0xf);
}

static void
print_bit(FILE *out, const struct shca_field *field, const struct shca_match *match)
{
	print_masked(out, field->name, load_number(&match->value, field),
		load_number(&match->mask, field), 1);
}

/** The device has three fields of the TCI. */
static void
print_vlan_tci(FILE *out, const struct shca_field *field, const struct shca_match *match)
{
	static const struct {
		const char *name;
		unsigned int shift;
		uint16_t whole;
	} parts[] = {
		{ "vid", 0, 0xfff },
		{ "cfi", 12, 1 },
		{ "prio", 13, 7 },
	};
	uint64_t value = load_number(&match->value, field);
	uint64_t mask = load_number(&match->mask, field);
	const char *separator = "";

	for (unsigned int i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		uint64_t part_mask = mask >> parts[i].shift & parts[i].whole;

		if (part_mask == 0)
			continue;
		fprintf(out, "%s%s_", separator, field->name);
		print_masked(out, parts[i].name, value >> parts[i].shift & parts[i].whole,
			part_mask, parts[i].whole);
		separator = " ";
	}
}

static void
print_address(FILE *out, const struct shca_field *field, const struct shca_match *match)
{
	static const uint8_t whole[16] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	const uint8_t *value = (const uint8_t *)&match->value + field->offset;
	const uint8_t *mask = (const uint8_t *)&match->mask + field->offset;
	uint8_t version =
		field->inner ? match->value.inner.ip_version : match->value.outer.ip_version;
	char text[INET6_ADDRSTRLEN];
	int family = version == 4 ? AF_INET : AF_INET6;
	unsigned int skip = version == 4 ? 12 : 0;

	fprintf(out, "%s:%s", field->name, inet_ntop(family, value + skip, text, sizeof(text)));
	if (memcmp(mask + skip, whole, 16 - skip) != 0)
		fprintf(out, "/%s", inet_ntop(family, mask + skip, text, sizeof(text)));
}

/* clang-format off */
#define FIELD(name, half, member, inner, take, print) \
	{ name, SHCA_FIELD_##half, offsetof(union shca_match_key, member), \
	  sizeof(((union shca_match_key *)0)->member), inner, take, print }
#define STACK(prefix, half, stack, misc, misc2, inner) \
	FIELD(prefix "dmac",       half,  stack.dst_mac,      inner, take_dst_mac,      print_mac), \
	FIELD(prefix "smac",       half,  stack.src_mac,      inner, take_src_mac,      print_mac), \
	FIELD(prefix "ethtype",    half,  stack.ether_type,   inner, take_ether_type,   print_number), \
	FIELD(prefix "cvlan_tag",  half,  stack.cvlan,        inner, take_cvlan,        print_bit), \
	FIELD(prefix "svlan_tag",  half,  stack.svlan,        inner, take_svlan,        print_bit), \
	FIELD(prefix "first",      half,  stack.vlan_tci,     inner, take_vlan_tci,     print_vlan_tci), \
	FIELD(prefix "ip_version", half,  stack.ip_version,   inner, take_ip_version,   print_nibble), \
	FIELD(prefix "ip_prot",    half,  stack.ip_proto,     inner, take_ip_proto,     print_number), \
	FIELD(prefix "ip_tos",     half,  stack.tos,          inner, take_tos,          print_number), \
	FIELD(prefix "ip_ttl",     half,  stack.ttl,          inner, take_ttl,          print_number), \
	FIELD(prefix "frag",       half,  stack.fragment,     inner, take_fragment,     print_bit), \
	FIELD(prefix "src_ip",     half,  stack.src_ip,       inner, take_src_ip,       print_address), \
	FIELD(prefix "dst_ip",     half,  stack.dst_ip,       inner, take_dst_ip,       print_address), \
	FIELD(prefix "tcp_sport",  half,  stack.tcp_src_port, inner, take_tcp_src_port, print_number), \
	FIELD(prefix "tcp_dport",  half,  stack.tcp_dst_port, inner, take_tcp_dst_port, print_number), \
	FIELD(prefix "tcp_flags",  half,  stack.tcp_flags,    inner, take_tcp_flags,    print_tcp_flags), \
	FIELD(prefix "udp_sport",  half,  stack.udp_src_port, inner, take_udp_src_port, print_number), \
	FIELD(prefix "udp_dport",  half,  stack.udp_dst_port, inner, take_udp_dst_port, print_number), \
	FIELD(prefix "ipv6_flow_label", misc, stack.flow_label, inner, take_flow_label, print_flow_label), \
	FIELD(prefix "first_mpls", misc2, stack.mpls,         inner, take_mpls,         print_number)

const struct shca_field shca_field_rows[] = {
	STACK("out.", OUTER, outer, MISC, MISC2, false),
	STACK("in.",  INNER, inner, MISC, MISC2, true),
	FIELD("vxlan_vni",                MISC,  vni,          false, take_vni,          print_vni),
	FIELD("gre_protocol",             MISC,  gre_protocol, false, take_gre_protocol, print_number),
	FIELD("gre_key",                  MISC,  gre_key,      false, take_gre_key,      print_number),
	FIELD("out.first_mpls_over_gre",  MISC2, mpls_gre,     false, take_mpls_gre,     print_number),
	FIELD("out.first_mpls_over_udp",  MISC2, mpls_udp,     false, take_mpls_udp,     print_number),
};
/* clang-format on */
const unsigned int shca_field_nb_rows = sizeof(shca_field_rows) / sizeof(shca_field_rows[0]);
static_assert(sizeof(shca_field_rows) / sizeof(shca_field_rows[0]) <= SHCA_FIELD_MAX,
	"one presence bit a field");

uint64_t
shca_field_used(const union shca_match_key *mask)
{
	static const uint8_t zero[16];
	uint64_t used = 0;

	for (unsigned int i = 0; i < shca_field_nb_rows; i++) {
		const uint8_t *at = (const uint8_t *)mask + shca_field_rows[i].offset;

		if (memcmp(at, zero, shca_field_rows[i].width) != 0)
			used |= UINT64_C(1) << i;
	}
	return used;
}

void
shca_field_require(struct shca_match *match)
{
	match->mask.present = shca_field_used(&match->mask);
	match->value.present = match->mask.present;
}

void
shca_field_key(const struct shca_packet *packet, uint64_t used, union shca_match_key *key)
{
	memset(key, 0, sizeof(*key));
	for (; used != 0; used &= used - 1) {
		unsigned int i = (unsigned int)__builtin_ctzll(used);
		const struct shca_field *row = &shca_field_rows[i];
		const struct shca_headers *headers = row->inner ? &packet->inner : &packet->outer;

		if (row->take(packet, headers, (uint8_t *)key + row->offset))
			key->present |= UINT64_C(1) << i;
	}
}

const char *
shca_field_half_name(enum shca_field_half half)
{
	static const char *const names[SHCA_FIELD_NB_HALVES] = {
		[SHCA_FIELD_OUTER] = "OUTER",
		[SHCA_FIELD_MISC] = "MISC",
		[SHCA_FIELD_INNER] = "INNER",
		[SHCA_FIELD_MISC2] = "MISC2",
	};

	return names[half];
}
