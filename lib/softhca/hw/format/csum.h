/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Internet checksums (RFC 1071) and the Ethernet frame check sequence. Pure.
 *
 * Sums are ones-complement sums of 16-bit words in memory order, so that memcpy stores a result and
 * no byte order matters (RFC 1071, section 2 B). Partial sums can be added if every piece but the
 * last has an even length.
 */
#ifndef SHCA_HW_FORMAT_CSUM_H
#define SHCA_HW_FORMAT_CSUM_H

#include <endian.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "steering/match/parse.h"

/** @return partial sum of @p length bytes, an odd last byte padded with zero; fold it before
 * storing. */
uint64_t shca_csum_add(const uint8_t *bytes, size_t length, uint64_t sum);

/** Longest input for which shca_csum_short() is the faster function. */
#define SHCA_CSUM_SHORT 128

/** Add with end-around carry: 2^64 is 1 modulo 2^16 - 1. */
static inline uint64_t
shca_csum_add_word(uint64_t sum, uint64_t word)
{
	bool carry = __builtin_add_overflow(sum, word, &sum);

	return sum + carry;
}

/** @return partial sum of 8 bytes or more, in line: up to 64 bits of it are in use. */
static inline uint64_t
shca_csum_short(const uint8_t *bytes, size_t length)
{
	const size_t rest = length % sizeof(uint64_t);
	const uint8_t *at = bytes, *end = bytes + length;
	uint64_t sum = 0, word, next;

	for (; end - at >= (ptrdiff_t)(sizeof(word) + sizeof(next)); at += 2 * sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		memcpy(&next, at + sizeof(word), sizeof(next));
		sum = shca_csum_add_word(shca_csum_add_word(sum, word), next);
	}
	if (length & sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		sum = shca_csum_add_word(sum, word);
	}
	if (rest != 0) {
		/* The last word of the bytes, without the bytes that have been added already. */
		memcpy(&word, bytes + length - sizeof(word), sizeof(word));
		word = htole64(le64toh(word) >> (64 - 8 * rest));
		sum = shca_csum_add_word(sum, word);
	}
	return sum;
}

/** @return @p sum in 16 bits, not inverted, in memory order. */
static inline uint16_t
shca_csum_fold(uint64_t sum)
{
	uint32_t half;

	/* A number plus itself with its halves exchanged: the upper half is the sum of both and of
	 * its own carry. */
	sum += sum << 32 | sum >> 32;
	half = (uint32_t)(sum >> 32);
	half += half << 16 | half >> 16;
	return (uint16_t)(half >> 16);
}

/** @return whether @p sum in 16 bits has all bits set, as that of data with its own checksum. */
static inline bool
shca_csum_is_good(uint64_t sum)
{
	/* Each 16 bits weigh 1 modulo 2^16 - 1. A product with the inverse is the quotient of what
	 * can be divided, and beyond all quotients for the rest. */
	const uint64_t inverse = UINT64_C(0xfffefffefffeffff),
		       quotient_max = UINT64_MAX / UINT16_MAX;

	return sum * inverse - 1 < quotient_max;
}

/** @return partial sum of the TCP/UDP pseudo header of @p headers, whose frame is @p bytes. */
static inline uint64_t
shca_csum_pseudo(const uint8_t *bytes, const struct shca_headers *headers)
{
	/* IPv4: addresses at 12, RFC 793; IPv6: at 8, RFC 8200 section 8.1. */
	uint32_t length = htobe32((uint32_t)headers->l3_end - headers->l4_offset);
	uint64_t sum = (uint64_t)length + htobe32(headers->ip_proto);
	const uint8_t *ip = bytes + headers->l3_offset;
	uint32_t src, dst;

	if (headers->l3 != SHCA_L3_IPV4)
		return shca_csum_add(ip + 8, 32, sum);
	memcpy(&src, ip + 12, sizeof(src));
	memcpy(&dst, ip + 16, sizeof(dst));
	return sum + src + dst;
}

/** @return whether the frame holds the whole TCP or UDP datagram: only then its checksum can be
 * checked. */
static inline bool
shca_csum_covers_l4(const struct shca_headers *headers)
{
	return headers->valid && (headers->l4 == SHCA_L4_TCP || headers->l4 == SHCA_L4_UDP) &&
		!headers->fragment && headers->l3_length_ok &&
		headers->payload_offset <= headers->l3_end;
}

/** @return the 4 bytes that follow @p bytes on the medium, in memory order (IEEE 802.3, 3.2.9). */
uint32_t shca_csum_fcs(const uint8_t *bytes, size_t length);

#endif /* SHCA_HW_FORMAT_CSUM_H */
