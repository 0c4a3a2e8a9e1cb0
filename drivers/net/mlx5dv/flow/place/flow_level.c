/* SPDX-License-Identifier: BSD-3-Clause */
/* Sorts rules into shapes; flow_layout.c finds the shapes' levels. */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_prefetch.h>

#include "flow_layout.h"
#include "flow_shape.h"
#include "flow_slots.h"

#define LEVEL_BUCKETS 64u

int
mdv_flow_level_init(
	struct mdv_flow_levels *levels, uint8_t nb, mdv_flow_level_mover move, void *context)
{
	memset(levels, 0, sizeof(*levels));
	TAILQ_INIT(&levels->shapes);
	levels->nb = RTE_MIN(nb, MDV_FLOW_LEVEL_MAX);
	levels->reserved = levels->nb > 2 ? 1 : 0;
	levels->entries = MDV_FLOW_LEVEL_ENTRIES;
	levels->move = move;
	levels->context = context;
	levels->buckets = calloc(LEVEL_BUCKETS, sizeof(levels->buckets[0]));
	if (levels->buckets == NULL)
		return -ENOMEM;
	levels->nb_buckets = LEVEL_BUCKETS;
	if (mdv_flow_slots_init(levels) == 0)
		return 0;
	free(levels->buckets);
	levels->buckets = NULL;
	return -ENOMEM;
}

void
mdv_flow_level_fini(struct mdv_flow_levels *levels)
{
	struct mdv_flow_level_rule *rule;
	struct mdv_flow_shape *shape;

	while ((shape = TAILQ_FIRST(&levels->shapes)) != NULL) {
		TAILQ_FOREACH (rule, &shape->rules, next)
			mdv_flow_key_packed_free(&rule->match);
		TAILQ_REMOVE(&levels->shapes, shape, next);
		free(shape);
	}
	free(levels->buckets);
	levels->buckets = NULL;
	mdv_flow_slots_fini(levels);
}

/** Link the rule in both directions: it then leaves without a read of its bucket, which is cold. */
static void
level_link(struct mdv_flow_level_rule **bucket, struct mdv_flow_level_rule *rule)
{
	rule->chain = *bucket;
	rule->link = bucket;
	if (rule->chain != NULL)
		rule->chain->link = &rule->chain;
	*bucket = rule;
}

/** Make room for twice as many rules; without memory the chains grow instead. */
static void
level_grow(struct mdv_flow_levels *levels)
{
	uint32_t nb = 2 * levels->nb_buckets;
	struct mdv_flow_level_rule **buckets = calloc(nb, sizeof(*buckets));

	if (buckets == NULL)
		return;
	for (uint32_t i = 0; i < levels->nb_buckets; i++) {
		struct mdv_flow_level_rule *rule, *chain;

		for (rule = levels->buckets[i]; rule != NULL; rule = chain) {
			chain = rule->chain;
			level_link(&buckets[rule->hash & (nb - 1)], rule);
		}
	}
	free(levels->buckets);
	__atomic_store_n(&levels->buckets, buckets, __ATOMIC_RELAXED);
	__atomic_store_n(&levels->nb_buckets, nb, __ATOMIC_RELAXED);
}

/** buckets and nb may be of different sizes of the table; prefetching any address is harmless. */
void
mdv_flow_level_prefetch(const struct mdv_flow_levels *levels, uint64_t hash)
{
	struct mdv_flow_level_rule **buckets = __atomic_load_n(&levels->buckets, __ATOMIC_RELAXED);
	const uint32_t nb = __atomic_load_n(&levels->nb_buckets, __ATOMIC_RELAXED);

	rte_prefetch0_write(&buckets[hash & (nb - 1)]);
}

/** @return of the rules with this match the first at @p rank or behind it; NULL: there is none */
static struct mdv_flow_level_rule *
level_find_equal(const struct mdv_flow_levels *levels, uint64_t hash,
	const struct mdv_flow_shape *like, const struct mdv_flow_match *match, uint32_t rank)
{
	struct mdv_flow_level_rule *other = levels->buckets[hash & (levels->nb_buckets - 1)];
	struct mdv_flow_level_rule *first = NULL;

	for (; other != NULL && like->set == 0; other = other->chain)
		if (other->hash == hash && mdv_flow_shape_same_mask(other->shape, like) &&
			mdv_flow_key_packed_equal(&other->match, &match->value) &&
			other->shape->rank >= rank &&
			(first == NULL || other->shape->rank < first->shape->rank))
			first = other;
	return first;
}

