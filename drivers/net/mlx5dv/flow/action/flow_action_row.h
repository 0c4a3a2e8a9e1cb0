/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Inside the actions' translation: what a row is, and what is known while a list is walked.
 *
 *     flow_action.c         the walk: configurations, pairs, is there a fate
 *     flow_action_rows.c    the rows, one for each action of rte_flow
 *     flow_action_apply.c   what the actions do that the driver knows
 *     flow_action_modify.c    which of those that change packets stand where
 */
#ifndef MDV_FLOW_ACTION_ROW_H
#define MDV_FLOW_ACTION_ROW_H

#include "flow_action.h"

/** Actions of rte_flow.h, numbered from 0: RTE_FLOW_ACTION_TYPE_END. */
#define MDV_FLOW_ACTION_ROWS (RTE_FLOW_ACTION_TYPE_SEND_TO_KERNEL + 1)
/** Action @p type in mdv_flow_action_state.given. */
#define MDV_FLOW_ACTION_BIT(type) (UINT64_C(1) << (type))

/** What an action changes about packets, as far as its place is concerned. */
enum mdv_flow_modify_kind {
	MDV_FLOW_MODIFY_NONE,
	MDV_FLOW_MODIFY_FIELD,
	MDV_FLOW_MODIFY_DECAP,
	MDV_FLOW_MODIFY_ENCAP,
	MDV_FLOW_MODIFY_RAW_DECAP,
	MDV_FLOW_MODIFY_RAW_ENCAP,
	MDV_FLOW_MODIFY_KINDS,
};

struct mdv_flow_action_row;

struct mdv_flow_action_state {
	const struct mdv_flow_action_row *rows; /**< mdv_flow_action_rows */
	/** One action, whatever stands before it: of those inside of others. */
	int (*parse_one)(struct mdv_flow_action_state *state, const struct rte_flow_action *action);
	const struct mdv_flow_action_env *env;
	const struct rte_flow_action *list;
	struct mdv_flow_actions *out;
	uint64_t given; /**< MDV_FLOW_ACTION_BIT() of the actions so far */
	bool in_sample; /**< the actions of a SAMPLE are read */
	bool has_fate;  /**< outside of a SAMPLE */
	bool egress;    /**< of a rule on sent packets */
	bool fields;    /**< some are changed */
	/** The action that changes packets, or gives them to somebody, that was there last. */
	const struct rte_flow_action *modify, *given_to;
	const struct rte_flow_action *raw_decap; /**< that no RAW_ENCAP has come behind */
	struct rte_flow_error *error;
};

struct mdv_flow_action_row {
	const char *name;
	bool fate; /**< decides where packets go: a rule has one */
	bool needs_conf;
	bool egress; /**< sent packets know it, too */
	/** Check the configuration and note the effect. NULL: the driver cannot do the action. */
	int (*apply)(struct mdv_flow_action_state *state, const struct rte_flow_action *action);
	const char *instead; /**< when it, or the device, cannot: what to do */
	enum mdv_flow_modify_kind modify;
};

/** By type; END and VOID have names only. */
extern const struct mdv_flow_action_row mdv_flow_action_rows[MDV_FLOW_ACTION_ROWS];

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

/* flow_action_modify.c */
int mdv_flow_action_apply_modify(
	struct mdv_flow_action_state *state, const struct rte_flow_action *action);
/** The list is at its end. @return as above */
int mdv_flow_action_end_modify(struct mdv_flow_action_state *state);

#endif /* MDV_FLOW_ACTION_ROW_H */
