/* SPDX-License-Identifier: BSD-3-Clause */
/* Large send through the queue: headers and checksums of each segment. */
#include "rig.h"

#include <string.h>

#include "hw/format/tx.h"

#define MSS     100
#define PAYLOAD 250
#define ALL_CSUM                                                                                   \
	(SHCA_ETH_CSUM_L3 | SHCA_ETH_CSUM_L4 | SHCA_ETH_CSUM_L3_INNER | SHCA_ETH_CSUM_L4_INNER)

/** Send @p packet, whose headers are @p header bytes long, as one large send; two payload segments.
 */
static void
send_tso(struct rig *rig, const uint8_t *packet, uint16_t header, uint32_t payload, uint16_t mss)
{
	uint64_t address = rig_place(rig, 0, packet + header, payload);
	struct rig_wqe wqe;

	rig_wqe_start(&wqe, MLX5_OPCODE_TSO, SHCA_CE_ALWAYS);
	rig_wqe_eth(&wqe, SHCA_ETH_CSUM_L3 | SHCA_ETH_CSUM_L4, mss, packet, header);
	rig_wqe_pointer(&wqe, rig->mr->lkey, address, 70);
	rig_wqe_pointer(&wqe, rig->mr->lkey, address + 70, payload - 70);
	rig_post(rig, &wqe);
	rig_run(rig);
}

static void
segments_of(enum rig_packet kind)
{
	bool is_v6 = kind == RIG_IPV6_TCP || kind == RIG_IPV6_UDP;
	bool is_tcp = kind == RIG_IPV4_TCP || kind == RIG_IPV6_TCP;
	uint32_t l4 = is_v6 ? 54 : 34;
	uint16_t header = (uint16_t)(l4 + (is_tcp ? 20 : 8));
	uint8_t packet[512];
	struct shca_cqe cqe;
	struct rig rig;

	rig_init(&rig);
	rig.model.max_tso_bytes = 1 << 16;
	rig_open(&rig);
	rig_packet(packet, kind, false, PAYLOAD);
	if (is_tcp)
		packet[l4 + 13] = 0x99; /* CWR, ACK, PSH, FIN */
	else
		rig_put16(packet + l4 + 4, 8 + MSS); /* as Linux writes it */
	send_tso(&rig, packet, header, PAYLOAD, MSS);
	assert_int_equal(rig.wire.nb_sent, 3);
	for (unsigned int i = 0; i < 3; i++) {
		const uint8_t *got = rig.wire.sent[i].bytes;
		uint32_t part = i < 2 ? MSS : 50;
		uint32_t l4_length = header - l4 + part;
		uint8_t protocol = is_tcp ? 6 : 17;

		assert_int_equal(rig.wire.sent[i].length, header + part);
		assert_memory_equal(got + header, packet + header + i * MSS, part);
		if (is_v6) {
			assert_int_equal(rig_get16(got + 18), l4_length);
		} else {
			assert_int_equal(rig_get16(got + 16), 20 + l4_length);
			assert_int_equal(rig_get16(got + 18), 0x0102 + i);
			assert_int_equal(rig_naive_sum(got + 14, 20, 0), 0xffff);
		}
		assert_int_equal(rig_naive_sum(got + l4, l4_length,
					 rig_naive_pseudo(got + 14, protocol, l4_length)),
			0xffff);
		if (!is_tcp)
			continue;
		assert_int_equal(rig_get16(got + l4 + 6), 0x1234 + i * MSS);
		assert_int_equal(got[l4 + 13], i == 0 ? 0x90 : i == 1 ? 0x10 : 0x19);
	}
	assert_true(rig_poll(&rig.tx, &cqe));
	assert_false(rig_poll(&rig.tx, &cqe));
	rig_close(&rig);
}

static void
tcp_and_udp(void **state)
{
	(void)state;
	segments_of(RIG_IPV4_TCP);
	segments_of(RIG_IPV6_TCP);
	segments_of(RIG_IPV4_UDP);
}

