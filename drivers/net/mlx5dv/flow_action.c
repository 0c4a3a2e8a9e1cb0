/* SPDX-License-Identifier: BSD-3-Clause */
/* The action rows, the pairs that exclude each other, and the loop over both. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_ethdev.h>

#include "flow_action.h"
#include "flow_error.h"
#include "mark.h"
#include "port.h"
#include "rss.h"

/* The place of an action in action_rows[], a bit in action_state.given. */
enum action_id {
	ACTION_QUEUE,
	ACTION_RSS,
	ACTION_DROP,
	ACTION_MARK,
	ACTION_FLAG,
	ACTION_COUNT,
	ACTION_PASSTHRU,
	ACTION_SAMPLE,
	ACTION_NB,
};

struct action_state {
	const struct mdv_flow_action_env *env;
	struct mdv_flow_actions *out;
	const struct rte_flow_action *given[ACTION_NB];
	bool in_sample; /* the actions of a SAMPLE are read */
	bool has_fate;  /* outside of a SAMPLE */
	struct rte_flow_error *error;
};

struct action_row {
	enum rte_flow_action_type type;
	const char *name;
	bool fate; /* decides where packets go: a rule has one */
	bool needs_conf;
	/* Checks the configuration and notes the effect. */
	int (*apply)(struct action_state *state, const struct rte_flow_action *action);
};

static int action_apply_queue(struct action_state *state, const struct rte_flow_action *action);
static int action_apply_rss(struct action_state *state, const struct rte_flow_action *action);
static int action_apply_drop(struct action_state *state, const struct rte_flow_action *action);
static int action_apply_mark(struct action_state *state, const struct rte_flow_action *action);
static int action_apply_flag(struct action_state *state, const struct rte_flow_action *action);
static int action_apply_count(struct action_state *state, const struct rte_flow_action *action);
static int action_apply_passthru(struct action_state *state, const struct rte_flow_action *action);
static int action_apply_sample(struct action_state *state, const struct rte_flow_action *action);
static int action_parse_one(struct action_state *state, const struct rte_flow_action *action);
static const char *action_name(enum rte_flow_action_type type);

