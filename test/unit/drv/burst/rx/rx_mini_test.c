/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of compressed CQEs: taken in pieces, with errors and stops in between, and malformed
 * ones. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "burst/rx/rx.h"
#include "queue/rx/rx_comp.h"
#include "queue/rx/rxq.h"
#include "rx_rig.h"

static const unsigned int widths[] = { 0, 128, 256, 512 };

static void
start(uint8_t log2_segs, unsigned int pool_size, uint32_t block_max)
{
	rx_rig_start(log2_segs, pool_size);
	rx_rig.rxq.ring.runtime_opts |= MDV_RX_RUNTIME_MINI;
	rx_rig.block.max = block_max;
	assert_int_equal(mdv_rx_fill(&rx_rig.rxq), 0);
}

/** Frames that are alike except for their lengths. */
static struct rx_frame
frame_of(unsigned int nth)
{
	return (struct rx_frame){ .len = 60 + nth % 190, .fill = nth, .hash = nth };
}

static void
receive(unsigned int first, unsigned int nb)
{
	for (; nb-- != 0; first++) {
		const struct rx_frame frame = frame_of(first);

		assert_true(rx_rig_receive(&frame));
	}
	rx_rig_flush();
}

/** Take exactly @p nb packets, the first of which is number @p first. */
static void
take(eth_rx_burst_t burst, unsigned int first, uint16_t nb)
{
	const struct mdv_rx_counters *count = &rx_rig.rxq.count;
	const uint64_t packets = count->packets;
	struct rte_mbuf *pkts[RX_RIG_WQES];
	uint64_t bytes = count->bytes;
	uint16_t i;

	assert_int_equal(burst(&rx_rig.rxq, pkts, nb), nb);
	for (i = 0; i < nb; i++) {
		const struct rx_frame frame = frame_of(first + i);

		rx_rig_check(pkts[i], &frame);
		bytes += frame.len;
	}
	assert_int_equal(count->packets, packets + nb);
	assert_int_equal(count->bytes, bytes);
	rte_pktmbuf_free_bulk(pkts, nb);
}

static void
check_status(unsigned int nb_waiting)
{
	const struct mdv_rxq *rxq = &rx_rig.rxq;
	const uint8_t log2_segs = rxq->ring.log2_segs;
	const uint16_t nb_desc = RX_RIG_WQES << log2_segs;
	uint16_t i;

	assert_int_equal(mdv_rxq_count(&rx_rig.rxq), nb_waiting << log2_segs);
	for (i = 0; i < nb_desc; i++) {
		const unsigned int wqe = i >> log2_segs;
		const int want = wqe >= rxq->pos.wqe_pi - rxq->pos.wqe_ci ? RTE_ETH_RX_DESC_UNAVAIL
			: wqe < nb_waiting                                ? RTE_ETH_RX_DESC_DONE
									  : RTE_ETH_RX_DESC_AVAIL;

		assert_int_equal(mdv_rxq_descriptor_status(&rx_rig.rxq, i), want);
	}
	assert_int_equal(mdv_rxq_descriptor_status(&rx_rig.rxq, nb_desc), -EINVAL);
}

static void
a_block_is_taken_in_pieces(void **state)
{
	static const uint16_t pieces[] = { 1, 1, 3, 1, 7, 8, 2, 10, 6, 1 };
	unsigned int i, w, nth, round, log2_segs;

	(void)state;
	for (i = 0; i < 2 * RTE_DIM(widths); i++) {
		eth_rx_burst_t burst;

		log2_segs = i / RTE_DIM(widths);
		w = i % RTE_DIM(widths);
		burst = mdv_rx_select(log2_segs != 0 ? MDV_RX_SCATTER : 0, widths[w]);
		start(log2_segs, 256, 64);
		for (round = 0, nth = 0; round < 50; round++) {
			unsigned int piece, left = 40;

			receive(nth, left);
			check_status(left);
			for (piece = 0; piece < RTE_DIM(pieces); piece++) {
				take(burst, nth, pieces[piece]);
				nth += pieces[piece];
				left -= pieces[piece];
				check_status(left);
				/* The ring does not wait for the application to take them. */
				assert_int_equal(rx_rig.rxq.pos.cq_ci, rx_rig.cq_pi);
			}
			assert_int_equal(left, 0);
		}
		assert_int_equal(rx_rig.nb_blocks, 50);
		assert_int_equal(rx_rig.rxq.count.packets, 2000);
		/* Packets that are not taken go back to the pool uncounted. */
		receive(nth, 20);
		take(burst, nth, 5);
		mdv_rx_drain(&rx_rig.rxq);
		take(burst, nth, 0);
		rx_rig_stop();
	}
}

