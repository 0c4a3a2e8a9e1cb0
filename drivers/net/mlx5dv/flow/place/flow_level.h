/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Gives each rule a verbs priority ("level") that keeps the promises of rte_flow.
 *
 * For each level l the device has a table D(l) of DONT_TRAP rules, followed by a table T(l) of the
 * others. A packet hits one entry a table: of two matching masks the one with the lower slot, which
 * is the older mask as long as no mask has gone (doc/design/levels.md). The promise:
 *
 *     lower priority value first; within one priority all copying rules; then of the taking
 *     rules the deeper pattern, then the older mask, then the older rule
 *
 * Rules of one priority, depth, kind and mask are one *shape*. A shape has one level, so the work
 * does not grow with the number of rules. Shapes stand in the order of the promise. Two shapes that
 * no packet can match both do not restrict each other's level. Of any other two the earlier one, E,
 * and the later one, L, need
 *
 *     E copies, L copies   level(E) <  level(L)     or a packet hits only one of them
 *     E copies, L takes    level(E) <= level(L)     D(l) is before T(l)
 *     E takes,  L copies   level(E) <  level(L)
 *     E takes,  L takes    level(E) <  level(L)     or the same, if the slots come in this order
 *
 * The bits that all rules of a shape have in common (`fixed`) tell whether a packet can match two
 * shapes: a no is certain, a yes may be too careful. Behind a copying rule that changes packets the
 * answer is always yes. Levels are given with gaps. When none is free, shapes move, each to a level
 * that is as right as its old one: first the later shapes upwards, then the earlier ones downwards,
 * so that after each move every two shapes are in order.
 *
 * This file makes no verbs call and takes no lock: the caller moves rules (mdv_flow_level_mover)
 * and holds flow.lock.
 */
#ifndef MDV_FLOW_LEVEL_H
#define MDV_FLOW_LEVEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include <rte_prefetch.h>

#include "flow/match/flow_key.h"

/** The greatest number of levels, one bit each in a word; Linux offers 16. */
#define MDV_FLOW_LEVEL_MAX 32
/** Masks of one rule: its own and those of its RSS expansions, each in up to four entries. */
#define MDV_FLOW_LEVEL_MASKS 28
/** The priority of default rules, behind all priorities of applications. */
#define MDV_FLOW_LEVEL_DEFAULT UINT32_MAX
/** Entries of one table: MLX5_FS_MAX_ENTRIES of drivers/infiniband/hw/mlx5/fs.c. */
#define MDV_FLOW_LEVEL_ENTRIES 65536u

struct mdv_flow_shape;
struct mdv_flow_level_slots;

/** The properties of a rule that decide its level. */
struct mdv_flow_level_want {
	uint32_t priority;
	bool copies;     /**< DONT_TRAP */
	bool multi_dest; /**< each match has more than one destination */
	bool modifies;   /**< later rules see a changed packet, so any of them may match it */
	uint8_t depth;   /**< of the pattern, without its expansions */
	/**
	 * 0, or the number of a set, which is one shape whatever the masks: a packet may match
	 * several of its rules and hits one of them. Sets of a priority stand in the order of their
	 * numbers.
	 */
	uint32_t set;
	uint8_t nb_entries;                 /**< of each part, all of one mask */
	uint8_t nb_masks;                   /**< at least 1 */
	const struct mdv_flow_match *match; /**< the pattern's own; borrowed */
	uint64_t hash;                      /**< of match, mask and value */
	/**
	 * NULL, or a rule of the same match, priority and kind: the new rule gets a place beside
	 * it, behind it or, if that rule has itself come there, before it. One of the two must go.
	 */
	const struct mdv_flow_level_rule *beside;
	/** Hashes of the parts' masks, most specific first, the pattern's own last; each stands
	 * here once for each entry of the part. The rest is not cleared. */
	uint64_t masks[MDV_FLOW_LEVEL_MASKS];
};

/** A rule that has a level; embedded in the caller's rule. */
struct mdv_flow_level_rule {
	TAILQ_ENTRY(mdv_flow_level_rule) next; /**< in its shape, oldest first */
	struct mdv_flow_level_rule *chain;     /**< next in its hash bucket */
	struct mdv_flow_level_rule **link;     /**< the pointer to it in the bucket */
	struct mdv_flow_shape *shape;          /**< NULL: the rule has no level */
	uint64_t hash;
	struct mdv_flow_packed match;
};

TAILQ_HEAD(mdv_flow_level_rules, mdv_flow_level_rule);
TAILQ_HEAD(mdv_flow_shapes, mdv_flow_shape);

