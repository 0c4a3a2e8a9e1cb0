/* SPDX-License-Identifier: BSD-3-Clause */
/* Set-up of queues: limits of the device, buffers against MTU, statistics; nothing is started. */
#include <string.h>

#include "burst/rx/rx.h"
#include "burst/tx/tx.h"
#include "port/stats.h"
#include "queue/rx/rxq.h"
#include "queue/tx/txq.h"
#include "rig.h"

static struct rig_port rig;
static struct rte_mempool *pool, *small_pool;
static void *rx_queues[2], *tx_queues[2];

static int
group_make(void **state)
{
	int ret = rig_eal_init(state);

	if (ret != 0)
		return ret;
	pool = rig_pool("rxq", 128, RTE_PKTMBUF_HEADROOM + 2048);
	small_pool = rig_pool("rxq_small", 128, RTE_PKTMBUF_HEADROOM);
	return 0;
}

static int
port_make(void **state)
{
	(void)state;
	rig_port_init(&rig);
	rig.port.device.caps.max_qp_wr = 5000;
	rig.port.device.caps.max_cqe = 1 << 20;
	rig.port.device.caps.max_sge = 5;
	rig.data.mtu = 1500;
	rig.data.nb_rx_queues = 2;
	rig.data.nb_tx_queues = 2;
	rig.data.rx_queues = rx_queues;
	rig.data.tx_queues = tx_queues;
	return 0;
}

static int
port_release(void **state)
{
	uint16_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		mdv_rxq_release(&rig.dev, i);
		mdv_txq_release(&rig.dev, i);
	}
	return 0;
}

static void
descriptors_are_within_the_device_and_rounded(void **state)
{
	/* clang-format off */
	static const struct {
		uint16_t asked;
		int result;
		uint16_t got;
	} cases[] = {
		{ 0, -EINVAL, 0 }, { 1, 0, 64 }, { 64, 0, 64 }, { 65, 0, 128 }, { 1000, 0, 1024 },
		{ 4096, 0, 4096 }, { 4097, -EINVAL, 0 }, { 65535, -EINVAL, 0 },
	};
	/* clang-format on */
	struct rte_eth_rxq_info rx_info;
	struct rte_eth_txq_info tx_info;
	struct rte_eth_rxconf rx_conf = { 0 };
	struct rte_eth_txconf tx_conf = { 0 };
	unsigned int i;

	(void)state;
	assert_int_equal(mdv_rxq_desc_max(&rig.port.device.caps), 4096);
	assert_int_equal(mdv_txq_desc_max(&rig.port.device.caps, 0), 4096);
	for (i = 0; i < RTE_DIM(cases); i++) {
		assert_int_equal(mdv_rxq_setup(&rig.dev, 0, cases[i].asked, 0, &rx_conf, pool),
			cases[i].result);
		assert_int_equal(
			mdv_txq_setup(&rig.dev, 0, cases[i].asked, 0, &tx_conf), cases[i].result);
		if (cases[i].result != 0) {
			assert_null(rx_queues[0]);
			assert_null(tx_queues[0]);
			continue;
		}
		mdv_rxq_info_get(&rig.dev, 0, &rx_info);
		mdv_txq_info_get(&rig.dev, 0, &tx_info);
		assert_int_equal(rx_info.nb_desc, cases[i].got);
		assert_int_equal(rx_info.rx_buf_size, 2048);
		assert_ptr_equal(rx_info.mp, pool);
		assert_int_equal(tx_info.nb_desc, cases[i].got);
		mdv_rxq_release(&rig.dev, 0);
		mdv_txq_release(&rig.dev, 0);
	}
	rig.port.device.caps.max_qp_wr = 1 << 20;
	assert_int_equal(mdv_rxq_desc_max(&rig.port.device.caps), 32768);
	assert_int_equal(mdv_txq_desc_max(&rig.port.device.caps, 0), 32768);
}

static void
what_is_not_supported_is_refused(void **state)
{
	struct rte_eth_rxconf split = { .rx_nseg = 2 };
	struct rte_eth_rxconf conf = { 0 };

	(void)state;
	assert_int_equal(mdv_rxq_setup(&rig.dev, 0, 64, 0, &split, pool), -EINVAL);
	assert_int_equal(mdv_rxq_setup(&rig.dev, 0, 64, 0, &conf, NULL), -EINVAL);
	assert_int_equal(mdv_rxq_setup(&rig.dev, 0, 64, 0, &conf, small_pool), -EINVAL);
	assert_null(rx_queues[0]);
	assert_null(tx_queues[0]);
}

