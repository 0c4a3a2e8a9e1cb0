/* SPDX-License-Identifier: BSD-3-Clause */
/* The features of the TAP, asked of the kernel, and the device's in the places that the kernel has
 * for them. */
#include "nldev/features.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "abi/core/caps.h"
#include "abi/core/user.h"
#include "ethtool/offloads.h"
#include "nldev/nldev.h"
#include "nldev/owner.h"

#define BITS         32 /* features of a block */
#define BLOCKS_MAX   8  /* Linux 6.1 has two */
#define FEATURES_MAX (BITS * BLOCKS_MAX)

/** Structures with what follows them. */
union get {
	struct ethtool_gfeatures head;
	uint8_t room[sizeof(struct ethtool_gfeatures) +
		BLOCKS_MAX * sizeof(struct ethtool_get_features_block)];
};

union set {
	struct ethtool_sfeatures head;
	uint8_t room[sizeof(struct ethtool_sfeatures) +
		BLOCKS_MAX * sizeof(struct ethtool_set_features_block)];
};

union count {
	struct ethtool_sset_info head;
	uint8_t room[sizeof(struct ethtool_sset_info) + sizeof(uint32_t)];
};

/** A command under way. */
struct call {
	const struct shca_nldev *nldev;
	unsigned int device;
	const char *netdev;
	uint64_t data; /**< of the application's structure */
	/** Of the device's features the numbers in this kernel, or -1. */
	int number[SHCA_OFFLOADS_NB];
	uint32_t nb_blocks;
	struct shca_offloads_get ours;
};

/** Ask the kernel by a socket of our own, past the preloaded ioctl(). @return as ioctl(), or a
 * negative errno. */
static int
ask_kernel(const char *netdev, void *command)
{
	struct ifreq ifreq = { .ifr_data = command };
	const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int ret;

	if (fd < 0)
		return -errno;
	memcpy(ifreq.ifr_name, netdev, strnlen(netdev, sizeof(ifreq.ifr_name) - 1));
	ret = (int)syscall(SYS_ioctl, fd, SIOCETHTOOL, &ifreq);
	ret = ret < 0 ? -errno : ret;
	close(fd);
	return ret;
}

static int
find_number(const char *wanted, const struct ethtool_gstrings *names)
{
	for (uint32_t i = 0; i < names->len; i++)
		if (strncmp((const char *)names->data + i * ETH_GSTRING_LEN, wanted,
			    ETH_GSTRING_LEN) == 0)
			return (int)i;
	return -1;
}

int
shca_features_names(const char *netdev, struct ethtool_gstrings **names)
{
	union count info = {
		.head = { .cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1u << ETH_SS_FEATURES },
	};

	if (ask_kernel(netdev, &info) < 0 || info.head.data[0] == 0 ||
		info.head.data[0] > FEATURES_MAX)
		return SHCA_NLDEV_KERNEL;
	*names = calloc(1, sizeof(**names) + (size_t)FEATURES_MAX * ETH_GSTRING_LEN);
	if (*names == NULL)
		return -ENOMEM;
	**names = (struct ethtool_gstrings){ ETHTOOL_GSTRINGS, ETH_SS_FEATURES, info.head.data[0] };
	if (ask_kernel(netdev, *names) >= 0 && (*names)->len <= FEATURES_MAX)
		return 0;
	free(*names);
	return SHCA_NLDEV_KERNEL;
}

/** Find the device's features among this kernel's. @return 0, or SHCA_NLDEV_KERNEL: it has none. */
static int
find_numbers(struct call *call)
{
	struct ethtool_gstrings *names;
	const int ret = shca_features_names(call->netdev, &names);

	if (ret != 0)
		return ret;
	for (unsigned int i = 0; i < SHCA_OFFLOADS_NB; i++)
		call->number[i] = find_number(shca_offload_names[i].name, names);
	call->nb_blocks = (names->len + BITS - 1) / BITS;
	free(names);
	return 0;
}

static bool
is_ours(const struct call *call, unsigned int row)
{
	return call->number[row] >= 0 && (call->ours.block.available & 1u << row) != 0;
}

static void
put_bit(uint32_t *word, uint32_t bit, bool on)
{
	*word = on ? *word | bit : *word & ~bit;
}

/** As ethtool_get_features(): as many blocks as the application has room for. */
static int
get_blocks(struct call *call)
{
	struct ethtool_gfeatures head;
	union get get = { .head = { ETHTOOL_GFEATURES, BLOCKS_MAX } };
	int ret = shca_user_copy_in(&head, call->data, sizeof(head));

	if (ret == 0)
		ret = ask_kernel(call->netdev, &get);
	if (ret < 0)
		return ret;
	for (unsigned int i = 0; i < SHCA_OFFLOADS_NB; i++) {
		struct ethtool_get_features_block *block;
		uint32_t bit;

		if (!is_ours(call, i))
			continue;
		block = &get.head.features[call->number[i] / BITS];
		bit = 1u << call->number[i] % BITS;
		put_bit(&block->available, bit, true);
		put_bit(&block->never_changed, bit, false);
		put_bit(&block->requested, bit, (call->ours.block.requested & 1u << i) != 0);
		put_bit(&block->active, bit, (call->ours.block.active & 1u << i) != 0);
	}
	if (head.size > call->nb_blocks)
		head.size = call->nb_blocks;
	return shca_user_copy_out(
		call->data, &get, sizeof(head) + head.size * sizeof(get.head.features[0]));
}

