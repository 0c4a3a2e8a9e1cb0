/* SPDX-License-Identifier: BSD-3-Clause */
/* Control operations of a port, with arguments by chance. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_mbuf.h>

#include "campaign.h"

static uint16_t
choose_desc(void)
{
	return 64u << campaign_choose(3);
}

static struct rte_mempool *
choose_pool(const struct rte_eth_conf *conf)
{
	const bool scatter = conf->rxmode.offloads & RTE_ETH_RX_OFFLOAD_SCATTER;

	return scatter && campaign_choose(2) ? campaign.small_pool : campaign.pool;
}

/** Of a port that may split packets, two queues of three do. */
static uint16_t
choose_first(const struct rte_eth_conf *conf)
{
	const bool split = conf->rxmode.offloads & RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT;

	return split && campaign_choose(3) != 0 ? 14 + campaign_choose(256) : 0;
}

static void
choose_conf(const struct rte_eth_dev_info *info, struct rte_eth_conf *conf)
{
	static const uint64_t rx[] = { RTE_ETH_RX_OFFLOAD_SCATTER, RTE_ETH_RX_OFFLOAD_CHECKSUM,
		RTE_ETH_RX_OFFLOAD_RSS_HASH, RTE_ETH_RX_OFFLOAD_VLAN_STRIP,
		RTE_ETH_RX_OFFLOAD_VLAN_FILTER, RTE_ETH_RX_OFFLOAD_TIMESTAMP,
		RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT };
	static const uint64_t tx[] = { RTE_ETH_TX_OFFLOAD_MULTI_SEGS, RTE_ETH_TX_OFFLOAD_IPV4_CKSUM,
		RTE_ETH_TX_OFFLOAD_VLAN_INSERT };

	memset(conf, 0, sizeof(*conf));
	for (unsigned int i = 0; i < RTE_DIM(rx); i++)
		conf->rxmode.offloads |= campaign_choose(3) == 0 ? rx[i] : 0;
	for (unsigned int i = 0; i < RTE_DIM(tx); i++)
		conf->txmode.offloads |= campaign_choose(3) == 0 ? tx[i] : 0;
	conf->rxmode.offloads &= info->rx_offload_capa;
	conf->txmode.offloads &= info->tx_offload_capa;
	conf->rxmode.mtu = RTE_ETHER_MTU;
	conf->rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
	conf->rx_adv_conf.rss_conf.rss_hf =
		campaign_choose(4) != 0 ? RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP : 0;
	conf->rx_adv_conf.rss_conf.rss_hf &= info->flow_type_rss_offloads;
	conf->intr_conf.rxq = campaign_choose(2);
	conf->intr_conf.lsc = campaign_choose(2);
	conf->intr_conf.rmv = campaign_choose(2);
}

/** The first bytes into a small buffer, the rest into large ones. */
static int
setup_split(struct campaign_port *port, uint16_t queue)
{
	union rte_eth_rxseg segs[2] = {
		{ .split = { .mp = campaign.small_pool, .length = port->rx_first[queue] } },
		{ .split = { .mp = campaign.pool } },
	};
	struct rte_eth_rxconf conf = { .rx_seg = segs, .rx_nseg = RTE_DIM(segs) };
	struct rte_eth_conf port_conf;
	int ret = rte_eth_dev_conf_get(port->id, &port_conf);

	conf.offloads = port_conf.rxmode.offloads;
	return ret != 0 ? ret
			: rte_eth_rx_queue_setup(port->id, queue, port->rx_desc[queue],
				  SOCKET_ID_ANY, &conf, NULL);
}

static int
setup_rx(struct campaign_port *port, uint16_t queue)
{
	if (port->rx_first[queue] != 0)
		return setup_split(port, queue);
	return rte_eth_rx_queue_setup(
		port->id, queue, port->rx_desc[queue], SOCKET_ID_ANY, NULL, port->rx_pool[queue]);
}

static int
setup_tx(struct campaign_port *port, uint16_t queue)
{
	const struct rte_eth_txconf conf = {
		.tx_deferred_start = campaign_choose(8) == 0,
		.offloads = port->tx_offloads,
	};

	return rte_eth_tx_queue_setup(port->id, queue, port->tx_desc[queue], SOCKET_ID_ANY, &conf);
}

