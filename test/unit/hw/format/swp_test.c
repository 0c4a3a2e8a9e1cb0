/* SPDX-License-Identifier: BSD-3-Clause */
/* Software parser: headers in a tunnel that no model knows, where the WQE says they are. */
#include "hw/format/swp.h"

#include <string.h>

#include "rig.h"
#include "steering/match/parse.h"

#define OUTER   42 /* Ethernet, IPv4, UDP */
#define TUNNEL  8
#define PAYLOAD 250
#define MSS     100

/** A packet inside, behind a UDP port that is no tunnel's and a header of its own. */
static const struct {
	enum rig_packet kind;
	bool is_ipv6, is_tcp;
	uint8_t flags;
} inners[] = {
	{ RIG_IPV4_UDP, false, false, SHCA_SWP_INNER_L4_UDP },
	{ RIG_IPV4_TCP, false, true, 0 },
	{ RIG_IPV6_UDP, true, false, SHCA_SWP_INNER_L3_IPV6 | SHCA_SWP_INNER_L4_UDP },
	{ RIG_IPV6_TCP, true, true, SHCA_SWP_INNER_L3_IPV6 },
};

#define L3 (OUTER + TUNNEL + 14)
static uint32_t
l4_of(unsigned int i)
{
	return L3 + (inners[i].is_ipv6 ? 40 : 20);
}

static uint32_t
make_frame(uint8_t *frame, unsigned int i)
{
	uint8_t inner[512];
	const uint32_t inner_length = rig_packet(inner, inners[i].kind, false, PAYLOAD);
	const uint32_t length = rig_packet(frame, RIG_IPV4_UDP, false, TUNNEL + inner_length);

	rig_put16(frame + 36, 9999);
	rig_put16(frame + 40, 0);
	memset(frame + OUTER, 0xee, TUNNEL);
	memcpy(frame + OUTER + TUNNEL, inner, inner_length);
	return length;
}

static struct shca_swp
swp_of(unsigned int i)
{
	return (struct shca_swp){
		.outer_l3 = 14 / 2,
		.outer_l4 = 34 / 2,
		.inner_l3 = L3 / 2,
		.inner_l4 = (uint8_t)(l4_of(i) / 2),
		.flags = inners[i].flags | SHCA_SWP_OUTER_L4_UDP,
	};
}

static void
put_swp(struct rig_wqe *wqe, const struct shca_swp *swp)
{
	memcpy(wqe->bytes + 16, swp, 4);
	wqe->bytes[21] = swp->flags;
}

static void
check_sums(const uint8_t *got, uint32_t length, unsigned int i)
{
	const uint32_t l4 = l4_of(i);

	if (!inners[i].is_ipv6)
		assert_int_equal(rig_naive_sum(got + L3, 20, 0), 0xffff);
	assert_int_equal(
		rig_naive_sum(got + l4, length - l4,
			rig_naive_pseudo(got + L3, inners[i].is_tcp ? 6 : 17, length - l4)),
		0xffff);
}

static void
checksums(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < sizeof(inners) / sizeof(inners[0]); i++)
		for (unsigned int has = 0; has < 2; has++) {
			const struct shca_swp swp = swp_of(i);
			uint8_t frame[512];
			uint32_t length = make_frame(frame, i);
			struct rig_wqe wqe;
			struct rig rig;

			/* Whatever is in the fields. */
			rig_put16(frame + l4_of(i) + (inners[i].is_tcp ? 16 : 6), 0xbad0);
			rig_init(&rig);
			rig.model.sw_parsing = has != 0 ? MLX5DV_SW_PARSING : 0;
			rig_open(&rig);
			rig_wqe_start(&wqe, MLX5_OPCODE_SEND, SHCA_CE_ON_ERROR);
			rig_wqe_eth(
				&wqe, SHCA_ETH_CSUM_L3_INNER | SHCA_ETH_CSUM_L4_INNER, 0, "", 0);
			put_swp(&wqe, &swp);
			rig_wqe_pointer(
				&wqe, rig.mr->lkey, rig_place(&rig, 0, frame, length), length);
			rig_post(&rig, &wqe);
			rig_run(&rig);
			assert_int_equal(rig.wire.nb_sent, 1);
			assert_int_equal(rig.wire.sent[0].length, length);
			if (has != 0)
				check_sums(rig.wire.sent[0].bytes, length, i);
			else
				assert_memory_equal(rig.wire.sent[0].bytes, frame, length);
			rig_close(&rig);
		}
}

