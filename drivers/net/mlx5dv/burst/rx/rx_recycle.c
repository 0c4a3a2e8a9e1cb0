/* SPDX-License-Identifier: BSD-3-Clause */
/* ethdev rte_eth_recycle_mbufs(), receiving half: mbufs of a send queue become those of WQEs. */
#include "base/compat.h"

#ifdef MDV_COMPAT_RECYCLE
#include <ethdev_driver.h>

#include "rx.h"
#include "state/port.h"

void
mdv_rx_recycle_info_get(
	struct rte_eth_dev *dev, uint16_t idx, struct rte_eth_recycle_rxq_info *info)
{
	struct mdv_rxq *rxq = dev->data->rx_queues[idx];

	/* A size of 0 leaves no room to our own send queues, and the requirement, which no driver
	 * meets, to others. Scattered packets leave several holes a WQE, those that
	 * are split have mempools of their segments, and a burst that splits counts the missing
	 * mbufs of all queues, strides are posted by many, and verbs has no ring. */
	*info = (struct rte_eth_recycle_rxq_info){ .refill_requirement = UINT16_MAX };
	if (!rxq->ready || dev->data->scattered_rx || rxq->ring.log2_segs != 0 ||
		rxq->strides.log2_strides != 0 || mdv_port(dev)->split ||
		dev->recycle_rx_descriptors_refill != mdv_rx_recycle_refill)
		return;
	*info = (struct rte_eth_recycle_rxq_info){
		.mbuf_ring = rxq->ring.mbufs,
		.mp = rxq->pool,
		.refill_head = mdv_rx_recycle_pos(&rxq->pos.wqe_pi),
		.receive_tail = mdv_rx_recycle_pos(&rxq->pos.wqe_ci),
		.mbuf_ring_size = rxq->ring.mask + 1,
	};
}

void
mdv_rx_recycle_refill(void *queue, uint16_t nb)
{
	struct mdv_rxq *rxq = queue;
	const uint32_t idx = rxq->pos.wqe_pi & rxq->ring.mask;

	mdv_rx_post(rxq, idx, &rxq->ring.mbufs[idx], nb);
	rxq->pos.wqe_pi += nb;
	mdv_rx_doorbell(rxq);
}
#endif
