/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion queues. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include <rdma/mlx5-abi.h>

#include "abi/core/ioctl.h"
#include "abi/object/commands.h"
#include "abi/object/methods.h"
#include "abi/object/mlx5.h"
#include "config/model.h"
#include "hw/queue/cq.h"
#include "strict/findings.h"

static_assert(sizeof(struct mlx5_ib_create_cq) == 32, "as rdma-core 44 has it");
static_assert(offsetof(struct mlx5_ib_create_cq, flags) == 22, "as rdma-core 44 has it");

/** The device thread calls this with the lock held. */
static void
on_event(void *owner, enum shca_event event)
{
	struct shca_cq_object *cq = owner;

	if (event == SHCA_EVENT_COMPLETION) {
		if (shca_eventq_send_completion(cq->channel, cq->object.user_handle))
			cq->nb_comp_events++;
	} else if (shca_eventq_send_async(cq->async, cq->object.user_handle, event)) {
		cq->nb_async_events++;
	}
}

static void
destroy(struct shca_object *object)
{
	struct shca_cq_object *cq = (struct shca_cq_object *)object;

	shca_cq_destroy(cq->cq);
	cq->nb_comp_events -=
		shca_eventq_drop(cq->channel, object->user_handle, cq->nb_comp_events);
	cq->nb_async_events -=
		shca_eventq_drop(cq->async, object->user_handle, cq->nb_async_events);
	shca_eventq_put(cq->channel);
	shca_eventq_put(cq->async);
}

const struct shca_object_class shca_cq_class = {
	.type = UVERBS_OBJECT_CQ,
	.name = "CQ",
	.bytes = sizeof(struct shca_cq_object),
	.limit = SHCA_LIMIT_CQ,
	.destroy = destroy,
};

/** @return the size of libmlx5's ring for @p cqe entries: one more, rounded up; 0: too large. */
static uint32_t
ring_entries(const struct shca_model *model, uint64_t cqe)
{
	uint64_t nb_cqes = 1;

	while (nb_cqes < cqe + 1)
		nb_cqes *= 2;
	/* max_cqe is the largest ring less one, as the kernel reports it. */
	return cqe > model->max_cqe || nb_cqes > (uint64_t)model->max_cqe + 1 ? 0
									      : (uint32_t)nb_cqes;
}

/** As mlx5_ib create_cq_user. Compression of 128-byte CQEs is a capability that no model has. */
static int
take_mini_format(const struct shca_model *model, const struct mlx5_ib_create_cq *request,
	enum shca_mini_format *format)
{
	*format = SHCA_MINI_NONE;
	if (request->cqe_comp_en != 1)
		return 0;
	if (model->cqe_comp_max == 0 || request->cqe_size != 64)
		return -EOPNOTSUPP;
	switch (request->cqe_comp_res_format) {
	case MLX5_IB_CQE_RES_FORMAT_HASH:
		*format = SHCA_MINI_HASH;
		return 0;
	case MLX5_IB_CQE_RES_FORMAT_CSUM:
		*format = SHCA_MINI_CSUM;
		return 0;
	case MLX5_IB_CQE_RES_FORMAT_CSUM_STRIDX:
		*format = SHCA_MINI_CSUM_STRIDX;
		return model->cqe_comp_formats & MLX5_IB_CQE_RES_FORMAT_CSUM_STRIDX ? 0
										    : -EOPNOTSUPP;
	default:
		return -EINVAL;
	}
}

/** As mlx5_ib_create_cq checks the provider's part of the request. */
static int
check_driver_request(const struct shca_file *file, const struct shca_user_buffer *buffer,
	struct mlx5_ib_create_cq *request, enum shca_mini_format *format)
{
	int ret;

	if (buffer->length < offsetof(struct mlx5_ib_create_cq, flags))
		return -EINVAL;
	ret = shca_user_read_known(buffer, request, sizeof(*request));
	if (ret != 0)
		return ret;
	if (request->flags &
		~(MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD | MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX |
			MLX5_IB_CREATE_CQ_FLAGS_REAL_TIME_TS))
		return -EINVAL;
	if (request->cqe_size != 64 && request->cqe_size != 128)
		return -EINVAL;
	if (request->reserved0 != 0 || request->reserved1 != 0)
		return -EINVAL;
	/* A CQ without a UAR page of its own uses the context's first one, if there is one. */
	if (request->flags & MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX
			? !shca_mlx5_has_uar_page(file, request->uar_page_index)
			: file->bfregs.nb == 0)
		return -EINVAL;
	ret = take_mini_format(file->model, request, format);
	if (ret != 0)
		return ret;
	if ((request->flags & MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD) != 0 &&
		(request->cqe_size != 128 || !file->model->cqe_128b_pad))
		return -EOPNOTSUPP;
	return 0;
}

