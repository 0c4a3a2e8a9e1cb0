/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Device memory: pages of the mmap space that program and device both map
 * (drivers/infiniband/hw/mlx5/dm.c).
 */
#include <errno.h>

#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>

#include "abi/core/ioctl.h"
#include "abi/memory/classes.h"
#include "abi/memory/methods.h"
#include "config/model.h"
#include "hw/device/memic.h"

/** Addresses are aligned to a page, so a request may ask for no more. */
#define LOG_ALIGNED_MOST 12

static void
destroy(struct shca_object *object)
{
	struct shca_dm_object *dm = (struct shca_dm_object *)object;

	shca_memic_give(object->file->dev, dm->first_page, dm->nb_pages);
}

const struct shca_object_class shca_dm_class = {
	.type = UVERBS_OBJECT_DM,
	.name = "DM",
	.bytes = sizeof(struct shca_dm_object),
	.destroy = destroy,
};

/** Refuse the other types, which are memory for the rules of DevX programs. */
static int
check_request(const struct shca_bundle *bundle)
{
	uint64_t length = shca_ioctl_value(bundle, UVERBS_ATTR_ALLOC_DM_LENGTH);
	uint64_t type = shca_ioctl_value(bundle, MLX5_IB_ATTR_ALLOC_DM_REQ_TYPE);

	if (bundle->file->model->max_dm_bytes == 0 || type != MLX5_IB_UAPI_DM_TYPE_MEMIC)
		return -EOPNOTSUPP;
	if (length == 0 ||
		shca_ioctl_value(bundle, UVERBS_ATTR_ALLOC_DM_ALIGNMENT) > LOG_ALIGNED_MOST)
		return -EINVAL;
	return length > bundle->file->model->max_dm_bytes ? -ENOMEM : 0;
}

/** Say where the program maps it: an offset in the first page, and that page. */
static int
answer(const struct shca_bundle *bundle, const struct shca_dm_object *dm, uint16_t offset_attr,
	uint16_t page_attr)
{
	const uint64_t start_offset = 0;
	const uint16_t page_index = (uint16_t)dm->first_page;
	int ret;

	ret = shca_ioctl_out(bundle, offset_attr, &start_offset, sizeof(start_offset));
	if (ret == 0)
		ret = shca_ioctl_out_needed(bundle, page_attr, &page_index, sizeof(page_index));
	return ret;
}

static int
alloc(struct shca_bundle *bundle)
{
	struct shca_dm_object *dm = shca_ioctl_object(bundle, UVERBS_ATTR_ALLOC_DM_HANDLE);
	struct shca_file *file = bundle->file;
	int ret;

	ret = check_request(bundle);
	if (ret != 0)
		return ret;
	dm->length = shca_ioctl_value(bundle, UVERBS_ATTR_ALLOC_DM_LENGTH);
	dm->nb_pages = (uint32_t)((dm->length - 1) / SHCA_MEMIC_PAGE_BYTES + 1);
	ret = shca_memic_take(file->dev, dm->nb_pages, &dm->first_page);
	if (ret != 0)
		return ret;
	dm->start = file->device_memory + (size_t)dm->first_page * SHCA_MEMIC_PAGE_BYTES;
	ret = answer(bundle, dm, MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET,
		MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX);
	if (ret != 0)
		shca_memic_give(file->dev, dm->first_page, dm->nb_pages);
	return ret;
}

/** For ibv_import_dm(). */
static int
query(struct shca_bundle *bundle)
{
	const struct shca_dm_object *dm =
		shca_ioctl_object(bundle, MLX5_IB_ATTR_QUERY_DM_REQ_HANDLE);
	int ret = answer(bundle, dm, MLX5_IB_ATTR_QUERY_DM_RESP_START_OFFSET,
		MLX5_IB_ATTR_QUERY_DM_RESP_PAGE_INDEX);

	return ret != 0 ? ret
			: shca_ioctl_out(bundle, MLX5_IB_ATTR_QUERY_DM_RESP_LENGTH, &dm->length,
				  sizeof(dm->length));
}

/** No model has atomic operations that a program does by writing to device memory (Linux
 * hw/mlx5/dm.c MLX5_IB_METHOD_DM_MAP_OP_ADDR, capability memic_operations). */
static int
map_op(struct shca_bundle *bundle)
{
	(void)bundle;
	return -EOPNOTSUPP;
}

/* clang-format off */
static const struct shca_attr_row alloc_rows[] = {
	SHCA_NEW(UVERBS_ATTR_ALLOC_DM_HANDLE, &shca_dm_class),
	SHCA_IN(UVERBS_ATTR_ALLOC_DM_LENGTH, 8),
	SHCA_IN(UVERBS_ATTR_ALLOC_DM_ALIGNMENT, 4),
	SHCA_OUT(MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET, 8),
	SHCA_OUT_OPTIONAL(MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX, 2),
	SHCA_IN_OPTIONAL(MLX5_IB_ATTR_ALLOC_DM_REQ_TYPE, 8, 8),
};

static const struct shca_attr_row free_rows[] = {
	SHCA_DESTROY(UVERBS_ATTR_FREE_DM_HANDLE, &shca_dm_class),
};

static const struct shca_attr_row query_rows[] = {
	SHCA_HANDLE(MLX5_IB_ATTR_QUERY_DM_REQ_HANDLE, &shca_dm_class),
	SHCA_OUT(MLX5_IB_ATTR_QUERY_DM_RESP_START_OFFSET, 8),
	SHCA_OUT(MLX5_IB_ATTR_QUERY_DM_RESP_PAGE_INDEX, 2),
	SHCA_OUT(MLX5_IB_ATTR_QUERY_DM_RESP_LENGTH, 8),
};

static const struct shca_attr_row map_op_rows[] = {
	SHCA_HANDLE(MLX5_IB_ATTR_DM_MAP_OP_ADDR_REQ_HANDLE, &shca_dm_class),
	SHCA_IN(MLX5_IB_ATTR_DM_MAP_OP_ADDR_REQ_OP, 1),
	SHCA_OUT(MLX5_IB_ATTR_DM_MAP_OP_ADDR_RESP_START_OFFSET, 8),
	SHCA_OUT(MLX5_IB_ATTR_DM_MAP_OP_ADDR_RESP_PAGE_INDEX, 2),
};

const struct shca_method shca_dm_methods[] = {
	{ UVERBS_METHOD_DM_ALLOC, SHCA_ROWS(alloc_rows), .handler = alloc },
	{ UVERBS_METHOD_DM_FREE, SHCA_ROWS(free_rows) },
	{ MLX5_IB_METHOD_DM_MAP_OP_ADDR, .since = SHCA_KERNEL_6_1, /* Linux 5.13 */
		SHCA_ROWS(map_op_rows), .handler = map_op },
	{ MLX5_IB_METHOD_DM_QUERY, SHCA_ROWS(query_rows), .since = SHCA_KERNEL_6_1, .handler = query },
	{ 0 },
};
/* clang-format on */
