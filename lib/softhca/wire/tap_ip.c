/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/tap_ip.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <linux/if_addr.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include <libmnl/libmnl.h>

#define IPV4_BYTES 4

/** @return whether it is an address of one of both families. */
static bool
put_ip(uint8_t ip[SHCA_IP_BYTES], const struct nlattr *attr)
{
	static const uint8_t mapped[SHCA_IP_BYTES] = { [10] = 0xff, 0xff };
	const uint16_t bytes = mnl_attr_get_payload_len(attr);

	if (bytes != IPV4_BYTES && bytes != SHCA_IP_BYTES)
		return false;
	memcpy(ip, mapped, sizeof(mapped));
	memcpy(ip + SHCA_IP_BYTES - bytes, mnl_attr_get_payload(attr), bytes);
	return true;
}

/** IFA_LOCAL is the address where the netdev has a peer's, too; IPv6 has no other than IFA_ADDRESS
 * else (Linux inet_fill_ifaddr(), inet6_fill_ifaddr()). */
static void
append_address(struct shca_tap_ips *ips, const struct nlmsghdr *message, unsigned int ifindex)
{
	const struct ifaddrmsg *address = mnl_nlmsg_get_payload(message);
	uint8_t ip[SHCA_IP_BYTES];
	bool has_local = false, has_ip = false;
	struct nlattr *attr;

	if (message->nlmsg_type != RTM_NEWADDR ||
		mnl_nlmsg_get_payload_len(message) < sizeof(*address) ||
		address->ifa_index != ifindex || ips->nb == SHCA_NETDEV_IPS_MAX)
		return;
	mnl_attr_for_each (attr, message, sizeof(*address)) {
		const uint16_t type = mnl_attr_get_type(attr);

		if (type != IFA_LOCAL && (type != IFA_ADDRESS || has_local))
			continue;
		has_local = type == IFA_LOCAL;
		has_ip = put_ip(ip, attr);
	}
	if (has_ip)
		memcpy(ips->ip[ips->nb++], ip, sizeof(ip));
}

int
shca_tap_read_ips(int fd, unsigned int ifindex, struct shca_tap_ips *ips)
{
	const struct {
		struct nlmsghdr head;
		struct ifaddrmsg address;
	} request = {
		.head = { .nlmsg_len = sizeof(request),
			.nlmsg_type = RTM_GETADDR,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		.address = { .ifa_family = AF_UNSPEC },
	};
	_Alignas(struct nlmsghdr) char messages[16384];

	ips->nb = 0;
	if (send(fd, &request, sizeof(request), 0) != (ssize_t)sizeof(request))
		return -errno;
	for (;;) {
		const struct nlmsghdr *message = (const void *)messages;
		int left = (int)recv(fd, messages, sizeof(messages), MSG_DONTWAIT);

		if (left < 0)
			return -errno;
		for (; mnl_nlmsg_ok(message, left); message = mnl_nlmsg_next(message, &left)) {
			if (message->nlmsg_type == NLMSG_DONE)
				return 0;
			if (message->nlmsg_type == NLMSG_ERROR)
				return -EPROTO;
			append_address(ips, message, ifindex);
		}
	}
}
