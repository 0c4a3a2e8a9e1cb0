/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens, configures, starts, stops, closes and resets a port: the order of the steps, and their
 * undoing in reverse. */
#include <errno.h>
#include <string.h>

#include <ethdev_driver.h>
#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_string_fns.h>

#include "base/log.h"
#include "burst/burst_select.h"
#include "dev.h"
#include "device/ring_memory.h"
#include "event.h"
#include "flow/flow.h"
#include "kernel/netdev.h"
#include "mac_netdev.h"
#include "mem/dm.h"
#include "mem/mr.h"
#include "mp/primary.h"
#include "queue.h"
#include "queue/rx/rxq.h"
#include "queue/tx/txq.h"
#include "reta.h"
#include "state/port.h"
#include "state/port_list.h"
#include "stats.h"
#include "vlan.h"
#include "xstats.h"

int
mdv_dev_open(struct rte_eth_dev *dev, const struct mdv_config *config)
{
	struct mdv_port *port = mdv_port(dev);
	int ret;

	port->dev = dev;
	mdv_queue_list_init(&port->queues);
	port->config = *config;
	port->rx_metadata = RTE_ETH_RX_METADATA_USER_FLAG | RTE_ETH_RX_METADATA_USER_MARK;
	ret = mdv_device_open(config, &port->device);
	if (ret != 0)
		return ret;
	if (port->device.numa_node != SOCKET_ID_ANY)
		dev->data->numa_node = port->device.numa_node;
	port->mr = mdv_mr_create(&port->device, dev->data->port_id);
	if (port->mr == NULL) {
		ret = -ENOMEM;
		goto close_device;
	}
	if (mdv_netdev_get_mtu(port->device.ifindex, &port->mtu) != 0)
		port->mtu = RTE_ETHER_MTU;
	mdv_xstats_init(port);
	ret = mdv_flow_init(port);
	if (ret != 0)
		goto destroy_mr;
	return 0;

destroy_mr:
	mdv_mr_destroy(port->mr);
close_device:
	mdv_device_close(&port->device);
	return ret;
}

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
mdv_dev_configure(struct rte_eth_dev *dev)
{
	struct mdv_port *port = mdv_port(dev);
	int ret;

	ret = check_conf(dev);
	if (ret != 0)
		return ret;
	ret = mdv_reta_configure(dev);
	/* Queues may stay as they were set up. */
	if (ret == 0)
		ret = mdv_vlan_offload_set(dev, RTE_ETH_VLAN_STRIP_MASK);
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
mdv_dev_start(struct rte_eth_dev *dev)
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
mdv_dev_stop(struct rte_eth_dev *dev)
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
mdv_dev_mtu_set(struct rte_eth_dev *dev, uint16_t mtu)
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

/** Undo mdv_dev_open() and the configuration. */
static void
close_port(struct rte_eth_dev *dev)
{
	struct mdv_port *port = mdv_port(dev);
	uint16_t i;

	mdv_flow_fini(port);
	mdv_mac_netdev_release(port);
	for (i = 0; i < dev->data->nb_rx_queues; i++)
		mdv_rxq_release(dev, i);
	for (i = 0; i < dev->data->nb_tx_queues; i++)
		mdv_txq_release(dev, i);
	/* What firmware refused to destroy when the port stopped; the last chance of its mbufs. */
	mdv_txq_destroy_parked(port);
	mdv_rxq_destroy_parked(port);
	rte_free(port->mc_list);
	port->mc_list = NULL;
	port->nb_mc = 0;
	mdv_dm_close(port);
	mdv_mr_destroy(port->mr);
	port->mr = NULL;
	mdv_device_close(&port->device);
}

int
mdv_dev_close(struct rte_eth_dev *dev)
{
	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return 0;
	mdv_dev_stop(dev);
	mdv_primary_close(mdv_port(dev));
	mdv_port_list_remove(mdv_port(dev));
	mdv_event_remove(mdv_port(dev));
	close_port(dev);
	dev->data->nb_rx_queues = 0;
	dev->data->nb_tx_queues = 0;
	return 0;
}

/** Keep the application's settings that ethdev does not restore; dev->data has the others. */
static void
keep_settings(struct mdv_port *before, struct mdv_port *after)
{
	after->isolated = before->isolated;
	/* That of the probe: a device that is gone comes back with the name that it had then. */
	after->config = before->config;
	/* Negotiated before the first configuration, and never again. */
	after->rx_metadata = before->rx_metadata;
	after->mc_list = before->mc_list;
	after->nb_mc = before->nb_mc;
	before->mc_list = NULL;
	before->nb_mc = 0;
}

/**
 * As the port was probed, but by the present name of its netdev: that may have been renamed, and
 * the name be another one's now. Without a netdev here, by the device, if that is not gone as well.
 */
static struct mdv_config
config_again(const struct mdv_port *before)
{
	const struct mdv_device *device = &before->device;
	struct mdv_config config = before->config;

	if (config.iface[0] == '\0')
		return config;
	if (device->ifname[0] != '\0') {
		rte_strscpy(config.iface, device->ifname, sizeof(config.iface));
	} else if (!before->event.removed) {
		config.iface[0] = '\0';
		rte_strscpy(config.ibdev, device->name, sizeof(config.ibdev));
		config.port = device->port_num;
	}
	return config;
}

int
mdv_dev_reset(struct rte_eth_dev *dev)
{
	struct mdv_port *before = mdv_port(dev), *after;
	struct mdv_config config;
	int ret;

	if (before->started) {
		MDV_LOG(ERR, "port %u: cannot be reset while it does not stop", dev->data->port_id);
		return -EBUSY;
	}
	after = mdv_ring_memory_alloc(
		"mdv_port", sizeof(*after), RTE_CACHE_LINE_SIZE, dev->data->numa_node);
	if (after == NULL)
		return -ENOMEM;
	/* Observing threads see either the port before or the port after. */
	mdv_port_list_remove(before);
	mdv_event_remove(before);
	config = config_again(before);
	/* Steps that may fail come first, while the old port is whole. */
	dev->data->dev_private = after;
	ret = mdv_dev_open(dev, &config);
	dev->data->dev_private = before;
	if (ret != 0) {
		MDV_LOG(ERR, "port %u: cannot be reset, its device does not open: %s",
			dev->data->port_id, rte_strerror(-ret));
		mdv_event_install(before);
		mdv_port_list_add(before);
		rte_free(after);
		return ret;
	}
	keep_settings(before, after);
	close_port(dev);
	after->primary = before->primary;
	dev->data->dev_private = after;
	rte_free(before);
	/* ethdev remembers that the device was removed, and makes EIO of each error then. */
	dev->state = RTE_ETH_DEV_ATTACHED;
	mdv_event_install(after);
	mdv_port_list_add(after);
	return 0;
}