static void
buffers_must_take_the_mtu(void **state)
{
	struct rte_eth_rxconf conf = { 0 };
	struct mdv_rxq *rxq;

	(void)state;
	/* 2030 + 18 is the 2048 of one buffer. */
	rig.data.mtu = 2030;
	assert_int_equal(mdv_rxq_setup(&rig.dev, 0, 64, 0, &conf, pool), 0);
	assert_int_equal(mdv_rxq_check_mtu(&rig.port, 0, 2030), 0);
	assert_int_equal(mdv_rxq_check_mtu(&rig.port, 0, 2031), -EINVAL);
	assert_int_equal(mdv_rxq_check_mtu(&rig.port, 1, 9000), 0);
	mdv_rxq_release(&rig.dev, 0);
	rig.data.mtu = 2031;
	assert_int_equal(mdv_rxq_setup(&rig.dev, 0, 64, 0, &conf, pool), -EINVAL);
	/* Scattering, as the port's offload, which ethdev takes out of the queue's. */
	rig.data.dev_conf.rxmode.offloads = RTE_ETH_RX_OFFLOAD_SCATTER;
	assert_int_equal(mdv_rxq_setup(&rig.dev, 0, 64, 0, &conf, pool), 0);
	rxq = rx_queues[0];
	/* 2048 + 3 * 2176 bytes in 4 buffers; 8 would be more than the device's 5 segments. */
	assert_int_equal(mdv_rxq_check_mtu(&rig.port, 0, 8576 - 18), 0);
	assert_int_equal(mdv_rxq_check_mtu(&rig.port, 0, 8576 - 17), -EINVAL);
	/* A running queue has the segments it was started with. */
	rxq->objs.wq = rig.wq;
	rxq->ring.log2_segs = 0;
	assert_int_equal(mdv_rxq_check_mtu(&rig.port, 0, 1500), 0);
	assert_int_equal(mdv_rxq_check_mtu(&rig.port, 0, 4000), -EBUSY);
	rxq->ring.log2_segs = 1;
	assert_int_equal(mdv_rxq_check_mtu(&rig.port, 0, 4000), 0);
	rxq->objs.wq = NULL;
}

static void
a_queue_that_is_not_started_has_no_wq(void **state)
{
	struct rte_eth_rxconf conf = { 0 };

	(void)state;
	assert_null(mdv_rxq_wq(&rig.port, 0));
	assert_null(mdv_rxq_wq(&rig.port, 99));
	assert_int_equal(mdv_rxq_setup(&rig.dev, 0, 64, 0, &conf, pool), 0);
	assert_null(mdv_rxq_wq(&rig.port, 0));
	assert_int_equal(mdv_rxq_set_vlan_strip(&rig.port, 0, true), 0);
	assert_true(((struct mdv_rxq *)rx_queues[0])->vlan_strip);
	assert_int_equal(mdv_rxq_set_vlan_strip(&rig.port, 1, true), 0);
}

static void
statistics_count_from_the_last_reset(void **state)
{
	struct rte_eth_rxconf rx_conf = { 0 };
	struct rte_eth_txconf tx_conf = { 0 };
	struct eth_queue_stats queues = { 0 };
	struct rte_eth_stats stats = { 0 };
	const struct eth_queue_stats *by = MDV_COMPAT_QUEUE_STATS(&stats, &queues);
	struct mdv_rxq *rxq;
	struct mdv_txq *txq;

	(void)state;
	/* The second queues are not set up: they count nothing. */
	assert_int_equal(mdv_rxq_setup(&rig.dev, 0, 64, 0, &rx_conf, pool), 0);
	assert_int_equal(mdv_txq_setup(&rig.dev, 0, 64, 0, &tx_conf), 0);
	rxq = rx_queues[0];
	txq = tx_queues[0];
	rxq->count = (struct mdv_rx_counters){ 10, 1000, 3, 2 };
	txq->count = (struct mdv_tx_counters){ 20, 2000 };
	txq->errors = 4;
	assert_int_equal(mdv_stats_get(MDV_COMPAT_STATS_CALL(&rig.dev, &stats, &queues)), 0);
	assert_int_equal(stats.ipackets, 10);
	assert_int_equal(stats.ibytes, 1000);
	assert_int_equal(stats.rx_nombuf, 3);
	assert_int_equal(stats.ierrors, 2);
	assert_int_equal(by->q_errors[0], 2);
	assert_int_equal(stats.opackets, 20);
	assert_int_equal(by->q_obytes[0], 2000);
	assert_int_equal(stats.oerrors, 4);
	assert_int_equal(mdv_stats_reset(&rig.dev), 0);
	rxq->count.packets++;
	txq->count.bytes += 60;
	memset(&stats, 0, sizeof(stats));
	assert_int_equal(mdv_stats_get(MDV_COMPAT_STATS_CALL(&rig.dev, &stats, &queues)), 0);
	assert_int_equal(stats.ipackets, 1);
	assert_int_equal(by->q_ipackets[0], 1);
	assert_int_equal(stats.rx_nombuf, 0);
	assert_int_equal(stats.opackets, 0);
	assert_int_equal(stats.obytes, 60);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			descriptors_are_within_the_device_and_rounded, port_make, port_release),
		cmocka_unit_test_setup_teardown(
			what_is_not_supported_is_refused, port_make, port_release),
		cmocka_unit_test_setup_teardown(buffers_must_take_the_mtu, port_make, port_release),
		cmocka_unit_test_setup_teardown(
			a_queue_that_is_not_started_has_no_wq, port_make, port_release),
		cmocka_unit_test_setup_teardown(
			statistics_count_from_the_last_reset, port_make, port_release),
	};

	return cmocka_run_group_tests(tests, group_make, NULL);
}
