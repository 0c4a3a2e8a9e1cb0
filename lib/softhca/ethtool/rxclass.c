/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules of the netdev, asked for and given by ethtool. */
#include "ethtool/rxclass.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <stddef.h>
#include <string.h>

#include "ethtool/command.h"
#include "ethtool/flow.h"
#include "hw/device/device.h"
#include "steering/ethtool.h"

static struct ethtool_rxnfc *
rxnfc_of(struct shca_ethtool_call *call)
{
	return (struct ethtool_rxnfc *)(void *)call->bytes;
}

int
shca_rxclass_rings(struct shca_ethtool_call *call)
{
	rxnfc_of(call)->data = shca_ethtool_queues(shca_device_steering(call->dev));
	return 0;
}

/** Without RX_CLS_LOC_SPECIAL: ethtool chooses a location itself. */
int
shca_rxclass_count(struct shca_ethtool_call *call)
{
	const struct shca_steering *steering = shca_device_steering(call->dev);
	struct ethtool_rxnfc *rxnfc = rxnfc_of(call);

	rxnfc->rule_cnt = 0;
	for (uint32_t i = 0; i < SHCA_ETHTOOL_LOCATIONS; i++)
		rxnfc->rule_cnt += shca_ethtool_get(steering, i) != NULL;
	return 0;
}

int
shca_rxclass_get(struct shca_ethtool_call *call)
{
	struct ethtool_rxnfc *rxnfc = rxnfc_of(call);
	const struct ethtool_rx_flow_spec *spec;

	if (rxnfc->fs.location >= SHCA_ETHTOOL_LOCATIONS)
		return -EINVAL;
	spec = shca_ethtool_get(shca_device_steering(call->dev), rxnfc->fs.location);
	if (spec == NULL)
		return -ENOENT;
	rxnfc->fs = *spec;
	return 0;
}

/** As mlx5e_ethtool_get_all_flows(), whose last look-up decides: more room than rules is EINVAL. */
int
shca_rxclass_list(struct shca_ethtool_call *call)
{
	const struct shca_steering *steering = shca_device_steering(call->dev);
	struct ethtool_rxnfc *rxnfc = rxnfc_of(call);
	uint32_t nb = 0;

	rxnfc->data = SHCA_ETHTOOL_LOCATIONS;
	for (uint32_t i = 0; i < SHCA_ETHTOOL_LOCATIONS && nb < rxnfc->rule_cnt; i++)
		if (shca_ethtool_get(steering, i) != NULL)
			rxnfc->rule_locs[nb++] = i;
	return nb < rxnfc->rule_cnt ? -EINVAL : 0;
}

int
shca_rxclass_insert(struct shca_ethtool_call *call)
{
	struct shca_steering *steering = shca_device_steering(call->dev);
	struct shca_ethtool_attr attr;
	const char *why;
	int ret =
		shca_ethtool_flow_parse(&rxnfc_of(call)->fs, shca_ethtool_queues(steering), &attr);

	/* mlx5e makes no rule that names nothing, and does not say so. */
	if (ret <= 0)
		return ret;
	return shca_ethtool_add(steering, &attr, &why);
}

int
shca_rxclass_delete(struct shca_ethtool_call *call)
{
	return shca_ethtool_del(shca_device_steering(call->dev), rxnfc_of(call)->fs.location);
}
