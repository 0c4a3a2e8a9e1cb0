/* SPDX-License-Identifier: BSD-3-Clause */
/** @file The ICRC of packets that cards sent, and that nothing a router changes is in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "transport/packet/icrc.h"

/** From the IP header on, ICRC last. A congestion notification, captured on a ConnectX-4 Lx, and a
 * send of an unreliable connection: the examples of scapy's test/contrib/roce.uts. */
static const uint8_t notification[] = { 0x45, 0xc2, 0x00, 0x3c, 0x71, 0x8c, 0x40, 0x00, 0x40, 0x11,
	0x91, 0x61, 0x0a, 0x00, 0x11, 0x01, 0x0a, 0x00, 0x12, 0x01, 0x00, 0x00, 0x12, 0xb7, 0x00,
	0x28, 0x00, 0x00, 0x81, 0x00, 0xff, 0xff, 0x40, 0x00, 0x01, 0x18, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x82, 0xfd, 0x00, 0x2a };
static const uint8_t send_only[] = { 0x45, 0x01, 0x00, 0x40, 0x04, 0x78, 0x40, 0x00, 0x40, 0x11,
	0xb4, 0xd5, 0xc0, 0xa8, 0x00, 0x07, 0xc0, 0xa8, 0x00, 0x07, 0xc0, 0x00, 0x12, 0xb7, 0x00,
	0x2c, 0xac, 0xa2, 0x24, 0x60, 0xff, 0xff, 0x00, 0x00, 0x00, 0xd3, 0x00, 0xcf, 0x17, 0x10,
	0x46, 0x30, 0x81, 0x8b, 0xe2, 0x89, 0x35, 0xd9, 0x0e, 0x9a, 0x95, 0x50, 0x54, 0x01, 0xbe,
	0x88, 0x5e, 0x50, 0x00, 0x00, 0x78, 0xf3, 0x53, 0xf3 };

static void
expect(const uint8_t *bytes, size_t length)
{
	const uint32_t icrc =
		shca_icrc(SHCA_ICRC_IPV4_UDP, bytes, (uint32_t)length - SHCA_ICRC_BYTES);

	assert_memory_equal(&icrc, bytes + length - SHCA_ICRC_BYTES, sizeof(icrc));
}

static void
is_what_cards_send(void **state)
{
	(void)state;
	expect(notification, sizeof(notification));
	expect(send_only, sizeof(send_only));
}

/** IBTA A17.3.3: those bytes and no others. */
static void
leaves_out_what_routers_change(void **state)
{
	static const uint8_t variant[] = { 1, 8, 10, 11, 26, 27, 32 };
	uint8_t bytes[sizeof(send_only)];
	unsigned int next = 0;

	(void)state;
	for (unsigned int i = 0; i < sizeof(send_only) - SHCA_ICRC_BYTES; i++) {
		uint32_t icrc;
		const bool is_variant = next < sizeof(variant) && variant[next] == i;

		memcpy(bytes, send_only, sizeof(bytes));
		bytes[i] ^= 0x5a;
		icrc = shca_icrc(SHCA_ICRC_IPV4_UDP, bytes, sizeof(bytes) - SHCA_ICRC_BYTES);
		next += is_variant;
		assert_int_equal(
			memcmp(&icrc, bytes + sizeof(bytes) - SHCA_ICRC_BYTES, sizeof(icrc)) == 0,
			is_variant);
	}
}

/** As written in the specification, a bit at a time. */
static uint32_t
naive(const uint8_t *bytes, uint32_t length)
{
	uint32_t crc = UINT32_MAX;

	for (uint32_t i = 0; i < length; i++)
		for (unsigned int bit = 0; bit < 8; bit++) {
			const uint32_t out = (crc ^ bytes[i] >> bit) & 1;

			crc = crc >> 1 ^ (out != 0 ? 0xedb88320 : 0);
		}
	return ~crc;
}

/** A GRH's and an IPv6 header's first word, hop limit, and the checksum of UDP. */
static void
masks_ipv6(void **state)
{
	static const enum shca_icrc_network networks[] = { SHCA_ICRC_GRH, SHCA_ICRC_IPV6_UDP };

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		const uint32_t bytes_of = shca_icrc_network_bytes(networks[i]);
		uint8_t bytes[8 + 64 + 29];
		uint8_t *ip = bytes + 8;

		for (unsigned int k = 0; k < sizeof(bytes); k++)
			bytes[k] = (uint8_t)(k * 37 + 11);
		const uint32_t icrc = shca_icrc(networks[i], ip, sizeof(bytes) - 8);

		memset(bytes, 0xff, 8);
		ip[0] |= 0x0f;
		ip[1] = ip[2] = ip[3] = ip[7] = 0xff;
		if (networks[i] == SHCA_ICRC_IPV6_UDP)
			ip[46] = ip[47] = 0xff;
		ip[bytes_of + 4] = 0xff;
		assert_int_equal(icrc, naive(bytes, sizeof(bytes)));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_what_cards_send),
		cmocka_unit_test(leaves_out_what_routers_change),
		cmocka_unit_test(masks_ipv6),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
