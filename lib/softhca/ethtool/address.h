/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The permanent address ("ethtool -P"): the port's, where a TAP has none. */
#ifndef SHCA_ETHTOOL_ADDRESS_H
#define SHCA_ETHTOOL_ADDRESS_H

struct shca_ethtool_call;

/** See struct shca_ethtool_command. */
int shca_address_permanent(struct shca_ethtool_call *call);

#endif /* SHCA_ETHTOOL_ADDRESS_H */
