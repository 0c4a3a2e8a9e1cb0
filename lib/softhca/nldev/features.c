/* SPDX-License-Identifier: BSD-3-Clause */
/* One feature more than the TAP has. */
#include "nldev/features.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "abi/core/caps.h"
#include "abi/core/user.h"
#include "nldev/drvinfo.h"
#include "nldev/nldev.h"
#include "nldev/owner.h"

#define FEATURE      "rx-ntuple-filter"
#define BLOCKS_MAX   8 /* of 32 features; Linux 6.1 has two */
#define FEATURES_MAX (32 * BLOCKS_MAX)

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

/** Ask the kernel by a socket of our own. @return as ioctl(), or a negative errno. */
static int
ask_kernel(const char *netdev, void *command)
{
	struct ifreq ifreq = { .ifr_data = command };
	const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int ret;

	if (fd < 0)
		return -errno;
	memcpy(ifreq.ifr_name, netdev, sizeof(ifreq.ifr_name));
	ret = ioctl(fd, SIOCETHTOOL, &ifreq);
	ret = ret < 0 ? -errno : ret;
	close(fd);
	return ret;
}

/** @return the feature's number in this kernel, or -1. */
static int
find_feature(const char *netdev)
{
	union count info = {
		.head = { .cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1u << ETH_SS_FEATURES },
	};
	struct ethtool_gstrings *names;
	int found = -1;

	if (ask_kernel(netdev, &info) < 0 || info.head.data[0] == 0 ||
		info.head.data[0] > FEATURES_MAX)
		return -1;
	names = calloc(1, sizeof(*names) + (size_t)FEATURES_MAX * ETH_GSTRING_LEN);
	if (names == NULL)
		return -1;
	*names = (struct ethtool_gstrings){ ETHTOOL_GSTRINGS, ETH_SS_FEATURES, info.head.data[0] };
	if (ask_kernel(netdev, names) >= 0)
		for (uint32_t i = 0; i < info.head.data[0] && found < 0; i++)
			if (strncmp((const char *)names->data + i * ETH_GSTRING_LEN, FEATURE,
				    ETH_GSTRING_LEN) == 0)
				found = (int)i;
	free(names);
	return found;
}

int
shca_features_set(const struct shca_nldev *nldev, unsigned int device, const struct ifreq *request)
{
	const int number = find_feature(request->ifr_name);
	struct ethtool_value flags = { .cmd = ETHTOOL_SFLAGS };
	struct ethtool_set_features_block *block;
	union set set;
	uint32_t bit;
	int ret;

	if (!shca_caps_has_of_net(CAP_NET_ADMIN))
		return -EPERM;
	ret = shca_user_copy_in(&set.head, (uintptr_t)request->ifr_data, sizeof(set.head));
	if (ret != 0)
		return ret;
	if (number < 0 || set.head.size > BLOCKS_MAX || (uint32_t)number / 32 >= set.head.size)
		return SHCA_NLDEV_KERNEL;
	ret = shca_user_copy_in(&set, (uintptr_t)request->ifr_data,
		sizeof(set.head) + set.head.size * sizeof(*block));
	if (ret != 0)
		return ret;
	block = &set.head.features[number / 32];
	bit = 1u << number % 32;
	if ((block->valid & bit) == 0)
		return SHCA_NLDEV_KERNEL;
	flags.data = block->requested & bit ? ETH_FLAG_NTUPLE : 0;
	ret = shca_owner_run_structure(nldev, device, &flags, sizeof(flags));
	if (ret != 0)
		return ret;
	/* The rest is the TAP's. */
	block->valid &= ~bit;
	block->requested &= ~bit;
	return ask_kernel(request->ifr_name, &set);
}

static void
correct_blocks(const struct ifreq *ifreq, bool is_on)
{
	const int number = find_feature(ifreq->ifr_name);
	const uint64_t data = (uintptr_t)ifreq->ifr_data;
	struct ethtool_get_features_block *block;
	union get get;
	uint32_t bit;

	if (number < 0 || shca_user_copy_in(&get.head, data, sizeof(get.head)) != 0 ||
		(uint32_t)number / 32 >= get.head.size || get.head.size > BLOCKS_MAX)
		return;
	if (shca_user_copy_in(&get, data, sizeof(get.head) + get.head.size * sizeof(*block)) != 0)
		return;
	block = &get.head.features[number / 32];
	bit = 1u << number % 32;
	block->available |= bit;
	block->never_changed &= ~bit;
	block->requested = (block->requested & ~bit) | (is_on ? bit : 0);
	block->active = (block->active & ~bit) | (is_on ? bit : 0);
	(void)shca_user_copy_out(data, &get, sizeof(get.head) + get.head.size * sizeof(*block));
}

static void
correct_flags(const struct ifreq *ifreq, bool is_on)
{
	struct ethtool_value flags;

	if (!is_on || shca_user_copy_in(&flags, (uintptr_t)ifreq->ifr_data, sizeof(flags)) != 0)
		return;
	flags.data |= ETH_FLAG_NTUPLE;
	(void)shca_user_copy_out((uintptr_t)ifreq->ifr_data, &flags, sizeof(flags));
}

void
shca_features_correct(const struct shca_nldev *nldev, const void *request)
{
	struct ethtool_value flags = { .cmd = ETHTOOL_GFLAGS };
	struct ifreq ifreq;
	uint32_t command;
	int device;

	if (shca_user_copy_in(&ifreq, (uintptr_t)request, sizeof(ifreq)) != 0 ||
		shca_user_copy_in(&command, (uintptr_t)ifreq.ifr_data, sizeof(command)) != 0 ||
		(command != ETHTOOL_GFEATURES && command != ETHTOOL_GFLAGS))
		return;
	device = shca_drvinfo_own(nldev, ifreq.ifr_name);
	if (device < 0 ||
		shca_owner_run_structure(nldev, (unsigned int)device, &flags, sizeof(flags)) != 0)
		return;
	if (command == ETHTOOL_GFEATURES)
		correct_blocks(&ifreq, flags.data != 0);
	else
		correct_flags(&ifreq, flags.data != 0);
}
