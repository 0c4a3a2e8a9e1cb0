/* SPDX-License-Identifier: BSD-3-Clause */
/* fte_match_param -> match. */
#include "steering/match/param.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#define DST_MAC_OFFSET  8
#define DST_IPV4_OFFSET 60 /* the last four of 16 bytes */

enum {
	CRITERIA_OUTER = 1,

	PART_OUTER = 0,
	PART_MISC = 1,
	PART_INNER = 2,
	PART_MISC2 = 3,
};

/** A field's place in fte_match_param and in the match. Strings of bytes are equal in both; numbers
 * are in host order in the match. */
struct row {
	uint16_t part;
	uint16_t first_bit; /* in the part, counted as in the PRM: 0 is the top bit of byte 0 */
	uint16_t nb_bits;
	uint16_t offset; /* into union shca_match_key */
	uint16_t width;  /* bytes in the match; 0: a string of bytes */
};

/* clang-format off */
#define ROW(part, first_bit, nb_bits, member) \
	{ part, first_bit, nb_bits, offsetof(union shca_match_key, member), \
		sizeof(((union shca_match_key *)0)->member) }
#define BYTES(part, first_bit, nb_bits, member) \
	{ part, first_bit, nb_bits, offsetof(union shca_match_key, member), 0 }
/** fte_match_set_lyr_2_4 */
#define STACK(part, stack) \
	BYTES(part, 0, 48, stack.src_mac), \
	ROW(part, 48, 16, stack.ether_type), \
	BYTES(part, 64, 48, stack.dst_mac), \
	ROW(part, 112, 16, stack.vlan_tci), \
	ROW(part, 128, 8, stack.ip_proto), \
	ROW(part, 136, 8, stack.tos), \
	ROW(part, 144, 1, stack.cvlan), \
	ROW(part, 145, 1, stack.svlan), \
	ROW(part, 146, 1, stack.fragment), \
	ROW(part, 147, 4, stack.ip_version), \
	ROW(part, 151, 9, stack.tcp_flags), \
	ROW(part, 160, 16, stack.tcp_src_port), \
	ROW(part, 176, 16, stack.tcp_dst_port), \
	ROW(part, 216, 8, stack.ttl), \
	ROW(part, 224, 16, stack.udp_src_port), \
	ROW(part, 240, 16, stack.udp_dst_port), \
	BYTES(part, 256, 128, stack.src_ip), \
	BYTES(part, 384, 128, stack.dst_ip)

static const struct row param_rows[] = {
	STACK(PART_OUTER, outer),
	STACK(PART_INNER, inner),
	/* fte_match_set_misc */
	ROW(PART_MISC, 112, 16, gre_protocol),
	ROW(PART_MISC, 128, 32, gre_key),
	ROW(PART_MISC, 160, 24, vni),
	ROW(PART_MISC, 236, 20, outer.flow_label),
	ROW(PART_MISC, 268, 20, inner.flow_label),
	/* fte_match_set_misc2 */
	ROW(PART_MISC2, 0, 32, outer.mpls),
	ROW(PART_MISC2, 32, 32, inner.mpls),
	ROW(PART_MISC2, 64, 32, mpls_gre),
	ROW(PART_MISC2, 96, 32, mpls_udp),
};
/* clang-format on */

static uint32_t
take_number(const uint8_t *part, const struct row *row)
{
	uint32_t number = 0;

	for (unsigned int bit = row->first_bit; bit < row->first_bit + row->nb_bits; bit++)
		number = number << 1 | (part[bit / 8] >> (7 - bit % 8) & 1);
	return number;
}

static void
take_field(const struct shca_param *param, const struct row *row, union shca_match_key *key)
{
	const uint8_t *part = param->bytes + (size_t)row->part * SHCA_PARAM_PART_BYTES;
	uint8_t *to = (uint8_t *)key + row->offset;
	uint32_t number = take_number(part, row);
	uint16_t number16 = (uint16_t)number;

	switch (row->width) {
	case 0:
		memcpy(to, part + row->first_bit / 8, row->nb_bits / 8);
		break;
	case sizeof(uint8_t):
		*to = (uint8_t)number;
		break;
	case sizeof(uint16_t):
		memcpy(to, &number16, sizeof(number16));
		break;
	default:
		memcpy(to, &number, sizeof(number));
		break;
	}
}

/** fs_core lets a mask have bits in parts that @p criteria leaves out; groups do not look there. */
static void
take(uint8_t criteria, const struct shca_param *param, union shca_match_key *key)
{
	for (size_t i = 0; i < sizeof(param_rows) / sizeof(param_rows[0]); i++)
		if (criteria & 1u << param_rows[i].part)
			take_field(param, &param_rows[i], key);
}

static bool
is_zero(const uint8_t *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (bytes[i] != 0)
			return false;
	return true;
}

/** As fs_core check_valid_spec. */
static bool
is_valid(uint8_t criteria, const struct shca_param *mask, const struct shca_param *value)
{
	if (criteria >= 1u << SHCA_PARAM_NB_PARTS)
		return false;
	for (unsigned int i = 0; i < SHCA_PARAM_BYTES; i++)
		if (value->bytes[i] & ~mask->bytes[i])
			return false;
	return true;
}

/** @return true when no bit of @p mask that @p criteria names is outside the rows. */
static bool
is_modelled(uint8_t criteria, const struct shca_param *mask)
{
	struct shca_param rest = *mask;

	for (unsigned int i = 0; i < SHCA_PARAM_NB_PARTS; i++)
		if ((criteria & 1u << i) == 0)
			memset(rest.bytes + (size_t)i * SHCA_PARAM_PART_BYTES, 0,
				SHCA_PARAM_PART_BYTES);
	for (size_t i = 0; i < sizeof(param_rows) / sizeof(param_rows[0]); i++) {
		uint8_t *part = rest.bytes + (size_t)param_rows[i].part * SHCA_PARAM_PART_BYTES;

		for (unsigned int j = 0; j < param_rows[i].nb_bits; j++) {
			unsigned int bit = param_rows[i].first_bit + j;

			part[bit / 8] &= (uint8_t) ~(0x80 >> bit % 8);
		}
	}
	return is_zero(rest.bytes, sizeof(rest.bytes));
}

int
shca_param_match(uint8_t criteria, const struct shca_param *mask, const struct shca_param *value,
	struct shca_match *match)
{
	if (!is_valid(criteria, mask, value))
		return -EINVAL;
	if (!is_modelled(criteria, mask))
		return -EOPNOTSUPP;
	memset(match, 0, sizeof(*match));
	take(criteria, mask, &match->mask);
	take(criteria, value, &match->value);
	return 0;
}

/** As raw_fs_is_multicast, whose IPv4 test applies to address and mask alike, so hardly any mask
 * passes. */
bool
shca_param_is_multicast(
	uint8_t criteria, const struct shca_param *mask, const struct shca_param *value)
{
	if ((criteria & CRITERIA_OUTER) == 0)
		return false;
	if (mask->bytes[DST_MAC_OFFSET] & value->bytes[DST_MAC_OFFSET] & 1)
		return true;
	return mask->bytes[DST_IPV4_OFFSET] >> 4 == 0xe &&
		value->bytes[DST_IPV4_OFFSET] >> 4 == 0xe;
}
