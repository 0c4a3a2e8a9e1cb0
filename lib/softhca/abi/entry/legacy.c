/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Legacy commands: commands of the write interface that the ioctl interface has methods for. Each
 * becomes a request of its method, which writes its answers straight into the fields of the
 * command's answer, so there is one set of checks. Checks in which the write interface differs
 * come first, here (drivers/infiniband/core/uverbs_cmd.c).
 */
#include "abi/entry/legacy.h"

#include <assert.h>
#include <errno.h>
#include <unistd.h>

#include "abi/core/ioctl.h"

union request {
	struct ib_uverbs_ioctl_hdr header; /* ends with attributes */
	uint8_t room[sizeof(struct ib_uverbs_ioctl_hdr) +
		SHCA_ATTRS_MAX * sizeof(struct ib_uverbs_attr)];
};

static struct ib_uverbs_attr *
add(union request *request, uint16_t id, uint16_t length, uint64_t data)
{
	struct ib_uverbs_attr *attr = &request->header.attrs[request->header.num_attrs++];

	assert(request->header.num_attrs <= SHCA_ATTRS_MAX);
	*attr = (struct ib_uverbs_attr){ .attr_id = id, .len = length, .data = data };
	return attr;
}

/** Pass the provider's parts on unchanged. */
static int
add_driver(const struct shca_write *write, union request *request)
{
	uint64_t data = write->driver_in->address;
	int ret = 0;

	if (write->driver_in->length > UINT16_MAX || write->driver_out->length > UINT16_MAX)
		return -EINVAL;
	if (write->driver_in->length <= sizeof(data))
		ret = shca_user_read(write->driver_in, 0, &data, sizeof(data));
	if (ret == 0 && write->driver_in->length != 0)
		add(request, UVERBS_ATTR_UHW_IN, (uint16_t)write->driver_in->length, data);
	if (ret == 0 && write->driver_out->length != 0)
		add(request, UVERBS_ATTR_UHW_OUT, (uint16_t)write->driver_out->length,
			write->driver_out->address);
	return ret;
}

static int
run(struct shca_write *write, union request *request, uint16_t object, uint16_t method)
{
	request->header.object_id = object;
	request->header.method_id = method;
	request->header.driver_id = RDMA_DRIVER_MLX5;
	request->header.length = (uint16_t)(sizeof(request->header) +
		request->header.num_attrs * sizeof(request->header.attrs[0]));
	return shca_ioctl_run_own(write->file, &request->header);
}

/** @return the address of the field at @p offset of the command's answer. */
static uint64_t
answer_at(const struct shca_write *write, size_t offset)
{
	return write->out->address + offset;
}

/** Zero the answer. A bad address fails here, before the method creates an object. */
static int
clear_answer(const struct shca_write *write)
{
	return shca_user_write(write->out, NULL, 0);
}

/** Run a request whose first attribute is the new object's handle. */
static int
create(struct shca_write *write, union request *request, uint16_t object, uint16_t method,
	size_t handle_offset)
{
	uint32_t handle;
	int ret = clear_answer(write);

	if (ret == 0)
		ret = add_driver(write, request);
	if (ret == 0)
		ret = run(write, request, object, method);
	if (ret != 0)
		return ret;
	handle = (uint32_t)request->header.attrs[0].data;
	return shca_user_copy_out(answer_at(write, handle_offset), &handle, sizeof(handle));
}

/** Write the length of an extended answer into it. */
static int
answer_length(const struct shca_write *write, size_t offset, size_t length)
{
	const uint32_t told = (uint32_t)(write->out->length < length ? write->out->length : length);

	return shca_user_copy_out(answer_at(write, offset), &told, sizeof(told));
}

/** A method that destroys: it takes a handle, and writes answer_bytes at offset. */
struct destroyer {
	uint16_t object, method, handle_attr, answer_attr;
	uint16_t answer_bytes;
	size_t offset;
};

