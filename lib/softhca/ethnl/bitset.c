/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethnl/bitset.h"

#include <errno.h>
#include <linux/ethtool_netlink.h>
#include <string.h>

#include "ethnl/call.h"

#define BITS   32
#define NB_MAX 32767 /* bitset.h ETHNL_MAX_BITSET_SIZE */

static uint32_t
words_of(uint32_t nb)
{
	return (nb + BITS - 1) / BITS;
}

static bool
has(const uint32_t *words, uint32_t bit)
{
	return (words[bit / BITS] & 1u << bit % BITS) != 0;
}

static void
put_words(struct nlmsghdr *message, uint16_t type, const uint32_t *words, uint32_t nb)
{
	mnl_attr_put(message, type, words_of(nb) * sizeof(*words), words);
}

static void
put_bit(struct nlmsghdr *message, const struct shca_bitset *set, uint32_t bit, bool has_value)
{
	struct nlattr *nest = mnl_attr_nest_start(message, ETHTOOL_A_BITSET_BITS_BIT);
	char name[ETH_GSTRING_LEN + 1] = "";

	memcpy(name, set->names + (size_t)bit * ETH_GSTRING_LEN, ETH_GSTRING_LEN);
	mnl_attr_put_u32(message, ETHTOOL_A_BITSET_BIT_INDEX, bit);
	if (name[0] != '\0')
		mnl_attr_put_strz(message, ETHTOOL_A_BITSET_BIT_NAME, name);
	if (has_value)
		mnl_attr_put(message, ETHTOOL_A_BITSET_BIT_VALUE, 0, NULL);
	mnl_attr_nest_end(message, nest);
}

/** ethnl_put_bitset32() */
void
shca_bitset_put(struct nlmsghdr *message, uint16_t type, const struct shca_bitset *set,
	const uint32_t *value, const uint32_t *mask, bool is_compact)
{
	struct nlattr *nest = mnl_attr_nest_start(message, type), *bits;

	if (mask == NULL)
		mnl_attr_put(message, ETHTOOL_A_BITSET_NOMASK, 0, NULL);
	mnl_attr_put_u32(message, ETHTOOL_A_BITSET_SIZE, set->nb);
	if (is_compact) {
		put_words(message, ETHTOOL_A_BITSET_VALUE, value, set->nb);
		if (mask != NULL)
			put_words(message, ETHTOOL_A_BITSET_MASK, mask, set->nb);
	} else {
		bits = mnl_attr_nest_start(message, ETHTOOL_A_BITSET_BITS);
		for (uint32_t bit = 0; bit < set->nb; bit++)
			if (has(mask != NULL ? mask : value, bit))
				put_bit(message, set, bit, mask != NULL && has(value, bit));
		mnl_attr_nest_end(message, bits);
	}
	mnl_attr_nest_end(message, nest);
}

/** Take the first @p nb_given bits of a request, as far as there are such. @return whether no other
 * is set. */
static bool
read_words(const struct nlattr *attr, uint32_t nb_given, uint32_t nb, uint32_t *words)
{
	const uint32_t *given = mnl_attr_get_payload(attr);
	bool fits = true;

	for (uint32_t bit = 0; bit < nb_given; bit++) {
		if (has(given, bit) && bit < nb)
			words[bit / BITS] |= 1u << bit % BITS;
		else if (has(given, bit))
			fits = false;
	}
	return fits;
}

static bool
is_as_long(const struct nlattr *attr, uint32_t nb)
{
	return mnl_attr_get_payload_len(attr) == words_of(nb) * sizeof(uint32_t);
}

