/* SPDX-License-Identifier: BSD-3-Clause */
/** @file What ethtool asks of a port's netdev (SIOCETHTOOL), and who answers. */
#ifndef SHCA_NLDEV_ETHTOOL_H
#define SHCA_NLDEV_ETHTOOL_H

#include "nldev/owner.h"

struct shca_nldev;

/**
 * Answer as mlx5e does, by the device of this process, or of another one below the runner.
 * @param request the application's struct ifreq: not trusted
 * @return as the ioctl, a negative errno or SHCA_NLDEV_KERNEL.
 */
int shca_nldev_ethtool(const struct shca_nldev *nldev, const void *request);

#endif /* SHCA_NLDEV_ETHTOOL_H */
