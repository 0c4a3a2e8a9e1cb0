/* SPDX-License-Identifier: BSD-3-Clause */
/* Receive work queue indirection tables. */
#include <errno.h>
#include <stdlib.h>

#include <rdma/mlx5-abi.h>

#include "abi/core/ioctl.h"
#include "abi/object/commands.h"
#include "abi/object/methods.h"
#include "config/model.h"
#include "hw/queue/tir.h"

static void
unuse(struct shca_rwq_ind_object *table)
{
	for (uint32_t i = 0; i < table->nb_wqs; i++)
		table->wqs[i]->object.nb_users--;
	free(table->wqs);
}

static void
destroy(struct shca_object *object)
{
	struct shca_rwq_ind_object *table = (struct shca_rwq_ind_object *)object;

	shca_rqt_destroy(table->rqt);
	unuse(table);
}

const struct shca_object_class shca_rwq_ind_class = {
	.type = UVERBS_OBJECT_RWQ_IND_TBL,
	.name = "RWQ indirection table",
	.bytes = sizeof(struct shca_rwq_ind_object),
	.limit = SHCA_LIMIT_RWQ_IND,
	.destroy = destroy,
};

/** As ib_uverbs_ex_create_rwq_ind_table and mlx5_ib_create_rwq_ind_table check it. */
static int
check_request(
	const struct shca_write *write, const struct ib_uverbs_ex_create_rwq_ind_table *request)
{
	size_t handles_bytes;

	if (request->comp_mask != 0)
		return -EOPNOTSUPP;
	if (request->log_ind_tbl_size > IB_USER_VERBS_MAX_LOG_IND_TBL_SIZE ||
		1u << request->log_ind_tbl_size > write->file->model->max_rwq_ind_table_size)
		return -EINVAL;
	handles_bytes = sizeof(uint32_t) << request->log_ind_tbl_size;
	if (write->in->length < sizeof(*request) + handles_bytes)
		return -ENOSPC;
	if (shca_user_check_clear(write->in, sizeof(*request) + handles_bytes) != 0)
		return -EOPNOTSUPP;
	if (shca_user_check_clear(write->driver_in, 0) != 0)
		return -EOPNOTSUPP;
	return write->driver_out->length != 0 &&
			write->driver_out->length < sizeof(struct mlx5_ib_create_rwq_ind_tbl_resp)
		? -EINVAL
		: 0;
}

/** Take a use of every queue that the request names, or of none on failure. */
static int
use_wqs(struct shca_write *write, struct shca_rwq_ind_object *table, struct shca_rq **rqs,
	uint32_t nb_wqs)
{
	for (uint32_t i = 0; i < nb_wqs; i++) {
		struct shca_object *object;
		uint32_t handle;
		int ret;

		ret = shca_user_read(write->in,
			sizeof(struct ib_uverbs_ex_create_rwq_ind_table) + i * sizeof(handle),
			&handle, sizeof(handle));
		if (ret == 0)
			ret = shca_object_find(write->file, &shca_wq_class, handle, &object);
		if (ret != 0)
			return ret;
		table->wqs[i] = (struct shca_wq_object *)object;
		rqs[i] = table->wqs[i]->rq;
		object->nb_users++;
		table->nb_wqs = i + 1;
	}
	return 0;
}

static int
fill_table(struct shca_write *write, struct shca_rwq_ind_object *table, uint32_t nb_wqs)
{
	const struct mlx5_ib_create_rwq_ind_tbl_resp driver_response = {
		.response_length = sizeof(driver_response.response_length),
	};
	struct ib_uverbs_ex_create_rwq_ind_table_resp response = {
		.response_length = sizeof(response),
		.ind_tbl_handle = table->object.handle,
	};
	struct shca_rq **rqs = calloc(nb_wqs, sizeof(*rqs));
	int ret = -ENOMEM;

	table->wqs = calloc(nb_wqs, sizeof(struct shca_wq_object *));
	if (rqs == NULL || table->wqs == NULL)
		goto undo;
	ret = use_wqs(write, table, rqs, nb_wqs);
	if (ret != 0)
		goto undo;
	ret = shca_rqt_create(write->file->dev, rqs, nb_wqs, &table->rqt);
	if (ret != 0)
		goto undo;
	response.ind_tbl_num = shca_rqt_number(table->rqt);
	ret = shca_user_write(write->driver_out, &driver_response, sizeof(driver_response));
	if (ret == 0)
		ret = shca_user_write(write->out, &response, sizeof(response));
	if (ret != 0) {
		shca_rqt_destroy(table->rqt);
		goto undo;
	}
	free(rqs);
	return 0;

undo:
	unuse(table);
	free(rqs);
	return ret;
}

int
shca_rwq_ind_write_create(struct shca_write *write)
{
	struct ib_uverbs_ex_create_rwq_ind_table request;
	struct shca_object *object;
	int ret;

	ret = shca_user_read(write->in, 0, &request, sizeof(request));
	if (ret == 0)
		ret = check_request(write, &request);
	if (ret == 0)
		ret = shca_object_reserve(write->file, &shca_rwq_ind_class, &object);
	if (ret != 0)
		return ret;
	ret = fill_table(
		write, (struct shca_rwq_ind_object *)object, 1u << request.log_ind_tbl_size);
	if (ret == 0)
		shca_object_commit(write->file, object);
	else
		shca_object_abort(write->file, object);
	return ret;
}

/* clang-format off */
static const struct shca_attr_row destroy_rows[] = {
	SHCA_DESTROY(UVERBS_ATTR_DESTROY_RWQ_IND_TBL_HANDLE, &shca_rwq_ind_class),
};

const struct shca_method shca_rwq_ind_methods[] = {
	{ UVERBS_METHOD_RWQ_IND_TBL_DESTROY, SHCA_ROWS(destroy_rows) },
	{ 0 },
};
/* clang-format on */
