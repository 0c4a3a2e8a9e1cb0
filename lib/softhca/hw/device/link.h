/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The port's link. Internal to hw/.
 *
 * It is up when the wire has a carrier and no user has taken the link down. While it is down no
 * frame arrives, and sent frames leave the queues, complete, and are lost: the MAC drops frames
 * without a link, because otherwise a queue would hang with its link.
 *
 * For verbs the port is active when the netdev is up as well (hw/mlx5/main.c mlx5_query_port_roce,
 * and mlx5_netdev_event for the events). A netdev that is taken down asks for link down, too
 * (mlx5e_close), but cards keep the link up by default (KEEP_ETH_LINK_UP): queues of other users
 * continue.
 */
#ifndef SHCA_HW_DEVICE_LINK_H
#define SHCA_HW_DEVICE_LINK_H

#include "hw/state/attr.h"

struct shca_device;

/** Once a round: check the wire now and then, and report changes. */
void shca_link_run(struct shca_device *dev);
/** Tell all listeners of something at a port. */
void shca_link_tell(struct shca_device *dev, uint32_t port, enum shca_event event);

#endif /* SHCA_HW_DEVICE_LINK_H */