int
campaign_port_configure(struct campaign_port *port)
{
	struct rte_eth_dev_info info;
	struct rte_flow_error error;
	struct rte_eth_conf conf;
	int ret;

	/* The rules may name queues that will no longer exist. */
	ret = rte_flow_flush(port->id, &error);
	if (ret != 0)
		return ret;
	campaign_rules_forget(port);
	ret = rte_eth_dev_info_get(port->id, &info);
	if (ret != 0)
		return ret;
	choose_conf(&info, &conf);
	port->configured = false;
	port->nb_rxq = 1 + campaign_choose(CAMPAIGN_QUEUES);
	port->nb_txq = 1 + campaign_choose(CAMPAIGN_QUEUES);
	ret = rte_eth_dev_configure(port->id, port->nb_rxq, port->nb_txq, &conf);
	port->tx_offloads = conf.txmode.offloads;
	for (uint16_t i = 0; i < port->nb_rxq && ret == 0; i++) {
		port->rx_desc[i] = choose_desc();
		port->rx_pool[i] = choose_pool(&conf);
		port->rx_first[i] = choose_first(&conf);
		ret = setup_rx(port, i);
	}
	for (uint16_t i = 0; i < port->nb_txq && ret == 0; i++) {
		port->tx_desc[i] = choose_desc();
		ret = setup_tx(port, i);
	}
	port->configured = ret == 0;
	return ret;
}

/** settle.c and traffic.c judge by the MTU frames that the buffers are too small for. */
static int
start_with_mtu(const struct campaign_port *port, uint16_t *mtu)
{
	*mtu = 0;
	rte_eth_dev_get_mtu(port->id, mtu);
	printf("   mlx5_%u starts with an MTU of %u\n", (unsigned int)(port - campaign.ports),
		*mtu);
	return rte_eth_dev_start(port->id);
}

int
campaign_port_start(struct campaign_port *port)
{
	uint16_t mtu;
	int ret;

	if (port->started)
		return 0;
	ret = start_with_mtu(port, &mtu);
	/* A stopped port takes an MTU that its queues cannot. */
	if (ret == -EINVAL && mtu > RTE_ETHER_MTU) {
		ret = rte_eth_dev_set_mtu(port->id, RTE_ETHER_MTU);
		ret = ret != 0 ? ret : start_with_mtu(port, &mtu);
	}
	port->started = ret == 0;
	return ret;
}

int
campaign_port_stop(struct campaign_port *port)
{
	int ret = rte_eth_dev_stop(port->id);

	port->started &= ret != 0;
	return ret;
}

static int
stop_start(struct campaign_port *port)
{
	int ret = campaign_port_stop(port);

	return ret != 0 ? ret : campaign_port_start(port);
}

static int
start_rx(struct campaign_port *port)
{
	return rte_eth_dev_rx_queue_start(port->id, campaign_choose(port->nb_rxq));
}

static int
stop_rx(struct campaign_port *port)
{
	return rte_eth_dev_rx_queue_stop(port->id, campaign_choose(port->nb_rxq));
}

static int
start_tx(struct campaign_port *port)
{
	return rte_eth_dev_tx_queue_start(port->id, campaign_choose(port->nb_txq));
}

static int
stop_tx(struct campaign_port *port)
{
	return rte_eth_dev_tx_queue_stop(port->id, campaign_choose(port->nb_txq));
}

/** Set a queue up with its earlier values: after a failure the next try must work. */
static int
again_rx(struct campaign_port *port)
{
	const uint16_t queue = campaign_choose(port->nb_rxq);
	int ret = rte_eth_dev_rx_queue_stop(port->id, queue);

	if (ret != 0)
		return ret;
	for (unsigned int i = 0; i < 100; i++) {
		ret = setup_rx(port, queue);
		if (ret == 0)
			return rte_eth_dev_rx_queue_start(port->id, queue);
		if (!campaign_excused(port, ret))
			break;
	}
	/* A queue that is not set up allows no operation. */
	campaign_port_stop(port);
	port->configured = false;
	return ret;
}

static int
again_tx(struct campaign_port *port)
{
	const uint16_t queue = campaign_choose(port->nb_txq);
	int ret = rte_eth_dev_tx_queue_stop(port->id, queue);

	if (ret != 0)
		return ret;
	for (unsigned int i = 0; i < 100; i++) {
		ret = setup_tx(port, queue);
		if (ret == 0)
			return rte_eth_dev_tx_queue_start(port->id, queue);
		if (!campaign_excused(port, ret))
			break;
	}
	campaign_port_stop(port);
	port->configured = false;
	return ret;
}

static int
set_mtu(struct campaign_port *port)
{
	static const uint16_t mtus[] = { 68, 500, 1500, 1900, 3000, 9000 };
	uint16_t before = 0, after = 0;
	int ret;

	rte_eth_dev_get_mtu(port->id, &before);
	ret = rte_eth_dev_set_mtu(port->id, mtus[campaign_choose(RTE_DIM(mtus))]);
	rte_eth_dev_get_mtu(port->id, &after);
	campaign_must(ret == 0 || before == after, "port %u: refused, but the MTU is %u, not %u",
		port->id, after, before);
	/* A frame may need more buffers than the pool or the running queue has. */
	return ret == -EINVAL || ret == -EBUSY ? 0 : ret;
}

