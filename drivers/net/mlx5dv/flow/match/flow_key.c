/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the specs of an ibv_flow_attr into the record, by the rows of flow_spec.h. */

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_ether.h>

#include "flow_key.h"
#include "flow_spec.h"

/** Code reads a record also as the words of a struct mdv_flow_key. */
static_assert(
	sizeof(struct mdv_flow_spec_record) == sizeof(struct mdv_flow_key), "a record is a key");

/** key_add_facts() adds to one word of each side. */
static_assert(offsetof(struct mdv_flow_spec_headers, c_vlan) / sizeof(uint64_t) ==
		offsetof(struct mdv_flow_spec_headers, l3) / sizeof(uint64_t),
	"facts in one word");
static_assert(MDV_FLOW_KEY_WORDS < 32, "a bit each");

#define L3_NO_IP 0x0f

/** @return the words of a key that these bytes are in, one bit each. */
static uint32_t
key_words(size_t at, unsigned int nb)
{
	return UINT32_C(1) << at / sizeof(uint64_t) |
		UINT32_C(1) << (at + nb - 1) / sizeof(uint64_t);
}

/** @return those of @p words that are not zero. */
static uint32_t
key_used(const struct mdv_flow_key *mask, uint32_t words)
{
	uint32_t used = words;

	for (; words != 0; words &= words - 1)
		if (mask->words[__builtin_ctz(words)] == 0)
			used &= ~(words & -words);
	return used;
}

void
mdv_flow_key_set_used(struct mdv_flow_match *match)
{
	match->used = key_used(&match->mask, (UINT32_C(1) << MDV_FLOW_KEY_WORDS) - 1);
}

static void
key_set(struct mdv_flow_match *match, size_t at, uint8_t byte)
{
	((uint8_t *)&match->value)[at] = byte;
	((uint8_t *)&match->mask)[at] = 0xff;
	match->used |= key_words(at, 1);
}

/** Add to bits that another spec may have set. @param nb a constant, so that memcpy() is a move */
static __rte_always_inline void
key_merge(struct mdv_flow_match *match, size_t to, const uint8_t *spec_value,
	const uint8_t *spec_mask, const unsigned int nb)
{
	uint8_t *value = (uint8_t *)&match->value + to, *mask = (uint8_t *)&match->mask + to;
	uint64_t masked = 0, wanted = 0, word = 0;

	memcpy(&masked, spec_mask, nb);
	if (masked == 0)
		return;
	match->used |= key_words(to, nb);
	memcpy(&wanted, spec_value, nb);
	memcpy(&word, value, nb);
	word = (word & ~masked) | (wanted & masked);
	memcpy(value, &word, nb);
	memcpy(&word, mask, nb);
	word |= masked;
	memcpy(mask, &word, nb);
}

static void
key_copy(struct mdv_flow_match *match, size_t to, const uint8_t *value, const uint8_t *mask,
	uint16_t bytes)
{
	switch (bytes) {
	case 1:
		key_merge(match, to, value, mask, 1);
		break;
	case 2:
		key_merge(match, to, value, mask, 2);
		break;
	case 4:
		key_merge(match, to, value, mask, 4);
		break;
	case 6:
		key_merge(match, to, value, mask, 6);
		break;
	default: /* an IPv6 address */
		key_merge(match, to, value, mask, 8);
		key_merge(match, to + 8, value + 8, mask + 8, 8);
		break;
	}
}

static void
key_add_spec(struct mdv_flow_match *match, enum mdv_flow_spec_id id, const uint8_t *bytes,
	bool inner, uint32_t previous)
{
	const struct mdv_flow_spec *spec = &mdv_flow_specs[id];
	const size_t side = inner ? sizeof(struct mdv_flow_spec_headers) : 0;
	const unsigned int masked =
		mdv_flow_spec_masked_words(bytes + spec->mask_at, spec->mask_at - spec->val_at);
	const size_t shift = mdv_flow_spec_shift(id, inner, previous);
	const struct mdv_flow_spec_field *field, *const end = &spec->fields[spec->nb_fields];

	for (field = spec->fields; masked != 0 && field < end; field++) {
		if ((field->words & masked) == 0)
			continue;
		key_copy(match, field->record_at + shift, bytes + spec->val_at + field->at,
			bytes + spec->mask_at + field->at, field->bytes);
	}
	if (spec->ip_version != 0)
		key_set(match, side + offsetof(struct mdv_flow_spec_headers, ip_version),
			spec->ip_version);
	if (spec->proto != 0)
		key_set(match, side + offsetof(struct mdv_flow_spec_headers, proto), spec->proto);
}

