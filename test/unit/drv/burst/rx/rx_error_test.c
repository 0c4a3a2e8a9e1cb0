/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors of the receive burst: error CQEs, stopped queues, pools without mbufs. */
#include <stdlib.h>

#include "rx_rig.h"

static void
too_long_a_frame_is_counted_and_skipped(void **state)
{
	/* A scattering instance also serves queues of one segment. */
	static const struct {
		uint8_t log2_segs;
		unsigned int opts;
	} cases[] = { { 0, 0 }, { 1, MDV_RX_SCATTER }, { 0, MDV_RX_SCATTER } };
	struct rx_frame frame = { .len = 60 };
	struct rte_mbuf *pkts[4];
	unsigned int i, k;

	(void)state;
	for (i = 0; i < RTE_DIM(cases); i++) {
		eth_rx_burst_t burst = mdv_rx_select(cases[i].opts, i % 2 * 512);

		rx_rig_start(cases[i].log2_segs, 256);
		assert_int_equal(mdv_rx_fill(&rx_rig.rxq), 0);
		assert_true(rx_rig_receive(&frame));
		frame.len = 2000;
		assert_true(rx_rig_receive(&frame));
		frame.len = 61;
		assert_true(rx_rig_receive(&frame));
		assert_int_equal(burst(&rx_rig.rxq, pkts, 4), 2);
		assert_int_equal(pkts[0]->pkt_len, 60);
		assert_int_equal(pkts[1]->pkt_len, 61);
		assert_int_equal(rx_rig.rxq.count.errors, 1);
		assert_int_equal(rx_rig.rxq.count.packets, 2);
		assert_int_equal(rig_verbs.nb_wq_states, 0);
		/* The buffer of a lone error CQE is given back, too. */
		frame.len = 2000;
		assert_true(rx_rig_receive(&frame));
		assert_int_equal(burst(&rx_rig.rxq, pkts + 2, 2), 0);
		assert_int_equal(rx_rig.rxq.pos.cq_ci, rx_rig.cq_pi);
		frame.len = 60;
		/* The slots are used again, by buffers of their own. */
		for (k = 0; k < 2 * RX_RIG_WQES; k++) {
			assert_true(rx_rig_receive(&frame));
			assert_int_equal(burst(&rx_rig.rxq, pkts + 2, 1), 1);
			rx_rig_check(pkts[2], &frame);
			rte_pktmbuf_free(pkts[2]);
		}
		rte_pktmbuf_free_bulk(pkts, 2);
		rx_rig_stop();
	}
}

/** As in DPDK's mlx5 driver: after these the queue goes on, and they cost a packet. */
static void
other_syndromes_leave_the_queue_as_it_is(void **state)
{
	static const uint8_t syndromes[] = { 0x00, 0x06, 0x10, 0x11, 0x22, 0x77 };
	struct rte_mbuf *pkts[4];

	(void)state;
	for (unsigned int i = 0; i < 2 * RTE_DIM(syndromes); i++) {
		struct rx_frame frame = { .len = 60 };

		rx_rig_start(i % 2, 256);
		assert_int_equal(mdv_rx_fill(&rx_rig.rxq), 0);
		rx_rig_error(syndromes[i / 2]);
		assert_true(rx_rig_receive(&frame));
		assert_int_equal(
			mdv_rx_select(i % 2 ? MDV_RX_SCATTER : 0, 512)(&rx_rig.rxq, pkts, 4), 1);
		rx_rig_check(pkts[0], &frame);
		rte_pktmbuf_free(pkts[0]);
		assert_int_equal(rx_rig.rxq.count.errors, 1);
		assert_int_equal(rig_verbs.nb_wq_states, 0);
		rx_rig_stop();
	}
}

