/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Pause frames of the port ("ethtool -a", "-A"), as mlx5e_ethtool_set_pauseparam(): kept,
 * and told again; no wire has such frames. */
#ifndef SHCA_ETHTOOL_PAUSE_H
#define SHCA_ETHTOOL_PAUSE_H

struct shca_ethtool_call;

/** @{ See struct shca_ethtool_command. */
int shca_pause_get(struct shca_ethtool_call *call);
int shca_pause_set(struct shca_ethtool_call *call);
/** @} */

#endif /* SHCA_ETHTOOL_PAUSE_H */