struct mdv_flow_shape {
	TAILQ_ENTRY(mdv_flow_shape) next; /**< in the order of the promise */
	uint32_t priority;
	uint32_t set;
	uint64_t age;  /**< of the first shape that equals it but for parts, rank and spill */
	uint64_t born; /**< its place in the order of creation */
	uint64_t hash; /**< of the properties that all shapes of one age share */
	struct mdv_flow_level_rules rules;
	uint32_t nb_rules;
	uint8_t nb_masks, nb_entries, depth;
	bool copies, multi_dest, modifies;
	uint8_t turn;  /**< 1: its rules were put beside others of their rank */
	uint32_t rank; /**< before each of its rules stand those of its match and of lesser ranks */
	uint16_t spill; /**< how many shapes that equal it but for this could not take its rules */
	int8_t level;   /**< -1: none yet */
	int8_t target, earliest, latest; /**< used while levels are laid out */
	uint32_t fixed_used;             /**< bit i: fixed_mask may have bits in word i */
	/* from here on much room of which little is used, which no memset() clears */
	uint64_t masks[MDV_FLOW_LEVEL_MASKS];
	struct mdv_flow_key fixed_mask, fixed_value; /**< bits that all its rules have */
};

/**
 * Put all rules of @p shape into level @p level of the device, each before it leaves its old level;
 * shape->level is still the old one.
 * @return 0, or a negative errno after undoing everything
 */
typedef int (*mdv_flow_level_mover)(
	void *context, const struct mdv_flow_shape *shape, uint8_t level);

struct mdv_flow_levels {
	uint8_t nb;       /**< of the device */
	uint8_t reserved; /**< the last levels, for default rules only */
	/**
	 * Refuse a new rule rather than move sticky shapes. A packet that passes during a move may
	 * be copied twice by a copying rule, and may miss some queues of a rule with several.
	 */
	bool sticky_stay;
	uint32_t entries; /**< of a table */
	struct mdv_flow_shapes shapes;
	uint32_t nb_shapes, nb_rules, nb_buckets;
	uint32_t nb_ranked;            /**< shapes of a rank above 0 */
	struct mdv_flow_shape *recent; /**< of the last rule that came; NULL: it has gone */
	uint64_t age, nb_moved;        /**< nb_moved: rules moved so far */
	struct mdv_flow_level_rule **buckets;
	struct mdv_flow_level_slots *slots; /**< of the tables D(0) T(0) D(1) ... */
	mdv_flow_level_mover move;
	void *context;
};

/** @return 0 or -ENOMEM */
int mdv_flow_level_init(
	struct mdv_flow_levels *levels, uint8_t nb, mdv_flow_level_mover move, void *context);
/** Free the allocator. No rule is in the device any more, but the memory of the rules must still
 * be valid. */
void mdv_flow_level_fini(struct mdv_flow_levels *levels);

/**
 * Find a level for a rule, and move others if needed. Nothing is changed on failure.
 * @return 0, -ENOSPC when there are not enough levels, -ENOMEM, or the mover's error
 */
int mdv_flow_level_add(struct mdv_flow_levels *levels, const struct mdv_flow_level_want *want,
	struct mdv_flow_level_rule *rule);
/** Prefetch for an mdv_flow_level_add() with a rule of this hash; needs no lock. */
void mdv_flow_level_prefetch(const struct mdv_flow_levels *levels, uint64_t hash);
/** Prefetch for an mdv_flow_level_del(). */
static inline void
mdv_flow_level_prefetch_del(const struct mdv_flow_level_rule *rule)
{
	rte_prefetch0_write(rule->link);
}
/**
 * Find out whether mdv_flow_level_add() would find a level, and change nothing.
 * @param sticky_stay in place of levels->sticky_stay
 * @return the result of mdv_flow_level_add(), but no errors of the mover
 */
int mdv_flow_level_check(
	struct mdv_flow_levels *levels, const struct mdv_flow_level_want *want, bool sticky_stay);
/** Remove a rule that has left the device. Younger rules of its match move up, if they can. */
void mdv_flow_level_del(struct mdv_flow_levels *levels, struct mdv_flow_level_rule *rule);
/** Give the place of @p from to @p to, which has none yet; @p from has none afterwards. */
void mdv_flow_level_rename(struct mdv_flow_level_rule *from, struct mdv_flow_level_rule *to);
/** Forget all slots, before all rules enter an empty device, shape by shape. */
void mdv_flow_level_renew(struct mdv_flow_levels *levels);

/** @return the verbs priority */
static inline uint8_t
mdv_flow_level_of(const struct mdv_flow_level_rule *rule)
{
	return (uint8_t)rule->shape->level;
}

/** Write which rules have the levels: "priority 0: 2 levels for 5 copying rules, ...". */
void mdv_flow_level_describe(const struct mdv_flow_levels *levels, char *text, size_t size);

#endif /* MDV_FLOW_LEVEL_H */
