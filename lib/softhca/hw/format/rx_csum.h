/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Checksums of a received frame, as its completion reports them. Pure.
 */
#ifndef SHCA_HW_FORMAT_RX_CSUM_H
#define SHCA_HW_FORMAT_RX_CSUM_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "hw/format/csum.h"
#include "steering/match/parse.h"

/** Where UDP has its checksum. */
#define SHCA_RX_CSUM_UDP_CHECKSUM 6

struct shca_rx_csum {
	bool l3_good, l4_good;
	uint16_t checksum; /**< of all bytes behind the Ethernet header, in memory order */
};

/** What frames with the same headers have in common: all that no rule reads apart. */
struct shca_rx_csum_stack {
	const struct shca_headers *headers;
	bool covers_l4;
	uint64_t l3_rest; /**< partial sum of the IP header, but for what each IPv4 frame has of its
			   * own: identification and checksum */
	uint64_t pseudo;  /**< partial sum of the pseudo header */
};

/** Where an IPv4 header has them (RFC 791 section 3.1). */
#define SHCA_RX_CSUM_IPV4_ID       4
#define SHCA_RX_CSUM_IPV4_CHECKSUM 10

/** @return the sum of two fields of 16 bits of an IPv4 header. */
static inline uint32_t
shca_rx_csum_ipv4_own(const uint8_t *ip)
{
	uint16_t id, checksum;

	memcpy(&id, ip + SHCA_RX_CSUM_IPV4_ID, sizeof(id));
	memcpy(&checksum, ip + SHCA_RX_CSUM_IPV4_CHECKSUM, sizeof(checksum));
	return (uint32_t)id + checksum;
}

/** @return l3_rest of the stack: the header is some words of 32 bits, of which no sum overflows. */
static inline uint64_t
shca_rx_csum_l3_rest(const uint8_t *bytes, const struct shca_headers *headers)
{
	uint64_t sum = 0;
	uint32_t word;

	for (uint32_t at = headers->l3_offset; at < headers->l4_offset; at += sizeof(word)) {
		memcpy(&word, bytes + at, sizeof(word));
		sum += word;
	}
	/* Words of 16 bits at even places are taken off: the sum has them as they are, or times
	 * 2^16, which is 1 modulo 2^16 - 1. */
	return headers->l3 == SHCA_L3_IPV4
		? sum + 2 * UINT16_MAX - shca_rx_csum_ipv4_own(bytes + headers->l3_offset)
		: sum;
}

/** @return the stack of @p headers, those of the frame. */
static inline struct shca_rx_csum_stack
shca_rx_csum_stack(const uint8_t *bytes, const struct shca_headers *headers)
{
	const bool covers_l4 = shca_csum_covers_l4(headers);

	return (struct shca_rx_csum_stack){
		.headers = headers,
		.covers_l4 = covers_l4,
		.l3_rest = headers->l3 != SHCA_L3_NONE ? shca_rx_csum_l3_rest(bytes, headers) : 0,
		.pseudo = covers_l4 ? shca_csum_pseudo(bytes, headers) : 0,
	};
}

/** @return the sum of the IP header. */
static inline uint64_t
shca_rx_csum_l3_sum(const uint8_t *bytes, const struct shca_rx_csum_stack *stack)
{
	const struct shca_headers *headers = stack->headers;

	return headers->l3 != SHCA_L3_IPV4
		? stack->l3_rest
		: stack->l3_rest + shca_rx_csum_ipv4_own(bytes + headers->l3_offset);
}

/** @return the sum of the bytes behind the IP header, to the end of the IP packet. */
static inline uint64_t
shca_rx_csum_l4_sum(const uint8_t *bytes, const struct shca_headers *headers)
{
	const uint8_t *l4 = bytes + headers->l4_offset;
	const uint32_t length = (uint32_t)headers->l3_end - headers->l4_offset;

	return length >= sizeof(uint64_t) && length <= SHCA_CSUM_SHORT
		? shca_csum_short(l4, length)
		: shca_csum_add(l4, length, 0);
}

/**
 * IPv6 has no header checksum and counts as good (Linux en_rx.c mlx5e_handle_csum wants the bit).
 *
 * @param l3_sum of the IP header
 */
static inline bool
shca_rx_csum_l3(const struct shca_headers *headers, uint64_t l3_sum)
{
	if (headers->l3 != SHCA_L3_IPV4)
		return headers->l3 == SHCA_L3_IPV6;
	return shca_csum_is_good(l3_sum);
}

/**
 * Policy where no driver shows what hardware does: TCP and UDP are good if whole and unfragmented;
 * a UDP checksum of zero (none) is good.
 *
 * @return whether the sum decides, for a datagram that is covered
 */
static inline bool
shca_rx_csum_l4_depends(const uint8_t *bytes, const struct shca_headers *headers)
{
	uint16_t checksum;

	memcpy(&checksum, bytes + headers->l4_offset + SHCA_RX_CSUM_UDP_CHECKSUM, sizeof(checksum));
	return checksum != 0 || headers->l4 != SHCA_L4_UDP;
}

/**
 * Check a covered datagram alone.
 *
 * @param pseudo of the stack
 */
static inline bool
shca_rx_csum_l4_is_good(const uint8_t *bytes, const struct shca_headers *headers, uint64_t pseudo)
{
	return !shca_rx_csum_l4_depends(bytes, headers) ||
		shca_csum_is_good(shca_csum_add_word(shca_rx_csum_l4_sum(bytes, headers), pseudo));
}

/** Check a frame by one stack of its headers, and sum it up. */
static inline __attribute__((always_inline)) struct shca_rx_csum
shca_rx_csum_check(const uint8_t *bytes, const struct shca_rx_csum_stack *stack)
{
	const struct shca_headers *headers = stack->headers;
	struct shca_rx_csum rx_csum = { .l4_good = stack->covers_l4 };
	uint64_t header_sum, sum;

	if (headers->l3 == SHCA_L3_NONE)
		return (struct shca_rx_csum){ 0 };
	header_sum = shca_rx_csum_l3_sum(bytes, stack);
	rx_csum.l3_good = shca_rx_csum_l3(headers, header_sum);
	sum = shca_rx_csum_l4_sum(bytes, headers);
	if (stack->covers_l4 && shca_rx_csum_l4_depends(bytes, headers))
		rx_csum.l4_good = shca_csum_is_good(shca_csum_add_word(sum, stack->pseudo));
	/* The sum runs from the IP header on; its words are in memory order already. An IP header
	 * has an even length, so the two sums add up. */
	rx_csum.checksum = shca_csum_fold(shca_csum_add_word(header_sum, sum));
	return rx_csum;
}

#endif /* SHCA_HW_FORMAT_RX_CSUM_H */