static int
answer_create(const struct shca_bundle *bundle, const struct shca_cq_object *cq)
{
	const struct mlx5_ib_create_cq_resp driver_response = { .cqn = shca_cq_number(cq->cq) };
	const uint32_t cqe = cq->nb_cqes - 1;
	int ret;

	ret = shca_ioctl_out(bundle, UVERBS_ATTR_CREATE_CQ_RESP_CQE, &cqe, sizeof(cqe));
	if (ret == 0)
		ret = shca_ioctl_out(
			bundle, UVERBS_ATTR_UHW_OUT, &driver_response, sizeof(driver_response));
	return ret;
}

/** Report CQEs of 128 bytes that only the environment asks for: libmlx5 takes the size from
 * MLX5_CQE_SIZE unless its caller gives one. */
static void
report_size(const struct shca_file *file, const struct shca_cq *cq, uint32_t cqe_bytes)
{
	const struct shca_device_conf *conf = shca_device_conf(file->dev);
	struct shca_finding_site site = {
		.device = conf->index,
		.queue = "CQ",
		.number = shca_cq_number(cq),
		.context = &file->context,
	};

	if (conf->findings != NULL && cqe_bytes == 128 &&
		shca_user_has_number("MLX5_CQE_SIZE", 128))
		shca_findings_report(conf->findings, SHCA_FINDING_CQE_SIZE, &site);
}

static int
pin_queue(struct shca_object *object, const struct mlx5_ib_create_cq *request,
	struct shca_cq_attr *attr)
{
	uint8_t *dbrec;
	int ret;

	ret = shca_object_pin(object, request->buf_addr, (uint64_t)attr->nb_cqes * attr->cqe_bytes,
		true, &attr->ring);
	if (ret == 0)
		ret = shca_object_pin(object, request->db_addr, SHCA_DBREC_BYTES, true, &dbrec);
	if (ret == 0)
		attr->dbrec = (__be32 *)(void *)dbrec;
	return ret;
}

static int
create(struct shca_bundle *bundle)
{
	struct shca_file *file = bundle->file;
	struct shca_cq_object *cq = shca_ioctl_object(bundle, UVERBS_ATTR_CREATE_CQ_HANDLE);
	uint64_t flags = shca_ioctl_value(bundle, UVERBS_ATTR_CREATE_CQ_FLAGS);
	struct mlx5_ib_create_cq request;
	enum shca_mini_format mini_format;
	struct shca_cq_attr attr;
	int ret;

	if (shca_ioctl_value(bundle, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR) >= file->nb_comp_vectors)
		return -EINVAL;
	cq->nb_cqes =
		ring_entries(file->model, shca_ioctl_value(bundle, UVERBS_ATTR_CREATE_CQ_CQE));
	if (cq->nb_cqes == 0)
		return -EINVAL;
	ret = check_driver_request(
		file, shca_ioctl_buffer(bundle, UVERBS_ATTR_UHW_IN), &request, &mini_format);
	if (ret != 0)
		return ret;
	cq->object.user_handle = shca_ioctl_value(bundle, UVERBS_ATTR_CREATE_CQ_USER_HANDLE);
	attr = (struct shca_cq_attr){
		.nb_cqes = cq->nb_cqes,
		.cqe_bytes = request.cqe_size,
		.ignore_overrun = (flags & IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN) != 0,
		.pad = (request.flags & MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD) != 0,
		.timestamps = (flags & IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION) != 0,
		.real_time = (request.flags & MLX5_IB_CREATE_CQ_FLAGS_REAL_TIME_TS) != 0,
		.mini_format = mini_format,
		.context = &file->context,
		.event = on_event,
		.owner = cq,
	};
	ret = pin_queue(&cq->object, &request, &attr);
	if (ret == 0)
		ret = shca_cq_create(file->dev, &attr, &cq->cq);
	if (ret != 0)
		return ret;
	ret = answer_create(bundle, cq);
	if (ret != 0) {
		shca_cq_destroy(cq->cq);
		return ret;
	}
	report_size(file, cq->cq, request.cqe_size);
	cq->channel =
		shca_eventq_get(shca_ioctl_eventq(bundle, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL));
	cq->async = shca_eventq_get_async(
		file, shca_ioctl_eventq(bundle, UVERBS_ATTR_CREATE_CQ_EVENT_FD));
	return 0;
}

static int
answer_destroy(struct shca_bundle *bundle)
{
	const struct shca_cq_object *cq = shca_ioctl_object(bundle, UVERBS_ATTR_DESTROY_CQ_HANDLE);
	const struct ib_uverbs_destroy_cq_resp response = {
		.comp_events_reported = cq->nb_comp_events,
		.async_events_reported = cq->nb_async_events,
	};

	return shca_ioctl_out(bundle, UVERBS_ATTR_DESTROY_CQ_RESP, &response, sizeof(response));
}

