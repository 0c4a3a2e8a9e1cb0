/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Shapes by themselves: which rules are of one shape, and what these have in common. Pure.
 */
#ifndef MDV_FLOW_SHAPE_H
#define MDV_FLOW_SHAPE_H

#include "flow_level.h"

/** Fill in the properties of a shape that decide which shape the rule joins; the shape is in no
 * list. */
void mdv_flow_shape_describe(struct mdv_flow_shape *shape, const struct mdv_flow_level_want *want);
/** @return whether both are of one age; the parts that RSS makes of rules do not matter. */
bool mdv_flow_shape_same_mask(const struct mdv_flow_shape *a, const struct mdv_flow_shape *b);
/** @return whether two shapes with one last mask are alike in all else that rules bring. */
bool mdv_flow_shape_same_parts(const struct mdv_flow_shape *a, const struct mdv_flow_shape *b);

/** Fix the bits of the first rule. A rule that changes packets fixes none. */
void mdv_flow_shape_fix(struct mdv_flow_shape *shape, const struct mdv_flow_match *match);
/** Keep only the fixed bits that the rule has, too. */
void mdv_flow_shape_widen(struct mdv_flow_shape *shape, const struct mdv_flow_match *match);
/** @return whether the rule would take bits out of `fixed`. After the first few rules of a shape
 * it rarely does. */
static inline bool
mdv_flow_shape_is_wider(const struct mdv_flow_shape *shape, const struct mdv_flow_match *match)
{
	const struct mdv_flow_key *mask = &shape->fixed_mask, *value = &shape->fixed_value;
	uint64_t less = 0;

	for (uint32_t fixed = shape->fixed_used; fixed != 0; fixed &= fixed - 1) {
		const unsigned int i = __builtin_ctz(fixed);

		less |= mask->words[i] &
			(~match->mask.words[i] | (value->words[i] ^ match->value.words[i]));
	}
	return less != 0;
}

#endif /* MDV_FLOW_SHAPE_H */
