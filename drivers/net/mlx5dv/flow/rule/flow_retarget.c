/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts twins beside rules, which then replace these. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "flow/match/flow_error.h"
#include "flow_indirect.h"
#include "flow_install.h"
#include "flow_retarget.h"
#include "flow_state.h"
#include "state/port.h"

struct retarget_pair {
	struct rte_flow *rule, *twin;
};

struct retarget {
	struct mdv_port *port;
	unsigned int nb;
	struct retarget_pair *pairs;
};

static bool
retarget_names(const struct rte_flow *rule, const struct rte_flow_action_handle *handle)
{
	const struct rte_flow_action *action;

	if (!rule->indirect)
		return false;
	for (action = rule->rule->actions_ro; action->type != RTE_FLOW_ACTION_TYPE_END; action++)
		if (action->type == RTE_FLOW_ACTION_TYPE_INDIRECT && action->conf == handle)
			return true;
	return false;
}

/** Collect the rules that name @p handle. Rules that wait in flow queues are translated later. */
static int
retarget_collect(struct retarget *retarget, const struct rte_flow_action_handle *handle,
	struct rte_flow_error *error)
{
	const struct mdv_flow_list *rules = &retarget->port->flow->rules;
	const uint32_t most = __atomic_load_n(&handle->nb_rules, __ATOMIC_RELAXED);
	struct rte_flow *rule;

	retarget->nb = 0;
	retarget->pairs = calloc(most + 1, sizeof(*retarget->pairs));
	if (retarget->pairs == NULL)
		return mdv_flow_error_set(error, ENOMEM, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
			"no memory for the indirect action");
	TAILQ_FOREACH (rule, rules, next)
		if (retarget_names(rule, handle))
			retarget->pairs[retarget->nb++].rule = rule;
	return 0;
}

/**
 * Install the twin of a copying rule in the table of the rule. The packet goes on to all later
 * tables, so a twin in one of those would copy it once more; but in one table a packet hits one
 * entry. The twin has another mask: each part becomes two halves that together match the same. If
 * an earlier update has left the rule in halves, the twin is whole. It has no level of its own.
 */
static int
retarget_enter_split(struct mdv_port *port, struct rte_flow *twin, const struct rte_flow *rule)
{
	struct mdv_flow_plan plan;
	int ret = mdv_flow_install_plan(port, twin, &plan, NULL);

	if (ret == 0 && !rule->is_split)
		ret = mdv_flow_plan_split(&plan);
	if (ret != 0)
		return ret;
	mdv_flow_plan_set_level(&plan, mdv_flow_level_of(&rule->level));
	ret = mdv_flow_install_add(port, twin, &plan, NULL);
	/* A twin that is refused here goes whole into another table. */
	twin->is_split = ret == 0 && !rule->is_split;
	return ret;
}

/** @return whether the plan has the parts that the rule's shape stands for: others may need their
 * slots in an order that the table of the rule does not have, see levels.md. */
static bool
retarget_same_parts(const struct mdv_flow_plan *plan, const struct mdv_flow_shape *shape)
{
	const struct mdv_flow_level_want *want = &plan->want;

	return want->nb_masks == shape->nb_masks &&
		memcmp(want->masks, shape->masks, want->nb_masks * sizeof(want->masks[0])) == 0;
}

static int
retarget_enter(struct mdv_port *port, struct rte_flow *twin, const struct rte_flow *rule,
	struct rte_flow_error *error)
{
	const struct mdv_flow_shape *shape = rule->level.shape;
	struct mdv_flow_plan plan;
	int ret = mdv_flow_install_plan(port, twin, &plan, error);

	if (ret != 0)
		return ret;
	if (shape->copies && !shape->multi_dest && shape->turn == 0 && rule->present.nb != 0 &&
		retarget_same_parts(&plan, shape) && retarget_enter_split(port, twin, rule) == 0)
		return 0;
	plan.want.beside = &rule->level;
	ret = mdv_flow_install_level(port, twin, &plan, error);
	if (ret != 0 || rule->present.nb == 0)
		return ret;
	ret = mdv_flow_install_add(port, twin, &plan, error);
	if (ret != 0)
		mdv_flow_level_del(&port->flow->levels, &twin->level);
	return ret;
}

/** @return the size of a twin, which shares the rule's copy and has changes of its own. */
static size_t
retarget_bytes(const struct rte_flow *rule)
{
	return rule->modified ? sizeof(struct mdv_flow_modifying) : sizeof(*rule);
}

