/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Frames as rules change them (steering/match/modify.h): tunnels away, then fields, then tunnels
 * on. Pure.
 *
 * Policy, where no public text or driver says what hardware does:
 * - A frame that lacks the field, or the tunnel that should go, stays as it is.
 * - Checksums of the headers changed, and of TCP and UDP, go along by what has changed (RFC 1624):
 *   right ones stay right and wrong ones wrong. So Linux leaves them to the device (TC's csum
 * action behind pedit is dropped). An outer UDP checksum does not follow inner headers.
 * - Of a tunnel put on, IP and UDP lengths and the IPv4 checksum are filled in; the rest is as
 * given.
 */
#ifndef SHCA_HW_FORMAT_REWRITE_H
#define SHCA_HW_FORMAT_REWRITE_H

#include <stdint.h>

#include "steering/match/modify.h"

struct shca_packet;

/**
 * @param room for SHCA_OUT_FRAME_ROOM bytes; the packet may lie at its beginning
 * @return the new length; 0 when it grew longer than SHCA_FRAME_MAX, or nothing is left
 */
uint32_t shca_rewrite(
	const struct shca_modify_set *modify_set, const struct shca_packet *packet, uint8_t *room);

#endif /* SHCA_HW_FORMAT_REWRITE_H */
