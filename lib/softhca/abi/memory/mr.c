/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory regions: the request's checks; base/mem has the regions. */
#include <errno.h>

#include "abi/core/ioctl.h"
#include "abi/core/mmap.h"
#include "abi/memory/classes.h"
#include "abi/memory/commands.h"
#include "abi/memory/memlock.h"
#include "abi/memory/methods.h"
#include "base/mem.h"

#define PAGE_MASK ((uint64_t)SHCA_MMAP_PAGE_BYTES - 1)

/** No on-demand paging; the optional range holds hints that may be ignored (ib_verbs.h). */
#define KNOWN_ACCESS                                                                               \
	(IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE |                            \
		IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_REMOTE_ATOMIC |                    \
		IB_UVERBS_ACCESS_MW_BIND | IB_UVERBS_ACCESS_ZERO_BASED |                           \
		IB_UVERBS_ACCESS_HUGETLB | IB_UVERBS_ACCESS_OPTIONAL_RANGE)

/** hw/mlx5/mr.c MLX5_IB_DM_MEMIC_ALLOWED_ACCESS. */
#define DM_ACCESS                                                                                  \
	(IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE |                            \
		IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_REMOTE_ATOMIC |                    \
		IB_UVERBS_ACCESS_ZERO_BASED | IB_UVERBS_ACCESS_OPTIONAL_RANGE)

/** core/uverbs_std_types_mr.c, UVERBS_METHOD_REG_DMABUF_MR. */
#define DMABUF_ACCESS                                                                              \
	(IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_READ |                             \
		IB_UVERBS_ACCESS_REMOTE_WRITE | IB_UVERBS_ACCESS_REMOTE_ATOMIC |                   \
		IB_UVERBS_ACCESS_RELAXED_ORDERING)

/** IB_MR_REREG_* of ib_uverbs_rereg_mr, which no user header has. */
#define REREG_TRANSLATION (1u << 0)
#define REREG_PD          (1u << 1)
#define REREG_ACCESS      (1u << 2)

static void
destroy(struct shca_object *object)
{
	struct shca_mr_object *mr = (struct shca_mr_object *)object;

	shca_mem_dereg(shca_device_mem(object->file->dev), mr->mr);
	shca_memlock_give(mr->pinned_by, mr->pinned_bytes);
	mr->pd->object.nb_users--;
	if (mr->dm != NULL)
		mr->dm->object.nb_users--;
}

const struct shca_object_class shca_mr_class = {
	.type = UVERBS_OBJECT_MR,
	.name = "MR",
	.bytes = sizeof(struct shca_mr_object),
	.limit = SHCA_LIMIT_MR,
	.destroy = destroy,
};

/** As ib_check_mr_access. */
static int
check_access(uint32_t access)
{
	if (access & ~(uint32_t)KNOWN_ACCESS)
		return -EINVAL;
	if ((access & (IB_UVERBS_ACCESS_REMOTE_WRITE | IB_UVERBS_ACCESS_REMOTE_ATOMIC)) &&
		(access & IB_UVERBS_ACCESS_LOCAL_WRITE) == 0)
		return -EINVAL;
	return 0;
}

static uint64_t
pages_bytes(uint64_t start, uint64_t length)
{
	return ((start + length + PAGE_MASK) & ~PAGE_MASK) - (start & ~PAGE_MASK);
}

static int
register_region(struct shca_file *file, const struct shca_pd_object *pd,
	const struct ib_uverbs_reg_mr *request, uint8_t *start, struct shca_mr **mr)
{
	return shca_mem_reg(shca_device_mem(file->dev), start, request->length, request->hca_va,
		pd->pdn, request->access_flags, mr);
}

/** @param[out] owner the process whose limit the pages count for */
static int
pin_region(const struct ib_uverbs_reg_mr *request, struct shca_pin *pin, pid_t *owner)
{
	const uint64_t bytes = pages_bytes(request->start, request->length);
	int ret = shca_memlock_take(bytes, owner);

	if (ret != 0)
		return ret;
	ret = shca_user_pin(request->start, request->length,
		(request->access_flags & IB_UVERBS_ACCESS_LOCAL_WRITE) != 0, pin);
	if (ret != 0)
		shca_memlock_give(*owner, bytes);
	return ret;
}

/** As ib_umem_get(): up to the end of its last page it must be there. */
static int
check_region(const struct ib_uverbs_reg_mr *request)
{
	const uint64_t end = request->start + request->length;

	if ((request->start & PAGE_MASK) != (request->hca_va & PAGE_MASK))
		return -EINVAL;
	if (request->length == 0 || end < request->length || end + PAGE_MASK < end)
		return -EINVAL;
	return 0;
}

