/* SPDX-License-Identifier: BSD-3-Clause */
/* Life of a send queue: set up, created (verbs objects, rings), started, recovered, stopped,
 * released. */
#include <assert.h>
#include <errno.h>

#include <ethdev_driver.h>
#include <rte_malloc.h>

#include "base/log.h"
#include "device/uar.h"
#include "state/port.h"
#include "tx_ibv.h"
#include "tx_inline.h"
#include "tx_limits.h"
#include "txq.h"
#include "txq_ring.h"

static_assert(RTE_DIM(mdv_uar_regs) <= 1 << 23, "bits of uar_slot");

/** WQE counters have 16 bits, and a full ring must differ from an empty one. */
#define DESC_MAX 32768u

static struct mdv_txq *
txq_get(const struct mdv_port *port, uint16_t idx)
{
	const struct rte_eth_dev_data *data = port->dev->data;

	return idx < data->nb_tx_queues ? data->tx_queues[idx] : NULL;
}

uint16_t
mdv_txq_desc_max(const struct mdv_caps *caps, uint16_t inline_max)
{
	uint32_t max = RTE_MIN(caps->max_qp_wr, DESC_MAX);

	/* Verbs reserves room for the largest WQE for each descriptor. */
	if (caps->mode == MDV_MODE_IBV)
		max /= MDV_TX_IBV_BBS;
	return rte_align32prevpow2(max) >> mdv_tx_inline_log2_bbs(inline_max);
}

/** @return the length up to which a queue of the port will inline; tx_inline=auto is decided when
 * the port starts, and inlines only what its queues have room for. */
static uint16_t
inline_max_of(const struct mdv_port *port)
{
	if (port->started || port->config.tx_inline != MDV_TX_INLINE_AUTO)
		return port->started ? port->tx_inline : port->config.tx_inline;
	return 0;
}

static bool
is_ibv(const struct mdv_txq *txq)
{
	return txq->port->device.caps.mode == MDV_MODE_IBV;
}

/** @return the place of the released queue of this number; NULL is there: there is none. Under
 * queues.lock. */
static struct mdv_txq **
parked_at(struct mdv_port *port, uint16_t idx)
{
	struct mdv_txq **at = &port->parked_tx;

	while (*at != NULL && (*at)->idx != idx)
		at = &(*at)->next_parked;
	return at;
}

/** @return the released queue of this number of a running port, or NULL. @param take out of the
 * list, where events find it */
static struct mdv_txq *
parked_get(struct mdv_port *port, uint16_t idx, bool take)
{
	struct mdv_txq **at, *txq;

	pthread_mutex_lock(&port->queues.lock);
	at = parked_at(port, idx);
	txq = *at;
	if (take && txq != NULL)
		*at = txq->next_parked;
	pthread_mutex_unlock(&port->queues.lock);
	return txq;
}

/**
 * Give a queue of a running port its objects: the previous ones if they fit. A new QP would be
 * younger than the receive queues, and its broadcasts could then come back to these (VPP
 * df213385d39).
 */
static int
setup_running(struct mdv_txq *txq)
{
	struct mdv_txq *parked = parked_get(txq->port, txq->idx, false);

	if (parked == NULL)
		return mdv_txq_ring_create(txq);
	/* The running port's statistics go on. */
	txq->count = parked->count;
	txq->errors = parked->errors;
	txq->base = parked->base;
	txq->base_errors = parked->base_errors;
	/* Verbs sized the QP for the queue's descriptors and, in mode=ibv, for its offloads. */
	if (parked->nb_desc != txq->nb_desc ||
		(is_ibv(txq) && parked->conf.offloads != txq->conf.offloads)) {
		mdv_txq_ring_destroy(parked);
		rte_free(parked_get(txq->port, txq->idx, true));
		return mdv_txq_ring_create(txq);
	}
	mdv_txq_ring_adopt(txq, parked);
	return 0;
}

static void
list_add(struct mdv_port *port, struct mdv_txq *txq)
{
	struct mdv_txq **at, *parked;

	pthread_mutex_lock(&port->queues.lock);
	LIST_INSERT_HEAD(&port->queues.tx, txq, next);
	at = parked_at(port, txq->idx);
	parked = *at != NULL && (*at)->objs.qp == txq->objs.qp ? *at : NULL;
	/* The CQ of the objects that it took over may have failed meanwhile. */
	if (parked != NULL) {
		txq->ring.broken |= parked->ring.broken;
		*at = parked->next_parked;
	}
	pthread_mutex_unlock(&port->queues.lock);
	rte_free(parked);
}

