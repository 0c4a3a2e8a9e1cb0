/* SPDX-License-Identifier: BSD-3-Clause */
/* CQE bytes, exactly, and the checksum verdicts. */
#include "rig.h"

#include <endian.h>
#include <string.h>

#include "hw/format/cqe.h"
#include "steering/match/parse.h"

static struct shca_cqe
describe(const uint8_t *bytes, uint32_t length)
{
	struct shca_packet packet;
	struct shca_cqe cqe;

	shca_parse(bytes, length, &packet);
	shca_cqe_describe(&cqe, &packet, true, 0x1122334455667788);
	return cqe;
}

/** One whole receive CQE, byte for byte (DPDK mlx5_prm.h struct mlx5_cqe). */
static void
golden_rx(void **state)
{
	static const uint8_t golden[64] = { /* pkt_info */ 0, 0, /* wqe_id */ 0, 0, /* LRO */ 0, 0,
		0, 0, 0, 0, 0, 0,
		/* hash */ 0x51, 0xcc, 0xc1, 0x78, /* hash type: IPv4, UDP */ 0x84, 0, 0, 0,
		/* checksum, below */ 0, 0, /* slid */ 0, 0, /* flags_rqpn */ 0, 0, 0, 0,
		/* L2_OK L3_OK L4_OK */ 0x07, /* UDP, IPv4, CV */ 0x29, /* TCI */ 0x60, 0x05,
		/* user index */ 0x00, 0xab, 0xcd, 0xef, /* metadata */ 0, 0, 0, 0, 0, 0, 0, 0,
		/* byte count */ 0x00, 0x00, 0x01, 0x2c,
		/* timestamp */ 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,
		/* flow tag */ 0x00, 0x12, 0x34, 0x56, /* WQE */ 0xfe, 0xdc, /* signature */ 0,
		/* RESP_SEND */ 0x20 };
	const struct shca_cqe_rx rx = {
		.byte_count = 300,
		.rss_hash = 0x51ccc178,
		.rss_hash_type = SHCA_RSS_TYPE_IPV4 | SHCA_RSS_TYPE_UDP,
		.vlan_stripped = true,
		.vlan_tci = 0x6005,
		.flow_tag = 0xff123456,
		.user_index = 0xffabcdef,
		.wqe_counter = 0xfedc,
	};
	uint8_t bytes[128], expected[64];
	uint32_t length = rig_packet(bytes, RIG_IPV4_UDP, true, 20);
	struct shca_cqe cqe = describe(bytes, length);

	(void)state;
	memcpy(expected, golden, sizeof(golden));
	rig_put16(expected + 20, rig_naive_sum(bytes + 18, length - 18, 0));
	shca_cqe_set_rx(&cqe, &cqe, &rx);
	assert_memory_equal(&cqe, expected, sizeof(expected));
}

static void
golden_tx(void **state)
{
	static const uint8_t golden[64] = {
		[32] = 0x00,
		0xab,
		0xcd,
		0xef,
		[48] = 1,
		2,
		3,
		4,
		5,
		6,
		7,
		8,
		[56] = 0x0a,
		0x00,
		0x01,
		0x05,
		/* wqe_counter */ 0x80,
		0x01,
		[63] = 0x00,
	};
	struct shca_cqe cqe;

	(void)state;
	shca_cqe_set_tx(&cqe, MLX5_OPCODE_SEND, 0x105, 0xabcdef, 0x8001, 0x0102030405060708);
	assert_memory_equal(&cqe, golden, sizeof(golden));
}

