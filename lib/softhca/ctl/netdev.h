/* SPDX-License-Identifier: BSD-3-Clause */
/** @file "ethtool": a command of the netdev's ioctl, which another process was given. */
#ifndef SHCA_CTL_NETDEV_H
#define SHCA_CTL_NETDEV_H

#include <stdint.h>
#include <stdio.h>

struct shca_target;
struct shca_request;

/** Answer the request, bytes in hexadecimal, by bytes or by "errno N". */
int shca_netdev_run(struct shca_target *target, const struct shca_request *request, FILE *out);
/**
 * The other side: ask the process below the runner's directory that has the device open.
 * @param bytes SHCA_ETHTOOL_MAX bytes, the first @p length of them the request
 * @return as shca_ethtool_run(); -ENODEV: no process has it.
 */
int shca_netdev_ask(const char *dir, unsigned int device, uint8_t *bytes, size_t *length);

#endif /* SHCA_CTL_NETDEV_H */
