/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Flow table entry: one match value, and the actions on packets that match.
 *
 * Rules with the same match share the entry. Each rule holds a reference on the entry, its
 * destination and its counter. So a QP that two rules name gets one copy, and stays a destination
 * until both rules are gone.
 */
#ifndef SHCA_STEERING_FTE_H
#define SHCA_STEERING_FTE_H

#include <stdbool.h>
#include <stdint.h>

#include "steering/steering.h"

/** The action of one rule. */
struct shca_fte_action {
	bool drop;
	bool leave; /**< skip the other tables of rules: mlx5dv's default miss */
	bool tag;   /**< wants flow_tag; else any tag will do */
	uint32_t flow_tag;
	void *tir;                         /**< NULL: no destination */
	struct shca_flow_counter *counter; /**< or NULL */
	struct shca_context *context;      /**< whose the rule is, or NULL */
	struct shca_modify_set modify_set; /**< changes to frames */
};

/** A destination, a counter or a context, and how many rules name it. */
struct shca_fte_user {
	void *object;
	uint32_t nb_rules;
};

/** Most entries have one user of each kind, or none. */
struct shca_fte_users {
	/** NULL: there has been none; or one[], or an array of malloc(). */
	struct shca_fte_user *user;
	uint32_t nb;
	struct shca_fte_user one[1];
};

/** What firmware takes in one entry; 0: no limit. */
struct shca_fte_limits {
	uint32_t destinations; /**< where frames go, the next table included */
	uint32_t counters;
};

struct shca_fte {
	struct shca_fte *next; /**< in its bucket (subtable.h) */
	struct shca_group *group;
	uint32_t index; /**< in the table; the lower wins */
	uint32_t hash;  /**< of value */
	uint32_t nb_rules;
	uint32_t nb_leaving; /**< rules with leave */
	uint32_t flow_tag;   /**< 0: none */
	bool drop;
	struct shca_modify_set modify_set;
	struct shca_fte_users destinations; /**< TIRs */
	struct shca_fte_users counters;     /**< struct shca_flow_counter */
	struct shca_fte_users contexts;     /**< struct shca_context */
	uint32_t counter_list_size;         /**< rules with a counter: each has its place */
	bool counts;                        /**< see shca_fte_leave() */
	uint64_t packets, bytes;            /**< hits, for the dump */
	uint64_t value[];                   /**< the words in the subtable's mask */
};

/** @return an entry of @p nb_words words without rules, or NULL when out of memory. */
struct shca_fte *shca_fte_create(unsigned int nb_words);
/** NULL is allowed. */
void shca_fte_destroy(struct shca_fte *fte);
/** @return 0, or -EEXIST when a rule that wants @p action cannot share the entry, or -EINVAL when
 * its lists would be too long. */
int shca_fte_check(const struct shca_fte *fte, const struct shca_fte_action *action,
	const struct shca_fte_limits *limits);
/** Add a rule after shca_fte_check(). @return 0 or -ENOMEM. */
int shca_fte_join(struct shca_fte *fte, const struct shca_fte_action *action);
/**
 * Take away a rule that joined with @p action. If it had a counter, the entry counts no more for
 * the others either, until one with a counter joins (Linux fs_core.c, del_sw_hw_rule).
 * @return true when it was the last.
 */
bool shca_fte_leave(struct shca_fte *fte, const struct shca_fte_action *action);

#endif /* SHCA_STEERING_FTE_H */