static int
destroy(struct shca_write *write, uint32_t handle, const struct destroyer *how)
{
	union request request = { 0 };

	add(&request, how->handle_attr, 0, handle);
	if (how->answer_bytes != 0)
		add(&request, how->answer_attr, how->answer_bytes, answer_at(write, how->offset));
	return run(write, &request, how->object, how->method);
}

/** Create the context, and the descriptor of its asynchronous events. */
int
shca_legacy_get_context(struct shca_write *write)
{
	union request request = { 0 };
	struct shca_eventq *async;
	int ret;

	if (write->file->has_context)
		return -EINVAL;
	ret = clear_answer(write);
	if (ret == 0)
		ret = shca_eventq_create(write->file, SHCA_EVENTQ_ASYNC, &async);
	if (ret != 0)
		return ret;
	add(&request, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, sizeof(uint32_t),
		answer_at(write, offsetof(struct ib_uverbs_get_context_resp, num_comp_vectors)));
	ret = add_driver(write, &request);
	if (ret == 0)
		ret = run(write, &request, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT);
	if (ret == 0)
		ret = shca_user_give_fd(async->user_fd,
			answer_at(write, offsetof(struct ib_uverbs_get_context_resp, async_fd)),
			sizeof(__u32));
	if (ret != 0)
		close(async->user_fd);
	else
		write->file->async = async;
	return ret;
}

int
shca_legacy_dealloc_pd(struct shca_write *write)
{
	static const struct destroyer how = {
		.object = UVERBS_OBJECT_PD,
		.method = UVERBS_METHOD_PD_DESTROY,
		.handle_attr = UVERBS_ATTR_DESTROY_PD_HANDLE,
	};
	struct ib_uverbs_dealloc_pd command;
	int ret = shca_user_read(write->in, 0, &command, sizeof(command));

	return ret != 0 ? ret : destroy(write, command.pd_handle, &how);
}

int
shca_legacy_dereg_mr(struct shca_write *write)
{
	static const struct destroyer how = {
		.object = UVERBS_OBJECT_MR,
		.method = UVERBS_METHOD_MR_DESTROY,
		.handle_attr = UVERBS_ATTR_DESTROY_MR_HANDLE,
	};
	struct ib_uverbs_dereg_mr command;
	int ret = shca_user_read(write->in, 0, &command, sizeof(command));

	return ret != 0 ? ret : destroy(write, command.mr_handle, &how);
}

int
shca_legacy_dealloc_mw(struct shca_write *write)
{
	static const struct destroyer how = {
		.object = UVERBS_OBJECT_MW,
		.method = UVERBS_METHOD_MW_DESTROY,
		.handle_attr = UVERBS_ATTR_DESTROY_MW_HANDLE,
	};
	struct ib_uverbs_dealloc_mw command;
	int ret = shca_user_read(write->in, 0, &command, sizeof(command));

	return ret != 0 ? ret : destroy(write, command.mw_handle, &how);
}

static int
create_cq(struct shca_write *write, const struct ib_uverbs_ex_create_cq *command)
{
	union request request = { 0 };

	add(&request, UVERBS_ATTR_CREATE_CQ_HANDLE, 0, 0);
	add(&request, UVERBS_ATTR_CREATE_CQ_CQE, 4, command->cqe);
	add(&request, UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 8, command->user_handle);
	add(&request, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 4, command->comp_vector);
	add(&request, UVERBS_ATTR_CREATE_CQ_FLAGS, 4, command->flags);
	add(&request, UVERBS_ATTR_CREATE_CQ_RESP_CQE, 4,
		answer_at(write, offsetof(struct ib_uverbs_create_cq_resp, cqe)));
	if (command->comp_channel >= 0)
		add(&request, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, 0,
			(uint32_t)command->comp_channel);
	return create(write, &request, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE,
		offsetof(struct ib_uverbs_create_cq_resp, cq_handle));
}

