/* SPDX-License-Identifier: BSD-3-Clause */
/* The family "ethtool": counters that standards name, and the names of the netdev's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <string.h>

#include "ethnl_rig.h"
#include "ethtool/statistics.h"
#include "nldev/owner.h"

/** Groups by a mask of bits, as words. */
static struct nlmsghdr *
get_groups(uint32_t size, uint32_t wanted)
{
	struct nlmsghdr *request =
		ethnl_rig_about(ETHTOOL_MSG_STATS_GET, ETHTOOL_A_STATS_HEADER, 0);
	struct nlattr *nest = mnl_attr_nest_start(request, ETHTOOL_A_STATS_GROUPS);

	mnl_attr_put(request, ETHTOOL_A_BITSET_NOMASK, 0, NULL);
	mnl_attr_put_u32(request, ETHTOOL_A_BITSET_SIZE, size);
	mnl_attr_put_u32(request, ETHTOOL_A_BITSET_VALUE, wanted);
	mnl_attr_nest_end(request, nest);
	return request;
}

static const struct nlattr *
next(const struct nlattr *attr, const void *end)
{
	return (const uint8_t *)mnl_attr_next(attr) < (const uint8_t *)end ? mnl_attr_next(attr)
									   : NULL;
}

/** @return how many counters a group has. */
static unsigned int
count(const struct nlattr *group)
{
	const void *end = (const uint8_t *)group + group->nla_len;
	unsigned int nb = 0;

	for (const struct nlattr *attr = mnl_attr_get_payload(group); attr != NULL;
		attr = next(attr, end))
		nb += mnl_attr_get_type(attr) == ETHTOOL_A_STATS_GRP_STAT;
	return nb;
}

/** Of the device all are there: each has a name that its list has. */
static void
test_groups(void **state)
{
	static const struct {
		uint32_t id, strings;
		unsigned int nb;
	} groups[] = {
		{ ETHTOOL_STATS_ETH_PHY, ETH_SS_STATS_ETH_PHY, 1 },
		{ ETHTOOL_STATS_ETH_MAC, ETH_SS_STATS_ETH_MAC, 8 },
		{ ETHTOOL_STATS_ETH_CTRL, ETH_SS_STATS_ETH_CTRL, 1 },
		{ ETHTOOL_STATS_RMON, ETH_SS_STATS_RMON, 2 },
	};
	/* One more than there are, as a newer kernel may have it. */
	const struct nlmsghdr *reply =
		ethnl_rig_reply(get_groups(5, 0x1f), ETHTOOL_MSG_STATS_GET_REPLY);
	const void *end = (const uint8_t *)reply + reply->nlmsg_len;
	const struct nlattr *group = ethnl_rig_attr(reply, ETHTOOL_A_STATS_GRP);

	(void)state;
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		assert_non_null(group);
		assert_int_equal(mnl_attr_get_u32(ethnl_rig_nested(group, ETHTOOL_A_STATS_GRP_ID)),
			groups[i].id);
		assert_int_equal(
			mnl_attr_get_u32(ethnl_rig_nested(group, ETHTOOL_A_STATS_GRP_SS_ID)),
			groups[i].strings);
		assert_int_equal(count(group), groups[i].nb);
		group = next(group, end);
	}
	assert_null(group);
	assert_string_equal(ethnl_rig_error(get_groups(4, 0), -EINVAL), "no stats requested");
	assert_string_equal(
		ethnl_rig_error(
			ethnl_rig_about(ETHTOOL_MSG_STATS_GET, ETHTOOL_A_STATS_HEADER, 0), -EINVAL),
		"no stats requested");
	/* Nothing that the device could know. */
	assert_int_equal(ethnl_rig_ask(get_groups(5, 0x10)), SHCA_NLDEV_KERNEL);
}

/** Two counters, of which one is in a group. */
static int
answer_two(void *command)
{
	struct ethtool_gstrings *names = command;
	struct ethtool_stats *values = command;

	switch (names->cmd) {
	case ETHTOOL_GSTRINGS:
		assert_int_equal(names->string_set, ETH_SS_STATS);
		names->len = 2;
		strcpy((char *)names->data, "rx_packets");
		strcpy((char *)names->data + ETH_GSTRING_LEN, "rx_packets_phy");
		return 0;
	case ETHTOOL_GSTATS:
		values->n_stats = 2;
		values->data[0] = 3;
		values->data[1] = UINT64_C(0x123456789a);
		return 0;
	default:
		fail();
		return -1;
	}
}

