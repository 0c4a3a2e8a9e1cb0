/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CQE compression: where a block lies in the ring, what ends it, and that software which decodes
 * it as drivers do sees the completions that it would see uncompressed.
 */
#include "rig.h"

#include <endian.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <string.h>

#include "hw/format/minicqe.h"
#include "hw/state/cq.h"
#include "hw/state/device.h"

#define HOLE 0xa5 /* what slots hold that nothing was written to */

static uint8_t *
slot(const struct rig_cq *cq, uint32_t index)
{
	return cq->ring + (size_t)(index & (cq->nb_cqes - 1)) * 64;
}

/** As software leaves slots it has read: op_own invalid. */
static void
wipe(struct rig_cq *cq)
{
	memset(cq->ring, HOLE, (size_t)cq->nb_cqes * 64);
	for (uint32_t i = 0; i < cq->nb_cqes; i++)
		slot(cq, i)[63] = 0xf0;
}

static bool
is_hole(const uint8_t *bytes)
{
	for (unsigned int i = 0; i < 63; i++)
		if (bytes[i] != HOLE)
			return false;
	return bytes[63] == 0xf0;
}

static struct shca_cqe
received(uint16_t wqe_counter, uint32_t length)
{
	return (struct shca_cqe){
		.rss_hash = htobe32(0x01020300 + wqe_counter),
		.checksum = htobe16(0x4400 + wqe_counter),
		.rss_hash_type = SHCA_RSS_TYPE_IPV4,
		.byte_count = htobe32(length),
		.wqe_counter = htobe16(wqe_counter),
		.op_own = MLX5_CQE_RESP_SEND << SHCA_CQE_OPCODE_SHIFT,
	};
}

/** The big-endian number at @p at of a mini CQE. */
static uint32_t
mini_word(const uint8_t *mini, unsigned int at)
{
	return (uint32_t)mini[at] << 24 | mini[at + 1] << 16 | mini[at + 2] << 8 | mini[at + 3];
}

/** The block of @p nb at the index @p at, byte by byte; lengths count on from @p length. */
static void
expect_block(const struct rig_cq *cq, uint32_t at, unsigned int nb, uint32_t length,
	enum shca_mini_format format, bool *written)
{
	const uint8_t *title = slot(cq, at);
	const uint8_t owner = at / cq->nb_cqes & 1;

	written[at % cq->nb_cqes] = true;
	assert_int_equal(title[60] << 8 | title[61], (uint16_t)at);
	assert_int_equal(mini_word(title, 44), nb == 1 ? length : nb);
	assert_int_equal(title[63], (nb == 1 ? 0x20 : 0x2c) | owner);
	for (unsigned int i = 0; i < nb && nb > 1; i++) {
		const uint32_t array = at + (i < 8 ? 1 : i / 8 * 8);
		const uint8_t *mini = slot(cq, array) + (size_t)(i % 8) * 8;
		uint16_t n = (uint16_t)(at + i);
		uint16_t checksum = (uint16_t)(0x4400 + n);
		uint32_t want = 0x01020300u + n;

		written[array % cq->nb_cqes] = true;
		if (format == SHCA_MINI_CSUM)
			want = (uint32_t)checksum << 16;
		else if (format == SHCA_MINI_CSUM_STRIDX)
			want = (uint32_t)checksum << 16 | n;
		assert_int_equal(mini_word(mini, 0), want);
		assert_int_equal(mini_word(mini, 4), length + i);
	}
}

