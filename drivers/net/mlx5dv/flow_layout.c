/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds levels for shapes, and the order in which they can be moved there. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "flow_layout.h"

/* Of an auto-grouped table: the first masks get groups, later ones an entry a group wherever one is
 * free, so nothing can be said of their order (MLX5_FS_MAX_TYPES less the one kept for those). */
#define LAYOUT_GROUPS 6
/* A copying rule that is moved may copy a packet twice while it is in both places. */
#define LAYOUT_COPY_COST 1000u

struct layout_slot {
	uint64_t mask;
	uint32_t refs; /* 0: free */
};

struct mdv_flow_level_slots {
	struct layout_slot *slots;
	uint32_t nb, size;
	uint32_t entries;
};

static struct mdv_flow_level_slots *
layout_table(const struct mdv_flow_levels *levels, uint8_t level, bool copies)
{
	return &levels->slots[2 * level + (copies ? 0 : 1)];
}

bool
mdv_flow_layout_before(const struct mdv_flow_shape *a, const struct mdv_flow_shape *b)
{
	if (a->priority != b->priority)
		return a->priority < b->priority;
	if (a->copies != b->copies)
		return a->copies;
	if (!a->copies && a->depth != b->depth)
		return a->depth > b->depth;
	if (a->set != b->set)
		return a->set < b->set;
	if (a->age != b->age)
		return a->age < b->age;
	if (a->rank != b->rank)
		return a->rank < b->rank;
	if (a->turn != b->turn)
		return a->turn < b->turn;
	return a->spill != b->spill ? a->spill < b->spill : a->born < b->born;
}

static bool
layout_shares_mask(const struct mdv_flow_shape *a, const struct mdv_flow_shape *b)
{
	for (unsigned int i = 0; i < a->nb_masks; i++)
		for (unsigned int j = 0; j < b->nb_masks; j++)
			if (a->masks[i] == b->masks[j])
				return true;
	return a->set != 0 || b->set != 0; /* whose masks are not kept */
}

static bool
layout_has_parts(const struct mdv_flow_shape *shape)
{
	return shape->nb_masks > 1 || shape->set != 0;
}

static bool
layout_may_meet(const struct mdv_flow_shape *a, const struct mdv_flow_shape *b)
{
	for (unsigned int i = 0; i < MDV_FLOW_KEY_WORDS; i++)
		if (((a->fixed_value.words[i] ^ b->fixed_value.words[i]) & a->fixed_mask.words[i] &
			    b->fixed_mask.words[i]) != 0)
			return false;
	return true;
}

/* Do the two have a say in each other's level? */
static bool
layout_related(const struct mdv_flow_shape *a, const struct mdv_flow_shape *b)
{
	if (a->age == b->age && a->rank == b->rank && a->turn == b->turn &&
		a->nb_masks == b->nb_masks &&
		memcmp(a->masks, b->masks, a->nb_masks * sizeof(a->masks[0])) == 0)
		return false; /* one and its spill: all values differ */
	if (layout_may_meet(a, b))
		return true;
	/* The slots of a rule's parts come in their order only where it is the first to have them.
	 */
	return a->copies == b->copies && (layout_has_parts(a) || layout_has_parts(b)) &&
		layout_shares_mask(a, b);
}

/* rte_flow leaves it open which of the two wins; the order of slots makes it the older mask. */
static bool
layout_equals(const struct mdv_flow_shape *a, const struct mdv_flow_shape *b)
{
	return !a->copies && !b->copies && a->priority == b->priority && a->depth == b->depth &&
		!layout_shares_mask(a, b);
}

/* By how much the level of the later of two related shapes is above that of the earlier one. */
static int
layout_gap(const struct mdv_flow_shape *earlier, const struct mdv_flow_shape *later, bool relaxed)
{
	if (earlier->copies && !later->copies)
		return 0;
	if (layout_equals(earlier, later) &&
		(relaxed || (earlier->level >= 0 && earlier->level == later->level)))
		return 0;
	return 1;
}

/* The last level a shape may have. */
static int
layout_last(const struct mdv_flow_levels *levels, const struct mdv_flow_shape *shape)
{
	return levels->nb - 1 - (shape->priority == MDV_FLOW_LEVEL_DEFAULT ? 0 : levels->reserved);
}

static uint32_t
layout_slot_find(const struct mdv_flow_level_slots *table, uint64_t mask)
{
	uint32_t at, hole = table->nb;

	for (at = 0; at < table->nb; at++) {
		if (table->slots[at].refs == 0)
			hole = RTE_MIN(hole, at);
		else if (table->slots[at].mask == mask)
			return at;
	}
	return hole;
}