/** ethnl_compact_sanity_checks() */
static int
read_compact(struct shca_ethnl_call *call, const struct nlattr *bitset,
	const struct nlattr *const attrs[SHCA_ETHNL_ATTRS], const struct shca_bitset *set,
	uint32_t *const value_and_mask[2])
{
	const struct nlattr *size = attrs[ETHTOOL_A_BITSET_SIZE];
	const struct nlattr *value = attrs[ETHTOOL_A_BITSET_VALUE];
	const struct nlattr *mask = attrs[ETHTOOL_A_BITSET_MASK];
	const bool is_list = attrs[ETHTOOL_A_BITSET_NOMASK] != NULL;
	bool values_fit, masks_fit = true;
	uint32_t nb;

	if (is_list && mask != NULL)
		return shca_ethnl_refuse(call, -EINVAL, mask, "mask not allowed in list bitset");
	if (size == NULL)
		return shca_ethnl_refuse(call, -EINVAL, bitset, "missing size in compact bitset");
	if (value == NULL)
		return shca_ethnl_refuse(call, -EINVAL, bitset, "missing value in compact bitset");
	if (!is_list && mask == NULL)
		return shca_ethnl_refuse(
			call, -EINVAL, bitset, "missing mask in compact nonlist bitset");
	if (mnl_attr_get_u32(size) > NB_MAX)
		return shca_ethnl_refuse(call, -ERANGE, size, "integer out of range");
	nb = mnl_attr_get_u32(size);
	if (!is_as_long(value, nb))
		return shca_ethnl_refuse(
			call, -EINVAL, value, "bitset value length does not match size");
	if (mask != NULL && !is_as_long(mask, nb))
		return shca_ethnl_refuse(
			call, -EINVAL, mask, "bitset mask length does not match size");
	values_fit = read_words(value, nb, set->nb, value_and_mask[0]);
	if (mask != NULL)
		masks_fit = read_words(mask, nb, set->nb, value_and_mask[1]);
	if (is_list ? !values_fit : !masks_fit)
		return shca_ethnl_refuse(call, -EINVAL, is_list ? value : mask,
			"cannot modify bits past kernel bitset size");
	return 0;
}

/** @return the bit of a name, or its number beyond all. */
static uint32_t
find_bit(const struct shca_bitset *set, const char *name)
{
	uint32_t bit = 0;

	while (bit < set->nb &&
		(strlen(name) > ETH_GSTRING_LEN ||
			strncmp((const char *)set->names + (size_t)bit * ETH_GSTRING_LEN, name,
				ETH_GSTRING_LEN) != 0))
		bit++;
	return bit;
}

/** ethnl_parse_bit() */
static int
read_bit(struct shca_ethnl_call *call, const struct nlattr *bit_attr, const struct shca_bitset *set,
	uint32_t *bit, bool *has_value)
{
	static const struct shca_ethnl_policy policy = {
		ETHTOOL_A_BITSET_BIT_VALUE,
		{
			[ETHTOOL_A_BITSET_BIT_INDEX] = SHCA_ETHNL_U32,
			[ETHTOOL_A_BITSET_BIT_NAME] = SHCA_ETHNL_NAME,
			[ETHTOOL_A_BITSET_BIT_VALUE] = SHCA_ETHNL_FLAG,
		},
	};
	const struct nlattr *attrs[SHCA_ETHNL_ATTRS], *index, *name;
	int ret = shca_ethnl_take(call, mnl_attr_get_payload(bit_attr),
		mnl_attr_get_payload_len(bit_attr), &policy, attrs);

	if (ret != 0)
		return ret;
	index = attrs[ETHTOOL_A_BITSET_BIT_INDEX];
	name = attrs[ETHTOOL_A_BITSET_BIT_NAME];
	if (index == NULL && name == NULL)
		return shca_ethnl_refuse(
			call, -EINVAL, bit_attr, "neither bit index nor name specified");
	*bit = index != NULL ? mnl_attr_get_u32(index) : find_bit(set, mnl_attr_get_str(name));
	if (*bit >= set->nb)
		return shca_ethnl_refuse(call, -EOPNOTSUPP, index != NULL ? index : name,
			index != NULL ? "bit index too high" : "bit name not found");
	if (index != NULL && name != NULL && find_bit(set, mnl_attr_get_str(name)) != *bit)
		return shca_ethnl_refuse(call, -EINVAL, bit_attr, "bit index and name mismatch");
	*has_value = attrs[ETHTOOL_A_BITSET_BIT_VALUE] != NULL;
	return 0;
}

