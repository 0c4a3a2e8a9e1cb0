/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared receive queues. */
#include <assert.h>
#include <errno.h>

#include <infiniband/verbs.h>
#include <rdma/mlx5-abi.h>

#include "abi/core/ioctl.h"
#include "abi/memory/classes.h"
#include "abi/object/commands.h"
#include "abi/object/methods.h"
#include "base/log.h"
#include "config/model.h"
#include "hw/roce/srq.h"

static_assert(sizeof(struct mlx5_ib_create_srq) == 32, "as rdma-core 44 has it");

#define SEGMENT_BYTES    16       /* next, and data */
#define UIDX_DEFAULT     0xffffff /* MLX5_IB_DEFAULT_UIDX: stands for none */
#define STRIDE_BYTES_MIN 32       /* Linux hw/mlx5/srq.c mlx5_ib_create_srq */

static void
on_event(void *owner, enum shca_event event)
{
	struct shca_srq_object *srq = owner;

	if (shca_eventq_send_async(srq->async, srq->object.user_handle, event))
		srq->nb_async_events++;
}

static void
destroy(struct shca_object *object)
{
	struct shca_srq_object *srq = (struct shca_srq_object *)object;

	shca_srq_destroy(srq->srq);
	srq->nb_async_events -=
		shca_eventq_drop(srq->async, object->user_handle, srq->nb_async_events);
	shca_eventq_put(srq->async);
	srq->pd->object.nb_users--;
	if (srq->xrcd != NULL) {
		srq->xrcd->object.nb_users--;
		srq->cq->object.nb_users--;
	}
}

const struct shca_object_class shca_srq_class = {
	.type = UVERBS_OBJECT_SRQ,
	.name = "SRQ",
	.bytes = sizeof(struct shca_srq_object),
	.limit = SHCA_LIMIT_WQ,
	.destroy = destroy,
};

static uint32_t
round_up_pow2(uint32_t value)
{
	uint32_t power = 1;

	while (power < value)
		power <<= 1;
	return power;
}

/** As mlx5_ib_create_srq: the ring follows from the limits. */
static int
check_size(const struct shca_model *model, uint32_t max_wr, uint32_t max_sge,
	struct shca_srq_attr *attr)
{
	if (max_wr >= model->max_recv_wr || max_sge > model->max_rq_desc_bytes / SEGMENT_BYTES) {
		SHCA_WARN("an SRQ of %u WRs of %u SGEs: the device has %u of %u", max_wr, max_sge,
			model->max_recv_wr - 1, model->max_rq_desc_bytes / SEGMENT_BYTES);
		return -EINVAL;
	}
	attr->nb_wqes = round_up_pow2(max_wr + 1);
	attr->stride_bytes = round_up_pow2(SEGMENT_BYTES + max_sge * SEGMENT_BYTES);
	if (attr->stride_bytes < STRIDE_BYTES_MIN)
		attr->stride_bytes = STRIDE_BYTES_MIN;
	return 0;
}

/** As create_srq_user(), get_srq_user_index(). A basic SRQ's user index is not used: its
 * completions name the QP. */
static int
read_request(const struct shca_bundle *bundle, bool is_xrc, struct mlx5_ib_create_srq *request)
{
	const struct shca_user_buffer *buffer = shca_ioctl_buffer(bundle, UVERBS_ATTR_UHW_IN);
	int ret;

	ret = shca_user_read(buffer, 0, request, sizeof(*request));
	if (ret == 0 && shca_user_check_clear(buffer, sizeof(*request)) != 0)
		ret = -EINVAL;
	/* Flags that mlx5_ib does not know mean nothing. */
	if (ret == 0 && (request->reserved0 != 0 || request->reserved1 != 0))
		ret = -EINVAL;
	if (ret == 0 && is_xrc &&
		(bundle->file->cqe_version == 0 || request->uidx >= UIDX_DEFAULT ||
			buffer->length < offsetof(struct mlx5_ib_create_srq, reserved1)))
		ret = -EINVAL;
	return ret;
}