/** Every size, from every place of the ring, over both owner bits. No block goes beyond the end. */
static void
layout(void **state)
{
	(void)state;
	for (enum shca_mini_format format = SHCA_MINI_HASH; format <= SHCA_MINI_CSUM_STRIDX;
		format++) {
		struct rig rig;
		uint32_t at = 0;

		rig_init(&rig);
		rig.nb_cqes = 64;
		rig.rx_mini = format;
		rig.model.cqe_comp_max = 64;
		rig_open(&rig);
		for (unsigned int nb = 2; nb <= 64; nb += at % 64 == 0) {
			bool written[64] = { false };
			unsigned int first;

			wipe(&rig.rx);
			for (unsigned int i = 0; i < nb; i++) {
				struct shca_cqe cqe = received((uint16_t)(at + i), 1000 + i);

				shca_cq_push(rig.rx.cq, &cqe, false);
			}
			shca_cq_poll_arm(rig.rx.cq);
			first = nb < 64 - at % 64 ? nb : 64 - at % 64;
			expect_block(&rig.rx, at, first, 1000, format, written);
			if (first < nb)
				expect_block(&rig.rx, at + first, nb - first, 1000 + first, format,
					written);
			for (unsigned int i = 0; i < 64; i++)
				if (!written[i] && !is_hole(slot(&rig.rx, i)))
					fail_msg("block of %u: slot %u was written", nb, i);
			at += nb;
			rig.rx.dbrec[0] = htobe32(at);
		}
		assert_int_equal(rig.rx.nb_error_events, 0);
		rig_close(&rig);
	}
}

/** One that differs in what minis do not say begins another block. */
static void
what_ends_a_block(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.nb_cqes = 64;
	rig.rx_mini = SHCA_MINI_HASH;
	rig.model.cqe_comp_max = 4;
	rig_open(&rig);
	for (unsigned int i = 0; i < 12; i++) {
		struct shca_cqe cqe = received((uint16_t)i, 100);
		struct shca_cqe next = received((uint16_t)(i + 1), 100);
		bool is_alone = true;

		if (i == 0)
			next.hds_ip_ext = MLX5_CQE_L3_OK;
		else if (i == 1)
			next.l4_hdr_type = 4;
		else if (i == 2)
			next.vlan_info = htobe16(5);
		else if (i == 3)
			next.sop_drop_qpn = htobe32(7);
		else if (i == 4)
			next.user_index = htobe32(1);
		else if (i == 5)
			next.wqe_counter = htobe16((uint16_t)i);
		else if (i == 6)
			next.op_own = MLX5_CQE_RESP_ERR << SHCA_CQE_OPCODE_SHIFT;
		else if (i == 7)
			next.rss_hash_type = 0;
		else if (i == 8)
			next.pkt_info = SHCA_CQE_TUNNELED;
		else if (i == 9)
			next.metadata = htobe32(9);
		else
			is_alone = false;
		if (i == 10)
			next.timestamp = htobe64(9);
		if (i == 11)
			next.checksum = 0;
		wipe(&rig.rx);
		shca_cq_push(rig.rx.cq, &cqe, false);
		shca_cq_push(rig.rx.cq, &next, false);
		shca_cq_poll_arm(rig.rx.cq);
		assert_int_equal(slot(&rig.rx, 2 * i)[63], is_alone ? 0x20 : 0x2c);
		assert_int_equal(slot(&rig.rx, 2 * i + 1)[63], is_alone ? next.op_own : 0);
	}
	/* The model's largest block, and the rest. */
	wipe(&rig.rx);
	for (unsigned int i = 0; i < 9; i++) {
		struct shca_cqe cqe = received((uint16_t)i, 100);

		shca_cq_push(rig.rx.cq, &cqe, false);
	}
	shca_cq_poll_arm(rig.rx.cq);
	assert_int_equal(slot(&rig.rx, 24)[63], 0x2c);
	assert_int_equal(slot(&rig.rx, 28)[63], 0x2c);
	assert_int_equal(slot(&rig.rx, 28)[47], 4);
	assert_int_equal(slot(&rig.rx, 32)[63], 0x20);
	rig_close(&rig);
}

