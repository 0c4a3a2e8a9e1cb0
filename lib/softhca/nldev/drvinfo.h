/* SPDX-License-Identifier: BSD-3-Clause */
/** @file What ethtool -i asks of a port's netdev (SIOCETHTOOL, ETHTOOL_GDRVINFO). */
#ifndef SHCA_NLDEV_DRVINFO_H
#define SHCA_NLDEV_DRVINFO_H

struct shca_nldev;

/**
 * Answer as Linux's mlx5e_get_drvinfo() does.
 * @param request the application's struct ifreq: not trusted
 * @return 0, -EFAULT, or 1: the request is another, or of another netdev, and the kernel's to
 * answer
 */
int shca_drvinfo_answer(const struct shca_nldev *nldev, const void *request);

#endif /* SHCA_NLDEV_DRVINFO_H */
