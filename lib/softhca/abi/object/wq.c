/* SPDX-License-Identifier: BSD-3-Clause */
/* Work queues: receive queues of their own, for indirection tables. */
#include <assert.h>
#include <errno.h>
#include <linux/capability.h>

#include <infiniband/verbs.h>
#include <rdma/mlx5-abi.h>

#include "abi/core/caps.h"
#include "abi/core/ioctl.h"
#include "abi/memory/classes.h"
#include "abi/object/commands.h"
#include "abi/object/methods.h"
#include "config/model.h"
#include "hw/queue/rq.h"
#include "strict/findings.h"

static_assert(sizeof(struct mlx5_ib_create_wq) == 48, "as rdma-core 44 has it");

#define KNOWN_FLAGS                                                                                \
	(IB_UVERBS_WQ_FLAGS_CVLAN_STRIPPING | IB_UVERBS_WQ_FLAGS_SCATTER_FCS |                     \
		IB_UVERBS_WQ_FLAGS_DELAY_DROP | IB_UVERBS_WQ_FLAGS_PCI_WRITE_END_PADDING)

static void
on_event(void *owner, enum shca_event event)
{
	struct shca_wq_object *wq = owner;

	if (shca_eventq_send_async(wq->async, wq->object.user_handle, event))
		wq->nb_async_events++;
}

static void
destroy(struct shca_object *object)
{
	struct shca_wq_object *wq = (struct shca_wq_object *)object;

	shca_rq_destroy(wq->rq);
	wq->nb_async_events -=
		shca_eventq_drop(wq->async, object->user_handle, wq->nb_async_events);
	shca_eventq_put(wq->async);
	wq->pd->object.nb_users--;
	wq->cq->object.nb_users--;
}

const struct shca_object_class shca_wq_class = {
	.type = UVERBS_OBJECT_WQ,
	.name = "WQ",
	.bytes = sizeof(struct shca_wq_object),
	.limit = SHCA_LIMIT_WQ,
	.destroy = destroy,
};

static int
check_flags(const struct shca_model *model, uint64_t flags)
{
	if ((flags & IB_UVERBS_WQ_FLAGS_DELAY_DROP) && !shca_caps_has(CAP_SYS_RAWIO))
		return -EPERM;
	if (flags & IB_UVERBS_WQ_FLAGS_DELAY_DROP)
		return -EOPNOTSUPP;
	if ((flags & IB_UVERBS_WQ_FLAGS_SCATTER_FCS) && !model->scatter_fcs)
		return -EOPNOTSUPP;
	if ((flags & IB_UVERBS_WQ_FLAGS_CVLAN_STRIPPING) && !model->cvlan_strip)
		return -EOPNOTSUPP;
	return 0;
}

/** As prepare_user_rq (hw/mlx5/qp.c). */
static int
check_striding(const struct shca_model *model, const struct mlx5_ib_create_wq *request)
{
	if ((request->comp_mask & MLX5_IB_CREATE_WQ_STRIDING_RQ) == 0)
		return 0;
	if (model->min_log_strides == 0)
		return -EOPNOTSUPP;
	if (request->single_stride_log_num_of_bytes < SHCA_MIN_LOG_STRIDE_BYTES ||
		request->single_stride_log_num_of_bytes > SHCA_MAX_LOG_STRIDE_BYTES ||
		request->single_wqe_log_num_of_strides < model->min_log_strides ||
		request->single_wqe_log_num_of_strides > SHCA_MAX_LOG_STRIDES)
		return -EINVAL;
	return 0;
}

/** As mlx5_ib_create_wq: whoever asks for an answer has room for all of it. */
static int
check_room(const struct shca_user_buffer *buffer)
{
	return buffer->length != 0 && buffer->length < sizeof(struct mlx5_ib_create_wq_resp)
		? -EINVAL
		: 0;
}