int
mdv_txq_setup(struct rte_eth_dev *dev, uint16_t idx, uint16_t nb_desc, unsigned int socket,
	const struct rte_eth_txconf *conf)
{
	struct mdv_port *port = mdv_port(dev);
	uint16_t port_id = dev->data->port_id;
	uint16_t inline_max = inline_max_of(port);
	uint16_t max = mdv_txq_desc_max(&port->device.caps, inline_max);
	struct mdv_txq *txq;
	int ret;

	if (nb_desc > max || nb_desc == 0) {
		MDV_LOG(ERR, "port %u Tx queue %u: %u descriptors, the device takes 1 to %u%s",
			port_id, idx, nb_desc, max,
			inline_max == 0 ? "" : " of inlined packets (tx_inline=)");
		return -EINVAL;
	}
	txq = rte_zmalloc_socket("mdv_txq", sizeof(*txq), RTE_CACHE_LINE_SIZE, socket);
	if (txq == NULL) {
		MDV_LOG(ERR, "port %u Tx queue %u: no memory", port_id, idx);
		return -ENOMEM;
	}
	txq->port = port;
	txq->port_id = port_id;
	txq->idx = idx;
	txq->ring.uar_slot = mdv_uar_slot(port_id, idx);
	txq->conf = *conf;
	/* ethdev removes a port's offloads from its queues' offloads; add them again. */
	txq->conf.offloads |= dev->data->dev_conf.txmode.offloads;
	txq->limits = mdv_tx_limits_of(&port->device.caps, txq->conf.offloads);
	txq->nb_desc = rte_align32pow2(RTE_MAX(nb_desc, MDV_TXQ_DESC_MIN));
	ret = port->started ? setup_running(txq) : 0;
	if (ret != 0) {
		rte_free(txq);
		return ret;
	}
	list_add(port, txq);
	dev->data->tx_queues[idx] = txq;
	return 0;
}

void
mdv_txq_release(struct rte_eth_dev *dev, uint16_t idx)
{
	struct mdv_port *port = mdv_port(dev);
	struct mdv_txq *txq = dev->data->tx_queues[idx];

	if (txq == NULL)
		return;
	pthread_mutex_lock(&port->queues.lock);
	LIST_REMOVE(txq, next);
	if (txq->objs.qp != NULL) {
		txq->next_parked = port->parked_tx;
		port->parked_tx = txq;
	}
	pthread_mutex_unlock(&port->queues.lock);
	if (txq->objs.qp == NULL)
		rte_free(txq);
	dev->data->tx_queues[idx] = NULL;
}

void
mdv_txq_destroy_parked(struct mdv_port *port)
{
	struct mdv_txq *txq;

	while (port->parked_tx != NULL) {
		txq = parked_get(port, port->parked_tx->idx, true);
		mdv_txq_ring_destroy(txq);
		rte_free(txq);
	}
}

int
mdv_txq_create(struct mdv_port *port, uint16_t idx)
{
	struct mdv_txq *txq = txq_get(port, idx);

	/* All offloads are the port's, which may be configured again for queues that stay. */
	txq->conf.offloads = port->dev->data->dev_conf.txmode.offloads;
	txq->limits = mdv_tx_limits_of(&port->device.caps, txq->conf.offloads);
	return mdv_txq_ring_create(txq);
}

int
mdv_txq_start(struct mdv_port *port, uint16_t idx)
{
	struct mdv_txq *txq = txq_get(port, idx);
	int ret = mdv_txq_ring_ready(txq);

	if (ret != 0)
		return ret;
	mdv_txq_ring_clear(txq);
	/* Its CQ may be in error, and the next burst has both recreated, or a later one. */
	if (txq->ring.broken)
		mdv_txq_ring_look_full(txq);
	txq->ready = true;
	return 0;
}

int
mdv_txq_stop(struct mdv_port *port, uint16_t idx)
{
	return mdv_txq_ring_reset(txq_get(port, idx));
}

void
mdv_txq_destroy(struct mdv_port *port, uint16_t idx)
{
	struct mdv_txq *txq = txq_get(port, idx);

	if (txq != NULL && txq->objs.qp != NULL)
		mdv_txq_ring_destroy(txq);
}

int
mdv_txq_set_rate(struct rte_eth_dev *dev, uint16_t idx, uint32_t mbps)
{
	const struct mdv_caps *caps = &mdv_port(dev)->device.caps;
	struct mdv_txq *txq = txq_get(mdv_port(dev), idx);
	const uint64_t kbps = (uint64_t)mbps * 1000;
	uint16_t port_id = dev->data->port_id;
	int ret;

	if (txq == NULL) {
		MDV_LOG(ERR, "port %u: Tx queue %u is not set up", port_id, idx);
		return -EINVAL;
	}
	if (caps->rate_max_kbps == 0) {
		MDV_LOG(ERR, "port %u Tx queue %u: the device does not pace send queues", port_id,
			idx);
		return -ENOTSUP;
	}
	if (kbps != 0 && (kbps < caps->rate_min_kbps || kbps > caps->rate_max_kbps)) {
		MDV_LOG(ERR, "port %u Tx queue %u: %u Mbit/s, the device takes %u to %u kbit/s",
			port_id, idx, mbps, caps->rate_min_kbps, caps->rate_max_kbps);
		return -EINVAL;
	}
	mdv_queue_list_lock_objects(&mdv_port(dev)->queues);
	ret = txq->ready ? mdv_txq_ring_set_rate(txq, kbps) : 0;
	if (ret == 0)
		txq->rate_kbps = kbps;
	mdv_queue_list_unlock_objects(&mdv_port(dev)->queues);
	return ret;
}

void
mdv_txq_info_get(struct rte_eth_dev *dev, uint16_t idx, struct rte_eth_txq_info *info)
{
	const struct mdv_txq *txq = dev->data->tx_queues[idx];

	info->conf = txq->conf;
	info->nb_desc = txq->nb_desc;
}
