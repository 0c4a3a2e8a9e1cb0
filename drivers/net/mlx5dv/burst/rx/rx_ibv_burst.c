/* SPDX-License-Identifier: BSD-3-Clause */
/* mode=ibv: the burst of the queue, between verbs' completions and verbs' receive requests
 * (queue/rx_ibv.h). */
#include <ethdev_driver.h>

#include "queue/cq_ibv.h"
#include "queue/rx/rx_ibv.h"
#include "rx.h"
#include "rx_ibv_burst.h"
#include "state/port.h"

void
mdv_rx_ibv_burst_select(struct mdv_rxq *rxq)
{
	const struct mdv_port *port = rxq->port;
	const uint64_t offloads = port->dev->data->dev_conf.rxmode.offloads;
	unsigned int opts = MDV_RX_SCATTER;

	opts |= rxq->split != NULL ? MDV_RX_SPLIT : 0;
	opts |= port->rx_metadata != 0 ? MDV_RX_MARK : 0;
	opts |= offloads & RTE_ETH_RX_OFFLOAD_TIMESTAMP ? MDV_RX_TIMESTAMP : 0;
	rxq->objs.ibv.burst = mdv_rx_select(opts, 0);
}

uint16_t
mdv_rx_ibv_burst(void *queue, struct rte_mbuf **pkts, uint16_t nb_pkts)
{
	struct mdv_rxq *rxq = queue;
	uint16_t nb;

	/* The ring looks refilled if the queue is stopped or could not be recreated. */
	if (!rxq->ready) {
		if (rxq->ring.runtime_opts & MDV_RX_RUNTIME_BROKEN)
			mdv_recover_ops.rx(rxq);
		return 0;
	}
	mdv_cq_look(&rxq->objs.cq, rxq->pos.cq_ci, nb_pkts);
	nb = rxq->objs.ibv.burst(rxq, pkts, nb_pkts);
	mdv_rx_ibv_post(rxq);
	return nb;
}
