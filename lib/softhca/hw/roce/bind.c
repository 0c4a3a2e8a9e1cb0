/* SPDX-License-Identifier: BSD-3-Clause */
/* Work requests that change a memory window: bind and invalidate, as UMR WQEs. */
#include <rdma/ib_user_ioctl_verbs.h>

#include "hw/roce/window.h"
#include "hw/roce/state.h"

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
