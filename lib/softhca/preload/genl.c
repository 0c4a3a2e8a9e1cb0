/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/genl.h"

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdint.h>
#include <string.h>

#include "preload/route.h"

#define FAMILY "ethtool"
#define HEADER (NLMSG_HDRLEN + GENL_HDRLEN)

/** @return where a request for the family's number has its name, or 0: it is none. */
static size_t
find_name(const uint8_t *bytes, size_t length)
{
	struct nlmsghdr message;
	struct genlmsghdr genl;
	struct nlattr attr;

	if (length < HEADER || length > SHCA_GENL_ROOM)
		return 0;
	memcpy(&message, bytes, sizeof(message));
	memcpy(&genl, bytes + NLMSG_HDRLEN, sizeof(genl));
	if (message.nlmsg_type != GENL_ID_CTRL || genl.cmd != CTRL_CMD_GETFAMILY)
		return 0;
	for (size_t at = HEADER; at + NLA_HDRLEN <= length; at += NLA_ALIGN(attr.nla_len)) {
		memcpy(&attr, bytes + at, sizeof(attr));
		if (attr.nla_len < NLA_HDRLEN || attr.nla_len > length - at)
			return 0;
		if (attr.nla_type == CTRL_ATTR_FAMILY_NAME &&
			attr.nla_len == NLA_HDRLEN + sizeof(FAMILY) &&
			memcmp(bytes + at + NLA_HDRLEN, FAMILY, sizeof(FAMILY)) == 0)
			return at + NLA_HDRLEN;
	}
	return 0;
}

const void *
shca_genl_screen(const struct sockaddr *address, socklen_t address_length, const void *bytes,
	size_t length, void *room)
{
	size_t name;

	if (address == NULL || address_length < sizeof(struct sockaddr_nl) ||
		address->sa_family != AF_NETLINK || !shca_route_is_active())
		return bytes;
	name = find_name(bytes, length);
	if (name == 0)
		return bytes;
	memcpy(room, bytes, length);
	((char *)room)[name] = '-';
	return room;
}
