/* SPDX-License-Identifier: BSD-3-Clause */
/* The link is up if the verbs device port and the netdev are. */
#include <errno.h>
#include <unistd.h>

#include <ethdev_driver.h>

#include "base/log.h"
#include "kernel/netdev.h"
#include "link.h"
#include "state/port.h"

/** A waiting link query looks this many times more, a tenth of a second apart. */
#define LINK_TRIES    10
#define LINK_PAUSE_US 100000

/** The fastest lane that struct ibv_port_attr has a code for: NDR. */
#define LANE_MAX_MBPS 100000u

/** @return whether verbs may report the speed for want of a code for another one. */
static bool
may_be_another(uint32_t speed)
{
	return speed == RTE_ETH_SPEED_NUM_2_5G || speed == RTE_ETH_SPEED_NUM_40G ||
		speed % LANE_MAX_MBPS == 0;
}

/** @return whether it reports @p speed for the netdev's. */
static bool
is_for(uint32_t speed, uint32_t netdev_speed)
{
	/* mlx5_ib has 1X SDR for both (Linux translate_eth_ext_proto_oper()). */
	if (speed == RTE_ETH_SPEED_NUM_2_5G)
		return netdev_speed == RTE_ETH_SPEED_NUM_1G ||
			netdev_speed == RTE_ETH_SPEED_NUM_100M;
	/* mlx5_ib has 4X QDR for each mode that its table lacks, and mlx5e's table has more modes:
	 * 400 Gbit/s over eight lanes, those of newer cards (Linux mlx5_query_port_roce()). 0 is a
	 * code of verbs that this driver does not know. */
	if (speed == RTE_ETH_SPEED_NUM_40G || speed == 0)
		return true;
	/* uverbs has NDR for faster lanes (Linux copy_port_attr_to_resp()), which are XDR. */
	return netdev_speed == 2 * speed;
}

int
mdv_link_query(const struct mdv_port *port, bool *up, uint32_t *speed)
{
	uint32_t netdev_speed;
	bool is_netdev_up;
	int ret;

	if (port->event.removed) {
		*up = false;
		*speed = 0;
		return 0;
	}
	ret = mdv_device_query_link(&port->device, up, speed);
	if (ret != 0)
		return ret;
	/* A netdev that is set down takes the port down, but maybe a moment later. */
	if (mdv_netdev_get_up(mdv_device_upper_netdev(&port->device), &is_netdev_up) == 0)
		*up &= is_netdev_up;
	if (may_be_another(*speed) &&
		mdv_netdev_get_speed(port->device.ifindex, &netdev_speed) == 0 &&
		is_for(*speed, netdev_speed))
		*speed = netdev_speed;
	return 0;
}

int
mdv_link_update(struct rte_eth_dev *dev, int wait)
{
	const struct mdv_port *port = mdv_port(dev);
	struct rte_eth_link link = {
		.link_duplex = RTE_ETH_LINK_FULL_DUPLEX,
		.link_autoneg = (dev->data->dev_conf.link_speeds & RTE_ETH_LINK_SPEED_FIXED) == 0,
	};
	unsigned int tries = wait ? LINK_TRIES : 0;
	uint32_t speed;
	bool up;
	int ret = mdv_link_query(port, &up, &speed);

	while (ret == 0 && !up && tries-- != 0) {
		usleep(LINK_PAUSE_US);
		ret = mdv_link_query(port, &up, &speed);
	}
	/* If the query fails, the link status stays as it was. */
	if (ret != 0)
		return ret;
	link.link_status = up ? RTE_ETH_LINK_UP : RTE_ETH_LINK_DOWN;
	if (up)
		link.link_speed = speed != 0 ? speed : RTE_ETH_SPEED_NUM_UNKNOWN;
	return rte_eth_linkstatus_set(dev, &link);
}

/** The link goes up and down with the netdev's administrative state. */
static int
set_link(struct rte_eth_dev *dev, bool up)
{
	const struct mdv_port *port = mdv_port(dev);
	int ret = mdv_netdev_set_up(mdv_device_upper_netdev(&port->device), up);

	if (ret == -ENODEV) {
		MDV_LOG(ERR, "port %u: no netdev here to set %s", dev->data->port_id,
			up ? "up" : "down");
		return -ENOTSUP;
	}
	if (ret != 0)
		MDV_LOG(ERR, "port %u: cannot set netdev %s %s: %s", dev->data->port_id,
			port->device.ifname, up ? "up" : "down", rte_strerror(-ret));
	return ret;
}

int
mdv_link_set_up(struct rte_eth_dev *dev)
{
	return set_link(dev, true);
}

int
mdv_link_set_down(struct rte_eth_dev *dev)
{
	return set_link(dev, false);
}
