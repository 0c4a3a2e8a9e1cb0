/* SPDX-License-Identifier: BSD-3-Clause */
/* Walks a list of actions, and checks the pairs that exclude each other. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "flow/match/flow_error.h"
#include "flow_action_row.h"

/* clang-format off */
#define PAIR(one, other, instead) { RTE_FLOW_ACTION_TYPE_##one, RTE_FLOW_ACTION_TYPE_##other, instead }

/** Two actions that exclude each other in one rule, in either order, and the advice to the user. */
static const struct action_pair {
	enum rte_flow_action_type a, b;
	const char *instead;
} action_pairs[] = {
	PAIR(QUEUE, DROP, "a rule has one fate; leave one of them out"),
	PAIR(RSS, RSS, "a rule has one fate; put all queues into one RSS"),
	PAIR(RSS, DROP, "a rule has one fate; leave one of them out"),
	PAIR(DROP, DROP, "a rule has one fate; leave one of them out"),
	PAIR(DROP, MARK, "nobody sees a dropped packet's mark; leave MARK out"),
	PAIR(DROP, FLAG, "nobody sees a dropped packet's flag; leave FLAG out"),
	PAIR(DROP, PASSTHRU,
		"a packet is dropped or goes on; to copy it and let it go on write QUEUE and PASSTHRU"),
	PAIR(MARK, MARK, "a packet carries one mark; leave one of them out"),
	PAIR(MARK, FLAG, "MARK flags the packet as well; leave FLAG out"),
	PAIR(FLAG, FLAG, "one is enough; leave one of them out"),
	PAIR(DROP, SAMPLE,
		"a rule's copies and its drop are two rules: one with PASSTHRU, and DROP at a higher priority value"),
	PAIR(COUNT, COUNT, "a rule has one counter; leave one of them out"),
	PAIR(PASSTHRU, PASSTHRU, "one is enough; leave one of them out"),
};
/* clang-format on */

const char *
mdv_flow_action_name(enum rte_flow_action_type type)
{
	return (unsigned int)type < MDV_FLOW_ACTION_ROWS ? mdv_flow_action_rows[type].name
							 : "unknown";
}

static int
action_check_pairs(const struct mdv_flow_action_state *state, const struct rte_flow_action *action)
{
	for (unsigned int i = 0; state->given != 0 && i < RTE_DIM(action_pairs); i++) {
		const struct action_pair *pair = &action_pairs[i];
		enum rte_flow_action_type other = pair->a == action->type ? pair->b : pair->a;

		if ((pair->a != action->type && pair->b != action->type) ||
			(state->given & MDV_FLOW_ACTION_BIT(other)) == 0)
			continue;
		return mdv_flow_error_set(state->error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION, action,
			"%s with %s: %s", mdv_flow_action_name(other),
			mdv_flow_action_name(action->type), pair->instead);
	}
	return 0;
}

static int
action_parse_one(struct mdv_flow_action_state *state, const struct rte_flow_action *action)
{
	const struct mdv_flow_action_row *row;
	int ret;

	if ((unsigned int)action->type >= MDV_FLOW_ACTION_ROWS)
		return mdv_flow_error_set(state->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION, action,
			"action %d: this DPDK's rte_flow has none of that number; use one of its own",
			(int)action->type);
	row = &mdv_flow_action_rows[action->type];
	if (state->egress && !row->egress)
		return mdv_flow_error_set(state->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION, action,
			"egress with %s: a sent packet is dropped, or counted, changed and sent; use DROP, COUNT or what changes it",
			row->name);
	if (row->apply == NULL)
		return mdv_flow_error_set(state->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION, action,
			"action %s: %s", row->name, row->instead);
	ret = action_check_pairs(state, action);
	if (ret != 0)
		return ret;
	if (row->needs_conf && action->conf == NULL)
		return mdv_flow_error_set(state->error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_CONF,
			action, "%s: no configuration; it needs one", row->name);
	state->given |= MDV_FLOW_ACTION_BIT(action->type);
	state->has_fate = state->has_fate || (row->fate && !state->in_sample);
	if (row->fate && action->type != RTE_FLOW_ACTION_TYPE_DROP)
		state->given_to = action;
	return row->apply(state, action);
}

/** @return the last accepted action of @p type that stands in the list itself. */
static const struct rte_flow_action *
action_last(const struct rte_flow_action list[], enum rte_flow_action_type type)
{
	const struct rte_flow_action *last = list;

	for (; list->type != RTE_FLOW_ACTION_TYPE_END; list++)
		if (list->type == type)
			last = list;
	return last;
}

