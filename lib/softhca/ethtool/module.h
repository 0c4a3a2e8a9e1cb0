/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The module in the port's cage: its EEPROM, as ethtool -m reads it. */
#ifndef SHCA_ETHTOOL_MODULE_H
#define SHCA_ETHTOOL_MODULE_H

struct shca_ethtool_call;

/** @{ See struct shca_ethtool_command. */
int shca_module_info(struct shca_ethtool_call *call);
int shca_module_eeprom(struct shca_ethtool_call *call);
/** @} */

#endif /* SHCA_ETHTOOL_MODULE_H */
