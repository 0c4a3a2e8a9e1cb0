/* SPDX-License-Identifier: BSD-3-Clause */
/* mode=ibv: the queue's burst, and the hand-over of its WQEs to verbs (queue/tx_ibv.h). */
#include <string.h>

#include <infiniband/verbs.h>

#include "queue/cq_ibv.h"
#include "queue/tx/tx_ibv.h"
#include "state/port.h"
#include "tx.h"
#include "tx_ibv_burst.h"
#include "tx_tso.h"

void
mdv_tx_ibv_burst_select(struct mdv_txq *txq)
{
	const struct mdv_caps *caps = &txq->port->device.caps;
	unsigned int opts = MDV_TX_MULTI | (caps->tx_checksum ? MDV_TX_CSUM : 0);

	if (txq->limits.ol_flags & RTE_MBUF_F_TX_VLAN)
		opts |= MDV_TX_VLAN | MDV_TX_INLINE_L2;
	opts |= txq->limits.tso_max != 0 ? MDV_TX_TSO : 0;
	txq->objs.ibv.burst = mdv_tx_select(opts, 0);
}

/** @return unit @p ds of the WQE at @p ci. */
static uint8_t *
unit_at(const struct mdv_txq *txq, uint16_t ci, uint32_t ds)
{
	const uint32_t mask = (txq->ring.mask + 1u) * MDV_TX_WQE_DS_PER_BB - 1;

	return txq->ring.wqes +
		(((uint32_t)(ci & txq->ring.mask) * MDV_TX_WQE_DS_PER_BB + ds) & mask) * 16u;
}

/** Give verbs a TSO packet, whose headers are in the WQE. */
static void
begin_tso(struct mdv_txq *txq, uint16_t ci, const struct mlx5_wqe_eth_seg *eth, uint32_t len)
{
	uint8_t header[MDV_TX_TSO_HEADER_MAX + 16];
	const uint32_t ds_end = mdv_tx_wqe_ds_inline(len);
	uint8_t *to = header + MDV_TX_WQE_INLINE_START;
	uint32_t ds;

	memcpy(header, eth->inline_hdr_start, MDV_TX_WQE_INLINE_START);
	for (ds = MDV_TX_WQE_DS_HEAD; ds < ds_end; ds++, to += 16)
		memcpy(to, unit_at(txq, ci, ds), 16);
	ibv_wr_send_tso(txq->objs.ibv.qp, header, len, rte_be_to_cpu_16(eth->mss));
}

/** Give verbs the WQE at @p ci. @return its WQEBBs */
static uint32_t
post_one(struct mdv_txq *txq, uint16_t ci)
{
	const struct mlx5_wqe_ctrl_seg *ctrl = (const void *)unit_at(txq, ci, 0);
	const struct mlx5_wqe_eth_seg *eth = (const void *)unit_at(txq, ci, 1);
	const uint32_t nb_ds = rte_be_to_cpu_32(ctrl->qpn_ds) & MDV_HW_WQE_DS_MAX;
	const uint32_t inlined = rte_be_to_cpu_16(eth->inline_hdr_sz);
	uint32_t ds = inlined != 0 ? mdv_tx_wqe_ds_inline(inlined) : MDV_TX_WQE_DS_HEAD;
	struct ibv_sge sges[MDV_TX_IBV_SGES];
	uint32_t nb = 0;

	txq->objs.ibv.qp->wr_id = ci;
	txq->objs.ibv.qp->wr_flags =
		(ctrl->fm_ce_se == MDV_HW_CTRL_CQE_ALWAYS ? IBV_SEND_SIGNALED : 0) |
		(eth->cs_flags != 0 ? IBV_SEND_IP_CSUM : 0);
	if (eth->mss != 0) {
		begin_tso(txq, ci, eth, inlined);
	} else {
		ibv_wr_send(txq->objs.ibv.qp);
		if (inlined != 0)
			sges[nb++] = (struct ibv_sge){
				.addr = (uintptr_t)eth->inline_hdr_start,
				.length = inlined,
				.lkey = txq->objs.ibv.mr->lkey,
			};
	}
	for (; ds < nb_ds; ds++) {
		const struct mlx5_wqe_data_seg *seg = (const void *)unit_at(txq, ci, ds);

		sges[nb++] = (struct ibv_sge){
			.addr = rte_be_to_cpu_64(seg->addr),
			.length = rte_be_to_cpu_32(seg->byte_count),
			.lkey = rte_be_to_cpu_32(seg->lkey),
		};
	}
	ibv_wr_set_sge_list(txq->objs.ibv.qp, nb, sges);
	return mdv_tx_wqe_bbs(nb_ds);
}

/** Give verbs all new WQEs. It has room for them; if it refuses some, they wait for the next
 * burst. */
static void
post(struct mdv_txq *txq)
{
	uint16_t ci = txq->objs.ibv.posted;

	if (ci == txq->pos.pc)
		return;
	ibv_wr_start(txq->objs.ibv.qp);
	while (ci != txq->pos.pc)
		ci += post_one(txq, ci);
	if (ibv_wr_complete(txq->objs.ibv.qp) == 0)
		txq->objs.ibv.posted = ci;
}

/** @return packets before the first that has too many segments for verbs. */
static uint16_t
count_narrow(const struct mdv_txq *txq, struct rte_mbuf *const *pkts, uint16_t nb_pkts)
{
	uint16_t nb;

	for (nb = 0; nb < nb_pkts; nb++) {
		if (pkts[nb]->nb_segs > txq->limits.segs)
			break;
	}
	return nb;
}

uint16_t
mdv_tx_ibv_burst(void *queue, struct rte_mbuf **pkts, uint16_t nb_pkts)
{
	struct mdv_txq *txq = queue;
	uint16_t nb = 0, nb_narrow, nb_taken;

	mdv_cq_look(&txq->objs.cq, txq->pos.cq_ci, UINT32_MAX);
	do {
		nb_narrow = count_narrow(txq, pkts + nb, nb_pkts - nb);
		nb_taken = txq->objs.ibv.burst(txq, pkts + nb, nb_narrow);
		nb += nb_taken;
		if (nb_taken == nb_narrow && nb < nb_pkts)
			mdv_tx_drop(txq, pkts[nb++]);
	} while (nb_taken == nb_narrow && nb < nb_pkts);
	post(txq);
	return nb;
}
