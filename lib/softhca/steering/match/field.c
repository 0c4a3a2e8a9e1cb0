/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of fields that can be matched, and the code that takes them from a packet. */
#include "steering/match/field.h"

#include <inttypes.h>
#include <arpa/inet.h>
#include <net/ethernet.h>
#include <stddef.h>
#include <string.h>

#include "base/pack.h"
#include "steering/match/bytes.h"

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

/** @param whole the mask of the whole field: only a partial mask is printed. */
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

/** Print a field that is the low bits of its byte or word. */
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

/** Print the TCI, which is three fields in the device. */
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
	const struct shca_match_stack *stack =
		field->inner ? &match->value.inner : &match->value.outer;
	/* Rules of the netdev match the EtherType, those of verbs the version. */
	const bool is_v4 = stack->ip_version == 4 || stack->ether_type == ETHERTYPE_IP;
	char text[INET6_ADDRSTRLEN];
	int family = is_v4 ? AF_INET : AF_INET6;
	unsigned int skip = is_v4 ? 12 : 0;

	fprintf(out, "%s:%s", field->name, inet_ntop(family, value + skip, text, sizeof(text)));
	if (memcmp(mask + skip, whole, 16 - skip) != 0)
		fprintf(out, "/%s", inet_ntop(family, mask + skip, text, sizeof(text)));
}

/** The order of the rows, and so of a packet's presence bits: the outer stack, then the inner. */
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
	ROW_SOURCE_PORT,
	ROW_ESP_SPI,
};

#define BIT(row) (UINT64_C(1) << (row))

#define KEY_SIZE(member) sizeof(((union shca_match_key *)0)->member)
/** The words from that of a member's first byte to that of its last one. */
#define KEY_WORDS(member)                                                                          \
	((UINT32_C(2) << ((offsetof(union shca_match_key, member) + KEY_SIZE(member) - 1) / 8)) -  \
		(UINT32_C(1) << (offsetof(union shca_match_key, member) / 8)))
static_assert(SHCA_MATCH_WORDS < 32, "one bit a word");

/* clang-format off */
#define FIELD(row, name, part, member, inner, print) \
	[row] = { name, SHCA_FIELD_##part, offsetof(union shca_match_key, member), \
		KEY_SIZE(member), inner, KEY_WORDS(member), print }
#define STACK(first, prefix, part, stack, misc, misc2, inner) \
	FIELD((first) + ROW_DST_MAC,      prefix "dmac",       part, stack.dst_mac,      inner, print_mac), \
	FIELD((first) + ROW_SRC_MAC,      prefix "smac",       part, stack.src_mac,      inner, print_mac), \
	FIELD((first) + ROW_ETHER_TYPE,   prefix "ethtype",    part, stack.ether_type,   inner, print_number), \
	FIELD((first) + ROW_CVLAN,        prefix "cvlan_tag",  part, stack.cvlan,        inner, print_bit), \
	FIELD((first) + ROW_SVLAN,        prefix "svlan_tag",  part, stack.svlan,        inner, print_bit), \
	FIELD((first) + ROW_VLAN_TCI,     prefix "first",      part, stack.vlan_tci,     inner, print_vlan_tci), \
	FIELD((first) + ROW_IP_VERSION,   prefix "ip_version", part, stack.ip_version,   inner, print_nibble), \
	FIELD((first) + ROW_IP_PROTO,     prefix "ip_prot",    part, stack.ip_proto,     inner, print_number), \
	FIELD((first) + ROW_TOS,          prefix "ip_tos",     part, stack.tos,          inner, print_number), \
	FIELD((first) + ROW_TTL,          prefix "ip_ttl",     part, stack.ttl,          inner, print_number), \
	FIELD((first) + ROW_FRAGMENT,     prefix "frag",       part, stack.fragment,     inner, print_bit), \
	FIELD((first) + ROW_SRC_IP,       prefix "src_ip",     part, stack.src_ip,       inner, print_address), \
	FIELD((first) + ROW_DST_IP,       prefix "dst_ip",     part, stack.dst_ip,       inner, print_address), \
	FIELD((first) + ROW_TCP_SRC_PORT, prefix "tcp_sport",  part, stack.tcp_src_port, inner, print_number), \
	FIELD((first) + ROW_TCP_DST_PORT, prefix "tcp_dport",  part, stack.tcp_dst_port, inner, print_number), \
	FIELD((first) + ROW_TCP_FLAGS,    prefix "tcp_flags",  part, stack.tcp_flags,    inner, print_tcp_flags), \
	FIELD((first) + ROW_UDP_SRC_PORT, prefix "udp_sport",  part, stack.udp_src_port, inner, print_number), \
	FIELD((first) + ROW_UDP_DST_PORT, prefix "udp_dport",  part, stack.udp_dst_port, inner, print_number), \
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
	FIELD(ROW_SOURCE_PORT,  "source_port",             MISC,  source_port,  false, print_number),
	FIELD(ROW_ESP_SPI,      "out.esp_spi",             MISC,  esp_spi,      false, print_number),
};
/* clang-format on */
const unsigned int shca_field_nb_rows = sizeof(shca_field_rows) / sizeof(shca_field_rows[0]);
static_assert(sizeof(shca_field_rows) / sizeof(shca_field_rows[0]) <= SHCA_FIELD_MAX,
	"one presence bit a field");

