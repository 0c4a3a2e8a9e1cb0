/* SPDX-License-Identifier: BSD-3-Clause */
/* UAR pages, dynamically allocated (drivers/infiniband/hw/mlx5/main.c, UVERBS_HANDLER
 * UAR_OBJ_ALLOC). */
#include "abi/object/mlx5.h"

#include <errno.h>

#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>

#include "abi/core/ioctl.h"
#include "abi/core/mmap.h"
#include "abi/object/methods.h"

static void
destroy_uar(struct shca_object *object)
{
	struct shca_uar_object *uar = (struct shca_uar_object *)object;

	if (uar->is_watched)
		shca_doorbell_unwatch(&uar->doorbells);
	shca_idtable_del(&object->file->uars, uar->index);
}

const struct shca_object_class shca_uar_class = {
	.type = MLX5_IB_OBJECT_UAR,
	.name = "UAR",
	.bytes = sizeof(struct shca_uar_object),
	.destroy = destroy_uar,
};

bool
shca_mlx5_has_uar_page(const struct shca_file *file, uint32_t page)
{
	return shca_idtable_get(&file->uars, page - shca_mmap_uar_page(0)) != NULL;
}

static int
answer_alloc(const struct shca_bundle *bundle, const struct shca_uar_object *uar)
{
	const uint64_t offset = shca_mmap_uar_offset(uar->index);
	const uint32_t length = SHCA_MMAP_PAGE_BYTES;
	const uint32_t page = shca_mmap_uar_page(uar->index);
	int ret;

	ret = shca_ioctl_out(
		bundle, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, &offset, sizeof(offset));
	if (ret == 0)
		ret = shca_ioctl_out(
			bundle, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, &length, sizeof(length));
	if (ret == 0)
		ret = shca_ioctl_out(
			bundle, MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, &page, sizeof(page));
	return ret;
}

static void
watch(const struct shca_file *file, struct shca_uar_object *uar)
{
	if (file->watched == NULL || uar->index >= SHCA_MMAP_NB_WATCHED)
		return;
	uar->is_watched = true;
	shca_doorbell_watch(file->dev, &uar->doorbells,
		file->watched + (size_t)uar->index * SHCA_MMAP_PAGE_BYTES);
}

static int
alloc_uar(struct shca_bundle *bundle)
{
	struct shca_uar_object *uar = shca_ioctl_object(bundle, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE);
	uint64_t type = shca_ioctl_value(bundle, MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE);
	int ret;

	if (type != MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF && type != MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC)
		return -EOPNOTSUPP;
	ret = shca_idtable_add(&bundle->file->uars, uar, &uar->index);
	if (ret != 0)
		return -ENOMEM;
	ret = answer_alloc(bundle, uar);
	if (ret != 0)
		shca_idtable_del(&bundle->file->uars, uar->index);
	else
		watch(bundle->file, uar);
	return ret;
}

/* clang-format off */
static const struct shca_attr_row alloc_rows[] = {
	SHCA_NEW(MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, &shca_uar_class),
	SHCA_IN(MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, 8),
	SHCA_OUT(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, 8),
	SHCA_OUT(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, 4),
	SHCA_OUT(MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, 4),
};

static const struct shca_attr_row destroy_rows[] = {
	SHCA_DESTROY(MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE, &shca_uar_class),
};

const struct shca_method shca_mlx5_uar_methods[] = {
	{ MLX5_IB_METHOD_UAR_OBJ_ALLOC, SHCA_ROWS(alloc_rows), .handler = alloc_uar },
	{ MLX5_IB_METHOD_UAR_OBJ_DESTROY, SHCA_ROWS(destroy_rows) },
	{ 0 },
};
/* clang-format on */
