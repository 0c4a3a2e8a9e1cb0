/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of the netdev. */
#include "ethtool/statistics.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <stdio.h>
#include <string.h>

#include "ethtool/command.h"
#include "hw/device/device.h"

/** The port's counters of bytes have the FCS of each frame, which our wires lack. */
#define FCS_BYTES 4

#define AT(member) offsetof(struct shca_device_stats, member)

/** Linux Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst. */
static const struct {
	const char *name;
	size_t value;
	bool has_fcs;
	size_t frames; /**< to add an FCS for each */
} counters[] = {
	{ "rx_packets", AT(rx_kernel), false, 0 },
	{ "rx_packets_phy", AT(rx_frames), false, 0 },
	{ "rx_bytes_phy", AT(rx_bytes), true, AT(rx_frames) },
	{ "tx_packets_phy", AT(tx_frames), false, 0 },
	{ "tx_bytes_phy", AT(tx_bytes), true, AT(tx_frames) },
};
#define NB_COUNTERS (sizeof(counters) / sizeof(counters[0]))

unsigned int
shca_statistics_count(void)
{
	return NB_COUNTERS;
}

int
shca_statistics_sets(struct shca_ethtool_call *call)
{
	struct ethtool_sset_info *info = (void *)call->bytes;

	if (info->sset_mask != UINT64_C(1) << ETH_SS_STATS)
		return -ENODEV;
	info->data[0] = NB_COUNTERS;
	call->length += sizeof(info->data[0]);
	return 0;
}

int
shca_statistics_strings(struct shca_ethtool_call *call)
{
	struct ethtool_gstrings *strings = (void *)call->bytes;

	if (strings->string_set != ETH_SS_STATS)
		return -ENODEV;
	strings->len = NB_COUNTERS;
	for (unsigned int i = 0; i < NB_COUNTERS; i++)
		snprintf((char *)strings->data + i * ETH_GSTRING_LEN, ETH_GSTRING_LEN, "%s",
			counters[i].name);
	call->length += NB_COUNTERS * ETH_GSTRING_LEN;
	return 0;
}

static uint64_t
value_at(const struct shca_device_stats *stats, size_t offset)
{
	uint64_t value;

	memcpy(&value, (const uint8_t *)stats + offset, sizeof(value));
	return value;
}

int
shca_statistics_values(struct shca_ethtool_call *call)
{
	const struct shca_device_stats *stats = shca_device_stats(call->dev);
	struct ethtool_stats *values = (void *)call->bytes;

	values->n_stats = NB_COUNTERS;
	for (unsigned int i = 0; i < NB_COUNTERS; i++) {
		values->data[i] = value_at(stats, counters[i].value);
		if (counters[i].has_fcs)
			values->data[i] += FCS_BYTES * value_at(stats, counters[i].frames);
	}
	call->length += NB_COUNTERS * sizeof(values->data[0]);
	return 0;
}
