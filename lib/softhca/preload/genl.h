/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Generic netlink has no family "ethtool" below the runner, as in a kernel without
 * CONFIG_ETHTOOL_NETLINK: it would ask the TAP, and ethtool(8) falls back to ioctls, which we
 * answer.
 */
#ifndef SHCA_PRELOAD_GENL_H
#define SHCA_PRELOAD_GENL_H

#include <stddef.h>
#include <sys/socket.h>

/** Bytes for a request that is changed. */
#define SHCA_GENL_ROOM 128

/**
 * @param address where the datagram goes, of @p address_length bytes
 * @return @p bytes, or in @p room the same request for a family that no kernel has.
 */
const void *shca_genl_screen(const struct sockaddr *address, socklen_t address_length,
	const void *bytes, size_t length, void *room);

#endif /* SHCA_PRELOAD_GENL_H */
