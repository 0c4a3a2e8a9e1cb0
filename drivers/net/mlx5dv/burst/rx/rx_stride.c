/* SPDX-License-Identifier: BSD-3-Clause */
/* CQEs of striding queues that are not of one packet in the next stride. */
#include "queue/rx/rxq_ring.h"
#include "rx_stride.h"

static void
cqe_consume(struct mdv_rxq *rxq)
{
	if (rxq->ring.runtime_opts & MDV_RX_RUNTIME_MINI)
		mdv_cq_invalidate(&rxq->ring.cqes[rxq->pos.cq_ci & rxq->ring.mask]);
	rxq->pos.cq_ci++;
}

void
mdv_rx_stride_drop(struct mdv_rxq *rxq)
{
	const struct mdv_hw_cqe *cqe = &rxq->ring.cqes[rxq->pos.cq_ci & rxq->ring.mask];
	const uint32_t nb_strides = 1u << rxq->strides.log2_strides;
	const uint32_t left = RTE_MIN(nb_strides - (rxq->pos.wqe_ci & (nb_strides - 1)),
		rxq->pos.wqe_pi - rxq->pos.wqe_ci);
	uint32_t taken = rte_be_to_cpu_32(cqe->byte_cnt) >> MDV_HW_CQE_STRIDES_SHIFT &
		MDV_HW_CQE_STRIDES_MASK;

	/* An error may not say how many; the next CQE does, by its stride. */
	taken = RTE_MAX(taken, 1u);
	cqe_consume(rxq);
	mdv_rx_strides_skip(rxq, RTE_MIN(taken, left));
}

/** @return the strides from wqe_ci to the one of the CQE; UINT32_MAX: that is none that is posted.
 */
static uint32_t
strides_ahead(const struct mdv_rxq *rxq, const struct mdv_hw_cqe *cqe)
{
	const uint32_t nb_strides = 1u << rxq->strides.log2_strides;
	const uint32_t nth = rte_be_to_cpu_16(cqe->wqe_counter);
	const uint32_t ahead = (nth - rxq->pos.wqe_ci) & (nb_strides - 1);
	const uint32_t wqe = (rxq->pos.wqe_ci + ahead) >> rxq->strides.log2_strides;
	const uint32_t nb_wqes = (rxq->ring.mask + 1) >> rxq->strides.log2_strides;

	if (ahead == 0 && nth < nb_strides)
		return 0;
	if (nth >= nb_strides || ahead >= rxq->pos.wqe_pi - rxq->pos.wqe_ci ||
		((wqe ^ rte_be_to_cpu_16(cqe->wqe_id)) & (nb_wqes - 1)) != 0)
		return UINT32_MAX;
	return ahead;
}

void
mdv_rx_stride_odd(struct mdv_rxq *rxq)
{
	const struct mdv_hw_cqe *cqe = &rxq->ring.cqes[rxq->pos.cq_ci & rxq->ring.mask];
	const uint32_t ahead = strides_ahead(rxq, cqe);

	if (ahead == UINT32_MAX) {
		/* Which strides are the device's is not known any more. */
		rxq->count.errors++;
		cqe_consume(rxq);
		mdv_rxq_ring_break(rxq);
		return;
	}
	if (ahead != 0) {
		mdv_rx_strides_skip(rxq, ahead);
		return;
	}
	/* A frame that is too long for one stride, or for an mbuf, is an error of other queues. */
	if (!(rte_be_to_cpu_32(cqe->byte_cnt) & MDV_HW_CQE_FILLER))
		rxq->count.errors++;
	mdv_rx_stride_drop(rxq);
}

/** From the last to the first: the minis of a slot are read before a CQE takes their place, except
 * for the first two. */
void
mdv_rx_stride_unpack(struct mdv_rxq *rxq, uint32_t nb)
{
	const uint32_t mask = rxq->ring.mask, ci = rxq->pos.cq_ci;
	struct mdv_hw_cqe *const cqes = rxq->ring.cqes;
	const struct mdv_hw_cqe title = cqes[ci & mask];
	const struct mdv_hw_mini_cqe first =
		*(const struct mdv_hw_mini_cqe *)mdv_cq_minis(cqes, mask, ci, 0);
	const uint32_t title_nth = rte_be_to_cpu_16(title.wqe_counter);
	uint32_t i;

	for (i = nb; i-- != 0;) {
		const struct mdv_hw_mini_cqe *minis = (const void *)mdv_cq_minis(
			cqes, mask, ci, RTE_ALIGN_FLOOR(i, MDV_HW_MINIS_PER_CQE));
		const struct mdv_hw_mini_cqe mini =
			i == 0 ? first : minis[i % MDV_HW_MINIS_PER_CQE];
		const uint16_t nth = rte_be_to_cpu_32(mini.rss_hash) & UINT16_MAX;
		uint32_t byte_cnt = rte_be_to_cpu_32(mini.byte_cnt);
		struct mdv_hw_cqe cqe = title;

		/* One that mdv_rx_stride_trim() has found to be of the next stride. */
		if (byte_cnt >> MDV_HW_CQE_STRIDES_SHIFT == 0)
			byte_cnt |= MDV_HW_CQE_ONE_STRIDE;
		cqe.byte_cnt = rte_cpu_to_be_32(byte_cnt);
		cqe.wqe_counter = rte_cpu_to_be_16(nth);
		if (nth < title_nth)
			cqe.wqe_id = rte_cpu_to_be_16(rte_be_to_cpu_16(title.wqe_id) + 1);
		cqe.op_own = MLX5_CQE_RESP_SEND << MDV_HW_CQE_OPCODE_SHIFT |
			((ci + i) >> rxq->ring.log2_wqes & MDV_HW_CQE_OWNER);
		cqes[(ci + i) & mask] = cqe;
	}
}
