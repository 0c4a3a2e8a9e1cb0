/* SPDX-License-Identifier: BSD-3-Clause */
#include "ethtool/address.h"

#include <linux/ethtool.h>
#include <string.h>

#include "ethtool/command.h"
#include "hw/device/device.h"

/** Linux include/linux/errno.h; not among those of user space, which gets it all the same. */
#define ETOOSMALL 525

/** As net/ethtool/ioctl.c ethtool_get_perm_addr(). */
int
shca_address_permanent(struct shca_ethtool_call *call)
{
	struct ethtool_perm_addr *address = (void *)call->bytes;
	const struct shca_device_conf *conf = shca_device_conf(call->dev);

	if (address->size < sizeof(conf->mac))
		return -ETOOSMALL;
	address->size = sizeof(conf->mac);
	memcpy(address->data, conf->mac, sizeof(conf->mac));
	call->length += sizeof(conf->mac);
	return 0;
}
