/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of the generic netlink family "ethtool": of any bytes, and such as nearly fit, whose
 * lengths are then spoilt; with a device and a kernel that say anything. Nothing beyond a request
 * is read, and what is sent are whole messages for who asked: replies and then one end.
 */
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <stdlib.h>
#include <string.h>

#include <libmnl/libmnl.h>

#include "check.h"
#include "ethnl/ethnl.h"
#include "input.h"
#include "nldev/owner.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	FAMILY = 21,
	PORTID = 0x4711,
	SEQ = 77,
	REQUEST_BYTES = 1024,
	ANSWER_BYTES = 4096,
	DATAGRAM_MAX = 32768,
	MAX_DEPTH = 4,
	MAX_MESSAGES = 16,
};

static struct {
	struct fuzz_input input;
	bool is_over; /* an end was sent */
} state;

static bool
owns(void *arg, const char *netdev)
{
	(void)arg;
	return strcmp(netdev, "lo") == 0 && fuzz_input_choose(&state.input, 8) != 7;
}

static bool
find(void *arg, unsigned int number, char netdev[static IF_NAMESIZE])
{
	(void)arg;
	strcpy(netdev, number == 1 ? "lo" : "");
	return number < 3;
}

/** Answers within the room that each command has. */
static int
ask(void *arg, const char *netdev, void *command)
{
	static const int answers[] = { 0, 0, 0, 0, 0, 0, -EOPNOTSUPP, -EIO, SHCA_NLDEV_KERNEL };
	struct ethtool_channels *channels = command;
	struct ethtool_pauseparam *pause = command;
	struct ethtool_gfeatures *features = command;
	struct ethtool_modinfo *module = command;
	struct ethtool_eeprom *eeprom = command;
	struct ethtool_gstrings *names = command;

	(void)arg;
	FUZZ_CHECK(strcmp(netdev, "lo") == 0);
	switch (channels->cmd) {
	case ETHTOOL_GCHANNELS:
		fuzz_input_fill(&state.input, &channels->max_rx, 8);
		channels->combined_count = channels->max_combined = fuzz_input_byte(&state.input);
		break;
	case ETHTOOL_GPAUSEPARAM:
		pause->rx_pause = fuzz_input_byte(&state.input);
		break;
	case ETHTOOL_GFEATURES:
		for (uint32_t i = 0; i < features->size; i++)
			features->features[i].available = fuzz_input_word(&state.input);
		features->size = fuzz_input_byte(&state.input);
		break;
	case ETHTOOL_GMODULEINFO:
		module->eeprom_len = 128u * fuzz_input_byte(&state.input);
		break;
	case ETHTOOL_GMODULEEEPROM:
		FUZZ_CHECK(eeprom->len != 0 && eeprom->len <= 128);
		memset(eeprom->data, 0xee, eeprom->len);
		break;
	case ETHTOOL_GSTRINGS:
		names->len = fuzz_input_byte(&state.input) * 2u;
		strcpy((char *)names->data, "rx_packets_phy");
		break;
	case ETHTOOL_GSTATS:
	case ETHTOOL_SCHANNELS:
	case ETHTOOL_SPAUSEPARAM:
	case ETHTOOL_SFEATURES:
		break;
	default:
		FUZZ_CHECK(!"a command");
	}
	return answers[fuzz_input_choose(&state.input, sizeof(answers) / sizeof(answers[0]))];
}

static int
send_one(void *arg, const void *bytes, size_t length)
{
	const struct nlmsghdr *message = bytes;
	int left = (int)length;

	(void)arg;
	FUZZ_CHECK(length != 0 && length <= DATAGRAM_MAX && !state.is_over);
	for (; mnl_nlmsg_ok(message, left); message = mnl_nlmsg_next(message, &left)) {
		FUZZ_CHECK(message->nlmsg_pid == PORTID);
		FUZZ_CHECK(!state.is_over);
		if (message->nlmsg_type == NLMSG_ERROR || message->nlmsg_type == NLMSG_DONE)
			state.is_over = true;
	}
	FUZZ_CHECK(left <= 0);
	return fuzz_input_choose(&state.input, 16) == 15 ? -ENOBUFS : 0;
}

