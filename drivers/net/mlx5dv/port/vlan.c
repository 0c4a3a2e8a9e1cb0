/* SPDX-License-Identifier: BSD-3-Clause */
/* VLAN offloads of a port, switched while it runs. */
#include <ethdev_driver.h>

#include "base/log.h"
#include "flow/rule/flow_default.h"
#include "queue/rx/rxq.h"
#include "state/port.h"
#include "vlan.h"

/** For each queue whether it strips tags; vlan_strip_queue_set may have set them differently. */
typedef bool strips_t[RTE_MAX_QUEUES_PER_PORT];

/** Restore the first @p nb queues. */
static void
restore(struct rte_eth_dev *dev, const strips_t before, uint16_t nb)
{
	while (nb-- != 0)
		mdv_rxq_set_vlan_strip(mdv_port(dev), nb, before[nb]);
}

static int
strip_all(struct rte_eth_dev *dev, bool on, strips_t before)
{
	uint16_t i;

	for (i = 0; i < dev->data->nb_rx_queues; i++) {
		const struct mdv_rxq *rxq = dev->data->rx_queues[i];
		int ret;

		before[i] = rxq != NULL && rxq->vlan_strip;
		ret = mdv_rxq_set_vlan_strip(mdv_port(dev), i, on);
		if (ret != 0) {
			restore(dev, before, i);
			return ret;
		}
	}
	return 0;
}

int
mdv_vlan_offload_set(struct rte_eth_dev *dev, int mask)
{
	const bool strip =
		(dev->data->dev_conf.rxmode.offloads & RTE_ETH_RX_OFFLOAD_VLAN_STRIP) != 0;
	strips_t before;
	int ret = 0;

	if (mask & RTE_ETH_VLAN_STRIP_MASK)
		ret = strip_all(dev, strip, before);
	if (ret != 0 || !(mask & RTE_ETH_VLAN_FILTER_MASK))
		return ret;
	ret = mdv_flow_default_update(mdv_port(dev));
	if (ret != 0 && (mask & RTE_ETH_VLAN_STRIP_MASK))
		restore(dev, before, dev->data->nb_rx_queues);
	return ret;
}

void
mdv_vlan_strip_queue_set(struct rte_eth_dev *dev, uint16_t idx, int on)
{
	/* ethdev asks this of any device, and a queue of one that cannot would not start. */
	if (on && !mdv_port(dev)->device.caps.cvlan_strip)
		MDV_LOG(ERR, "port %u Rx queue %u: the device strips no VLAN tags",
			dev->data->port_id, idx);
	else
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
