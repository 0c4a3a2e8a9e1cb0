/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses whether packets are inlined on send, and up to which length. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <ethdev_driver.h>

#include "base/log.h"
#include "device/sysfs.h"
#include "state/port.h"
#include "tx_inline.h"
#include "txq.h"

/** tx_inline=auto: what is inlined where it pays. Eight units of a WQE: longer frames leave less of
 * what a pointer costs to save. */
#define LEN_AUTO 124
/** tx_inline=auto: with fewer queues CPUs are full before PCI is (DPDK's mlx5 driver:
 * mlx5_prm.h MLX5_INLINE_MAX_TXQS). */
#define QUEUES_MIN_AUTO 8
/** Percents of a port's rate that its smallest frames take of the raw rate of PCI, if they are not
 * inlined: 102 bytes to the device for 84 on the wire, and 91 % of PCI carry TLPs
 * (doc/design/fastpath.md, "Bytes over PCI"). */
#define PCI_PERCENT 133

/** @return the raw rate of the device's PCI link, after its code, in Mbit/s; 0: unknown. */
static uint64_t
pci_mbps(const struct mdv_device *device)
{
	char path[MDV_SYSFS_PATH_BYTES], line[64] = "";
	uint64_t width;
	double gts;

	snprintf(path, sizeof(path), "%s/device/current_link_width", device->sysfs_path);
	if (mdv_sysfs_read_u64(path, &width) != 0)
		return 0;
	snprintf(path, sizeof(path), "%s/device/current_link_speed", device->sysfs_path);
	if (mdv_sysfs_read_line(path, line, sizeof(line)) != 0)
		return 0;
	/* "8.0 GT/s PCIe", or "Unknown" of a virtual function. */
	gts = strtod(line, NULL);
	/* 8 of 10 bits carry data up to 5 GT/s, later 128 of 130. */
	return (uint64_t)(gts * 1000 * (gts <= 5 ? 0.8 : 128.0 / 130)) * width;
}

static bool
is_ibv(const struct mdv_port *port)
{
	return port->device.caps.mode == MDV_MODE_IBV;
}

static bool
takes_one_a_wqe(const struct mdv_port *port)
{
	return !port->device.caps.tx_multi_packet;
}

static bool
has_few_queues(const struct mdv_port *port)
{
	return port->dev->data->nb_tx_queues < QUEUES_MIN_AUTO;
}

/** An unknown rate of either does not decide. */
static bool
has_wide_pci(const struct mdv_port *port)
{
	const uint64_t pci = pci_mbps(&port->device);
	uint32_t speed = 0;
	bool up;

	return pci != 0 && mdv_device_query_link(&port->device, &up, &speed) == 0 && speed != 0 &&
		(uint64_t)speed * PCI_PERCENT / 100 <= pci;
}

static bool
has_long_rings(const struct mdv_port *port)
{
	const struct rte_eth_dev_data *data = port->dev->data;
	uint16_t i;

	for (i = 0; i < data->nb_tx_queues; i++) {
		const struct mdv_txq *txq = data->tx_queues[i];

		if (txq != NULL && txq->nb_desc > mdv_txq_desc_max(&port->device.caps, LEN_AUTO))
			return true;
	}
	return false;
}

/* clang-format off */
/** Why tx_inline=auto inlines nothing; the first row that applies decides. */
static const struct {
	bool (*applies)(const struct mdv_port *port);
	const char *text;
} hindrances[] = {
	{ is_ibv, "it needs mode=dv" },
	{ takes_one_a_wqe, "the device takes one packet a WQE" },
	{ has_few_queues, "with fewer than 8 Tx queues CPUs are full before PCI is" },
	{ has_wide_pci, "PCI carries all that the port sends" },
	{ has_long_rings, "a Tx queue has too many descriptors for larger WQEs" },
};
/* clang-format on */

void
mdv_tx_inline_choose(struct mdv_port *port)
{
	const uint16_t port_id = port->dev->data->port_id;
	unsigned int i;

	port->tx_inline = port->config.tx_inline;
	if (port->tx_inline != MDV_TX_INLINE_AUTO)
		return;
	port->tx_inline = 0;
	for (i = 0; i < RTE_DIM(hindrances); i++) {
		if (!hindrances[i].applies(port))
			continue;
		MDV_LOG(INFO, "port %u: packets are not inlined on send: %s", port_id,
			hindrances[i].text);
		return;
	}
	port->tx_inline = LEN_AUTO;
	MDV_LOG(INFO,
		"port %u: packets of up to %u bytes are inlined on send: with %u Tx queues PCI may be full before CPUs are",
		port_id, LEN_AUTO, port->dev->data->nb_tx_queues);
}
