/* SPDX-License-Identifier: BSD-3-Clause */
/* The family "ethtool": features, and bits as attributes. The kernel has the names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <stdlib.h>
#include <string.h>

#include "ethnl/bitset.h"
#include "ethnl_rig.h"
#include "nldev/features.h"

#define WORDS SHCA_BITSET_WORDS

/** A netdev: bits 0 to 3 can be switched and are off, but 3 never goes on; 8 is never changed. */
static struct {
	uint32_t wanted, active, nb_blocks;
	unsigned int nb_sets;
	int error; /* of a change */
} netdev;

static struct ethtool_gstrings *names;

static int
answer(void *command)
{
	struct ethtool_gfeatures *get = command;
	const struct ethtool_sfeatures *set = command;

	if (get->cmd == ETHTOOL_GFEATURES) {
		assert_true(get->size >= netdev.nb_blocks);
		get->size = netdev.nb_blocks;
		get->features[0] = (struct ethtool_get_features_block){ 0xf, netdev.wanted,
			netdev.active, 1u << 8 };
		return 0;
	}
	assert_int_equal(set->cmd, ETHTOOL_SFEATURES);
	assert_int_equal(set->size, netdev.nb_blocks);
	netdev.nb_sets++;
	if (netdev.error != 0)
		return netdev.error;
	netdev.wanted &= ~set->features[0].valid;
	netdev.wanted |= set->features[0].valid & set->features[0].requested & 0xf;
	netdev.active = netdev.wanted & 0x7;
	return ETHTOOL_F_WISH;
}

static int
setup(void **state)
{
	ethnl_rig_setup(state);
	assert_int_equal(shca_features_names(NETDEV, &names), 0);
	memset(&netdev, 0, sizeof(netdev));
	netdev.nb_blocks = (names->len + 31) / 32;
	ethnl_rig.ask = answer;
	return 0;
}

static int
teardown(void **state)
{
	free(names);
	return ethnl_rig_teardown(state);
}

static struct nlmsghdr *
set_features(uint32_t flags)
{
	return ethnl_rig_about(ETHTOOL_MSG_FEATURES_SET, ETHTOOL_A_FEATURES_HEADER, flags);
}

/** The first word of a compact set. */
static uint32_t
word_of(const struct nlmsghdr *reply, uint16_t type, uint16_t words)
{
	const struct nlattr *attr = ethnl_rig_nested(ethnl_rig_attr(reply, type), words);

	assert_int_equal(mnl_attr_get_payload_len(attr), netdev.nb_blocks * sizeof(uint32_t));
	return mnl_attr_get_u32(attr);
}

static void
test_features_as_words(void **state)
{
	const struct nlmsghdr *reply;
	const struct nlattr *active;

	(void)state;
	netdev.wanted = 9;
	netdev.active = 1;
	reply = ethnl_rig_reply(ethnl_rig_about(ETHTOOL_MSG_FEATURES_GET, ETHTOOL_A_FEATURES_HEADER,
					ETHTOOL_FLAG_COMPACT_BITSETS),
		ETHTOOL_MSG_FEATURES_GET_REPLY);
	assert_int_equal(word_of(reply, ETHTOOL_A_FEATURES_HW, ETHTOOL_A_BITSET_VALUE), 0xf);
	assert_int_equal(word_of(reply, ETHTOOL_A_FEATURES_HW, ETHTOOL_A_BITSET_MASK), UINT32_MAX);
	assert_int_equal(word_of(reply, ETHTOOL_A_FEATURES_WANTED, ETHTOOL_A_BITSET_VALUE), 9);
	assert_int_equal(word_of(reply, ETHTOOL_A_FEATURES_ACTIVE, ETHTOOL_A_BITSET_VALUE), 1);
	assert_int_equal(
		word_of(reply, ETHTOOL_A_FEATURES_NOCHANGE, ETHTOOL_A_BITSET_VALUE), 1u << 8);
	active = ethnl_rig_attr(reply, ETHTOOL_A_FEATURES_ACTIVE);
	assert_non_null(ethnl_rig_nested(active, ETHTOOL_A_BITSET_NOMASK));
	assert_null(ethnl_rig_nested(active, ETHTOOL_A_BITSET_MASK));
	assert_int_equal(
		mnl_attr_get_u32(ethnl_rig_nested(active, ETHTOOL_A_BITSET_SIZE)), names->len);
}

