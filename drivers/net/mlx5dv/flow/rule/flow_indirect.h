/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Indirect actions: made once, named by many rules.
 *
 *     flow indirect_action create: count     ->  handle, its own counter
 *     rule: actions indirect <handle> / queue
 *
 * A rule keeps the handle in place of the action, so whenever it is translated it is with what the
 * action is by then. Of one COUNT there is one counter; other kinds need nothing shared, as equal
 * destinations are (rss.h). Handles are looked up among the port's and not trusted. They outlive
 * a stop and a flush, and go with the port.
 *
 * flow.lock covers all of this but nb_rules.
 */
#ifndef MDV_FLOW_INDIRECT_H
#define MDV_FLOW_INDIRECT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <rte_flow_driver.h>

#include "flow/action/flow_handle.h"

struct mdv_port;

#define MDV_FLOW_INDIRECT_BUCKETS 256

/** By address. */
struct mdv_flow_indirect {
	LIST_HEAD(, rte_flow_action_handle) buckets[MDV_FLOW_INDIRECT_BUCKETS];
	const struct rte_flow_action_handle *updated; /**< while flow_retarget.h is at it */
	const struct rte_flow_action *update;         /**< what it will be */
};

/** At close, when no rule is left: all handles are freed. */
void mdv_flow_indirect_fini(struct mdv_flow_indirect *indirect);

/** @return whether there is any INDIRECT in @p list; NULL is taken. */
bool mdv_flow_indirect_is_in(const struct rte_flow_action list[]);
/** @p handle must be the port's. @return 0 or -ENOENT, @p error filled */
int mdv_flow_indirect_check_handle(const struct mdv_port *port,
	const struct rte_flow_action_handle *handle, struct rte_flow_error *error);
/** All handles of @p list must be the port's. @return 0 or a negative errno, @p error filled */
int mdv_flow_indirect_check(
	struct mdv_port *port, const struct rte_flow_action list[], struct rte_flow_error *error);
/** The same, and they have a rule more. */
int mdv_flow_indirect_take(
	struct mdv_port *port, const struct rte_flow_action list[], struct rte_flow_error *error);
/** A rule less; needs no lock. */
void mdv_flow_indirect_put(const struct rte_flow_action list[]);

/**
 * Check an update by itself.
 * @return a copy for mdv_flow_indirect_do_update(), or NULL after filling @p error
 */
struct rte_flow_action *mdv_flow_indirect_prepare(struct mdv_port *port,
	const struct rte_flow_action_handle *handle, const struct rte_flow_action *update,
	struct rte_flow_error *error);
/** @param action taken over, also on failure. @return 0 or a negative errno, @p error filled */
int mdv_flow_indirect_do_update(struct mdv_port *port, struct rte_flow_action_handle *handle,
	struct rte_flow_action *action, struct rte_flow_error *error);
/** @return 0 or a negative errno, @p error filled */
int mdv_flow_indirect_do_destroy(
	struct mdv_port *port, struct rte_flow_action_handle *handle, struct rte_flow_error *error);
/** @param data NULL: see only whether it can be queried */
int mdv_flow_indirect_do_query(struct mdv_port *port, struct rte_flow_action_handle *handle,
	struct rte_flow_query_count *data, struct rte_flow_error *error);

struct rte_flow_action_handle *mdv_flow_indirect_create(struct rte_eth_dev *dev,
	const struct rte_flow_indir_action_conf *conf, const struct rte_flow_action *action,
	struct rte_flow_error *error);
int mdv_flow_indirect_destroy(struct rte_eth_dev *dev, struct rte_flow_action_handle *handle,
	struct rte_flow_error *error);
/** @param update a struct rte_flow_action of the handle's kind */
int mdv_flow_indirect_update(struct rte_eth_dev *dev, struct rte_flow_action_handle *handle,
	const void *update, struct rte_flow_error *error);
int mdv_flow_indirect_query(struct rte_eth_dev *dev, const struct rte_flow_action_handle *handle,
	void *data, struct rte_flow_error *error);

#endif /* MDV_FLOW_INDIRECT_H */