/* Would the earlier of two equals, one of them there already, have the lower slots? */
static bool
layout_in_order(const struct mdv_flow_levels *levels, const struct mdv_flow_shape *earlier,
	const struct mdv_flow_shape *later, uint8_t level)
{
	const struct mdv_flow_level_slots *table = layout_table(levels, level, false);
	uint32_t last = 0, first = UINT32_MAX;

	for (unsigned int i = 0; i < earlier->nb_masks; i++)
		last = RTE_MAX(last, layout_slot_find(table, earlier->masks[i]));
	for (unsigned int i = 0; i < later->nb_masks; i++)
		first = RTE_MIN(first, layout_slot_find(table, later->masks[i]));
	return last < first && last < LAYOUT_GROUPS;
}

/* Is @p level right for the shape with all others where they are? */
static bool
layout_fits(const struct mdv_flow_levels *levels, const struct mdv_flow_shape *shape, uint8_t level)
{
	const struct mdv_flow_shape *other;

	if (level != shape->level && !mdv_flow_layout_room(levels, shape, level))
		return false;
	TAILQ_FOREACH (other, &levels->shapes, next) {
		const bool before = mdv_flow_layout_before(other, shape);
		const struct mdv_flow_shape *earlier = before ? other : shape;
		const struct mdv_flow_shape *later = before ? shape : other;
		int above = before ? level - other->level : other->level - level;

		if (other == shape || other->level < 0 || !layout_related(shape, other))
			continue;
		if (above == 0 && layout_equals(earlier, later)) {
			if (!layout_in_order(levels, earlier, later, level))
				return false;
		} else if (above < (earlier->copies && !later->copies ? 0 : 1)) {
			return false;
		}
	}
	return true;
}

/* Where rules of the order's neighbourhood are, related or not, so that later ones find room. */
struct layout_span {
	int first, last;
	uint32_t same; /* bits of levels that have rules of this priority */
};

static struct layout_span
layout_neighbourhood(const struct mdv_flow_levels *levels, const struct mdv_flow_shape *shape)
{
	struct layout_span span = { .first = 0, .last = layout_last(levels, shape) };
	const struct mdv_flow_shape *other;

	TAILQ_FOREACH (other, &levels->shapes, next) {
		if (other == shape || other->level < 0)
			continue;
		if (other->priority == shape->priority)
			span.same |= UINT32_C(1) << other->level;
		if (mdv_flow_layout_before(other, shape))
			span.first = RTE_MAX(span.first,
				other->level + (other->priority < shape->priority ? 1 : 0));
		else
			span.last = RTE_MIN(span.last,
				other->level - (other->priority > shape->priority ? 1 : 0));
	}
	return span;
}

/*
 * The best of the levels that fit: one that rules of this priority have already; else a quarter of
 * the way through what lies between earlier and later priorities, as most applications count
 * upwards; else any.
 */
static int
layout_choose(const struct mdv_flow_levels *levels, const struct mdv_flow_shape *shape)
{
	const struct layout_span span = layout_neighbourhood(levels, shape);
	const int last = layout_last(levels, shape);
	int wish = span.first + RTE_MAX(span.last - span.first, 0) / 4, best = -1;

	if (shape->priority == MDV_FLOW_LEVEL_DEFAULT)
		wish = last;
	for (int level = 0; level <= last; level++) {
		if (!layout_fits(levels, shape, level))
			continue;
		if ((span.same & (UINT32_C(1) << level)) != 0)
			return level;
		if (best < 0 || abs(level - wish) < abs(best - wish))
			best = level;
	}
	return best;
}

static int
layout_bounds(struct mdv_flow_levels *levels, bool relaxed)
{
	struct mdv_flow_shape *shape, *other;

	TAILQ_FOREACH (shape, &levels->shapes, next) {
		shape->earliest = 0;
		for (other = TAILQ_FIRST(&levels->shapes); other != shape;
			other = TAILQ_NEXT(other, next))
			if (layout_related(other, shape))
				shape->earliest = RTE_MAX(shape->earliest,
					other->earliest + layout_gap(other, shape, relaxed));
		if (shape->earliest > layout_last(levels, shape))
			return -ENOSPC;
	}
	TAILQ_FOREACH_REVERSE(shape, &levels->shapes, mdv_flow_shapes, next)
	{
		shape->latest = layout_last(levels, shape);
		for (other = TAILQ_NEXT(shape, next); other != NULL;
			other = TAILQ_NEXT(other, next))
			if (layout_related(shape, other))
				shape->latest = RTE_MIN(shape->latest,
					other->latest - layout_gap(shape, other, relaxed));
	}
	return 0;
}

