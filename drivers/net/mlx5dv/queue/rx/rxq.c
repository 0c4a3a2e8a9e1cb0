/* SPDX-License-Identifier: BSD-3-Clause */
/* Life of a receive queue: set up, created, started, stopped, released; and set up again while
 * rules point at it. */
#include <errno.h>
#include <string.h>

#include <ethdev_driver.h>
#include <rte_malloc.h>

#include "base/hw.h"
#include "base/log.h"
#include "queue/cq_ibv.h"
#include "rx_refill.h"
#include "rx_split.h"
#include "rx_strides.h"
#include "rxq.h"
#include "rxq_ring.h"
#include "state/port.h"

/** WQE counters have 16 bits, and a full ring must differ from an empty one. */
#define DESC_MAX 32768u

static struct mdv_rxq *
rxq_get(const struct mdv_port *port, uint16_t idx)
{
	const struct rte_eth_dev_data *data = port->dev->data;

	return idx < data->nb_rx_queues ? data->rx_queues[idx] : NULL;
}

uint16_t
mdv_rxq_desc_max(const struct mdv_caps *caps)
{
	uint32_t max = RTE_MIN(RTE_MIN(caps->max_qp_wr, caps->max_cqe), DESC_MAX);

	return rte_align32prevpow2(max);
}

/** The same as segs_of(), for a queue that splits packets. */
static int
segs_of_split(const struct mdv_rxq *rxq, uint16_t mtu, uint8_t *log2_segs)
{
	const uint32_t frame = mtu + MDV_FRAME_OVERHEAD;
	const uint32_t nb = mdv_rx_split_nb_segs(rxq->split, frame), nb_segs = rte_align32pow2(nb);
	const uint32_t max = mdv_rx_split_max(&rxq->port->device.caps);

	if (nb > rxq->split->nb && !(rxq->conf.offloads & RTE_ETH_RX_OFFLOAD_SCATTER)) {
		MDV_LOG(ERR,
			"port %u Rx queue %u: frames of MTU %u need %u bytes, the %u segments described take %u: enable RTE_ETH_RX_OFFLOAD_SCATTER or describe more",
			rxq->port_id, rxq->idx, mtu, frame, rxq->split->nb,
			mdv_rx_split_bytes(rxq->split));
		return -EINVAL;
	}
	if (nb_segs > max || nb_segs > rxq->nb_desc) {
		MDV_LOG(ERR,
			"port %u Rx queue %u: frames of MTU %u need %u segments as described, at most %u are possible with %u descriptors",
			rxq->port_id, rxq->idx, mtu, nb, max, rxq->nb_desc);
		return -EINVAL;
	}
	*log2_segs = rte_log2_u32(nb_segs);
	return 0;
}

/** @return log2 of the segments that a WQE needs for a frame of @p mtu, or -EINVAL, logged. */
static int
segs_of(const struct mdv_rxq *rxq, uint16_t mtu, uint8_t *log2_segs)
{
	const struct mdv_port *port = rxq->port;
	uint32_t frame = mtu + MDV_FRAME_OVERHEAD, nb_segs;
	uint32_t max_segs = mdv_rx_split_max(&port->device.caps);
	uint16_t port_id = port->dev->data->port_id;

	if (rxq->split != NULL)
		return segs_of_split(rxq, mtu, log2_segs);
	/* The first mbuf keeps its headroom; data starts at the beginning of the others. */
	nb_segs = (frame + rxq->headroom + rxq->room - 1) / rxq->room;
	if (nb_segs > 1 && !(rxq->conf.offloads & RTE_ETH_RX_OFFLOAD_SCATTER)) {
		MDV_LOG(ERR,
			"port %u Rx queue %u: frames of MTU %u need %u bytes, a buffer of mempool %s has %u: %suse larger buffers",
			port_id, rxq->idx, mtu, frame, rxq->pool->name, rxq->room - rxq->headroom,
			port->config.mprq == MDV_MPRQ_ON ? ""
							 : "enable RTE_ETH_RX_OFFLOAD_SCATTER or ");
		return -EINVAL;
	}
	nb_segs = rte_align32pow2(nb_segs);
	if (nb_segs > max_segs || nb_segs > rxq->nb_desc) {
		MDV_LOG(ERR,
			"port %u Rx queue %u: frames of MTU %u need %u buffers of mempool %s, at most %u are possible with %u descriptors",
			port_id, rxq->idx, mtu, nb_segs, rxq->pool->name, max_segs, rxq->nb_desc);
		return -EINVAL;
	}
	*log2_segs = rte_log2_u32(nb_segs);
	return 0;
}