int
shca_legacy_create_cq(struct shca_write *write)
{
	struct ib_uverbs_create_cq command;
	int ret = shca_user_read(write->in, 0, &command, sizeof(command));

	if (ret != 0)
		return ret;
	return create_cq(write,
		&(struct ib_uverbs_ex_create_cq){
			.user_handle = command.user_handle,
			.cqe = command.cqe,
			.comp_vector = command.comp_vector,
			.comp_channel = command.comp_channel,
		});
}

int
shca_legacy_create_cq_ex(struct shca_write *write)
{
	struct ib_uverbs_ex_create_cq command;
	int ret = shca_user_read(write->in, 0, &command, sizeof(command));

	if (ret != 0)
		return ret;
	if (command.comp_mask != 0 || command.reserved != 0)
		return -EINVAL;
	/* mlx5_ib_create_cq, which a method's flags do not reach. */
	if (command.flags &
		~(IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION | IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN))
		return -EOPNOTSUPP;
	ret = create_cq(write, &command);
	return ret != 0 ? ret
			: answer_length(write,
				  offsetof(struct ib_uverbs_ex_create_cq_resp, response_length),
				  sizeof(struct ib_uverbs_ex_create_cq_resp));
}

int
shca_legacy_destroy_cq(struct shca_write *write)
{
	static const struct destroyer how = {
		.object = UVERBS_OBJECT_CQ,
		.method = UVERBS_METHOD_CQ_DESTROY,
		.handle_attr = UVERBS_ATTR_DESTROY_CQ_HANDLE,
		.answer_attr = UVERBS_ATTR_DESTROY_CQ_RESP,
		.answer_bytes = sizeof(struct ib_uverbs_destroy_cq_resp),
	};
	struct ib_uverbs_destroy_cq command;
	int ret = shca_user_read(write->in, 0, &command, sizeof(command));

	return ret != 0 ? ret : destroy(write, command.cq_handle, &how);
}

/** Flags of the command that are flags of the method, too. The method's SQ_SIG_ALL is a field of
 * the command instead. */
#define CREATE_FLAGS                                                                               \
	(IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK | IB_UVERBS_QP_CREATE_SCATTER_FCS |          \
		IB_UVERBS_QP_CREATE_CVLAN_STRIPPING | IB_UVERBS_QP_CREATE_PCI_WRITE_END_PADDING)

/** Both forms of the command begin alike; the five limits are at @p cap_offset in this one. */
static int
create_qp(struct shca_write *write, const struct ib_uverbs_ex_create_qp *command, size_t cap_offset)
{
	const bool is_hash = (command->comp_mask & IB_UVERBS_CREATE_QP_MASK_IND_TABLE) != 0;
	const bool is_target = command->qp_type == IB_UVERBS_QPT_XRC_TGT;
	union request request = { 0 };

	if ((command->create_flags & ~CREATE_FLAGS) != 0)
		return -EINVAL;
	add(&request, UVERBS_ATTR_CREATE_QP_HANDLE, 0, 0);
	/* create_qp() of core/uverbs_cmd.c: an XRC target's domain is in its place. */
	add(&request,
		is_target ? UVERBS_ATTR_CREATE_QP_XRCD_HANDLE : UVERBS_ATTR_CREATE_QP_PD_HANDLE, 0,
		command->pd_handle);
	add(&request, UVERBS_ATTR_CREATE_QP_USER_HANDLE, 8, command->user_handle);
	add(&request, UVERBS_ATTR_CREATE_QP_TYPE, 8, command->qp_type);
	add(&request, UVERBS_ATTR_CREATE_QP_FLAGS, 4,
		command->create_flags | (command->sq_sig_all ? IB_UVERBS_QP_CREATE_SQ_SIG_ALL : 0));
	add(&request, UVERBS_ATTR_CREATE_QP_CAP, sizeof(struct ib_uverbs_qp_cap),
		write->in->address + cap_offset);
	add(&request, UVERBS_ATTR_CREATE_QP_RESP_CAP, sizeof(struct ib_uverbs_qp_cap),
		answer_at(write, offsetof(struct ib_uverbs_create_qp_resp, max_send_wr)));
	add(&request, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, 4,
		answer_at(write, offsetof(struct ib_uverbs_create_qp_resp, qpn)));
	if (is_hash)
		add(&request, UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE, 0,
			command->rwq_ind_tbl_handle);
	else if (!is_target && command->qp_type != IB_UVERBS_QPT_XRC_INI)
		add(&request, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, 0, command->recv_cq_handle);
	if (command->is_srq && !is_target && command->qp_type != IB_UVERBS_QPT_XRC_INI)
		add(&request, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, 0, command->srq_handle);
	if (!is_target && (!is_hash || command->max_send_wr != 0))
		add(&request, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, 0, command->send_cq_handle);
	return create(write, &request, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE,
		offsetof(struct ib_uverbs_create_qp_resp, qp_handle));
}

