/* SPDX-License-Identifier: BSD-3-Clause */
/* Registers, probes and removes the virtual device net_mlx5dv; has the order of construction and
 * its reverse, and what the bus passes on of memory. */
#include <errno.h>
#include <stdio.h>

#include <bus_vdev_driver.h>
#include <ethdev_driver.h>
#include <ethdev_vdev.h>
#include <rte_errno.h>
#include <rte_version.h>

#include "base/log.h"
#include "burst/tx/tx.h"
#include "ethdev.h"
#include "flow/flow.h"
#include "kernel/vf.h"
#include "mem/mr.h"
#include "port/dev.h"
#include "port/event.h"
#include "port/mac.h"
#include "port/recover.h"
#include "queue/rx/rxq.h"
#include "secondary.h"
#include "server.h"
#include "state/port.h"
#include "state/port_list.h"

/**
 * The driver uses structures of DPDK that change between releases, though never within a stable
 * series: the DPDK under it must be of the series it was built with.
 */
static int
check_version(const char *name)
{
	unsigned int built_year, built_month, built_minor = 0, year, month, minor = 0;

	if (sscanf(MDV_BUILD_DPDK_VERSION, "%u.%u.%u", &built_year, &built_month, &built_minor) <
			2 ||
		sscanf(rte_version(), "%*[^0-9]%u.%u.%u", &year, &month, &minor) < 2) {
		MDV_LOG(WARNING, "%s: built with DPDK %s, running under %s: cannot compare these",
			name, MDV_BUILD_DPDK_VERSION, rte_version());
		return 0;
	}
	if (built_year != year || built_month != month) {
		MDV_LOG(ERR,
			"%s: this driver was built with DPDK %s and runs under %s: build it again for the DPDK that is installed",
			name, MDV_BUILD_DPDK_VERSION, rte_version());
		return -ENOTSUP;
	}
	if (built_minor != minor)
		MDV_LOG(WARNING, "%s: built with DPDK %s, running under %s", name,
			MDV_BUILD_DPDK_VERSION, rte_version());
	return 0;
}

static void
ethdev_init(struct rte_eth_dev *dev)
{
	dev->dev_ops = &mdv_ethdev_ops;
	dev->rx_pkt_burst = rte_eth_pkt_burst_dummy;
	dev->tx_pkt_burst = rte_eth_pkt_burst_dummy;
	mdv_flow_set_ops(dev);
	dev->rx_queue_count = mdv_rxq_count;
	dev->rx_descriptor_status = mdv_rxq_descriptor_status;
	dev->tx_descriptor_status = mdv_tx_done_status;
	dev->data->mtu = mdv_port(dev)->mtu;
	dev->data->dev_flags |=
		RTE_ETH_DEV_AUTOFILL_QUEUE_XSTATS | RTE_ETH_DEV_FLOW_OPS_THREAD_SAFE;
}

static int
probe(struct rte_vdev_device *vdev)
{
	const char *name = rte_vdev_device_name(vdev);
	struct mdv_config config;
	struct rte_eth_dev *dev;
	int ret;

	ret = check_version(name);
	if (ret != 0)
		return ret;
	mdv_recover_register();
	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return mdv_secondary_probe(vdev, &mdv_ethdev_secondary_ops);
	ret = mdv_server_listen();
	if (ret != 0)
		return ret;
	ret = mdv_devargs_parse(name, rte_vdev_device_args(vdev), &config);
	if (ret != 0)
		return ret;
	if (rte_eth_dev_allocated(name) != NULL) {
		MDV_LOG(ERR, "%s: there is a port of this name already", name);
		return -EEXIST;
	}
	dev = rte_eth_vdev_allocate(vdev, sizeof(struct mdv_port));
	if (dev == NULL) {
		MDV_LOG(ERR, "%s: cannot allocate a port", name);
		return -ENOMEM;
	}
	ret = mdv_dev_open(dev, &config);
	if (ret != 0)
		goto release;
	ret = mdv_mac_init(dev);
	if (ret != 0)
		goto close;
	ethdev_init(dev);
	mdv_vf_tell(name, &mdv_port(dev)->device);
	mdv_event_install(mdv_port(dev));
	MDV_LOG(INFO, "%s: port %u on %s, port %u of it%s%s", name, dev->data->port_id,
		mdv_port(dev)->device.name, mdv_port(dev)->device.port_num,
		mdv_port(dev)->device.ifname[0] == '\0' ? "" : ", beside netdev ",
		mdv_port(dev)->device.ifname);
	rte_eth_dev_probing_finish(dev);
	mdv_port_list_add(mdv_port(dev));
	return 0;

close:
	mdv_dev_close(dev);
release:
	rte_eth_dev_release_port(dev);
	return ret;
}

static int
detach(struct rte_vdev_device *vdev)
{
	struct rte_eth_dev *dev;

	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return mdv_secondary_remove(vdev);
	dev = rte_eth_dev_allocated(rte_vdev_device_name(vdev));
	/* A closed port has no ethdev any more. */
	if (dev == NULL)
		return 0;
	mdv_dev_close(dev);
	return rte_eth_dev_release_port(dev);
}

/** @return the port, of which the primary process registers memory, or NULL with rte_errno set */
static struct mdv_port *
port_of(const struct rte_vdev_device *vdev)
{
	const struct rte_eth_dev *dev = rte_eth_dev_allocated(rte_vdev_device_name(vdev));
	const bool primary = rte_eal_process_type() == RTE_PROC_PRIMARY;

	rte_errno = primary ? ENODEV : ENOTSUP;
	return dev != NULL && primary ? mdv_port(dev) : NULL;
}

/** The EAL knows the memory, so it is registered when a packet in it is met. */
static int
dma_map(struct rte_vdev_device *vdev, __rte_unused void *addr, __rte_unused uint64_t iova,
	__rte_unused size_t len)
{
	return port_of(vdev) == NULL ? -1 : 0;
}

/** The EAL tells nobody when an application takes back external memory. */
static int
dma_unmap(struct rte_vdev_device *vdev, void *addr, __rte_unused uint64_t iova, size_t len)
{
	const struct mdv_port *port = port_of(vdev);

	if (port == NULL)
		return -1;
	mdv_mr_memory_event(RTE_MEM_EVENT_FREE, addr, len, port->mr);
	return 0;
}

static struct rte_vdev_driver mdv_probe_driver = {
	.probe = probe,
	.remove = detach,
	.dma_map = dma_map,
	.dma_unmap = dma_unmap,
};

RTE_PMD_REGISTER_VDEV(net_mlx5dv, mdv_probe_driver);
RTE_PMD_REGISTER_PARAM_STRING(net_mlx5dv,
	"ibdev=<verbs device> iface=<netdev> port=<number> sniff=none|rx|all rx_cqe_comp=auto|off|hash|csum passthru_move=on|off tx_max_burst_sz=<bytes> tx_typical_pkt_sz=<bytes> mode=auto|dv|ibv relaxed_ordering=auto|on|off sq_db_nc=auto|0|1 txq_inline_min=auto|18|58|78 mprq=off|auto|on mr_mempool_reg_en=0|1 tx_inline=<bytes>|auto");
