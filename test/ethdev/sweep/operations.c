/* SPDX-License-Identifier: BSD-3-Clause */
/* Control operations, and what undoes them. */
#include <errno.h>

#include <rte_dev.h>
#include <rte_ethdev.h>

#include "sweep.h"

#define NB_DESC 128
#define NAME    "net_mlx5dv0"
#define PROBE   "vdev:" NAME ",ibdev=mlx5_0"

uint16_t sweep_port;

static int
probe(void)
{
	int ret = rte_dev_probe(PROBE);

	if (ret == 0)
		sweep_must(rte_eth_dev_get_port_by_name(NAME, &sweep_port) == 0, "no port");
	return ret;
}

static int
configure(void)
{
	const struct rte_eth_conf conf = {
		.rxmode = { .mq_mode = RTE_ETH_MQ_RX_RSS,
			.mtu = RTE_ETHER_MTU,
			.offloads = RTE_ETH_RX_OFFLOAD_VLAN_FILTER | RTE_ETH_RX_OFFLOAD_RSS_HASH },
		.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP,
		.intr_conf.rxq = 1,
	};
	int ret = rte_eth_dev_configure(sweep_port, SWEEP_NB_QUEUES, SWEEP_NB_QUEUES, &conf);

	for (uint16_t i = 0; i < SWEEP_NB_QUEUES && ret == 0; i++) {
		ret = rte_eth_rx_queue_setup(sweep_port, i, NB_DESC, 0, NULL, sweep_pool);
		if (ret == 0)
			ret = rte_eth_tx_queue_setup(sweep_port, i, NB_DESC, 0, NULL);
	}
	return ret;
}

static int
start(void)
{
	return rte_eth_dev_start(sweep_port);
}

static int
stop(void)
{
	return rte_eth_dev_stop(sweep_port);
}

static int
reset(void)
{
	return rte_eth_dev_reset(sweep_port);
}

static int
configure_and_start(void)
{
	int ret = configure();

	sweep_rule_forget();
	return ret != 0 ? ret : start();
}

static int
stop_rx(void)
{
	return rte_eth_dev_rx_queue_stop(sweep_port, 1);
}

static int
start_rx(void)
{
	return rte_eth_dev_rx_queue_start(sweep_port, 1);
}

static int
stop_tx(void)
{
	return rte_eth_dev_tx_queue_stop(sweep_port, 1);
}

static int
start_tx(void)
{
	return rte_eth_dev_tx_queue_start(sweep_port, 1);
}

static int
promiscuous_on(void)
{
	return rte_eth_promiscuous_enable(sweep_port);
}

static int
promiscuous_off(void)
{
	return rte_eth_promiscuous_disable(sweep_port);
}

static int
allmulticast_on(void)
{
	return rte_eth_allmulticast_enable(sweep_port);
}

static int
allmulticast_off(void)
{
	return rte_eth_allmulticast_disable(sweep_port);
}

static int
add_mac(void)
{
	struct rte_ether_addr addr = { { 2, 0, 0, 0, 0xca, 1 } };

	return rte_eth_dev_mac_addr_add(sweep_port, &addr, 0);
}

static int
remove_mac(void)
{
	struct rte_ether_addr addr = { { 2, 0, 0, 0, 0xca, 1 } };

	return rte_eth_dev_mac_addr_remove(sweep_port, &addr);
}

static int
set_mac(void)
{
	struct rte_ether_addr addr;

	rte_eth_macaddr_get(sweep_port, &addr);
	addr.addr_bytes[5] ^= 0x80;
	return rte_eth_dev_default_mac_addr_set(sweep_port, &addr);
}

static int
set_multicast(void)
{
	struct rte_ether_addr list[] = { { { 1, 0, 0x5e, 0, 0, 1 } }, { { 1, 0, 0x5e, 0, 0, 2 } } };

	return rte_eth_dev_set_mc_addr_list(sweep_port, list, RTE_DIM(list));
}

static int
clear_multicast(void)
{
	return rte_eth_dev_set_mc_addr_list(sweep_port, NULL, 0);
}

static int
add_vlan(void)
{
	return rte_eth_dev_vlan_filter(sweep_port, 7, 1);
}

static int
remove_vlan(void)
{
	return rte_eth_dev_vlan_filter(sweep_port, 7, 0);
}

static int
flip_strip(void)
{
	return rte_eth_dev_set_vlan_offload(
		sweep_port, rte_eth_dev_get_vlan_offload(sweep_port) ^ RTE_ETH_VLAN_STRIP_OFFLOAD);
}

static int
flip_reta(void)
{
	struct rte_eth_rss_reta_entry64 reta[8];
	struct rte_eth_dev_info info;

	rte_eth_dev_info_get(sweep_port, &info);
	for (unsigned int i = 0; i < RTE_DIM(reta); i++)
		reta[i].mask = UINT64_MAX;
	rte_eth_dev_rss_reta_query(sweep_port, reta, info.reta_size);
	for (unsigned int i = 0; i < info.reta_size; i++)
		reta[i / RTE_ETH_RETA_GROUP_SIZE].reta[i % RTE_ETH_RETA_GROUP_SIZE] ^= 1;
	return rte_eth_dev_rss_reta_update(sweep_port, reta, info.reta_size);
}

