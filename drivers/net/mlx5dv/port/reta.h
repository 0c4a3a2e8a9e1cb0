/* SPDX-License-Identifier: BSD-3-Clause */
/** @file RSS of the default rules: redirection table, hash key and types. */
#ifndef MDV_RETA_H
#define MDV_RETA_H

#include <stdint.h>

#include <rte_ethdev.h>

struct mdv_port;

/** Entries of the redirection table: a power of two within the device's limit and MDV_RETA_MAX. */
uint16_t mdv_reta_size(const struct mdv_port *port);
/** At configure: spread the table over all queues, take key and types. @return 0, -EINVAL or
 * -ENOTSUP, logged. */
int mdv_reta_configure(struct rte_eth_dev *dev);
/** ethdev operations; after a failure port and device are unchanged. */
int mdv_reta_update(struct rte_eth_dev *dev, struct rte_eth_rss_reta_entry64 *reta, uint16_t size);
int mdv_reta_query(struct rte_eth_dev *dev, struct rte_eth_rss_reta_entry64 *reta, uint16_t size);
int mdv_reta_hash_update(struct rte_eth_dev *dev, struct rte_eth_rss_conf *conf);
int mdv_reta_hash_conf_get(struct rte_eth_dev *dev, struct rte_eth_rss_conf *conf);

#endif /* MDV_RETA_H */