/** A device that tells more bytes than it was given costs no more than that packet. */
static void
a_length_beyond_the_buffer_takes_one_mbuf(void **state)
{
	struct rx_frame frame = { .len = 60 };
	struct rte_mbuf *pkts[4];
	unsigned int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct mdv_hw_cqe *cqe;

		rx_rig_start(0, 256);
		assert_int_equal(mdv_rx_fill(&rx_rig.rxq), 0);
		cqe = &rx_rig.cqes[rx_rig.cq_pi % RX_RIG_WQES];
		assert_true(rx_rig_receive(&frame));
		cqe->byte_cnt = rte_cpu_to_be_32(5000);
		assert_true(rx_rig_receive(&frame));
		assert_int_equal(mdv_rx_select(MDV_RX_SCATTER, i * 512)(&rx_rig.rxq, pkts, 4), 2);
		assert_int_equal(pkts[0]->nb_segs, 1);
		assert_null(pkts[0]->next);
		rx_rig_check(pkts[1], &frame);
		rte_pktmbuf_free_bulk(pkts, 2);
		rx_rig_stop();
	}
}

/** An error may fall into any lane: the packets around it come out, in order. */
static void
errors_anywhere_among_packets(void **state)
{
	static const unsigned int widths[] = { 0, 128, 256, 512 };
	struct rte_mbuf *pkts[RX_RIG_WQES];
	unsigned int round, i, nb_good, nb_errors = 0;

	(void)state;
	srandom(4711);
	rx_rig_start(0, 256);
	assert_int_equal(mdv_rx_fill(&rx_rig.rxq), 0);
	for (round = 0; round < 3000; round++) {
		eth_rx_burst_t burst = mdv_rx_select(MDV_RX_CSUM, widths[round % RTE_DIM(widths)]);
		struct rx_frame good[32];
		uint16_t got;

		for (i = 0, nb_good = 0; i < RTE_DIM(good); i++) {
			struct rx_frame frame = { .len = random() % 5 == 0 ? 2000 : 60 + i };

			assert_true(rx_rig_receive(&frame));
			if (frame.len == 2000)
				nb_errors++;
			else
				good[nb_good++] = frame;
		}
		got = burst(&rx_rig.rxq, pkts, RTE_DIM(good));
		assert_int_equal(got, nb_good);
		for (i = 0; i < nb_good; i++)
			rx_rig_check(pkts[i], &good[i]);
		assert_int_equal(burst(&rx_rig.rxq, pkts + got, 1), 0);
		rte_pktmbuf_free_bulk(pkts, got);
	}
	assert_int_equal(rx_rig.rxq.count.errors, nb_errors);
	rx_rig_stop();
}

static void
a_stopped_queue_is_restarted(void **state)
{
	static const uint8_t syndromes[] = { MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR,
		MLX5_CQE_SYNDROME_LOCAL_PROT_ERR, MLX5_CQE_SYNDROME_WR_FLUSH_ERR };
	struct rte_mbuf *pkts[8];
	unsigned int i, k;

	(void)state;
	for (i = 0; i < 2 * RTE_DIM(syndromes); i++) {
		uint8_t log2_segs = i / RTE_DIM(syndromes);
		eth_rx_burst_t burst = mdv_rx_select(log2_segs ? MDV_RX_SCATTER : 0, 512);
		struct rx_frame frame = { .len = 60 };

		rx_rig_start(log2_segs, 256);
		assert_int_equal(mdv_rx_fill(&rx_rig.rxq), 0);
		for (k = 0; k < 5; k++)
			assert_true(rx_rig_receive(&frame));
		rx_rig_fail(syndromes[i % RTE_DIM(syndromes)], 10);
		assert_int_equal(burst(&rx_rig.rxq, pkts, 8), 5);
		rte_pktmbuf_free_bulk(pkts, 5);
		assert_int_equal(rig_verbs.nb_wq_states, 2);
		assert_int_equal(rig_verbs.wq_states[0], IBV_WQS_RESET);
		assert_int_equal(rig_verbs.wq_states[1], IBV_WQS_RDY);
		assert_int_equal(rte_be_to_cpu_32(rx_rig.wq_dbrec[0]), RX_RIG_WQES);
		for (k = 0; k < 3; k++) {
			frame.len++;
			assert_true(rx_rig_receive(&frame));
		}
		assert_int_equal(burst(&rx_rig.rxq, pkts, 8), 3);
		rx_rig_check(pkts[2], &frame);
		rte_pktmbuf_free_bulk(pkts, 3);
		rx_rig_stop();
	}
}