/** A new block comes before the application has taken the last one, and single packets between
 * them. */
static void
what_comes_meanwhile_waits_its_turn(void **state)
{
	const unsigned int max[] = { 2, 3, 9, 64 };
	unsigned int i, round, in, out;

	(void)state;
	srandom(99);
	for (i = 0; i < RTE_DIM(max) * RTE_DIM(widths); i++) {
		eth_rx_burst_t burst = mdv_rx_select(0, widths[i % RTE_DIM(widths)]);

		start(0, 256, max[i / RTE_DIM(widths)]);
		for (round = 0, in = 0, out = 0; round < 1000; round++) {
			unsigned int nb = random() % (RX_RIG_WQES / 2 + 1 - (in - out));

			receive(in, nb);
			in += nb;
			assert_int_equal(mdv_rxq_count(&rx_rig.rxq), in - out);
			nb = random() % (in - out + 1);
			take(burst, out, nb);
			out += nb;
		}
		assert_true(rx_rig.nb_blocks > 50);
		rx_rig_stop();
	}
}

static void
errors_anywhere_among_blocks(void **state)
{
	struct rte_mbuf *pkts[RX_RIG_WQES];
	unsigned int round, i, nb_good, nb_errors = 0;

	(void)state;
	srandom(4711);
	start(0, 256, 64);
	for (round = 0; round < 3000; round++) {
		eth_rx_burst_t burst = mdv_rx_select(MDV_RX_CSUM, widths[round % RTE_DIM(widths)]);
		const uint16_t want = 1 + random() % 32;
		struct rx_frame good[32];
		uint16_t got = 0;

		for (i = 0, nb_good = 0; i < RTE_DIM(good); i++) {
			struct rx_frame frame = frame_of(i);

			if (random() % 10 == 0) {
				frame.len = 2000;
				nb_errors++;
			} else {
				good[nb_good++] = frame;
			}
			assert_true(rx_rig_receive(&frame));
		}
		rx_rig_flush();
		while (got < nb_good)
			got += burst(&rx_rig.rxq, pkts + got, RTE_MIN(want, nb_good - got));
		for (i = 0; i < nb_good; i++)
			rx_rig_check(pkts[i], &good[i]);
		assert_int_equal(burst(&rx_rig.rxq, pkts + got, 1), 0);
		rte_pktmbuf_free_bulk(pkts, got);
	}
	assert_int_equal(rx_rig.rxq.count.errors, nb_errors);
	rx_rig_stop();
}

/** Then the WQ's index differs from the CQ's: blocks wrap at different places of the two rings. */
static void
a_stopped_queue_is_restarted(void **state)
{
	unsigned int i, round, nb_lost;

	(void)state;
	for (i = 0; i < 2 * RTE_DIM(widths); i++) {
		const uint8_t log2_segs = i / RTE_DIM(widths);
		eth_rx_burst_t burst =
			mdv_rx_select(log2_segs ? MDV_RX_SCATTER : 0, widths[i % RTE_DIM(widths)]);
		struct rte_mbuf *pkt;

		start(log2_segs, 256, 64);
		receive(0, 21);
		rx_rig_fail(MLX5_CQE_SYNDROME_LOCAL_PROT_ERR, 4);
		/* The device cannot complete these WQEs, and their mbufs must not get lost. */
		receive(0, 13);
		nb_lost = 13 + 1;
		take(burst, 0, 10);
		assert_int_equal(rig_verbs.nb_wq_states, 0);
		take(burst, 10, 11);
		assert_int_equal(burst(&rx_rig.rxq, &pkt, 1), 0);
		assert_int_equal(rig_verbs.nb_wq_states, 2);
		assert_int_equal(rx_rig.rxq.count.errors, nb_lost);
		rx_rig.wq_ci = 0;
		for (round = 0; round < 100; round++) {
			receive(7 * round, 7 + round % 30);
			take(burst, 7 * round, 7 + round % 30);
		}
		rx_rig_stop();
	}
}

