/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts a rule's translation together: attributes, items, actions, expansion over the hash classes.
 */

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "flow/match/flow_error.h"
#include "flow/match/flow_feature.h"
#include "flow/match/flow_item.h"
#include "flow_plan.h"

int
mdv_flow_plan_check_attr(
	const struct rte_flow_attr *attr, uint32_t features, struct rte_flow_error *error)
{
	if (attr->transfer)
		return mdv_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ATTR_TRANSFER, attr,
			"transfer: the driver does not steer between ports; use ingress");
	if (attr->egress && attr->ingress)
		return mdv_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ATTR_EGRESS, attr,
			"egress with ingress: the device steers received and sent packets apart; write two rules");
	if (attr->egress && features == MDV_FLOW_INGRESS_ONLY)
		return mdv_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ATTR_EGRESS, attr,
			"egress: flow queues and indirect actions are for received packets; give the rule with its own actions, at once");
	if (attr->egress && (features & MDV_FLOW_CAN_EGRESS) == 0)
		return mdv_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ATTR_EGRESS, attr,
			"egress: the device or its kernel does not steer sent packets; use ingress");
	if (!attr->egress && !attr->ingress)
		return mdv_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ATTR_INGRESS, attr,
			"the rule has no direction; add ingress");
	if (attr->group != 0)
		return mdv_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ATTR_GROUP, attr,
			"group %u: verbs has one group of rules; use group 0 and priorities",
			attr->group);
	if (attr->priority == MDV_FLOW_LEVEL_DEFAULT)
		return mdv_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ATTR_PRIORITY, attr,
			"priority %u: it is that of the port's default rules; use 0 to %u",
			attr->priority, attr->priority - 1);
	return 0;
}

static int
plan_check_rule(const struct mdv_flow_plan_rule *rule, struct rte_flow_error *error)
{
	if (rule->attr == NULL)
		return mdv_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ATTR, NULL,
			"the rule has no attributes; give some with ingress");
	if (rule->pattern == NULL)
		return mdv_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM_NUM, NULL,
			"the rule has no pattern; give one, item END at least");
	if (rule->actions == NULL)
		return mdv_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_NUM, NULL,
			"the rule has no actions; give QUEUE, RSS or DROP");
	return 0;
}

/** Check RSS level 2: it needs a tunnel, and a device that hashes and matches by inner headers. */
static int
plan_check_inner(const struct mdv_flow_plan_env *env, const struct mdv_flow_build *match,
	const struct mdv_flow_actions *actions, struct rte_flow_error *error)
{
	const enum rte_flow_error_type type = RTE_FLOW_ERROR_TYPE_ACTION_CONF;
	const struct mdv_rss_tunnel *tunnel;

	if (actions->decap && actions->rss_types != 0 && (env->features & MDV_FLOW_CAN_INNER) == 0)
		return mdv_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION_NUM,
			actions->modify_list,
			"RSS of what comes out of a tunnel: the device does not match inner headers; use QUEUE");
	if (actions->inner == NULL)
		return 0;
	if (actions->decap)
		return mdv_flow_error_set(error, ENOTSUP, type, actions->inner,
			"RSS level 2: the tunnel is off by then; use level 0 or 1 for what was in it");
	if (env->tunnels == 0 || (env->features & MDV_FLOW_CAN_INNER) == 0)
		return mdv_flow_error_set(error, ENOTSUP, type, actions->inner,
			"RSS level 2: the device does not hash by inner headers; use level 0 or 1");
	tunnel = mdv_rss_tunnel_of(mdv_flow_build_layers(match, MDV_FLOW_BUILD_OUTER));
	if (tunnel == NULL)
		return mdv_flow_error_set(error, ENOTSUP, type, actions->inner,
			"RSS level 2: the pattern has no tunnel to look into; add VXLAN, GRE, NVGRE or MPLS over UDP or GRE, or use level 0 or 1");
	if ((env->tunnels & tunnel->offload) == 0)
		return mdv_flow_error_set(error, ENOTSUP, type, actions->inner,
			"RSS level 2: the device does not hash inside of %s; use level 0 or 1",
			tunnel->name);
	return 0;
}