static int
action_check_fate(struct mdv_flow_action_state *state, const struct rte_flow_action list[])
{
	const enum rte_flow_error_type type = RTE_FLOW_ERROR_TYPE_ACTION;
	const bool sample = (state->given & MDV_FLOW_ACTION_BIT(RTE_FLOW_ACTION_TYPE_SAMPLE)) != 0;
	const bool passthru =
		(state->given & MDV_FLOW_ACTION_BIT(RTE_FLOW_ACTION_TYPE_PASSTHRU)) != 0;

	if (state->has_fate || (sample && passthru))
		return 0;
	if (sample)
		return mdv_flow_error_set(state->error, EINVAL, type,
			action_last(list, RTE_FLOW_ACTION_TYPE_SAMPLE),
			"SAMPLE alone does not say where packets go after the copy; add QUEUE, RSS or PASSTHRU");
	if (passthru)
		return mdv_flow_error_set(state->error, EINVAL, type,
			action_last(list, RTE_FLOW_ACTION_TYPE_PASSTHRU),
			"PASSTHRU without QUEUE or RSS: nobody gets a copy; write QUEUE or RSS and PASSTHRU");
	return mdv_flow_error_set(state->error, EINVAL, type, list,
		"the actions say nothing of where packets go; add QUEUE, RSS or DROP");
}

static int
action_parse_list(struct mdv_flow_action_state *state, const struct rte_flow_action list[])
{
	memset(state->out, 0, sizeof(*state->out));
	state->list = list;
	for (; list->type != RTE_FLOW_ACTION_TYPE_END; list++) {
		int ret;

		if (list->type == RTE_FLOW_ACTION_TYPE_VOID)
			continue;
		ret = action_parse_one(state, list);
		if (ret != 0)
			return ret;
	}
	return mdv_flow_action_end_modify(state);
}

static struct mdv_flow_action_state
action_state(const struct mdv_flow_action_env *env, struct mdv_flow_actions *out,
	struct rte_flow_error *error)
{
	return (struct mdv_flow_action_state){
		.rows = mdv_flow_action_rows,
		.parse_one = action_parse_one,
		.env = env,
		.out = out,
		.error = error,
	};
}

int
mdv_flow_action_parse(const struct mdv_flow_action_env *env, const struct rte_flow_action list[],
	struct mdv_flow_actions *actions, struct rte_flow_error *error)
{
	struct mdv_flow_action_state state = action_state(env, actions, error);
	int ret = action_parse_list(&state, list);

	return ret != 0 ? ret : action_check_fate(&state, list);
}

int
mdv_flow_action_parse_egress(const struct mdv_flow_action_env *env,
	const struct rte_flow_action list[], struct mdv_flow_actions *actions,
	struct rte_flow_error *error)
{
	struct mdv_flow_action_state state = action_state(env, actions, error);
	int ret;

	state.egress = true;
	ret = action_parse_list(&state, list);
	if (ret != 0)
		return ret;
	if (state.given == 0)
		return mdv_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION, list,
			"egress: the actions change nothing; add DROP or COUNT");
	if (!state.has_fate)
		actions->fate = MDV_FLOW_ACTION_SEND;
	actions->egress = true;
	return 0;
}

int
mdv_flow_action_check(const struct mdv_flow_action_env *env, const struct rte_flow_action *action,
	struct rte_flow_error *error)
{
	struct mdv_flow_actions actions = { .count = false };
	struct mdv_flow_action_state state = action_state(env, &actions, error);

	return action_parse_one(&state, action);
}

/** Count the actions of the list with its SAMPLEs replaced by theirs; copy them to @p out unless
 * it is NULL. */
static unsigned int
action_flatten(const struct rte_flow_action list[], struct rte_flow_action *out)
{
	const struct rte_flow_action_sample *sample;
	unsigned int nb = 0;

	for (; list->type != RTE_FLOW_ACTION_TYPE_END; list++) {
		if (list->type == RTE_FLOW_ACTION_TYPE_SAMPLE) {
			sample = list->conf;
			nb += action_flatten(sample->actions, out != NULL ? &out[nb] : NULL);
			continue;
		}
		if (out != NULL)
			out[nb] = *list;
		nb++;
	}
	return nb;
}

size_t
mdv_flow_action_bytes(enum rte_flow_action_type type)
{
	return mdv_flow_action_rows[type].conf_bytes;
}

bool
mdv_flow_action_is_flat(const struct rte_flow_action list[])
{
	for (; list->type != RTE_FLOW_ACTION_TYPE_END; list++)
		if (list->type == RTE_FLOW_ACTION_TYPE_SAMPLE)
			return false;
	return true;
}

struct rte_flow_action *
mdv_flow_action_flatten(const struct rte_flow_action list[])
{
	unsigned int nb = action_flatten(list, NULL);
	struct rte_flow_action *out = calloc(nb + 1, sizeof(*out));

	if (out != NULL)
		action_flatten(list, out); /* END is all zeros */
	return out;
}
