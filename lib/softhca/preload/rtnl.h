/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * rtnetlink: what the kernel tells of a port's netdev gets the port's permanent address
 * (IFLA_PERM_ADDRESS), which a TAP has none of. "ethtool -P" asks so, since it knows netlink.
 */
#ifndef SHCA_PRELOAD_RTNL_H
#define SHCA_PRELOAD_RTNL_H

#include <stddef.h>

struct shca_bell;

/** As shca_genl_request(), for RTM_GETLINK about one netdev. */
int shca_rtnl_request(struct shca_bell *bell, int fd, const void *bytes, size_t length);

#endif /* SHCA_PRELOAD_RTNL_H */
