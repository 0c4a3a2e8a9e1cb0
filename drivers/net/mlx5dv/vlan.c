/* SPDX-License-Identifier: BSD-3-Clause */
/* VLAN offloads of a port, switched while it runs. */
#include <ethdev_driver.h>

#include "flow.h"
#include "port.h"
#include "rxq.h"
#include "vlan.h"

static int
strip_all(struct rte_eth_dev *dev, bool on)
{
	struct mdv_port *port = mdv_port(dev);
	uint16_t i;
	int ret;

	for (i = 0; i < dev->data->nb_rx_queues; i++) {
		ret = mdv_rxq_set_vlan_strip(port, i, on);
		if (ret != 0)
			goto undo;
	}
	return 0;

undo:
	while (i-- != 0)
		mdv_rxq_set_vlan_strip(port, i, !on);
	return ret;
}

int
mdv_vlan_offload_set(struct rte_eth_dev *dev, int mask)
{
	const bool strip =
		(dev->data->dev_conf.rxmode.offloads & RTE_ETH_RX_OFFLOAD_VLAN_STRIP) != 0;
	int ret = 0;

	if (mask & RTE_ETH_VLAN_STRIP_MASK)
		ret = strip_all(dev, strip);
	if (ret != 0 || !(mask & RTE_ETH_VLAN_FILTER_MASK))
		return ret;
	ret = mdv_flow_default_update(mdv_port(dev));
	if (ret != 0 && (mask & RTE_ETH_VLAN_STRIP_MASK))
		strip_all(dev, !strip);
	return ret;
}

void
mdv_vlan_strip_queue_set(struct rte_eth_dev *dev, uint16_t idx, int on)
{
	(void)mdv_rxq_set_vlan_strip(mdv_port(dev), idx, on != 0);
}

int
mdv_vlan_filter_set(struct rte_eth_dev *dev, uint16_t vid, int on)
{
	uint64_t *ids = &dev->data->vlan_filter_conf.ids[vid / 64];
	const uint64_t before = *ids, bit = UINT64_C(1) << vid % 64;
	int ret;

	*ids = on ? before | bit : before & ~bit;
	ret = mdv_flow_default_update(mdv_port(dev));
	if (ret != 0)
		*ids = before;
	return ret;
}
