/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Inside the actions' translation: the rows, and the state of the walk over a list.
 *
 *     flow_action.c         the walk: configurations, pairs, is there a fate
 *     flow_action_rows.c    the rows, one for each action of rte_flow
 *     flow_action_apply.c   the effect of each action that the driver supports
 *     flow_action_modify.c  the order of those that change packets
 */
#ifndef MDV_FLOW_ACTION_ROW_H
#define MDV_FLOW_ACTION_ROW_H

#include <assert.h>

#include "base/compat.h"
#include "flow_action.h"

/** Actions of rte_flow.h, numbered from 0: RTE_FLOW_ACTION_TYPE_END. */
#define MDV_FLOW_ACTION_ROWS (MDV_COMPAT_FLOW_ACTION_LAST + 1)
/** The bit of action @p type in mdv_flow_action_state.given; actions of releases behind 22.11,
 * which the driver refuses, need none. */
#define MDV_FLOW_ACTION_BIT(type) (UINT64_C(1) << (type))
static_assert(RTE_FLOW_ACTION_TYPE_SEND_TO_KERNEL < 64, "the last action of 22.11 has a bit");

/** The kind of change, which decides where an action may stand. */
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
	/** Parse one action, whatever stands before it: for the actions of a SAMPLE. */
	int (*parse_one)(struct mdv_flow_action_state *state, const struct rte_flow_action *action);
	const struct mdv_flow_action_env *env;
	const struct rte_flow_action *list;
	struct mdv_flow_actions *out;
	uint64_t given; /**< MDV_FLOW_ACTION_BIT() of the actions so far */
	bool in_sample; /**< the actions of a SAMPLE are being read */
	bool has_fate;  /**< outside of a SAMPLE */
	bool egress;    /**< of a rule on sent packets */
	bool fields;    /**< some fields are changed */
	/** The last action that changes packets, and the last that gives them to a queue. */
	const struct rte_flow_action *modify, *given_to;
	const struct rte_flow_action *raw_decap; /**< a RAW_DECAP that no RAW_ENCAP has followed */
	struct rte_flow_error *error;
};

struct mdv_flow_action_row {
	const char *name;
	bool fate; /**< decides where packets go: a rule has one */
	bool needs_conf;
	bool egress; /**< allowed for sent packets, too */
	/** Check the configuration and note the effect. NULL: the driver does not support the
	 * action. */
	int (*apply)(struct mdv_flow_action_state *state, const struct rte_flow_action *action);
	const char *instead; /**< advice if the driver, or the device, does not support it */
	enum mdv_flow_modify_kind modify;
	uint16_t conf_bytes; /**< of a configuration without pointers; 0: rte_flow_conv() knows */
};

/** By type; END and VOID have names only. */
extern const struct mdv_flow_action_row mdv_flow_action_rows[MDV_FLOW_ACTION_ROWS];

/* In flow_action_apply.c: each returns 0 or a negative errno, the error filled. */
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
/** Finish at the end of the list. @return as above */
int mdv_flow_action_end_modify(struct mdv_flow_action_state *state);

#endif /* MDV_FLOW_ACTION_ROW_H */
