/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Changes a frame as a rule asks (steering/match/modify.h): first decapsulation, then fields, then
 * encapsulation. Pure.
 *
 * Policy, where no public text or driver says what hardware does:
 * - A frame without the field, or without the tunnel to remove, stays as it is.
 * - Checksums of changed headers, and of TCP and UDP, are updated by the difference (RFC 1624):
 *   right ones stay right and wrong ones wrong. Linux relies on that (it drops TC's csum action
 *   behind pedit). An outer UDP checksum ignores changes of inner headers.
 * - In the headers of an encapsulation the device fills IP and UDP lengths and the IPv4 checksum;
 *   the rest is as given.
 */
#ifndef SHCA_HW_FORMAT_REWRITE_H
#define SHCA_HW_FORMAT_REWRITE_H

#include <stdint.h>

#include "steering/match/modify.h"

struct shca_packet;

/**
 * @param room of SHCA_OUT_FRAME_ROOM bytes; the packet may lie at its beginning
 * @return the new length; 0 when the frame has become longer than SHCA_FRAME_MAX, or empty
 */
uint32_t shca_rewrite(
	const struct shca_modify_set *modify_set, const struct shca_packet *packet, uint8_t *room);

#endif /* SHCA_HW_FORMAT_REWRITE_H */