uint64_t
shca_field_used(const union shca_match_key *mask)
{
	static const uint8_t zero[16];
	const unsigned int outer_words = sizeof(struct shca_match_stack) / sizeof(mask->word[0]);
	unsigned int nb_rows = shca_field_nb_rows;
	uint32_t words = 0;
	uint64_t used = 0;

	for (unsigned int i = 0; i < SHCA_MATCH_WORDS; i++)
		words |= (mask->word[i] != 0 ? UINT32_C(1) : 0) << i;
	/* Most masks are of outer headers only, whose rows and words come first. */
	if (words >> outer_words == 0)
		nb_rows = NB_STACK_ROWS;
	for (unsigned int i = 0; i < nb_rows; i++) {
		const uint8_t *at = (const uint8_t *)mask + shca_field_rows[i].offset;

		if ((shca_field_rows[i].words & words) != 0 &&
			memcmp(at, zero, shca_field_rows[i].width) != 0)
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

/**
 * The words of a stack, composed in registers (base/pack.h says why); each layer's own words first.
 */
enum {
	WORD_MACS,       /* dst_mac, 2 bytes of src_mac */
	WORD_ETHER,      /* the rest of it, ether_type, vlan_tci */
	WORD_SRC_IP,     /* and the next */
	WORD_DST_IP = 4, /* and the next */
	WORD_PORTS = 6,
	WORD_LABELS, /* flow_label, mpls */
	WORD_IP,     /* ip_version ... svlan */
	WORD_FRAGMENT,
	NB_STACK_WORDS,
	WORD_TUNNEL = 2 * NB_STACK_WORDS, /* of a key: vni, gre_key, and so on */
};

#define OFFSET(member)  offsetof(struct shca_match_stack, member)
#define IN_WORD(member) (OFFSET(member) % sizeof(uint64_t))
#define IS_IN(word, member)                                                                        \
	static_assert(OFFSET(member) / sizeof(uint64_t) == (word), "layout of " #member)
static_assert(sizeof(struct shca_match_stack) == NB_STACK_WORDS * sizeof(uint64_t), "whole words");
static_assert(OFFSET(src_mac) == 6 && OFFSET(ether_type) == 12, "addresses as in a frame");
IS_IN(WORD_ETHER, vlan_tci);
IS_IN(WORD_SRC_IP, src_ip);
IS_IN(WORD_DST_IP, dst_ip);
IS_IN(WORD_PORTS, tcp_src_port);
IS_IN(WORD_PORTS, udp_dst_port);
IS_IN(WORD_LABELS, flow_label);
IS_IN(WORD_LABELS, mpls);
IS_IN(WORD_IP, ip_version);
IS_IN(WORD_IP, svlan);
IS_IN(WORD_FRAGMENT, fragment);

/** Words of a stack that several layers contribute to, and the presence bits. */
struct taken {
	uint64_t ether, ip, ports, labels, present;
};

static inline void
take_ether(const uint8_t *bytes, const struct shca_headers *headers, uint64_t *word,
	struct taken *taken)
{
	const uint8_t *ether = bytes + headers->l2_offset;
	uint32_t rest;

	if (headers->has_ether) {
		memcpy(&rest, ether + 8, sizeof(rest));
		word[WORD_MACS] = shca_pack_load(ether, 0);
		taken->ether = shca_pack32(0, rest) |
			shca_pack16(IN_WORD(ether_type), headers->ether_type);
		taken->present = BIT(ROW_DST_MAC) | BIT(ROW_SRC_MAC) | BIT(ROW_ETHER_TYPE) |
			BIT(ROW_CVLAN) | BIT(ROW_SVLAN);
	}
	if (headers->nb_vlans > 0) {
		taken->ether |= shca_pack16(IN_WORD(vlan_tci), headers->vlan_tci);
		taken->present |= BIT(ROW_VLAN_TCI);
		if (headers->has_ether)
			taken->ip = shca_pack8(IN_WORD(cvlan), headers->vlan_tpid == 0x8100) |
				shca_pack8(IN_WORD(svlan), headers->vlan_tpid == 0x88a8);
	}
	if (headers->has_mpls) {
		taken->labels = shca_pack32(IN_WORD(mpls), headers->mpls_label);
		taken->present |= BIT(ROW_MPLS);
	}
}

static inline void
take_ipv4(const uint8_t *ip, uint64_t *word, struct taken *taken)
{
	uint32_t src, dst;

	memcpy(&src, ip + 12, sizeof(src));
	memcpy(&dst, ip + 16, sizeof(dst));
	word[WORD_SRC_IP + 1] = shca_pack32(4, src);
	word[WORD_DST_IP + 1] = shca_pack32(4, dst);
	taken->ip |= shca_pack8(IN_WORD(ip_version), 4) | shca_pack8(IN_WORD(tos), ip[1]) |
		shca_pack8(IN_WORD(ttl), ip[8]);
}

static inline void
take_ipv6(const uint8_t *ip, uint64_t *word, struct taken *taken)
{
	word[WORD_SRC_IP] = shca_pack_load(ip + 8, 0);
	word[WORD_SRC_IP + 1] = shca_pack_load(ip + 8, 1);
	word[WORD_DST_IP] = shca_pack_load(ip + 24, 0);
	word[WORD_DST_IP + 1] = shca_pack_load(ip + 24, 1);
	taken->ip |= shca_pack8(IN_WORD(ip_version), 6) |
		shca_pack8(IN_WORD(tos), (uint8_t)(shca_bytes_load16(ip) >> 4)) |
		shca_pack8(IN_WORD(ttl), ip[7]);
	taken->labels |= shca_pack32(IN_WORD(flow_label), shca_bytes_load32(ip) & 0xfffff);
	taken->present |= BIT(ROW_FLOW_LABEL);
}

/** Loads the ports from the frame: the parser has just stored them as two, and a load of both would
 * wait (base/pack.h). */
static inline void
take_l4(const uint8_t *bytes, const struct shca_headers *headers, struct taken *taken)
{
	const uint8_t *l4 = bytes + headers->l4_offset;
	uint32_t ports;

	if (headers->l4 != SHCA_L4_UDP && headers->l4 != SHCA_L4_TCP)
		return;
	ports = shca_bytes_load32(l4);
	if (headers->l4 == SHCA_L4_UDP) {
		taken->ports = shca_pack16(IN_WORD(udp_src_port), (uint16_t)(ports >> 16)) |
			shca_pack16(IN_WORD(udp_dst_port), (uint16_t)ports);
		taken->present |= BIT(ROW_UDP_SRC_PORT) | BIT(ROW_UDP_DST_PORT);
		return;
	}
	taken->ports = shca_pack16(IN_WORD(tcp_src_port), (uint16_t)(ports >> 16)) |
		shca_pack16(IN_WORD(tcp_dst_port), (uint16_t)ports);
	taken->ip |= shca_pack16(IN_WORD(tcp_flags), shca_bytes_load16(l4 + 12) & TCP_FLAGS_MASK);
	taken->present |= BIT(ROW_TCP_SRC_PORT) | BIT(ROW_TCP_DST_PORT) | BIT(ROW_TCP_FLAGS);
}

/** @return the presence bits of a stack's fields; an inner one's as if it were the outer one. */
static inline uint64_t
take_stack(const uint8_t *bytes, const struct shca_headers *headers, uint64_t *word)
{
	struct taken taken = { 0 };

	memset(word, 0, NB_STACK_WORDS * sizeof(*word));
	take_ether(bytes, headers, word, &taken);
	if (headers->l3 != SHCA_L3_NONE) {
		taken.ip |= shca_pack8(IN_WORD(ip_proto), headers->ip_proto);
		word[WORD_FRAGMENT] = shca_pack8(IN_WORD(fragment), headers->fragment);
		taken.present |= BIT(ROW_IP_VERSION) | BIT(ROW_IP_PROTO) | BIT(ROW_TOS) |
			BIT(ROW_TTL) | BIT(ROW_FRAGMENT) | BIT(ROW_SRC_IP) | BIT(ROW_DST_IP);
		if (headers->l3 == SHCA_L3_IPV4)
			take_ipv4(bytes + headers->l3_offset, word, &taken);
		else
			take_ipv6(bytes + headers->l3_offset, word, &taken);
		take_l4(bytes, headers, &taken);
	}
	word[WORD_ETHER] = taken.ether;
	word[WORD_PORTS] = taken.ports;
	word[WORD_LABELS] = taken.labels;
	word[WORD_IP] = taken.ip;
	return taken.present;
}

/** Take the inner headers, those of the tunnel or of ESP, and the port. @return presence bits. */
static uint64_t
take_tunnel(const struct shca_packet *packet, union shca_match_key *key)
{
	uint64_t present = take_stack(packet->bytes, &packet->inner, &key->word[NB_STACK_WORDS])
		<< NB_STACK_ROWS;

	static_assert(offsetof(union shca_match_key, vni) / 8 == WORD_TUNNEL, "tunnel words");
	static_assert(offsetof(union shca_match_key, mpls_gre) / 8 == WORD_TUNNEL + 1, "");
	static_assert(offsetof(union shca_match_key, gre_protocol) / 8 == WORD_TUNNEL + 2, "");
	key->word[WORD_TUNNEL] = shca_pack32(0, packet->vni) | shca_pack32(4, packet->gre_key);
	key->word[WORD_TUNNEL + 1] =
		shca_pack32(0, packet->mpls_label) | shca_pack32(4, packet->mpls_label);
	key->word[WORD_TUNNEL + 2] =
		shca_pack16(0, packet->gre_protocol) | shca_pack16(2, packet->source_port);
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
	if (packet->source_port != 0)
		present |= BIT(ROW_SOURCE_PORT);
	if (packet->outer.l4 == SHCA_L4_ESP) {
		key->word[WORD_TUNNEL + 2] |=
			shca_pack32(4, shca_bytes_load32(packet->bytes + packet->outer.l4_offset));
		present |= BIT(ROW_ESP_SPI);
	}
	return present;
}

void
shca_field_key(const struct shca_packet *packet, uint64_t used, union shca_match_key *key)
{
	uint64_t present = take_stack(packet->bytes, &packet->outer, key->word);

	if (used >> NB_STACK_ROWS != 0)
		present |= take_tunnel(packet, key);
	key->present = present;
}

const char *
shca_field_part_name(enum shca_field_part part)
{
	static const char *const names[SHCA_FIELD_NB_PARTS] = {
		[SHCA_FIELD_OUTER] = "OUTER",
		[SHCA_FIELD_MISC] = "MISC",
		[SHCA_FIELD_INNER] = "INNER",
		[SHCA_FIELD_MISC2] = "MISC2",
	};

	return names[part];
}
