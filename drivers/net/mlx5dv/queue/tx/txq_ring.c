/* SPDX-License-Identifier: BSD-3-Clause */
/* The verbs objects of a send queue, the rings in them, and the mbufs in those. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <ethdev_driver.h>
#include <rte_malloc.h>

#include "base/log.h"
#include "device/uar.h"
#include "mp/mp.h"
#include "queue/cq_ibv.h"
#include "state/port.h"
#include "tx_ibv.h"
#include "txq.h"
#include "txq_ring.h"

/** WQE counters have 16 bits, of which a full and an empty ring must stay apart. */
#define WQEBBS_MAX 32768u

/** Command of a mapped doorbell page in uar_mmap_offset (rdma-core mlx5_mmap()). */
#define MMAP_COMMAND(offset, page) ((offset) / (page) >> 8 & 0xff)

static bool
is_ibv(const struct mdv_txq *txq)
{
	return txq->port->device.caps.mode == MDV_MODE_IBV;
}

static_assert(MDV_TX_FRAME_MAX == MDV_MTU_MAX + MDV_FRAME_OVERHEAD, "the longest frame");

/* clang-format off */
/** From a new or reset QP to one that sends; a raw packet QP needs nothing but the port. */
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
modify_state(struct mdv_txq *txq, enum ibv_qp_state state, int mask)
{
	struct ibv_qp_attr attr = { .qp_state = state, .port_num = txq->port->device.port_num };
	int ret = ibv_modify_qp(txq->qp, &attr, mask);

	if (ret != 0)
		MDV_LOG(ERR, "port %u Tx queue %u: cannot move the QP to state %d: %s",
			txq->port->dev->data->port_id, txq->idx, state, strerror(ret));
	return -ret;
}

/** The objects and rings of @p from, which is alike, become those of @p txq. */
void
mdv_txq_ring_adopt(struct mdv_txq *txq, const struct mdv_txq *from)
{
	txq->wqes = from->wqes;
	txq->mbufs = from->mbufs;
	txq->dones = from->dones;
	txq->dbrec = from->dbrec;
	txq->cqes = from->cqes;
	txq->cq_dbrec = from->cq_dbrec;
	txq->sqn = from->sqn;
	txq->mask = from->mask;
	txq->log2_cqes = from->log2_cqes;
	txq->uar_combines = from->uar_combines;
	txq->uar_offset = from->uar_offset;
	txq->uar_at = from->uar_at;
	txq->broken = from->broken;
	txq->pc = from->pc;
	txq->ci = from->ci;
	txq->head = from->head;
	txq->tail = from->tail;
	txq->cq_pi = from->cq_pi;
	txq->request_min = from->request_min;
	txq->cq_ci = from->cq_ci;
	txq->qp = from->qp;
	txq->ibv = from->ibv;
	txq->cq = from->cq;
	mdv_mr_cache_init(&txq->mr, txq->port->mr);
}

/** Only a QP that sends can be told. */
int
mdv_txq_ring_set_rate(struct mdv_txq *txq, uint32_t kbps)
{
	const struct mdv_config *config = &txq->port->config;
	struct ibv_qp_rate_limit_attr attr = { .rate_limit = kbps };
	int ret;

	/* Without a rate the kernel takes no sizes. */
	if (kbps != 0) {
		attr.max_burst_sz = config->tx_max_burst_sz;
		attr.typical_pkt_sz = config->tx_typical_pkt_sz;
	}
	ret = ibv_modify_qp_rate_limit(txq->qp, &attr);
	if (ret != 0)
		MDV_LOG(ERR,
			"port %u Tx queue %u: cannot limit the rate to %u kbit/s, bursts of %u and "
			"packets of %u bytes: %s%s",
			txq->port->dev->data->port_id, txq->idx, kbps, attr.max_burst_sz,
			attr.typical_pkt_sz, strerror(ret),
			attr.max_burst_sz == 0 && attr.typical_pkt_sz == 0
				? ""
				: " (not all devices take sizes: tx_max_burst_sz, "
				  "tx_typical_pkt_sz)");
	return -ret;
}

void
mdv_txq_ring_release(struct mdv_txq *txq, uint16_t to)
{
	while (txq->chains && txq->tail != to)
		rte_pktmbuf_free_seg(txq->mbufs[txq->tail++ & txq->mask]);
	while (txq->tail != to) {
		uint32_t idx = txq->tail & txq->mask;
		uint32_t nb = RTE_MIN((uint32_t)(uint16_t)(to - txq->tail), txq->mask + 1u - idx);

		/* First: a process that ends in between must not leave them to be freed again. */
		txq->tail += nb;
		rte_compiler_barrier();
		rte_pktmbuf_free_bulk(&txq->mbufs[idx], nb);
	}
}