static uint64_t
layout_cost(const struct mdv_flow_shape *shape)
{
	if (shape->level < 0 || shape->level == shape->target)
		return 0;
	return (uint64_t)shape->nb_rules * (shape->copies ? LAYOUT_COPY_COST : 1);
}

/* Everybody stays unless an earlier one is in the way; the bounds leave room for the later ones. */
static uint64_t
layout_push_up(struct mdv_flow_levels *levels, bool relaxed)
{
	struct mdv_flow_shape *shape, *other;
	uint64_t cost = 0;

	TAILQ_FOREACH (shape, &levels->shapes, next) {
		int8_t low = 0;

		for (other = TAILQ_FIRST(&levels->shapes); other != shape;
			other = TAILQ_NEXT(other, next))
			if (layout_related(other, shape))
				low = RTE_MAX(
					low, other->target + layout_gap(other, shape, relaxed));
		low = RTE_MAX(low, shape->level);
		shape->target = RTE_MIN(low, shape->latest);
		cost += layout_cost(shape);
	}
	return cost;
}

/* The same from the other end. */
static uint64_t
layout_push_down(struct mdv_flow_levels *levels, bool relaxed)
{
	struct mdv_flow_shape *shape, *other;
	uint64_t cost = 0;

	TAILQ_FOREACH_REVERSE(shape, &levels->shapes, mdv_flow_shapes, next)
	{
		int8_t high = shape->latest;

		for (other = TAILQ_NEXT(shape, next); other != NULL;
			other = TAILQ_NEXT(other, next))
			if (layout_related(shape, other))
				high = RTE_MIN(
					high, other->target - layout_gap(shape, other, relaxed));
		shape->target = shape->level < 0 ? high : RTE_MIN(shape->level, high);
		shape->target = RTE_MAX(shape->target, shape->earliest);
		cost += layout_cost(shape);
	}
	return cost;
}

static int
layout_all(struct mdv_flow_levels *levels, bool relaxed)
{
	uint64_t up, down;
	int rc = layout_bounds(levels, relaxed);

	if (rc != 0)
		return rc;
	up = layout_push_up(levels, relaxed);
	down = layout_push_down(levels, relaxed);
	if (up < down)
		layout_push_up(levels, relaxed);
	return 0;
}

/* While a copying rule is moved, a packet may be copied to it twice. */
static bool
layout_may(const struct mdv_flow_levels *levels)
{
	const struct mdv_flow_shape *shape;

	if (!levels->copies_stay)
		return true;
	TAILQ_FOREACH (shape, &levels->shapes, next)
		if (shape->copies && shape->level >= 0 && shape->target != shape->level)
			return false;
	return true;
}

int
mdv_flow_layout_place(struct mdv_flow_levels *levels, struct mdv_flow_shape *shape)
{
	struct mdv_flow_shape *other;
	int level;

	TAILQ_FOREACH (other, &levels->shapes, next)
		other->target = other->level;
	if (shape->level >= 0 && layout_fits(levels, shape, shape->level))
		return 0;
	level = layout_choose(levels, shape);
	if (level >= 0) {
		shape->target = level;
		if (layout_may(levels))
			return 0;
	}
	/* Rather equals whose order is left to chance, as rte_flow allows, than a refusal. */
	if (layout_all(levels, false) == 0 && layout_may(levels))
		return 0;
	return layout_all(levels, true) == 0 && layout_may(levels) ? 0 : -ENOSPC;
}

static int
layout_move(struct mdv_flow_levels *levels, struct mdv_flow_shape *shape, int8_t level)
{
	int rc = mdv_flow_layout_reserve(levels, level, shape->copies);

	if (rc == 0)
		rc = levels->move(levels->context, shape, level);
	if (rc != 0)
		return rc;
	levels->nb_moved += shape->nb_rules;
	mdv_flow_layout_leave(levels, shape);
	mdv_flow_layout_count(levels, shape, -(int)shape->nb_rules);
	shape->level = level;
	mdv_flow_layout_enter(levels, shape);
	mdv_flow_layout_count(levels, shape, shape->nb_rules);
	return 0;
}

/* From the last shape to the first, so that nobody overtakes the one before it. */
static int
layout_move_up(struct mdv_flow_levels *levels)
{
	struct mdv_flow_shape *shape;

	TAILQ_FOREACH_REVERSE(shape, &levels->shapes, mdv_flow_shapes, next)
	{
		int rc = 0;

		if (shape->nb_rules != 0 && shape->target > shape->level)
			rc = layout_move(levels, shape, shape->target);
		if (rc != 0)
			return rc;
	}
	return 0;
}

