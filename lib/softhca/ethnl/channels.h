/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The netdev's channels ("ethtool -l", "-L"): net/ethtool/channels.c. */
#ifndef SHCA_ETHNL_CHANNELS_H
#define SHCA_ETHNL_CHANNELS_H

struct shca_ethnl_call;

/** @{ See struct shca_ethnl_message. */
int shca_ethnl_channels_get(struct shca_ethnl_call *call);
int shca_ethnl_channels_set(struct shca_ethnl_call *call);
/** @} */

#endif /* SHCA_ETHNL_CHANNELS_H */