/** As prepare_user_rq, set_user_rq_size and create_user_rq (hw/mlx5/qp.c). */
static int
check_driver_request(const struct shca_model *model, const struct shca_user_buffer *buffer,
	uint64_t max_wr, struct mlx5_ib_create_wq *request)
{
	int ret;

	if (buffer->length < offsetof(struct mlx5_ib_create_wq, single_wqe_log_num_of_strides))
		return -EINVAL;
	ret = shca_user_read_known(buffer, request, sizeof(*request));
	if (ret != 0)
		return ret;
	if (request->comp_mask & ~(uint32_t)MLX5_IB_CREATE_WQ_STRIDING_RQ)
		return -EOPNOTSUPP;
	ret = check_striding(model, request);
	if (ret != 0)
		return ret;
	if (max_wr > model->max_recv_wr || request->rq_wqe_count == 0)
		return -EINVAL;
	if (request->rq_wqe_shift >= 32 ||
		(uint64_t)request->rq_wqe_count << request->rq_wqe_shift > UINT32_MAX)
		return -EINVAL;
	return request->buf_addr != 0 ? 0 : -EINVAL;
}

static int
answer_create(const struct shca_bundle *bundle, const struct shca_wq_object *wq)
{
	const uint32_t max_wr = (uint32_t)shca_ioctl_value(bundle, UVERBS_ATTR_CREATE_WQ_MAX_WR);
	const uint32_t max_sge = (uint32_t)shca_ioctl_value(bundle, UVERBS_ATTR_CREATE_WQ_MAX_SGE);
	const uint32_t number = shca_rq_number(wq->rq);
	const struct mlx5_ib_create_wq_resp driver_response = {
		.response_length = sizeof(driver_response.response_length),
	};
	int ret;

	ret = shca_ioctl_out(bundle, UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR, &max_wr, sizeof(max_wr));
	if (ret == 0)
		ret = shca_ioctl_out(
			bundle, UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE, &max_sge, sizeof(max_sge));
	if (ret == 0)
		ret = shca_ioctl_out_needed(
			bundle, UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, &number, sizeof(number));
	if (ret == 0)
		ret = shca_ioctl_out(
			bundle, UVERBS_ATTR_UHW_OUT, &driver_response, sizeof(driver_response));
	return ret;
}

static int
create(struct shca_bundle *bundle)
{
	const struct shca_model *model = bundle->file->model;
	struct shca_wq_object *wq = shca_ioctl_object(bundle, UVERBS_ATTR_CREATE_WQ_HANDLE);
	uint64_t flags = shca_ioctl_value(bundle, UVERBS_ATTR_CREATE_WQ_FLAGS);
	struct mlx5_ib_create_wq request;
	struct shca_rq_attr attr;
	uint8_t *dbrec;
	int ret;

	if (shca_ioctl_value(bundle, UVERBS_ATTR_CREATE_WQ_TYPE) != IB_UVERBS_WQT_RQ)
		return -EINVAL;
	ret = check_room(shca_ioctl_buffer(bundle, UVERBS_ATTR_UHW_OUT));
	if (ret == 0)
		ret = check_driver_request(model, shca_ioctl_buffer(bundle, UVERBS_ATTR_UHW_IN),
			shca_ioctl_value(bundle, UVERBS_ATTR_CREATE_WQ_MAX_WR), &request);
	if (ret == 0)
		ret = check_flags(model, flags);
	if (ret != 0)
		return ret;
	wq->object.user_handle = shca_ioctl_value(bundle, UVERBS_ATTR_CREATE_WQ_USER_HANDLE);
	wq->pd = shca_ioctl_object(bundle, UVERBS_ATTR_CREATE_WQ_PD_HANDLE);
	wq->cq = shca_ioctl_object(bundle, UVERBS_ATTR_CREATE_WQ_CQ_HANDLE);
	attr = (struct shca_rq_attr){
		.nb_wqes = request.rq_wqe_count,
		.stride_bytes = 1u << request.rq_wqe_shift,
		.pdn = wq->pd->pdn,
		.user_index = request.user_index,
		.cvlan_strip = (flags & IB_UVERBS_WQ_FLAGS_CVLAN_STRIPPING) != 0,
		.scatter_fcs = (flags & IB_UVERBS_WQ_FLAGS_SCATTER_FCS) != 0,
		.has_signature = (request.flags & MLX5_WQ_FLAG_SIGNATURE) != 0,
		.cq = wq->cq->cq,
		.context = &bundle->file->context,
		.event = on_event,
		.owner = wq,
	};
	if (request.comp_mask & MLX5_IB_CREATE_WQ_STRIDING_RQ) {
		attr.log_strides = (uint8_t)request.single_wqe_log_num_of_strides;
		attr.log_stride_bytes = (uint8_t)request.single_stride_log_num_of_bytes;
		attr.two_byte_shift = request.two_byte_shift_en != 0;
	}
	ret = shca_object_pin(&wq->object, request.buf_addr,
		(uint64_t)attr.nb_wqes * attr.stride_bytes, false, &attr.ring);
	if (ret == 0)
		ret = shca_object_pin(
			&wq->object, request.db_addr, SHCA_DBREC_BYTES, false, &dbrec);
	if (ret != 0)
		return ret;
	attr.dbrec = (__be32 *)(void *)dbrec;
	ret = shca_rq_create(bundle->file->dev, &attr, &wq->rq);
	if (ret != 0)
		return ret;
	ret = answer_create(bundle, wq);
	if (ret != 0) {
		shca_rq_destroy(wq->rq);
		return ret;
	}
	wq->state = IBV_WQS_RESET;
	wq->async = shca_eventq_get_async(
		bundle->file, shca_ioctl_eventq(bundle, UVERBS_ATTR_CREATE_WQ_EVENT_FD));
	wq->pd->object.nb_users++;
	wq->cq->object.nb_users++;
	return 0;
}