static int
layout_move_down(struct mdv_flow_levels *levels)
{
	struct mdv_flow_shape *shape;

	TAILQ_FOREACH (shape, &levels->shapes, next) {
		int rc = 0;

		if (shape->nb_rules != 0 && shape->target < shape->level)
			rc = layout_move(levels, shape, shape->target);
		if (rc != 0)
			return rc;
	}
	return 0;
}

int
mdv_flow_layout_apply(struct mdv_flow_levels *levels)
{
	struct mdv_flow_shape *shape;
	int rc;

	TAILQ_FOREACH (shape, &levels->shapes, next)
		shape->earliest = shape->level;
	rc = layout_move_up(levels);
	if (rc == 0)
		rc = layout_move_down(levels);
	if (rc == 0)
		return 0;
	/* The way back is the way there: down was last, up was first. What cannot be moved back is
	 * in the device all the same, where its level says. */
	TAILQ_FOREACH (shape, &levels->shapes, next)
		shape->target = shape->earliest;
	if (layout_move_up(levels) != 0 || layout_move_down(levels) != 0)
		return -EIO;
	return rc;
}

int
mdv_flow_layout_init(struct mdv_flow_levels *levels)
{
	levels->slots = calloc(2 * MDV_FLOW_LEVEL_MAX, sizeof(levels->slots[0]));
	return levels->slots == NULL ? -ENOMEM : 0;
}

void
mdv_flow_layout_fini(struct mdv_flow_levels *levels)
{
	for (unsigned int i = 0; levels->slots != NULL && i < 2 * MDV_FLOW_LEVEL_MAX; i++)
		free(levels->slots[i].slots);
	free(levels->slots);
	levels->slots = NULL;
}

void
mdv_flow_layout_clear(struct mdv_flow_levels *levels)
{
	for (unsigned int i = 0; i < 2 * MDV_FLOW_LEVEL_MAX; i++) {
		levels->slots[i].nb = 0;
		levels->slots[i].entries = 0;
	}
}

int
mdv_flow_layout_reserve(struct mdv_flow_levels *levels, uint8_t level, bool copies)
{
	struct mdv_flow_level_slots *table = layout_table(levels, level, copies);
	struct layout_slot *slots;

	if (table->nb + MDV_FLOW_LEVEL_MASKS <= table->size)
		return 0;
	slots = calloc(2 * table->size + MDV_FLOW_LEVEL_MASKS, sizeof(*slots));
	if (slots == NULL)
		return -ENOMEM;
	if (table->nb != 0)
		memcpy(slots, table->slots, table->nb * sizeof(*slots));
	free(table->slots);
	table->slots = slots;
	table->size = 2 * table->size + MDV_FLOW_LEVEL_MASKS;
	return 0;
}

void
mdv_flow_layout_enter(struct mdv_flow_levels *levels, const struct mdv_flow_shape *shape)
{
	struct mdv_flow_level_slots *table = layout_table(levels, shape->level, shape->copies);

	for (unsigned int i = 0; i < shape->nb_masks; i++) {
		uint32_t at = layout_slot_find(table, shape->masks[i]);

		if (at == table->nb)
			table->slots[table->nb++].refs = 0;
		table->slots[at].mask = shape->masks[i];
		table->slots[at].refs++;
	}
}

void
mdv_flow_layout_leave(struct mdv_flow_levels *levels, const struct mdv_flow_shape *shape)
{
	struct mdv_flow_level_slots *table = layout_table(levels, shape->level, shape->copies);

	for (unsigned int i = 0; i < shape->nb_masks; i++)
		table->slots[layout_slot_find(table, shape->masks[i])].refs--;
	while (table->nb != 0 && table->slots[table->nb - 1].refs == 0)
		table->nb--;
}

void
mdv_flow_layout_count(
	struct mdv_flow_levels *levels, const struct mdv_flow_shape *shape, int nb_rules)
{
	layout_table(levels, shape->level, shape->copies)->entries += nb_rules * shape->nb_masks;
}

bool
mdv_flow_layout_room(
	const struct mdv_flow_levels *levels, const struct mdv_flow_shape *shape, uint8_t level)
{
	const struct mdv_flow_level_slots *table = layout_table(levels, level, shape->copies);

	return table->entries + RTE_MAX(shape->nb_rules, 1u) * shape->nb_masks <= levels->entries;
}
