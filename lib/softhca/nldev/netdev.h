/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The netdev beside a port, as the calling thread's network namespace has it. */
#ifndef SHCA_NLDEV_NETDEV_H
#define SHCA_NLDEV_NETDEV_H

#include <net/if.h>
#include <stdbool.h>

struct shca_tree_netdev;

/**
 * Find its name of this moment, where the device may have seen another one so far. One whose index
 * or namespace nobody knows is taken to have the name that was seen.
 * @return whether the namespace has it.
 */
bool shca_netdev_name(const struct shca_tree_netdev *netdev, char name[static IF_NAMESIZE]);

#endif /* SHCA_NLDEV_NETDEV_H */
