/* SPDX-License-Identifier: BSD-3-Clause */
/* The way from a netdev to another host: its route, and the MAC of the next hop, as Linux
 * core/addr.c addr_resolve() finds them. */
#include "wire/tap_ip.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include <libmnl/libmnl.h>

#define IPV4_BYTES  4
#define MAC_BYTES   6
#define ANSWER_MAX  8192
#define REQUEST_MAX 256
/** Neighbours whose MAC is known, whether or not it was confirmed lately (Linux NUD_VALID). */
#define HAS_MAC (NUD_PERMANENT | NUD_NOARP | NUD_REACHABLE | NUD_PROBE | NUD_STALE | NUD_DELAY)

union request {
	struct nlmsghdr head;
	char room[REQUEST_MAX];
};

union answer {
	struct nlmsghdr head;
	char room[ANSWER_MAX];
};

static bool
is_ipv4(const uint8_t ip[SHCA_IP_BYTES])
{
	static const uint8_t mapped[SHCA_IP_BYTES - IPV4_BYTES] = { [10] = 0xff, 0xff };

	return memcmp(ip, mapped, sizeof(mapped)) == 0;
}

static bool
is_link_local(const uint8_t ip[SHCA_IP_BYTES])
{
	return ip[0] == 0xfe && (ip[1] & 0xc0) == 0x80;
}

static uint8_t
family_of(const uint8_t ip[SHCA_IP_BYTES])
{
	return is_ipv4(ip) ? AF_INET : AF_INET6;
}

static void
put_ip(struct nlmsghdr *head, uint16_t type, const uint8_t ip[SHCA_IP_BYTES])
{
	if (is_ipv4(ip))
		mnl_attr_put(head, type, IPV4_BYTES, ip + SHCA_IP_BYTES - IPV4_BYTES);
	else
		mnl_attr_put(head, type, SHCA_IP_BYTES, ip);
}

/** Of 4 or 16 bytes; others leave @p ip as it is. */
static void
get_ip(const void *bytes, size_t length, uint8_t ip[SHCA_IP_BYTES])
{
	if (length != IPV4_BYTES && length != SHCA_IP_BYTES)
		return;
	memset(ip, 0, SHCA_IP_BYTES);
	if (length == IPV4_BYTES)
		ip[10] = ip[11] = 0xff;
	memcpy(ip + SHCA_IP_BYTES - length, bytes, length);
}

/** Send a request and read its one answer. @return 0, the errno that it tells, or -EPROTO. */
static int
ask(int fd, struct nlmsghdr *head, union answer *answer)
{
	const struct nlmsgerr *error;
	int length;

	if (send(fd, head, head->nlmsg_len, 0) != (ssize_t)head->nlmsg_len)
		return -EPROTO;
	length = (int)recv(fd, answer, sizeof(*answer), MSG_DONTWAIT);
	if (length < 0 || !mnl_nlmsg_ok(&answer->head, length))
		return -EPROTO;
	if (answer->head.nlmsg_type != NLMSG_ERROR)
		return 0;
	if (mnl_nlmsg_get_payload_len(&answer->head) < sizeof(*error))
		return -EPROTO;
	error = mnl_nlmsg_get_payload(&answer->head);
	return error->error;
}

struct hop {
	uint8_t ip[SHCA_IP_BYTES];
	unsigned int ifindex;
};

/** RTA_VIA: a router of another family (Linux struct rtvia). */
static void
read_via(const struct nlattr *attr, struct hop *hop)
{
	const struct rtvia *via = mnl_attr_get_payload(attr);

	if (mnl_attr_get_payload_len(attr) > sizeof(*via))
		get_ip(via->rtvia_addr, mnl_attr_get_payload_len(attr) - sizeof(*via), hop->ip);
}

static void
read_route(const union answer *answer, struct hop *hop, struct shca_way *way)
{
	struct nlattr *attr;

	mnl_attr_for_each (attr, &answer->head, sizeof(struct rtmsg))
		switch (mnl_attr_get_type(attr)) {
		case RTA_GATEWAY:
			get_ip(mnl_attr_get_payload(attr), mnl_attr_get_payload_len(attr), hop->ip);
			break;
		case RTA_VIA:
			read_via(attr, hop);
			break;
		case RTA_PREFSRC:
			get_ip(mnl_attr_get_payload(attr), mnl_attr_get_payload_len(attr),
				way->source);
			break;
		case RTA_OIF:
			hop->ifindex = mnl_attr_get_u32(attr);
			break;
		}
}

