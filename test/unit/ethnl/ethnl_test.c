/* SPDX-License-Identifier: BSD-3-Clause */
/* The family "ethtool": whose a message is, what is refused, damaged messages; channels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <string.h>

#include "ethnl_rig.h"
#include "nldev/owner.h"

static struct nlmsghdr *
get_channels(void)
{
	return ethnl_rig_about(ETHTOOL_MSG_CHANNELS_GET, ETHTOOL_A_CHANNELS_HEADER, 0);
}

static struct nlmsghdr *
set_channels(void)
{
	return ethnl_rig_about(ETHTOOL_MSG_CHANNELS_SET, ETHTOOL_A_CHANNELS_HEADER, 0);
}

static uint32_t
count_channels(void)
{
	const struct nlmsghdr *reply =
		ethnl_rig_reply(get_channels(), ETHTOOL_MSG_CHANNELS_GET_REPLY);

	return mnl_attr_get_u32(ethnl_rig_attr(reply, ETHTOOL_A_CHANNELS_COMBINED_COUNT));
}

static void
test_channels_are_told(void **state)
{
	const struct nlmsghdr *reply =
		ethnl_rig_reply(get_channels(), ETHTOOL_MSG_CHANNELS_GET_REPLY);
	const struct nlattr *header = ethnl_rig_attr(reply, ETHTOOL_A_CHANNELS_HEADER);

	(void)state;
	assert_true((header->nla_type & NLA_F_NESTED) != 0);
	assert_string_equal(
		mnl_attr_get_str(ethnl_rig_nested(header, ETHTOOL_A_HEADER_DEV_NAME)), NETDEV);
	assert_int_equal(mnl_attr_get_u32(ethnl_rig_nested(header, ETHTOOL_A_HEADER_DEV_INDEX)), 1);
	assert_int_equal(
		mnl_attr_get_u32(ethnl_rig_attr(reply, ETHTOOL_A_CHANNELS_COMBINED_MAX)), 8);
	assert_int_equal(
		mnl_attr_get_u32(ethnl_rig_attr(reply, ETHTOOL_A_CHANNELS_COMBINED_COUNT)), 8);
	assert_null(ethnl_rig_attr(reply, ETHTOOL_A_CHANNELS_RX_MAX));
	assert_null(ethnl_rig_attr(reply, ETHTOOL_A_CHANNELS_OTHER_COUNT));
}

static void
test_channels_are_set(void **state)
{
	struct nlmsghdr *request = set_channels();

	(void)state;
	mnl_attr_put_u32(request, ETHTOOL_A_CHANNELS_COMBINED_COUNT, 3);
	assert_int_equal(ethnl_rig_ask(request), 0);
	assert_int_equal(ethnl_rig.nb, 1);
	assert_int_equal(ethnl_rig_answer(0)->nlmsg_type, NLMSG_ERROR);
	assert_int_equal(count_channels(), 3);
	/* What changes nothing succeeds; without NLM_F_ACK success says nothing. */
	request = set_channels();
	request->nlmsg_flags &= (uint16_t)~NLM_F_ACK;
	mnl_attr_put_u32(request, ETHTOOL_A_CHANNELS_RX_COUNT, 0);
	assert_int_equal(ethnl_rig_ask(request), 0);
	assert_int_equal(ethnl_rig.nb, 0);
	assert_int_equal(count_channels(), 3);
}

