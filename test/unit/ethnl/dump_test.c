/* SPDX-License-Identifier: BSD-3-Clause */
/* Questions about all netdevs: what the kernel says, with what the device says of its own. */
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

#define OTHER        0x7ffffff0u /* no netdev has this number */
#define COUNT_OTHER  5
#define COUNT_KERNEL 1 /* of our netdev, by the TAP */

/** What the kernel says. */
static struct {
	_Alignas(8) uint8_t bytes[32768];
	size_t length;
} kernel;

static struct nlmsghdr *
add(uint16_t type)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(kernel.bytes + kernel.length);

	message->nlmsg_type = type;
	message->nlmsg_flags = NLM_F_MULTI;
	message->nlmsg_seq = SEQ;
	message->nlmsg_pid = PORTID + 1;
	return message;
}

static void
end(const struct nlmsghdr *message)
{
	kernel.length += NLMSG_ALIGN(message->nlmsg_len);
}

static void
add_channels(uint32_t index, uint32_t count)
{
	struct nlmsghdr *message = add(FAMILY);
	struct genlmsghdr *genl = mnl_nlmsg_put_extra_header(message, sizeof(*genl));
	struct nlattr *nest;

	genl->cmd = ETHTOOL_MSG_CHANNELS_GET_REPLY;
	nest = mnl_attr_nest_start(message, ETHTOOL_A_CHANNELS_HEADER);
	mnl_attr_put_u32(message, ETHTOOL_A_HEADER_DEV_INDEX, index);
	mnl_attr_nest_end(message, nest);
	mnl_attr_put_u32(message, ETHTOOL_A_CHANNELS_COMBINED_COUNT, count);
	end(message);
}

static void
add_end(uint16_t type, int error)
{
	struct nlmsghdr *message = add(type);

	memcpy(mnl_nlmsg_put_extra_header(message, sizeof(error)), &error, sizeof(error));
	end(message);
}

static int
ask_kernel(void *arg, const struct nlmsghdr *request,
	int (*visit)(void *visit_arg, const struct nlmsghdr *message), void *visit_arg)
{
	const struct nlmsghdr *message = (const void *)kernel.bytes;
	int left = (int)kernel.length, ret = 0;

	assert_ptr_equal(arg, &ethnl_rig);
	assert_int_equal(request->nlmsg_seq, SEQ);
	for (; ret == 0 && mnl_nlmsg_ok(message, left); message = mnl_nlmsg_next(message, &left))
		ret = visit(visit_arg, message);
	return ret;
}

/** Three ports: without a netdev, with ours, with one that is gone. */
static bool
find(void *arg, unsigned int number, char netdev[static IF_NAMESIZE])
{
	static const char *const names[] = { "", NETDEV, "no-such" };

	assert_ptr_equal(arg, &ethnl_rig);
	if (number >= sizeof(names) / sizeof(names[0]))
		return false;
	strcpy(netdev, names[number]);
	return true;
}

static int
setup(void **state)
{
	ethnl_rig_setup(state);
	ethnl_rig.ethnl.ask_kernel = ask_kernel;
	ethnl_rig.ethnl.find = find;
	memset(&kernel, 0, sizeof(kernel));
	return 0;
}

static struct nlmsghdr *
get_all(uint8_t command)
{
	struct nlmsghdr *request = ethnl_rig_request(command);

	request->nlmsg_flags |= NLM_F_DUMP;
	mnl_attr_nest_end(request, mnl_attr_nest_start(request, ETHTOOL_A_CHANNELS_HEADER));
	return request;
}

/** @return how many channels message @p index tells of. */
static uint32_t
count_at(unsigned int index, uint32_t netdev)
{
	const struct nlmsghdr *message = ethnl_rig_answer(index);

	assert_non_null(message);
	assert_int_equal(message->nlmsg_type, FAMILY);
	assert_int_equal(message->nlmsg_flags, NLM_F_MULTI);
	assert_int_equal(mnl_attr_get_u32(ethnl_rig_nested(
				 ethnl_rig_attr(message, ETHTOOL_A_CHANNELS_HEADER),
				 ETHTOOL_A_HEADER_DEV_INDEX)),
		netdev);
	return mnl_attr_get_u32(ethnl_rig_attr(message, ETHTOOL_A_CHANNELS_COMBINED_COUNT));
}

static void
assert_end(unsigned int index, uint16_t type)
{
	const struct nlmsghdr *message = ethnl_rig_answer(index);

	assert_non_null(message);
	assert_int_equal(message->nlmsg_type, type);
	assert_null(ethnl_rig_answer(index + 1));
}

static void
test_in_the_place_of_the_tap(void **state)
{
	(void)state;
	add_channels(OTHER, COUNT_OTHER);
	add_channels(1, COUNT_KERNEL);
	add_channels(OTHER + 1, COUNT_OTHER + 1);
	add_end(NLMSG_DONE, 0);
	assert_int_equal(ethnl_rig_ask(get_all(ETHTOOL_MSG_CHANNELS_GET)), 0);
	assert_int_equal(ethnl_rig.nb, 1);
	assert_int_equal(count_at(0, OTHER), COUNT_OTHER);
	assert_int_equal(count_at(1, 1), 8);
	assert_int_equal(count_at(2, OTHER + 1), COUNT_OTHER + 1);
	assert_end(3, NLMSG_DONE);
}

