/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The receive burst of striding queues (queue/rx/rx_strides.h): beyond what others do, each packet
 * gets its bytes, as a copy or where they are.
 *
 * The burst takes packets only while each takes the next stride, as the CQEs of a well-set queue
 * say: then strides, mbufs and packets correspond. What does not fit (fillers, frames beyond the
 * MTU, strides that an error took) goes to mdv_rx_stride_odd(), one by one.
 */
#ifndef MDV_RX_STRIDE_H
#define MDV_RX_STRIDE_H

#include "base/vec.h"
#include "rx.h"

/** Handle the CQE at cq_ci, which is not that of a packet in the stride at wqe_ci. Afterwards both
 * are past it, or wqe_ci is at its stride. */
void mdv_rx_stride_odd(struct mdv_rxq *rxq);
/** Pass over the strides of the error CQE or block at cq_ci. */
void mdv_rx_stride_drop(struct mdv_rxq *rxq);
/** Write the block of @p nb packets at cq_ci as their CQEs, one in each of its slots. */
void mdv_rx_stride_unpack(struct mdv_rxq *rxq, uint32_t nb);

/** @return whether the CQE is of a packet that takes the stride at @p ci, and no other. */
static __rte_always_inline bool
mdv_rx_stride_is_next(const struct mdv_rxq *rxq, uint32_t ci, uint32_t byte_cnt, uint32_t nth)
{
	return byte_cnt - MDV_HW_CQE_ONE_STRIDE <= rxq->strides.len_max &&
		nth == (ci & ((1u << rxq->strides.log2_strides) - 1));
}

/** The same for four: byte_cnt in the lower halves of @p byte_cnts, strides in @p nths. */
static __rte_always_inline bool
mdv_rx_stride_are_next(const struct mdv_rxq *rxq, uint32_t ci, mdv_vec byte_cnts, mdv_vec nths)
{
	const mdv_vec steps = { 0, 1, 2, 3 };
	const mdv_vec over = (byte_cnts & UINT32_MAX) - MDV_HW_CQE_ONE_STRIDE;
	const mdv_vec want = (steps + ci) & mdv_vec_all((1u << rxq->strides.log2_strides) - 1);
	/* Negative where the length is not from 0 to len_max. */
	const mdv_vec wrong = over | (mdv_vec_all(rxq->strides.len_max) - over);

	return mdv_vec_is_zero((wrong & mdv_vec_all(1ull << 63)) | (nths ^ want));
}

/** Copy @p len bytes, and some behind them, for which both have room. */
static __rte_always_inline void
mdv_rx_stride_copy(uint8_t *to, const uint8_t *from, uint32_t len)
{
	uint32_t i = 0;

	do {
		const mdv_vec first = mdv_vec_load(from + i);
		const mdv_vec second = mdv_vec_load(from + i + sizeof(mdv_vec));

		mdv_vec_store(to + i, first);
		mdv_vec_store(to + i + sizeof(mdv_vec), second);
		i += MDV_RX_STRIDES_UNIT;
	} while (i < len);
}

/** Attach the mbuf, which has one reference and its headroom set, to the packet at @p data. */
static __rte_always_inline void
mdv_rx_stride_attach(const struct mdv_rxq *rxq, struct rte_mbuf *mbuf,
	struct mdv_rx_stride_buf *buf, uint8_t *data)
{
	mbuf->buf_addr = data - RTE_PKTMBUF_HEADROOM;
	rte_mbuf_iova_set(mbuf, buf->iova + (data - buf->strides) - RTE_PKTMBUF_HEADROOM);
	mbuf->buf_len = 1u << rxq->strides.log2_bytes;
	mbuf->shinfo = &buf->shinfo;
	mbuf->ol_flags |= RTE_MBUF_F_EXTERNAL;
}

/**
 * Give @p nb packets their bytes, from strides of one WQE.
 * @return the number of packets that are left where they are
 */
