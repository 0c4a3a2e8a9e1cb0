/* SPDX-License-Identifier: BSD-3-Clause */
/* The verbs objects of a receive queue, the rings in them, and the mbufs in those. */
#include <errno.h>
#include <string.h>

#include <ethdev_driver.h>
#include <rte_malloc.h>

#include "base/log.h"
#include "device/ring_memory.h"
#include "mp/mp.h"
#include "queue/cq_ibv.h"
#include "rx_comp.h"
#include "rx_ibv.h"
#include "rx_intr.h"
#include "rx_refill.h"
#include "rx_split.h"
#include "rx_strides.h"
#include "rxq.h"
#include "rxq_ring.h"
#include "state/port.h"

static bool
is_ibv(const struct mdv_rxq *rxq)
{
	return rxq->port->device.caps.mode == MDV_MODE_IBV;
}

/**
 * Name the state that the device has the WQ in: otherwise the kernel names the one that was set
 * last (Linux hw/mlx5/qp.c mlx5_ib_modify_wq()), and the command says so to firmware (PRM,
 * MODIFY_RQ).
 * @param from what the device has it in; a WQ that may have failed unnoticed is tried as such, too
 */
static int
modify_state(struct mdv_rxq *rxq, enum ibv_wq_state from, enum ibv_wq_state state)
{
	struct ibv_wq_attr attr = {
		.attr_mask = IBV_WQ_ATTR_STATE | IBV_WQ_ATTR_CURR_STATE,
		.wq_state = state,
		.curr_wq_state = from,
	};
	int ret = ibv_modify_wq(rxq->objs.wq, &attr);

	if (ret == EINVAL && from == IBV_WQS_RDY && state == IBV_WQS_RESET) {
		attr.curr_wq_state = IBV_WQS_ERR;
		ret = ibv_modify_wq(rxq->objs.wq, &attr);
	}

	if (ret != 0)
		MDV_LOG(ERR, "port %u Rx queue %u: cannot move the WQ to state %d: %s",
			rxq->port->dev->data->port_id, rxq->idx, state, strerror(ret));
	return -ret;
}

/** Segments of a WQE: those of one packet, or of a striding queue a next segment and the data. */
static uint32_t
nb_segs_of(const struct mdv_rxq *rxq)
{
	return rxq->strides.log2_strides != 0 ? 2 : 1u << rxq->ring.log2_segs;
}

/** Get the WQ's ring, which the device reads. */
static int
wq_ring_get(struct mdv_rxq *rxq, uint32_t nb_wqes)
{
	const uint32_t nb_cqes = nb_wqes << rxq->strides.log2_strides;
	struct mlx5dv_rwq dv = { 0 };
	struct mlx5dv_obj obj = { .rwq = { .in = rxq->objs.wq, .out = &dv } };
	int ret = -mlx5dv_init_obj(&obj, MLX5DV_OBJ_RWQ);

	if (ret == 0 &&
		(dv.wqe_cnt != nb_wqes || rxq->objs.cq.cqe_cnt != nb_cqes ||
			dv.stride != sizeof(struct mlx5_wqe_data_seg) * nb_segs_of(rxq)))
		ret = -ENOTSUP;
	if (ret != 0) {
		MDV_LOG(ERR,
			"port %u Rx queue %u: rings of %u WQEs of %u bytes and %u CQEs, %u and %u wanted",
			rxq->port->dev->data->port_id, rxq->idx, dv.wqe_cnt, dv.stride,
			rxq->objs.cq.cqe_cnt, nb_wqes, nb_cqes);
		return ret;
	}
	rxq->ring.wqes = dv.buf;
	rxq->ring.wq_dbrec = dv.dbrec;
	return 0;
}

static struct ibv_wq *
verbs_create_wq(struct mdv_rxq *rxq, struct ibv_wq_init_attr *attr)
{
	struct mlx5dv_wq_init_attr striding = {
		.comp_mask = MLX5DV_WQ_INIT_ATTR_MASK_STRIDING_RQ,
		.striding_rq_attrs = {
			.single_stride_log_num_of_bytes = rxq->strides.log2_bytes,
			.single_wqe_log_num_of_strides = rxq->strides.log2_strides,
		},
	};

	if (rxq->strides.log2_strides == 0)
		return ibv_create_wq(rxq->port->device.ctx, attr);
	return mlx5dv_create_wq(rxq->port->device.ctx, attr, &striding);
}

