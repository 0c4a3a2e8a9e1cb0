/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethnl/reply.h"

#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <string.h>

#include "ethnl/call.h"
#include "ethnl/ethnl.h"

static void
put_header(struct nlmsghdr *message, const struct shca_ethnl_call *call, uint16_t type)
{
	struct nlattr *nest = mnl_attr_nest_start(message, type);

	mnl_attr_put_u32(message, ETHTOOL_A_HEADER_DEV_INDEX, call->index);
	mnl_attr_put_strz(message, ETHTOOL_A_HEADER_DEV_NAME, call->netdev);
	mnl_attr_nest_end(message, nest);
}

/** The padding of attributes is 0 (Linux nla_reserve()), which libmnl leaves to its caller. */
static struct nlmsghdr *
begin(const struct shca_ethnl_call *call, void *bytes, uint16_t type)
{
	struct nlmsghdr *message;

	memset(bytes, 0, SHCA_REPLY_MAX);
	message = mnl_nlmsg_put_header(bytes);
	message->nlmsg_type = type;
	message->nlmsg_seq = call->request->nlmsg_seq;
	message->nlmsg_pid = call->ethnl->portid;
	return message;
}

/** ethnl_reply_init() */
struct nlmsghdr *
shca_reply_begin(
	const struct shca_ethnl_call *call, void *bytes, const struct shca_ethnl_message *row)
{
	struct nlmsghdr *message = begin(call, bytes, call->ethnl->family);
	struct genlmsghdr *genl = mnl_nlmsg_put_extra_header(message, sizeof(*genl));

	genl->cmd = row->reply;
	genl->version = ETHTOOL_GENL_VERSION;
	put_header(message, call, row->header);
	return message;
}

int
shca_reply_send(const struct shca_ethnl_call *call, const struct nlmsghdr *message)
{
	return call->ethnl->send(call->ethnl->arg, message, message->nlmsg_len);
}

/** af_netlink.c netlink_ack(): an error carries the request, unless the socket asked for less, and
 * why, if it asked for that. */
int
shca_reply_acknowledge(const struct shca_ethnl_call *call, void *bytes, int error)
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
	return shca_reply_send(call, message);
}
