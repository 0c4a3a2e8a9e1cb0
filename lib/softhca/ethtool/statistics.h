/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Counters of the netdev ("ethtool -S"), named as mlx5e names them: those that we count. */
#ifndef SHCA_ETHTOOL_STATISTICS_H
#define SHCA_ETHTOOL_STATISTICS_H

struct shca_ethtool_call;

/** @return how many there are. */
unsigned int shca_statistics_count(void);
/** @{ See struct shca_ethtool_command. Other sets of strings are the TAP's: -ENODEV. */
int shca_statistics_sets(struct shca_ethtool_call *call);
int shca_statistics_strings(struct shca_ethtool_call *call);
int shca_statistics_values(struct shca_ethtool_call *call);
/** @} */

#endif /* SHCA_ETHTOOL_STATISTICS_H */
