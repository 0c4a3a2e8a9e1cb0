/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Rules in the device: put in, taken out, moved to another level.
 *
 * A rule has a level from its creation to its destruction, in the device or not, so what was
 * accepted while the port is stopped finds its place at the start. All under flow.lock.
 */
#ifndef MDV_FLOW_INSTALL_H
#define MDV_FLOW_INSTALL_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include <infiniband/verbs.h>
#include <rte_common.h>
#include <rte_flow.h>

#include "flow/action/flow_count.h"
#include "flow/place/flow_level.h"
#include "flow_modify_object.h"
#include "flow_plan.h"

struct mdv_port;

/** One ibv_flow of a rule. */
struct mdv_flow_installed {
	struct ibv_flow *verbs;
	struct mdv_flow_dest *rss;
};

/** What of a rule is in the device: a part a destination. */
struct mdv_flow_presence {
	uint8_t nb;                      /**< 0: nothing */
	struct mdv_flow_installed *many; /**< NULL: there is one at most */
	struct mdv_flow_installed one;
};

/** In which list a rule is. */
enum mdv_flow_place {
	MDV_FLOW_NOWHERE, /**< not yet, or no more */
	MDV_FLOW_RULES,
	MDV_FLOW_REFUSED,
	MDV_FLOW_AHEAD, /**< no list: beside a rule to take over from it, flow_retarget.h */
};

/** As the application made it, and while flow.active also in the device. */
struct rte_flow {
	/* lines 0 and 1: all that the destruction of most rules looks at, of many of which each is
	 * cold */
	TAILQ_ENTRY(rte_flow) next;
	struct mdv_flow_presence present;
	struct rte_flow_template_table *table; /**< NULL: came by rte_flow_create() */
	uint16_t lines;                        /**< of this and the copy behind it */
	uint16_t queue;                        /**< flow queue it came by, where there is a table */
	bool queued;                           /**< an operation of a flow queue waits */
	bool counted;                          /**< has COUNT */
	bool indirect : 1;                     /**< has INDIRECT */
	bool modified : 1;                     /**< changes packets */
	bool is_split : 1;                     /**< is there in halves: flow_retarget.c */
	bool egress : 1;                       /**< of sent packets */
	uint8_t place;                         /**< enum mdv_flow_place */
	struct mdv_flow_level_rule level;
	/* line 3 */
	struct rte_flow_conv_rule
		*rule; /**< deep copy, behind this struct or struct mdv_flow_modifying */
	struct mdv_flow_count *counter; /**< with COUNT: its own, or that of an indirect one */
	struct mdv_flow_count count;
} __rte_cache_aligned;
static_assert(offsetof(struct rte_flow, level) == 64, "line 1");
static_assert(offsetof(struct rte_flow, level.match.few) == 128, "line 2");
static_assert(sizeof(struct rte_flow) == 256, "four lines");

/** Of a rule that changes packets: what its actions were found to ask for. Its copy does not have
 * all of it, as rte_flow_conv() leaves RAW_ENCAP's bytes where they are. */
struct mdv_flow_modified {
	struct mdv_flow_modify modify;
	struct mdv_flow_modify_object *object; /**< while the rule is in the device */
};
static_assert(sizeof(struct mdv_flow_modified) % 16 == 0, "the rule's copy behind it is aligned");

/** A rule with flow.modified. The deep copy is behind it, as it is behind other rules. */
struct mdv_flow_modifying {
	struct rte_flow flow;
	struct mdv_flow_modified modified;
};

/** @return what the rule's actions ask for, where flow->modified. */
static inline struct mdv_flow_modified *
mdv_flow_install_modified(const struct rte_flow *flow)
{
	return &((struct mdv_flow_modifying *)(uintptr_t)flow)->modified;
}

/** @return the levels of sent or of received packets. */
struct mdv_flow_levels *mdv_flow_install_levels(struct mdv_port *port, bool egress);
/** The port as the translation sees it. */
struct mdv_flow_plan_env mdv_flow_install_env(const struct mdv_port *port);
/** The plan of a rule that was accepted, at its level. @return 0 or a negative errno, @p error
 * filled */
int mdv_flow_install_plan(const struct mdv_port *port, const struct rte_flow *flow,
	struct mdv_flow_plan *plan, struct rte_flow_error *error);

/**
 * Give a rule a level, moving others when needed. @p flow NULL: only say whether there is one.
 * @return 0 or a negative errno, @p error filled
 */
int mdv_flow_install_level(struct mdv_port *port, struct rte_flow *flow, struct mdv_flow_plan *plan,
	struct rte_flow_error *error);
/** Put a rule that has a level into the device, wholly or not at all. @return as above */
int mdv_flow_install_add(struct mdv_port *port, struct rte_flow *flow, struct mdv_flow_plan *plan,
	struct rte_flow_error *error);
/** Does the device, which is not to have it now, take what it changes? @return as above */
int mdv_flow_install_try(const struct mdv_port *port, const struct mdv_flow_modify *modify,
	struct rte_flow_error *error);
/** Take it out, if it is in; it keeps its level. */
void mdv_flow_install_del(struct mdv_port *port, struct rte_flow *flow);

/** Put a rule that is in the device there anew, as its actions are by now, at its level, and then
 * take out what was there. @return 0 or a negative errno: it is as it was */
int mdv_flow_install_again(struct mdv_port *port, struct rte_flow *flow);

/** The same, at another level: there before it is gone from here. */
int mdv_flow_install_at(struct mdv_port *port, struct rte_flow *flow, uint8_t level);

#endif /* MDV_FLOW_INSTALL_H */
