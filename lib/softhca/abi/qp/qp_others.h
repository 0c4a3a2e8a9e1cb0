/* SPDX-License-Identifier: BSD-3-Clause */
/** @file What a request for a queue pair names: its type and limits, and the objects that it needs.
 */
#ifndef SHCA_ABI_QP_QP_OTHERS_H
#define SHCA_ABI_QP_QP_OTHERS_H

#include "abi/core/ioctl.h"

/** Note all of that in @p qp, as far as its type has a use for it. @return 0 or a negative errno */
int shca_qp_others_take(const struct shca_bundle *bundle, struct shca_qp_object *qp);
/** The queue pair uses them from now on. */
void shca_qp_others_use(struct shca_qp_object *qp);
/** It is being destroyed. */
void shca_qp_others_leave(struct shca_qp_object *qp);

#endif /* SHCA_ABI_QP_QP_OTHERS_H */
