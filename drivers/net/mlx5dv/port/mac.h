/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The addresses that the port receives: MAC addresses, multicast list, promiscuous and
 * allmulticast mode. */
#ifndef MDV_MAC_H
#define MDV_MAC_H

#include <stdint.h>

#include <rte_ethdev.h>

/** At probe: allocate the array of addresses and set the first one, from the netdev or else from
 * GID 0. @return 0 or a negative errno. */
int mdv_mac_init(struct rte_eth_dev *dev);
/** ethdev operations; after a failure port and device are unchanged. */
int mdv_mac_set(struct rte_eth_dev *dev, struct rte_ether_addr *mac);
int mdv_mac_add(struct rte_eth_dev *dev, struct rte_ether_addr *mac, uint32_t idx, uint32_t pool);
void mdv_mac_remove(struct rte_eth_dev *dev, uint32_t idx);
int mdv_mac_set_mc_list(struct rte_eth_dev *dev, struct rte_ether_addr *list, uint32_t nb);
int mdv_mac_promiscuous_enable(struct rte_eth_dev *dev);
int mdv_mac_promiscuous_disable(struct rte_eth_dev *dev);
int mdv_mac_allmulticast_enable(struct rte_eth_dev *dev);
int mdv_mac_allmulticast_disable(struct rte_eth_dev *dev);

#endif /* MDV_MAC_H */