static int
answer_destroy(struct shca_bundle *bundle)
{
	const struct shca_wq_object *wq = shca_ioctl_object(bundle, UVERBS_ATTR_DESTROY_WQ_HANDLE);

	return shca_ioctl_out(bundle, UVERBS_ATTR_DESTROY_WQ_RESP, &wq->nb_async_events,
		sizeof(wq->nb_async_events));
}

/** PRM, MODIFY_RQ: a queue leaves the error state through reset. */
static const struct {
	bool is_allowed;
	enum shca_queue_state state;
} transitions[3][3] = {
	[IBV_WQS_RESET] = {
		[IBV_WQS_RESET] = { true, SHCA_QUEUE_RESET },
		[IBV_WQS_RDY] = { true, SHCA_QUEUE_READY },
		[IBV_WQS_ERR] = { true, SHCA_QUEUE_ERROR },
	},
	[IBV_WQS_RDY] = {
		[IBV_WQS_RESET] = { true, SHCA_QUEUE_RESET },
		[IBV_WQS_RDY] = { true, SHCA_QUEUE_READY },
		[IBV_WQS_ERR] = { true, SHCA_QUEUE_ERROR },
	},
	[IBV_WQS_ERR] = {
		[IBV_WQS_RESET] = { true, SHCA_QUEUE_RESET },
		[IBV_WQS_ERR] = { true, SHCA_QUEUE_ERROR },
	},
};

/** The states of work queues in verbs. */
static const uint8_t wq_states[] = {
	[SHCA_QUEUE_RESET] = IBV_WQS_RESET,
	[SHCA_QUEUE_READY] = IBV_WQS_RDY,
	[SHCA_QUEUE_ERROR] = IBV_WQS_ERR,
};

/**
 * The current state is an argument of MODIFY_RQ, which firmware checks (PRM, MODIFY_RQ: rq_state).
 * hw/mlx5/qp.c mlx5_ib_modify_wq() passes what the program names, otherwise the state that was set
 * last: a queue that has failed since is in another. No source tells how firmware answers then,
 * so a state that the program did not name is accepted, and reported.
 * @return 0 or -EINVAL
 */
static int
check_current(
	const struct shca_file *file, const struct shca_wq_object *wq, uint32_t from, bool named)
{
	const struct shca_device_conf *conf = shca_device_conf(file->dev);
	struct shca_finding_site site = {
		.device = conf->index,
		.queue = "RQ",
		.number = shca_rq_number(wq->rq),
		.context = &file->context,
	};

	if (from == wq_states[shca_rq_state(wq->rq)])
		return 0;
	if (named)
		return -EINVAL;
	if (conf->findings != NULL)
		shca_findings_report(conf->findings, SHCA_FINDING_QUEUE_STATE, &site);
	return 0;
}

/** A live queue can change one flag only: VLAN stripping. */
static int
check_modify_flags(const struct shca_model *model, const struct ib_uverbs_ex_modify_wq *request)
{
	if ((request->attr_mask & IBV_WQ_ATTR_FLAGS) == 0)
		return 0;
	if ((request->flags_mask & IB_UVERBS_WQ_FLAGS_CVLAN_STRIPPING) && !model->cvlan_strip)
		return -EOPNOTSUPP;
	if (request->flags_mask & IB_UVERBS_WQ_FLAGS_PCI_WRITE_END_PADDING)
		return -EOPNOTSUPP;
	return 0;
}

