/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The process that has a device open: this one, or another below the runner. */
#ifndef SHCA_NLDEV_OWNER_H
#define SHCA_NLDEV_OWNER_H

#include <stddef.h>
#include <stdint.h>

struct shca_nldev;

/** The kernel is to answer: the netdev is none of ours, the command has no row, or no process has
 * the device open. Greater than what ioctls of ethtool return. */
#define SHCA_NLDEV_KERNEL 0x10000

/** Run a command of ethtool (ethtool/command.h). @return as shca_ethtool_run(), or
 * SHCA_NLDEV_KERNEL. */
int shca_owner_run(
	const struct shca_nldev *nldev, unsigned int device, uint8_t *bytes, size_t *length);
/** The same with request and answer in a structure of @p length bytes. */
int shca_owner_run_structure(
	const struct shca_nldev *nldev, unsigned int device, void *structure, size_t length);

#endif /* SHCA_NLDEV_OWNER_H */
