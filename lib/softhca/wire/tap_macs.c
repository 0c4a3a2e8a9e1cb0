/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Reads the addresses of a netdev, as "ip link" and "bridge fdb show" do. */
#include "wire/tap.h"

#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>

#include <libmnl/libmnl.h>

#define MAC_BYTES 6

static void
append(struct shca_tap_macs *macs, const void *mac)
{
	if (macs->nb < SHCA_NETDEV_MACS_MAX)
		memcpy(macs->mac[macs->nb++], mac, MAC_BYTES);
}

/** Append the address of a neighbour message, if it is one of the netdev's own lists: these have
 * NTF_SELF, those of a bridge above it have NTF_MASTER (Linux ndo_dflt_fdb_dump). */
static void
append_neighbour(struct shca_tap_macs *macs, const struct nlmsghdr *message, int ifindex)
{
	const struct ndmsg *neighbour = mnl_nlmsg_get_payload(message);
	struct nlattr *attr;

	if (message->nlmsg_type != RTM_NEWNEIGH ||
		mnl_nlmsg_get_payload_len(message) < sizeof(*neighbour) ||
		neighbour->ndm_ifindex != ifindex || (neighbour->ndm_flags & NTF_SELF) == 0)
		return;
	mnl_attr_for_each (attr, message, sizeof(*neighbour))
		if (mnl_attr_get_type(attr) == NDA_LLADDR &&
			mnl_attr_get_payload_len(attr) == MAC_BYTES)
			append(macs, mnl_attr_get_payload(attr));
}

/** @return 0: there are more messages; 1: these were the last; a negative errno. */
static int
read_messages(int fd, int ifindex, struct shca_tap_macs *macs)
{
	_Alignas(struct nlmsghdr) char messages[16384];
	const struct nlmsghdr *message = (const void *)messages;
	int left = (int)recv(fd, messages, sizeof(messages), MSG_DONTWAIT);

	if (left < 0)
		return -errno;
	for (; mnl_nlmsg_ok(message, left); message = mnl_nlmsg_next(message, &left)) {
		if (message->nlmsg_type == NLMSG_DONE || message->nlmsg_type == NLMSG_ERROR)
			return message->nlmsg_type == NLMSG_DONE ? 1 : -EPROTO;
		append_neighbour(macs, message, ifindex);
	}
	return 0;
}

/** Append both lists of the netdev, unicast and multicast. */
static int
append_lists(int fd, int ifindex, struct shca_tap_macs *macs)
{
	const struct {
		struct nlmsghdr head;
		struct ifinfomsg link;
	} request = {
		.head = { .nlmsg_len = sizeof(request),
			.nlmsg_type = RTM_GETNEIGH,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		.link = { .ifi_family = PF_BRIDGE, .ifi_index = ifindex },
	};
	int ret;

	if (send(fd, &request, sizeof(request), 0) != (ssize_t)sizeof(request))
		return -errno;
	do
		ret = read_messages(fd, ifindex, macs);
	while (ret == 0);
	return ret < 0 ? ret : 0;
}

int
shca_tap_read_macs(int fd, const char *name, struct shca_tap_macs *macs)
{
	static const uint8_t broadcast[MAC_BYTES] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	struct ifreq ifr = { 0 };

	macs->nb = 0;
	strncpy(ifr.ifr_name, name, IFNAMSIZ - 1);
	if (ioctl(fd, SIOCGIFHWADDR, &ifr) != 0)
		return -errno;
	append(macs, ifr.ifr_hwaddr.sa_data);
	append(macs, broadcast);
	if (ioctl(fd, SIOCGIFINDEX, &ifr) != 0)
		return -errno;
	return append_lists(fd, ifr.ifr_ifindex, macs);
}
