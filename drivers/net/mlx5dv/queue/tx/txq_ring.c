/* SPDX-License-Identifier: BSD-3-Clause */
/* The verbs objects of a send queue, their rings, and the mbufs in these. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <ethdev_driver.h>
#include <rte_malloc.h>

#include "base/log.h"
#include "device/ring_memory.h"
#include "device/uar.h"
#include "mp/mp.h"
#include "queue/cq_ibv.h"
#include "state/port.h"
#include "tx_ibv.h"
#include "tx_inline.h"
#include "txq.h"
#include "txq_ring.h"

/** WQE counters have 16 bits, and a full ring must differ from an empty one. */
#define WQEBBS_MAX 32768u

/** Command of a mapped doorbell page in uar_mmap_offset (rdma-core mlx5_mmap()). */
#define MMAP_COMMAND(offset, page) ((offset) / (page) >> 8 & 0xff)

static bool
is_ibv(const struct mdv_txq *txq)
{
	return txq->port->device.caps.mode == MDV_MODE_IBV;
}

/** @return the WQEBBs that the queue needs: as many packets as it has descriptors fit inlined,
 * even if each comes alone. */
static uint32_t
nb_bbs_of(const struct mdv_txq *txq)
{
	return (uint32_t)txq->nb_desc << mdv_tx_inline_log2_bbs(txq->port->tx_inline);
}

static_assert(MDV_TX_FRAME_MAX == MDV_MTU_MAX + MDV_FRAME_OVERHEAD, "the longest frame");

/* clang-format off */
/** State changes from a new or reset QP to one that sends; a raw packet QP needs only the port. */
static const struct {
	enum ibv_qp_state state;
	int mask;
} qp_states[] = {
	{ IBV_QPS_INIT, IBV_QP_STATE | IBV_QP_PORT },
	{ IBV_QPS_RTR, IBV_QP_STATE },
	{ IBV_QPS_RTS, IBV_QP_STATE },
};
/* clang-format on */

static int
try_state(const struct mdv_txq *txq, enum ibv_qp_state state, int mask)
{
	struct ibv_qp_attr attr = { .qp_state = state, .port_num = txq->port->device.port_num };

	return -ibv_modify_qp(txq->objs.qp, &attr, mask);
}

static int
tell_state(const struct mdv_txq *txq, enum ibv_qp_state state, int ret)
{
	if (ret != 0)
		MDV_LOG(ERR, "port %u Tx queue %u: cannot move the QP to state %d: %s",
			txq->port->dev->data->port_id, txq->idx, state, strerror(-ret));
	return ret;
}

static int
modify_state(const struct mdv_txq *txq, enum ibv_qp_state state, int mask)
{
	return tell_state(txq, state, try_state(txq, state, mask));
}

/**
 * Move the QP to RESET. Its send queue may have failed, which the kernel learns from a query:
 * without one the command names the state that was set last (Linux hw/mlx5/qp.c
 * modify_raw_packet_qp_sq(), query_raw_packet_qp_sq_state()).
 */
static int
try_reset(const struct mdv_txq *txq)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	int ret = ibv_query_qp(txq->objs.qp, &attr, IBV_QP_STATE, &init);

	/* The reset may go well without. */
	if (ret != 0)
		MDV_LOG(WARNING, "port %u Tx queue %u: cannot query the QP's state: %s",
			txq->port->dev->data->port_id, txq->idx, strerror(ret));
	return try_state(txq, IBV_QPS_RESET, IBV_QP_STATE);
}

static int
reset(const struct mdv_txq *txq)
{
	int ret = try_reset(txq);

	/* It may have failed between query and command. It does so once. */
	if (ret == -EINVAL)
		ret = try_reset(txq);
	return tell_state(txq, IBV_QPS_RESET, ret);
}

void
mdv_txq_ring_adopt(struct mdv_txq *txq, const struct mdv_txq *from)
{
	txq->ring = from->ring;
	txq->pos = from->pos;
	txq->objs = from->objs;
	mdv_mr_cache_init(&txq->mr, txq->port->mr);
}

/** Set the rate limit and burst sizes; the QP must be in the state RTS. */
int
mdv_txq_ring_set_rate(struct mdv_txq *txq, uint32_t kbps)
{
	const struct mdv_config *config = &txq->port->config;
	struct ibv_qp_rate_limit_attr attr = { .rate_limit = kbps };
	int ret;

	/* The kernel accepts sizes only with a rate. */
	if (kbps != 0) {
		attr.max_burst_sz = config->tx_max_burst_sz;
		attr.typical_pkt_sz = config->tx_typical_pkt_sz;
	}
	ret = ibv_modify_qp_rate_limit(txq->objs.qp, &attr);
	if (ret != 0)
		MDV_LOG(ERR,
			"port %u Tx queue %u: cannot limit the rate to %u kbit/s, bursts of %u and packets of %u bytes: %s%s",
			txq->port->dev->data->port_id, txq->idx, kbps, attr.max_burst_sz,
			attr.typical_pkt_sz, strerror(ret),
			attr.max_burst_sz == 0 && attr.typical_pkt_sz == 0
				? ""
				: " (not all devices take sizes: tx_max_burst_sz, tx_typical_pkt_sz)");
	return -ret;
}

