/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Channels of the netdev ("ethtool -l", "-L"), as mlx5e_ethtool_set_channels(). */
#ifndef SHCA_ETHTOOL_CHANNELS_H
#define SHCA_ETHTOOL_CHANNELS_H

struct shca_ethtool_call;

/** @{ See struct shca_ethtool_command. */
int shca_channels_get(struct shca_ethtool_call *call);
int shca_channels_set(struct shca_ethtool_call *call);
/** @} */

#endif /* SHCA_ETHTOOL_CHANNELS_H */