/** Make the WQ and get its ring. */
static int
wq_create(struct mdv_rxq *rxq, uint32_t nb_wqes)
{
	struct mdv_port *port = rxq->port;
	struct ibv_wq_init_attr attr = {
		.wq_type = IBV_WQT_RQ,
		.max_wr = nb_wqes,
		.max_sge = 1u << rxq->ring.log2_segs,
		.pd = port->device.pd,
		.cq = rxq->objs.cq.ibv_cq,
		.comp_mask = IBV_WQ_INIT_ATTR_FLAGS,
		.create_flags = rxq->vlan_strip ? IBV_WQ_FLAGS_CVLAN_STRIPPING : 0,
	};
	int ret;

	rxq->objs.wq = verbs_create_wq(rxq, &attr);
	if (rxq->objs.wq == NULL) {
		ret = errno != 0 ? -errno : -ENOMEM;
		MDV_LOG(ERR, "port %u Rx queue %u: cannot create a WQ of %u WQEs: %s%s",
			port->dev->data->port_id, rxq->idx, nb_wqes, strerror(-ret),
			ret == -EPERM ? " (CAP_NET_RAW is needed)" : "");
		return ret;
	}
	rxq->objs.wq_strips = rxq->vlan_strip;
	ret = is_ibv(rxq) ? mdv_rx_ibv_attach(rxq, nb_wqes) : wq_ring_get(rxq, nb_wqes);
	if (ret != 0) {
		ibv_destroy_wq(rxq->objs.wq);
		rxq->objs.wq = NULL;
	}
	return ret;
}

static void
wq_destroyed(struct mdv_rxq *rxq)
{
	if (is_ibv(rxq))
		mdv_rx_ibv_detach(rxq);
	rxq->objs.wq = NULL;
	rxq->ring.wqes = NULL;
	rxq->ring.wq_dbrec = NULL;
}

static int
cq_create(struct mdv_rxq *rxq, uint32_t nb_cqes)
{
	const struct mdv_port *port = rxq->port;
	struct ibv_comp_channel *channel = mdv_rx_intr_channel(port, rxq->idx);
	const char *why;

	if (is_ibv(rxq))
		return mdv_cq_ibv_create(
			&port->device, nb_cqes, mdv_rx_ibv_wc_flags(rxq), channel, &rxq->objs.cq);
	return mdv_cq_create(
		&port->device, nb_cqes, mdv_rx_comp_choose(port, &why), channel, &rxq->objs.cq);
}

/**
 * Take all CQEs. Every slot becomes INVALID, as slots of blocks have to (cq.h). libmlx5, which
 * removes CQEs of a WQ that starts again, leaves CQs alone whose rings it has shown (rdma-core
 * cq.c __mlx5_cq_clean(), MLX5_CQ_FLAGS_DV_OWNED).
 * @return packets among them
 */
static uint32_t
cq_drain(struct mdv_rxq *rxq)
{
	uint32_t i, nb, nb_packets = 0;

	mdv_cq_look(&rxq->objs.cq, rxq->pos.cq_ci, UINT32_MAX);
	for (i = 0; i <= rxq->ring.mask; i += nb) {
		const struct mdv_hw_cqe *cqe = &rxq->ring.cqes[rxq->pos.cq_ci & rxq->ring.mask];
		const uint8_t op_own = mdv_cq_op_own(cqe);

		if (!mdv_cq_is_valid(op_own, rxq->pos.cq_ci, rxq->ring.log2_wqes))
			break;
		nb = mdv_cq_span(cqe, op_own, rxq->ring.mask + 1);
		if (op_own >> MDV_HW_CQE_OPCODE_SHIFT == MLX5_CQE_RESP_SEND)
			nb_packets += nb;
		rxq->pos.cq_ci += nb;
	}
	for (i = 0; i <= rxq->ring.mask; i++)
		mdv_cq_invalidate(&rxq->ring.cqes[i]);
	rte_io_wmb();
	mdv_cq_update_ci(rxq->ring.cq_dbrec, rxq->pos.cq_ci);
	return nb_packets;
}

