/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Basic and per-queue statistics: the queues count, a reset moves the base. */
#ifndef MDV_STATS_H
#define MDV_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>

struct mdv_port;

/** Before rules send packets into the queues; after the queues are gone. */
void mdv_stats_start(struct mdv_port *port);
void mdv_stats_stop(struct mdv_port *port);

int mdv_stats_get(struct rte_eth_dev *dev, struct rte_eth_stats *stats);
int mdv_stats_reset(struct rte_eth_dev *dev);

#endif /* MDV_STATS_H */
