/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethnl/dump.h"

#include <errno.h>
#include <linux/ethtool_netlink.h>
#include <stdlib.h>
#include <string.h>

#include "ethnl/call.h"
#include "ethnl/ethnl.h"
#include "ethnl/reply.h"
#include "nldev/owner.h"

/** Messages come together up to so many bytes: linux/netlink.h NLMSG_GOODSIZE where pages have
 * 4096, as many as libmnl reads there. */
#define BATCH_BYTES 3776u
#define NETDEVS_MAX 64

struct dump {
	struct shca_ethnl_call *call;
	const struct shca_ethnl_message *row;
	void *room;
	uint32_t seen[NETDEVS_MAX]; /* netdevs of ours that the kernel has told of */
	unsigned int nb_seen;
	size_t length; /* of the datagram in the making */
	_Alignas(8) uint8_t bytes[SHCA_REPLY_MAX];
};

static int
flush(struct dump *dump)
{
	const struct shca_ethnl *ethnl = dump->call->ethnl;
	const size_t length = dump->length;

	dump->length = 0;
	return length != 0 ? ethnl->send(ethnl->arg, dump->bytes, length) : 0;
}

static int
put(struct dump *dump, const struct nlmsghdr *message)
{
	const size_t length = NLMSG_ALIGN(message->nlmsg_len);
	struct nlmsghdr *copy;
	int ret = 0;

	if (dump->length != 0 && dump->length + length > BATCH_BYTES)
		ret = flush(dump);
	if (ret != 0)
		return ret;
	if (length > sizeof(dump->bytes))
		return -EMSGSIZE;
	copy = (void *)(dump->bytes + dump->length);
	memset((uint8_t *)copy + message->nlmsg_len, 0, length - message->nlmsg_len);
	memcpy(copy, message, message->nlmsg_len);
	copy->nlmsg_pid = dump->call->ethnl->portid;
	dump->length += length;
	return 0;
}

/** Put what the device says of its netdev @p index, or else what the kernel does, if anything. */
static int
put_ours(struct dump *dump, uint32_t index, const struct nlmsghdr *of_kernel)
{
	struct shca_ethnl_call *call = dump->call;
	int ret;

	call->index = index;
	call->reply = shca_reply_begin(call, dump->room, dump->row);
	call->reply->nlmsg_flags = NLM_F_MULTI;
	ret = dump->row->run(call);
	if (ret == SHCA_NLDEV_KERNEL)
		return of_kernel != NULL ? put(dump, of_kernel) : 0;
	/* ethnl_default_dump_one(): who has no answer is left out. */
	return ret == 0 ? put(dump, call->reply) : 0;
}

/** @return the number of the netdev that a message is about, or 0. */
static uint32_t
find_index(const struct nlmsghdr *message, uint16_t header)
{
	const uint8_t *at = (const uint8_t *)message + SHCA_ETHNL_HEADER;
	const uint8_t *end = (const uint8_t *)message + message->nlmsg_len;
	const struct nlattr *attr;

	if (message->nlmsg_len < SHCA_ETHNL_HEADER)
		return 0;
	while ((attr = shca_ethnl_next(&at, end)) != NULL && mnl_attr_get_type(attr) != header)
		;
	if (attr == NULL)
		return 0;
	at = mnl_attr_get_payload(attr);
	end = at + mnl_attr_get_payload_len(attr);
	while ((attr = shca_ethnl_next(&at, end)) != NULL)
		if (mnl_attr_get_type(attr) == ETHTOOL_A_HEADER_DEV_INDEX &&
			mnl_attr_validate(attr, MNL_TYPE_U32) == 0)
			return mnl_attr_get_u32(attr);
	return 0;
}

static bool
has_seen(const struct dump *dump, uint32_t index)
{
	for (unsigned int i = 0; i < dump->nb_seen; i++)
		if (dump->seen[i] == index)
			return true;
	return false;
}

/** Put what is left. */
static int
put_others(struct dump *dump)
{
	struct shca_ethnl_call *call = dump->call;
	const struct shca_ethnl *ethnl = call->ethnl;
	int ret = 0;

	for (unsigned int i = 0; ret == 0 && ethnl->find(ethnl->arg, i, call->netdev); i++) {
		const uint32_t index = call->netdev[0] != '\0' ? if_nametoindex(call->netdev) : 0;

		if (index != 0 && !has_seen(dump, index))
			ret = put_ours(dump, index, NULL);
	}
	return ret;
}

static int
visit(void *arg, const struct nlmsghdr *message)
{
	struct dump *dump = arg;
	struct shca_ethnl_call *call = dump->call;
	uint32_t index;
	int ret = 0;

	if (message->nlmsg_type == NLMSG_DONE)
		ret = put_others(dump);
	if (ret != 0)
		return ret;
	if (message->nlmsg_type == NLMSG_DONE || message->nlmsg_type == NLMSG_ERROR) {
		ret = put(dump, message);
		return ret != 0 ? ret : flush(dump);
	}
	index = find_index(message, dump->row->header);
	if (index == 0 || dump->nb_seen == NETDEVS_MAX ||
		if_indextoname(index, call->netdev) == NULL ||
		!call->ethnl->owns(call->ethnl->arg, call->netdev))
		return put(dump, message);
	dump->seen[dump->nb_seen++] = index;
	return put_ours(dump, index, message);
}

int
shca_dump_run(struct shca_ethnl_call *call, const struct shca_ethnl_message *row, void *room)
{
	struct dump *dump;
	int ret;

	/* What is wrong with the request is the kernel's to say, and what it changes cannot be
	 * dumped. */
	if (row->reply == 0 ||
		shca_ethnl_take(call, (const uint8_t *)call->request + SHCA_ETHNL_HEADER,
			call->request->nlmsg_len - SHCA_ETHNL_HEADER, &row->policy,
			call->attrs) != 0)
		return SHCA_NLDEV_KERNEL;
	dump = calloc(1, sizeof(*dump));
	if (dump == NULL)
		return -ENOMEM;
	dump->call = call;
	dump->row = row;
	dump->room = room;
	ret = call->ethnl->ask_kernel(call->ethnl->arg, call->request, visit, dump);
	free(dump);
	return ret;
}
