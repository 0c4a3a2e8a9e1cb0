/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The netdev of a TAP as a host on its network: its addresses, its routes and neighbours. */
#ifndef SHCA_WIRE_TAP_IP_H
#define SHCA_WIRE_TAP_IP_H

#include <stdint.h>

#include "wire/wire.h"

struct shca_tap_ips {
	uint8_t ip[SHCA_NETDEV_IPS_MAX][SHCA_IP_BYTES];
	unsigned int nb;
};

/**
 * Read the addresses of a netdev; more than there is room for are left out.
 * @param fd socket of rtnetlink in the netdev's namespace
 * @return 0; or a negative errno: @p fd may have unread answers, and is to be closed.
 */
int shca_tap_read_ips(int fd, unsigned int ifindex, struct shca_tap_ips *ips);

/**
 * Find the way from a netdev, as find_way() of struct shca_wire_ops.
 * @param fd as above
 * @return as that; -EPROTO: as above.
 */
int shca_tap_find_way(int fd, unsigned int ifindex, const uint8_t to[SHCA_IP_BYTES], bool is_bound,
	struct shca_way *way);

#endif /* SHCA_WIRE_TAP_IP_H */
