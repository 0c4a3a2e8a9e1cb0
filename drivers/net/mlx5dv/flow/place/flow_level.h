/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Which verbs priority ("level") each rule gets, so that what rte_flow promises comes true.
 *
 * The device has a table D(l) of DONT_TRAP rules and after it a table T(l) of the others for each
 * level l, and a packet hits one entry a table: of two matching masks the one that got the lower
 * slot, which is the older one as long as none has gone (doc/design/levels.md). The promise:
 *
 *     lower priority value first; within one priority all copying rules, then of the taking ones
 *     the deeper pattern, then the older mask, then the older rule
 *
 * Rules of one priority, depth, kind and mask are one *shape*, and a shape has one level, so what
 * is to be decided does not grow with the number of rules. Shapes stand in the order of the
 * promise; two of them that no packet matches both have no say in each other's level. Of the rest
 * the earlier one, E, and the later one, L, need
 *
 *     E copies, L copies   level(E) <  level(L)     or one of them is hit only
 *     E copies, L takes    level(E) <= level(L)     D(l) is before T(l)
 *     E takes,  L copies   level(E) <  level(L)
 *     E takes,  L takes    level(E) <  level(L)     or the same, if the slots come in this order
 *
 * Whether a packet can match both is asked of the bits that all rules of a shape have in common
 * (`fixed`): a no is certain, a yes is not. Behind a rule that changes what goes on there is no no.
 * Levels are given with gaps; when one is missing,
 * shapes are moved, each to a place that is as right as where it was: later shapes upwards first,
 * then earlier ones downwards, so that after each move every two shapes are in order.
 *
 * No verbs call, no lock: the caller moves rules (mdv_flow_level_mover) and holds flow.lock.
 */
#ifndef MDV_FLOW_LEVEL_H
#define MDV_FLOW_LEVEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include <rte_prefetch.h>

#include "flow/match/flow_key.h"

/** The most levels that are used, one bit each in a word; Linux offers 16. */
#define MDV_FLOW_LEVEL_MAX 32
/** Masks of one rule: its own and those of its RSS expansions, each in up to four halves. */
#define MDV_FLOW_LEVEL_MASKS 28
/** The priority of default rules, behind all that an application can give. */
#define MDV_FLOW_LEVEL_DEFAULT UINT32_MAX
/** Entries of one table: MLX5_FS_MAX_ENTRIES of drivers/infiniband/hw/mlx5/fs.c. */
#define MDV_FLOW_LEVEL_ENTRIES 65536u

struct mdv_flow_shape;
struct mdv_flow_level_slots;

/** A rule as far as its level is concerned. */
struct mdv_flow_level_want {
	uint32_t priority;
	bool copies;     /**< DONT_TRAP */
	bool multi_dest; /**< each of its matches has more than one destination */
	bool modifies;   /**< what goes on is another packet, which any later rule may match */
	uint8_t depth;   /**< of the pattern, not of its expansions */
	/**
	 * 0, or a set that is one shape whatever the masks: its rules may match one packet, and one
	 * of them is to be hit then. Sets of a priority stand in the order of their numbers.
	 */
	uint32_t set;
	uint8_t nb_entries; /**< entries that each part takes, all of one mask */
	uint8_t nb_masks;   /**< at least 1 */
	/** Hashes of the parts' masks, most specific first, the pattern's own last; each as often
	 * as it has halves. */
	uint64_t masks[MDV_FLOW_LEVEL_MASKS];
	const struct mdv_flow_match *match; /**< the pattern's own; borrowed */
	uint64_t hash;                      /**< of match, mask and value */
	/**
	 * NULL, or a rule of the same match, priority and kind: the new one gets a place beside it,
	 * behind it or, if that is where it has come itself, before it. One of the two must go.
	 */
	const struct mdv_flow_level_rule *beside;
};

/** A rule that has a level; part of the caller's rule. */
struct mdv_flow_level_rule {
	TAILQ_ENTRY(mdv_flow_level_rule) next; /**< in its shape, oldest first */
	struct mdv_flow_level_rule *chain;     /**< in its hash bucket */
	struct mdv_flow_level_rule **link;     /**< what points to it there */
	struct mdv_flow_shape *shape;          /**< NULL: none, not in the allocator */
	uint64_t hash;
	struct mdv_flow_packed match;
};

TAILQ_HEAD(mdv_flow_level_rules, mdv_flow_level_rule);
TAILQ_HEAD(mdv_flow_shapes, mdv_flow_shape);