/** If the device does not even reset, the burst takes each error CQE and does nothing else. */
static void
a_queue_that_cannot_be_reset_stays_harmless(void **state)
{
	struct rte_mbuf *pkts[8];

	(void)state;
	rx_rig_start(0, 256);
	assert_int_equal(mdv_rx_fill(&rx_rig.rxq), 0);
	rig_verbs.modify_result = EIO;
	rx_rig_fail(MLX5_CQE_SYNDROME_LOCAL_PROT_ERR, 3);
	assert_int_equal(mdv_rx_select(0, 512)(&rx_rig.rxq, pkts, 8), 0);
	assert_int_equal(rx_rig.rxq.count.errors, 4);
	assert_int_equal(rx_rig.rxq.pos.cq_ci, 4);
	rx_rig_stop();
}

static void
an_empty_pool_loses_nothing(void **state)
{
	struct rx_frame frame = { .len = 100 };
	struct rte_mbuf *kept[RX_RIG_WQES + 40], *pkts[RX_RIG_WQES];
	unsigned int log2_segs, i, nb;

	(void)state;
	for (log2_segs = 0; log2_segs < 2; log2_segs++) {
		unsigned int in_ring = RX_RIG_WQES << log2_segs;
		eth_rx_burst_t burst = mdv_rx_select(log2_segs ? MDV_RX_SCATTER : 0, 512);

		rx_rig_start(log2_segs, in_ring + 4);
		assert_int_equal(mdv_rx_fill(&rx_rig.rxq), 0);
		/* 4 are left, then none: the ring runs down to the last WQE, all of it received. */
		for (nb = 0; rx_rig_receive(&frame); nb++)
			assert_int_equal(burst(&rx_rig.rxq, &kept[nb], 1), 1);
		assert_int_equal(nb, RX_RIG_WQES + 4);
		assert_true(rx_rig.rxq.count.nombuf > 0);
		assert_int_equal(rx_rig.rxq.count.packets, nb);
		assert_int_equal(burst(&rx_rig.rxq, pkts, 1), 0);
		/* Buffers come back: so does the ring. */
		for (i = 0; i < nb; i++) {
			rx_rig_check(kept[i], &frame);
			rte_pktmbuf_free(kept[i]);
		}
		assert_int_equal(burst(&rx_rig.rxq, pkts, 1), 0);
		assert_true(rx_rig_receive(&frame));
		assert_int_equal(burst(&rx_rig.rxq, pkts, 1), 1);
		rte_pktmbuf_free(pkts[0]);
		rx_rig_stop();
	}
}

static void
a_pool_too_small_for_the_ring_is_reported(void **state)
{
	(void)state;
	rx_rig_start(0, RX_RIG_WQES - 1);
	assert_int_equal(mdv_rx_fill(&rx_rig.rxq), -ENOMEM);
	rx_rig_stop();
	rx_rig_start(1, 2 * RX_RIG_WQES - 1);
	assert_int_equal(mdv_rx_fill(&rx_rig.rxq), -ENOMEM);
	rx_rig_stop();
}

/** If a pool's cache cannot serve a bulk, it leaves its pointers where it was to write; a
 * scattering burst must not take them for the ring's mbufs. */
static void
a_ring_filled_in_part_has_only_its_own(void **state)
{
	struct rte_mbuf *kept[48];
	struct rte_mempool *pool;
	uint32_t i;

	(void)state;
	rx_rig_start(0, 256);
	pool = rte_pktmbuf_pool_create("cached", 48, 32, 0, RX_RIG_ROOM, SOCKET_ID_ANY);
	assert_non_null(pool);
	assert_int_equal(rte_pktmbuf_alloc_bulk(pool, kept, 48), 0);
	rte_pktmbuf_free_bulk(kept, 20);
	rx_rig.rxq.pool = pool;
	assert_int_equal(mdv_rx_fill(&rx_rig.rxq), -ENOMEM);
	assert_true(rx_rig.rxq.pos.wqe_pi != 0 && rx_rig.rxq.pos.wqe_pi < 20);
	for (i = rx_rig.rxq.pos.wqe_pi; i < RX_RIG_WQES; i++)
		assert_null(rx_rig.rxq.ring.mbufs[i]);
	rte_pktmbuf_free_bulk(kept + 20, 28);
	mdv_rx_drain(&rx_rig.rxq);
	assert_int_equal(rte_mempool_avail_count(pool), 48);
	rte_mempool_free(pool);
	rx_rig_stop();
}

