/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ethnl_rig.h"

#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <stdlib.h>
#include <string.h>

#include "ethtool/command.h"

#include "../padding.h"

#define HEADER (NLMSG_HDRLEN + GENL_HDRLEN)

struct ethnl_rig ethnl_rig;
static _Alignas(8) uint8_t request_bytes[4096];

static bool
owns(void *arg, const char *netdev)
{
	assert_ptr_equal(arg, &ethnl_rig);
	return strcmp(netdev, NETDEV) == 0;
}

/** As nldev/ethtool.c: the structure, with what stands behind it. */
static int
ask_device(void *arg, const char *netdev, void *command)
{
	static _Alignas(8) uint8_t bytes[SHCA_ETHTOOL_MAX];
	const struct shca_ethtool_command *row;
	uint32_t number;
	size_t length;
	int ret;

	assert_true(owns(arg, netdev));
	if (ethnl_rig.ask != NULL)
		return ethnl_rig.ask(command);
	memcpy(&number, command, sizeof(number));
	row = shca_ethtool_find(number);
	assert_non_null(row);
	length = shca_ethtool_length(row, command);
	assert_true(length <= SHCA_ETHTOOL_MAX);
	memcpy(bytes, command, length);
	ret = shca_ethtool_run(ethnl_rig.rig.dev, bytes, &length);
	if (ret == 0)
		memcpy(command, bytes, length);
	return ret;
}

static int
take(void *arg, const void *bytes, size_t length)
{
	assert_ptr_equal(arg, &ethnl_rig);
	if (ethnl_rig.send_error != 0)
		return ethnl_rig.send_error;
	assert_true(NLMSG_ALIGN(length) <= sizeof(ethnl_rig.sent) - ethnl_rig.length);
	test_padding(bytes, length, GENL_HDRLEN);
	memcpy(ethnl_rig.sent + ethnl_rig.length, bytes, length);
	ethnl_rig.length += NLMSG_ALIGN(length);
	ethnl_rig.nb++;
	return 0;
}

static void
prepare(void)
{
	test_padding_set_up();
	memset(&ethnl_rig, 0, sizeof(ethnl_rig));
	rig_init(&ethnl_rig.rig);
	ethnl_rig.rig.with_kernel = true;
	ethnl_rig.rig.no_rule = true;
	ethnl_rig.ethnl = (struct shca_ethnl){
		.family = FAMILY,
		.portid = PORTID,
		.is_admin = true,
		.has_extack = true,
		.owns = owns,
		.ask = ask_device,
		.send = take,
		.arg = &ethnl_rig,
	};
}

int
ethnl_rig_setup(void **state)
{
	(void)state;
	prepare();
	rig_open(&ethnl_rig.rig);
	return 0;
}

int
ethnl_rig_setup_function(void **state)
{
	(void)state;
	prepare();
	ethnl_rig.rig.is_vf = true;
	rig_open(&ethnl_rig.rig);
	return 0;
}

int
ethnl_rig_teardown(void **state)
{
	(void)state;
	rig_close(&ethnl_rig.rig);
	return 0;
}

struct nlmsghdr *
ethnl_rig_request(uint8_t command)
{
	struct nlmsghdr *message;
	struct genlmsghdr *genl;

	memset(request_bytes, 0, sizeof(request_bytes));
	message = mnl_nlmsg_put_header(request_bytes);
	message->nlmsg_type = FAMILY;
	message->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	message->nlmsg_seq = SEQ;
	genl = mnl_nlmsg_put_extra_header(message, sizeof(*genl));
	genl->cmd = command;
	genl->version = ETHTOOL_GENL_VERSION;
	return message;
}

struct nlmsghdr *
ethnl_rig_about(uint8_t command, uint16_t header, uint32_t flags)
{
	struct nlmsghdr *message = ethnl_rig_request(command);
	struct nlattr *nest = mnl_attr_nest_start(message, header);

	mnl_attr_put_strz(message, ETHTOOL_A_HEADER_DEV_NAME, NETDEV);
	if (flags != 0)
		mnl_attr_put_u32(message, ETHTOOL_A_HEADER_FLAGS, flags);
	mnl_attr_nest_end(message, nest);
	return message;
}

