/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A rule of rte_flow as the ibv_flow_attrs and destinations that it needs, before any verbs call.
 *
 *     eth / ipv4, rss types ipv4-udp   ->   part 0: ETH IPV4 UDP, hashed
 *                                           part 1: ETH IPV4, first queue
 *     eth / vlan, queue                ->   part 0: ETH with a tag of DEI 0
 *                                           part 1: ETH with a tag of DEI 1
 *
 * Parts are in the order of installation, the most specific first: they share a table, of which a
 * packet hits one entry, that of the mask which came first. flow_level.h chooses the table. Pure.
 */
#ifndef MDV_FLOW_PLAN_H
#define MDV_FLOW_PLAN_H

#include <assert.h>

#include <rte_flow.h>

#include "flow/action/flow_action.h"
#include "flow/action/flow_copy.h"
#include "flow/match/flow_build.h"
#include "flow/match/rss.h"
#include "flow/place/flow_level.h"

struct mdv_flow_plan_env {
	struct mdv_flow_action_env actions;
	uint32_t features; /**< MDV_FLOW_CAN_* */
	uint32_t tunnels;  /**< mdv_rss_tunnels() */
	uint8_t port_num;  /**< physical port, from 1 */
};

struct mdv_flow_part {
	struct mdv_flow_build build; /**< complete but for COUNT, whose counters do not exist yet */
	enum mdv_rss_class_id id;    /**< how the destination hashes */
};

static_assert(MDV_FLOW_LEVEL_MASKS >= MDV_RSS_NB_CLASSES << MDV_FLOW_BUILD_SIDES,
	"a class in the halves of both sides");

struct mdv_flow_plan {
	struct mdv_flow_actions actions;
	uint8_t nb_parts;
	/** Of the pattern, without the layers or entries of its parts. */
	struct mdv_flow_match match;
	struct mdv_flow_level_want want;                  /**< points to match */
	struct mdv_flow_part parts[MDV_FLOW_LEVEL_MASKS]; /**< the first was made of the pattern */
	/** For whoever plans a rule that keeps its values alone: what the plan points into. */
	struct mdv_flow_copy_room room;
};

/** A rule as the application gives it. */
struct mdv_flow_plan_rule {
	const struct rte_flow_attr *attr;
	const struct rte_flow_item *pattern;
	const struct rte_flow_action *actions;
};

/**
 * @param plan undefined on failure; points into @p rule's action configurations
 * @return 0 or a negative errno after filling @p error
 */
int mdv_flow_plan_make(const struct mdv_flow_plan_env *env, const struct mdv_flow_plan_rule *rule,
	struct mdv_flow_plan *plan, struct rte_flow_error *error);

/** Check the actions of a rule that has attributes and actions. @return as above */
int mdv_flow_plan_actions(const struct mdv_flow_plan_env *env,
	const struct mdv_flow_plan_rule *rule, struct mdv_flow_actions *actions,
	struct rte_flow_error *error);

/** In place of features: rules on sent packets are not supported (templates, indirect actions). */
#define MDV_FLOW_INGRESS_ONLY UINT32_C(0x80000000)

/**
 * Check the attributes of a rule.
 * @param features MDV_FLOW_CAN_EGRESS counts; or MDV_FLOW_INGRESS_ONLY
 * @return 0 or a negative errno, @p error filled
 */
int mdv_flow_plan_check_attr(
	const struct rte_flow_attr *attr, uint32_t features, struct rte_flow_error *error);

/**
 * Replace each part by two halves with another mask and the same match together
 * (mdv_flow_build_split()). A packet then hits in one table one of the old parts and one of the
 * new, and never two.
 * @return 0, or a negative errno if there is no room; the plan is undefined then
 */
int mdv_flow_plan_split(struct mdv_flow_plan *plan);
/** Set the level that the rule got. */
static inline void
mdv_flow_plan_set_level(struct mdv_flow_plan *plan, uint8_t level)
{
	for (unsigned int i = 0; i < plan->nb_parts; i++)
		plan->parts[i].build.attr.priority = level;
}

#endif /* MDV_FLOW_PLAN_H */
