/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes addresses and receive modes in the port's state, updates the default rules by it, and on
 * a failure restores the state. */
#include <errno.h>
#include <net/if.h>
#include <string.h>

#include <ethdev_driver.h>
#include <rte_malloc.h>

#include "base/log.h"
#include "flow/rule/flow_default.h"
#include "kernel/netdev.h"
#include "kernel/vf.h"
#include "mac.h"
#include "mac_netdev.h"
#include "state/port.h"

/** Get the MAC address from an EUI-64 interface identifier (RFC 4291 appendix A), which has ff:fe
 * in the middle and the universal/local bit inverted. */
static int
mac_of_gid(const union ibv_gid *gid, struct rte_ether_addr *mac)
{
	const uint8_t *eui = gid->raw + 8;

	if (eui[3] != 0xff || eui[4] != 0xfe)
		return -EINVAL;
	memcpy(mac->addr_bytes, eui, 3);
	memcpy(mac->addr_bytes + 3, eui + 5, 3);
	mac->addr_bytes[0] ^= RTE_ETHER_LOCAL_ADMIN_ADDR;
	return rte_is_valid_assigned_ether_addr(mac) ? 0 : -EINVAL;
}

static int
mac_of_port(const struct mdv_port *port, struct rte_ether_addr *mac)
{
	const struct mdv_device *device = &port->device;
	union ibv_gid gid;

	if (mdv_netdev_get_mac(device->ifindex, mac) == 0)
		return 0;
	if (ibv_query_gid(device->ctx, device->port_num, 0, &gid) == 0 &&
		mac_of_gid(&gid, mac) == 0)
		return 0;
	MDV_LOG(ERR, "%s: no MAC address: there is no netdev here, and GID 0 holds none",
		device->name);
	return -ENODEV;
}

int
mdv_mac_init(struct rte_eth_dev *dev)
{
	struct rte_ether_addr *macs;
	int ret;

	macs = rte_zmalloc("mdv_macs", MDV_MAC_MAX * sizeof(*macs), 0);
	if (macs == NULL)
		return -ENOMEM;
	ret = mac_of_port(mdv_port(dev), &macs[0]);
	if (ret != 0) {
		rte_free(macs);
		return ret;
	}
	/* rte_eth_dev_release_port() frees it. */
	dev->data->mac_addrs = macs;
	return 0;
}

/** Warn if the switch in front of a virtual function knows another address for it. */
static void
warn_of_mac(const struct rte_eth_dev *dev, const struct rte_ether_addr *mac)
{
	const struct mdv_port *port = mdv_port(dev);
	struct rte_ether_addr known;
	struct mdv_vf vf;

	mdv_vf_query(&port->device, &vf);
	if (vf.is_vf && mac_of_port(port, &known) == 0)
		mdv_vf_check_mac(dev, &vf, &known, mac);
}

/** Warn if the groups cannot be listed for that switch. */
static void
warn_of_groups(const struct rte_eth_dev *dev)
{
	struct mdv_vf vf;

	mdv_vf_query(&mdv_port(dev)->device, &vf);
	if (vf.is_vf)
		mdv_vf_check_groups(dev);
}

/** Update what goes by the port's addresses. On a failure the caller takes its change back, and
 * calls mdv_mac_netdev_list() again. */
static int
addresses_update(struct rte_eth_dev *dev)
{
	int ret = mdv_mac_netdev_list(dev);

	return ret != 0 ? ret : mdv_flow_default_update(mdv_port(dev));
}

int
mdv_mac_add(struct rte_eth_dev *dev, struct rte_ether_addr *mac, uint32_t idx,
	__rte_unused uint32_t pool)
{
	struct rte_ether_addr *slot, before;
	int ret;

	if (idx >= MDV_MAC_MAX) {
		MDV_LOG(ERR, "port %u: MAC address %u of at most %u", dev->data->port_id, idx,
			MDV_MAC_MAX);
		return -EINVAL;
	}
	slot = &dev->data->mac_addrs[idx];
	before = *slot;
	*slot = *mac;
	ret = addresses_update(dev);
	if (ret != 0) {
		*slot = before;
		(void)mdv_mac_netdev_list(dev);
		return ret;
	}
	warn_of_mac(dev, mac);
	return 0;
}

