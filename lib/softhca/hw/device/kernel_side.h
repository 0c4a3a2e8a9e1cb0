/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Settings of the port for its netdev. */
#ifndef SHCA_HW_DEVICE_KERNEL_SIDE_H
#define SHCA_HW_DEVICE_KERNEL_SIDE_H

#include "hw/state/kernel_side.h"

struct shca_device;

/** @return the settings, under the device lock. */
struct shca_kernel_side *shca_kernel_side(struct shca_device *dev);
/** Have the rules know which frames the netdev takes now. */
void shca_kernel_side_filter(struct shca_device *dev);

#endif /* SHCA_HW_DEVICE_KERNEL_SIDE_H */