int
shca_mr_write_reg(struct shca_write *write)
{
	struct ib_uverbs_reg_mr_resp response;
	struct ib_uverbs_reg_mr request;
	struct shca_object *object, *pd;
	struct shca_mr_object *mr;
	int ret;

	ret = shca_user_read(write->in, 0, &request, sizeof(request));
	if (ret == 0)
		ret = check_region(&request);
	if (ret == 0)
		ret = check_access(request.access_flags);
	if (ret == 0)
		ret = shca_object_find(write->file, &shca_pd_class, request.pd_handle, &pd);
	if (ret == 0)
		ret = shca_object_reserve(write->file, &shca_mr_class, &object);
	if (ret != 0)
		return ret;
	mr = (struct shca_mr_object *)object;
	mr->pd = (struct shca_pd_object *)pd;
	ret = pin_region(&request, &object->pins[0], &mr->pinned_by);
	if (ret != 0)
		goto abort;
	object->nb_pins = 1;
	mr->pinned_bytes = pages_bytes(request.start, request.length);
	ret = register_region(write->file, mr->pd, &request, object->pins[0].start, &mr->mr);
	if (ret != 0)
		goto abort;
	response = (struct ib_uverbs_reg_mr_resp){
		.mr_handle = object->handle,
		.lkey = mr->mr->lkey,
		.rkey = mr->mr->lkey,
	};
	ret = shca_user_write(write->out, &response, sizeof(response));
	if (ret != 0)
		goto dereg;
	mr->user_start = request.start;
	pd->nb_users++;
	shca_object_commit(write->file, object);
	return 0;

dereg:
	shca_mem_dereg(shca_device_mem(write->file->dev), mr->mr);
abort:
	shca_memlock_give(mr->pinned_by, mr->pinned_bytes);
	shca_object_abort(write->file, object);
	return ret;
}

/** Complete the request from the region where the region keeps its value. */
static int
merge_rereg(const struct ib_uverbs_rereg_mr *request, const struct shca_mr_object *mr,
	struct ib_uverbs_reg_mr *merged)
{
	const struct shca_mr *old = mr->mr;

	*merged = (struct ib_uverbs_reg_mr){
		.start = mr->user_start,
		.length = old->length,
		.hca_va = old->iova,
		.access_flags = old->access,
	};
	if (request->flags & REREG_TRANSLATION) {
		merged->start = request->start;
		merged->length = request->length;
		merged->hca_va = request->hca_va;
	}
	if (request->flags & REREG_ACCESS)
		merged->access_flags = request->access_flags;
	if (check_region(merged) != 0)
		return -EINVAL;
	return check_access(merged->access_flags);
}

/** Bits of access that a UMR WQE of the kernel can change (Linux hw/mlx5/mr.c
 * can_use_umr_rereg_access; that of atomics since 6.10 and its stable releases). */
#define CHANGED_IN_PLACE                                                                           \
	(IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE |                            \
		IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_REMOTE_ATOMIC |                    \
		IB_UVERBS_ACCESS_RELAXED_ORDERING)
/** Pages for which the kernel's cache has its smallest keys (Linux include/linux/mlx5/driver.h,
 * order 2). */
#define LEAST_PAGES 4

/** @return pages that a key of the kernel's cache has room for: a power of two (Linux hw/mlx5/mr.c
 * mr_cache_ent_from_order). */
static uint64_t
room_of_key(uint64_t bytes)
{
	uint64_t pages = LEAST_PAGES;

	while (pages * SHCA_MMAP_PAGE_BYTES < bytes)
		pages <<= 1;
	return pages;
}

/** @return whether the region keeps its key, as mlx5_ib_rereg_user_mr() does where it need not make
 * a new one. */
static bool
keeps_key(const struct ib_uverbs_rereg_mr *request, const struct shca_mr_object *mr,
	const struct ib_uverbs_reg_mr *merged)
{
	if ((mr->mr->access ^ merged->access_flags) & ~(uint32_t)CHANGED_IN_PLACE)
		return false;
	return (request->flags & REREG_TRANSLATION) == 0 ||
		pages_bytes(merged->start, merged->length) <=
		room_of_key(mr->pinned_bytes) * SHCA_MMAP_PAGE_BYTES;
}

