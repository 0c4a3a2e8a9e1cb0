/* SPDX-License-Identifier: BSD-3-Clause */
/* RTM_GETLINK with the virtual functions, as "ip link show dev PF" asks for them. */
#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include "vf.h"
#include "vf_link.h"

/** 127 functions of a few hundred bytes each. */
#define ANSWER_BYTES 65536

/** @return the first attribute of @p type in @p length bytes, or NULL. The length is signed because
 * it becomes negative behind a last attribute without padding. */
static struct rtattr *
find(struct rtattr *attr, int length, unsigned short type)
{
	for (; RTA_OK(attr, length); attr = RTA_NEXT(attr, length))
		if ((attr->rta_type & NLA_TYPE_MASK) == type)
			return attr;
	return NULL;
}

/** Get one setting of a VF; its attribute begins with the VF's number. @return whether found. */
static bool
get_setting(struct rtattr *info, unsigned short type, unsigned int number, bool *setting)
{
	struct rtattr *attr = find(RTA_DATA(info), (int)RTA_PAYLOAD(info), type);
	struct ifla_vf_trust found;

	static_assert(sizeof(struct ifla_vf_trust) == sizeof(struct ifla_vf_spoofchk),
		"a number and a setting");
	if (attr == NULL || RTA_PAYLOAD(attr) < sizeof(found))
		return false;
	memcpy(&found, RTA_DATA(attr), sizeof(found));
	/* UINT32_MAX: the physical function's driver does not report the setting. */
	if (found.vf != number || found.setting > 1)
		return false;
	*setting = found.setting == 1;
	return true;
}

int
mdv_vf_link_parse(void *message, size_t length, struct mdv_vf *vf)
{
	struct nlmsghdr *head = message;
	struct rtattr *list, *info;
	int left;

	if (!NLMSG_OK(head, length))
		return -EBADMSG;
	if (head->nlmsg_type == NLMSG_ERROR) {
		const struct nlmsgerr *error = NLMSG_DATA(head);

		if (NLMSG_PAYLOAD(head, 0) < sizeof(*error) || error->error >= 0)
			return -EBADMSG;
		return error->error;
	}
	if (head->nlmsg_type != RTM_NEWLINK || NLMSG_PAYLOAD(head, 0) < sizeof(struct ifinfomsg))
		return -EBADMSG;
	list = find(IFLA_RTA(NLMSG_DATA(head)), (int)IFLA_PAYLOAD(head), IFLA_VFINFO_LIST);
	if (list == NULL)
		return -ENOENT;
	info = RTA_DATA(list);
	for (left = (int)RTA_PAYLOAD(list); RTA_OK(info, left); info = RTA_NEXT(info, left))
		if (get_setting(info, IFLA_VF_TRUST, vf->number, &vf->is_trusted) &&
			get_setting(info, IFLA_VF_SPOOFCHK, vf->number, &vf->checks_source))
			return 0;
	return -ENOENT;
}

int
mdv_vf_link_ask(unsigned int ifindex, struct mdv_vf *vf)
{
	struct {
		struct nlmsghdr head;
		struct ifinfomsg link;
		struct rtattr attr;
		uint32_t filter;
	} request = {
		.head = { .nlmsg_len = sizeof(request),
			.nlmsg_type = RTM_GETLINK,
			.nlmsg_flags = NLM_F_REQUEST },
		.link = { .ifi_family = AF_UNSPEC, .ifi_index = (int)ifindex },
		.attr = { .rta_len = RTA_LENGTH(sizeof(uint32_t)), .rta_type = IFLA_EXT_MASK },
		.filter = RTEXT_FILTER_VF,
	};
	ssize_t length;
	void *answer;
	int fd, ret;

	if (ifindex == 0)
		return -ENODEV;
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (fd < 0)
		return -errno;
	answer = malloc(ANSWER_BYTES);
	ret = answer == NULL ? -ENOMEM : 0;
	if (ret == 0 && send(fd, &request, sizeof(request), 0) != (ssize_t)sizeof(request))
		ret = -errno;
	if (ret == 0) {
		length = recv(fd, answer, ANSWER_BYTES, 0);
		ret = length < 0 ? -errno : mdv_vf_link_parse(answer, (size_t)length, vf);
	}
	free(answer);
	close(fd);
	return ret;
}
