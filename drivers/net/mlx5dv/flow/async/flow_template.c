/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks templates by trial, copies them, and merges them with rules. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "flow/action/flow_action.h"
#include "flow/match/flow_error.h"
#include "flow/match/flow_item.h"
#include "flow/rule/flow_indirect.h"
#include "flow/rule/flow_install.h"
#include "flow/rule/flow_plan.h"
#include "flow/rule/flow_state.h"
#include "flow_template.h"
#include "state/port.h"

/** Fields of an action's configuration that a template can make constant. */
struct template_field {
	enum rte_flow_action_type type;
	uint8_t bit; /* in rte_flow_actions_template.fixed */
	uint8_t at, bytes;
	uint8_t also_at,
		also_bytes; /* of a second field that goes with it: an array beside its length */
};

/* clang-format off */
#define AT(name, member) \
	offsetof(struct rte_flow_action_##name, member), \
	sizeof(((struct rte_flow_action_##name *)0)->member)

#define FIELD(name, conf, member) { RTE_FLOW_ACTION_TYPE_##name, 1, AT(conf, member) }
/** A big-endian number without a struct around it. */
#define NUMBER(name) { RTE_FLOW_ACTION_TYPE_##name, 1, .bytes = sizeof(rte_be32_t) }
#define WHOLE(name) { .type = RTE_FLOW_ACTION_TYPE_##name }

static const struct template_field template_fields[] = {
	FIELD(QUEUE, queue, index),
	FIELD(MARK, mark, id),
	FIELD(COUNT, count, id),
	{ RTE_FLOW_ACTION_TYPE_RSS, 1, AT(rss, func) },
	{ RTE_FLOW_ACTION_TYPE_RSS, 2, AT(rss, level) },
	{ RTE_FLOW_ACTION_TYPE_RSS, 4, AT(rss, types) },
	{ RTE_FLOW_ACTION_TYPE_RSS, 8, AT(rss, key_len), AT(rss, key) },
	{ RTE_FLOW_ACTION_TYPE_RSS, 16, AT(rss, queue_num), AT(rss, queue) },
	FIELD(SET_MAC_SRC, set_mac, mac_addr),
	FIELD(SET_MAC_DST, set_mac, mac_addr),
	FIELD(OF_SET_VLAN_VID, of_set_vlan_vid, vlan_vid),
	FIELD(SET_IPV4_SRC, set_ipv4, ipv4_addr),
	FIELD(SET_IPV4_DST, set_ipv4, ipv4_addr),
	FIELD(SET_IPV4_DSCP, set_dscp, dscp),
	FIELD(SET_IPV6_SRC, set_ipv6, ipv6_addr),
	FIELD(SET_IPV6_DST, set_ipv6, ipv6_addr),
	FIELD(SET_IPV6_DSCP, set_dscp, dscp),
	FIELD(SET_TTL, set_ttl, ttl_value),
	FIELD(SET_TP_SRC, set_tp, port),
	FIELD(SET_TP_DST, set_tp, port),
	NUMBER(INC_TCP_SEQ),
	NUMBER(DEC_TCP_SEQ),
	NUMBER(INC_TCP_ACK),
	NUMBER(DEC_TCP_ACK),
	FIELD(RAW_DECAP, raw_decap, size),
	/* Of these, rte_flow_conv() does not copy all, so rules bring them whole. */
	WHOLE(SAMPLE),
	WHOLE(RAW_ENCAP),
	WHOLE(VXLAN_ENCAP),
	WHOLE(NVGRE_ENCAP),
	WHOLE(MODIFY_FIELD),
};
/* clang-format on */

static bool
template_any(const void *conf, uint8_t at, uint8_t bytes)
{
	const uint8_t *field = (const uint8_t *)conf + at;

	while (bytes-- != 0)
		if (field[bytes] != 0)
			return true;
	return false;
}

/** @return the fields of an action that @p mask makes constant. */
static uint8_t
template_fixed(enum rte_flow_action_type type, const void *mask)
{
	uint8_t fixed = 0;

	/* The configuration is the handle itself, which may not be read. */
	if (type == RTE_FLOW_ACTION_TYPE_INDIRECT)
		return mask != NULL ? 1 : 0;
	for (unsigned int i = 0; mask != NULL && i < RTE_DIM(template_fields); i++) {
		const struct template_field *row = &template_fields[i];

		if (row->type == type &&
			(template_any(mask, row->at, row->bytes) ||
				template_any(mask, row->also_at, row->also_bytes)))
			fixed |= row->bit;
	}
	return fixed;
}

/** Copy these fields from one configuration to another. */
static void
template_take(enum rte_flow_action_type type, uint8_t fields, const void *from, void *to)
{
	for (unsigned int i = 0; i < RTE_DIM(template_fields); i++) {
		const struct template_field *row = &template_fields[i];

		if (row->type != type || (row->bit & fields) == 0)
			continue;
		memcpy((uint8_t *)to + row->at, (const uint8_t *)from + row->at, row->bytes);
		memcpy((uint8_t *)to + row->also_at, (const uint8_t *)from + row->also_at,
			row->also_bytes);
	}
}

/** @return a row of the action, or NULL: it has no configuration */
static const struct template_field *
template_find_field(enum rte_flow_action_type type)
{
	for (unsigned int i = 0; i < RTE_DIM(template_fields); i++)
		if (template_fields[i].type == type)
			return &template_fields[i];
	return NULL;
}

static int
template_check_direction(struct rte_flow_attr attr, const void *given, struct rte_flow_error *error)
{
	int ret = mdv_flow_plan_check_attr(&attr, MDV_FLOW_INGRESS_ONLY, error);

	if (ret != 0 && error != NULL)
		error->cause = given;
	return ret;
}

/** @return the number, END included, or -ENOTSUP */
static int
template_count_items(const struct rte_flow_item pattern[], struct rte_flow_error *error)
{
	for (unsigned int nb = 0; nb < MDV_FLOW_TEMPLATE_MAX; nb++)
		if (pattern[nb].type == RTE_FLOW_ITEM_TYPE_END)
			return nb + 1;
	return mdv_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM_NUM, pattern,
		"the template has too many items; use at most %u", MDV_FLOW_TEMPLATE_MAX - 1);
}

static int
template_count_actions(const struct rte_flow_action actions[], struct rte_flow_error *error)
{
	for (unsigned int nb = 0; nb < MDV_FLOW_TEMPLATE_MAX; nb++)
		if (actions[nb].type == RTE_FLOW_ACTION_TYPE_END)
			return nb + 1;
	return mdv_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION_NUM, actions,
		"the template has too many actions; use at most %u", MDV_FLOW_TEMPLATE_MAX - 1);
}

/** Let the cause point to the application's item or action, in place of the merged rule's. */
void
mdv_flow_template_blame(const struct mdv_flow_template_merged *merged,
	const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
	struct rte_flow_error *error)
{
	const void *cause = error != NULL ? error->cause : NULL;

	for (unsigned int i = 0; cause != NULL && pattern != NULL; i++) {
		if (cause == &merged->pattern[i] ||
			(cause == merged->pattern[i].mask && cause != pattern[i].mask))
			error->cause = &pattern[i];
		if (pattern[i].type == RTE_FLOW_ITEM_TYPE_END)
			break;
	}
	for (unsigned int i = 0; cause != NULL && actions != NULL; i++) {
		if (cause == &merged->actions[i] ||
			(cause == merged->actions[i].conf && cause != actions[i].conf))
			error->cause = &actions[i];
		if (actions[i].type == RTE_FLOW_ACTION_TYPE_END)
			break;
	}
}

void
mdv_flow_template_blame_copy(const struct rte_flow_conv_rule *copy,
	const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
	struct rte_flow_error *error)
{
	const void *cause = error != NULL ? error->cause : NULL;
	const struct rte_flow_item *item;
	const struct rte_flow_action *action;

	if (cause == NULL || copy == NULL)
		return;
	error->cause = NULL;
	item = copy->pattern_ro;
	action = copy->actions_ro;
	for (; item->type != RTE_FLOW_ITEM_TYPE_END; item++, pattern++)
		if (cause == item || cause == item->spec || cause == item->last ||
			cause == item->mask)
			error->cause = pattern;
	/* The copy has the actions of a SAMPLE in its place. */
	if (!mdv_flow_action_is_flat(actions))
		return;
	for (; action->type != RTE_FLOW_ACTION_TYPE_END; action++, actions++)
		if (cause == action || cause == action->conf)
			error->cause = actions;
}

/**
 * Check a pattern by trial. The device can only check items with values, and a template has none
 * yet: its masks serve as values. If these contradict each other (a masked Ethernet type and an
 * IPV4 item), the second trial checks the order of the items without masks; keys of GRE need
 * theirs.
 */
static int
template_try_pattern(const struct mdv_port *port, const struct rte_flow_item pattern[],
	unsigned int nb, bool relaxed, struct rte_flow_error *error)
{
	struct mdv_flow_template_merged trial;
	struct mdv_flow_build build;
	struct rte_flow_error of_values = { .type = RTE_FLOW_ERROR_TYPE_NONE };
	int ret;

	memset(&trial, 0, sizeof(trial));
	for (unsigned int i = 0; i < nb; i++) {
		trial.pattern[i].type = relaxed && pattern[i].mask == NULL && i + 1 < nb
			? RTE_FLOW_ITEM_TYPE_VOID
			: pattern[i].type;
		trial.pattern[i].spec = pattern[i].mask;
		trial.pattern[i].mask = pattern[i].mask;
	}
	ret = mdv_flow_item_translate(trial.pattern, port->flow->features, &build, &of_values);
	if (ret == 0)
		return 0;
	if (of_values.type != RTE_FLOW_ERROR_TYPE_ITEM) {
		mdv_flow_template_blame(&trial, pattern, NULL, &of_values);
		if (error != NULL)
			*error = of_values;
		return ret;
	}
	for (unsigned int i = 0; i < nb; i++) {
		const enum rte_flow_item_type type = trial.pattern[i].type;
		const bool key =
			type == RTE_FLOW_ITEM_TYPE_GRE_KEY || type == RTE_FLOW_ITEM_TYPE_GRE_OPTION;
		const void *bits = key ? pattern[i].mask : NULL;

		trial.pattern[i].spec = bits;
		trial.pattern[i].mask = bits;
	}
	ret = mdv_flow_item_translate(trial.pattern, port->flow->features, &build, error);
	mdv_flow_template_blame(&trial, pattern, NULL, error);
	return ret;
}

/** Copy @p list, which is made of @p given, into one allocation. @return NULL after filling @p
 * error */
static void *
template_copy(
	enum rte_flow_conv_op op, const void *list, const void *given, struct rte_flow_error *error)
{
	int size = rte_flow_conv(op, NULL, 0, list, error);
	void *copy;

	if (size < 0) {
		if (error != NULL)
			error->cause = given;
		return NULL;
	}
	copy = calloc(1, size);
	if (copy == NULL)
		mdv_flow_error_set(error, ENOMEM, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
			"no memory for the template");
	else
		rte_flow_conv(op, copy, size, list, error);
	return copy;
}

struct rte_flow_pattern_template *
mdv_flow_template_make_pattern(const struct mdv_port *port,
	const struct rte_flow_pattern_template_attr *attr, const struct rte_flow_item pattern[],
	struct rte_flow_error *error)
{
	const struct rte_flow_attr directions = {
		.ingress = attr->ingress, .egress = attr->egress, .transfer = attr->transfer
	};
	struct rte_flow_item masks[MDV_FLOW_TEMPLATE_MAX] = { 0 };
	struct rte_flow_pattern_template *template;
	int nb;

	if (template_check_direction(directions, attr, error) != 0)
		return NULL;
	nb = template_count_items(pattern, error);
	if (nb < 0 || template_try_pattern(port, pattern, nb, attr->relaxed_matching, error) != 0)
		return NULL;
	for (int i = 0; i < nb; i++) {
		masks[i].type = pattern[i].type;
		masks[i].mask = pattern[i].mask;
	}
	template = calloc(1, sizeof(*template));
	if (template == NULL) {
		mdv_flow_error_set(error, ENOMEM, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
			"no memory for the template");
		return NULL;
	}
	template->nb = nb;
	template->relaxed = attr->relaxed_matching;
	template->items = template_copy(RTE_FLOW_CONV_OP_PATTERN, masks, pattern, error);
	if (template->items == NULL) {
		free(template);
		return NULL;
	}
	return template;
}

/** An actions template with invented values in place of a rule's, each queue another. */
struct template_trial {
	struct mdv_flow_template_merged merged;
	struct template_trial_sample {
		struct rte_flow_action_queue queue;
		struct rte_flow_action copy[2]; /* QUEUE, END */
		struct rte_flow_action_sample conf;
	} samples[MDV_FLOW_TEMPLATE_MAX];
	uint16_t queue;
};

static void
template_invent(struct template_trial *trial, unsigned int i)
{
	struct rte_flow_action *action = &trial->merged.actions[i];
	union mdv_flow_template_conf *conf = &trial->merged.confs[i];
	struct template_trial_sample *sample = &trial->samples[i];

	trial->queue++;
	if (template_find_field(action->type) != NULL)
		action->conf = conf;
	if (action->type == RTE_FLOW_ACTION_TYPE_QUEUE)
		conf->queue.index = trial->queue;
	if (action->type == RTE_FLOW_ACTION_TYPE_RSS) {
		conf->rss.queue_num = 1;
		conf->rss.queue = &trial->queue;
	}
	if (action->type == RTE_FLOW_ACTION_TYPE_SAMPLE) {
		sample->queue.index = trial->queue;
		sample->copy[0].type = RTE_FLOW_ACTION_TYPE_QUEUE;
		sample->copy[0].conf = &sample->queue;
		sample->conf.ratio = 1;
		sample->conf.actions = sample->copy;
		action->conf = &sample->conf;
	}
}

static void
template_blame_trial(const struct template_trial *trial, const struct rte_flow_action actions[],
	struct rte_flow_error *error)
{
	mdv_flow_template_blame(&trial->merged, NULL, actions, error);
	for (unsigned int i = 0; error != NULL && i < MDV_FLOW_TEMPLATE_MAX; i++)
		if (error->cause == trial->samples[i].copy)
			error->cause = &actions[i];
}

/** @return whether the mask is of the action. That of an INDIRECT has the type of what is shared
 * (rte_flow.h, rte_flow_actions_template_create()), or is INDIRECT as well. */
static bool
template_is_mask_of(const struct rte_flow_action *mask, const struct rte_flow_action *action)
{
	return mask->type == action->type ||
		(action->type == RTE_FLOW_ACTION_TYPE_INDIRECT &&
			mdv_flow_indirect_is_kind(mask->type));
}

/** @return the type of an action in a trial: an INDIRECT without a handle is of its mask's. */
static enum rte_flow_action_type
template_trial_type(const struct rte_flow_action actions[], const struct rte_flow_action masks[],
	unsigned int i)
{
	return actions[i].type == RTE_FLOW_ACTION_TYPE_INDIRECT && actions[i].conf == NULL &&
			masks != NULL
		? masks[i].type
		: actions[i].type;
}

/** Check actions by trial, on a port with any number of queues: the queues of later rules are
 * unknown. */
static int
template_try_actions(struct mdv_port *port, const struct rte_flow_actions_template *template,
	const struct rte_flow_action actions[], const struct rte_flow_action masks[],
	struct rte_flow_error *error)
{
	struct mdv_flow_action_env env = mdv_flow_install_env(port).actions;
	struct mdv_flow_template_merged *merged;
	struct mdv_flow_actions parsed;
	struct template_trial trial;
	int ret;

	env.nb_queues = UINT16_MAX;
	memset(&trial, 0, sizeof(trial));
	trial.queue =
		UINT16_MAX / 2; /* unlikely to be a queue that the template has made constant */
	merged = &trial.merged;
	for (unsigned int i = 0; i < template->nb; i++) {
		merged->actions[i].type = template_trial_type(actions, masks, i);
		template_invent(&trial, i);
		if (merged->actions[i].type == RTE_FLOW_ACTION_TYPE_INDIRECT)
			merged->actions[i].conf = actions[i].conf;
		else if (template->fixed[i] != 0)
			template_take(actions[i].type, template->fixed[i], actions[i].conf,
				&merged->confs[i]);
	}
	pthread_mutex_lock(&port->flow->lock);
	ret = mdv_flow_indirect_check(port, merged->actions, error);
	if (ret == 0)
		ret = mdv_flow_action_parse(&env, merged->actions, &parsed, error);
	pthread_mutex_unlock(&port->flow->lock);
	if (ret != 0)
		template_blame_trial(&trial, actions, error);
	return ret;
}

/** Note in the template which fields the masks make constant. */
static int
template_read_masks(struct rte_flow_actions_template *template,
	const struct rte_flow_action actions[], const struct rte_flow_action masks[],
	struct rte_flow_error *error)
{
	const struct template_field *row;

	for (unsigned int i = 0; masks != NULL && i + 1 < template->nb; i++) {
		if (!template_is_mask_of(&masks[i], &actions[i]))
			return mdv_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION,
				&masks[i],
				"mask %u is of another action than the template; give them in the same order",
				i);
		if (masks[i].conf == NULL)
			continue;
		row = template_find_field(actions[i].type);
		if (row != NULL && row->bit == 0)
			return mdv_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION_CONF,
				&masks[i],
				"%s: a template cannot hold what it does; leave its mask without a configuration and give that with each rule",
				mdv_flow_action_name(actions[i].type));
		template->fixed[i] = template_fixed(actions[i].type, masks[i].conf);
		if (template->fixed[i] != 0 && actions[i].conf == NULL)
			return mdv_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_CONF,
				&actions[i],
				"the mask makes action %u constant, which has no configuration; give it one",
				i);
	}
	return 0;
}

