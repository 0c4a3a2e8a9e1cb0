/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A rule of rte_flow as the ibv_flow_attrs and destinations it takes, before any verbs call.
 *
 *     eth / ipv4, rss types ipv4-udp   ->   part 0: ETH IPV4 UDP, hashed
 *                                           part 1: ETH IPV4, first queue
 *     eth / vlan, queue                ->   part 0: ETH with a tag of DEI 0
 *                                           part 1: ETH with a tag of DEI 1
 *
 * Parts are in the order in which they must be installed, the most specific first: they share a
 * table, of which a packet hits one entry, that of the mask which was there first. Which table is
 * not said here: flow_level.h. Pure.
 */
#ifndef MDV_FLOW_PLAN_H
#define MDV_FLOW_PLAN_H

#include <assert.h>

#include <rte_flow.h>

#include "flow/action/flow_action.h"
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
	struct mdv_flow_part parts[MDV_FLOW_LEVEL_MASKS];
	struct mdv_flow_match match;     /**< of the pattern, without any part's layers or half */
	struct mdv_flow_level_want want; /**< points to match */
};

/** As the application gives it. */
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

/** Where rules on sent packets are not to be had: templates, indirect actions. */
#define MDV_FLOW_INGRESS_ONLY UINT32_C(0x80000000)

/**
 * What can be said of a rule by its attributes alone.
 * @param features MDV_FLOW_CAN_EGRESS counts; or MDV_FLOW_INGRESS_ONLY
 * @return 0 or a negative errno, @p error filled
 */
int mdv_flow_plan_check_attr(
	const struct rte_flow_attr *attr, uint32_t features, struct rte_flow_error *error);

/**
 * Say the same by other masks: each part as two halves (mdv_flow_build_split()). In one table a
 * packet then meets one of the old parts and the new ones, and never two.
 * @return 0 or a negative errno: there is no room for it, and the plan is undefined
 */
int mdv_flow_plan_split(struct mdv_flow_plan *plan);
/** Say which level the rule got. */
void mdv_flow_plan_set_level(struct mdv_flow_plan *plan, uint8_t level);

#endif /* MDV_FLOW_PLAN_H */
