/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Uses of flow actions by flows of both kinds, verbs and mlx5dv.
 */
#ifndef SHCA_ABI_OBJECT_FLOW_USE_H
#define SHCA_ABI_OBJECT_FLOW_USE_H

struct shca_flow_action_object;
struct shca_flow_object;

/** Count @p flow among the users of @p nb actions. @return 0 or -ENOMEM. */
int shca_flow_use_add(struct shca_flow_object *flow, struct shca_flow_action_object *const *actions,
	unsigned int nb);
/** End the uses of @p flow, if there are any. */
void shca_flow_use_drop(struct shca_flow_object *flow);

#endif /* SHCA_ABI_OBJECT_FLOW_USE_H */