int
shca_legacy_create_qp(struct shca_write *write)
{
	struct ib_uverbs_create_qp command;
	int ret = shca_user_read(write->in, 0, &command, sizeof(command));

	if (ret != 0)
		return ret;
	return create_qp(write,
		&(struct ib_uverbs_ex_create_qp){
			.user_handle = command.user_handle,
			.pd_handle = command.pd_handle,
			.send_cq_handle = command.send_cq_handle,
			.recv_cq_handle = command.recv_cq_handle,
			.srq_handle = command.srq_handle,
			.max_send_wr = command.max_send_wr,
			.sq_sig_all = command.sq_sig_all,
			.qp_type = command.qp_type,
			.is_srq = command.is_srq,
		},
		offsetof(struct ib_uverbs_create_qp, max_send_wr));
}

int
shca_legacy_create_qp_ex(struct shca_write *write)
{
	struct ib_uverbs_ex_create_qp command;
	int ret = shca_user_read(write->in, 0, &command, sizeof(command));

	if (ret != 0)
		return ret;
	if ((command.comp_mask & ~(uint32_t)IB_UVERBS_CREATE_QP_MASK_IND_TABLE) != 0 ||
		command.reserved != 0)
		return -EINVAL;
	ret = create_qp(write, &command, offsetof(struct ib_uverbs_ex_create_qp, max_send_wr));
	return ret != 0 ? ret
			: answer_length(write,
				  offsetof(struct ib_uverbs_ex_create_qp_resp, response_length),
				  sizeof(struct ib_uverbs_ex_create_qp_resp));
}

int
shca_legacy_destroy_qp(struct shca_write *write)
{
	static const struct destroyer how = {
		.object = UVERBS_OBJECT_QP,
		.method = UVERBS_METHOD_QP_DESTROY,
		.handle_attr = UVERBS_ATTR_DESTROY_QP_HANDLE,
		.answer_attr = UVERBS_ATTR_DESTROY_QP_RESP,
		.answer_bytes = sizeof(struct ib_uverbs_destroy_qp_resp),
	};
	struct ib_uverbs_destroy_qp command;
	int ret = shca_user_read(write->in, 0, &command, sizeof(command));

	return ret != 0 ? ret : destroy(write, command.qp_handle, &how);
}

int
shca_legacy_destroy_ah(struct shca_write *write)
{
	static const struct destroyer how = {
		.object = UVERBS_OBJECT_AH,
		.method = UVERBS_METHOD_AH_DESTROY,
		.handle_attr = UVERBS_ATTR_DESTROY_AH_HANDLE,
	};
	struct ib_uverbs_destroy_ah command;
	int ret = shca_user_read(write->in, 0, &command, sizeof(command));

	return ret != 0 ? ret : destroy(write, command.ah_handle, &how);
}

