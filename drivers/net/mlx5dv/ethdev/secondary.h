/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A port of the primary process, attached in a secondary process.
 *
 * Port, queues, rings and mbufs are in shared memory at the same address in both, so both use the
 * same burst functions. A secondary process has its own mappings of the doorbell pages (uar.h) and
 * its own addresses of functions. It asks the primary (mp.h) for operations that need verbs. The
 * primary creates and destroys queues, and tells the secondaries. One thread of one process polls a
 * queue.
 *
 *     attached ── start ──> bursts, doorbells mapped ── stop ──> bursts that do nothing
 *              the port is closed, or the primary ends ──> that, and RTE_ETH_EVENT_INTR_RMV
 */
#ifndef MDV_SECONDARY_H
#define MDV_SECONDARY_H

#include <stdint.h>
#include <stdio.h>

#include <bus_vdev_driver.h>
#include <rte_ethdev.h>

struct eth_dev_ops;
struct rte_flow_ops;

/** @return 0, or -ENODEV when the primary has no such port; logged. */
int mdv_secondary_probe(struct rte_vdev_device *vdev, const struct eth_dev_ops *ops);
/** Detach the port from this process; it continues in the primary. */
int mdv_secondary_remove(struct rte_vdev_device *vdev);
/** A number that differs if another build of the driver has other layouts of shared structures. */
uint64_t mdv_secondary_layout(void);

/** ethdev dev_close, is_removed, link_update, flow_ops_get of a secondary process. */
int mdv_secondary_close(struct rte_eth_dev *dev);
int mdv_secondary_is_removed(struct rte_eth_dev *dev);
int mdv_secondary_link_update(struct rte_eth_dev *dev, int wait);
int mdv_secondary_flow_ops(struct rte_eth_dev *dev, const struct rte_flow_ops **ops);

#endif /* MDV_SECONDARY_H */
