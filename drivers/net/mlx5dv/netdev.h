/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The kernel netdev that shares the port.
 *
 * It owns the port's MTU and its administrative state. There may be none (another namespace, a
 * software device without a kernel side): every function then says -ENODEV and the caller does
 * without.
 */
#ifndef MDV_NETDEV_H
#define MDV_NETDEV_H

#include <stdbool.h>
#include <stdint.h>

struct rte_ether_addr;

/** @return interface index of @p ifname, 0 when it does not exist. */
unsigned int mdv_netdev_index(const char *ifname);
int mdv_netdev_get_mtu(const char *ifname, uint16_t *mtu);
/** Set and read back. @return 0, -ENODEV, the kernel's refusal as a negative errno. */
int mdv_netdev_set_mtu(const char *ifname, uint16_t mtu);
int mdv_netdev_get_mac(const char *ifname, struct rte_ether_addr *mac);
/** Administrative state, IFF_UP. */
int mdv_netdev_get_up(const char *ifname, bool *up);
int mdv_netdev_set_up(const char *ifname, bool up);
/**
 * Set those of @p mask, IFF_PROMISC and the like, to @p flags.
 * @param before what they were; set on success and when the kernel refuses
 */
int mdv_netdev_set_flags(
	const char *ifname, unsigned int mask, unsigned int flags, unsigned int *before);
/** Speed by ETHTOOL_GLINKSETTINGS. @return 0, -ENODEV, -ENODATA when unknown. */
int mdv_netdev_get_speed(const char *ifname, uint32_t *speed_mbps);

/** One SIOCETHTOOL request: @p command is one of ethtool's structures. */
int mdv_netdev_ethtool(const char *ifname, void *command);

#endif /* MDV_NETDEV_H */