static int
rss_by_ip(void)
{
	struct rte_eth_rss_conf conf = { .rss_hf = RTE_ETH_RSS_IP };

	return rte_eth_dev_rss_hash_update(sweep_port, &conf);
}

static int
rss_by_udp(void)
{
	struct rte_eth_rss_conf conf = { .rss_hf = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP };

	return rte_eth_dev_rss_hash_update(sweep_port, &conf);
}

static int
limit_rate(void)
{
	return rte_eth_set_queue_rate_limit(sweep_port, 0, 5000);
}

static int
lift_rate(void)
{
	return rte_eth_set_queue_rate_limit(sweep_port, 0, 0);
}

static int
remove_port(void)
{
	struct rte_eth_dev_info info;

	rte_eth_dev_info_get(sweep_port, &info);
	return rte_dev_remove(info.device);
}
/* clang-format off */
const struct sweep_operation sweep_operations[] = {
	{ "probe", probe, remove_port, SWEEP_QUIET | SWEEP_OPENS },
	{ "configure", configure, NULL, SWEEP_QUIET | SWEEP_STEPS },
	{ "flow queues", sweep_rule_queues, NULL, SWEEP_QUIET },
	{ "start", start, stop, 0 },
	{ "flow create", sweep_rule_create, sweep_rule_destroy, 0 },
	{ "flow query", sweep_rule_query, NULL, 0 },
	{ "indirect action", sweep_rule_share, sweep_rule_unshare, 0 },
	{ "flow of it", sweep_rule_create_shared, sweep_rule_destroy_shared, 0 },
	{ "update of it", sweep_rule_update_shared, sweep_rule_update_shared, 0 },
	{ "no flow of it", sweep_rule_destroy_shared, sweep_rule_create_shared, 0 },
	{ "no indirect action", sweep_rule_unshare, sweep_rule_share, 0 },
	{ "templates", sweep_rule_make_templates, sweep_rule_destroy_templates, 0 },
	{ "flow by queue", sweep_rule_enqueue, sweep_rule_dequeue, 0 },
	{ "no flow by queue", sweep_rule_dequeue, sweep_rule_enqueue, 0 },
	{ "no templates", sweep_rule_destroy_templates, sweep_rule_make_templates, 0 },
	{ "stop a Rx queue", stop_rx, start_rx, SWEEP_QUIET },
	{ "start a Rx queue", start_rx, stop_rx, 0 },
	{ "stop a Tx queue", stop_tx, start_tx, SWEEP_QUIET },
	{ "start a Tx queue", start_tx, stop_tx, 0 },
	{ "promiscuous on", promiscuous_on, promiscuous_off, 0 },
	{ "promiscuous off", promiscuous_off, promiscuous_on, 0 },
	{ "allmulticast on", allmulticast_on, allmulticast_off, 0 },
	{ "allmulticast off", allmulticast_off, allmulticast_on, 0 },
	{ "MAC add", add_mac, remove_mac, 0 },
	{ "MAC remove", remove_mac, add_mac, 0 },
	{ "MAC set", set_mac, set_mac, 0 },
	{ "multicast list", set_multicast, clear_multicast, 0 },
	{ "no multicast list", clear_multicast, set_multicast, 0 },
	{ "VLAN filter", add_vlan, remove_vlan, SWEEP_QUIET },
	{ "no VLAN filter", remove_vlan, add_vlan, 0 },
	{ "VLAN stripping on", flip_strip, flip_strip, 0 },
	{ "VLAN stripping off", flip_strip, flip_strip, 0 },
	{ "RETA", flip_reta, flip_reta, 0 },
	{ "RSS by IP", rss_by_ip, rss_by_udp, 0 },
	{ "RSS by UDP", rss_by_udp, rss_by_ip, 0 },
	{ "rate", limit_rate, lift_rate, 0 },
	{ "no rate", lift_rate, limit_rate, 0 },
	{ "isolate", sweep_rule_isolate, sweep_rule_join, SWEEP_QUIET },
	{ "join", sweep_rule_join, sweep_rule_isolate, 0 },
	{ "stop", stop, start, SWEEP_QUIET },
	{ "start again", start, stop, 0 },
	{ "flow destroy", sweep_rule_destroy, sweep_rule_create, 0 },
	{ "stop to reset", stop, start, SWEEP_QUIET },
	{ "reset", reset, NULL, SWEEP_QUIET | SWEEP_OPENS },
	{ "configure and start", configure_and_start, stop, SWEEP_STEPS },
	{ "remove", remove_port, probe, SWEEP_QUIET | SWEEP_OPENS },
};
/* clang-format on */

const unsigned int sweep_nb_operations = RTE_DIM(sweep_operations);
