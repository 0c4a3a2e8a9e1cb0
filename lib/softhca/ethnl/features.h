/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Features of the netdev ("ethtool -k", "-K"): net/ethtool/features.c. */
#ifndef SHCA_ETHNL_FEATURES_H
#define SHCA_ETHNL_FEATURES_H

struct shca_ethnl_call;

/** @{ See struct shca_ethnl_message. */
int shca_ethnl_features_get(struct shca_ethnl_call *call);
int shca_ethnl_features_set(struct shca_ethnl_call *call);
/** @} */

#endif /* SHCA_ETHNL_FEATURES_H */
