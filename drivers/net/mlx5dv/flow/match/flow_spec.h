/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The verbs specs that match: one row a spec type and one row a field of its filter.
 *
 * All code that depends on the layout of a spec reads these rows: translation (flow_item_rows.c,
 * flow_build.c), comparison (flow_key.c), dump (flow_dump.c) and trial rules (flow_probe.c).
 * flow_spec.c does not compile if a member of a filter lacks a row, and mdv_flow_spec_id() does not
 * if it lacks a type of verbs. Pure.
 */
#ifndef MDV_FLOW_SPEC_H
#define MDV_FLOW_SPEC_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <infiniband/verbs.h>

/** The match on the outer or on the inner headers; numbers in network byte order. */
struct mdv_flow_spec_headers {
	uint8_t dst_mac[6], src_mac[6];
	uint16_t ether_type, vlan_tag;
	uint8_t src_ip[16], dst_ip[16];
	uint16_t tcp_src, tcp_dst, udp_src, udp_dst;
	uint8_t ip_version, proto, tos, ttl, frag;
	uint8_t c_vlan; /**< the match asks for a tag */
	uint8_t l3; /**< L3 protocol by EtherType or IP version: 4, 6, or flow_key.c's L3_NO_IP */
	uint8_t pad;
	uint32_t flow_label, esp_spi, esp_seq, mpls;
};

/** The value or the mask of a whole match, as in fte_match_param of Linux's mlx5_ifc.h. */
struct __attribute__((may_alias)) mdv_flow_spec_record {
	struct mdv_flow_spec_headers headers[2]; /**< outer, inner */
	uint32_t vni, gre_key, mpls_over_udp, mpls_over_gre;
	uint16_t gre_flags, gre_protocol;
	uint32_t pad;
};

/** How a field is printed. */
enum mdv_flow_spec_kind {
	MDV_FLOW_SPEC_NUMBER,
	MDV_FLOW_SPEC_MAC,
	MDV_FLOW_SPEC_IPV4_ADDRESS,
	MDV_FLOW_SPEC_IPV6_ADDRESS,
};

/** The parts of the device's match criteria (fte_match_param); a group is named by its parts. */
enum mdv_flow_spec_part {
	MDV_FLOW_SPEC_OUTER, /**< for an inner spec: MDV_FLOW_SPEC_INNER */
	MDV_FLOW_SPEC_MISC,
	MDV_FLOW_SPEC_INNER,
	MDV_FLOW_SPEC_MISC2,
	MDV_FLOW_SPEC_NB_PARTS,
};

/* clang-format off */
/**
 * Spec types: IBV_FLOW_SPEC_*, struct ibv_flow_spec_*, struct ibv_flow_*_filter, bytes in the
 * kernel's ABI, padding at the filter's end, the IP version and the protocol that a packet has if
 * the spec is there (0: any), and 2 where IBV_FLOW_SPEC_INNER is allowed.
 */
#define MDV_FLOW_SPECS(SPEC) \
	SPEC(ETH,          eth,      eth,      40, 0, 0, 0,           2) \
	SPEC(IPV4_EXT,     ipv4_ext, ipv4_ext, 32, 0, 4, 0,           2) \
	SPEC(IPV6,         ipv6,     ipv6,     88, 1, 6, 0,           2) \
	SPEC(TCP,          tcp_udp,  tcp_udp,  16, 0, 0, IPPROTO_TCP, 2) \
	SPEC(UDP,          tcp_udp,  tcp_udp,  16, 0, 0, IPPROTO_UDP, 2) \
	SPEC(ESP,          esp,      esp,      24, 0, 0, 0,           2) \
	SPEC(VXLAN_TUNNEL, tunnel,   tunnel,   16, 0, 0, 0,           1) \
	SPEC(GRE,          gre,      gre,      24, 0, 0, IPPROTO_GRE, 1) \
	SPEC(MPLS,         mpls,     mpls,     16, 0, 0, 0,           2)

/**
 * Fields of a spec type, in the order of a dump: spec type, filter, its member, place of the outer
 * one in struct mdv_flow_spec_record, name in a dump, kind, part, and the bits that the kernel
 * takes (0: all).
 */
#define MDV_FLOW_SPEC_FIELDS_ETH(FIELD) \
	FIELD(ETH, eth, dst_mac,    headers[0].dst_mac,    "dmac",      MAC,    OUTER, 0) \
	FIELD(ETH, eth, src_mac,    headers[0].src_mac,    "smac",      MAC,    OUTER, 0) \
	FIELD(ETH, eth, ether_type, headers[0].ether_type, "ethtype",   NUMBER, OUTER, 0) \
	FIELD(ETH, eth, vlan_tag,   headers[0].vlan_tag,   "first_tci", NUMBER, OUTER, 0)
