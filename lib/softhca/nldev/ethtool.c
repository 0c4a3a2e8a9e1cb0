/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands of ethtool: from the application to the device, and back. */
#include "nldev/ethtool.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/ethtool.h>
#include <net/if.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "abi/core/caps.h"
#include "abi/core/user.h"
#include "config/options.h"
#include "ethtool/command.h"
#include "nldev/drvinfo.h"
#include "nldev/features.h"
#include "nldev/nldev.h"
#include "nldev/owner.h"

/** Copy the command's data in, run it, and copy the answer out. */
static int
exchange(const struct shca_nldev *nldev, unsigned int device,
	const struct shca_ethtool_command *row, uint64_t data)
{
	uint8_t *bytes = aligned_alloc(sizeof(uint64_t), SHCA_ETHTOOL_MAX);
	size_t length;
	int ret;

	if (bytes == NULL)
		return -ENOMEM;
	ret = shca_user_copy_in(bytes, data, row->size);
	/* The one that the privilege was asked for; another thread may have written another. */
	memcpy(bytes, &row->command, sizeof(row->command));
	length = ret == 0 ? shca_ethtool_length(row, bytes) : 0;
	if (ret == 0)
		ret = length == 0 ? -ENOMEM
				  : shca_user_copy_in(bytes + row->size, data + row->size,
					    length - row->size);
	if (ret == 0)
		ret = shca_owner_run(nldev, device, bytes, &length);
	if (ret == 0)
		ret = shca_user_copy_out(data, bytes, length);
	free(bytes);
	return ret;
}

int
shca_nldev_ethtool(const struct shca_nldev *nldev, const void *request)
{
	const struct shca_ethtool_command *row;
	struct ifreq ifreq;
	uint32_t command;
	int device;

	if (shca_user_copy_in(&ifreq, (uintptr_t)request, sizeof(ifreq)) != 0 ||
		shca_user_copy_in(&command, (uintptr_t)ifreq.ifr_data, sizeof(command)) != 0)
		return SHCA_NLDEV_KERNEL;
	row = shca_ethtool_find(command);
	if (row == NULL && !shca_features_has(command))
		return SHCA_NLDEV_KERNEL;
	device = shca_drvinfo_own(nldev, ifreq.ifr_name);
	if (device < 0)
		return SHCA_NLDEV_KERNEL;
	/* They are the TAP's and the device's. */
	if (shca_features_has(command))
		return shca_features_run(nldev, (unsigned int)device, command, &ifreq);
	if (row->is_privileged && !shca_caps_has_of_net(CAP_NET_ADMIN))
		return -EPERM;
	return exchange(nldev, (unsigned int)device, row, (uintptr_t)ifreq.ifr_data);
}