/** Copy the constant fields only: the rest of a configuration may be invalid. */
static int
template_keep_actions(struct rte_flow_actions_template *template,
	const struct rte_flow_action actions[], struct rte_flow_error *error)
{
	struct mdv_flow_template_merged kept;

	memset(&kept, 0, sizeof(kept));
	for (unsigned int i = 0; i < template->nb; i++) {
		kept.actions[i].type = actions[i].type;
		if (template->fixed[i] == 0)
			continue;
		if (actions[i].type == RTE_FLOW_ACTION_TYPE_INDIRECT) {
			kept.actions[i].conf = actions[i].conf;
			continue;
		}
		kept.actions[i].conf = &kept.confs[i];
		template_take(actions[i].type, template->fixed[i], actions[i].conf, &kept.confs[i]);
	}
	template->actions = template_copy(RTE_FLOW_CONV_OP_ACTIONS, kept.actions, actions, error);
	return template->actions != NULL ? 0 : -rte_errno;
}

struct rte_flow_actions_template *
mdv_flow_template_make_actions(struct mdv_port *port,
	const struct rte_flow_actions_template_attr *attr, const struct rte_flow_action actions[],
	const struct rte_flow_action masks[], struct rte_flow_error *error)
{
	const struct rte_flow_attr directions = {
		.ingress = attr->ingress, .egress = attr->egress, .transfer = attr->transfer
	};
	struct rte_flow_actions_template *template;
	int nb;

	if (template_check_direction(directions, attr, error) != 0)
		return NULL;
	nb = template_count_actions(actions, error);
	if (nb < 0)
		return NULL;
	template = calloc(1, sizeof(*template));
	if (template == NULL) {
		mdv_flow_error_set(error, ENOMEM, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
			"no memory for the template");
		return NULL;
	}
	template->nb = nb;
	if (template_read_masks(template, actions, masks, error) != 0 ||
		template_try_actions(port, template, actions, masks, error) != 0 ||
		template_keep_actions(template, actions, error) != 0) {
		free(template);
		return NULL;
	}
	return template;
}