static void
segments(void **state)
{
	(void)state;
	for (unsigned int i = 1; i < sizeof(inners) / sizeof(inners[0]); i += 2) {
		const uint16_t header = (uint16_t)(l4_of(i) + 20);
		const struct shca_swp swp = swp_of(i);
		struct rig_wqe wqe;
		uint8_t frame[512];
		struct rig rig;

		make_frame(frame, i);
		rig_init(&rig);
		rig.model.sw_parsing = MLX5DV_SW_PARSING;
		rig.model.max_tso_bytes = 1 << 16;
		rig_open(&rig);
		rig_wqe_start(&wqe, MLX5_OPCODE_TSO, SHCA_CE_ON_ERROR);
		rig_wqe_eth(&wqe,
			SHCA_ETH_CSUM_L3 | SHCA_ETH_CSUM_L3_INNER | SHCA_ETH_CSUM_L4_INNER, MSS,
			frame, header);
		put_swp(&wqe, &swp);
		rig_wqe_pointer(
			&wqe, rig.mr->lkey, rig_place(&rig, 0, frame + header, PAYLOAD), PAYLOAD);
		rig_post(&rig, &wqe);
		rig_run(&rig);
		assert_int_equal(rig.wire.nb_sent, 3);
		for (unsigned int n = 0; n < 3; n++) {
			const uint8_t *got = rig.wire.sent[n].bytes;
			const uint32_t length = rig.wire.sent[n].length;

			assert_int_equal(length, header + (n < 2 ? MSS : 50));
			assert_int_equal(rig_get16(got + 16), length - 14);
			assert_int_equal(rig_naive_sum(got + 14, 20, 0), 0xffff);
			assert_int_equal(rig_get16(got + 38), length - 34);
			if (inners[i].is_ipv6)
				assert_int_equal(rig_get16(got + L3 + 4), length - L3 - 40);
			else
				assert_int_equal(rig_get16(got + L3 + 2), length - L3);
			assert_int_equal(rig_get16(got + l4_of(i) + 6), 0x1234 + n * MSS);
			check_sums(got, length, i);
		}
		rig_close(&rig);
	}
}