int
shca_wq_write_modify(struct shca_write *write)
{
	struct ib_uverbs_ex_modify_wq request;
	struct mlx5_ib_modify_wq driver_request;
	struct shca_object *object;
	struct shca_wq_object *wq;
	uint32_t from, to;
	int ret;

	ret = shca_user_read(write->in, 0, &request, sizeof(request));
	if (ret != 0)
		return ret;
	if (request.attr_mask == 0 ||
		request.attr_mask >
			(IBV_WQ_ATTR_STATE | IBV_WQ_ATTR_CURR_STATE | IBV_WQ_ATTR_FLAGS))
		return -EINVAL;
	ret = shca_object_find(write->file, &shca_wq_class, request.wq_handle, &object);
	/* mlx5_ib_modify_wq(): its part must be there. */
	if (ret == 0 && write->driver_in->length < sizeof(driver_request))
		ret = -EINVAL;
	if (ret == 0)
		ret = shca_user_read_known(
			write->driver_in, &driver_request, sizeof(driver_request));
	if (ret != 0)
		return ret;
	wq = (struct shca_wq_object *)object;
	from = request.attr_mask & IBV_WQ_ATTR_CURR_STATE ? request.curr_wq_state : wq->state;
	to = request.attr_mask & IBV_WQ_ATTR_STATE ? request.wq_state : from;
	if (from > IBV_WQS_ERR || to > IBV_WQS_ERR)
		return -EINVAL;
	if (driver_request.comp_mask != 0 || driver_request.reserved != 0)
		return -EOPNOTSUPP;
	ret = check_modify_flags(write->file->model, &request);
	if (ret != 0)
		return ret;
	if (!transitions[from][to].is_allowed)
		return -EINVAL;
	ret = check_current(
		write->file, wq, from, (request.attr_mask & IBV_WQ_ATTR_CURR_STATE) != 0);
	if (ret != 0)
		return ret;
	if ((request.attr_mask & IBV_WQ_ATTR_FLAGS) &&
		(request.flags_mask & IB_UVERBS_WQ_FLAGS_CVLAN_STRIPPING))
		shca_rq_set_cvlan_strip(
			wq->rq, (request.flags & IB_UVERBS_WQ_FLAGS_CVLAN_STRIPPING) != 0);
	if (from != to)
		shca_rq_modify(wq->rq, transitions[from][to].state);
	wq->state = to;
	return 0;
}

/* clang-format off */
static const struct shca_attr_row create_rows[] = {
	SHCA_NEW(UVERBS_ATTR_CREATE_WQ_HANDLE, &shca_wq_class),
	SHCA_HANDLE(UVERBS_ATTR_CREATE_WQ_PD_HANDLE, &shca_pd_class),
	SHCA_HANDLE(UVERBS_ATTR_CREATE_WQ_CQ_HANDLE, &shca_cq_class),
	SHCA_IN(UVERBS_ATTR_CREATE_WQ_USER_HANDLE, 8),
	SHCA_IN(UVERBS_ATTR_CREATE_WQ_TYPE, 8),
	SHCA_FD_OPTIONAL(UVERBS_ATTR_CREATE_WQ_EVENT_FD, SHCA_EVENTQ_ASYNC),
	SHCA_IN(UVERBS_ATTR_CREATE_WQ_MAX_WR, 4),
	SHCA_IN(UVERBS_ATTR_CREATE_WQ_MAX_SGE, 4),
	SHCA_FLAGS_MANDATORY(UVERBS_ATTR_CREATE_WQ_FLAGS, KNOWN_FLAGS),
	SHCA_OUT(UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR, 4),
	SHCA_OUT(UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE, 4),
	SHCA_OUT_OPTIONAL(UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, 4),
	SHCA_UHW,
};

static const struct shca_attr_row destroy_rows[] = {
	SHCA_DESTROY(UVERBS_ATTR_DESTROY_WQ_HANDLE, &shca_wq_class),
	SHCA_OUT(UVERBS_ATTR_DESTROY_WQ_RESP, 4),
};

const struct shca_method shca_wq_methods[] = {
	{ UVERBS_METHOD_WQ_CREATE, SHCA_ROWS(create_rows), .handler = create },
	{ UVERBS_METHOD_WQ_DESTROY, SHCA_ROWS(destroy_rows), .handler = answer_destroy },
	{ 0 },
};
/* clang-format on */
