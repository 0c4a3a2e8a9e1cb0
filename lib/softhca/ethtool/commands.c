/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands, one row each. */
#include <errno.h>
#include <linux/ethtool.h>
#include <string.h>

#include "ethtool/address.h"
#include "ethtool/channels.h"
#include "ethtool/command.h"
#include "ethtool/module.h"
#include "ethtool/offloads.h"
#include "ethtool/pause.h"
#include "ethtool/rxclass.h"
#include "ethtool/statistics.h"
#include "hw/device/device.h"

/* clang-format off */
#define RXNFC sizeof(struct ethtool_rxnfc), 0, 0
const struct shca_ethtool_command shca_ethtool_commands[] = {
	{ ETHTOOL_GRXRINGS,    false, RXNFC, shca_rxclass_rings },
	{ ETHTOOL_GRXCLSRLCNT, false, RXNFC, shca_rxclass_count },
	{ ETHTOOL_GRXCLSRULE,  false, RXNFC, shca_rxclass_get },
	{ ETHTOOL_GRXCLSRLALL, false, sizeof(struct ethtool_rxnfc),
		offsetof(struct ethtool_rxnfc, rule_cnt), sizeof(uint32_t), shca_rxclass_list },
	{ ETHTOOL_SRXCLSRLINS, true,  RXNFC, shca_rxclass_insert },
	{ ETHTOOL_SRXCLSRLDEL, true,  RXNFC, shca_rxclass_delete },
	{ ETHTOOL_GCHANNELS,   false, sizeof(struct ethtool_channels), 0, 0, shca_channels_get },
	{ ETHTOOL_SCHANNELS,   true,  sizeof(struct ethtool_channels), 0, 0, shca_channels_set },
	{ ETHTOOL_GSSET_INFO,  false, sizeof(struct ethtool_sset_info), 0, 0, shca_statistics_sets },
	{ ETHTOOL_GSTRINGS,    false, sizeof(struct ethtool_gstrings), 0, 0, shca_statistics_strings },
	{ ETHTOOL_GSTATS,      false, sizeof(struct ethtool_stats), 0, 0, shca_statistics_values },
	{ ETHTOOL_GPERMADDR,   false, sizeof(struct ethtool_perm_addr), 0, 0, shca_address_permanent },
	{ ETHTOOL_GPAUSEPARAM, false, sizeof(struct ethtool_pauseparam), 0, 0, shca_pause_get },
	{ ETHTOOL_SPAUSEPARAM, true,  sizeof(struct ethtool_pauseparam), 0, 0, shca_pause_set },
	/* Not among those that __dev_ethtool() lets anybody ask. */
	{ ETHTOOL_GMODULEINFO, true,  sizeof(struct ethtool_modinfo), 0, 0, shca_module_info },
	{ ETHTOOL_GMODULEEEPROM, true, sizeof(struct ethtool_eeprom), 0, 0, shca_module_eeprom },
	/* From nldev/features, which puts them together with the TAP's: with numbers of ours. */
	{ ETHTOOL_GFEATURES,   false, sizeof(struct shca_offloads_get), 0, 0, shca_offloads_get },
	{ ETHTOOL_SFEATURES,   true,  sizeof(struct shca_offloads_set), 0, 0, shca_offloads_set },
	{ 0 },
};
/* clang-format on */

const struct shca_ethtool_command *
shca_ethtool_find(uint32_t command)
{
	for (const struct shca_ethtool_command *row = shca_ethtool_commands; row->run != NULL;
		row++)
		if (row->command == command)
			return row;
	return NULL;
}

size_t
shca_ethtool_length(const struct shca_ethtool_command *row, const void *structure)
{
	uint32_t count = 0;

	if (row->count_at != 0)
		memcpy(&count, (const uint8_t *)structure + row->count_at, sizeof(count));
	if (row->item_size != 0 && count > (SHCA_ETHTOOL_MAX - row->size) / row->item_size)
		return 0;
	return row->size + (size_t)count * row->item_size;
}

int
shca_ethtool_run(struct shca_device *dev, uint8_t *bytes, size_t *length)
{
	struct shca_ethtool_call call = { .dev = dev, .bytes = bytes, .length = *length };
	const struct shca_ethtool_command *row;
	uint32_t command;
	int ret;

	if (*length < sizeof(command))
		return -EINVAL;
	memcpy(&command, bytes, sizeof(command));
	row = shca_ethtool_find(command);
	if (row == NULL)
		return -EOPNOTSUPP;
	if (*length < row->size || *length != shca_ethtool_length(row, bytes))
		return -EINVAL;
	memset(bytes + *length, 0, SHCA_ETHTOOL_MAX - *length);
	shca_device_lock(dev);
	ret = row->run(&call);
	shca_device_unlock(dev);
	*length = call.length;
	return ret;
}
