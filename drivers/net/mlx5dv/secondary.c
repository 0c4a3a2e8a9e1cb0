/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports of the primary process, attached in another. */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <ethdev_driver.h>
#include <ethdev_vdev.h>

#include "ethdev.h"
#include "log.h"
#include "rxq.h"
#include "secondary.h"
#include "stats.h"
#include "txq.h"
#include "xstats.h"

static uint16_t
secondary_burst(
	__rte_unused void *queue, __rte_unused struct rte_mbuf **mbufs, __rte_unused uint16_t nb)
{
	static atomic_bool said;

	if (!atomic_exchange_explicit(&said, true, memory_order_relaxed))
		MDV_LOG(ERR,
			"a secondary process neither receives nor sends: packets are the "
			"primary's");
	return 0;
}

/* The primary keeps it in the shared data. */
static int
secondary_link_update(__rte_unused struct rte_eth_dev *dev, __rte_unused int wait)
{
	return 0;
}

/* What reads shared memory only, and changes nothing. */
static const struct eth_dev_ops secondary_ops = {
	.dev_infos_get = mdv_ethdev_infos_get,
	.dev_supported_ptypes_get = mdv_ethdev_supported_ptypes_get,
	.link_update = secondary_link_update,
	.rxq_info_get = mdv_rxq_info_get,
	.txq_info_get = mdv_txq_info_get,
	.stats_get = mdv_stats_get,
	.xstats_get = mdv_xstats_get,
	.xstats_get_names = mdv_xstats_get_names,
	.xstats_get_by_id = mdv_xstats_get_by_id,
	.xstats_get_names_by_id = mdv_xstats_get_names_by_id,
};

int
mdv_secondary_probe(struct rte_vdev_device *vdev)
{
	const char *name = rte_vdev_device_name(vdev);
	struct rte_eth_dev *dev = rte_eth_dev_attach_secondary(name);

	if (dev == NULL) {
		MDV_LOG(ERR, "%s: the primary process has no port of this name", name);
		return -ENODEV;
	}
	dev->device = &vdev->device;
	dev->dev_ops = &secondary_ops;
	dev->rx_pkt_burst = secondary_burst;
	dev->tx_pkt_burst = secondary_burst;
	rte_eth_dev_probing_finish(dev);
	return 0;
}

int
mdv_secondary_remove(struct rte_vdev_device *vdev)
{
	struct rte_eth_dev *dev = rte_eth_dev_allocated(rte_vdev_device_name(vdev));

	return dev != NULL ? rte_eth_dev_release_port(dev) : 0;
}