int
mdv_rxq_check_mtu(const struct mdv_port *port, uint16_t idx, uint16_t mtu)
{
	const struct mdv_rxq *rxq = rxq_get(port, idx);
	uint8_t log2_segs;
	int ret;

	if (rxq == NULL)
		return 0;
	ret = segs_of(rxq, mtu, &log2_segs);
	if (ret == 0 && rxq->strides.log2_strides != 0 && rxq->objs.wq != NULL &&
		mtu + MDV_FRAME_OVERHEAD > rxq->strides.len_max) {
		MDV_LOG(ERR,
			"port %u Rx queue %u: MTU %u needs longer strides than the running queue's, which take %u bytes: stop the port first",
			port->dev->data->port_id, idx, mtu, rxq->strides.len_max);
		return -EBUSY;
	}
	if (ret == 0 && rxq->objs.wq != NULL && log2_segs > rxq->ring.log2_segs) {
		MDV_LOG(ERR,
			"port %u Rx queue %u: MTU %u needs %u buffers a frame, the running queue has %u: stop the port first",
			port->dev->data->port_id, idx, mtu, 1u << log2_segs,
			1u << rxq->ring.log2_segs);
		return -EBUSY;
	}
	return ret;
}

static int
setup_check(const struct rte_eth_dev *dev, uint16_t idx, uint16_t nb_desc,
	const struct rte_eth_rxconf *conf, struct rte_mempool *pool)
{
	uint16_t max = mdv_rxq_desc_max(&mdv_port(dev)->device.caps);
	uint16_t port_id = dev->data->port_id;

	if (nb_desc > max || nb_desc == 0) {
		MDV_LOG(ERR, "port %u Rx queue %u: %u descriptors, the device takes 1 to %u",
			port_id, idx, nb_desc, max);
		return -EINVAL;
	}
	if (conf->rx_nmempool != 0) {
		MDV_LOG(ERR,
			"port %u Rx queue %u: %u mempools to choose from by packet length (rx_mempools): the device does not choose",
			port_id, idx, conf->rx_nmempool);
		return -EINVAL;
	}
	if ((pool == NULL) == (conf->rx_nseg == 0)) {
		MDV_LOG(ERR,
			"port %u Rx queue %u: one mempool is wanted, or segments with one each (rx_seg), not both",
			port_id, idx);
		return -EINVAL;
	}
	if (pool != NULL && rte_pktmbuf_data_room_size(pool) <= RTE_PKTMBUF_HEADROOM) {
		MDV_LOG(ERR,
			"port %u Rx queue %u: the buffers of mempool %s have %u bytes, headroom is %u",
			port_id, idx, pool->name, rte_pktmbuf_data_room_size(pool),
			RTE_PKTMBUF_HEADROOM);
		return -EINVAL;
	}
	return 0;
}

static uint64_t
rearm_value(uint16_t port_id, uint16_t data_off)
{
	struct rte_mbuf mbuf = {
		.data_off = data_off,
		.nb_segs = 1,
		.port = port_id,
	};
	uint64_t rearm;

	rte_mbuf_refcnt_set(&mbuf, 1);
	memcpy(&rearm, &mbuf.rearm_data, sizeof(rearm));
	return rearm;
}

/** Set where packets go: the mbufs of one mempool, or of those of the segments described. */
static int
buffers_setup(struct mdv_rxq *rxq, struct rte_mempool *pool, unsigned int socket)
{
	int ret;

	rxq->headroom = RTE_PKTMBUF_HEADROOM;
	if (pool == NULL) {
		ret = mdv_rx_split_setup(rxq, socket);
		if (ret != 0)
			return ret;
	} else {
		rxq->pool = pool;
		rxq->room = rte_pktmbuf_data_room_size(pool);
		rxq->buf_offset = mdv_rx_refill_offset(pool, rxq->headroom);
	}
	rxq->rearm = rearm_value(rxq->port_id, rxq->headroom);
	return 0;
}

