/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Features of a port's netdev ("ethtool -k", "-K"): the TAP's, and those that the device has and no
 * TAP (ethtool/offloads.h). The kernel names the features and numbers them.
 */
#ifndef SHCA_NLDEV_FEATURES_H
#define SHCA_NLDEV_FEATURES_H

#include <stdbool.h>
#include <stdint.h>

struct ethtool_gstrings;
struct ifreq;
struct shca_nldev;

/** Ask the kernel for the names of features, by number. @param[out] names to be freed @return 0,
 * -ENOMEM or SHCA_NLDEV_KERNEL: it has none for the netdev. */
int shca_features_names(const char *netdev, struct ethtool_gstrings **names);
/** @return whether shca_features_run() answers the command: it is about features. */
bool shca_features_has(uint32_t command);
/** Run a command about the netdev of @p device. @return as the ioctl; a negative errno, or
 * SHCA_NLDEV_KERNEL. */
int shca_features_run(const struct shca_nldev *nldev, unsigned int device, uint32_t command,
	const struct ifreq *request);

#endif /* SHCA_NLDEV_FEATURES_H */