void
mdv_flow_template_free_pattern(struct rte_flow_pattern_template *template)
{
	free(template->items);
	free(template);
}

void
mdv_flow_template_free_actions(struct rte_flow_actions_template *template)
{
	free(template->actions);
	free(template);
}

static int
template_merge_pattern(const struct rte_flow_pattern_template *template,
	const struct rte_flow_item pattern[], struct rte_flow_item merged[],
	struct rte_flow_error *error)
{
	for (unsigned int i = 0; i < template->nb; i++) {
		const struct rte_flow_item *common = &template->items[i];

		merged[i] = (struct rte_flow_item){ .type = common->type };
		if (pattern[i].type != common->type)
			return mdv_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM,
				&pattern[i],
				"item %u is not the pattern template's; give its items in its order",
				i);
		if (common->mask != NULL) {
			if (pattern[i].spec == NULL)
				return mdv_flow_error_set(error, EINVAL,
					RTE_FLOW_ERROR_TYPE_ITEM_SPEC, &pattern[i],
					"item %u: the template has a mask for it; give it a spec",
					i);
			merged[i].spec = pattern[i].spec;
			merged[i].mask = common->mask;
		} else if (template->relaxed && common->type != RTE_FLOW_ITEM_TYPE_END) {
			merged[i].type = RTE_FLOW_ITEM_TYPE_VOID;
		}
	}
	return 0;
}