static int
retarget_twin(struct mdv_port *port, struct retarget_pair *pair, struct rte_flow_error *error)
{
	const struct rte_flow *rule = pair->rule;
	struct rte_flow *twin = mdv_slab_get(&port->flow->slab, retarget_bytes(rule));
	int ret;

	if (twin == NULL)
		return mdv_flow_error_set(error, ENOMEM, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
			"no memory for the indirect action");
	memset(twin, 0, retarget_bytes(rule));
	twin->rule = rule->rule;
	twin->place = MDV_FLOW_AHEAD;
	twin->counted = rule->counted;
	twin->counter = rule->counter;
	twin->modified = rule->modified;
	if (rule->modified)
		mdv_flow_install_modified(twin)->modify = mdv_flow_install_modified(rule)->modify;
	ret = retarget_enter(port, twin, rule, error);
	if (ret != 0)
		mdv_slab_put(&port->flow->slab, twin, retarget_bytes(rule));
	else
		pair->twin = twin;
	return ret;
}

/** Remove the twin from the device and from the levels, and free it. */
static void
retarget_drop_twin(struct mdv_port *port, struct retarget_pair *pair)
{
	mdv_flow_install_del(port, pair->twin);
	mdv_flow_level_del(&port->flow->levels, &pair->twin->level);
	mdv_slab_put(&port->flow->slab, pair->twin, retarget_bytes(pair->rule));
	pair->twin = NULL;
}

/** The twin's verbs rules become the rule's own, whose handle the application keeps. */
static void
retarget_take_over(struct mdv_port *port, struct retarget_pair *pair)
{
	struct rte_flow *rule = pair->rule, *twin = pair->twin;

	mdv_flow_install_del(port, rule);
	if (twin->level.shape != NULL) {
		mdv_flow_level_del(&port->flow->levels, &rule->level);
		mdv_flow_level_rename(&twin->level, &rule->level);
	}
	rule->present = twin->present;
	rule->is_split = twin->is_split;
	if (rule->modified)
		mdv_flow_install_modified(rule)->object = mdv_flow_install_modified(twin)->object;
	mdv_slab_put(&port->flow->slab, twin, retarget_bytes(rule));
	pair->twin = NULL;
}

/**
 * Install all twins before the first rule goes.
 * @return 0, or a negative errno: nothing has changed
 */
static int
retarget_replace(struct retarget *retarget, struct rte_flow_error *error)
{
	unsigned int nb;
	int ret = 0;

	for (nb = 0; ret == 0 && nb < retarget->nb; nb++)
		ret = retarget_twin(retarget->port, &retarget->pairs[nb], error);
	if (ret == 0) {
		for (unsigned int i = 0; i < retarget->nb; i++)
			retarget_take_over(retarget->port, &retarget->pairs[i]);
		return 0;
	}
	for (nb--; nb-- != 0;)
		retarget_drop_twin(retarget->port, &retarget->pairs[nb]);
	return ret;
}

/** Move rules back to their old places, as far as possible. A rule that cannot go back takes a
 * second level and works. */
static void
retarget_go_home(struct retarget *retarget)
{
	unsigned int nb = 0;
	int ret = 0;

	for (unsigned int i = 0; i < retarget->nb; i++) {
		struct retarget_pair *pair = &retarget->pairs[i];

		if (pair->rule->is_split)
			ret |= mdv_flow_install_again(retarget->port, pair->rule);
		else if (pair->rule->level.shape->turn != 0)
			retarget->pairs[nb++] = *pair;
	}
	retarget->nb = nb;
	if ((retarget_replace(retarget, NULL) | ret) != 0)
		MDV_LOG(DEBUG, "port %u: updated rules stay in a level of their own",
			retarget->port->dev->data->port_id);
}

int
mdv_flow_retarget(struct mdv_port *port, struct rte_flow_action_handle *handle,
	struct rte_flow_action *action, struct rte_flow_error *error)
{
	struct mdv_flow_indirect *indirect = &port->flow->indirect;
	struct retarget retarget = { .port = port };
	int ret = retarget_collect(&retarget, handle, error);

	if (ret != 0)
		return ret;
	indirect->updated = handle;
	indirect->update = action;
	ret = retarget_replace(&retarget, error);
	indirect->updated = NULL;
	indirect->update = NULL;
	if (ret == 0) {
		free(handle->action);
		handle->action = action;
		retarget_go_home(&retarget);
	}
	free(retarget.pairs);
	return ret;
}
