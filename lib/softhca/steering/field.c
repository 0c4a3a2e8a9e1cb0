/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of what can be matched, and the one loop that takes them from a packet. */
#include "steering/field.h"

#include <inttypes.h>
#include <arpa/inet.h>
#include <stddef.h>
#include <string.h>

#include "steering/bytes.h"

#define TCP_FLAGS_MASK 0x1ff

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

/* The order of the rows: a packet's presence bits are made by it. The outer stack, the inner one.
 */
enum stack_row {
	ROW_DST_MAC,
	ROW_SRC_MAC,
	ROW_ETHER_TYPE,
	ROW_CVLAN,
	ROW_SVLAN,
	ROW_VLAN_TCI,
	ROW_IP_VERSION,
	ROW_IP_PROTO,
	ROW_TOS,
	ROW_TTL,
	ROW_FRAGMENT,
	ROW_SRC_IP,
	ROW_DST_IP,
	ROW_TCP_SRC_PORT,
	ROW_TCP_DST_PORT,
	ROW_TCP_FLAGS,
	ROW_UDP_SRC_PORT,
	ROW_UDP_DST_PORT,
	ROW_FLOW_LABEL,
	ROW_MPLS,
	NB_STACK_ROWS,
};

enum row {
	ROW_VNI = 2 * NB_STACK_ROWS,
	ROW_GRE_PROTOCOL,
	ROW_GRE_KEY,
	ROW_MPLS_GRE,
	ROW_MPLS_UDP,
};

#define BIT(row) (UINT64_C(1) << (row))

/* clang-format off */
#define FIELD(row, name, half, member, inner, print) \
	[row] = { name, SHCA_FIELD_##half, offsetof(union shca_match_key, member), \
		sizeof(((union shca_match_key *)0)->member), inner, print }
#define STACK(first, prefix, half, stack, misc, misc2, inner) \
	FIELD((first) + ROW_DST_MAC,      prefix "dmac",       half, stack.dst_mac,      inner, print_mac), \
	FIELD((first) + ROW_SRC_MAC,      prefix "smac",       half, stack.src_mac,      inner, print_mac), \
	FIELD((first) + ROW_ETHER_TYPE,   prefix "ethtype",    half, stack.ether_type,   inner, print_number), \
	FIELD((first) + ROW_CVLAN,        prefix "cvlan_tag",  half, stack.cvlan,        inner, print_bit), \
	FIELD((first) + ROW_SVLAN,        prefix "svlan_tag",  half, stack.svlan,        inner, print_bit), \
	FIELD((first) + ROW_VLAN_TCI,     prefix "first",      half, stack.vlan_tci,     inner, print_vlan_tci), \
	FIELD((first) + ROW_IP_VERSION,   prefix "ip_version", half, stack.ip_version,   inner, print_nibble), \
	FIELD((first) + ROW_IP_PROTO,     prefix "ip_prot",    half, stack.ip_proto,     inner, print_number), \
	FIELD((first) + ROW_TOS,          prefix "ip_tos",     half, stack.tos,          inner, print_number), \
	FIELD((first) + ROW_TTL,          prefix "ip_ttl",     half, stack.ttl,          inner, print_number), \
	FIELD((first) + ROW_FRAGMENT,     prefix "frag",       half, stack.fragment,     inner, print_bit), \
	FIELD((first) + ROW_SRC_IP,       prefix "src_ip",     half, stack.src_ip,       inner, print_address), \
	FIELD((first) + ROW_DST_IP,       prefix "dst_ip",     half, stack.dst_ip,       inner, print_address), \
	FIELD((first) + ROW_TCP_SRC_PORT, prefix "tcp_sport",  half, stack.tcp_src_port, inner, print_number), \
	FIELD((first) + ROW_TCP_DST_PORT, prefix "tcp_dport",  half, stack.tcp_dst_port, inner, print_number), \
	FIELD((first) + ROW_TCP_FLAGS,    prefix "tcp_flags",  half, stack.tcp_flags,    inner, print_tcp_flags), \
	FIELD((first) + ROW_UDP_SRC_PORT, prefix "udp_sport",  half, stack.udp_src_port, inner, print_number), \
	FIELD((first) + ROW_UDP_DST_PORT, prefix "udp_dport",  half, stack.udp_dst_port, inner, print_number), \
	FIELD((first) + ROW_FLOW_LABEL,   prefix "ipv6_flow_label", misc, stack.flow_label, inner, print_flow_label), \
	FIELD((first) + ROW_MPLS,         prefix "first_mpls", misc2, stack.mpls,        inner, print_number)