/** @{ Attributes that fit into @p end - message bytes. */
static void
put_attrs(struct nlmsghdr *message, const uint8_t *end, unsigned int depth)
{
	static const uint8_t lengths[] = { 4, 4, 4, 1, 0, 0, 2, 8, 36 };
	uint8_t payload[36];

	for (unsigned int left = fuzz_input_choose(&state.input, 6); left != 0; left--) {
		const uint16_t type = fuzz_input_byte(&state.input) % 12;
		uint8_t length = lengths[fuzz_input_choose(&state.input, sizeof(lengths))];
		const uint8_t *tail = mnl_nlmsg_get_payload_tail(message);

		if (end - tail < 64)
			return;
		if (depth < MAX_DEPTH && fuzz_input_choose(&state.input, 2) == 0) {
			struct nlattr *nest = mnl_attr_nest_start(message, type);

			put_attrs(message, end, depth + 1);
			mnl_attr_nest_end(message, nest);
			continue;
		}
		fuzz_input_fill(&state.input, payload, length);
		if (length == 4 && fuzz_input_choose(&state.input, 2) == 0)
			payload[1] = payload[2] = payload[3] = 0;
		mnl_attr_put(message, type, length, payload);
	}
}

static bool
mostly(void)
{
	return fuzz_input_choose(&state.input, 8) != 7;
}

/** Bits, one by one or as words. */
static void
put_set(struct nlmsghdr *message, uint16_t type)
{
	static const char *const names[] = { "rx-all", "rx-fcs", "tx-lockless", "", "no-such" };
	struct nlattr *nest = mnl_attr_nest_start(message, type), *bits, *bit;
	const uint32_t size = fuzz_input_byte(&state.input);
	const bool is_list = !mostly();
	uint8_t words[32];

	if (is_list)
		mnl_attr_put(message, ETHTOOL_A_BITSET_NOMASK, 0, NULL);
	if (fuzz_input_choose(&state.input, 2) == 0) {
		fuzz_input_fill(&state.input, words, sizeof(words));
		if (mostly())
			mnl_attr_put_u32(message, ETHTOOL_A_BITSET_SIZE, size);
		if (mostly())
			mnl_attr_put(message, ETHTOOL_A_BITSET_VALUE, (size + 31) / 32 * 4, words);
		if (mostly() && !is_list)
			mnl_attr_put(message, ETHTOOL_A_BITSET_MASK, (size + 31) / 32 * 4, words);
		mnl_attr_nest_end(message, nest);
		return;
	}
	bits = mnl_attr_nest_start(message, ETHTOOL_A_BITSET_BITS);
	for (unsigned int left = fuzz_input_choose(&state.input, 5); left != 0; left--) {
		bit = mnl_attr_nest_start(message, ETHTOOL_A_BITSET_BITS_BIT);
		if (fuzz_input_choose(&state.input, 2) == 0)
			mnl_attr_put_u32(message, ETHTOOL_A_BITSET_BIT_INDEX,
				fuzz_input_byte(&state.input) % 80);
		if (fuzz_input_choose(&state.input, 2) == 0)
			mnl_attr_put_strz(message, ETHTOOL_A_BITSET_BIT_NAME,
				names[fuzz_input_choose(&state.input, 5)]);
		if (fuzz_input_choose(&state.input, 2) == 0)
			mnl_attr_put(message, ETHTOOL_A_BITSET_BIT_VALUE, 0, NULL);
		mnl_attr_nest_end(message, bit);
	}
	mnl_attr_nest_end(message, bits);
	mnl_attr_nest_end(message, nest);
}