static void
rxq_free(struct mdv_rxq *rxq)
{
	rte_free(rxq->split);
	rte_free(rxq);
}

/** @return the place of the released queue whose objects the rules of a running port still point
 * at; NULL is there: there is none. Under queues.lock. */
static struct mdv_rxq **
parked_at(struct mdv_port *port, uint16_t idx)
{
	struct mdv_rxq **at = &port->parked;

	while (*at != NULL && (*at)->idx != idx)
		at = &(*at)->next_parked;
	return at;
}

/** @return that queue, or NULL. @param take out of the list, where events find it */
static struct mdv_rxq *
parked_get(struct mdv_port *port, uint16_t idx, bool take)
{
	struct mdv_rxq **at, *rxq;

	pthread_mutex_lock(&port->queues.lock);
	at = parked_at(port, idx);
	rxq = *at;
	if (take && rxq != NULL)
		*at = rxq->next_parked;
	pthread_mutex_unlock(&port->queues.lock);
	return rxq;
}

/** Under queues.lock. */
static void
park(struct mdv_port *port, struct mdv_rxq *rxq)
{
	rxq->next_parked = port->parked;
	port->parked = rxq;
}

/** The burst of a running port takes strides of all queues or of none. */
static int
shape_running(struct mdv_rxq *rxq)
{
	const struct mdv_port *port = rxq->port;
	char why[128];

	if (mdv_rx_strides_shape(rxq, port->mtu, port->strides, why, sizeof(why)) == 0)
		return 0;
	MDV_LOG(ERR, "port %u Rx queue %u: cannot be striding as the running port's are: %s",
		port->dev->data->port_id, rxq->idx, why);
	return -EBUSY;
}

/** @return whether the burst of the running port takes several segments a packet. In mode=ibv each
 * queue has a burst of its own, and all of them do. */
static bool
burst_chains(const struct mdv_port *port)
{
	return port->dev->data->scattered_rx || port->split ||
		port->device.caps.mode == MDV_MODE_IBV;
}

/** Give a queue of a running port its objects: the previous ones if they fit, or new ones if no
 * rule points at the previous ones. */
static int
setup_running(struct mdv_rxq *rxq)
{
	struct mdv_port *port = rxq->port;
	struct mdv_rxq *parked;
	int ret;

	/* In mode=ibv each queue has a burst of its own. */
	if (rxq->split != NULL && !port->split && port->device.caps.mode != MDV_MODE_IBV) {
		MDV_LOG(ERR,
			"port %u Rx queue %u: splits packets, which the running port's burst function does not do: stop the port first",
			port->dev->data->port_id, rxq->idx);
		return -EBUSY;
	}
	if (rxq->ring.log2_segs != 0 && !burst_chains(port)) {
		MDV_LOG(ERR,
			"port %u Rx queue %u: needs several buffers a frame, which the running port's burst function does not do: stop the port first",
			port->dev->data->port_id, rxq->idx);
		return -EBUSY;
	}
	ret = shape_running(rxq);
	if (ret != 0)
		return ret;
	parked = parked_get(port, rxq->idx, false);
	if (parked == NULL)
		return mdv_rxq_ring_create(rxq);
	/* The running port's statistics go on. */
	rxq->count = parked->count;
	rxq->base = parked->base;
	/* More buffers a frame than the present MTU needs do no harm, nor do longer strides. */
	if (parked->nb_desc == rxq->nb_desc && parked->ring.log2_segs >= rxq->ring.log2_segs &&
		parked->strides.log2_bytes >= rxq->strides.log2_bytes) {
		mdv_rxq_ring_adopt(rxq, parked);
		/* Packets may be copied to buffers of the new pool, of another size. */
		rxq->strides.len_max = mdv_rx_strides_len_max(rxq);
		rxq->ring.runtime_opts |= rxq->vlan_strip ? MDV_RX_RUNTIME_VLAN : 0;
		return 0;
	}
	ret = mdv_rxq_ring_destroy(parked);
	if (ret == -EBUSY)
		MDV_LOG(ERR,
			"port %u Rx queue %u: rules or RSS of the running port point at its ring of %u descriptors, %u buffers a frame: keep those, or remove the rules",
			port->dev->data->port_id, rxq->idx, parked->nb_desc,
			1u << parked->ring.log2_segs);
	if (ret != 0)
		return ret;
	rxq_free(parked_get(port, rxq->idx, true));
	return mdv_rxq_ring_create(rxq);
}

