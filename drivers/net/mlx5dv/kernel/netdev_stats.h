/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Statistics of the netdev that shares the port, as "ethtool -S" shows them. */
#ifndef MDV_NETDEV_STATS_H
#define MDV_NETDEV_STATS_H

#include <stdint.h>

/** @p name ends with 0 and lives as long as the call. */
typedef void (*mdv_netdev_stats_each_t)(const char *name, uint64_t value, void *arg);

/**
 * Read them all at one time and show each.
 *
 * @return 0, -ENODEV without netdev, -EOPNOTSUPP when it has none, -EAGAIN when others came while
 * they were read, another negative errno; nothing was shown then.
 */
int mdv_netdev_stats_read(unsigned int ifindex, mdv_netdev_stats_each_t each, void *arg);

#endif /* MDV_NETDEV_STATS_H */
