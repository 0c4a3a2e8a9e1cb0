/* SPDX-License-Identifier: BSD-3-Clause */
/* Carries WQEs and completions between the rings of a send queue and verbs. */
#include <errno.h>
#include <string.h>

#include <infiniband/verbs.h>
#include <rte_malloc.h>

#include "base/log.h"
#include "device/ring_memory.h"
#include "device/uar.h"
#include "state/port.h"
#include "tx_ibv.h"
#include "tx_limits.h"
#include "txq.h"

static_assert((MDV_TX_WQE_DS_HEAD_INLINE + MDV_TX_IBV_SGES + MDV_TX_TSO_HEADER_MAX / 16u) <=
		MDV_TX_IBV_BBS * MDV_TX_WQE_DS_PER_BB,
	"the largest WQE");

void
mdv_tx_ibv_qp_attr(const struct mdv_txq *txq, struct ibv_qp_init_attr_ex *attr)
{
	attr->comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr->send_ops_flags = IBV_QP_EX_WITH_SEND;
	attr->cap.max_send_sge = txq->limits.segs + 1;
	if (txq->limits.tso_max != 0) {
		attr->comp_mask |= IBV_QP_INIT_ATTR_MAX_TSO_HEADER;
		attr->send_ops_flags |= IBV_QP_EX_WITH_TSO;
		attr->max_tso_header = MDV_TX_TSO_HEADER_MAX;
	}
}

int
mdv_tx_ibv_attach(struct mdv_txq *txq)
{
	const size_t size = (size_t)txq->nb_desc * MLX5_SEND_WQE_BB;
	int ret;

	/* The doorbell's register and record are behind the WQEBBs. */
	txq->ring.wqes = mdv_ring_memory_alloc("mdv_txq_wqes", size + 2 * sizeof(uint64_t),
		RTE_CACHE_LINE_SIZE, txq->port->device.numa_node);
	if (txq->ring.wqes == NULL) {
		MDV_LOG(ERR, "port %u Tx queue %u: no memory for %u WQEBBs",
			txq->port->dev->data->port_id, txq->idx, txq->nb_desc);
		return -ENOMEM;
	}
	if (txq->limits.ol_flags & RTE_MBUF_F_TX_VLAN) {
		txq->objs.ibv.mr = ibv_reg_mr(
			txq->port->device.pd, txq->ring.wqes, size, IBV_ACCESS_LOCAL_WRITE);
		if (txq->objs.ibv.mr == NULL) {
			ret = errno != 0 ? -errno : -ENOMEM;
			MDV_LOG(ERR, "port %u Tx queue %u: cannot register the ring: %s",
				txq->port->dev->data->port_id, txq->idx, strerror(-ret));
			mdv_tx_ibv_detach(txq);
			return ret;
		}
	}
	mdv_uar_regs[txq->ring.uar_slot] = (volatile uint64_t *)(txq->ring.wqes + size);
	txq->objs.uar_offset = MDV_UAR_NO_OFFSET;
	txq->ring.dbrec = (volatile __be32 *)(txq->ring.wqes + size + sizeof(uint64_t));
	txq->ring.uar_combines = false;
	txq->ring.qpn_ds = txq->objs.qp->qp_num << 8;
	txq->ring.mask = txq->nb_desc - 1;
	txq->objs.ibv.qp = ibv_qp_to_qp_ex(txq->objs.qp);
	return 0;
}

void
mdv_tx_ibv_detach(struct mdv_txq *txq)
{
	int ret = txq->objs.ibv.mr == NULL ? 0 : ibv_dereg_mr(txq->objs.ibv.mr);

	if (ret != 0)
		MDV_LOG(ERR, "port %u Tx queue %u: cannot free the ring's region: %s",
			txq->port->dev->data->port_id, txq->idx, strerror(ret));
	txq->objs.ibv.mr = NULL;
	rte_free(txq->ring.wqes);
	txq->ring.wqes = NULL;
}
