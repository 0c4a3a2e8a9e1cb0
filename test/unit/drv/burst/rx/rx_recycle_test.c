/* SPDX-License-Identifier: BSD-3-Clause */
/* rte_eth_recycle_mbufs(): a receive queue's ring filled by somebody else than its pool. */
#include <string.h>

#include "burst/rx/rx.h"
#include "rx_rig.h"

/** What ethdev shows to the send queue's driver. */
static struct rte_eth_recycle_rxq_info
ask(void)
{
	static void *queues[] = { &rx_rig.rxq };
	struct rte_eth_recycle_rxq_info info;

	memset(&info, 0xff, sizeof(info));
	rx_rig.port.data.rx_queues = queues;
	mdv_rx_recycle_info_get(&rx_rig.port.dev, 0, &info);
	return info;
}

/** The device places @p nb frames, and a burst takes them. */
static void
receive(uint16_t nb, uint8_t fill)
{
	const struct rx_frame frame = { .len = 60, .fill = fill };
	struct rte_mbuf *pkts[RX_RIG_WQES];

	for (uint16_t i = 0; i < nb; i++)
		assert_true(rx_rig_receive(&frame));
	assert_int_equal(mdv_rx_select(0, 0)(&rx_rig.rxq, pkts, nb), nb);
	for (uint16_t i = 0; i < nb; i++) {
		rx_rig_check(pkts[i], &frame);
		rte_pktmbuf_free(pkts[i]);
	}
}

static void
start(uint8_t log2_segs)
{
	rx_rig_start(log2_segs, 4 * RX_RIG_WQES);
	assert_int_equal(mdv_rx_fill(&rx_rig.rxq), 0);
	rx_rig.rxq.ready = true;
	rx_rig.port.dev.recycle_rx_descriptors_refill = mdv_rx_recycle_refill;
}

/** Many times round: the device uses the mbufs, in their order, and nothing else is posted. */
static void
test_mbufs_given_are_received_into(void **state)
{
	struct rte_eth_recycle_rxq_info info;
	struct rte_mbuf *given[8];

	(void)state;
	start(0);
	rx_rig.rxq.ring.refill_min =
		0xff; /* more than will be missing: the burst refills nothing */
	info = ask();
	assert_ptr_equal(info.mbuf_ring, rx_rig.rxq.ring.mbufs);
	assert_ptr_equal(info.mp, rx_rig.pool);
	assert_int_equal(info.mbuf_ring_size, RX_RIG_WQES);
	assert_int_equal(info.refill_requirement, 0);
	for (uint32_t round = 0; round < 3 * UINT16_MAX / 8; round++) {
		uint16_t at = *info.refill_head % RX_RIG_WQES;

		assert_int_equal((uint16_t)(*info.refill_head - *info.receive_tail), RX_RIG_WQES);
		receive(8, round);
		assert_int_equal(
			(uint16_t)(*info.refill_head - *info.receive_tail), RX_RIG_WQES - 8);
		assert_int_equal(rte_mempool_get_bulk(rx_rig.pool, (void **)given, 8), 0);
		memcpy(&info.mbuf_ring[at], given, sizeof(given));
		mdv_rx_recycle_refill(&rx_rig.rxq, 8);
		assert_int_equal(rte_be_to_cpu_32(*rx_rig.rxq.ring.wq_dbrec) & UINT16_MAX,
			*info.refill_head);
	}
	rx_rig_stop();
}

/** Queues that cannot recycle offer no ring, and a requirement that nobody meets. */
static void
test_queues_without_a_ring_to_fill(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 6; i++) {
		struct rte_eth_recycle_rxq_info info;

		start(i == 1);
		if (i == 2)
			rx_rig.port.data.scattered_rx = 1;
		if (i == 3)
			rx_rig.rxq.ready = false;
		if (i == 4)
			rx_rig.port.dev.recycle_rx_descriptors_refill = NULL;
		rx_rig.port.port.split = i == 5;
		info = ask();
		assert_int_equal(info.mbuf_ring_size, i == 0 ? RX_RIG_WQES : 0);
		assert_int_equal(info.refill_requirement, i == 0 ? 0 : UINT16_MAX);
		assert_true((info.mbuf_ring == NULL) == (i != 0));
		rx_rig.port.data.scattered_rx = 0;
		rx_rig_stop();
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mbufs_given_are_received_into),
		cmocka_unit_test(test_queues_without_a_ring_to_fill),
	};

	return cmocka_run_group_tests(tests, rig_eal_init, NULL);
}
