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

/** What frames with the same headers have in common, checksums and what no rule reads apart. */
struct shca_rx_csum_stack {
	const struct shca_headers *headers;
	bool covers_l4;
	uint64_t pseudo; /**< partial sum of the pseudo header */
};

/** @return the stack of @p headers, those of the frame. */
static inline struct shca_rx_csum_stack
shca_rx_csum_stack(const uint8_t *bytes, const struct shca_headers *headers)
{
	const bool covers_l4 = shca_csum_covers_l4(headers);

	return (struct shca_rx_csum_stack){ headers, covers_l4,
		covers_l4 ? shca_csum_pseudo(bytes, headers) : 0 };
}

/** @return the sum of the IP header: some words of 32 bits, five at least. */
static inline uint64_t
shca_rx_csum_l3_sum(const uint8_t *bytes, const struct shca_headers *headers)
{
	const uint8_t *end = bytes + headers->l4_offset;
	const uint8_t *at = bytes + headers->l3_offset;
	uint64_t sum, pair;
	uint32_t word;

	memcpy(&sum, at, sizeof(sum));
	memcpy(&pair, at + sizeof(sum), sizeof(pair));
	memcpy(&word, at + 2 * sizeof(pair), sizeof(word));
	sum = shca_csum_add_word(shca_csum_add_word(sum, pair), word);
	for (at += 2 * sizeof(pair) + sizeof(word); at < end; at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		sum = shca_csum_add_word(sum, word);
	}
	return sum;
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
 * IPv6 has no header checksum and counts as good (LX en_rx.c mlx5e_handle_csum wants the bit).
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
 * @return whether the sum decides
 */
static inline bool
shca_rx_csum_l4_depends(const uint8_t *bytes, const struct shca_rx_csum_stack *stack)
{
	const struct shca_headers *headers = stack->headers;
	uint16_t checksum;

	if (!stack->covers_l4)
		return false;
	memcpy(&checksum, bytes + headers->l4_offset + SHCA_RX_CSUM_UDP_CHECKSUM, sizeof(checksum));
	return checksum != 0 || headers->l4 != SHCA_L4_UDP;
}

/**
 * Check a frame by one stack of its headers.
 *
 * @param wants_sum otherwise the checksum is that of the frame or 0
 */
static inline __attribute__((always_inline)) struct shca_rx_csum
shca_rx_csum_check(
	const uint8_t *bytes, const struct shca_rx_csum_stack *stack, const bool wants_sum)
{
	const struct shca_headers *headers = stack->headers;
	struct shca_rx_csum rx_csum = { .l4_good = stack->covers_l4 };
	uint64_t header_sum, sum;
	bool depends;

	if (headers->l3 == SHCA_L3_NONE)
		return (struct shca_rx_csum){ 0 };
	header_sum = shca_rx_csum_l3_sum(bytes, headers);
	rx_csum.l3_good = shca_rx_csum_l3(headers, header_sum);
	depends = shca_rx_csum_l4_depends(bytes, stack);
	if (!depends && !wants_sum)
		return rx_csum;
	sum = shca_rx_csum_l4_sum(bytes, headers);
	if (depends)
		rx_csum.l4_good = shca_csum_is_good(shca_csum_add_word(sum, stack->pseudo));
	/* The sum runs from the IP header on; its words are in memory order already. An IP header
	 * has an even length, so the two sums add up. */
	rx_csum.checksum = shca_csum_fold(shca_csum_add_word(header_sum, sum));
	return rx_csum;
}

#endif /* SHCA_HW_FORMAT_RX_CSUM_H */
