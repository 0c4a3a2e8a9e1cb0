/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A port of the primary process, in another.
 *
 * Port, queues, rings and mbufs lie in memory that both have at one address, so the burst functions
 * are the same; of its own a secondary process has the pages of doorbell registers (uar.h) and the
 * functions' addresses. For what needs verbs it asks (mp.h). Queues are the primary's to make and
 * to stop: it tells when. A queue belongs to one thread of one of the processes.
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
/** Forget the port here; the primary's goes on. */
int mdv_secondary_remove(struct rte_vdev_device *vdev);
/** What processes with the same build of the driver agree in. */
uint64_t mdv_secondary_layout(void);

/** ethdev dev_close, is_removed, link_update, flow_ops_get of a secondary process. */
int mdv_secondary_close(struct rte_eth_dev *dev);
int mdv_secondary_is_removed(struct rte_eth_dev *dev);
int mdv_secondary_link_update(struct rte_eth_dev *dev, int wait);
int mdv_secondary_flow_ops(struct rte_eth_dev *dev, const struct rte_flow_ops **ops);

#endif /* MDV_SECONDARY_H */
