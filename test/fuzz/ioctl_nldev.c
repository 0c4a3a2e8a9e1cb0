/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Questions to RDMA netlink about what the requests have made: any operation, with attributes that
 * it may have, whose bytes and lengths are then spoilt. What is sent are whole messages for who
 * asked, and a question has an end.
 */
#include <errno.h>
#include <string.h>

#include <libmnl/libmnl.h>
#include <rdma/rdma_netlink.h>

#include "check.h"
#include "config/options.h"
#include "ioctl.h"
#include "nldev/nldev.h"

enum {
	PORTID = 0x4711,
	QUESTION_BYTES = 512,
	MAX_DEPTH = 3,
};

static struct fuzz_input *const input = &world.input;
static struct shca_options options;

static struct shca_device *
find_device(void *arg, unsigned int index)
{
	(void)arg;
	return index == 0 ? world.dev : NULL;
}

static int
take(void *arg, const void *bytes, size_t length)
{
	const struct nlmsghdr *message = bytes;
	int left = (int)length;

	(void)arg;
	FUZZ_CHECK(length != 0 && length <= SHCA_NLDEV_DATAGRAM_MAX);
	for (; mnl_nlmsg_ok(message, left); message = mnl_nlmsg_next(message, &left))
		FUZZ_CHECK(message->nlmsg_pid == PORTID);
	FUZZ_CHECK(left <= 0);
	return fuzz_input_choose(input, 32) == 31 ? -ENOBUFS : 0;
}

/** Numbers of objects begin at 0 or at some hundred, by their kind. */
static uint32_t
any_number(void)
{
	const uint8_t how = fuzz_input_byte(input);

	return how < 0x80 ? how & 15 : how < 0xf0 ? 0x100u | (how & 15) : fuzz_input_word(input);
}

static void
put_attrs(struct nlmsghdr *message, unsigned int depth)
{
	static const uint16_t types[] = { RDMA_NLDEV_ATTR_PORT_INDEX, RDMA_NLDEV_ATTR_PORT_INDEX,
		RDMA_NLDEV_ATTR_STAT_RES, RDMA_NLDEV_ATTR_STAT_MODE,
		RDMA_NLDEV_ATTR_STAT_COUNTER_ID, RDMA_NLDEV_ATTR_STAT_AUTO_MODE_MASK,
		RDMA_NLDEV_ATTR_STAT_HWCOUNTERS, RDMA_NLDEV_ATTR_RES_LQPN, RDMA_NLDEV_ATTR_RES_CQN,
		RDMA_NLDEV_ATTR_RES_PDN, RDMA_NLDEV_ATTR_RES_MRN, RDMA_NLDEV_ATTR_RES_SRQN,
		RDMA_NLDEV_ATTR_RES_CTXN, RDMA_NLDEV_ATTR_RES_CM_IDN, RDMA_NLDEV_ATTR_CHARDEV_TYPE,
		RDMA_NLDEV_ATTR_DEV_NAME, RDMA_NLDEV_SYS_ATTR_NETNS_MODE };
	static const uint16_t counted[] = { RDMA_NLDEV_ATTR_RES_QP, RDMA_NLDEV_ATTR_RES_MR };
	uint8_t bytes[16];

	for (unsigned int left = fuzz_input_choose(input, 5); left != 0; left--) {
		const unsigned int how = fuzz_input_choose(input, 16);
		const uint16_t type = how == 15
			? fuzz_input_byte(input)
			: types[fuzz_input_choose(input, sizeof(types) / sizeof(types[0]))];

		if (how < 9) {
			mnl_attr_put_u32(message, type,
				type != RDMA_NLDEV_ATTR_STAT_RES ? any_number() : counted[how & 1]);
		} else if (how < 11) {
			mnl_attr_put_u8(message, type, fuzz_input_byte(input) & 3);
		} else if (how < 12) {
			mnl_attr_put_strz(message, type, "uverbs");
		} else if (how < 14 && depth < MAX_DEPTH) {
			struct nlattr *nest = mnl_attr_nest_start(message, type);

			put_attrs(message, depth + 1);
			mnl_attr_nest_end(message, nest);
			left = 1; /* for QUESTION_BYTES */
		} else {
			const uint16_t length = (uint16_t)fuzz_input_choose(input, sizeof(bytes));

			fuzz_input_fill(input, bytes, length);
			mnl_attr_put(message, type, length, bytes);
		}
	}
}

static struct nlmsghdr *
put_question(void *at)
{
	static const uint16_t flags[] = { 0, NLM_F_ACK, NLM_F_DUMP, NLM_F_DUMP | NLM_F_ACK };
	struct nlmsghdr *message = mnl_nlmsg_put_header(at);
	const uint8_t how = fuzz_input_byte(input);

	message->nlmsg_type =
		RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, fuzz_input_choose(input, RDMA_NLDEV_NUM_OPS + 1));
	message->nlmsg_flags = NLM_F_REQUEST | flags[how & 3];
	if (how < 0xf0)
		mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_DEV_INDEX, how >= 0xe0);
	if ((how & 4) != 0)
		mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_PORT_INDEX, 1);
	put_attrs(message, 0);
	return message;
}

/** Write over a few bytes, now and then; or have the message say another length. */
static void
spoil(uint8_t *bytes, size_t length)
{
	const uint8_t how = fuzz_input_byte(input);
	struct nlmsghdr *message = (void *)bytes;

	if (how >= 0xf0)
		message->nlmsg_len = fuzz_input_word(input);
	else if (how >= 0xe0)
		message->nlmsg_len += fuzz_input_choose(input, 16) - 8;
	for (unsigned int left = how & 15; how >= 0xc0 && how < 0xe0 && left != 0; left--)
		bytes[fuzz_input_word(input) % length] = fuzz_input_byte(input);
}

void
requests_nldev(void)
{
	const struct shca_nldev nldev = {
		.options = &options,
		.dir = "/",
		.portid = PORTID,
		.send = take,
		.device = find_device,
	};
	_Alignas(8) uint8_t room[2 * QUESTION_BYTES];
	uint8_t *bytes;
	size_t length;
	char error[128];

	if (options.nb_ports == 0) {
		shca_options_init(&options);
		FUZZ_CHECK(shca_options_add_port(&options, "", error, sizeof(error)) == 0);
	}
	memset(room, 0, sizeof(room));
	length = put_question(room)->nlmsg_len;
	if (fuzz_input_choose(input, 4) == 3)
		length += put_question(room + MNL_ALIGN(length))->nlmsg_len;
	FUZZ_CHECK(length <= sizeof(room));
	spoil(room, length);
	/* Exactly as long as it is, so that reading beyond it is seen. */
	bytes = fuzz_input_block(input, length);
	memcpy(bytes, room, length);
	(void)shca_nldev_answer(&nldev, bytes, length);
	fuzz_input_release(input);
}
