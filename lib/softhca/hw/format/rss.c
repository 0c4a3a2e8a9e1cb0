/* SPDX-License-Identifier: BSD-3-Clause */
/* Receive side scaling: field selection and the Toeplitz hash. */
#include "hw/format/rss.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "hw/format/hw.h"
#include "steering/match/parse.h"

/** The 32 bits of the key from @p bit on. */
static uint32_t
key_window(const uint8_t *key, unsigned int bit)
{
	uint64_t window = 0;

	for (unsigned int i = 0; i < 5; i++)
		window = window << 8 | key[bit / 8 + i];
	return (uint32_t)(window >> (8 - bit % 8));
}

void
shca_rss_init(struct shca_rss *rss, const uint8_t key[SHCA_RSS_KEY_BYTES])
{
	for (unsigned int place = 0; place < SHCA_RSS_INPUT_BYTES * 2; place++)
		for (unsigned int value = 0; value < 16; value++) {
			uint32_t hash = 0;

			for (unsigned int bit = 0; bit < 4; bit++)
				if (value & 8 >> bit)
					hash ^= key_window(key, place * 4 + bit);
			rss->nibble[place][value] = hash;
		}
}

uint32_t
shca_rss_hash(const struct shca_rss *rss, const uint8_t *input, size_t length)
{
	uint32_t hash = 0;

	assert(length <= SHCA_RSS_INPUT_BYTES);
	for (size_t i = 0; i < length; i++)
		hash ^= rss->nibble[2 * i][input[i] >> 4] ^ rss->nibble[2 * i + 1][input[i] & 0xf];
	return hash;
}

/** The headers that a field needs, its place, and the hash type that it adds. In the order of the
 * hash input. */
static const struct field {
	uint64_t bit;
	enum shca_l3 l3; /* NONE: any */
	enum shca_l4 l4; /* NONE: any */
	uint8_t offset;  /* from the L3 header, or from the L4 header when l4 is not NONE */
	uint8_t bytes;
	uint8_t type;
} hash_fields[] = {
	{ IBV_RX_HASH_SRC_IPV4, SHCA_L3_IPV4, SHCA_L4_NONE, 12, 4, SHCA_RSS_TYPE_IPV4 },
	{ IBV_RX_HASH_DST_IPV4, SHCA_L3_IPV4, SHCA_L4_NONE, 16, 4, SHCA_RSS_TYPE_IPV4 },
	{ IBV_RX_HASH_SRC_IPV6, SHCA_L3_IPV6, SHCA_L4_NONE, 8, 16, SHCA_RSS_TYPE_IPV6 },
	{ IBV_RX_HASH_DST_IPV6, SHCA_L3_IPV6, SHCA_L4_NONE, 24, 16, SHCA_RSS_TYPE_IPV6 },
	{ IBV_RX_HASH_SRC_PORT_TCP, SHCA_L3_NONE, SHCA_L4_TCP, 0, 2, SHCA_RSS_TYPE_TCP },
	{ IBV_RX_HASH_DST_PORT_TCP, SHCA_L3_NONE, SHCA_L4_TCP, 2, 2, SHCA_RSS_TYPE_TCP },
	{ IBV_RX_HASH_SRC_PORT_UDP, SHCA_L3_NONE, SHCA_L4_UDP, 0, 2, SHCA_RSS_TYPE_UDP },
	{ IBV_RX_HASH_DST_PORT_UDP, SHCA_L3_NONE, SHCA_L4_UDP, 2, 2, SHCA_RSS_TYPE_UDP },
	{ IBV_RX_HASH_IPSEC_SPI, SHCA_L3_NONE, SHCA_L4_ESP, 0, 4, SHCA_RSS_TYPE_SPI },
};

static bool
has_field(const struct shca_headers *headers, const struct field *field)
{
	return headers->l3 != SHCA_L3_NONE &&
		(field->l3 == SHCA_L3_NONE || field->l3 == headers->l3) &&
		(field->l4 == SHCA_L4_NONE || field->l4 == headers->l4);
}

/**
 * Policy where no driver shows what hardware does: a packet that lacks a selected field (another L3
 * or L4, a fragment, no tunnel where inner headers are asked for) is not hashed at all.
 */
uint32_t
shca_rss_packet(const struct shca_rss *rss, uint64_t fields, const struct shca_packet *packet,
	uint8_t *type)
{
	const struct shca_headers *headers =
		fields & IBV_RX_HASH_INNER ? &packet->inner : &packet->outer;
	uint8_t input[SHCA_RSS_INPUT_BYTES];
	size_t length = 0;
	uint8_t seen = 0;

	*type = 0;
	if (!headers->valid)
		return 0;
	for (size_t i = 0; i < sizeof(hash_fields) / sizeof(hash_fields[0]); i++) {
		const struct field *field = &hash_fields[i];

		if ((fields & field->bit) == 0)
			continue;
		/* IPv4 and IPv6, or two of TCP, UDP and ESP, exclude each other: no overflow. */
		if (!has_field(headers, field))
			return 0;
		memcpy(input + length,
			packet->bytes + field->offset +
				(field->l4 != SHCA_L4_NONE ? headers->l4_offset
							   : headers->l3_offset),
			field->bytes);
		length += field->bytes;
		seen |= field->type;
	}
	*type = seen;
	return shca_rss_hash(rss, input, length);
}
