/* SPDX-License-Identifier: BSD-3-Clause */
/* Local loopback: when a port loops, which frames, and who gets them. */
#include "hw/queue/loopback.h"

#include <string.h>

#include "hw/state/device.h"
#include "hw/state/tir.h"
#include "steering/match/parse.h"

#define MAC_BYTES 6

static void
update(struct shca_device *dev)
{
	/* A port of an e-switch's manager is a representor: its frames go to its function. */
	dev->loopback.is_on = dev->conf.nb_vports == 0 &&
		(dev->loopback.nb_domains > 1 || dev->loopback.nb_tirs != 0);
}

void
shca_loopback_count_domain(struct shca_device *dev, int change)
{
	dev->loopback.nb_domains += (uint32_t)change;
	update(dev);
}

void
shca_loopback_count_tir(struct shca_device *dev, int change)
{
	dev->loopback.nb_tirs += (uint32_t)change;
	update(dev);
}

static bool
is_multicast(const struct shca_packet *packet)
{
	return (packet->bytes[0] & 1) != 0;
}

/** @return whether it is in the list of the NIC vport context. */
static bool
is_own(const struct shca_device *dev, const uint8_t *mac)
{
	const struct shca_netdev *netdev = &dev->port[0].netdev;

	if (memcmp(mac, shca_own_mac(dev), MAC_BYTES) == 0)
		return true;
	for (unsigned int i = 0; i < netdev->nb_macs; i++)
		if (memcmp(mac, netdev->macs[i], MAC_BYTES) == 0)
			return true;
	return false;
}

enum shca_loopback
shca_loopback_of(const struct shca_device *dev, const struct shca_packet *packet)
{
	if (!dev->loopback.is_on)
		return SHCA_LOOPBACK_NONE;
	if (is_multicast(packet))
		return SHCA_LOOPBACK_BOTH;
	return is_own(dev, packet->bytes) ? SHCA_LOOPBACK_ONLY : SHCA_LOOPBACK_NONE;
}

bool
shca_loopback_takes(const struct shca_tir *tir, uint32_t tdn, const struct shca_packet *packet)
{
	if (tir->attr.tdn != tdn)
		return true;
	return is_multicast(packet) ? tir->attr.takes_own_multicast : tir->attr.takes_own_unicast;
}
