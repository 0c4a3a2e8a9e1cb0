/* SPDX-License-Identifier: BSD-3-Clause */
/* Checksums against RFC 1071 as it is written; the FCS against known values. */
#include "rig.h"

#include <endian.h>
#include <string.h>

#include "hw/format/csum.h"
#include "steering/match/parse.h"

static uint32_t seed = 1;

static uint8_t
next_byte(void)
{
	seed = seed * 1103515245 + 12345;
	return (uint8_t)(seed >> 16);
}

static void
as_the_naive_sum(void **state)
{
	uint8_t bytes[2000];

	(void)state;
	for (unsigned int i = 0; i < 3000; i++) {
		uint32_t offset = next_byte() % 16u;
		uint32_t length = i < 70 ? i : (next_byte() * 7u) % 1900;
		uint32_t even = length / 3 & ~1u;
		uint16_t naive, folded;

		for (uint32_t j = 0; j < length; j++)
			bytes[offset + j] = i % 3 == 0 ? 0xff : next_byte();
		naive = rig_naive_sum(bytes + offset, length, 0);
		folded = be16toh(shca_csum_fold(shca_csum_add(bytes + offset, length, 0)));
		assert_int_equal(folded, naive);
		if (length >= 8)
			assert_int_equal(
				be16toh(shca_csum_fold(shca_csum_short(bytes + offset, length))),
				naive);
		/* In pieces. */
		folded = be16toh(shca_csum_fold(shca_csum_add(bytes + offset + even, length - even,
			shca_csum_add(bytes + offset, even, 0))));
		assert_int_equal(folded, naive);
	}
}

/** As the remainder says, of sums of all sizes. */
static void
good_sums(void **state)
{
	const uint64_t last = UINT64_MAX / UINT16_MAX;

	(void)state;
	assert_false(shca_csum_is_good(0));
	assert_true(shca_csum_is_good(UINT16_MAX));
	assert_true(shca_csum_is_good(UINT64_MAX));
	for (unsigned int i = 0; i < 3000; i++) {
		uint64_t quotient = 1 + next_byte() * (last / 256) + next_byte();
		uint64_t sum = quotient * UINT16_MAX;

		assert_true(shca_csum_is_good(sum));
		assert_false(shca_csum_is_good(sum - 1));
		assert_false(shca_csum_is_good(sum + 1 + next_byte()));
		assert_false(shca_csum_is_good(i % UINT16_MAX));
	}
}

static void
fold_keeps_carries(void **state)
{
	(void)state;
	assert_int_equal(shca_csum_fold(0), 0);
	assert_int_equal(shca_csum_fold(0xffff), 0xffff);
	assert_int_equal(shca_csum_fold(0x10000), 1);
	assert_int_equal(shca_csum_fold(UINT64_MAX), 0xffff);
	assert_int_equal(shca_csum_fold(0xffffffff00000001), 1);
}

static void
pseudo_headers(void **state)
{
	static const enum rig_packet kinds[] = { RIG_IPV4_UDP, RIG_IPV4_TCP, RIG_IPV6_UDP,
		RIG_IPV6_TCP };
	uint8_t bytes[256];

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		uint32_t length = rig_packet(bytes, kinds[i], false, 33);
		struct shca_packet packet;
		uint16_t sum, naive;

		shca_parse(bytes, length, &packet);
		assert_true(shca_csum_covers_l4(&packet.outer));
		sum = be16toh(shca_csum_fold(shca_csum_pseudo(bytes, &packet.outer)));
		naive = rig_naive_sum((const uint8_t *)"\0", 2,
			rig_naive_pseudo(bytes + 14, packet.outer.ip_proto,
				length - packet.outer.l4_offset));
		assert_int_equal(sum, naive);
	}
}

static void
fcs(void **state)
{
	/* The check value of CRC-32: 0xcbf43926, least significant byte first on the medium. */
	uint32_t value = shca_csum_fcs((const uint8_t *)"123456789", 9);

	(void)state;
	assert_memory_equal(&value, "\x26\x39\xf4\xcb", 4);
	value = shca_csum_fcs((const uint8_t *)"", 0);
	assert_memory_equal(&value, "\0\0\0\0", 4);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_the_naive_sum),
		cmocka_unit_test(good_sums),
		cmocka_unit_test(fold_keeps_carries),
		cmocka_unit_test(pseudo_headers),
		cmocka_unit_test(fcs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
