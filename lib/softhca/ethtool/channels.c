/* SPDX-License-Identifier: BSD-3-Clause */
/* Channels of the netdev: as many receive queues as its rules may name. */
#include "ethtool/channels.h"

#include <errno.h>
#include <linux/ethtool.h>

#include "ethtool/command.h"
#include "hw/device/device.h"
#include "steering/ethtool.h"

int
shca_channels_get(struct shca_ethtool_call *call)
{
	struct ethtool_channels *channels = (void *)call->bytes;

	*channels = (struct ethtool_channels){
		.cmd = ETHTOOL_GCHANNELS,
		.max_combined = SHCA_ETHTOOL_QUEUES,
		.combined_count = shca_ethtool_queues(shca_device_steering(call->dev)),
	};
	return 0;
}

/** The limits are of net/ethtool/ioctl.c ethtool_set_channels(); rules beyond the new number stay,
 * as in mlx5e. */
int
shca_channels_set(struct shca_ethtool_call *call)
{
	const struct ethtool_channels *channels = (const void *)call->bytes;

	if (channels->rx_count != 0 || channels->tx_count != 0 || channels->other_count != 0 ||
		channels->combined_count == 0 || channels->combined_count > SHCA_ETHTOOL_QUEUES)
		return -EINVAL;
	shca_ethtool_set_queues(shca_device_steering(call->dev), channels->combined_count);
	return 0;
}
