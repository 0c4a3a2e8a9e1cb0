/* SPDX-License-Identifier: BSD-3-Clause */
/* Features of the netdev: mlx5e's set_feature_arfs() is all that the device has of them. */
#include "ethtool/flags.h"

#include <errno.h>
#include <linux/ethtool.h>

#include "ethtool/command.h"
#include "hw/device/device.h"
#include "steering/arfs.h"

int
shca_flags_get(struct shca_ethtool_call *call)
{
	struct ethtool_value *flags = (void *)call->bytes;

	flags->data = shca_arfs_is_on(shca_device_steering(call->dev)) ? ETH_FLAG_NTUPLE : 0;
	return 0;
}

int
shca_flags_set(struct shca_ethtool_call *call)
{
	const struct ethtool_value *flags = (const void *)call->bytes;

	if ((flags->data & ~(uint32_t)ETH_FLAG_NTUPLE) != 0)
		return -EINVAL;
	shca_arfs_switch(shca_device_steering(call->dev), flags->data != 0);
	return 0;
}