void
mdv_txq_ring_release(struct mdv_txq *txq, uint16_t to)
{
	while (txq->ring.chains && txq->pos.tail != to)
		rte_pktmbuf_free_seg(txq->ring.mbufs[txq->pos.tail++ & txq->ring.mask]);
	while (txq->pos.tail != to) {
		uint32_t idx = txq->pos.tail & txq->ring.mask;
		uint32_t nb = RTE_MIN(
			(uint32_t)(uint16_t)(to - txq->pos.tail), txq->ring.mask + 1u - idx);

		/* Advance tail first: if the process ends in between, these mbufs must not be
		 * freed again. */
		txq->pos.tail += nb;
		rte_compiler_barrier();
		rte_pktmbuf_free_bulk(&txq->ring.mbufs[idx], nb);
	}
}

void
mdv_txq_ring_clear(struct mdv_txq *txq)
{
	const uint32_t cq_mask = (1u << txq->ring.log2_cqes) - 1;

	txq->pos.pc = 0;
	txq->pos.ci = 0;
	txq->objs.ibv.posted = 0;
	txq->pos.tail = txq->pos.head;
	txq->ring.chains = false;
	txq->lost = false;
	/* Another burst function, with another form of the template, may come next. */
	txq->tso_template.ol_flags = 0;
	txq->pos.cq_pi = txq->pos.cq_ci;
	txq->pos.due = txq->pos.head + txq->ring.request_min;
	txq->ring.dones[(txq->pos.cq_pi - 1) & cq_mask] =
		(struct mdv_tx_done){ .head = txq->pos.head };
}

void
mdv_txq_ring_look_full(struct mdv_txq *txq)
{
	txq->pos.ci = txq->pos.pc - (txq->ring.mask + 1u);
}

int
mdv_txq_ring_ready(struct mdv_txq *txq)
{
	unsigned int i;
	int ret = 0;

	/* From any state between INIT and RTS, RESET is the only way back. */
	if (txq->objs.qp->state != IBV_QPS_RESET)
		ret = reset(txq);
	for (i = 0; i < RTE_DIM(qp_states) && ret == 0; i++)
		ret = modify_state(txq, qp_states[i].state, qp_states[i].mask);
	/* RESET clears the rate limit. */
	if (ret == 0 && txq->rate_kbps != 0)
		ret = mdv_txq_ring_set_rate(txq, txq->rate_kbps);
	return ret;
}

/** @return whether the register is in a write-combining page, whatever was asked for (sq_db_nc). */
static bool
uar_combines(const struct mlx5dv_qp *dv)
{
	if (dv->bf.size == 0)
		return false;
	if (!(dv->comp_mask & MLX5DV_QP_MASK_UAR_MMAP_OFFSET))
		return true;
	return MMAP_COMMAND(dv->uar_mmap_offset, sysconf(_SC_PAGESIZE)) !=
		MLX5_MMAP_GET_NC_PAGES_CMD;
}

static int
ring_get(struct mdv_txq *txq)
{
	struct mlx5dv_qp dv = { .comp_mask = MLX5DV_QP_MASK_UAR_MMAP_OFFSET };
	struct mlx5dv_obj obj = { .qp.in = txq->objs.qp, .qp.out = &dv };
	int ret;

	ret = -mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP);
	if (ret == 0 &&
		(dv.sq.stride != MLX5_SEND_WQE_BB || !rte_is_power_of_2(dv.sq.wqe_cnt) ||
			dv.sq.wqe_cnt < nb_bbs_of(txq) || dv.sq.wqe_cnt > WQEBBS_MAX))
		ret = -ENOTSUP;
	if (ret != 0) {
		MDV_LOG(ERR,
			"port %u Tx queue %u: a ring of %u WQEBBs of %u bytes, %u of %u wanted",
			txq->port->dev->data->port_id, txq->idx, dv.sq.wqe_cnt, dv.sq.stride,
			nb_bbs_of(txq), MLX5_SEND_WQE_BB);
		return ret;
	}
	txq->ring.wqes = dv.sq.buf;
	txq->ring.dbrec = &dv.dbrec[MLX5_SND_DBR];
	mdv_uar_regs[txq->ring.uar_slot] = dv.bf.reg;
	txq->objs.uar_at = (uintptr_t)dv.bf.reg % sysconf(_SC_PAGESIZE);
	txq->objs.uar_offset = MDV_UAR_NO_OFFSET;
	if (dv.comp_mask & MLX5DV_QP_MASK_UAR_MMAP_OFFSET)
		txq->objs.uar_offset = dv.uar_mmap_offset;
	txq->ring.uar_combines = uar_combines(&dv);
	txq->ring.qpn_ds = txq->objs.qp->qp_num << 8;
	txq->ring.mask = dv.sq.wqe_cnt - 1;
	/* The instances for L2 headers need not ask. */
	if (txq->port->device.caps.tx_min_inline > MDV_HW_ETH_INLINE_L2)
		txq->ring.min_inline = txq->port->device.caps.tx_min_inline;
	txq->ring.inline_max = txq->port->tx_inline;
	txq->ring.inline_log2_bbs = mdv_tx_inline_log2_bbs(txq->port->tx_inline);
	return 0;
}

