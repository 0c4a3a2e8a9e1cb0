/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums the queues' counters over their base; the device adds what it had no buffers for. */
#include <ethdev_driver.h>
#include <rte_cycles.h>

#include "burst/rx/rx.h"
#include "burst/tx/tx.h"
#include "state/port.h"
#include "stats.h"

/** Milliseconds that a stop waits for a counter at most; Linux has 10. */
#define LIFESPAN_MAX 100u

/** The device counts for all users of the port: only differences mean anything. Where its count
 * cannot be read it is what it was. The base is read first, for a reset may come in between, and
 * a count is never below a base from before it. */
static uint64_t
missed_since_base(struct mdv_port *port)
{
	struct mdv_missed *count = &port->missed;
	const bool has_base = count->has_base;
	const uint64_t base = count->base;
	uint64_t now;

	if (mdv_device_read_counter(&port->device, MDV_DEVICE_OUT_OF_BUFFER, &now) != 0)
		return count->last;
	if (has_base) {
		count->last = mdv_device_counted(base, now);
		return mdv_device_counted(base, now);
	}
	count->base = now;
	count->has_base = true;
	return 0;
}

/** What the port has missed since the last reset of the statistics. */
static uint64_t
missed(struct mdv_port *port)
{
	return port->missed.before + (port->started ? missed_since_base(port) : 0);
}

/** From now on what the device counts may be ours. */
static void
begin_missed(struct mdv_port *port)
{
	port->missed.has_base = false;
	port->missed.base = port->missed.last = 0;
	(void)missed_since_base(port);
}

void
mdv_stats_start(struct mdv_port *port)
{
	begin_missed(port);
}

void
mdv_stats_stop(struct mdv_port *port)
{
	uint64_t lifespan;

	/* What Linux shows may be that old. */
	if (mdv_device_read_counter(&port->device, MDV_DEVICE_LIFESPAN, &lifespan) == 0)
		rte_delay_us_sleep(RTE_MIN(lifespan, LIFESPAN_MAX) * 1000);
	port->missed.before += missed_since_base(port);
}

static void
add_rxq(const struct mdv_rxq *rxq, uint16_t idx, struct rte_eth_stats *stats)
{
	uint64_t packets = rxq->count.packets - rxq->base.packets;
	uint64_t bytes = rxq->count.bytes - rxq->base.bytes;
	uint64_t errors = rxq->count.errors - rxq->base.errors;

	stats->ipackets += packets;
	stats->ibytes += bytes;
	stats->ierrors += errors;
	stats->rx_nombuf += rxq->count.nombuf - rxq->base.nombuf;
	if (idx < RTE_ETHDEV_QUEUE_STAT_CNTRS) {
		stats->q_ipackets[idx] = packets;
		stats->q_ibytes[idx] = bytes;
		stats->q_errors[idx] = errors;
	}
}

static void
add_txq(const struct mdv_txq *txq, uint16_t idx, struct rte_eth_stats *stats)
{
	uint64_t packets = txq->count.packets - txq->base.packets;
	uint64_t bytes = txq->count.bytes - txq->base.bytes;

	stats->opackets += packets;
	stats->obytes += bytes;
	stats->oerrors += txq->count.errors - txq->base.errors;
	if (idx < RTE_ETHDEV_QUEUE_STAT_CNTRS) {
		stats->q_opackets[idx] = packets;
		stats->q_obytes[idx] = bytes;
	}
}

int
mdv_stats_get(struct rte_eth_dev *dev, struct rte_eth_stats *stats)
{
	uint16_t i;

	for (i = 0; i < dev->data->nb_rx_queues; i++) {
		if (dev->data->rx_queues[i] != NULL)
			add_rxq(dev->data->rx_queues[i], i, stats);
	}
	for (i = 0; i < dev->data->nb_tx_queues; i++) {
		if (dev->data->tx_queues[i] != NULL)
			add_txq(dev->data->tx_queues[i], i, stats);
	}
	stats->imissed = missed(mdv_port(dev));
	return 0;
}

int
mdv_stats_reset(struct rte_eth_dev *dev)
{
	struct mdv_port *port = mdv_port(dev);
	uint16_t i;

	/* The queues' own threads go on counting: what they have now becomes the base. */
	for (i = 0; i < dev->data->nb_rx_queues; i++) {
		struct mdv_rxq *rxq = dev->data->rx_queues[i];

		if (rxq != NULL)
			rxq->base = rxq->count;
	}
	for (i = 0; i < dev->data->nb_tx_queues; i++) {
		struct mdv_txq *txq = dev->data->tx_queues[i];

		if (txq != NULL)
			txq->base = txq->count;
	}
	port->missed.before = 0;
	begin_missed(port);
	return 0;
}
