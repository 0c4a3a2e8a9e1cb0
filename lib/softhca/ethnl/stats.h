/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Counters that standards name ("ethtool -S --groups"): net/ethtool/stats.c. */
#ifndef SHCA_ETHNL_STATS_H
#define SHCA_ETHNL_STATS_H

struct ethtool_gstrings;
struct shca_ethnl_call;

/** See struct shca_ethnl_message. */
int shca_ethnl_stats_get(struct shca_ethnl_call *call);
/** Ask for the names of the netdev's counters. @param[out] names to be freed @return as
 * shca_ethnl_ask(), or -ENOMEM */
int shca_stats_names(struct shca_ethnl_call *call, struct ethtool_gstrings **names);

#endif /* SHCA_ETHNL_STATS_H */
