/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Which device, port and netdev the driver arguments mean. */
#ifndef MDV_RESOLVE_H
#define MDV_RESOLVE_H

#include "devargs.h"
#include "device.h"

/**
 * Find the verbs device, its port, and the netdev of that port, by RDMA netlink, or by sysfs where
 * there is none. What the arguments leave open is not guessed: the message names the ports.
 *
 * @param[out] device gets name, port_num, ifindex, ifname and bond_ifindex
 * @return 0, -ENODEV (no such port or netdev), -EINVAL (the arguments fit several ports); logged. A
 * device that is not known by either is no error here.
 */
int mdv_resolve(const struct mdv_config *config, struct mdv_device *device);

#endif /* MDV_RESOLVE_H */
