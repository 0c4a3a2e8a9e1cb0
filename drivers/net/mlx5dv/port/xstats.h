/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Extended statistics: counters of the device and of the port's netdev, with the names that the
 * in-tree mlx5 driver gives them. ethdev adds the port's basic statistics.
 *
 * Counters that exist when the port is opened are shown until it is closed. They count the whole
 * device port, Linux's traffic included.
 */
#ifndef MDV_XSTATS_H
#define MDV_XSTATS_H

#include <stdint.h>

#include <rte_ethdev.h>

struct mdv_port;

/** When the device is open: find out which counters exist, and make their values the base. */
void mdv_xstats_init(struct mdv_port *port);

/** ethdev xstats_get, xstats_get_names, xstats_get_by_id, xstats_get_names_by_id, xstats_reset. */
int mdv_xstats_get(struct rte_eth_dev *dev, struct rte_eth_xstat *xstats, unsigned int nb);
int mdv_xstats_get_names(
	struct rte_eth_dev *dev, struct rte_eth_xstat_name *names, unsigned int nb);
int mdv_xstats_get_by_id(
	struct rte_eth_dev *dev, const uint64_t *ids, uint64_t *values, unsigned int nb);
int mdv_xstats_get_names_by_id(struct rte_eth_dev *dev, const uint64_t *ids,
	struct rte_eth_xstat_name *names, unsigned int nb);
int mdv_xstats_reset(struct rte_eth_dev *dev);

#endif /* MDV_XSTATS_H */
