/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Puts rules into the device, takes them out, and moves them to another level.
 *
 * A rule has a level from its creation to its destruction, in the device or not: a rule accepted
 * while the port is stopped finds its place at the start. Everything here is under flow.lock.
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
	struct mdv_flow_dest *dest;
};

/** The verbs rules of one rule that are in the device: one for each part and destination. */
struct mdv_flow_presence {
	uint8_t nb;   /**< 0: not in the device */
	bool is_many; /**< there may be more than one */
	union {
		struct mdv_flow_installed one;
		struct mdv_flow_installed *many;
	};
};

/** The list that a rule is in. */
enum mdv_flow_place {
	MDV_FLOW_NOWHERE, /**< in no list yet, or no longer */
	MDV_FLOW_RULES,
	MDV_FLOW_REFUSED,
	MDV_FLOW_AHEAD, /**< in no list: a twin beside a rule that it will replace, flow_retarget.h
			 */
};

/** A rule of the application; in the device while flow.active. */
struct rte_flow {
	/* lines 0 and 1: the destruction of most rules reads these only, and among many rules each
	 * is cold */
	TAILQ_ENTRY(rte_flow) next;
	struct mdv_flow_presence present;
	struct rte_flow_template_table *table; /**< NULL: made by rte_flow_create() */
	uint16_t lines;    /**< cache lines of this struct and what is behind it */
	uint16_t queue;    /**< the flow queue that made it, if there is a table */
	bool queued;       /**< an operation of a flow queue is pending */
	bool counted;      /**< has COUNT */
	bool indirect : 1; /**< has INDIRECT */
	bool modified : 1; /**< changes packets */
	bool is_split : 1; /**< each part is in the device as two halves: flow_retarget.c */
	bool egress : 1;   /**< matches sent packets */
	bool alike : 1;    /**< keeps its values alone */
	uint8_t place;     /**< enum mdv_flow_place */
	union {
		struct rte_flow_conv_rule *rule;   /**< deep copy */
		struct mdv_flow_copy_image *image; /**< flow.alike */
	};
	struct mdv_flow_level_rule level;
	/* line 3 */
	/** For COUNT: the rule's own, or that of an indirect COUNT. */
	struct mdv_flow_count *counter;
};
static_assert(offsetof(struct rte_flow, level) == 64, "line 1");
static_assert(offsetof(struct rte_flow, level.match.few) == 128, "line 2");
static_assert(sizeof(struct rte_flow) == 200, "room for some values in four lines");

/** The translated changes of a rule that changes packets. The deep copy lacks some of them:
 * rte_flow_conv() copies the pointers of RAW_ENCAP, and not the bytes. */
struct mdv_flow_modified {
	struct mdv_flow_modify modify;
	struct mdv_flow_modify_object *object; /**< while the rule is in the device */
};

/** A rule with flow.modified. */
struct mdv_flow_modifying {
	struct rte_flow flow;
	struct mdv_flow_modified modified;
};

/** @return the translated changes; only for rules with flow->modified. */
static inline struct mdv_flow_modified *
mdv_flow_install_modified(const struct rte_flow *flow)
{
	return &((struct mdv_flow_modifying *)(uintptr_t)flow)->modified;
}

/**
 * What is behind a rule, in this order: its changes, its counter, and its deep copy or its values.
 * @return where the counter would be
 */
static inline void *
mdv_flow_install_behind(const struct rte_flow *flow)
{
	static_assert(sizeof(struct rte_flow) % _Alignof(struct mdv_flow_count) == 0 &&
			sizeof(struct mdv_flow_modifying) % _Alignof(struct mdv_flow_count) == 0,
		"aligned");
	return flow->modified ? (struct mdv_flow_modifying *)(uintptr_t)flow + 1
			      : (void *)(uintptr_t)(flow + 1);
}

/** @return the rule as it was given: its copy, or written to @p room. */
const struct rte_flow_conv_rule *mdv_flow_install_given(
	const struct rte_flow *flow, struct mdv_flow_copy_room *room);
/** @return the levels of sent or of received packets. */
struct mdv_flow_levels *mdv_flow_install_levels(struct mdv_port *port, bool egress);
/** @return the properties of the port that the translation depends on. */
struct mdv_flow_plan_env mdv_flow_install_env(const struct mdv_port *port);
/** Plan an accepted rule, at its level; the plan may point into plan->room. @return 0 or a negative
 * errno, @p error filled */
int mdv_flow_install_plan(const struct mdv_port *port, const struct rte_flow *flow,
	struct mdv_flow_plan *plan, struct rte_flow_error *error);

/**
 * Give a rule a level, and move others when needed. @p flow NULL: only find out whether there is a
 * level.
 * @return 0 or a negative errno, @p error filled
 */
int mdv_flow_install_level(struct mdv_port *port, struct rte_flow *flow, struct mdv_flow_plan *plan,
	struct rte_flow_error *error);
/** Put a rule that has a level into the device, all parts or none. @return as above */
int mdv_flow_install_add(struct mdv_port *port, struct rte_flow *flow, struct mdv_flow_plan *plan,
	struct rte_flow_error *error);
/** Take the rule out of the device if it is there; it keeps its level. */
void mdv_flow_install_del(struct mdv_port *port, struct rte_flow *flow);

/**
 * Install the rule, which is in the device, once more at its level with its current actions, then
 * remove its old parts.
 * @return 0, or a negative errno: it is as it was
 */
int mdv_flow_install_again(struct mdv_port *port, struct rte_flow *flow);

/** The same at another level. */
int mdv_flow_install_at(struct mdv_port *port, struct rte_flow *flow, uint8_t level);

#endif /* MDV_FLOW_INSTALL_H */
