/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The kernel netdev that shares the port.
 *
 * The netdev owns the port's MTU and its administrative state. There may be no netdev (it is in
 * another namespace, or a software device has no kernel side): its index is 0, every function
 * returns -ENODEV, and the caller does without. The index identifies the netdev, because its name
 * may change at any time and be given to another netdev.
 */
#ifndef MDV_NETDEV_H
#define MDV_NETDEV_H

#include <stdbool.h>
#include <stdint.h>

#include <net/if.h>

struct rte_ether_addr;

/** @return interface index of @p ifname, 0 when it does not exist. */
unsigned int mdv_netdev_index(const char *ifname);
/** Get the current name. @return 0, -ENODEV. */
int mdv_netdev_get_name(unsigned int ifindex, char name[IF_NAMESIZE]);
int mdv_netdev_get_mtu(unsigned int ifindex, uint16_t *mtu);
/** Set and read back. @return 0, -ENODEV, -EAGAIN: it differs, or the kernel's negative errno. */
int mdv_netdev_set_mtu(unsigned int ifindex, uint16_t mtu);
int mdv_netdev_get_mac(unsigned int ifindex, struct rte_ether_addr *mac);
/** Administrative state, IFF_UP. */
int mdv_netdev_get_up(unsigned int ifindex, bool *up);
int mdv_netdev_set_up(unsigned int ifindex, bool up);
/**
 * Set the flags in @p mask (IFF_PROMISC and the like) to @p flags.
 * @param[out] before their previous values; set on success and when the kernel refuses
 */
int mdv_netdev_set_flags(
	unsigned int ifindex, unsigned int mask, unsigned int flags, unsigned int *before);
/** Speed by ETHTOOL_GLINKSETTINGS. @return 0, -ENODEV, -ENODATA when unknown. */
int mdv_netdev_get_speed(unsigned int ifindex, uint32_t *speed_mbps);

/** One SIOCETHTOOL request: @p command is one of ethtool's structures. */
int mdv_netdev_ethtool(unsigned int ifindex, void *command);

#endif /* MDV_NETDEV_H */
