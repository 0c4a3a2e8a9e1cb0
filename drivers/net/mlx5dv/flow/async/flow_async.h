/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Flow queues: several threads give rules in batches, each by its own queue, and pull results.
 *
 *      pulled          done           given
 *        v               v              v
 *     ---| results to be  | operations   |---
 *        | pulled         | to be pushed |
 *
 * A queue belongs to one thread and takes no lock. A push takes flow.lock once for all its
 * operations. An operation without postpone pushes those before it as well.
 */
#ifndef MDV_FLOW_ASYNC_H
#define MDV_FLOW_ASYNC_H

#include <stdint.h>

#include <rte_flow_driver.h>

#include "base/compat.h"
#include "flow/rule/flow_form.h"

struct mdv_port;

/** Flow queues of a port: one for each lcore. */
#define MDV_FLOW_ASYNC_QUEUES RTE_MAX_LCORE
/** Operations of a queue that are not pulled yet: at most, and of a queue of size 0, which stands
 * for the driver's choice (rte_flow.h, struct rte_flow_queue_attr). */
#define MDV_FLOW_ASYNC_SIZE    32768
#define MDV_FLOW_ASYNC_DEFAULT 1024

enum mdv_flow_async_what {
	MDV_FLOW_ASYNC_CREATE,
	MDV_FLOW_ASYNC_DESTROY,
	MDV_FLOW_ASYNC_ACTION_CREATE,
	MDV_FLOW_ASYNC_ACTION_DESTROY,
	MDV_FLOW_ASYNC_ACTION_UPDATE,
	MDV_FLOW_ASYNC_ACTION_QUERY,
};

struct mdv_flow_async_op {
	union {
		struct rte_flow *flow;
		struct rte_flow_action_handle *handle;
	};
	void *user_data;
	void *data; /**< ACTION_UPDATE: the new action; ACTION_QUERY: room for the answer */
	uint32_t nb_flushes; /**< of the port when a postponed operation was accepted */
	uint8_t what;        /**< enum mdv_flow_async_what */
	uint8_t status;      /**< enum rte_flow_op_status, when done */
};

struct mdv_flow_queue {
	uint32_t size;
	uint32_t mask;                /**< of indices; the array is of the next power of two */
	uint32_t pulled, done, given; /**< totals */
	struct mdv_flow_form form;    /**< of the rules that it makes */
	struct mdv_flow_async_op ops[];
};

int mdv_flow_async_info(struct rte_eth_dev *dev, struct rte_flow_port_info *port_info,
	struct rte_flow_queue_info *queue_info, struct rte_flow_error *error);
int mdv_flow_async_configure(struct rte_eth_dev *dev, const struct rte_flow_port_attr *attr,
	uint16_t nb_queues, const struct rte_flow_queue_attr *queue_attr[],
	struct rte_flow_error *error);
struct rte_flow *mdv_flow_async_create(struct rte_eth_dev *dev, uint32_t queue_id,
	const struct rte_flow_op_attr *attr, struct rte_flow_template_table *table,
	const struct rte_flow_item pattern[], uint8_t pattern_index,
	const struct rte_flow_action actions[], uint8_t actions_index, void *user_data,
	struct rte_flow_error *error);
int mdv_flow_async_destroy(struct rte_eth_dev *dev, uint32_t queue_id,
	const struct rte_flow_op_attr *attr, struct rte_flow *flow, void *user_data,
	struct rte_flow_error *error);
int mdv_flow_async_push(struct rte_eth_dev *dev, uint32_t queue_id, struct rte_flow_error *error);
int mdv_flow_async_pull(struct rte_eth_dev *dev, uint32_t queue_id,
	struct rte_flow_op_result results[], uint16_t nb, struct rte_flow_error *error);

/** Indirect actions of flow queues. Rules can name a handle at once; operations on it are done in
 * the queue's order. */
struct rte_flow_action_handle *mdv_flow_async_action_create(struct rte_eth_dev *dev,
	uint32_t queue_id, const struct rte_flow_op_attr *attr,
	const struct rte_flow_indir_action_conf *conf, const struct rte_flow_action *action,
	void *user_data, struct rte_flow_error *error);
int mdv_flow_async_action_destroy(struct rte_eth_dev *dev, uint32_t queue_id,
	const struct rte_flow_op_attr *attr, struct rte_flow_action_handle *handle, void *user_data,
	struct rte_flow_error *error);
int mdv_flow_async_action_update(struct rte_eth_dev *dev, uint32_t queue_id,
	const struct rte_flow_op_attr *attr, struct rte_flow_action_handle *handle,
	const void *update, void *user_data, struct rte_flow_error *error);
int mdv_flow_async_action_query(struct rte_eth_dev *dev, uint32_t queue_id,
	const struct rte_flow_op_attr *attr, const struct rte_flow_action_handle *handle,
	void *data, void *user_data, struct rte_flow_error *error);
#ifdef MDV_COMPAT_FLOW_LISTS
int mdv_flow_async_action_query_update(struct rte_eth_dev *dev, uint32_t queue_id,
	const struct rte_flow_op_attr *attr, struct rte_flow_action_handle *handle,
	const void *update, void *query, enum rte_flow_query_update_mode mode, void *user_data,
	struct rte_flow_error *error);
#endif

/** Drop pending operations; at close, after the rules have been flushed. */
void mdv_flow_async_fini(struct mdv_port *port);

#endif /* MDV_FLOW_ASYNC_H */