static int
qp_create(struct mdv_txq *txq)
{
	const struct mdv_device *device = &txq->port->device;
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = txq->objs.cq.ibv_cq,
		.recv_cq = txq->objs.cq.ibv_cq,
		/* One segment, and no inlined header: larger values would enlarge the ring. WQEs
		 * may be larger nevertheless. */
		.cap = { .max_send_wr = nb_bbs_of(txq), .max_send_sge = 1 },
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = device->pd,
	};
	int ret;

	if (is_ibv(txq))
		mdv_tx_ibv_qp_attr(txq, &attr);
	txq->objs.qp = ibv_create_qp_ex(device->ctx, &attr);
	if (txq->objs.qp == NULL) {
		ret = errno != 0 ? -errno : -ENOMEM;
		MDV_LOG(ERR, "port %u Tx queue %u: cannot create a QP of %u WQEs: %s%s",
			txq->port->dev->data->port_id, txq->idx, nb_bbs_of(txq), strerror(-ret),
			ret == -EPERM ? " (CAP_NET_RAW is needed)" : "");
		return ret;
	}
	ret = is_ibv(txq) ? mdv_tx_ibv_attach(txq) : ring_get(txq);
	if (ret != 0) {
		ibv_destroy_qp(txq->objs.qp);
		txq->objs.qp = NULL;
	}
	return ret;
}

/** @return the greatest number of outstanding CQEs: requested ones, by WQEBBs or by packets, that
 * of a first error, and one to tell full from empty. */
static uint32_t
nb_cqes_of(uint32_t nb_bbs, uint32_t request_min)
{
	return 2 * nb_bbs / request_min + 2;
}

/** Allocate software state for rings of mask + 1 WQEBBs: the packets' mbufs, and the queue's
 * position after each completion. */
static int
mbufs_create(struct mdv_txq *txq)
{
	const size_t nb = txq->ring.mask + 1u + MDV_TX_RELEASE_AHEAD;
	const size_t nb_cqes = (size_t)1 << txq->ring.log2_cqes;

	txq->ring.mbufs = mdv_ring_memory_alloc("mdv_txq_mbufs",
		nb * sizeof(txq->ring.mbufs[0]) + nb_cqes * sizeof(txq->ring.dones[0]),
		RTE_CACHE_LINE_SIZE, txq->port->device.numa_node);
	if (txq->ring.mbufs == NULL) {
		MDV_LOG(ERR, "port %u Tx queue %u: no memory", txq->port->dev->data->port_id,
			txq->idx);
		return -ENOMEM;
	}
	txq->ring.dones = (void *)(txq->ring.mbufs + nb);
	return 0;
}

/** Take the CQEs of flushed WQEs, which the device wrote before the QP was reset. */
static void
cq_drain(struct mdv_txq *txq)
{
	const uint32_t cq_mask = (1u << txq->ring.log2_cqes) - 1;
	uint32_t i;

	mdv_cq_look(&txq->objs.cq, txq->pos.cq_ci, UINT32_MAX);
	for (i = 0; i <= cq_mask; i++) {
		uint8_t op_own = mdv_cq_op_own(&txq->ring.cqes[txq->pos.cq_ci & cq_mask]);

		if (!mdv_cq_is_valid(op_own, txq->pos.cq_ci, txq->ring.log2_cqes))
			break;
		txq->pos.cq_ci++;
	}
	mdv_cq_update_ci(txq->ring.cq_dbrec, txq->pos.cq_ci);
}

static int
cq_create(struct mdv_txq *txq, uint32_t nb_cqes)
{
	const struct mdv_device *device = &txq->port->device;

	/* A flush completes every work request, signalled or not, so the CQ needs a CQE for each
	 * descriptor. */
	if (is_ibv(txq))
		return mdv_cq_ibv_create(device, RTE_MAX(rte_align32pow2(nb_cqes), txq->nb_desc), 0,
			NULL, &txq->objs.cq);
	return mdv_cq_create(device, nb_cqes, 0, NULL, &txq->objs.cq);
}

