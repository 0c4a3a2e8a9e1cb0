/* SPDX-License-Identifier: BSD-3-Clause */
/* The netdev of a port: a run leaves it as it was. */
#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"

/** What drivers have Linux change of a netdev: up while a port is started, and of a function what
 * its host has to know. Not all take it back. */
#define CHANGED_FLAGS (IFF_UP | IFF_PROMISC | IFF_ALLMULTI)

/** @return 0 or a negative errno */
static int
ask(unsigned int ifindex, unsigned long what, struct ifreq *request)
{
	int fd, ret;

	if (ifindex == 0 || if_indextoname(ifindex, request->ifr_name) == NULL)
		return -ENODEV;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	ret = ioctl(fd, what, request) == 0 ? 0 : -errno;
	close(fd);
	return ret;
}

void
check_netdev_remember(struct check_port *port)
{
	struct ifreq mtu = { 0 }, flags = { 0 };
	const unsigned int ifindex = port->info.if_index;

	port->netdev_mtu = ask(ifindex, SIOCGIFMTU, &mtu) == 0 ? mtu.ifr_mtu : 0;
	port->has_netdev_flags = ask(ifindex, SIOCGIFFLAGS, &flags) == 0;
	port->netdev_flags = flags.ifr_flags & CHANGED_FLAGS;
}

static void
restore_mtu(const struct check_port *port)
{
	struct ifreq request = { 0 };
	int ret = ask(port->info.if_index, SIOCGIFMTU, &request);

	/* One that has gone has nothing to be restored. */
	if (port->netdev_mtu == 0 || ret != 0 || request.ifr_mtu == port->netdev_mtu)
		return;
	request.ifr_mtu = port->netdev_mtu;
	ret = ask(port->info.if_index, SIOCSIFMTU, &request);
	if (ret != 0)
		fprintf(stderr, "mlx5dv-check: the MTU of %s was %d, and cannot be set back: %s\n",
			request.ifr_name, port->netdev_mtu, strerror(-ret));
}

void
check_netdev_restore(const struct check_port *port)
{
	struct ifreq request = { 0 };
	int ret = ask(port->info.if_index, SIOCGIFFLAGS, &request), flags;

	restore_mtu(port);
	/* A netdev that was up is the user's to set down. */
	flags = port->netdev_flags | (request.ifr_flags & ~CHANGED_FLAGS);
	if ((port->netdev_flags & IFF_UP) != 0 && (request.ifr_flags & IFF_UP) == 0)
		flags &= ~IFF_UP;
	if (!port->has_netdev_flags || ret != 0 || request.ifr_flags == (short)flags)
		return;
	request.ifr_flags = (short)flags;
	ret = ask(port->info.if_index, SIOCSIFFLAGS, &request);
	if (ret != 0)
		fprintf(stderr,
			"mlx5dv-check: %s was %s, %spromiscuous and %sfor all multicast, and cannot be set so again: %s\n",
			request.ifr_name, (flags & IFF_UP) != 0 ? "up" : "down",
			(flags & IFF_PROMISC) != 0 ? "" : "not ",
			(flags & IFF_ALLMULTI) != 0 ? "" : "not ", strerror(-ret));
}