static int
plan_finish_part(const struct mdv_flow_plan_env *env, const struct mdv_flow_actions *actions,
	struct mdv_flow_build *build)
{
	int ret = 0;

	if (actions->tag != 0)
		ret = mdv_flow_build_tag(build, actions->tag);
	if (ret == 0 && actions->fate == MDV_FLOW_ACTION_DROP)
		ret = mdv_flow_build_drop(build);
	if (ret == 0)
		ret = mdv_flow_build_finish(build, 0, env->port_num, actions->passthru);
	if (actions->egress)
		build->attr.flags |= IBV_FLOW_ATTR_FLAGS_EGRESS;
	/* Counters and modify objects add their specs later; leave room for them. */
	if (ret == 0 &&
		build->attr.num_of_specs + actions->count + actions->nb_modify >
			MDV_FLOW_BUILD_SPECS)
		ret = -E2BIG;
	return ret;
}

/** Accept the part that is complete, and add one more for each further entry of its match. */
static void
plan_split_vlan(struct mdv_flow_plan *plan)
{
	const struct mdv_flow_part *whole = &plan->parts[plan->nb_parts++];
	const unsigned int nb = mdv_flow_build_nb_entries(&whole->build);

	for (unsigned int half = 1; half < nb; half++) {
		struct mdv_flow_part *part = &plan->parts[plan->nb_parts++];

		mdv_flow_build_copy(&part->build, &whole->build);
		mdv_flow_build_set_half(&part->build, half);
		part->id = whole->id;
	}
}

/** Make parts of the match, which is in the first of them. */
static int
plan_expand(const struct mdv_flow_plan_env *env, struct mdv_flow_plan *plan)
{
	const struct mdv_flow_actions *actions = &plan->actions;
	struct mdv_rss_expansion expansions[MDV_RSS_NB_CLASSES];
	const enum mdv_flow_build_side side = actions->inner != NULL || actions->decap
		? MDV_FLOW_BUILD_INNER
		: MDV_FLOW_BUILD_OUTER;
	struct mdv_flow_build match;
	unsigned int nb = mdv_rss_expand(
		mdv_flow_build_layers(&plan->parts[0].build, side), actions->rss_types, expansions);

	plan->nb_parts = 0;
	if (nb > 1)
		mdv_flow_build_copy(&match, &plan->parts[0].build);
	for (unsigned int i = 0; i < nb; i++) {
		struct mdv_flow_part *part = &plan->parts[plan->nb_parts];
		const uint32_t add = expansions[i].add_layers;
		int ret;

		if (nb > 1)
			mdv_flow_build_copy(&part->build, &match);
		part->id = expansions[i].id;
		ret = add == 0 ? 0
			       : mdv_flow_build_add_layers(&part->build,
					 side == MDV_FLOW_BUILD_INNER ? MDV_LAYER_INNER(add) : add);
		if (ret == -EINVAL)
			continue; /* no packet of the pattern is of this class */
		if (ret == 0)
			ret = plan_finish_part(env, actions, &part->build);
		if (ret != 0)
			return ret;
		plan_split_vlan(plan);
	}
	return 0;
}