/** What a region is registered again with. */
struct rereg {
	struct shca_pd_object *pd;
	bool keeps_pages; /* pinned before; then no more than their address is here */
	struct shca_pin pin;
	pid_t pinned_by;
	struct ib_uverbs_reg_mr merged;
};

/** Pages stay where the kernel keeps its umem: those that are read alone are pinned so. */
static bool
keeps_pages(const struct ib_uverbs_rereg_mr *request, const struct shca_mr_object *mr,
	const struct ib_uverbs_reg_mr *merged)
{
	return (request->flags & REREG_TRANSLATION) == 0 &&
		(mr->mr->is_writable || (merged->access_flags & IB_UVERBS_ACCESS_LOCAL_WRITE) == 0);
}

static void
unpin_rereg(struct rereg *how)
{
	if (how->keeps_pages)
		return;
	shca_user_unpin(&how->pin);
	shca_memlock_give(how->pinned_by, pages_bytes(how->merged.start, how->merged.length));
}

/** @param[out] region the old one, changed, or another one */
static int
change_region(struct shca_file *file, const struct shca_mr_object *mr, const struct rereg *how,
	bool keeps, struct shca_mr **region)
{
	const struct ib_uverbs_reg_mr *merged = &how->merged;

	if (!keeps)
		return register_region(file, how->pd, merged, how->pin.start, region);
	*region = mr->mr;
	return shca_mem_rereg(mr->mr, how->pin.start, merged->length, merged->hca_va, how->pd->pdn,
		merged->access_flags);
}

/** The object is what it was registered again with. */
static void
take_rereg(struct shca_file *file, struct shca_mr_object *mr, const struct rereg *how,
	struct shca_mr *region)
{
	if (region != mr->mr)
		shca_mem_dereg(shca_device_mem(file->dev), mr->mr);
	mr->mr = region;
	if (!how->keeps_pages) {
		shca_object_repin(&mr->object, mr->object.pins[0].start, &how->pin);
		shca_memlock_give(mr->pinned_by, mr->pinned_bytes);
		mr->pinned_by = how->pinned_by;
		mr->user_start = how->merged.start;
		mr->pinned_bytes = pages_bytes(how->merged.start, how->merged.length);
	}
	mr->pd->object.nb_users--;
	mr->pd = how->pd;
	how->pd->object.nb_users++;
}

static int
prepare_rereg(struct shca_file *file, const struct ib_uverbs_rereg_mr *request,
	const struct shca_mr_object *mr, struct rereg *how)
{
	struct shca_object *pd = &mr->pd->object;
	int ret = 0;

	/* ib_uverbs_rereg_mr(): of the two handles only the region's can be missing. */
	if ((request->flags & REREG_PD) &&
		shca_object_find(file, &shca_pd_class, request->pd_handle, &pd) != 0)
		ret = -EINVAL;
	if (ret == 0)
		ret = merge_rereg(request, mr, &how->merged);
	how->keeps_pages = ret == 0 && keeps_pages(request, mr, &how->merged);
	if (how->keeps_pages)
		how->pin = (struct shca_pin){ .start = mr->object.pins[0].start };
	else if (ret == 0)
		ret = pin_region(&how->merged, &how->pin, &how->pinned_by);
	how->pd = (struct shca_pd_object *)pd;
	return ret;
}

int
shca_mr_write_rereg(struct shca_write *write)
{
	struct ib_uverbs_rereg_mr_resp response;
	struct ib_uverbs_rereg_mr request;
	struct shca_object *object;
	struct shca_mr_object *mr;
	struct shca_mr *region, old;
	struct rereg how;
	int ret;

	ret = shca_user_read(write->in, 0, &request, sizeof(request));
	if (ret != 0)
		return ret;
	if (request.flags == 0)
		return -EINVAL;
	if (request.flags & ~(REREG_TRANSLATION | REREG_PD | REREG_ACCESS))
		return -EOPNOTSUPP;
	ret = shca_object_find(write->file, &shca_mr_class, request.mr_handle, &object);
	if (ret != 0)
		return ret;
	mr = (struct shca_mr_object *)object;
	if (mr->dm != NULL)
		return -EINVAL;
	ret = prepare_rereg(write->file, &request, mr, &how);
	if (ret != 0)
		return ret;
	old = *mr->mr;
	ret = change_region(write->file, mr, &how, keeps_key(&request, mr, &how.merged), &region);
	if (ret != 0) {
		unpin_rereg(&how);
		return ret;
	}
	response = (struct ib_uverbs_rereg_mr_resp){ .lkey = region->lkey, .rkey = region->lkey };
	ret = shca_user_write(write->out, &response, sizeof(response));
	if (ret != 0) {
		if (region == mr->mr)
			*region = old;
		else
			shca_mem_dereg(shca_device_mem(write->file->dev), region);
		unpin_rereg(&how);
		return ret;
	}
	take_rereg(write->file, mr, &how, region);
	return 0;
}