static void
test_channels_that_cannot_be(void **state)
{
	static const struct {
		uint16_t attr;
		uint32_t count;
		const char *why;
	} cases[] = {
		{ ETHTOOL_A_CHANNELS_COMBINED_COUNT, 9, "requested channel count exceeds maximum" },
		{ ETHTOOL_A_CHANNELS_COMBINED_COUNT, UINT32_MAX,
			"requested channel count exceeds maximum" },
		{ ETHTOOL_A_CHANNELS_RX_COUNT, 1, "requested channel count exceeds maximum" },
		{ ETHTOOL_A_CHANNELS_TX_COUNT, 1, "requested channel count exceeds maximum" },
		{ ETHTOOL_A_CHANNELS_OTHER_COUNT, 1, "requested channel count exceeds maximum" },
		{ ETHTOOL_A_CHANNELS_COMBINED_COUNT, 0,
			"requested channel counts would result in no RX or TX channel being configured" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct nlmsghdr *request = set_channels();

		mnl_attr_put_u32(request, cases[i].attr, cases[i].count);
		assert_string_equal(ethnl_rig_error(request, -EINVAL), cases[i].why);
		assert_int_equal(count_channels(), 8);
	}
}

/** An error points at the attribute; how much it carries is the socket's to say. */
static void
test_forms_of_errors(void **state)
{
	struct nlmsghdr *request = set_channels();
	const size_t offset = request->nlmsg_len;
	const struct nlmsghdr *message;
	const struct nlattr *attr;

	(void)state;
	mnl_attr_put_u32(request, ETHTOOL_A_CHANNELS_COMBINED_COUNT, 9);
	ethnl_rig.ethnl.caps_acks = true;
	assert_string_equal(
		ethnl_rig_error(request, -EINVAL), "requested channel count exceeds maximum");
	message = ethnl_rig_answer(0);
	assert_int_equal(message->nlmsg_flags, NLM_F_CAPPED | NLM_F_ACK_TLVS);
	attr = mnl_nlmsg_get_payload_offset(message, sizeof(struct nlmsgerr));
	attr = mnl_attr_next(attr);
	assert_int_equal(mnl_attr_get_type(attr), NLMSGERR_ATTR_OFFS);
	assert_int_equal(mnl_attr_get_u32(attr), offset);
	ethnl_rig.ethnl.has_extack = false;
	assert_string_equal(ethnl_rig_error(request, -EINVAL), "");
	assert_int_equal(ethnl_rig_answer(0)->nlmsg_flags, NLM_F_CAPPED);
	ethnl_rig.ethnl.caps_acks = false;
	assert_string_equal(ethnl_rig_error(request, -EINVAL), "");
	assert_int_equal(ethnl_rig_answer(0)->nlmsg_flags, 0);
}

static void
assert_kernels(const struct nlmsghdr *request)
{
	assert_int_equal(ethnl_rig_ask(request), SHCA_NLDEV_KERNEL);
	assert_int_equal(ethnl_rig.nb, 0);
}

static struct nlmsghdr *
named(const char *name, uint32_t index, uint32_t flags)
{
	struct nlmsghdr *request = ethnl_rig_request(ETHTOOL_MSG_CHANNELS_GET);
	struct nlattr *nest = mnl_attr_nest_start(request, ETHTOOL_A_CHANNELS_HEADER);

	if (name != NULL)
		mnl_attr_put_strz(request, ETHTOOL_A_HEADER_DEV_NAME, name);
	if (index != 0)
		mnl_attr_put_u32(request, ETHTOOL_A_HEADER_DEV_INDEX, index);
	if (flags != 0)
		mnl_attr_put_u32(request, ETHTOOL_A_HEADER_FLAGS, flags);
	mnl_attr_nest_end(request, nest);
	return request;
}

/** A netdev has a name and a number; what names none, or another, is for the kernel. */
static void
test_names(void **state)
{
	struct nlmsghdr *request;

	(void)state;
	ethnl_rig_reply(named(NULL, 1, 0), ETHTOOL_MSG_CHANNELS_GET_REPLY);
	ethnl_rig_reply(named(NETDEV, 1, ETHTOOL_FLAG_COMPACT_BITSETS | ETHTOOL_FLAG_OMIT_REPLY),
		ETHTOOL_MSG_CHANNELS_GET_REPLY);
	assert_kernels(named(NETDEV, 1, ETHTOOL_FLAG_STATS));
	assert_kernels(named("no-such", 0, 0));
	assert_kernels(named("a-name-that-is-too-long-for-a-netdev", 0, 0));
	assert_kernels(named("", 0, 0));
	assert_kernels(named(NULL, 0, 0));
	assert_kernels(named("eth7", 1, 0));
	assert_kernels(named(NULL, 0x7fffffff, 0));
	assert_kernels(named(NETDEV, 0, 1u << 31));
	assert_kernels(ethnl_rig_request(ETHTOOL_MSG_CHANNELS_GET));
	/* The header is no nest; its attributes have other lengths; a name that does not end. */
	request = get_channels();
	((struct nlattr *)mnl_nlmsg_get_payload_offset(request, GENL_HDRLEN))->nla_type &=
		(uint16_t)~NLA_F_NESTED;
	assert_kernels(request);
	for (uint16_t length = 0; length < 8; length++) {
		struct nlattr *nest;

		request = ethnl_rig_request(ETHTOOL_MSG_CHANNELS_GET);
		nest = mnl_attr_nest_start(request, ETHTOOL_A_CHANNELS_HEADER);
		mnl_attr_put(request, ETHTOOL_A_HEADER_DEV_NAME, 2, "lo");
		mnl_attr_nest_end(request, nest);
		assert_kernels(request);
		request = ethnl_rig_request(ETHTOOL_MSG_CHANNELS_GET);
		nest = mnl_attr_nest_start(request, ETHTOOL_A_CHANNELS_HEADER);
		mnl_attr_put(request, ETHTOOL_A_HEADER_DEV_INDEX, length, "\1\0\0\0\0\0\0");
		mnl_attr_nest_end(request, nest);
		if (length != sizeof(uint32_t))
			assert_kernels(request);
	}
}

static void
test_what_is_not_ours(void **state)
{
	struct nlmsghdr *request = get_channels();

	(void)state;
	request->nlmsg_type = FAMILY + 1;
	assert_kernels(request);
	request = get_channels();
	request->nlmsg_flags &= (uint16_t)~NLM_F_REQUEST;
	assert_kernels(request);
	request = set_channels();
	request->nlmsg_flags |= NLM_F_DUMP;
	assert_kernels(request);
	for (unsigned int command = 0; command < 256; command++)
		if (command < ETHTOOL_MSG_STRSET_GET || command > ETHTOOL_MSG_USER_MAX ||
			command == ETHTOOL_MSG_LINKSTATE_GET || command == ETHTOOL_MSG_RINGS_GET)
			assert_kernels(ethnl_rig_about((uint8_t)command, 1, 0));
	ethnl_rig.ethnl.is_admin = false;
	ethnl_rig_reply(get_channels(), ETHTOOL_MSG_CHANNELS_GET_REPLY);
	request = set_channels();
	mnl_attr_put_u32(request, ETHTOOL_A_CHANNELS_COMBINED_COUNT, 3);
	assert_kernels(request);
	assert_int_equal(count_channels(), 8);
}

static int
answer_kernel(void *command)
{
	(void)command;
	return SHCA_NLDEV_KERNEL;
}

static void
test_a_device_that_nobody_has_open(void **state)
{
	(void)state;
	ethnl_rig.ask = answer_kernel;
	assert_kernels(get_channels());
}

static void
test_damaged_attributes(void **state)
{
	static const struct {
		uint16_t type, length;
		const char *why;
	} cases[] = {
		{ 0, 4, "Unknown attribute type" },
		{ ETHTOOL_A_CHANNELS_COMBINED_COUNT + 1, 4, "Unknown attribute type" },
		{ 0x3fff, 0, "Unknown attribute type" },
		{ ETHTOOL_A_CHANNELS_COMBINED_MAX, 4, "Unsupported attribute" },
		{ ETHTOOL_A_CHANNELS_COMBINED_COUNT, 0, "invalid attribute length" },
		{ ETHTOOL_A_CHANNELS_COMBINED_COUNT, 3, "invalid attribute length" },
		{ ETHTOOL_A_CHANNELS_COMBINED_COUNT, 8, "invalid attribute length" },
		{ ETHTOOL_A_CHANNELS_COMBINED_COUNT | NLA_F_NESTED, 4,
			"NLA_F_NESTED not expected" },
		{ ETHTOOL_A_CHANNELS_HEADER, 4, "NLA_F_NESTED is missing" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct nlmsghdr *request = set_channels();

		mnl_attr_put(request, cases[i].type, cases[i].length, "\2\0\0\0\0\0\0");
		assert_string_equal(ethnl_rig_error(request, -EINVAL), cases[i].why);
	}
	assert_int_equal(count_channels(), 8);
}

/** Attributes that end beyond the message, or before themselves; messages that end anywhere. */
static void
test_lengths_that_lie(void **state)
{
	static const uint16_t lengths[] = { 0, 1, 3, 9, 0x7fff, 0xffff };
	struct nlmsghdr *request;
	size_t whole;

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct nlattr *attr;

		request = set_channels();
		attr = mnl_nlmsg_get_payload_tail(request);
		mnl_attr_put_u32(request, ETHTOOL_A_CHANNELS_COMBINED_COUNT, 2);
		attr->nla_len = lengths[i];
		assert_string_equal(ethnl_rig_error(request, -EINVAL),
			"bytes leftover after parsing attributes");
	}
	request = set_channels();
	mnl_attr_put_u32(request, ETHTOOL_A_CHANNELS_COMBINED_COUNT, 2);
	whole = request->nlmsg_len;
	for (size_t length = 0; length < whole; length++) {
		request->nlmsg_len = (uint32_t)length;
		ethnl_rig.length = ethnl_rig.nb = 0;
		(void)shca_ethnl_answer(&ethnl_rig.ethnl, request, length);
		/* What says that it is longer than it is. */
		request->nlmsg_len = (uint32_t)whole;
		assert_int_equal(
			shca_ethnl_answer(&ethnl_rig.ethnl, request, length), SHCA_NLDEV_KERNEL);
	}
	assert_int_equal(count_channels(), 8);
}

static void
test_a_full_socket(void **state)
{
	(void)state;
	ethnl_rig.send_error = -ENOBUFS;
	assert_int_equal(ethnl_rig_ask(get_channels()), -ENOBUFS);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, ethnl_rig_setup, ethnl_rig_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_channels_are_told),
		TEST(test_channels_are_set),
		TEST(test_channels_that_cannot_be),
		TEST(test_forms_of_errors),
		TEST(test_names),
		TEST(test_what_is_not_ours),
		TEST(test_a_device_that_nobody_has_open),
		TEST(test_damaged_attributes),
		TEST(test_lengths_that_lie),
		TEST(test_a_full_socket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