static bool
are_same(const struct shca_packet *a, const struct shca_packet *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/** What the device knows by itself stays, and what does not fit in the frame is not there. */
static void
added(void **state)
{
	static const struct shca_swp nowhere[] = {
		{ .inner_l3 = 255, .inner_l4 = 255 },
		{ .outer_l3 = 14 / 2, .inner_l3 = 14 / 2, .inner_l4 = 34 / 2 },
		{ .inner_l4 = L3 / 2 },
	};
	struct shca_swp swp = swp_of(1);
	struct shca_packet found, packet;
	uint8_t frame[512], inner[512];
	uint32_t length = make_frame(frame, 1);

	(void)state;
	memset(&found, 0, sizeof(found));
	shca_parse(frame, length, &found);
	assert_false(found.inner.valid);
	for (unsigned int i = 0; i < sizeof(nowhere) / sizeof(nowhere[0]); i++) {
		packet = found;
		shca_swp_apply(&nowhere[i], &packet);
		assert_true(are_same(&packet, &found));
	}
	packet = found;
	shca_swp_apply(&swp, &packet);
	assert_true(packet.inner.valid && packet.inner.l3 == SHCA_L3_IPV4);
	assert_true(packet.inner.l4 == SHCA_L4_TCP && packet.inner.l4_offset == L3 + 20);
	assert_int_equal(packet.inner.l3_end, length);
	assert_memory_equal(&packet.outer, &found.outer, sizeof(found.outer));
	/* A frame that ends within. */
	for (uint32_t less = OUTER; less < L3 + 40; less++) {
		shca_parse(frame, less, &packet);
		shca_swp_apply(&swp, &packet);
		assert_int_equal(packet.inner.valid, less >= L3 + 20);
		assert_int_equal(packet.inner.l4, SHCA_L4_NONE);
	}
	/* An inner packet that it has found. */
	length = rig_packet(inner, RIG_IPV6_UDP, false, PAYLOAD);
	length = rig_vxlan(frame, inner, length);
	shca_parse(frame, length, &found);
	packet = found;
	shca_swp_apply(&swp, &packet);
	assert_true(are_same(&packet, &found));
	/* An outer one that it has not: behind a type of somebody's own. */
	length = rig_packet(frame, RIG_IPV4_TCP, false, PAYLOAD);
	rig_put16(frame + 12, 0x88b5);
	shca_parse(frame, length, &packet);
	assert_int_equal(packet.outer.l3, SHCA_L3_NONE);
	swp = (struct shca_swp){ .outer_l3 = 14 / 2, .outer_l4 = 34 / 2 };
	shca_swp_apply(&swp, &packet);
	assert_true(packet.outer.l3 == SHCA_L3_IPV4 && packet.outer.l4 == SHCA_L4_TCP);
}

/** A WQE names a place for the L4 header that the IP packet does not reach: no checksum is there.
 */
static void
beyond_the_packet(void **state)
{
	const struct shca_swp swp = {
		.outer_l3 = 14 / 2, .outer_l4 = 40 / 2, .flags = SHCA_SWP_OUTER_L4_UDP
	};
	uint8_t frame[512];
	uint32_t length = rig_packet(frame, RIG_IPV4_UDP, false, PAYLOAD);
	struct rig_wqe wqe;
	struct rig rig;

	(void)state;
	rig_put16(frame + 16, 20);
	rig_init(&rig);
	rig.model.sw_parsing = MLX5DV_SW_PARSING;
	rig_open(&rig);
	rig_wqe_start(&wqe, MLX5_OPCODE_SEND, SHCA_CE_ON_ERROR);
	rig_wqe_eth(&wqe, SHCA_ETH_CSUM_L4, 0, "", 0);
	put_swp(&wqe, &swp);
	rig_wqe_pointer(&wqe, rig.mr->lkey, rig_place(&rig, 0, frame, length), length);
	rig_post(&rig, &wqe);
	rig_run(&rig);
	assert_int_equal(rig.wire.nb_sent, 1);
	rig_close(&rig);
}

/** Another header is between IP and L4: the sum of IP's is over IP's alone. */
static void
behind_another_header(void **state)
{
	const struct shca_swp swp = { .outer_l3 = 14 / 2, .outer_l4 = (34 + 12) / 2 };
	uint8_t plain[512], frame[512];
	uint32_t length = rig_packet(plain, RIG_IPV4_TCP, false, PAYLOAD);
	struct rig_wqe wqe;
	struct rig rig;
	const uint8_t *got;

	(void)state;
	memcpy(frame, plain, 34);
	memset(frame + 34, 0xee, 12);
	memcpy(frame + 46, plain + 34, length - 34);
	length += 12;
	frame[14 + 9] = 51;
	frame[34] = 6;
	rig_put16(frame + 16, (uint16_t)(length - 14));
	rig_init(&rig);
	rig.model.sw_parsing = MLX5DV_SW_PARSING;
	rig_open(&rig);
	rig_wqe_start(&wqe, MLX5_OPCODE_SEND, SHCA_CE_ON_ERROR);
	rig_wqe_eth(&wqe, SHCA_ETH_CSUM_L3 | SHCA_ETH_CSUM_L4, 0, "", 0);
	put_swp(&wqe, &swp);
	rig_wqe_pointer(&wqe, rig.mr->lkey, rig_place(&rig, 0, frame, length), length);
	rig_post(&rig, &wqe);
	rig_run(&rig);
	assert_int_equal(rig.wire.nb_sent, 1);
	got = rig.wire.sent[0].bytes;
	assert_int_equal(
		rig_naive_sum(got + 46, length - 46, rig_naive_pseudo(got + 14, 6, length - 46)),
		0xffff);
	assert_int_equal(rig_naive_sum(got + 14, 20, 0), 0xffff);
	rig_close(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(checksums),
		cmocka_unit_test(segments),
		cmocka_unit_test(added),
		cmocka_unit_test(behind_another_header),
		cmocka_unit_test(beyond_the_packet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