static void
an_empty_pool_loses_nothing(void **state)
{
	struct rte_mbuf *kept[RX_RIG_WQES + 40];
	unsigned int i, nb, in, log2_segs;

	(void)state;
	for (log2_segs = 0; log2_segs < 2; log2_segs++) {
		eth_rx_burst_t burst = mdv_rx_select(log2_segs ? MDV_RX_SCATTER : 0, 512);

		start(log2_segs, (RX_RIG_WQES << log2_segs) + 4, 16);
		for (in = 0, nb = 0; nb < RX_RIG_WQES + 4;) {
			struct rx_frame frame = frame_of(in);

			while (in < nb + 16 && rx_rig_receive(&frame))
				frame = frame_of(++in);
			rx_rig_flush();
			nb += burst(&rx_rig.rxq, &kept[nb], 5);
		}
		assert_int_equal(in, RX_RIG_WQES + 4);
		assert_true(rx_rig.rxq.count.nombuf > 0);
		for (i = 0; i < nb; i++) {
			const struct rx_frame frame = frame_of(i);

			rx_rig_check(kept[i], &frame);
			rte_pktmbuf_free(kept[i]);
		}
		assert_int_equal(burst(&rx_rig.rxq, kept, 5), 0);
		receive(500, 40);
		take(burst, 500, 40);
		rx_rig_stop();
	}
}

static void
counters_of_16_bits_wrap(void **state)
{
	unsigned int i;

	(void)state;
	start(0, 256, 64);
	for (i = 0; i < 2 * 65536 / 11 + 100; i++) {
		eth_rx_burst_t burst = mdv_rx_select(0, widths[i % RTE_DIM(widths)]);

		receive(i, 11);
		take(burst, i, 4);
		take(burst, i + 4, 7);
	}
	assert_int_equal(rx_rig.wq_ci, (uint16_t)rx_rig.rxq.pos.wqe_ci);
	rx_rig_stop();
}

/** A faulty device may cost packets, but the driver reads and writes only its own memory. */
static void
nonsense_of_a_title_is_counted_as_an_error(void **state)
{
	static const struct {
		uint32_t told, taken_for;
	} counts[] = { { 0, 1 }, { 1, 1 }, { RX_RIG_WQES + 1, RX_RIG_WQES },
		{ UINT32_MAX, RX_RIG_WQES } };
	struct rte_mbuf *pkts[8];
	unsigned int i;

	(void)state;
	start(0, 256, 64);
	for (i = 0; i < RTE_DIM(counts) * RTE_DIM(widths); i++) {
		struct mdv_hw_cqe *cqe = &rx_rig.cqes[rx_rig.cq_pi % RX_RIG_WQES];

		receive(i, 1);
		cqe->byte_cnt = rte_cpu_to_be_32(counts[i / RTE_DIM(widths)].told);
		cqe->op_own |= MDV_HW_CQE_FORMAT_MINI;
		assert_int_equal(mdv_rxq_count(&rx_rig.rxq), counts[i / RTE_DIM(widths)].taken_for);
		assert_int_equal(mdv_rx_select(0, widths[i % RTE_DIM(widths)])(
					 &rx_rig.rxq, pkts, RTE_DIM(pkts)),
			0);
		assert_int_equal(rx_rig.rxq.count.errors, i + 1);
		receive(i, 5);
		take(mdv_rx_select(0, widths[i % RTE_DIM(widths)]), i, 5);
	}
	rx_rig_stop();
}

/* clang-format off */
#define HASH MLX5DV_CQE_RES_FORMAT_HASH
#define CSUM MLX5DV_CQE_RES_FORMAT_CSUM
#define STRIDX MLX5DV_CQE_RES_FORMAT_CSUM_STRIDX
static const struct {
	enum mdv_cqe_comp asked;
	uint32_t caps;
	bool hash; /**< wanted in mbufs */
	uint32_t format;
	const char *says;
	bool strides;
} choices[] = {
	{ MDV_CQE_COMP_AUTO, HASH | CSUM | STRIDX, false, HASH, "with the RSS hash" },
	{ MDV_CQE_COMP_AUTO, HASH | CSUM, true, HASH, "with the RSS hash" },
	{ MDV_CQE_COMP_AUTO, CSUM, false, CSUM, "with a checksum" },
	{ MDV_CQE_COMP_AUTO, CSUM | STRIDX, true, 0, "would lack the RSS hash" },
	{ MDV_CQE_COMP_AUTO, STRIDX, false, 0, "the device cannot" },
	{ MDV_CQE_COMP_AUTO, 0, false, 0, "the device cannot" },
	{ MDV_CQE_COMP_OFF, HASH | CSUM, false, 0, "rx_cqe_comp=off" },
	{ MDV_CQE_COMP_HASH, CSUM, false, 0, "the device cannot" },
	{ MDV_CQE_COMP_HASH, HASH | CSUM, false, HASH, "with the RSS hash" },
	{ MDV_CQE_COMP_CSUM, HASH | CSUM, false, CSUM, "with a checksum" },
	{ MDV_CQE_COMP_CSUM, HASH | CSUM, true, 0, "would lack the RSS hash" },
	{ MDV_CQE_COMP_CSUM, HASH, true, 0, "the device cannot" },
	{ MDV_CQE_COMP_AUTO, HASH | CSUM | STRIDX, false, STRIDX, "checksum and stride", true },
	{ MDV_CQE_COMP_CSUM, HASH | CSUM | STRIDX, false, STRIDX, "checksum and stride", true },
	{ MDV_CQE_COMP_AUTO, HASH | CSUM | STRIDX, true, 0, "would lack the RSS hash", true },
	{ MDV_CQE_COMP_AUTO, HASH | CSUM, false, 0, "the device cannot", true },
	{ MDV_CQE_COMP_OFF, STRIDX, false, 0, "rx_cqe_comp=off", true },
};
/* clang-format on */

