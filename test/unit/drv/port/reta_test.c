/* SPDX-License-Identifier: BSD-3-Clause */
/* Redirection table and hash configuration, with what is refused and rolled back. */
#include <string.h>

#include "port/reta.h"
#include "rig.h"

/** Replaces the flow engine's function, by the linker's --wrap. */
int __wrap_mdv_flow_default_update(struct mdv_port *port);

/** That of DPDK's mlx5 driver (mlx5_rxq.c, rss_hash_default_key). */
static const uint8_t usual_key[MDV_RSS_KEY_BYTES] = { 0x2c, 0xc6, 0x81, 0xd1, 0x5b, 0xdb, 0xf4,
	0xf7, 0xfc, 0xa2, 0x83, 0x19, 0xdb, 0x1a, 0x3e, 0x94, 0x6b, 0x9e, 0x38, 0xd9, 0x2c, 0x9c,
	0x03, 0xd1, 0xad, 0x99, 0x44, 0xa7, 0xd9, 0x56, 0x3d, 0x59, 0x06, 0x3c, 0x25, 0xf3, 0xfc,
	0x1f, 0xdc, 0x2a };
static struct rig_port rig;
static int update_result;

int
__wrap_mdv_flow_default_update(struct mdv_port *port)
{
	(void)port;
	return update_result;
}

static int
port_make(void **state)
{
	(void)state;
	rig_port_init(&rig);
	update_result = 0;
	rig.port.device.caps.max_rwq_ind_table_size = 700;
	rig.port.device.caps.rx_hash_fields = ~0ULL;
	rig.data.nb_rx_queues = 3;
	return 0;
}

static void
the_size_is_a_power_of_two_within_the_device(void **state)
{
	(void)state;
	assert_int_equal(mdv_reta_size(&rig.port), 512);
	rig.port.device.caps.max_rwq_ind_table_size = 100;
	assert_int_equal(mdv_reta_size(&rig.port), 64);
	/* Entries beyond it are left alone. */
	memset(rig.port.reta, 0x77, sizeof(rig.port.reta));
	assert_int_equal(mdv_reta_configure(&rig.dev), 0);
	assert_int_equal(rig.port.nb_reta, 64);
	assert_int_equal(rig.port.reta[63], 0);
	assert_int_equal(rig.port.reta[64], 0x7777);
	/* And no queue is divided by. */
	rig.data.nb_rx_queues = 0;
	assert_int_equal(mdv_reta_configure(&rig.dev), 0);
	assert_int_equal(rig.port.reta[63], 0);
}

static void
configure_spreads_over_the_queues(void **state)
{
	struct rte_eth_rss_conf *conf = &rig.data.dev_conf.rx_adv_conf.rss_conf;
	uint8_t key[MDV_RSS_KEY_BYTES] = { 1, 2, 3 };
	unsigned int i;

	(void)state;
	assert_int_equal(mdv_reta_configure(&rig.dev), 0);
	assert_int_equal(rig.port.nb_reta, 512);
	for (i = 0; i < 512; i++)
		assert_int_equal(rig.port.reta[i], i % 3);
	assert_int_equal(rig.port.rss_types, 0);
	assert_memory_equal(rig.port.rss_key, usual_key, sizeof(usual_key));
	rig.data.dev_conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
	conf->rss_hf = RTE_ETH_RSS_IPV4;
	conf->rss_key = key;
	conf->rss_key_len = sizeof(key);
	assert_int_equal(mdv_reta_configure(&rig.dev), 0);
	assert_int_equal(rig.port.rss_types, RTE_ETH_RSS_IPV4);
	assert_memory_equal(rig.port.rss_key, key, sizeof(key));
	conf->rss_key_len = 52;
	assert_int_equal(mdv_reta_configure(&rig.dev), -EINVAL);
	conf->rss_key_len = sizeof(key);
	conf->rss_hf = RTE_ETH_RSS_L2_PAYLOAD;
	assert_int_equal(mdv_reta_configure(&rig.dev), -EINVAL);
}

static void
updates_touch_only_what_is_masked(void **state)
{
	struct rte_eth_rss_reta_entry64 groups[8] = { 0 }, seen[8] = { 0 };

	(void)state;
	assert_int_equal(mdv_reta_configure(&rig.dev), 0);
	groups[1].mask = RTE_BIT64(5);
	groups[1].reta[5] = 2;
	groups[1].reta[6] = 77;
	assert_int_equal(mdv_reta_update(&rig.dev, groups, 512), 0);
	assert_int_equal(rig.port.reta[69], 2);
	assert_int_equal(rig.port.reta[70], 70 % 3);
	/* A queue that does not exist, a size other than the table's: nothing changes. */
	groups[0].mask = 1;
	groups[0].reta[0] = 1;
	groups[1].reta[5] = 3;
	assert_int_equal(mdv_reta_update(&rig.dev, groups, 512), -EINVAL);
	assert_int_equal(rig.port.reta[0], 0);
	assert_int_equal(mdv_reta_update(&rig.dev, groups, 256), -EINVAL);
	assert_int_equal(mdv_reta_query(&rig.dev, groups, 256), -EINVAL);
	/* Nor when the device refuses. */
	groups[1].mask = 0;
	update_result = -ENOMEM;
	assert_int_equal(mdv_reta_update(&rig.dev, groups, 512), -ENOMEM);
	assert_int_equal(rig.port.reta[0], 0);
	seen[1].mask = RTE_BIT64(5);
	seen[1].reta[4] = 99;
	assert_int_equal(mdv_reta_query(&rig.dev, seen, 512), 0);
	assert_int_equal(seen[1].reta[5], 2);
	assert_int_equal(seen[1].reta[4], 99);
}

