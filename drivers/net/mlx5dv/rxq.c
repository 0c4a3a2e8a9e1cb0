/* SPDX-License-Identifier: BSD-3-Clause */
/* Life of a receive queue: set up, started (verbs objects, rings, mbufs), recovered, stopped,
 * released. */
#include <errno.h>
#include <string.h>

#include <ethdev_driver.h>
#include <rte_malloc.h>

#include "log.h"
#include "port.h"
#include "rx.h"
#include "rx_comp.h"
#include "rxq.h"

/** WQE counters have 16 bits, of which a full and an empty ring must stay apart. */
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

/** Segments that a frame of @p mtu needs, and so the power of two that a WQE gets. */
static int
segs_log2(const struct mdv_rxq *rxq, uint16_t mtu, uint8_t *log2_segs)
{
	const struct mdv_port *port = rxq->port;
	uint32_t frame = mtu + MDV_FRAME_OVERHEAD, nb_segs;
	uint32_t max_segs = RTE_MIN(port->device.caps.max_sge, MDV_RX_SEGS_MAX);
	uint16_t port_id = port->dev->data->port_id;

	/* The first mbuf keeps its headroom, the others are filled from their start. */
	nb_segs = (frame + rxq->headroom + rxq->room - 1) / rxq->room;
	if (nb_segs > 1 && !(rxq->conf.offloads & RTE_ETH_RX_OFFLOAD_SCATTER)) {
		MDV_LOG(ERR,
			"port %u Rx queue %u: frames of MTU %u need %u bytes, a buffer of mempool "
			"%s has "
			"%u: enable RTE_ETH_RX_OFFLOAD_SCATTER or use larger buffers",
			port_id, rxq->idx, mtu, frame, rxq->pool->name, rxq->room - rxq->headroom);
		return -EINVAL;
	}
	nb_segs = rte_align32pow2(nb_segs);
	if (nb_segs > max_segs || nb_segs > rxq->nb_desc) {
		MDV_LOG(ERR,
			"port %u Rx queue %u: frames of MTU %u need %u buffers of mempool %s, at "
			"most %u "
			"are possible with %u descriptors",
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
	ret = segs_log2(rxq, mtu, &log2_segs);
	if (ret == 0 && rxq->wq != NULL && log2_segs > rxq->log2_segs) {
		MDV_LOG(ERR,
			"port %u Rx queue %u: MTU %u needs %u buffers a frame, the running queue "
			"has %u: "
			"stop the port first",
			port->dev->data->port_id, idx, mtu, 1u << log2_segs, 1u << rxq->log2_segs);
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
	if (conf->rx_deferred_start) {
		MDV_LOG(ERR, "port %u Rx queue %u: deferred start is not supported", port_id, idx);
		return -EINVAL;
	}
	if (pool == NULL || conf->rx_nseg != 0 || conf->rx_nmempool != 0) {
		MDV_LOG(ERR,
			"port %u Rx queue %u: one mempool is wanted, buffer split is not supported",
			port_id, idx);
		return -EINVAL;
	}
	if (rte_pktmbuf_data_room_size(pool) <= RTE_PKTMBUF_HEADROOM) {
		MDV_LOG(ERR,
			"port %u Rx queue %u: the buffers of mempool %s have %u bytes, headroom is "
			"%u",
			port_id, idx, pool->name, rte_pktmbuf_data_room_size(pool),
			RTE_PKTMBUF_HEADROOM);
		return -EINVAL;
	}
	return 0;
}

/** The layout of the pool's mbufs is taken for granted only after a look at each of them. */
struct layout_check {
	uint32_t buf_offset;
	bool differs;
};

static void
check_layout(__rte_unused struct rte_mempool *pool, void *arg, void *object,
	__rte_unused unsigned int idx)
{
	const struct rte_mbuf *mbuf = object;
	struct layout_check *check = arg;

	if ((uintptr_t)mbuf->buf_addr != (uintptr_t)mbuf + check->buf_offset)
		check->differs = true;
}

static uint32_t
pool_buf_offset(struct rte_mempool *pool)
{
	struct layout_check check = {
		.buf_offset = sizeof(struct rte_mbuf) + rte_pktmbuf_priv_size(pool),
	};

	rte_mempool_obj_iter(pool, check_layout, &check);
	return check.differs ? 0 : check.buf_offset + RTE_PKTMBUF_HEADROOM;
}

static uint64_t
rearm_value(uint16_t port_id)
{
	struct rte_mbuf mbuf = {
		.data_off = RTE_PKTMBUF_HEADROOM,
		.nb_segs = 1,
		.port = port_id,
	};
	uint64_t rearm;

	rte_mbuf_refcnt_set(&mbuf, 1);
	memcpy(&rearm, &mbuf.rearm_data, sizeof(rearm));
	return rearm;
}

int
mdv_rxq_setup(struct rte_eth_dev *dev, uint16_t idx, uint16_t nb_desc, unsigned int socket,
	const struct rte_eth_rxconf *conf, struct rte_mempool *pool)
{
	struct mdv_port *port = mdv_port(dev);
	struct mdv_rxq *rxq;
	uint8_t log2_segs;
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
	rxq->idx = idx;
	rxq->pool = pool;
	rxq->conf = *conf;
	/* ethdev takes out of a queue's offloads what the whole port has. */
	rxq->conf.offloads |= dev->data->dev_conf.rxmode.offloads;
	rxq->nb_desc = rte_align32pow2(RTE_MAX(nb_desc, MDV_RXQ_DESC_MIN));
	rxq->room = rte_pktmbuf_data_room_size(pool);
	rxq->headroom = RTE_PKTMBUF_HEADROOM;
	rxq->buf_offset = pool_buf_offset(pool);
	rxq->rearm = rearm_value(dev->data->port_id);
	rxq->vlan_strip = (rxq->conf.offloads & RTE_ETH_RX_OFFLOAD_VLAN_STRIP) != 0;
	ret = segs_log2(rxq, dev->data->mtu, &log2_segs);
	if (ret != 0) {
		rte_free(rxq);
		return ret;
	}
	dev->data->rx_queues[idx] = rxq;
	return 0;
}

void
mdv_rxq_release(struct rte_eth_dev *dev, uint16_t idx)
{
	rte_free(dev->data->rx_queues[idx]);
	dev->data->rx_queues[idx] = NULL;
}

static int
modify_state(struct mdv_rxq *rxq, enum ibv_wq_state state)
{
	struct ibv_wq_attr attr = { .attr_mask = IBV_WQ_ATTR_STATE, .wq_state = state };
	int ret = ibv_modify_wq(rxq->wq, &attr);

	if (ret != 0)
		MDV_LOG(ERR, "port %u Rx queue %u: cannot move the WQ to state %d: %s",
			rxq->port->dev->data->port_id, rxq->idx, state, strerror(ret));
	return -ret;
}

/** The WQ, ready, and its ring. */
static int
wq_create(struct mdv_rxq *rxq, uint32_t nb_wqes)
{
	struct mdv_port *port = rxq->port;
	struct ibv_wq_init_attr attr = {
		.wq_type = IBV_WQT_RQ,
		.max_wr = nb_wqes,
		.max_sge = 1u << rxq->log2_segs,
		.pd = port->device.pd,
		.cq = rxq->cq.ibv_cq,
		.comp_mask = IBV_WQ_INIT_ATTR_FLAGS,
		.create_flags = rxq->vlan_strip ? IBV_WQ_FLAGS_CVLAN_STRIPPING : 0,
	};
	struct mlx5dv_rwq dv = { 0 };
	struct mlx5dv_obj obj = { 0 };
	int ret;

	rxq->wq = ibv_create_wq(port->device.ctx, &attr);
	if (rxq->wq == NULL) {
		ret = errno != 0 ? -errno : -ENOMEM;
		MDV_LOG(ERR, "port %u Rx queue %u: cannot create a WQ of %u WQEs: %s%s",
			port->dev->data->port_id, rxq->idx, nb_wqes, strerror(-ret),
			ret == -EPERM ? " (CAP_NET_RAW is needed)" : "");
		return ret;
	}
	ret = modify_state(rxq, IBV_WQS_RDY);
	if (ret != 0)
		goto destroy_wq;
	obj.rwq.in = rxq->wq;
	obj.rwq.out = &dv;
	ret = -mlx5dv_init_obj(&obj, MLX5DV_OBJ_RWQ);
	if (ret == 0 &&
		(dv.wqe_cnt != nb_wqes || rxq->cq.cqe_cnt != nb_wqes ||
			dv.stride != sizeof(struct mlx5_wqe_data_seg) << rxq->log2_segs))
		ret = -ENOTSUP;
	if (ret != 0) {
		MDV_LOG(ERR,
			"port %u Rx queue %u: rings of %u WQEs of %u bytes and %u CQEs, %u of both "
			"wanted",
			port->dev->data->port_id, rxq->idx, dv.wqe_cnt, dv.stride, rxq->cq.cqe_cnt,
			nb_wqes);
		goto destroy_wq;
	}
	rxq->wqes = dv.buf;
	rxq->wq_dbrec = dv.dbrec;
	return 0;

destroy_wq:
	ibv_destroy_wq(rxq->wq);
	rxq->wq = NULL;
	return ret;
}

static int
mbufs_create(struct mdv_rxq *rxq, uint32_t nb_wqes)
{
	int ret;

	rxq->mbufs = rte_zmalloc_socket("mdv_rxq_mbufs",
		(size_t)(nb_wqes << rxq->log2_segs) * sizeof(rxq->mbufs[0]), RTE_CACHE_LINE_SIZE,
		rte_socket_id());
	if (rxq->mbufs == NULL)
		return -ENOMEM;
	ret = mdv_mr_pool_get(rxq->port->mr, rxq->pool);
	if (ret != 0)
		goto free_mbufs;
	rxq->lkey_be = mdv_mr_pool_lkey(rxq->port->mr, rxq->pool);
	mdv_mr_cache_init(&rxq->mr, rxq->port->mr);
	ret = mdv_rx_fill(rxq);
	if (ret != 0) {
		MDV_LOG(ERR, "port %u Rx queue %u: mempool %s has too few buffers, %u are needed",
			rxq->port->dev->data->port_id, rxq->idx, rxq->pool->name,
			nb_wqes << rxq->log2_segs);
		/* Some are posted: the caller frees them when the WQ is gone. */
		return ret;
	}
	return 0;

free_mbufs:
	rte_free(rxq->mbufs);
	rxq->mbufs = NULL;
	return ret;
}

static void
mbufs_destroy(struct mdv_rxq *rxq)
{
	if (rxq->mbufs == NULL)
		return;
	mdv_rx_drain(rxq);
	mdv_mr_pool_put(rxq->port->mr, rxq->pool);
	rte_free(rxq->mbufs);
	rxq->mbufs = NULL;
}

static void
wq_destroy(struct mdv_rxq *rxq)
{
	int ret;

	if (rxq->wq == NULL)
		return;
	ret = ibv_destroy_wq(rxq->wq);
	if (ret != 0)
		MDV_LOG(ERR, "port %u Rx queue %u: cannot destroy the WQ: %s",
			rxq->port->dev->data->port_id, rxq->idx, strerror(ret));
	rxq->wq = NULL;
	rxq->wqes = NULL;
	rxq->wq_dbrec = NULL;
}

int
mdv_rxq_start(struct mdv_port *port, uint16_t idx)
{
	struct mdv_rxq *rxq = rxq_get(port, idx);
	const char *why;
	uint32_t nb_wqes;
	int ret;

	ret = segs_log2(rxq, port->mtu, &rxq->log2_segs);
	if (ret != 0)
		return ret;
	nb_wqes = (uint32_t)rxq->nb_desc >> rxq->log2_segs;
	ret = mdv_cq_create(&port->device, nb_wqes, mdv_rx_comp_choose(port, &why), &rxq->cq);
	if (ret != 0)
		return ret;
	ret = wq_create(rxq, nb_wqes);
	if (ret != 0)
		goto destroy_cq;
	rxq->cqes = rxq->cq.cqes;
	rxq->cq_dbrec = rxq->cq.dbrec;
	rxq->cq_ci = 0;
	rxq->expects = (rxq->vlan_strip ? MDV_RX_EXPECT_VLAN : 0) |
		(rxq->cq.compressed ? MDV_RX_EXPECT_MINI : 0);
	rxq->mask = nb_wqes - 1;
	rxq->log2_wqes = rxq->cq.log2_cqes;
	rxq->refill_min = RTE_MAX(RTE_MIN(MDV_RX_REFILL_MIN, nb_wqes / 4), 1u);
	ret = mbufs_create(rxq, nb_wqes);
	if (ret != 0)
		goto destroy_wq;
	return 0;

destroy_wq:
	wq_destroy(rxq);
	mbufs_destroy(rxq);
destroy_cq:
	mdv_cq_destroy(&port->device, &rxq->cq);
	return ret;
}

void
mdv_rxq_stop(struct mdv_port *port, uint16_t idx)
{
	struct mdv_rxq *rxq = rxq_get(port, idx);

	if (rxq == NULL)
		return;
	wq_destroy(rxq);
	mdv_cq_destroy(&port->device, &rxq->cq);
	/* Only now is the device done with them. */
	mbufs_destroy(rxq);
}

struct ibv_wq *
mdv_rxq_wq(const struct mdv_port *port, uint16_t idx)
{
	const struct mdv_rxq *rxq = rxq_get(port, idx);

	return rxq == NULL ? NULL : rxq->wq;
}

/*
 * Read by the polling thread after it has seen that a CQE is valid; a CQE that says more comes
 * after the system call by which the device learns of it.
 */
static void
expect(struct mdv_rxq *rxq, uint8_t what)
{
	__atomic_fetch_or(&rxq->expects, what, __ATOMIC_RELAXED);
}

void
mdv_rxq_expect_marks(struct mdv_port *port)
{
	uint16_t i;

	for (i = 0; i < port->dev->data->nb_rx_queues; i++) {
		struct mdv_rxq *rxq = rxq_get(port, i);

		if (rxq != NULL)
			expect(rxq, MDV_RX_EXPECT_MARK);
	}
}

int
mdv_rxq_set_vlan_strip(struct mdv_port *port, uint16_t idx, bool on)
{
	struct mdv_rxq *rxq = rxq_get(port, idx);
	struct ibv_wq_attr attr = {
		.attr_mask = IBV_WQ_ATTR_FLAGS,
		.flags = on ? IBV_WQ_FLAGS_CVLAN_STRIPPING : 0,
		.flags_mask = IBV_WQ_FLAGS_CVLAN_STRIPPING,
	};
	int ret;

	if (rxq == NULL || rxq->vlan_strip == on)
		return 0;
	if (on)
		expect(rxq, MDV_RX_EXPECT_VLAN);
	ret = rxq->wq == NULL ? 0 : ibv_modify_wq(rxq->wq, &attr);
	if (ret != 0) {
		MDV_LOG(ERR, "port %u Rx queue %u: cannot turn VLAN stripping %s: %s",
			port->dev->data->port_id, idx, on ? "on" : "off", strerror(ret));
		return -ret;
	}
	rxq->vlan_strip = on;
	return 0;
}

/** Take all CQEs; those of packets are counted as lost. */
static void
cq_drain(struct mdv_rxq *rxq)
{
	uint32_t i, k, nb;

	for (i = 0; i <= rxq->mask; i += nb) {
		struct mdv_hw_cqe *cqe = &rxq->cqes[rxq->cq_ci & rxq->mask];
		const uint8_t op_own = mdv_cq_op_own(cqe);

		if (!mdv_cq_is_valid(op_own, rxq->cq_ci, rxq->log2_wqes))
			break;
		nb = mdv_cq_span(cqe, op_own, rxq->mask + 1);
		if (op_own >> MDV_HW_CQE_OPCODE_SHIFT == MLX5_CQE_RESP_SEND)
			rxq->count.errors += nb;
		for (k = 0; k < nb; k++)
			mdv_cq_invalidate(&rxq->cqes[(rxq->cq_ci + k) & rxq->mask]);
		rxq->cq_ci += nb;
	}
	rte_io_wmb();
	mdv_cq_update_ci(rxq->cq_dbrec, rxq->cq_ci);
}

int
mdv_rxq_recover(struct mdv_rxq *rxq, uint8_t syndrome)
{
	int ret;

	MDV_LOG(WARNING, "port %u Rx queue %u: stopped with syndrome %#x, %s; starting it anew",
		rxq->port->dev->data->port_id, rxq->idx, syndrome, mdv_cq_syndrome(syndrome));
	ret = modify_state(rxq, IBV_WQS_RESET);
	if (ret != 0)
		return ret;
	cq_drain(rxq);
	mdv_rx_drain(rxq);
	/* Should this fail, the queue stays silent; the rings are consistent all the same. */
	modify_state(rxq, IBV_WQS_RDY);
	/* What the pool cannot give now is filled in by the next bursts. */
	mdv_rx_fill(rxq);
	return 0;
}

void
mdv_rxq_info_get(struct rte_eth_dev *dev, uint16_t idx, struct rte_eth_rxq_info *info)
{
	const struct mdv_rxq *rxq = dev->data->rx_queues[idx];

	info->mp = rxq->pool;
	info->conf = rxq->conf;
	info->scattered_rx = dev->data->scattered_rx;
	info->nb_desc = rxq->nb_desc;
	info->rx_buf_size = rxq->room - rxq->headroom;
}

/** Packets that are there to be taken; blocks must be stepped over one by one. At most @p max. */
static uint32_t
nb_waiting(const struct mdv_rxq *rxq, uint32_t max)
{
	uint32_t ci = rxq->cq_ci, nb = rxq->nb_ready;

	while (nb < max) {
		const struct mdv_hw_cqe *cqe = &rxq->cqes[ci & rxq->mask];
		const uint8_t op_own = mdv_cq_op_own(cqe);
		uint32_t span;

		if (!mdv_cq_is_valid(op_own, ci, rxq->log2_wqes))
			break;
		span = mdv_cq_span(cqe, op_own, rxq->mask + 1);
		nb += span;
		ci += span;
	}
	return RTE_MIN(nb, max);
}

uint32_t
mdv_rxq_count(void *queue)
{
	const struct mdv_rxq *rxq = queue;

	return nb_waiting(rxq, rxq->mask + 1);
}

static bool
is_waiting(const struct mdv_rxq *rxq, uint16_t offset)
{
	const uint32_t ci = rxq->cq_ci + offset;

	if (rxq->expects & MDV_RX_EXPECT_MINI)
		return nb_waiting(rxq, offset + 1u) > offset;
	return mdv_cq_is_valid(mdv_cq_op_own(&rxq->cqes[ci & rxq->mask]), ci, rxq->log2_wqes);
}

int
mdv_rxq_descriptor_status(void *queue, uint16_t offset)
{
	const struct mdv_rxq *rxq = queue;

	if (offset > rxq->mask)
		return -EINVAL;
	if (offset >= rxq->wqe_pi - rxq->wqe_ci)
		return RTE_ETH_RX_DESC_UNAVAIL;
	return is_waiting(rxq, offset) ? RTE_ETH_RX_DESC_DONE : RTE_ETH_RX_DESC_AVAIL;
}
