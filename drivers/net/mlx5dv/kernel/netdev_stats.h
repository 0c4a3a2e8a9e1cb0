/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Statistics of the netdev that shares the port, as "ethtool -S" shows them. */
#ifndef MDV_NETDEV_STATS_H
#define MDV_NETDEV_STATS_H

#include <stdint.h>

/** @p name ends with 0 and is valid during the call. */
typedef void (*mdv_netdev_stats_each_t)(const char *name, uint64_t value, void *arg);

/**
 * Read all statistics at one time and call @p each for every one.
 *
 * @return 0; -ENODEV: no netdev; -EOPNOTSUPP: it has no statistics; -EAGAIN: their number changed
 * during the call; another negative errno. After a failure @p each was not called.
 */
int mdv_netdev_stats_read(unsigned int ifindex, mdv_netdev_stats_each_t each, void *arg);

#endif /* MDV_NETDEV_STATS_H */
