/* SPDX-License-Identifier: BSD-3-Clause */
/* Internet checksums and the Ethernet frame check sequence. */
#include "hw/csum.h"

#include <endian.h>
#include <string.h>

#include "steering/parse.h"

uint64_t
shca_csum_add(const uint8_t *bytes, size_t length, uint64_t sum)
{
	uint64_t word;
	uint32_t half;
	uint16_t last;

	/* 2^32 is 1 modulo 2^16 - 1, so 32-bit words add up to the same sum; 64 KiB of them leave
	 * room in 64 bits for any partial sum. */
	for (; length >= sizeof(word); bytes += sizeof(word), length -= sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		sum += (word & UINT32_MAX) + (word >> 32);
	}
	if (length >= sizeof(half)) {
		memcpy(&half, bytes, sizeof(half));
		sum += half;
		bytes += sizeof(half);
		length -= sizeof(half);
	}
	if (length >= sizeof(last)) {
		memcpy(&last, bytes, sizeof(last));
		sum += last;
		bytes += sizeof(last);
		length -= sizeof(last);
	}
	if (length != 0) {
		last = 0;
		memcpy(&last, bytes, 1);
		sum += last;
	}
	return sum;
}

uint16_t
shca_csum_fold(uint64_t sum)
{
	sum = (sum & UINT32_MAX) + (sum >> 32);
	sum = (sum & UINT32_MAX) + (sum >> 32);
	sum = (sum & UINT16_MAX) + (sum >> 16);
	sum = (sum & UINT16_MAX) + (sum >> 16);
	return (uint16_t)sum;
}

uint64_t
shca_csum_pseudo(const uint8_t *bytes, const struct shca_headers *headers)
{
	/* IPv4: addresses at 12, RFC 793; IPv6: at 8, RFC 8200 section 8.1. */
	uint32_t length = htobe32((uint32_t)headers->l3_end - headers->l4_offset);
	uint32_t protocol = htobe32(headers->ip_proto);
	const uint8_t *ip = bytes + headers->l3_offset;
	uint64_t sum;

	if (headers->l3 == SHCA_L3_IPV4)
		sum = shca_csum_add(ip + 12, 8, 0);
	else
		sum = shca_csum_add(ip + 8, 32, 0);
	return sum + length + protocol;
}

bool
shca_csum_covers_l4(const struct shca_headers *headers)
{
	return headers->valid && (headers->l4 == SHCA_L4_TCP || headers->l4 == SHCA_L4_UDP) &&
		!headers->fragment && headers->l3_length_ok;
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