/** Add facts that follow from the match although no field has them: they show that matches are
 * disjoint. They depend on the match alone, so equal matches stay equal. */
static void
key_add_facts(struct mdv_flow_match *match, unsigned int side)
{
	struct mdv_flow_spec_headers *value =
		&((struct mdv_flow_spec_record *)&match->value)->headers[side];
	struct mdv_flow_spec_headers *mask =
		&((struct mdv_flow_spec_record *)&match->mask)->headers[side];
	const uint16_t type = rte_be_to_cpu_16(value->ether_type);

	match->used |= key_words(offsetof(struct mdv_flow_spec_record, headers[side].l3), 1);
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

/** @return the depth of the deepest layer in the pattern. */
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

	/* The layers without a tunnel, the last three, have the lowest bits. */
	unsigned int i = layers < MDV_LAYER_VXLAN ? RTE_DIM(order) - 3 : 0;

	for (; i < RTE_DIM(order); i++)
		if ((layers & order[i]) != 0)
			return RTE_DIM(order) - i;
	return 0;
}

int
mdv_flow_key_match(const struct mdv_flow_build *build, struct mdv_flow_match *match)
{
	uint32_t previous = 0, types = 0;
	uint16_t at = sizeof(build->attr);

	memset(match, 0, sizeof(*match));
	match->depth = key_depth(build->layers);
	for (unsigned int i = 0; i < build->attr.num_of_specs; i++) {
		enum mdv_flow_spec_id id;
		struct ibv_flow_spec spec;

		memcpy(&spec.hdr, &build->bytes[at], sizeof(spec.hdr));
		id = mdv_flow_spec_id(spec.hdr.type);
		if (id == MDV_FLOW_SPEC_UNKNOWN)
			return -EINVAL;
		if (id < MDV_FLOW_SPEC_NB)
			key_add_spec(match, id, &build->bytes[at],
				(spec.hdr.type & IBV_FLOW_SPEC_INNER) != 0, previous);
		previous = spec.hdr.type;
		types |= spec.hdr.type;
		at += spec.hdr.size;
	}
	key_add_facts(match, MDV_FLOW_BUILD_OUTER);
	if ((types & IBV_FLOW_SPEC_INNER) != 0)
		key_add_facts(match, MDV_FLOW_BUILD_INNER);
	match->used = key_used(&match->mask, match->used);
	return 0;
}

void
mdv_flow_key_any_tag(struct mdv_flow_match *match, uint8_t sides)
{
	struct mdv_flow_spec_record *value = (struct mdv_flow_spec_record *)&match->value;
	struct mdv_flow_spec_record *mask = (struct mdv_flow_spec_record *)&match->mask;

	if (sides == 0)
		return;
	for (unsigned int side = 0; side < MDV_FLOW_BUILD_SIDES; side++) {
		if ((sides & 1u << side) == 0)
			continue;
		value->headers[side].vlan_tag = 0;
		mask->headers[side].vlan_tag = 0;
	}
	match->used = key_used(&match->mask, match->used);
}

bool
mdv_flow_key_equal(const struct mdv_flow_key *a, const struct mdv_flow_key *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

int
mdv_flow_key_pack(const struct mdv_flow_match *match, struct mdv_flow_packed *packed)
{
	uint64_t *word = packed->few;
	uint32_t used = match->used;

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
	match->used = packed->used;
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

/** Multiply and fold, one word at a time. */
static uint64_t
key_hash_word(uint64_t hash, uint64_t word, unsigned int i)
{
	hash ^= (word + i) * UINT64_C(0xff51afd7ed558ccd);
	return (hash ^ (hash >> 32)) * UINT64_C(0xc4ceb9fe1a85ec53);
}

static uint64_t
key_hash(const struct mdv_flow_key *key, uint32_t used)
{
	uint64_t hash = UINT64_C(0x9e3779b97f4a7c15);

	for (; used != 0; used &= used - 1) {
		const unsigned int i = __builtin_ctz(used);

		hash = key_hash_word(hash, key->words[i], i);
	}
	return hash;
}

uint64_t
mdv_flow_key_hash_whole(const struct mdv_flow_match *match, uint64_t mask)
{
	const uint64_t hash = key_hash(&match->value, match->used) ^ mask;

	return hash ^ (hash >> 29);
}

void
mdv_flow_key_hash(const struct mdv_flow_match *match, uint64_t *mask, uint64_t *whole)
{
	const uint64_t hash = key_hash(&match->mask, match->used);

	*mask = hash ^ (hash >> 29);
	*whole = mdv_flow_key_hash_whole(match, *mask);
}