static int
pin(struct shca_srq_object *srq, const struct mlx5_ib_create_srq *request,
	struct shca_srq_attr *attr)
{
	uint8_t *dbrec;
	int ret = shca_object_pin(&srq->object, request->buf_addr,
		(uint64_t)attr->nb_wqes * attr->stride_bytes, false, &attr->ring);

	if (ret == 0)
		ret = shca_object_pin(
			&srq->object, request->db_addr, SHCA_DBREC_BYTES, false, &dbrec);
	if (ret == 0)
		attr->dbrec = (__be32 *)(void *)dbrec;
	return ret;
}

static int
answer(const struct shca_bundle *bundle, const struct shca_srq_object *srq)
{
	const struct mlx5_ib_create_srq_resp driver_response = {
		.srqn = shca_srq_number(srq->srq),
	};
	int ret = shca_ioctl_out(
		bundle, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, &srq->max_wr, sizeof(srq->max_wr));

	if (ret == 0)
		ret = shca_ioctl_out(bundle, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, &srq->max_sge,
			sizeof(srq->max_sge));
	if (ret == 0 && srq->xrcd != NULL)
		ret = shca_ioctl_out_needed(bundle, UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM,
			&driver_response.srqn, sizeof(driver_response.srqn));
	if (ret == 0)
		ret = shca_ioctl_out(
			bundle, UVERBS_ATTR_UHW_OUT, &driver_response, sizeof(driver_response));
	return ret;
}

static int
create(struct shca_bundle *bundle)
{
	struct shca_srq_object *srq = shca_ioctl_object(bundle, UVERBS_ATTR_CREATE_SRQ_HANDLE);
	const uint64_t type = shca_ioctl_value(bundle, UVERBS_ATTR_CREATE_SRQ_TYPE);
	struct mlx5_ib_create_srq request;
	struct shca_srq_attr attr = {
		.context = &bundle->file->context, .event = on_event, .owner = srq
	};
	int ret;

	if (type == IB_UVERBS_SRQT_TM)
		return -EOPNOTSUPP;
	if (type > IB_UVERBS_SRQT_TM)
		return -EINVAL;
	if (shca_gid_nb(bundle->file->dev) == 0)
		return -EOPNOTSUPP;
	srq->max_wr = (uint32_t)shca_ioctl_value(bundle, UVERBS_ATTR_CREATE_SRQ_MAX_WR);
	srq->max_sge = (uint32_t)shca_ioctl_value(bundle, UVERBS_ATTR_CREATE_SRQ_MAX_SGE);
	srq->object.user_handle = shca_ioctl_value(bundle, UVERBS_ATTR_CREATE_SRQ_USER_HANDLE);
	srq->pd = shca_ioctl_object(bundle, UVERBS_ATTR_CREATE_SRQ_PD_HANDLE);
	if (type == IB_UVERBS_SRQT_XRC) {
		srq->cq = shca_ioctl_object(bundle, UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE);
		srq->xrcd = shca_ioctl_object(bundle, UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE);
		if (srq->cq == NULL || srq->xrcd == NULL)
			return -ENOENT;
	}
	ret = check_size(bundle->file->model, srq->max_wr, srq->max_sge, &attr);
	if (ret == 0)
		ret = read_request(bundle, srq->xrcd != NULL, &request);
	if (ret == 0)
		ret = pin(srq, &request, &attr);
	if (ret != 0)
		return ret;
	attr.pdn = srq->pd->pdn;
	if (srq->xrcd != NULL) {
		attr.cq = srq->cq->cq;
		attr.user_index = request.uidx;
		attr.xrcdn = srq->xrcd->xrcdn;
	}
	srq->max_wr = attr.nb_wqes - 1;
	ret = shca_srq_create(bundle->file->dev, &attr, &srq->srq);
	if (ret == 0)
		ret = answer(bundle, srq);
	if (ret != 0) {
		shca_srq_destroy(srq->srq);
		return ret;
	}
	srq->pd->object.nb_users++;
	if (srq->xrcd != NULL) {
		srq->xrcd->object.nb_users++;
		srq->cq->object.nb_users++;
	}
	srq->async = shca_eventq_get_async(
		bundle->file, shca_ioctl_eventq(bundle, UVERBS_ATTR_CREATE_SRQ_EVENT_FD));
	return 0;
}

