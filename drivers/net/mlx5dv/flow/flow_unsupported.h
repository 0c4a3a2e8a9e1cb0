/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Operations of rte_flow that verbs has nothing for: each refuses and says what to do instead.
 * Their texts are constant, as some are asked for with each packet.
 *
 * Not here: pick_transfer_proxy, without which ethdev names the port itself, which then refuses
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
