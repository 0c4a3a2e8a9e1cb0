/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules are made, enter the port, leave it, and are freed. */

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_errno.h>
#include <rte_flow_driver.h>
#include <rte_prefetch.h>

#include "flow/action/flow_copy.h"
#include "flow/match/flow_error.h"
#include "flow_indirect.h"
#include "flow_rule.h"
#include "flow_state.h"
#include "flow_trial.h"
#include "state/port.h"

static struct rte_flow *
rule_no_memory(struct rte_flow_error *error)
{
	mdv_flow_error_set(
		error, ENOMEM, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL, "no memory for the rule");
	return NULL;
}

int
mdv_flow_rule_translate_modify(const struct mdv_flow_plan *plan, struct mdv_flow_modify *modify,
	struct rte_flow_error *error)
{
	if (plan->actions.modify_list == NULL)
		return 0;
	/* The last part is the pattern itself. */
	return mdv_flow_modify_translate(plan->actions.modify_list,
		plan->parts[plan->nb_parts - 1].build.layers, plan->actions.egress, modify, error);
}

/**
 * Get memory for a rule and what is behind it.
 * @param bytes of its copy, or of its values
 * @param behind set to the place for these
 * @return NULL: no memory
 */
static struct rte_flow *
rule_get(struct mdv_port *port, const struct mdv_flow_plan *plan, size_t bytes, uint8_t **behind)
{
	const bool modified = plan->actions.modify_list != NULL;
	const bool counts = plan->actions.count && plan->actions.counter == NULL;
	const size_t before =
		(modified ? sizeof(struct mdv_flow_modifying) : sizeof(struct rte_flow)) +
		(counts ? sizeof(struct mdv_flow_count) : 0);
	const size_t lines = (before + bytes + RTE_CACHE_LINE_SIZE - 1) / RTE_CACHE_LINE_SIZE;
	struct rte_flow *flow = NULL;

	if (lines <= UINT16_MAX)
		flow = mdv_slab_get(&port->flow->slab, lines * RTE_CACHE_LINE_SIZE);
	if (flow == NULL)
		return NULL;
	/* mdv_flow_level_add() writes the words that it reads. */
	memset(flow, 0, offsetof(struct rte_flow, level.match.few));
	flow->lines = lines;
	flow->modified = modified;
	flow->counted = plan->actions.count;
	flow->counter = plan->actions.counter;
	flow->egress = plan->actions.egress;
	if (counts)
		flow->counter =
			memset(mdv_flow_install_behind(flow), 0, sizeof(struct mdv_flow_count));
	*behind = (uint8_t *)flow + before;
	return flow;
}

/** Allocate the rule and the copy of what was given as one piece of memory.
 * @param form NULL, or the rule's, which gets the copy's image */
static struct rte_flow *
rule_alloc(struct mdv_port *port, const struct rte_flow_conv_rule *given,
	const struct mdv_flow_plan *plan, const struct mdv_flow_modify *modify,
	struct mdv_flow_form *form, struct rte_flow_error *error)
{
	struct mdv_flow_copy copy;
	struct rte_flow *flow;
	uint8_t *behind;

	if (mdv_flow_copy_measure(&copy, given, &plan->parts[0].build, error) != 0)
		return NULL;
	flow = rule_get(port, plan, copy.bytes, &behind);
	if (flow == NULL)
		return rule_no_memory(error);
	if (flow->modified)
		mdv_flow_install_modified(flow)->modify = *modify;
	flow->rule = (void *)behind;
	mdv_flow_copy_write(&copy, flow->rule);
	if (form != NULL) {
		mdv_flow_form_fini(form);
		form->image = mdv_flow_copy_learn(&copy, flow->rule);
	}
	return flow;
}

/** The same for a rule like that of the image. */
static struct rte_flow *
rule_alloc_like(struct mdv_port *port, const struct rte_flow_conv_rule *given,
	const struct mdv_flow_plan *plan, struct mdv_flow_copy_image *image,
	struct rte_flow_error *error)
{
	uint8_t *behind;
	struct rte_flow *flow = rule_get(port, plan, image->value_bytes, &behind);

	if (flow == NULL)
		return rule_no_memory(error);
	flow->alike = true;
	flow->image = image;
	mdv_flow_copy_image_get(image);
	mdv_flow_copy_keep(image, given, behind);
	return flow;
}

/** The same for a rule with SAMPLE. */
static struct rte_flow *
rule_alloc_flat(struct mdv_port *port, const struct rte_flow_conv_rule *given,
	const struct mdv_flow_plan *plan, const struct mdv_flow_modify *modify,
	struct rte_flow_error *error)
{
	struct rte_flow_action *flat = mdv_flow_action_flatten(given->actions_ro);
	const struct rte_flow_conv_rule rule = {
		.attr_ro = given->attr_ro,
		.pattern_ro = given->pattern_ro,
		.actions_ro = flat,
	};
	struct rte_flow *flow;

	if (flat == NULL)
		return rule_no_memory(error);
	flow = rule_alloc(port, &rule, plan, modify, NULL, error);
	free(flat);
	return flow;
}

static struct rte_flow *
rule_make(struct mdv_port *port, const struct mdv_flow_plan_rule *given, struct mdv_flow_form *form,
	struct mdv_flow_plan **room, struct rte_flow_error *error)
{
	const struct mdv_flow_plan_env env = mdv_flow_install_env(port);
	const struct rte_flow_conv_rule rule = {
		.attr_ro = given->attr,
		.pattern_ro = given->pattern,
		.actions_ro = given->actions,
	};
	struct mdv_flow_plan *plan = mdv_flow_form_plan(form, &env, given, *room, error);
	struct mdv_flow_modify modify;

