/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Applies the faults of a run (fault/faults.h) to link and device. Internal to hw/.
 */
#ifndef SHCA_HW_DEVICE_INJECT_PORT_H
#define SHCA_HW_DEVICE_INJECT_PORT_H

#include <stdbool.h>

struct shca_device;

/** Apply faults to link and device; call it when frames have passed the wire. */
void shca_inject_port_run(struct shca_device *dev);
/** @return whether the device stands still: it is dead, or slow. Once a round. */
bool shca_inject_port_stands(struct shca_device *dev);

#endif /* SHCA_HW_DEVICE_INJECT_PORT_H */