static void
hash_updates_are_rolled_back(void **state)
{
	uint8_t key[MDV_RSS_KEY_BYTES] = { 9, 9 }, got[MDV_RSS_KEY_BYTES];
	struct rte_eth_rss_conf conf = {
		.rss_key = key, .rss_key_len = sizeof(key), .rss_hf = RTE_ETH_RSS_NONFRAG_IPV4_UDP
	};
	struct rte_eth_rss_conf seen = { .rss_key = got, .rss_key_len = sizeof(got) };

	(void)state;
	assert_int_equal(mdv_reta_configure(&rig.dev), 0);
	update_result = -ENOSPC;
	assert_int_equal(mdv_reta_hash_update(&rig.dev, &conf), -ENOSPC);
	assert_int_equal(mdv_reta_hash_conf_get(&rig.dev, &seen), 0);
	assert_int_equal(seen.rss_hf, 0);
	assert_int_equal(got[0], 0x2c);
	update_result = 0;
	assert_int_equal(mdv_reta_hash_update(&rig.dev, &conf), 0);
	/* Without a key the present one stays. */
	conf.rss_key = NULL;
	conf.rss_hf = 0;
	assert_int_equal(mdv_reta_hash_update(&rig.dev, &conf), 0);
	assert_int_equal(mdv_reta_hash_conf_get(&rig.dev, &seen), 0);
	assert_int_equal(seen.rss_hf, 0);
	assert_memory_equal(got, key, sizeof(key));
	conf.rss_key = key;
	conf.rss_key_len = 39;
	assert_int_equal(mdv_reta_hash_update(&rig.dev, &conf), -EINVAL);
}

/** The port's own rules look at outer headers. */
static void
levels(void **state)
{
	struct rte_eth_rss_conf conf = { .rss_hf = RTE_ETH_RSS_NONFRAG_IPV4_UDP |
			RTE_ETH_RSS_LEVEL_OUTERMOST };
	struct rte_eth_rss_conf seen = { .rss_key = NULL };

	(void)state;
	assert_int_equal(mdv_reta_configure(&rig.dev), 0);
	assert_int_equal(mdv_reta_hash_update(&rig.dev, &conf), 0);
	assert_int_equal(mdv_reta_hash_conf_get(&rig.dev, &seen), 0);
	assert_int_equal(seen.rss_hf, conf.rss_hf);
	conf.rss_hf = RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_LEVEL_INNERMOST;
	assert_int_equal(mdv_reta_hash_update(&rig.dev, &conf), -ENOTSUP);
	assert_int_equal(mdv_reta_hash_conf_get(&rig.dev, &seen), 0);
	assert_int_equal(seen.rss_hf & RTE_ETH_RSS_LEVEL_MASK, RTE_ETH_RSS_LEVEL_OUTERMOST);
}

/** Where ethdev knows hash functions: another one changes nothing. */
static void
the_device_has_one_hash_function(void **state)
{
#ifdef RTE_ETH_HASH_ALGO_CAPA_MASK
	struct rte_eth_rss_conf conf = { .rss_hf = RTE_ETH_RSS_IPV4 };
	struct rte_eth_rss_conf seen = { .rss_key = NULL };

	assert_int_equal(mdv_reta_configure(&rig.dev), 0);
	assert_int_equal(mdv_reta_hash_update(&rig.dev, &conf), 0);
	assert_int_equal(mdv_reta_hash_conf_get(&rig.dev, &seen), 0);
	assert_int_equal(seen.algorithm, RTE_ETH_HASH_FUNCTION_TOEPLITZ);
	conf.rss_hf = RTE_ETH_RSS_IPV6;
	conf.algorithm = RTE_ETH_HASH_FUNCTION_SIMPLE_XOR;
	assert_int_equal(mdv_reta_hash_update(&rig.dev, &conf), -ENOTSUP);
	assert_int_equal(mdv_reta_hash_conf_get(&rig.dev, &seen), 0);
	assert_int_equal(seen.rss_hf, RTE_ETH_RSS_IPV4);
	conf.algorithm = RTE_ETH_HASH_FUNCTION_TOEPLITZ;
	assert_int_equal(mdv_reta_hash_update(&rig.dev, &conf), 0);
#endif
	(void)state;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_size_is_a_power_of_two_within_the_device, port_make),
		cmocka_unit_test_setup(configure_spreads_over_the_queues, port_make),
		cmocka_unit_test_setup(updates_touch_only_what_is_masked, port_make),
		cmocka_unit_test_setup(hash_updates_are_rolled_back, port_make),
		cmocka_unit_test_setup(levels, port_make),
		cmocka_unit_test_setup(the_device_has_one_hash_function, port_make),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
