/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens, closes and resets the device and all else that does not depend on the configuration. */
#include <ethdev_driver.h>
#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_string_fns.h>

#include "base/log.h"
#include "device/ring_memory.h"
#include "event.h"
#include "flow/flow.h"
#include "kernel/netdev.h"
#include "mac_netdev.h"
#include "mem/dm.h"
#include "mem/mr.h"
#include "mp/primary.h"
#include "open.h"
#include "queue/rx/rxq.h"
#include "queue/tx/txq.h"
#include "start.h"
#include "state/port.h"
#include "state/port_list.h"
#include "xstats.h"

int
mdv_open_port(struct rte_eth_dev *dev, const struct mdv_config *config)
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

/** Undo mdv_open_port() and the configuration. */
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
mdv_open_close(struct rte_eth_dev *dev)
{
	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return 0;
	mdv_start_stop(dev);
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
mdv_open_reset(struct rte_eth_dev *dev)
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
	ret = mdv_open_port(dev, &config);
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
