/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Where the faults of a run (fault/faults.h) strike link and device, if any concerns them. Internal
 * to hw/.
 */
#ifndef SHCA_HW_DEVICE_INJECT_PORT_H
#define SHCA_HW_DEVICE_INJECT_PORT_H

#include <stdbool.h>

struct shca_device;

/** What befalls link and device: to be called when frames have passed the wire. */
void shca_inject_port_run(struct shca_device *dev);
/** @return whether the device does nothing now: it is dead, or slow. Once a round. */
bool shca_inject_port_stands(struct shca_device *dev);

#endif /* SHCA_HW_DEVICE_INJECT_PORT_H */
