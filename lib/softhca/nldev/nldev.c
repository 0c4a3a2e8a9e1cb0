/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests and answers of netlink, as core/netlink.c and af_netlink.c exchange them. */
#include "nldev/nldev.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <linux/capability.h>

#include "abi/core/caps.h"
#include "nldev/call.h"
#include "nldev/commands.h"
#include "nldev/nlmsg.h"

/** A datagram in the making. */
struct datagram {
	const struct shca_nldev *nldev;
	size_t length;
	uint8_t bytes[SHCA_NLDEV_DATAGRAM_MAX];
};

static int
flush(struct datagram *datagram)
{
	const size_t length = datagram->length;

	datagram->length = 0;
	if (length == 0)
		return 0;
	return datagram->nldev->send(datagram->nldev->arg, datagram->bytes, length);
}

/** Begin a message; a datagram that may be too full for it goes first. The padding of attributes is
 * 0 (Linux nla_reserve()), which libmnl leaves to its caller. */
static int
begin(struct datagram *datagram, const struct nlmsghdr *request, uint16_t type, uint16_t flags,
	struct nlmsghdr **message)
{
	int ret = 0;

	if (sizeof(datagram->bytes) - datagram->length < SHCA_NLDEV_MESSAGE_MAX)
		ret = flush(datagram);
	memset(datagram->bytes + datagram->length, 0, SHCA_NLDEV_MESSAGE_MAX);
	*message = mnl_nlmsg_put_header(datagram->bytes + datagram->length);
	(*message)->nlmsg_type = type;
	(*message)->nlmsg_flags = flags;
	(*message)->nlmsg_seq = request->nlmsg_seq;
	(*message)->nlmsg_pid = datagram->nldev->portid;
	return ret;
}

static void
end(struct datagram *datagram, const struct nlmsghdr *message)
{
	datagram->length += MNL_ALIGN(message->nlmsg_len);
}

/** af_netlink.c netlink_ack(): an error carries the whole request, success its header. */
static int
acknowledge(struct datagram *datagram, const struct nlmsghdr *request, int error)
{
	const size_t left = SHCA_NLDEV_MESSAGE_MAX - MNL_NLMSG_HDRLEN - sizeof(struct nlmsgerr);
	const size_t payload = error != 0 ? mnl_nlmsg_get_payload_len(request) : 0;
	const bool capped = error == 0 || payload > left;
	struct nlmsghdr *message;
	struct nlmsgerr *answer;
	int ret = begin(datagram, request, NLMSG_ERROR, capped ? NLM_F_CAPPED : 0, &message);

	if (ret != 0)
		return ret;
	answer = mnl_nlmsg_put_extra_header(
		message, sizeof(*answer) + (capped ? 0 : MNL_ALIGN(payload)));
	answer->error = error;
	memcpy(&answer->msg, request, sizeof(answer->msg));
	if (!capped)
		memcpy(answer + 1, mnl_nlmsg_get_payload(request), payload);
	end(datagram, message);
	return flush(datagram);
}

/** nldev.c nldev_policy: how long an attribute of a request is at least; strings end. */
static int
take_attr(const struct nlattr *attr, void *arg)
{
	struct shca_nldev_call *call = arg;
	const uint16_t type = mnl_attr_get_type(attr);

	if (type >= RDMA_NLDEV_ATTR_MAX)
		return MNL_CB_OK;
	switch (type) {
	case RDMA_NLDEV_ATTR_DEV_INDEX:
	case RDMA_NLDEV_ATTR_PORT_INDEX:
	case RDMA_NLDEV_ATTR_RES_PDN:
	case RDMA_NLDEV_ATTR_RES_CQN:
	case RDMA_NLDEV_ATTR_RES_LQPN:
	case RDMA_NLDEV_ATTR_RES_MRN:
	case RDMA_NLDEV_ATTR_RES_CTXN:
	case RDMA_NLDEV_ATTR_RES_SRQN:
	case RDMA_NLDEV_ATTR_RES_CM_IDN:
	case RDMA_NLDEV_ATTR_STAT_RES:
	case RDMA_NLDEV_ATTR_STAT_MODE:
	case RDMA_NLDEV_ATTR_STAT_AUTO_MODE_MASK:
	case RDMA_NLDEV_ATTR_STAT_COUNTER_ID:
		if (mnl_attr_validate(attr, MNL_TYPE_U32) < 0)
			return MNL_CB_ERROR;
		break;
	case RDMA_NLDEV_ATTR_CHARDEV_TYPE:
		if (mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) < 0)
			return MNL_CB_ERROR;
		break;
	default:
		break;
	}
	call->attrs[type] = attr;
	return MNL_CB_OK;
}