static int
template_merge_actions(const struct rte_flow_actions_template *template,
	const struct rte_flow_action actions[], struct mdv_flow_template_merged *merged,
	struct rte_flow_error *error)
{
	for (unsigned int i = 0; i < template->nb; i++) {
		const struct rte_flow_action *common = &template->actions[i];
		union mdv_flow_template_conf *conf = &merged->confs[i];

		if (actions[i].type != common->type)
			return mdv_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION,
				&actions[i],
				"action %u is not the actions template's; give its actions in its order",
				i);
		merged->actions[i] = actions[i];
		if (template->fixed[i] == 0)
			continue;
		if (common->type == RTE_FLOW_ACTION_TYPE_INDIRECT) {
			merged->actions[i].conf = common->conf;
			continue;
		}
		memset(conf, 0, sizeof(*conf));
		if (actions[i].conf != NULL)
			template_take(common->type, ~template->fixed[i], actions[i].conf, conf);
		template_take(common->type, template->fixed[i], common->conf, conf);
		merged->actions[i].conf = conf;
	}
	return 0;
}

int
mdv_flow_template_merge(const struct rte_flow_pattern_template *pattern_template,
	const struct rte_flow_item pattern[],
	const struct rte_flow_actions_template *actions_template,
	const struct rte_flow_action actions[], struct mdv_flow_template_merged *merged,
	struct rte_flow_error *error)
{
	int ret = template_merge_pattern(pattern_template, pattern, merged->pattern, error);

	return ret != 0 ? ret : template_merge_actions(actions_template, actions, merged, error);
}