int
mdv_mac_set(struct rte_eth_dev *dev, struct rte_ether_addr *mac)
{
	return mdv_mac_add(dev, mac, 0, 0);
}

void
mdv_mac_remove(struct rte_eth_dev *dev, uint32_t idx)
{
	if (idx >= MDV_MAC_MAX)
		return;
	memset(&dev->data->mac_addrs[idx], 0, sizeof(dev->data->mac_addrs[idx]));
	/* ethdev forgets the address in any case; the failing function logs a failure. */
	mdv_flow_default_update(mdv_port(dev));
	(void)mdv_mac_netdev_list(dev);
}

int
mdv_mac_set_mc_list(struct rte_eth_dev *dev, struct rte_ether_addr *list, uint32_t nb)
{
	struct mdv_port *port = mdv_port(dev);
	struct rte_ether_addr *before = port->mc_list, *copy = NULL;
	uint32_t i, nb_before = port->nb_mc;
	int ret;

	for (i = 0; i < nb; i++) {
		if (!rte_is_multicast_ether_addr(&list[i])) {
			MDV_LOG(ERR, "port %u: " RTE_ETHER_ADDR_PRT_FMT " is no multicast address",
				dev->data->port_id, RTE_ETHER_ADDR_BYTES(&list[i]));
			return -EINVAL;
		}
	}
	if (nb != 0) {
		copy = rte_malloc("mdv_mc_list", nb * sizeof(*copy), 0);
		if (copy == NULL)
			return -ENOMEM;
		memcpy(copy, list, nb * sizeof(*copy));
	}
	mdv_flow_default_set_groups(port, copy, nb);
	ret = addresses_update(dev);
	if (ret != 0) {
		mdv_flow_default_set_groups(port, before, nb_before);
		rte_free(copy);
		(void)mdv_mac_netdev_list(dev);
		return ret;
	}
	rte_free(before);
	if (nb != 0)
		warn_of_groups(dev);
	return 0;
}

/* The default rules are computed from these two flags, so the driver sets them before it updates
 * the rules; ethdev sets them again after the operation. */

static int
promiscuous_set(struct rte_eth_dev *dev, uint8_t on)
{
	uint8_t before = dev->data->promiscuous;
	int ret;

	dev->data->promiscuous = on;
	ret = mdv_flow_default_update(mdv_port(dev));
	if (ret != 0)
		dev->data->promiscuous = before;
	return ret;
}

static int
allmulticast_set(struct rte_eth_dev *dev, uint8_t on)
{
	uint8_t before = dev->data->all_multicast;
	int ret;

	dev->data->all_multicast = on;
	ret = mdv_flow_default_update(mdv_port(dev));
	if (ret != 0)
		dev->data->all_multicast = before;
	return ret;
}

int
mdv_mac_promiscuous_enable(struct rte_eth_dev *dev)
{
	int ret = promiscuous_set(dev, 1);

	if (ret != 0)
		return ret;
	mdv_mac_netdev_follow(dev, IFF_PROMISC, true);
	mdv_vf_check_mode(dev, "promiscuous");
	return 0;
}

int
mdv_mac_promiscuous_disable(struct rte_eth_dev *dev)
{
	int ret = promiscuous_set(dev, 0);

	if (ret == 0)
		mdv_mac_netdev_follow(dev, IFF_PROMISC, false);
	return ret;
}

int
mdv_mac_allmulticast_enable(struct rte_eth_dev *dev)
{
	int ret = allmulticast_set(dev, 1);

	if (ret != 0)
		return ret;
	mdv_mac_netdev_follow(dev, IFF_ALLMULTI, true);
	mdv_vf_check_mode(dev, "allmulticast");
	return 0;
}

int
mdv_mac_allmulticast_disable(struct rte_eth_dev *dev)
{
	int ret = allmulticast_set(dev, 0);

	if (ret == 0)
		mdv_mac_netdev_follow(dev, IFF_ALLMULTI, false);
	return ret;
}
