/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel names the features; the ioctls have them in blocks, each of which is a word here. */
#include "ethnl/features.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <stdlib.h>
#include <string.h>

#include "ethnl/bitset.h"
#include "ethnl/call.h"
#include "nldev/features.h"
#include "nldev/owner.h"

#define WORDS SHCA_BITSET_WORDS

/** Structures with what follows them. */
union get {
	struct ethtool_gfeatures head;
	uint8_t room[sizeof(struct ethtool_gfeatures) +
		WORDS * sizeof(struct ethtool_get_features_block)];
};

union set {
	struct ethtool_sfeatures head;
	uint8_t room[sizeof(struct ethtool_sfeatures) +
		WORDS * sizeof(struct ethtool_set_features_block)];
};

/** Of a netdev. */
struct features {
	uint32_t hw[WORDS], wanted[WORDS], active[WORDS], never[WORDS];
};

static int
ask(struct shca_ethnl_call *call, struct features *features)
{
	union get get = { .head = { ETHTOOL_GFEATURES, WORDS } };
	const int ret = shca_ethnl_ask(call, &get);

	*features = (struct features){ 0 };
	for (unsigned int i = 0; ret == 0 && i < get.head.size && i < WORDS; i++) {
		const struct ethtool_get_features_block *block = &get.head.features[i];

		features->hw[i] = block->available;
		features->wanted[i] = block->requested;
		features->active[i] = block->active;
		features->never[i] = block->never_changed;
	}
	return ret;
}

static int
put_all(struct shca_ethnl_call *call, const struct shca_bitset *set)
{
	const bool is_compact = (call->flags & ETHTOOL_FLAG_COMPACT_BITSETS) != 0;
	struct features features;
	uint32_t all[WORDS] = { 0 };
	const int ret = ask(call, &features);

	if (ret != 0)
		return ret;
	for (uint32_t bit = 0; bit < set->nb; bit++)
		all[bit / 32] |= 1u << bit % 32;
	shca_bitset_put(call->reply, ETHTOOL_A_FEATURES_HW, set, features.hw, all, is_compact);
	shca_bitset_put(
		call->reply, ETHTOOL_A_FEATURES_WANTED, set, features.wanted, NULL, is_compact);
	shca_bitset_put(
		call->reply, ETHTOOL_A_FEATURES_ACTIVE, set, features.active, NULL, is_compact);
	shca_bitset_put(
		call->reply, ETHTOOL_A_FEATURES_NOCHANGE, set, features.never, NULL, is_compact);
	return 0;
}

/** Switch those of the mask. @return as the ioctl, of which a wish that is not granted is none of
 * our concern: the reply tells. */
static int
change(struct shca_ethnl_call *call, const struct shca_bitset *set, const uint32_t *wanted,
	const uint32_t *mask)
{
	union set request = { .head = { ETHTOOL_SFEATURES, (set->nb + 31) / 32 } };
	int ret;

	for (unsigned int i = 0; i < request.head.size; i++)
		request.head.features[i] =
			(struct ethtool_set_features_block){ mask[i], wanted[i] & mask[i] };
	ret = shca_ethnl_ask(call, &request);
	return ret > 0 && ret != SHCA_NLDEV_KERNEL ? 0 : ret;
}

/** What of the wishes is not so, and what else is now. */
static void
put_changes(struct shca_ethnl_call *call, const struct shca_bitset *set,
	const struct features *before, const uint32_t *wanted, const uint32_t *mask)
{
	const bool is_compact = (call->flags & ETHTOOL_FLAG_COMPACT_BITSETS) != 0;
	uint32_t refused[WORDS], changed[WORDS], wishes[WORDS], news[WORDS];
	struct features now;

	if (ask(call, &now) != 0)
		now = *before;
	for (unsigned int i = 0; i < WORDS; i++) {
		refused[i] = (wanted[i] ^ now.active[i]) & mask[i];
		changed[i] = before->active[i] ^ now.active[i];
		wishes[i] = wanted[i] & refused[i];
		news[i] = now.active[i] & changed[i];
	}
	shca_bitset_put(call->reply, ETHTOOL_A_FEATURES_WANTED, set, wishes, refused, is_compact);
	shca_bitset_put(call->reply, ETHTOOL_A_FEATURES_ACTIVE, set, news, changed, is_compact);
}

/** ethnl_set_features() */
static int
set_all(struct shca_ethnl_call *call, const struct shca_bitset *set)
{
	uint32_t wanted[WORDS], mask[WORDS];
	struct features before;
	bool is_other = false;
	int ret;

	if (call->attrs[ETHTOOL_A_FEATURES_WANTED] == NULL)
		return -EINVAL;
	ret = ask(call, &before);
	if (ret == 0)
		ret = shca_bitset_read(
			call, call->attrs[ETHTOOL_A_FEATURES_WANTED], set, wanted, mask);
	if (ret != 0)
		return ret;
	for (unsigned int i = 0; i < WORDS; i++) {
		if ((mask[i] & before.never[i]) != 0)
			return shca_ethnl_refuse(
				call, -EINVAL, NULL, "attempt to change non-ethtool features");
		is_other |= ((wanted[i] ^ before.wanted[i]) & mask[i]) != 0;
	}
	if (is_other)
		ret = change(call, set, wanted, mask);
	if (ret != 0)
		return ret;
	call->is_silent = (call->flags & ETHTOOL_FLAG_OMIT_REPLY) != 0;
	if (!call->is_silent)
		put_changes(call, set, &before, wanted, mask);
	return 0;
}

static int
with_names(struct shca_ethnl_call *call,
	int (*run)(struct shca_ethnl_call *call, const struct shca_bitset *set))
{
	struct ethtool_gstrings *names;
	struct shca_bitset set;
	int ret = shca_features_names(call->netdev, &names);

	if (ret != 0)
		return ret;
	set = (struct shca_bitset){ names->len, names->data };
	ret = set.nb <= WORDS * 32 ? run(call, &set) : SHCA_NLDEV_KERNEL;
	free(names);
	return ret;
}

int
shca_ethnl_features_get(struct shca_ethnl_call *call)
{
	return with_names(call, put_all);
}

int
shca_ethnl_features_set(struct shca_ethnl_call *call)
{
	return with_names(call, set_all);
}
