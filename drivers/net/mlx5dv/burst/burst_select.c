/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects the burst functions of a port. */
#include <errno.h>
#include <stdio.h>

#include <ethdev_driver.h>
#include <rte_vect.h>

#include "base/log.h"
#include "burst/rx/rx.h"
#include "burst/rx/rx_ibv_burst.h"
#include "burst/tx/tx.h"
#include "burst/tx/tx_ibv_burst.h"
#include "burst/tx/tx_swp.h"
#include "burst_select.h"
#include "queue/rx/rx_comp.h"
#include "state/port.h"

static bool
is_ibv(const struct rte_eth_dev *dev)
{
	return mdv_port(dev)->device.caps.mode == MDV_MODE_IBV;
}

static unsigned int
rx_opts(const struct rte_eth_dev *dev)
{
	const uint64_t csums = RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_UDP_CKSUM |
		RTE_ETH_RX_OFFLOAD_TCP_CKSUM;
	const uint64_t offloads = dev->data->dev_conf.rxmode.offloads;
	unsigned int opts = 0;
	uint16_t i;

	opts |= offloads & csums ? MDV_RX_CSUM : 0;
	opts |= offloads & RTE_ETH_RX_OFFLOAD_RSS_HASH ? MDV_RX_HASH : 0;
	opts |= offloads & RTE_ETH_RX_OFFLOAD_TIMESTAMP ? MDV_RX_TIMESTAMP : 0;
	opts |= mdv_port(dev)->rx_metadata != 0 ? MDV_RX_MARK : 0;
	if (mdv_port(dev)->strides)
		return opts | MDV_RX_STRIDE;
	if (mdv_port(dev)->split)
		return opts | MDV_RX_SCATTER | MDV_RX_SPLIT;
	/* A secondary process may attach while the primary has released a queue of a running port,
	 * which comes back as the port's burst allows. */
	opts |= dev->data->scattered_rx ? MDV_RX_SCATTER : 0;
	for (i = 0; i < dev->data->nb_rx_queues; i++) {
		const struct mdv_rxq *rxq = dev->data->rx_queues[i];

		opts |= rxq != NULL && rxq->ring.log2_segs != 0 ? MDV_RX_SCATTER : 0;
	}
	return opts;
}

static unsigned int
tx_opts(const struct rte_eth_dev *dev)
{
	const uint64_t csums = RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM |
		RTE_ETH_TX_OFFLOAD_TCP_CKSUM | RTE_ETH_TX_OFFLOAD_OUTER_IPV4_CKSUM;
	uint64_t offloads = dev->data->dev_conf.txmode.offloads, all = ~0ULL;
	unsigned int opts = 0;
	uint16_t i;

	for (i = 0; i < dev->data->nb_tx_queues; i++) {
		const struct mdv_txq *txq = dev->data->tx_queues[i];

		if (txq == NULL)
			continue;
		offloads |= txq->conf.offloads;
		all &= txq->conf.offloads;
	}
	/* The fast-free promise must hold for every queue that the function serves. */
	opts |= all & offloads & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE ? MDV_TX_FAST_FREE : 0;
	opts |= offloads & RTE_ETH_TX_OFFLOAD_MULTI_SEGS ? MDV_TX_MULTI : 0;
	opts |= offloads & csums ? MDV_TX_CSUM : 0;
	opts |= offloads & RTE_ETH_TX_OFFLOAD_VLAN_INSERT ? MDV_TX_VLAN : 0;
	opts |= offloads & mdv_tx_limits_tso_offloads(&mdv_port(dev)->device.caps) ? MDV_TX_TSO : 0;
	opts |= offloads & MDV_TX_SWP_OFFLOADS ? MDV_TX_SWP : 0;
	opts |= mdv_port(dev)->device.caps.tx_min_inline != 0 ? MDV_TX_INLINE_L2 : 0;
	opts |= mdv_port(dev)->tx_inline != 0 ? MDV_TX_INLINE : 0;
	return opts;
}