/** Each feature with its number and the kernel's name; those of a mask with their values. */
static void
test_features_by_name(void **state)
{
	const struct nlmsghdr *reply = ethnl_rig_reply(
		ethnl_rig_about(ETHTOOL_MSG_FEATURES_GET, ETHTOOL_A_FEATURES_HEADER, 0),
		ETHTOOL_MSG_FEATURES_GET_REPLY);
	const struct nlattr *bits = ethnl_rig_nested(
		ethnl_rig_attr(reply, ETHTOOL_A_FEATURES_HW), ETHTOOL_A_BITSET_BITS);
	const struct nlattr *bit = mnl_attr_get_payload(bits);

	(void)state;
	for (uint32_t i = 0; i < names->len; i++, bit = mnl_attr_next(bit)) {
		const char *name = (const char *)names->data + i * ETH_GSTRING_LEN;

		assert_true((const uint8_t *)bit < (const uint8_t *)bits + bits->nla_len);
		assert_int_equal(mnl_attr_get_type(bit), ETHTOOL_A_BITSET_BITS_BIT);
		assert_int_equal(
			mnl_attr_get_u32(ethnl_rig_nested(bit, ETHTOOL_A_BITSET_BIT_INDEX)), i);
		if (name[0] != '\0')
			assert_string_equal(
				mnl_attr_get_str(ethnl_rig_nested(bit, ETHTOOL_A_BITSET_BIT_NAME)),
				name);
		assert_int_equal(ethnl_rig_nested(bit, ETHTOOL_A_BITSET_BIT_VALUE) != NULL, i < 4);
	}
	assert_ptr_equal(bit, (const uint8_t *)bits + MNL_ALIGN(bits->nla_len));
}

static void
put_words(struct nlmsghdr *request, uint32_t value, uint32_t mask)
{
	struct nlattr *nest = mnl_attr_nest_start(request, ETHTOOL_A_FEATURES_WANTED);

	mnl_attr_put_u32(request, ETHTOOL_A_BITSET_SIZE, 10);
	mnl_attr_put_u32(request, ETHTOOL_A_BITSET_VALUE, value);
	mnl_attr_put_u32(request, ETHTOOL_A_BITSET_MASK, mask);
	mnl_attr_nest_end(request, nest);
}

static void
test_changes_are_told(void **state)
{
	struct nlmsghdr *request = set_features(ETHTOOL_FLAG_COMPACT_BITSETS);
	const struct nlmsghdr *reply;

	(void)state;
	/* What the request does not count is not meant. */
	put_words(request, 0xc | 1u << 15, 0xe | 1u << 15);
	netdev.wanted = netdev.active = 3;
	reply = ethnl_rig_reply(request, ETHTOOL_MSG_FEATURES_SET_REPLY);
	assert_int_equal(netdev.active, 5);
	assert_int_equal(word_of(reply, ETHTOOL_A_FEATURES_WANTED, ETHTOOL_A_BITSET_VALUE), 8);
	assert_int_equal(word_of(reply, ETHTOOL_A_FEATURES_WANTED, ETHTOOL_A_BITSET_MASK), 8);
	assert_int_equal(word_of(reply, ETHTOOL_A_FEATURES_ACTIVE, ETHTOOL_A_BITSET_VALUE), 4);
	assert_int_equal(word_of(reply, ETHTOOL_A_FEATURES_ACTIVE, ETHTOOL_A_BITSET_MASK), 6);
	/* The same again is no change. */
	assert_int_equal(netdev.nb_sets, 1);
	reply = ethnl_rig_reply(request, ETHTOOL_MSG_FEATURES_SET_REPLY);
	assert_int_equal(netdev.nb_sets, 1);
	assert_int_equal(word_of(reply, ETHTOOL_A_FEATURES_ACTIVE, ETHTOOL_A_BITSET_MASK), 0);
	/* Nobody wants to know. */
	request = set_features(ETHTOOL_FLAG_COMPACT_BITSETS | ETHTOOL_FLAG_OMIT_REPLY);
	put_words(request, 2, 2);
	assert_int_equal(ethnl_rig_ask(request), 0);
	assert_int_equal(ethnl_rig.nb, 1);
	assert_int_equal(netdev.active, 7);
}