static void
golden_errors(void **state)
{
	static const struct {
		struct shca_cqe_fault fault;
		uint8_t tail[20]; /* bytes 44 to 63 */
	} cases[] = {
		{ { MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR, MLX5_OPCODE_SEND, 0x105,
			  0xabcdef, 0, 7 },
			{ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x04, 0x0a, 0, 1, 5, 0, 7, 0, 0xd0 } },
		{ { MLX5_CQE_RESP_ERR, MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR, 0, 0x106, 0xabcdef, 1500,
			  0xffff },
			{ 0, 0, 0x05, 0xdc, 0, 0, 0, 0, 0, 0, 0, 0x01, 0, 0, 1, 6, 0xff, 0xff, 0,
				0xe0 } },
		{ { MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_WR_FLUSH_ERR, MLX5_OPCODE_NOP, 1, 0xabcdef,
			  0, 0 },
			{ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x05, 0, 0, 0, 1, 0, 0, 0, 0xd0 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct shca_cqe cqe;
		uint8_t bytes[64];

		shca_cqe_set_fault(&cqe, &cases[i].fault);
		memcpy(bytes, &cqe, sizeof(bytes));
		assert_memory_equal(bytes + 32, "\x00\xab\xcd\xef", 4);
		assert_memory_equal(bytes + 44, cases[i].tail, 20);
	}
}

struct change {
	uint16_t offset;
	uint8_t value;
};

/** hdr_type_etc: bytes 28 and 29 as DPDK reads them in one. */
static void
header_types(void **state)
{
	static const struct {
		const char *what;
		enum rig_packet kind;
		uint32_t payload;
		uint16_t hdr_type_etc;
		struct change changes[3];
	} cases[] = {
		{ "IPv4 UDP", RIG_IPV4_UDP, 20, 0x0728, { { 0 } } },
		{ "IPv6 UDP", RIG_IPV6_UDP, 20, 0x0724, { { 0 } } },
		{ "IPv4 TCP, ACK and data", RIG_IPV4_TCP, 20, 0x0748, { { 0 } } },
		{ "IPv6 TCP, ACK and data", RIG_IPV6_TCP, 20, 0x0744, { { 0 } } },
		{ "IPv4 TCP, empty ACK", RIG_IPV4_TCP, 0, 0x0738, { { 0 } } },
		{ "IPv4 TCP SYN, checksum wrong", RIG_IPV4_TCP, 0, 0x0318, { { 47, 0x02 } } },
		{ "IPv4 header checksum wrong", RIG_IPV4_UDP, 20, 0x0528, { { 24, 0x55 } } },
		{ "UDP checksum wrong", RIG_IPV4_UDP, 20, 0x0328, { { 60, 0x55 } } },
		{ "UDP without checksum", RIG_IPV4_UDP, 20, 0x0728, { { 40, 0 }, { 41, 0 } } },
		{ "IPv6 TCP checksum wrong", RIG_IPV6_TCP, 20, 0x0344, { { 76, 0x55 } } },
		{ "not IP", RIG_IPV4_UDP, 20, 0x0100, { { 12, 0x88 }, { 13, 0xb5 } } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t bytes[128];
		uint32_t length = rig_packet(bytes, cases[i].kind, false, cases[i].payload);
		struct shca_cqe cqe;

		for (unsigned int j = 0; j < 3; j++)
			if (cases[i].changes[j].offset != 0)
				bytes[cases[i].changes[j].offset] = cases[i].changes[j].value;
		cqe = describe(bytes, length);
		if ((cqe.hds_ip_ext << 8 | cqe.l4_hdr_type) != cases[i].hdr_type_etc)
			fail_msg("%s: 0x%02x%02x", cases[i].what, cqe.hds_ip_ext, cqe.l4_hdr_type);
		assert_int_equal(cqe.pkt_info, 0);
	}
}

static void
set_ipv4_checksum(uint8_t *bytes)
{
	uint32_t header = (bytes[14] & 0xfu) * 4;

	rig_put16(bytes + 24, 0);
	rig_put16(bytes + 24, (uint16_t)~rig_naive_sum(bytes + 14, header, 0));
}

/** Fragments have no L4, and their L4 is never good; options and truncation. */
static void
fragments_options_truncation(void **state)
{
	uint8_t bytes[128];
	uint32_t length = rig_packet(bytes, RIG_IPV4_UDP, false, 40);
	struct shca_cqe cqe;

	(void)state;
	bytes[20] = 0x20;
	set_ipv4_checksum(bytes);
	cqe = describe(bytes, length);
	assert_int_equal(cqe.hds_ip_ext, 0x03);
	assert_int_equal(cqe.l4_hdr_type, 0x88);

	length = rig_packet(bytes, RIG_IPV4_UDP, false, 40);
	bytes[14] = 0x46;
	bytes[23] = 47; /* what follows is no UDP any more */
	set_ipv4_checksum(bytes);
	cqe = describe(bytes, length);
	assert_int_equal(cqe.hds_ip_ext, 0x03);
	assert_int_equal(cqe.l4_hdr_type, 0x0a);

	length = rig_packet(bytes, RIG_IPV4_UDP, false, 40);
	cqe = describe(bytes, length - 1);
	assert_int_equal(cqe.hds_ip_ext, 0x03);
	assert_int_equal(cqe.l4_hdr_type, 0x28);
}

/** A UDP checksum of zero is none; TCP has other fields there. */
static void
no_checksum(void **state)
{
	uint8_t bytes[128];
	uint32_t length = rig_packet(bytes, RIG_IPV4_UDP, false, 40);

	(void)state;
	rig_put16(bytes + 14 + 20 + 6, 0);
	assert_int_equal(describe(bytes, length).hds_ip_ext, 0x07);
	length = rig_packet(bytes, RIG_IPV4_TCP, false, 40);
	assert_int_equal(describe(bytes, length).hds_ip_ext, 0x07);
	rig_put16(bytes + 14 + 20 + 6, 0);
	bytes[length - 1] ^= 1;
	assert_int_equal(describe(bytes, length).hds_ip_ext, 0x03);
}

/** The checksum field stops at the end of the IP packet: padding is not in it. */
static void
checksum_field(void **state)
{
	uint8_t bytes[128];
	uint32_t length = rig_packet(bytes, RIG_IPV4_UDP, false, 3);
	struct shca_cqe cqe;

	(void)state;
	memset(bytes + length, 0xaa, 60 - length);
	cqe = describe(bytes, 60);
	assert_int_equal(be16toh(cqe.checksum), rig_naive_sum(bytes + 14, length - 14, 0));
	assert_int_equal(cqe.hds_ip_ext, 0x07);
	rig_put16(bytes + 12, 0x88b5);
	cqe = describe(bytes, 60);
	assert_int_equal(cqe.checksum, 0);
}

static void
tunnels(void **state)
{
	uint8_t inner[128], bytes[256];
	uint32_t inner_length = rig_packet(inner, RIG_IPV6_TCP, false, 9);
	uint32_t length = rig_vxlan(bytes, inner, inner_length);
	struct shca_packet packet;
	struct shca_cqe cqe = describe(bytes, length);

	(void)state;
	assert_int_equal(cqe.pkt_info, SHCA_CQE_TUNNELED);
	assert_int_equal(cqe.hds_ip_ext << 8 | cqe.l4_hdr_type, 0x0744);
	/* A device without tunnel offloads sees the outer headers. */
	shca_parse(bytes, length, &packet);
	shca_cqe_describe(&cqe, &packet, false, 0);
	assert_int_equal(cqe.pkt_info, 0);
	assert_int_equal(cqe.hds_ip_ext << 8 | cqe.l4_hdr_type, 0x0728);
	/* Outer checksum wrong: nothing is vouched for. */
	bytes[24] ^= 1;
	cqe = describe(bytes, length);
	assert_int_equal(cqe.hds_ip_ext, 0x01);
	/* Inner wrong, and the outer UDP checksum absent. */
	bytes[24] ^= 1;
	rig_put16(bytes + 40, 0);
	bytes[length - 1] ^= 1;
	cqe = describe(bytes, length);
	assert_int_equal(cqe.hds_ip_ext, 0x03);
}

static void
print(void **state)
{
	const struct shca_cqe_fault fault = { .cqe_opcode = MLX5_CQE_REQ_ERR,
		.syndrome = 4,
		.wqe_opcode = 10,
		.number = 0x105,
		.wqe_counter = 3 };
	struct shca_cqe cqe;
	char text[200];

	(void)state;
	shca_cqe_set_fault(&cqe, &fault);
	shca_cqe_print(&cqe, text, sizeof(text));
	assert_string_equal(text,
		"op_own 0xd0 syndrome 0x04 vendor 0x00 opcode_qpn 0x0a000105"
		" wqe 3 uidx 0x0");
	shca_cqe_set_tx(&cqe, 10, 0x105, 9, 4, 0);
	shca_cqe_print(&cqe, text, sizeof(text));
	assert_string_equal(text,
		"op_own 0x00 bytes 0 hdr 0x0000 hash 0x00000000/0x00 vlan 0x0000"
		" tag 0x0a000105 wqe 4 uidx 0x9");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden_rx),
		cmocka_unit_test(golden_tx),
		cmocka_unit_test(golden_errors),
		cmocka_unit_test(header_types),
		cmocka_unit_test(fragments_options_truncation),
		cmocka_unit_test(no_checksum),
		cmocka_unit_test(checksum_field),
		cmocka_unit_test(tunnels),
		cmocka_unit_test(print),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
