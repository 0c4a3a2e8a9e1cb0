/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Queue pairs that more than one object stands for. */
#ifndef SHCA_ABI_QP_QP_SHARE_H
#define SHCA_ABI_QP_QP_SHARE_H

#include "abi/core/object.h"

/** @return the one that has the states of its queue pair: of an XRC target maybe another's. */
static inline struct shca_qp_object *
shca_qp_share_owner(struct shca_qp_object *qp)
{
	return qp->roce != NULL ? shca_roce_qp_owner(qp->roce) : qp;
}

/** Have what @p owner has, too. */
void shca_qp_share_join(struct shca_qp_object *qp, struct shca_qp_object *owner);
/** Where others have the queue pair, too, give up this one's part: it has none then. */
void shca_qp_share_leave(struct shca_qp_object *qp);

#endif /* SHCA_ABI_QP_QP_SHARE_H */
