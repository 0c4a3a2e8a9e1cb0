/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Internet checksums (RFC 1071) and the Ethernet frame check sequence. Pure.
 *
 * Sums are ones-complement sums of 16-bit words as they lie in memory, so that results are stored
 * with memcpy and no byte order comes into it (RFC 1071, section 2 B). Partial sums add up as long
 * as every piece but the last has an even length.
 */
#ifndef SHCA_HW_CSUM_H
#define SHCA_HW_CSUM_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shca_headers;

/** @return partial sum of @p length bytes, an odd last byte padded with zero; fold it before
 * storing. */
uint64_t shca_csum_add(const uint8_t *bytes, size_t length, uint64_t sum);
/** @return @p sum in 16 bits, not inverted, in memory order. */
uint16_t shca_csum_fold(uint64_t sum);

/** @return partial sum of the TCP/UDP pseudo header of @p headers, whose frame is @p bytes. */
uint64_t shca_csum_pseudo(const uint8_t *bytes, const struct shca_headers *headers);

/** @return true when the frame holds the whole TCP or UDP datagram, so that its checksum means
 * something. */
bool shca_csum_covers_l4(const struct shca_headers *headers);

/** @return the 4 bytes that follow @p bytes on the medium, in memory order (IEEE 802.3, 3.2.9). */
uint32_t shca_csum_fcs(const uint8_t *bytes, size_t length);

#endif /* SHCA_HW_CSUM_H */
