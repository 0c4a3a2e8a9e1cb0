/* SPDX-License-Identifier: BSD-3-Clause */
/* What the netdev of a device was told by ethtool. */
#include "hw/device/kernel_side.h"

#include "hw/state/device.h"

struct shca_kernel_side *
shca_kernel_side(struct shca_device *dev)
{
	return &dev->kernel_side;
}