/** Make the rings look full and empty at once: a burst during a stop neither takes nor refills. */
static void
look_full(struct mdv_rxq *rxq)
{
	rxq->pos.wqe_pi = rxq->pos.wqe_ci + rxq->ring.mask + 1;
}

int
mdv_rxq_ring_create(struct mdv_rxq *rxq)
{
	struct mdv_port *port = rxq->port;
	const uint32_t nb_wqes = (uint32_t)rxq->nb_desc >> rxq->ring.log2_segs;
	int ret;

	ret = cq_create(rxq, nb_wqes);
	if (ret != 0)
		return ret;
	ret = wq_create(rxq, nb_wqes >> rxq->strides.log2_strides);
	if (ret != 0)
		goto destroy_cq;
	rxq->ring.mbufs = mdv_ring_memory_alloc("mdv_rxq_mbufs",
		(size_t)(nb_wqes << rxq->ring.log2_segs) * sizeof(rxq->ring.mbufs[0]),
		RTE_CACHE_LINE_SIZE, rxq->port->device.numa_node);
	if (rxq->ring.mbufs == NULL) {
		MDV_LOG(ERR, "port %u Rx queue %u: no memory", port->dev->data->port_id, rxq->idx);
		ret = -ENOMEM;
		goto destroy_wq;
	}
	rxq->ring.cqes = rxq->objs.cq.cqes;
	rxq->ring.cq_dbrec = rxq->objs.cq.dbrec;
	rxq->pos.cq_ci = 0;
	rxq->in_burst = false;
	/* A copy of a queue that broke: the buffers are the other's. */
	rxq->strides.pool = NULL;
	rxq->strides.bufs = NULL;
	rxq->strides.spare = NULL;
	rxq->strides.nb_out = 0;
	rxq->ring.runtime_opts = (rxq->vlan_strip ? MDV_RX_RUNTIME_VLAN : 0) |
		(rxq->objs.cq.compressed ? MDV_RX_RUNTIME_MINI : 0) |
		(port->marks_in_use ? MDV_RX_RUNTIME_MARK : 0);
	rxq->ring.mask = nb_wqes - 1;
	rxq->ring.log2_wqes = rxq->objs.cq.log2_cqes;
	rxq->ring.refill_min = RTE_MAX(RTE_MIN(MDV_RX_REFILL_MIN, nb_wqes / 4), 1u);
	look_full(rxq);
	return 0;

destroy_wq:
	ibv_destroy_wq(rxq->objs.wq);
	wq_destroyed(rxq);
destroy_cq:
	mdv_cq_destroy(&port->device, &rxq->objs.cq);
	return ret;
}

/** Register the memory that packets go to. */
static int
pools_get(struct mdv_rxq *rxq)
{
	struct mdv_mr_table *table = rxq->port->mr;
	int ret =
		rxq->split != NULL ? mdv_rx_split_register(rxq) : mdv_mr_pool_get(table, rxq->pool);

	if (ret == 0)
		rxq->lkey_be = mdv_mr_pool_lkey(table, rxq->pool);
	return ret;
}

static void
pools_put(const struct mdv_rxq *rxq)
{
	if (rxq->split != NULL)
		mdv_rx_split_unregister(rxq);
	else
		mdv_mr_pool_put(rxq->port->mr, rxq->pool);
}

/** Free the mbufs, which the device no longer has. */
static void
drain(struct mdv_rxq *rxq)
{
	mdv_rx_drain(rxq);
	if (rxq->strides.pool != NULL)
		mdv_rx_strides_close(rxq);
	pools_put(rxq);
	rxq->ready = false;
	look_full(rxq);
}