static void
test_netdevs_that_the_kernel_leaves_out(void **state)
{
	const struct nlmsghdr *message;

	(void)state;
	add_end(NLMSG_DONE, 0);
	assert_int_equal(ethnl_rig_ask(get_all(ETHTOOL_MSG_PAUSE_GET)), 0);
	message = ethnl_rig_answer(0);
	assert_non_null(message);
	assert_int_equal(message->nlmsg_flags, NLM_F_MULTI);
	assert_int_equal(mnl_attr_get_u8(ethnl_rig_attr(message, ETHTOOL_A_PAUSE_RX)), 1);
	assert_end(1, NLMSG_DONE);
}

static int answer;

static int
answer_so(void *command)
{
	(void)command;
	return answer;
}

/** Where no process has the device open the TAP's answer stands; what the device refuses is left
 * out. */
static void
test_a_device_without_an_answer(void **state)
{
	(void)state;
	add_channels(1, COUNT_KERNEL);
	add_end(NLMSG_DONE, 0);
	ethnl_rig.ask = answer_so;
	answer = SHCA_NLDEV_KERNEL;
	assert_int_equal(ethnl_rig_ask(get_all(ETHTOOL_MSG_CHANNELS_GET)), 0);
	assert_int_equal(count_at(0, 1), COUNT_KERNEL);
	assert_end(1, NLMSG_DONE);
	assert_int_equal(ethnl_rig_ask(get_all(ETHTOOL_MSG_PAUSE_GET)), 0);
	answer = -EOPNOTSUPP;
	assert_int_equal(ethnl_rig_ask(get_all(ETHTOOL_MSG_CHANNELS_GET)), 0);
	assert_end(0, NLMSG_DONE);
}

static void
test_many(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 500; i++)
		add_channels(OTHER + i % 8, i);
	add_end(NLMSG_DONE, 0);
	assert_int_equal(ethnl_rig_ask(get_all(ETHTOOL_MSG_CHANNELS_GET)), 0);
	/* 500 of 40 bytes and ours; who reads a page at a time gets all of each. */
	assert_int_equal(ethnl_rig.nb, 6);
	for (unsigned int i = 0; i < 500; i++)
		assert_int_equal(count_at(i, OTHER + i % 8), i);
	assert_int_equal(count_at(500, 1), 8);
	assert_end(501, NLMSG_DONE);
	ethnl_rig.send_error = -ENOBUFS;
	assert_int_equal(ethnl_rig_ask(get_all(ETHTOOL_MSG_CHANNELS_GET)), -ENOBUFS);
}

/** What is no answer about a netdev passes; an error is all. */
static void
test_other_messages(void **state)
{
	struct nlmsghdr *message;
	struct nlattr *nest;

	(void)state;
	end(add(FAMILY));
	message = add(FAMILY);
	mnl_nlmsg_put_extra_header(message, sizeof(struct genlmsghdr));
	end(message);
	message = add(FAMILY);
	mnl_nlmsg_put_extra_header(message, sizeof(struct genlmsghdr));
	nest = mnl_attr_nest_start(message, ETHTOOL_A_CHANNELS_HEADER);
	mnl_attr_put_u8(message, ETHTOOL_A_HEADER_DEV_INDEX, 1);
	mnl_attr_nest_end(message, nest);
	end(message);
	add_end(NLMSG_ERROR, -EINVAL);
	assert_int_equal(ethnl_rig_ask(get_all(ETHTOOL_MSG_CHANNELS_GET)), 0);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(ethnl_rig_answer(i)->nlmsg_type, FAMILY);
	assert_end(3, NLMSG_ERROR);
}

static void
test_requests_that_the_kernel_answers(void **state)
{
	struct nlmsghdr *request = get_all(ETHTOOL_MSG_CHANNELS_GET);

	(void)state;
	add_end(NLMSG_DONE, 0);
	mnl_attr_put_u32(request, ETHTOOL_A_CHANNELS_COMBINED_COUNT, 1);
	assert_int_equal(ethnl_rig_ask(request), SHCA_NLDEV_KERNEL);
	assert_int_equal(ethnl_rig_ask(get_all(ETHTOOL_MSG_CHANNELS_SET)), SHCA_NLDEV_KERNEL);
	assert_int_equal(ethnl_rig_ask(get_all(ETHTOOL_MSG_RINGS_GET)), SHCA_NLDEV_KERNEL);
	assert_int_equal(ethnl_rig.nb, 0);
	/* It says itself what it thinks of a request without a header. */
	request = ethnl_rig_request(ETHTOOL_MSG_CHANNELS_GET);
	request->nlmsg_flags |= NLM_F_DUMP;
	assert_int_equal(ethnl_rig_ask(request), 0);
	assert_int_equal(ethnl_rig.nb, 1);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, ethnl_rig_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_in_the_place_of_the_tap),
		TEST(test_netdevs_that_the_kernel_leaves_out),
		TEST(test_a_device_without_an_answer),
		TEST(test_many),
		TEST(test_other_messages),
		TEST(test_requests_that_the_kernel_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
