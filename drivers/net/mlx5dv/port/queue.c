/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts and stops queues and keeps their states in ethdev. */
#include <errno.h>

#include <ethdev_driver.h>
#include <rte_errno.h>

#include "base/log.h"
#include "burst/rx/rx_ibv_burst.h"
#include "burst/tx/tx_ibv_burst.h"
#include "flow/rule/flow_state.h"
#include "mem/mr.h"
#include "mp/primary.h"
#include "queue.h"
#include "queue/rx/rx_intr.h"
#include "queue/rx/rx_split.h"
#include "queue/rx/rx_strides.h"
#include "queue/rx/rxq.h"
#include "queue/tx/tx_inline.h"
#include "queue/tx/txq.h"
#include "recover.h"
#include "state/port.h"

int
mdv_queue_rx_start(struct rte_eth_dev *dev, uint16_t idx)
{
	struct mdv_rxq *rxq = dev->data->rx_queues[idx];
	int ret = mdv_rxq_start(mdv_port(dev), idx);

	if (ret != 0)
		return ret;
	dev->data->rx_queue_state[idx] = RTE_ETH_QUEUE_STATE_STARTED;
	/* Left so by a process that was killed. A burst would have it recreated, too, but lose the
	 * packets that come until then; it tries again if this fails. */
	if (mdv_rxq_is_broken(rxq)) {
		ret = mdv_recover_rx_now(rxq);
		MDV_LOG(NOTICE, "port %u Rx queue %u: %s%s", dev->data->port_id, idx,
			ret == 0 ? "recreated" : "cannot be recreated yet: ",
			ret == 0 ? "" : rte_strerror(-ret));
	}
	return 0;
}

int
mdv_queue_rx_stop(struct rte_eth_dev *dev, uint16_t idx)
{
	int ret = mdv_rxq_stop(mdv_port(dev), idx);

	if (ret == 0)
		dev->data->rx_queue_state[idx] = RTE_ETH_QUEUE_STATE_STOPPED;
	return ret;
}

int
mdv_queue_tx_start(struct rte_eth_dev *dev, uint16_t idx)
{
	int ret = mdv_txq_start(mdv_port(dev), idx);

	if (ret == 0)
		dev->data->tx_queue_state[idx] = RTE_ETH_QUEUE_STATE_STARTED;
	return ret;
}

int
mdv_queue_tx_stop(struct rte_eth_dev *dev, uint16_t idx)
{
	int ret = mdv_txq_stop(mdv_port(dev), idx);

	if (ret == 0)
		dev->data->tx_queue_state[idx] = RTE_ETH_QUEUE_STATE_STOPPED;
	return ret;
}

/** A start selects the bursts of all queues; those of a queue set up later are selected here. */
static bool
is_running_ibv(const struct rte_eth_dev *dev)
{
	const struct mdv_port *port = mdv_port(dev);

	return port->started && port->device.caps.mode == MDV_MODE_IBV;
}

/**
 * Set up a queue of a running port. Rules point at the WQ that it had, which goes only if none
 * does. The locks keep rules from coming meanwhile: by the application's threads, and by the
 * recovery of another queue, which takes all of them out of the device and puts them back.
 */
static int
rx_setup_running(struct rte_eth_dev *dev, uint16_t idx, uint16_t nb_desc, unsigned int socket,
	const struct rte_eth_rxconf *conf, struct rte_mempool *pool)
{
	struct mdv_port *port = mdv_port(dev);
	int ret;

	mdv_queue_list_lock_objects(&port->queues);
	pthread_mutex_lock(&port->flow->lock);
	ret = mdv_rxq_setup(dev, idx, nb_desc, socket, conf, pool);
	pthread_mutex_unlock(&port->flow->lock);
	mdv_queue_list_unlock_objects(&port->queues);
	return ret;
}