/** An IPv4 address is the end of an IPv6 one. */
#define MDV_FLOW_SPEC_FIELDS_IPV4_EXT(FIELD) \
	FIELD(IPV4_EXT, ipv4_ext, src_ip, headers[0].src_ip[12], "src_ip",  IPV4_ADDRESS, OUTER, 0) \
	FIELD(IPV4_EXT, ipv4_ext, dst_ip, headers[0].dst_ip[12], "dst_ip",  IPV4_ADDRESS, OUTER, 0) \
	FIELD(IPV4_EXT, ipv4_ext, proto,  headers[0].proto,      "ip_prot", NUMBER,       OUTER, 0) \
	FIELD(IPV4_EXT, ipv4_ext, tos,    headers[0].tos,        "ip_tos",  NUMBER,       OUTER, 0) \
	FIELD(IPV4_EXT, ipv4_ext, ttl,    headers[0].ttl,        "ip_ttl",  NUMBER,       OUTER, 0) \
	FIELD(IPV4_EXT, ipv4_ext, flags,  headers[0].frag,       "frag",    NUMBER,       OUTER, 0)
#define MDV_FLOW_SPEC_FIELDS_IPV6(FIELD) \
	FIELD(IPV6, ipv6, src_ip,        headers[0].src_ip,     "src_ip",  IPV6_ADDRESS, OUTER, 0) \
	FIELD(IPV6, ipv6, dst_ip,        headers[0].dst_ip,     "dst_ip",  IPV6_ADDRESS, OUTER, 0) \
	FIELD(IPV6, ipv6, next_hdr,      headers[0].proto,      "ip_prot", NUMBER,       OUTER, 0) \
	FIELD(IPV6, ipv6, traffic_class, headers[0].tos,        "ip_tos",  NUMBER,       OUTER, 0) \
	FIELD(IPV6, ipv6, hop_limit,     headers[0].ttl,        "ip_ttl",  NUMBER,       OUTER, 0) \
	FIELD(IPV6, ipv6, flow_label,    headers[0].flow_label, "ipv6_flow_label", NUMBER, MISC, \
		0x000fffff)
#define MDV_FLOW_SPEC_FIELDS_TCP(FIELD) \
	FIELD(TCP, tcp_udp, src_port, headers[0].tcp_src, "tcp_sport", NUMBER, OUTER, 0) \
	FIELD(TCP, tcp_udp, dst_port, headers[0].tcp_dst, "tcp_dport", NUMBER, OUTER, 0)
#define MDV_FLOW_SPEC_FIELDS_UDP(FIELD) \
	FIELD(UDP, tcp_udp, src_port, headers[0].udp_src, "udp_sport", NUMBER, OUTER, 0) \
	FIELD(UDP, tcp_udp, dst_port, headers[0].udp_dst, "udp_dport", NUMBER, OUTER, 0)
#define MDV_FLOW_SPEC_FIELDS_ESP(FIELD) \
	FIELD(ESP, esp, spi, headers[0].esp_spi, "esp_spi", NUMBER, MISC, 0) \
	FIELD(ESP, esp, seq, headers[0].esp_seq, "esp_seq", NUMBER, MISC, 0)
/** The highest byte must be zero: kern_spec_to_ib_spec_filter of Linux's uverbs_cmd.c. */
#define MDV_FLOW_SPEC_FIELDS_VXLAN_TUNNEL(FIELD) \
	FIELD(VXLAN_TUNNEL, tunnel, tunnel_id, vni, "vxlan_vni", NUMBER, MISC, 0x00ffffff)
#define MDV_FLOW_SPEC_FIELDS_GRE(FIELD) \
	FIELD(GRE, gre, c_ks_res0_ver, gre_flags,    "gre_flags",    NUMBER, MISC, 0) \
	FIELD(GRE, gre, protocol,      gre_protocol, "gre_protocol", NUMBER, MISC, 0) \
	FIELD(GRE, gre, key,           gre_key,      "gre_key",      NUMBER, MISC, 0)
/** Over UDP or GRE it is elsewhere in the record: mdv_flow_spec_shift(). */
#define MDV_FLOW_SPEC_FIELDS_MPLS(FIELD) \
	FIELD(MPLS, mpls, label, headers[0].mpls, "mpls", NUMBER, MISC2, 0)
/* clang-format on */