/** In mode=ibv each queue has a burst of its own below the port's. */
static void
select_ibv(struct rte_eth_dev *dev)
{
	uint16_t i;

	dev->rx_pkt_burst = mdv_rx_ibv_burst;
	dev->tx_pkt_burst = mdv_tx_ibv_burst;
	for (i = 0; i < dev->data->nb_rx_queues; i++)
		mdv_rx_ibv_burst_select(dev->data->rx_queues[i]);
	for (i = 0; i < dev->data->nb_tx_queues; i++)
		mdv_tx_ibv_burst_select(dev->data->tx_queues[i]);
}

void
mdv_burst_select(struct rte_eth_dev *dev)
{
	const unsigned int simd_bits = rte_vect_get_max_simd_bitwidth();

	dev->tx_pkt_prepare = mdv_tx_prepare;
	if (is_ibv(dev)) {
		select_ibv(dev);
		return;
	}
	dev->rx_pkt_burst = mdv_rx_select(rx_opts(dev), simd_bits);
	dev->tx_pkt_burst = mdv_tx_select(
		tx_opts(dev), mdv_port(dev)->device.caps.tx_multi_packet ? simd_bits : 0);
	MDV_COMPAT_RECYCLE_OPS(dev, mdv_tx_recycle_reuse, mdv_rx_recycle_refill);
}

static bool
describe_rx(const struct rte_eth_dev *dev, uint16_t idx, struct rte_eth_burst_mode *mode)
{
	const struct mdv_rxq *rxq =
		idx < dev->data->nb_rx_queues ? dev->data->rx_queues[idx] : NULL;

	if (dev->rx_pkt_burst == mdv_rx_ibv_burst)
		return rxq != NULL && mdv_rx_select_describe(rxq->objs.ibv.burst, mode);
	return mdv_rx_select_describe(dev->rx_pkt_burst, mode);
}

static bool
describe_tx(const struct rte_eth_dev *dev, uint16_t idx, struct rte_eth_burst_mode *mode)
{
	const struct mdv_txq *txq =
		idx < dev->data->nb_tx_queues ? dev->data->tx_queues[idx] : NULL;

	if (dev->tx_pkt_burst == mdv_tx_ibv_burst)
		return txq != NULL && mdv_tx_select_describe(txq->objs.ibv.burst, mode);
	return mdv_tx_select_describe(dev->tx_pkt_burst, mode);
}

/** @return the reason why vectors are narrow or unused. */
static const char *
rx_limited_by(const struct rte_eth_dev *dev)
{
	if (is_ibv(dev))
		return "by verbs";
	return mdv_rx_select_limited_by(rx_opts(dev), rte_vect_get_max_simd_bitwidth());
}

static const char *
tx_limited_by(const struct rte_eth_dev *dev)
{
	if (is_ibv(dev))
		return "by verbs";
	if (!mdv_port(dev)->device.caps.tx_multi_packet)
		return "the device takes one packet a WQE: no vectors";
	return mdv_tx_select_limited_by(tx_opts(dev), rte_vect_get_max_simd_bitwidth());
}

/** @return " (reason)", or "" where there is none. */
static const char *
in_brackets(const char *reason, char *text, size_t size)
{
	if (reason == NULL)
		return "";
	snprintf(text, size, " (%s)", reason);
	return text;
}

void
mdv_burst_log(const struct rte_eth_dev *dev)
{
	struct rte_eth_burst_mode rx = { 0 }, tx = { 0 };
	char rx_why[64], tx_why[64];
	const char *comp;

	describe_rx(dev, 0, &rx);
	describe_tx(dev, 0, &tx);
	mdv_rx_comp_choose(mdv_port(dev), &comp);
	MDV_LOG(INFO, "port %u: Rx burst: %s%s; Tx burst: %s%s; Rx completions: %s",
		dev->data->port_id, rx.info,
		in_brackets(rx_limited_by(dev), rx_why, sizeof(rx_why)), tx.info,
		in_brackets(tx_limited_by(dev), tx_why, sizeof(tx_why)), comp);
}

int
mdv_burst_rx_mode_get(struct rte_eth_dev *dev, uint16_t idx, struct rte_eth_burst_mode *mode)
{
	return describe_rx(dev, idx, mode) ? 0 : -EINVAL;
}

int
mdv_burst_tx_mode_get(struct rte_eth_dev *dev, uint16_t idx, struct rte_eth_burst_mode *mode)
{
	return describe_tx(dev, idx, mode) ? 0 : -EINVAL;
}
