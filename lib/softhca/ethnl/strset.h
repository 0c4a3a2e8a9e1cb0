/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Sets of strings: net/ethtool/strset.c. The device has the names of its counters. */
#ifndef SHCA_ETHNL_STRSET_H
#define SHCA_ETHNL_STRSET_H

struct shca_ethnl_call;

/** See struct shca_ethnl_message. */
int shca_ethnl_strset_get(struct shca_ethnl_call *call);

#endif /* SHCA_ETHNL_STRSET_H */
