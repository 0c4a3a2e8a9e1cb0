/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the specs of an ibv_flow_attr into the record; a row a field. */

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_ether.h>

#include "flow_key.h"

/** Outer and inner headers have the same fields. */
struct key_headers {
	uint8_t dst_mac[6], src_mac[6];
	uint16_t ether_type, vlan_tag;
	uint8_t src_ip[16], dst_ip[16];
	uint16_t tcp_src, tcp_dst, udp_src, udp_dst;
	uint8_t ip_version, proto, tos, ttl, frag;
	uint8_t c_vlan; /* a tag is asked for */
	uint8_t l3;     /* what EtherType or IP version say of the L3 protocol, or L3_NO_IP */
	uint8_t pad;
	uint32_t flow_label, esp_spi, esp_seq, mpls;
};

/** Also seen as the words of a struct mdv_flow_key. */
struct __attribute__((may_alias)) key_record {
	struct key_headers headers[2]; /* outer, inner */
	uint32_t vni, gre_key, mpls_over_udp, mpls_over_gre;
	uint16_t gre_flags, gre_protocol;
	uint32_t pad;
};

static_assert(sizeof(struct key_record) == sizeof(struct mdv_flow_key), "a record is a key");

#define L3_NO_IP 0x0f

/** A field of a filter and its place; those of inner specs are one key_headers further. */
struct key_field {
	uint16_t at, bytes, to;
};

/** What a spec says by being there. */
struct key_spec {
	uint32_t type; /* without INNER */
	uint16_t val_at, mask_at;
	uint8_t ip_version, proto; /* 0: nothing */
	uint8_t nb_fields;
	const struct key_field *fields;
};

/* clang-format off */
#define FIELD(filter, member, to) \
	{ offsetof(struct filter, member), sizeof(((struct filter *)0)->member), \
	  offsetof(struct key_record, to) }
#define FIELD_AT(filter, member, to, shift) \
	{ offsetof(struct filter, member), sizeof(((struct filter *)0)->member), \
	  offsetof(struct key_record, to) + (shift) }

static const struct key_field key_eth[] = {
	FIELD(ibv_flow_eth_filter, dst_mac, headers[0].dst_mac),
	FIELD(ibv_flow_eth_filter, src_mac, headers[0].src_mac),
	FIELD(ibv_flow_eth_filter, ether_type, headers[0].ether_type),
	FIELD(ibv_flow_eth_filter, vlan_tag, headers[0].vlan_tag),
};
static const struct key_field key_ipv4[] = {
	FIELD_AT(ibv_flow_ipv4_filter, src_ip, headers[0].src_ip, 12),
	FIELD_AT(ibv_flow_ipv4_filter, dst_ip, headers[0].dst_ip, 12),
};
static const struct key_field key_ipv4_ext[] = {
	FIELD_AT(ibv_flow_ipv4_ext_filter, src_ip, headers[0].src_ip, 12),
	FIELD_AT(ibv_flow_ipv4_ext_filter, dst_ip, headers[0].dst_ip, 12),
	FIELD(ibv_flow_ipv4_ext_filter, proto, headers[0].proto),
	FIELD(ibv_flow_ipv4_ext_filter, tos, headers[0].tos),
	FIELD(ibv_flow_ipv4_ext_filter, ttl, headers[0].ttl),
	FIELD(ibv_flow_ipv4_ext_filter, flags, headers[0].frag),
};
static const struct key_field key_ipv6[] = {
	FIELD(ibv_flow_ipv6_filter, src_ip, headers[0].src_ip),
	FIELD(ibv_flow_ipv6_filter, dst_ip, headers[0].dst_ip),
	FIELD(ibv_flow_ipv6_filter, flow_label, headers[0].flow_label),
	FIELD(ibv_flow_ipv6_filter, next_hdr, headers[0].proto),
	FIELD(ibv_flow_ipv6_filter, traffic_class, headers[0].tos),
	FIELD(ibv_flow_ipv6_filter, hop_limit, headers[0].ttl),
};
static const struct key_field key_tcp[] = {
	FIELD(ibv_flow_tcp_udp_filter, src_port, headers[0].tcp_src),
	FIELD(ibv_flow_tcp_udp_filter, dst_port, headers[0].tcp_dst),
};
static const struct key_field key_udp[] = {
	FIELD(ibv_flow_tcp_udp_filter, src_port, headers[0].udp_src),
	FIELD(ibv_flow_tcp_udp_filter, dst_port, headers[0].udp_dst),
};
static const struct key_field key_esp[] = {
	FIELD(ibv_flow_esp_filter, spi, headers[0].esp_spi),
	FIELD(ibv_flow_esp_filter, seq, headers[0].esp_seq),
};
static const struct key_field key_vxlan_tunnel[] = {
	FIELD(ibv_flow_tunnel_filter, tunnel_id, vni),
};
static const struct key_field key_gre[] = {
	FIELD(ibv_flow_gre_filter, c_ks_res0_ver, gre_flags),
	FIELD(ibv_flow_gre_filter, protocol, gre_protocol),
	FIELD(ibv_flow_gre_filter, key, gre_key),
};

