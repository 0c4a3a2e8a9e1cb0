/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The EEPROM of the module by pages ("ethtool -m"): net/ethtool/eeprom.c. */
#ifndef SHCA_ETHNL_EEPROM_H
#define SHCA_ETHNL_EEPROM_H

struct shca_ethnl_call;

/** See struct shca_ethnl_message. */
int shca_ethnl_eeprom_get(struct shca_ethnl_call *call);

#endif /* SHCA_ETHNL_EEPROM_H */
