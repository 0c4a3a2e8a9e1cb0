/* SPDX-License-Identifier: BSD-3-Clause */
/* Gets notifications about netdevs from rtnetlink's group of links. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include "base/log.h"
#include "netdev.h"
#include "netlink.h"
#include "state/port.h"

/** A longer message is cut; only its beginning is read. */
#define MESSAGE_BYTES 8192

int
mdv_netlink_open(void)
{
	const struct sockaddr_nl links = { .nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK };
	int fd, ret;

	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
	if (fd < 0)
		return -errno;
	if (bind(fd, (const struct sockaddr *)&links, sizeof(links)) == 0)
		return fd;
	ret = -errno;
	close(fd);
	return ret;
}

static bool
mentions(struct nlmsghdr *message, size_t length, const struct mdv_device *device)
{
	const struct ifinfomsg *link = NLMSG_DATA(message);

	if (length < NLMSG_LENGTH(sizeof(*link)))
		return false;
	/* Messages of this type from bridges and others have fewer attributes; none is read here.
	 */
	return (message->nlmsg_type == RTM_NEWLINK || message->nlmsg_type == RTM_DELLINK) &&
		(link->ifi_index == (int)device->ifindex ||
			link->ifi_index == (int)mdv_device_upper_netdev(device));
}

bool
mdv_netlink_read(int fd, const struct mdv_device *device)
{
	_Alignas(struct nlmsghdr) char message[MESSAGE_BYTES];
	bool is_news = false;
	ssize_t length;

	/* One notification a datagram. After an overflow recv() fails once with ENOBUFS. */
	do {
		length = recv(fd, message, sizeof(message), MSG_DONTWAIT);
		is_news |= length < 0 ? errno == ENOBUFS
				      : mentions((void *)message, (size_t)length, device);
	} while (length > 0 || (length < 0 && (errno == ENOBUFS || errno == EINTR)));
	return is_news;
}

/** Follow the netdev's name, and its removal. @return whether the netdev exists. */
static bool
look_for_it(struct mdv_port *port)
{
	struct mdv_device *device = &port->device;
	char name[IF_NAMESIZE];
	int ret = mdv_netdev_get_name(device->ifindex, name);

	if (ret == -ENODEV) {
		MDV_LOG(WARNING,
			"port %u: netdev %s is gone, deleted or moved to another network namespace: the port goes on without it, until it is reset or probed again",
			port->dev->data->port_id, device->ifname);
		/* A later netdev with this index may be another one, so forget the index. */
		device->ifindex = 0;
		device->ifname[0] = '\0';
		return false;
	}
	if (ret == 0 && strcmp(name, device->ifname) != 0) {
		MDV_LOG(NOTICE, "port %u: netdev %s is called %s now", port->dev->data->port_id,
			device->ifname, name);
		memcpy(device->ifname, name, sizeof(name));
	}
	return ret == 0;
}

void
mdv_netlink_look(struct mdv_port *port, uint16_t *mtu)
{
	const uint16_t port_id = port->dev->data->port_id, before = *mtu;
	const char *ifname = port->device.ifname;

	if (port->device.ifindex == 0 || !look_for_it(port) ||
		mdv_netdev_get_mtu(port->device.ifindex, mtu) != 0 || *mtu == before ||
		!port->started)
		return;
	/* Equal MTUs: the port itself has set the netdev's. */
	if (*mtu < port->mtu)
		MDV_LOG(WARNING,
			"port %u: netdev %s has an MTU of %u now, and the port one of %u: the device drops what is longer than %u until the port's MTU is set or the port is started again",
			port_id, ifname, *mtu, port->mtu, *mtu);
	else if (*mtu > port->mtu)
		MDV_LOG(NOTICE,
			"port %u: netdev %s has an MTU of %u now, and the port one of %u: longer frames come in and may be lost for want of room",
			port_id, ifname, *mtu, port->mtu);
}
