/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The flow engine's state of a port: its rules and their shared objects. flow.c makes and frees it.
 */
#ifndef MDV_FLOW_STATE_H
#define MDV_FLOW_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <rte_flow_driver.h>

#include "base/slab.h"
#include "flow/place/flow_level.h"
#include "flow_dest.h"
#include "flow_form.h"
#include "flow_indirect.h"
#include "flow_modify_object.h"

struct mdv_flow_queue;

TAILQ_HEAD(mdv_flow_list, rte_flow);
TAILQ_HEAD(mdv_flow_default_list, mdv_flow_default_rule);

LIST_HEAD(mdv_flow_template_patterns, rte_flow_pattern_template);
LIST_HEAD(mdv_flow_template_actions, rte_flow_actions_template);

/** Templates and template tables. */
struct mdv_flow_tables {
	struct mdv_flow_template_patterns patterns;
	struct mdv_flow_template_actions actions;
	LIST_HEAD(, rte_flow_template_table) tables;
	/** Give back the place that a rule had in its table. */
	void (*put)(struct rte_flow_template_table *table);
};

/** Flow queues. */
struct mdv_flow_async {
	uint16_t nb_queues;
	struct mdv_flow_queue **queues;
	uint32_t nb_flushes; /**< rte_flow_flush(): rules that waited then do not come any more */
};

struct mdv_flow_state {
	pthread_mutex_t lock;         /**< covers everything here and the port's use of it */
	struct mdv_flow_list rules;   /**< in creation order */
	struct mdv_flow_list refused; /**< rules of flow queues that the device refused */
	struct mdv_flow_default_list defaults;
	struct mdv_flow_dests dests; /**< destinations in use, shared by reference count */
	struct mdv_flow_modify_objects modify_objects; /**< in use, shared in the same way */
	uint8_t nb_priorities;                         /**< probed number of verbs priorities */
	uint32_t features;             /**< MDV_FLOW_CAN_* of flow_probe.h, probed too */
	uint64_t rss_types;            /**< mdv_rss_types() of the device */
	struct mdv_flow_levels levels; /**< the levels of received packets */
	struct mdv_flow_levels egress; /**< those of sent packets, which have tables of their own */
	struct mdv_flow_tables tables; /**< templates; the application serialises calls */
	struct mdv_flow_async async;   /**< flow queues; each belongs to its user */
	struct mdv_flow_indirect indirect;
	struct mdv_flow_form form; /**< of the rules that rte_flow_create() makes */
	struct mdv_slab slab;      /**< memory of rules; has a lock of its own */
	bool active; /**< between mdv_flow_start() and mdv_flow_stop(): rules are in the device */
};

#endif /* MDV_FLOW_STATE_H */
