/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes broken queues of a running port anew. Secondary processes stand still meanwhile, and map
 * the doorbell of the new QP. */
#include <rte_cycles.h>
#include <rte_eal.h>

#include "flow.h"
#include "log.h"
#include "mr.h"
#include "port.h"
#include "primary.h"
#include "revive.h"
#include "rx.h"
#include "rxq_ring.h"
#include "tx.h"
#include "txq.h"

/** Longest pause between two tries. */
#define PAUSE_MAX_MS 1000u

void
mdv_revive_lock(struct mdv_port *port)
{
	pthread_mutex_lock(&port->queues.objects_lock);
}

void
mdv_revive_unlock(struct mdv_port *port)
{
	pthread_mutex_unlock(&port->queues.objects_lock);
}

/** Verbs is the primary process's; and of a device that is gone nothing more is to be had. */
static bool
is_time(const struct mdv_port *port, const struct mdv_revive_wait *wait)
{
	return rte_eal_process_type() == RTE_PROC_PRIMARY && !port->event.gone &&
		(wait->ms == 0 || rte_get_timer_cycles() >= wait->until);
}

/** @param side "Rx" or "Tx" */
static void
conclude(const struct mdv_port *port, const char *side, uint16_t idx, int ret,
	struct mdv_revive_wait *wait)
{
	if (ret == 0) {
		MDV_LOG(INFO, "port %u %s queue %u: made anew", port->dev->data->port_id, side,
			idx);
		wait->ms = 0;
		return;
	}
	wait->ms = wait->ms == 0 ? 1 : RTE_MIN(2 * wait->ms, PAUSE_MAX_MS);
	wait->until = rte_get_timer_cycles() + wait->ms * (rte_get_timer_hz() / 1000);
	MDV_LOG(INFO, "port %u %s queue %u: cannot be made anew: %s; next try in %u ms",
		port->dev->data->port_id, side, idx, rte_strerror(-ret), wait->ms);
}

/** Rules out, queue replaced, rules in. After a failure behind the first step rules are missing,
 * too, and all of it has to be done again. */
static int
replace_rx(struct mdv_port *port, struct mdv_rxq *rxq)
{
	struct mdv_rxq fresh = *rxq;
	int ret;

	ret = mdv_rxq_ring_create(&fresh);
	if (ret != 0)
		return ret;
	mdv_flow_stop(port);
	ret = mdv_rxq_ring_replace(rxq, &fresh);
	if (ret == 0)
		ret = mdv_flow_start(port);
	if (ret != 0)
		mdv_rxq_ring_break(rxq);
	return ret;
}

void
mdv_revive_rx(struct mdv_rxq *rxq)
{
	struct mdv_port *port = rxq->port;
	int ret;

	if (!is_time(port, &rxq->revive_wait) ||
		port->dev->data->rx_queue_state[rxq->idx] != RTE_ETH_QUEUE_STATE_STARTED)
		return;
	mdv_revive_lock(port);
	mdv_primary_stop(port);
	ret = replace_rx(port, rxq);
	mdv_primary_start(port);
	mdv_revive_unlock(port);
	conclude(port, "Rx", rxq->idx, ret, &rxq->revive_wait);
}

void
mdv_revive_tx(struct mdv_txq *txq)
{
	struct mdv_port *port = txq->port;
	int ret;

	if (!is_time(port, &txq->revive_wait) ||
		port->dev->data->tx_queue_state[txq->idx] != RTE_ETH_QUEUE_STATE_STARTED)
		return;
	mdv_revive_lock(port);
	mdv_primary_stop(port);
	ret = mdv_txq_replace(txq);
	mdv_primary_start(port);
	mdv_revive_unlock(port);
	conclude(port, "Tx", txq->idx, ret, &txq->revive_wait);
}