static void
format_is_what_user_device_and_offloads_agree_on(void **state)
{
	struct rig_port rig;
	const char *why;
	unsigned int i;

	(void)state;
	for (i = 0; i < RTE_DIM(choices); i++) {
		rig_port_init(&rig);
		rig.port.config.rx_cqe_comp = choices[i].asked;
		rig.port.device.caps.cqe_comp_formats = choices[i].caps;
		rig.port.strides = choices[i].strides;
		if (choices[i].hash)
			rig.data.dev_conf.rxmode.offloads = RTE_ETH_RX_OFFLOAD_RSS_HASH;
		assert_int_equal(mdv_rx_comp_choose(&rig.port, &why), choices[i].format);
		assert_non_null(strstr(why, choices[i].says));
	}
}

static sigjmp_buf interrupted;

static void
interrupt(int number)
{
	siglongjmp(interrupted, number);
}

/** Run a burst up to its first store to @p pkts, which no process may write. @return whether it was
 * interrupted */
static bool
interrupt_burst(eth_rx_burst_t burst, struct rte_mbuf **pkts)
{
	const struct sigaction action = { .sa_handler = interrupt };
	struct sigaction saved;
	bool is_interrupted;

	assert_int_equal(sigaction(SIGSEGV, &action, &saved), 0);
	is_interrupted = sigsetjmp(interrupted, 1) != 0;
	if (!is_interrupted)
		burst(&rx_rig.rxq, pkts, 16);
	assert_int_equal(sigaction(SIGSEGV, &saved, NULL), 0);
	return is_interrupted;
}

/** As a process ends that is killed in a burst, which leaves the queue as it is then. */
static void
an_interrupted_burst_can_be_told(void **state)
{
	struct rte_mbuf **none = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct rx_frame frame = frame_of(0);
	struct rte_mbuf *pkts[16];

	(void)state;
	assert_ptr_not_equal(none, MAP_FAILED);
	for (unsigned int w = 0; w < RTE_DIM(widths); w++) {
		for (unsigned int is_block = 0; is_block < 2; is_block++) {
			eth_rx_burst_t burst = mdv_rx_select(0, widths[w]);

			start(0, 256, is_block ? 64 : 1);
			assert_int_equal(burst(&rx_rig.rxq, pkts, 16), 0);
			assert_false(rx_rig.rxq.in_burst);
			for (unsigned int i = 0; i < 16; i++)
				assert_true(rx_rig_receive(&frame));
			rx_rig_flush();
			assert_true(interrupt_burst(burst, none));
			assert_true(rx_rig.rxq.in_burst);
			rx_rig.rxq.in_burst = false;
			rx_rig_stop();
		}
	}
	munmap(none, 4096);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_block_is_taken_in_pieces),
		cmocka_unit_test(what_comes_meanwhile_waits_its_turn),
		cmocka_unit_test(errors_anywhere_among_blocks),
		cmocka_unit_test(a_stopped_queue_is_restarted),
		cmocka_unit_test(an_empty_pool_loses_nothing),
		cmocka_unit_test(counters_of_16_bits_wrap),
		cmocka_unit_test(nonsense_of_a_title_is_counted_as_an_error),
		cmocka_unit_test(an_interrupted_burst_can_be_told),
		cmocka_unit_test(format_is_what_user_device_and_offloads_agree_on),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
