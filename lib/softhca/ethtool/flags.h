/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The features of the netdev that are the device's: ETH_FLAG_NTUPLE, which is aRFS. */
#ifndef SHCA_ETHTOOL_FLAGS_H
#define SHCA_ETHTOOL_FLAGS_H

struct shca_ethtool_call;

/** @{ See struct shca_ethtool_command; the other flags are the TAP's. */
int shca_flags_get(struct shca_ethtool_call *call);
int shca_flags_set(struct shca_ethtool_call *call);
/** @} */

#endif /* SHCA_ETHTOOL_FLAGS_H */
