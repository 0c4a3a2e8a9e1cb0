/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Features of a port's netdev ("ethtool -k", "-K"): the TAP's, and rx-ntuple-filter, which no TAP
 * has and the device does. The kernel names the features and numbers them.
 */
#ifndef SHCA_NLDEV_FEATURES_H
#define SHCA_NLDEV_FEATURES_H

struct ifreq;
struct shca_nldev;

/** Run ETHTOOL_SFEATURES about the netdev of @p device. @return as the ioctl; a negative errno. */
int shca_features_set(
	const struct shca_nldev *nldev, unsigned int device, const struct ifreq *request);
/** Write over the kernel's answer to @p request, which has succeeded, if it tells of features. */
void shca_features_correct(const struct shca_nldev *nldev, const void *request);

#endif /* SHCA_NLDEV_FEATURES_H */
