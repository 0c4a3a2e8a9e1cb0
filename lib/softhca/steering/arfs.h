/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Accelerated receive flow steering: flows of the netdev, each to the queue of the CPU that wants
 * it (Linux mlx5/core/en_arfs.c). Four tables, of TCP and UDP over either IP version, behind the
 * rules of ethtool and before what spreads the rest. As in mlx5e they see only what the netdev's
 * filter takes.
 *
 * Linux asks for flows that a program reads and answers; here a flow comes with the first frame
 * that the netdev sends of it, or by hand.
 */
#ifndef SHCA_STEERING_ARFS_H
#define SHCA_STEERING_ARFS_H

#include <stdbool.h>

#define SHCA_ARFS_TABLES 4
/** With more the oldest goes; Linux lets those go that nobody reads. */
#define SHCA_ARFS_FLOWS 1024

struct shca_ethtool_attr;
struct shca_packet;
struct shca_steering;

/** Let the netdev's frames add flows ("ethtool -K IF ntuple on"), or end all flows. */
void shca_arfs_switch(struct shca_steering *steering, bool is_on);
/** @return whether it is on. */
bool shca_arfs_is_on(const struct shca_steering *steering);
/**
 * Add a flow, if it is not there.
 * @param attr as for a rule of ethtool: TCP or UDP, both addresses and ports, whole
 * @return 0; -ENODEV: there is no netdev; -EINVAL: it is no flow; -EOPNOTSUPP: the port's profile
 * has none; -ENOMEM.
 */
int shca_arfs_add(struct shca_steering *steering, const struct shca_ethtool_attr *attr);
/** The netdev sends a frame: while on, add the flow that answers it. */
void shca_arfs_learn(struct shca_steering *steering, const struct shca_packet *packet);
/** End all flows. */
void shca_arfs_flush(struct shca_steering *steering);

#endif /* SHCA_STEERING_ARFS_H */
