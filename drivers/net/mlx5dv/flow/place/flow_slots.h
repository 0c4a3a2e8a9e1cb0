/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The tables of the levels, as the kernel fills them: a slot a mask, an entry a match. Pure.
 */
#ifndef MDV_FLOW_SLOTS_H
#define MDV_FLOW_SLOTS_H

#include "flow_level.h"

/** @return 0 or -ENOMEM */
int mdv_flow_slots_init(struct mdv_flow_levels *levels);
void mdv_flow_slots_fini(struct mdv_flow_levels *levels);
/** No slots taken, no entries. */
void mdv_flow_slots_clear(struct mdv_flow_levels *levels);
/** Make sure that mdv_flow_slots_enter() finds memory. @return 0 or -ENOMEM */
int mdv_flow_slots_reserve(struct mdv_flow_levels *levels, uint8_t level, bool copies);
/** The shape's masks take slots in the table of its level, or leave them. */
void mdv_flow_slots_enter(struct mdv_flow_levels *levels, const struct mdv_flow_shape *shape);
void mdv_flow_slots_leave(struct mdv_flow_levels *levels, const struct mdv_flow_shape *shape);
/** Count the entries of one rule, or of -1. */
void mdv_flow_slots_count(
	struct mdv_flow_levels *levels, const struct mdv_flow_shape *shape, int nb_rules);
/** @return whether the table of the shape's level has room for another rule of it. */
bool mdv_flow_slots_room(
	const struct mdv_flow_levels *levels, const struct mdv_flow_shape *shape, uint8_t level);
/**
 * Would the earlier of two equal taking shapes, one of them there already, have the lower slots in
 * the table of @p level?
 */
bool mdv_flow_slots_in_order(const struct mdv_flow_levels *levels,
	const struct mdv_flow_shape *earlier, const struct mdv_flow_shape *later, uint8_t level);

#endif /* MDV_FLOW_SLOTS_H */