/** A rule with exactly the match of older rules stands behind them. A copying rule may stand
 * anywhere among them. */
static uint32_t
level_rank(const struct mdv_flow_levels *levels, const struct mdv_flow_shape *like,
	const struct mdv_flow_level_want *want)
{
	const struct mdv_flow_level_rule *other;
	uint32_t rank = 0;

	for (;; rank = other->shape->rank + 1) {
		other = level_find_equal(levels, want->hash, like, want->match, rank);
		if (other == NULL || (like->copies && other->shape->rank != rank))
			return rank;
	}
}

/** A copying shape stays: if the rule would push it, the rule gets another shape of the same kind,
 * at another level. */
static bool
level_takes(const struct mdv_flow_levels *levels, struct mdv_flow_shape *shape,
	const struct mdv_flow_match *match)
{
	struct mdv_flow_key fixed_mask, fixed_value;
	bool stays;

	if (!shape->copies || !mdv_flow_shape_is_wider(shape, match))
		return true;
	fixed_mask = shape->fixed_mask;
	fixed_value = shape->fixed_value;
	mdv_flow_shape_widen(shape, match);
	stays = mdv_flow_layout_stays(levels, shape);
	shape->fixed_mask = fixed_mask;
	shape->fixed_value = fixed_value;
	return stays;
}

/**
 * Find the shape for another rule like @p like, whose rank is set. If there is none, set the age
 * and the spill of @p like, for a new shape.
 * @return the shape, or NULL
 */
static struct mdv_flow_shape *
level_find_shape(const struct mdv_flow_levels *levels, struct mdv_flow_shape *like,
	const struct mdv_flow_match *match)
{
	struct mdv_flow_shape *shape;

	like->born = like->age = levels->age;
	TAILQ_FOREACH (shape, &levels->shapes, next) {
		if (!mdv_flow_shape_same_mask(shape, like))
			continue;
		like->age = shape->age;
		if (shape->rank != like->rank || shape->turn != like->turn ||
			!mdv_flow_shape_same_parts(shape, like))
			continue;
		if (mdv_flow_slots_room(levels, like, shape->level) &&
			level_takes(levels, shape, match))
			return shape;
		like->spill = RTE_MAX(like->spill, shape->spill + 1);
	}
	return NULL;
}

static void
level_remove_shape(struct mdv_flow_levels *levels, struct mdv_flow_shape *shape)
{
	TAILQ_REMOVE(&levels->shapes, shape, next);
	levels->nb_shapes--;
	levels->nb_ranked -= shape->rank != 0 ? 1 : 0;
	if (levels->recent == shape)
		levels->recent = NULL;
	free(shape);
}

/**
 * Most rules are of the form of the one before, and no rule has their match: they need no search.
 * @return whether the rule joins that one's shape, by what level_get_shape() would find
 */
static bool
level_is_like_recent(const struct mdv_flow_levels *levels, const struct mdv_flow_level_want *want)
{
	const struct mdv_flow_shape *recent = levels->recent;
	const struct mdv_flow_level_rule *other =
		levels->buckets[want->hash & (levels->nb_buckets - 1)];

	while (other != NULL && other->hash != want->hash)
		other = other->chain;
	return other == NULL && recent != NULL && recent->rank == 0 && recent->turn == 0 &&
		recent->spill == 0 && !recent->copies && recent->nb_masks == 1 &&
		want->nb_masks == 1 && want->beside == NULL && recent->priority == want->priority &&
		recent->masks[0] == want->masks[0] && recent->depth == want->depth &&
		recent->nb_entries == want->nb_entries && !want->copies &&
		recent->multi_dest == want->multi_dest && recent->modifies == want->modifies &&
		recent->set == 0 && want->set == 0 && mdv_flow_slots_room_more(levels, recent);
}

/** Find the shape of a rule, whose rank is set, or make it; a new shape has no level and no rules.
 */
static int
level_open_shape(struct mdv_flow_levels *levels, struct mdv_flow_shape *like,
	const struct mdv_flow_match *match, struct mdv_flow_shape **out)
{
	*out = level_find_shape(levels, like, match);
	if (*out != NULL)
		return 0;
	*out = calloc(1, sizeof(**out));
	if (*out == NULL)
		return -ENOMEM;
	**out = *like;
	TAILQ_INIT(&(*out)->rules);
	levels->age++;
	mdv_flow_shape_fix(*out, match);
	mdv_flow_layout_insert(levels, *out);
	levels->nb_shapes++;
	levels->nb_ranked += like->rank != 0 ? 1 : 0;
	return 0;
}

