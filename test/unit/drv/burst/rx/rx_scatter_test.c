/* SPDX-License-Identifier: BSD-3-Clause */
/* Slots of several mbufs: packets that need one of them, packets that need more, and which mbufs
 * are missing afterwards. */
#include "burst/rx/rx.h"
#include "queue/rx/rxq.h"
#include "rx_rig.h"

#define LOG2_SEGS 1
#define NB_SLOTS  ((unsigned int)RX_RIG_WQES << LOG2_SEGS)
#define SHORT     60
#define LONG      400 /* takes both mbufs of a slot */

static const unsigned int widths[] = { 0, 128, 256, 512 };

static eth_rx_burst_t
start(unsigned int width, unsigned int block_max)
{
	rx_rig_start(LOG2_SEGS, 256);
	rx_rig.rxq.ring.runtime_opts |= block_max != 0 ? MDV_RX_RUNTIME_MINI : 0;
	rx_rig.block.max = block_max;
	assert_int_equal(mdv_rx_fill(&rx_rig.rxq), 0);
	return mdv_rx_select(MDV_RX_SCATTER, width);
}

/** The mbufs that the queue takes to be missing are, and each other one is there once. */
static void
check_slots(void)
{
	struct rte_mbuf **mbufs = rx_rig.rxq.ring.mbufs;
	unsigned int nb_empty = 0;

	for (unsigned int i = 0; i < NB_SLOTS; i++) {
		nb_empty += mbufs[i] == NULL;
		for (unsigned int k = 0; mbufs[i] != NULL && k < i; k++)
			assert_ptr_not_equal(mbufs[i], mbufs[k]);
	}
	assert_int_equal(rx_rig.rxq.nb_empty, nb_empty);
}

/** Let packets of these lengths come, @p nb of them in one burst. */
static void
pass(eth_rx_burst_t burst, const uint32_t *lens, unsigned int nb)
{
	struct rte_mbuf *pkts[RX_RIG_WQES];

	for (unsigned int i = 0; i < nb; i++) {
		const struct rx_frame frame = { .len = lens[i], .fill = i };

		assert_true(rx_rig_receive(&frame));
	}
	rx_rig_flush();
	assert_int_equal(burst(&rx_rig.rxq, pkts, nb), nb);
	for (unsigned int i = 0; i < nb; i++) {
		const struct rx_frame frame = { .len = lens[i], .fill = i };

		rx_rig_check(pkts[i], &frame);
		assert_int_equal(pkts[i]->nb_segs, lens[i] == LONG ? 2 : 1);
	}
	check_slots();
	rte_pktmbuf_free_bulk(pkts, nb);
}

/** Bursts of 20 and 23 begin and end at all places of a ring of 64. @p every one of so many packets
 * is long; 0: none */
static void
pass_many(eth_rx_burst_t burst, unsigned int every)
{
	uint32_t lens[23];

	for (unsigned int round = 0; round < 40; round++) {
		for (unsigned int i = 0; i < RTE_DIM(lens); i++)
			lens[i] = every != 0 && (round + i) % every == 0 ? LONG : SHORT;
		pass(burst, lens, round % 2 != 0 ? 20 : 23);
	}
}

static void
short_and_long_packets_leave_their_holes(void **state)
{
	static const unsigned int everies[] = { 0, 1, 2, 5, 19, 60 }, blocks[] = { 0, 7, 64 };

	(void)state;
	for (unsigned int w = 0; w < RTE_DIM(widths); w++)
		for (unsigned int e = 0; e < RTE_DIM(everies); e++)
			for (unsigned int b = 0; b < RTE_DIM(blocks); b++) {
				pass_many(start(widths[w], blocks[b]), everies[e]);
				rx_rig_stop();
			}
}