struct mdv_flow_shape {
	TAILQ_ENTRY(mdv_flow_shape) next; /**< in the order of the promise */
	uint32_t priority;
	uint32_t set;
	uint64_t age;  /**< of the first shape that was like it but for parts, rank and spill */
	uint64_t born; /**< its own age */
	uint64_t masks[MDV_FLOW_LEVEL_MASKS];
	uint64_t hash; /**< of all that shapes of one age have in common */
	struct mdv_flow_level_rules rules;
	uint32_t nb_rules;
	uint8_t nb_masks, nb_entries, depth;
	bool copies, multi_dest, modifies;
	uint8_t rank;   /**< how many older rules of the same match stand before its rules */
	uint8_t turn;   /**< 1: its rules were put beside others of their rank */
	uint16_t spill; /**< how many tables are full of its like */
	int8_t level;   /**< -1: none yet */
	int8_t target, earliest, latest;             /**< while levels are laid out */
	struct mdv_flow_key fixed_mask, fixed_value; /**< bits that all its rules have */
};

/**
 * Put all rules of @p shape into level @p level of the device, each there before it is taken from
 * where it is; shape->level is still the old one.
 * @return 0, or a negative errno, and then all rules are where they were.
 */
typedef int (*mdv_flow_level_mover)(
	void *context, const struct mdv_flow_shape *shape, uint8_t level);

struct mdv_flow_levels {
	uint8_t nb;       /**< of the device */
	uint8_t reserved; /**< the last ones, for default rules only */
	/**
	 * Refuse a new rule rather than move sticky shapes. While a copying rule moves, a packet
	 * may be copied twice; while a rule with several destinations moves, a packet may reach too
	 * few of them.
	 */
	bool sticky_stay;
	uint32_t entries; /**< of a table */
	struct mdv_flow_shapes shapes;
	uint32_t nb_shapes, nb_rules, nb_buckets;
	uint64_t age, nb_moved; /**< rules moved so far */
	struct mdv_flow_level_rule **buckets;
	struct mdv_flow_level_slots *slots; /**< of D(0) T(0) D(1) ... */
	mdv_flow_level_mover move;
	void *context;
};

/** @return 0 or -ENOMEM */
int mdv_flow_level_init(
	struct mdv_flow_levels *levels, uint8_t nb, mdv_flow_level_mover move, void *context);
/** All rules are gone from the device; they need not be deleted one by one, but still be there. */
void mdv_flow_level_fini(struct mdv_flow_levels *levels);

/**
 * Find a level for a rule, moving others when needed. Nothing is changed on failure.
 * @return 0, -ENOSPC when there are not enough levels, -ENOMEM, or what the mover returned
 */
int mdv_flow_level_add(struct mdv_flow_levels *levels, const struct mdv_flow_level_want *want,
	struct mdv_flow_level_rule *rule);
/** mdv_flow_level_add() comes soon, with a rule of this hash; needs no lock. */
void mdv_flow_level_prefetch(const struct mdv_flow_levels *levels, uint64_t hash);
/** mdv_flow_level_del() comes soon. */
static inline void
mdv_flow_level_prefetch_del(const struct mdv_flow_level_rule *rule)
{
	rte_prefetch0_write(rule->link);
}
/**
 * Would mdv_flow_level_add() find a level? Changes nothing.
 * @param sticky_stay in place of levels->sticky_stay
 * @return what it would return, errors of the mover left out
 */
int mdv_flow_level_check(
	struct mdv_flow_levels *levels, const struct mdv_flow_level_want *want, bool sticky_stay);
/** The rule is gone from the device. */
void mdv_flow_level_del(struct mdv_flow_levels *levels, struct mdv_flow_level_rule *rule);
/** @p to, which is in no level, has the place of @p from, which has none afterwards. */
void mdv_flow_level_rename(struct mdv_flow_level_rule *from, struct mdv_flow_level_rule *to);
/** Before all rules are put into an empty device shape by shape: no slot is left of what was. */
void mdv_flow_level_renew(struct mdv_flow_levels *levels);

/** @return the verbs priority */
static inline uint8_t
mdv_flow_level_of(const struct mdv_flow_level_rule *rule)
{
	return (uint8_t)rule->shape->level;
}

/** Say which rules have the levels: "priority 0: 2 levels for 5 copying rules, ...". */
void mdv_flow_level_describe(const struct mdv_flow_levels *levels, char *text, size_t size);

#endif /* MDV_FLOW_LEVEL_H */
