/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What the runner does with a TAP before the command starts. The netdev lives as long as a
 * descriptor of it is open, so the runner opens it and the command inherits the descriptor.
 */
#ifndef SHCA_WIRE_TAP_H
#define SHCA_WIRE_TAP_H

#include <stdbool.h>
#include <stdint.h>

/** The environment variable with the runner's process id. */
#define SHCA_TAP_ENV_RUNNER "SOFTHCA_RUNNER"

/**
 * Attach to the TAP @p name, creating it when there is none.
 * @return a non-blocking, close-on-exec descriptor, or a negative errno after a message.
 */
int shca_tap_attach(const char *name, bool *created);
/**
 * Get hold of the TAP that the runner has open as @p fd: inherited under that number, or fetched
 * from the runner (SHCA_TAP_ENV_RUNNER) when a program in between closed it.
 * @return a descriptor of its own, close-on-exec, or a negative errno after a message.
 */
int shca_tap_adopt(const char *name, int fd);
/** @return 0, or a negative errno after a message. */
int shca_tap_get_mac(const char *name, uint8_t mac[6]);
int shca_tap_set_mac(const char *name, const uint8_t mac[6]);
/** What ethtool shows; a TAP has no speed of its own. */
int shca_tap_set_speed(const char *name, uint32_t speed_mbps);

#endif /* SHCA_WIRE_TAP_H */
