/* SPDX-License-Identifier: BSD-3-Clause */
/* Flows, matchers, counters, and memory. */
#include "ioctl.h"

#include <string.h>

#include "../unit/steering/build.h"
#include "steering/match/param.h"

#define COMMAND_EX IB_USER_VERBS_CMD_FLAG_EXTENDED

static struct fuzz_input *const input = &world.input;

/** Masks of ones and twos, and values within them. */
static void
add_spec(struct specs *specs)
{
	static const uint32_t types[] = { 0x20, 0x30, 0x31, 0x40, 0x41, 0x50, 0x51, 0x60, 0x120,
		0x130, 0x34, 0x1000, 0x1001, 0x1002, 0x1003, 0x20 };
	uint32_t type = types[fuzz_input_byte(input) & 15];
	uint8_t value[40] = { 0 }, mask[40] = { 0 };
	uint16_t bytes = filter_bytes(type);

	if (bytes == 0) {
		specs_add_action(specs, type, type == 0x1001 ? 8 : 16, world_any_handle());
		return;
	}
	for (unsigned int nb = fuzz_input_byte(input) & 3; nb != 0; nb--) {
		unsigned int at = fuzz_input_byte(input) % bytes;

		mask[at] = fuzz_input_byte(input);
		value[at] = mask[at] & fuzz_input_byte(input);
	}
	specs_add(specs, type, value, mask, bytes);
}

/** What a flow says of its counters: packets or bytes, at small indices; in the arena. */
static void
describe_counters(uint8_t driver[24])
{
	uint8_t how = fuzz_input_byte(input);
	struct mlx5_ib_flow_counters_desc *points =
		(void *)(world.arena + WORLD_ARENA_BYTES - 8192);
	const struct mlx5_ib_create_flow header = { .ncounters_data = how >= 0xf0 ? how & 3 : 1 };
	const struct mlx5_ib_flow_counters_data data = {
		.counters_data = (uintptr_t)points,
		.ncounters = how & 3,
	};

	for (unsigned int i = 0; i < 3; i++)
		points[i] = (struct mlx5_ib_flow_counters_desc){ how >> 2 & 1, how >> 3 & 7 };
	memcpy(driver, &header, sizeof(header));
	memcpy(driver + sizeof(header), &data, sizeof(data));
}

void
requests_counters(void)
{
	struct request request;

	request_init(&request, UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_CREATE);
	request_handle(&request, UVERBS_ATTR_CREATE_COUNTERS_HANDLE, 0);
	request_send(&request);
}

void
requests_flow(void)
{
	uint8_t how = fuzz_input_byte(input);
	uint8_t driver[24] = { 0 }, in[1024];
	struct ib_uverbs_create_flow core = {
		.qp_handle = world_any_handle(),
		.flow_attr = {
			.type = how >= 0xc0 ? how & 3 : 0,
			.priority = how & 7,
			.flags = how >> 2 & 6,
			.port = 1,
		},
	};
	struct specs specs = { .length = 0 };

	for (unsigned int nb = fuzz_input_byte(input) & 7; nb != 0; nb--)
		add_spec(&specs);
	core.flow_attr.size = (uint16_t)specs.length;
	core.flow_attr.num_of_specs = specs.nb;
	memcpy(in, &core, sizeof(core));
	memcpy(in + sizeof(core), specs_bytes(&specs), specs.length);
	if (how & 1)
		describe_counters(driver);
	request_command(COMMAND_EX | IB_USER_VERBS_EX_CMD_CREATE_FLOW, in,
		(uint32_t)(sizeof(core) + specs.length), sizeof(struct ib_uverbs_create_flow_resp),
		driver, how & 1 ? sizeof(driver) : 8);
}

static void
any_param(uint8_t *param)
{
	memset(param, 0, SHCA_PARAM_BYTES);
	for (unsigned int nb = fuzz_input_byte(input) & 3; nb != 0; nb--)
		param[fuzz_input_word(input) % SHCA_PARAM_BYTES] = fuzz_input_byte(input);
}