/** Check a region of device memory: addresses are offsets (uverbs_std_types_mr.c,
 * UVERBS_METHOD_DM_MR_REG). */
static int
check_dm_region(const struct shca_dm_object *dm, uint64_t offset, uint64_t length, uint64_t access)
{
	if ((access & IB_UVERBS_ACCESS_ZERO_BASED) == 0 || (access & ~(uint64_t)DM_ACCESS) != 0)
		return -EINVAL;
	if (offset > dm->length || length > dm->length - offset)
		return -EINVAL;
	return check_access((uint32_t)access);
}

static int
reg_dm(struct shca_bundle *bundle)
{
	struct shca_mr_object *mr = shca_ioctl_object(bundle, UVERBS_ATTR_REG_DM_MR_HANDLE);
	struct shca_pd_object *pd = shca_ioctl_object(bundle, UVERBS_ATTR_REG_DM_MR_PD_HANDLE);
	struct shca_dm_object *dm = shca_ioctl_object(bundle, UVERBS_ATTR_REG_DM_MR_DM_HANDLE);
	uint64_t access = shca_ioctl_value(bundle, UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS);
	uint64_t offset = shca_ioctl_value(bundle, UVERBS_ATTR_REG_DM_MR_OFFSET);
	uint64_t length = shca_ioctl_value(bundle, UVERBS_ATTR_REG_DM_MR_LENGTH);
	struct shca_mem *mem = shca_device_mem(bundle->file->dev);
	int ret;

	ret = check_dm_region(dm, offset, length, access);
	if (ret == 0)
		ret = shca_mem_reg_own(
			mem, dm->start + offset, length, 0, pd->pdn, (uint32_t)access, &mr->mr);
	if (ret != 0)
		return ret;
	ret = shca_ioctl_out(
		bundle, UVERBS_ATTR_REG_DM_MR_RESP_LKEY, &mr->mr->lkey, sizeof(mr->mr->lkey));
	if (ret == 0)
		ret = shca_ioctl_out(bundle, UVERBS_ATTR_REG_DM_MR_RESP_RKEY, &mr->mr->lkey,
			sizeof(mr->mr->lkey));
	if (ret != 0) {
		shca_mem_dereg(mem, mr->mr);
		return ret;
	}
	mr->pd = pd;
	mr->dm = dm;
	pd->object.nb_users++;
	dm->object.nb_users++;
	return 0;
}

static int
query(struct shca_bundle *bundle)
{
	const struct shca_mr_object *object =
		shca_ioctl_object(bundle, UVERBS_ATTR_QUERY_MR_HANDLE);
	const struct shca_mr *mr = object->mr;
	int ret;

	ret = shca_ioctl_out(bundle, UVERBS_ATTR_QUERY_MR_RESP_LKEY, &mr->lkey, sizeof(mr->lkey));
	if (ret == 0)
		ret = shca_ioctl_out(
			bundle, UVERBS_ATTR_QUERY_MR_RESP_RKEY, &mr->lkey, sizeof(mr->lkey));
	if (ret == 0)
		ret = shca_ioctl_out(
			bundle, UVERBS_ATTR_QUERY_MR_RESP_LENGTH, &mr->length, sizeof(mr->length));
	if (ret == 0)
		ret = shca_ioctl_out(
			bundle, UVERBS_ATTR_QUERY_MR_RESP_IOVA, &mr->iova, sizeof(mr->iova));
	return ret;
}

/** A device without on-demand paging has no such operation (Linux hw/mlx5/odp.c
 * mlx5_ib_odp_init_one()), for which the core asks before it looks at what is advised. */
static int
advise(struct shca_bundle *bundle)
{
	(void)bundle;
	return -EOPNOTSUPP;
}

/** As UVERBS_METHOD_REG_DMABUF_MR of core/uverbs_std_types_mr.c; then mlx5_ib_reg_user_mr_dmabuf(),
 * in a kernel that is built without on-demand paging: pages of another device may move. */
