/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The features of the netdev that are the device's and not the TAP's ("ethtool -k", "-K").
 * Between processes they have numbers of our own, the rows'; Linux has others (nldev/features.c).
 */
#ifndef SHCA_ETHTOOL_OFFLOADS_H
#define SHCA_ETHTOOL_OFFLOADS_H

#include <stdint.h>
#include <linux/ethtool.h>

struct shca_ethtool_call;

struct shca_offload_name {
	const char *name; /**< Linux net/ethtool/common.c netdev_features_strings */
	uint32_t flag;    /**< ETH_FLAG_* of the old commands, or 0 */
};

#define SHCA_OFFLOADS_NB 3
extern const struct shca_offload_name shca_offload_names[SHCA_OFFLOADS_NB];

/** One block: bit i is of row i. The heads are Linux's, which end in arrays of blocks. */
struct shca_offloads_get {
	uint32_t cmd, size;
	struct ethtool_get_features_block block;
};

struct shca_offloads_set {
	uint32_t cmd, size;
	struct ethtool_set_features_block block;
};

/** @{ See struct shca_ethtool_command. */
int shca_offloads_get(struct shca_ethtool_call *call);
int shca_offloads_set(struct shca_ethtool_call *call);
/** @} */

#endif /* SHCA_ETHTOOL_OFFLOADS_H */