static int
switch_ours(struct call *call, uint32_t valid, uint32_t requested)
{
	struct shca_offloads_set set = { ETHTOOL_SFEATURES, 1, { valid, requested } };

	return valid == 0 ? 0
			  : shca_owner_run_structure(call->nldev, call->device, &set, sizeof(set));
}

/** As ethtool_set_features(). The kernel goes first, as it checks the whole request. */
static int
set_blocks(struct call *call)
{
	uint32_t valid = 0, requested = 0;
	union set set;
	int ret, error = shca_user_copy_in(&set.head, call->data, sizeof(set.head));

	if (error != 0)
		return error;
	if (set.head.size != call->nb_blocks)
		return -EINVAL;
	error = shca_user_copy_in(
		&set, call->data, sizeof(set.head) + set.head.size * sizeof(set.head.features[0]));
	if (error != 0)
		return error;
	set.head.cmd = ETHTOOL_SFEATURES;
	set.head.size = call->nb_blocks;
	for (unsigned int i = 0; i < SHCA_OFFLOADS_NB; i++) {
		struct ethtool_set_features_block *block;
		uint32_t bit;

		if (!is_ours(call, i))
			continue;
		block = &set.head.features[call->number[i] / BITS];
		bit = 1u << call->number[i] % BITS;
		valid |= (uint32_t)((block->valid & bit) != 0) << i;
		requested |= (uint32_t)((block->requested & bit) != 0) << i;
		/* The rest is the TAP's. */
		put_bit(&block->valid, bit, false);
		put_bit(&block->requested, bit, false);
	}
	ret = ask_kernel(call->netdev, &set);
	error = ret < 0 ? ret : switch_ours(call, valid, requested);
	return error != 0 ? error : ret;
}

/** @return the device's features among those of the old commands, by ETH_FLAG_*. */
static uint32_t
our_flags(uint32_t rows)
{
	uint32_t flags = 0;

	for (unsigned int i = 0; i < SHCA_OFFLOADS_NB; i++)
		if ((rows & 1u << i) != 0)
			flags |= shca_offload_names[i].flag;
	return flags;
}

static int
get_flags(struct call *call)
{
	struct ethtool_value flags = { .cmd = ETHTOOL_GFLAGS };
	int ret = ask_kernel(call->netdev, &flags);

	if (ret < 0)
		return ret;
	flags.data |= our_flags(call->ours.block.active);
	return shca_user_copy_out(call->data, &flags, sizeof(flags));
}

/** As __ethtool_set_flags(): a request that changes what can be changed, and what cannot be, has
 * another errno than one that only does the latter. */
static int
set_flags(struct call *call)
{
	const uint32_t available = our_flags(call->ours.block.available);
	const uint32_t before = our_flags(call->ours.block.active);
	uint32_t valid = 0, requested = 0;
	struct ethtool_value flags;
	int ret = shca_user_copy_in(&flags, call->data, sizeof(flags));

	if (ret != 0)
		return ret;
	for (unsigned int i = 0; i < SHCA_OFFLOADS_NB; i++) {
		const uint32_t flag = shca_offload_names[i].flag & available;

		valid |= (uint32_t)(((flags.data ^ before) & flag) != 0) << i;
		requested |= (uint32_t)((flags.data & flag) != 0) << i;
	}
	flags = (struct ethtool_value){ ETHTOOL_SFLAGS, flags.data & ~available };
	ret = ask_kernel(call->netdev, &flags);
	if (ret == -EOPNOTSUPP && valid != 0)
		return -EINVAL;
	return ret < 0 ? ret : switch_ours(call, valid, requested);
}

static const struct row {
	uint32_t command;
	bool is_privileged;
	int (*run)(struct call *call);
} command_rows[] = {
	{ ETHTOOL_GFEATURES, false, get_blocks },
	{ ETHTOOL_SFEATURES, true, set_blocks },
	{ ETHTOOL_GFLAGS, false, get_flags },
	{ ETHTOOL_SFLAGS, true, set_flags },
};

static const struct row *
find_row(uint32_t command)
{
	for (size_t i = 0; i < sizeof(command_rows) / sizeof(command_rows[0]); i++)
		if (command_rows[i].command == command)
			return &command_rows[i];
	return NULL;
}

bool
shca_features_has(uint32_t command)
{
	return find_row(command) != NULL;
}

int
shca_features_run(const struct shca_nldev *nldev, unsigned int device, uint32_t command,
	const struct ifreq *request)
{
	const struct row *row = find_row(command);
	struct call call = {
		.nldev = nldev,
		.device = device,
		.netdev = request->ifr_name,
		.data = (uintptr_t)request->ifr_data,
		.ours = { .cmd = ETHTOOL_GFEATURES, .size = 1 },
	};
	int ret;

	if (row->is_privileged && !shca_caps_has_of_net(CAP_NET_ADMIN))
		return -EPERM;
	ret = find_numbers(&call);
	if (ret == 0)
		ret = shca_owner_run_structure(nldev, device, &call.ours, sizeof(call.ours));
	return ret != 0 ? ret : row->run(&call);
}
