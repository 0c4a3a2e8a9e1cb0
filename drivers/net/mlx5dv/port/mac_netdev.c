/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares what the port has with what it has put on the netdev, so any change is made the same
 * way, and may be made again. */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include <ethdev_driver.h>
#include <rte_malloc.h>

#include "base/log.h"
#include "flow/rule/flow_default.h"
#include "kernel/fdb.h"
#include "kernel/netdev.h"
#include "kernel/vf.h"
#include "mac_netdev.h"
#include "state/port.h"
#include "state/port_list.h"

/** Of what all ports have on their netdevs, addresses and flags: one gives to another. */
static pthread_mutex_t netdevs_lock = PTHREAD_MUTEX_INITIALIZER;

static bool
has(const struct mdv_mac_list *list, const struct rte_ether_addr *mac)
{
	for (uint32_t i = 0; i < list->nb; i++)
		if (rte_is_same_ether_addr(&list->macs[i], mac))
			return true;
	return false;
}

/** Find the addresses that the netdev has to list: all but its own, or without a switch none. */
static int
want(const struct rte_eth_dev *dev, const struct mdv_vf *vf, struct mdv_mac_list *wanted)
{
	const struct mdv_port *port = mdv_port(dev);
	const struct rte_ether_addr *macs = dev->data->mac_addrs;
	struct rte_ether_addr own;

	*wanted = (struct mdv_mac_list){ .nb = 0 };
	if (!mdv_vf_is_switched(vf))
		return 0;
	wanted->macs = rte_malloc("mdv_listed", (MDV_MAC_MAX + port->nb_mc) * sizeof(own), 0);
	if (wanted->macs == NULL)
		return -ENOMEM;
	if (mdv_netdev_get_mac(port->device.ifindex, &own) != 0)
		memset(&own, 0, sizeof(own));
	for (uint32_t i = 0; i < MDV_MAC_MAX; i++)
		if (!rte_is_zero_ether_addr(&macs[i]) && !rte_is_same_ether_addr(&macs[i], &own) &&
			!has(wanted, &macs[i]))
			wanted->macs[wanted->nb++] = macs[i];
	for (uint32_t i = 0; i < port->nb_mc; i++)
		if (!has(wanted, &port->mc_list[i]))
			wanted->macs[wanted->nb++] = port->mc_list[i];
	return 0;
}

static int
add(const struct rte_eth_dev *dev, const struct mdv_vf *vf, const struct rte_ether_addr *mac)
{
	const struct mdv_device *device = &mdv_port(dev)->device;
	int ret = mdv_fdb_add(device->ifindex, mac);

	if (ret == 0 || ret == -EEXIST || ret == -ENODEV)
		return ret;
	if (!vf->is_vf)
		MDV_LOG(WARNING,
			"port %u: netdev %s does not list " RTE_ETHER_ADDR_PRT_FMT
			", so what virtual functions of %s send to that address may not get here, nor what is for a group that they have: %s%s",
			dev->data->port_id, device->ifname, RTE_ETHER_ADDR_BYTES(mac), device->name,
			strerror(-ret), ret == -EPERM ? " (takes CAP_NET_ADMIN)" : "");
	else
		MDV_LOG(ERR,
			"port %u: netdev %s does not list " RTE_ETHER_ADDR_PRT_FMT
			", so the card gives nothing for that address to its virtual function %s: %s%s",
			dev->data->port_id, device->ifname, RTE_ETHER_ADDR_BYTES(mac), device->name,
			strerror(-ret), ret == -EPERM ? " (takes CAP_NET_ADMIN)" : "");
	return ret;
}

static bool
are_of_one_netdev(const struct mdv_port *port, const struct mdv_port *other)
{
	return other != port && port->device.ifindex != 0 &&
		other->device.ifindex == port->device.ifindex;
}

static bool
takes(const struct mdv_port *port, const struct rte_ether_addr *mac)
{
	const struct mdv_mac_list own = { port->dev->data->mac_addrs, MDV_MAC_MAX };

	return has(&own, mac) || mdv_flow_default_has_group(port, mac);
}

static bool
append(struct mdv_mac_list *list, const struct rte_ether_addr *mac)
{
	struct rte_ether_addr *macs = rte_realloc(list->macs, (list->nb + 1) * sizeof(*macs), 0);

	if (macs == NULL)
		return false;
	list->macs = macs;
	macs[list->nb++] = *mac;
	return true;
}

/** Leave the address to another port of the netdev, which found it there. @return whether there is
 * such a port */
static bool
hand_over_mac(const struct mdv_port *port, const struct rte_ether_addr *mac)
{
	bool is_taken = false;

	for (uint32_t i = 0; i < RTE_MAX_ETHPORTS && !is_taken; i++) {
		struct mdv_port *other = mdv_port_list_hold(i);

		if (other == NULL)
			continue;
		is_taken = are_of_one_netdev(port, other) && takes(other, mac) &&
			append(&other->listed, mac);
		mdv_port_list_release();
	}
	return is_taken;
}

static void
remove_one(const struct mdv_port *port, const struct rte_ether_addr *mac)
{
	int ret = hand_over_mac(port, mac) ? 0 : mdv_fdb_remove(port->device.ifindex, mac);

	if (ret != 0 && ret != -ENOENT && ret != -ENODEV)
		MDV_LOG(WARNING, "port %u: netdev %s keeps " RTE_ETHER_ADDR_PRT_FMT ": %s",
			port->dev->data->port_id, port->device.ifname, RTE_ETHER_ADDR_BYTES(mac),
			strerror(-ret));
}

