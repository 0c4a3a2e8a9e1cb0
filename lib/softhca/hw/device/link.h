/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The port's link. Internal to hw/.
 *
 * It is up when the wire has a carrier and nobody took the link down. While it is down nothing
 * arrives, and what is sent leaves the queues, completes, and is lost: the MAC drops what it cannot
 * put on the cable, or a queue would hang with its link.
 *
 * For verbs the port is active when besides the netdev is up (hw/mlx5/main.c mlx5_query_port_roce,
 * and mlx5_netdev_event for the events). A netdev that is taken down asks for the cable to be taken
 * down, too (mlx5e_close), but cards keep it as they are delivered (KEEP_ETH_LINK_UP): the queues
 * of others go on.
 */
#ifndef SHCA_HW_DEVICE_LINK_H
#define SHCA_HW_DEVICE_LINK_H

struct shca_device;

/** Once a round: look at the wire now and then, and tell of changes. */
void shca_link_run(struct shca_device *dev);

#endif /* SHCA_HW_DEVICE_LINK_H */
