/* SPDX-License-Identifier: BSD-3-Clause */
/* What ethdev hears of a port on softhca, run by "softhca run": the calls that DPDK's releases
 * make of the driver in different forms, made here as each application makes them. */
#include <string.h>

#include <rte_bus_vdev.h>
#include <rte_ethdev.h>

#include "port_rig.h"

#define NB_SENT 5

static void
packet_types_are_those_of_the_mode(void **state)
{
	const uint16_t port_id = port_rig_open("net_mlx5dv0");
	const int nb_wanted = port_rig_is_ibv() ? 1 : 13;
	uint32_t ptypes[32];

	(void)state;
	memset(ptypes, 0xff, sizeof(ptypes));
	assert_int_equal(rte_eth_dev_get_supported_ptypes(
				 port_id, RTE_PTYPE_ALL_MASK, ptypes, RTE_DIM(ptypes)),
		nb_wanted);
	for (int i = 0; i < nb_wanted; i++)
		assert_int_not_equal(ptypes[i], RTE_PTYPE_UNKNOWN);
	assert_int_equal(ptypes[0], RTE_PTYPE_L2_ETHER);
	assert_int_equal(ptypes[nb_wanted], UINT32_MAX);
	assert_int_equal(rte_vdev_uninit("net_mlx5dv0"), 0);
}

static uint64_t
xstat(uint16_t port_id, const char *name)
{
	uint64_t id, value;

	assert_int_equal(rte_eth_xstats_get_id_by_name(port_id, name, &id), 0);
	assert_int_equal(rte_eth_xstats_get_by_id(port_id, &id, &value, 1), 1);
	return value;
}

/** Waiting packets are counted by rx_queue_count, and received ones by port and by queue. */
static void
packets_are_counted_by_queue(void **state)
{
	const uint16_t port_id = port_rig_open("net_mlx5dv0");
	struct rte_mbuf *pkts[NB_SENT];
	struct rte_eth_stats stats;
	int nb = 0;

	(void)state;
	port_rig_configure(port_id, &port_rig_shapes[0]);
	assert_int_equal(rte_eth_dev_start(port_id), 0);
	assert_int_equal(rte_eth_rx_queue_count(port_id, 0), 0);
	for (unsigned int i = 0; i < NB_SENT; i++)
		pkts[i] = port_rig_packet(1, 100);
	assert_int_equal(rte_eth_tx_burst(port_id, 0, pkts, NB_SENT), NB_SENT);
	for (unsigned int polls = 0; nb < NB_SENT && polls < NB_POLLS; polls++)
		nb = rte_eth_rx_queue_count(port_id, 0);
	assert_int_equal(nb, NB_SENT);
	assert_int_equal(rte_eth_rx_burst(port_id, 0, pkts, NB_SENT), NB_SENT);
	rte_pktmbuf_free_bulk(pkts, NB_SENT);
	assert_int_equal(rte_eth_stats_get(port_id, &stats), 0);
	assert_int_equal(stats.ipackets, NB_SENT);
	assert_int_equal(stats.ibytes, NB_SENT * 100);
	assert_int_equal(xstat(port_id, "rx_good_packets"), NB_SENT);
	assert_int_equal(xstat(port_id, "rx_q0_packets"), NB_SENT);
	assert_int_equal(xstat(port_id, "rx_q0_bytes"), NB_SENT * 100);
	assert_int_equal(rte_vdev_uninit("net_mlx5dv0"), 0);
	port_rig_check_pool(port_rig_pool, NB_MBUFS);
}

/** testpmd's "port config 0 rss-hash-algo toeplitz", where ethdev has algorithms. */
static void
the_hash_is_toeplitz(void **state)
{
#ifdef RTE_ETH_HASH_ALGO_CAPA_MASK
	const uint16_t port_id = port_rig_open("net_mlx5dv0");
	static const struct {
		enum rte_eth_hash_function algorithm;
		int code;
	} cases[] = {
		{ RTE_ETH_HASH_FUNCTION_DEFAULT, 0 },
		{ RTE_ETH_HASH_FUNCTION_TOEPLITZ, 0 },
		{ RTE_ETH_HASH_FUNCTION_SIMPLE_XOR, -EINVAL },
		{ RTE_ETH_HASH_FUNCTION_SYMMETRIC_TOEPLITZ, -EINVAL },
	};
	struct rte_eth_rss_conf conf = { .rss_hf = 0 };
	struct rte_eth_dev_info info;

	port_rig_configure(port_id, &port_rig_shapes[1]);
	assert_int_equal(rte_eth_dev_info_get(port_id, &info), 0);
	assert_int_equal(info.rss_algo_capa,
		RTE_ETH_HASH_ALGO_CAPA_MASK(DEFAULT) | RTE_ETH_HASH_ALGO_CAPA_MASK(TOEPLITZ));
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		conf.rss_key = NULL;
		assert_int_equal(rte_eth_dev_rss_hash_conf_get(port_id, &conf), 0);
		assert_int_equal(conf.algorithm, RTE_ETH_HASH_FUNCTION_TOEPLITZ);
		conf.algorithm = cases[i].algorithm;
		assert_int_equal(rte_eth_dev_rss_hash_update(port_id, &conf), cases[i].code);
	}
	assert_int_equal(rte_vdev_uninit("net_mlx5dv0"), 0);
#endif
	(void)state;
}

/** ethdev keeps the queues of a port that is configured again with as many. */
static void
queues_that_stay_strip_tags_as_the_port_is_configured(void **state)
{
	const uint64_t strip = RTE_ETH_RX_OFFLOAD_VLAN_STRIP;
	const uint16_t port_id = port_rig_open("net_mlx5dv0");
	struct rte_eth_conf conf = { .rxmode.offloads = 0 };
	struct rte_eth_rxq_info info;

	(void)state;
	port_rig_configure(port_id, &port_rig_shapes[0]);
	for (unsigned int i = 0; i < 2; i++) {
		conf.rxmode.offloads ^= strip;
		assert_int_equal(rte_eth_dev_configure(port_id, 1, 1, &conf), 0);
		assert_int_equal(rte_eth_rx_queue_info_get(port_id, 0, &info), 0);
		assert_int_equal(info.conf.offloads & strip, conf.rxmode.offloads);
	}
	assert_int_equal(rte_vdev_uninit("net_mlx5dv0"), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packet_types_are_those_of_the_mode),
		cmocka_unit_test(packets_are_counted_by_queue),
		cmocka_unit_test(the_hash_is_toeplitz),
		cmocka_unit_test(queues_that_stay_strip_tags_as_the_port_is_configured),
	};

	return cmocka_run_group_tests(tests, port_rig_group_make, NULL);
}
