/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The netdev's own rules, those of "ethtool -N", as mlx5e takes them (LX mlx5/core
 * en_fs_ethtool.c): between the rules of verbs and the netdev's filter. A rule says drop, or takes
 * the frame to the netdev, whatever that filter says.
 *
 * There is a table for each number of things that a rule names: IP and L4 rules first, those that
 * name more before those that name less, then Ethernet rules. A rule's location is its name, not
 * its priority.
 */
#ifndef SHCA_STEERING_ETHTOOL_H
#define SHCA_STEERING_ETHTOOL_H

#include <stdbool.h>
#include <stdint.h>

#include "steering/match/field.h"

#define SHCA_ETHTOOL_LOCATIONS 1024
#define SHCA_ETHTOOL_TUPLES_IP 7
#define SHCA_ETHTOOL_TUPLES_L2 4
#define SHCA_ETHTOOL_TABLES    (SHCA_ETHTOOL_TUPLES_IP + SHCA_ETHTOOL_TUPLES_L2)

struct shca_steering;

struct shca_ethtool_attr {
	uint32_t location;
	bool drop;
	bool is_l2;        /**< flow type ether */
	uint8_t nb_tuples; /**< addresses, ports, ... named; an IP or L4 flow type is one, too */
	struct shca_match match;
};

/**
 * Install a rule in place of the one of that location.
 * @return 0; -ENODEV: there is no netdev; -ENOSPC: no such location, or no room; -EINVAL: it names
 * nothing; -EEXIST: another rule says otherwise of the same frames; -ENOMEM. The old one is gone
 * then, too, if the location is one.
 */
int shca_ethtool_add(struct shca_steering *steering, const struct shca_ethtool_attr *attr);
/** @return 0, -ENOSPC: no such location, -ENOENT: it is empty. */
int shca_ethtool_del(struct shca_steering *steering, uint32_t location);

#endif /* SHCA_STEERING_ETHTOOL_H */