/** Free the rings of a queue whose QP has been destroyed. */
static void
qp_destroyed(struct mdv_txq *txq)
{
	if (is_ibv(txq))
		mdv_tx_ibv_detach(txq);
	txq->objs.qp = NULL;
	txq->ring.wqes = NULL;
}

int
mdv_txq_ring_create(struct mdv_txq *txq)
{
	struct mdv_port *port = txq->port;
	int ret;

	txq->ring.request_min = mdv_txq_request_min(txq->nb_desc);
	/* The SQ may be larger than requested, by rounding up to a power of two at most. */
	ret = cq_create(txq, nb_cqes_of(2u * nb_bbs_of(txq), txq->ring.request_min));
	if (ret != 0)
		return ret;
	ret = qp_create(txq);
	if (ret != 0)
		goto destroy_cq;
	txq->ring.cqes = txq->objs.cq.cqes;
	txq->ring.cq_dbrec = txq->objs.cq.dbrec;
	txq->ring.log2_cqes = txq->objs.cq.log2_cqes;
	txq->pos.cq_ci = 0;
	ret = mbufs_create(txq);
	if (ret != 0)
		goto destroy_qp;
	mdv_txq_ring_clear(txq);
	mdv_txq_ring_look_full(txq);
	mdv_mr_cache_init(&txq->mr, port->mr);
	txq->ring.broken = false;
	return 0;

destroy_qp:
	ibv_destroy_qp(txq->objs.qp);
	qp_destroyed(txq);
destroy_cq:
	mdv_cq_destroy(&port->device, &txq->objs.cq);
	return ret;
}

void
mdv_txq_ring_destroy(struct mdv_txq *txq)
{
	int ret = ibv_destroy_qp(txq->objs.qp);

	if (ret != 0)
		MDV_LOG(ERR, "port %u Tx queue %u: cannot destroy the QP: %s",
			txq->port->dev->data->port_id, txq->idx, strerror(ret));
	qp_destroyed(txq);
	txq->ready = false;
	mdv_cq_destroy(&txq->port->device, &txq->objs.cq);
	/* The device has stopped using the mbufs only now. */
	mdv_txq_ring_release(txq, txq->pos.head);
	rte_free(txq->ring.mbufs);
	txq->ring.mbufs = NULL;
}

int
mdv_txq_ring_reset(struct mdv_txq *txq)
{
	int ret;

	if (!txq->ready)
		return 0;
	ret = reset(txq);
	if (ret != 0)
		return ret;
	txq->ready = false;
	cq_drain(txq);
	mdv_txq_ring_release(txq, txq->pos.head);
	mdv_txq_ring_clear(txq);
	mdv_txq_ring_look_full(txq);
	return 0;
}

int
mdv_txq_ring_replace(struct mdv_txq *txq)
{
	volatile uint64_t **reg = &mdv_uar_regs[txq->ring.uar_slot], *const old_reg = *reg;
	struct mdv_port *port = txq->port;
	struct mdv_txq fresh = *txq, old = *txq;
	int ret;

	fresh.pos.head = fresh.pos.tail = 0;
	ret = mdv_txq_ring_create(&fresh);
	if (ret != 0)
		goto keep;
	ret = mdv_txq_ring_ready(&fresh);
	if (ret != 0) {
		mdv_txq_ring_destroy(&fresh);
		goto keep;
	}
	pthread_mutex_lock(&port->queues.lock);
	mdv_txq_ring_adopt(txq, &fresh);
	pthread_mutex_unlock(&port->queues.lock);
	mdv_txq_ring_clear(txq);
	mdv_txq_ring_destroy(&old);
	return 0;

keep:
	*reg = old_reg;
	return ret;
}

int
mdv_txq_ring_recover(struct mdv_txq *txq, uint8_t syndrome)
{
	int ret;

	if (rte_eal_process_type() != RTE_PROC_PRIMARY) {
		txq->asked = true;
		ret = mdv_mp_ask_recovery(MDV_MP_RECOVER_TX, txq->port_id, txq->idx, syndrome);
		txq->asked = false;
		return ret;
	}
	mdv_cq_log_error(
		"Tx", txq->port->dev->data->port_id, txq->idx, syndrome, &txq->logged_syndromes);
	/* The objects' lock: another thread may limit the rate, and the limit goes with a reset. */
	mdv_queue_list_lock_objects(&txq->port->queues);
	ret = reset(txq);
	if (ret == 0) {
		cq_drain(txq);
		ret = mdv_txq_ring_ready(txq);
	}
	mdv_queue_list_unlock_objects(&txq->port->queues);
	return ret;
}
