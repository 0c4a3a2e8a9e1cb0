/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory windows: their keys. Work requests bind them (hw/roce/bind.c). */
#include <errno.h>

#include <infiniband/verbs.h>
#include <rdma/mlx5-abi.h>

#include "abi/core/ioctl.h"
#include "abi/memory/classes.h"
#include "abi/memory/commands.h"
#include "abi/memory/methods.h"
#include "hw/roce/window.h"

static void
destroy(struct shca_object *object)
{
	struct shca_mw_object *mw = (struct shca_mw_object *)object;

	shca_window_free(shca_device_mem(object->file->dev), mw->window);
	mw->pd->object.nb_users--;
}

/** They are keys as regions are, and count with those. */
const struct shca_object_class shca_mw_class = {
	.type = UVERBS_OBJECT_MW,
	.name = "MW",
	.bytes = sizeof(struct shca_mw_object),
	.limit = SHCA_LIMIT_MR,
	.destroy = destroy,
};

/** As mlx5_ib_alloc_mw: nothing is asked of the driver. */
static int
check_driver(const struct shca_user_buffer *buffer)
{
	struct mlx5_ib_alloc_mw request;
	int ret = shca_user_read(buffer, 0, &request, sizeof(request));

	if (ret != 0)
		return ret;
	if (request.comp_mask != 0 || request.reserved1 != 0 || request.reserved2 != 0)
		return -EOPNOTSUPP;
	return shca_user_check_clear(buffer, sizeof(request));
}

int
shca_mw_write_alloc(struct shca_write *write)
{
	struct ib_uverbs_alloc_mw_resp response;
	struct ib_uverbs_alloc_mw request;
	struct shca_object *object, *pd;
	struct shca_mw_object *mw;
	int ret = shca_user_read(write->in, 0, &request, sizeof(request));

	if (ret == 0 && request.mw_type != IBV_MW_TYPE_1 && request.mw_type != IBV_MW_TYPE_2)
		ret = -EINVAL;
	if (ret == 0)
		ret = check_driver(write->driver_in);
	if (ret == 0)
		ret = shca_object_find(write->file, &shca_pd_class, request.pd_handle, &pd);
	if (ret == 0)
		ret = shca_object_reserve(write->file, &shca_mw_class, &object);
	if (ret != 0)
		return ret;
	mw = (struct shca_mw_object *)object;
	mw->pd = (struct shca_pd_object *)pd;
	ret = shca_window_alloc(shca_device_mem(write->file->dev), mw->pd->pdn,
		request.mw_type == IBV_MW_TYPE_2, &mw->window);
	if (ret != 0)
		goto abort;
	response = (struct ib_uverbs_alloc_mw_resp){
		.mw_handle = object->handle,
		.rkey = mw->window->mr.lkey,
	};
	ret = shca_user_write(write->out, &response, sizeof(response));
	if (ret != 0) {
		shca_window_free(shca_device_mem(write->file->dev), mw->window);
		goto abort;
	}
	pd->nb_users++;
	shca_object_commit(write->file, object);
	return 0;

abort:
	shca_object_abort(write->file, object);
	return ret;
}

/* clang-format off */
static const struct shca_attr_row destroy_rows[] = {
	SHCA_DESTROY(UVERBS_ATTR_DESTROY_MW_HANDLE, &shca_mw_class),
};

const struct shca_method shca_mw_methods[] = {
	{ UVERBS_METHOD_MW_DESTROY, SHCA_ROWS(destroy_rows) },
	{ 0 },
};
/* clang-format on */
