/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The kernel netdev that shares the port.
 *
 * It owns the port's MTU and its administrative state. There may be none (another namespace, a
 * software device without a kernel side; its index is 0 then): every function then says -ENODEV
 * and the caller does without. It is known by its index, as its name may change at any time and
 * become another's.
 */
#ifndef MDV_NETDEV_H
#define MDV_NETDEV_H

#include <stdbool.h>
#include <stdint.h>

#include <net/if.h>

struct rte_ether_addr;

/** @return interface index of @p ifname, 0 when it does not exist. */
unsigned int mdv_netdev_index(const char *ifname);
/** The name that it has now. @return 0, -ENODEV. */
int mdv_netdev_get_name(unsigned int ifindex, char name[IF_NAMESIZE]);
int mdv_netdev_get_mtu(unsigned int ifindex, uint16_t *mtu);
/** Set and read back. @return 0, -ENODEV, the kernel's refusal as a negative errno. */
int mdv_netdev_set_mtu(unsigned int ifindex, uint16_t mtu);
int mdv_netdev_get_mac(unsigned int ifindex, struct rte_ether_addr *mac);
/** Administrative state, IFF_UP. */
int mdv_netdev_get_up(unsigned int ifindex, bool *up);
int mdv_netdev_set_up(unsigned int ifindex, bool up);
/**
 * Set those of @p mask, IFF_PROMISC and the like, to @p flags.
 * @param before what they were; set on success and when the kernel refuses
 */
int mdv_netdev_set_flags(
	unsigned int ifindex, unsigned int mask, unsigned int flags, unsigned int *before);
/** Speed by ETHTOOL_GLINKSETTINGS. @return 0, -ENODEV, -ENODATA when unknown. */
int mdv_netdev_get_speed(unsigned int ifindex, uint32_t *speed_mbps);

/** One SIOCETHTOOL request: @p command is one of ethtool's structures. */
int mdv_netdev_ethtool(unsigned int ifindex, void *command);

#endif /* MDV_NETDEV_H */
