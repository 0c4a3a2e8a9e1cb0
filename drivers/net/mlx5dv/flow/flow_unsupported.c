/* SPDX-License-Identifier: BSD-3-Clause */
/* Refuses the operations that verbs cannot do. */

#include <errno.h>

#include "flow_unsupported.h"

int
mdv_flow_unsupported_aged(__rte_unused struct rte_eth_dev *dev, __rte_unused void **contexts,
	__rte_unused uint32_t nb, struct rte_flow_error *error)
{
	return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
		"aged flows: verbs rules do not age; use COUNT and query whether it still rises");
}

int
mdv_flow_unsupported_queue_aged(struct rte_eth_dev *dev, __rte_unused uint32_t queue,
	void **contexts, uint32_t nb, struct rte_flow_error *error)
{
	return mdv_flow_unsupported_aged(dev, contexts, nb, error);
}

int
mdv_flow_unsupported_tunnel_decap(__rte_unused struct rte_eth_dev *dev,
	struct rte_flow_tunnel *tunnel, __rte_unused struct rte_flow_action **actions,
	__rte_unused uint32_t *nb, struct rte_flow_error *error)
{
	return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, tunnel,
		"tunnel offload: the driver gives no actions for it; take a tunnel off by VXLAN_DECAP, NVGRE_DECAP or RAW_DECAP, or skip the outer headers behind QUEUE or RSS");
}

int
mdv_flow_unsupported_tunnel_match(__rte_unused struct rte_eth_dev *dev,
	struct rte_flow_tunnel *tunnel, __rte_unused struct rte_flow_item **items,
	__rte_unused uint32_t *nb, struct rte_flow_error *error)
{
	return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, tunnel,
		"tunnel offload: the driver gives no items for it; match a tunnel by its own items, and behind a rule that takes it off what was in it");
}

int
mdv_flow_unsupported_restore(__rte_unused struct rte_eth_dev *dev, struct rte_mbuf *mbuf,
	__rte_unused struct rte_flow_restore_info *info, struct rte_flow_error *error)
{
	return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, mbuf,
		"tunnel offload: there is nothing to restore; the device does not tell of a tunnel that a rule has taken off");
}

int
mdv_flow_unsupported_actions_release(__rte_unused struct rte_eth_dev *dev,
	struct rte_flow_action *actions, __rte_unused uint32_t nb, struct rte_flow_error *error)
{
	return rte_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION, actions,
		"tunnel offload: the driver gives no actions; release none");
}

int
mdv_flow_unsupported_items_release(__rte_unused struct rte_eth_dev *dev,
	struct rte_flow_item *items, __rte_unused uint32_t nb, struct rte_flow_error *error)
{
	return rte_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM, items,
		"tunnel offload: the driver gives no items; release none");
}

struct rte_flow_item_flex_handle *
mdv_flow_unsupported_flex_create(__rte_unused struct rte_eth_dev *dev,
	const struct rte_flow_item_flex_conf *conf, struct rte_flow_error *error)
{
	rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, conf,
		"flex item: the device matches no headers of one's own; match what the guide lists");
	return NULL;
}

int
mdv_flow_unsupported_flex_release(__rte_unused struct rte_eth_dev *dev,
	const struct rte_flow_item_flex_handle *handle, struct rte_flow_error *error)
{
	return rte_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_HANDLE, handle,
		"flex item: the driver makes none; release none");
}
