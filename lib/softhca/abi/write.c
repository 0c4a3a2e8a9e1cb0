/* SPDX-License-Identifier: BSD-3-Clause */
/* Method INVOKE_WRITE: one row a command. */
#include "abi/write.h"

#include <errno.h>

#include "fault/faults.h"
#include "fault/verb.h"

#define OFFSET_END(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))
#define EXTENDED                 IB_USER_VERBS_CMD_FLAG_EXTENDED

/* Least bytes as the kernel declares them (drivers/infiniband/core/uverbs_cmd.c,
 * uverbs_def_write_intf). */
/* clang-format off */
static const struct {
	uint32_t command;
	uint16_t in_bytes;
	uint16_t out_bytes;
	shca_write_fn run;
} commands[] = {
	{ IB_USER_VERBS_CMD_QUERY_DEVICE, sizeof(struct ib_uverbs_query_device),
		sizeof(struct ib_uverbs_query_device_resp), shca_device_write_query },
	{ IB_USER_VERBS_CMD_ALLOC_PD, sizeof(struct ib_uverbs_alloc_pd),
		sizeof(struct ib_uverbs_alloc_pd_resp), shca_pd_write_alloc },
	{ IB_USER_VERBS_CMD_REG_MR, sizeof(struct ib_uverbs_reg_mr),
		sizeof(struct ib_uverbs_reg_mr_resp), shca_mr_write_reg },
	{ IB_USER_VERBS_CMD_REREG_MR, sizeof(struct ib_uverbs_rereg_mr),
		sizeof(struct ib_uverbs_rereg_mr_resp), shca_mr_write_rereg },
	{ IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, sizeof(struct ib_uverbs_create_comp_channel),
		sizeof(struct ib_uverbs_create_comp_channel_resp), shca_comp_channel_write_create },
	{ IB_USER_VERBS_CMD_RESIZE_CQ, sizeof(struct ib_uverbs_resize_cq),
		OFFSET_END(struct ib_uverbs_resize_cq_resp, cqe), shca_cq_write_resize },
	{ IB_USER_VERBS_CMD_QUERY_QP, sizeof(struct ib_uverbs_query_qp),
		OFFSET_END(struct ib_uverbs_query_qp_resp, reserved), shca_qp_write_query },
	{ IB_USER_VERBS_CMD_MODIFY_QP, sizeof(struct ib_uverbs_modify_qp), 0, shca_qp_write_modify },
	{ EXTENDED | IB_USER_VERBS_EX_CMD_QUERY_DEVICE,
		OFFSET_END(struct ib_uverbs_ex_query_device, reserved),
		OFFSET_END(struct ib_uverbs_ex_query_device_resp, response_length),
		shca_device_write_query_ex },
	{ EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_QP, sizeof(struct ib_uverbs_modify_qp),
		OFFSET_END(struct ib_uverbs_ex_modify_qp_resp, response_length), shca_qp_write_modify_ex },
	{ EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_FLOW, sizeof(struct ib_uverbs_create_flow),
		sizeof(struct ib_uverbs_create_flow_resp), shca_flow_write_create },
	{ EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_WQ,
		OFFSET_END(struct ib_uverbs_ex_modify_wq, curr_wq_state), 0, shca_wq_write_modify },
	{ EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL,
		OFFSET_END(struct ib_uverbs_ex_create_rwq_ind_table, log_ind_tbl_size),
		OFFSET_END(struct ib_uverbs_ex_create_rwq_ind_table_resp, ind_tbl_num),
		shca_rwq_ind_write_create },
	{ EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_CQ,
		OFFSET_END(struct ib_uverbs_ex_modify_cq, reserved), 0, shca_cq_write_modify },
};
/* clang-format on */

static int
meet_fault(const struct shca_write *write, uint32_t command)
{
	const struct shca_device_conf *conf = shca_device_conf(write->file->dev);

	if (__builtin_expect(conf->faults == NULL, 1))
		return 0;
	return shca_faults_call(
		conf->faults, conf->index, shca_verb_of_command(command), &write->file->delay_ns);
}

int
shca_write_invoke(struct shca_bundle *bundle)
{
	uint64_t command = shca_ioctl_value(bundle, UVERBS_ATTR_WRITE_CMD);
	struct shca_write write = {
		.file = bundle->file,
		.in = shca_ioctl_buffer(bundle, UVERBS_ATTR_CORE_IN),
		.out = shca_ioctl_buffer(bundle, UVERBS_ATTR_CORE_OUT),
		.driver_in = shca_ioctl_buffer(bundle, UVERBS_ATTR_UHW_IN),
		.driver_out = shca_ioctl_buffer(bundle, UVERBS_ATTR_UHW_OUT),
	};
	int ret;

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (commands[i].command != command)
			continue;
		/* Before the context is asked for: libibverbs probes with an empty request first.
		 */
		if (write.in->length < commands[i].in_bytes ||
			write.out->length < commands[i].out_bytes)
			return -ENOSPC;
		if (!bundle->file->has_context)
			return -EINVAL;
		ret = meet_fault(&write, commands[i].command);
		return ret != 0 ? ret : commands[i].run(&write);
	}
	return -EOPNOTSUPP;
}
