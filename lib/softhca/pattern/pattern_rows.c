/* SPDX-License-Identifier: BSD-3-Clause */
/* Items of patterns, their fields and presets, and what may follow what. Names are testpmd's. */
#include "pattern/pattern.h"

#include <netinet/in.h>
#include <string.h>

/* clang-format off */
static const struct shca_pattern_field eth[] = {
	{ "dst", 0, 48 }, { "src", 48, 48 }, { "type", 96, 16 }, { NULL },
};
static const struct shca_pattern_field vlan[] = {
	{ "tci", 0, 16 }, { "pcp", 0, 3 }, { "dei", 3, 1 }, { "vid", 4, 12 }, { "inner_type", 16, 16 },
	{ NULL },
};
static const struct shca_pattern_field mpls[] = {
	{ "label", 0, 20 }, { "tc", 20, 3 }, { "s", 23, 1 }, { "ttl", 24, 8 }, { NULL },
};
static const struct shca_pattern_field ipv4[] = {
	{ "src", 96, 32, true }, { "dst", 128, 32, true }, { "tos", 8, 8 }, { "ttl", 64, 8 },
	{ "proto", 72, 8 }, { "packet_id", 32, 16 }, { "fragment_offset", 48, 16 }, { NULL },
};
static const struct shca_pattern_field ipv6[] = {
	{ "src", 64, 128 }, { "dst", 192, 128 }, { "tc", 4, 8 }, { "flow", 12, 20 },
	{ "proto", 48, 8 }, { "hop", 56, 8 }, { NULL },
};
static const struct shca_pattern_field tcp[] = {
	{ "src", 0, 16 }, { "dst", 16, 16 }, { "flags", 104, 8 }, { "seq", 32, 32 }, { "ack", 64, 32 },
	{ NULL },
};
static const struct shca_pattern_field udp[] = {
	{ "src", 0, 16 }, { "dst", 16, 16 }, { NULL },
};
static const struct shca_pattern_field icmp[] = {
	{ "type", 0, 8 }, { "code", 8, 8 }, { "ident", 32, 16 }, { "seq", 48, 16 }, { NULL },
};
static const struct shca_pattern_field esp[] = {
	{ "spi", 0, 32 }, { "seq", 32, 32 }, { NULL },
};
static const struct shca_pattern_field gre[] = {
	{ "protocol", 16, 16 }, { "key", 32, 32 }, { NULL },
};
static const struct shca_pattern_field vxlan[] = {
	{ "vni", 32, 24 }, { NULL },
};
static const struct shca_pattern_field payload[] = {
	{ "size", 0, 16 }, { NULL },
};

/** Addresses are of RFC 5737 and RFC 3849; source ports dynamic (RFC 6335), destination discard;
 * VXLAN with its I flag (RFC 7348). */
const struct shca_pattern_row shca_pattern_rows[SHCA_PATTERN_NB] = {
	[SHCA_PATTERN_ETH] = { "eth", 14, { 0 }, eth, "type", SHCA_PATTERN_NONE },
	[SHCA_PATTERN_VLAN] = { "vlan", 4, { 0, 1 }, vlan, "inner_type", SHCA_PATTERN_ETH },
	[SHCA_PATTERN_MPLS] = { "mpls", 4, { 0, 1, 0, 64 }, mpls, NULL, SHCA_PATTERN_ETH },
	[SHCA_PATTERN_IPV4] = { "ipv4", 20, { 0x45, [8] = 64, IPPROTO_NONE, [12] = 192, 0, 2, 2, 192, 0, 2, 1 }, ipv4,
		"proto", SHCA_PATTERN_ETH },
	[SHCA_PATTERN_IPV6] = { "ipv6", 40, { 0x60, [6] = IPPROTO_NONE, [7] = 64,
		[8] = 0x20, 1, 0x0d, 0xb8, [23] = 2, 0x20, 1, 0x0d, 0xb8, [39] = 1 }, ipv6, "proto",
		SHCA_PATTERN_ETH },
	[SHCA_PATTERN_TCP] = { "tcp", 20, { 0xc0, 0, 0, 9, [12] = 0x50, 0x02, 0xff, 0xff }, tcp, NULL,
		SHCA_PATTERN_IPV4 },
	[SHCA_PATTERN_UDP] = { "udp", 8, { 0xc0, 0, 0, 9 }, udp, "dst", SHCA_PATTERN_IPV4 },
	[SHCA_PATTERN_ICMP] = { "icmp", 8, { 8 }, icmp, NULL, SHCA_PATTERN_IPV4 },
	[SHCA_PATTERN_ICMP6] = { "icmp6", 8, { 128 }, icmp, NULL, SHCA_PATTERN_IPV6 },
	[SHCA_PATTERN_ESP] = { "esp", 8, { 0 }, esp, NULL, SHCA_PATTERN_IPV4 },
	[SHCA_PATTERN_GRE] = { "gre", 4, { 0 }, gre, "protocol", SHCA_PATTERN_IPV4 },
	[SHCA_PATTERN_VXLAN] = { "vxlan", 8, { 8 }, vxlan, NULL, SHCA_PATTERN_UDP },
	[SHCA_PATTERN_PAYLOAD] = { "payload", 0, { 0 }, payload, NULL, SHCA_PATTERN_ETH },
};

