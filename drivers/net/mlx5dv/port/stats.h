/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Basic and per-queue statistics. Counters only grow; a reset sets their base. */
#ifndef MDV_STATS_H
#define MDV_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include <ethdev_driver.h>

#include "base/compat.h"

struct mdv_port;

/** Call start before rules direct packets to the queues, stop when the queues are destroyed. */
void mdv_stats_start(struct mdv_port *port);
void mdv_stats_stop(struct mdv_port *port);

int mdv_stats_get(MDV_COMPAT_STATS_ARGS(dev, stats, queues));
int mdv_stats_reset(struct rte_eth_dev *dev);

#endif /* MDV_STATS_H */