static int
level_get_shape(struct mdv_flow_levels *levels, const struct mdv_flow_level_want *want,
	struct mdv_flow_level_rule *rule, struct mdv_flow_shape **out)
{
	const struct mdv_flow_shape *beside = want->beside != NULL ? want->beside->shape : NULL;
	struct mdv_flow_shape like;

	rule->hash = want->hash;
	if (level_is_like_recent(levels, want)) {
		*out = levels->recent;
		return 0;
	}
	mdv_flow_shape_describe(&like, want);
	if (beside != NULL && mdv_flow_shape_same_mask(beside, &like)) {
		like.rank = beside->rank;
		like.turn = beside->turn == 0 ? 1 : 0;
	} else {
		like.rank = level_rank(levels, &like, want);
	}
	return level_open_shape(levels, &like, want->match, out);
}

/** Compute the fixed bits again: rules that have gone may have kept bits from being fixed. */
static void
level_tighten(struct mdv_flow_levels *levels)
{
	struct mdv_flow_shape *shape;

	TAILQ_FOREACH (shape, &levels->shapes, next) {
		const struct mdv_flow_level_rule *rule = TAILQ_FIRST(&shape->rules);
		struct mdv_flow_match match;

		if (rule == NULL)
			continue;
		mdv_flow_key_unpack(&rule->match, &match);
		mdv_flow_shape_fix(shape, &match);
		while ((rule = TAILQ_NEXT(rule, next)) != NULL) {
			mdv_flow_key_unpack(&rule->match, &match);
			mdv_flow_shape_widen(shape, &match);
		}
	}
}

/** Set targets for all shapes, with the rule in its shape. */
static int
level_place(struct mdv_flow_levels *levels, struct mdv_flow_shape *shape,
	const struct mdv_flow_match *match, bool sticky_stay)
{
	int ret = mdv_flow_layout_place(levels, shape, sticky_stay);

	if (ret != -ENOSPC)
		return ret;
	level_tighten(levels);
	mdv_flow_shape_widen(shape, match);
	return mdv_flow_layout_place(levels, shape, sticky_stay);
}

static int
level_apply(struct mdv_flow_levels *levels, struct mdv_flow_shape *shape)
{
	int ret = mdv_flow_slots_reserve(levels, shape->target, shape->copies);

	if (ret == 0)
		ret = mdv_flow_layout_apply(levels);
	if (ret != 0 || shape->nb_rules != 0)
		return ret;
	shape->level = shape->target;
	mdv_flow_slots_enter(levels, shape);
	return 0;
}

/** Join a shape that the rule makes new or wider, so that its level may be wrong. */
static int
level_join_wider(struct mdv_flow_levels *levels, struct mdv_flow_shape *shape,
	const struct mdv_flow_match *match, bool apply, bool sticky_stay)
{
	const struct mdv_flow_key fixed_mask = shape->fixed_mask;
	const struct mdv_flow_key fixed_value = shape->fixed_value;
	int ret;

	mdv_flow_shape_widen(shape, match);
	ret = level_place(levels, shape, match, sticky_stay);
	if (ret == 0 && apply)
		ret = level_apply(levels, shape);
	if (ret != 0 || !apply) {
		shape->fixed_mask = fixed_mask;
		shape->fixed_value = fixed_value;
	}
	return ret;
}

/** Make the level of the shape right for the rule; a shape for which there is none goes.
 * @param apply and @param sticky_stay as below */
static int
level_settle(struct mdv_flow_levels *levels, struct mdv_flow_shape *shape,
	const struct mdv_flow_match *match, bool apply, bool sticky_stay)
{
	int ret = 0;

	if (shape->level < 0 || mdv_flow_shape_is_wider(shape, match))
		ret = level_join_wider(levels, shape, match, apply, sticky_stay);
	if (shape->nb_rules == 0 && (ret != 0 || !apply))
		level_remove_shape(levels, shape);
	return ret;
}

/**
 * @param apply false: find out only, and change nothing
 * @param sticky_stay as in struct mdv_flow_levels
 */
