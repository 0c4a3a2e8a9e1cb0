/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of extended statistics; reads them from the device and from the netdev. */
#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <ethdev_driver.h>

#include "device/device.h"
#include "kernel/netdev_stats.h"
#include "state/port.h"
#include "stats.h"
#include "xstats.h"

enum source {
	DEVICE, /**< a file of the verbs device's hw_counters, 32 bits */
	NETDEV, /**< a statistic of the netdev, 64 bits */
};

struct xstats_row {
	const char *name;    /**< as DPDK shows it */
	const char *counter; /**< as Linux does */
	enum source source;
};

#define BY_CAST(side, cast, what)                                                                  \
	{                                                                                          \
		side "_" cast "_" what, side "_vport_" cast "_" what, NETDEV                       \
	}
#define OF_PRIO(prio)                                                                              \
	{ "rx_prio" #prio "_buf_discard_packets", "rx_prio" #prio "_buf_discard", NETDEV },        \
	{                                                                                          \
		"rx_prio" #prio "_cong_discard_packets", "rx_prio" #prio "_cong_discard", NETDEV   \
	}

/* clang-format off */
/** Names are the in-tree mlx5 driver's where it has one, else Linux's. */
static const struct xstats_row xstats_rows[] = {
	{ "rx_out_of_buffer", "out_of_buffer", DEVICE },
	/* Counters of all verbs users. The kernel's documentation calls the receiving side
	 * responder. */
	{ "resp_cqe_error", "resp_cqe_error", DEVICE },
	{ "resp_cqe_flush_error", "resp_cqe_flush_error", DEVICE },
	{ "resp_local_length_error", "resp_local_length_error", DEVICE },
	{ "req_cqe_error", "req_cqe_error", DEVICE },
	{ "req_cqe_flush_error", "req_cqe_flush_error", DEVICE },

	BY_CAST("rx", "unicast", "packets"), BY_CAST("rx", "unicast", "bytes"),
	BY_CAST("rx", "multicast", "packets"), BY_CAST("rx", "multicast", "bytes"),
	BY_CAST("rx", "broadcast", "packets"), BY_CAST("rx", "broadcast", "bytes"),
	BY_CAST("tx", "unicast", "packets"), BY_CAST("tx", "unicast", "bytes"),
	BY_CAST("tx", "multicast", "packets"), BY_CAST("tx", "multicast", "bytes"),
	BY_CAST("tx", "broadcast", "packets"), BY_CAST("tx", "broadcast", "bytes"),

	{ "rx_phy_packets", "rx_packets_phy", NETDEV },
	{ "rx_phy_bytes", "rx_bytes_phy", NETDEV },
	{ "rx_phy_discard_packets", "rx_discards_phy", NETDEV },
	{ "rx_phy_crc_errors", "rx_crc_errors_phy", NETDEV },
	{ "rx_phy_in_range_len_errors", "rx_in_range_len_errors_phy", NETDEV },
	{ "rx_phy_symbol_errors", "rx_symbol_err_phy", NETDEV },
	{ "rx_wqe_errors", "rx_wqe_err", NETDEV },
	{ "tx_phy_packets", "tx_packets_phy", NETDEV },
	{ "tx_phy_bytes", "tx_bytes_phy", NETDEV },
	{ "tx_phy_discard_packets", "tx_discards_phy", NETDEV },
	{ "tx_phy_errors", "tx_errors_phy", NETDEV },

	OF_PRIO(0), OF_PRIO(1), OF_PRIO(2), OF_PRIO(3),
	OF_PRIO(4), OF_PRIO(5), OF_PRIO(6), OF_PRIO(7),

	/* Of a representor's netdev. */
	{ "rx_vport_packets", "vport_rx_packets", NETDEV },
	{ "rx_vport_bytes", "vport_rx_bytes", NETDEV },
	{ "tx_vport_packets", "vport_tx_packets", NETDEV },
	{ "tx_vport_bytes", "vport_tx_bytes", NETDEV },
};
/* clang-format on */
static_assert(RTE_DIM(xstats_rows) <= MDV_XSTATS_MAX, "a port has room for all");

/** Present values of the counters, by row. */
struct reading {
	bool found[RTE_DIM(xstats_rows)];
	uint64_t value[RTE_DIM(xstats_rows)];
};

static void
take_netdev_stat(const char *name, uint64_t value, void *arg)
{
	struct reading *now = arg;
	unsigned int i;

	for (i = 0; i < RTE_DIM(xstats_rows); i++) {
		if (xstats_rows[i].source == NETDEV && strcmp(xstats_rows[i].counter, name) == 0) {
			now->found[i] = true;
			now->value[i] = value;
		}
	}
}

static void
read_all(const struct mdv_port *port, struct reading *now)
{
	unsigned int i;

	memset(now, 0, sizeof(*now));
	for (i = 0; i < RTE_DIM(xstats_rows); i++) {
		if (xstats_rows[i].source == DEVICE)
			now->found[i] = mdv_device_read_counter(&port->device,
						xstats_rows[i].counter, &now->value[i]) == 0;
	}
	/* A counter that could not be read, for any reason, keeps its last value. */
	(void)mdv_netdev_stats_read(port->device.ifindex, take_netdev_stat, now);
}

void
mdv_xstats_init(struct mdv_port *port)
{
	struct mdv_xstats *xstats = &port->xstats;
	struct reading now;
	unsigned int i;

	read_all(port, &now);
	xstats->nb = 0;
	for (i = 0; i < RTE_DIM(xstats_rows); i++) {
		if (!now.found[i])
			continue;
		xstats->rows[xstats->nb] = i;
		xstats->base[xstats->nb] = xstats->last[xstats->nb] = now.value[i];
		xstats->nb++;
	}
}

/** Read the port's counters into last[]. @param anew those of 32 bits have not gone round */
static void
update(struct mdv_port *port, bool anew)
{
	struct mdv_xstats *xstats = &port->xstats;
	uint64_t before[MDV_XSTATS_MAX];
	struct reading now;
	uint16_t id;

	for (id = 0; id < xstats->nb; id++)
		before[id] = __atomic_load_n(&xstats->last[id], __ATOMIC_ACQUIRE);
	read_all(port, &now);
	for (id = 0; id < xstats->nb; id++) {
		const uint8_t row = xstats->rows[id];

		if (!now.found[row])
			continue;
		if (!anew && xstats_rows[row].source == DEVICE)
			(void)mdv_device_follow(&xstats->last[id], before[id], now.value[row]);
		else
			xstats->last[id] = now.value[row];
	}
}

static uint64_t
since_reset(const struct mdv_xstats *xstats, uint16_t id)
{
	/* The netdev's begin anew when the device recovers and the netdev stays (Linux
	 * mlx5e_resume()). */
	return xstats->last[id] > xstats->base[id] ? xstats->last[id] - xstats->base[id] : 0;
}

int
mdv_xstats_get(struct rte_eth_dev *dev, struct rte_eth_xstat *values, unsigned int nb)
{
	struct mdv_port *port = mdv_port(dev);
	const struct mdv_xstats *xstats = &port->xstats;
	uint16_t id;

	if (values == NULL || nb < xstats->nb)
		return xstats->nb;
	update(port, false);
	for (id = 0; id < xstats->nb; id++)
		values[id] = (struct rte_eth_xstat){ id, since_reset(xstats, id) };
	return xstats->nb;
}

static void
name_of(const struct mdv_xstats *xstats, uint16_t id, struct rte_eth_xstat_name *name)
{
	snprintf(name->name, sizeof(name->name), "%s", xstats_rows[xstats->rows[id]].name);
}

int
mdv_xstats_get_names(struct rte_eth_dev *dev, struct rte_eth_xstat_name *names, unsigned int nb)
{
	const struct mdv_xstats *xstats = &mdv_port(dev)->xstats;
	uint16_t id;

	if (names == NULL || nb < xstats->nb)
		return xstats->nb;
	for (id = 0; id < xstats->nb; id++)
		name_of(xstats, id, &names[id]);
	return xstats->nb;
}

static bool
ids_exist(const struct mdv_xstats *xstats, const uint64_t *ids, unsigned int nb)
{
	unsigned int i;

	for (i = 0; i < nb; i++) {
		if (ids[i] >= xstats->nb)
			return false;
	}
	return true;
}

int
mdv_xstats_get_by_id(
	struct rte_eth_dev *dev, const uint64_t *ids, uint64_t *values, unsigned int nb)
{
	struct mdv_port *port = mdv_port(dev);
	const struct mdv_xstats *xstats = &port->xstats;
	unsigned int i;

	if (ids == NULL)
		return xstats->nb;
	if (!ids_exist(xstats, ids, nb))
		return -EINVAL;
	update(port, false);
	for (i = 0; i < nb; i++)
		values[i] = since_reset(xstats, ids[i]);
	return nb;
}

int
mdv_xstats_get_names_by_id(struct rte_eth_dev *dev, const uint64_t *ids,
	struct rte_eth_xstat_name *names, unsigned int nb)
{
	const struct mdv_xstats *xstats = &mdv_port(dev)->xstats;
	unsigned int i;

	if (ids == NULL)
		return xstats->nb;
	if (!ids_exist(xstats, ids, nb))
		return -EINVAL;
	for (i = 0; i < nb; i++)
		name_of(xstats, ids[i], &names[i]);
	return nb;
}

int
mdv_xstats_reset(struct rte_eth_dev *dev)
{
	struct mdv_port *port = mdv_port(dev);

	update(port, true);
	memcpy(port->xstats.base, port->xstats.last, sizeof(port->xstats.base));
	/* ethdev shows the basic statistics among the extended ones. */
	return mdv_stats_reset(dev);
}