const struct shca_field shca_field_rows[] = {
	STACK(0, "out.", OUTER, outer, MISC, MISC2, false),
	STACK(NB_STACK_ROWS, "in.", INNER, inner, MISC, MISC2, true),
	FIELD(ROW_VNI,          "vxlan_vni",               MISC,  vni,          false, print_vni),
	FIELD(ROW_GRE_PROTOCOL, "gre_protocol",            MISC,  gre_protocol, false, print_number),
	FIELD(ROW_GRE_KEY,      "gre_key",                 MISC,  gre_key,      false, print_number),
	FIELD(ROW_MPLS_GRE,     "out.first_mpls_over_gre", MISC2, mpls_gre,     false, print_number),
	FIELD(ROW_MPLS_UDP,     "out.first_mpls_over_udp", MISC2, mpls_udp,     false, print_number),
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

static bool
is_first_vlan(const struct shca_headers *headers, uint16_t tpid)
{
	return headers->nb_vlans > 0 && headers->vlan_tpid == tpid;
}

static inline uint64_t
take_ether(const uint8_t *bytes, const struct shca_headers *headers, struct shca_match_stack *stack)
{
	if (!headers->has_ether)
		return 0;
	static_assert(offsetof(struct shca_match_stack, src_mac) == 6, "addresses as in a frame");
	memcpy(stack, bytes + headers->l2_offset, 12);
	stack->ether_type = headers->ether_type;
	stack->cvlan = is_first_vlan(headers, 0x8100);
	stack->svlan = is_first_vlan(headers, 0x88a8);
	return BIT(ROW_DST_MAC) | BIT(ROW_SRC_MAC) | BIT(ROW_ETHER_TYPE) | BIT(ROW_CVLAN) |
		BIT(ROW_SVLAN);
}

static inline uint64_t
take_ip(const uint8_t *bytes, const struct shca_headers *headers, struct shca_match_stack *stack)
{
	const uint64_t both = BIT(ROW_IP_VERSION) | BIT(ROW_IP_PROTO) | BIT(ROW_TOS) |
		BIT(ROW_TTL) | BIT(ROW_FRAGMENT) | BIT(ROW_SRC_IP) | BIT(ROW_DST_IP);
	const uint8_t *ip = bytes + headers->l3_offset;

	if (headers->l3 == SHCA_L3_NONE)
		return 0;
	stack->ip_proto = headers->ip_proto;
	stack->fragment = headers->fragment;
	if (headers->l3 == SHCA_L3_IPV4) {
		stack->ip_version = 4;
		stack->tos = ip[1];
		stack->ttl = ip[8];
		memcpy(stack->src_ip + 12, ip + 12, 4);
		memcpy(stack->dst_ip + 12, ip + 16, 4);
		return both;
	}
	stack->ip_version = 6;
	stack->tos = (uint8_t)(shca_bytes_load16(ip) >> 4);
	stack->ttl = ip[7];
	memcpy(stack->src_ip, ip + 8, 16);
	memcpy(stack->dst_ip, ip + 24, 16);
	stack->flow_label = shca_bytes_load32(ip) & 0xfffff;
	return both | BIT(ROW_FLOW_LABEL);
}

static inline uint64_t
take_l4(const uint8_t *bytes, const struct shca_headers *headers, struct shca_match_stack *stack)
{
	if (headers->l4 == SHCA_L4_UDP) {
		stack->udp_src_port = headers->src_port;
		stack->udp_dst_port = headers->dst_port;
		return BIT(ROW_UDP_SRC_PORT) | BIT(ROW_UDP_DST_PORT);
	}
	if (headers->l4 != SHCA_L4_TCP)
		return 0;
	stack->tcp_src_port = headers->src_port;
	stack->tcp_dst_port = headers->dst_port;
	stack->tcp_flags = shca_bytes_load16(bytes + headers->l4_offset + 12) & TCP_FLAGS_MASK;
	return BIT(ROW_TCP_SRC_PORT) | BIT(ROW_TCP_DST_PORT) | BIT(ROW_TCP_FLAGS);
}

/** @return the presence bits of a stack's fields, as the outer one's. */
static inline uint64_t
take_stack(const uint8_t *bytes, const struct shca_headers *headers, struct shca_match_stack *stack)
{
	uint64_t present;

	memset(stack, 0, sizeof(*stack));
	present = take_ether(bytes, headers, stack) | take_ip(bytes, headers, stack) |
		take_l4(bytes, headers, stack);
	if (headers->nb_vlans > 0) {
		stack->vlan_tci = headers->vlan_tci;
		present |= BIT(ROW_VLAN_TCI);
	}
	if (headers->has_mpls) {
		stack->mpls = headers->mpls_label;
		present |= BIT(ROW_MPLS);
	}
	return present;
}

/* Inner headers and what stands between them and the outer. @return presence bits */
static uint64_t
take_tunnel(const struct shca_packet *packet, union shca_match_key *key)
{
	uint64_t present = take_stack(packet->bytes, &packet->inner, &key->inner) << NB_STACK_ROWS;

	key->vni = packet->vni;
	key->gre_key = packet->gre_key;
	key->mpls_gre = packet->mpls_label;
	key->mpls_udp = packet->mpls_label;
	key->gre_protocol = packet->gre_protocol;
	if (packet->tunnel == SHCA_TUNNEL_VXLAN)
		present |= BIT(ROW_VNI);
	if (packet->tunnel == SHCA_TUNNEL_GRE || packet->tunnel == SHCA_TUNNEL_MPLS_GRE)
		present |= BIT(ROW_GRE_PROTOCOL);
	if (packet->has_gre_key)
		present |= BIT(ROW_GRE_KEY);
	if (packet->tunnel == SHCA_TUNNEL_MPLS_GRE)
		present |= BIT(ROW_MPLS_GRE);
	if (packet->tunnel == SHCA_TUNNEL_MPLS_UDP)
		present |= BIT(ROW_MPLS_UDP);
	return present;
}

void
shca_field_key(const struct shca_packet *packet, uint64_t used, union shca_match_key *key)
{
	uint64_t present = take_stack(packet->bytes, &packet->outer, &key->outer);

	if (used >> NB_STACK_ROWS != 0)
		present |= take_tunnel(packet, key);
	key->present = present;
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
