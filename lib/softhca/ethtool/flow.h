/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A rule of "ethtool -N" as mlx5e takes it: validate_flow() and set_flow_attrs() of Linux 6.1
 * mlx5/core/en_fs_ethtool.c, one row a flow type.
 */
#ifndef SHCA_ETHTOOL_FLOW_H
#define SHCA_ETHTOOL_FLOW_H

#include <linux/ethtool.h>
#include <stdint.h>

struct shca_ethtool_attr;

/**
 * @param spec not trusted
 * @param nb_queues of the netdev
 * @return the number of tuples (0: the rule names nothing, and mlx5e makes none); -ENOSPC: no such
 * location; -524 (Linux's ENOTSUPP): no such flow type; -EINVAL: a queue or field that mlx5e does
 * not take.
 */
int shca_ethtool_flow_parse(const struct ethtool_rx_flow_spec *spec, uint32_t nb_queues,
	struct shca_ethtool_attr *attr);

#endif /* SHCA_ETHTOOL_FLOW_H */
