/* SPDX-License-Identifier: BSD-3-Clause */
/* Pause frames of the port. */
#include "ethtool/pause.h"

#include <errno.h>
#include <linux/ethtool.h>

#include "ethtool/command.h"
#include "hw/device/device.h"

int
shca_pause_get(struct shca_ethtool_call *call)
{
	const struct shca_pause *pause = shca_device_pause(call->dev);

	*(struct ethtool_pauseparam *)(void *)call->bytes = (struct ethtool_pauseparam){
		.cmd = ETHTOOL_GPAUSEPARAM,
		.rx_pause = pause->rx,
		.tx_pause = pause->tx,
	};
	return 0;
}

int
shca_pause_set(struct shca_ethtool_call *call)
{
	const struct ethtool_pauseparam *wanted = (const void *)call->bytes;

	/* The port's registers are the physical function's (vport_group_manager). */
	if (shca_device_conf(call->dev)->is_vf)
		return -EOPNOTSUPP;
	if (wanted->autoneg != 0)
		return -EINVAL;
	*shca_device_pause(call->dev) = (struct shca_pause){
		.rx = wanted->rx_pause != 0,
		.tx = wanted->tx_pause != 0,
	};
	return 0;
}
