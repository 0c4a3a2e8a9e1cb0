/* SPDX-License-Identifier: BSD-3-Clause */
/* Recreates broken queues of a running port. */
#include <errno.h>

#include <ethdev_driver.h>
#include <rte_cycles.h>
#include <rte_eal.h>

#include "base/log.h"
#include "flow/flow.h"
#include "mem/mr.h"
#include "mp/mp.h"
#include "mp/primary.h"
#include "queue/recover_ops.h"
#include "queue/rx/rxq_ring.h"
#include "queue/tx/txq.h"
#include "queue/tx/txq_ring.h"
#include "recover.h"
#include "state/port.h"

/** Longest pause between two tries. */
#define PAUSE_MAX_MS 1000u

/** A removed device cannot be recovered; a queue that failed waits until wait->until. */
static bool
is_time(const struct mdv_port *port, const struct mdv_recover_wait *wait)
{
	return !port->event.removed && (wait->ms == 0 || rte_get_timer_cycles() >= wait->until);
}

static bool
is_primary(void)
{
	return rte_eal_process_type() == RTE_PROC_PRIMARY;
}

/** port->dev is a pointer of the primary process; a secondary takes its own ethdev by number. */
static const struct rte_eth_dev_data *
data_of(const struct mdv_port *port, uint16_t port_id)
{
	return is_primary() ? port->dev->data : rte_eth_devices[port_id].data;
}

/** @param side "Rx" or "Tx" */
static void
conclude(uint16_t port_id, const char *side, uint16_t idx, int ret, struct mdv_recover_wait *wait)
{
	if (ret == 0) {
		MDV_LOG(INFO, "port %u %s queue %u: recreated", port_id, side, idx);
		wait->ms = 0;
		return;
	}
	wait->ms = wait->ms == 0 ? 1 : RTE_MIN(2 * wait->ms, PAUSE_MAX_MS);
	wait->until = rte_get_timer_cycles() + wait->ms * (rte_get_timer_hz() / 1000);
	MDV_LOG(INFO, "port %u %s queue %u: cannot be recreated: %s; next try in %u ms", port_id,
		side, idx, rte_strerror(-ret), wait->ms);
}

/** Remove the rules from the device, replace the queue, install the rules, also if that failed: the
 * other queues go on receiving, and a WQ is there in any case. The next try repeats all steps. The
 * new WQEs keep the old size although the MTU may have changed: frames of the old MTU may still
 * arrive, and a running queue may return to it. */
static int
replace_rx(struct mdv_port *port, struct mdv_rxq *rxq)
{
	struct mdv_rxq fresh = *rxq;
	int ret, started;

	fresh.ready = false;
	ret = mdv_rxq_ring_create(&fresh);
	if (ret != 0)
		return ret;
	mdv_flow_stop(port);
	ret = mdv_rxq_ring_replace(rxq, &fresh);
	started = mdv_flow_start(port);
	ret = ret != 0 ? ret : started;
	if (ret != 0)
		mdv_rxq_ring_break(rxq);
	return ret;
}

int
mdv_recover_rx_now(struct mdv_rxq *rxq)
{
	int ret;

	mdv_queue_list_lock_objects(&rxq->port->queues);
	ret = replace_rx(rxq->port, rxq);
	mdv_queue_list_unlock_objects(&rxq->port->queues);
	return ret;
}

int
mdv_recover_tx_now(struct mdv_txq *txq)
{
	int ret;

	mdv_queue_list_lock_objects(&txq->port->queues);
	ret = mdv_txq_ring_replace(txq);
	mdv_queue_list_unlock_objects(&txq->port->queues);
	return ret;
}

static void
try_rx(struct mdv_rxq *rxq)
{
	const struct rte_eth_dev_data *data = data_of(rxq->port, rxq->port_id);
	int ret;

	if (!is_time(rxq->port, &rxq->recover_wait) ||
		data->rx_queue_state[rxq->idx] != RTE_ETH_QUEUE_STATE_STARTED)
		return;
	ret = is_primary() ? mdv_recover_rx_now(rxq)
			   : mdv_mp_ask_recovery(MDV_MP_RECREATE_RX, rxq->port_id, rxq->idx, 0);
	conclude(rxq->port_id, "Rx", rxq->idx, ret, &rxq->recover_wait);
}

static void
try_tx(struct mdv_txq *txq)
{
	const struct rte_eth_dev_data *data = data_of(txq->port, txq->port_id);
	int ret;

	if (!is_time(txq->port, &txq->recover_wait) ||
		data->tx_queue_state[txq->idx] != RTE_ETH_QUEUE_STATE_STARTED)
		return;
	if (is_primary()) {
		ret = mdv_recover_tx_now(txq);
		if (ret == 0)
			mdv_primary_doorbells(txq->port);
	} else {
		ret = mdv_mp_ask_recovery(MDV_MP_RECREATE_TX, txq->port_id, txq->idx, 0);
	}
	conclude(txq->port_id, "Tx", txq->idx, ret, &txq->recover_wait);
}

void
mdv_recover_register(void)
{
	mdv_recover_ops = (struct mdv_recover_ops){ .rx = try_rx, .tx = try_tx };
}
