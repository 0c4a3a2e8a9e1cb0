/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The tables of ethdev operations, and queries of limits and packet types. */
#ifndef MDV_ETHDEV_H
#define MDV_ETHDEV_H

#include <stdint.h>

#include <rte_ethdev.h>

#include "base/compat.h"

struct eth_dev_ops;

extern const struct eth_dev_ops mdv_ethdev_ops;
/** Of a secondary process. */
extern const struct eth_dev_ops mdv_ethdev_secondary_ops;
/** ethdev dev_infos_get and dev_supported_ptypes_get, also of a secondary process. */
int mdv_ethdev_infos_get(struct rte_eth_dev *dev, struct rte_eth_dev_info *info);
const uint32_t *mdv_ethdev_supported_ptypes_get(MDV_COMPAT_PTYPES_ARGS(dev, nb));

#endif /* MDV_ETHDEV_H */
