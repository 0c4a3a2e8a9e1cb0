/* SPDX-License-Identifier: BSD-3-Clause */
/* Refuses the operations that verbs cannot do, of later releases than 22.11. */

#include <errno.h>

#include "flow_unsupported_later.h"

#ifdef MDV_COMPAT_FLOW_LISTS
struct rte_flow *
mdv_flow_unsupported_by_index(__rte_unused struct rte_eth_dev *dev, __rte_unused uint32_t queue,
	__rte_unused const struct rte_flow_op_attr *attr, struct rte_flow_template_table *table,
	__rte_unused uint32_t index, __rte_unused const struct rte_flow_action actions[],
	__rte_unused uint8_t actions_index, __rte_unused void *user_data,
	struct rte_flow_error *error)
{
	rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, table,
		"rules by index: the driver's tables have none; create the rule by its pattern");
	return NULL;
}

int
mdv_flow_unsupported_actions_update(__rte_unused struct rte_eth_dev *dev, struct rte_flow *flow,
	__rte_unused const struct rte_flow_action actions[], struct rte_flow_error *error)
{
	return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, flow,
		"update of actions: a rule keeps its own; create the new rule at another priority, then destroy the old one");
}

int
mdv_flow_unsupported_async_actions_update(struct rte_eth_dev *dev, __rte_unused uint32_t queue,
	__rte_unused const struct rte_flow_op_attr *attr, struct rte_flow *flow,
	const struct rte_flow_action actions[], __rte_unused uint8_t actions_index,
	__rte_unused void *user_data, struct rte_flow_error *error)
{
	return mdv_flow_unsupported_actions_update(dev, flow, actions, error);
}

static int
refuse_list(const void *cause, struct rte_flow_error *error)
{
	return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, cause,
		"lists of indirect actions: the driver makes none; create an indirect action for each");
}

struct rte_flow_action_list_handle *
mdv_flow_unsupported_list_create(__rte_unused struct rte_eth_dev *dev,
	__rte_unused const struct rte_flow_indir_action_conf *conf,
	const struct rte_flow_action actions[], struct rte_flow_error *error)
{
	refuse_list(actions, error);
	return NULL;
}

struct rte_flow_action_list_handle *
mdv_flow_unsupported_async_list_create(struct rte_eth_dev *dev, __rte_unused uint32_t queue,
	__rte_unused const struct rte_flow_op_attr *attr,
	const struct rte_flow_indir_action_conf *conf, const struct rte_flow_action *actions,
	__rte_unused void *user_data, struct rte_flow_error *error)
{
	return mdv_flow_unsupported_list_create(dev, conf, actions, error);
}

int
mdv_flow_unsupported_list_destroy(__rte_unused struct rte_eth_dev *dev,
	struct rte_flow_action_list_handle *handle, struct rte_flow_error *error)
{
	return refuse_list(handle, error);
}

int
mdv_flow_unsupported_async_list_destroy(struct rte_eth_dev *dev, __rte_unused uint32_t queue,
	__rte_unused const struct rte_flow_op_attr *attr,
	struct rte_flow_action_list_handle *handle, __rte_unused void *user_data,
	struct rte_flow_error *error)
{
	return mdv_flow_unsupported_list_destroy(dev, handle, error);
}

int
mdv_flow_unsupported_list_query_update(__rte_unused struct rte_eth_dev *dev,
	const struct rte_flow_action_list_handle *handle, __rte_unused const void **update,
	__rte_unused void **query, __rte_unused enum rte_flow_query_update_mode mode,
	struct rte_flow_error *error)
{
	return refuse_list(handle, error);
}

int
mdv_flow_unsupported_async_list_query_update(struct rte_eth_dev *dev, __rte_unused uint32_t queue,
	__rte_unused const struct rte_flow_op_attr *attr,
	const struct rte_flow_action_list_handle *handle, const void **update, void **query,
	enum rte_flow_query_update_mode mode, __rte_unused void *user_data,
	struct rte_flow_error *error)
{
	return mdv_flow_unsupported_list_query_update(dev, handle, update, query, mode, error);
}

int
mdv_flow_unsupported_miss_actions(__rte_unused struct rte_eth_dev *dev, __rte_unused uint32_t group,
	__rte_unused const struct rte_flow_group_attr *attr, const struct rte_flow_action actions[],
	struct rte_flow_error *error)
{
	return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, actions,
		"misses of a group: verbs has one group of rules; add a rule that takes all at the last priority");
}

int
mdv_flow_unsupported_table_hash(__rte_unused struct rte_eth_dev *dev,
	const struct rte_flow_template_table *table,
	__rte_unused const struct rte_flow_item pattern[], __rte_unused uint8_t pattern_index,
	__rte_unused uint32_t *hash, struct rte_flow_error *error)
{
	return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, table,
		"hash in a table: the driver's tables have none; create the rule by its pattern");
}
#endif

#ifdef MDV_COMPAT_FLOW_FP_OPS
struct rte_flow *
mdv_flow_unsupported_by_index_with_pattern(struct rte_eth_dev *dev, uint32_t queue,
	const struct rte_flow_op_attr *attr, struct rte_flow_template_table *table, uint32_t index,
	__rte_unused const struct rte_flow_item pattern[], __rte_unused uint8_t pattern_index,
	const struct rte_flow_action actions[], uint8_t actions_index, void *user_data,
	struct rte_flow_error *error)
{
	return mdv_flow_unsupported_by_index(
		dev, queue, attr, table, index, actions, actions_index, user_data, error);
}

int
mdv_flow_unsupported_encap_hash(__rte_unused struct rte_eth_dev *dev,
	const struct rte_flow_item pattern[], __rte_unused enum rte_flow_encap_hash_field field,
	__rte_unused uint8_t *hash, struct rte_flow_error *error)
{
	return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, pattern,
		"hash of an encapsulation: the device computes none; its headers are the action's, with the source port");
}

int
mdv_flow_unsupported_resize(__rte_unused struct rte_eth_dev *dev,
	struct rte_flow_template_table *table, __rte_unused uint32_t nb_rules,
	struct rte_flow_error *error)
{
	return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, table,
		"size of a table: it keeps the one it was made with; make a table for the further rules");
}

int
mdv_flow_unsupported_update_resized(__rte_unused struct rte_eth_dev *dev,
	__rte_unused uint32_t queue, __rte_unused const struct rte_flow_op_attr *attr,
	struct rte_flow *flow, __rte_unused void *user_data, struct rte_flow_error *error)
{
	return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, flow,
		"rule of a resized table: no table is resized; the rule stays where it is");
}

int
mdv_flow_unsupported_resize_complete(struct rte_eth_dev *dev, struct rte_flow_template_table *table,
	struct rte_flow_error *error)
{
	return mdv_flow_unsupported_resize(dev, table, 0, error);
}
#endif
