/* SPDX-License-Identifier: BSD-3-Clause */
/* Filters and directions of packets on a running port, and the modes of its netdev. */
#include <errno.h>

#include <rte_ethdev.h>

#include "sweep.h"

static struct rte_ether_addr mac = { { 2, 0, 0, 0, 0xca, 1 } };
static struct rte_ether_addr groups[] = { { { 1, 0, 0x5e, 0, 0, 1 } },
	{ { 1, 0, 0x5e, 0, 0, 2 } } };

SWEEP_OPERATION(promiscuous_on, rte_eth_promiscuous_enable(sweep_port))
SWEEP_OPERATION(promiscuous_off, rte_eth_promiscuous_disable(sweep_port))
SWEEP_OPERATION(allmulticast_on, rte_eth_allmulticast_enable(sweep_port))
SWEEP_OPERATION(allmulticast_off, rte_eth_allmulticast_disable(sweep_port))
SWEEP_OPERATION(add_mac, rte_eth_dev_mac_addr_add(sweep_port, &mac, 0))
SWEEP_OPERATION(remove_mac, rte_eth_dev_mac_addr_remove(sweep_port, &mac))
SWEEP_OPERATION(set_multicast, rte_eth_dev_set_mc_addr_list(sweep_port, groups, RTE_DIM(groups)))
SWEEP_OPERATION(clear_multicast, rte_eth_dev_set_mc_addr_list(sweep_port, NULL, 0))
SWEEP_OPERATION(add_vlan, rte_eth_dev_vlan_filter(sweep_port, 7, 1))
SWEEP_OPERATION(remove_vlan, rte_eth_dev_vlan_filter(sweep_port, 7, 0))
SWEEP_OPERATION(strip_one, rte_eth_dev_set_vlan_strip_on_queue(sweep_port, 0, 1))
SWEEP_OPERATION(strip_none, rte_eth_dev_set_vlan_strip_on_queue(sweep_port, 0, 0))
SWEEP_OPERATION(set_mtu, rte_eth_dev_set_mtu(sweep_port, 1400))
SWEEP_OPERATION(restore_mtu, rte_eth_dev_set_mtu(sweep_port, RTE_ETHER_MTU))
SWEEP_OPERATION(link_down, rte_eth_dev_set_link_down(sweep_port))
SWEEP_OPERATION(link_up, rte_eth_dev_set_link_up(sweep_port))

static int
set_mac(void)
{
	struct rte_ether_addr addr;

	rte_eth_macaddr_get(sweep_port, &addr);
	addr.addr_bytes[5] ^= 0x80;
	return rte_eth_dev_default_mac_addr_set(sweep_port, &addr);
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

	if (rte_eth_dev_info_get(sweep_port, &info) != 0)
		return -EIO;
	for (unsigned int i = 0; i < RTE_DIM(reta); i++)
		reta[i].mask = UINT64_MAX;
	rte_eth_dev_rss_reta_query(sweep_port, reta, info.reta_size);
	for (unsigned int i = 0; i < info.reta_size; i++)
		reta[i / RTE_ETH_RETA_GROUP_SIZE].reta[i % RTE_ETH_RETA_GROUP_SIZE] ^= 1;
	return rte_eth_dev_rss_reta_update(sweep_port, reta, info.reta_size);
}

static int
hash_by(uint64_t types)
{
	struct rte_eth_rss_conf conf = { .rss_hf = types };

	return rte_eth_dev_rss_hash_update(sweep_port, &conf);
}

SWEEP_OPERATION(rss_by_ip, hash_by(RTE_ETH_RSS_IP))
SWEEP_OPERATION(rss_by_udp, hash_by(RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP))

static int
set_flow_control(enum rte_eth_fc_mode mode)
{
	struct rte_eth_fc_conf conf = { .mode = mode };

	return rte_eth_dev_flow_ctrl_set(sweep_port, &conf);
}

SWEEP_OPERATION(pause_on, set_flow_control(RTE_ETH_FC_FULL))
SWEEP_OPERATION(pause_off, set_flow_control(RTE_ETH_FC_NONE))

/* clang-format off */
const struct sweep_operation sweep_filters[] = {
	{ "promiscuous_enable", promiscuous_on, promiscuous_off, 0 },
	{ "promiscuous_disable", promiscuous_off, promiscuous_on, 0 },
	{ "allmulticast_enable", allmulticast_on, allmulticast_off, 0 },
	{ "allmulticast_disable", allmulticast_off, allmulticast_on, 0 },
	{ "mac_addr_add", add_mac, remove_mac, 0 },
	{ "mac_addr_remove", remove_mac, add_mac, 0 },
	{ "mac_addr_set", set_mac, set_mac, 0 },
	{ "set_mc_addr_list", set_multicast, clear_multicast, 0 },
	{ "set_mc_addr_list (of none)", clear_multicast, set_multicast, 0 },
	{ "vlan_filter_set", add_vlan, remove_vlan, SWEEP_QUIET },
	{ "vlan_filter_set (of none)", remove_vlan, add_vlan, 0 },
	{ "vlan_strip_queue_set", strip_one, strip_none, 0 },
	{ "vlan_strip_queue_set (no more)", strip_none, strip_one, 0 },
	{ "vlan_offload_set", flip_strip, flip_strip, 0 },
	{ "vlan_offload_set (no more)", flip_strip, flip_strip, 0 },
	{ "reta_update", flip_reta, flip_reta, 0 },
	{ "rss_hash_update", rss_by_ip, rss_by_udp, 0 },
	{ "rss_hash_update (by more)", rss_by_udp, rss_by_ip, 0 },
	{ "mtu_set", set_mtu, restore_mtu, 0 },
	{ "mtu_set (as it was)", restore_mtu, set_mtu, 0 },
	{ "dev_set_link_down", link_down, link_up, SWEEP_QUIET },
	{ "dev_set_link_up", link_up, link_down, 0 },
	{ "flow_ctrl_set", pause_on, pause_off, 0 },
	{ "flow_ctrl_set (of none)", pause_off, pause_on, 0 },
	{ NULL },
};
/* clang-format on */
