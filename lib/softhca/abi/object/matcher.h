/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Flow matchers of mlx5dv and their flows.
 */
#ifndef SHCA_ABI_OBJECT_MATCHER_H
#define SHCA_ABI_OBJECT_MATCHER_H

struct shca_bundle;

/** Handler of MLX5_IB_METHOD_CREATE_FLOW. */
int shca_matcher_create_flow(struct shca_bundle *bundle);

#endif /* SHCA_ABI_OBJECT_MATCHER_H */