#define P(name) SHCA_PATTERN_##name
/** EtherTypes; protocols; ports of RFC 7348 and RFC 7510; GRE's types (RFC 2784, RFC 7637). */
static const struct {
	uint8_t parent, item;
	uint16_t type;
	bool is_named_only; /* no item is put there for another */
} links[] = {
	{ P(NONE), P(ETH), 0 },
	{ P(ETH), P(VLAN), 0x8100 }, { P(ETH), P(MPLS), 0x8847 }, { P(ETH), P(IPV4), 0x0800 },
	{ P(ETH), P(IPV6), 0x86dd },
	{ P(VLAN), P(VLAN), 0x8100 }, { P(VLAN), P(MPLS), 0x8847 }, { P(VLAN), P(IPV4), 0x0800 },
	{ P(VLAN), P(IPV6), 0x86dd },
	{ P(MPLS), P(MPLS), 0 }, { P(MPLS), P(IPV4), 0 }, { P(MPLS), P(IPV6), 0 },
	{ P(IPV4), P(TCP), IPPROTO_TCP }, { P(IPV4), P(UDP), IPPROTO_UDP },
	{ P(IPV4), P(ICMP), IPPROTO_ICMP }, { P(IPV4), P(ESP), IPPROTO_ESP },
	{ P(IPV4), P(GRE), IPPROTO_GRE }, { P(IPV4), P(IPV4), IPPROTO_IPIP, true },
	{ P(IPV4), P(IPV6), IPPROTO_IPV6, true },
	{ P(IPV6), P(TCP), IPPROTO_TCP }, { P(IPV6), P(UDP), IPPROTO_UDP },
	{ P(IPV6), P(ICMP6), IPPROTO_ICMPV6 }, { P(IPV6), P(ESP), IPPROTO_ESP },
	{ P(IPV6), P(GRE), IPPROTO_GRE }, { P(IPV6), P(IPV4), IPPROTO_IPIP, true },
	{ P(IPV6), P(IPV6), IPPROTO_IPV6, true },
	{ P(UDP), P(VXLAN), 4789 }, { P(UDP), P(MPLS), 6635 }, { P(UDP), P(ESP), 4500 },
	{ P(GRE), P(ETH), 0x6558 }, { P(GRE), P(IPV4), 0x0800 }, { P(GRE), P(IPV6), 0x86dd },
	{ P(GRE), P(MPLS), 0x8847 },
	{ P(VXLAN), P(ETH), 0 },
};
/* clang-format on */

bool
shca_pattern_follows(
	enum shca_pattern_id parent, enum shca_pattern_id item, bool is_named, uint16_t *type)
{
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		if (links[i].parent != parent || links[i].item != item ||
			(links[i].is_named_only && !is_named))
			continue;
		*type = links[i].type;
		return true;
	}
	*type = 0;
	return item == SHCA_PATTERN_PAYLOAD && parent != SHCA_PATTERN_NONE &&
		parent != SHCA_PATTERN_PAYLOAD;
}

bool
shca_pattern_is_one(const char *text)
{
	const size_t length = strcspn(text, " \t,");

	for (unsigned int i = 0; i < SHCA_PATTERN_NB; i++)
		if (strlen(shca_pattern_rows[i].name) == length &&
			strncmp(shca_pattern_rows[i].name, text, length) == 0)
			return true;
	return false;
}