/** Add the port's offloads, which ethdev removes from its queues' offloads. */
static int
offloads_setup(struct mdv_rxq *rxq)
{
	int at;

	rxq->conf.offloads |= rxq->port->dev->data->dev_conf.rxmode.offloads;
	if (!(rxq->conf.offloads & RTE_ETH_RX_OFFLOAD_TIMESTAMP))
		return 0;
	if (rte_mbuf_dyn_rx_timestamp_register(&at, &rxq->timestamp_flag) != 0) {
		MDV_LOG(ERR, "port %u Rx queue %u: no room for timestamps in mbufs: %s",
			rxq->port->dev->data->port_id, rxq->idx, rte_strerror(rte_errno));
		return -rte_errno;
	}
	rxq->timestamp_at = at;
	rxq->timestamp_gap = rxq->port->device.caps.real_time ? MDV_HW_REAL_TIME_GAP : 0;
	return 0;
}

static void
list_add(struct mdv_port *port, struct mdv_rxq *rxq)
{
	struct mdv_rxq **at, *parked;

	pthread_mutex_lock(&port->queues.lock);
	LIST_INSERT_HEAD(&port->queues.rx, rxq, next);
	/* A rule that tags packets may have come while the queue was in no list. */
	rxq->ring.runtime_opts |= port->marks_in_use ? MDV_RX_RUNTIME_MARK : 0;
	at = parked_at(port, rxq->idx);
	parked = *at != NULL && (*at)->objs.wq == rxq->objs.wq ? *at : NULL;
	/* The CQ of the objects that it took over may have failed meanwhile. */
	if (parked != NULL) {
		rxq->ring.runtime_opts |= parked->ring.runtime_opts & MDV_RX_RUNTIME_BROKEN;
		*at = parked->next_parked;
	}
	pthread_mutex_unlock(&port->queues.lock);
	if (parked != NULL)
		rxq_free(parked);
}

int
mdv_rxq_setup(struct rte_eth_dev *dev, uint16_t idx, uint16_t nb_desc, unsigned int socket,
	const struct rte_eth_rxconf *conf, struct rte_mempool *pool)
{
	struct mdv_port *port = mdv_port(dev);
	struct mdv_rxq *rxq;
	int ret;

	ret = setup_check(dev, idx, nb_desc, conf, pool);
	if (ret != 0)
		return ret;
	rxq = rte_zmalloc_socket("mdv_rxq", sizeof(*rxq), RTE_CACHE_LINE_SIZE, socket);
	if (rxq == NULL) {
		MDV_LOG(ERR, "port %u Rx queue %u: no memory", dev->data->port_id, idx);
		return -ENOMEM;
	}
	rxq->port = port;
	rxq->port_id = dev->data->port_id;
	rxq->idx = idx;
	rxq->conf = *conf;
	rxq->nb_desc = rte_align32pow2(RTE_MAX(nb_desc, MDV_RXQ_DESC_MIN));
	ret = offloads_setup(rxq);
	rxq->vlan_strip = (rxq->conf.offloads & RTE_ETH_RX_OFFLOAD_VLAN_STRIP) != 0;
	if (ret == 0)
		ret = buffers_setup(rxq, pool, socket);
	if (ret == 0)
		ret = segs_of(rxq, dev->data->mtu, &rxq->ring.log2_segs);
	if (ret == 0 && port->started)
		ret = setup_running(rxq);
	if (ret != 0) {
		rxq_free(rxq);
		return ret;
	}
	if (port->started && rxq->ring.log2_segs != 0)
		dev->data->scattered_rx = 1;
	list_add(port, rxq);
	dev->data->rx_queues[idx] = rxq;
	return 0;
}

