/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames of one flow in a row, of all lengths, with good and bad checksums: what arrives and what
 * compressed completions tell is what each frame would get by itself.
 */
#include "rig.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "hw/format/cqe.h"
#include "hw/format/minicqe.h"
#include "hw/format/rss.h"
#include "hw/state/device.h"
#include "hw/state/rq.h"
#include "hw/state/tir.h"

#define NB_WQES   128
#define NB_BURSTS 150
#define BURST     64
#define ETHER     14
#define FRAME_MAX 1600

struct burst {
	unsigned int nb;
	uint16_t first; /* WQE */
	uint32_t length;
	uint8_t bytes[BURST][FRAME_MAX];
};

/** Change what frames of a flow may differ in: identification, payload, and how sums turn out.
 * @param bare none has a checksum of UDP */
static void
make_frame(uint8_t *bytes, const uint8_t *flow, uint32_t length, enum rig_packet kind, bool bad,
	bool bare)
{
	const bool is_v6 = kind == RIG_IPV6_UDP || kind == RIG_IPV6_TCP;
	const bool is_udp = kind == RIG_IPV4_UDP || kind == RIG_IPV6_UDP;
	const uint32_t l4 = ETHER + (is_v6 ? 40 : 20);
	uint8_t *ip = bytes + ETHER;

	memcpy(bytes, flow, length);
	if (!is_v6) {
		rig_put16(ip + 4, (uint16_t)rand());
		rig_put16(ip + 10, 0);
		rig_put16(ip + 10, (uint16_t)~rig_naive_sum(ip, 20, 0));
		if (bad && rand() % (bare ? 16 : 4) == 0)
			ip[11] ^= 1;
	}
	if (is_udp && (bare || rand() % 2 == 0))
		rig_put16(bytes + l4 + 6, 0);
	else if (bad && rand() % 4 == 0)
		bytes[length - 1] ^= 1;
}

static void
send_burst(struct rig *rig, struct burst *burst, unsigned int number)
{
	static const uint32_t payloads[] = { 22, 30, 6, 100, 700, 1400 };
	const enum rig_packet kind = (enum rig_packet)(number % 4);
	const bool bad = number % 3 == 0, bare = number % 5 < 2;
	uint8_t flow[FRAME_MAX];

	burst->nb = 1 + (unsigned int)rand() % BURST;
	burst->first = rig->rq_pi;
	burst->length = rig_packet(
		flow, kind, false, payloads[number / 4 % (sizeof(payloads) / sizeof(payloads[0]))]);
	rig_fill_rx(rig, burst->nb);
	for (unsigned int i = 0; i < burst->nb; i++) {
		make_frame(burst->bytes[i], flow, burst->length, kind, bad, bare);
		rig_come(&rig->wire, burst->bytes[i], burst->length);
	}
	rig_run(rig);
	rig_forget(&rig->wire);
}

/** The device leaves slots of a block unwritten: take away what they had before (Linux en_rx.c
 * mlx5e_cqes_update_owner). */
static void
forget_slots(struct rig_cq *cq, unsigned int nb)
{
	for (unsigned int i = 0; i < nb; i++) {
		const uint32_t slot = (cq->ci - 1 + i) & (cq->nb_cqes - 1);

		cq->ring[(size_t)slot * cq->cqe_bytes + cq->cqe_bytes - 1] = MLX5_CQE_INVALID << 4;
	}
}

/** Completions as a driver unpacks them (Linux en_rx.c mlx5e_decompress_cqe). */
static unsigned int
unpack(struct rig *rig, enum shca_mini_format format, struct shca_cqe *cqe)
{
	struct rig_cq *cq = &rig->rx;
	struct shca_minicqe mini[SHCA_MINI_MAX];
	unsigned int nb;

	if (!rig_poll(cq, cqe))
		return 0;
	if ((cqe->op_own & SHCA_CQE_FORMAT_COMPRESSED) != SHCA_CQE_FORMAT_COMPRESSED)
		return 1;
	nb = be32toh(cqe->byte_count);
	assert_uint_in_range(nb, 2, SHCA_MINI_MAX);
	for (unsigned int i = 0; i < nb; i++) {
		const unsigned int array = i / SHCA_MINI_PER_ARRAY;
		const uint32_t slot = (cq->ci - 1 + shca_minicqe_slot(array)) & (cq->nb_cqes - 1);

		memcpy(&mini[i],
			cq->ring + (size_t)slot * cq->cqe_bytes +
				i % SHCA_MINI_PER_ARRAY * sizeof(mini[0]),
			sizeof(mini[0]));
	}
	for (unsigned int i = 0; i < nb; i++) {
		cqe[i] = cqe[0];
		cqe[i].wqe_counter = htobe16((uint16_t)(be16toh(cqe[0].wqe_counter) + i));
		cqe[i].byte_count = mini[i].byte_count;
		if (format == SHCA_MINI_HASH)
			cqe[i].rss_hash = mini[i].rss_hash;
		else
			cqe[i].checksum = mini[i].checksum;
		if (format == SHCA_MINI_CSUM_STRIDX)
			cqe[i].wqe_counter = mini[i].stride_index;
	}
	forget_slots(cq, nb);
	cq->ci += nb - 1;
	__atomic_store_n(&cq->dbrec[0], htobe32(cq->ci & 0xffffff), __ATOMIC_RELEASE);
	return nb;
}

