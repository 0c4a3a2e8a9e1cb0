/* SPDX-License-Identifier: BSD-3-Clause */
/** @file A device that is asked for its model, and what is tried with it. */
#ifndef CHECK_MODEL_H
#define CHECK_MODEL_H

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>

#include "check.h"

struct check_device {
	struct ibv_context *ctx;
	struct ibv_device_attr_ex attr;
	struct mlx5dv_context dv;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp; /**< in INIT: nothing is ever received */
	struct ibv_wq *wq; /**< without requests */
	struct ibv_rwq_ind_table *table;
};

/** Write what neither verbs nor direct verbs tells, by trials that change nothing for Linux: queues
 * that receive nothing, rules that match no frame, actions that no rule uses. */
void check_model_try(FILE *out, struct check_device *device);
/** @return whether Linux shows a file of the device's, by its path below that of the device, with a
 * line in it */
bool check_model_has_file(const char *ibdev, const char *name);

#endif /* CHECK_MODEL_H */
