/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks each action's configuration and notes the action's effect. */

#include <errno.h>
#include <inttypes.h>

#include "base/mark.h"
#include "flow/match/flow_error.h"
#include "flow/match/rss.h"
#include "flow_action_row.h"
#include "flow_handle.h"
#include "state/port.h"

/** RSS level of the first inner headers; 0 and 1 are the outermost ones (rte_flow.rst). */
#define MDV_FLOW_ACTION_LEVEL_INNER 2u

static int
action_check_queue(struct mdv_flow_action_state *state, const struct rte_flow_action *action,
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

/** Each QUEUE gets a copy, as does the RSS beside it (rte_flow.rst since 18.05). */
static int
action_add_extra(struct mdv_flow_action_state *state, const struct rte_flow_action *action,
	const uint16_t *queue)
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

int
mdv_flow_action_apply_queue(
	struct mdv_flow_action_state *state, const struct rte_flow_action *action)
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

/* clang-format off */
/**
 * Verbs has no symmetric function, and Linux 6.1 does not set the TIR's symmetric bit for its QPs
 * (drivers/infiniband/hw/mlx5/qp.c create_rss_raw_qp_tir). But Toeplitz with a key that repeats 16
 * bits is symmetric, as source and destination are a multiple of 16 bits apart. These bits spread
 * well: Woo and Park, "Scalable TCP Session Monitoring with Symmetric Receive-side Scaling", KAIST
 * 2012.
 */
static const uint8_t symmetric_key[MDV_RSS_KEY_BYTES] = {
	0x6d, 0x5a, 0x6d, 0x5a, 0x6d, 0x5a, 0x6d, 0x5a, 0x6d, 0x5a,
	0x6d, 0x5a, 0x6d, 0x5a, 0x6d, 0x5a, 0x6d, 0x5a, 0x6d, 0x5a,
	0x6d, 0x5a, 0x6d, 0x5a, 0x6d, 0x5a, 0x6d, 0x5a, 0x6d, 0x5a,
	0x6d, 0x5a, 0x6d, 0x5a, 0x6d, 0x5a, 0x6d, 0x5a, 0x6d, 0x5a,
};
/* clang-format on */

static bool
action_is_symmetric(const uint8_t *key)
{
	for (unsigned int i = 2; i < MDV_RSS_KEY_BYTES; i++)
		if (key[i] != key[i - 2])
			return false;
	return true;
}

static int
action_check_hash(struct mdv_flow_action_state *state, const struct rte_flow_action_rss *conf)
{
	const enum rte_flow_error_type type = RTE_FLOW_ERROR_TYPE_ACTION_CONF;

	if (conf->key_len != 0 && (conf->key_len != MDV_RSS_KEY_BYTES || conf->key == NULL))
		return mdv_flow_error_set(state->error, conf->key == NULL ? EINVAL : ENOTSUP, type,
			conf,
			"RSS key of %u bytes%s: the device takes %u; give those, or length 0 for the port's key",
			conf->key_len, conf->key == NULL ? " at NULL" : "", MDV_RSS_KEY_BYTES);
	switch (conf->func) {
	case RTE_ETH_HASH_FUNCTION_DEFAULT:
	case RTE_ETH_HASH_FUNCTION_TOEPLITZ:
		return 0;
	case RTE_ETH_HASH_FUNCTION_SYMMETRIC_TOEPLITZ:
		if (conf->key_len == 0 || action_is_symmetric(conf->key))
			return 0;
		return mdv_flow_error_set(state->error, ENOTSUP, type, conf,
			"RSS func symmetric_toeplitz with this key: the device is symmetric by keys that repeat two bytes; give such a one, or none");
	default:
		return mdv_flow_error_set(state->error, ENOTSUP, type, conf,
			"RSS func %d: the device hashes by Toeplitz only; use toeplitz, symmetric_toeplitz or default",
			(int)conf->func);
	}
}

/** @return the key for an action without one. */
static const uint8_t *
action_default_key(const struct mdv_flow_action_env *env, const struct rte_flow_action_rss *conf)
{
	return conf->func == RTE_ETH_HASH_FUNCTION_SYMMETRIC_TOEPLITZ ? symmetric_key
								      : env->rss_key;
}

/** @return the types that a rule may ask for: as ethdev has them in flow_type_rss_offloads, which
 * say of the level what level 0 and 1 say. */
static uint64_t
action_rss_types(const struct mdv_flow_action_env *env, const struct rte_flow_action_rss *conf)
{
	return conf->level == MDV_FLOW_ACTION_LEVEL_INNER
		? env->rss_types
		: env->rss_types | RTE_ETH_RSS_LEVEL_OUTERMOST;
}

static int
action_check_rss(struct mdv_flow_action_state *state, const struct rte_flow_action *action)
{
	const struct rte_flow_action_rss *conf = action->conf;
	const struct mdv_flow_action_env *env = state->env;
	const uint64_t others = conf->types & ~action_rss_types(env, conf);
	struct rte_flow_error *error = state->error;
	const enum rte_flow_error_type type = RTE_FLOW_ERROR_TYPE_ACTION_CONF;

	if (conf->level > MDV_FLOW_ACTION_LEVEL_INNER)
		return mdv_flow_error_set(error, ENOTSUP, type, conf,
			"RSS level %u: the device looks into one tunnel; use level 2 for its inner headers, 0 or 1 for the outer ones",
			conf->level);
	if (others != 0)
		return mdv_flow_error_set(error, ENOTSUP, type, conf,
			"RSS types 0x%" PRIx64
			": the device cannot hash by them; it can by 0x%" PRIx64,
			others, env->rss_types);
	if (conf->queue_num == 0 || conf->queue == NULL)
		return mdv_flow_error_set(
			error, EINVAL, type, conf, "RSS queues: there are none; name at least one");
	if (mdv_rss_table_size(conf->queue_num, env->max_table) == 0)
		return mdv_flow_error_set(error, ENOTSUP, type, conf,
			"RSS queues: %u are more than the device's table holds; name at most %u",
			conf->queue_num, env->max_table);
	return 0;
}

int
mdv_flow_action_apply_rss(struct mdv_flow_action_state *state, const struct rte_flow_action *action)
{
	const struct rte_flow_action_rss *conf = action->conf;
	const uint64_t types = conf->types & ~RTE_ETH_RSS_LEVEL_MASK;
	int ret = action_check_hash(state, conf);

	if (ret == 0)
		ret = action_check_rss(state, action);

	for (uint32_t i = 0; ret == 0 && i < conf->queue_num; i++)
		ret = action_check_queue(state, action, "RSS", conf->queue[i]);
	if (ret == 0 && state->out->fate == MDV_FLOW_ACTION_QUEUES) {
		/* A QUEUE holds the one place for an RSS; it can take a place for copies instead.
		 */
		const uint16_t *queue = state->out->queues;

		state->out->queues = conf->queue;
		state->out->nb_queues = 0;
		ret = action_add_extra(state, action, queue);
	}
	if (ret != 0)
		return ret;
	state->out->fate = MDV_FLOW_ACTION_QUEUES;
	state->out->queues = conf->queue;
	state->out->nb_queues = conf->queue_num;
	/* Types 0 asks for the driver's choice, not for no RSS (rte_flow.rst, Action: RSS). */
	state->out->rss_types = types != 0 ? types : RTE_ETH_RSS_IP & state->env->rss_types;
	state->out->rss_key = conf->key_len != 0 ? conf->key : action_default_key(state->env, conf);
	state->out->inner = conf->level == MDV_FLOW_ACTION_LEVEL_INNER ? conf : NULL;
	return 0;
}

int
mdv_flow_action_apply_drop(
	struct mdv_flow_action_state *state, const struct rte_flow_action *action)
{
	(void)action;
	state->out->fate = MDV_FLOW_ACTION_DROP;
	return 0;
}

int
mdv_flow_action_apply_mark(
	struct mdv_flow_action_state *state, const struct rte_flow_action *action)
{
	const struct rte_flow_action_mark *conf = action->conf;

	if (conf->id > MDV_MARK_ID_MAX)
		return mdv_flow_error_set(state->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION_CONF,
			conf, "MARK id 0x%x: the device has 24 bits for it; use at most 0x%x",
			conf->id, MDV_MARK_ID_MAX);
	state->out->tag = mdv_mark_to_tag(conf->id);
	return 0;
}

int
mdv_flow_action_apply_flag(
	struct mdv_flow_action_state *state, const struct rte_flow_action *action)
{
	(void)action;
	state->out->tag = MDV_MARK_TAG_FLAG;
	return 0;
}

int
mdv_flow_action_apply_count(
	struct mdv_flow_action_state *state, const struct rte_flow_action *action)
{
	(void)action; /* the conf's id is unused: queries go by rule */
	state->out->count = true;
	return 0;
}

int
mdv_flow_action_apply_passthru(
	struct mdv_flow_action_state *state, const struct rte_flow_action *action)
{
	(void)action;
	state->out->passthru = true;
	return 0;
}

int
mdv_flow_action_apply_sample(
	struct mdv_flow_action_state *state, const struct rte_flow_action *action)
{
	const struct rte_flow_action_sample *conf = action->conf;
	const struct rte_flow_action *copy = conf->actions;
	unsigned int nb = 0;
	int ret = 0;

	if (conf->ratio != 1)
		return mdv_flow_error_set(state->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION_CONF,
			conf, "SAMPLE ratio %u: the device copies every packet; use ratio 1",
			conf->ratio);
	state->in_sample = true;
	for (; ret == 0 && copy != NULL && copy->type != RTE_FLOW_ACTION_TYPE_END; copy++) {
		if (copy->type == RTE_FLOW_ACTION_TYPE_VOID)
			continue;
		if (copy->type != RTE_FLOW_ACTION_TYPE_QUEUE &&
			copy->type != RTE_FLOW_ACTION_TYPE_RSS)
			return mdv_flow_error_set(state->error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION,
				copy,
				"SAMPLE with %s in it: a copy goes to QUEUE or RSS and nothing else",
				(unsigned int)copy->type < MDV_FLOW_ACTION_ROWS
					? state->rows[copy->type].name
					: "unknown");
		ret = state->parse_one(state, copy);
		nb++;
	}
	state->in_sample = false;
	if (ret == 0 && nb == 0)
		return mdv_flow_error_set(state->error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_CONF,
			conf, "SAMPLE: it has no actions; give it QUEUE or RSS");
	return ret;
}

/** Apply the action behind the handle. The cause of an error is the INDIRECT: the application does
 * not know the driver's copy. */
int
mdv_flow_action_apply_indirect(
	struct mdv_flow_action_state *state, const struct rte_flow_action *action)
{
	struct rte_flow_action_handle *handle = (void *)(uintptr_t)action->conf;
	const bool updated = state->env->updated == handle;
	int ret = state->parse_one(state, updated ? state->env->update : handle->action);

	if (ret != 0 && state->error != NULL)
		state->error->cause = action;
	if (ret == 0 && handle->action->type == RTE_FLOW_ACTION_TYPE_COUNT)
		state->out->counter = &handle->count;
	return ret;
}