static __rte_always_inline uint32_t
mdv_rx_stride_place_in(
	const struct mdv_rxq *rxq, struct rte_mbuf *const *pkts, uint32_t ci, uint32_t nb)
{
	const uint32_t copy_max = rxq->strides.copy_max, log2_bytes = rxq->strides.log2_bytes;
	const uint32_t slot = ci & rxq->ring.mask;
	struct mdv_rx_stride_buf *buf = rxq->strides.bufs[slot >> rxq->strides.log2_strides];
	uint8_t *data = mdv_rx_strides_at(rxq, ci);
	uint32_t i, nb_out = 0;

	/* Packets that will be copied lie a stride apart, half a page as a rule, and the loop below
	 * gets to few of them at a time. */
	if (pkts[0]->pkt_len <= copy_max)
		for (i = 0; i < nb; i++)
			rte_prefetch0(data + ((size_t)i << log2_bytes));
	for (i = 0; i < nb; i++) {
		struct rte_mbuf *mbuf = pkts[i];
		const uint32_t len = mbuf->pkt_len;

		if (len <= copy_max) {
			mdv_rx_stride_copy((uint8_t *)mdv_rx_mbuf_addr(rxq, mbuf), data, len);
		} else {
			mdv_rx_stride_attach(rxq, mbuf, buf, data);
			nb_out++;
		}
		data += 1u << log2_bytes;
	}
	return nb_out;
}

/** Give @p nb packets their bytes, from the strides at @p ci on. */
static __rte_noinline __rte_unused void
mdv_rx_stride_place(struct mdv_rxq *rxq, struct rte_mbuf *const *pkts, uint32_t ci, uint32_t nb)
{
	const uint32_t nb_strides = 1u << rxq->strides.log2_strides;

	while (nb != 0) {
		const uint32_t left = nb_strides - (ci & (nb_strides - 1));
		const uint32_t here = RTE_MIN(nb, left);

		rxq->strides.nb_out += mdv_rx_stride_place_in(rxq, pkts, ci, here);
		pkts += here;
		ci += here;
		nb -= here;
		if (here == left)
			mdv_rx_strides_leave(rxq, ci - 1);
	}
}

/** Take the strides out of the byte counts of the minis in one slot, if each has one stride, the
 * next. @return whether they have */
static __rte_always_inline bool
mdv_rx_stride_trim(const struct mdv_rxq *rxq, struct mdv_hw_mini_cqe *mini_cqes, uint32_t nb,
	uint32_t ci, const bool vec)
{
	const mdv_vec strides = mdv_vec_swap(mdv_vec_all(~UINT64_C(0xffff0000)));
	uint32_t i = 0;

	for (; vec && i + MDV_VEC_LANES <= nb; i += MDV_VEC_LANES) {
		const mdv_vec words = mdv_vec_load(mini_cqes + i);
		const mdv_vec lanes = mdv_vec_swap(words);

		if (!mdv_rx_stride_are_next(rxq, ci + i, lanes, lanes >> 32 & UINT16_MAX))
			return false;
		mdv_vec_store(mini_cqes + i, words & strides);
	}
	for (; i < nb; i++) {
		const uint32_t byte_cnt = rte_be_to_cpu_32(mini_cqes[i].byte_cnt);

		if (!mdv_rx_stride_is_next(rxq, ci + i, byte_cnt,
			    rte_be_to_cpu_32(mini_cqes[i].rss_hash) & UINT16_MAX))
			return false;
		mini_cqes[i].byte_cnt = rte_cpu_to_be_32(byte_cnt & UINT16_MAX);
	}
	return true;
}

/** Make the block of @p nb packets at cq_ci one of a queue without strides, or if packets take
 * others than the next strides, CQEs. @return whether it is a block still */
static __rte_always_inline bool
mdv_rx_stride_block(struct mdv_rxq *rxq, uint32_t nb, const bool vec)
{
	uint32_t nth;

	for (nth = 0; nth < nb; nth += MDV_HW_MINIS_PER_CQE) {
		struct mdv_hw_cqe *array =
			mdv_cq_minis(rxq->ring.cqes, rxq->ring.mask, rxq->pos.cq_ci, nth);

		if (likely(mdv_rx_stride_trim(rxq, (void *)array,
			    RTE_MIN(nb - nth, MDV_HW_MINIS_PER_CQE), rxq->pos.wqe_ci + nth, vec)))
			continue;
		mdv_rx_stride_unpack(rxq, nb);
		return false;
	}
	return true;
}

#endif /* MDV_RX_STRIDE_H */
