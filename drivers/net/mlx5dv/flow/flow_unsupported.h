/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Operations of rte_flow that verbs cannot do: each refuses and says what to do instead. The texts
 * are constant, as some of the operations may be called for each packet.
 *
 * pick_transfer_proxy is left to ethdev, which answers with the port itself; the port then refuses
 * transfer rules by name.
 */
#ifndef MDV_FLOW_UNSUPPORTED_H
#define MDV_FLOW_UNSUPPORTED_H

#include <ethdev_driver.h>
#include <rte_flow.h>

int mdv_flow_unsupported_aged(
	struct rte_eth_dev *dev, void **contexts, uint32_t nb, struct rte_flow_error *error);
int mdv_flow_unsupported_queue_aged(struct rte_eth_dev *dev, uint32_t queue, void **contexts,
	uint32_t nb, struct rte_flow_error *error);
int mdv_flow_unsupported_tunnel_decap(struct rte_eth_dev *dev, struct rte_flow_tunnel *tunnel,
	struct rte_flow_action **actions, uint32_t *nb, struct rte_flow_error *error);
int mdv_flow_unsupported_tunnel_match(struct rte_eth_dev *dev, struct rte_flow_tunnel *tunnel,
	struct rte_flow_item **items, uint32_t *nb, struct rte_flow_error *error);
int mdv_flow_unsupported_restore(struct rte_eth_dev *dev, struct rte_mbuf *mbuf,
	struct rte_flow_restore_info *info, struct rte_flow_error *error);
int mdv_flow_unsupported_actions_release(struct rte_eth_dev *dev, struct rte_flow_action *actions,
	uint32_t nb, struct rte_flow_error *error);
int mdv_flow_unsupported_items_release(struct rte_eth_dev *dev, struct rte_flow_item *items,
	uint32_t nb, struct rte_flow_error *error);
struct rte_flow_item_flex_handle *mdv_flow_unsupported_flex_create(struct rte_eth_dev *dev,
	const struct rte_flow_item_flex_conf *conf, struct rte_flow_error *error);
int mdv_flow_unsupported_flex_release(struct rte_eth_dev *dev,
	const struct rte_flow_item_flex_handle *handle, struct rte_flow_error *error);

#endif /* MDV_FLOW_UNSUPPORTED_H */
