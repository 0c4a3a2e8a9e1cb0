/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The netdev's own rules, those of "ethtool -N", as mlx5e takes them (Linux mlx5/core
 * en_fs_ethtool.c): between the rules of verbs and the netdev's filter. A rule drops the frame or
 * gives it to the netdev, past that filter.
 *
 * Rules with the same number of tuples share a table. The tables of IP and L4 rules come first,
 * then those of Ethernet rules, each with more tuples before fewer. A rule's location is its name,
 * not its priority.
 */
#ifndef SHCA_STEERING_ETHTOOL_H
#define SHCA_STEERING_ETHTOOL_H

#include <linux/ethtool.h>
#include <stdbool.h>
#include <stdint.h>

#include "steering/match/field.h"

#define SHCA_ETHTOOL_LOCATIONS 1024
/** The most receive queues of a netdev, and at first, as on a machine of eight CPUs. A TAP has one:
 * which of them a rule names makes no difference to Linux. */
#define SHCA_ETHTOOL_QUEUES    8
#define SHCA_ETHTOOL_TUPLES_IP 7
#define SHCA_ETHTOOL_TUPLES_L2 4
#define SHCA_ETHTOOL_TABLES    (SHCA_ETHTOOL_TUPLES_IP + SHCA_ETHTOOL_TUPLES_L2)

struct shca_steering;

struct shca_ethtool_attr {
	uint32_t location;
	bool drop;
	bool is_l2;        /**< flow type ether */
	uint8_t nb_tuples; /**< addresses, ports ...; an IP or L4 flow type is one, too */
	struct shca_match match;
	struct ethtool_rx_flow_spec spec; /**< for lists */
};

/**
 * Install a rule in place of the one at the location.
 * @param why if not 0: set where the port's profile refuses the rule, to what it does take
 * @return 0; -ENODEV: there is no netdev; -ENOSPC: no such location; -EINVAL: the rule names no
 * tuple, or too many; -EINVAL, -ENXIO: the profile refuses it. Without the old rule: -EINVAL: a
 * value has bits outside its mask; -EEXIST: a rule with the same match has another action; -ENOSPC:
 * the table is full; -ENOMEM.
 */
int shca_ethtool_add(
	struct shca_steering *steering, const struct shca_ethtool_attr *attr, const char **why);
/** @return how many queues rules may name: the netdev's channels. */
uint32_t shca_ethtool_queues(const struct shca_steering *steering);
/** @param nb from 1 to SHCA_ETHTOOL_QUEUES */
void shca_ethtool_set_queues(struct shca_steering *steering, uint32_t nb);
/** @return the rule at a location, or NULL. */
const struct ethtool_rx_flow_spec *shca_ethtool_get(
	const struct shca_steering *steering, uint32_t location);
/** @return 0, -ENOSPC: no such location, -ENOENT: it is empty. */
int shca_ethtool_del(struct shca_steering *steering, uint32_t location);

#endif /* SHCA_STEERING_ETHTOOL_H */