static void
put_sets(struct nlmsghdr *message)
{
	struct nlattr *list = mnl_attr_nest_start(message, ETHTOOL_A_STRSET_STRINGSETS), *set;

	for (unsigned int left = fuzz_input_choose(&state.input, 4); left != 0; left--) {
		set = mnl_attr_nest_start(message, ETHTOOL_A_STRINGSETS_STRINGSET);
		mnl_attr_put_u32(
			message, ETHTOOL_A_STRINGSET_ID, fuzz_input_choose(&state.input, 4));
		mnl_attr_nest_end(message, set);
	}
	mnl_attr_nest_end(message, list);
}

static void
put_part(struct nlmsghdr *message)
{
	if (mostly())
		mnl_attr_put_u32(message, ETHTOOL_A_MODULE_EEPROM_OFFSET,
			2u * fuzz_input_byte(&state.input));
	if (mostly())
		mnl_attr_put_u32(
			message, ETHTOOL_A_MODULE_EEPROM_LENGTH, fuzz_input_byte(&state.input));
	if (mostly())
		mnl_attr_put_u8(message, ETHTOOL_A_MODULE_EEPROM_PAGE,
			(uint8_t)fuzz_input_choose(&state.input, 5));
	if (mostly())
		mnl_attr_put_u8(
			message, ETHTOOL_A_MODULE_EEPROM_I2C_ADDRESS, mostly() ? 0x50 : 0x81);
}

static void
put_header(struct nlmsghdr *message, uint16_t type)
{
	const unsigned int how = fuzz_input_choose(&state.input, 8);
	struct nlattr *nest;

	if (how == 7)
		return;
	nest = mnl_attr_nest_start(message, type);
	if (how != 6)
		mnl_attr_put_strz(message, ETHTOOL_A_HEADER_DEV_NAME, "lo");
	if (how >= 5)
		mnl_attr_put_u32(message, ETHTOOL_A_HEADER_DEV_INDEX, 1);
	if (how % 2 == 0)
		mnl_attr_put_u32(
			message, ETHTOOL_A_HEADER_FLAGS, fuzz_input_choose(&state.input, 8));
	mnl_attr_nest_end(message, nest);
}
/** @} */

static struct nlmsghdr *
make(void *bytes, const uint8_t *end)
{
	static const uint8_t commands[] = { ETHTOOL_MSG_CHANNELS_GET, ETHTOOL_MSG_CHANNELS_SET,
		ETHTOOL_MSG_PAUSE_GET, ETHTOOL_MSG_PAUSE_SET, ETHTOOL_MSG_FEATURES_GET,
		ETHTOOL_MSG_FEATURES_SET, ETHTOOL_MSG_FEATURES_SET, ETHTOOL_MSG_MODULE_EEPROM_GET,
		ETHTOOL_MSG_STATS_GET, ETHTOOL_MSG_STRSET_GET, ETHTOOL_MSG_LINKSTATE_GET };
	struct nlmsghdr *message = mnl_nlmsg_put_header(bytes);
	struct genlmsghdr *genl;

	message->nlmsg_type = FAMILY;
	message->nlmsg_seq = SEQ;
	message->nlmsg_flags = NLM_F_REQUEST |
		(fuzz_input_choose(&state.input, 4) != 0 ? NLM_F_ACK : 0) |
		(fuzz_input_choose(&state.input, 4) == 3 ? NLM_F_DUMP : 0);
	genl = mnl_nlmsg_put_extra_header(message, sizeof(*genl));
	genl->cmd = commands[fuzz_input_choose(&state.input, sizeof(commands))];
	put_header(message,
		genl->cmd == ETHTOOL_MSG_STATS_GET ? ETHTOOL_A_STATS_HEADER
						   : ETHTOOL_A_CHANNELS_HEADER);
	if (genl->cmd == ETHTOOL_MSG_STATS_GET)
		put_set(message, ETHTOOL_A_STATS_GROUPS);
	else if (genl->cmd == ETHTOOL_MSG_STRSET_GET && mostly())
		put_sets(message);
	else if (genl->cmd == ETHTOOL_MSG_FEATURES_SET)
		put_set(message, ETHTOOL_A_FEATURES_WANTED);
	else if (genl->cmd == ETHTOOL_MSG_MODULE_EEPROM_GET)
		put_part(message);
	else if (genl->cmd == ETHTOOL_MSG_CHANNELS_SET)
		mnl_attr_put_u32(message,
			(uint16_t)(ETHTOOL_A_CHANNELS_RX_COUNT +
				fuzz_input_choose(&state.input, 4)),
			fuzz_input_choose(&state.input, 12));
	else if (genl->cmd == ETHTOOL_MSG_PAUSE_SET)
		mnl_attr_put_u8(message,
			(uint16_t)(ETHTOOL_A_PAUSE_AUTONEG + fuzz_input_choose(&state.input, 3)),
			(uint8_t)fuzz_input_choose(&state.input, 2));
	if (fuzz_input_choose(&state.input, 3) == 0)
		put_attrs(message, end, 0);
	return message;
}

