/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Basic and per-queue statistics: the queues count, a reset moves the base. */
#ifndef MDV_STATS_H
#define MDV_STATS_H

#include <stdint.h>

#include <rte_ethdev.h>

int mdv_stats_get(struct rte_eth_dev *dev, struct rte_eth_stats *stats);
int mdv_stats_reset(struct rte_eth_dev *dev);

#endif /* MDV_STATS_H */