/** Later bursts, scattering ones included, fill in mbufs that were missing at the start. */
static void
a_ring_filled_in_part_fills_up(void **state)
{
	static const unsigned int sets[] = { 0, MDV_RX_SCATTER };
	struct rx_frame frame = { .len = 60 };
	struct rte_mbuf *kept[30], *pkts[RX_RIG_WQES];
	unsigned int i, k;

	(void)state;
	for (k = 0; k < 2 * RTE_DIM(sets); k++) {
		eth_rx_burst_t burst = mdv_rx_select(sets[k / 2], k % 2 * 512);

		rx_rig_start(0, RX_RIG_WQES);
		assert_int_equal(
			rte_mempool_get_bulk(rx_rig.pool, (void **)kept, RTE_DIM(kept)), 0);
		assert_int_equal(mdv_rx_fill(&rx_rig.rxq), -ENOMEM);
		rte_mempool_put_bulk(rx_rig.pool, (void **)kept, RTE_DIM(kept));
		assert_int_equal(burst(&rx_rig.rxq, pkts, RX_RIG_WQES), 0);
		assert_int_equal(rx_rig.rxq.pos.wqe_pi, RX_RIG_WQES);
		for (i = 0; i < RX_RIG_WQES; i++)
			assert_true(rx_rig_receive(&frame));
		assert_int_equal(burst(&rx_rig.rxq, pkts, RX_RIG_WQES), RX_RIG_WQES);
		for (i = 0; i < RX_RIG_WQES; i++)
			rx_rig_check(pkts[i], &frame);
		rte_pktmbuf_free_bulk(pkts, RX_RIG_WQES);
		rx_rig_stop();
	}
}

/** A burst posts what it took as soon as that is refill_min WQEs, wherever the ring is, and
 * whether or not it knows where an mbuf's data is. */
static void
a_scattering_queue_is_refilled(void **state)
{
	const eth_rx_burst_t burst = mdv_rx_select(MDV_RX_SCATTER, 0);
	const struct rx_frame frame = { .len = 60 };
	struct mdv_rxq *rxq = &rx_rig.rxq;
	struct rte_mbuf *pkts[RX_RIG_WQES];

	(void)state;
	for (unsigned int known = 0; known < 2; known++) {
		rx_rig_start(1, 3 * RX_RIG_WQES);
		if (known == 0)
			rxq->buf_offset = 0;
		assert_int_equal(mdv_rx_fill(rxq), 0);
		for (unsigned int i = 0; i < RX_RIG_WQES; i++) {
			const unsigned int nb = rxq->ring.refill_min;

			for (unsigned int k = 0; k < nb; k++)
				assert_true(rx_rig_receive(&frame));
			assert_int_equal(burst(rxq, pkts, RX_RIG_WQES), nb);
			assert_int_equal(rxq->pos.wqe_pi, rxq->pos.wqe_ci + RX_RIG_WQES);
			for (unsigned int k = 0; k < nb; k++)
				rx_rig_check(pkts[k], &frame);
			rte_pktmbuf_free_bulk(pkts, nb);
		}
		rx_rig_stop();
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(too_long_a_frame_is_counted_and_skipped),
		cmocka_unit_test(other_syndromes_leave_the_queue_as_it_is),
		cmocka_unit_test(a_length_beyond_the_buffer_takes_one_mbuf),
		cmocka_unit_test(errors_anywhere_among_packets),
		cmocka_unit_test(a_stopped_queue_is_restarted),
		cmocka_unit_test(a_queue_that_cannot_be_reset_stays_harmless),
		cmocka_unit_test(an_empty_pool_loses_nothing),
		cmocka_unit_test(a_pool_too_small_for_the_ring_is_reported),
		cmocka_unit_test(a_ring_filled_in_part_has_only_its_own),
		cmocka_unit_test(a_ring_filled_in_part_fills_up),
		cmocka_unit_test(a_scattering_queue_is_refilled),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
