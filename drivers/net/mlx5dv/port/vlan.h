/* SPDX-License-Identifier: BSD-3-Clause */
/** @file VLAN stripping by the device and VLAN filtering by the default rules, also while the port
 * runs. */
#ifndef MDV_VLAN_H
#define MDV_VLAN_H

#include <stdint.h>

#include <rte_ethdev.h>

/** ethdev vlan_offload_set, vlan_strip_queue_set. */
int mdv_vlan_offload_set(struct rte_eth_dev *dev, int mask);
void mdv_vlan_strip_queue_set(struct rte_eth_dev *dev, uint16_t idx, int on);
/**
 * ethdev vlan_filter_set. dev->data->vlan_filter_conf has the permitted VLANs and survives stop and
 * reset.
 */
int mdv_vlan_filter_set(struct rte_eth_dev *dev, uint16_t vid, int on);

#endif /* MDV_VLAN_H */