static void
put_bit(struct nlmsghdr *request, const uint32_t *index, const char *name, bool value)
{
	struct nlattr *bit = mnl_attr_nest_start(request, ETHTOOL_A_BITSET_BITS_BIT);

	if (index != NULL)
		mnl_attr_put_u32(request, ETHTOOL_A_BITSET_BIT_INDEX, *index);
	if (name != NULL)
		mnl_attr_put_strz(request, ETHTOOL_A_BITSET_BIT_NAME, name);
	if (value)
		mnl_attr_put(request, ETHTOOL_A_BITSET_BIT_VALUE, 0, NULL);
	mnl_attr_nest_end(request, bit);
}

static struct nlmsghdr *
set_bit(const uint32_t *index, const char *name, bool value)
{
	struct nlmsghdr *request = set_features(0);
	struct nlattr *nest = mnl_attr_nest_start(request, ETHTOOL_A_FEATURES_WANTED);
	struct nlattr *bits = mnl_attr_nest_start(request, ETHTOOL_A_BITSET_BITS);

	put_bit(request, index, name, value);
	mnl_attr_nest_end(request, bits);
	mnl_attr_nest_end(request, nest);
	return request;
}

static void
test_one_by_one(void **state)
{
	const char *second = (const char *)names->data + ETH_GSTRING_LEN;
	const uint32_t one = 1, two = 2, eight = 8, many = names->len;

	(void)state;
	ethnl_rig_reply(set_bit(NULL, second, true), ETHTOOL_MSG_FEATURES_SET_REPLY);
	assert_int_equal(netdev.active, 2);
	ethnl_rig_reply(set_bit(&two, NULL, true), ETHTOOL_MSG_FEATURES_SET_REPLY);
	assert_int_equal(netdev.active, 6);
	ethnl_rig_reply(set_bit(&one, second, false), ETHTOOL_MSG_FEATURES_SET_REPLY);
	assert_int_equal(netdev.active, 4);
	assert_string_equal(ethnl_rig_error(set_bit(&two, second, true), -EINVAL),
		"bit index and name mismatch");
	assert_string_equal(
		ethnl_rig_error(set_bit(&many, NULL, true), -EOPNOTSUPP), "bit index too high");
	assert_string_equal(ethnl_rig_error(set_bit(NULL, "no-such-feature", true), -EOPNOTSUPP),
		"bit name not found");
	assert_string_equal(
		ethnl_rig_error(
			set_bit(NULL, "a-name-that-is-longer-than-the-names-of-features", true),
			-EOPNOTSUPP),
		"bit name not found");
	assert_string_equal(ethnl_rig_error(set_bit(NULL, NULL, true), -EINVAL),
		"neither bit index nor name specified");
	assert_string_equal(ethnl_rig_error(set_bit(&eight, NULL, true), -EINVAL),
		"attempt to change non-ethtool features");
	assert_int_equal(netdev.active, 4);
}