/** Sent: the mini CQE says counter and opcode. */
static void
sends(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.tx_mini = SHCA_MINI_HASH;
	rig.model.cqe_comp_max = 64;
	rig_open(&rig);
	for (unsigned int i = 0; i < 3; i++) {
		struct rig_wqe wqe;

		rig_wqe_start(&wqe, MLX5_OPCODE_NOP, SHCA_CE_ALWAYS);
		if (i == 1)
			rig_send(&rig, 0, 100, SHCA_CE_ALWAYS);
		else
			rig_post(&rig, &wqe);
	}
	rig_run(&rig);
	assert_int_equal(slot(&rig.tx, 0)[63], 0x0c);
	assert_int_equal(slot(&rig.tx, 0)[47], 3);
	for (unsigned int i = 0; i < 3; i++) {
		const uint8_t *mini = slot(&rig.tx, 1) + (size_t)i * 8;

		assert_int_equal(mini[0] << 8 | mini[1], i);
		assert_int_equal(mini[2], i == 1 ? MLX5_OPCODE_SEND : MLX5_OPCODE_NOP);
	}
	rig_close(&rig);
}

/** The pending block counts: what does not fit behind it overruns. */
static void
overrun(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.nb_cqes = 8;
	rig.rx_mini = SHCA_MINI_CSUM;
	rig.model.cqe_comp_max = 64;
	rig_open(&rig);
	for (unsigned int i = 0; i < 9; i++) {
		struct shca_cqe cqe = received((uint16_t)i, 100);

		assert_int_equal(rig.rx.nb_error_events, 0);
		shca_cq_push(rig.rx.cq, &cqe, false);
	}
	assert_int_equal(rig.rx.nb_error_events, 1);
	assert_int_equal(slot(&rig.rx, 0)[63], 0x2c);
	assert_int_equal(slot(&rig.rx, 0)[47], 8);
	rig_close(&rig);
}

/** A frame from UDP port @p port, without a checksum. */
static void
come_from(struct rig *rig, uint16_t port)
{
	uint8_t frame[256];
	const uint32_t length = rig_packet(frame, RIG_IPV4_UDP, false, 22);

	rig_put16(frame + 14 + 20, port);
	rig_put16(frame + 14 + 20 + 6, 0);
	rig_come(&rig->wire, frame, length);
}

/** @p nb frames alike come at once. */
static void
come_alike(struct rig *rig, unsigned int nb)
{
	for (unsigned int i = 0; i < nb; i++)
		come_from(rig, 1000);
	rig_run(rig);
	rig_forget(&rig->wire);
}

/** The same for frames alike, whose completions are appended without being compared. */
static void
overrun_in_a_flow(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.nb_cqes = 16;
	rig.rq_attr.nb_wqes = 64;
	rig.rx_mini = SHCA_MINI_HASH;
	rig.model.cqe_comp_max = 64;
	rig_open(&rig);
	rig_fill_rx(&rig, 40);
	come_alike(&rig, 16);
	assert_int_equal(slot(&rig.rx, 0)[47], 16);
	/* Room for four, although the block could take sixteen. */
	__atomic_store_n(&rig.rx.dbrec[0], htobe32(4), __ATOMIC_RELEASE);
	come_alike(&rig, 4);
	assert_int_equal(rig.rx.nb_error_events, 0);
	assert_int_equal(slot(&rig.rx, 0)[47], 4);
	__atomic_store_n(&rig.rx.dbrec[0], htobe32(8), __ATOMIC_RELEASE);
	come_alike(&rig, 12);
	assert_int_equal(rig.rx.nb_error_events, 1);
	assert_int_equal(slot(&rig.rx, 4)[47], 4);
	assert_int_equal(rig.rx.cq->count.packets, 24);
	rig_close(&rig);
}

/** Flows whose completions differ in the hash alone share a block. */
static void
flows_in_a_block(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.nb_cqes = 16;
	rig.rq_attr.nb_wqes = 64;
	rig.rx_mini = SHCA_MINI_HASH;
	rig.model.cqe_comp_max = 64;
	rig.tir_attr.hash_fields = IBV_RX_HASH_SRC_PORT_UDP | IBV_RX_HASH_DST_PORT_UDP;
	rig_open(&rig);
	rig_fill_rx(&rig, 40);
	for (unsigned int i = 0; i < 8; i++)
		come_from(&rig, i < 3 || i > 4 ? 1000 : 1001);
	rig_run(&rig);
	assert_int_equal(slot(&rig.rx, 0)[63], 0x2c);
	assert_int_equal(slot(&rig.rx, 0)[47], 8);
	for (unsigned int i = 1; i < 8; i++)
		assert_int_equal(memcmp(slot(&rig.rx, 1), slot(&rig.rx, 1) + (size_t)i * 8, 4) != 0,
			i == 3 || i == 4);
	rig_close(&rig);
}

