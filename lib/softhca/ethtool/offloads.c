/* SPDX-License-Identifier: BSD-3-Clause */
/* Features of the netdev, as mlx5e_set_features() switches them. */
#include "ethtool/offloads.h"

#include <errno.h>
#include <stdbool.h>

#include "config/model.h"
#include "ethtool/command.h"
#include "hw/device/device.h"
#include "hw/device/kernel_side.h"
#include "steering/arfs.h"

const struct shca_offload_name shca_offload_names[SHCA_OFFLOADS_NB] = {
	{ "rx-ntuple-filter", ETH_FLAG_NTUPLE },
	{ "rx-fcs", 0 },
	{ "rx-all", 0 },
};

static bool
has_ntuple(const struct shca_device *dev)
{
	(void)dev;
	return true;
}

static bool
get_ntuple(struct shca_device *dev)
{
	return shca_arfs_is_on(shca_device_steering(dev));
}

static void
set_ntuple(struct shca_device *dev, bool on)
{
	shca_arfs_switch(shca_device_steering(dev), on);
}

static bool
has_fcs(const struct shca_device *dev)
{
	return shca_device_conf(dev)->model->scatter_fcs;
}

static bool
get_fcs(struct shca_device *dev)
{
	return shca_kernel_side(dev)->rx_fcs;
}

static void
set_fcs(struct shca_device *dev, bool on)
{
	shca_kernel_side(dev)->rx_fcs = on;
}

/** A virtual function does not reach the port's register (mlx5_query_port_fcs(): PCMR). */
static bool
has_all(const struct shca_device *dev)
{
	return !shca_device_conf(dev)->is_vf;
}

static bool
get_all(struct shca_device *dev)
{
	return shca_kernel_side(dev)->rx_all;
}

static void
set_all(struct shca_device *dev, bool on)
{
	shca_kernel_side(dev)->rx_all = on;
}

/** In the order of the names. */
static const struct row {
	bool (*has)(const struct shca_device *dev);
	bool (*get)(struct shca_device *dev);
	void (*set)(struct shca_device *dev, bool on);
} offload_rows[SHCA_OFFLOADS_NB] = {
	{ has_ntuple, get_ntuple, set_ntuple },
	{ has_fcs, get_fcs, set_fcs },
	{ has_all, get_all, set_all },
};

int
shca_offloads_get(struct shca_ethtool_call *call)
{
	struct shca_offloads_get *get = (void *)call->bytes;

	get->size = 1;
	get->block = (struct ethtool_get_features_block){ 0 };
	for (unsigned int i = 0; i < SHCA_OFFLOADS_NB; i++) {
		get->block.available |= (uint32_t)offload_rows[i].has(call->dev) << i;
		get->block.active |= (uint32_t)offload_rows[i].get(call->dev) << i;
	}
	get->block.requested = get->block.active;
	return 0;
}

/** @return -EINVAL: one of them is not there, and none is changed. */
int
shca_offloads_set(struct shca_ethtool_call *call)
{
	const struct shca_offloads_set *set = (const void *)call->bytes;
	const uint32_t valid = set->block.valid;

	if (set->size != 1 || valid >> SHCA_OFFLOADS_NB != 0)
		return -EINVAL;
	for (unsigned int i = 0; i < SHCA_OFFLOADS_NB; i++)
		if ((valid & 1u << i) != 0 && !offload_rows[i].has(call->dev))
			return -EINVAL;
	for (unsigned int i = 0; i < SHCA_OFFLOADS_NB; i++)
		if ((valid & 1u << i) != 0)
			offload_rows[i].set(call->dev, (set->block.requested & 1u << i) != 0);
	return 0;
}
