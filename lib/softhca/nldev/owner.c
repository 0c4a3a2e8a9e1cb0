/* SPDX-License-Identifier: BSD-3-Clause */
#include "nldev/owner.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/netdev.h"
#include "ethtool/command.h"
#include "nldev/nldev.h"

int
shca_owner_run(const struct shca_nldev *nldev, unsigned int device, uint8_t *bytes, size_t *length)
{
	struct shca_device *dev = nldev->device(nldev->arg, device);
	const int ret = dev != NULL ? shca_ethtool_run(dev, bytes, length)
				    : shca_netdev_ask(nldev->dir, device, bytes, length);

	return ret == -ENODEV ? SHCA_NLDEV_KERNEL : ret;
}

int
shca_owner_run_structure(
	const struct shca_nldev *nldev, unsigned int device, void *structure, size_t length)
{
	uint8_t *bytes = aligned_alloc(sizeof(uint64_t), SHCA_ETHTOOL_MAX);
	size_t got = length;
	int ret;

	if (bytes == NULL)
		return -ENOMEM;
	memcpy(bytes, structure, length);
	ret = shca_owner_run(nldev, device, bytes, &got);
	if (ret == 0)
		memcpy(structure, bytes, length);
	free(bytes);
	return ret;
}
