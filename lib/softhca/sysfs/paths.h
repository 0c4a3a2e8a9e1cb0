/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Places below the runner's directory. Internal to sysfs/. */
#ifndef SHCA_SYSFS_PATHS_H
#define SHCA_SYSFS_PATHS_H

#include "sysfs/tree.h"

#define SHCA_TREE_PATH_MAX 256

/** Directory of device %u, port %u. */
#define SHCA_TREE_PORT_FORMAT SHCA_TREE_SYS "/class/infiniband/mlx5_%u/ports/%u"
/** Beside the tree: files named DEVICE.PORT, each with the name of the port's netdev. */
#define SHCA_TREE_NETDEVS "netdevs"

#endif /* SHCA_SYSFS_PATHS_H */
