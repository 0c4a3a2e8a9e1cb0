/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Indirect actions: made once, named by many rules.
 *
 *     flow indirect_action create: count     ->  handle, its own counter
 *     rule: actions indirect <handle> / queue
 *
 * A rule keeps the handle in place of the action, so each translation of the rule uses the current
 * action. An indirect COUNT has one counter; other kinds share no object of their own, as equal
 * destinations are shared anyway (flow_dest.h). A handle given by the application is looked up
 * among the port's before it is read. Handles outlive a stop and a flush, and go with the port.
 *
 * flow.lock covers everything here except nb_rules.
 */
#ifndef MDV_FLOW_INDIRECT_H
#define MDV_FLOW_INDIRECT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <rte_flow_driver.h>

#include "base/compat.h"
#include "flow/action/flow_handle.h"

struct mdv_port;

#define MDV_FLOW_INDIRECT_BUCKETS 256

/** The port's handles, hashed by address. */
struct mdv_flow_indirect {
	LIST_HEAD(, rte_flow_action_handle) buckets[MDV_FLOW_INDIRECT_BUCKETS];
	const struct rte_flow_action_handle *updated; /**< while flow_retarget.h updates it */
	const struct rte_flow_action *update;         /**< the action after the update */
};

/** Free all handles; at close, when no rule is left. */
void mdv_flow_indirect_fini(struct mdv_flow_indirect *indirect);

/** @return whether rules can share an action of the type. */
bool mdv_flow_indirect_is_kind(enum rte_flow_action_type type);
/** @return whether @p list, which may be NULL, has an INDIRECT. */
bool mdv_flow_indirect_is_in(const struct rte_flow_action list[]);
/** Check that @p handle is the port's. @return 0 or -ENOENT, @p error filled */
int mdv_flow_indirect_check_handle(const struct mdv_port *port,
	const struct rte_flow_action_handle *handle, struct rte_flow_error *error);
/** Check that all handles of @p list are the port's. @return 0 or a negative errno, @p error
 * filled */
int mdv_flow_indirect_check(
	struct mdv_port *port, const struct rte_flow_action list[], struct rte_flow_error *error);
/** The same, and count one rule more for each. */
int mdv_flow_indirect_take(
	struct mdv_port *port, const struct rte_flow_action list[], struct rte_flow_error *error);
/** Count one rule less for each handle of @p list; needs no lock. */
void mdv_flow_indirect_put(const struct rte_flow_action list[]);

/**
 * Check an update, without the rules that use the handle.
 * @return a copy for mdv_flow_indirect_do_update(), or NULL after filling @p error
 */
struct rte_flow_action *mdv_flow_indirect_prepare(struct mdv_port *port,
	const struct rte_flow_action_handle *handle, const struct rte_flow_action *update,
	struct rte_flow_error *error);
/** @param action freed or kept in every case. @return 0 or a negative errno, @p error filled */
int mdv_flow_indirect_do_update(struct mdv_port *port, struct rte_flow_action_handle *handle,
	struct rte_flow_action *action, struct rte_flow_error *error);
/** @return 0 or a negative errno, @p error filled */
int mdv_flow_indirect_do_destroy(
	struct mdv_port *port, struct rte_flow_action_handle *handle, struct rte_flow_error *error);
/** @param data NULL: only find out whether the handle can be queried */
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
#ifdef MDV_COMPAT_FLOW_LISTS
/** Refuse a query and an update in one call: what can be queried has nothing to update. */
int mdv_flow_indirect_check_one(
	const void *update, const void *query, struct rte_flow_error *error);
int mdv_flow_indirect_query_update(struct rte_eth_dev *dev, struct rte_flow_action_handle *handle,
	const void *update, void *query, enum rte_flow_query_update_mode mode,
	struct rte_flow_error *error);
#endif

#endif /* MDV_FLOW_INDIRECT_H */