#define SPEC(t, of, version, proto, fields) \
	{ IBV_FLOW_SPEC_##t, offsetof(struct of, val), offsetof(struct of, mask), version, proto, \
	  RTE_DIM(fields), fields }

static const struct key_spec key_specs[] = {
	SPEC(ETH, ibv_flow_spec_eth, 0, 0, key_eth),
	SPEC(IPV4, ibv_flow_spec_ipv4, 4, 0, key_ipv4),
	SPEC(IPV4_EXT, ibv_flow_spec_ipv4_ext, 4, 0, key_ipv4_ext),
	SPEC(IPV6, ibv_flow_spec_ipv6, 6, 0, key_ipv6),
	SPEC(TCP, ibv_flow_spec_tcp_udp, 0, IPPROTO_TCP, key_tcp),
	SPEC(UDP, ibv_flow_spec_tcp_udp, 0, IPPROTO_UDP, key_udp),
	SPEC(ESP, ibv_flow_spec_esp, 0, 0, key_esp),
	SPEC(VXLAN_TUNNEL, ibv_flow_spec_tunnel, 0, 0, key_vxlan_tunnel),
	SPEC(GRE, ibv_flow_spec_gre, 0, IPPROTO_GRE, key_gre),
	/* Its one field has no one place: key_mpls_place(). */
	{ IBV_FLOW_SPEC_MPLS, offsetof(struct ibv_flow_spec_mpls, val),
	  offsetof(struct ibv_flow_spec_mpls, mask), 0, 0, 0, NULL },
};
/* clang-format on */

static const struct key_spec *
key_spec_find(uint32_t type)
{
	for (unsigned int i = 0; i < RTE_DIM(key_specs); i++)
		if (key_specs[i].type == type)
			return &key_specs[i];
	return NULL;
}

static void
key_set(struct key_record *value, struct key_record *mask, size_t at, uint8_t byte)
{
	((uint8_t *)value)[at] = byte;
	((uint8_t *)mask)[at] = 0xff;
}

/** The device has a place a position: mlx5_ib's parse_flow_attr looks at the spec right before. */
static size_t
key_mpls_place(uint32_t previous, bool inner)
{
	if (previous == IBV_FLOW_SPEC_UDP)
		return offsetof(struct key_record, mpls_over_udp);
	if (previous == IBV_FLOW_SPEC_GRE)
		return offsetof(struct key_record, mpls_over_gre);
	return inner ? offsetof(struct key_record, headers[1].mpls)
		     : offsetof(struct key_record, headers[0].mpls);
}

/** Most fields of a rule are not looked at, so this is what its translation costs. */
static bool
key_is_zero(const uint8_t *bytes, unsigned int nb)
{
	uint64_t whole, any = 0;
	unsigned int i = 0;

	for (; i + sizeof(whole) <= nb; i += sizeof(whole)) {
		memcpy(&whole, &bytes[i], sizeof(whole));
		any |= whole;
	}
	for (; i < nb; i++)
		any |= bytes[i];
	return any == 0;
}

/** @p nb is a constant. Another spec may have said something of these bytes. */
static __rte_always_inline void
key_merge(uint8_t *value, uint8_t *mask, const uint8_t *spec_value, const uint8_t *spec_mask,
	const unsigned int nb)
{
	uint64_t masked = 0, wanted = 0, word = 0;

	memcpy(&masked, spec_mask, nb);
	if (masked == 0)
		return;
	memcpy(&wanted, spec_value, nb);
	memcpy(&word, value, nb);
	word = (word & ~masked) | (wanted & masked);
	memcpy(value, &word, nb);
	memcpy(&word, mask, nb);
	word |= masked;
	memcpy(mask, &word, nb);
}

