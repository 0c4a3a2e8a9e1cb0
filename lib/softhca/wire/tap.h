/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The runner sets TAPs up before the command starts. A TAP's netdev lives as long as a descriptor
 * of it is open, so the runner opens it and the command inherits the descriptor.
 */
#ifndef SHCA_WIRE_TAP_H
#define SHCA_WIRE_TAP_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/wire.h"

/** The environment variable with the runner's process id. */
#define SHCA_TAP_ENV_RUNNER "SOFTHCA_RUNNER"

/**
 * Attach to the TAP @p name, creating it if it does not exist.
 * @return a non-blocking, close-on-exec descriptor, or a negative errno after a message.
 */
int shca_tap_attach(const char *name, bool *created);
/**
 * Take over the TAP that the runner has open as @p fd: inherited under that number, or copied from
 * the runner (SHCA_TAP_ENV_RUNNER) when a program in between closed it.
 * @return a descriptor of its own, close-on-exec, or a negative errno after a message.
 */
int shca_tap_adopt(const char *name, int fd);
/** @return 0, or a negative errno after a message. */
int shca_tap_get_mac(const char *name, uint8_t mac[6]);
int shca_tap_set_mac(const char *name, const uint8_t mac[6]);
/** Set the speed that ethtool shows; a TAP has no speed of its own. */
int shca_tap_set_speed(const char *name, uint32_t speed_mbps);

/** The addresses of a netdev: its own, broadcast, its unicast list, its multicast list. */
struct shca_tap_macs {
	uint8_t mac[SHCA_NETDEV_MACS_MAX][6];
	unsigned int nb;
};

/**
 * Read the addresses of the netdev @p name.
 * @param fd socket of rtnetlink in the netdev's namespace
 * @return 0; or a negative errno: @p fd may have unread answers, and is to be closed.
 */
int shca_tap_read_macs(int fd, const char *name, struct shca_tap_macs *macs);

#endif /* SHCA_WIRE_TAP_H */