static void
test_values(void **state)
{
	const struct nlattr *group, *counter;

	(void)state;
	ethnl_rig.ask = answer_two;
	group = ethnl_rig_attr(ethnl_rig_reply(get_groups(4, 1u << ETHTOOL_STATS_ETH_MAC),
				       ETHTOOL_MSG_STATS_GET_REPLY),
		ETHTOOL_A_STATS_GRP);
	assert_int_equal(count(group), 1);
	counter = mnl_attr_get_payload(ethnl_rig_nested(group, ETHTOOL_A_STATS_GRP_STAT));
	assert_int_equal(mnl_attr_get_type(counter), ETHTOOL_A_STATS_ETH_MAC_5_RX_PKT);
	assert_true(mnl_attr_get_u64(counter) == UINT64_C(0x123456789a));
}

/** What the kernel says to a request for sets. */
static struct {
	int error;
	uint32_t sets[2];
	size_t padding; /* bytes of the second */
	unsigned int nb_asked;
} kernel;

static void
put_set(struct nlmsghdr *message, uint32_t number, size_t padding)
{
	static const uint8_t zeros[32768];
	struct nlattr *set = mnl_attr_nest_start(message, ETHTOOL_A_STRINGSETS_STRINGSET);

	mnl_attr_put_u32(message, ETHTOOL_A_STRINGSET_ID, number);
	if (padding != 0)
		mnl_attr_put(message, ETHTOOL_A_STRINGSET_STRINGS, padding, zeros);
	mnl_attr_nest_end(message, set);
}

static int
ask_kernel(void *arg, const struct nlmsghdr *request,
	int (*visit)(void *visit_arg, const struct nlmsghdr *message), void *visit_arg)
{
	static _Alignas(8) uint8_t bytes[40000];
	struct nlmsghdr *message = mnl_nlmsg_put_header(bytes);
	struct genlmsghdr *genl;
	struct nlmsgerr *ack;
	struct nlattr *list;
	int ret = 0;

	assert_ptr_equal(arg, &ethnl_rig);
	assert_true((request->nlmsg_flags & NLM_F_ACK) != 0);
	kernel.nb_asked++;
	if (kernel.error == 0) {
		message->nlmsg_type = FAMILY;
		genl = mnl_nlmsg_put_extra_header(message, sizeof(*genl));
		genl->cmd = ETHTOOL_MSG_STRSET_GET_REPLY;
		list = mnl_attr_nest_start(message, ETHTOOL_A_STRSET_STRINGSETS);
		for (unsigned int i = 0; i < 2; i++)
			put_set(message, kernel.sets[i], i == 1 ? kernel.padding : 0);
		mnl_attr_nest_end(message, list);
		ret = visit(visit_arg, message);
	}
	message = mnl_nlmsg_put_header(bytes);
	message->nlmsg_type = NLMSG_ERROR;
	ack = mnl_nlmsg_put_extra_header(message, sizeof(*ack));
	ack->error = kernel.error;
	return ret != 0 ? ret : visit(visit_arg, message);
}

static int
setup_kernel(void **state)
{
	ethnl_rig_setup(state);
	memset(&kernel, 0, sizeof(kernel));
	kernel.sets[0] = ETH_SS_FEATURES;
	kernel.sets[1] = ETH_SS_STATS;
	ethnl_rig.ethnl.ask_kernel = ask_kernel;
	return 0;
}

static struct nlmsghdr *
get_sets(uint32_t first, uint32_t second)
{
	struct nlmsghdr *request =
		ethnl_rig_about(ETHTOOL_MSG_STRSET_GET, ETHTOOL_A_STRSET_HEADER, 0);
	struct nlattr *list = mnl_attr_nest_start(request, ETHTOOL_A_STRSET_STRINGSETS);

	put_set(request, first, 0);
	put_set(request, second, 0);
	mnl_attr_nest_end(request, list);
	return request;
}