void
mdv_txq_ring_clear(struct mdv_txq *txq)
{
	const uint32_t cq_mask = (1u << txq->log2_cqes) - 1;

	txq->pc = 0;
	txq->ci = 0;
	txq->ibv.posted = 0;
	txq->tail = txq->head;
	txq->chains = false;
	txq->lost = false;
	/* The next burst function may not be the one that wrote it. */
	txq->tso_template.ol_flags = 0;
	txq->cq_pi = txq->cq_ci;
	txq->dones[(txq->cq_pi - 1) & cq_mask] = (struct mdv_tx_done){ .head = txq->head };
}

void
mdv_txq_ring_look_full(struct mdv_txq *txq)
{
	txq->ci = txq->pc - (txq->mask + 1u);
}

int
mdv_txq_ring_ready(struct mdv_txq *txq)
{
	unsigned int i;
	int ret = 0;

	/* Half way to where it sends there is no way back but this. */
	if (txq->qp->state != IBV_QPS_RESET)
		ret = modify_state(txq, IBV_QPS_RESET, IBV_QP_STATE);
	for (i = 0; i < RTE_DIM(qp_states) && ret == 0; i++)
		ret = modify_state(txq, qp_states[i].state, qp_states[i].mask);
	/* Forgotten in the state RESET. */
	if (ret == 0 && txq->rate_kbps != 0)
		ret = mdv_txq_ring_set_rate(txq, txq->rate_kbps);
	return ret;
}

/** Is the register in a page that combines writes? Non-cached was asked for at open. */
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
	struct mlx5dv_obj obj = { .qp.in = txq->qp, .qp.out = &dv };
	int ret;

	ret = -mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP);
	if (ret == 0 &&
		(dv.sq.stride != MLX5_SEND_WQE_BB || !rte_is_power_of_2(dv.sq.wqe_cnt) ||
			dv.sq.wqe_cnt < txq->nb_desc || dv.sq.wqe_cnt > WQEBBS_MAX))
		ret = -ENOTSUP;
	if (ret != 0) {
		MDV_LOG(ERR,
			"port %u Tx queue %u: a ring of %u WQEBBs of %u bytes, %u of %u wanted",
			txq->port->dev->data->port_id, txq->idx, dv.sq.wqe_cnt, dv.sq.stride,
			txq->nb_desc, MLX5_SEND_WQE_BB);
		return ret;
	}
	txq->wqes = dv.sq.buf;
	txq->dbrec = &dv.dbrec[MLX5_SND_DBR];
	mdv_uar_regs[txq->uar_slot] = dv.bf.reg;
	txq->uar_at = (uintptr_t)dv.bf.reg % sysconf(_SC_PAGESIZE);
	txq->uar_offset = MDV_UAR_NO_OFFSET;
	if (dv.comp_mask & MLX5DV_QP_MASK_UAR_MMAP_OFFSET)
		txq->uar_offset = dv.uar_mmap_offset;
	txq->uar_combines = uar_combines(&dv);
	txq->sqn = txq->qp->qp_num;
	txq->mask = dv.sq.wqe_cnt - 1;
	return 0;
}

static int
qp_create(struct mdv_txq *txq)
{
	const struct mdv_device *device = &txq->port->device;
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = txq->cq.ibv_cq,
		.recv_cq = txq->cq.ibv_cq,
		/* One segment, and no header to be inlined: more would enlarge the ring, and a WQE
		 * may have more all the same. */
		.cap = { .max_send_wr = txq->nb_desc, .max_send_sge = 1 },
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = device->pd,
	};
	int ret;

	if (is_ibv(txq))
		mdv_tx_ibv_qp_attr(txq, &attr);
	txq->qp = ibv_create_qp_ex(device->ctx, &attr);
	if (txq->qp == NULL) {
		ret = errno != 0 ? -errno : -ENOMEM;
		MDV_LOG(ERR, "port %u Tx queue %u: cannot create a QP of %u WQEs: %s%s",
			txq->port->dev->data->port_id, txq->idx, txq->nb_desc, strerror(-ret),
			ret == -EPERM ? " (CAP_NET_RAW is needed)" : "");
		return ret;
	}
	ret = is_ibv(txq) ? mdv_tx_ibv_attach(txq) : ring_get(txq);
	if (ret != 0) {
		ibv_destroy_qp(txq->qp);
		txq->qp = NULL;
	}
	return ret;
}

/** CQEs that can be outstanding: requested ones, by WQEBBs or by packets, that of a first error,
 * and one to tell full from empty. */
static uint32_t
nb_cqes_of(uint32_t nb_bbs, uint32_t request_min)
{
	return 2 * nb_bbs / request_min + 2;
}

/** Software state for rings of mask + 1 WQEBBs: the packets, and what each completion gets done. */
static int
mbufs_create(struct mdv_txq *txq)
{
	const size_t nb = txq->mask + 1u + MDV_TX_RELEASE_AHEAD;
	const size_t nb_cqes = (size_t)1 << txq->log2_cqes;

	txq->mbufs = rte_zmalloc_socket("mdv_txq_mbufs",
		nb * sizeof(txq->mbufs[0]) + nb_cqes * sizeof(txq->dones[0]), RTE_CACHE_LINE_SIZE,
		rte_socket_id());
	if (txq->mbufs == NULL) {
		MDV_LOG(ERR, "port %u Tx queue %u: no memory", txq->port->dev->data->port_id,
			txq->idx);
		return -ENOMEM;
	}
	txq->dones = (void *)(txq->mbufs + nb);
	return 0;
}

