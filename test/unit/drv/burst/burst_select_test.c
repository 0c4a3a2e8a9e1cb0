/* SPDX-License-Identifier: BSD-3-Clause */
/* Which burst functions a port gets for each offload, and what ethdev is told of them. */
#include <errno.h>
#include <string.h>

#include <rte_vect.h>

#include "burst/burst_select.h"
#include "burst/rx/rx_ibv_burst.h"
#include "burst/tx/tx_ibv_burst.h"
#include "burst/rx/rx.h"
#include "burst/tx/tx.h"
#include "rig.h"

#define CSUM_TX                                                                                    \
	(RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM |                            \
		RTE_ETH_TX_OFFLOAD_TCP_CKSUM | RTE_ETH_TX_OFFLOAD_OUTER_IPV4_CKSUM)

static struct rig_port rig;
static struct mdv_rxq rxqs[2];
static struct mdv_txq txqs[2];
static void *rx_queues[2], *tx_queues[2];
static uint16_t simd_bits;

/** Stands before the library's. */
uint16_t
rte_vect_get_max_simd_bitwidth(void)
{
	return simd_bits;
}

static int
port_make(void **state)
{
	(void)state;
	rig_port_init(&rig);
	memset(rxqs, 0, sizeof(rxqs));
	memset(txqs, 0, sizeof(txqs));
	for (unsigned int i = 0; i < 2; i++) {
		rx_queues[i] = &rxqs[i];
		tx_queues[i] = &txqs[i];
		rxqs[i].port = txqs[i].port = &rig.port;
	}
	rig.data.rx_queues = rx_queues;
	rig.data.tx_queues = tx_queues;
	rig.data.nb_rx_queues = rig.data.nb_tx_queues = 2;
	rig.port.device.caps.mode = MDV_MODE_DV;
	rig.port.device.caps.tx_multi_packet = true;
	simd_bits = 128;
	return 0;
}

static void
check_rx(unsigned int opts)
{
	mdv_burst_select(&rig.dev);
	assert_ptr_equal(rig.dev.rx_pkt_burst, mdv_rx_select(opts, simd_bits));
}

static void
check_tx(unsigned int opts)
{
	mdv_burst_select(&rig.dev);
	assert_ptr_equal(rig.dev.tx_pkt_burst, mdv_tx_select(opts, simd_bits));
	assert_ptr_equal(rig.dev.tx_pkt_prepare, mdv_tx_prepare);
}

static void
each_offload_has_its_rx_option(void **state)
{
	static const struct {
		uint64_t offload;
		unsigned int opts;
	} cases[] = {
		{ 0, 0 },
		{ RTE_ETH_RX_OFFLOAD_IPV4_CKSUM, MDV_RX_CSUM },
		{ RTE_ETH_RX_OFFLOAD_UDP_CKSUM, MDV_RX_CSUM },
		{ RTE_ETH_RX_OFFLOAD_TCP_CKSUM, MDV_RX_CSUM },
		{ RTE_ETH_RX_OFFLOAD_RSS_HASH, MDV_RX_HASH },
		{ RTE_ETH_RX_OFFLOAD_TIMESTAMP, MDV_RX_TIMESTAMP },
		{ RTE_ETH_RX_OFFLOAD_VLAN_STRIP | RTE_ETH_RX_OFFLOAD_SCATTER, 0 },
		{ RTE_ETH_RX_OFFLOAD_CHECKSUM | RTE_ETH_RX_OFFLOAD_RSS_HASH,
			MDV_RX_CSUM | MDV_RX_HASH },
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		rig.data.dev_conf.rxmode.offloads = cases[i].offload;
		check_rx(cases[i].opts);
	}
	rig.data.dev_conf.rxmode.offloads = 0;
	rig.port.rx_metadata = RTE_ETH_RX_METADATA_USER_FLAG;
	check_rx(MDV_RX_MARK);
	/* One queue that scatters is enough. */
	rig.port.rx_metadata = 0;
	for (unsigned int i = 0; i < 2; i++) {
		rxqs[i].ring.log2_segs = 1;
		check_rx(MDV_RX_SCATTER);
		rxqs[i].ring.log2_segs = 0;
	}
	/* A queue that splits packets needs its own, whatever others do. */
	rig.port.split = true;
	rig.data.dev_conf.rxmode.offloads = RTE_ETH_RX_OFFLOAD_IPV4_CKSUM;
	check_rx(MDV_RX_SCATTER | MDV_RX_SPLIT | MDV_RX_CSUM);
	rig.port.split = false;
	rig.port.strides = true;
	rig.port.rx_metadata = RTE_ETH_RX_METADATA_USER_FLAG;
	rig.data.dev_conf.rxmode.offloads = RTE_ETH_RX_OFFLOAD_IPV4_CKSUM;
	check_rx(MDV_RX_STRIDE | MDV_RX_MARK | MDV_RX_CSUM);
	rig.port.strides = false;
	rig.port.rx_metadata = 0;
	rig.data.dev_conf.rxmode.offloads = 0;
	simd_bits = 0;
	check_rx(0);
}