/** What a frame by itself gets; of hash and checksum a mini CQE has one. */
static void
expect(const struct rig *rig, enum shca_mini_format format, const struct burst *burst,
	unsigned int number, const struct shca_cqe *got)
{
	const uint8_t *bytes = burst->bytes[number];
	const uint16_t wqe = (uint16_t)(burst->first + number);
	struct shca_packet packet;
	struct shca_cqe want;
	uint8_t type;

	shca_parse(bytes, burst->length, &packet);
	shca_cqe_describe(&want, &packet, false, 0);
	assert_int_equal(be16toh(got->wqe_counter), wqe);
	assert_int_equal(be32toh(got->byte_count), burst->length);
	assert_int_equal(got->hds_ip_ext, want.hds_ip_ext);
	assert_int_equal(got->l4_hdr_type, want.l4_hdr_type);
	if (format == SHCA_MINI_HASH)
		assert_int_equal(be32toh(got->rss_hash),
			shca_rss_packet(
				&rig->tir->rss, rig->tir->attr.hash_fields, &packet, &type));
	else
		assert_int_equal(got->checksum, want.checksum);
	assert_memory_equal(
		rig->buffers + (size_t)(wqe % NB_WQES) * RIG_RX_BYTES, bytes, burst->length);
}

static void
complete_compressed(enum shca_mini_format format)
{
	static struct burst burst;
	struct shca_cqe cqe[BURST + SHCA_MINI_MAX];
	uint64_t nb_frames = 0, nb_bytes = 0;
	unsigned int nb_blocks = 0;
	struct rig rig;

	rig_init(&rig);
	rig.nb_cqes = 256;
	rig.rq_attr.nb_wqes = NB_WQES;
	rig.rx_mini = format;
	rig.tir_attr.hash_fields = IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4;
	rig_open(&rig);
	srand(3);
	for (unsigned int i = 0; i < NB_BURSTS; i++) {
		unsigned int nb = 0;

		send_burst(&rig, &burst, i);
		while (nb < burst.nb) {
			const unsigned int nb_more = unpack(&rig, format, cqe + nb);

			assert_int_not_equal(nb_more, 0);
			nb_blocks += nb_more > 1;
			nb += nb_more;
		}
		assert_int_equal(nb, burst.nb);
		for (unsigned int j = 0; j < nb; j++)
			expect(&rig, format, &burst, j, &cqe[j]);
		assert_int_equal(unpack(&rig, format, cqe), 0);
		nb_frames += nb;
		nb_bytes += (uint64_t)nb * burst.length;
	}
	assert_uint_in_range(nb_blocks, NB_BURSTS, nb_frames / 4);
	assert_int_equal(shca_device_stats(rig.dev)->rx_steered, nb_frames);
	assert_int_equal(rig.rq->count.packets, nb_frames);
	assert_int_equal(rig.rq->count.bytes, nb_bytes);
	rig_close(&rig);
}

static void
compressed_with_hash(void **state)
{
	(void)state;
	complete_compressed(SHCA_MINI_HASH);
}

static void
compressed_with_checksum(void **state)
{
	(void)state;
	complete_compressed(SHCA_MINI_CSUM);
}

static void
compressed_with_index(void **state)
{
	(void)state;
	complete_compressed(SHCA_MINI_CSUM_STRIDX);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compressed_with_hash),
		cmocka_unit_test(compressed_with_checksum),
		cmocka_unit_test(compressed_with_index),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