void
mdv_rxq_release(struct rte_eth_dev *dev, uint16_t idx)
{
	struct mdv_rxq *rxq = dev->data->rx_queues[idx];
	struct mdv_port *port = mdv_port(dev);

	if (rxq == NULL)
		return;
	pthread_mutex_lock(&port->queues.lock);
	LIST_REMOVE(rxq, next);
	if (rxq->objs.wq != NULL)
		park(port, rxq);
	pthread_mutex_unlock(&port->queues.lock);
	if (rxq->objs.wq == NULL)
		rxq_free(rxq);
	dev->data->rx_queues[idx] = NULL;
}

int
mdv_rxq_create(struct mdv_port *port, uint16_t idx)
{
	struct mdv_rxq *rxq = rxq_get(port, idx);
	char why[128];
	int ret;

	/* What firmware refused to destroy when the port stopped. */
	if (rxq->objs.wq != NULL) {
		ret = mdv_rxq_ring_destroy(rxq);
		if (ret != 0)
			return ret;
	}
	/* All are as the port's are now, but segments, which are in the place of a mempool. */
	rxq->conf.offloads &= RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT;
	ret = offloads_setup(rxq);
	ret = ret != 0 ? ret : segs_of(rxq, port->mtu, &rxq->ring.log2_segs);
	/* mdv_rx_strides_choose() has found that it can be. */
	if (ret == 0)
		ret = mdv_rx_strides_shape(rxq, port->mtu, port->strides, why, sizeof(why));
	return ret != 0 ? ret : mdv_rxq_ring_create(rxq);
}

int
mdv_rxq_start(struct mdv_port *port, uint16_t idx)
{
	return mdv_rxq_ring_ready(rxq_get(port, idx));
}

int
mdv_rxq_stop(struct mdv_port *port, uint16_t idx)
{
	return mdv_rxq_ring_reset(rxq_get(port, idx));
}

static void
ring_destroy(struct mdv_rxq *rxq)
{
	if (mdv_rxq_ring_destroy(rxq) == -EBUSY)
		MDV_LOG(ERR, "port %u Rx queue %u: cannot destroy the WQ: it is in use",
			rxq->port->dev->data->port_id, rxq->idx);
}

void
mdv_rxq_destroy(struct mdv_port *port, uint16_t idx)
{
	struct mdv_rxq *rxq = rxq_get(port, idx);

	if (rxq != NULL)
		ring_destroy(rxq);
}

void
mdv_rxq_destroy_parked(struct mdv_port *port)
{
	struct mdv_rxq *rxq;

	while (port->parked != NULL) {
		rxq = parked_get(port, port->parked->idx, true);
		ring_destroy(rxq);
		rxq_free(rxq);
	}
}

struct ibv_wq *
mdv_rxq_wq(struct mdv_port *port, uint16_t idx)
{
	const struct mdv_rxq *rxq = rxq_get(port, idx);

	if (rxq == NULL && idx < port->dev->data->nb_rx_queues)
		rxq = parked_get(port, idx, false);
	return rxq == NULL ? NULL : rxq->objs.wq;
}

/** The polling thread reads the options after it has seen a valid CQE. A CQE of the new kind comes
 * only after the system call that tells the device. */
static void
enable_runtime_opt(struct mdv_rxq *rxq, uint8_t what)
{
	__atomic_fetch_or(&rxq->ring.runtime_opts, what, __ATOMIC_RELAXED);
}

void
mdv_rxq_enable_marks(struct mdv_port *port)
{
	struct mdv_rxq *rxq;

	pthread_mutex_lock(&port->queues.lock);
	port->marks_in_use = true;
	LIST_FOREACH (rxq, &port->queues.rx, next)
		enable_runtime_opt(rxq, MDV_RX_RUNTIME_MARK);
	for (rxq = port->parked; rxq != NULL; rxq = rxq->next_parked)
		enable_runtime_opt(rxq, MDV_RX_RUNTIME_MARK);
	pthread_mutex_unlock(&port->queues.lock);
}

