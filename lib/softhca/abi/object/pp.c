/* SPDX-License-Identifier: BSD-3-Clause */
/* Packet pacing entries (drivers/infiniband/hw/mlx5/qos.c). */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>

#include "abi/core/ioctl.h"
#include "abi/object/methods.h"
#include "config/model.h"
#include "hw/state/rate.h"

static void
destroy(struct shca_object *object)
{
	const struct shca_pp_object *pp = (struct shca_pp_object *)object;

	shca_rate_remove(shca_device_rates(object->file->dev), pp->index);
}

const struct shca_object_class shca_pp_class = {
	.type = MLX5_IB_OBJECT_PP,
	.name = "packet pacing entry",
	.bytes = sizeof(struct shca_pp_object),
	.destroy = destroy,
};

static int
alloc(struct shca_bundle *bundle)
{
	const struct shca_user_buffer *buffer =
		shca_ioctl_buffer(bundle, MLX5_IB_ATTR_PP_OBJ_ALLOC_CTX);
	struct shca_pp_object *pp = shca_ioctl_object(bundle, MLX5_IB_ATTR_PP_OBJ_ALLOC_HANDLE);
	struct shca_rates *rates = shca_device_rates(bundle->file->dev);
	const bool is_dedicated = shca_ioctl_value(bundle, MLX5_IB_ATTR_PP_OBJ_ALLOC_FLAGS) != 0;
	uint8_t limit[SHCA_RATE_BYTES];
	uint32_t kbps;
	int ret;

	/* Only DevX queues can use such an entry. */
	if (bundle->file->uid == 0)
		return -EINVAL;
	ret = shca_user_read(buffer, 0, limit, sizeof(limit));
	if (ret != 0)
		return ret;
	memcpy(&kbps, limit, sizeof(kbps));
	kbps = be32toh(kbps);
	if (kbps < SHCA_MIN_RATE_KBPS || kbps > bundle->file->model->max_rate_kbps)
		return -EINVAL;
	ret = shca_rate_add(rates, limit, bundle->file->uid, is_dedicated, &pp->index);
	if (ret != 0)
		return ret;
	ret = shca_ioctl_out(
		bundle, MLX5_IB_ATTR_PP_OBJ_ALLOC_INDEX, &pp->index, sizeof(pp->index));
	if (ret != 0)
		shca_rate_remove(rates, pp->index);
	return ret;
}

/* clang-format off */
static const struct shca_attr_row alloc_rows[] = {
	SHCA_NEW(MLX5_IB_ATTR_PP_OBJ_ALLOC_HANDLE, &shca_pp_class),
	SHCA_IN_MANDATORY(MLX5_IB_ATTR_PP_OBJ_ALLOC_CTX, 1, SHCA_RATE_BYTES),
	SHCA_FLAGS_MANDATORY(MLX5_IB_ATTR_PP_OBJ_ALLOC_FLAGS,
		MLX5_IB_UAPI_PP_ALLOC_FLAGS_DEDICATED_INDEX),
	SHCA_OUT(MLX5_IB_ATTR_PP_OBJ_ALLOC_INDEX, 2),
};

static const struct shca_attr_row destroy_rows[] = {
	SHCA_DESTROY(MLX5_IB_ATTR_PP_OBJ_DESTROY_HANDLE, &shca_pp_class),
};

const struct shca_method shca_pp_methods[] = {
	{ MLX5_IB_METHOD_PP_OBJ_ALLOC, SHCA_ROWS(alloc_rows), .handler = alloc },
	{ MLX5_IB_METHOD_PP_OBJ_DESTROY, SHCA_ROWS(destroy_rows) },
	{ 0 },
};
/* clang-format on */
