/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What flows of both kinds do with the flow actions that they name.
 */
#ifndef SHCA_ABI_OBJECT_FLOW_USE_H
#define SHCA_ABI_OBJECT_FLOW_USE_H

struct shca_flow_action_object;
struct shca_flow_object;

/** Count @p flow among the users of @p nb actions. @return 0 or -ENOMEM. */
int shca_flow_use_add(struct shca_flow_object *flow, struct shca_flow_action_object *const *actions,
	unsigned int nb);
/** No longer; one that uses none is allowed. */
void shca_flow_use_drop(struct shca_flow_object *flow);

#endif /* SHCA_ABI_OBJECT_FLOW_USE_H */
