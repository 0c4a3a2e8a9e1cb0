/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Linux's notifications about the port's netdev: RTM_NEWLINK and RTM_DELLINK.
 *
 * A notification only triggers a look: notifications can be lost, and each describes one change.
 * The look sends requests (netdev.h), so it sees the current state.
 */
#ifndef MDV_NETLINK_H
#define MDV_NETLINK_H

#include <stdbool.h>
#include <stdint.h>

struct mdv_device;
struct mdv_port;

/** @return a non-blocking socket with the notifications of this namespace, or a negative errno. */
int mdv_netlink_open(void);
/** Read all notifications. @return whether one, or maybe a lost one, was about the device's netdev
 * or the bond's above it. */
bool mdv_netlink_read(int fd, const struct mdv_device *device);
/**
 * Look for changes of the netdev and log them: a new name; its removal, after which the port has no
 * netdev; an MTU that differs from that of a running port.
 * @param[in,out] mtu the netdev's MTU at the last look
 */
void mdv_netlink_look(struct mdv_port *port, uint16_t *mtu);

#endif /* MDV_NETLINK_H */
