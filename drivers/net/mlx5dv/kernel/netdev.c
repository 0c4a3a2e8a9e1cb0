/* SPDX-License-Identifier: BSD-3-Clause */
/* Queries and sets the port's netdev, by ioctl. */
#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if_arp.h>

#include <rte_cycles.h>
#include <rte_ether.h>

#include "netdev.h"

/** Longest link mode mask that the kernel may ask for, in words; it uses 4 today. */
#define LINK_MODE_WORDS 32

/** While a netdev is renamed the kernel finds it by no name, until its readers have gone on
 * (net/core/dev.c dev_change_name(): synchronize_net()): some milliseconds, on a busy machine more.
 */
#define RENAME_TRIES    100
#define RENAME_PAUSE_US 1000

/** Get the present name. @return 0 or a negative errno */
static int
find_name(int fd, unsigned int ifindex, char name[IF_NAMESIZE])
{
	struct ifreq ifr = { .ifr_ifindex = (int)ifindex };

	if (ioctl(fd, SIOCGIFNAME, &ifr) != 0)
		return -errno;
	memcpy(name, ifr.ifr_name, IF_NAMESIZE);
	return 0;
}

/** @return whether the kernel finds a netdev by this name, be it detached or not. */
static bool
is_known(int fd, const char name[IF_NAMESIZE])
{
	struct ifreq ifr = { 0 };

	memcpy(ifr.ifr_name, name, IF_NAMESIZE);
	return ioctl(fd, SIOCGIFFLAGS, &ifr) == 0;
}

/** Open a socket for one request: requests are rare, and the namespace may change between them. */
static int
open_for(unsigned int ifindex)
{
	int fd;

	if (ifindex == 0)
		return -ENODEV;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	return fd >= 0 ? fd : -errno;
}

/** @param ifr in the end has the netdev's current name */
static int
request(unsigned int ifindex, unsigned long code, struct ifreq *ifr)
{
	char name[IF_NAMESIZE];
	int ret, fd = open_for(ifindex);
	bool was_known = false;

	if (fd < 0)
		return fd;
	ret = find_name(fd, ifindex, ifr->ifr_name);
	for (unsigned int i = 0; ret == 0; i++) {
		ret = ioctl(fd, code, ifr) < 0 ? -errno : 0;
		/* ENODEV is also the answer to a name that is no longer the netdev's, or not yet.
		 */
		if (ret != -ENODEV || i == RENAME_TRIES || find_name(fd, ifindex, name) != 0)
			break;
		/* Detached, by a reset for example: that answer stands. */
		if (was_known && strcmp(name, ifr->ifr_name) == 0)
			break;
		was_known = is_known(fd, name);
		if (!was_known)
			rte_delay_us_sleep(RENAME_PAUSE_US);
		memcpy(ifr->ifr_name, name, sizeof(ifr->ifr_name));
		ret = 0;
	}
	close(fd);
	return ret;
}

unsigned int
mdv_netdev_index(const char *ifname)
{
	return ifname[0] == '\0' ? 0 : if_nametoindex(ifname);
}

int
mdv_netdev_get_name(unsigned int ifindex, char name[IF_NAMESIZE])
{
	int ret, fd = open_for(ifindex);

	if (fd < 0)
		return fd;
	ret = find_name(fd, ifindex, name);
	close(fd);
	return ret;
}

int
mdv_netdev_get_mtu(unsigned int ifindex, uint16_t *mtu)
{
	struct ifreq ifr = { 0 };
	int ret;

	ret = request(ifindex, SIOCGIFMTU, &ifr);
	if (ret != 0)
		return ret;
	if (ifr.ifr_mtu < 0 || ifr.ifr_mtu > UINT16_MAX)
		return -ERANGE;
	*mtu = ifr.ifr_mtu;
	return 0;
}

