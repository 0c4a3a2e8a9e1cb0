/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Receive side scaling: which header fields a TIR hashes, and the Toeplitz hash. Pure.
 */
#ifndef SHCA_HW_FORMAT_RSS_H
#define SHCA_HW_FORMAT_RSS_H

#include <stddef.h>
#include <stdint.h>

struct shca_packet;

#define SHCA_RSS_KEY_BYTES   40
#define SHCA_RSS_INPUT_BYTES 36 /**< two IPv6 addresses, two ports */

/** A prepared key: the hash of every nibble at every place of the input. */
struct shca_rss {
	uint32_t nibble[SHCA_RSS_INPUT_BYTES * 2][16];
};

void shca_rss_init(struct shca_rss *rss, const uint8_t key[SHCA_RSS_KEY_BYTES]);

/** @param length up to SHCA_RSS_INPUT_BYTES */
uint32_t shca_rss_hash(const struct shca_rss *rss, const uint8_t *input, size_t length);

/**
 * Hash the @p fields (IBV_RX_HASH_*) of @p packet.
 *
 * @param type of the hash, SHCA_RSS_TYPE_*; 0 when the packet lacks one of the fields
 * @return the hash, 0 when the packet lacks one of the fields
 */
uint32_t shca_rss_packet(const struct shca_rss *rss, uint64_t fields,
	const struct shca_packet *packet, uint8_t *type);

#endif /* SHCA_HW_FORMAT_RSS_H */