/** A list is all that is wanted: also of what cannot be changed. */
static void
test_a_list(void **state)
{
	struct nlmsghdr *request = set_features(0);
	struct nlattr *nest = mnl_attr_nest_start(request, ETHTOOL_A_FEATURES_WANTED);
	struct nlattr *bits;
	const uint32_t one = 1;

	(void)state;
	mnl_attr_put(request, ETHTOOL_A_BITSET_NOMASK, 0, NULL);
	bits = mnl_attr_nest_start(request, ETHTOOL_A_BITSET_BITS);
	put_bit(request, &one, NULL, false);
	mnl_attr_nest_end(request, bits);
	mnl_attr_nest_end(request, nest);
	assert_string_equal(
		ethnl_rig_error(request, -EINVAL), "attempt to change non-ethtool features");
}

static void
test_a_change_that_fails(void **state)
{
	const uint32_t one = 1;

	(void)state;
	netdev.error = -ENOMEM;
	assert_string_equal(ethnl_rig_error(set_bit(&one, NULL, true), -ENOMEM), "");
	assert_int_equal(netdev.nb_sets, 1);
	assert_string_equal(ethnl_rig_error(set_features(0), -EINVAL), "");
}

/** What stands in the set of a request; absent: no such attribute. */
struct given {
	int size, value_bytes, mask_bytes; /* -1: absent */
	bool is_list, has_bits;
	int error;
	const char *why;
};

static struct nlmsghdr *
set_given(const struct given *given)
{
	static const uint8_t ones[4096] = { [0 ... 4095] = 0xff };
	struct nlmsghdr *request = set_features(0);
	struct nlattr *nest = mnl_attr_nest_start(request, ETHTOOL_A_FEATURES_WANTED);

	if (given->is_list)
		mnl_attr_put(request, ETHTOOL_A_BITSET_NOMASK, 0, NULL);
	if (given->size >= 0)
		mnl_attr_put_u32(request, ETHTOOL_A_BITSET_SIZE, (uint32_t)given->size);
	if (given->has_bits)
		mnl_attr_nest_end(request, mnl_attr_nest_start(request, ETHTOOL_A_BITSET_BITS));
	if (given->value_bytes >= 0)
		mnl_attr_put(request, ETHTOOL_A_BITSET_VALUE, (size_t)given->value_bytes, ones);
	if (given->mask_bytes >= 0)
		mnl_attr_put(request, ETHTOOL_A_BITSET_MASK, (size_t)given->mask_bytes, ones);
	mnl_attr_nest_end(request, nest);
	return request;
}

