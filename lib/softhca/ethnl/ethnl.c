/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests and answers of the family, as net/netlink/genetlink.c and lib/nlattr.c let them through
 * and net/ethtool/netlink.c makes them. */
#include "ethnl/ethnl.h"

#include <errno.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <stdlib.h>
#include <string.h>

#include "ethnl/call.h"
#include "ethnl/dump.h"
#include "ethnl/reply.h"
#include "nldev/nlmsg.h"
#include "nldev/owner.h"

#define FLAGS_BASIC (ETHTOOL_FLAG_COMPACT_BITSETS | ETHTOOL_FLAG_OMIT_REPLY)

static const uint8_t *
end_of(const struct nlmsghdr *message)
{
	return (const uint8_t *)message + message->nlmsg_len;
}

static bool
is_dump(const struct nlmsghdr *request)
{
	return (request->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
}

/** ethnl_header_policy, without what only newer kernels know: what does not fit is for the kernel.
 * @return whether the header is as it should be. */
static bool
read_header(const struct nlattr *header, uint32_t *index, const char **name, uint32_t *flags)
{
	const uint8_t *at = mnl_attr_get_payload(header);
	const uint8_t *end = at + mnl_attr_get_payload_len(header);
	const struct nlattr *attr;

	while ((attr = shca_ethnl_next(&at, end)) != NULL) {
		const uint16_t type = mnl_attr_get_type(attr);

		if (mnl_attr_validate(attr,
			    type == ETHTOOL_A_HEADER_DEV_NAME ? MNL_TYPE_NUL_STRING
							      : MNL_TYPE_U32) < 0)
			return false;
		if (type == ETHTOOL_A_HEADER_DEV_INDEX)
			*index = mnl_attr_get_u32(attr);
		else if (type == ETHTOOL_A_HEADER_DEV_NAME)
			*name = mnl_attr_get_str(attr);
		else if (type == ETHTOOL_A_HEADER_FLAGS)
			*flags = mnl_attr_get_u32(attr);
		else
			return false;
	}
	return at == end;
}

/** Find what a request is about: a netdev, unless it is for a dump. @return whether the device
 * answers. */
static bool
find_netdev(struct shca_ethnl_call *call, const struct shca_ethnl_message *row,
	const struct nlattr *header)
{
	const uint32_t allowed = FLAGS_BASIC | (row->has_stats ? ETHTOOL_FLAG_STATS : 0);
	const char *name = NULL;
	uint32_t index = 0;

	if ((header->nla_type & NLA_F_NESTED) == 0 ||
		!read_header(header, &index, &name, &call->flags) || (call->flags & ~allowed) != 0)
		return false;
	/* Whom a request for a dump names makes no difference (ethnl_default_start()). */
	if (is_dump(call->request))
		return true;
	/* A name may be another than the netdev's first. */
	call->index = index != 0 ? index : name != NULL ? if_nametoindex(name) : 0;
	if (call->index == 0 || if_indextoname(call->index, call->netdev) == NULL ||
		(index != 0 && name != NULL && strcmp(name, call->netdev) != 0))
		return false;
	return call->ethnl->owns(call->ethnl->arg, call->netdev);
}

/** The first attribute of @p type, or NULL. */
static const struct nlattr *
find_attr(const struct nlmsghdr *request, uint16_t type)
{
	const uint8_t *at = (const uint8_t *)request + SHCA_ETHNL_HEADER;
	const struct nlattr *attr;

	while ((attr = shca_ethnl_next(&at, end_of(request))) != NULL)
		if (mnl_attr_get_type(attr) == type)
			return attr;
	return NULL;
}

/** @return as shca_ethnl_answer(). */
static int
run(struct shca_ethnl_call *call, const struct shca_ethnl_message *row, void *bytes)
{
	int error = shca_ethnl_take(call, (const uint8_t *)call->request + SHCA_ETHNL_HEADER,
		call->request->nlmsg_len - SHCA_ETHNL_HEADER, &row->policy, call->attrs);
	int ret;

	if (error == 0 && row->reply != 0)
		call->reply = shca_reply_begin(call, bytes, row);
	if (error == 0)
		error = row->run(call);
	if (error == SHCA_NLDEV_KERNEL)
		return error;
	if (error == 0 && call->reply != NULL && !call->is_silent) {
		ret = shca_reply_send(call, call->reply);
		if (ret != 0)
			return ret;
	}
	return error != 0 || (call->request->nlmsg_flags & NLM_F_ACK) != 0
		? shca_reply_acknowledge(call, bytes, error)
		: 0;
}

int
shca_ethnl_answer(const struct shca_ethnl *ethnl, const void *bytes, size_t length)
{
	struct shca_ethnl_call call = { .ethnl = ethnl, .request = bytes };
	const struct shca_ethnl_message *row;
	const struct genlmsghdr *genl;
	const struct nlattr *header;
	void *room;
	int ret;

	if (!shca_nlmsg_ok(call.request, (int)length) ||
		call.request->nlmsg_len < SHCA_ETHNL_HEADER ||
		call.request->nlmsg_len > SHCA_REPLY_MAX / 2 ||
		call.request->nlmsg_type != ethnl->family ||
		(call.request->nlmsg_flags & NLM_F_REQUEST) == 0)
		return SHCA_NLDEV_KERNEL;
	genl = mnl_nlmsg_get_payload(call.request);
	row = shca_ethnl_find(genl->cmd);
	if (row == NULL || (row->is_privileged && !ethnl->is_admin))
		return SHCA_NLDEV_KERNEL;
	header = find_attr(call.request, row->header);
	if (header == NULL ? !is_dump(call.request) : !find_netdev(&call, row, header))
		return SHCA_NLDEV_KERNEL;
	room = malloc(SHCA_REPLY_MAX);
	if (room == NULL)
		return -ENOMEM;
	ret = is_dump(call.request) ? shca_dump_run(&call, row, room) : run(&call, row, room);
	free(room);
	return ret;
}