int
mdv_netdev_set_mtu(unsigned int ifindex, uint16_t mtu)
{
	struct ifreq ifr = { .ifr_mtu = mtu };
	uint16_t now;
	int ret;

	ret = request(ifindex, SIOCSIFMTU, &ifr);
	if (ret != 0)
		return ret;
	/* If the MTU cannot be read back, trust the kernel's success. */
	return mdv_netdev_get_mtu(ifindex, &now) == 0 && now != mtu ? -EAGAIN : 0;
}

int
mdv_netdev_get_mac(unsigned int ifindex, struct rte_ether_addr *mac)
{
	struct ifreq ifr = { 0 };
	int ret;

	ret = request(ifindex, SIOCGIFHWADDR, &ifr);
	if (ret != 0)
		return ret;
	if (ifr.ifr_hwaddr.sa_family != ARPHRD_ETHER)
		return -EINVAL;
	memcpy(mac->addr_bytes, ifr.ifr_hwaddr.sa_data, RTE_ETHER_ADDR_LEN);
	return 0;
}

int
mdv_netdev_set_flags(
	unsigned int ifindex, unsigned int mask, unsigned int flags, unsigned int *before)
{
	struct ifreq ifr = { 0 };
	unsigned int wanted;
	int ret;

	ret = request(ifindex, SIOCGIFFLAGS, &ifr);
	if (ret != 0)
		return ret;
	*before = (unsigned short)ifr.ifr_flags & mask;
	wanted = ((unsigned short)ifr.ifr_flags & ~mask) | flags;
	if (*before == flags)
		return 0;
	ifr.ifr_flags = (short)wanted;
	return request(ifindex, SIOCSIFFLAGS, &ifr);
}

int
mdv_netdev_get_up(unsigned int ifindex, bool *up)
{
	struct ifreq ifr = { 0 };
	int ret;

	ret = request(ifindex, SIOCGIFFLAGS, &ifr);
	if (ret != 0)
		return ret;
	*up = (ifr.ifr_flags & IFF_UP) != 0;
	return 0;
}

int
mdv_netdev_set_up(unsigned int ifindex, bool up)
{
	struct ifreq ifr = { 0 };
	int ret;

	ret = request(ifindex, SIOCGIFFLAGS, &ifr);
	if (ret != 0)
		return ret;
	if (up == ((ifr.ifr_flags & IFF_UP) != 0))
		return 0;
	ifr.ifr_flags ^= IFF_UP;
	return request(ifindex, SIOCSIFFLAGS, &ifr);
}

int
mdv_netdev_ethtool(unsigned int ifindex, void *command)
{
	struct ifreq ifr = { .ifr_data = command };

	return request(ifindex, SIOCETHTOOL, &ifr);
}

int
mdv_netdev_get_speed(unsigned int ifindex, uint32_t *speed_mbps)
{
	union {
		struct ethtool_link_settings head;
		uint8_t room[sizeof(struct ethtool_link_settings) +
			3 * LINK_MODE_WORDS * sizeof(uint32_t)]; /* masks behind it */
	} link = { .head.cmd = ETHTOOL_GLINKSETTINGS };
	int ret;

	/* The first request only returns how many words the kernel has, as a negative number. */
	ret = mdv_netdev_ethtool(ifindex, &link);
	if (ret != 0)
		return ret;
	if (link.head.link_mode_masks_nwords >= 0 ||
		-link.head.link_mode_masks_nwords > LINK_MODE_WORDS)
		return -ENODATA;
	link.head.cmd = ETHTOOL_GLINKSETTINGS;
	link.head.link_mode_masks_nwords = -link.head.link_mode_masks_nwords;
	ret = mdv_netdev_ethtool(ifindex, &link);
	if (ret != 0)
		return ret;
	if (link.head.speed == 0 || link.head.speed == (uint32_t)SPEED_UNKNOWN)
		return -ENODATA;
	*speed_mbps = link.head.speed;
	return 0;
}