static void
tunnel(void **state)
{
	uint8_t inner[512], packet[600];
	uint32_t inner_length = rig_packet(inner, RIG_IPV4_TCP, false, PAYLOAD);
	const uint16_t header = 50 + 54;
	struct rig_wqe wqe;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.model.max_tso_bytes = 1 << 16;
	rig_open(&rig);
	rig_vxlan(packet, inner, inner_length);
	rig_put16(packet + 40, 0x5555); /* outer UDP checksum: copied */
	rig_wqe_start(&wqe, MLX5_OPCODE_TSO, SHCA_CE_ON_ERROR);
	rig_wqe_eth(&wqe, ALL_CSUM & ~SHCA_ETH_CSUM_L4, MSS, packet, header);
	rig_wqe_pointer(&wqe, rig.mr->lkey, rig_place(&rig, 0, packet + header, PAYLOAD), PAYLOAD);
	rig_post(&rig, &wqe);
	rig_run(&rig);
	assert_int_equal(rig.wire.nb_sent, 3);
	for (unsigned int i = 0; i < 3; i++) {
		const uint8_t *got = rig.wire.sent[i].bytes;
		uint32_t length = rig.wire.sent[i].length;

		assert_int_equal(rig_get16(got + 16), length - 14);
		assert_int_equal(rig_get16(got + 18), 0x0102 + i);
		assert_int_equal(rig_naive_sum(got + 14, 20, 0), 0xffff);
		assert_int_equal(rig_get16(got + 38), length - 34);
		assert_int_equal(rig_get16(got + 40), 0x5555);
		assert_int_equal(rig_get16(got + 66), length - 64);
		assert_int_equal(rig_naive_sum(got + 64, 20, 0), 0xffff);
		assert_int_equal(rig_naive_sum(got + 84, length - 84,
					 rig_naive_pseudo(got + 64, 6, length - 84)),
			0xffff);
	}
	rig_close(&rig);
}

/** A large send whose frames do not all fit the wire queue, and a wire that takes a few at a time.
 */
static void
more_than_a_burst(void **state)
{
	enum {
		SEGMENTS = 200,
		SIZE = SEGMENTS * 40
	};
	static uint8_t packet[SIZE + 54];
	struct shca_cqe cqe;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.model.max_tso_bytes = 1 << 16;
	rig_open(&rig);
	rig_packet(packet, RIG_IPV4_TCP, false, SIZE);
	rig.wire.room = 0;
	send_tso(&rig, packet, 54, SIZE, 40);
	assert_int_equal(rig.wire.nb_sent, 0);
	while (rig.wire.nb_sent < SEGMENTS) {
		unsigned int before = rig.wire.nb_sent;

		assert_false(rig_poll(&rig.tx, &cqe));
		rig.wire.room = 7;
		rig_run(&rig);
		assert_int_equal(rig.wire.nb_sent, before + 7 < SEGMENTS ? before + 7 : SEGMENTS);
	}
	assert_true(rig_poll(&rig.tx, &cqe));
	for (unsigned int i = 0; i < SEGMENTS; i++) {
		const uint8_t *got = rig.wire.sent[i].bytes;

		assert_int_equal(rig_get16(got + 40), (uint16_t)(0x1234 + i * 40));
		assert_memory_equal(got + 54, packet + 54 + i * 40, 40);
	}
	rig_close(&rig);
}

static void
refusals(void **state)
{
	static const struct {
		uint32_t max_tso_bytes;
		uint16_t mss;
		uint32_t payload;
	} cases[] = { { 0, 100, 250 }, { 249, 100, 250 }, { 1000, 0, 250 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t packet[512];
		struct rig rig;

		rig_init(&rig);
		rig.model.max_tso_bytes = cases[i].max_tso_bytes;
		rig_open(&rig);
		rig_packet(packet, RIG_IPV4_TCP, false, cases[i].payload);
		send_tso(&rig, packet, 54, cases[i].payload, cases[i].mss);
		rig_expect_error(&rig.tx, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR, 0);
		assert_int_equal(rig.wire.nb_sent, 0);
		rig_close(&rig);
	}
}

/** IPv6 that states no length, as Linux's own driver sends it: segments are counted all the same.
 */
static void
without_a_length(void **state)
{
	const uint16_t header = 54 + 20;
	uint8_t packet[512];
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.model.max_tso_bytes = 1 << 16;
	rig_open(&rig);
	rig_packet(packet, RIG_IPV6_TCP, false, PAYLOAD);
	packet[54 + 13] = 0x99;
	rig_put16(packet + 18, 0);
	send_tso(&rig, packet, header, PAYLOAD, MSS);
	assert_int_equal(rig.wire.nb_sent, 3);
	for (unsigned int i = 0; i < 3; i++) {
		const uint8_t *got = rig.wire.sent[i].bytes;

		assert_int_equal(rig_get16(got + 54 + 6), rig_get16(packet + 54 + 6) + i * MSS);
		/* CWR with the first, FIN with the last (LSO v2). */
		assert_int_equal(got[54 + 13] & 0x81, i == 0 ? 0x80 : i == 2 ? 0x01 : 0);
	}
	rig_close(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tcp_and_udp),
		cmocka_unit_test(without_a_length),
		cmocka_unit_test(tunnel),
		cmocka_unit_test(more_than_a_burst),
		cmocka_unit_test(refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
