/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * rte_flow of a port: rules as the application made them and what became of them in the device.
 *
 *     rte_flow pattern, actions
 *        │ flow_item.c, flow_action.c: rows -> struct mdv_flow_build (flow_build.h)
 *        v
 *     ibv_flow_attr bytes, a destination (rss.h), expansions
 *        │ flow_level.c: the verbs priority, other rules moved when needed
 *        │ flow_install.c: ibv_create_flow, one or more a rule
 *        v
 *     struct rte_flow
 *
 * A rule outlives a stop: it is taken from the device in mdv_flow_stop() and put back in
 * mdv_flow_start(). Default steering (MACs, broadcast, promiscuous ...) is a set of the same rules,
 * computed from the port's state by flow_default.c, below all rules of the application.
 */
#ifndef MDV_FLOW_H
#define MDV_FLOW_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <rte_flow_driver.h>

#include "base/slab.h"
#include "flow/async/flow_async.h"
#include "flow/async/flow_table.h"
#include "flow/place/flow_level.h"
#include "flow/rule/flow_edit_object.h"
#include "flow/rule/flow_indirect.h"

struct mdv_port;
struct mdv_rss;

LIST_HEAD(mdv_rss_list, mdv_rss);
TAILQ_HEAD(mdv_flow_list, rte_flow);
TAILQ_HEAD(mdv_flow_default_list, mdv_flow_default_rule);

struct mdv_flow_state {
	pthread_mutex_t lock;         /**< covers everything here and the port's use of it */
	struct mdv_flow_list rules;   /**< in creation order */
	struct mdv_flow_list refused; /**< rules of flow queues that did not get into the device */
	struct mdv_flow_default_list defaults;
	struct mdv_rss_list rss;            /**< destinations in use, shared by refcount */
	struct mdv_flow_edit_objects edits; /**< what rules change, shared in the same way */
	uint8_t nb_priorities;              /**< verbs priorities the device offers, probed */
	uint32_t features;                  /**< MDV_FLOW_CAN_* of flow_probe.h, probed too */
	struct mdv_flow_levels levels;      /**< which rule has which of them */
	struct mdv_flow_levels egress; /**< the same of sent packets, whose tables are others */
	struct mdv_flow_tables tables; /**< templates; the application serialises */
	struct mdv_flow_async async;   /**< flow queues; each is its user's */
	struct mdv_flow_indirect indirect;
	_Atomic int copy_bytes; /**< room that the last rule's copy took; needs no lock */
	struct mdv_slab slab;   /**< of rules; has a lock of its own */
	bool active; /**< between mdv_flow_start() and mdv_flow_stop(): rules are in the device */
};

extern const struct rte_flow_ops mdv_flow_ops;

/** At probe: empty lists, probe the device's priorities and features. @return 0 or a negative
 * errno, logged. */
int mdv_flow_init(struct mdv_port *port);
/** At close: all rules are destroyed. */
void mdv_flow_fini(struct mdv_port *port);
/**
 * The queues exist now: install the application's rules, then the default ones, so that no packet
 * reaches one while another that goes before it is missing; mdv_flow_stop() undoes it so, too.
 * @return 0 or a negative errno, logged; nothing is installed then.
 */
int mdv_flow_start(struct mdv_port *port);
/** Before the queues go: take everything out of the device; the application's rules are kept. */
void mdv_flow_stop(struct mdv_port *port);
/**
 * The port's state changed (MACs, promiscuous, allmulticast, RETA, RSS conf): make the installed
 * default rules match it, adding before removing. On failure the installed set is what it was.
 * @return 0 (also when stopped or isolated) or a negative errno, logged.
 */
int mdv_flow_default_update(struct mdv_port *port);

#endif /* MDV_FLOW_H */
