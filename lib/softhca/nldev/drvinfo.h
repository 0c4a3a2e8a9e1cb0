/* SPDX-License-Identifier: BSD-3-Clause */
/** @file What ethtool -i asks of a port's netdev (SIOCETHTOOL, ETHTOOL_GDRVINFO). */
#ifndef SHCA_NLDEV_DRVINFO_H
#define SHCA_NLDEV_DRVINFO_H

#include <net/if.h>
#include <stdbool.h>

struct shca_nldev;

/** @return the number of the device that has the netdev @p name, of IFNAMSIZ bytes, or -1; netdevs
 * of representors do not count, of which mlx5 answers next to nothing. */
int shca_drvinfo_own(const struct shca_nldev *nldev, const char *name);
/** Find that netdev of a device. @param[out] netdev "": it has none @return whether there is such a
 * device. */
bool shca_drvinfo_find(
	const struct shca_nldev *nldev, unsigned int device, char netdev[static IF_NAMESIZE]);
/**
 * Write over the kernel's answer to @p request, which has succeeded, if it is about a port's
 * netdev or its representor's: what Linux's mlx5e tells.
 * @param request the application's struct ifreq: not trusted
 */
void shca_drvinfo_answer(const struct shca_nldev *nldev, const void *request);

#endif /* SHCA_NLDEV_DRVINFO_H */