/* clang-format off */
#define ROW(t, fate, needs_conf, apply) \
	[ACTION_##t] = { RTE_FLOW_ACTION_TYPE_##t, #t, fate, needs_conf, apply }

static const struct action_row action_rows[ACTION_NB] = {
	/*             fate   conf  */
	ROW(QUEUE,     true,  true,  action_apply_queue),
	ROW(RSS,       true,  true,  action_apply_rss),
	ROW(DROP,      true,  false, action_apply_drop),
	ROW(MARK,      false, true,  action_apply_mark),
	ROW(FLAG,      false, false, action_apply_flag),
	ROW(COUNT,     false, false, action_apply_count),
	ROW(PASSTHRU,  false, false, action_apply_passthru),
	ROW(SAMPLE,    false, true,  action_apply_sample),
};

/* Which two actions never stand in one rule, in either order, and what to write instead. */
static const struct action_pair {
	enum action_id a, b;
	int code;
	const char *instead;
} action_pairs[] = {
	{ ACTION_QUEUE, ACTION_DROP, EINVAL, "a rule has one fate; leave one of them out" },
	{ ACTION_RSS, ACTION_RSS, EINVAL, "a rule has one fate; put all queues into one RSS" },
	{ ACTION_RSS, ACTION_DROP, EINVAL, "a rule has one fate; leave one of them out" },
	{ ACTION_DROP, ACTION_DROP, EINVAL, "a rule has one fate; leave one of them out" },
	{ ACTION_DROP, ACTION_MARK, EINVAL, "nobody sees a dropped packet's mark; leave MARK out" },
	{ ACTION_DROP, ACTION_FLAG, EINVAL, "nobody sees a dropped packet's flag; leave FLAG out" },
	{ ACTION_DROP, ACTION_PASSTHRU, EINVAL,
		"a packet is dropped or goes on; to copy it and let it go on write "
		"QUEUE and PASSTHRU" },
	{ ACTION_MARK, ACTION_MARK, EINVAL, "a packet carries one mark; leave one of them out" },
	{ ACTION_MARK, ACTION_FLAG, EINVAL, "MARK flags the packet as well; leave FLAG out" },
	{ ACTION_FLAG, ACTION_FLAG, EINVAL, "one is enough; leave one of them out" },
	{ ACTION_DROP, ACTION_SAMPLE, EINVAL,
		"a rule's copies and its drop are two rules: one with PASSTHRU, and DROP at a "
		"higher priority value" },
	{ ACTION_COUNT, ACTION_COUNT, EINVAL, "a rule has one counter; leave one of them out" },
	{ ACTION_PASSTHRU, ACTION_PASSTHRU, EINVAL, "one is enough; leave one of them out" },
};
/* clang-format on */

static int
action_check_queue(struct action_state *state, const struct rte_flow_action *action,
	const char *name, uint16_t queue)
{
	if (queue < state->env->nb_queues)
		return 0;
	if (state->env->nb_queues == 0)
		return mdv_flow_error_set(state->error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_CONF,
			action->conf,
			"%s: Rx queue %u does not exist; the port has none configured", name,
			queue);
	return mdv_flow_error_set(state->error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_CONF,
		action->conf, "%s: Rx queue %u does not exist; the port has 0 to %u", name, queue,
		state->env->nb_queues - 1);
}

/* Each QUEUE gets a copy, as does the RSS beside it (rte_flow.rst since 18.05). */
static int
action_add_extra(
	struct action_state *state, const struct rte_flow_action *action, const uint16_t *queue)
{
	struct mdv_flow_actions *out = state->out;
	bool twice = out->rss_types == 0 && out->nb_queues == 1 && out->queues[0] == *queue;

	for (unsigned int i = 0; i < out->nb_extras; i++)
		twice = twice || *out->extras[i] == *queue;
	if (twice)
		return mdv_flow_error_set(state->error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION, action,
			"QUEUE %u twice: the device makes one copy a queue; leave one of them out",
			*queue);
	if (out->nb_extras == MDV_FLOW_ACTION_EXTRAS)
		return mdv_flow_error_set(state->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION, action,
			"QUEUE: a rule makes at most %u copies; use a second rule with PASSTHRU",
			MDV_FLOW_ACTION_EXTRAS + 1);
	out->extras[out->nb_extras++] = queue;
	return action_check_queue(state, action, "QUEUE", *queue);
}

static int
action_apply_queue(struct action_state *state, const struct rte_flow_action *action)
{
	const struct rte_flow_action_queue *conf = action->conf;
	struct mdv_flow_actions *out = state->out;

	if (out->fate == MDV_FLOW_ACTION_QUEUES)
		return action_add_extra(state, action, &conf->index);
	out->fate = MDV_FLOW_ACTION_QUEUES;
	out->queues = &conf->index;
	out->nb_queues = 1;
	out->rss_types = 0;
	out->rss_key = state->env->rss_key;
	return action_check_queue(state, action, "QUEUE", conf->index);
}

static int
action_check_rss(struct action_state *state, const struct rte_flow_action *action)
{
	const struct rte_flow_action_rss *conf = action->conf;
	const struct mdv_flow_action_env *env = state->env;
	struct rte_flow_error *error = state->error;
	const enum rte_flow_error_type type = RTE_FLOW_ERROR_TYPE_ACTION_CONF;

	if (conf->func != RTE_ETH_HASH_FUNCTION_DEFAULT &&
		conf->func != RTE_ETH_HASH_FUNCTION_TOEPLITZ)
		return mdv_flow_error_set(error, ENOTSUP, type, conf,
			"RSS func %d: the device hashes by Toeplitz only; use toeplitz or default",
			(int)conf->func);
	if (conf->level > 1)
		return mdv_flow_error_set(error, ENOTSUP, type, conf,
			"RSS level %u: inner headers are not hashed; use level 0 or 1",
			conf->level);
	if (conf->key_len != 0 && (conf->key_len != MDV_RSS_KEY_BYTES || conf->key == NULL))
		return mdv_flow_error_set(error, conf->key == NULL ? EINVAL : ENOTSUP, type, conf,
			"RSS key of %u bytes%s: the device takes %u; give those, or length 0 for "
			"the "
			"port's key",
			conf->key_len, conf->key == NULL ? " at NULL" : "", MDV_RSS_KEY_BYTES);
	if ((conf->types & ~env->rss_types) != 0)
		return mdv_flow_error_set(error, ENOTSUP, type, conf,
			"RSS types 0x%" PRIx64
			": the device cannot hash by them; it can by 0x%" PRIx64,
			conf->types & ~env->rss_types, env->rss_types);
	if (conf->queue_num == 0 || conf->queue == NULL)
		return mdv_flow_error_set(
			error, EINVAL, type, conf, "RSS queues: there are none; name at least one");
	if (mdv_rss_table_size(conf->queue_num, env->max_table) == 0)
		return mdv_flow_error_set(error, ENOTSUP, type, conf,
			"RSS queues: %u are more than the device's table holds; name at most %u",
			conf->queue_num, env->max_table);
	return 0;
}

static int
action_apply_rss(struct action_state *state, const struct rte_flow_action *action)
{
	const struct rte_flow_action_rss *conf = action->conf;
	int rc = action_check_rss(state, action);

	for (uint32_t i = 0; rc == 0 && i < conf->queue_num; i++)
		rc = action_check_queue(state, action, "RSS", conf->queue[i]);
	if (rc == 0 && state->out->fate == MDV_FLOW_ACTION_QUEUES) {
		/* The one place for an RSS is taken by a QUEUE, which is content with another. */
		const uint16_t *queue = state->out->queues;

		state->out->queues = conf->queue;
		state->out->nb_queues = 0;
		rc = action_add_extra(state, action, queue);
	}
	if (rc != 0)
		return rc;
	state->out->fate = MDV_FLOW_ACTION_QUEUES;
	state->out->queues = conf->queue;
	state->out->nb_queues = conf->queue_num;
	/* Types 0 asks for the driver's choice, not for no RSS (rte_flow.rst, Action: RSS). */
	state->out->rss_types =
		conf->types != 0 ? conf->types : RTE_ETH_RSS_IP & state->env->rss_types;
	state->out->rss_key = conf->key_len != 0 ? conf->key : state->env->rss_key;
	return 0;
}

static int
action_apply_drop(struct action_state *state, const struct rte_flow_action *action)
{
	(void)action;
	state->out->fate = MDV_FLOW_ACTION_DROP;
	return 0;
}

static int
action_apply_mark(struct action_state *state, const struct rte_flow_action *action)
{
	const struct rte_flow_action_mark *conf = action->conf;

	if (conf->id > MDV_MARK_ID_MAX)
		return mdv_flow_error_set(state->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION_CONF,
			conf, "MARK id 0x%x: the device has 24 bits for it; use at most 0x%x",
			conf->id, MDV_MARK_ID_MAX);
	state->out->tag = mdv_mark_to_tag(conf->id);
	return 0;
}

static int
action_apply_flag(struct action_state *state, const struct rte_flow_action *action)
{
	(void)action;
	state->out->tag = MDV_MARK_TAG_FLAG;
	return 0;
}

static int
action_apply_count(struct action_state *state, const struct rte_flow_action *action)
{
	(void)action; /* the conf's id names a counter to nobody: queries go by rule */
	state->out->count = true;
	return 0;
}

static int
action_apply_passthru(struct action_state *state, const struct rte_flow_action *action)
{
	(void)action;
	state->out->passthru = true;
	return 0;
}

static int
action_apply_sample(struct action_state *state, const struct rte_flow_action *action)
{
	const struct rte_flow_action_sample *conf = action->conf;
	const struct rte_flow_action *copy = conf->actions;
	unsigned int nb = 0;
	int rc = 0;

	if (conf->ratio != 1)
		return mdv_flow_error_set(state->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION_CONF,
			conf, "SAMPLE ratio %u: the device copies every packet; use ratio 1",
			conf->ratio);
	state->in_sample = true;
	for (; rc == 0 && copy != NULL && copy->type != RTE_FLOW_ACTION_TYPE_END; copy++) {
		if (copy->type == RTE_FLOW_ACTION_TYPE_VOID)
			continue;
		if (copy->type != RTE_FLOW_ACTION_TYPE_QUEUE &&
			copy->type != RTE_FLOW_ACTION_TYPE_RSS)
			return mdv_flow_error_set(state->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION,
				copy,
				"SAMPLE with %s in it: a copy goes to QUEUE or RSS and nothing "
				"else",
				action_name(copy->type));
		rc = action_parse_one(state, copy);
		nb++;
	}
	state->in_sample = false;
	if (rc == 0 && nb == 0)
		return mdv_flow_error_set(state->error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_CONF,
			conf, "SAMPLE: it has no actions; give it QUEUE or RSS");
	return rc;
}

/* For messages: the name that rte_flow has for a type we have no row for. */
static const char *
action_name(enum rte_flow_action_type type)
{
	const char *name = NULL;

	if (rte_flow_conv(RTE_FLOW_CONV_OP_ACTION_NAME_PTR, &name, sizeof(name),
		    (const void *)(uintptr_t)type, NULL) <= 0 ||
		name == NULL)
		return "unknown";
	return name;
}

static int
action_refuse_unknown(struct action_state *state, const struct rte_flow_action *action)
{
	char known[96] = "";

	for (unsigned int i = 0; i < ACTION_NB; i++) {
		if (i != 0)
			strncat(known, ", ", sizeof(known) - strlen(known) - 1);
		strncat(known, action_rows[i].name, sizeof(known) - strlen(known) - 1);
	}
	return mdv_flow_error_set(state->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION, action,
		"action %s (%d): the driver cannot do it; it does %s", action_name(action->type),
		(int)action->type, known);
}

static int
action_check_pairs(
	struct action_state *state, enum action_id id, const struct rte_flow_action *action)
{
	for (unsigned int i = 0; i < RTE_DIM(action_pairs); i++) {
		const struct action_pair *pair = &action_pairs[i];
		enum action_id other = pair->a == id ? pair->b : pair->a;

		if ((pair->a != id && pair->b != id) || state->given[other] == NULL)
			continue;
		return mdv_flow_error_set(state->error, pair->code, RTE_FLOW_ERROR_TYPE_ACTION,
			action, "%s with %s: %s", action_rows[other].name, action_rows[id].name,
			pair->instead);
	}
	return 0;
}

static int
action_parse_one(struct action_state *state, const struct rte_flow_action *action)
{
	unsigned int id;
	int rc;

	for (id = 0; id < ACTION_NB; id++)
		if (action_rows[id].type == action->type)
			break;
	if (id == ACTION_NB)
		return action_refuse_unknown(state, action);
	rc = action_check_pairs(state, id, action);
	if (rc != 0)
		return rc;
	if (action_rows[id].needs_conf && action->conf == NULL)
		return mdv_flow_error_set(state->error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_CONF,
			action, "%s: no configuration; it needs one", action_rows[id].name);
	state->given[id] = action;
	state->has_fate = state->has_fate || (action_rows[id].fate && !state->in_sample);
	return action_rows[id].apply(state, action);
}

static int
action_check_fate(struct action_state *state, const struct rte_flow_action list[])
{
	if (state->has_fate)
		return 0;
	if (state->given[ACTION_PASSTHRU] != NULL && state->given[ACTION_SAMPLE] != NULL)
		return 0;
	if (state->given[ACTION_SAMPLE] != NULL)
		return mdv_flow_error_set(state->error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION,
			state->given[ACTION_SAMPLE],
			"SAMPLE alone does not say where packets go after the copy; add QUEUE, RSS "
			"or PASSTHRU");
	if (state->given[ACTION_PASSTHRU] != NULL)
		return mdv_flow_error_set(state->error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION,
			state->given[ACTION_PASSTHRU],
			"PASSTHRU without QUEUE or RSS: nobody gets a copy; write QUEUE or RSS and "
			"PASSTHRU");
	return mdv_flow_error_set(state->error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION, list,
		"the actions say nothing of where packets go; add QUEUE, RSS or DROP");
}

int
mdv_flow_action_parse(const struct mdv_flow_action_env *env, const struct rte_flow_action list[],
	struct mdv_flow_actions *actions, struct rte_flow_error *error)
{
	struct action_state state = { .env = env, .out = actions, .error = error };

	memset(actions, 0, sizeof(*actions));
	for (const struct rte_flow_action *action = list; action->type != RTE_FLOW_ACTION_TYPE_END;
		action++) {
		int rc;

		if (action->type == RTE_FLOW_ACTION_TYPE_VOID)
			continue;
		rc = action_parse_one(&state, action);
		if (rc != 0)
			return rc;
	}
	return action_check_fate(&state, list);
}

/* How many actions the list has, its SAMPLEs opened; they go to @p out unless that is NULL. */
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