/** As a secondary process finds it that attaches while the primary sets queues up again. */
static void
released_queues_are_passed_over(void **state)
{
	(void)state;
	rx_queues[0] = NULL;
	tx_queues[1] = NULL;
	txqs[0].conf.offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	check_rx(0);
	check_tx(MDV_TX_MULTI);
	rxqs[1].ring.log2_segs = 1;
	check_rx(MDV_RX_SCATTER);
	/* That which scatters may come back. */
	rxqs[1].ring.log2_segs = 0;
	rig.data.scattered_rx = 1;
	check_rx(MDV_RX_SCATTER);
}

static void
each_offload_has_its_tx_option(void **state)
{
	static const struct {
		uint64_t offload;
		unsigned int opts;
	} cases[] = {
		{ 0, 0 },
		{ RTE_ETH_TX_OFFLOAD_MULTI_SEGS, MDV_TX_MULTI },
		{ RTE_ETH_TX_OFFLOAD_IPV4_CKSUM, MDV_TX_CSUM },
		{ RTE_ETH_TX_OFFLOAD_UDP_CKSUM, MDV_TX_CSUM },
		{ RTE_ETH_TX_OFFLOAD_TCP_CKSUM, MDV_TX_CSUM },
		{ RTE_ETH_TX_OFFLOAD_OUTER_IPV4_CKSUM, MDV_TX_CSUM },
		{ RTE_ETH_TX_OFFLOAD_VLAN_INSERT, MDV_TX_VLAN },
		{ RTE_ETH_TX_OFFLOAD_TCP_TSO, MDV_TX_TSO },
		{ RTE_ETH_TX_OFFLOAD_UDP_TNL_TSO, MDV_TX_SWP },
		{ CSUM_TX | RTE_ETH_TX_OFFLOAD_MULTI_SEGS, MDV_TX_CSUM | MDV_TX_MULTI },
	};

	(void)state;
	rig.port.device.caps.max_tso_bytes = 1000;
	rig.port.device.caps.tx_checksum = true;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		/* Of the port, or of any queue. */
		rig.data.dev_conf.txmode.offloads = cases[i].offload;
		check_tx(cases[i].opts);
		rig.data.dev_conf.txmode.offloads = 0;
		for (unsigned int k = 0; k < 2; k++) {
			txqs[k].conf.offloads = cases[i].offload;
			check_tx(cases[i].opts);
			txqs[k].conf.offloads = 0;
		}
	}
	/* A device that cannot cut packets is not asked to. */
	rig.port.device.caps.max_tso_bytes = 0;
	rig.data.dev_conf.txmode.offloads = RTE_ETH_TX_OFFLOAD_TCP_TSO;
	check_tx(0);
}

static void
fast_free_is_for_all_queues_or_none(void **state)
{
	(void)state;
	rig.data.dev_conf.txmode.offloads = RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
	check_tx(0);
	txqs[0].conf.offloads = RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
	check_tx(0);
	txqs[1].conf.offloads = RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
	check_tx(MDV_TX_FAST_FREE);
	txqs[0].conf.offloads = 0;
	check_tx(0);
}

