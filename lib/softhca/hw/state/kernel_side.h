/* SPDX-License-Identifier: BSD-3-Clause */
/** @file What the port does with frames for its netdev: features that Linux switches. */
#ifndef SHCA_HW_STATE_KERNEL_SIDE_H
#define SHCA_HW_STATE_KERNEL_SIDE_H

#include <stdbool.h>

struct shca_kernel_side {
	bool rx_fcs; /**< the netdev gets the FCS behind each frame */
	bool rx_all; /**< it gets frames with a wrong FCS, too: a setting without such frames */
};

#endif /* SHCA_HW_STATE_KERNEL_SIDE_H */