/** A block ends at a completion with an error; another begins behind it. */
static void
error_in_a_flow(void **state)
{
	struct mlx5_wqe_data_seg small;
	struct rig rig;

	(void)state;
	rig_init(&rig);
	rig.nb_cqes = 64;
	rig.rq_attr.nb_wqes = 64;
	rig.rx_mini = SHCA_MINI_HASH;
	rig.model.cqe_comp_max = 64;
	rig_open(&rig);
	rig_fill_rx(&rig, 3);
	small = rig_segment(20, rig.mr->lkey, (uintptr_t)rig.buffers);
	rig_post_rx(&rig, &small, 1);
	rig_fill_rx(&rig, 4);
	come_alike(&rig, 8);
	assert_int_equal(slot(&rig.rx, 0)[63], 0x2c);
	assert_int_equal(slot(&rig.rx, 0)[47], 3);
	assert_int_equal(slot(&rig.rx, 3)[63], MLX5_CQE_RESP_ERR << 4);
	assert_int_equal(slot(&rig.rx, 3)[55], MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR);
	assert_int_equal(slot(&rig.rx, 4)[63], 0x2c);
	assert_int_equal(slot(&rig.rx, 4)[47], 4);
	assert_int_equal(slot(&rig.rx, 4)[61], 4);
	rig_close(&rig);
}

/** CQEs of 128 bytes: the first half stays as it was, or is written with zeros. */
static void
padding(void **state)
{
	(void)state;
	for (unsigned int pad = 0; pad < 2; pad++) {
		struct rig rig;

		rig_init(&rig);
		rig.cqe_bytes = 128;
		rig.pad = pad != 0;
		rig_open(&rig);
		memset(rig.tx.ring, HOLE, 128);
		rig_send(&rig, 0, 100, SHCA_CE_ALWAYS);
		rig_run(&rig);
		for (unsigned int i = 0; i < 64; i++)
			assert_int_equal(rig.tx.ring[i], pad ? 0 : HOLE);
		assert_int_equal(rig.tx.ring[127], 0);
		rig_close(&rig);
	}
}

#define NB_FRAMES 5000

/** What software knows of the frames it received. */
struct seen {
	struct shca_cqe cqe[NB_FRAMES];
	unsigned int nb, nb_blocks;
};

/**
 * Software: the title gives what minis do not say, and its owner bit alone is looked at. All slots
 * of a block are invalidated before the consumer index moves on.
 */
static void
drain(struct rig *rig, struct seen *seen)
{
	struct rig_cq *cq = &rig->rx;

	for (;;) {
		struct shca_cqe title;
		unsigned int nb = 1;

		memcpy(&title, slot(cq, cq->ci), sizeof(title));
		if (title.op_own >> 4 == 0xf || (title.op_own & 1) != (cq->ci / cq->nb_cqes & 1))
			break;
		assert_int_equal(title.op_own >> 4, MLX5_CQE_RESP_SEND);
		if ((title.op_own >> 2 & 3) == 3) {
			nb = be32toh(title.byte_count);
			assert_uint_in_range(nb, 2, rig->model.cqe_comp_max);
			seen->nb_blocks++;
		}
		for (unsigned int i = 0; i < nb; i++) {
			struct shca_cqe *cqe = &seen->cqe[seen->nb++];

			*cqe = title;
			cqe->op_own = 0;
			if (nb > 1) {
				uint32_t array = i < 8 ? 1 : i & ~7u;
				const uint8_t *mini =
					slot(cq, cq->ci + array) + (size_t)(i & 7) * 8;

				memcpy(rig->rx_mini == SHCA_MINI_HASH ? (void *)&cqe->rss_hash
								      : (void *)&cqe->checksum,
					mini, rig->rx_mini == SHCA_MINI_HASH ? 4 : 2);
				memcpy(&cqe->byte_count, mini + 4, 4);
				cqe->wqe_counter =
					htobe16((uint16_t)(be16toh(title.wqe_counter) + i));
			}
		}
		for (unsigned int i = 0; i < nb; i++)
			slot(cq, cq->ci + i)[63] = 0xf0;
		cq->ci += nb;
		__atomic_store_n(&cq->dbrec[0], htobe32(cq->ci & 0xffffff), __ATOMIC_RELEASE);
	}
}