static int
level_join(struct mdv_flow_levels *levels, const struct mdv_flow_level_want *want,
	struct mdv_flow_level_rule *rule, bool apply, bool sticky_stay)
{
	struct mdv_flow_shape *shape;
	int ret = level_get_shape(levels, want, rule, &shape);

	if (ret == 0)
		ret = level_settle(levels, shape, want->match, apply, sticky_stay);
	if (ret == 0 && apply)
		rule->shape = shape;
	return ret;
}

static void
level_enter_shape(struct mdv_flow_levels *levels, struct mdv_flow_shape *shape,
	struct mdv_flow_level_rule *rule)
{
	rule->shape = shape;
	TAILQ_INSERT_TAIL(&shape->rules, rule, next);
	shape->nb_rules++;
	mdv_flow_slots_count(levels, shape, 1);
}

/** Remove a shape that has a level and no rules. */
static void
level_close_shape(struct mdv_flow_levels *levels, struct mdv_flow_shape *shape)
{
	mdv_flow_slots_leave(levels, shape);
	level_remove_shape(levels, shape);
}

/** The shape goes with its last rule. */
static void
level_leave_shape(struct mdv_flow_levels *levels, struct mdv_flow_level_rule *rule)
{
	struct mdv_flow_shape *shape = rule->shape;

	TAILQ_REMOVE(&shape->rules, rule, next);
	rule->shape = NULL;
	mdv_flow_slots_count(levels, shape, -1);
	if (--shape->nb_rules == 0)
		level_close_shape(levels, shape);
}

int
mdv_flow_level_add(struct mdv_flow_levels *levels, const struct mdv_flow_level_want *want,
	struct mdv_flow_level_rule *rule)
{
	int ret;

	/* level_rank() reads the rules of this bucket soon, and among many rules each is cold. */
	rte_prefetch0(levels->buckets[want->hash & (levels->nb_buckets - 1)]);
	ret = mdv_flow_key_pack(want->match, &rule->match);
	if (ret != 0)
		return ret;
	ret = level_join(levels, want, rule, true, levels->sticky_stay);
	if (ret != 0) {
		mdv_flow_key_packed_free(&rule->match);
		return ret;
	}
	/* Half of the buckets stay empty: most look-ups find nothing, and then read only their
	 * bucket. */
	if (2 * levels->nb_rules >= levels->nb_buckets)
		level_grow(levels);
	level_link(&levels->buckets[rule->hash & (levels->nb_buckets - 1)], rule);
	level_enter_shape(levels, rule->shape, rule);
	levels->recent = rule->shape;
	levels->nb_rules++;
	return 0;
}

int
mdv_flow_level_check(
	struct mdv_flow_levels *levels, const struct mdv_flow_level_want *want, bool sticky_stay)
{
	struct mdv_flow_level_rule rule = { .shape = NULL };

	return level_join(levels, want, &rule, false, sticky_stay);
}

/** Put a taking rule into the level of another shape, alone. */
static int
level_move_one(struct mdv_flow_levels *levels, struct mdv_flow_level_rule *rule, uint8_t level)
{
	struct mdv_flow_level_rule *const behind = TAILQ_NEXT(rule, next);
	struct mdv_flow_shape *shape = rule->shape, alone = *shape;
	int ret;

	if (shape->level == level)
		return 0;
	TAILQ_REMOVE(&shape->rules, rule, next);
	TAILQ_INIT(&alone.rules);
	TAILQ_INSERT_TAIL(&alone.rules, rule, next);
	alone.nb_rules = 1;
	ret = levels->move(levels->context, &alone, level);
	levels->nb_moved += ret == 0 ? 1 : 0;
	if (behind != NULL)
		TAILQ_INSERT_BEFORE(behind, rule, next);
	else
		TAILQ_INSERT_TAIL(&shape->rules, rule, next);
	return ret;
}

/** @return 0, or a negative errno: the rule stays at its rank */
static int
level_move_up(struct mdv_flow_levels *levels, struct mdv_flow_level_rule *rule, uint32_t rank)
{
	struct mdv_flow_shape *shape, like = *rule->shape;
	struct mdv_flow_match match;
	int ret;

	mdv_flow_key_unpack(&rule->match, &match);
	like.rank = rank;
	like.turn = 0;
	like.nb_rules = 0;
	like.level = -1;
	ret = level_open_shape(levels, &like, &match, &shape);
	if (ret == 0)
		ret = level_settle(levels, shape, &match, true, levels->sticky_stay);
	if (ret != 0)
		return ret;
	ret = level_move_one(levels, rule, shape->level);
	if (ret == 0) {
		level_leave_shape(levels, rule);
		level_enter_shape(levels, shape, rule);
	} else if (shape->nb_rules == 0) {
		level_close_shape(levels, shape);
	}
	return ret;
}

