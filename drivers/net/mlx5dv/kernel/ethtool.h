/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What only the netdev beside the port knows of the cable: pause frames, and the module it is
 * plugged into. All of it is the port's, Linux's as well as ours.
 */
#ifndef MDV_ETHTOOL_H
#define MDV_ETHTOOL_H

#include <rte_dev_info.h>
#include <rte_ethdev.h>

/**
 * ethdev flow_ctrl_get, flow_ctrl_set, get_module_info, get_module_eeprom.
 * @return 0, -ENOTSUP without a netdev or one that does not offer it, -EINVAL, another refusal of
 * the kernel's; logged, and nothing was changed
 */
int mdv_ethtool_flow_ctrl_get(struct rte_eth_dev *dev, struct rte_eth_fc_conf *conf);
int mdv_ethtool_flow_ctrl_set(struct rte_eth_dev *dev, struct rte_eth_fc_conf *conf);
int mdv_ethtool_module_info(struct rte_eth_dev *dev, struct rte_eth_dev_module_info *info);
int mdv_ethtool_module_eeprom(struct rte_eth_dev *dev, struct rte_dev_eeprom_info *info);

#endif /* MDV_ETHTOOL_H */
