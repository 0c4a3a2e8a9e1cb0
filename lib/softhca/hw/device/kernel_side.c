/* SPDX-License-Identifier: BSD-3-Clause */
/* What the netdev of a device was told by ethtool, and which frames it takes. */
#include "hw/device/kernel_side.h"

#include <string.h>

#include "hw/state/device.h"
#include "steering/steering.h"

struct shca_kernel_side *
shca_kernel_side(struct shca_device *dev)
{
	return &dev->kernel_side;
}

/** A representor's netdev gets all frames of its vport (Linux eswitch_offloads.c,
 * mlx5_eswitch_create_vport_rx_rule). */
void
shca_kernel_side_filter(struct shca_device *dev)
{
	const struct shca_device_conf *conf = &dev->conf;
	struct shca_kernel_filter filter = {
		.promiscuous = conf->nb_vports != 0 || dev->port[0].netdev.is_promiscuous,
		.macs = dev->port[0].netdev.macs,
		.nb_macs = dev->port[0].netdev.nb_macs,
	};

	for (uint32_t port = 1; port <= shca_conf_nb_ports(conf); port++)
		filter.present = filter.present || shca_conf_kernel(conf, port) != NULL;

	memcpy(filter.mac, shca_own_mac(dev), sizeof(filter.mac));
	shca_steering_set_kernel(dev->steering, &filter);
}
