/* SPDX-License-Identifier: BSD-3-Clause */
/* Toeplitz against the vectors of Microsoft's RSS documentation, field selection and policy. */
#include "rig.h"

#include <string.h>

#include "hw/format/rss.h"
#include "steering/match/parse.h"

#define V4  (IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4)
#define V6  (IBV_RX_HASH_SRC_IPV6 | IBV_RX_HASH_DST_IPV6)
#define TCP (IBV_RX_HASH_SRC_PORT_TCP | IBV_RX_HASH_DST_PORT_TCP)
#define UDP (IBV_RX_HASH_SRC_PORT_UDP | IBV_RX_HASH_DST_PORT_UDP)

static struct shca_rss
make_rss(void)
{
	struct shca_rss rss;
	struct rig rig;

	rig_init(&rig);
	shca_rss_init(&rss, rig.tir_attr.key);
	return rss;
}

/** "Verifying the RSS Hash Calculation": source, destination, ports; hash of addresses, and with
 * ports. */
static void
vectors_ipv4(void **state)
{
	static const struct {
		uint8_t src[4], dst[4];
		uint16_t src_port, dst_port;
		uint32_t addresses, ports;
	} cases[] = {
		{ { 66, 9, 149, 187 }, { 161, 142, 100, 80 }, 2794, 1766, 0x323e8fc2, 0x51ccc178 },
		{ { 199, 92, 111, 2 }, { 65, 69, 140, 83 }, 14230, 4739, 0xd718262a, 0xc626b0ea },
		{ { 24, 19, 198, 95 }, { 12, 22, 207, 184 }, 12898, 38024, 0xd2d0a5de, 0x5c2b394a },
		{ { 38, 27, 205, 30 }, { 209, 142, 163, 6 }, 48228, 2217, 0x82989176, 0xafc7327f },
		{ { 153, 39, 163, 191 }, { 202, 188, 127, 2 }, 44251, 1303, 0x5d1809c5,
			0x10e828a2 },
	};
	struct shca_rss rss = make_rss();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t bytes[128], type;
		uint32_t length = rig_packet(bytes, RIG_IPV4_TCP, i % 2 != 0, 10);
		uint8_t *ip = bytes + (i % 2 != 0 ? 18 : 14);
		struct shca_packet packet;

		memcpy(ip + 12, cases[i].src, 4);
		memcpy(ip + 16, cases[i].dst, 4);
		rig_put16(ip + 20, cases[i].src_port);
		rig_put16(ip + 22, cases[i].dst_port);
		shca_parse(bytes, length, &packet);
		assert_int_equal(shca_rss_packet(&rss, V4, &packet, &type), cases[i].addresses);
		assert_int_equal(type, SHCA_RSS_TYPE_IPV4);
		assert_int_equal(shca_rss_packet(&rss, V4 | TCP, &packet, &type), cases[i].ports);
		assert_int_equal(type, SHCA_RSS_TYPE_IPV4 | SHCA_RSS_TYPE_TCP);
	}
}

static void
vectors_ipv6(void **state)
{
	static const struct {
		uint8_t src[16], dst[16];
		uint16_t src_port, dst_port;
		uint32_t addresses, ports;
	} cases[] = {
		{ { 0x3f, 0xfe, 0x25, 0x01, 0x02, 0x00, 0x1f, 0xff, 0, 0, 0, 0, 0, 0, 0, 7 },
			{ 0x3f, 0xfe, 0x25, 0x01, 0x02, 0x00, 0x00, 0x03, 0, 0, 0, 0, 0, 0, 0, 1 },
			2794, 1766, 0x2cc18cd5, 0x40207d3d },
		{ { 0x3f, 0xfe, 0x05, 0x01, 0, 8, 0, 0, 0x02, 0x60, 0x97, 0xff, 0xfe, 0x40, 0xef,
			  0xab },
			{ 0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 }, 14230, 4739,
			0x0f0c461c, 0xdde51bbf },
		{ { 0x3f, 0xfe, 0x19, 0x00, 0x45, 0x45, 0x00, 0x03, 0x02, 0x00, 0xf8, 0xff, 0xfe,
			  0x21, 0x67, 0xcf },
			{ 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x02, 0x00, 0xf8, 0xff, 0xfe, 0x21, 0x67,
				0xcf },
			44251, 38024, 0x4b61e985, 0x02d1feef },
	};
	struct shca_rss rss = make_rss();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t bytes[128], type;
		uint32_t length = rig_packet(bytes, RIG_IPV6_TCP, false, 10);
		struct shca_packet packet;

		memcpy(bytes + 14 + 8, cases[i].src, 16);
		memcpy(bytes + 14 + 24, cases[i].dst, 16);
		rig_put16(bytes + 54, cases[i].src_port);
		rig_put16(bytes + 56, cases[i].dst_port);
		shca_parse(bytes, length, &packet);
		assert_int_equal(shca_rss_packet(&rss, V6, &packet, &type), cases[i].addresses);
		assert_int_equal(type, SHCA_RSS_TYPE_IPV6);
		assert_int_equal(shca_rss_packet(&rss, V6 | TCP, &packet, &type), cases[i].ports);
		assert_int_equal(type, SHCA_RSS_TYPE_IPV6 | SHCA_RSS_TYPE_TCP);
	}
}

/** A bit at a time, as the algorithm is described. */
static uint32_t
naive_toeplitz(const uint8_t *key, const uint8_t *input, unsigned int length)
{
	uint32_t hash = 0;

	for (unsigned int bit = 0; bit < length * 8; bit++) {
		if ((input[bit / 8] & 0x80 >> bit % 8) == 0)
			continue;
		for (unsigned int i = 0; i < 32; i++)
			if (key[(bit + i) / 8] & 0x80 >> (bit + i) % 8)
				hash ^= 0x80000000u >> i;
	}
	return hash;
}

