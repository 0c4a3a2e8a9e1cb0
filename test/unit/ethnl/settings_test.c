/* SPDX-License-Identifier: BSD-3-Clause */
/* The family "ethtool": pauses, the module. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <string.h>

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

/** They are told where they are asked for; of the pauses of a softhca there are none. */
static void
test_counters_of_pauses(void **state)
{
	const struct nlmsghdr *reply = ethnl_rig_reply(
		ethnl_rig_about(ETHTOOL_MSG_PAUSE_GET, ETHTOOL_A_PAUSE_HEADER, ETHTOOL_FLAG_STATS),
		ETHTOOL_MSG_PAUSE_GET_REPLY);
	const struct nlattr *attr, *stats = ethnl_rig_attr(reply, ETHTOOL_A_PAUSE_STATS);
	unsigned int nb = 0;

	(void)state;
	assert_non_null(stats);
	assert_true((stats->nla_type & NLA_F_NESTED) != 0);
	mnl_attr_for_each_nested(attr, stats)
	{
		assert_in_range(mnl_attr_get_type(attr), ETHTOOL_A_PAUSE_STAT_TX_FRAMES,
			ETHTOOL_A_PAUSE_STAT_RX_FRAMES);
		assert_int_equal(mnl_attr_get_u64(attr), 0);
		nb++;
	}
	assert_int_equal(nb, 2);
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

/** Part of the module's memory. */
struct part {
	uint8_t page;
	uint32_t offset, length;
	uint8_t address;
};

static struct nlmsghdr *
get_part(const struct part *part)
{
	struct nlmsghdr *request =
		ethnl_rig_about(ETHTOOL_MSG_MODULE_EEPROM_GET, ETHTOOL_A_MODULE_EEPROM_HEADER, 0);

	mnl_attr_put_u32(request, ETHTOOL_A_MODULE_EEPROM_LENGTH, part->length);
	mnl_attr_put_u32(request, ETHTOOL_A_MODULE_EEPROM_OFFSET, part->offset);
	mnl_attr_put_u8(request, ETHTOOL_A_MODULE_EEPROM_PAGE, part->page);
	mnl_attr_put_u8(request, ETHTOOL_A_MODULE_EEPROM_BANK, 0);
	mnl_attr_put_u8(request, ETHTOOL_A_MODULE_EEPROM_I2C_ADDRESS, part->address);
	return request;
}

/** All of it, page by page, is what the ioctl has in one piece. */
static void
test_the_module(void **state)
{
	static union {
		struct ethtool_eeprom head;
		uint8_t room[sizeof(struct ethtool_eeprom) + ETH_MODULE_SFF_8636_MAX_LEN];
	} whole = { .head = { ETHTOOL_GMODULEEEPROM, 0, 0, ETH_MODULE_SFF_8636_MAX_LEN } };
	uint8_t pieces[ETH_MODULE_SFF_8636_MAX_LEN];

	(void)state;
	for (unsigned int i = 0; i < sizeof(pieces) / 128; i++) {
		const struct part part = { (uint8_t)(i > 1 ? i - 1 : 0), i != 0 ? 128 : 0, 128,
			0x50 };
		const struct nlattr *bytes = ethnl_rig_attr(
			ethnl_rig_reply(get_part(&part), ETHTOOL_MSG_MODULE_EEPROM_GET_REPLY),
			ETHTOOL_A_MODULE_EEPROM_DATA);

		assert_int_equal(mnl_attr_get_payload_len(bytes), 128);
		memcpy(pieces + 128u * i, mnl_attr_get_payload(bytes), 128);
	}
	assert_int_equal(ethnl_rig.ethnl.ask(&ethnl_rig, NETDEV, &whole), 0);
	assert_memory_equal(pieces, whole.room + sizeof(whole.head), sizeof(pieces));
	/* Vendor's name, from byte 148 on. */
	assert_memory_equal(
		mnl_attr_get_payload(ethnl_rig_attr(
			ethnl_rig_reply(get_part(&(const struct part){ 0, 148, 7, 0x50 }),
				ETHTOOL_MSG_MODULE_EEPROM_GET_REPLY),
			ETHTOOL_A_MODULE_EEPROM_DATA)),
		"softhca", 7);
}

static void
test_parts_that_are_not_there(void **state)
{
	static const struct {
		struct part part;
		int error;
		const char *why;
	} cases[] = {
		{ { 0, 256, 1, 0x50 }, -ERANGE, "integer out of range" },
		{ { 0, 0, 0, 0x50 }, -ERANGE, "integer out of range" },
		{ { 0, 0, 129, 0x50 }, -ERANGE, "integer out of range" },
		{ { 0, UINT32_MAX, 1, 0x50 }, -ERANGE, "integer out of range" },
		{ { 0, 0, 1, 0x80 }, -ERANGE, "integer out of range" },
		{ { 1, 127, 1, 0x50 }, -EINVAL,
			"reading from lower half page is allowed for page 0 only" },
		{ { 0, 127, 2, 0x50 }, -EINVAL, "reading cross half page boundary is illegal" },
		{ { 3, 129, 128, 0x50 }, -EINVAL, "reading cross page boundary is illegal" },
		{ { 4, 128, 1, 0x50 }, -EINVAL, "" },
		{ { 255, 255, 1, 0x50 }, -EINVAL, "" },
		{ { 0, 0, 1, 0x51 }, -EINVAL, "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(
			ethnl_rig_error(get_part(&cases[i].part), cases[i].error), cases[i].why);
	assert_string_equal(ethnl_rig_error(ethnl_rig_about(ETHTOOL_MSG_MODULE_EEPROM_GET,
						    ETHTOOL_A_MODULE_EEPROM_HEADER, 0),
				    -EINVAL),
		"");
}

/** A virtual function does not see it. */
static void
test_no_module(void **state)
{
	(void)state;
	assert_string_equal(
		ethnl_rig_error(get_part(&(const struct part){ 0, 0, 128, 0x50 }), -EIO), "");
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, ethnl_rig_setup, ethnl_rig_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_pauses),
		TEST(test_counters_of_pauses),
		TEST(test_the_module),
		TEST(test_parts_that_are_not_there),
		cmocka_unit_test_setup_teardown(
			test_no_module, ethnl_rig_setup_function, ethnl_rig_teardown),
		cmocka_unit_test_setup_teardown(
			test_pauses_of_a_function, ethnl_rig_setup_function, ethnl_rig_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
