/* SPDX-License-Identifier: BSD-3-Clause */
/* RTM_NEWNEIGH and RTM_DELNEIGH of a netdev's own lists (Linux ndo_dflt_fdb_add, ndo_dflt_fdb_del).
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include <rte_ether.h>

#include "fdb.h"

struct request {
	struct nlmsghdr head;
	struct ndmsg neighbour;
	struct rtattr attr;
	uint8_t mac[RTE_ETHER_ADDR_LEN];
	uint8_t padding[2];
};

/** Send the request and read the kernel's acknowledgement, which is there when send() returns. */
static int
talk(int fd, const struct request *request)
{
	struct {
		struct nlmsghdr head;
		struct nlmsgerr error;
		uint8_t rest[256]; /* the request, and the kernel's words to it */
	} answer;
	ssize_t length;

	if (send(fd, request, request->head.nlmsg_len, 0) < 0)
		return -errno;
	length = recv(fd, &answer, sizeof(answer), 0);
	if (length < 0)
		return -errno;
	if ((size_t)length < offsetof(typeof(answer), error.msg) ||
		answer.head.nlmsg_type != NLMSG_ERROR)
		return -EBADMSG;
	return answer.error.error;
}

static int
change(unsigned int ifindex, const struct rte_ether_addr *mac, uint16_t type, uint16_t flags)
{
	struct request request = {
		.head = { .nlmsg_len = sizeof(request),
			.nlmsg_type = type,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags },
		.neighbour = { .ndm_family = PF_BRIDGE,
			.ndm_ifindex = (int)ifindex,
			.ndm_state = NUD_NOARP | NUD_PERMANENT,
			.ndm_flags = NTF_SELF },
		.attr = { .rta_len = RTA_LENGTH(RTE_ETHER_ADDR_LEN), .rta_type = NDA_LLADDR },
	};
	int fd, ret;

	if (ifindex == 0)
		return -ENODEV;
	memcpy(request.mac, mac->addr_bytes, sizeof(request.mac));
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (fd < 0)
		return -errno;
	ret = talk(fd, &request);
	close(fd);
	return ret;
}

int
mdv_fdb_add(unsigned int ifindex, const struct rte_ether_addr *mac)
{
	/* With NLM_F_EXCL the kernel says EEXIST, from which the owner of an address is known. */
	return change(ifindex, mac, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_EXCL);
}

int
mdv_fdb_remove(unsigned int ifindex, const struct rte_ether_addr *mac)
{
	return change(ifindex, mac, RTM_DELNEIGH, 0);
}
