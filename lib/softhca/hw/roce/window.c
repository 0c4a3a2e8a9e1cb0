/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory windows, and the UMR WQEs that bind and invalidate them. */
#include "hw/roce/window.h"

#include <errno.h>
#include <stdlib.h>

#include <rdma/ib_user_ioctl_verbs.h>

#include "hw/roce/state.h"

#define NO_PDN UINT32_MAX
#define WRITES (IB_UVERBS_ACCESS_REMOTE_WRITE | IB_UVERBS_ACCESS_REMOTE_ATOMIC)

int
shca_window_alloc(struct shca_mem *mem, uint32_t pdn, bool is_type_2, struct shca_window **out)
{
	struct shca_window *window = calloc(1, sizeof(*window));
	int ret;

	if (window == NULL)
		return -ENOMEM;
	ret = shca_mem_add_key(mem, &window->mr);
	if (ret != 0) {
		free(window);
		return ret;
	}
	window->mr.is_window = true;
	window->mr.pdn = NO_PDN;
	window->pdn = pdn;
	window->is_type_2 = is_type_2;
	*out = window;
	return 0;
}

void
shca_window_free(struct shca_mem *mem, struct shca_window *window)
{
	shca_mem_dereg(mem, &window->mr);
}

struct shca_window *
shca_window_find(struct shca_mem *mem, uint32_t key)
{
	struct shca_mr *mr = shca_idtable_get(&mem->mrs, key >> SHCA_MEM_LKEY_INDEX_SHIFT);

	return mr != NULL && mr->is_window ? (struct shca_window *)mr : NULL;
}

/** @return whether the region may have such a window. */
static bool
may_bind(struct shca_mem *mem, const struct shca_window_bind *bind)
{
	const struct shca_mr *region =
		shca_idtable_get(&mem->mrs, bind->lkey >> SHCA_MEM_LKEY_INDEX_SHIFT);

	return region != NULL && !region->is_window &&
		(region->access & IB_UVERBS_ACCESS_MW_BIND) != 0 &&
		shca_mem_ptr(mem, bind->pdn, bind->lkey, bind->address, bind->length,
			(bind->access & WRITES) != 0) != NULL;
}

bool
shca_window_bind(
	struct shca_mem *mem, struct shca_window *window, const struct shca_window_bind *bind)
{
	/* One of type 2 must have been invalidated before. */
	if (window->pdn != bind->pdn || (window->is_type_2 && window->is_bound) ||
		window->is_type_2 != (bind->qpn != SHCA_WINDOW_ANY_QP) ||
		(bind->length != 0 && !may_bind(mem, bind)))
		return false;
	window->mr.lkey = (window->mr.lkey & ~UINT32_C(0xff)) | bind->variant;
	window->mr.iova = bind->start;
	window->mr.length = bind->length;
	window->mr.access = bind->access;
	window->is_bound = bind->length != 0;
	window->qpn = bind->qpn;
	window->target_lkey = bind->lkey;
	window->target = bind->address;
	return true;
}

bool
shca_window_invalidate(struct shca_window *window, uint32_t key, uint32_t pdn, uint32_t qpn)
{
	if (!window->is_type_2 || !window->is_bound || window->mr.lkey != key ||
		window->pdn != pdn || window->qpn != qpn)
		return false;
	window->is_bound = false;
	return true;
}

void
shca_window_forget_qp(struct shca_mem *mem, uint32_t qpn)
{
	struct shca_mr *mr;

	for (uint32_t i = 0; (mr = shca_idtable_next(&mem->mrs, &i)) != NULL; i++) {
		struct shca_window *window = mr->is_window ? (struct shca_window *)mr : NULL;

		if (window != NULL && window->is_type_2 && window->qpn == qpn)
			window->is_bound = false;
	}
}

uint8_t *
shca_window_ptr(struct shca_mem *mem, const struct shca_window *window, uint32_t wanted,
	uint32_t rkey, uint32_t pdn, uint32_t qpn, uint64_t va, uint64_t length)
{
	const struct shca_mr *mr = &window->mr;

	if (!window->is_bound || mr->lkey != rkey || window->pdn != pdn ||
		(mr->access & wanted) != wanted || (window->is_type_2 && window->qpn != qpn))
		return NULL;
	if (va < mr->iova || length > mr->length || va - mr->iova > mr->length - length)
		return NULL;
	return shca_mem_ptr(mem, pdn, window->target_lkey, window->target + (va - mr->iova), length,
		(wanted & WRITES) != 0);
}

static uint32_t
access_of(uint8_t flags)
{
	return (flags & MLX5_WQE_MKEY_CONTEXT_ACCESS_FLAGS_REMOTE_READ
			       ? IB_UVERBS_ACCESS_REMOTE_READ
			       : 0u) |
		(flags & MLX5_WQE_MKEY_CONTEXT_ACCESS_FLAGS_REMOTE_WRITE
				? IB_UVERBS_ACCESS_REMOTE_WRITE
				: 0u) |
		(flags & MLX5_WQE_MKEY_CONTEXT_ACCESS_FLAGS_ATOMIC ? IB_UVERBS_ACCESS_REMOTE_ATOMIC
								   : 0u);
}

/** A window is named by the index of its key: a bind gives it the lower bits. */
enum shca_outcome
shca_roce_bind(struct shca_roce_qp *qp, const struct shca_roce_umr *umr)
{
	struct shca_window *window = shca_window_find(qp->dev->mem, umr->key);
	const struct shca_window_bind bind = {
		.pdn = qp->attr.pdn,
		.qpn = umr->has_qpn ? umr->qpn : SHCA_WINDOW_ANY_QP,
		.variant = umr->variant,
		.access = access_of(umr->access_flags),
		.start = umr->start,
		.length = umr->is_free ? 0 : umr->length,
		.lkey = umr->lkey,
		.address = umr->address,
	};
	bool is_done;

	if (window == NULL)
		return SHCA_OUTCOME_WINDOW_BIND;
	if (umr->is_free && window->is_type_2)
		is_done = shca_window_invalidate(window, umr->key, qp->attr.pdn, qp->number);
	else if (umr->has_qpn && umr->qpn != qp->number)
		is_done = false;
	else
		is_done = shca_window_bind(qp->dev->mem, window, &bind);
	return is_done ? SHCA_OUTCOME_SUCCESS : SHCA_OUTCOME_WINDOW_BIND;
}