static struct rte_ether_addr
choose_mac(void)
{
	return (struct rte_ether_addr){ { 2, 0xca, 0, 0, 0, campaign_choose(4) } };
}

static int
add_mac(struct campaign_port *port)
{
	struct rte_ether_addr addr = choose_mac();

	return rte_eth_dev_mac_addr_add(port->id, &addr, 0);
}

static int
remove_mac(struct campaign_port *port)
{
	struct rte_ether_addr addr = choose_mac();

	return rte_eth_dev_mac_addr_remove(port->id, &addr);
}

static int
set_mac(struct campaign_port *port)
{
	struct rte_ether_addr addr = { { 2, 0xcb, 0, 0, port->id, campaign_choose(4) } };

	return rte_eth_dev_default_mac_addr_set(port->id, &addr);
}

static int
set_multicast(struct campaign_port *port)
{
	struct rte_ether_addr list[4];
	const unsigned int nb = campaign_choose(5);

	for (unsigned int i = 0; i < nb; i++)
		list[i] = (struct rte_ether_addr){ { 1, 0, 0x5e, 0, 0, i } };
	return rte_eth_dev_set_mc_addr_list(port->id, list, nb);
}

static int
filter_vlan(struct campaign_port *port)
{
	const unsigned int id = 1 + campaign_choose(8);
	const bool on = campaign_choose(2);
	struct rte_eth_conf conf;
	int ret = rte_eth_dev_conf_get(port->id, &conf);

	if (ret != 0 || !(conf.rxmode.offloads & RTE_ETH_RX_OFFLOAD_VLAN_FILTER))
		return ret;
	ret = rte_eth_dev_vlan_filter(port->id, id, on);
	if (ret == 0)
		port->vlans = on ? port->vlans | 1u << id : port->vlans & ~(1u << id);
	return ret;
}

static int
offload_vlan(struct campaign_port *port)
{
	int before = rte_eth_dev_get_vlan_offload(port->id);

	if (before < 0)
		return before;
	return rte_eth_dev_set_vlan_offload(port->id, before ^ (1 << campaign_choose(2)));
}

static int
promiscuous(struct campaign_port *port)
{
	return campaign_choose(2) ? rte_eth_promiscuous_enable(port->id)
				  : rte_eth_promiscuous_disable(port->id);
}

static int
allmulticast(struct campaign_port *port)
{
	return campaign_choose(2) ? rte_eth_allmulticast_enable(port->id)
				  : rte_eth_allmulticast_disable(port->id);
}

static int
update_reta(struct campaign_port *port)
{
	struct rte_eth_rss_reta_entry64 reta[RTE_ETH_RSS_RETA_SIZE_512 / RTE_ETH_RETA_GROUP_SIZE];
	struct rte_eth_dev_info info;
	int ret = rte_eth_dev_info_get(port->id, &info);

	if (ret != 0)
		return ret;
	for (unsigned int i = 0; i < info.reta_size; i++) {
		reta[i / RTE_ETH_RETA_GROUP_SIZE].mask = UINT64_MAX;
		reta[i / RTE_ETH_RETA_GROUP_SIZE].reta[i % RTE_ETH_RETA_GROUP_SIZE] =
			campaign_choose(port->nb_rxq);
	}
	return rte_eth_dev_rss_reta_update(port->id, reta, info.reta_size);
}

static int
update_rss(struct campaign_port *port)
{
	struct rte_eth_rss_conf conf = {
		.rss_hf = campaign_choose(2) ? RTE_ETH_RSS_UDP : RTE_ETH_RSS_IP,
	};

	return rte_eth_dev_rss_hash_update(port->id, &conf);
}

static int
limit_rate(struct campaign_port *port)
{
	return rte_eth_set_queue_rate_limit(port->id, campaign_choose(port->nb_txq),
		campaign_choose(2) ? 0 : 1000 + campaign_choose(9000));
}

static int
count(struct campaign_port *port)
{
	struct rte_eth_xstat xstats[256];
	struct rte_eth_stats stats;
	int ret = rte_eth_stats_get(port->id, &stats);

	if (ret == 0)
		ret = RTE_MIN(rte_eth_xstats_get(port->id, xstats, RTE_DIM(xstats)), 0);
	if (ret == 0 && campaign_choose(4) == 0)
		ret = campaign_choose(2) ? rte_eth_stats_reset(port->id)
					 : rte_eth_xstats_reset(port->id);
	return ret;
}