/** Both forms of the command; a basic SRQ has neither CQ nor XRC domain. */
static int
create_srq(struct shca_write *write, const struct ib_uverbs_create_xsrq *command)
{
	const bool is_xrc = command->srq_type == IB_UVERBS_SRQT_XRC;
	union request request = { 0 };

	add(&request, UVERBS_ATTR_CREATE_SRQ_HANDLE, 0, 0);
	add(&request, UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, 0, command->pd_handle);
	add(&request, UVERBS_ATTR_CREATE_SRQ_TYPE, 8, command->srq_type);
	add(&request, UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, 8, command->user_handle);
	add(&request, UVERBS_ATTR_CREATE_SRQ_MAX_WR, 4, command->max_wr);
	add(&request, UVERBS_ATTR_CREATE_SRQ_MAX_SGE, 4, command->max_sge);
	add(&request, UVERBS_ATTR_CREATE_SRQ_LIMIT, 4, command->srq_limit);
	add(&request, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, 4,
		answer_at(write, offsetof(struct ib_uverbs_create_srq_resp, max_wr)));
	add(&request, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, 4,
		answer_at(write, offsetof(struct ib_uverbs_create_srq_resp, max_sge)));
	if (is_xrc) {
		add(&request, UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE, 0, command->xrcd_handle);
		add(&request, UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, 0, command->cq_handle);
		add(&request, UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, 4,
			answer_at(write, offsetof(struct ib_uverbs_create_srq_resp, srqn)));
	}
	return create(write, &request, UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE,
		offsetof(struct ib_uverbs_create_srq_resp, srq_handle));
}

int
shca_legacy_create_srq(struct shca_write *write)
{
	struct ib_uverbs_create_srq command;
	int ret = shca_user_read(write->in, 0, &command, sizeof(command));

	if (ret != 0)
		return ret;
	return create_srq(write,
		&(struct ib_uverbs_create_xsrq){
			.user_handle = command.user_handle,
			.srq_type = IB_UVERBS_SRQT_BASIC,
			.pd_handle = command.pd_handle,
			.max_wr = command.max_wr,
			.max_sge = command.max_sge,
			.srq_limit = command.srq_limit,
		});
}

int
shca_legacy_create_xsrq(struct shca_write *write)
{
	struct ib_uverbs_create_xsrq command;
	int ret = shca_user_read(write->in, 0, &command, sizeof(command));

	return ret != 0 ? ret : create_srq(write, &command);
}

int
shca_legacy_close_xrcd(struct shca_write *write)
{
	static const struct destroyer how = {
		.object = UVERBS_OBJECT_XRCD,
		.method = UVERBS_METHOD_XRCD_DESTROY,
		.handle_attr = UVERBS_ATTR_DESTROY_XRCD_HANDLE,
	};
	struct ib_uverbs_close_xrcd command;
	int ret = shca_user_read(write->in, 0, &command, sizeof(command));

	return ret != 0 ? ret : destroy(write, command.xrcd_handle, &how);
}

int
shca_legacy_destroy_srq(struct shca_write *write)
{
	static const struct destroyer how = {
		.object = UVERBS_OBJECT_SRQ,
		.method = UVERBS_METHOD_SRQ_DESTROY,
		.handle_attr = UVERBS_ATTR_DESTROY_SRQ_HANDLE,
		.answer_attr = UVERBS_ATTR_DESTROY_SRQ_RESP,
		.answer_bytes = sizeof(struct ib_uverbs_destroy_srq_resp),
	};
	struct ib_uverbs_destroy_srq command;
	int ret = shca_user_read(write->in, 0, &command, sizeof(command));

	return ret != 0 ? ret : destroy(write, command.srq_handle, &how);
}