static void
forget(struct mdv_port *port)
{
	rte_free(port->listed.macs);
	port->listed = (struct mdv_mac_list){ .nb = 0 };
}

/** Reduce @p wanted to the addresses that are this port's on the netdev. On a failure the ones that
 * are there so far remain: the next call removes what nobody wants. */
static int
list(const struct rte_eth_dev *dev, const struct mdv_vf *vf, struct mdv_mac_list *wanted)
{
	const struct mdv_port *port = mdv_port(dev);
	const uint32_t nb_wanted = wanted->nb;
	int ret = 0;

	wanted->nb = 0;
	for (uint32_t i = 0; i < nb_wanted; i++) {
		const struct rte_ether_addr mac = wanted->macs[i];
		bool is_ours = has(&port->listed, &mac);

		if (!is_ours && ret == 0) {
			ret = add(dev, vf, &mac);
			is_ours = ret == 0;
			/* Another's, or of a netdev that is gone, as kernel/netlink.c says. */
			ret = ret == -EEXIST || ret == -ENODEV || !vf->is_vf ? 0 : ret;
		}
		if (is_ours)
			wanted->macs[wanted->nb++] = mac;
	}
	return ret;
}

/** The lock is held. */
static int
list_again(struct rte_eth_dev *dev)
{
	struct mdv_port *port = mdv_port(dev);
	struct mdv_mac_list wanted;
	struct mdv_vf vf;
	int ret;

	mdv_vf_query(&port->device, &vf);
	if (port->device.ifindex == 0) {
		forget(port);
		return 0;
	}
	ret = want(dev, &vf, &wanted);
	if (ret != 0)
		return ret;
	ret = list(dev, &vf, &wanted);
	for (uint32_t i = 0; i < port->listed.nb; i++)
		if (!has(&wanted, &port->listed.macs[i]))
			remove_one(port, &port->listed.macs[i]);
	forget(port);
	port->listed = wanted;
	return ret;
}

int
mdv_mac_netdev_list(struct rte_eth_dev *dev)
{
	int ret;

	pthread_mutex_lock(&netdevs_lock);
	ret = list_again(dev);
	pthread_mutex_unlock(&netdevs_lock);
	return ret;
}

/** @return flags of the modes that the port is in */
static unsigned int
modes_of(const struct mdv_port *port)
{
	const struct rte_eth_dev_data *data = port->dev->data;

	return (data->promiscuous ? IFF_PROMISC : 0) | (data->all_multicast ? IFF_ALLMULTI : 0);
}

/**
 * Several ports may share the netdev, and the first that is in a mode has set it. Leave it to
 * another one that is: that takes it back then.
 * @return the flags that no other port needs
 */
static unsigned int
hand_over(const struct mdv_port *port, unsigned int flags)
{
	for (uint32_t i = 0; i < RTE_MAX_ETHPORTS && flags != 0; i++) {
		struct mdv_port *other = mdv_port_list_hold(i);

		if (other == NULL)
			continue;
		if (are_of_one_netdev(port, other)) {
			const unsigned int taken = flags & modes_of(other);

			__atomic_fetch_or(&other->netdev_flags, taken, __ATOMIC_RELAXED);
			flags &= ~taken;
		}
		mdv_port_list_release();
	}
	return flags;
}

/** The lock is held. */
static void
follow(struct rte_eth_dev *dev, unsigned int flag, bool on)
{
	struct mdv_port *port = mdv_port(dev);
	unsigned int before = 0;
	struct mdv_vf vf;
	int ret;

	if (on == ((port->netdev_flags & flag) != 0))
		return;
	mdv_vf_query(&port->device, &vf);
	/* What was set goes also when the last virtual function is gone. */
	if (port->device.ifindex == 0 || (on && !mdv_vf_is_switched(&vf)))
		return;
	if (!on && hand_over(port, flag) == 0)
		ret = 0;
	else
		ret = mdv_netdev_set_flags(port->device.ifindex, flag, on ? flag : 0, &before);
	if (ret != 0)
		MDV_LOG(WARNING,
			"port %u: netdev %s does not change its mode, by which the switch of its card goes: %s",
			dev->data->port_id, port->device.ifname, strerror(-ret));
	else if (!on)
		__atomic_fetch_and(&port->netdev_flags, ~flag, __ATOMIC_RELAXED);
	else if (before == 0) /* a flag that was set before belongs to someone else */
		__atomic_fetch_or(&port->netdev_flags, flag, __ATOMIC_RELAXED);
}

void
mdv_mac_netdev_follow(struct rte_eth_dev *dev, unsigned int flag, bool on)
{
	pthread_mutex_lock(&netdevs_lock);
	follow(dev, flag, on);
	pthread_mutex_unlock(&netdevs_lock);
}

void
mdv_mac_netdev_release(struct mdv_port *port)
{
	unsigned int before, left;

	pthread_mutex_lock(&netdevs_lock);
	for (uint32_t i = 0; i < port->listed.nb; i++)
		remove_one(port, &port->listed.macs[i]);
	forget(port);
	left = hand_over(port, port->netdev_flags);
	if (left != 0)
		(void)mdv_netdev_set_flags(port->device.ifindex, left, 0, &before);
	port->netdev_flags = 0;
	pthread_mutex_unlock(&netdevs_lock);
}