int
mdv_queue_rx_setup(struct rte_eth_dev *dev, uint16_t idx, uint16_t nb_desc, unsigned int socket,
	const struct rte_eth_rxconf *conf, struct rte_mempool *pool)
{
	int ret = mdv_port(dev)->started ? rx_setup_running(dev, idx, nb_desc, socket, conf, pool)
					 : mdv_rxq_setup(dev, idx, nb_desc, socket, conf, pool);

	if (ret == 0 && is_running_ibv(dev))
		mdv_rx_ibv_burst_select(dev->data->rx_queues[idx]);
	return ret;
}

int
mdv_queue_tx_setup(struct rte_eth_dev *dev, uint16_t idx, uint16_t nb_desc, unsigned int socket,
	const struct rte_eth_txconf *conf)
{
	int ret = mdv_txq_setup(dev, idx, nb_desc, socket, conf);

	if (ret == 0 && is_running_ibv(dev))
		mdv_tx_ibv_burst_select(dev->data->tx_queues[idx]);
	/* The doorbell may be in another page than that of the previous queue. */
	if (ret == 0 && mdv_port(dev)->started)
		mdv_primary_doorbells(mdv_port(dev));
	return ret;
}

static int
rx_begin(struct rte_eth_dev *dev, uint16_t idx)
{
	const struct mdv_rxq *rxq = dev->data->rx_queues[idx];
	int ret;

	if (rxq == NULL) {
		MDV_LOG(ERR, "port %u: Rx queue %u is not set up", dev->data->port_id, idx);
		return -EINVAL;
	}
	ret = mdv_rxq_create(mdv_port(dev), idx);
	return ret != 0 || rxq->conf.rx_deferred_start ? ret : mdv_queue_rx_start(dev, idx);
}

static int
tx_begin(struct rte_eth_dev *dev, uint16_t idx)
{
	const struct mdv_txq *txq = dev->data->tx_queues[idx];
	int ret;

	if (txq == NULL) {
		MDV_LOG(ERR, "port %u: Tx queue %u is not set up", dev->data->port_id, idx);
		return -EINVAL;
	}
	ret = mdv_txq_create(mdv_port(dev), idx);
	return ret != 0 || txq->conf.tx_deferred_start ? ret : mdv_queue_tx_start(dev, idx);
}

/** Tx first: a port that receives before it can send may see frames it cannot answer. */
int
mdv_queue_start_all(struct rte_eth_dev *dev)
{
	uint16_t i;
	int ret;

	mdv_port(dev)->marks_in_use = false;
	ret = mdv_rx_strides_choose(mdv_port(dev));
	if (ret != 0)
		return ret;
	mdv_rx_split_choose(mdv_port(dev));
	mdv_tx_inline_choose(mdv_port(dev));
	ret = mdv_rx_intr_create(dev);
	for (i = 0; i < dev->data->nb_tx_queues && ret == 0; i++)
		ret = tx_begin(dev, i);
	for (i = 0; i < dev->data->nb_rx_queues && ret == 0; i++)
		ret = rx_begin(dev, i);
	if (ret != 0)
		mdv_queue_stop_all(dev);
	else if (mdv_port(dev)->config.mr_mempool_reg_en == MDV_MEMPOOL_REG_ON)
		mdv_mr_pools_register(mdv_port(dev)->mr);
	return ret;
}

/** Tx first: packets still to be sent may be in memory that an Rx queue has registered. */
void
mdv_queue_stop_all(struct rte_eth_dev *dev)
{
	struct mdv_port *port = mdv_port(dev);
	uint16_t i;

	for (i = 0; i < dev->data->nb_tx_queues; i++) {
		mdv_txq_destroy(port, i);
		dev->data->tx_queue_state[i] = RTE_ETH_QUEUE_STATE_STOPPED;
	}
	mdv_txq_destroy_parked(port);
	for (i = 0; i < dev->data->nb_rx_queues; i++) {
		mdv_rxq_destroy(port, i);
		dev->data->rx_queue_state[i] = RTE_ETH_QUEUE_STATE_STOPPED;
	}
	mdv_rxq_destroy_parked(port);
	mdv_rx_intr_destroy(dev);
	mdv_mr_caches_gone(port->mr);
}