int
mdv_rxq_ring_destroy(struct mdv_rxq *rxq)
{
	int ret;

	if (rxq->objs.wq == NULL)
		return 0;
	ret = ibv_destroy_wq(rxq->objs.wq);
	if (ret != 0 && ret != EBUSY)
		MDV_LOG(ERR, "port %u Rx queue %u: cannot destroy the WQ: %s",
			rxq->port->dev->data->port_id, rxq->idx, strerror(ret));
	/* The kernel keeps a WQ that firmware does not destroy (Linux hw/mlx5/qpc.c
	 * mlx5_core_destroy_rq_tracked()). EIO: the device is gone. */
	if (ret != 0 && ret != EIO)
		return -ret;
	wq_destroyed(rxq);
	mdv_cq_destroy(&rxq->port->device, &rxq->objs.cq);
	if (rxq->ready)
		drain(rxq);
	rte_free(rxq->ring.mbufs);
	rxq->ring.mbufs = NULL;
	return 0;
}

int
mdv_rxq_ring_strip(struct mdv_rxq *rxq, bool may_have_failed)
{
	struct ibv_wq_attr attr = {
		/* Firmware wants the state that the WQ is in, and verbs tells it the last one that
		 * was set, unless it is named (Linux, mlx5_ib_modify_wq()). */
		.attr_mask = IBV_WQ_ATTR_FLAGS | IBV_WQ_ATTR_CURR_STATE,
		.curr_wq_state = IBV_WQS_RDY,
		.flags = rxq->vlan_strip ? IBV_WQ_FLAGS_CVLAN_STRIPPING : 0,
		.flags_mask = IBV_WQ_FLAGS_CVLAN_STRIPPING,
	};
	int ret;

	if (rxq->vlan_strip == rxq->objs.wq_strips)
		return 0;
	ret = ibv_modify_wq(rxq->objs.wq, &attr);
	if (ret == 0)
		rxq->objs.wq_strips = rxq->vlan_strip;
	else if (ret == EINVAL && may_have_failed)
		ret = 0;
	else
		MDV_LOG(ERR, "port %u Rx queue %u: cannot turn VLAN stripping %s: %s",
			rxq->port->dev->data->port_id, rxq->idx, rxq->vlan_strip ? "on" : "off",
			strerror(ret));
	return -ret;
}

static int
fill(struct mdv_rxq *rxq)
{
	return rxq->split != NULL ? mdv_rx_split_fill(rxq) : mdv_rx_fill(rxq);
}

static void
log_lack(const struct mdv_rxq *rxq)
{
	const struct rte_mempool *pool = rxq->pool;
	uint32_t nb = (rxq->ring.mask + 1) << rxq->ring.log2_segs;

	if (rxq->split != NULL)
		pool = mdv_rx_split_lacks(rxq, &nb);
	MDV_LOG(ERR, "port %u Rx queue %u: mempool %s has too few buffers, %u are needed",
		rxq->port->dev->data->port_id, rxq->idx, pool->name, nb);
}

/** The same as mdv_rxq_ring_ready(). @param whole the ring must be full */
static int
make_ready(struct mdv_rxq *rxq, bool whole)
{
	int ret;

	ret = pools_get(rxq);
	if (ret != 0)
		return ret;
	mdv_mr_cache_init(&rxq->mr, rxq->port->mr);
	if (rxq->strides.log2_strides != 0) {
		ret = mdv_rx_strides_open(rxq);
		if (ret != 0)
			goto put_pool;
	}
	ret = modify_state(rxq, IBV_WQS_RESET, IBV_WQS_RDY);
	if (ret != 0)
		goto close_strides;
	rxq->ready = true;
	/* Tags may have been turned on or off while the WQ was reset. */
	ret = mdv_rxq_ring_strip(rxq, false);
	if (ret != 0) {
		/* The ring looks full, and has no mbufs yet. */
		rxq->pos.wqe_pi = rxq->pos.wqe_ci;
		goto reset;
	}
	/* After the change of state, which clears the WQ's doorbell record. */
	ret = fill(rxq);
	if (is_ibv(rxq))
		mdv_rx_ibv_post(rxq);
	if (ret == 0 || !whole)
		return 0;
	log_lack(rxq);
reset:
	if (mdv_rxq_ring_reset(rxq) != 0)
		MDV_LOG(ERR, "port %u Rx queue %u: what it has of its buffers stays with it",
			rxq->port->dev->data->port_id, rxq->idx);
	return ret;

close_strides:
	if (rxq->strides.pool != NULL)
		mdv_rx_strides_close(rxq);
put_pool:
	pools_put(rxq);
	return ret;
}

