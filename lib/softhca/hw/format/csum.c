/* SPDX-License-Identifier: BSD-3-Clause */
/* Internet checksums and the Ethernet frame check sequence. */
#include "hw/format/csum.h"

#include <endian.h>
#include <string.h>

static inline uint64_t
load_word(const uint8_t *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

/** The last bytes, fewer than a word, padded with zero behind. */
static inline uint64_t
load_tail(const uint8_t *bytes, size_t length)
{
	uint64_t word = 0;
	uint32_t half;
	uint16_t pair;

	if (length & 1)
		memcpy(&word, bytes + length - 1, 1);
	if (length & 2) {
		memcpy(&pair, bytes + (length & 4), sizeof(pair));
		word += pair;
	}
	if (length & 4) {
		memcpy(&half, bytes, sizeof(half));
		word += half;
	}
	return word;
}

uint64_t
shca_csum_add(const uint8_t *bytes, size_t length, uint64_t sum)
{
	uint64_t other = 0;

	for (; length >= 16; bytes += 16, length -= 16) {
		sum = shca_csum_add_word(sum, load_word(bytes));
		other = shca_csum_add_word(other, load_word(bytes + 8));
	}
	sum = shca_csum_add_word(sum, other);
	if (length >= 8) {
		sum = shca_csum_add_word(sum, load_word(bytes));
		bytes += 8;
		length -= 8;
	}
	sum = shca_csum_add_word(sum, load_tail(bytes, length));
	/* Fold to 33 bits, so that callers can add several sums without overflow. */
	return (sum & UINT32_MAX) + (sum >> 32);
}

uint32_t
shca_csum_fcs(const uint8_t *bytes, size_t length)
{
	/* The reflected polynomial 0xedb88320, four bits at a time. */
	static const uint32_t table[16] = { 0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
		0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8,
		0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c };
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < length; i++) {
		crc ^= bytes[i];
		crc = crc >> 4 ^ table[crc & 0xf];
		crc = crc >> 4 ^ table[crc & 0xf];
	}
	return htole32(~crc);
}