/** @return 0 or -EINVAL: a spec without a row in flow_spec.h */
static int
plan_describe(const struct rte_flow_attr *attr, struct mdv_flow_plan *plan)
{
	struct mdv_flow_level_want *want = &plan->want;
	const struct mdv_flow_build *first = &plan->parts[0].build;
	const unsigned int nb_entries = mdv_flow_build_nb_entries(first);
	uint64_t values[MDV_FLOW_LEVEL_MASKS];

	memset(want, 0, offsetof(struct mdv_flow_level_want, masks));
	for (unsigned int i = 0; i < plan->nb_parts; i++) {
		/* The last part is the pattern itself, so its match remains in plan->match. */
		int ret = mdv_flow_key_match(&plan->parts[i].build, &plan->match);

		if (ret != 0)
			return ret;
		mdv_flow_key_hash(&plan->match, &want->masks[i], &values[i]);
	}
	/* If the pattern itself names a class, as by its protocol field, the last part has the
	 * match of that class, and both destinations would get the packet. So the last part
	 * goes. */
	if (plan->nb_parts > nb_entries &&
		values[plan->nb_parts - 1] == values[plan->nb_parts - 1 - nb_entries])
		plan->nb_parts -= nb_entries;
	mdv_flow_key_any_tag(&plan->match, first->any_tag);
	want->nb_entries = nb_entries;
	want->nb_masks = plan->nb_parts;
	want->hash = values[plan->nb_parts - 1];
	want->match = &plan->match;
	want->priority = attr->priority;
	want->copies = plan->actions.passthru;
	want->multi_dest = plan->actions.nb_extras != 0;
	want->modifies = plan->actions.modify_list != NULL && want->copies;
	want->depth = plan->match.depth;
	return 0;
}

int
mdv_flow_plan_split(struct mdv_flow_plan *plan)
{
	const unsigned int more = plan->actions.count + plan->actions.nb_modify;
	int ret = 2u * plan->nb_parts <= RTE_DIM(plan->parts) ? 0 : -E2BIG;

	for (unsigned int i = plan->nb_parts; ret == 0 && i-- != 0;) {
		struct mdv_flow_part *halves = &plan->parts[2 * i];

		if (i != 0) {
			mdv_flow_build_copy(&halves[0].build, &plan->parts[i].build);
			halves[0].id = plan->parts[i].id;
		}
		halves[1].id = halves[0].id;
		ret = mdv_flow_build_split(&halves[0].build, &halves[1].build);
		if (ret == 0 && halves[0].build.attr.num_of_specs + more > MDV_FLOW_BUILD_SPECS)
			ret = -E2BIG;
	}
	plan->nb_parts *= 2;
	return ret;
}

int
mdv_flow_plan_actions(const struct mdv_flow_plan_env *env, const struct mdv_flow_plan_rule *rule,
	struct mdv_flow_actions *actions, struct rte_flow_error *error)
{
	return rule->attr->egress
		? mdv_flow_action_parse_egress(&env->actions, rule->actions, actions, error)
		: mdv_flow_action_parse(&env->actions, rule->actions, actions, error);
}

int
mdv_flow_plan_make(const struct mdv_flow_plan_env *env, const struct mdv_flow_plan_rule *rule,
	struct mdv_flow_plan *plan, struct rte_flow_error *error)
{
	struct mdv_flow_build *match = &plan->parts[0].build;
	int ret = plan_check_rule(rule, error);

	if (ret == 0)
		ret = mdv_flow_plan_check_attr(rule->attr, env->features, error);
	if (ret == 0)
		ret = mdv_flow_item_translate(rule->pattern, env->features, match, error);
	if (ret == 0)
		ret = mdv_flow_plan_actions(env, rule, &plan->actions, error);
	if (ret == 0)
		ret = plan_check_inner(env, match, &plan->actions, error);
	if (ret != 0)
		return ret;
	ret = plan_expand(env, plan);
	if (ret != 0)
		return mdv_flow_error_set(error, -ret, RTE_FLOW_ERROR_TYPE_ITEM_NUM, rule->pattern,
			"the rule needs more than the %u specs the device takes; use fewer items",
			MDV_FLOW_BUILD_SPECS);
	ret = plan_describe(rule->attr, plan);
	return ret == 0 ? 0 : mdv_flow_error_kernel(error, -ret, "the rule's match");
}