int
mdv_rxq_ring_ready(struct mdv_rxq *rxq)
{
	return make_ready(rxq, true);
}

/**
 * A process was killed in a burst. It may have made CQEs INVALID that cq_ci does not count yet, so
 * where the device goes on in the CQ is not known any more: the queue is recreated when it starts.
 */
static void
break_interrupted(struct mdv_rxq *rxq)
{
	MDV_LOG(NOTICE,
		"port %u Rx queue %u: the process that polled it ended in a burst: the next start recreates the queue",
		rxq->port->dev->data->port_id, rxq->idx);
	mdv_rxq_ring_break(rxq);
}

int
mdv_rxq_ring_reset(struct mdv_rxq *rxq)
{
	int ret;

	if (!rxq->ready)
		return 0;
	ret = modify_state(rxq, rxq->objs.wq->state, IBV_WQS_RESET);
	if (ret != 0)
		return ret;
	cq_drain(rxq);
	drain(rxq);
	if (rxq->in_burst && rxq->objs.cq.compressed)
		break_interrupted(rxq);
	rxq->in_burst = false;
	return 0;
}

int
mdv_rxq_ring_recover(struct mdv_rxq *rxq, uint8_t syndrome)
{
	int ret;

	if (rte_eal_process_type() != RTE_PROC_PRIMARY) {
		rxq->asked = true;
		ret = mdv_mp_ask_recovery(MDV_MP_RECOVER_RX, rxq->port_id, rxq->idx, syndrome);
		rxq->asked = false;
		return ret;
	}
	mdv_cq_log_error(
		"Rx", rxq->port->dev->data->port_id, rxq->idx, syndrome, &rxq->logged_syndromes);
	ret = modify_state(rxq, IBV_WQS_ERR, IBV_WQS_RESET);
	if (ret != 0)
		return ret;
	rxq->count.errors += cq_drain(rxq);
	mdv_rx_drain(rxq);
	/* The objects' lock: tags may be turned on or off now, and may have been since the WQ
	 * failed. If it cannot be started, the rings are still consistent and the queue is marked
	 * broken, to be recreated. */
	mdv_queue_list_lock_objects(&rxq->port->queues);
	if (modify_state(rxq, IBV_WQS_RESET, IBV_WQS_RDY) != 0 ||
		mdv_rxq_ring_strip(rxq, true) != 0)
		mdv_rxq_ring_break(rxq);
	mdv_queue_list_unlock_objects(&rxq->port->queues);
	/* If the pool runs short, the next bursts refill the rest. */
	fill(rxq);
	return 0;
}

void
mdv_rxq_ring_adopt(struct mdv_rxq *rxq, const struct mdv_rxq *from)
{
	rxq->ring = from->ring;
	/* A reset queue has no mbufs, but may have pointers to those that it had. */
	memset(rxq->ring.mbufs, 0,
		(size_t)((rxq->ring.mask + 1) << rxq->ring.log2_segs) * sizeof(rxq->ring.mbufs[0]));
	rxq->pos = from->pos;
	rxq->objs = from->objs;
	rxq->strides = from->strides;
}

int
mdv_rxq_ring_replace(struct mdv_rxq *rxq, struct mdv_rxq *fresh)
{
	struct mdv_port *port = rxq->port;
	struct mdv_rxq old = *rxq;
	int ret;

	/* The pools stay registered: their packets may still wait to be sent. */
	ret = pools_get(rxq);
	if (ret != 0) {
		mdv_rxq_ring_destroy(fresh);
		return ret;
	}
	pthread_mutex_lock(&port->queues.lock);
	mdv_rxq_ring_adopt(rxq, fresh);
	pthread_mutex_unlock(&port->queues.lock);
	rxq->ready = false;
	rxq->nb_ready = 0;
	rxq->ready_bytes = 0;
	ret = mdv_rxq_ring_destroy(&old);
	if (ret == -EBUSY)
		MDV_LOG(ERR, "port %u Rx queue %u: the WQ that broke is in use",
			port->dev->data->port_id, rxq->idx);
	ret = make_ready(rxq, false);
	pools_put(rxq);
	return ret;
}
