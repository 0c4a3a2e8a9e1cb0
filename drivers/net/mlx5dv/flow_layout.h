/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Levels of shapes: flow_level.h says what is right, flow_layout.c finds it. Pure. */
#ifndef MDV_FLOW_LAYOUT_H
#define MDV_FLOW_LAYOUT_H

#include "flow_level.h"

/** @return whether @p a stands before @p b in the order of the promise. */
bool mdv_flow_layout_before(const struct mdv_flow_shape *a, const struct mdv_flow_shape *b);
/**
 * Give every shape a target, its own level unless @p shape, new or with new fixed bits, has no
 * place among the others as they are.
 * @return 0 or -ENOSPC
 */
int mdv_flow_layout_place(struct mdv_flow_levels *levels, struct mdv_flow_shape *shape);
/** Move what has rules and another target. @return 0 or the mover's error, all as before then. */
int mdv_flow_layout_apply(struct mdv_flow_levels *levels);

/** Tables have slots, one a mask, and entries. @return 0 or -ENOMEM */
int mdv_flow_layout_init(struct mdv_flow_levels *levels);
void mdv_flow_layout_fini(struct mdv_flow_levels *levels);
/** No slots taken, no entries. */
void mdv_flow_layout_clear(struct mdv_flow_levels *levels);
/** Make sure that mdv_flow_layout_enter() finds memory. @return 0 or -ENOMEM */
int mdv_flow_layout_reserve(struct mdv_flow_levels *levels, uint8_t level, bool copies);
/** The shape's masks take slots in the table of its level, or leave them. */
void mdv_flow_layout_enter(struct mdv_flow_levels *levels, const struct mdv_flow_shape *shape);
void mdv_flow_layout_leave(struct mdv_flow_levels *levels, const struct mdv_flow_shape *shape);
/** Count the entries of one rule, or of -1. */
void mdv_flow_layout_count(
	struct mdv_flow_levels *levels, const struct mdv_flow_shape *shape, int nb_rules);
/** @return whether the table of the shape's level has room for another rule of it. */
bool mdv_flow_layout_room(
	const struct mdv_flow_levels *levels, const struct mdv_flow_shape *shape, uint8_t level);

#endif /* MDV_FLOW_LAYOUT_H */