/** @param hop its address is that of the other side, and becomes the router's */
static int
find_route(int fd, unsigned int ifindex, bool is_bound, struct hop *hop, struct shca_way *way)
{
	union request request = { 0 };
	struct nlmsghdr *head = mnl_nlmsg_put_header(request.room);
	struct rtmsg *route = mnl_nlmsg_put_extra_header(head, sizeof(*route));
	union answer answer;
	int ret;

	head->nlmsg_type = RTM_GETROUTE;
	head->nlmsg_flags = NLM_F_REQUEST;
	route->rtm_family = family_of(hop->ip);
	route->rtm_dst_len = is_ipv4(hop->ip) ? 32 : 128;
	put_ip(head, RTA_DST, hop->ip);
	if (is_bound || is_link_local(hop->ip))
		mnl_attr_put_u32(head, RTA_OIF, ifindex);
	ret = ask(fd, head, &answer);
	if (ret != 0)
		return ret;
	if (mnl_nlmsg_get_payload_len(&answer.head) < sizeof(*route))
		return -EPROTO;
	read_route(&answer, hop, way);
	return hop->ifindex == ifindex ? 0 : -ENETUNREACH;
}

static struct nlmsghdr *
neighbour_request(union request *request, uint16_t type, const struct hop *hop)
{
	struct nlmsghdr *head = mnl_nlmsg_put_header(request->room);
	struct ndmsg *neighbour = mnl_nlmsg_put_extra_header(head, sizeof(*neighbour));

	head->nlmsg_type = type;
	head->nlmsg_flags = NLM_F_REQUEST;
	neighbour->ndm_family = family_of(hop->ip);
	neighbour->ndm_ifindex = (int)hop->ifindex;
	put_ip(head, NDA_DST, hop->ip);
	return head;
}

/** @return whether the neighbour's MAC is known. */
static bool
read_neighbour(const union answer *answer, uint8_t mac[MAC_BYTES])
{
	const struct ndmsg *neighbour = mnl_nlmsg_get_payload(&answer->head);
	struct nlattr *attr;

	if (mnl_nlmsg_get_payload_len(&answer->head) < sizeof(*neighbour) ||
		(neighbour->ndm_state & HAS_MAC) == 0)
		return false;
	mnl_attr_for_each (attr, &answer->head, sizeof(*neighbour))
		if (mnl_attr_get_type(attr) == NDA_LLADDR &&
			mnl_attr_get_payload_len(attr) == MAC_BYTES) {
			memcpy(mac, mnl_attr_get_payload(attr), MAC_BYTES);
			return true;
		}
	return false;
}

/** NTF_USE has Linux ask for it, by ARP or neighbour discovery (neigh_add(), neigh_event_send()).
 */
static int
start_to_ask(int fd, const struct hop *hop)
{
	union request request = { 0 };
	struct nlmsghdr *head = neighbour_request(&request, RTM_NEWNEIGH, hop);
	struct ndmsg *neighbour = mnl_nlmsg_get_payload(head);
	union answer answer;
	int ret;

	head->nlmsg_flags |= NLM_F_CREATE | NLM_F_ACK;
	neighbour->ndm_flags = NTF_USE;
	ret = ask(fd, head, &answer);
	return ret == 0 ? -EINPROGRESS : ret;
}

int
shca_tap_find_way(int fd, unsigned int ifindex, const uint8_t to[SHCA_IP_BYTES], bool is_bound,
	struct shca_way *way)
{
	struct hop hop = { 0 };
	union request request = { 0 };
	union answer answer;
	int ret;

	memset(way, 0, sizeof(*way));
	memcpy(hop.ip, to, sizeof(hop.ip));
	ret = find_route(fd, ifindex, is_bound, &hop, way);
	if (ret != 0)
		return ret;
	ret = ask(fd, neighbour_request(&request, RTM_GETNEIGH, &hop), &answer);
	if (ret == 0 && read_neighbour(&answer, way->mac))
		return 0;
	return ret == 0 || ret == -ENOENT ? start_to_ask(fd, &hop) : ret;
}