static void
as_the_naive_hash(void **state)
{
	uint8_t key[40], input[36];
	uint32_t random = 7;

	(void)state;
	for (unsigned int i = 0; i < 200; i++) {
		struct shca_rss rss;

		for (unsigned int j = 0; j < 76; j++) {
			random = random * 1103515245 + 12345;
			*(j < 40 ? &key[j] : &input[j - 40]) = (uint8_t)(random >> 16);
		}
		shca_rss_init(&rss, key);
		assert_int_equal(
			shca_rss_hash(&rss, input, i % 37), naive_toeplitz(key, input, i % 37));
	}
}

/** What a TIR's fields make of each packet; a packet without a selected field is not hashed. */
static void
selection(void **state)
{
	static const struct {
		enum rig_packet kind;
		uint64_t fields;
		uint8_t type;
	} cases[] = {
		{ RIG_IPV4_UDP, V4, SHCA_RSS_TYPE_IPV4 },
		{ RIG_IPV4_UDP, V4 | UDP, SHCA_RSS_TYPE_IPV4 | SHCA_RSS_TYPE_UDP },
		{ RIG_IPV4_UDP, UDP, SHCA_RSS_TYPE_UDP },
		{ RIG_IPV4_UDP, IBV_RX_HASH_SRC_IPV4, SHCA_RSS_TYPE_IPV4 },
		{ RIG_IPV4_UDP, V4 | TCP, 0 },
		{ RIG_IPV4_TCP, V4 | UDP, 0 },
		{ RIG_IPV4_UDP, V6, 0 },
		{ RIG_IPV6_UDP, V4, 0 },
		{ RIG_IPV6_UDP, V6 | UDP, SHCA_RSS_TYPE_IPV6 | SHCA_RSS_TYPE_UDP },
		{ RIG_IPV6_TCP, TCP, SHCA_RSS_TYPE_TCP },
		{ RIG_IPV4_UDP, V4 | IBV_RX_HASH_INNER, 0 },
		{ RIG_IPV4_UDP, IBV_RX_HASH_IPSEC_SPI, 0 },
	};
	struct shca_rss rss = make_rss();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t bytes[128], type = 0xff;
		uint32_t length = rig_packet(bytes, cases[i].kind, false, 10);
		struct shca_packet packet;
		uint32_t hash;

		shca_parse(bytes, length, &packet);
		hash = shca_rss_packet(&rss, cases[i].fields, &packet, &type);
		assert_int_equal(type, cases[i].type);
		assert_int_equal(hash != 0, type != 0);
	}
}

static void
one_side_closes_up(void **state)
{
	struct shca_rss rss = make_rss();
	uint8_t bytes[128], input[6], type;
	uint32_t length = rig_packet(bytes, RIG_IPV4_UDP, false, 10);
	struct shca_packet packet;

	(void)state;
	memcpy(input, bytes + 14 + 16, 4);
	memcpy(input + 4, bytes + 34, 2);
	shca_parse(bytes, length, &packet);
	assert_int_equal(shca_rss_packet(&rss, IBV_RX_HASH_DST_IPV4 | IBV_RX_HASH_SRC_PORT_UDP,
				 &packet, &type),
		shca_rss_hash(&rss, input, 6));
}

static void
fragments_and_esp(void **state)
{
	struct shca_rss rss = make_rss();
	uint8_t bytes[128], type;
	uint32_t length = rig_packet(bytes, RIG_IPV4_UDP, false, 30);
	struct shca_packet packet;

	(void)state;
	bytes[20] = 0x20;
	shca_parse(bytes, length, &packet);
	assert_int_equal(shca_rss_packet(&rss, V4 | UDP, &packet, &type), 0);
	assert_int_equal(type, 0);
	assert_int_not_equal(shca_rss_packet(&rss, V4, &packet, &type), 0);
	assert_int_equal(type, SHCA_RSS_TYPE_IPV4);
	bytes[20] = 0;
	bytes[23] = 50;
	shca_parse(bytes, length, &packet);
	assert_int_equal(shca_rss_packet(&rss, IBV_RX_HASH_IPSEC_SPI, &packet, &type),
		shca_rss_hash(&rss, bytes + 34, 4));
	assert_int_equal(type, SHCA_RSS_TYPE_SPI);
}

static void
inner_headers(void **state)
{
	struct shca_rss rss = make_rss();
	uint8_t inner[128], bytes[256], type, plain_type;
	uint32_t inner_length = rig_packet(inner, RIG_IPV6_TCP, false, 5);
	uint32_t length = rig_vxlan(bytes, inner, inner_length);
	struct shca_packet packet, plain;

	(void)state;
	shca_parse(bytes, length, &packet);
	shca_parse(inner, inner_length, &plain);
	assert_int_equal(shca_rss_packet(&rss, V6 | TCP | IBV_RX_HASH_INNER, &packet, &type),
		shca_rss_packet(&rss, V6 | TCP, &plain, &plain_type));
	assert_int_equal(type, plain_type);
	assert_int_equal(type, SHCA_RSS_TYPE_IPV6 | SHCA_RSS_TYPE_TCP);
	assert_int_equal(shca_rss_packet(&rss, V6 | TCP, &packet, &type), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vectors_ipv4),
		cmocka_unit_test(vectors_ipv6),
		cmocka_unit_test(as_the_naive_hash),
		cmocka_unit_test(selection),
		cmocka_unit_test(one_side_closes_up),
		cmocka_unit_test(fragments_and_esp),
		cmocka_unit_test(inner_headers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