int
mdv_rxq_set_vlan_strip(struct mdv_port *port, uint16_t idx, bool on)
{
	struct mdv_rxq *rxq = rxq_get(port, idx);
	int ret;

	if (rxq == NULL || rxq->vlan_strip == on)
		return 0;
	mdv_queue_list_lock_objects(&port->queues);
	/* Under the lock: a recovery replaces the ring that the burst reads this from. */
	if (on)
		enable_runtime_opt(rxq, MDV_RX_RUNTIME_VLAN);
	rxq->vlan_strip = on;
	/* The WQ of a stopped queue is modified when it starts; what outlived a stop goes. */
	ret = rxq->ready && port->started ? mdv_rxq_ring_strip(rxq, true) : 0;
	if (ret != 0)
		rxq->vlan_strip = !on;
	mdv_queue_list_unlock_objects(&port->queues);
	return ret;
}

void
mdv_rxq_info_get(struct rte_eth_dev *dev, uint16_t idx, struct rte_eth_rxq_info *info)
{
	const struct mdv_rxq *rxq = dev->data->rx_queues[idx];

	info->mp = rxq->pool;
	info->conf = rxq->conf;
	/* It may have been switched since the set-up. */
	info->conf.offloads &= ~RTE_ETH_RX_OFFLOAD_VLAN_STRIP;
	info->conf.offloads |= rxq->vlan_strip ? RTE_ETH_RX_OFFLOAD_VLAN_STRIP : 0;
	info->scattered_rx = dev->data->scattered_rx;
	info->nb_desc = rxq->nb_desc;
	info->rx_buf_size = rxq->room - rxq->headroom;
}

/** Count the packets that a burst could take, at most @p max; blocks must be walked one by one. */
static uint32_t
nb_waiting(const struct mdv_rxq *rxq, uint32_t max)
{
	uint32_t ci = rxq->pos.cq_ci, nb = rxq->nb_ready;

	while (nb < max) {
		const struct mdv_hw_cqe *cqe = &rxq->ring.cqes[ci & rxq->ring.mask];
		const uint8_t op_own = mdv_cq_op_own(cqe);
		uint32_t span;

		if (!mdv_cq_is_valid(op_own, ci, rxq->ring.log2_wqes))
			break;
		span = mdv_cq_span(cqe, op_own, rxq->ring.mask + 1);
		nb += span;
		ci += span;
	}
	return RTE_MIN(nb, max);
}

mdv_compat_rx_count_t
mdv_rxq_count(void *queue)
{
	struct mdv_rxq *rxq = queue;

	/* Not set up. */
	if (rxq == NULL)
		return -EINVAL;
	mdv_cq_look(&rxq->objs.cq, rxq->pos.cq_ci, UINT32_MAX);
	/* A packet uses all descriptors of its WQE: a full ring has as many as were asked for. */
	return nb_waiting(rxq, rxq->ring.mask + 1) << rxq->ring.log2_segs;
}

/** @return whether the WQE at @p offset from the next one has a packet. */
static bool
is_waiting(const struct mdv_rxq *rxq, uint16_t offset)
{
	const uint32_t ci = rxq->pos.cq_ci + offset;

	if (rxq->ring.runtime_opts & MDV_RX_RUNTIME_MINI)
		return nb_waiting(rxq, offset + 1u) > offset;
	return mdv_cq_is_valid(
		mdv_cq_op_own(&rxq->ring.cqes[ci & rxq->ring.mask]), ci, rxq->ring.log2_wqes);
}

int
mdv_rxq_descriptor_status(void *queue, uint16_t offset)
{
	struct mdv_rxq *rxq = queue;

	/* Not set up. */
	if (rxq == NULL)
		return -ENODEV;
	/* Of a queue that scatters packets, a WQE is several descriptors. */
	offset >>= rxq->ring.log2_segs;
	if (offset > rxq->ring.mask)
		return -EINVAL;
	if (offset >= rxq->pos.wqe_pi - rxq->pos.wqe_ci)
		return RTE_ETH_RX_DESC_UNAVAIL;
	mdv_cq_look(&rxq->objs.cq, rxq->pos.cq_ci, offset + 1u);
	return is_waiting(rxq, offset) ? RTE_ETH_RX_DESC_DONE : RTE_ETH_RX_DESC_AVAIL;
}
