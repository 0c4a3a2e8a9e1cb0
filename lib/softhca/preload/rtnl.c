/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/rtnl.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if_ether.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <libmnl/libmnl.h>

#include "nldev/drvinfo.h"
#include "nldev/nldev.h"
#include "nldev/nlmsg.h"
#include "nldev/owner.h"
#include "preload/bell.h"
#include "preload/kernel.h"
#include "preload/netlink.h"
#include "preload/route.h"

#define HEADER (NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(struct ifinfomsg)))

/** A request under way. */
struct asking {
	struct shca_bell *bell;
	int fd;
	uint32_t portid;
	const struct nlmsghdr *request;
	uint8_t address[ETH_ALEN]; /* permanent */
};

static int
read_name(const struct nlattr *attr, void *arg)
{
	const uint16_t type = mnl_attr_get_type(attr);

	if ((type == IFLA_IFNAME || type == IFLA_ALT_IFNAME) &&
		mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) == 0)
		*(const char **)arg = mnl_attr_get_str(attr);
	return MNL_CB_OK;
}

/** @return whether the request names a netdev. */
static bool
find_netdev(const struct nlmsghdr *request, char netdev[static IF_NAMESIZE])
{
	const struct ifinfomsg *info = mnl_nlmsg_get_payload(request);
	const char *name = NULL;
	unsigned int index;

	(void)mnl_attr_parse(request, sizeof(*info), read_name, &name);
	index = info->ifi_index > 0 ? (unsigned int)info->ifi_index
		: name != NULL      ? if_nametoindex(name)
				    : 0;
	return index != 0 && if_indextoname(index, netdev) != NULL;
}

/** Ask the device for its permanent address. @return whether it is one of ours that answers. */
static bool
find_address(const char *netdev, uint8_t address[static ETH_ALEN])
{
	struct shca_nldev nldev = { 0 };
	union {
		struct ethtool_perm_addr head;
		uint8_t room[sizeof(struct ethtool_perm_addr) + ETH_ALEN];
	} command = { .head = { ETHTOOL_GPERMADDR, ETH_ALEN } };

	if (shca_route_nldev(&nldev) != 0 || shca_drvinfo_own(&nldev, netdev) < 0)
		return false;
	if (shca_route_ask(&nldev, netdev, &command) != 0 || command.head.size != ETH_ALEN)
		return false;
	memcpy(address, command.head.data, ETH_ALEN);
	return true;
}

/** Pass a message of the kernel's on, a link with the address. */
static int
pass(void *arg, const struct nlmsghdr *message)
{
	const struct asking *asking = arg;
	const size_t length = NLMSG_ALIGN(message->nlmsg_len);
	const struct nlmsgerr *ack = mnl_nlmsg_get_payload(message);
	struct nlmsghdr *copy;
	int ret;

	if (message->nlmsg_type == NLMSG_ERROR && ack->error == 0 &&
		(asking->request->nlmsg_flags & NLM_F_ACK) == 0)
		return 0;
	copy = calloc(1, length + MNL_ATTR_HDRLEN + MNL_ALIGN(ETH_ALEN));
	if (copy == NULL)
		return -ENOMEM;
	memcpy(copy, message, message->nlmsg_len);
	copy->nlmsg_pid = asking->portid;
	if (message->nlmsg_type == NLMSG_ERROR)
		((struct nlmsgerr *)mnl_nlmsg_get_payload(copy))->msg = *asking->request;
	else if (message->nlmsg_type == RTM_NEWLINK)
		mnl_attr_put(copy, IFLA_PERM_ADDRESS, ETH_ALEN, asking->address);
	ret = shca_bell_ring(asking->bell, asking->fd, copy, copy->nlmsg_len);
	free(copy);
	return ret;
}

static int
ask_kernel(struct asking *asking)
{
	const struct shca_kernel_options options = shca_kernel_options(asking->fd);
	struct nlmsghdr *request = malloc(asking->request->nlmsg_len);
	int ret;

	if (request == NULL)
		return -ENOMEM;
	memcpy(request, asking->request, asking->request->nlmsg_len);
	request->nlmsg_flags |= NLM_F_ACK;
	ret = shca_kernel_ask(NETLINK_ROUTE, &options, request, pass, asking);
	free(request);
	return ret;
}

int
shca_rtnl_request(struct shca_bell *bell, int fd, const void *bytes, size_t length)
{
	struct asking asking = { .bell = bell, .fd = fd, .request = bytes };
	char netdev[IF_NAMESIZE];
	struct sockaddr_nl self;

	if (!shca_nlmsg_ok(asking.request, (int)length) || asking.request->nlmsg_len < HEADER ||
		NLMSG_ALIGN(asking.request->nlmsg_len) < length ||
		asking.request->nlmsg_type != RTM_GETLINK ||
		(asking.request->nlmsg_flags & NLM_F_REQUEST) == 0 ||
		(asking.request->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP ||
		!find_netdev(asking.request, netdev) || !find_address(netdev, asking.address) ||
		shca_netlink_address(fd, &self) != 0)
		return SHCA_NLDEV_KERNEL;
	asking.portid = self.nl_pid;
	return ask_kernel(&asking);
}