int
shca_legacy_create_wq(struct shca_write *write)
{
	struct ib_uverbs_ex_create_wq command;
	union request request = { 0 };
	int ret = shca_user_read(write->in, 0, &command, sizeof(command));

	if (ret == 0 && command.comp_mask != 0)
		ret = -EOPNOTSUPP;
	if (ret != 0)
		return ret;
	add(&request, UVERBS_ATTR_CREATE_WQ_HANDLE, 0, 0);
	add(&request, UVERBS_ATTR_CREATE_WQ_PD_HANDLE, 0, command.pd_handle);
	add(&request, UVERBS_ATTR_CREATE_WQ_CQ_HANDLE, 0, command.cq_handle);
	add(&request, UVERBS_ATTR_CREATE_WQ_USER_HANDLE, 8, command.user_handle);
	add(&request, UVERBS_ATTR_CREATE_WQ_TYPE, 8, command.wq_type);
	add(&request, UVERBS_ATTR_CREATE_WQ_MAX_WR, 4, command.max_wr);
	add(&request, UVERBS_ATTR_CREATE_WQ_MAX_SGE, 4, command.max_sge);
	add(&request, UVERBS_ATTR_CREATE_WQ_FLAGS, 4, command.create_flags);
	add(&request, UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR, 4,
		answer_at(write, offsetof(struct ib_uverbs_ex_create_wq_resp, max_wr)));
	add(&request, UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE, 4,
		answer_at(write, offsetof(struct ib_uverbs_ex_create_wq_resp, max_sge)));
	add(&request, UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, 4,
		answer_at(write, offsetof(struct ib_uverbs_ex_create_wq_resp, wqn)));
	ret = create(write, &request, UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_CREATE,
		offsetof(struct ib_uverbs_ex_create_wq_resp, wq_handle));
	return ret != 0 ? ret
			: answer_length(write,
				  offsetof(struct ib_uverbs_ex_create_wq_resp, response_length),
				  sizeof(struct ib_uverbs_ex_create_wq_resp));
}

int
shca_legacy_destroy_wq(struct shca_write *write)
{
	static const struct destroyer how = {
		.object = UVERBS_OBJECT_WQ,
		.method = UVERBS_METHOD_WQ_DESTROY,
		.handle_attr = UVERBS_ATTR_DESTROY_WQ_HANDLE,
		.answer_attr = UVERBS_ATTR_DESTROY_WQ_RESP,
		.answer_bytes = sizeof(uint32_t),
		.offset = offsetof(struct ib_uverbs_ex_destroy_wq_resp, events_reported),
	};
	struct ib_uverbs_ex_destroy_wq command;
	int ret = shca_user_read(write->in, 0, &command, sizeof(command));

	if (ret == 0 && command.comp_mask != 0)
		ret = -EOPNOTSUPP;
	if (ret == 0)
		ret = destroy(write, command.wq_handle, &how);
	return ret != 0 ? ret
			: answer_length(write,
				  offsetof(struct ib_uverbs_ex_destroy_wq_resp, response_length),
				  sizeof(struct ib_uverbs_ex_destroy_wq_resp));
}

int
shca_legacy_destroy_rwq_ind(struct shca_write *write)
{
	static const struct destroyer how = {
		.object = UVERBS_OBJECT_RWQ_IND_TBL,
		.method = UVERBS_METHOD_RWQ_IND_TBL_DESTROY,
		.handle_attr = UVERBS_ATTR_DESTROY_RWQ_IND_TBL_HANDLE,
	};
	struct ib_uverbs_ex_destroy_rwq_ind_table command;
	int ret = shca_user_read(write->in, 0, &command, sizeof(command));

	if (ret == 0 && command.comp_mask != 0)
		ret = -EOPNOTSUPP;
	return ret != 0 ? ret : destroy(write, command.ind_tbl_handle, &how);
}

int
shca_legacy_destroy_flow(struct shca_write *write)
{
	static const struct destroyer how = {
		.object = UVERBS_OBJECT_FLOW,
		.method = UVERBS_METHOD_FLOW_DESTROY,
		.handle_attr = UVERBS_ATTR_DESTROY_FLOW_HANDLE,
	};
	struct ib_uverbs_destroy_flow command;
	int ret = shca_user_read(write->in, 0, &command, sizeof(command));

	if (ret == 0 && command.comp_mask != 0)
		ret = -EINVAL;
	return ret != 0 ? ret : destroy(write, command.flow_handle, &how);
}