static int
replace_ring(struct shca_cq_object *cq, uint64_t address, uint32_t nb_cqes, uint32_t cqe_bytes)
{
	const uint8_t *before = shca_cq_ring(cq->cq);
	struct shca_pin ring;
	int ret = shca_user_pin(address, (uint64_t)nb_cqes * cqe_bytes, true, &ring);

	if (ret != 0)
		return ret;
	ret = shca_cq_resize(cq->cq, ring.start, nb_cqes, cqe_bytes);
	if (ret == 0)
		shca_object_repin(&cq->object, before, &ring);
	else
		shca_user_unpin(&ring);
	return ret;
}

int
shca_cq_write_resize(struct shca_write *write)
{
	struct ib_uverbs_resize_cq_resp response = { 0 };
	struct mlx5_ib_resize_cq driver_request;
	struct ib_uverbs_resize_cq request;
	struct shca_object *object;
	struct shca_cq_object *cq;
	uint32_t nb_cqes;
	int ret;

	ret = shca_user_read(write->in, 0, &request, sizeof(request));
	if (ret == 0)
		ret = shca_user_read(write->driver_in, 0, &driver_request, sizeof(driver_request));
	if (ret == 0)
		ret = shca_object_find(write->file, &shca_cq_class, request.cq_handle, &object);
	if (ret != 0)
		return ret;
	cq = (struct shca_cq_object *)object;
	nb_cqes = ring_entries(write->file->model, request.cqe);
	if (request.cqe < 1 || nb_cqes == 0)
		return -EINVAL;
	response.cqe = nb_cqes - 1;
	if (nb_cqes != cq->nb_cqes) {
		if (driver_request.reserved0 != 0 || driver_request.reserved1 != 0 ||
			(driver_request.cqe_size != 64 && driver_request.cqe_size != 128))
			return -EINVAL;
		ret = replace_ring(cq, driver_request.buf_addr, nb_cqes, driver_request.cqe_size);
		if (ret != 0)
			return ret;
		cq->nb_cqes = nb_cqes;
	}
	return shca_user_write(write->out, &response, sizeof(response));
}

/** Moderation is the only thing to modify (Linux core/uverbs_cmd.c ib_uverbs_ex_modify_cq,
 * hw/mlx5/cq.c mlx5_ib_modify_cq). */
int
shca_cq_write_modify(struct shca_write *write)
{
	struct ib_uverbs_ex_modify_cq request;
	struct shca_cq_moderation moderation;
	struct shca_object *object;
	int ret = shca_user_read(write->in, 0, &request, sizeof(request));

	if (ret != 0)
		return ret;
	if (request.attr_mask == 0 || request.reserved != 0)
		return -EINVAL;
	if (request.attr_mask > IBV_CQ_ATTR_MODERATE)
		return -EOPNOTSUPP;
	ret = shca_object_find(write->file, &shca_cq_class, request.cq_handle, &object);
	if (ret != 0)
		return ret;
	if (request.attr.cq_period > SHCA_CQ_PERIOD_MAX_US)
		return -EINVAL;
	moderation = (struct shca_cq_moderation){
		.count = request.attr.cq_count,
		.period_us = request.attr.cq_period,
	};
	shca_cq_moderate(((struct shca_cq_object *)object)->cq, &moderation);
	return 0;
}

/* clang-format off */
static const struct shca_attr_row create_rows[] = {
	SHCA_NEW(UVERBS_ATTR_CREATE_CQ_HANDLE, &shca_cq_class),
	SHCA_IN(UVERBS_ATTR_CREATE_CQ_CQE, 4),
	SHCA_IN(UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 8),
	SHCA_FD_OPTIONAL(UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, SHCA_EVENTQ_COMPLETION),
	SHCA_IN(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 4),
	SHCA_FLAGS(UVERBS_ATTR_CREATE_CQ_FLAGS,
		IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION | IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN),
	SHCA_OUT(UVERBS_ATTR_CREATE_CQ_RESP_CQE, 4),
	SHCA_FD_OPTIONAL(UVERBS_ATTR_CREATE_CQ_EVENT_FD, SHCA_EVENTQ_ASYNC),
	SHCA_UHW,
};

static const struct shca_attr_row destroy_rows[] = {
	SHCA_DESTROY(UVERBS_ATTR_DESTROY_CQ_HANDLE, &shca_cq_class),
	SHCA_OUT(UVERBS_ATTR_DESTROY_CQ_RESP, sizeof(struct ib_uverbs_destroy_cq_resp)),
};

const struct shca_method shca_cq_methods[] = {
	{ UVERBS_METHOD_CQ_CREATE, SHCA_ROWS(create_rows), .handler = create },
	{ UVERBS_METHOD_CQ_DESTROY, SHCA_ROWS(destroy_rows), .handler = answer_destroy },
	{ 0 },
};
/* clang-format on */
