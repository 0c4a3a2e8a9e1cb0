/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums the queues' counters since the reset, and adds the packets that found no buffer, which the
 * device counts. */
#include <ethdev_driver.h>
#include <rte_cycles.h>

#include "queue/rx/rxq.h"
#include "queue/tx/txq.h"
#include "state/port.h"
#include "stats.h"

/** Longest time that a stop waits for a counter to be current; Linux's lifespan is 10 ms. */
#define LIFESPAN_MAX_MS 100u

/** Read the terms while another thread may publish new ones. @param[out] seen that of the terms */
static struct mdv_missed_terms
terms_read(struct mdv_missed *missed, uint64_t **seen)
{
	struct mdv_missed_terms terms;
	uint32_t seq;

	do {
		struct mdv_missed_terms *from;

		seq = __atomic_load_n(&missed->seq, __ATOMIC_ACQUIRE);
		from = &missed->terms[seq & 1];
		terms.before = __atomic_load_n(&from->before, __ATOMIC_RELAXED);
		terms.base = __atomic_load_n(&from->base, __ATOMIC_RELAXED);
		terms.seen = __atomic_load_n(&from->seen, __ATOMIC_RELAXED);
		terms.counting = __atomic_load_n(&from->counting, __ATOMIC_RELAXED);
		*seen = &from->seen;
		/* Orders these loads before that of seq. */
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (__atomic_load_n(&missed->seq, __ATOMIC_RELAXED) != seq);
	return terms;
}

/** Publish new terms. Start, stop and reset of a port do not run at the same time (ethdev). */
static void
terms_write(struct mdv_missed *missed, const struct mdv_missed_terms *terms)
{
	const uint32_t seq = missed->seq + 1;
	struct mdv_missed_terms *to = &missed->terms[seq & 1];

	/* Orders the store of the current seq before these: its readers no longer look at @p to. */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&to->before, terms->before, __ATOMIC_RELAXED);
	__atomic_store_n(&to->base, terms->base, __ATOMIC_RELAXED);
	__atomic_store_n(&to->seen, terms->base, __ATOMIC_RELAXED);
	__atomic_store_n(&to->counting, terms->counting, __ATOMIC_RELAXED);
	__atomic_store_n(&missed->seq, seq, __ATOMIC_RELEASE);
}

/**
 * Frames missed since the last reset of the statistics. Reads the terms before the device's count,
 * so that the count is not below its base if a reset comes in between. If the count cannot be read,
 * the device is being removed, and only the frames of earlier starts are known.
 */
static uint64_t
missed_frames(struct mdv_port *port)
{
	uint64_t *seen, now;
	const struct mdv_missed_terms terms = terms_read(&port->missed, &seen);

	if (!terms.counting ||
		mdv_device_read_counter(&port->device, MDV_DEVICE_OUT_OF_BUFFER, &now) != 0)
		return terms.before;
	return terms.before + mdv_device_follow(seen, terms.seen, now) - terms.base;
}

/** Make the device's present count the base; @p before are the frames counted earlier. */
static void
begin_missed(struct mdv_port *port, uint64_t before)
{
	struct mdv_missed_terms terms = { .before = before };

	terms.counting =
		mdv_device_read_counter(&port->device, MDV_DEVICE_OUT_OF_BUFFER, &terms.base) == 0;
	terms_write(&port->missed, &terms);
}

void
mdv_stats_start(struct mdv_port *port)
{
	uint64_t *seen;

	begin_missed(port, terms_read(&port->missed, &seen).before);
}

void
mdv_stats_stop(struct mdv_port *port)
{
	struct mdv_missed_terms terms = { 0 };
	uint64_t lifespan;

	/* Linux may show a count that is that old. */
	if (mdv_device_read_counter(&port->device, MDV_DEVICE_LIFESPAN, &lifespan) == 0)
		rte_delay_us_sleep(RTE_MIN(lifespan, LIFESPAN_MAX_MS) * 1000);
	terms.before = missed_frames(port);
	terms_write(&port->missed, &terms);
}

static void
add_rxq(const struct mdv_rxq *rxq, uint16_t idx, struct rte_eth_stats *stats,
	struct eth_queue_stats *queues)
{
	uint64_t packets = rxq->count.packets - rxq->base.packets;
	uint64_t bytes = rxq->count.bytes - rxq->base.bytes;
	uint64_t errors = rxq->count.errors - rxq->base.errors;

	stats->ipackets += packets;
	stats->ibytes += bytes;
	stats->ierrors += errors;
	stats->rx_nombuf += rxq->count.nombuf - rxq->base.nombuf;
	if (queues != NULL && idx < RTE_ETHDEV_QUEUE_STAT_CNTRS) {
		queues->q_ipackets[idx] = packets;
		queues->q_ibytes[idx] = bytes;
		queues->q_errors[idx] = errors;
	}
}

static void
add_txq(const struct mdv_txq *txq, uint16_t idx, struct rte_eth_stats *stats,
	struct eth_queue_stats *queues)
{
	uint64_t packets = mdv_txq_since(txq->count.packets, txq->base.packets);
	uint64_t bytes = mdv_txq_since(txq->count.bytes, txq->base.bytes);

	stats->opackets += packets;
	stats->obytes += bytes;
	stats->oerrors += txq->errors - txq->base_errors;
	if (queues != NULL && idx < RTE_ETHDEV_QUEUE_STAT_CNTRS) {
		queues->q_opackets[idx] = packets;
		queues->q_obytes[idx] = bytes;
	}
}

int
mdv_stats_get(MDV_COMPAT_STATS_ARGS(dev, stats, queues))
{
	struct eth_queue_stats *by_queue = MDV_COMPAT_QUEUE_STATS(stats, queues);
	uint16_t i;

	for (i = 0; i < dev->data->nb_rx_queues; i++) {
		if (dev->data->rx_queues[i] != NULL)
			add_rxq(dev->data->rx_queues[i], i, stats, by_queue);
	}
	for (i = 0; i < dev->data->nb_tx_queues; i++) {
		if (dev->data->tx_queues[i] != NULL)
			add_txq(dev->data->tx_queues[i], i, stats, by_queue);
	}
	stats->imissed = missed_frames(mdv_port(dev));
	return 0;
}

int
mdv_stats_reset(struct rte_eth_dev *dev)
{
	struct mdv_port *port = mdv_port(dev);
	uint16_t i;

	/* Polling threads still count, so their counters are not cleared: they become the base. */
	for (i = 0; i < dev->data->nb_rx_queues; i++) {
		struct mdv_rxq *rxq = dev->data->rx_queues[i];

		if (rxq != NULL)
			rxq->base = rxq->count;
	}
	for (i = 0; i < dev->data->nb_tx_queues; i++) {
		struct mdv_txq *txq = dev->data->tx_queues[i];

		if (txq == NULL)
			continue;
		txq->base = txq->count;
		txq->base_errors = txq->errors;
	}
	if (port->started)
		begin_missed(port, 0);
	else
		terms_write(&port->missed, &(const struct mdv_missed_terms){ 0 });
	return 0;
}