	/* The plan checks what is then copied without checks. */
	if (plan == NULL || mdv_flow_rule_translate_modify(plan, &modify, error) != 0)
		return NULL;
	*room = plan;
	mdv_flow_level_prefetch(
		mdv_flow_install_levels(port, plan->actions.egress), plan->want.hash);
	if (plan == &form->plan && form->is_like)
		return rule_alloc_like(port, &rule, plan, form->image, error);
	if (mdv_flow_action_is_flat(given->actions))
		return rule_alloc(
			port, &rule, plan, &modify, plan == &form->plan ? form : NULL, error);
	return rule_alloc_flat(port, &rule, plan, &modify, error);
}

/** Hold the handles before they are read and until the rule is freed. */
static struct rte_flow *
rule_make_indirect(struct mdv_port *port, const struct mdv_flow_plan_rule *given,
	struct mdv_flow_form *form, struct mdv_flow_plan **plan, struct rte_flow_error *error)
{
	struct rte_flow *flow;

	if (mdv_flow_indirect_take(port, given->actions, error) != 0)
		return NULL;
	flow = rule_make(port, given, form, plan, error);
	if (flow == NULL)
		mdv_flow_indirect_put(given->actions);
	else
		flow->indirect = true;
	return flow;
}

struct rte_flow *
mdv_flow_rule_make(struct mdv_port *port, const struct mdv_flow_plan_rule *given,
	struct mdv_flow_form *form, struct mdv_flow_plan **plan, struct rte_flow_error *error)
{
	return mdv_flow_indirect_is_in(given->actions)
		? rule_make_indirect(port, given, form, plan, error)
		: rule_make(port, given, form, plan, error);
}

void
mdv_flow_rule_free(struct mdv_port *port, struct rte_flow *flow)
{
	if (flow->table != NULL)
		port->flow->tables.put(flow->table);
	if (flow->indirect)
		mdv_flow_indirect_put(flow->rule->actions_ro);
	if (flow->alike)
		mdv_flow_copy_image_put(flow->image);
	mdv_slab_put(&port->flow->slab, flow, flow->lines * RTE_CACHE_LINE_SIZE);
}

static int
rule_enter(struct mdv_port *port, struct rte_flow *flow, struct mdv_flow_plan *plan,
	struct rte_flow_error *error)
{
	int ret = mdv_flow_install_level(port, flow, plan, error);

	if (ret != 0)
		return ret;
	if (port->flow->active)
		ret = mdv_flow_install_add(port, flow, plan, error);
	else if (flow->modified)
		ret = mdv_flow_trial_modify(
			port, &plan->actions, &mdv_flow_install_modified(flow)->modify, error);
	if (ret != 0) {
		mdv_flow_level_del(mdv_flow_install_levels(port, flow->egress), &flow->level);
		return ret;
	}
	TAILQ_INSERT_TAIL(&port->flow->rules, flow, next);
	flow->place = MDV_FLOW_RULES;
	return 0;
}

int
mdv_flow_rule_enter_later(struct mdv_port *port, struct rte_flow *flow, struct mdv_flow_form *form,
	struct rte_flow_error *error)
{
	const struct mdv_flow_plan_env env = mdv_flow_install_env(port);
	struct mdv_flow_plan full, *plan;
	const struct rte_flow_conv_rule *given = mdv_flow_install_given(flow, &full.room);
	const struct mdv_flow_plan_rule rule = {
		.attr = given->attr_ro,
		.pattern = given->pattern_ro,
		.actions = given->actions_ro,
	};

	plan = mdv_flow_form_plan(form, &env, &rule, &full, error);
	if (plan != NULL)
		return rule_enter(port, flow, plan, error);
	/* It would point to what is gone by then. */
	if (flow->alike && error != NULL)
		error->cause = NULL;
	return -rte_errno;
}

int
mdv_flow_rule_enter(struct mdv_port *port, struct rte_flow *flow, struct mdv_flow_form *form,
	struct mdv_flow_plan *plan, struct rte_flow_error *error)
{
	/* An indirect action may have been updated since the plan was made. */
	return flow->indirect ? mdv_flow_rule_enter_later(port, flow, form, error)
			      : rule_enter(port, flow, plan, error);
}

void
mdv_flow_rule_refuse(struct mdv_port *port, struct rte_flow *flow)
{
	TAILQ_INSERT_TAIL(&port->flow->refused, flow, next);
	flow->place = MDV_FLOW_REFUSED;
}

/**
 * Applications often destroy rules in the order of creation, and among many rules none is in the
 * cache. The destruction before this one has prefetched the next rule's header, so reading its
 * pointers here causes no miss.
 */
static void
rule_prefetch_next(const struct rte_flow *flow)
{
	const struct rte_flow *next = TAILQ_NEXT(flow, next);

	if (next == NULL)
		return;
	rte_prefetch0(&next->level);
	rte_prefetch0(next->present.one.verbs);
	rte_prefetch0(TAILQ_NEXT(next, next));
}

void
mdv_flow_rule_leave(struct mdv_port *port, struct rte_flow *flow)
{
	switch (flow->place) {
	case MDV_FLOW_RULES:
		rule_prefetch_next(flow);
		mdv_flow_level_prefetch_del(&flow->level);
		mdv_flow_install_del(port, flow);
		mdv_flow_level_del(mdv_flow_install_levels(port, flow->egress), &flow->level);
		TAILQ_REMOVE(&port->flow->rules, flow, next);
		break;
	case MDV_FLOW_REFUSED:
		TAILQ_REMOVE(&port->flow->refused, flow, next);
		break;
	default:
		break;
	}
	flow->place = MDV_FLOW_NOWHERE;
}
