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
#include "nldev/owner.h"

#define HEADER       (NLMSG_HDRLEN + GENL_HDRLEN)
#define DATAGRAM_MAX 32768 /* the features by name take 12 KiB */
#define FLAGS_BASIC  (ETHTOOL_FLAG_COMPACT_BITSETS | ETHTOOL_FLAG_OMIT_REPLY)

static const uint8_t *
end_of(const struct nlmsghdr *message)
{
	return (const uint8_t *)message + message->nlmsg_len;
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

/** Find the netdev that a request is about. @return whether the device answers. */
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
	const uint8_t *at = (const uint8_t *)request + HEADER;
	const struct nlattr *attr;

	while ((attr = shca_ethnl_next(&at, end_of(request))) != NULL)
		if (mnl_attr_get_type(attr) == type)
			return attr;
	return NULL;
}

static void
put_header(struct nlmsghdr *message, const struct shca_ethnl_call *call, uint16_t type)
{
	struct nlattr *nest = mnl_attr_nest_start(message, type);

	mnl_attr_put_u32(message, ETHTOOL_A_HEADER_DEV_INDEX, call->index);
	mnl_attr_put_strz(message, ETHTOOL_A_HEADER_DEV_NAME, call->netdev);
	mnl_attr_nest_end(message, nest);
}

static struct nlmsghdr *
begin(const struct shca_ethnl_call *call, void *bytes, uint16_t type)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(bytes);

	message->nlmsg_type = type;
	message->nlmsg_seq = call->request->nlmsg_seq;
	message->nlmsg_pid = call->ethnl->portid;
	return message;
}

/** ethnl_reply_init() */
static struct nlmsghdr *
begin_reply(const struct shca_ethnl_call *call, void *bytes, const struct shca_ethnl_message *row)
{
	struct nlmsghdr *message = begin(call, bytes, call->ethnl->family);
	struct genlmsghdr *genl = mnl_nlmsg_put_extra_header(message, sizeof(*genl));

	genl->cmd = row->reply;
	genl->version = ETHTOOL_GENL_VERSION;
	put_header(message, call, row->header);
	return message;
}

static int
send_one(const struct shca_ethnl_call *call, const struct nlmsghdr *message)
{
	return call->ethnl->send(call->ethnl->arg, message, message->nlmsg_len);
}

/** af_netlink.c netlink_ack(): an error carries the request, unless the socket asked for less, and
 * why, if it asked for that. */
static int
acknowledge(const struct shca_ethnl_call *call, void *bytes, int error)
{
	const bool is_capped = error == 0 || call->ethnl->caps_acks;
	const size_t payload = is_capped ? 0 : call->request->nlmsg_len - NLMSG_HDRLEN;
	struct nlmsghdr *message = begin(call, bytes, NLMSG_ERROR);
	struct nlmsgerr *answer =
		mnl_nlmsg_put_extra_header(message, sizeof(*answer) + MNL_ALIGN(payload));

	message->nlmsg_flags = is_capped ? NLM_F_CAPPED : 0;
	answer->error = error;
	memcpy(&answer->msg, call->request, sizeof(answer->msg));
	if (payload != 0)
		memcpy(answer + 1, mnl_nlmsg_get_payload(call->request), payload);
	if (error != 0 && call->ethnl->has_extack && call->why != NULL) {
		message->nlmsg_flags |= NLM_F_ACK_TLVS;
		mnl_attr_put_strz(message, NLMSGERR_ATTR_MSG, call->why);
		if (call->culprit != NULL)
			mnl_attr_put_u32(message, NLMSGERR_ATTR_OFFS,
				(uint32_t)((const uint8_t *)call->culprit -
					(const uint8_t *)call->request));
	}
	return send_one(call, message);
}

/** @return as shca_ethnl_answer(). */
static int
run(struct shca_ethnl_call *call, const struct shca_ethnl_message *row, void *bytes)
{
	int error = shca_ethnl_take(call, (const uint8_t *)call->request + HEADER,
		call->request->nlmsg_len - HEADER, &row->policy, call->attrs);
	int ret;

	if (error == 0 && row->reply != 0)
		call->reply = begin_reply(call, bytes, row);
	if (error == 0)
		error = row->run(call);
	if (error == SHCA_NLDEV_KERNEL)
		return error;
	if (error == 0 && call->reply != NULL && !call->is_silent) {
		ret = send_one(call, call->reply);
		if (ret != 0)
			return ret;
	}
	return error != 0 || (call->request->nlmsg_flags & NLM_F_ACK) != 0
		? acknowledge(call, bytes, error)
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

	if (!mnl_nlmsg_ok(call.request, (int)length) || call.request->nlmsg_len < HEADER ||
		call.request->nlmsg_len > DATAGRAM_MAX / 2 ||
		call.request->nlmsg_type != ethnl->family ||
		(call.request->nlmsg_flags & NLM_F_REQUEST) == 0 ||
		(call.request->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP)
		return SHCA_NLDEV_KERNEL;
	genl = mnl_nlmsg_get_payload(call.request);
	row = shca_ethnl_find(genl->cmd);
	if (row == NULL || (row->is_privileged && !ethnl->is_admin))
		return SHCA_NLDEV_KERNEL;
	header = find_attr(call.request, row->header);
	if (header == NULL || !find_netdev(&call, row, header))
		return SHCA_NLDEV_KERNEL;
	room = malloc(DATAGRAM_MAX);
	if (room == NULL)
		return -ENOMEM;
	ret = run(&call, row, room);
	free(room);
	return ret;
}