static int
reg_dmabuf(struct shca_bundle *bundle)
{
	const uint64_t offset = shca_ioctl_value(bundle, UVERBS_ATTR_REG_DMABUF_MR_OFFSET);
	const uint64_t iova = shca_ioctl_value(bundle, UVERBS_ATTR_REG_DMABUF_MR_IOVA);
	const uint64_t access = shca_ioctl_value(bundle, UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS);

	if ((offset & PAGE_MASK) != (iova & PAGE_MASK) || check_access((uint32_t)access) != 0)
		return -EINVAL;
	return -EOPNOTSUPP;
}

/* clang-format off */
static const struct shca_attr_row destroy_rows[] = {
	SHCA_DESTROY(UVERBS_ATTR_DESTROY_MR_HANDLE, &shca_mr_class),
};

static const struct shca_attr_row reg_dm_rows[] = {
	SHCA_NEW(UVERBS_ATTR_REG_DM_MR_HANDLE, &shca_mr_class),
	SHCA_IN(UVERBS_ATTR_REG_DM_MR_OFFSET, 8),
	SHCA_IN(UVERBS_ATTR_REG_DM_MR_LENGTH, 8),
	SHCA_HANDLE(UVERBS_ATTR_REG_DM_MR_PD_HANDLE, &shca_pd_class),
	SHCA_FLAGS(UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS, KNOWN_ACCESS),
	SHCA_HANDLE(UVERBS_ATTR_REG_DM_MR_DM_HANDLE, &shca_dm_class),
	SHCA_OUT(UVERBS_ATTR_REG_DM_MR_RESP_LKEY, 4),
	SHCA_OUT(UVERBS_ATTR_REG_DM_MR_RESP_RKEY, 4),
};

static const struct shca_attr_row query_rows[] = {
	SHCA_HANDLE(UVERBS_ATTR_QUERY_MR_HANDLE, &shca_mr_class),
	SHCA_OUT(UVERBS_ATTR_QUERY_MR_RESP_LKEY, 4),
	SHCA_OUT(UVERBS_ATTR_QUERY_MR_RESP_RKEY, 4),
	SHCA_OUT(UVERBS_ATTR_QUERY_MR_RESP_LENGTH, 8),
	SHCA_OUT_OPTIONAL(UVERBS_ATTR_QUERY_MR_RESP_IOVA, 8),
};

static const struct shca_attr_row advise_rows[] = {
	SHCA_HANDLE(UVERBS_ATTR_ADVISE_MR_PD_HANDLE, &shca_pd_class),
	SHCA_IN(UVERBS_ATTR_ADVISE_MR_ADVICE, 8),
	SHCA_FLAGS_MANDATORY(UVERBS_ATTR_ADVISE_MR_FLAGS, UINT64_MAX),
	SHCA_IN_MANDATORY(UVERBS_ATTR_ADVISE_MR_SGE_LIST, sizeof(struct ib_uverbs_sge), SHCA_ANY_BYTES),
};

static const struct shca_attr_row reg_dmabuf_rows[] = {
	SHCA_NEW(UVERBS_ATTR_REG_DMABUF_MR_HANDLE, &shca_mr_class),
	SHCA_HANDLE(UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, &shca_pd_class),
	SHCA_IN(UVERBS_ATTR_REG_DMABUF_MR_OFFSET, 8),
	SHCA_IN(UVERBS_ATTR_REG_DMABUF_MR_LENGTH, 8),
	SHCA_IN(UVERBS_ATTR_REG_DMABUF_MR_IOVA, 8),
	SHCA_IN(UVERBS_ATTR_REG_DMABUF_MR_FD, 4),
	SHCA_FLAGS(UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, DMABUF_ACCESS),
	SHCA_OUT(UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, 4),
	SHCA_OUT(UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, 4),
};

const struct shca_method shca_mr_methods[] = {
	{ UVERBS_METHOD_DM_MR_REG, SHCA_ROWS(reg_dm_rows), .handler = reg_dm },
	{ UVERBS_METHOD_MR_DESTROY, SHCA_ROWS(destroy_rows) },
	{ UVERBS_METHOD_ADVISE_MR, SHCA_ROWS(advise_rows), .handler = advise },
	{ UVERBS_METHOD_QUERY_MR, SHCA_ROWS(query_rows), .handler = query },
	{ UVERBS_METHOD_REG_DMABUF_MR, .since = SHCA_KERNEL_6_1, /* Linux 5.12 */
		SHCA_ROWS(reg_dmabuf_rows), .handler = reg_dmabuf },
	{ 0 },
};
/* clang-format on */
