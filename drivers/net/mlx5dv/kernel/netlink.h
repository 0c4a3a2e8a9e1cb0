/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What Linux tells of the netdev beside a port while it happens: RTM_NEWLINK and its like.
 *
 * A message is a reason to look, no more: they can be lost, and tell of edges. Looking is by
 * requests (netdev.h), so that all is as it is now.
 */
#ifndef MDV_NETLINK_H
#define MDV_NETLINK_H

#include <stdbool.h>
#include <stdint.h>

struct mdv_port;

/** @return a non-blocking socket that hears of netdevs of this namespace, or a negative errno. */
int mdv_netlink_open(void);
/** Read all there is. @return whether @p ifindex was among it, or may have been. */
bool mdv_netlink_read(int fd, unsigned int ifindex);
/**
 * Look for what somebody has done to the netdev since @p mtu was its MTU, and log it: a new name,
 * that it is gone (the port is without one from then on), another MTU than a running port has.
 */
void mdv_netlink_look(struct mdv_port *port, uint16_t *mtu);

#endif /* MDV_NETLINK_H */