/** Messages with a netdev's number or without, as a dump has them; the end may be missing. */
static int
ask_kernel(void *arg, const struct nlmsghdr *request,
	int (*visit)(void *visit_arg, const struct nlmsghdr *message), void *visit_arg)
{
	int ret = 0;

	(void)arg;
	FUZZ_CHECK((request->nlmsg_flags & (NLM_F_DUMP | NLM_F_ACK)) != 0);
	for (unsigned int i = 0; ret == 0 && i < MAX_MESSAGES; i++) {
		uint8_t *bytes = fuzz_input_block(&state.input, ANSWER_BYTES);
		const unsigned int kind = fuzz_input_choose(&state.input, 8);
		struct nlmsghdr *message;

		if (bytes == NULL || kind == 7)
			return -ENOBUFS;
		message = make(bytes, bytes + ANSWER_BYTES);
		message->nlmsg_flags = NLM_F_MULTI;
		if (kind >= 5 || i == MAX_MESSAGES - 1) {
			message->nlmsg_type = kind == 5 ? NLMSG_ERROR : NLMSG_DONE;
			return visit(visit_arg, message);
		}
		ret = visit(visit_arg, message);
	}
	return ret;
}

/** Write over a few bytes. */
static void
spoil(uint8_t *bytes, size_t length)
{
	for (unsigned int left = mostly() ? 0 : 3; left != 0; left--)
		bytes[(fuzz_input_byte(&state.input) << 8 | fuzz_input_byte(&state.input)) %
			length] = fuzz_input_byte(&state.input);
}

static void
ask_once(void)
{
	const struct shca_ethnl ethnl = {
		.family = FAMILY,
		.portid = PORTID,
		.is_admin = fuzz_input_choose(&state.input, 8) != 7,
		.has_extack = fuzz_input_choose(&state.input, 2) == 0,
		.caps_acks = fuzz_input_choose(&state.input, 4) == 3,
		.owns = owns,
		.find = find,
		.ask = ask,
		.ask_kernel = ask_kernel,
		.send = send_one,
	};
	_Alignas(8) uint8_t room[REQUEST_BYTES];
	size_t length = sizeof(room);
	uint8_t *bytes;
	int ret;

	memset(room, 0, sizeof(room));
	if (fuzz_input_choose(&state.input, 8) == 7)
		fuzz_input_fill(&state.input, room, length = 64);
	else
		length = make(room, room + sizeof(room))->nlmsg_len;
	spoil(room, length);
	/* Exactly as long as it is, so that reading beyond it is seen. */
	bytes = fuzz_input_block(&state.input, length);
	if (bytes == NULL)
		return;
	memcpy(bytes, room, length);
	state.is_over = false;
	ret = shca_ethnl_answer(&ethnl, bytes, length);
	FUZZ_CHECK(ret <= 0 || ret == SHCA_NLDEV_KERNEL);
	FUZZ_CHECK(ret != SHCA_NLDEV_KERNEL || !state.is_over);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t before = fuzz_check_allocated();

	state.input = (struct fuzz_input){ .at = data, .end = data + size };
	while (fuzz_input_left(&state.input)) {
		ask_once();
		fuzz_input_release(&state.input);
	}
	fuzz_check_freed(before);
	return 0;
}
