/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What flow_unsupported.h has, of the operations that releases behind 22.11 have: indirect actions
 * in lists, rules by index, changes of rules, hashes, and tables of another size.
 */
#ifndef MDV_FLOW_UNSUPPORTED_LATER_H
#define MDV_FLOW_UNSUPPORTED_LATER_H

#include <ethdev_driver.h>
#include <rte_flow.h>

#include "base/compat.h"

#ifdef MDV_COMPAT_FLOW_LISTS
struct rte_flow *mdv_flow_unsupported_by_index(struct rte_eth_dev *dev, uint32_t queue,
	const struct rte_flow_op_attr *attr, struct rte_flow_template_table *table, uint32_t index,
	const struct rte_flow_action actions[], uint8_t actions_index, void *user_data,
	struct rte_flow_error *error);
int mdv_flow_unsupported_actions_update(struct rte_eth_dev *dev, struct rte_flow *flow,
	const struct rte_flow_action actions[], struct rte_flow_error *error);
int mdv_flow_unsupported_async_actions_update(struct rte_eth_dev *dev, uint32_t queue,
	const struct rte_flow_op_attr *attr, struct rte_flow *flow,
	const struct rte_flow_action actions[], uint8_t actions_index, void *user_data,
	struct rte_flow_error *error);
struct rte_flow_action_list_handle *mdv_flow_unsupported_list_create(struct rte_eth_dev *dev,
	const struct rte_flow_indir_action_conf *conf, const struct rte_flow_action actions[],
	struct rte_flow_error *error);
struct rte_flow_action_list_handle *mdv_flow_unsupported_async_list_create(struct rte_eth_dev *dev,
	uint32_t queue, const struct rte_flow_op_attr *attr,
	const struct rte_flow_indir_action_conf *conf, const struct rte_flow_action *actions,
	void *user_data, struct rte_flow_error *error);
int mdv_flow_unsupported_list_destroy(struct rte_eth_dev *dev,
	struct rte_flow_action_list_handle *handle, struct rte_flow_error *error);
int mdv_flow_unsupported_async_list_destroy(struct rte_eth_dev *dev, uint32_t queue,
	const struct rte_flow_op_attr *attr, struct rte_flow_action_list_handle *handle,
	void *user_data, struct rte_flow_error *error);
int mdv_flow_unsupported_list_query_update(struct rte_eth_dev *dev,
	const struct rte_flow_action_list_handle *handle, const void **update, void **query,
	enum rte_flow_query_update_mode mode, struct rte_flow_error *error);
int mdv_flow_unsupported_async_list_query_update(struct rte_eth_dev *dev, uint32_t queue,
	const struct rte_flow_op_attr *attr, const struct rte_flow_action_list_handle *handle,
	const void **update, void **query, enum rte_flow_query_update_mode mode, void *user_data,
	struct rte_flow_error *error);
int mdv_flow_unsupported_miss_actions(struct rte_eth_dev *dev, uint32_t group,
	const struct rte_flow_group_attr *attr, const struct rte_flow_action actions[],
	struct rte_flow_error *error);
int mdv_flow_unsupported_table_hash(struct rte_eth_dev *dev,
	const struct rte_flow_template_table *table, const struct rte_flow_item pattern[],
	uint8_t pattern_index, uint32_t *hash, struct rte_flow_error *error);
#endif

#ifdef MDV_COMPAT_FLOW_FP_OPS
struct rte_flow *mdv_flow_unsupported_by_index_with_pattern(struct rte_eth_dev *dev, uint32_t queue,
	const struct rte_flow_op_attr *attr, struct rte_flow_template_table *table, uint32_t index,
	const struct rte_flow_item pattern[], uint8_t pattern_index,
	const struct rte_flow_action actions[], uint8_t actions_index, void *user_data,
	struct rte_flow_error *error);
int mdv_flow_unsupported_encap_hash(struct rte_eth_dev *dev, const struct rte_flow_item pattern[],
	enum rte_flow_encap_hash_field field, uint8_t *hash, struct rte_flow_error *error);
int mdv_flow_unsupported_resize(struct rte_eth_dev *dev, struct rte_flow_template_table *table,
	uint32_t nb_rules, struct rte_flow_error *error);
int mdv_flow_unsupported_update_resized(struct rte_eth_dev *dev, uint32_t queue,
	const struct rte_flow_op_attr *attr, struct rte_flow *flow, void *user_data,
	struct rte_flow_error *error);
int mdv_flow_unsupported_resize_complete(struct rte_eth_dev *dev,
	struct rte_flow_template_table *table, struct rte_flow_error *error);
#endif

#endif /* MDV_FLOW_UNSUPPORTED_LATER_H */
