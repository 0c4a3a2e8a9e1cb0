/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Pause frames of the port ("ethtool -a", "-A"): net/ethtool/pause.c. */
#ifndef SHCA_ETHNL_PAUSE_H
#define SHCA_ETHNL_PAUSE_H

struct shca_ethnl_call;

/** @{ See struct shca_ethnl_message. */
int shca_ethnl_pause_get(struct shca_ethnl_call *call);
int shca_ethnl_pause_set(struct shca_ethnl_call *call);
/** @} */

#endif /* SHCA_ETHNL_PAUSE_H */
