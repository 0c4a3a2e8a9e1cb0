/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The netdev of a virtual function, and of a physical one with such, follows the port. The switch
 * in front of the function goes by the netdev's modes and addresses, not by rules: without them
 * nothing arrives that rules would take. The netdevs of other ports are left alone.
 */
#ifndef MDV_MAC_NETDEV_H
#define MDV_MAC_NETDEV_H

#include <stdbool.h>

struct mdv_port;
struct rte_eth_dev;

/**
 * Make the netdev list the port's addresses beside its own, and remove what this port added and no
 * longer has. What somebody else has added stays.
 * @return 0, also without a netdev; or a negative errno after a message: an address of a virtual
 * function is not listed. For a physical function that is a warning: most of what is for the
 * address gets there.
 */
int mdv_mac_netdev_list(struct rte_eth_dev *dev);
/** Set a mode of the netdev, IFF_PROMISC or IFF_ALLMULTI; a failure is logged. */
void mdv_mac_netdev_follow(struct rte_eth_dev *dev, unsigned int flag, bool on);
/** Take back all that this port has set and added. */
void mdv_mac_netdev_release(struct mdv_port *port);

#endif /* MDV_MAC_NETDEV_H */
