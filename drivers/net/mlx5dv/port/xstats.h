/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Extended statistics: counters of the device and of the netdev beside the port, by the names that
 * the in-tree driver has for them. ethdev adds what the port counts itself.
 *
 * Those that are there when the port is opened are shown for its life. All of them are the whole
 * port's, Linux's traffic included.
 */
#ifndef MDV_XSTATS_H
#define MDV_XSTATS_H

#include <stdint.h>

#include <rte_ethdev.h>

struct mdv_port;

/** When the device is open: see which counters there are, and count from now on. */
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