static void
key_copy(struct key_record *values, struct key_record *masks, size_t to, const uint8_t *spec_value,
	const uint8_t *spec_mask, uint16_t bytes)
{
	uint8_t *value = (uint8_t *)values + to, *mask = (uint8_t *)masks + to;

	switch (bytes) {
	case 1:
		key_merge(value, mask, spec_value, spec_mask, 1);
		break;
	case 2:
		key_merge(value, mask, spec_value, spec_mask, 2);
		break;
	case 4:
		key_merge(value, mask, spec_value, spec_mask, 4);
		break;
	case 6:
		key_merge(value, mask, spec_value, spec_mask, 6);
		break;
	default: /* an IPv6 address */
		key_merge(value, mask, spec_value, spec_mask, 8);
		key_merge(value + 8, mask + 8, spec_value + 8, spec_mask + 8, 8);
		break;
	}
}

static void
key_add_spec(struct key_record *value, struct key_record *mask, const struct key_spec *spec,
	const uint8_t *bytes, bool inner, uint32_t previous)
{
	const size_t side = inner ? sizeof(struct key_headers) : 0;
	const bool empty = key_is_zero(bytes + spec->mask_at, spec->mask_at - spec->val_at);

	for (unsigned int i = 0; !empty && i < spec->nb_fields; i++) {
		const struct key_field *field = &spec->fields[i];

		key_copy(value, mask, field->to + side, bytes + spec->val_at + field->at,
			bytes + spec->mask_at + field->at, field->bytes);
	}
	if (spec->type == IBV_FLOW_SPEC_MPLS)
		key_copy(value, mask, key_mpls_place(previous, inner), bytes + spec->val_at,
			bytes + spec->mask_at, sizeof(struct ibv_flow_mpls_filter));
	if (spec->ip_version != 0)
		key_set(value, mask, side + offsetof(struct key_headers, ip_version),
			spec->ip_version);
	if (spec->proto != 0)
		key_set(value, mask, side + offsetof(struct key_headers, proto), spec->proto);
}

/**
 * Facts that follow from the match and that no field says: they tell disjoint matches, and depend
 * on nothing but what is matched, so equal matches stay equal.
 */
static void
key_add_facts(struct key_headers *value, struct key_headers *mask)
{
	const uint16_t type = rte_be_to_cpu_16(value->ether_type);

	mask->c_vlan = mask->vlan_tag != 0 ? 0xff : 0;
	value->c_vlan = mask->vlan_tag != 0;
	if (mask->ip_version != 0) {
		mask->l3 = 0xff;
		value->l3 = value->ip_version;
	} else if (mask->ether_type == UINT16_MAX && type != RTE_ETHER_TYPE_MPLS &&
		type != RTE_ETHER_TYPE_MPLSM) {
		mask->l3 = 0xff;
		value->l3 = type == RTE_ETHER_TYPE_IPV4 ? 4
			: type == RTE_ETHER_TYPE_IPV6   ? 6
							: L3_NO_IP;
	}
}

/** The deepest that is named; what stands for more of the packet is deeper. */
static uint8_t
key_depth(uint32_t layers)
{
	static const uint32_t order[] = {
		MDV_LAYER_INNER(MDV_LAYER_L4 | MDV_LAYER_ESP),
		MDV_LAYER_INNER(MDV_LAYER_L3),
		MDV_LAYER_INNER(MDV_LAYER_MPLS),
		MDV_LAYER_INNER(MDV_LAYER_ETH | MDV_LAYER_VLAN),
		MDV_LAYER_MPLS_TUNNEL,
		MDV_LAYER_TUNNEL,
		MDV_LAYER_L4 | MDV_LAYER_ESP,
		MDV_LAYER_L3,
		MDV_LAYER_MPLS,
	};

	for (unsigned int i = 0; i < RTE_DIM(order); i++)
		if ((layers & order[i]) != 0)
			return RTE_DIM(order) - i;
	return 0;
}

