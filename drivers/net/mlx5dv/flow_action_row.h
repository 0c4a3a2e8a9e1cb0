/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Inside the actions' translation: what a row is, and what is known while a list is walked.
 *
 *     flow_action.c         the walk: configurations, pairs, is there a fate
 *     flow_action_rows.c    the rows, one for each action of rte_flow
 *     flow_action_apply.c   what the actions do that the driver knows
 */
#ifndef MDV_FLOW_ACTION_ROW_H
#define MDV_FLOW_ACTION_ROW_H

#include "flow_action.h"

/** Actions of rte_flow.h, numbered from 0: RTE_FLOW_ACTION_TYPE_END. */
#define MDV_FLOW_ACTION_ROWS (RTE_FLOW_ACTION_TYPE_SEND_TO_KERNEL + 1)
/** Action @p type in mdv_flow_action_state.given. */
#define MDV_FLOW_ACTION_BIT(type) (UINT64_C(1) << (type))

struct mdv_flow_action_state {
	const struct mdv_flow_action_env *env;
	struct mdv_flow_actions *out;
	uint64_t given; /**< MDV_FLOW_ACTION_BIT() of the actions so far */
	bool in_sample; /**< the actions of a SAMPLE are read */
	bool has_fate;  /**< outside of a SAMPLE */
	bool egress;    /**< of a rule on sent packets */
	struct rte_flow_error *error;
};

struct mdv_flow_action_row {
	const char *name;
	bool fate; /**< decides where packets go: a rule has one */
	bool needs_conf;
	bool egress; /**< sent packets know it, too */
	/** Check the configuration and note the effect. NULL: the driver cannot do the action. */
	int (*apply)(struct mdv_flow_action_state *state, const struct rte_flow_action *action);
	const char *instead; /**< when it cannot: what to do */
};

/** By type; END and VOID have names only. */
extern const struct mdv_flow_action_row mdv_flow_action_rows[MDV_FLOW_ACTION_ROWS];

/* flow_action.c */
/** One action, whatever stands before it. @return 0 or a negative errno, the error filled */
int mdv_flow_action_parse_one(
	struct mdv_flow_action_state *state, const struct rte_flow_action *action);

/* flow_action_apply.c: each returns 0 or a negative errno, the error filled. */
int mdv_flow_action_apply_queue(
	struct mdv_flow_action_state *state, const struct rte_flow_action *action);
int mdv_flow_action_apply_rss(
	struct mdv_flow_action_state *state, const struct rte_flow_action *action);
int mdv_flow_action_apply_drop(
	struct mdv_flow_action_state *state, const struct rte_flow_action *action);
int mdv_flow_action_apply_mark(
	struct mdv_flow_action_state *state, const struct rte_flow_action *action);
int mdv_flow_action_apply_flag(
	struct mdv_flow_action_state *state, const struct rte_flow_action *action);
int mdv_flow_action_apply_count(
	struct mdv_flow_action_state *state, const struct rte_flow_action *action);
int mdv_flow_action_apply_passthru(
	struct mdv_flow_action_state *state, const struct rte_flow_action *action);
int mdv_flow_action_apply_indirect(
	struct mdv_flow_action_state *state, const struct rte_flow_action *action);
int mdv_flow_action_apply_sample(
	struct mdv_flow_action_state *state, const struct rte_flow_action *action);

#endif /* MDV_FLOW_ACTION_ROW_H */