/** A packet that ended in an error leaves its mbufs where they are, in the middle of a refill. */
static void
errors_leave_no_holes(void **state)
{
	static const uint32_t lens[] = { SHORT, SHORT, SHORT, SHORT, SHORT };
	struct rte_mbuf *pkts[1];

	(void)state;
	for (unsigned int w = 0; w < RTE_DIM(widths); w++) {
		eth_rx_burst_t burst = start(widths[w], 0);

		for (unsigned int round = 0; round < 60; round++) {
			rx_rig_error(MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR);
			assert_int_equal(burst(&rx_rig.rxq, pkts, 1), 0);
			pass(burst, lens, RTE_DIM(lens));
		}
		assert_int_equal(rx_rig.rxq.count.errors, 60);
		rx_rig_stop();
	}
}

/** A defective device claims lengths that no slot has room for, in each place of a block. */
static void
a_length_beyond_the_slot_takes_the_slot(void **state)
{
	static const uint32_t claims[] = { LONG * 10, INT32_MAX, UINT32_C(1) << 31, UINT32_MAX };

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(widths) * RTE_DIM(claims); i++) {
		eth_rx_burst_t burst = start(widths[i / RTE_DIM(claims)], 64);
		struct rte_mbuf *pkts[13];

		for (unsigned int at = 0; at < RTE_DIM(pkts); at++) {
			const struct rx_frame frame = { .len = SHORT };

			for (unsigned int k = 0; k < RTE_DIM(pkts); k++)
				assert_true(rx_rig_receive(&frame));
			rx_rig.block.mini_cqes[at].byte_cnt =
				rte_cpu_to_be_32(claims[i % RTE_DIM(claims)]);
			rx_rig_flush();
			assert_int_equal(burst(&rx_rig.rxq, pkts, RTE_DIM(pkts)), RTE_DIM(pkts));
			for (unsigned int k = 0; k < RTE_DIM(pkts); k++)
				assert_int_equal(pkts[k]->nb_segs, k == at ? 2 : 1);
			check_slots();
			rte_pktmbuf_free_bulk(pkts, RTE_DIM(pkts));
		}
		rx_rig_stop();
	}
}

/** A port scatters, but this queue's frames fit one mbuf. */
static void
slots_of_one_mbuf_are_refilled_alone(void **state)
{
	struct rte_mbuf *pkts[20];

	(void)state;
	for (unsigned int w = 0; w < RTE_DIM(widths); w++) {
		eth_rx_burst_t burst = mdv_rx_select(MDV_RX_SCATTER, widths[w]);
		const struct rx_frame frame = { .len = SHORT };

		rx_rig_start(0, 256);
		assert_int_equal(mdv_rx_fill(&rx_rig.rxq), 0);
		for (unsigned int round = 0; round < 30; round++) {
			for (unsigned int i = 0; i < RTE_DIM(pkts); i++)
				assert_true(rx_rig_receive(&frame));
			assert_int_equal(burst(&rx_rig.rxq, pkts, RTE_DIM(pkts)), RTE_DIM(pkts));
			rte_pktmbuf_free_bulk(pkts, RTE_DIM(pkts));
		}
		rx_rig_stop();
	}
}

/** A recovery fills the whole ring: what the burst has taken before leaves no holes then. */
static void
holes_before_a_recovery_are_filled_by_it(void **state)
{
	eth_rx_burst_t burst = start(0, 0);
	const struct rx_frame frame = { .len = LONG };
	struct rte_mbuf *pkts[16];

	(void)state;
	for (unsigned int i = 0; i < 8; i++)
		assert_true(rx_rig_receive(&frame));
	rx_rig_fail(MLX5_CQE_SYNDROME_LOCAL_PROT_ERR, 3);
	assert_int_equal(burst(&rx_rig.rxq, pkts, RTE_DIM(pkts)), 8);
	assert_int_equal(rx_rig.rxq.pos.wqe_pi - rx_rig.rxq.pos.wqe_ci, RX_RIG_WQES);
	assert_int_equal(rx_rig.rxq.nb_empty, 0);
	rte_pktmbuf_free_bulk(pkts, 8);
	check_slots();
	rx_rig_stop();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_and_long_packets_leave_their_holes),
		cmocka_unit_test(errors_leave_no_holes),
		cmocka_unit_test(holes_before_a_recovery_are_filled_by_it),
		cmocka_unit_test(a_length_beyond_the_slot_takes_the_slot),
		cmocka_unit_test(slots_of_one_mbuf_are_refilled_alone),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
