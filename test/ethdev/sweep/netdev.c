/* SPDX-License-Identifier: BSD-3-Clause */
/* The netdev beside the port: a TAP, and a cable, which a TAP does not have. */
#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/ethtool.h>
#include <linux/sockios.h>

#include "sweep.h"

/** The name of the only statistic. */
#define STATISTIC "rx_packets_phy"

static struct ethtool_pauseparam pause_now = { .cmd = ETHTOOL_GPAUSEPARAM };

/** @return whether the cable answers the request. */
static bool
answer(void *data)
{
	struct ethtool_sset_info *set = data;
	struct ethtool_gstrings *names = data;
	struct ethtool_modinfo *module = data;
	struct ethtool_eeprom *eeprom = data;
	struct ethtool_stats *stats = data;

	switch (*(const uint32_t *)data) {
	case ETHTOOL_SPAUSEPARAM:
		pause_now = *(const struct ethtool_pauseparam *)data;
		pause_now.cmd = ETHTOOL_GPAUSEPARAM;
		return true;
	case ETHTOOL_GPAUSEPARAM:
		memcpy(data, &pause_now, sizeof(pause_now));
		return true;
	case ETHTOOL_GMODULEINFO:
		module->type = ETH_MODULE_SFF_8079;
		module->eeprom_len = ETH_MODULE_SFF_8079_LEN;
		return true;
	case ETHTOOL_GMODULEEEPROM:
		memset(eeprom->data, 0x5a, eeprom->len);
		return true;
	case ETHTOOL_GSSET_INFO:
		set->sset_mask = 1u << ETH_SS_STATS;
		set->data[0] = 1;
		return true;
	case ETHTOOL_GSTRINGS:
		memcpy(names->data, STATISTIC, sizeof(STATISTIC));
		return true;
	case ETHTOOL_GSTATS:
		stats->data[0] = 0;
		return true;
	default:
		return false;
	}
}

int
sweep_netdev_ioctl(int fd, unsigned long request, void *arg)
{
	if (request == SIOCETHTOOL && answer(((struct ifreq *)arg)->ifr_data))
		return 0;
	return ioctl(fd, request, arg);
}

void
sweep_netdev_look(unsigned int ifindex, struct sweep_netdev *netdev)
{
	const int fd = socket(AF_INET, SOCK_DGRAM, 0);
	struct ifreq ifr = { 0 };

	sweep_must(fd >= 0 && if_indextoname(ifindex, ifr.ifr_name) != NULL, "no netdev");
	sweep_must(ioctl(fd, SIOCGIFMTU, &ifr) == 0, "no MTU");
	netdev->mtu = ifr.ifr_mtu;
	sweep_must(ioctl(fd, SIOCGIFFLAGS, &ifr) == 0, "no flags");
	netdev->flags = ifr.ifr_flags & (IFF_UP | IFF_PROMISC | IFF_ALLMULTI);
	netdev->rx_pause = pause_now.rx_pause;
	netdev->tx_pause = pause_now.tx_pause;
	close(fd);
}
