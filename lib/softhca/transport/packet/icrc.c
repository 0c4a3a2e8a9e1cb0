/* SPDX-License-Identifier: BSD-3-Clause */
/* The invariant CRC: that of Ethernet, which is gzip's, over what no router changes. */
#include "transport/packet/icrc.h"

#include <endian.h>
#include <string.h>

#include <libdeflate.h>

#define BTH_BYTES   12
#define DUMMY_BYTES 8 /* in place of the local route header that RoCE lacks */
#define IPV4_BYTES  20
#define IPV6_BYTES  40
#define UDP_BYTES   8

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
	crc = libdeflate_crc32(0, head, DUMMY_BYTES + head_bytes);
	crc = libdeflate_crc32(crc, bytes + head_bytes, length - head_bytes);
	return htole32(crc);
}
