/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Finds the levels of shapes by the order that flow_level.h states. Pure. */
#ifndef MDV_FLOW_LAYOUT_H
#define MDV_FLOW_LAYOUT_H

#include "flow_level.h"

/** Put @p shape into the list at its place in the order of the promise. */
void mdv_flow_layout_insert(struct mdv_flow_levels *levels, struct mdv_flow_shape *shape);
/** @return whether @p a stands before @p b in the order of the promise. */
bool mdv_flow_layout_before(const struct mdv_flow_shape *a, const struct mdv_flow_shape *b);
/**
 * Give every shape a target. All keep their levels unless @p shape, which is new or has lost fixed
 * bits, has no place among the others as they are.
 * @param sticky_stay as in struct mdv_flow_levels, for this call
 * @return 0 or -ENOSPC
 */
int mdv_flow_layout_place(
	struct mdv_flow_levels *levels, struct mdv_flow_shape *shape, bool sticky_stay);
/** @return whether the level of @p shape is right for it while all others stay. */
bool mdv_flow_layout_stays(
	const struct mdv_flow_levels *levels, const struct mdv_flow_shape *shape);
/**
 * Move the shapes with rules to their targets.
 * @return 0, or the mover's error after undoing all moves
 */
int mdv_flow_layout_apply(struct mdv_flow_levels *levels);

#endif /* MDV_FLOW_LAYOUT_H */
