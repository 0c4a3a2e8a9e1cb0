/* SPDX-License-Identifier: BSD-3-Clause */
/* Flow control and module EEPROM, by ethtool's requests. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/ethtool.h>

#include <ethdev_driver.h>

#include "base/log.h"
#include "ethtool.h"
#include "netdev.h"
#include "state/port.h"

/** Longest EEPROM to allocate for, bytes; the largest that linux/ethtool.h names has 640. */
#define EEPROM_MAX (1u << 20)

/** ethdev's module types have Linux's numbers. */
static_assert(RTE_ETH_MODULE_SFF_8079 == ETH_MODULE_SFF_8079, "a module's type");
static_assert(RTE_ETH_MODULE_SFF_8472 == ETH_MODULE_SFF_8472, "a module's type");
static_assert(RTE_ETH_MODULE_SFF_8636 == ETH_MODULE_SFF_8636, "a module's type");
static_assert(RTE_ETH_MODULE_SFF_8436 == ETH_MODULE_SFF_8436, "a module's type");

/** Send an ethtool request to the netdev; log a failure. */
static int
ask(const struct rte_eth_dev *dev, void *command, const char *what)
{
	const struct mdv_device *device = &mdv_port(dev)->device;
	const uint16_t port_id = dev->data->port_id;
	int ret = mdv_netdev_ethtool(device->ifindex, command);

	if (ret == 0)
		return 0;
	if (ret == -ENODEV) {
		MDV_LOG(ERR, "port %u: %s: that is the netdev's, and there is none here", port_id,
			what);
		return -ENOTSUP;
	}
	if (ret == -EOPNOTSUPP) {
		MDV_LOG(ERR, "port %u: %s: netdev %s does not offer it", port_id, what,
			device->ifname);
		return -ENOTSUP;
	}
	MDV_LOG(ERR, "port %u: %s: netdev %s: %s", port_id, what, device->ifname, strerror(-ret));
	return ret;
}

int
mdv_ethtool_flow_ctrl_get(struct rte_eth_dev *dev, struct rte_eth_fc_conf *conf)
{
	static const enum rte_eth_fc_mode modes[2][2] = {
		{ RTE_ETH_FC_NONE, RTE_ETH_FC_TX_PAUSE },
		{ RTE_ETH_FC_RX_PAUSE, RTE_ETH_FC_FULL },
	};
	struct ethtool_pauseparam pause = { .cmd = ETHTOOL_GPAUSEPARAM };
	int ret = ask(dev, &pause, "flow control");

	if (ret != 0)
		return ret;
	*conf = (struct rte_eth_fc_conf){
		.mode = modes[pause.rx_pause != 0][pause.tx_pause != 0],
		.autoneg = pause.autoneg != 0,
	};
	return 0;
}

int
mdv_ethtool_flow_ctrl_set(struct rte_eth_dev *dev, struct rte_eth_fc_conf *conf)
{
	struct ethtool_pauseparam pause = {
		.cmd = ETHTOOL_SPAUSEPARAM,
		.autoneg = conf->autoneg,
		.rx_pause = conf->mode == RTE_ETH_FC_RX_PAUSE || conf->mode == RTE_ETH_FC_FULL,
		.tx_pause = conf->mode == RTE_ETH_FC_TX_PAUSE || conf->mode == RTE_ETH_FC_FULL,
	};

	if (conf->high_water != 0 || conf->low_water != 0 || conf->pause_time != 0 ||
		conf->send_xon != 0 || conf->mac_ctrl_frame_fwd != 0) {
		MDV_LOG(ERR,
			"port %u: flow control: water marks, pause time, XON and forwarding are the device's; only the mode and autonegotiation can be set",
			dev->data->port_id);
		return -EINVAL;
	}
	return ask(dev, &pause, "flow control");
}

int
mdv_ethtool_module_info(struct rte_eth_dev *dev, struct rte_eth_dev_module_info *info)
{
	struct ethtool_modinfo module = { .cmd = ETHTOOL_GMODULEINFO };
	int ret = ask(dev, &module, "module");

	if (ret != 0)
		return ret;
	info->type = module.type;
	info->eeprom_len = module.eeprom_len;
	return 0;
}

int
mdv_ethtool_module_eeprom(struct rte_eth_dev *dev, struct rte_dev_eeprom_info *info)
{
	struct ethtool_eeprom *eeprom;
	int ret;

	if (info->length > EEPROM_MAX) {
		MDV_LOG(ERR, "port %u: module EEPROM: no module has %u bytes", dev->data->port_id,
			info->length);
		return -EINVAL;
	}
	eeprom = calloc(1, sizeof(*eeprom) + info->length);
	if (eeprom == NULL)
		return -ENOMEM;
	eeprom->cmd = ETHTOOL_GMODULEEEPROM;
	eeprom->offset = info->offset;
	eeprom->len = info->length;
	ret = ask(dev, eeprom, "module EEPROM");
	if (ret == 0)
		memcpy(info->data, eeprom->data, info->length);
	free(eeprom);
	return ret;
}