static int
look(struct campaign_port *port)
{
	FILE *null = fopen("/dev/null", "w");
	struct rte_eth_rxq_info rxq;
	struct rte_eth_txq_info txq;
	struct rte_eth_link link;
	int ret;

	if (null == NULL)
		return 0;
	ret = rte_eth_link_get_nowait(port->id, &link);
	RTE_SET_USED(ret);
	rte_eth_rx_queue_info_get(port->id, campaign_choose(port->nb_rxq), &rxq);
	rte_eth_tx_queue_info_get(port->id, campaign_choose(port->nb_txq), &txq);
	rte_eth_dev_priv_dump(port->id, null);
	rte_eth_rx_descriptor_dump(port->id, campaign_choose(port->nb_rxq), 0, 4, null);
	rte_eth_tx_descriptor_dump(port->id, campaign_choose(port->nb_txq), 0, 4, null);
	rte_flow_dev_dump(port->id, NULL, null, NULL);
	fclose(null);
	return 0;
}

static int
interrupts(struct campaign_port *port)
{
	const uint16_t queue = campaign_choose(port->nb_rxq);
	struct rte_eth_conf conf;
	int ret = rte_eth_dev_conf_get(port->id, &conf);

	if (ret != 0 || !conf.intr_conf.rxq)
		return ret;
	return campaign_choose(2) ? rte_eth_dev_rx_intr_enable(port->id, queue)
				  : rte_eth_dev_rx_intr_disable(port->id, queue);
}

static int
link_up_down(struct campaign_port *port)
{
	return campaign_choose(2) ? rte_eth_dev_set_link_up(port->id)
				  : rte_eth_dev_set_link_down(port->id);
}

static int
reset(struct campaign_port *port)
{
	int ret = rte_eth_dev_reset(port->id);

	if (ret != 0)
		return ret;
	port->started = false;
	campaign_rules_forget(port);
	return campaign_port_configure(port);
}

/* clang-format off */
const struct campaign_row campaign_port_rows[] = {
	{ "configure", 8, CAMPAIGN_STOPPED, campaign_port_configure, 0 },
	{ "start", 40, CAMPAIGN_STOPPED, campaign_port_start, 0 },
	{ "stop", 4, CAMPAIGN_STARTED, campaign_port_stop, 0 },
	{ "stop and start", 4, CAMPAIGN_STARTED, stop_start, 0 },
	{ "reset", 1, CAMPAIGN_ALWAYS, reset, 0 },
	{ "start a Rx queue", 6, CAMPAIGN_STARTED, start_rx, 0 },
	{ "stop a Rx queue", 3, CAMPAIGN_STARTED, stop_rx, 0 },
	{ "start a Tx queue", 6, CAMPAIGN_STARTED, start_tx, 0 },
	{ "stop a Tx queue", 3, CAMPAIGN_STARTED, stop_tx, 0 },
	{ "set a Rx queue up again", 3, CAMPAIGN_STARTED, again_rx, 0 },
	{ "set a Tx queue up again", 3, CAMPAIGN_STARTED, again_tx, 0 },
	{ "MTU", 4, CAMPAIGN_ALWAYS, set_mtu, 0 },
	{ "MAC add", 4, CAMPAIGN_ALWAYS, add_mac, 0 },
	{ "MAC remove", 4, CAMPAIGN_ALWAYS, remove_mac, 0 },
	{ "MAC set", 2, CAMPAIGN_ALWAYS, set_mac, 0 },
	{ "multicast list", 3, CAMPAIGN_ALWAYS, set_multicast, 0 },
	{ "VLAN filter", 4, CAMPAIGN_ALWAYS, filter_vlan, 0 },
	{ "VLAN offload", 3, CAMPAIGN_ALWAYS, offload_vlan, 0 },
	{ "promiscuous", 4, CAMPAIGN_ALWAYS, promiscuous, 0 },
	{ "allmulticast", 3, CAMPAIGN_ALWAYS, allmulticast, 0 },
	{ "RETA", 3, CAMPAIGN_ALWAYS, update_reta, -ENOTSUP },
	{ "RSS", 3, CAMPAIGN_ALWAYS, update_rss, -ENOTSUP },
	/* Above the link speed, which is 0 while it is down. */
	{ "rate", 2, CAMPAIGN_ALWAYS, limit_rate, -EINVAL },
	{ "statistics", 5, CAMPAIGN_ALWAYS, count, 0 },
	{ "dump", 2, CAMPAIGN_ALWAYS, look, 0 },
	{ "interrupts", 8, CAMPAIGN_STARTED, interrupts, 0 },
	/* There may be no netdev. */
	{ "link", 2, CAMPAIGN_ALWAYS, link_up_down, -ENOTSUP },
	{ NULL, 0, 0, NULL, 0 },
};
/* clang-format on */