static void
test_damaged_sets(void **state)
{
	static const struct given cases[] = {
		{ -1, 4, 4, false, false, -EINVAL, "missing size in compact bitset" },
		{ 32, -1, 4, false, false, -EINVAL, "missing value in compact bitset" },
		{ 32, 4, -1, false, false, -EINVAL, "missing mask in compact nonlist bitset" },
		{ 32, 4, 4, true, false, -EINVAL, "mask not allowed in list bitset" },
		{ 32, 3, 4, false, false, -EINVAL, "bitset value length does not match size" },
		{ 33, 4, 8, false, false, -EINVAL, "bitset value length does not match size" },
		{ 32, 4, 8, false, false, -EINVAL, "bitset mask length does not match size" },
		{ 0, 0, 4, false, false, -EINVAL, "bitset mask length does not match size" },
		{ 512, 64, 64, false, false, -EINVAL,
			"cannot modify bits past kernel bitset size" },
		{ 512, 64, -1, true, false, -EINVAL, "cannot modify bits past kernel bitset size" },
		{ 32768, 0, 0, false, false, -ERANGE, "integer out of range" },
		{ 0x7fffffff, 0, 0, false, false, -ERANGE, "integer out of range" },
		{ 32, 4, -1, false, true, -EINVAL, "value only allowed in compact bitset" },
		{ 32, -1, 4, false, true, -EINVAL, "mask only allowed in compact bitset" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(
			ethnl_rig_error(set_given(&cases[i]), cases[i].error), cases[i].why);
	assert_int_equal(netdev.nb_sets, 0);
	/* None, and no more than none. */
	ethnl_rig_reply(set_given(&(const struct given){ 0, 0, 0, false, false, 0, NULL }),
		ETHTOOL_MSG_FEATURES_SET_REPLY);
	ethnl_rig_reply(set_given(&(const struct given){ -1, -1, -1, false, true, 0, NULL }),
		ETHTOOL_MSG_FEATURES_SET_REPLY);
	assert_int_equal(netdev.nb_sets, 0);
}

/** An attribute in a bit, in its set, or beside it, that may not be there. */
static void
test_damaged_nests(void **state)
{
	static const struct {
		unsigned int depth;
		uint16_t type, length;
		int error;
		const char *why;
	} cases[] = {
		{ 0, ETHTOOL_A_FEATURES_ACTIVE, 0, -EINVAL, "Unknown attribute type" },
		{ 0, ETHTOOL_A_FEATURES_HW, 0, -EINVAL, "Unsupported attribute" },
		{ 0, ETHTOOL_A_FEATURES_WANTED, 0, -EINVAL, "NLA_F_NESTED is missing" },
		{ 1, ETHTOOL_A_BITSET_MASK + 1, 0, -EINVAL, "Unknown attribute type" },
		{ 1, ETHTOOL_A_BITSET_NOMASK, 1, -ERANGE, "Attribute failed policy validation" },
		{ 1, ETHTOOL_A_BITSET_SIZE, 2, -EINVAL, "invalid attribute length" },
		{ 1, ETHTOOL_A_BITSET_BITS, 0, -EINVAL, "NLA_F_NESTED is missing" },
		{ 1, ETHTOOL_A_BITSET_VALUE | NLA_F_NESTED, 0, -EINVAL,
			"NLA_F_NESTED not expected" },
		{ 2, ETHTOOL_A_BITSET_BITS_BIT + 1, 0, -EINVAL,
			"only ETHTOOL_A_BITSET_BITS_BIT allowed in ETHTOOL_A_BITSET_BITS" },
		{ 2, ETHTOOL_A_BITSET_BITS_BIT, 0, -EINVAL, "NLA_F_NESTED is missing" },
		{ 3, ETHTOOL_A_BITSET_BIT_NAME, 0, -EINVAL, "Attribute failed policy validation" },
		{ 3, ETHTOOL_A_BITSET_BIT_NAME, 4, -EINVAL, "Attribute failed policy validation" },
		{ 3, ETHTOOL_A_BITSET_BIT_INDEX, 1, -EINVAL, "invalid attribute length" },
		{ 3, ETHTOOL_A_BITSET_BIT_VALUE, 4, -ERANGE, "Attribute failed policy validation" },
		{ 3, ETHTOOL_A_BITSET_BIT_VALUE + 1, 0, -EINVAL, "Unknown attribute type" },
	};
	static const uint16_t nests[] = { ETHTOOL_A_FEATURES_WANTED, ETHTOOL_A_BITSET_BITS,
		ETHTOOL_A_BITSET_BITS_BIT };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct nlmsghdr *request = set_features(0);
		struct nlattr *nest[3];

		for (unsigned int depth = 0; depth < cases[i].depth; depth++)
			nest[depth] = mnl_attr_nest_start(request, nests[depth]);
		mnl_attr_put(request, cases[i].type, cases[i].length, "abcd");
		for (unsigned int depth = cases[i].depth; depth-- > 0;)
			mnl_attr_nest_end(request, nest[depth]);
		assert_string_equal(ethnl_rig_error(request, cases[i].error), cases[i].why);
	}
	assert_int_equal(netdev.nb_sets, 0);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_features_as_words),
		TEST(test_features_by_name),
		TEST(test_changes_are_told),
		TEST(test_one_by_one),
		TEST(test_a_list),
		TEST(test_a_change_that_fails),
		TEST(test_damaged_sets),
		TEST(test_damaged_nests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
