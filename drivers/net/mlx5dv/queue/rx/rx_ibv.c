/* SPDX-License-Identifier: BSD-3-Clause */
/* Carries packets between the rings of a receive queue and verbs. */
#include <errno.h>

#include <infiniband/verbs.h>
#include <rte_malloc.h>

#include "base/log.h"
#include "device/ring_memory.h"
#include "rx_ibv.h"
#include "rxq.h"
#include "state/port.h"

/** Segments of one call: at least those of one WQE. */
#define SGES MDV_RX_SEGS_MAX

static uint64_t
port_offloads(const struct mdv_rxq *rxq)
{
	return rxq->port->dev->data->dev_conf.rxmode.offloads;
}

uint64_t
mdv_rx_ibv_wc_flags(const struct mdv_rxq *rxq)
{
	const struct mdv_port *port = rxq->port;
	uint64_t flags = IBV_WC_EX_WITH_BYTE_LEN;

	flags |= port->device.caps.cvlan_strip ? IBV_WC_EX_WITH_CVLAN : 0;
	flags |= port->rx_metadata != 0 ? IBV_WC_EX_WITH_FLOW_TAG : 0;
	if (port_offloads(rxq) & RTE_ETH_RX_OFFLOAD_TIMESTAMP)
		flags |= IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
	return flags;
}

int
mdv_rx_ibv_attach(struct mdv_rxq *rxq, uint32_t nb_wqes)
{
	const struct mdv_port *port = rxq->port;
	const size_t nb_segs = (size_t)nb_wqes << rxq->ring.log2_segs;

	/* The doorbell record lies behind the WQEs. */
	rxq->ring.wqes =
		mdv_ring_memory_alloc("mdv_rxq_wqes", (nb_segs + 1) * sizeof(rxq->ring.wqes[0]),
			RTE_CACHE_LINE_SIZE, rxq->port->device.numa_node);
	if (rxq->ring.wqes == NULL) {
		MDV_LOG(ERR, "port %u Rx queue %u: no memory for %u WQEs", port->dev->data->port_id,
			rxq->idx, nb_wqes);
		return -ENOMEM;
	}
	rxq->ring.wq_dbrec = (volatile __be32 *)&rxq->ring.wqes[nb_segs];
	return 0;
}

void
mdv_rx_ibv_detach(struct mdv_rxq *rxq)
{
	rte_free(rxq->ring.wqes);
}

static void
wr_write(const struct mdv_rxq *rxq, uint32_t slot, struct ibv_sge *sges, struct ibv_recv_wr *wr)
{
	const uint32_t nb_segs = 1u << rxq->ring.log2_segs;
	const struct mlx5_wqe_data_seg *wqe = &rxq->ring.wqes[slot << rxq->ring.log2_segs];
	uint32_t i;

	for (i = 0; i < nb_segs; i++)
		sges[i] = (struct ibv_sge){
			.addr = rte_be_to_cpu_64(wqe[i].addr),
			.length = rte_be_to_cpu_32(wqe[i].byte_count),
			.lkey = rte_be_to_cpu_32(wqe[i].lkey),
		};
	*wr = (struct ibv_recv_wr){
		.wr_id = slot,
		.next = wr + 1,
		.sg_list = sges,
		.num_sge = nb_segs,
	};
}

void
mdv_rx_ibv_post(struct mdv_rxq *rxq)
{
	const uint32_t nb_most = SGES >> rxq->ring.log2_segs;
	struct ibv_sge sges[SGES];
	struct ibv_recv_wr wrs[SGES], *bad;
	uint32_t i, nb;

	while (rxq->objs.ibv.posted != rxq->pos.wqe_pi) {
		nb = RTE_MIN(rxq->pos.wqe_pi - rxq->objs.ibv.posted, nb_most);
		for (i = 0; i < nb; i++)
			wr_write(rxq, (rxq->objs.ibv.posted + i) & rxq->ring.mask,
				&sges[i << rxq->ring.log2_segs], &wrs[i]);
		wrs[nb - 1].next = NULL;
		if (ibv_post_wq_recv(rxq->objs.wq, wrs, &bad) != 0) {
			rxq->objs.ibv.posted += bad - wrs;
			return;
		}
		rxq->objs.ibv.posted += nb;
	}
}