/** Index of a spec type in mdv_flow_specs[], and the other specs of an ibv_flow_attr. */
enum mdv_flow_spec_id {
#define MDV_FLOW_SPEC_ID(t, ...) MDV_FLOW_SPEC_##t,
	MDV_FLOW_SPECS(MDV_FLOW_SPEC_ID)
#undef MDV_FLOW_SPEC_ID
	MDV_FLOW_SPEC_NB,
	MDV_FLOW_SPEC_ACTION = MDV_FLOW_SPEC_NB, /**< an action, which matches nothing */
	MDV_FLOW_SPEC_UNKNOWN,                   /**< no row: the driver does not make it */
};

/** Index of a field in the row of its spec type: MDV_FLOW_FIELD_ETH_dst_mac. */
#define MDV_FLOW_FIELD_ID(t, filter, member, ...) MDV_FLOW_FIELD_##t##_##member,
#define MDV_FLOW_FIELD_IDS(t, ...)                                                                 \
	enum {                                                                                     \
		MDV_FLOW_SPEC_FIELDS_##t(MDV_FLOW_FIELD_ID) MDV_FLOW_FIELD_##t##_NB                \
	};
MDV_FLOW_SPECS(MDV_FLOW_FIELD_IDS)

/** A field of a filter. */
struct mdv_flow_spec_field {
	uint8_t at, bytes;  /**< in the filter */
	uint16_t record_at; /**< of the outer spec, in struct mdv_flow_spec_record */
	uint16_t words;     /**< bit i: it has bytes in 32-bit word i of the filter */
	uint32_t bits;      /**< of a number: the bits that the kernel takes; 0: all bytes */
	const char *name;   /**< in a dump */
	enum mdv_flow_spec_kind kind;
	enum mdv_flow_spec_part part;
};

struct mdv_flow_spec {
	uint32_t type; /**< IBV_FLOW_SPEC_*, without INNER */
	uint16_t bytes, val_at, mask_at;
	uint8_t ip_version, proto; /**< values of each packet that has the spec; 0: any */
	uint8_t sides;             /**< 1: never IBV_FLOW_SPEC_INNER */
	uint8_t nb_fields;
	const struct mdv_flow_spec_field *fields;
};

extern const struct mdv_flow_spec mdv_flow_specs[MDV_FLOW_SPEC_NB];

/** @return the spec of @p type, with or without IBV_FLOW_SPEC_INNER. */
enum mdv_flow_spec_id mdv_flow_spec_id(uint32_t type);

/**
 * @param previous the type of the spec before it, 0: none
 * @return how far behind record_at the fields of an outer or inner spec are
 */
static inline size_t
mdv_flow_spec_shift(enum mdv_flow_spec_id id, bool inner, uint32_t previous)
{
	const size_t label = offsetof(struct mdv_flow_spec_record, headers[0].mpls);

	/* Linux's mlx5_ib places a label by the spec right before it: parse_flow_attr(). */
	if (id == MDV_FLOW_SPEC_MPLS && previous == IBV_FLOW_SPEC_UDP)
		return offsetof(struct mdv_flow_spec_record, mpls_over_udp) - label;
	if (id == MDV_FLOW_SPEC_MPLS && previous == IBV_FLOW_SPEC_GRE)
		return offsetof(struct mdv_flow_spec_record, mpls_over_gre) - label;
	return inner ? sizeof(struct mdv_flow_spec_headers) : 0;
}

/**
 * Most masks name few bytes. Items and filters are made of 32-bit words.
 * @return bit i: the 32-bit word i of a mask of @p nb bytes has bits
 */
static inline unsigned int
mdv_flow_spec_masked_words(const uint8_t *mask, unsigned int nb)
{
	unsigned int masked = 0, i = 0;
	uint32_t word;
	uint64_t two;

	for (; i + sizeof(two) <= nb; i += sizeof(two)) {
		memcpy(&two, &mask[i], sizeof(two));
		if (two == 0)
			continue;
		memcpy(&word, &mask[i], sizeof(word));
		masked |= (word != 0 ? 1u : 0u) << i / sizeof(word);
		memcpy(&word, &mask[i + sizeof(word)], sizeof(word));
		masked |= (word != 0 ? 2u : 0u) << i / sizeof(word);
	}
	if (i == nb)
		return masked;
	memcpy(&word, &mask[i], sizeof(word));
	return masked | (word != 0 ? 1u : 0u) << i / sizeof(word);
}

/** In the mask of @p spec, an ibv_flow_spec, set all bits of the field that the kernel takes. */
void mdv_flow_spec_mask_field(const struct mdv_flow_spec *row, unsigned int field, uint8_t *spec);

#endif /* MDV_FLOW_SPEC_H */
