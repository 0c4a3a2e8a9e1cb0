/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's sets as it has them, with one more. */
#include "ethnl/strset.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <stdlib.h>
#include <string.h>

#include "ethnl/call.h"
#include "ethnl/ethnl.h"
#include "ethnl/reply.h"
#include "ethnl/stats.h"
#include "nldev/owner.h"

/** Bytes that a string takes at most, with its number, in a message. */
#define STRING_BYTES (3 * NLA_HDRLEN + sizeof(uint32_t) + ETH_GSTRING_LEN + NLA_ALIGNTO)

/** @return the attribute of a nest or message's attributes, or NULL. */
static const struct nlattr *
find(const void *bytes, size_t length, uint16_t type)
{
	const uint8_t *at = bytes, *end = at + length;
	const struct nlattr *attr;

	while ((attr = shca_ethnl_next(&at, end)) != NULL)
		if (mnl_attr_get_type(attr) == type)
			return attr;
	return NULL;
}

/** @return the number of the set in a nest, or UINT32_MAX. */
static uint32_t
number_of(const struct nlattr *set)
{
	const struct nlattr *attr = find(
		mnl_attr_get_payload(set), mnl_attr_get_payload_len(set), ETHTOOL_A_STRINGSET_ID);

	return attr != NULL && mnl_attr_validate(attr, MNL_TYPE_U32) == 0 ? mnl_attr_get_u32(attr)
									  : UINT32_MAX;
}

/** Without a list a netdev's own sets are wanted. */
static bool
is_wanted(const struct nlattr *list)
{
	const uint8_t *at, *end;
	const struct nlattr *set;

	if (list == NULL)
		return true;
	at = mnl_attr_get_payload(list);
	end = at + mnl_attr_get_payload_len(list);
	while ((set = shca_ethnl_next(&at, end)) != NULL)
		if (number_of(set) == ETH_SS_STATS)
			return true;
	return false;
}

struct answer {
	struct nlmsghdr *reply;
	size_t room; /* bytes for sets of the kernel's */
	int error;
};

/** strset_fill_reply() */
static int
take_sets(void *arg, const struct nlmsghdr *message)
{
	struct answer *answer = arg;
	const struct nlmsgerr *ack = mnl_nlmsg_get_payload(message);
	const struct nlattr *list, *set;
	const uint8_t *at, *end;

	if (message->nlmsg_type == NLMSG_ERROR) {
		answer->error = ack->error;
		return 0;
	}
	if (message->nlmsg_len < SHCA_ETHNL_HEADER || message->nlmsg_len > answer->room)
		return -EMSGSIZE;
	list = find((const uint8_t *)message + SHCA_ETHNL_HEADER,
		message->nlmsg_len - SHCA_ETHNL_HEADER, ETHTOOL_A_STRSET_STRINGSETS);
	if (list == NULL)
		return 0;
	at = mnl_attr_get_payload(list);
	end = at + mnl_attr_get_payload_len(list);
	while ((set = shca_ethnl_next(&at, end)) != NULL)
		if (number_of(set) != ETH_SS_STATS)
			mnl_attr_put(answer->reply, set->nla_type, mnl_attr_get_payload_len(set),
				mnl_attr_get_payload(set));
	answer->room = 0;
	return 0;
}

/** @return 0, or SHCA_NLDEV_KERNEL: it refuses, or has too much to say. */
static int
put_kernels(struct shca_ethnl_call *call, size_t room)
{
	const struct shca_ethnl *ethnl = call->ethnl;
	struct nlmsghdr *request = malloc(call->request->nlmsg_len);
	struct answer answer = { .reply = call->reply, .room = room, .error = 0 };
	int ret;

	if (request == NULL)
		return -ENOMEM;
	memcpy(request, call->request, call->request->nlmsg_len);
	request->nlmsg_flags |= NLM_F_ACK;
	ret = ethnl->ask_kernel(ethnl->arg, request, take_sets, &answer);
	free(request);
	return ret != 0 || answer.error != 0 ? SHCA_NLDEV_KERNEL : 0;
}

/** strset_fill_set() */
static void
put_names(struct nlmsghdr *message, const struct ethtool_gstrings *names, bool counts_only)
{
	struct nlattr *set = mnl_attr_nest_start(message, ETHTOOL_A_STRINGSETS_STRINGSET);
	struct nlattr *strings;

	mnl_attr_put_u32(message, ETHTOOL_A_STRINGSET_ID, ETH_SS_STATS);
	mnl_attr_put_u32(message, ETHTOOL_A_STRINGSET_COUNT, names->len);
	strings = counts_only ? NULL : mnl_attr_nest_start(message, ETHTOOL_A_STRINGSET_STRINGS);
	for (uint32_t i = 0; strings != NULL && i < names->len; i++) {
		struct nlattr *string = mnl_attr_nest_start(message, ETHTOOL_A_STRINGS_STRING);
		char name[ETH_GSTRING_LEN + 1] = "";

		memcpy(name, names->data + (size_t)i * ETH_GSTRING_LEN, ETH_GSTRING_LEN);
		mnl_attr_put_u32(message, ETHTOOL_A_STRING_INDEX, i);
		mnl_attr_put_strz(message, ETHTOOL_A_STRING_VALUE, name);
		mnl_attr_nest_end(message, string);
	}
	if (strings != NULL)
		mnl_attr_nest_end(message, strings);
	mnl_attr_nest_end(message, set);
}

int
shca_ethnl_strset_get(struct shca_ethnl_call *call)
{
	const size_t head = 256; /* of the reply, before the sets */
	struct ethtool_gstrings *names;
	struct nlattr *list;
	size_t taken;
	int ret;

	/* In a dump the TAPs' stand. */
	if ((call->request->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP ||
		!is_wanted(call->attrs[ETHTOOL_A_STRSET_STRINGSETS]))
		return SHCA_NLDEV_KERNEL;
	ret = shca_stats_names(call, &names);
	if (ret != 0)
		return ret;
	taken = head + names->len * STRING_BYTES;
	list = mnl_attr_nest_start(call->reply, ETHTOOL_A_STRSET_STRINGSETS);
	ret = taken < SHCA_REPLY_MAX ? put_kernels(call, SHCA_REPLY_MAX - taken)
				     : SHCA_NLDEV_KERNEL;
	if (ret == 0)
		put_names(call->reply, names, call->attrs[ETHTOOL_A_STRSET_COUNTS_ONLY] != NULL);
	mnl_attr_nest_end(call->reply, list);
	free(names);
	return ret;
}
