/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Rules of the netdev ("ethtool -n", "-N"), as mlx5e_get_rxnfc() and mlx5e_set_rxnfc(). */
#ifndef SHCA_ETHTOOL_RXCLASS_H
#define SHCA_ETHTOOL_RXCLASS_H

struct shca_ethtool_call;

/** @{ See struct shca_ethtool_command. */
int shca_rxclass_rings(struct shca_ethtool_call *call);
int shca_rxclass_count(struct shca_ethtool_call *call);
int shca_rxclass_get(struct shca_ethtool_call *call);
int shca_rxclass_list(struct shca_ethtool_call *call);
int shca_rxclass_insert(struct shca_ethtool_call *call);
int shca_rxclass_delete(struct shca_ethtool_call *call);
/** @} */

#endif /* SHCA_ETHTOOL_RXCLASS_H */