void
requests_matcher(void)
{
	uint8_t how = fuzz_input_byte(input), criteria = 1 + (how >> 6), param[SHCA_PARAM_BYTES];
	uint16_t priority = how & 15;
	struct request request;

	any_param(param);
	if (how & 16) {
		request_init(&request, UVERBS_OBJECT_FLOW, MLX5_IB_METHOD_CREATE_FLOW);
		request_handle(&request, MLX5_IB_ATTR_CREATE_FLOW_HANDLE, 0);
		request_in(&request, MLX5_IB_ATTR_CREATE_FLOW_MATCH_VALUE, param, sizeof(param));
		request_handle(&request, MLX5_IB_ATTR_CREATE_FLOW_MATCHER, world_any_handle());
		if (how & 32)
			request_handle(
				&request, MLX5_IB_ATTR_CREATE_FLOW_DEST_QP, world_any_handle());
		if (how & 64)
			request_u32(&request, MLX5_IB_ATTR_CREATE_FLOW_TAG, how);
		if (how & 128)
			request_u32(&request, MLX5_IB_ATTR_CREATE_FLOW_FLAGS, how & 3);
		request_send(&request);
		return;
	}
	request_init(&request, MLX5_IB_OBJECT_FLOW_MATCHER, MLX5_IB_METHOD_FLOW_MATCHER_CREATE);
	request_handle(&request, MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE, 0);
	request_in(&request, MLX5_IB_ATTR_FLOW_MATCHER_MATCH_MASK, param, sizeof(param));
	request_in(&request, MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE, &priority, sizeof(priority));
	request_in(&request, MLX5_IB_ATTR_FLOW_MATCHER_MATCH_CRITERIA, &criteria, 1);
	if (how & 32)
		request_u64(&request, MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE, how >> 7);
	request_send(&request);
}

void
requests_region(void)
{
	uint8_t how = fuzz_input_byte(input);
	uint64_t start = (uintptr_t)world.arena + fuzz_input_word(input) % WORLD_ARENA_BYTES;
	uint64_t length = fuzz_input_word(input) % (2 * WORLD_ARENA_BYTES);
	const struct ib_uverbs_reg_mr reg = {
		.start = start,
		.length = length,
		.hca_va = how & 1 ? start & 4095 : start,
		.pd_handle = world_any_handle(),
		.access_flags = how >> 5,
	};
	const struct ib_uverbs_rereg_mr rereg = {
		.mr_handle = world_any_handle(),
		.flags = how >> 2 & 7,
		.start = reg.start,
		.length = reg.length,
		.hca_va = reg.hca_va,
		.pd_handle = reg.pd_handle,
		.access_flags = reg.access_flags,
	};

	if (how & 2)
		request_command(IB_USER_VERBS_CMD_REREG_MR, &rereg, sizeof(rereg),
			sizeof(struct ib_uverbs_rereg_mr_resp), NULL, 0);
	else
		request_command(IB_USER_VERBS_CMD_REG_MR, &reg, sizeof(reg),
			sizeof(struct ib_uverbs_reg_mr_resp), NULL, 0);
}

/** Device memory, or a region of it. */
void
requests_device_memory(void)
{
	uint8_t how = fuzz_input_byte(input);
	struct request request;

	if (how & 1) {
		request_init(&request, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC);
		request_handle(&request, UVERBS_ATTR_ALLOC_DM_HANDLE, 0);
		request_u64(&request, UVERBS_ATTR_ALLOC_DM_LENGTH, (uint64_t)how << (how & 15));
		request_u32(&request, UVERBS_ATTR_ALLOC_DM_ALIGNMENT, how >> 4);
		request_out(&request, MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET, 8);
		request_out(&request, MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX, 2);
	} else {
		request_init(&request, UVERBS_OBJECT_MR, UVERBS_METHOD_DM_MR_REG);
		request_handle(&request, UVERBS_ATTR_REG_DM_MR_HANDLE, 0);
		request_u64(&request, UVERBS_ATTR_REG_DM_MR_OFFSET, how & 0x80 ? how : 0);
		request_u64(&request, UVERBS_ATTR_REG_DM_MR_LENGTH, how >> 1 & 15);
		request_handle(&request, UVERBS_ATTR_REG_DM_MR_PD_HANDLE, world_any_handle());
		request_u32(&request, UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS, 0x20 | how >> 5);
		request_handle(&request, UVERBS_ATTR_REG_DM_MR_DM_HANDLE, world_any_handle());
		request_out(&request, UVERBS_ATTR_REG_DM_MR_RESP_LKEY, 4);
		request_out(&request, UVERBS_ATTR_REG_DM_MR_RESP_RKEY, 4);
	}
	request_send(&request);
}
