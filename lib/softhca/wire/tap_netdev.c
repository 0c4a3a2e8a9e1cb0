/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Creates and configures the netdev of a TAP. */
#include "wire/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/ethtool.h>
#include <linux/if_arp.h>
#include <linux/if_tun.h>
#include <linux/sockios.h>
#include "base/log.h"

#define TUN_NODE "/dev/net/tun"

/** @return why /dev/net/tun cannot be opened, and the remedy. */
static const char *
explain_open(int error)
{
	switch (error) {
	case ENOENT:
	case ENODEV:
	case ENXIO:
		return " (is the kernel module tun loaded?)";
	case EACCES:
	case EPERM:
		return " (read and write permission on the node is needed)";
	default:
		return "";
	}
}

static const char *
explain_attach(int error)
{
	switch (error) {
	case EPERM:
		return " (needs CAP_NET_ADMIN, or a TAP made for this user: ip tuntap add mode tap user)";
	case EBUSY:
		return " (another program is attached to it)";
	case EINVAL:
		return " (a netdev of that name exists and is no single-queue TAP)";
	default:
		return "";
	}
}

int
shca_tap_attach(const char *name, bool *created)
{
	struct ifreq ifr = { .ifr_flags = IFF_TAP | IFF_NO_PI };
	int fd, ret;

	if (name[0] == '\0' || strlen(name) >= IFNAMSIZ || strpbrk(name, "/% \t:") != NULL) {
		SHCA_ERR("tap: '%s' is no interface name (1 to %d characters)", name, IFNAMSIZ - 1);
		return -EINVAL;
	}
	*created = if_nametoindex(name) == 0;
	fd = open(TUN_NODE, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0) {
		ret = -errno;
		SHCA_ERR("tap:%s: cannot open " TUN_NODE ": %s%s", name, strerror(-ret),
			explain_open(-ret));
		return ret;
	}
	strcpy(ifr.ifr_name, name);
	if (ioctl(fd, TUNSETIFF, &ifr) != 0) {
		ret = -errno;
		SHCA_ERR("tap:%s: cannot attach: %s%s", name, strerror(-ret), explain_attach(-ret));
		close(fd);
		return ret;
	}
	return fd;
}

static bool
is_tap_fd(int fd)
{
	struct ifreq ifr = { 0 };

	return ioctl(fd, TUNGETIFF, &ifr) == 0 && (ifr.ifr_flags & IFF_TAP) != 0;
}

/** Copy the runner's descriptor by pidfd_getfd(). @return the copy, or -1. */
static int
fetch_fd(int fd)
{
	const char *runner = getenv(SHCA_TAP_ENV_RUNNER);
	int pid_fd, copy;

	if (runner == NULL || atoi(runner) <= 0)
		return -1;
	pid_fd = syscall(SYS_pidfd_open, atoi(runner), 0);
	if (pid_fd < 0)
		return -1;
	copy = syscall(SYS_pidfd_getfd, pid_fd, fd, 0);
	close(pid_fd);
	if (copy >= 0 && !is_tap_fd(copy)) {
		close(copy);
		return -1;
	}
	return copy;
}

int
shca_tap_adopt(const char *name, int fd)
{
	int copy = is_tap_fd(fd) ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : fetch_fd(fd);

	if (copy >= 0)
		return copy;
	SHCA_ERR(
		"tap:%s: descriptor %d, opened by the runner, did not reach this process: a program in between closed it (Python's subprocess: close_fds=False)",
		name, fd);
	return -EBADF;
}

/** Run an ioctl on the netdev @p name. */
static int
netdev_ioctl(const char *name, unsigned long request, struct ifreq *ifr, const char *what)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int ret = 0;

	strncpy(ifr->ifr_name, name, IFNAMSIZ - 1);
	if (fd < 0 || ioctl(fd, request, ifr) != 0) {
		ret = -errno;
		SHCA_ERR("tap:%s: cannot %s: %s", name, what, strerror(-ret));
	}
	if (fd >= 0)
		close(fd);
	return ret;
}

int
shca_tap_get_mac(const char *name, uint8_t mac[6])
{
	struct ifreq ifr = { 0 };
	int ret = netdev_ioctl(name, SIOCGIFHWADDR, &ifr, "read its address");

	if (ret == 0)
		memcpy(mac, ifr.ifr_hwaddr.sa_data, 6);
	return ret;
}

int
shca_tap_set_mac(const char *name, const uint8_t mac[6])
{
	struct ifreq ifr = { .ifr_hwaddr.sa_family = ARPHRD_ETHER };

	memcpy(ifr.ifr_hwaddr.sa_data, mac, 6);
	return netdev_ioctl(name, SIOCSIFHWADDR, &ifr, "set its address");
}

int
shca_tap_set_speed(const char *name, uint32_t speed_mbps)
{
	union {
		struct ethtool_link_settings link;
		/* Masks behind it: link_mode_masks_nwords is at most INT8_MAX. */
		uint8_t room[sizeof(struct ethtool_link_settings) +
			3 * INT8_MAX * sizeof(uint32_t)];
	} settings = { .link.cmd = ETHTOOL_GLINKSETTINGS };
	struct ifreq ifr = { .ifr_data = (char *)&settings };
	int ret;

	/* The first call returns the number of words of a mask, negated (linux/ethtool.h). */
	ret = netdev_ioctl(name, SIOCETHTOOL, &ifr, "ask for its link settings");
	if (ret != 0 || settings.link.link_mode_masks_nwords >= 0)
		return ret;
	settings.link.cmd = ETHTOOL_GLINKSETTINGS;
	settings.link.link_mode_masks_nwords = -settings.link.link_mode_masks_nwords;
	ret = netdev_ioctl(name, SIOCETHTOOL, &ifr, "ask for its link settings");
	if (ret != 0)
		return ret;
	settings.link.cmd = ETHTOOL_SLINKSETTINGS;
	settings.link.speed = speed_mbps;
	settings.link.duplex = DUPLEX_FULL;
	settings.link.autoneg = AUTONEG_DISABLE;
	return netdev_ioctl(name, SIOCETHTOOL, &ifr, "set its speed");
}