int
ethnl_rig_ask(const struct nlmsghdr *request)
{
	ethnl_rig.length = 0;
	ethnl_rig.nb = 0;
	return shca_ethnl_answer(&ethnl_rig.ethnl, request, request->nlmsg_len);
}

const struct nlmsghdr *
ethnl_rig_answer(unsigned int index)
{
	const struct nlmsghdr *message = (const void *)ethnl_rig.sent;
	int left = (int)ethnl_rig.length;

	for (; mnl_nlmsg_ok(message, left); message = mnl_nlmsg_next(message, &left), index--) {
		assert_int_equal(message->nlmsg_seq, SEQ);
		assert_int_equal(message->nlmsg_pid, PORTID);
		if (index == 0)
			return message;
	}
	return NULL;
}

const struct nlmsghdr *
ethnl_rig_reply(const struct nlmsghdr *request, uint8_t command)
{
	const struct nlmsghdr *reply, *ack;
	const struct genlmsghdr *genl;

	assert_int_equal(ethnl_rig_ask(request), 0);
	assert_int_equal(ethnl_rig.nb, 2);
	reply = ethnl_rig_answer(0);
	assert_non_null(reply);
	assert_int_equal(reply->nlmsg_type, FAMILY);
	genl = mnl_nlmsg_get_payload(reply);
	assert_int_equal(genl->cmd, command);
	assert_int_equal(genl->version, ETHTOOL_GENL_VERSION);
	ack = ethnl_rig_answer(1);
	assert_non_null(ack);
	assert_int_equal(ack->nlmsg_type, NLMSG_ERROR);
	assert_int_equal(((const struct nlmsgerr *)mnl_nlmsg_get_payload(ack))->error, 0);
	return reply;
}

static const struct nlattr *
find_attr(const void *bytes, size_t length, uint16_t type)
{
	const struct nlattr *attr = bytes;
	int left = (int)length;

	for (; mnl_attr_ok(attr, left); attr = mnl_attr_next(attr)) {
		if (mnl_attr_get_type(attr) == type)
			return attr;
		left -= MNL_ALIGN(attr->nla_len);
	}
	return NULL;
}

const char *
ethnl_rig_error(const struct nlmsghdr *request, int error)
{
	const struct nlmsghdr *message;
	const struct nlmsgerr *answer;
	const struct nlattr *attr;
	size_t behind = sizeof(*answer);

	assert_int_equal(ethnl_rig_ask(request), 0);
	assert_int_equal(ethnl_rig.nb, 1);
	message = ethnl_rig_answer(0);
	assert_non_null(message);
	assert_int_equal(message->nlmsg_type, NLMSG_ERROR);
	answer = mnl_nlmsg_get_payload(message);
	assert_int_equal(answer->error, error);
	assert_memory_equal(&answer->msg, request, sizeof(*request));
	if ((message->nlmsg_flags & NLM_F_CAPPED) == 0) {
		assert_memory_equal(answer + 1, request + 1, request->nlmsg_len - sizeof(*request));
		behind += NLMSG_ALIGN(request->nlmsg_len) - sizeof(*request);
	}
	if ((message->nlmsg_flags & NLM_F_ACK_TLVS) == 0)
		return "";
	attr = find_attr((const uint8_t *)answer + behind,
		mnl_nlmsg_get_payload_len(message) - behind, NLMSGERR_ATTR_MSG);
	assert_non_null(attr);
	return mnl_attr_get_str(attr);
}

const struct nlattr *
ethnl_rig_attr(const struct nlmsghdr *message, uint16_t type)
{
	return find_attr(mnl_nlmsg_get_payload_offset(message, GENL_HDRLEN),
		mnl_nlmsg_get_payload_len(message) - GENL_HDRLEN, type);
}

const struct nlattr *
ethnl_rig_nested(const struct nlattr *nest, uint16_t type)
{
	return find_attr(mnl_attr_get_payload(nest), mnl_attr_get_payload_len(nest), type);
}
