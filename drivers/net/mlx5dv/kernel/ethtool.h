/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Flow control and module EEPROM, by ethtool ioctls on the port's netdev. A setting applies to the
 * port as a whole, to Linux's traffic as well.
 */
#ifndef MDV_ETHTOOL_H
#define MDV_ETHTOOL_H

#include <rte_dev_info.h>
#include <rte_ethdev.h>

/**
 * ethdev flow_ctrl_get, flow_ctrl_set, get_module_info, get_module_eeprom.
 * @return 0; -ENOTSUP: no netdev, or the netdev does not support it; -EINVAL or another errno of
 * the kernel. A failure is logged and changes nothing.
 */
int mdv_ethtool_flow_ctrl_get(struct rte_eth_dev *dev, struct rte_eth_fc_conf *conf);
int mdv_ethtool_flow_ctrl_set(struct rte_eth_dev *dev, struct rte_eth_fc_conf *conf);
int mdv_ethtool_module_info(struct rte_eth_dev *dev, struct rte_eth_dev_module_info *info);
int mdv_ethtool_module_eeprom(struct rte_eth_dev *dev, struct rte_dev_eeprom_info *info);

#endif /* MDV_ETHTOOL_H */