static int
answer_destroy(struct shca_bundle *bundle)
{
	const struct shca_srq_object *srq =
		shca_ioctl_object(bundle, UVERBS_ATTR_DESTROY_SRQ_HANDLE);

	return shca_ioctl_out(bundle, UVERBS_ATTR_DESTROY_SRQ_RESP, &srq->nb_async_events,
		sizeof(srq->nb_async_events));
}

/** As mlx5_ib_modify_srq: its size stays. */
int
shca_srq_write_modify(struct shca_write *write)
{
	struct ib_uverbs_modify_srq request;
	struct shca_object *object;
	struct shca_srq_object *srq;
	int ret = shca_user_read(write->in, 0, &request, sizeof(request));

	if (ret == 0)
		ret = shca_object_find(write->file, &shca_srq_class, request.srq_handle, &object);
	if (ret != 0)
		return ret;
	srq = (struct shca_srq_object *)object;
	if (request.attr_mask & IBV_SRQ_MAX_WR)
		return -EINVAL;
	if ((request.attr_mask & IBV_SRQ_LIMIT) == 0)
		return 0;
	if (request.srq_limit > srq->max_wr)
		return -EINVAL;
	shca_srq_arm(srq->srq, request.srq_limit);
	return 0;
}

int
shca_srq_write_query(struct shca_write *write)
{
	struct ib_uverbs_query_srq_resp response = { 0 };
	struct ib_uverbs_query_srq request;
	const struct shca_srq_object *srq;
	struct shca_object *object;
	int ret = shca_user_read(write->in, 0, &request, sizeof(request));

	if (ret == 0)
		ret = shca_object_find(write->file, &shca_srq_class, request.srq_handle, &object);
	if (ret != 0)
		return ret;
	srq = (const struct shca_srq_object *)object;
	response.max_wr = srq->max_wr;
	response.max_sge = srq->max_sge;
	response.srq_limit = shca_srq_limit(srq->srq);
	return shca_user_write(write->out, &response, sizeof(response));
}

/* clang-format off */
static const struct shca_attr_row create_rows[] = {
	SHCA_NEW(UVERBS_ATTR_CREATE_SRQ_HANDLE, &shca_srq_class),
	SHCA_HANDLE(UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, &shca_pd_class),
	SHCA_IN(UVERBS_ATTR_CREATE_SRQ_TYPE, 8),
	SHCA_IN(UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, 8),
	SHCA_IN(UVERBS_ATTR_CREATE_SRQ_MAX_WR, 4),
	SHCA_IN(UVERBS_ATTR_CREATE_SRQ_MAX_SGE, 4),
	SHCA_IN(UVERBS_ATTR_CREATE_SRQ_LIMIT, 4),
	SHCA_HANDLE_OPTIONAL(UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE, &shca_xrcd_class),
	SHCA_HANDLE_OPTIONAL(UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, &shca_cq_class),
	SHCA_OUT_OPTIONAL(UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, 4),
	SHCA_FD_OPTIONAL(UVERBS_ATTR_CREATE_SRQ_EVENT_FD, SHCA_EVENTQ_ASYNC),
	SHCA_OUT(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, 4),
	SHCA_OUT(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, 4),
	SHCA_UHW,
};

static const struct shca_attr_row destroy_rows[] = {
	SHCA_DESTROY(UVERBS_ATTR_DESTROY_SRQ_HANDLE, &shca_srq_class),
	SHCA_OUT(UVERBS_ATTR_DESTROY_SRQ_RESP, 4),
};

const struct shca_method shca_srq_methods[] = {
	{ UVERBS_METHOD_SRQ_CREATE, SHCA_ROWS(create_rows), .handler = create },
	{ UVERBS_METHOD_SRQ_DESTROY, SHCA_ROWS(destroy_rows), .handler = answer_destroy },
	{ 0 },
};
/* clang-format on */