static void
some_devices_take_one_packet_a_wqe(void **state)
{
	(void)state;
	rig.port.device.caps.tx_min_inline = MDV_HW_ETH_INLINE_L2;
	check_tx(MDV_TX_INLINE_L2);
	rig.port.device.caps.tx_min_inline = 0;
	rig.port.device.caps.tx_multi_packet = false;
	mdv_burst_select(&rig.dev);
	assert_ptr_equal(rig.dev.tx_pkt_burst, mdv_tx_select(0, 0));
	assert_ptr_not_equal(rig.dev.tx_pkt_burst, mdv_tx_select(0, simd_bits));
}

static void
verbs_has_bursts_of_queues(void **state)
{
	struct rte_eth_burst_mode mode = { 0 };
	struct mdv_rx_split split;

	(void)state;
	rig.port.device.caps.mode = MDV_MODE_IBV;
	rxqs[1].split = &split;
	mdv_burst_select(&rig.dev);
	rxqs[1].split = NULL;
	assert_ptr_equal(rig.dev.rx_pkt_burst, mdv_rx_ibv_burst);
	assert_ptr_equal(rig.dev.tx_pkt_burst, mdv_tx_ibv_burst);
	assert_ptr_equal(rig.dev.tx_pkt_prepare, mdv_tx_prepare);
	for (unsigned int i = 0; i < 2; i++) {
		assert_non_null(rxqs[i].objs.ibv.burst);
		assert_non_null(txqs[i].objs.ibv.burst);
		assert_int_equal(mdv_burst_rx_mode_get(&rig.dev, i, &mode), 0);
		assert_string_equal(
			mode.info, i == 1 ? "Scalar, scattered, split" : "Scalar, scattered");
		assert_int_equal(mdv_burst_tx_mode_get(&rig.dev, i, &mode), 0);
		assert_memory_equal(mode.info, "Scalar", 6);
	}
	/* Queues that there are not have none. */
	assert_int_equal(mdv_burst_rx_mode_get(&rig.dev, 2, &mode), -EINVAL);
	assert_int_equal(mdv_burst_tx_mode_get(&rig.dev, 2, &mode), -EINVAL);
	rx_queues[1] = tx_queues[1] = NULL;
	assert_int_equal(mdv_burst_rx_mode_get(&rig.dev, 1, &mode), -EINVAL);
	assert_int_equal(mdv_burst_tx_mode_get(&rig.dev, 1, &mode), -EINVAL);
}

static void
bursts_are_described(void **state)
{
	struct rte_eth_burst_mode mode = { 0 };

	(void)state;
	simd_bits = 0;
	rig.data.dev_conf.rxmode.offloads = RTE_ETH_RX_OFFLOAD_RSS_HASH;
	rig.data.dev_conf.txmode.offloads = RTE_ETH_TX_OFFLOAD_VLAN_INSERT;
	mdv_burst_select(&rig.dev);
	assert_int_equal(mdv_burst_rx_mode_get(&rig.dev, 0, &mode), 0);
	assert_string_equal(mode.info, "Scalar, hash");
	assert_int_equal(mdv_burst_tx_mode_get(&rig.dev, 0, &mode), 0);
	assert_string_equal(mode.info, "Scalar, vlan");
	rig.dev.rx_pkt_burst = rte_eth_pkt_burst_dummy;
	rig.dev.tx_pkt_burst = rte_eth_pkt_burst_dummy;
	assert_int_equal(mdv_burst_rx_mode_get(&rig.dev, 0, &mode), -EINVAL);
	assert_int_equal(mdv_burst_tx_mode_get(&rig.dev, 0, &mode), -EINVAL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(each_offload_has_its_rx_option, port_make),
		cmocka_unit_test_setup(released_queues_are_passed_over, port_make),
		cmocka_unit_test_setup(each_offload_has_its_tx_option, port_make),
		cmocka_unit_test_setup(fast_free_is_for_all_queues_or_none, port_make),
		cmocka_unit_test_setup(some_devices_take_one_packet_a_wqe, port_make),
		cmocka_unit_test_setup(verbs_has_bursts_of_queues, port_make),
		cmocka_unit_test_setup(bursts_are_described, port_make),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