static int
run_doit(struct datagram *datagram, struct shca_nldev_call *call,
	const struct shca_nldev_command *command)
{
	int ret = begin(datagram, call->request,
		RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command->doit_answers_as), 0, &call->message);

	if (ret == 0)
		ret = command->doit(call);
	if (ret != 0)
		return ret;
	end(datagram, call->message);
	return flush(datagram);
}

/** af_netlink.c netlink_dump(): an error of the first message ends the dump, as its result does. */
static int
run_dump(struct datagram *datagram, struct shca_nldev_call *call,
	const struct shca_nldev_command *command)
{
	const uint16_t type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command->dump_answers_as);
	struct nlmsghdr *message;
	int ret;

	for (unsigned int index = 0;; index++) {
		ret = begin(datagram, call->request, type, NLM_F_MULTI, &call->message);
		if (ret != 0)
			return ret;
		ret = command->dump(call, index);
		if (ret <= 0)
			break;
		end(datagram, call->message);
	}
	if (begin(datagram, call->request, NLMSG_DONE, NLM_F_MULTI, &message) != 0)
		return -ENOBUFS;
	memcpy(mnl_nlmsg_put_extra_header(message, sizeof(ret)), &ret, sizeof(ret));
	end(datagram, message);
	return flush(datagram);
}

static int
run_either(struct datagram *datagram, struct shca_nldev_call *call, bool is_dump)
{
	const struct shca_nldev_command *command =
		&shca_nldev_commands[RDMA_NL_GET_OP(call->request->nlmsg_type)];

	if (is_dump)
		return command->dump != NULL ? run_dump(datagram, call, command) : -EINVAL;
	return command->doit != NULL ? run_doit(datagram, call, command) : 0;
}

/** core/netlink.c rdma_nl_rcv_msg(). @return 0 or a negative errno for the answer. */
static int
run(struct datagram *datagram, const struct nlmsghdr *request, bool *dumped)
{
	struct shca_nldev_call call = { .nldev = datagram->nldev, .request = request };
	const unsigned int op = RDMA_NL_GET_OP(request->nlmsg_type);
	int ret;

	if (RDMA_NL_GET_CLIENT(request->nlmsg_type) != RDMA_NL_NLDEV || op >= RDMA_NLDEV_NUM_OPS)
		return -EINVAL;
	if (shca_nldev_commands[op].doit == NULL && shca_nldev_commands[op].dump == NULL)
		return -EINVAL;
	if (shca_nldev_commands[op].is_privileged && !shca_caps_has(CAP_NET_ADMIN))
		return -EPERM;
	/* Not mnl_attr_parse(), which reads on to where the next message begins. */
	if (mnl_attr_parse_payload(mnl_nlmsg_get_payload(request),
		    mnl_nlmsg_get_payload_len(request), take_attr, &call) < 0)
		return -EINVAL;
	*dumped = (request->nlmsg_flags & NLM_F_DUMP) != 0;
	ret = run_either(datagram, &call, *dumped);
	free(call.objects);
	free(call.qps);
	free(call.cm_ids);
	return ret;
}

int
shca_nldev_answer(const struct shca_nldev *nldev, const void *bytes, size_t length)
{
	struct datagram *datagram = malloc(sizeof(*datagram));
	const struct nlmsghdr *request = bytes;
	int left = (int)length, ret = 0;

	if (datagram == NULL)
		return -ENOMEM;
	datagram->nldev = nldev;
	datagram->length = 0;
	for (; ret == 0 && shca_nlmsg_ok(request, left); request = mnl_nlmsg_next(request, &left)) {
		bool dumped = false;
		int error = 0;

		if ((request->nlmsg_flags & NLM_F_REQUEST) != 0 &&
			request->nlmsg_type >= NLMSG_MIN_TYPE)
			error = run(datagram, request, &dumped);
		datagram->length = error != 0 ? 0 : datagram->length;
		if (error != 0 || ((request->nlmsg_flags & NLM_F_ACK) != 0 && !dumped))
			ret = acknowledge(datagram, request, error);
	}
	free(datagram);
	return ret;
}