static int
read_bits(struct shca_ethnl_call *call, const struct nlattr *const attrs[SHCA_ETHNL_ATTRS],
	const struct shca_bitset *set, uint32_t *value, uint32_t *mask)
{
	const struct nlattr *bits = attrs[ETHTOOL_A_BITSET_BITS], *attr;
	const uint8_t *at = mnl_attr_get_payload(bits);
	const uint8_t *end = at + mnl_attr_get_payload_len(bits);
	const bool is_list = attrs[ETHTOOL_A_BITSET_NOMASK] != NULL;

	if (attrs[ETHTOOL_A_BITSET_VALUE] != NULL)
		return shca_ethnl_refuse(call, -EINVAL, attrs[ETHTOOL_A_BITSET_VALUE],
			"value only allowed in compact bitset");
	if (attrs[ETHTOOL_A_BITSET_MASK] != NULL)
		return shca_ethnl_refuse(call, -EINVAL, attrs[ETHTOOL_A_BITSET_MASK],
			"mask only allowed in compact bitset");
	while ((attr = shca_ethnl_next(&at, end)) != NULL) {
		bool has_value = false;
		uint32_t bit = 0;
		int ret;

		if (mnl_attr_get_type(attr) != ETHTOOL_A_BITSET_BITS_BIT)
			return shca_ethnl_refuse(call, -EINVAL, attr,
				"only ETHTOOL_A_BITSET_BITS_BIT allowed in ETHTOOL_A_BITSET_BITS");
		if ((attr->nla_type & NLA_F_NESTED) == 0)
			return shca_ethnl_refuse(call, -EINVAL, attr, "NLA_F_NESTED is missing");
		ret = read_bit(call, attr, set, &bit, &has_value);
		if (ret != 0)
			return ret;
		mask[bit / BITS] |= 1u << bit % BITS;
		if (has_value || is_list)
			value[bit / BITS] |= 1u << bit % BITS;
	}
	return 0;
}

/** ethnl_parse_bitset() */
int
shca_bitset_read(struct shca_ethnl_call *call, const struct nlattr *attr,
	const struct shca_bitset *set, uint32_t *value, uint32_t *mask)
{
	static const struct shca_ethnl_policy policy = {
		ETHTOOL_A_BITSET_MASK,
		{
			[ETHTOOL_A_BITSET_NOMASK] = SHCA_ETHNL_FLAG,
			[ETHTOOL_A_BITSET_SIZE] = SHCA_ETHNL_U32,
			[ETHTOOL_A_BITSET_BITS] = SHCA_ETHNL_NEST,
			[ETHTOOL_A_BITSET_VALUE] = SHCA_ETHNL_BINARY,
			[ETHTOOL_A_BITSET_MASK] = SHCA_ETHNL_BINARY,
		},
	};
	const struct nlattr *attrs[SHCA_ETHNL_ATTRS];
	int ret = shca_ethnl_take(
		call, mnl_attr_get_payload(attr), mnl_attr_get_payload_len(attr), &policy, attrs);

	memset(value, 0, SHCA_BITSET_WORDS * sizeof(*value));
	memset(mask, 0, SHCA_BITSET_WORDS * sizeof(*mask));
	if (ret == 0 && attrs[ETHTOOL_A_BITSET_BITS] != NULL)
		ret = read_bits(call, attrs, set, value, mask);
	else if (ret == 0)
		ret = read_compact(call, attr, attrs, set, (uint32_t *const[]){ value, mask });
	for (uint32_t bit = 0; ret == 0 && attrs[ETHTOOL_A_BITSET_NOMASK] != NULL && bit < set->nb;
		bit++)
		mask[bit / BITS] |= 1u << bit % BITS;
	return ret;
}
