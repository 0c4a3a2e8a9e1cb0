/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The tables of the levels, as the kernel fills them: one slot a mask, one entry a match.
 * Pure. */
#ifndef MDV_FLOW_SLOTS_H
#define MDV_FLOW_SLOTS_H

#include "flow_level.h"

/** @return 0 or -ENOMEM */
int mdv_flow_slots_init(struct mdv_flow_levels *levels);
void mdv_flow_slots_fini(struct mdv_flow_levels *levels);
/** Free all slots and set the numbers of entries to 0. */
void mdv_flow_slots_clear(struct mdv_flow_levels *levels);
/** Allocate the memory that mdv_flow_slots_enter() needs. @return 0 or -ENOMEM */
int mdv_flow_slots_reserve(struct mdv_flow_levels *levels, uint8_t level, bool copies);
/** Take slots for the shape's masks in the table of its level, or free them. */
void mdv_flow_slots_enter(struct mdv_flow_levels *levels, const struct mdv_flow_shape *shape);
void mdv_flow_slots_leave(struct mdv_flow_levels *levels, const struct mdv_flow_shape *shape);
/** Count the entries of @p nb_rules more rules; a negative number takes entries off. */
void mdv_flow_slots_count(
	struct mdv_flow_levels *levels, const struct mdv_flow_shape *shape, int nb_rules);
/** @return whether the table of the shape's level has room for another rule of the shape. */
bool mdv_flow_slots_room(
	const struct mdv_flow_levels *levels, const struct mdv_flow_shape *shape, uint8_t level);
/** @return whether the table of the shape's own level has room for one rule more. */
bool mdv_flow_slots_room_more(
	const struct mdv_flow_levels *levels, const struct mdv_flow_shape *shape);
/** @return whether in the table of @p level the earlier of two equal taking shapes, one of which
 * is already there, has the lower slots. */
bool mdv_flow_slots_in_order(const struct mdv_flow_levels *levels,
	const struct mdv_flow_shape *earlier, const struct mdv_flow_shape *later, uint8_t level);

#endif /* MDV_FLOW_SLOTS_H */
