/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A port as a secondary process sees it: what the primary keeps in shared memory, and no packets.
 *
 * The verbs objects and the rings belong to the primary and are not even mapped elsewhere. What
 * dpdk-dumpcap, dpdk-pdump and dpdk-proc-info need is less: that the port is there, has limits,
 * queues, a link and counters. The copying of captures is the primary's.
 */
#ifndef MDV_SECONDARY_H
#define MDV_SECONDARY_H

#include <bus_vdev_driver.h>

/** @return 0, or -ENODEV when the primary has no such port; logged. */
int mdv_secondary_probe(struct rte_vdev_device *vdev);
/** Forget the port here; the primary's goes on. */
int mdv_secondary_remove(struct rte_vdev_device *vdev);

#endif /* MDV_SECONDARY_H */