void
mdv_flow_key_match(const struct mdv_flow_build *build, struct mdv_flow_match *match)
{
	struct key_record *value = (struct key_record *)&match->value;
	struct key_record *mask = (struct key_record *)&match->mask;
	uint32_t previous = 0;
	uint16_t at = sizeof(build->attr);

	memset(match, 0, sizeof(*match));
	match->depth = key_depth(build->layers);
	for (unsigned int i = 0; i < build->attr.num_of_specs; i++) {
		const struct key_spec *row;
		struct ibv_flow_spec spec;
		bool inner;

		memcpy(&spec.hdr, &build->bytes[at], sizeof(spec.hdr));
		inner = (spec.hdr.type & IBV_FLOW_SPEC_INNER) != 0;
		row = key_spec_find(spec.hdr.type & ~IBV_FLOW_SPEC_INNER);
		if (row != NULL)
			key_add_spec(value, mask, row, &build->bytes[at], inner, previous);
		previous = spec.hdr.type;
		at += spec.hdr.size;
	}
	for (unsigned int side = 0; side < 2; side++)
		key_add_facts(&value->headers[side], &mask->headers[side]);
}

void
mdv_flow_key_any_tag(struct mdv_flow_match *match, uint8_t sides)
{
	struct key_record *value = (struct key_record *)&match->value;
	struct key_record *mask = (struct key_record *)&match->mask;

	for (unsigned int side = 0; side < MDV_FLOW_BUILD_SIDES; side++) {
		if ((sides & 1u << side) == 0)
			continue;
		value->headers[side].vlan_tag = 0;
		mask->headers[side].vlan_tag = 0;
	}
}

bool
mdv_flow_key_equal(const struct mdv_flow_key *a, const struct mdv_flow_key *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/** Bit i: word i is not zero. Most are, which branches would guess wrong. */
static uint32_t
key_used(const struct mdv_flow_key *key)
{
	uint32_t used = 0;

	for (unsigned int i = 0; i < MDV_FLOW_KEY_WORDS; i++)
		used |= (key->words[i] != 0 ? UINT32_C(1) : 0) << i;
	return used;
}

int
mdv_flow_key_pack(const struct mdv_flow_match *match, struct mdv_flow_packed *packed)
{
	uint64_t *word = packed->few;
	uint32_t used = key_used(&match->mask);

	packed->used = used;
	packed->many = NULL;
	if (__builtin_popcount(used) > MDV_FLOW_PACKED_FEW) {
		packed->many = calloc(2 * __builtin_popcount(used), sizeof(*word));
		if (packed->many == NULL)
			return -ENOMEM;
		word = packed->many;
	}
	for (; used != 0; used &= used - 1) {
		*word++ = match->value.words[__builtin_ctz(used)];
		*word++ = match->mask.words[__builtin_ctz(used)];
	}
	return 0;
}

void
mdv_flow_key_packed_free(struct mdv_flow_packed *packed)
{
	free(packed->many);
}

static const uint64_t *
key_packed_words(const struct mdv_flow_packed *packed)
{
	return packed->many != NULL ? packed->many : packed->few;
}

void
mdv_flow_key_unpack(const struct mdv_flow_packed *packed, struct mdv_flow_match *match)
{
	const uint64_t *word = key_packed_words(packed);

	memset(match, 0, sizeof(*match));
	for (uint32_t used = packed->used; used != 0; used &= used - 1) {
		match->value.words[__builtin_ctz(used)] = *word++;
		match->mask.words[__builtin_ctz(used)] = *word++;
	}
}

bool
mdv_flow_key_packed_equal(const struct mdv_flow_packed *packed, const struct mdv_flow_key *value)
{
	const uint64_t *word = key_packed_words(packed);

	for (uint32_t used = packed->used; used != 0; used &= used - 1, word += 2)
		if (*word != value->words[__builtin_ctz(used)])
			return false;
	return true;
}

/** Multiply and fold, a word at a time. */
static uint64_t
key_hash(const struct mdv_flow_key *key, uint32_t used, uint64_t seed)
{
	uint64_t hash = seed ^ UINT64_C(0x9e3779b97f4a7c15);

	for (; used != 0; used &= used - 1) {
		const unsigned int i = __builtin_ctz(used);

		hash ^= (key->words[i] + i) * UINT64_C(0xff51afd7ed558ccd);
		hash = (hash ^ (hash >> 32)) * UINT64_C(0xc4ceb9fe1a85ec53);
	}
	return hash ^ (hash >> 29);
}

void
mdv_flow_key_hash(const struct mdv_flow_match *match, uint64_t *mask, uint64_t *whole)
{
	const uint32_t used = key_used(&match->mask);

	*mask = key_hash(&match->mask, used, 0);
	*whole = key_hash(&match->value, used, *mask);
}