/** Bursts of random size and mix, or mostly of one flow; the same for every @p format. */
static void
play(enum shca_mini_format format, bool is_one_flow, struct seen *seen)
{
	struct rig rig;

	rig_init(&rig);
	rig.nb_cqes = 64;
	rig.rq_attr.nb_wqes = 64;
	rig.rx_mini = format;
	rig.model.cqe_comp_max = is_one_flow ? 8 : 64;
	rig.tir_attr.hash_fields = IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4 |
		IBV_RX_HASH_SRC_PORT_UDP | IBV_RX_HASH_DST_PORT_UDP;
	rig_open(&rig);
	srand(7);
	memset(seen, 0, sizeof(*seen));
	while (seen->nb < NB_FRAMES) {
		unsigned int nb = 1 + (unsigned int)rand() % 64;
		enum rig_packet kind = RIG_IPV4_UDP;

		if (nb > NB_FRAMES - seen->nb)
			nb = NB_FRAMES - seen->nb;
		rig_fill_rx(&rig, nb);
		for (unsigned int i = 0; i < nb; i++) {
			uint8_t frame[256];
			uint32_t length;

			if (rand() % 16 == 0)
				kind = (enum rig_packet)(rand() % 4);
			length = rig_packet(
				frame, kind, false, is_one_flow ? 22 : (uint32_t)rand() % 100);
			/* Another source address: another hash, and a checksum that is wrong. */
			if (!is_one_flow || rand() % 8 == 0)
				frame[27] = (uint8_t)rand();
			else if (rand() % 4 == 0) /* the checksum alone */
				frame[length - 1] ^= 1;
			else if (kind == RIG_IPV4_UDP && rand() % 2 == 0) /* none */
				rig_put16(frame + 14 + 20 + 6, 0);
			rig_come(&rig.wire, frame, length);
		}
		rig_run(&rig);
		rig_forget(&rig.wire);
		drain(&rig, seen);
	}
	rig_close(&rig);
}

static void
compare_with_uncompressed(bool is_one_flow)
{
	static struct seen plain, seen;

	play(SHCA_MINI_NONE, is_one_flow, &plain);
	assert_int_equal(plain.nb_blocks, 0);
	for (enum shca_mini_format format = SHCA_MINI_HASH; format <= SHCA_MINI_CSUM_STRIDX;
		format++) {
		play(format, is_one_flow, &seen);
		assert_int_equal(seen.nb, plain.nb);
		assert_uint_in_range(seen.nb_blocks, 100, NB_FRAMES / 2);
		for (unsigned int i = 0; i < seen.nb; i++) {
			struct shca_cqe want = plain.cqe[i], got = seen.cqe[i];

			want.timestamp = got.timestamp = 0;
			if (format == SHCA_MINI_HASH)
				want.checksum = got.checksum = 0;
			else
				want.rss_hash = got.rss_hash = 0;
			assert_memory_equal(&got, &want, sizeof(want));
		}
	}
}

static void
same_as_uncompressed(void **state)
{
	(void)state;
	compare_with_uncompressed(false);
}

/** Frames that follow each other are alike. */
static void
same_in_a_flow(void **state)
{
	(void)state;
	compare_with_uncompressed(true);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layout),
		cmocka_unit_test(what_ends_a_block),
		cmocka_unit_test(sends),
		cmocka_unit_test(overrun),
		cmocka_unit_test(overrun_in_a_flow),
		cmocka_unit_test(flows_in_a_block),
		cmocka_unit_test(error_in_a_flow),
		cmocka_unit_test(padding),
		cmocka_unit_test(same_as_uncompressed),
		cmocka_unit_test(same_in_a_flow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
