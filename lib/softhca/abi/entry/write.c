/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands, one row each. They come by write(2) with headers, by INVOKE_WRITE without. */
#include "abi/entry/write.h"

#include <assert.h>
#include <errno.h>

#include "abi/entry/legacy.h"
#include "abi/memory/commands.h"
#include "abi/object/commands.h"
#include "base/log.h"
#include "fault/faults.h"
#include "fault/verb.h"

#define OFFSET_END(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))
#define EXTENDED                 IB_USER_VERBS_CMD_FLAG_EXTENDED

/** The row of a command: old ones first. */
#define NB_NUMBERS     64
#define ROW_OF(number) (((number)&EXTENDED ? NB_NUMBERS : 0) + ((number) & ~EXTENDED))

/* clang-format off */
#define COMMAND(name, request, response, ...) \
	[ROW_OF(IB_USER_VERBS_CMD_##name)] = { .number = IB_USER_VERBS_CMD_##name, .in_bytes = (request), .out_bytes = (response), __VA_ARGS__ }
#define COMMAND_EX(name, request, response, ...) \
	[ROW_OF(EXTENDED | IB_USER_VERBS_EX_CMD_##name)] = { .number = EXTENDED | IB_USER_VERBS_EX_CMD_##name, \
		.in_bytes = (request), .out_bytes = (response), __VA_ARGS__ }
#define DRIVER     .has_driver_part = true
#define TELLS_MISSING .tells_missing = true
/** Runs a method, by whose name it is known (legacy.c). */
#define METHOD     .is_method = true
#define DESTROYS   METHOD, TELLS_MISSING, .destroys = true
#define KNOWN(type) .known_bytes = BYTES(type)
/** The command itself looks how long its request is. */
#define OPEN .known_bytes = UINT16_MAX
#define BYTES(type) sizeof(struct ib_uverbs_##type)
#define UP_TO(type, member) OFFSET_END(struct ib_uverbs_##type, member)

/** Least bytes as the kernel declares them (drivers/infiniband/core/uverbs_cmd.c,
 * uverbs_def_write_intf). */
static const struct command {
	uint32_t number;
	uint16_t in_bytes;
	uint16_t known_bytes; /* of a request; 0: no more than the least */
	uint16_t out_bytes; /* 0: no answer; an old command has no address for one, either */
	bool has_driver_part; /* of an old command; extended ones all may */
	bool tells_missing; /* an unknown handle is ENOENT; of other commands EINVAL */
	bool destroys; /* also what was of a device that has gone */
	bool runs_without_context;
	bool is_method; /* which counts the call for faults */
	shca_write_fn run;
} commands[] = {
	COMMAND(GET_CONTEXT, BYTES(get_context), BYTES(get_context_resp), DRIVER, METHOD,
		.runs_without_context = true, .run = shca_legacy_get_context),
	COMMAND(QUERY_DEVICE, BYTES(query_device), BYTES(query_device_resp), .run = shca_device_write_query),
	COMMAND(QUERY_PORT, BYTES(query_port), BYTES(query_port_resp), .run = shca_device_write_query_port),
	COMMAND(ALLOC_PD, BYTES(alloc_pd), BYTES(alloc_pd_resp), DRIVER, .run = shca_pd_write_alloc),
	COMMAND(DEALLOC_PD, BYTES(dealloc_pd), 0, DESTROYS, .run = shca_legacy_dealloc_pd),
	COMMAND(REG_MR, BYTES(reg_mr), BYTES(reg_mr_resp), DRIVER, .run = shca_mr_write_reg),
	COMMAND(REREG_MR, BYTES(rereg_mr), BYTES(rereg_mr_resp), DRIVER, TELLS_MISSING,
		.run = shca_mr_write_rereg),
	COMMAND(DEREG_MR, BYTES(dereg_mr), 0, DESTROYS, .run = shca_legacy_dereg_mr),
	COMMAND(ALLOC_MW, BYTES(alloc_mw), BYTES(alloc_mw_resp), DRIVER, .run = shca_mw_write_alloc),
	COMMAND(DEALLOC_MW, BYTES(dealloc_mw), 0, DESTROYS, .run = shca_legacy_dealloc_mw),
	COMMAND(CREATE_COMP_CHANNEL, BYTES(create_comp_channel), BYTES(create_comp_channel_resp),
		.run = shca_comp_channel_write_create),
	COMMAND(CREATE_CQ, BYTES(create_cq), BYTES(create_cq_resp), DRIVER, METHOD,
		.run = shca_legacy_create_cq),
	COMMAND(RESIZE_CQ, BYTES(resize_cq), UP_TO(resize_cq_resp, cqe), DRIVER, .run = shca_cq_write_resize),
	COMMAND(DESTROY_CQ, BYTES(destroy_cq), BYTES(destroy_cq_resp), DESTROYS,
		.run = shca_legacy_destroy_cq),
	COMMAND(CREATE_QP, BYTES(create_qp), UP_TO(create_qp_resp, reserved), DRIVER, METHOD,
		.run = shca_legacy_create_qp),
	COMMAND(OPEN_QP, BYTES(open_qp), BYTES(create_qp_resp), DRIVER, .run = shca_qp_write_open),
	COMMAND(QUERY_QP, BYTES(query_qp), UP_TO(query_qp_resp, reserved), .run = shca_qp_write_query),
	COMMAND(MODIFY_QP, BYTES(modify_qp), 0, .run = shca_qp_write_modify),
	COMMAND(DESTROY_QP, BYTES(destroy_qp), BYTES(destroy_qp_resp), DESTROYS,
		.run = shca_legacy_destroy_qp),
	COMMAND(CREATE_SRQ, BYTES(create_srq), BYTES(create_srq_resp), DRIVER, METHOD,
		.run = shca_legacy_create_srq),
	COMMAND(CREATE_XSRQ, BYTES(create_xsrq), BYTES(create_srq_resp), DRIVER, METHOD,
		.run = shca_legacy_create_xsrq),
	COMMAND(OPEN_XRCD, BYTES(open_xrcd), BYTES(open_xrcd_resp), DRIVER, .run = shca_xrcd_write_open),
	COMMAND(CLOSE_XRCD, BYTES(close_xrcd), 0, DESTROYS, .run = shca_legacy_close_xrcd),
	COMMAND(MODIFY_SRQ, BYTES(modify_srq), 0, DRIVER, .run = shca_srq_write_modify),
	COMMAND(QUERY_SRQ, BYTES(query_srq), BYTES(query_srq_resp), .run = shca_srq_write_query),
	COMMAND(DESTROY_SRQ, BYTES(destroy_srq), BYTES(destroy_srq_resp), DESTROYS,
		.run = shca_legacy_destroy_srq),
	COMMAND(CREATE_AH, BYTES(create_ah), BYTES(create_ah_resp), DRIVER, .run = shca_ah_write_create),
	COMMAND(DESTROY_AH, BYTES(destroy_ah), 0, DESTROYS, .run = shca_legacy_destroy_ah),
	COMMAND(ATTACH_MCAST, BYTES(attach_mcast), 0, .run = shca_qp_write_attach_mcast),
	COMMAND(DETACH_MCAST, BYTES(detach_mcast), 0, .run = shca_qp_write_detach_mcast),
	COMMAND_EX(QUERY_DEVICE, UP_TO(ex_query_device, reserved),
		UP_TO(ex_query_device_resp, response_length), .run = shca_device_write_query_ex),
	COMMAND_EX(CREATE_CQ, UP_TO(ex_create_cq, reserved), UP_TO(ex_create_cq_resp, response_length),
		METHOD, .run = shca_legacy_create_cq_ex),
	COMMAND_EX(MODIFY_CQ, UP_TO(ex_modify_cq, reserved), 0, .run = shca_cq_write_modify),
	COMMAND_EX(CREATE_QP, UP_TO(ex_create_qp, comp_mask), UP_TO(ex_create_qp_resp, response_length),
		KNOWN(ex_create_qp), METHOD, .run = shca_legacy_create_qp_ex),
	COMMAND_EX(MODIFY_QP, BYTES(modify_qp), UP_TO(ex_modify_qp_resp, response_length),
		KNOWN(ex_modify_qp), .run = shca_qp_write_modify_ex),
	COMMAND_EX(CREATE_FLOW, BYTES(create_flow), BYTES(create_flow_resp), OPEN, .run = shca_flow_write_create),
	COMMAND_EX(DESTROY_FLOW, BYTES(destroy_flow), 0, DESTROYS, .run = shca_legacy_destroy_flow),
	COMMAND_EX(CREATE_WQ, UP_TO(ex_create_wq, max_sge), UP_TO(ex_create_wq_resp, wqn),
		KNOWN(ex_create_wq), METHOD, .run = shca_legacy_create_wq),
	COMMAND_EX(MODIFY_WQ, UP_TO(ex_modify_wq, curr_wq_state), 0, KNOWN(ex_modify_wq), .run = shca_wq_write_modify),
	COMMAND_EX(DESTROY_WQ, BYTES(ex_destroy_wq), BYTES(ex_destroy_wq_resp), DESTROYS,
		.run = shca_legacy_destroy_wq),
	COMMAND_EX(CREATE_RWQ_IND_TBL, UP_TO(ex_create_rwq_ind_table, log_ind_tbl_size),
		UP_TO(ex_create_rwq_ind_table_resp, ind_tbl_num), OPEN, .run = shca_rwq_ind_write_create),
	COMMAND_EX(DESTROY_RWQ_IND_TBL, BYTES(ex_destroy_rwq_ind_table), 0, DESTROYS,
		.run = shca_legacy_destroy_rwq_ind),
};
/* clang-format on */

static_assert(sizeof(struct ib_uverbs_cmd_hdr) == 8, "header of a command");
static_assert(sizeof(struct ib_uverbs_ex_cmd_hdr) == 16, "further header of an extended command");

/** The last numbers for which the kernel has rows, with or without a command
 * (core/uverbs_uapi.c uapi_finalize). */
#define LAST    IB_USER_VERBS_CMD_OPEN_QP
#define LAST_EX IB_USER_VERBS_EX_CMD_MODIFY_CQ

#define WORD_BYTES    4 /* unit of the lengths in old headers */
#define EX_WORD_BYTES 8

static const struct command *
find(uint64_t number)
{
	const uint64_t row = ROW_OF(number);

	if ((number & ~(uint64_t)EXTENDED) >= NB_NUMBERS ||
		row >= sizeof(commands) / sizeof(commands[0]) || commands[row].run == NULL)
		return NULL;
	return &commands[row];
}

static int
inject_fault(const struct shca_write *write, uint32_t command)
{
	const struct shca_device_conf *conf = shca_device_conf(write->file->dev);

	if (__builtin_expect(conf->faults == NULL, 1) || write->file->is_run_again ||
		shca_user_has_come_before())
		return 0;
	return shca_faults_call(
		conf->faults, conf->index, shca_verb_of_command(command), &write->file->delay_ns);
}

/** As uverbs_request() of core/uverbs_cmd.c: of what comes behind the request as this kernel knows
 * it, 0 is as good as nothing. */
static int
check_rest(const struct command *command, const struct shca_write *write)
{
	return shca_user_check_clear(
		write->in, command->known_bytes != 0 ? command->known_bytes : command->in_bytes);
}

static int
run(const struct command *command, struct shca_write *write)
{
	int ret;

	if (!command->destroys && shca_device_is_dead(write->file->dev))
		return -EIO;
	if (!command->runs_without_context && !write->file->has_context)
		return -EINVAL;
	ret = check_rest(command, write);
	if (ret == 0 && !command->is_method)
		ret = inject_fault(write, command->number);
	if (ret == 0)
		ret = command->run(write);
	return ret == -ENOENT && !command->tells_missing ? -EINVAL : ret;
}

/** The handler of method INVOKE_WRITE. */
static int
invoke(struct shca_bundle *bundle)
{
	const uint64_t number = shca_ioctl_value(bundle, UVERBS_ATTR_WRITE_CMD);
	const struct command *command = find(number);
	struct shca_write write = {
		.file = bundle->file,
		.in = shca_ioctl_buffer(bundle, UVERBS_ATTR_CORE_IN),
		.out = shca_ioctl_buffer(bundle, UVERBS_ATTR_CORE_OUT),
		.driver_in = shca_ioctl_buffer(bundle, UVERBS_ATTR_UHW_IN),
		.driver_out = shca_ioctl_buffer(bundle, UVERBS_ATTR_UHW_OUT),
	};

	/* uverbs_get_const(), uapi_get_method() */
	if ((number & ~(uint64_t)(EXTENDED | IB_USER_VERBS_CMD_COMMAND_MASK)) != 0)
		return -EINVAL;
	if (command == NULL)
		return -EOPNOTSUPP;
	/* Ahead of the check for a context: libibverbs probes with an empty request first. */
	if (write.in->length < command->in_bytes || write.out->length < command->out_bytes)
		return -ENOSPC;
	return run(command, &write);
}

/* clang-format off */
static const struct shca_attr_row invoke_write_rows[] = {
	SHCA_IN(UVERBS_ATTR_WRITE_CMD, 8),
	SHCA_IN_OPTIONAL(UVERBS_ATTR_CORE_IN, 4, SHCA_ANY_BYTES),
	SHCA_OUT_LEAST_OPTIONAL(UVERBS_ATTR_CORE_OUT, 0),
	SHCA_UHW,
};

const struct shca_method shca_write_methods[] = {
	{ UVERBS_METHOD_INVOKE_WRITE, .runs_without_context = true,
		SHCA_ROWS(invoke_write_rows), .handler = invoke },
	{ 0 },
};
/* clang-format on */

/** The four buffers of a command that came by write(2). */
struct parts {
	struct shca_user_buffer in, out, driver_in, driver_out;
};

/** rdma-core 18 and 19 count the bytes of this command without its headers; they are all there
 * (verify_hdr). */
static bool
is_counted_short(const struct ib_uverbs_cmd_hdr *header, size_t length)
{
	return header->command == IB_USER_VERBS_CMD_DESTROY_CQ &&
		length == sizeof(struct ib_uverbs_destroy_cq);
}

/** As verify_hdr and ib_uverbs_write for an old command: the bytes after its own structure are the
 * provider's. */
static int
take_old(const struct command *command, const struct ib_uverbs_cmd_hdr *header, uint64_t address,
	size_t length, struct parts *parts)
{
	int ret;

	if ((size_t)header->in_words * WORD_BYTES != length)
		return -EINVAL;
	if (is_counted_short(header, length))
		length += sizeof(*header);
	if (length < command->in_bytes + sizeof(*header) ||
		(size_t)header->out_words * WORD_BYTES < command->out_bytes)
		return -ENOSPC;
	parts->in.address = address + sizeof(*header);
	parts->in.length = length - sizeof(*header);
	if (command->out_bytes != 0) {
		ret = shca_user_copy_in(
			&parts->out.address, parts->in.address, sizeof(parts->out.address));
		if (ret != 0)
			return ret;
		parts->out.length = (size_t)header->out_words * WORD_BYTES;
	}
	if (!command->has_driver_part)
		return 0;
	parts->driver_in.address = parts->in.address + command->in_bytes;
	parts->driver_in.length = parts->in.length - command->in_bytes;
	parts->in.length = command->in_bytes;
	parts->driver_out.address = parts->out.address + command->out_bytes;
	parts->driver_out.length = parts->out.length - command->out_bytes;
	parts->out.length = command->out_bytes;
	return 0;
}

/** As verify_hdr for an extended command, whose second header has the length of each part. */
static int
take_extended(const struct command *command, const struct ib_uverbs_cmd_hdr *header,
	uint64_t address, size_t length, struct parts *parts)
{
	struct ib_uverbs_ex_cmd_hdr more;
	const size_t headers_bytes = sizeof(*header) + sizeof(more);
	int ret;

	if (length < headers_bytes)
		return -EINVAL;
	ret = shca_user_copy_in(&more, address + sizeof(*header), sizeof(more));
	if (ret != 0)
		return ret;
	parts->in.length = (size_t)header->in_words * EX_WORD_BYTES;
	parts->out.length = (size_t)header->out_words * EX_WORD_BYTES;
	parts->driver_in.length = (size_t)more.provider_in_words * EX_WORD_BYTES;
	parts->driver_out.length = (size_t)more.provider_out_words * EX_WORD_BYTES;
	if (parts->in.length + parts->driver_in.length != length - headers_bytes)
		return -EINVAL;
	if (parts->in.length < command->in_bytes)
		return -ENOSPC;
	if (more.cmd_hdr_reserved != 0 ||
		(more.response != 0) != (parts->out.length + parts->driver_out.length != 0))
		return -EINVAL;
	if (more.response != 0 && parts->out.length < command->out_bytes)
		return -ENOSPC;
	parts->in.address = address + headers_bytes;
	parts->driver_in.address = parts->in.address + parts->in.length;
	parts->out.address = more.response;
	parts->driver_out.address = more.response + parts->out.length;
	return 0;
}

int
shca_write_run(struct shca_file *file, const void *bytes, size_t length)
{
	/* In a row without a command: the kernel runs the same checks, then ib_uverbs_notsupp. */
	static const struct command unknown;
	const uint64_t address = (uintptr_t)bytes;
	struct ib_uverbs_cmd_hdr header;
	const struct command *command;
	struct parts parts = { 0 };
	struct shca_write write = {
		.file = file,
		.in = &parts.in,
		.out = &parts.out,
		.driver_in = &parts.driver_in,
		.driver_out = &parts.driver_out,
	};
	int ret;

	if (length < sizeof(header))
		return -EINVAL;
	ret = shca_user_copy_in(&header, address, sizeof(header));
	if (ret != 0)
		return ret;
	if (header.command & ~(EXTENDED | IB_USER_VERBS_CMD_COMMAND_MASK))
		return -EINVAL;
	if ((header.command & IB_USER_VERBS_CMD_COMMAND_MASK) >
		(header.command & EXTENDED ? LAST_EX : LAST))
		return -EOPNOTSUPP;
	command = find(header.command);
	if (command == NULL)
		command = &unknown;
	if (command->number & EXTENDED)
		ret = take_extended(command, &header, address, length, &parts);
	else
		ret = take_old(command, &header, address, length, &parts);
	if (ret == 0)
		ret = command != &unknown ? run(command, &write) : -EOPNOTSUPP;
	SHCA_DEBUG("command %#x: %d", header.command, ret);
	return ret;
}
