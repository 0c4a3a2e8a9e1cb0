/* SPDX-License-Identifier: BSD-3-Clause */
/* Any command by write(2): headers that fit it, but for a byte now and then. */
#include <string.h>

#include "ioctl.h"

#define EXTENDED  IB_USER_VERBS_CMD_FLAG_EXTENDED
#define BYTES_MAX 1024 /* of a command and of an answer */

static struct fuzz_input *const input = &world.input;

/** Bytes of a command, its provider's part, its answer and the provider's answer. */
static const struct {
	uint32_t number;
	uint16_t in, driver_in, out, driver_out;
} commands[] = {
	{ IB_USER_VERBS_CMD_GET_CONTEXT, 8, 32, 8, 72 },
	{ IB_USER_VERBS_CMD_QUERY_DEVICE, 8, 0, 176, 0 },
	{ IB_USER_VERBS_CMD_QUERY_PORT, 16, 0, 40, 0 },
	{ IB_USER_VERBS_CMD_ALLOC_PD, 8, 0, 4, 4 },
	{ IB_USER_VERBS_CMD_DEALLOC_PD, 4, 0, 0, 0 },
	{ IB_USER_VERBS_CMD_REG_MR, 40, 0, 12, 0 },
	{ IB_USER_VERBS_CMD_REREG_MR, 48, 0, 8, 0 },
	{ IB_USER_VERBS_CMD_DEREG_MR, 4, 0, 0, 0 },
	{ IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, 8, 0, 4, 0 },
	{ IB_USER_VERBS_CMD_CREATE_CQ, 32, 32, 8, 8 },
	{ IB_USER_VERBS_CMD_RESIZE_CQ, 16, 16, 8, 0 },
	{ IB_USER_VERBS_CMD_DESTROY_CQ, 16, 0, 8, 0 },
	{ IB_USER_VERBS_CMD_CREATE_QP, 56, 56, 32, 40 },
	{ IB_USER_VERBS_CMD_QUERY_QP, 16, 0, 128, 0 },
	{ IB_USER_VERBS_CMD_MODIFY_QP, 112, 0, 0, 0 },
	{ IB_USER_VERBS_CMD_DESTROY_QP, 16, 0, 4, 0 },
	{ EXTENDED | IB_USER_VERBS_EX_CMD_QUERY_DEVICE, 8, 0, 304, 104 },
	{ EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_CQ, 32, 32, 16, 8 },
	{ EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_CQ, 16, 0, 0, 0 },
	{ EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_QP, 64, 56, 40, 40 },
	{ EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_QP, 64, 152, 40, 40 },
	{ EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_QP, 120, 16, 8, 0 },
	{ EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_FLOW, 64, 8, 8, 0 },
	{ EXTENDED | IB_USER_VERBS_EX_CMD_DESTROY_FLOW, 8, 0, 0, 0 },
	{ EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_WQ, 40, 48, 24, 8 },
	{ EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_WQ, 24, 8, 0, 0 },
	{ EXTENDED | IB_USER_VERBS_EX_CMD_DESTROY_WQ, 8, 0, 16, 0 },
	{ EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL, 16, 0, 16, 0 },
	{ EXTENDED | IB_USER_VERBS_EX_CMD_DESTROY_RWQ_IND_TBL, 8, 0, 0, 0 },
};
#define NB_COMMANDS (sizeof(commands) / sizeof(commands[0]))

/** The descriptor that the command has made is where its answer begins, if it still is. */
static void
keep_descriptor(uint32_t number, const uint8_t *answer)
{
	int32_t fd;

	if (number != IB_USER_VERBS_CMD_GET_CONTEXT &&
		number != IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL)
		return;
	memcpy(&fd, answer, sizeof(fd));
	world_remember_fd(fd);
}

void
requests_write(void)
{
	const unsigned int which = fuzz_input_byte(input) % NB_COMMANDS;
	const bool is_extended = (commands[which].number & EXTENDED) != 0;
	const unsigned int word = is_extended ? 8 : 4;
	const size_t headers = sizeof(struct ib_uverbs_cmd_hdr) +
		(is_extended ? sizeof(struct ib_uverbs_ex_cmd_hdr) : 0);
	uint8_t *bytes = world.arena, *answer = world.arena + BYTES_MAX;
	size_t length = headers + commands[which].in + commands[which].driver_in;
	struct ib_uverbs_cmd_hdr header = {
		.command = commands[which].number,
		.in_words = (uint16_t)((is_extended ? commands[which].in : length) / word),
		.out_words = (uint16_t)((commands[which].out +
						(is_extended ? 0 : commands[which].driver_out)) /
			word),
	};
	const struct ib_uverbs_ex_cmd_hdr more = {
		.response = commands[which].out != 0 ? (uintptr_t)answer : 0,
		.provider_in_words = commands[which].driver_in / 8,
		.provider_out_words = commands[which].driver_out / 8,
	};
	const uint64_t response = (uintptr_t)answer;
	uint8_t how = fuzz_input_byte(input);

	world_fill(bytes + headers, length - headers);
	if (!is_extended && commands[which].out != 0)
		memcpy(bytes + headers, &response, sizeof(response));
	if (how >= 0xe0) /* too much, too little */
		header.in_words ^= how & 15;
	if (how >= 0xf0)
		length = (length + fuzz_input_byte(input)) % BYTES_MAX;
	memcpy(bytes, &header, sizeof(header));
	if (is_extended)
		memcpy(bytes + sizeof(header), &more, sizeof(more));
	if (shca_file_write(world.file[world.current], bytes, length) == 0)
		keep_descriptor(header.command, answer);
}
