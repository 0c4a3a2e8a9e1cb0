/* SPDX-License-Identifier: BSD-3-Clause */
/* Configures, starts and stops a port: the order of the steps, and their undoing in reverse. */
#include <errno.h>
#include <string.h>

#include <ethdev_driver.h>

#include "base/log.h"
#include "burst/burst_select.h"
#include "event.h"
#include "flow/flow.h"
#include "kernel/netdev.h"
#include "mac_netdev.h"
#include "mp/primary.h"
#include "queue.h"
#include "queue/rx/rxq.h"
#include "reta.h"
#include "start.h"
#include "state/port.h"
#include "stats.h"

static int
check_conf(const struct rte_eth_dev *dev)
{
	const struct rte_eth_conf *conf = &dev->data->dev_conf;
	uint16_t port_id = dev->data->port_id;

	if ((conf->rxmode.mq_mode & ~RTE_ETH_MQ_RX_RSS_FLAG) != 0 ||
		conf->txmode.mq_mode != RTE_ETH_MQ_TX_NONE) {
		MDV_LOG(ERR, "port %u: of the multi-queue modes only RSS is supported", port_id);
		return -EINVAL;
	}
	if (conf->lpbk_mode != 0)
		MDV_LOG(NOTICE,
			"port %u: lpbk_mode %u: frames come back only if the wire or the device loops them",
			port_id, conf->lpbk_mode);
	if (conf->link_speeds != RTE_ETH_LINK_SPEED_AUTONEG)
		MDV_LOG(NOTICE,
			"port %u: link_speeds 0x%x: verbs sets no speed; ethtool -s sets the netdev's, hence the port's",
			port_id, conf->link_speeds);
	return 0;
}

int
mdv_start_configure(struct rte_eth_dev *dev)
{
	struct mdv_port *port = mdv_port(dev);
	int ret;

	ret = check_conf(dev);
	if (ret != 0)
		return ret;
	ret = mdv_reta_configure(dev);
	if (ret != 0)
		return ret;
	port->mtu = dev->data->mtu;
	return 0;
}

/** Raise the netdev's MTU, which limits the frames that the port receives, and set the netdev up.
 * Without a netdev there is no such limit. */
static int
netdev_prepare(const struct rte_eth_dev *dev)
{
	const struct mdv_port *port = mdv_port(dev);
	const unsigned int ifindex = mdv_device_upper_netdev(&port->device);
	const char *ifname = port->device.ifname;
	uint16_t now;
	int ret;

	ret = mdv_netdev_get_mtu(ifindex, &now);
	if (ret == -ENODEV)
		return 0;
	/* Raise the MTU but never lower it: the kernel still uses the port. */
	if (ret == 0 && now < port->mtu)
		ret = mdv_netdev_set_mtu(ifindex, port->mtu);
	if (ret != 0) {
		MDV_LOG(ERR, "port %u: cannot raise the MTU of netdev %s to %u: %s",
			dev->data->port_id, ifname, port->mtu, strerror(-ret));
		return ret;
	}
	ret = mdv_netdev_set_up(ifindex, true);
	if (ret != 0)
		MDV_LOG(WARNING, "port %u: cannot bring netdev %s up: %s; there may be no link",
			dev->data->port_id, ifname, strerror(-ret));
	return 0;
}

static void
silence(struct rte_eth_dev *dev)
{
	dev->rx_pkt_burst = rte_eth_pkt_burst_dummy;
	dev->tx_pkt_burst = rte_eth_pkt_burst_dummy;
}

static bool
is_scattered(const struct rte_eth_dev *dev)
{
	struct rte_eth_rxq_info info;
	uint16_t i;

	for (i = 0; i < dev->data->nb_rx_queues; i++) {
		mdv_rxq_info_get((struct rte_eth_dev *)(uintptr_t)dev, i, &info);
		if (info.rx_buf_size < dev->data->mtu + MDV_FRAME_OVERHEAD)
			return true;
	}
	return false;
}

int
mdv_start_start(struct rte_eth_dev *dev)
{
	struct mdv_port *port = mdv_port(dev);
	int ret;

	ret = netdev_prepare(dev);
	if (ret != 0)
		return ret;
	/* After a reset the netdev lists nothing of this port; what it refuses now is logged. */
	(void)mdv_mac_netdev_list(dev);
	ret = mdv_queue_start_all(dev);
	if (ret != 0)
		return ret;
	dev->data->scattered_rx = is_scattered(dev);
	mdv_burst_select(dev);
	mdv_burst_log(dev);
	/* Packets arrive as soon as rules are installed. */
	mdv_stats_start(port);
	ret = mdv_flow_start(port);
	if (ret != 0)
		goto stop_queues;
	port->started = true;
	mdv_primary_start(port);
	mdv_event_start(port);
	return 0;

stop_queues:
	silence(dev);
	mdv_queue_stop_all(dev);
	mdv_stats_stop(port);
	return ret;
}

int
mdv_start_stop(struct rte_eth_dev *dev)
{
	struct mdv_port *port = mdv_port(dev);

	if (!port->started)
		return 0;
	port->started = false;
	mdv_primary_stop(port);
	mdv_flow_stop(port);
	silence(dev);
	mdv_queue_stop_all(dev);
	mdv_stats_stop(port);
	return 0;
}

int
mdv_start_mtu_set(struct rte_eth_dev *dev, uint16_t mtu)
{
	struct mdv_port *port = mdv_port(dev);
	const uint16_t before = port->mtu;
	uint16_t i;
	int ret;

	/* Queues of a stopped port may be set up anew before it starts, for which the application
	 * sets the MTU first (Open vSwitch does); the start checks those that it finds. */
	for (i = 0; port->started && i < dev->data->nb_rx_queues; i++) {
		ret = mdv_rxq_check_mtu(port, i, mtu);
		if (ret != 0)
			return ret;
	}
	/* Set port->mtu first: the netlink handler compares it with the netdev's new MTU to tell
	 * whether the change came from this port. */
	port->mtu = mtu;
	ret = mdv_netdev_set_mtu(mdv_device_upper_netdev(&port->device), mtu);
	if (ret != 0 && ret != -ENODEV) {
		port->mtu = before;
		MDV_LOG(ERR, "port %u: cannot set the MTU of netdev %s to %u: %s",
			dev->data->port_id, port->device.ifname, mtu, strerror(-ret));
		return ret;
	}
	return 0;
}