/** Take what the device has written before the QP was reset: flushed WQEs. */
static void
cq_drain(struct mdv_txq *txq)
{
	const uint32_t cq_mask = (1u << txq->log2_cqes) - 1;
	uint32_t i;

	mdv_cq_look(&txq->cq, txq->cq_ci, UINT32_MAX);
	for (i = 0; i <= cq_mask; i++) {
		uint8_t op_own = mdv_cq_op_own(&txq->cqes[txq->cq_ci & cq_mask]);

		if (!mdv_cq_is_valid(op_own, txq->cq_ci, txq->log2_cqes))
			break;
		txq->cq_ci++;
	}
	mdv_cq_update_ci(txq->cq_dbrec, txq->cq_ci);
}

static int
cq_create(struct mdv_txq *txq, uint32_t nb_cqes)
{
	const struct mdv_device *device = &txq->port->device;

	/* What verbs sends tells of itself when it is flushed, whether asked to or not. */
	if (is_ibv(txq))
		return mdv_cq_ibv_create(
			device, RTE_MAX(rte_align32pow2(nb_cqes), txq->nb_desc), 0, NULL, &txq->cq);
	return mdv_cq_create(device, nb_cqes, 0, NULL, &txq->cq);
}

/** The QP is gone. */
static void
qp_destroyed(struct mdv_txq *txq)
{
	if (is_ibv(txq))
		mdv_tx_ibv_detach(txq);
	txq->qp = NULL;
	txq->wqes = NULL;
}

int
mdv_txq_ring_create(struct mdv_txq *txq)
{
	struct mdv_port *port = txq->port;
	int ret;

	txq->request_min = RTE_MIN(MDV_TX_REQUEST_MIN, txq->nb_desc / 4);
	/* The SQ may turn out larger than asked for, at most by rounding to a power of two. */
	ret = cq_create(txq, nb_cqes_of(2u * txq->nb_desc, txq->request_min));
	if (ret != 0)
		return ret;
	ret = qp_create(txq);
	if (ret != 0)
		goto destroy_cq;
	txq->cqes = txq->cq.cqes;
	txq->cq_dbrec = txq->cq.dbrec;
	txq->log2_cqes = txq->cq.log2_cqes;
	txq->cq_ci = 0;
	ret = mbufs_create(txq);
	if (ret != 0)
		goto destroy_qp;
	mdv_txq_ring_clear(txq);
	mdv_txq_ring_look_full(txq);
	mdv_mr_cache_init(&txq->mr, port->mr);
	txq->broken = false;
	return 0;

destroy_qp:
	ibv_destroy_qp(txq->qp);
	qp_destroyed(txq);
destroy_cq:
	mdv_cq_destroy(&port->device, &txq->cq);
	return ret;
}

void
mdv_txq_ring_destroy(struct mdv_txq *txq)
{
	int ret = ibv_destroy_qp(txq->qp);

	if (ret != 0)
		MDV_LOG(ERR, "port %u Tx queue %u: cannot destroy the QP: %s",
			txq->port->dev->data->port_id, txq->idx, strerror(ret));
	qp_destroyed(txq);
	txq->ready = false;
	mdv_cq_destroy(&txq->port->device, &txq->cq);
	/* Only now is the device done with them. */
	mdv_txq_ring_release(txq, txq->head);
	rte_free(txq->mbufs);
	txq->mbufs = NULL;
}

int
mdv_txq_ring_reset(struct mdv_txq *txq)
{
	int ret;

	if (!txq->ready)
		return 0;
	ret = modify_state(txq, IBV_QPS_RESET, IBV_QP_STATE);
	if (ret != 0)
		return ret;
	txq->ready = false;
	cq_drain(txq);
	mdv_txq_ring_release(txq, txq->head);
	mdv_txq_ring_clear(txq);
	mdv_txq_ring_look_full(txq);
	return 0;
}

int
mdv_txq_ring_replace(struct mdv_txq *txq)
{
	volatile uint64_t **reg = &mdv_uar_regs[txq->uar_slot], *const old_reg = *reg;
	struct mdv_port *port = txq->port;
	struct mdv_txq fresh = *txq, old = *txq;
	int ret;

	fresh.head = fresh.tail = 0;
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

	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return mdv_mp_ask_recovery(MDV_MP_RECOVER_TX, txq->port_id, txq->idx, syndrome);
	mdv_cq_log_error(
		"Tx", txq->port->dev->data->port_id, txq->idx, syndrome, &txq->logged_syndromes);
	ret = modify_state(txq, IBV_QPS_RESET, IBV_QP_STATE);
	if (ret != 0)
		return ret;
	cq_drain(txq);
	return mdv_txq_ring_ready(txq);
}
