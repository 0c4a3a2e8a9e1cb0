/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds levels for shapes, and the order in which shapes can move there. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "flow_layout.h"
#include "flow_slots.h"

/** A rule of a sticky shape counts as so many rules when the cost of moves is compared. */
#define LAYOUT_STICKY_COST 1000u
#define LAYOUT_NONE        UINT64_MAX
/**
 * Levels to leave for later rules: at most so many between two priorities, and behind the last one.
 * Among the rule sequences of test/model/level_lives.py these numbers have the fewest refused.
 */
#define LAYOUT_BETWEEN 16
#define LAYOUT_BEHIND  8

bool
mdv_flow_layout_before(const struct mdv_flow_shape *a, const struct mdv_flow_shape *b)
{
	if (a->priority != b->priority)
		return a->priority < b->priority;
	if (a->copies != b->copies)
		return a->copies;
	/* Copying shapes may copy in any order; here it is the order of their tables. */
	if (a->copies && a->level != b->level)
		return a->level < b->level;
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
	return a->set != 0 || b->set != 0; /* the masks of a set are not kept */
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

/** @return whether the level of one restricts the level of the other. */
static bool
layout_related(const struct mdv_flow_shape *a, const struct mdv_flow_shape *b)
{
	if (a->age == b->age && a->rank == b->rank && a->turn == b->turn &&
		a->nb_masks == b->nb_masks &&
		memcmp(a->masks, b->masks, a->nb_masks * sizeof(a->masks[0])) == 0)
		return false; /* a shape and its spill: all values differ */
	if (layout_may_meet(a, b))
		return true;
	/* The parts of a rule have slots in the right order only in a table that had none of their
	 * masks before. */
	return a->copies == b->copies && (layout_has_parts(a) || layout_has_parts(b)) &&
		layout_shares_mask(a, b);
}

/** rte_flow leaves open which of the two wins; the order of slots decides for the older mask. */
static bool
layout_equals(const struct mdv_flow_shape *a, const struct mdv_flow_shape *b)
{
	return !a->copies && !b->copies && a->priority == b->priority && a->depth == b->depth &&
		!layout_shares_mask(a, b);
}

/** Copies of one priority need two different levels, in either order. */
static bool
layout_apart(const struct mdv_flow_shape *a, const struct mdv_flow_shape *b)
{
	return a->copies && b->copies && a->priority == b->priority;
}

/** Moving a sticky shape may deliver a packet twice or not to all its queues. */
static bool
layout_is_sticky(const struct mdv_flow_shape *shape)
{
	return (shape->copies || shape->multi_dest) && shape->level >= 0;
}

/** The ways to lay levels out, best first. */
enum layout_how {
	LAYOUT_STICKY,         /* sticky shapes stay */
	LAYOUT_STICKY_RELAXED, /* and equals may come in any order, as rte_flow allows */
	LAYOUT_FREE,
	LAYOUT_FREE_RELAXED,
	LAYOUT_NB_HOW,
};

static bool
layout_is_fixed(const struct mdv_flow_shape *shape, enum layout_how how)
{
	return how <= LAYOUT_STICKY_RELAXED && layout_is_sticky(shape);
}

/** @return how far above the earlier of two related shapes the later one must be at least. */
static int
layout_gap(const struct mdv_flow_shape *earlier, const struct mdv_flow_shape *later,
	enum layout_how how)
{
	const bool relaxed = how == LAYOUT_STICKY_RELAXED || how == LAYOUT_FREE_RELAXED;

	if (earlier->copies && !later->copies)
		return 0;
	if (layout_equals(earlier, later) &&
		(relaxed || (earlier->level >= 0 && earlier->level == later->level)))
		return 0;
	return 1;
}

/** @return the last level that the shape may have. */
static int
layout_last(const struct mdv_flow_levels *levels, const struct mdv_flow_shape *shape)
{
	return levels->nb - 1 - (shape->priority == MDV_FLOW_LEVEL_DEFAULT ? 0 : levels->reserved);
}

/** @return whether @p level is right for the shape while all others stay. */
static bool
layout_fits(const struct mdv_flow_levels *levels, const struct mdv_flow_shape *shape, uint8_t level)
{
	const struct mdv_flow_shape *other;

	if (level != shape->level && !mdv_flow_slots_room(levels, shape, level))
		return false;
	TAILQ_FOREACH (other, &levels->shapes, next) {
		const bool before = mdv_flow_layout_before(other, shape);
		const struct mdv_flow_shape *earlier = before ? other : shape;
		const struct mdv_flow_shape *later = before ? shape : other;
		int above = before ? level - other->level : other->level - level;

		if (other == shape || other->level < 0 || !layout_related(shape, other))
			continue;
		if (layout_apart(shape, other)) {
			if (above == 0)
				return false;
		} else if (above == 0 && layout_equals(earlier, later)) {
			if (!mdv_flow_slots_in_order(levels, earlier, later, level))
				return false;
		} else if (above < (earlier->copies && !later->copies ? 0 : 1)) {
			return false;
		}
	}
	return true;
}

static void
layout_keep(struct mdv_flow_levels *levels)
{
	struct mdv_flow_shape *shape;

	TAILQ_FOREACH (shape, &levels->shapes, next)
		shape->target = shape->level;
}

bool
mdv_flow_layout_stays(const struct mdv_flow_levels *levels, const struct mdv_flow_shape *shape)
{
	return layout_fits(levels, shape, shape->level);
}

/** The levels around the shape's place in the order, with shapes related or not: it leaves later
 * shapes room. */
struct layout_span {
	int first, last;
	uint32_t same; /* one bit for each level that has rules of this priority */
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

/**
 * Choose among the levels that fit: one that rules of this priority have already; else one a
 * quarter of the way through the levels between earlier and later priorities, as most applications
 * count upwards; else any.
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
layout_bounds(struct mdv_flow_levels *levels, enum layout_how how)
{
	struct mdv_flow_shape *shape, *other;

	TAILQ_FOREACH (shape, &levels->shapes, next) {
		shape->earliest = 0;
		for (other = TAILQ_FIRST(&levels->shapes); other != shape;
			other = TAILQ_NEXT(other, next))
			if (layout_related(other, shape))
				shape->earliest = RTE_MAX(shape->earliest,
					other->earliest + layout_gap(other, shape, how));
		if (layout_is_fixed(shape, how)) {
			if (shape->earliest > shape->level)
				return -ENOSPC;
			shape->earliest = shape->level;
		}
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
					other->latest - layout_gap(shape, other, how));
		if (layout_is_fixed(shape, how))
			shape->latest = shape->level;
	}
	return 0;
}

static uint64_t
layout_cost(const struct mdv_flow_shape *shape)
{
	if (shape->level < 0 || shape->level == shape->target)
		return 0;
	return (uint64_t)shape->nb_rules * (layout_is_sticky(shape) ? LAYOUT_STICKY_COST : 1);
}

/** A shape stays unless an earlier one is in the way; the bounds leave room for later shapes. */
static uint64_t
layout_push_up(struct mdv_flow_levels *levels, enum layout_how how)
{
	struct mdv_flow_shape *shape, *other;
	uint64_t cost = 0;

	TAILQ_FOREACH (shape, &levels->shapes, next) {
		int8_t low = 0;

		for (other = TAILQ_FIRST(&levels->shapes); other != shape;
			other = TAILQ_NEXT(other, next))
			if (layout_related(other, shape))
				low = RTE_MAX(low, other->target + layout_gap(other, shape, how));
		low = RTE_MAX(low, shape->level);
		shape->target = RTE_MIN(low, shape->latest);
		cost += layout_cost(shape);
	}
	return cost;
}

/** The same from the last shape to the first. */
static uint64_t
layout_push_down(struct mdv_flow_levels *levels, enum layout_how how)
{
	struct mdv_flow_shape *shape, *other;
	uint64_t cost = 0;

	TAILQ_FOREACH_REVERSE(shape, &levels->shapes, mdv_flow_shapes, next)
	{
		int8_t high = shape->latest;

		for (other = TAILQ_NEXT(shape, next); other != NULL;
			other = TAILQ_NEXT(other, next))
			if (layout_related(shape, other))
				high = RTE_MIN(high, other->target - layout_gap(shape, other, how));
		shape->target = shape->level < 0 ? high : RTE_MIN(shape->level, high);
		shape->target = RTE_MAX(shape->target, shape->earliest);
		cost += layout_cost(shape);
	}
	return cost;
}

/** Set targets for all shapes. @return their cost, or LAYOUT_NONE if no layout works */
static uint64_t
layout_all(struct mdv_flow_levels *levels, enum layout_how how)
{
	uint64_t up, down;

	if (layout_bounds(levels, how) != 0)
		return LAYOUT_NONE;
	up = layout_push_up(levels, how);
	down = layout_push_down(levels, how);
	return up < down ? layout_push_up(levels, how) : down;
}

void
mdv_flow_layout_insert(struct mdv_flow_levels *levels, struct mdv_flow_shape *shape)
{
	struct mdv_flow_shape *other;

	TAILQ_FOREACH (other, &levels->shapes, next)
		if (mdv_flow_layout_before(shape, other))
			break;
	if (other != NULL)
		TAILQ_INSERT_BEFORE(other, shape, next);
	else
		TAILQ_INSERT_TAIL(&levels->shapes, shape, next);
}

/** Sort copies of one priority by their levels, which have changed. */
static void
layout_sort(struct mdv_flow_levels *levels)
{
	struct mdv_flow_shape *shape = TAILQ_FIRST(&levels->shapes), *next;

	while (shape != NULL && (next = TAILQ_NEXT(shape, next)) != NULL) {
		if (!mdv_flow_layout_before(next, shape)) {
			shape = next;
			continue;
		}
		TAILQ_REMOVE(&levels->shapes, next, next);
		mdv_flow_layout_insert(levels, next);
	}
}

/** @return the cost of a new copying shape at @p level, or before the copies that are there. */
static uint64_t
layout_try(struct mdv_flow_levels *levels, struct mdv_flow_shape *shape, int level,
	enum layout_how how)
{
	const struct mdv_flow_shape *other;
	uint64_t cost;

	TAILQ_REMOVE(&levels->shapes, shape, next);
	shape->level = level;
	mdv_flow_layout_insert(levels, shape);
	if (how >= LAYOUT_FREE)
		shape->level = -1;
	TAILQ_FOREACH (other, &levels->shapes, next)
		if (other != shape && other->level == shape->level && layout_apart(shape, other) &&
			layout_related(shape, other))
			break;
	cost = other == NULL ? layout_all(levels, how) : LAYOUT_NONE;
	shape->level = -1;
	return cost;
}

static int
layout_reckon(int more, uint32_t nb_priorities)
{
	return nb_priorities >= LAYOUT_BETWEEN / 4 ? LAYOUT_BETWEEN : more + 4 * (int)nb_priorities;
}

/** @return the level at which a new copying shape leaves room before it and behind it, in
 * proportion to the number of priorities between it and its neighbours that stay. */
static int
layout_wish(const struct mdv_flow_levels *levels, const struct mdv_flow_shape *shape)
{
	const struct mdv_flow_shape *other;
	uint32_t nb_before = shape->priority, nb_behind = UINT32_MAX;
	int low = 0, high = layout_last(levels, shape);
	int before = 0, behind = LAYOUT_BEHIND;

	if (shape->priority == MDV_FLOW_LEVEL_DEFAULT)
		return high;
	TAILQ_FOREACH (other, &levels->shapes, next) {
		if (!layout_is_sticky(other) || other->priority == shape->priority)
			continue;
		if (other->priority < shape->priority) {
			low = RTE_MAX(low, other->level + 1);
			nb_before = RTE_MIN(nb_before, shape->priority - other->priority - 1);
			before = 2;
		} else if (other->priority != MDV_FLOW_LEVEL_DEFAULT) {
			high = RTE_MIN(high, other->level - 1);
			nb_behind = RTE_MIN(nb_behind, other->priority - shape->priority - 1);
		}
	}
	before = layout_reckon(before, nb_before);
	if (nb_behind != UINT32_MAX)
		behind = layout_reckon(1, nb_behind);
	return low + RTE_MAX(high - low, 0) * before / (before + behind);
}

static bool
layout_suits(struct mdv_flow_levels *levels, struct mdv_flow_shape *shape, int level,
	enum layout_how how)
{
	if (level < 0 || level > layout_last(levels, shape) ||
		!mdv_flow_slots_room(levels, shape, level))
		return false;
	layout_keep(levels);
	shape->target = level;
	return layout_fits(levels, shape, level) ||
		layout_try(levels, shape, level, how) != LAYOUT_NONE;
}

/** Find the level nearest to the best one. */
static int
layout_find_near(struct mdv_flow_levels *levels, struct mdv_flow_shape *shape, enum layout_how how)
{
	const int wish = layout_wish(levels, shape);

	for (int away = 0; away < levels->nb; away++)
		if (layout_suits(levels, shape, wish - away, how) ||
			layout_suits(levels, shape, wish + away, how))
			return 0;
	return -ENOSPC;
}

/** Find the level that moves the fewest rules. */
static int
layout_find_cheap(struct mdv_flow_levels *levels, struct mdv_flow_shape *shape, enum layout_how how)
{
	uint64_t least = LAYOUT_NONE;
	int best = -1;

	for (int level = 0; level <= levels->nb; level++) {
		const uint64_t cost = layout_try(levels, shape, level, how);

		if (cost < least) {
			least = cost;
			best = level;
		}
	}
	if (best < 0)
		return -ENOSPC;
	layout_try(levels, shape, best, how);
	return 0;
}

static int
layout_find(struct mdv_flow_levels *levels, struct mdv_flow_shape *shape, enum layout_how how)
{
	if (!shape->copies || shape->level >= 0)
		return layout_all(levels, how) == LAYOUT_NONE ? -ENOSPC : 0;
	return how >= LAYOUT_FREE ? layout_find_cheap(levels, shape, how)
				  : layout_find_near(levels, shape, how);
}

int
mdv_flow_layout_place(
	struct mdv_flow_levels *levels, struct mdv_flow_shape *shape, bool sticky_stay)
{
	const int nb_how = sticky_stay ? LAYOUT_FREE : LAYOUT_NB_HOW;
	int level = shape->level;

	layout_sort(levels);
	layout_keep(levels);
	if (level >= 0 ? !layout_fits(levels, shape, level) : !shape->copies)
		level = layout_choose(levels, shape);
	if (level >= 0 && (level == shape->level || !layout_is_sticky(shape))) {
		shape->target = level;
		return 0;
	}
	for (int how = 0; how < nb_how; how++)
		if (layout_find(levels, shape, how) == 0)
			return 0;
	return -ENOSPC;
}

static int
layout_move(struct mdv_flow_levels *levels, struct mdv_flow_shape *shape, int8_t level)
{
	int ret = mdv_flow_slots_reserve(levels, level, shape->copies);

	if (ret == 0)
		ret = levels->move(levels->context, shape, level);
	if (ret != 0)
		return ret;
	levels->nb_moved += shape->nb_rules;
	mdv_flow_slots_leave(levels, shape);
	mdv_flow_slots_count(levels, shape, -(int)shape->nb_rules);
	shape->level = level;
	mdv_flow_slots_enter(levels, shape);
	mdv_flow_slots_count(levels, shape, shape->nb_rules);
	return 0;
}

/** @return a number for the table that the shape leaves and the one that it goes up to, 0: it does
 * not. The table of copies is the first of a level. */
static int
layout_way_up(const struct mdv_flow_shape *shape)
{
	if (shape->nb_rules == 0 || shape->target <= shape->level)
		return 0;
	return (2 * shape->level + !shape->copies) * 2 * MDV_FLOW_LEVEL_MAX + 2 * shape->target;
}

/**
 * Move from the last table to the first, and from each to the last target first, so that no shape
 * overtakes the one before it. Equals that leave one table for another go in their order, as the
 * first gets the lower slot.
 */
static int
layout_move_up(struct mdv_flow_levels *levels)
{
	struct mdv_flow_shape *shape;

	for (;;) {
		int last = 0, ret = 0;

		TAILQ_FOREACH (shape, &levels->shapes, next)
			last = RTE_MAX(last, layout_way_up(shape));
		if (last == 0)
			return 0;
		TAILQ_FOREACH (shape, &levels->shapes, next) {
			if (layout_way_up(shape) == last)
				ret = layout_move(levels, shape, shape->target);
			if (ret != 0)
				return ret;
		}
	}
}

static int
layout_move_down(struct mdv_flow_levels *levels)
{
	struct mdv_flow_shape *shape;

	TAILQ_FOREACH (shape, &levels->shapes, next) {
		int ret = 0;

		if (shape->nb_rules != 0 && shape->target < shape->level)
			ret = layout_move(levels, shape, shape->target);
		if (ret != 0)
			return ret;
	}
	return 0;
}

int
mdv_flow_layout_apply(struct mdv_flow_levels *levels)
{
	struct mdv_flow_shape *shape;
	int ret;

	TAILQ_FOREACH (shape, &levels->shapes, next)
		shape->earliest = shape->level;
	ret = layout_move_up(levels);
	if (ret == 0)
		ret = layout_move_down(levels);
	if (ret == 0)
		return 0;
	/* Undo the moves in reverse order: the moves up came first, the moves down last. A shape
	 * that cannot move back stays in the device, and its level says where. */
	TAILQ_FOREACH (shape, &levels->shapes, next)
		shape->target = shape->earliest;
	if (layout_move_up(levels) != 0 || layout_move_down(levels) != 0)
		return -EIO;
	return ret;
}
