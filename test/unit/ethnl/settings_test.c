/* SPDX-License-Identifier: BSD-3-Clause */
/* The family "ethtool": pauses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/ethtool_netlink.h>

#include "ethnl_rig.h"

static struct nlmsghdr *
set_pause(uint16_t attr, uint8_t value)
{
	struct nlmsghdr *request =
		ethnl_rig_about(ETHTOOL_MSG_PAUSE_SET, ETHTOOL_A_PAUSE_HEADER, 0);

	mnl_attr_put_u8(request, attr, value);
	return request;
}

static void
assert_pause(uint8_t rx, uint8_t tx)
{
	const struct nlmsghdr *reply =
		ethnl_rig_reply(ethnl_rig_about(ETHTOOL_MSG_PAUSE_GET, ETHTOOL_A_PAUSE_HEADER, 0),
			ETHTOOL_MSG_PAUSE_GET_REPLY);

	assert_int_equal(mnl_attr_get_u8(ethnl_rig_attr(reply, ETHTOOL_A_PAUSE_AUTONEG)), 0);
	assert_int_equal(mnl_attr_get_u8(ethnl_rig_attr(reply, ETHTOOL_A_PAUSE_RX)), rx);
	assert_int_equal(mnl_attr_get_u8(ethnl_rig_attr(reply, ETHTOOL_A_PAUSE_TX)), tx);
	assert_null(ethnl_rig_attr(reply, ETHTOOL_A_PAUSE_STATS));
}

static void
test_pauses(void **state)
{
	(void)state;
	assert_pause(1, 1);
	assert_int_equal(ethnl_rig_ask(set_pause(ETHTOOL_A_PAUSE_RX, 0)), 0);
	assert_int_equal(ethnl_rig.nb, 1);
	assert_pause(0, 1);
	assert_string_equal(ethnl_rig_error(set_pause(ETHTOOL_A_PAUSE_AUTONEG, 1), -EINVAL), "");
	assert_pause(0, 1);
	/* Any value is a yes. */
	assert_int_equal(ethnl_rig_ask(set_pause(ETHTOOL_A_PAUSE_RX, 7)), 0);
	assert_pause(1, 1);
	assert_string_equal(ethnl_rig_error(set_pause(ETHTOOL_A_PAUSE_STATS, 1), -EINVAL),
		"Unknown attribute type");
}

/** Counters are asked for, and there are none. */
static void
test_counters_of_pauses(void **state)
{
	const struct nlmsghdr *reply = ethnl_rig_reply(
		ethnl_rig_about(ETHTOOL_MSG_PAUSE_GET, ETHTOOL_A_PAUSE_HEADER, ETHTOOL_FLAG_STATS),
		ETHTOOL_MSG_PAUSE_GET_REPLY);
	const struct nlattr *stats = ethnl_rig_attr(reply, ETHTOOL_A_PAUSE_STATS);

	(void)state;
	assert_non_null(stats);
	assert_true((stats->nla_type & NLA_F_NESTED) != 0);
	assert_int_equal(mnl_attr_get_payload_len(stats), 0);
}

static void
test_pauses_of_a_function(void **state)
{
	(void)state;
	assert_pause(1, 1);
	assert_string_equal(ethnl_rig_error(set_pause(ETHTOOL_A_PAUSE_RX, 0), -EOPNOTSUPP), "");
	/* What changes nothing is not tried. */
	assert_int_equal(ethnl_rig_ask(set_pause(ETHTOOL_A_PAUSE_RX, 1)), 0);
	assert_pause(1, 1);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, ethnl_rig_setup, ethnl_rig_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_pauses),
		TEST(test_counters_of_pauses),
		cmocka_unit_test_setup_teardown(
			test_pauses_of_a_function, ethnl_rig_setup_function, ethnl_rig_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
