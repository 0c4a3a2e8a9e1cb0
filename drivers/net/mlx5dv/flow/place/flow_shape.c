/* SPDX-License-Identifier: BSD-3-Clause */
/* Describes the shape of a rule, and keeps the bits that all rules of a shape have. */

#include <stddef.h>
#include <string.h>

#include "flow_shape.h"

static void
shape_set_masks(struct mdv_flow_shape *shape, const struct mdv_flow_level_want *want)
{
	shape->nb_masks = want->set != 0 ? 1 : want->nb_masks;
	shape->masks[0] = want->set != 0 ? want->set : want->masks[0];
	for (unsigned int i = 1; i < shape->nb_masks; i++)
		shape->masks[i] = want->masks[i];
}

void
mdv_flow_shape_describe(struct mdv_flow_shape *shape, const struct mdv_flow_level_want *want)
{
	const uint64_t kind = (uint64_t)want->priority << 16 | want->depth << 8 |
		want->nb_entries << 1 | (want->copies ? 1 : 0);
	uint64_t hash = (kind ^ want->set) * UINT64_C(0x9e3779b97f4a7c15);

	memset(shape, 0, offsetof(struct mdv_flow_shape, masks));
	TAILQ_INIT(&shape->rules);
	shape->priority = want->priority;
	shape->copies = want->copies;
	shape->multi_dest = want->multi_dest;
	shape->modifies = want->modifies;
	shape->depth = want->depth;
	shape->nb_entries = want->nb_entries;
	shape->set = want->set;
	shape->level = -1;
	shape_set_masks(shape, want);
	hash ^= shape->masks[shape->nb_masks - 1] ^ (hash >> 31);
	hash *= UINT64_C(0xff51afd7ed558ccd);
	shape->hash = hash ^ (hash >> 32);
}

bool
mdv_flow_shape_same_mask(const struct mdv_flow_shape *a, const struct mdv_flow_shape *b)
{
	return a->hash == b->hash && a->priority == b->priority && a->copies == b->copies &&
		a->depth == b->depth && a->nb_entries == b->nb_entries && a->set == b->set &&
		a->masks[a->nb_masks - 1] == b->masks[b->nb_masks - 1];
}

bool
mdv_flow_shape_same_parts(const struct mdv_flow_shape *a, const struct mdv_flow_shape *b)
{
	return a->multi_dest == b->multi_dest && a->modifies == b->modifies &&
		a->nb_masks == b->nb_masks &&
		(a->nb_masks == 1 ||
			memcmp(a->masks, b->masks, a->nb_masks * sizeof(a->masks[0])) == 0);
}

void
mdv_flow_shape_fix(struct mdv_flow_shape *shape, const struct mdv_flow_match *match)
{
	memset(&shape->fixed_mask, 0, sizeof(shape->fixed_mask));
	memset(&shape->fixed_value, 0, sizeof(shape->fixed_value));
	shape->fixed_used = 0;
	if (shape->modifies)
		return;
	shape->fixed_used = match->used;
	shape->fixed_mask = match->mask;
	shape->fixed_value = match->value;
}

void
mdv_flow_shape_widen(struct mdv_flow_shape *shape, const struct mdv_flow_match *match)
{
	struct mdv_flow_key *mask = &shape->fixed_mask, *value = &shape->fixed_value;

	for (uint32_t fixed = shape->fixed_used; fixed != 0; fixed &= fixed - 1) {
		const unsigned int i = __builtin_ctz(fixed);

		mask->words[i] &= match->mask.words[i] & ~(value->words[i] ^ match->value.words[i]);
		value->words[i] &= mask->words[i];
	}
}
