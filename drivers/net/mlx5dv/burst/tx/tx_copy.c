/* SPDX-License-Identifier: BSD-3-Clause */
/* What is rarely in a WQE of copied packets: frames around the end of the ring, and those that are
 * too long. */
#include "tx_copy.h"

void
mdv_tx_copy_around(struct mdv_txq *txq, uint8_t *to, const struct rte_mbuf *mbuf, bool tagged,
	uint32_t first, uint32_t len)
{
	uint8_t frame[MDV_TX_INLINE_MAX];

	mdv_tx_copy_frame(frame, mbuf, mbuf->data_len, tagged);
	/* The last unit's padding alone may be around the end. */
	first = RTE_MIN(first, len);
	memcpy(to, frame, first);
	memcpy(txq->ring.wqes, frame + first, len - first);
}

/** Append a frame of @p len bytes, tag included. @return false: the WQE has no room */
static bool
append(struct mdv_txq *txq, struct mdv_tx_copy_wqe *wqe, struct rte_mbuf *mbuf, uint32_t len)
{
	const size_t bytes = (size_t)mdv_tx_wqe_ds_data(len) * 16;
	uint8_t *const at = wqe->at, *const to = at + MDV_TX_WQE_DATA_START;
	const bool tagged = mdv_tx_copy_is_tagged(mbuf, MDV_TX_COPY_OPTS);

	if (bytes > (size_t)(wqe->end - at))
		return false;
	mdv_tx_wqe_data_inline(at, len);
	if (bytes > (size_t)(wqe->flat - at)) {
		mdv_tx_copy_around(txq, to, mbuf, tagged, wqe->flat - to, len);
		/* This ends the WQE. */
		wqe->flat = at + bytes;
	} else {
		mdv_tx_copy_frame(to, mbuf, mbuf->data_len, tagged);
	}
	wqe->at = at + bytes;
	*wqe->mbufs++ = mbuf;
	wqe->nb_bytes += mbuf->data_len;
	return true;
}

/** Append pointers to at most @p nb packets, which are not inlined. @return how many it took */
static uint32_t
append_pointers(
	struct mdv_txq *txq, struct mdv_tx_copy_wqe *wqe, struct rte_mbuf **pkts, uint32_t nb)
{
	const struct mdv_tx_vec_common common =
		mdv_tx_vec_common_of(txq, wqe->flags, mdv_tx_copy_beyond(txq, 0));
	struct mlx5_wqe_data_seg *segs = (void *)wqe->at;
	struct mdv_tx_vec_data data;
	mdv_vec sum = mdv_vec_all(0);
	uint32_t n;

	nb = RTE_MIN(nb, (uint32_t)(wqe->flat - wqe->at) / 16);
	for (n = 0; n + MDV_VEC_LANES <= nb; n += MDV_VEC_LANES) {
		if (!mdv_tx_vec_read(&common, pkts + n, &data, MDV_TX_COPY_OPTS))
			break;
		mdv_vec_store_pairs(segs + n, sizeof(segs[0]), data.low, data.high);
		mdv_vec_store(wqe->mbufs + n, mdv_vec_load(pkts + n));
		sum += data.lens;
	}
	wqe->nb_bytes += (uint32_t)mdv_vec_sum(sum);
	if (n == 0 && mdv_tx_vec_one(txq, pkts[0], segs, wqe->flags, MDV_TX_COPY_OPTS)) {
		wqe->mbufs[0] = pkts[0];
		wqe->nb_bytes += pkts[0]->data_len;
		n = 1;
	}
	wqe->mbufs += n;
	wqe->at += n * 16;
	return n;
}

enum mdv_tx_status
mdv_tx_copy_odd(struct mdv_txq *txq, struct mdv_tx_copy_wqe *wqe, struct rte_mbuf **pkts,
	uint32_t nb, uint32_t *n)
{
	struct rte_mbuf *mbuf = pkts[*n];
	const uint32_t len = mdv_tx_copy_len(txq, mbuf, MDV_TX_COPY_OPTS);
	uint32_t more = 1;

	if (((mbuf->ol_flags ^ wqe->flags) & MDV_TX_VEC_CSUM_FLAGS) != 0)
		return MDV_TX_WHOLE;
	if (len == 0)
		more = append_pointers(txq, wqe, pkts + *n, nb - *n);
	else if (!append(txq, wqe, mbuf, len))
		return MDV_TX_NO_ROOM;
	*n += more;
	return more != 0 ? MDV_TX_SENT : MDV_TX_WHOLE;
}
