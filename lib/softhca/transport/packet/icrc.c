/* SPDX-License-Identifier: BSD-3-Clause */
/* The invariant CRC: that of Ethernet, over what no router changes. */
#include "transport/packet/icrc.h"

#include <endian.h>
#include <string.h>

#define POLYNOMIAL  0xedb88320u /* IEEE 802.3's, reflected */
#define SLICES      8
#define BTH_BYTES   12
#define DUMMY_BYTES 8 /* in place of the local route header that RoCE lacks */
#define IPV4_BYTES  20
#define IPV6_BYTES  40
#define UDP_BYTES   8

static uint32_t table[SLICES][256];

/** Entry [k][b]: byte b with k zero bytes behind it. */
static __attribute__((constructor)) void
fill_table(void)
{
	for (uint32_t byte = 0; byte < 256; byte++) {
		uint32_t crc = byte;

		for (unsigned int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
		table[0][byte] = crc;
	}
	for (unsigned int slice = 1; slice < SLICES; slice++)
		for (uint32_t byte = 0; byte < 256; byte++) {
			const uint32_t before = table[slice - 1][byte];

			table[slice][byte] = before >> 8 ^ table[0][before & 0xff];
		}
}

static uint32_t
add(uint32_t crc, const uint8_t *bytes, uint32_t length)
{
	for (; length >= SLICES; bytes += SLICES, length -= SLICES) {
		uint32_t low, high;

		memcpy(&low, bytes, sizeof(low));
		memcpy(&high, bytes + sizeof(low), sizeof(high));
		low = le32toh(low) ^ crc;
		high = le32toh(high);
		crc = table[7][low & 0xff] ^ table[6][low >> 8 & 0xff] ^
			table[5][low >> 16 & 0xff] ^ table[4][low >> 24] ^ table[3][high & 0xff] ^
			table[2][high >> 8 & 0xff] ^ table[1][high >> 16 & 0xff] ^
			table[0][high >> 24];
	}
	for (; length != 0; bytes++, length--)
		crc = crc >> 8 ^ table[0][(crc ^ *bytes) & 0xff];
	return crc;
}

uint32_t
shca_icrc_network_bytes(enum shca_icrc_network network)
{
	static const uint8_t bytes_of[] = {
		[SHCA_ICRC_GRH] = IPV6_BYTES,
		[SHCA_ICRC_IPV4_UDP] = IPV4_BYTES + UDP_BYTES,
		[SHCA_ICRC_IPV6_UDP] = IPV6_BYTES + UDP_BYTES,
	};

	return bytes_of[network];
}

/** What a router or a switch may change counts as ones (IBTA A16.5.1, A17.3.3). */
static void
mask(enum shca_icrc_network network, uint8_t *head)
{
	if (network == SHCA_ICRC_IPV4_UDP) {
		head[1] = 0xff;             /* type of service */
		head[8] = 0xff;             /* time to live */
		head[10] = head[11] = 0xff; /* checksum */
	} else {
		head[0] |= 0x0f; /* traffic class and flow label */
		head[1] = head[2] = head[3] = 0xff;
		head[7] = 0xff; /* hop limit */
	}
	if (network != SHCA_ICRC_GRH) {
		const uint32_t udp = shca_icrc_network_bytes(network) - UDP_BYTES;

		head[udp + 6] = head[udp + 7] = 0xff; /* checksum */
	}
	head[shca_icrc_network_bytes(network) + 4] = 0xff; /* BTH: FECN, BECN and reserved */
}

uint32_t
shca_icrc(enum shca_icrc_network network, const uint8_t *bytes, uint32_t length)
{
	const uint32_t head_bytes = shca_icrc_network_bytes(network) + BTH_BYTES;
	uint8_t head[DUMMY_BYTES + IPV6_BYTES + UDP_BYTES + BTH_BYTES];
	uint32_t crc;

	memset(head, 0xff, DUMMY_BYTES);
	memcpy(head + DUMMY_BYTES, bytes, head_bytes);
	mask(network, head + DUMMY_BYTES);
	crc = add(UINT32_MAX, head, DUMMY_BYTES + head_bytes);
	crc = add(crc, bytes + head_bytes, length - head_bytes);
	return htole32(~crc);
}