/**
 * After a rule has gone, those behind it of the same match move up. An application that replaces
 * rules, each new one there before the old one goes, would need more and more levels otherwise.
 */
static void
level_close_ranks(struct mdv_flow_levels *levels, uint64_t hash, const struct mdv_flow_shape *gone,
	const struct mdv_flow_match *match)
{
	for (uint32_t rank = gone->rank;; rank++) {
		struct mdv_flow_level_rule *next =
			level_find_equal(levels, hash, gone, match, rank);

		if (next == NULL || next->shape->rank == rank ||
			(next->shape->multi_dest && levels->sticky_stay) ||
			level_move_up(levels, next, rank) != 0)
			return;
	}
}

void
mdv_flow_level_del(struct mdv_flow_levels *levels, struct mdv_flow_level_rule *rule)
{
	const struct mdv_flow_shape *shape = rule->shape;
	struct mdv_flow_shape gone;
	struct mdv_flow_match match;
	bool ranked;

	if (shape == NULL)
		return;
	/* Copies have no order among them. */
	ranked = levels->nb_ranked != 0 && !shape->copies;
	if (ranked) {
		gone = *shape;
		mdv_flow_key_unpack(&rule->match, &match);
	}
	*rule->link = rule->chain;
	if (rule->chain != NULL)
		rule->chain->link = rule->link;
	level_leave_shape(levels, rule);
	mdv_flow_key_packed_free(&rule->match);
	levels->nb_rules--;
	if (ranked)
		level_close_ranks(levels, rule->hash, &gone, &match);
}

void
mdv_flow_level_rename(struct mdv_flow_level_rule *from, struct mdv_flow_level_rule *to)
{
	*to = *from;
	TAILQ_INSERT_BEFORE(from, to, next);
	TAILQ_REMOVE(&from->shape->rules, from, next);
	*to->link = to;
	if (to->chain != NULL)
		to->chain->link = &to->chain;
	from->shape = NULL;
}

void
mdv_flow_level_renew(struct mdv_flow_levels *levels)
{
	struct mdv_flow_shape *shape;

	mdv_flow_slots_clear(levels);
	TAILQ_FOREACH (shape, &levels->shapes, next) {
		mdv_flow_slots_enter(levels, shape);
		mdv_flow_slots_count(levels, shape, shape->nb_rules);
	}
}

static void level_print(char **text, size_t *size, const char *format, ...)
	__rte_format_printf(3, 4);

static void
level_print(char **text, size_t *size, const char *format, ...)
{
	va_list args;
	int nb;

	va_start(args, format);
	nb = vsnprintf(*text, *size, format, args);
	va_end(args);
	if (nb < 0)
		return;
	if ((size_t)nb >= *size) {
		if (*size >= sizeof("..."))
			strcpy(*text + *size - sizeof("..."), "...");
		nb = *size - 1;
	}
	*text += nb;
	*size -= nb;
}

void
mdv_flow_level_describe(const struct mdv_flow_levels *levels, char *text, size_t size)
{
	const struct mdv_flow_shape *shape, *next;
	const char *separator = "";
	uint32_t nb_rules = 0, used = 0;

	text[0] = '\0';
	TAILQ_FOREACH (shape, &levels->shapes, next) {
		next = TAILQ_NEXT(shape, next);
		nb_rules += shape->nb_rules;
		used |= UINT32_C(1) << shape->level;
		if (next != NULL && next->priority == shape->priority &&
			next->copies == shape->copies)
			continue;
		if (shape->priority == MDV_FLOW_LEVEL_DEFAULT)
			level_print(&text, &size, "%sthe default rules: ", separator);
		else
			level_print(&text, &size, "%s%u %s rule%s of priority %u: ", separator,
				nb_rules, shape->copies ? "PASSTHRU" : "other",
				nb_rules == 1 ? "" : "s", shape->priority);
		level_print(&text, &size, "%d", __builtin_popcount(used));
		separator = ", ";
		nb_rules = 0;
		used = 0;
	}
}
