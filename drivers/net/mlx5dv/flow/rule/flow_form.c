/* SPDX-License-Identifier: BSD-3-Clause */
/* Learns the form of a rule, and plans others of it. */

#include <stddef.h>
#include <string.h>

#include "flow_form.h"

/** A form is learnt once in so many rules that do not fit: where all differ, it costs little. */
#define FORM_PATIENCE 16

void
mdv_flow_form_fini(struct mdv_flow_form *form)
{
	mdv_flow_copy_image_put(form->image);
	form->image = NULL;
	form->is_like = form->has_confs = false;
}

bool
mdv_flow_form_fits(const struct mdv_flow_form *form, const struct mdv_flow_plan_env *env,
	const struct mdv_flow_plan_rule *rule)
{
	return rule->attr != NULL && rule->pattern != NULL && rule->actions != NULL &&
		memcmp(rule->attr, &form->attr, sizeof(form->attr)) == 0 &&
		env->features == form->features && env->port_num == form->port_num &&
		mdv_flow_values_fit(&form->values, rule->pattern);
}

/** @return whether actions @p a put into the attribute and its place what those of the form do,
 * which change nothing and hash by outer headers. COUNT comes later. */
static bool
form_same_effect(const struct mdv_flow_actions *a, const struct mdv_flow_actions *form)
{
	return a->fate == form->fate && a->rss_types == form->rss_types &&
		(a->tag != 0) == (form->tag != 0) && a->passthru == form->passthru &&
		a->nb_extras == form->nb_extras && a->inner == NULL && a->modify_list == NULL;
}

static void
form_learn(struct mdv_flow_form *form, const struct mdv_flow_plan_env *env,
	const struct mdv_flow_plan_rule *rule, const struct mdv_flow_plan *plan)
{
	const struct mdv_flow_build *build = &plan->parts[0].build;

	if (!mdv_flow_values_learn(&form->values, rule->pattern, build))
		return;
	/* Among several parts, equal values make one go: plan_describe(). */
	if (plan->nb_parts != 1 || plan->actions.modify_list != NULL ||
		mdv_flow_build_is_multicast(build)) {
		form->values.nb_items = 0;
		return;
	}
	mdv_flow_form_fini(form);
	form->features = env->features;
	form->port_num = env->port_num;
	form->attr = *rule->attr;
	form->tag_at = mdv_flow_build_find(build, IBV_FLOW_SPEC_ACTION_TAG);
	form->plan.actions = plan->actions;
	form->plan.nb_parts = 1;
	form->plan.match = plan->match;
	form->plan.want = plan->want;
	form->plan.want.match = &form->plan.match;
	form->plan.parts[0].id = plan->parts[0].id;
	mdv_flow_build_copy(&form->plan.parts[0].build, build);
	form->plan.parts[0].build.nb_items = build->nb_items;
	form->plan.parts[0].build.item_bytes = build->item_bytes;
}

/** Put the values of the pattern into the plan of the form; its actions have been parsed. */
static void
form_fill(struct mdv_flow_form *form, const struct rte_flow_item pattern[])
{
	struct mdv_flow_plan *plan = &form->plan;
	struct mdv_flow_build *build = &plan->parts[0].build;

	if (form->tag_at != 0)
		mdv_flow_build_set_tag(build, form->tag_at, plan->actions.tag);
	mdv_flow_values_put(&form->values, pattern, build, &plan->match);
	plan->want.hash = mdv_flow_key_hash_whole(&plan->match, plan->want.masks[0]);
}

/** Let actions that were just parsed point to configurations of the form's own, so that they serve
 * for a rule that has the same. */
static void
form_keep_actions(struct mdv_flow_form *form, const struct mdv_flow_plan_env *env,
	const struct rte_flow_action list[])
{
	const struct mdv_flow_copy_image *image = form->image;
	struct mdv_flow_actions *actions = &form->plan.actions;

	form->has_confs = form->is_like && image->conf_bytes <= sizeof(form->confs);
	if (!form->has_confs)
		return;
	mdv_flow_copy_keep_confs(image, list, form->confs);
	for (unsigned int i = 0; i < image->nb_confs; i++) {
		const void *given = list[image->confs[i].action].conf;
		const void *own = &form->confs[image->confs[i].kept_at];

		if (actions->queues == given)
			actions->queues = own;
		for (unsigned int j = 0; j < actions->nb_extras; j++)
			if (actions->extras[j] == given)
				actions->extras[j] = own;
	}
	form->nb_queues = env->actions.nb_queues;
}

/** @return 0, with @p is_planned whether the form's plan is that of the rule, which fits; or a
 * negative errno, @p error filled */
static int
form_plan_fitting(struct mdv_flow_form *form, const struct mdv_flow_plan_env *env,
	const struct mdv_flow_plan_rule *rule, bool *is_planned, struct rte_flow_error *error)
{
	struct mdv_flow_actions actions;
	int ret;

	form->is_like = mdv_flow_copy_is_like(form->image, rule->actions);
	if (!form->has_confs || !form->is_like || form->nb_queues != env->actions.nb_queues ||
		!mdv_flow_copy_has_confs(form->image, rule->actions, form->confs)) {
		ret = mdv_flow_plan_actions(env, rule, &actions, error);
		if (ret != 0 || !form_same_effect(&actions, &form->plan.actions))
			return ret;
		form->plan.actions = actions;
		form_keep_actions(form, env, rule->actions);
	}
	form_fill(form, rule->pattern);
	/* The kernel has another place for these: mdv_flow_build_finish(). */
	*is_planned = !mdv_flow_build_is_multicast(&form->plan.parts[0].build);
	return 0;
}

struct mdv_flow_plan *
mdv_flow_form_plan(struct mdv_flow_form *form, const struct mdv_flow_plan_env *env,
	const struct mdv_flow_plan_rule *rule, struct mdv_flow_plan *room,
	struct rte_flow_error *error)
{
	bool is_planned = false;

	if (mdv_flow_form_fits(form, env, rule) &&
		form_plan_fitting(form, env, rule, &is_planned, error) != 0)
		return NULL;
	if (is_planned) {
		form->nb_missed = 0;
		return &form->plan;
	}
	if (mdv_flow_plan_make(env, rule, room, error) != 0)
		return NULL;
	if (form->nb_missed++ % FORM_PATIENCE == 0)
		form_learn(form, env, rule, room);
	return room;
}