/** Behind the kernel's set, and in the place of what it has of that name. */
static void
test_names(void **state)
{
	const struct nlmsghdr *reply = ethnl_rig_reply(
		get_sets(ETH_SS_FEATURES, ETH_SS_STATS), ETHTOOL_MSG_STRSET_GET_REPLY);
	const struct nlattr *list = ethnl_rig_attr(reply, ETHTOOL_A_STRSET_STRINGSETS);
	const struct nlattr *set = mnl_attr_get_payload(list), *string;

	(void)state;
	assert_int_equal(
		mnl_attr_get_u32(ethnl_rig_nested(set, ETHTOOL_A_STRINGSET_ID)), ETH_SS_FEATURES);
	set = mnl_attr_next(set);
	assert_int_equal(
		mnl_attr_get_u32(ethnl_rig_nested(set, ETHTOOL_A_STRINGSET_ID)), ETH_SS_STATS);
	assert_ptr_equal(mnl_attr_next(set), (const uint8_t *)list + list->nla_len);
	assert_int_equal(mnl_attr_get_u32(ethnl_rig_nested(set, ETHTOOL_A_STRINGSET_COUNT)),
		shca_statistics_count());
	string = mnl_attr_get_payload(ethnl_rig_nested(set, ETHTOOL_A_STRINGSET_STRINGS));
	assert_int_equal(mnl_attr_get_u32(ethnl_rig_nested(string, ETHTOOL_A_STRING_INDEX)), 0);
	assert_string_equal(
		mnl_attr_get_str(ethnl_rig_nested(string, ETHTOOL_A_STRING_VALUE)), "rx_packets");
}

static void
test_counts_only(void **state)
{
	struct nlmsghdr *request =
		ethnl_rig_about(ETHTOOL_MSG_STRSET_GET, ETHTOOL_A_STRSET_HEADER, 0);
	const struct nlattr *list, *set;

	(void)state;
	mnl_attr_put(request, ETHTOOL_A_STRSET_COUNTS_ONLY, 0, NULL);
	list = ethnl_rig_attr(ethnl_rig_reply(request, ETHTOOL_MSG_STRSET_GET_REPLY),
		ETHTOOL_A_STRSET_STRINGSETS);
	set = mnl_attr_next(mnl_attr_get_payload(list));
	assert_non_null(ethnl_rig_nested(set, ETHTOOL_A_STRINGSET_COUNT));
	assert_null(ethnl_rig_nested(set, ETHTOOL_A_STRINGSET_STRINGS));
}

static void
test_sets_of_the_kernel(void **state)
{
	struct nlmsghdr *request;

	(void)state;
	assert_int_equal(
		ethnl_rig_ask(get_sets(ETH_SS_FEATURES, ETH_SS_RSS_HASH_FUNCS)), SHCA_NLDEV_KERNEL);
	assert_int_equal(kernel.nb_asked, 0);
	/* Without a netdev it is asked by all. */
	request = ethnl_rig_request(ETHTOOL_MSG_STRSET_GET);
	mnl_attr_nest_end(request, mnl_attr_nest_start(request, ETHTOOL_A_STRSET_HEADER));
	assert_int_equal(ethnl_rig_ask(request), SHCA_NLDEV_KERNEL);
	/* It refuses, or has more to say than there is room for. */
	kernel.error = -EINVAL;
	assert_int_equal(ethnl_rig_ask(get_sets(ETH_SS_FEATURES, ETH_SS_STATS)), SHCA_NLDEV_KERNEL);
	kernel.error = 0;
	kernel.padding = 30000;
	assert_int_equal(ethnl_rig_ask(get_sets(ETH_SS_FEATURES, ETH_SS_STATS)), SHCA_NLDEV_KERNEL);
	assert_int_equal(kernel.nb_asked, 2);
	assert_int_equal(ethnl_rig.nb, 0);
}

int
main(void)
{
#define TEST(name, setup) cmocka_unit_test_setup_teardown(name, setup, ethnl_rig_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_groups, ethnl_rig_setup),
		TEST(test_values, ethnl_rig_setup),
		TEST(test_names, setup_kernel),
		TEST(test_counts_only, setup_kernel),
		TEST(test_sets_of_the_kernel, setup_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
